"""How likely the model found each of several steps: priors for rules that use one.

Knows log-probabilities as drafts carry them. Writes no step itself.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mctsr.caller import Caller
from mctsr.parts import Draft, Expander, Fault, Path, Problem


@dataclass(frozen=True, slots=True)
class LikelihoodPriors:
    """Grow as `inner` does, and give siblings priors in proportion to how likely the model found them.

    p_i = g_i / sum g, g the geometric mean of the step's token probabilities. Where that of any sibling is unknown,
    all have the same. Needs an inner expander that asks for log-probabilities.
    Source: TS-LLM, arXiv:2309.17179, section 4.1 and released code (waterhorse1/LLM_Tree_Search).
    """

    inner: Expander

    @property
    def needs(self) -> frozenset[str]:
        """What the inner expander needs."""
        return self.inner.needs

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Open as the inner expander does."""
        return await self.inner.open(problem, n, llm)

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Grow, and set the priors."""
        drafts = await self.inner.grow(path, n, llm)
        priors = iter(_shares([_mean_logprob(draft) for draft in drafts if isinstance(draft, Draft)]))
        return [replace(draft, prior=next(priors)) if isinstance(draft, Draft) else draft for draft in drafts]


def _mean_logprob(draft: Draft) -> float | None:
    """Return the mean log-probability of a draft's tokens in nats; None when unknown."""
    return None if draft.logprob is None or draft.tokens < 1 else draft.logprob / draft.tokens


def _shares(logprobs: Sequence[float | None]) -> list[float]:
    known = [logprob for logprob in logprobs if logprob is not None]
    if len(known) < len(logprobs):
        return [1.0 / len(logprobs)] * len(logprobs)
    # Against the largest, so that very unlikely siblings do not all become 0.
    weights = [math.exp(logprob - max(known)) for logprob in known]
    return [weight / math.fsum(weights) for weight in weights]
