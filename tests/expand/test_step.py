"""Steps: what is asked for the next step, and what becomes of the replies."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from mctsr.caller import Caller
from mctsr.errors import ContextOverflow, RecipeError, Refused, ServerError
from mctsr.expand.blocks import find_blocks, find_opened
from mctsr.expand.boundary import NUMBERED, PARAGRAPHS, Boundary, split
from mctsr.expand.finish import is_final
from mctsr.expand.step import MOST_PIECES, Steps
from mctsr.expand.thoughts import is_open, part
from mctsr.expand.written import MOST_BLANK
from mctsr.lm.base import Completion, Place, Request, Token, Usage
from mctsr.lm.scripted import Reply, Scripted
from mctsr.parts import Draft, Fault, Path, PathNode, Problem
from mctsr.prompting import Prompts
from mctsr.testing.laws import check_expander

PROBLEM = Problem("p", "How much is 6 times 7?", "number")
ROOT = PathNode(0, "", None, {}, (), False, step=True)
PROMPTS = Prompts()

Answering = Callable[[Place, Request], Reply]


def path_of(*steps: str | PathNode) -> Path:
    nodes = [
        PathNode(i, s, None, {}, (), False, step=True) if isinstance(s, str) else s
        for i, s in enumerate(steps, 1)
    ]
    return Path(PROBLEM, (ROOT, *nodes))


def told(text: str, stop: str | None = "\n\n", **more: object) -> Completion:
    """Reply as a server that tells the stop string ("" for the model's own end)."""
    return Completion(text, stop=stop, **more)  # type: ignore[arg-type]


async def grown(
    steps: Steps, replies: Answering | Sequence[Reply], path: Path | None = None, n: int = 1
) -> tuple[Sequence[Draft | Fault], list[Request]]:
    lm = Scripted(replies)
    made = await steps.grow(path or path_of(), n, Caller(lm, PROMPTS, "p", 1))
    return made, [request for _, request in lm.calls]


async def one(
    steps: Steps, replies: Sequence[Reply], path: Path | None = None
) -> tuple[Draft, list[Request]]:
    (draft,), requests = await grown(steps, replies, path)
    assert isinstance(draft, Draft)
    assert len(requests) == len(replies), "not all replies were used"
    return draft, requests


class Author:
    """A server whose model writes one known solution, however often it is interrupted.

    Characters are tokens. `telling` says which stop string was hit and keeps it; otherwise it is swallowed silently.
    """

    def __init__(
        self, solution: str, *, telling: bool = True, ids: bool = False, obeying: bool = True
    ) -> None:
        self.solution, self.telling, self.ids, self.obeying = solution, telling, ids, obeying

    def __call__(self, place: Place, request: Request) -> Completion:
        assert self.solution.startswith(request.begun) or not self.telling
        if self.ids and request.begun:
            known = "".join(map(chr, request.begun_ids))
            assert known == request.begun or not (known or self.obeying)
        rest = self.solution[len(request.begun) :]
        hits = {stop: rest.find(stop) for stop in request.stop if stop in rest and self.obeying}
        stop = min(hits, key=lambda stop: (hits[stop], -len(stop)), default="")
        text = rest[: hits[stop] + len(stop)] if stop else rest
        if request.max_tokens is not None and len(text) > request.max_tokens:
            return self.said(text[: request.max_tokens], "length", None)
        if self.telling:
            return self.said(text, "stop", stop)
        return self.said(text.removesuffix(stop), "stop", None)

    def said(self, text: str, finish: str, stop: str | None) -> Completion:
        ids = tuple(map(ord, text)) if self.ids else ()
        return Completion(text, finish, usage=Usage(0, len(text)), stop=stop, ids=ids)  # type: ignore[arg-type]


async def written(steps: Steps, author: Author, most: int = 60) -> list[Draft]:
    """Grow one path until it can grow no more."""
    path, drafts, llm = path_of(), list[Draft](), Caller(Scripted(author), PROMPTS, "p", 1)
    while not (drafts and drafts[-1].done):
        (draft,) = await steps.grow(path, 1, llm)
        assert isinstance(draft, Draft)
        drafts.append(draft)
        path = path.plus(draft)
        assert len(drafts) <= most, "the solution has no end"
    return drafts


# What is asked


async def test_opening_plants_one_empty_text_without_a_call() -> None:
    lm = Scripted([])
    (root,) = await Steps().open(PROBLEM, 1, Caller(lm, PROMPTS, "p", 0))
    assert root == Draft("", step=True, unjudged=True)
    assert not lm.calls


async def test_the_first_step_is_asked_for_as_a_fresh_reply() -> None:
    draft, (request,) = await one(Steps(temperature=0.6, logprobs=2), [told("6 times 7.\n\n")])
    assert request.messages[-1].content == PROBLEM.text
    assert (request.begun, request.begun_ids, request.stop) == ("", (), ("\n\n",))
    assert (request.max_tokens, request.temperature, request.logprobs) == (512, 0.6, 2)
    assert draft == Draft("6 times 7.\n\n", step=True, tokens=1)


async def test_a_later_step_continues_all_steps_before_it() -> None:
    _, (request,) = await one(Steps(), [told("c\n\n")], path_of("a\n\n", "b\n\n"))
    assert (request.begun, request.begun_ids) == ("a\n\nb\n\n", ())


async def test_token_ids_are_sent_when_those_of_every_step_are_known() -> None:
    first = PathNode(1, "a\n\n", None, {}, (), False, ids=(5, 6), step=True)
    second = PathNode(2, "b\n\n", None, {}, (), False, ids=(7,), step=True)
    _, (request,) = await one(Steps(), [told("c\n\n")], path_of(first, second))
    assert request.begun_ids == (5, 6, 7)
    _, (request,) = await one(Steps(), [told("c\n\n")], path_of(first, second._replace(ids=())))
    assert request.begun_ids == ()


async def test_numbered_steps_are_asked_for_by_their_own_prompt_and_stops() -> None:
    numbered = Steps(NUMBERED)
    draft, (request,) = await one(numbered, [told("Step 2: b\nStep 3", "\nStep 3")], path_of("Step 1: a\n"))
    assert request.stop == ("\nStep 3", "\n**Step 3", "## Step 3")
    assert "Step 1" in request.messages[0].content
    assert draft.text == "Step 2: b\n"


# Whole steps, finished solutions, and neither


DRAFTS = [
    # the reply, the text of the step, why it is done ("" for not), its answer
    (told("6 * 7 = 42\n\n"), "6 * 7 = 42\n\n", "", None),
    (told("That makes 42.", ""), "That makes 42.", "finished", "42"),
    (told("So \\boxed{42}.\n\n"), "So \\boxed{42}.\n\n", "finished", "42"),
    (told("The answer is 42.\n\n"), "The answer is 42.\n\n", "finished", "42"),
    (told("#### 42\n\n"), "#### 42\n\n", "finished", "42"),
    (told("#### Compute the total\n\n"), "#### Compute the total\n\n", "", None),
    (told("The answer follows by adding.\n\n"), "The answer follows by adding.\n\n", "", None),
    (told("Put it in \\boxed{answer}\n\n"), "Put it in \\boxed{answer}\n\n", "", None),
    (Completion("So \\boxed{42}."), "So \\boxed{42}.", "finished", "42"),
    (Completion("6 * 7 = 42"), "6 * 7 = 42\n\n", "", None),
    (Completion("6 * 7 = 42\n\n"), "6 * 7 = 42\n\n", "", None),
    (Completion("one\n\ntwo\n\nThe answer is 42."), "one\n\n", "", None),
    (told("one\n\ntwo\n\nThe answer is 42.", ""), "one\n\n", "", None),
]


@pytest.mark.parametrize(("reply", "text", "why", "answer"), DRAFTS)
async def test_what_becomes_of_a_reply(reply: Completion, text: str, why: str, answer: str | None) -> None:
    draft, _ = await one(Steps(), [reply])
    assert (draft.text, draft.done, draft.answer) == (text, bool(why), answer)
    assert not draft.done or draft.why == why
    assert (draft.truncated, draft.unscored, draft.step) == (False, "", True)


async def test_the_answer_is_read_from_the_whole_path() -> None:
    draft, _ = await one(Steps(), [told("Done.", "")], path_of("Hence the total is 42.\n\n"))
    assert (draft.answer, draft.why) == ("42", "finished")


async def test_a_step_cut_off_is_marked_and_may_go_on() -> None:
    draft, _ = await one(Steps(), [Completion("The answer is 4", "length")])
    assert (draft.truncated, draft.done, draft.answer) == (True, False, None)
    draft, _ = await one(Steps(), [Completion("\\boxed{42} and so", "length")])
    assert (draft.truncated, draft.done, draft.answer) == (True, True, "42")


async def test_an_answer_that_was_cut_in_two_is_seen() -> None:
    path = path_of("3+4 = 7.\n\n", "So it is \\boxed{4")
    draft, _ = await one(Steps(), [told("2}.\n\n")], path)
    assert (draft.done, draft.answer) == (True, "42")
    draft, _ = await one(Steps(), [told("2}.\n\n")], path_of("So it is \\boxed{4\n\n"))
    assert not draft.done


async def test_one_step_may_be_all() -> None:
    draft, _ = await one(Steps(max_steps=1), [told("a\n\n")])
    assert (draft.done, draft.why) == (True, "max steps")


async def test_the_last_step_of_a_path_is_ended() -> None:
    steps = Steps(max_steps=3)
    draft, _ = await one(steps, [told("c\n\n")], path_of("a\n\n", "b\n\n"))
    assert (draft.done, draft.why, draft.answer) == (True, "max steps", None)
    draft, _ = await one(steps, [told("\\boxed{1}\n\n")], path_of("a\n\n", "b\n\n"))
    assert (draft.done, draft.why, draft.answer) == (True, "finished", "1")
    draft, _ = await one(steps, [told("b\n\n")], path_of("a\n\n"))
    assert not draft.done


@pytest.mark.parametrize("reply", [told("", ""), Completion(""), Completion(" "), told("\n", "")])
async def test_a_model_that_says_no_more_has_ended_the_path(reply: Completion) -> None:
    draft, _ = await one(Steps(), [reply], path_of("So it is 42.\n\n"))
    assert (draft.unscored, draft.done, draft.why, draft.answer) == ("empty reply", True, "finished", "42")
    assert not draft.truncated


async def test_an_empty_first_step_has_no_answer() -> None:
    draft, _ = await one(Steps(), [told("", "")])
    assert (draft.unscored, draft.done, draft.answer) == ("empty reply", True, None)


async def test_nothing_but_separators_is_given_up_after_a_few_calls() -> None:
    draft, requests = await one(Steps(), [told("\n\n")] * MOST_BLANK)
    assert (draft.unscored, draft.done, draft.why, draft.answer) == ("empty reply", True, "empty reply", None)
    assert [request.begun for request in requests] == ["", "\n\n", "\n\n\n\n"]


async def test_empty_lines_before_a_step_belong_to_it() -> None:
    draft, _ = await one(Steps(), [told("\n\n"), told("a\n\n")])
    assert draft.text == "\n\na\n\n"


# Several calls for one step


async def test_a_step_that_stops_inside_a_block_is_continued_until_it_closes() -> None:
    replies = [told("We have $$a\n\n"), told("b$$", "$$"), told(" so.\n\n")]
    draft, requests = await one(Steps(), replies, path_of("x\n\n"))
    assert draft.text == "We have $$a\n\nb$$ so.\n\n"
    assert [request.stop for request in requests] == [("\n\n",), ("$$",), ("\n\n",)]
    assert [request.begun for request in requests] == [
        "x\n\n",
        "x\n\nWe have $$a\n\n",
        "x\n\nWe have $$a\n\nb$$",
    ]


async def test_the_calls_of_a_draft_have_places_of_their_own_and_are_no_second_tries() -> None:
    lm = Scripted([told("```\n\n"), told("x\n```", "```"), told("\n\n")])
    llm = Caller(lm, PROMPTS, "p", 1)
    await Steps().grow(path_of(), 1, llm)
    assert [(p.part, p.draft, p.sample, p.attempt) for p, _ in lm.calls] == [
        ("step", 0, i, 0) for i in range(3)
    ]
    assert (llm.tally.calls, llm.tally.reasked) == (3, 0)


async def test_the_longest_step_is_counted_over_all_calls() -> None:
    replies = [
        told("$$a\n\n", usage=Usage(1, 60)),
        told("b$$", "$$", usage=Usage(1, 30)),
        Completion("c", "length", usage=Usage(1, 10)),
    ]
    draft, requests = await one(Steps(max_step_tokens=100), replies)
    assert [request.max_tokens for request in requests] == [100, 40, 10]
    assert (draft.truncated, draft.tokens, draft.done) == (True, 100, False)


async def test_a_reply_cut_off_by_a_shorter_limit_goes_on() -> None:
    replies = [
        Completion("First we", "length", usage=Usage(1, 30)),
        Completion(" add 3 and", "length", usage=Usage(1, 30)),
        told(" 4.\n\n", usage=Usage(1, 5)),
    ]
    draft, requests = await one(Steps(max_step_tokens=100), replies)
    assert (draft.text, draft.truncated, draft.tokens) == ("First we add 3 and 4.\n\n", False, 65)
    assert [request.max_tokens for request in requests] == [100, 70, 40]


async def test_a_reply_that_the_server_broke_off_is_cut_off() -> None:
    draft, _ = await one(Steps(), [Completion("First we", "other", usage=Usage(1, 3))])
    assert (draft.text, draft.truncated, draft.done) == ("First we", True, False)


async def test_a_block_that_no_call_closes_is_cut_off() -> None:
    (draft,), requests = await grown(Steps(), lambda place, request: told("\\[x\n\n"))
    assert isinstance(draft, Draft)
    assert len(requests) == MOST_PIECES
    assert (draft.text, draft.truncated, draft.done) == ("\\[x\n\n" * MOST_PIECES, True, False)
    (draft,), _ = await grown(
        Steps(max_step_tokens=5), lambda place, request: told("```py\n\n", usage=Usage(1, 3))
    )
    assert isinstance(draft, Draft)
    assert (draft.truncated, draft.done) == (True, False)


async def test_a_server_without_usage_is_not_asked_for_ever() -> None:
    draft, requests = await one(Steps(max_step_tokens=2), [told("\\[a\n\n")] * 2)
    assert [request.max_tokens for request in requests] == [2, 1]
    assert draft.truncated


async def test_the_model_may_end_inside_a_block() -> None:
    draft, _ = await one(Steps(), [told("```\n\n"), told("print(42)", "")])
    assert (draft.text, draft.why) == ("```\n\nprint(42)", "finished")


async def test_when_a_later_call_does_not_fit_the_step_is_cut_off() -> None:
    draft, _ = await one(Steps(), [told("$$a\n\n"), ContextOverflow("9 > 5")])
    assert (draft.text, draft.truncated, draft.done) == ("$$a\n\n", True, False)


async def test_when_the_first_call_does_not_fit_there_is_no_step() -> None:
    made, _ = await grown(Steps(), [ContextOverflow("9 > 5")])
    assert made == [Fault("context overflow: 9 > 5", server=False)]


async def test_a_lost_call_loses_its_draft_and_no_other() -> None:
    def reply(place: Place, request: Request) -> Reply:
        if place.draft == 1:
            return ServerError("lost") if place.sample else told("$$a\n\n")
        return told(f"{place.draft}\n\n")

    made, _ = await grown(Steps(), reply, n=3)
    assert [d.text if isinstance(d, Draft) else d.reason for d in made] == [
        "0\n\n",
        "server error: lost",
        "2\n\n",
    ]


async def test_what_ends_the_run_is_raised() -> None:
    with pytest.raises(Refused):
        await grown(Steps(), [Refused("no", status=401)])


# Whole solutions, written step by step


WORDS = st.sampled_from(["Add 3.", "So x = 4", "we see", "$y$", "I take \\$5", "1. first"])
WHOLE = st.sampled_from(
    [
        "$$a\n\nb$$",
        "\\[\nx\n\ny\n\\]",
        "\\begin{align}p\n\nq\\end{align}",
        "\n```py\n\nf(x)\n\n```\n",
        "~~~\n\n$$\n~~~\n",
    ]
)
PARTS = st.one_of(WORDS, WHOLE).map(str.strip)
GAPS = st.sampled_from(["\n\n", "\n\n\n", "\n", " ", " \n\n"])
SOLUTIONS = st.lists(st.tuples(st.one_of(WORDS, WHOLE), GAPS).map("".join), max_size=9).map("".join)


@hypothesis_settings(deadline=None, max_examples=150)
@given(solution=SOLUTIONS, ids=st.booleans(), obeying=st.booleans())
async def test_steps_joined_are_what_the_model_wrote(solution: str, ids: bool, obeying: bool) -> None:
    drafts = await written(Steps(max_steps=99), Author(solution, ids=ids, obeying=obeying))
    assert "".join(draft.text for draft in drafts) == solution
    assert drafts[-1].why == "finished"
    assert not any(draft.truncated for draft in drafts)
    if ids and obeying:
        assert [id for draft in drafts for id in draft.ids] == list(map(ord, solution))
    ends, position = list[int](), 0
    for draft in drafts:
        position += len(draft.text)
        ends.append(position)
    for block in find_blocks(solution):
        assert not any(block.start < end < block.end for end in ends)


@hypothesis_settings(deadline=None, max_examples=60)
@given(parts=st.lists(st.lists(PARTS, min_size=1, max_size=3).map("\n".join), min_size=1, max_size=6))
async def test_a_solution_in_paragraphs_is_written_as_it_would_be_split(parts: list[str]) -> None:
    solution = "\n\n".join(parts)
    assume(find_opened(solution) is None)  # a block that is never closed shows as none at the end only
    drafts = await written(Steps(max_steps=99), Author(solution))
    assert [draft.text for draft in drafts if draft.text] == split(solution)


STYLES = st.sampled_from(["Step {}: ", "**Step {}.** ", "## Step {}\n", "### Step {}: ", "{}. "])
BODIES = st.sampled_from(["add 3", "$$a\n\nb$$", "list:\n1. x\n2. y", "5\n\n6", "code: ```py\nStep 2\n```\n"])


@hypothesis_settings(deadline=None, max_examples=60)
@given(
    style=STYLES,
    intro=st.sampled_from(["", "Let me see.\n\n"]),
    bodies=st.lists(st.lists(BODIES, min_size=1, max_size=2).map(" ".join), min_size=1, max_size=6),
    gap=st.sampled_from(["\n", "\n\n"]),
)
async def test_numbered_steps_are_written_as_they_would_be_split(
    style: str, intro: str, bodies: list[str], gap: str
) -> None:
    solution = intro + "".join(style.format(i) + body + gap for i, body in enumerate(bodies, 1))
    assume(find_opened(solution) is None)
    drafts = await written(Steps(NUMBERED, max_steps=99), Author(solution))
    assert [draft.text for draft in drafts if draft.text] == split(solution, NUMBERED)


@hypothesis_settings(deadline=None, max_examples=60)
@given(solution=SOLUTIONS, longest=st.integers(3, 30))
async def test_nothing_is_lost_when_steps_are_cut_off(solution: str, longest: int) -> None:
    drafts = await written(Steps(max_steps=999, max_step_tokens=longest), Author(solution), most=999)
    if not any(draft.unscored for draft in drafts[:-1]):
        assert solution.startswith("".join(draft.text for draft in drafts))


@pytest.mark.parametrize("telling", [True, False])
async def test_a_solution_in_paragraphs_comes_out_in_paragraphs(telling: bool) -> None:
    solution = "First 3+4 = 7.\n\nThen 7*6 = 42.\n\nThe final answer is \\boxed{42}"
    drafts = await written(Steps(), Author(solution, telling=telling))
    assert [draft.text for draft in drafts] == split(solution, PARAGRAPHS)
    assert drafts[-1].answer == "42"


async def test_an_end_without_a_mark_shows_one_step_later_where_the_server_does_not_tell() -> None:
    drafts = await written(Steps(), Author("First 3+4 = 7.\n\nThen 7*6 = 42", telling=False))
    assert [draft.text for draft in drafts] == ["First 3+4 = 7.\n\n", "Then 7*6 = 42\n\n", ""]
    assert [draft.answer for draft in drafts] == [None, None, "42"]
    assert drafts[-1].unscored == "empty reply"


async def test_a_swallowed_end_of_a_block_is_put_back() -> None:
    solution = "See\n\n$$a\n\nb$$\n\nThe final answer is \\boxed{42}"
    drafts = await written(Steps(), Author(solution, telling=False))
    assert "".join(draft.text for draft in drafts).count("$$") == 2
    assert drafts[-1].answer == "42"


@pytest.mark.parametrize("telling", [True, False])
async def test_a_numbered_solution_comes_out_in_its_steps(telling: bool) -> None:
    solution = "Let us see.\nStep 1: add\n1. a\n2. b\n\nStep 2: double\n\nStep 3: \\boxed{42}"
    drafts = await written(Steps(NUMBERED), Author(solution, telling=telling))
    assert "".join(draft.text for draft in drafts).split() == solution.split()
    assert drafts[-1].answer == "42"
    if telling:
        assert [draft.text for draft in drafts] == split(solution, NUMBERED)


# Token ids and log-probabilities


def tokens(*texts: str, ids: bool = True) -> tuple[Token, ...]:
    return tuple(Token(text, -0.25, 10 + i if ids else None) for i, text in enumerate(texts))


async def test_a_step_knows_its_ids_and_the_sum_of_its_log_probabilities() -> None:
    replies = [
        told("$$a\n\n", ids=(1, 2), tokens=tokens("$$a", "\n\n")),
        told("b$$", "$$", ids=(3,), tokens=tokens("b$$")),
        told("\n\n", ids=(4,), tokens=tokens("\n\n")),
    ]
    draft, requests = await one(Steps(logprobs=0), replies)
    assert (draft.ids, draft.logprob, draft.tokens) == ((1, 2, 3, 4), -1.0, 4)
    assert [request.begun_ids for request in requests] == [(), (1, 2), (1, 2, 3)]


async def test_ids_that_are_not_known_to_the_last_reply_are_none() -> None:
    replies = [told("$$a\n\n", ids=(1, 2)), told("b$$", "$$"), told("\n\n", ids=(4,))]
    draft, requests = await one(Steps(), replies)
    assert (draft.ids, draft.logprob) == ((), None)
    assert [request.begun_ids for request in requests] == [(), (1, 2), ()]


async def test_what_is_given_up_takes_its_tokens_along() -> None:
    parts = tokens("Step 1: a", "\n", "Step", " 2")
    reply = told("Step 1: a\nStep 2", "\nStep 2", ids=(10, 11, 12, 13), tokens=parts)
    draft, _ = await one(Steps(NUMBERED), [reply])
    assert (draft.text, draft.ids, draft.logprob, draft.tokens) == ("Step 1: a\n", (10, 11), -0.5, 2)
    draft, _ = await one(Steps(NUMBERED), [replace(reply, tokens=tokens("Step 1: a", "\nStep", " 2"))])
    assert (draft.ids, draft.logprob) == ((), None)
    draft, _ = await one(Steps(NUMBERED), [replace(reply, tokens=())])
    assert (draft.ids, draft.logprob) == ((), None)


@pytest.mark.parametrize("number", [float("nan"), float("-inf")])
async def test_a_log_probability_that_is_no_number_is_unknown(number: float) -> None:
    draft, _ = await one(Steps(), [told("a\n\n", tokens=(Token("a\n\n", number),))])
    assert draft.logprob is None


async def test_needs_are_what_the_steps_are_asked_for() -> None:
    assert Steps().needs == {"steps"}
    assert Steps(logprobs=0).needs == {"steps", "logprobs"}


# Thoughts


async def test_a_thought_is_written_to_its_end_and_kept_apart_from_the_step() -> None:
    replies = [
        told("<think>\nHm, \\boxed{1}?\n\n", usage=Usage(1, 9)),
        told("No.\n</think>", "</think>", usage=Usage(1, 700)),
        told("\n\n", usage=Usage(1, 1)),
        told("6 * 7 is asked.\n\n", usage=Usage(1, 5)),
    ]
    draft, requests = await one(Steps(), replies)
    assert (draft.text, draft.done, draft.answer) == ("6 * 7 is asked.\n\n", False, None)
    assert draft.work == {"thought": "<think>\nHm, \\boxed{1}?\n\nNo.\n</think>\n\n"}
    assert [request.stop for request in requests] == [("\n\n",), ("</think>",), ("\n\n",), ("\n\n",)]
    assert [request.max_tokens for request in requests] == [512, 8192, 503, 502]


async def test_the_thought_is_sent_along_when_the_solution_is_continued() -> None:
    thought = PathNode(1, "a\n\n", None, {"thought": "<think>x</think>\n\n"}, (), False, step=True)
    path = path_of(thought)
    _, (request,) = await one(Steps(), [told("b\n\n")], path)
    assert request.begun == "<think>x</think>\n\na\n\n"
    assert path.text == "a\n\n"


async def test_a_template_may_have_opened_the_thought() -> None:
    draft, requests = await one(
        Steps(opened=True), [told("Hm, 41?\n\nNo.</think>", "</think>"), told("So 42.", "")]
    )
    assert (draft.text, draft.answer) == ("So 42.", "42")
    assert draft.work == {"thought": "Hm, 41?\n\nNo.</think>"}
    assert requests[0].stop == ("</think>",)


async def test_a_thought_without_end_is_given_up() -> None:
    draft, requests = await one(Steps(opened=True, max_thought_tokens=50), [Completion("Hm", "length")])
    assert (draft.text, draft.unscored, draft.done) == ("", "cut off in its thought", True)
    assert (draft.why, draft.answer, draft.truncated) == ("cut off in its thought", None, True)
    assert requests[0].max_tokens == 50


async def test_a_thought_that_the_server_took_out_is_put_back_and_finished() -> None:
    replies = [
        told("", thought="Hm, let me see."),
        told(" Yes.\n</think>", "</think>"),
        told("\n\nSo 42.\n\n"),
    ]
    draft, requests = await one(Steps(), replies)
    assert draft.text == "So 42.\n\n"
    assert requests[1].begun == "<think>\nHm, let me see."
    assert requests[1].stop == ("</think>",)


async def test_inside_a_thought_no_answer_is_final() -> None:
    inside = Steps(thought="inside")
    draft, _ = await one(inside, [told("<think>\nThe answer is 41.\n\n")])
    assert (draft.text, draft.done, draft.work) == ("<think>\nThe answer is 41.\n\n", False, {})
    path = path_of("<think>\nThe answer is 41.\n\n")
    draft, _ = await one(inside, [told("No, \\boxed{40}.\n\n")], path)
    assert not draft.done
    draft, _ = await one(inside, [told("\\boxed{40}?</think> It is \\boxed{42}.\n\n")], path)
    assert (draft.done, draft.answer) == (True, "42")
    draft, _ = await one(inside, [told("I give up.", "")], path)
    assert (draft.why, draft.answer) == ("finished", None)
    draft, _ = await one(Steps(thought="inside", opened=True), [told("The answer is 41.\n\n")])
    assert not draft.done


@given(
    text=st.lists(
        st.sampled_from(["<think>", "</think>", "[THINK]", "[/THINK]", " ", "\n", "a", "\\boxed{1}"]),
        max_size=8,
    ).map("".join),
    opened=st.booleans(),
)
def test_a_thought_and_what_follows_it_are_the_text(text: str, opened: bool) -> None:
    thought, said, closer = part(text, opened=opened)
    assert thought + said == text
    assert not closer or (not said and is_open(f"<think>{text}" if opened else text))


def test_whether_a_step_is_final_takes_linear_time() -> None:
    for shard in ("the answer ", "the answer is", "answer\n*_ ", "#### ", "answer to the ", "\\boxed{"):
        began = time.process_time()
        assert not is_final(shard * 10_000, "number")
        assert time.process_time() - began < 3.0


# Equal drafts


async def test_equal_drafts_stay_unless_only_distinct_ones_are_wanted() -> None:
    texts = ["a\n\n", "b\n\n", "a\n\n", " a\n\n"]

    def reply(place: Place, request: Request) -> Reply:
        return ServerError("lost") if place.draft == 4 else told(texts[place.draft])

    made, _ = await grown(Steps(), reply, n=4)
    assert [draft.text for draft in made if isinstance(draft, Draft)][:3] == texts[:3]
    made, _ = await grown(Steps(distinct=True), reply, n=5)
    assert [draft.text if isinstance(draft, Draft) else "lost" for draft in made] == [
        "a\n\n",
        "b\n\n",
        "lost",
    ]
    assert [(draft.prior, draft.work) for draft in made if isinstance(draft, Draft)] == [
        (0.75, {"times": "3"}),
        (0.25, {}),
    ]


# Laws and bad settings


@pytest.mark.parametrize(
    "steps", [Steps(), Steps(NUMBERED), Steps(Boundary(("\n",))), Steps(thought="inside")]
)
async def test_the_laws_of_expanders_hold(steps: Steps) -> None:
    await check_expander(steps)


async def test_the_laws_hold_for_steps_of_several_calls() -> None:
    solution = "See $$a\n\nb$$ so.\n\nThe answer is \\boxed{42}."
    await check_expander(Steps(), lm=lambda: Scripted(Author(solution)))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("max_steps", 0),
        ("max_step_tokens", 0),
        ("max_thought_tokens", -1),
        ("logprobs", -1),
        ("thought", "beside"),
        ("temperature", -0.1),
        ("temperature", 2.5),
        ("temperature", float("nan")),
        ("temperature", float("inf")),
    ],
)
def test_a_setting_out_of_range_is_refused(setting: str, value: object) -> None:
    with pytest.raises(RecipeError, match=f"{setting} is "):
        Steps(**{setting: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("temperature", [None, 0, 2, 0.7])
def test_a_temperature_that_the_flag_would_take_is_taken(temperature: float | None) -> None:
    assert Steps(temperature=temperature).temperature == temperature


@pytest.mark.parametrize(
    ("step", "kind", "final"),
    [
        ("Answer: B\n\n", "letter", True),
        ("The correct option is (C).\n\n", "letter", True),
        ("B) 12\n\n", "letter", False),
        ("The answer is not in the list: B is too large.\n\n", "letter", False),
        ("The answer is yes.\n\n", None, True),
        ("**Answer:** $42$\n\n", "number", True),
        ("**Final Answer**: 42 apples are left\n\n", "number", True),
        ("So the answer to this problem is therefore -3.5.\n\n", "number", True),
        ("The final answer is: \\(\\frac{1}{2}\\)\n\n", "formula", True),
        ("The answer is x = 5.\n\n", "formula", True),
        ('{"answer": 42}\n\n', "number", True),
        ("<answer>42</answer>", "number", True),
        ("#### 42\n\n", "number", True),
        ("#### $1,000\n\n", None, True),
        ("#### \\frac{1}{2}\n\n", "formula", True),
        ("#### 1. Find the total\n\n", None, False),
        ("#### 2: Add them\n\n", None, False),
        ("#### Adding 3 and 4\n\n", None, False),
        ("### 42\n\n", "number", False),
        ("To find the answer, we add 3+4 = 7.\n\n", "number", False),
        ("Answer: Let us add 3 and 4 first.\n\n", "number", False),
        ("The answer to the first part is 12.\n\n", "number", False),
        ("The answer is simply the sum of both.\n\n", None, False),
        ("The answer is a bit harder to find.\n\n", None, False),
        ("A: 5 apples\nB: 7 apples\n\n", "number", False),
        ("It is \\boxed{\\frac{1}{2}}.\n\n", "formula", True),
        ("It is \\boxed{?}.\n\n", "formula", False),
        ("The numbers are 3 and 4.\n\n", "number", False),
        ("12\n\n", "number", False),
        ("", None, False),
    ],
)
def test_a_final_answer_is_marked(step: str, kind: str | None, final: bool) -> None:
    assert is_final(step, kind) is final


@pytest.mark.parametrize(
    ("boundary", "offers", "asked"),
    [
        (NUMBERED, {"token_ids", "logprobs"}, 0),
        (NUMBERED, {"token_ids"}, None),
        (NUMBERED, {"logprobs"}, None),
        (PARAGRAPHS, {"token_ids", "logprobs"}, None),
    ],
)
async def test_a_numbered_step_keeps_its_ids_where_the_server_tells_the_tokens(
    boundary: Boundary, offers: set[str], asked: int | None
) -> None:
    parts = tokens("Step 1: a", "\n", "Step", " 2")

    def reply(place: Place, request: Request) -> Completion:
        ids = (10, 11, 12, 13)
        return told("Step 1: a\nStep 2", "\nStep 2", ids=ids, tokens=parts if request.logprobs == 0 else ())

    lm = Scripted(reply, offers=frozenset(offers))
    (draft,) = await Steps(boundary).grow(path_of(), 1, Caller(lm, PROMPTS, "p", 1))
    assert lm.calls[0][1].logprobs == asked
    if boundary.numbered:
        assert isinstance(draft, Draft)
        assert (draft.text, draft.ids) == ("Step 1: a\n", (10, 11) if asked == 0 else ())
