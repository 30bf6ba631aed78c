"""Monte Carlo estimates: how a partial solution ends when the policy goes on from it."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from mctsr.caller import Caller, all_of
from mctsr.errors import RecipeError, ServerError
from mctsr.grading import extract_answer, normal_form
from mctsr.lm.base import Request
from mctsr.parts import Path, Unscored, Verdict
from mctsr.tree import Sample

from .steps import HIGH, LOW

Answers = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class McEstimate:
    """Complete the path several times, and score it by how many completions agree with the majority.

    Math-Shepherd (arXiv:2312.08935, section 3.3) compares completions with the gold answer; nobody knows it here, so
    the majority stands for it: among the answers of all completions along the path, earlier nodes' included, the
    first that appeared on ties. A step that led astray is then outvoted by what its parents' completions said. The
    answers are kept as the sample's text, a JSON list. A path that has its answer is compared, not completed.
    Completions without an answer, or cut off, count as disagreeing.

    Attributes:
        completions: How many.
        prompt: The prompt that the steps were written under; it takes the problem alone.
        temperature: None leaves it to the policy's settings.
        max_tokens: Longest completion; None leaves it to the policy's settings.
    """

    completions: int = 8
    prompt: str = "step"
    temperature: float | None = None
    max_tokens: int | None = None
    needs: ClassVar[frozenset[str]] = frozenset({"steps"})
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    def __post_init__(self) -> None:
        if self.completions < 1:
            raise RecipeError(f"completions={self.completions}; it is at least 1")

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Score the path by agreement."""
        if not path.last.text.strip():
            return Unscored("empty step")
        if path.last.answer is not None:
            found, lost = list[str | None]([path.last.answer]), list[Unscored]()
        else:
            request = llm.ask(self.prompt, {"problem": path.problem.text}, temperature=self.temperature)
            request = replace(request, max_tokens=self.max_tokens)
            said = await complete(path, request, self.completions, draft, llm)
            lost = [one for one in said if isinstance(one, Unscored)]
            found = [one for one in said if not isinstance(one, Unscored)]
        if not found:
            return lost[0]
        share = agreement(found, [answer for node in path.nodes for answer in remembered(node.samples)])
        if share is None:
            return Unscored("no completion came to an answer")
        return Verdict((Sample(share, share, json.dumps(found, ensure_ascii=False)),), tuple(lost))


async def complete(
    path: Path, request: Request, n: int, draft: int, llm: Caller
) -> Sequence[str | Unscored | None]:
    """Go on from a path to the end, `n` times.

    Args:
        path: The solution so far.
        request: The problem as the policy was asked it.
        n: Completions.
        draft: Of the calls' places.
        llm: Who completes.

    Returns:
        Their answers in order: None where there is none or the text was cut off, `Unscored` where the call failed.
    """
    request = replace(request, begun=path.begun, begun_ids=path.begun_ids)

    async def one(sample: int) -> str | Unscored | None:
        try:
            reply = await llm.complete(request, part="mc_estimate", draft=draft, sample=sample)
        except ServerError as error:
            return Unscored.of(error)
        return None if reply.finish == "length" else extract_answer(reply.text, path.problem.kind)

    return await all_of(partial(one, sample) for sample in range(n))


def agreement(found: Sequence[str | None], before: Sequence[str | None]) -> float | None:
    """Return the share of `found` that equal the majority of both, None when there is no answer in either.

    Args:
        found: Answers of the completions in question, at least one.
        before: Answers that were known earlier.
    """
    votes = Counter(form for answer in (*before, *found) if (form := normal_form(answer)) is not None)
    if not votes:
        return None
    best = max(votes, key=lambda form: votes[form])  # the first counted on ties
    return sum(normal_form(answer) == best for answer in found) / len(found)


def remembered(samples: Sequence[Sample]) -> Answers:
    """Return the answers of the completions behind a node's samples."""
    return tuple(answer for sample in samples for answer in _answers(sample.text))


def _answers(text: str) -> list[str | None]:
    try:
        said = json.loads(text)
    except ValueError:
        return []
    return [one for one in said if one is None or isinstance(one, str)] if isinstance(said, list) else []
