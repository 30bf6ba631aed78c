"""Whole solutions and their beginnings: what is asked for, what becomes of the replies, and where they are cut."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.caller import Caller
from mctsr.errors import RecipeError, ServerError
from mctsr.expand.boundary import LINES, NUMBERED, PARAGRAPHS, Boundary, split
from mctsr.expand.completions import ANSWERS, Completions
from mctsr.expand.cuts import cut_ends
from mctsr.judge import outcome
from mctsr.lm.base import Completion, Request, Usage
from mctsr.lm.base.reply import Finish
from mctsr.lm.scripted import Reply, Scripted
from mctsr.parts import Draft, Fault, Path, PathNode, Problem
from mctsr.prompting import Prompts

PROBLEM = Problem("p", "How much is 6 times 7?", "number")
ROOT = PathNode(0, "", None, {}, (), False, step=True)
SOLUTION = "6 is 5 + 1.\n\n5 * 7 = 35.\n\nThe answer is \\boxed{42}"


def below(*texts: str, **work: str) -> Path:
    """Return a path of rollouts and states in turn below the root."""
    nodes = [
        PathNode(i, text, None, work, (), False, step=i % 2 == 0) for i, text in enumerate(texts, start=1)
    ]
    return Path(PROBLEM, (ROOT, *nodes))


async def grown(
    path: Path, replies: Sequence[Reply], n: int | None = None, how: Completions | None = None
) -> tuple[Sequence[Draft | Fault], list[Request]]:
    lm = Scripted(replies)
    n = len(replies) if n is None else n
    made = await (how or Completions()).grow(path, n, Caller(lm, Prompts(), "p", 1))
    return made, [request for _, request in lm.calls]


async def one(path: Path, reply: Reply, how: Completions | None = None) -> Draft:
    (draft,), _ = await grown(path, [reply], how=how)
    assert isinstance(draft, Draft)
    return draft


async def test_a_tree_is_opened_by_an_empty_state_without_a_call() -> None:
    lm = Scripted([])
    (root,) = await Completions().open(PROBLEM, 1, Caller(lm, Prompts(), "p", 0))
    assert root == Draft("", step=True, unjudged=True)
    assert not lm.calls


async def test_below_the_root_whole_solutions_are_asked_for_to_their_end() -> None:
    how = Completions(temperature=0.3, max_tokens=50)
    drafts, requests = await grown(below(), [Completion(SOLUTION, usage=Usage(9, 20)), "I pass."], how=how)
    whole, silent = drafts
    assert isinstance(whole, Draft)
    assert isinstance(silent, Draft)
    assert (whole.text, whole.answer, whole.step, whole.tokens) == (SOLUTION, "42", False, 20)
    assert not whole.done
    assert silent.answer is None
    assert silent.done, "one step has no beginning"
    for request in requests:
        assert (request.stop, request.begun, request.max_tokens, request.temperature) == ((), "", 50, 0.3)


async def test_below_a_state_its_text_is_continued_and_kept() -> None:
    begun = "6 is 5 + 1.\n\n"
    path, rest = below(SOLUTION, begun), "Then 42.\n\nSo \\boxed{42}"
    (draft,), (request,) = await grown(path, [Completion(rest, stop="")])
    assert isinstance(draft, Draft)
    assert request.begun == begun
    assert (draft.text, draft.answer) == (begun + rest, "42")


async def test_beginnings_are_whole_texts_behind_each_step_without_a_call() -> None:
    drafts, requests = await grown(below(SOLUTION), [], n=1)
    assert drafts == [
        Draft("6 is 5 + 1.\n\n", step=True, unjudged=True),
        Draft("6 is 5 + 1.\n\n5 * 7 = 35.\n\n", step=True, unjudged=True),
    ]
    assert not requests


async def test_only_what_was_written_behind_the_state_is_cut() -> None:
    state = "6 is 5 + 1.\n\n"
    drafts, _ = await grown(below(SOLUTION, state, f"{state}a\n\nb\n\nc"), [], n=1)
    assert [draft.text for draft in drafts if isinstance(draft, Draft)] == [
        f"{state}a\n\n",
        f"{state}a\n\nb\n\n",
    ]


async def test_a_path_through_rollouts_continues_the_last_beginning_alone() -> None:
    path = below(SOLUTION, "6 is 5 + 1.\n\n", f"{SOLUTION} again", "6 is 5 + 1.\n\n5 * 7 = 35.\n\n")
    assert path.text == path.begun == "6 is 5 + 1.\n\n5 * 7 = 35.\n\n"


async def test_a_solution_that_was_cut_off_has_no_answer() -> None:
    draft = await one(below(), Completion(SOLUTION, finish="length"))
    assert (draft.answer, draft.truncated) == (None, True)


async def test_an_empty_reply_is_unscored_at_the_root_and_an_end_below_a_state() -> None:
    assert (await one(below(), Completion(" "))).unscored == "empty reply"
    draft = await one(below(SOLUTION, "It is \\boxed{42}\n\n"), Completion(""))
    assert (draft.unscored, draft.answer, draft.done) == ("", "42", True)


@pytest.mark.parametrize("finish", ["length", "other"])
async def test_a_server_that_sent_nothing_below_a_state_says_nothing_about_it(finish: Finish) -> None:
    draft = await one(below(SOLUTION, "6 is 5 + 1.\n\n"), Completion(" ", finish=finish))
    assert (draft.unscored, draft.answer, draft.truncated) == ("empty reply", None, True)


async def test_a_thought_is_kept_beside_the_solution_and_sent_along() -> None:
    thought = "<think>Hm.\n\nSix sevens.</think>\n"
    draft = await one(below(), thought + SOLUTION)
    assert (draft.text, draft.work["thought"]) == (SOLUTION, thought)
    first, _ = (await grown(below(draft.text, thought=thought), [], n=1))[0]
    assert isinstance(first, Draft)
    assert first.work == {"thought": thought}
    _, (request,) = await grown(below(draft.text, first.text, thought=thought), ["So 42."])
    assert request.begun == thought + first.text
    lost = await one(below(), Completion("<think>Hm, hm", finish="length"))
    assert lost.unscored == "cut off in its thought"


async def test_all_solutions_know_the_answers_to_the_problem_itself_in_the_judges_words() -> None:
    replies: list[Reply] = ["So \\boxed{1}", ServerError("busy", status=503), "No idea.", "So \\boxed{2}"]
    drafts, _ = await grown(below(), replies)
    said = [draft.work[ANSWERS] for draft in drafts if isinstance(draft, Draft)]
    assert said == [outcome.tell(["1", None, "2"])] * 3
    assert isinstance(drafts[1], Fault)
    assert ANSWERS == outcome.ANSWERS
    first = below(SOLUTION).last._replace(work={ANSWERS: said[0]})
    path = Path(PROBLEM, (ROOT, first, *below(SOLUTION, "6 is 5 + 1.\n\n").nodes[2:]))
    draft = await one(path, "So \\boxed{9}")
    assert json.loads(draft.work[ANSWERS]) == ["1", None, "2"]


async def test_a_numbered_boundary_has_a_prompt_of_its_own() -> None:
    how = Completions(NUMBERED)
    assert (Completions().prompt_name, how.prompt_name) == ("step", "step_numbered")
    drafts, _ = await grown(below("Step 1: a\n\nb\nStep 2: c\nStep 3: d"), [], n=1, how=how)
    assert [draft.text for draft in drafts if isinstance(draft, Draft)] == [
        "Step 1: a\n\nb\n",
        "Step 1: a\n\nb\nStep 2: c\n",
    ]


# Cuts


def test_many_steps_are_taken_together_evenly() -> None:
    text = "".join(f"{i}\n" for i in range(10))
    assert [text[:end].count("\n") for end in cut_ends(text, LINES, most=4)] == [2, 5, 7]
    assert [text[:end].count("\n") for end in cut_ends(text, LINES, most=10)] == list(range(1, 10))
    assert [text[:end].count("\n") for end in cut_ends(text, LINES, begun=4, most=3)] == [4, 7]


@given(
    st.lists(
        st.sampled_from(["a", " ", "\n", "\n\n", "```\n", "$$", "Step 1: b\n", "Step 2: c\n"]), max_size=30
    ),
    st.sampled_from([PARAGRAPHS, LINES, NUMBERED]),
    st.integers(0, 40),
    st.sampled_from([0, 2, 3, 16]),
)
def test_cuts_rise_between_what_was_begun_and_the_end_and_part_words(
    pieces: list[str], boundary: Boundary, begun: int, most: int
) -> None:
    text = "".join(pieces)
    ends = cut_ends(text, boundary, begun, most)
    assert ends == sorted(set(ends))
    assert not most or len(ends) < most
    steps = split(text, boundary)
    assert all(end in {sum(map(len, steps[:i])) for i in range(len(steps))} for end in ends)
    for start, end in zip([begun, *ends], [*ends, len(text)], strict=True):
        assert text[start:end].strip() or not ends


@pytest.mark.parametrize(
    ("given_values", "message"),
    [
        ({"most_steps": 1}, "most_steps is 1; it must be at least 2, or 0"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"temperature": 3.0}, "temperature is 3.0"),
    ],
)
def test_numbers_out_of_range_are_refused(given_values: dict[str, float], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        Completions(**given_values)  # type: ignore[arg-type]
