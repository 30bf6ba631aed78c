"""Drafts: what an expander says to the model, and what it makes of the replies."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from mctsr.caller import Caller
from mctsr.errors import ContextOverflow, Refused, ServerError
from mctsr.expand.answer import Answer
from mctsr.expand.drafts import together, whole_answer
from mctsr.expand.refine import REFUSAL, SelfRefine
from mctsr.lm.base import Completion, Place
from mctsr.lm.scripted import Reply, Scripted
from mctsr.parts import Draft, Expander, Fault, Path, PathNode, Problem
from mctsr.prompting import Prompts

PROBLEM = Problem("p", "How much is 6 times 7?", "number")
ANSWER = "I guess so.\nThe final answer is \\boxed{41}"
PATH = Path(
    PROBLEM,
    (
        PathNode(0, "An older text.", None, {}, (), False),
        PathNode(3, ANSWER, "41", {"critique": "an older critique"}, (), False),
    ),
)
PROMPTS = Prompts()
BUSY = ServerError("busy for ever", status=503)
LONG = ContextOverflow("too long", status=400)


def named(place: Place) -> Reply:
    return f"{place.part} {place.draft}: \\boxed{{{place.draft}}}"


async def drafts(
    expander: Expander,
    reply: Callable[[Place], Reply] = named,
    *,
    n: int = 1,
    path: Path | None = PATH,
    delay: Callable[[Place], float] | None = None,
) -> tuple[Sequence[Draft | Fault], Scripted]:
    """Grow `path`, or open the tree where there is none."""
    lm = Scripted(lambda place, request: reply(place), delay=delay)
    llm = Caller(lm, PROMPTS, "p", 1)
    made = await (expander.grow(path, n, llm) if path else expander.open(PROBLEM, n, llm))
    return made, lm


def said(lm: Scripted, part: str) -> str:
    """Return the user's turn of the first call of `part`."""
    return next(request.messages[-1].content for place, request in lm.calls if place.part == part)


# Together


@pytest.mark.parametrize("expander", [Answer(), SelfRefine()])
async def test_drafts_keep_their_order_although_the_last_arrives_first(expander: Expander) -> None:
    for path in (None, PATH):
        made, _ = await drafts(expander, n=4, path=path, delay=lambda place: 0.008 - 0.002 * place.draft)
        assert [draft.answer for draft in made if isinstance(draft, Draft)] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("expander", [Answer(), SelfRefine()])
async def test_a_draft_that_fails_is_a_fault_in_its_place_and_takes_no_other_along(
    expander: Expander,
) -> None:
    faults: dict[int, Reply] = {1: BUSY, 2: LONG}
    made, _ = await drafts(expander, lambda place: faults.get(place.draft, named(place)), n=4)
    assert [type(draft) for draft in made] == [Draft, Fault, Fault, Draft]
    assert made[1] == Fault("server error: busy for ever")
    assert made[2] == Fault("context overflow: too long", server=False)


@pytest.mark.parametrize("expander", [Answer(), SelfRefine()])
async def test_what_ends_the_run_is_raised_and_cancels_the_others(expander: Expander) -> None:
    def reply(place: Place) -> Reply:
        return Refused("bad key", status=401) if place.draft == 1 else named(place)

    with pytest.raises(Refused, match="bad key"):
        await drafts(expander, reply, n=3, delay=lambda place: 0.0 if place.draft == 1 else 60.0)
    assert len(asyncio.all_tasks()) == 1


async def test_nothing_together_is_nothing() -> None:
    assert await together([]) == []


# Whole answers


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_reply_is_a_draft_that_must_not_be_judged(text: str) -> None:
    draft = whole_answer(Completion(text), PROBLEM)
    assert (draft.text, draft.answer, draft.unscored) == (text, None, "empty reply")


def test_a_reply_that_was_cut_off_is_marked_and_may_be_judged() -> None:
    draft = whole_answer(Completion("So far \\boxed{7}", finish="length"), PROBLEM, {"critique": "none"})
    assert (draft.answer, draft.truncated, draft.unscored) == ("7", True, "")
    assert draft.work == {"critique": "none"}
    assert not whole_answer(Completion("Done."), PROBLEM).truncated


