"""Monte Carlo estimates: how a partial solution ends when the policy goes on from it."""

import json
from collections import Counter
from collections.abc import Hashable, Sequence
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
    """Complete the path several times, and score it by the share of completions that come to the right answer.

    Math-Shepherd (arXiv:2312.08935, section 3.3) compares completions with the known answer, as `uses_gold` does. In
    a search nobody knows it, and the majority stands for it: of the earliest completions on the path that came to an
    answer, the first that appeared on ties. Later ones have no vote: behind a wrong step all of them agree, and
    would outvote those before it. The answers are kept as the sample's text, a JSON list. A path that has its answer is
    compared, not completed. Completions without an answer, or cut off, count as wrong.

    Attributes:
        completions: How many.
        uses_gold: Compare with the known answer; an answer that nobody can compare is left out.
        prompt: The prompt that the steps were written under; it takes the problem alone.
        temperature: None leaves it to the policy's settings.
        max_tokens: Longest completion; None leaves it to the policy's settings.
    """

    completions: int = 8
    prompt: str = "step"
    temperature: float | None = None
    max_tokens: int | None = None
    uses_gold: bool = False
    needs: ClassVar[frozenset[str]] = frozenset({"steps"})
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    def __post_init__(self) -> None:
        if self.completions < 1:
            raise RecipeError(f"completions={self.completions}; it is at least 1")

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Score the path by its completions; the empty root by those of the problem itself."""
        if not path.last.text.strip() and len(path.nodes) > 1:
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
        if self.uses_gold:
            share, none = await _right(found, llm), "ungradable"
        else:
            share = agreement(found, earliest(path))
            none = "no completion came to an answer"
        if share is None:
            return Unscored(none)
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
        Their answers in order: None where there is none or the text was cut off, `Unscored` where
        the call failed or was cut off before it said anything.
    """
    request = replace(request, begun=path.begun, begun_ids=path.begun_ids)

    async def one(sample: int) -> str | Unscored | None:
        try:
            reply = await llm.complete(request, part="mc_estimate", draft=draft, sample=sample)
        except ServerError as error:
            return Unscored.of(error)
        if reply.finish == "other":
            return Unscored("broken off by the server")
        if reply.finish == "length":
            return None if reply.text.strip() else Unscored("empty reply")
        # A model with nothing to add says that the answer stands there already.
        return extract_answer(reply.text if reply.text.strip() else path.text, path.problem.kind)

    return await all_of(partial(one, sample) for sample in range(n))


async def _right(found: Sequence[str | None], llm: Caller) -> float | None:
    """Return the share of right answers among those that could be compared; None when none could."""
    verdicts = [
        right for right in await all_of(partial(llm.correct, one) for one in found) if right is not None
    ]
    return sum(verdicts) / len(verdicts) if verdicts else None


def agreement(found: Sequence[str | None], before: Sequence[str | None]) -> float | None:
    """Return the share of `found` that equal the majority of `before`, or of themselves where that has no answer.

    Args:
        found: Answers of the completions in question, at least one.
        before: Answers that were known earlier.

    Returns:
        0 to 1; None when there is no answer in either.
    """
    best = most_common(before) or most_common(found)
    return None if best is None else sum(normal_form(answer) == best for answer in found) / len(found)


def most_common(answers: Sequence[str | None]) -> Hashable | None:
    """Return the normal form of what most of the answers say, the first on ties; None when there is no answer."""
    votes = Counter(form for answer in answers if (form := normal_form(answer)) is not None)
    return max(votes, key=lambda form: votes[form]) if votes else None


def earliest(path: Path) -> Answers:
    """Return the answers of the completions of the first node on the path whose completions came to any."""
    known = (remembered(node.samples) for node in path.nodes)
    return next((answers for answers in known if any(answer is not None for answer in answers)), ())


def remembered(samples: Sequence[Sample]) -> Answers:
    """Return the answers of the completions behind a node's samples."""
    return tuple(answer for sample in samples for answer in _answers(sample.text))


def _answers(text: str) -> list[str | None]:
    try:
        said = json.loads(text)
    except ValueError:
        return []
    return [one for one in said if one is None or isinstance(one, str)] if isinstance(said, list) else []
