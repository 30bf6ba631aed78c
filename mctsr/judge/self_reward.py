"""The model grades its own answer on a strict scale, one sample a visit."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from mctsr.caller import Caller, all_of
from mctsr.errors import RecipeError, ServerError
from mctsr.parts import Path, Unscored, Verdict
from mctsr.tree import Sample

from .score import read_score

__all__ = ["SelfReward", "fifty_from_95", "lose_50_above_95", "read_score"]


LOW, HIGH = -100.0, 100.0

_JSON = re.compile(r"\s*(```(json)?\s*)?\{")
_AS_ASKED = re.compile(
    r"""\s*\{\s*"reason"\s*:\s*"(?:[^"\\]|\\.){0,999}"\s*,\s*"score"\s*:\s*(-?(?:0|[1-9]\d?|100))\s*\}\s*""",
    re.DOTALL | re.ASCII,
)


def lose_50_above_95(score: float) -> float:
    """Suppress full marks: above 95, subtract 50. The paper gives no constant; arXiv:2406.07394, section 3.4."""
    return score - 50.0 if score > 95.0 else score


def fifty_from_95(score: float) -> float:
    """Suppress full marks: from 95 on, exactly 50. The released code of MCTSr."""
    return 50.0 if score >= 95.0 else score


@dataclass(frozen=True, slots=True)
class SelfReward:
    """Ask the judge role for a score in [-100, 100]; ask again when no score can be read.

    Source: MCTSr, arXiv:2406.07394, section 3.3. The reply is constrained to JSON where the server can, and
    read as free text where it cannot.

    Attributes:
        samples: Scores a visit.
        attempts: Tries at one readable score; then the sample is lost.
        suppress: Maps a score that was read to the value that counts.
        temperature: Of every call; None leaves it to the judge's settings.
    """

    samples: int = 1
    attempts: int = 3
    suppress: Callable[[float], float] = lose_50_above_95
    temperature: float | None = None
    needs: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.samples < 1 or self.attempts < 1:
            raise RecipeError(f"samples={self.samples}, attempts={self.attempts}; both are at least 1")

    @property
    def low(self) -> float:
        """Lower bound of the scale that the prompt names."""
        return LOW

    @property
    def high(self) -> float:
        """Upper bound of the scale that the prompt names."""
        return HIGH

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Score the path's last answer; a sample that is lost takes no other along."""
        found = await all_of(partial(self._sample, path, draft, i, llm) for i in range(self.samples))
        scores = tuple(sample for sample in found if isinstance(sample, Sample))
        lost = tuple(sample for sample in found if isinstance(sample, Unscored))
        return Verdict(scores, lost) if scores else lost[0]

    async def _sample(self, path: Path, draft: int, number: int, llm: Caller) -> Sample | Unscored:
        values = {"problem": path.problem.text, "answer": path.last.text}
        reason = ""
        for attempt in range(self.attempts):
            try:
                reply = await llm.say(
                    "self_reward",
                    values,
                    role="judge",
                    temperature=self.temperature,
                    draft=draft,
                    sample=number,
                    attempt=attempt,
                )
            except ServerError as error:
                return Unscored.of(error)
            score = read_reply(reply.text)
            if score is not None and reply.finish == "length":
                score = _whole(reply.text, score)
            if score is not None:
                return Sample(self.suppress(score), score, reply.text)
            reason = "truncated score" if reply.finish == "length" else "no score in the reply"
        return Unscored(f"{reason}: {self.attempts} tries")


def read_reply(text: str) -> float | None:
    """Return what `read_score` returns, without its search where the reply is just what the prompt asks for."""
    asked = _AS_ASKED.fullmatch(text)
    return read_score(text, LOW, HIGH) if asked is None else float(asked[1]) + 0.0


def _whole(text: str, score: float) -> float | None:
    """Return the score of a reply that was cut off if the cut cannot have gone through it.

    In prose a number at the end may be half a number, or lack its denominator: it must stand in a whole line.
    Of JSON the reader itself takes only what is whole.
    """
    if _JSON.match(text):
        return score
    return score if read_score(text.rpartition("\n")[0], LOW, HIGH) == score else None
