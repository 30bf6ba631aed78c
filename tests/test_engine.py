"""The loop: order, width, faults, limits, and what it leaves behind."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest
from numpy.typing import NDArray

from mctsr.answer import best_value
from mctsr.engine import search
from mctsr.errors import ContextOverflow, RecipeError, Refused, ServerError, UsageError
from mctsr.kernels.node import DONE, PLANTED, TRUNCATED, TWIN, UNSCORED
from mctsr.lm.base import Completion, Place, Tally, Usage
from mctsr.lm.scripted import Reply, Scripted
from mctsr.parts import Ask
from mctsr.recipe import Recipe
from mctsr.recipes import RECIPES
from mctsr.rollout import Asked, Event, Folded, Stopped
from mctsr.stop import Limits
from mctsr.tree import Tree
from tests.testing.replies import PROBLEM, Score, graded, grow, hashed, named, recipe

FAULT = ServerError("busy for ever", status=503)
OVERFLOW = ContextOverflow("too long", status=400)


def fingerprint(tree: Tree) -> str:
    """Everything in a tree, as text (NaN equals NaN there)."""
    return repr((tree.nodes[: len(tree)].tolist(), tree.states, tree.front))


def faults_at(*asks: int, part: str = "rewrite") -> Callable[[Place], Reply]:
    return lambda place: FAULT if place.ask in asks and place.part == part else named(place)


# Order and cost


async def test_eight_rollouts_make_thirty_five_calls() -> None:
    outcome, lm, _ = await grow(recipe("mctsr"), graded(hashed))
    parts = Counter(place.part for place, _ in lm.calls)
    assert parts == {"answer": 1, "critique": 8, "rewrite": 8, "self_reward": 2 + 2 * 8}
    assert len(lm.calls) == outcome.ledger.tally.calls == 35
    assert len({place for place, _ in lm.calls}) == 35
    assert (outcome.ledger.asks, outcome.ledger.folds, len(outcome.tree)) == (8, 8, 10)


async def test_usage_is_the_sum_over_all_calls() -> None:
    def count(place: Place) -> Completion:
        text = '{"score": 1}' if place.part == "self_reward" else str(named(place))
        return Completion(text, usage=Usage(100, 7, 3), seconds=0.5, retries=2)

    outcome, _, events = await grow(recipe("mctsr"), lambda place, _: count(place))
    tally = outcome.ledger.tally
    assert tally.usage == Usage(35 * 100, 35 * 7, 35 * 3)
    assert (tally.seconds, tally.retried) == (35 * 0.5, 35 * 2)
    assert sum(e.tally.calls for e in events if isinstance(e, Folded)) == 35


async def test_zero_rollouts_open_the_tree_and_stop() -> None:
    outcome, lm, _ = await grow(recipe("mctsr", rollouts=0), graded(hashed))
    assert (len(lm.calls), outcome.reason, len(outcome.tree)) == (3, "rollouts", 2)


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("name", ["mctsr", "best-of-n", "self-refine"])
async def test_the_order_of_arrival_changes_nothing(name: str, width: int) -> None:
    size = {"n": 6} if name == "best-of-n" else {"rollouts": 8}
    what = replace(recipe(name, **size), width=width)
    expected, _, expected_events = await grow(what, graded(hashed))
    for shuffle in range(3):
        delays = np.random.default_rng(shuffle).permutation(97) / 97 * 0.004

        def delay(place: Place, delays: NDArray[np.float64] = delays) -> float:
            return float(delays[place.seed(3) % 97])

        outcome, _, events = await grow(what, graded(hashed), delay=delay)
        assert fingerprint(outcome.tree) == fingerprint(expected.tree)
        assert repr(events) == repr(expected_events)
        assert outcome.reason == expected.reason


async def test_width_is_the_largest_number_of_asks_in_flight_and_is_reached() -> None:
    for width in (1, 2, 4):
        _, _, events = await grow(recipe("mctsr", width=width), graded(hashed))
        in_flight, most = 0, 0
        for event in events:
            in_flight += isinstance(event, Asked) - isinstance(event, Folded)
            most = max(most, in_flight)
        assert (in_flight, most) == (0, width)


async def test_asks_are_folded_in_the_order_they_were_made_although_the_last_arrives_first() -> None:
    what = recipe("mctsr", rollouts=4, width=4)
    _, _, events = await grow(what, graded(hashed), delay=lambda place: 0.02 - 0.004 * place.ask)
    assert [e.ask for e in events if isinstance(e, Folded)] == [0, 1, 2, 3, 4]


async def test_asks_in_flight_spread_over_the_tree() -> None:
    # Two roots with values 50 and 45; one ask in flight makes the first look like (50 - 100) / 2.
    scores = {(0, 0): 50, (0, 1): 45}
    _, _, events = await grow(recipe("mctsr", rollouts=2, width=2), graded(lambda p: scores.get(p[1:4:2], 0)))
    assert [e.node for e in events if isinstance(e, Asked)][1:] == [0, 1]


@pytest.mark.parametrize("order", [1, -1])
async def test_ties_go_to_the_node_created_first(order: int) -> None:
    _, _, events = await grow(recipe("mctsr", rollouts=1), graded(lambda place: 10))
    assert [e.node for e in events if isinstance(e, Asked)] == [-1, 0]
    outcome, _, _ = await grow(recipe("best-of-n", n=4), graded(lambda place: 10))
    assert best_value(outcome.tree).node == 0


async def test_the_first_call_is_the_same_in_every_recipe_of_whole_answers() -> None:
    seen, whole = set(), set[str]()
    for name in RECIPES:
        if "steps" in recipe(name).needs:
            continue
        _, lm, _ = await grow(recipe(name), graded(hashed))
        place, request = lm.calls[0]
        if not place.ask:  # else its root is planted, and the model begins with a part of an answer
            whole.add(name)
            seen.add((place, request.messages, request.role, request.temperature, request.schema is None))
    assert {"mctsr", "best-of-n", "best-of-n-prm", "zero-shot"} <= whole
    assert len(seen) == 1


class Drawing:
    """Asks each of the newest generation for two children, and notes what it was told and what it drew."""

    roots = 3

    def __init__(self, *, barrier: bool) -> None:
        self.barrier = barrier
        self.told: list[list[int]] = []
        self.drawn: list[float] = []

    def ask(self, tree: Tree, rng: np.random.Generator, room: int) -> Sequence[Ask]:
        self.drawn.append(rng.random())
        return [Ask(node, 2) for node in self.told[-1] if not tree.has(node, PLANTED)]

    def tell(self, tree: Tree, rng: np.random.Generator, born: Sequence[int]) -> None:
        self.drawn.append(rng.random())
        self.told.append(list(born))


async def test_a_barrier_selector_is_told_once_a_generation_when_all_of_it_is_folded() -> None:
    selector = Drawing(barrier=True)
    _, _, events = await grow(replace(recipe("mctsr", rollouts=9), selector=selector), graded(hashed))
    assert selector.told == [[0, 1, 2, 3], list(range(4, 10)), list(range(10, 22))]
    assert [e.ask for e in events if isinstance(e, Folded)] == list(range(10))


@pytest.mark.parametrize("barrier", [True, False])
async def test_a_part_draws_from_the_stream_of_its_ask_and_stage(barrier: bool) -> None:
    selector = Drawing(barrier=barrier)
    await grow(replace(recipe("mctsr", rollouts=2), selector=selector), graded(hashed))
    entropy = int.from_bytes(blake2b(b"0\x1fp", digest_size=8).digest(), "big")
    # Choosing the next ask is stage 0, folding one is stage 1; a generation is told at its last ask.
    stages = [(0, 1), (1, 0), (3, 1)] if barrier else [(0, 1), (1, 0), (1, 1), (2, 1), (3, 1)]
    assert selector.drawn == [np.random.default_rng([entropy, *stage]).random() for stage in stages]


# Unscored, empty, truncated


async def test_an_unreadable_score_is_asked_for_three_times_and_never_becomes_a_number() -> None:
    def score(place: Place) -> Score:
        return "I would rather not say." if (place.ask, place.draft) == (1, 0) else 10

    outcome, lm, _ = await grow(recipe("mctsr", rollouts=3), graded(score))
    tree = outcome.tree
    child = 2
    assert [p.attempt for p, _ in lm.calls if p[1:4] == (1, "self_reward", 0)] == [0, 1, 2]
    assert tree.has(child, UNSCORED)
    assert np.isnan(tree.value(child))
    assert (tree.states[child].samples, tree.nodes["visits"][child]) == ([], 0)
    assert tree.states[child].unscored == ["no score in the reply: 3 tries"]
    assert outcome.ledger.unscored == {"no score in the reply": 1}
    assert outcome.ledger.asks == 3
    assert (tree.nodes["n_children"][0], tree.value(0)) == (2, 10)


async def test_an_unreadable_second_opinion_only_counts() -> None:
    outcome, _, _ = await grow(recipe("mctsr", rollouts=1), graded(lambda p: "hm" if p.draft < 0 else 30))
    assert [sample.value for sample in outcome.tree.states[0].samples] == [30]
    assert outcome.tree.scored(0)
    assert outcome.ledger.unscored == {"no score in the reply": 1}


async def test_a_score_read_at_the_second_try_counts_once() -> None:
    outcome, lm, _ = await grow(
        recipe("mctsr", rollouts=0), graded(lambda place: 33 if place.attempt else "let me see")
    )
    assert [len(state.samples) for state in outcome.tree.states] == [1, 1]
    assert len(lm.calls) == 5


async def test_an_empty_reply_is_not_judged() -> None:
    outcome, lm, _ = await grow(
        recipe("mctsr", rollouts=1), graded(lambda p: 5, lambda p: " \n" if p.part == "rewrite" else named(p))
    )
    assert outcome.tree.states[2].unscored == ["empty reply"]
    assert outcome.ledger.tally.empty == 1
    assert not [p for p, _ in lm.calls if p[1:4] == (1, "self_reward", 0)]
    assert best_value(outcome.tree).node == 0


async def test_a_truncated_answer_is_flagged_counted_and_judged() -> None:
    cut = Completion("The answer is going to", finish="length")
    outcome, _, _ = await grow(
        recipe("mctsr", rollouts=1), graded(lambda p: 5, lambda p: cut if p.part == "rewrite" else named(p))
    )
    assert outcome.tree.has(2, TRUNCATED)
    assert outcome.tree.scored(2)
    assert outcome.ledger.tally.truncated == 1


async def test_when_nothing_is_scored_the_search_says_so_and_answers_with_the_first() -> None:
    for name in ("mctsr", "best-of-n"):
        what = recipe(name)
        outcome, _, _ = await grow(what, graded(lambda place: "no"))
        assert (outcome.reason, outcome.failed) == ("all unscored", False)
        assert what.answerer(outcome.tree) == ("0", 0, "first (nothing scored)")


async def test_duplicates_are_nodes_of_their_own_flagged_with_their_first_twin() -> None:
    same = "The final answer is \\boxed{4}"
    outcome, _, _ = await grow(
        recipe("mctsr", rollouts=2), graded(lambda p: 5, lambda p: same if p.part == "rewrite" else named(p))
    )
    tree = outcome.tree
    assert [tree.has(node, TWIN) for node in range(4)] == [False, False, False, True]
    assert [state.twin for state in tree.states] == [None, None, None, 2]


async def test_the_planted_root_may_grow_and_is_never_selected() -> None:
    def score(place: Place) -> Score:
        return 90 if (place.ask, place.draft) == (0, 1) or place.draft < 0 else -50

    what = recipe("mctsr", rollouts=4)
    outcome, _, events = await grow(what, graded(score))
    assert outcome.tree.has(1, PLANTED)
    assert 1 in {e.node for e in events if isinstance(e, Asked)}
    assert outcome.tree.value(1) > max(outcome.tree.value(n) for n in range(len(outcome.tree)) if n != 1)
    assert what.answerer(outcome.tree).node not in (1, None)


# Server faults


async def test_one_failed_call_costs_its_draft_alone() -> None:
    outcome, _, events = await grow(recipe("mctsr", rollouts=3), graded(hashed, faults_at(2)))
    assert (outcome.reason, outcome.failed, len(outcome.tree)) == ("rollouts", False, 4)
    fold = next(e for e in events if isinstance(e, Folded) and e.ask == 2)
    assert fold.born == ()
    assert fold.faults == ("server error: busy for ever",)
    assert outcome.ledger.tally.failed == 1


async def test_three_asks_running_with_server_faults_fail_the_problem() -> None:
    outcome, _, events = await grow(recipe("mctsr"), graded(hashed, faults_at(3, 4, 5)))
    assert outcome.failed
    assert outcome.reason == "3 asks running ended in server faults: server error: busy for ever"
    assert outcome.ledger.asks == 5
    assert events[-1] == Stopped("p", outcome.reason, True)


async def test_a_good_ask_between_faults_starts_the_count_anew() -> None:
    outcome, _, _ = await grow(recipe("mctsr"), graded(hashed, faults_at(1, 2, 4, 5, 7, 8)))
    assert (outcome.reason, outcome.failed) == ("rollouts", False)


async def test_a_child_lost_to_a_fault_of_the_judge_counts_although_the_second_look_at_its_parent_worked() -> (
    None
):
    def score(place: Place) -> Score:
        return FAULT if place.ask in (1, 2, 3) and place.draft == 0 else 10

    outcome, _, _ = await grow(recipe("mctsr"), graded(score))
    assert outcome.failed
    assert outcome.ledger.unscored == {"server error": 3}


class _LooksAgain:
    """Grows the root once, then has its first child judged again, and grows nothing."""

    roots, barrier = 1, False

    def ask(self, tree: Tree, rng: np.random.Generator, room: int) -> Sequence[Ask]:
        if len(tree) == 2:  # the answer and the planted one
            return [Ask(0, 2)]
        return [Ask(2, 0, again=True)] if len(tree.states[2].samples) < 3 else ()

    def tell(self, tree: Tree, rng: np.random.Generator, born: Sequence[int]) -> None:
        """Nothing to remember."""


async def test_an_ask_for_no_draft_judges_alone_and_ends_no_node() -> None:
    looking = replace(recipe("mctsr"), selector=_LooksAgain(), stopper=lambda tree, ledger: None)
    outcome, _, events = await grow(looking, graded(hashed))
    assert [len(state.samples) for state in outcome.tree.states] == [1, 1, 3, 1]
    assert not any(state.ended for state in outcome.tree.states)
    assert (outcome.reason, outcome.ledger.asks) == ("exhausted", 3)
    folded = [event for event in events if isinstance(event, Folded)]
    assert [(event.born, event.judged) for event in folded] == [
        ((0, 1), (0, 1)),
        ((2, 3), (2, 3)),
        ((), (2,)),
        ((), (2,)),
    ]


async def test_an_ask_for_nothing_at_all_is_a_mistake_of_the_selector() -> None:
    class Idle(_LooksAgain):
        def ask(self, tree: Tree, rng: np.random.Generator, room: int) -> Sequence[Ask]:
            return [Ask(0, 0)]

    with pytest.raises(RecipeError, match="the selector asked"):
        await grow(replace(recipe("mctsr"), selector=Idle()), graded(hashed))


async def test_a_fault_in_the_second_look_alone_does_not_spoil_an_ask() -> None:
    outcome, _, _ = await grow(recipe("mctsr"), graded(lambda p: FAULT if p.draft < 0 else 10))
    assert (outcome.reason, outcome.failed) == ("rollouts", False)
    assert outcome.ledger.unscored == {"server error": 8}


@pytest.mark.parametrize("rollouts", [3, 4])
async def test_the_third_fault_counts_also_when_no_further_ask_was_due(rollouts: int) -> None:
    outcome, _, _ = await grow(recipe("self-refine", rollouts=rollouts), graded(hashed, faults_at(1, 2, 3)))
    assert outcome.failed


async def test_a_lost_sample_is_counted_and_takes_no_other_along() -> None:
    def score(place: Place) -> Score:
        return FAULT if place.sample == 1 else 10

    outcome, lm, events = await grow(recipe("mctsr", rollouts=2, samples=3), graded(score))
    tree = outcome.tree
    assert all(len(state.samples) == 2 * len(state.unscored) for state in tree.states)
    assert outcome.ledger.unscored == {"server error": 6}
    assert outcome.ledger.tally.calls == len(lm.calls)
    opening = next(e for e in events if isinstance(e, Folded))
    assert (opening.judged, opening.unscored) == ((0, 0, 1, 1), (0, 1))


async def test_an_opening_without_answer_fails_the_problem() -> None:
    outcome, _, _ = await grow(recipe("mctsr"), graded(hashed, faults_at(0, part="answer")))
    assert outcome.failed
    assert outcome.reason == "no first answer: server error: busy for ever"


async def test_an_opening_that_no_judge_could_score_for_faults_fails_the_problem() -> None:
    outcome, _, _ = await grow(recipe("mctsr"), graded(lambda place: FAULT))
    assert outcome.failed
    assert outcome.reason.startswith("no first score: server error")


async def test_some_of_a_population_may_fail() -> None:
    outcome, _, _ = await grow(
        recipe("best-of-n", n=4), graded(hashed, lambda p: FAULT if p.draft in (0, 2) else named(p))
    )
    assert (outcome.failed, outcome.reason, len(outcome.tree)) == (False, "all drawn", 2)
    assert [state.answer for state in outcome.tree.states] == ["1", "3"]


async def test_a_prompt_that_no_longer_fits_ends_its_node_and_not_the_search() -> None:
    def text(place: Place) -> Reply:
        return OVERFLOW if place.ask == 1 and place.part == "critique" else named(place)

    outcome, _, events = await grow(recipe("mctsr", rollouts=4), graded(lambda p: 50 - p.ask, text))
    tree = outcome.tree
    assert tree.has(0, DONE)
    assert tree.states[0].ended == "context overflow: too long"
    assert [e.node for e in events if isinstance(e, Asked)][:3] == [-1, 0, 1]
    assert (outcome.failed, outcome.ledger.server_faults) == (False, 0)


async def test_when_every_node_has_ended_the_search_is_exhausted() -> None:
    outcome, _, _ = await grow(
        recipe("mctsr"), graded(hashed, lambda p: OVERFLOW if p.part == "critique" else named(p))
    )
    assert (outcome.reason, outcome.failed, outcome.ledger.asks) == ("exhausted", False, 2)


@pytest.mark.parametrize("width", [1, 4])
async def test_a_refusal_for_all_calls_ends_the_run_and_the_asks_in_flight(width: int) -> None:
    def text(place: Place) -> Reply:
        return Refused("bad key", status=401) if place.ask == 2 else named(place)

    with pytest.raises(Refused, match="bad key"):
        await grow(recipe("mctsr", width=width), graded(hashed, text), delay=lambda p: 0.001)
    assert len(asyncio.all_tasks()) == 1


async def test_cancelling_a_search_cancels_its_calls() -> None:
    lm = Scripted(graded(hashed), delay=lambda p: 60.0 if p.ask else 0.0)
    task = asyncio.create_task(search(PROBLEM, recipe("mctsr", width=4), lm))
    while not any(place.ask == 4 for place, _ in lm.calls):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(asyncio.all_tasks()) == 1


async def test_a_recipe_that_needs_what_the_server_lacks_is_refused_before_the_first_call() -> None:
    what = recipe("mctsr")
    lm = Scripted(graded(hashed), offers=frozenset({"prefill"}))
    picky = replace(what, expander=replace(what.expander, needs=frozenset({"logprobs"})))  # type: ignore[type-var]
    with pytest.raises(UsageError, match=r"needs \['logprobs'\].*offers \['prefill'\]"):
        await search(PROBLEM, picky, lm)
    assert lm.calls == []


# Limits


@pytest.mark.parametrize("width", [1, 2, 4])
async def test_a_call_limit_is_overshot_by_what_is_in_flight_at_most(width: int) -> None:
    lm = Scripted(graded(hashed))
    outcome = await search(PROBLEM, recipe("mctsr", width=width), lm, limits=Limits(calls=10))
    calls = outcome.ledger.tally.calls
    assert outcome.reason == "call limit"
    assert calls == len(lm.calls)
    assert 10 <= calls < 10 + 4 * width
    assert not outcome.tree.nodes["in_flight"].any()


async def test_a_call_limit_at_width_one_stops_after_the_ask_that_reaches_it() -> None:
    for limit, calls in ((3, 3), (4, 7), (7, 7), (8, 11), (35, 35)):
        outcome = await search(PROBLEM, recipe("mctsr"), Scripted(graded(hashed)), limits=Limits(calls=limit))
        assert outcome.ledger.tally.calls == calls


async def test_a_token_limit_counts_prompt_and_completion() -> None:
    def text(place: Place) -> Completion:
        return Completion('{"score": 1} \\boxed{1}', usage=Usage(60, 40))

    lm = Scripted(lambda place, _: text(place))
    outcome = await search(PROBLEM, recipe("mctsr"), lm, limits=Limits(tokens=701))
    assert (outcome.reason, outcome.ledger.tally.calls) == ("token limit", 11)


class Notebook:
    """Decisions as the call log keeps them."""

    def __init__(self) -> None:
        self.written: dict[int, tuple[str, Tally]] = {}

    def decided(self, fold: int) -> tuple[str, Tally] | None:
        return self.written.get(fold)

    def decide(self, fold: int, what: str, charged: Tally) -> None:
        self.written[fold] = (what, replace(charged))


@pytest.mark.parametrize("width", [1, 2, 4])
async def test_a_time_limit_is_decided_written_and_obeyed_on_replay(width: int) -> None:
    def slow(place: Place) -> float:
        return 60.0 if place.ask >= 3 and place.part == "rewrite" else 0.0

    what, notes = recipe("mctsr", width=width), Notebook()
    await grow(what, graded(hashed))  # compiled kernels are loaded before the clock runs
    lm = Scripted(graded(hashed), delay=slow)
    live: list[Event] = []
    limits = Limits(seconds=0.25)
    first = await search(PROBLEM, what, lm, limits=limits, decisions=notes, watch=live.append)
    assert (first.reason, first.failed) == ("time limit", False)
    assert list(notes.written) == [3]
    assert first.ledger.folds == 2
    assert not first.tree.nodes["in_flight"].any()
    assert (
        first.ledger.tally.calls == len(lm.calls) - width
    )  # of what was in flight only rewrites had no reply

    replayed: list[Event] = []
    again = await search(PROBLEM, what, Scripted(graded(hashed)), decisions=notes, watch=replayed.append)
    assert fingerprint(again.tree) == fingerprint(first.tree)
    assert repr(replayed) == repr(live)
    assert again.ledger == first.ledger


async def test_a_time_limit_before_the_first_answer_fails_the_problem() -> None:
    what = recipe("best-of-n", n=3)
    lm = Scripted(graded(hashed), delay=lambda p: 60.0 if p.draft == 1 else 0.0)
    outcome = await search(PROBLEM, what, lm, limits=Limits(seconds=0.05))
    assert (outcome.reason, len(outcome.tree), outcome.failed) == ("time limit", 0, True)
    assert outcome.ledger.tally.calls == 2  # received, and so charged
    assert what.answerer(outcome.tree).answer is None


async def test_patience_stops_when_the_best_value_has_not_risen() -> None:
    scores = {0: 10, 1: 20, 2: 30}
    what = recipe("mctsr", patience=3, rollouts=20)
    outcome, _, _ = await grow(what, graded(lambda p: -90 if p.draft < 0 else scores.get(p.ask, -80)))
    # The best leaf is refined and judged down to ½ (-90 + -30), so that each fold's best is the newest answer's
    # until ask 2; then three folds without a gain.
    assert (outcome.reason, outcome.ledger.folds) == ("no gain", 5)


async def test_patience_off_lets_a_flat_search_go_on() -> None:
    outcome, _, _ = await grow(recipe("mctsr", rollouts=12), graded(lambda place: 0))
    assert (outcome.reason, outcome.ledger.folds) == ("rollouts", 12)


async def test_a_stop_drains_what_is_in_flight() -> None:
    def deep(tree: Tree, ledger: object) -> str | None:
        return "two answers" if len(tree) >= 3 else None

    what = replace(recipe("mctsr", width=4), stopper=deep)
    outcome, lm, events = await grow(what, graded(hashed), delay=lambda p: 0.001)
    assert outcome.reason == "two answers"
    assert outcome.ledger.folds == outcome.ledger.asks == 4
    assert len(lm.calls) == outcome.ledger.tally.calls == 3 + 4 * 4
    assert isinstance(events[-1], Stopped)


async def test_events_never_hold_more_than_the_tree_says() -> None:
    outcome, _, events = await grow(recipe("mctsr", width=2), graded(hashed))
    rows = {row.id: row for e in events if isinstance(e, Folded) for row in e.changed}
    used = outcome.tree.nodes[: len(outcome.tree)]
    assert [rows[i].visits for i in range(len(outcome.tree))] == used["visits"].tolist()
    assert [rows[i].value for i in range(len(outcome.tree))] == used["value"].tolist()


async def test_another_seed_makes_other_calls_of_the_same_places() -> None:
    place = Place("p", 1, "rewrite")
    assert place.seed(0) != place.seed(1)
    assert place.seed(0) == Place("p", 1, "rewrite").seed(0)
    assert 0 <= place.seed(7) < 2**31


def test_a_recipe_is_six_parts_and_a_width() -> None:
    names = ["expander", "judge", "selector", "backup", "stopper", "answerer", "width"]
    assert list(Recipe.__dataclass_fields__) == names
