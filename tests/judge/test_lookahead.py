"""Looking ahead from a step: what is written, what of it counts, and what a failed call leaves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pytest

from mctsr.caller import Caller
from mctsr.errors import RecipeError, Refused, ServerError
from mctsr.expand.step import Steps
from mctsr.judge.aggregate import minimum
from mctsr.judge.llm_judge import LlmJudge
from mctsr.judge.lookahead import AHEAD, Lookahead
from mctsr.lm.base import Completion, Place, Request
from mctsr.parts import Path, Unscored, Verdict
from mctsr.testing.laws import check_judge
from mctsr.tree import Sample
from tests.support.judging import judged, label, node, path, scripted, the_sample

OFFERS = frozenset({"steps", "logprobs"})
BORN = path(node("2 + 2 = 4.\n\n", 0.5))


@dataclass(frozen=True)
class ByText:
    """Scores a step by a table; what is not in it has no score."""

    scores: Mapping[str, float]
    needs: ClassVar[frozenset[str]] = frozenset()
    wishes: ClassVar[frozenset[str]] = frozenset({"logprobs"})
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        score = self.scores.get(path.last.text.strip())
        return Unscored("unknown") if score is None else Verdict((Sample(score, score),))


def ahead(*texts: str | ServerError) -> object:
    """Return replies of a policy: the steps ahead in order; the last one ends the solution."""

    def said(place: Place, request: Request) -> Completion | ServerError:
        number = -2 - place.draft
        text = texts[number]
        if isinstance(text, ServerError):
            return text
        ends = number == len(texts) - 1
        return Completion(text if ends else f"{text}\n\n", stop="" if ends else "\n\n")

    return scripted(said, offers=OFFERS)


SCORES = ByText({"a": 0.3, "b": 0.8, "c": 0.6})


async def test_a_new_step_is_judged_as_it_stands() -> None:
    lm = scripted(offers=OFFERS)
    found = await judged(Lookahead(ByText({"2 + 2 = 4.": 0.4}), Steps()), path("2 + 2 = 4.\n\n"), lm)
    assert the_sample(found) == Sample(0.4, 0.4)
    assert not lm.calls


async def test_asked_again_it_returns_the_best_value_ahead() -> None:
    found = the_sample(await judged(Lookahead(SCORES, Steps()), BORN, ahead("a", "b", "c"), -1))  # type: ignore[arg-type]
    assert found == Sample(0.8, 0.5, f"{AHEAD}\n0.3: a\n0.8: b\n0.6: c"), "raw stays the step's own score"


async def test_it_goes_no_further_than_it_is_told_to() -> None:
    lm = ahead("a", "b", "c")
    found = the_sample(await judged(Lookahead(SCORES, Steps(), forward=1), BORN, lm, -1))  # type: ignore[arg-type]
    assert found.value == 0.3, "the step's own .5 is none of those ahead"
    assert [place.draft for place, _ in lm.calls] == [-2]  # type: ignore[attr-defined]


async def test_the_way_ends_where_the_solution_does() -> None:
    lm = ahead("a", "b", "c")
    found = the_sample(await judged(Lookahead(SCORES, Steps(), forward=9), BORN, lm, -1))  # type: ignore[arg-type]
    assert found.value == 0.8
    assert len(lm.calls) == 3  # type: ignore[attr-defined]


async def test_a_finished_step_keeps_its_value_without_a_call() -> None:
    lm = scripted(offers=OFFERS)
    done = path(node("so 4", 0.9)._replace(done=True))
    assert the_sample(await judged(Lookahead(SCORES, Steps()), done, lm, -1)).value == 0.9
    assert not lm.calls


async def test_an_empty_reply_ends_the_way() -> None:
    lm = ahead("")
    found = the_sample(await judged(Lookahead(SCORES, Steps()), BORN, lm, -1))  # type: ignore[arg-type]
    assert (found.value, found.text) == (0.5, "nothing lies ahead")


async def test_a_step_without_a_score_is_passed_over_and_counted() -> None:
    found = await judged(Lookahead(SCORES, Steps()), BORN, ahead("odd", "a"), -1)  # type: ignore[arg-type]
    assert isinstance(found, Verdict)
    assert found.unscored == (Unscored("unknown"),)
    assert (found.samples[0].value, found.samples[0].text) == (0.3, f"{AHEAD}\nunscored: odd\n0.3: a")


async def test_nothing_but_steps_without_a_score_is_no_value() -> None:
    found = await judged(Lookahead(SCORES, Steps()), BORN, ahead("odd", "strange"), -1)  # type: ignore[arg-type]
    assert found == Unscored("unknown")


async def test_a_failed_call_keeps_what_was_seen_before_it() -> None:
    broken = ServerError("busy", status=503)
    found = await judged(Lookahead(SCORES, Steps()), BORN, ahead("a", broken, "c"), -1)  # type: ignore[arg-type]
    assert isinstance(found, Verdict)
    assert found.samples[0].value == 0.3
    assert found.unscored[0].server
    first = await judged(Lookahead(SCORES, Steps()), BORN, ahead(broken, "c"), -1)  # type: ignore[arg-type]
    assert isinstance(first, Unscored)
    assert first.server


async def test_what_ends_the_run_passes() -> None:
    with pytest.raises(Refused):
        await judged(Lookahead(SCORES, Steps()), BORN, ahead(Refused("no", status=401)), -1)  # type: ignore[arg-type]


async def test_judges_see_the_scores_of_the_steps_ahead_and_every_call_has_a_place_of_its_own() -> None:
    shares = {-2: 0.6, -3: 0.9, -4: 0.7}

    def said(place: Place, request: Request) -> Completion:
        if place.part == "judge_label":
            return label(yes=shares[place.draft], no=1 - shares[place.draft])
        return Completion(f"step {place.draft}\n\n", stop="\n\n")

    lm = scripted(said, offers=OFFERS)
    found = the_sample(await judged(Lookahead(LlmJudge(minimum), Steps()), BORN, lm, -1))
    assert found.value == pytest.approx(0.5), "the weakest step so far is the first"
    assert found.text.count("0.5: ") == 3
    places = [place for place, _ in lm.calls]
    assert len(set(places)) == len(places) == 6


async def test_it_keeps_the_laws_and_is_what_its_judge_is() -> None:
    judge = Lookahead(LlmJudge(), Steps())
    await check_judge(judge)
    assert (judge.low, judge.high, judge.uses_gold) == (0.0, 1.0, False)
    assert judge.needs == {"steps"}
    assert judge.wishes == {"logprobs"}
    with pytest.raises(RecipeError, match="forward is 0; it is the number of steps ahead"):
        Lookahead(judge, Steps(), 0)
