"""Which way a path goes on: by a step, an end in one go, or a reflection; whose turn it is in a team."""

from dataclasses import replace

import pytest

from mctsr.caller import Caller
from mctsr.errors import RecipeError
from mctsr.expand.moves.agents import ROLE, Agents
from mctsr.expand.moves.reflect import ACTION, REFLECTION, ReasonFinishReflect
from mctsr.expand.step import Steps
from mctsr.lm.base import Completion
from mctsr.lm.scripted import Scripted
from mctsr.parts import Draft, Path
from mctsr.prompting import Prompts
from tests.support.judging import node, path

SURE = node("2 + 12 = 14.\n\n", 1.0)
ANSWER = node("\\boxed{13}", 0.0, answer="13")


async def grown(
    expander: ReasonFinishReflect | Agents, where: Path, *replies: Completion, n: int = 1
) -> tuple[list[Draft], Scripted]:
    lm = Scripted(list(replies), offers=frozenset({"steps"}))
    drafts = await expander.grow(where, n, Caller(lm, Prompts(), "p", 1))
    assert all(isinstance(draft, Draft) for draft in drafts)
    return [draft for draft in drafts if isinstance(draft, Draft)], lm


async def test_a_sure_step_is_finished_in_one_go() -> None:
    said = Completion("So:\n\nthe answer is \\boxed{14}", stop="")
    (draft,), lm = await grown(ReasonFinishReflect(Steps()), path(SURE), said, n=3)
    assert (draft.text, draft.answer, draft.done, draft.work) == (said.text, "14", False, {ACTION: "finish"})
    ((place, request),) = lm.calls
    assert (place.part, request.begun, request.stop) == ("finish", SURE.text, ())


async def test_an_end_that_was_cut_off_is_a_step_like_any_other() -> None:
    said = Completion("So we take", finish="length")
    (draft,), _ = await grown(ReasonFinishReflect(Steps()), path(SURE), said)
    assert (draft.answer, draft.done, draft.truncated) == (None, False, True)
    boxed = Completion("So \\boxed{14} and then", finish="length")
    (draft,), _ = await grown(ReasonFinishReflect(Steps()), path(SURE), boxed)
    assert draft.answer == "14"


async def test_an_end_without_words_is_unscored() -> None:
    (draft,), _ = await grown(ReasonFinishReflect(Steps()), path(SURE), Completion(" ", stop=""))
    assert (draft.unscored, draft.done, draft.why) == ("empty reply", True, "finished")


async def test_where_nothing_is_estimated_no_end_is_written_in_one_go() -> None:
    step = Completion("3 * 4 = 12.\n\n", stop="\n\n")
    drafts, lm = await grown(ReasonFinishReflect(Steps(), finish_at=None), path(SURE), step, step, n=2)
    assert [draft.text for draft in drafts] == [step.text] * 2
    assert {place.part for place, _ in lm.calls} == {"step"}


async def test_an_answer_is_reflected_on_and_the_reflection_is_continued() -> None:
    (draft,), lm = await grown(
        ReasonFinishReflect(Steps()), path(SURE, ANSWER), Completion("Again: 14.\n\n", stop="\n\n"), n=3
    )
    assert draft.text == f"{REFLECTION}Again: 14.\n\n"
    assert draft.work == {ACTION: "reflect"}
    assert lm.calls[0][1].begun == f"{SURE.text}{ANSWER.text}{REFLECTION}"


async def test_an_answer_stays_open_as_long_as_reflections_are_left_on_its_path() -> None:
    ends = Completion("The answer is \\boxed{14}", stop="")
    reflected = replace(Draft(REFLECTION, step=True), work={ACTION: "reflect"})
    begun = path("3 * 4 = 12.\n\n")
    for reflections, where, done in ((1, begun, False), (0, begun, True), (1, begun.plus(reflected), True)):
        (draft,), _ = await grown(ReasonFinishReflect(Steps(), reflections=reflections), where, ends)
        assert (draft.answer, draft.done) == ("14", done)
    (draft,), _ = await grown(ReasonFinishReflect(Steps(max_steps=2)), begun, ends)
    assert draft.done, "there is no room for a reflection"


async def test_the_next_role_speaks_and_the_last_one_answers() -> None:
    team = Agents(("planner", "solver"), max_tokens=9)
    (plan,), lm = await grown(team, path(), Completion(" Multiply. "))
    assert (plan.text, plan.answer, plan.done, plan.work) == ("Multiply.\n\n", None, False, {ROLE: "planner"})
    assert (lm.calls[0][0].part, lm.calls[0][1].max_tokens) == ("agent_planner", 9)
    (said,), _ = await grown(team, path().plus(plan), Completion("So \\boxed{14}", finish="length"))
    assert (said.answer, said.done, said.truncated) == ("14", True, True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ReasonFinishReflect(Steps(), reflections=-1),
        lambda: Agents(()),
        lambda: Agents(("Planner",)),
        lambda: Agents(("planner",), max_tokens=0),
        lambda: Agents(("planner",), temperature=3.0),
    ],
)
def test_numbers_and_names_out_of_range_are_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(RecipeError):
        make()
