"""Judges of ends: by the known answer where a recipe labels, by agreement otherwise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import RecipeError, UsageError
from mctsr.judge.mc_estimate import McEstimate
from mctsr.judge.outcome import ANSWERS, Ends, OutcomeReward, tell, told
from mctsr.lm.base import Completion
from mctsr.parts import Path, PathNode, Unscored, Verdict
from mctsr.tree import Sample
from tests.support.judging import PROBLEM, judged, node, path, scripted, the_sample


def drawn(answer: str | None, *together: str | None) -> PathNode:
    """Return a whole solution that was drawn with others."""
    work = {ANSWERS: tell(together)} if together else {}
    return PathNode(1, f"so {answer}", answer, work, (), False, done=True)


def whole(*nodes: PathNode) -> Path:
    return Path(PROBLEM, nodes)


def final(answer: str | None) -> Path:
    return path("2+3\n\n", node("so", answer=answer)._replace(done=True))


@pytest.mark.parametrize(("answer", "value"), [("14", 1.0), ("20", -1.0), (None, -1.0)])
async def test_with_the_known_answer_an_end_is_right_or_wrong(answer: str | None, value: float) -> None:
    judge = OutcomeReward(uses_gold=True, low=-1.0)
    assert the_sample(await judged(judge, final(answer), scripted(), known="14")).value == value


async def test_an_answer_that_nobody_can_compare_is_no_score() -> None:
    assert await judged(OutcomeReward(uses_gold=True), final("0"), scripted(), known="14") == Unscored(
        "ungradable"
    )


async def test_a_search_without_known_answers_refuses_to_say_what_is_right() -> None:
    with pytest.raises(UsageError, match="may not know"):
        await judged(OutcomeReward(uses_gold=True), final("14"), scripted())


async def test_agreement_asks_nobody_even_where_the_answer_is_known() -> None:
    where = whole(drawn("20", "20", "20", "14"))
    assert the_sample(await judged(OutcomeReward(), where, scripted(), known="14")).value == 1.0


@pytest.mark.parametrize(("answer", "value"), [("20", 1.0), ("14", 0.0), ("20.0", 1.0), (None, 0.0)])
async def test_without_it_the_majority_of_what_was_drawn_along_the_path_is_right(
    answer: str | None, value: float
) -> None:
    above = drawn("14", "14", "20", "20")
    here = drawn(answer, answer, "20")
    assert the_sample(await judged(OutcomeReward(), whole(above, here), scripted())).value == value


def test_what_was_drawn_is_read_as_it_was_written() -> None:
    assert told(whole(drawn("a", "a", None, "ü"), drawn("b"))) == ["a", None, "ü", "b"]


async def test_ends_cost_what_their_judge_costs_and_steps_nothing() -> None:
    judge = Ends(OutcomeReward(uses_gold=True))
    assert the_sample(await judged(judge, path("2+3\n\n"), scripted())) == Sample(0.0, 0.0, "unfinished")
    assert the_sample(await judged(judge, final("14"), scripted(), known="14")).value == 1.0
    assert the_sample(await judged(judge, final("20"), scripted(), known="14")).value == -1.0
    assert (judge.uses_gold, Ends(OutcomeReward()).uses_gold) == (True, False)


async def test_an_end_without_an_answer_is_the_worst_and_asks_no_judge() -> None:
    assert (
        the_sample(await judged(Ends(OutcomeReward(uses_gold=True)), final(None), scripted())).value == -1.0
    )


class Said:
    """Says one value for everything."""

    needs: frozenset[str] = frozenset()
    low, high = 0.0, 10.0

    def __init__(self, value: float | None) -> None:
        self.value = value

    async def judge(self, path: Path, draft: int, llm: object) -> Verdict | Unscored:
        lost = Unscored("unread")
        return lost if self.value is None else Verdict((Sample(self.value, self.value, "said"),), (lost,))


@given(st.floats(0, 10), st.floats(-5, 0), st.floats(1, 5))
async def test_what_a_judge_says_of_an_end_is_stretched_to_the_scale(
    value: float, low: float, high: float
) -> None:
    found = await judged(Ends(Said(value), low=low, high=high), final("14"), scripted())
    sample = the_sample(found)
    assert isinstance(found, Verdict)
    assert sample.value == pytest.approx(low + value / 10 * (high - low))
    assert (sample.raw, sample.text, found.unscored) == (value, "said", (Unscored("unread"),))


async def test_a_judge_without_a_word_leaves_the_end_unscored() -> None:
    assert await judged(Ends(Said(None)), final("14"), scripted()) == Unscored("unread")


def test_scales_in_disorder_are_refused() -> None:
    with pytest.raises(RecipeError, match="low"):
        OutcomeReward(low=1.0, high=1.0)
    with pytest.raises(RecipeError, match="order"):
        Ends(OutcomeReward(), unfinished=2.0)


async def test_monte_carlo_with_the_known_answer_is_the_share_of_right_completions() -> None:
    lm = scripted([Completion(f"so \\boxed{{{n}}}") for n in (20, 14, 20, 20)])
    sample = the_sample(await judged(McEstimate(4, uses_gold=True), path("2+3\n\n"), lm, known="14"))
    assert sample.value == 0.25
    assert sample.text == '["20", "14", "20", "20"]'


async def test_completions_that_nobody_can_compare_are_left_out_of_the_share() -> None:
    lm = scripted([Completion(f"so \\boxed{{{n}}}") for n in (0, 14, 20)])
    found = await judged(McEstimate(3, uses_gold=True), path("2+3\n\n"), lm, known="14")
    assert the_sample(found).value == 0.5