def test_how_an_answer_is_read_is_the_problems_choice() -> None:
    reply = Completion("Then 6 * 7 = 42, so it is 42")
    assert whole_answer(reply, PROBLEM).answer == "42"
    assert whole_answer(reply, Problem("p", "Which letter?", "letter")).answer is None


# Answer


async def test_growing_an_answer_is_answering_afresh_without_a_look_at_the_path() -> None:
    grown, there = await drafts(Answer(), n=2)
    opened, here = await drafts(Answer(), n=2, path=None)
    assert grown == opened
    assert there.calls == here.calls
    assert [place.part for place, _ in there.calls] == ["answer", "answer"]
    assert said(there, "answer") == PROBLEM.text


# Self-refine


async def test_the_opening_answers_and_plants_the_refusal_behind() -> None:
    made, lm = await drafts(SelfRefine(planted=REFUSAL), n=2, path=None)
    assert [place.part for place, _ in lm.calls] == ["answer", "answer"]
    assert [draft.planted for draft in made if isinstance(draft, Draft)] == [False, False, True]
    assert made[-1] == Draft(REFUSAL, planted=True)
    assert all(
        isinstance(draft, Draft) and not draft.planted for draft in (await drafts(SelfRefine(), path=None))[0]
    )


async def test_the_refusal_is_planted_although_the_answer_failed() -> None:
    made, _ = await drafts(SelfRefine(planted=REFUSAL), lambda place: BUSY, path=None)
    assert [type(draft) for draft in made] == [Fault, Draft]


async def test_the_first_call_of_both_expanders_is_the_same() -> None:
    calls = [
        (await drafts(expander, path=None))[1].calls[0]
        for expander in (Answer(), SelfRefine(planted=REFUSAL, temperature=0.9))
    ]
    assert calls[0] == calls[1]


async def test_the_critique_sees_the_last_answer_and_the_rewrite_both() -> None:
    (draft,), lm = await drafts(
        SelfRefine(), lambda place: "Check 6 * 7." if place.part == "critique" else named(place)
    )
    assert [place.part for place, _ in lm.calls] == ["critique", "rewrite"]
    for part in ("critique", "rewrite"):
        assert PROBLEM.text in said(lm, part)
        assert ANSWER in said(lm, part)
        assert "An older" not in said(lm, part)
        assert "an older critique" not in said(lm, part)
    assert "Check 6 * 7." in said(lm, "rewrite")
    assert isinstance(draft, Draft)
    assert (draft.work, draft.answer) == ({"critique": "Check 6 * 7."}, "0")


async def test_the_answer_can_be_hidden_from_the_rewrite_but_not_from_the_critique() -> None:
    _, lm = await drafts(
        SelfRefine(show_answer=False),
        lambda place: "Check 6 * 7." if place.part == "critique" else named(place),
    )
    assert [place.part for place, _ in lm.calls] == ["critique", "rewrite_unseen"]
    assert ANSWER in said(lm, "critique")
    assert "Check 6 * 7." in said(lm, "rewrite_unseen")
    assert PROBLEM.text in said(lm, "rewrite_unseen")
    assert not any(ANSWER in turn.content for turn in lm.calls[1][1].messages)


@pytest.mark.parametrize("temperature", [None, 0.3])
async def test_the_temperature_is_that_of_critiques_and_rewrites(temperature: float | None) -> None:
    _, lm = await drafts(SelfRefine(temperature=temperature), n=2)
    assert [request.temperature for _, request in lm.calls] == [temperature] * 4
    assert {request.role for _, request in lm.calls} == {"policy"}


async def test_without_a_critique_no_rewrite_is_asked_for() -> None:
    made, lm = await drafts(SelfRefine(), lambda place: BUSY)
    assert [place.part for place, _ in lm.calls] == ["critique"]
    assert made == [Fault("server error: busy for ever")]


async def test_an_empty_rewrite_keeps_its_critique_for_people_to_read() -> None:
    (draft,), _ = await drafts(SelfRefine(), lambda place: "Look." if place.part == "critique" else " ")
    assert isinstance(draft, Draft)
    assert (draft.unscored, draft.work) == ("empty reply", {"critique": "Look."})


async def test_drafts_of_one_ask_have_places_of_their_own() -> None:
    _, lm = await drafts(SelfRefine(), n=3)
    assert len({place for place, _ in lm.calls}) == 6
    assert sorted(place.draft for place, _ in lm.calls) == [0, 0, 1, 1, 2, 2]
