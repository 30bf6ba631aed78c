"""The policy's own certainty: how likely it found what it wrote."""

import math
from dataclasses import dataclass
from typing import ClassVar

from mctsr.caller import Caller
from mctsr.parts import Path, PathNode, Unscored, Verdict

from .aggregate import Aggregate, last
from .steps import HIGH, LOW, verdict


@dataclass(frozen=True, slots=True)
class SelfCertainty:
    """Score a step by the geometric mean of its tokens' probabilities; asks nobody.

    Formula: exp(log-probability of the step / its tokens), in [0, 1]. Source: the weights that its_hub's particle
    filtering uses without a reward model (exp of the mean log-probability of a step). It says how sure the model
    was, not how right it is: an over-confident model scores its errors high.

    Attributes:
        aggregate: Makes one value of the steps' scores.
    """

    aggregate: Aggregate = last
    needs: ClassVar[frozenset[str]] = frozenset({"logprobs"})
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Score the path's last step from its own log-probabilities."""
        if not path.last.text.strip():
            return Unscored("empty step")
        nodes = path.steps if path.last.step else (path.last,)
        found = [certainty(node) for node in nodes]
        scores = [score for score in found if score is not None]
        if len(scores) < len(found) or not scores:
            return Unscored("no log-probabilities of the step")
        return verdict(scores, self.aggregate)


def certainty(node: PathNode) -> float | None:
    """Return the geometric mean of a node's token probabilities, None where they are not known."""
    if node.logprob is None or node.tokens < 1 or math.isnan(node.logprob):
        return None
    return math.exp(min(node.logprob / node.tokens, 0.0))
