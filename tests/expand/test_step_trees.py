"""Searches over steps on a scripted model: whole trees checked by hand, and the records they leave."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import cast

import jsonschema
import pytest
from numpy.random import Generator

from mctsr.answer import best_value, majority
from mctsr.backup.best import Max
from mctsr.caller import Caller
from mctsr.engine import Outcome, search
from mctsr.errors import ContextOverflow
from mctsr.expand.boundary import LINES
from mctsr.expand.step import Steps
from mctsr.kernels.node import DONE, NONE, TRUNCATED, TWIN, UNJUDGED, UNSCORED
from mctsr.lm.base import Completion, Place, Request, Token, Usage
from mctsr.lm.connect import connect
from mctsr.lm.options import RoleOptions, Settings
from mctsr.lm.scripted import Reply, Scripted
from mctsr.parts import Ask, Draft, Path, PathNode, Problem, Unscored, Verdict
from mctsr.prompting import Prompts
from mctsr.recipe import Recipe
from mctsr.recipes.registry import choose
from mctsr.runs.attempt import Terms, attempt
from mctsr.runs.files import dumps, loads
from mctsr.runs.reading import tree_fault
from mctsr.runs.records import TreeRecord
from mctsr.runs.schema import schemas
from mctsr.select.frontier import Frontier
from mctsr.select.population import Beams
from mctsr.stop import Limits, never, rollouts_done
from mctsr.tree import Sample, State, Tree

PROBLEM = Problem("p", "How much is (2+3)*4?", "number")
OFFERS = frozenset({"steps"})

# What the model writes, by the solution so far and the number of the draft; a text without a separator is its end.
SOLUTION: Mapping[tuple[str, int], str] = {
    ("", 0): "2+3 = 5\n\n",
    ("", 1): "3*4 = 12\n\n",
    ("2+3 = 5\n\n", 0): "5*4 = 20, so \\boxed{20}",
    ("2+3 = 5\n\n", 1): "5+4 = 9, so \\boxed{9}",
    ("3*4 = 12\n\n", 0): "2+12 = 14\n\n",
    ("3*4 = 12\n\n", 1): "2+12 = 14\n\n",
    ("3*4 = 12\n\n2+12 = 14\n\n", 0): "The answer is \\boxed{14}",
    ("3*4 = 12\n\n2+12 = 14\n\n", 1): "",
}
GOOD = {"2+3 = 5\n\n": 0.9, "5*4 = 20, so \\boxed{20}": 0.8, "3*4 = 12\n\n": 0.4}


def says(place: Place, request: Request) -> Reply:
    text = SOLUTION[request.begun, place.draft]
    return Completion(text, usage=Usage(10, len(text)), stop="\n\n" if text.endswith("\n\n") else "")


@dataclass(frozen=True, slots=True)
class Breadth:
    """Grow every open leaf once, the oldest first."""

    n: int = 2
    roots: int = 1
    barrier: bool = False

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        nodes = tree.nodes[: len(tree)]
        open_leaves = (
            (nodes["first"] == NONE) & (nodes["in_flight"] == 0) & (nodes["flags"] & (DONE | UNSCORED) == 0)
        )
        return [Ask(int(leaf), self.n) for leaf in open_leaves.nonzero()[0][:1]]

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Again(Breadth):
    """The same, and judge each leaf once more."""

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        return [ask._replace(again=True) for ask in Breadth.ask(self, tree, rng, room)]


@dataclass(slots=True)
class Marks:
    """Judge the last step by a table, and remember the solutions that were shown."""

    seen: list[str]
    needs: frozenset[str] = frozenset()
    low: float = 0.0
    high: float = 1.0

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        self.seen.append(path.text)
        value = GOOD.get(path.last.text, 0.1)
        return Verdict((Sample(value, value),))


async def solved(recipe: Recipe, replies: object = says) -> tuple[Outcome, Scripted]:
    lm = Scripted(replies, offers=OFFERS)  # type: ignore[arg-type]
    return await search(PROBLEM, recipe, lm), lm


def told(tree: Tree) -> list[tuple[int | None, str, str | None, str]]:
    """Return parent, text, answer and ending of every node."""
    return [(tree.parent(i), state.text, state.answer, state.ended) for i, state in enumerate(tree.states)]


async def test_a_tree_without_a_judge_is_the_one_written_down() -> None:
    outcome, lm = await solved(Recipe(Steps(), None, Breadth(), Max(), never(), majority))
    assert told(outcome.tree) == [
        (None, "", None, ""),
        (0, "2+3 = 5\n\n", None, ""),
        (0, "3*4 = 12\n\n", None, ""),
        (1, "5*4 = 20, so \\boxed{20}", "20", "finished"),
        (1, "5+4 = 9, so \\boxed{9}", "9", "finished"),
        (2, "2+12 = 14\n\n", None, ""),
        (2, "2+12 = 14\n\n", None, ""),
        (5, "The answer is \\boxed{14}", "14", "finished"),
        (5, "", "14", "finished"),
        (6, "The answer is \\boxed{14}", "14", "finished"),
        (6, "", "14", "finished"),
    ]
    # The second "2+12 = 14" is a twin, and what continues it is a twin of what continues the first.
    assert [state.twin for state in outcome.tree.states] == [None] * 6 + [5, None, None, 7, 8]
    assert [bool(outcome.tree.has(i, TWIN)) for i in range(11)] == [False] * 6 + [
        True,
        False,
        False,
        True,
        True,
    ]
    assert (outcome.reason, len(lm.calls)) == ("exhausted", 10)
    assert [request.begun for _, request in lm.calls[2:4]] == ["2+3 = 5\n\n"] * 2
    assert all(state.step for state in outcome.tree.states)


async def test_a_beam_search_follows_the_judge_who_never_sees_the_root() -> None:
    judge = Marks([])
    recipe = Recipe(Steps(), judge, Frontier(2, Beams(2), opened=1), Max(), rollouts_done(9), best_value)
    outcome, _ = await solved(recipe)
    assert [text for _, text, _, _ in told(outcome.tree)] == [
        "",
        "2+3 = 5\n\n",
        "3*4 = 12\n\n",
        "5*4 = 20, so \\boxed{20}",
        "5+4 = 9, so \\boxed{9}",
    ]
    assert judge.seen == [
        "2+3 = 5\n\n",
        "3*4 = 12\n\n",
        "2+3 = 5\n\n5*4 = 20, so \\boxed{20}",
        "2+3 = 5\n\n5+4 = 9, so \\boxed{9}",
    ]
    assert outcome.tree.has(0, UNJUDGED)
    assert not outcome.tree.states[0].unscored
    assert best_value(outcome.tree).answer == "20"


async def test_the_root_is_not_judged_again_either() -> None:
    judge = Marks([])
    recipe = Recipe(Steps(), judge, Again(), Max(), rollouts_done(2), best_value)
    outcome, _ = await solved(recipe)
    assert judge.seen.count("") == 0
    assert [len(state.samples) for state in outcome.tree.states[:3]] == [0, 2, 1]


async def test_an_empty_step_is_unscored_and_ended_and_no_judge_sees_it() -> None:
    judge = Marks([])
    outcome, _ = await solved(Recipe(Steps(), judge, Breadth(), Max(), never(), best_value))
    empty = [i for i, state in enumerate(outcome.tree.states) if i and not state.text]
    assert len(empty) == 2
    for node in empty:
        assert outcome.tree.has(node, UNSCORED)
        assert outcome.tree.states[node].unscored == ["empty reply"]
    assert outcome.ledger.unscored == {"empty reply": 2}
    assert len(judge.seen) == len(outcome.tree) - 3


async def test_equal_siblings_are_dropped_before_they_are_judged() -> None:
    judge = Marks([])
    outcome, _ = await solved(Recipe(Steps(distinct=True), judge, Breadth(), Max(), never(), best_value))
    twins = [(state.text, state.work) for state in outcome.tree.states if state.work]
    assert twins == [("2+12 = 14\n\n", {"times": "2"})]
    assert not any(state.twin for state in outcome.tree.states)
    assert judge.seen.count("3*4 = 12\n\n2+12 = 14\n\n") == 1


async def test_a_path_ends_after_its_last_step() -> None:
    outcome, _ = await solved(Recipe(Steps(max_steps=2), None, Breadth(), Max(), never(), majority))
    assert [(end, answer) for _, _, answer, end in told(outcome.tree)][5:] == [("max steps", None)] * 2
    assert outcome.reason == "exhausted"


async def test_a_path_that_no_longer_fits_ends_its_node_with_the_reason() -> None:
    def short(place: Place, request: Request) -> Reply:
        return ContextOverflow("9 > 5") if request.begun else says(place, request)

    outcome, _ = await solved(Recipe(Steps(), None, Breadth(), Max(), never(), majority), short)
    assert [end for _, _, _, end in told(outcome.tree)] == ["", *["context overflow: 9 > 5"] * 2]
    assert not outcome.failed


async def test_a_step_cut_off_is_flagged_and_continued_where_it_broke_off() -> None:
    def cut(place: Place, request: Request) -> Reply:
        return Completion("2+3", "length") if not request.begun else Completion(" = 5.", stop="")

    outcome, lm = await solved(Recipe(Steps(), None, Breadth(n=1), Max(), never(), majority), cut)
    assert [text for _, text, _, _ in told(outcome.tree)] == ["", "2+3", " = 5."]
    assert outcome.tree.has(1, TRUNCATED)
    assert not outcome.tree.has(2, TRUNCATED)
    assert lm.calls[1][1].begun == "2+3"


@pytest.mark.parametrize(("distinct", "nodes", "twins"), [(False, 15, 11), (True, 4, 0)])
async def test_a_model_that_repeats_itself_comes_to_an_end(distinct: bool, nodes: int, twins: int) -> None:
    recipe = Recipe(Steps(max_steps=3, distinct=distinct), None, Breadth(), Max(), never(), majority)
    outcome, _ = await solved(recipe, lambda place, request: Completion("Again.\n\n", stop="\n\n"))
    assert (len(outcome.tree), outcome.reason) == (nodes, "exhausted")
    assert sum(state.twin is not None for state in outcome.tree.states) == twins


@pytest.mark.parametrize("width", [1, 3])
async def test_the_tree_is_the_same_whatever_the_order_of_the_replies(width: int) -> None:
    recipe = Recipe(Steps(), None, Breadth(), Max(), never(), majority, width)
    quick = await search(PROBLEM, recipe, Scripted(says, offers=OFFERS))
    slow = Scripted(says, offers=OFFERS, delay=lambda place: place.seed(0) % 5 / 1000)
    assert told((await search(PROBLEM, recipe, slow)).tree) == told(quick.tree)


# What is kept


async def test_records_hold_what_the_model_gave_and_nothing_empty(tmp_path: FilePath) -> None:
    def measured(place: Place, request: Request) -> Reply:
        said = says(place, request)
        assert isinstance(said, Completion)
        if place.draft or not said.text:
            return said
        tokens = (Token(said.text, -0.5, 7),)
        return Completion(said.text, usage=Usage(1, 3), stop=said.stop, ids=(7,), tokens=tokens)

    recipe = Recipe(Steps(), None, Breadth(), Max(), never(), majority)
    terms = Terms("steps", recipe, Prompts(), 0, Limits())
    for _ in range(2):  # the second time from the call log
        done = await attempt(PROBLEM, terms, Scripted(measured, offers=OFFERS), tmp_path / "log.jsonl")
        tree = cast(TreeRecord, loads(dumps(done.tree)))
        jsonschema.validate(tree, schemas()["tree"])
        assert tree_fault(tree, "p") == ""
        root, first, second = tree["nodes"][:3]
        assert (first["ids"], first["logprob"], first["tokens"], first["step"]) == ([7], -0.5, 3, True)
        assert "ids" not in second
        assert "logprob" not in second
        assert root["step"]
        assert "tokens" not in root


@pytest.mark.parametrize(
    ("key", "value"),
    [("ids", ["7"]), ("ids", None), ("logprob", "low"), ("tokens", 1.5), ("step", 1), ("text", None)],
)
async def test_a_damaged_record_of_a_step_is_found(tmp_path: FilePath, key: str, value: object) -> None:
    recipe = Recipe(Steps(max_steps=1), None, Breadth(n=1), Max(), never(), majority)
    terms = Terms("steps", recipe, Prompts(), 0, Limits())
    done = await attempt(PROBLEM, terms, Scripted(says, offers=OFFERS), tmp_path / "log.jsonl")
    tree = cast(TreeRecord, loads(dumps(done.tree)))
    assert tree_fault(tree, "p") == ""
    tree["nodes"][1][key] = value  # type: ignore[literal-required]
    assert f"nodes[1].{key}" in tree_fault(tree, "p")


async def test_nodes_of_whole_answers_have_none_of_these_keys(tmp_path: FilePath) -> None:
    definitions = cast(Mapping[str, Mapping[str, Iterable[str]]], schemas()["tree"]["$defs"])
    node = definitions["NodeRecord"]
    assert set(node["properties"]) - set(node["required"]) == {"step", "ids", "logprob", "tokens"}
    terms = Terms("zero-shot", choose("zero-shot", {}).build(), Prompts(), 0, Limits())
    done = await attempt(PROBLEM, terms, Scripted({"answer": "So \\boxed{20}"}), tmp_path / "log.jsonl")
    assert done.tree is not None
    assert set(done.tree["nodes"][0]) == set(node["required"])


def test_equal_steps_are_twins_below_equal_steps_only() -> None:
    tree = Tree()
    for parent, text in [(NONE, ""), (0, "a"), (0, "b"), (1, "x"), (2, "x"), (0, "a"), (5, "x"), (1, "x")]:
        tree.add(parent, State(text, step=True))
    assert [state.twin for state in tree.states] == [None, None, None, None, None, 1, 3, 3]
    tree.add(0, State("x"))
    assert tree.states[8].twin is None
    tree.add(3, State("x"))
    assert tree.states[9].twin == 8


def test_a_path_knows_its_steps_and_what_they_say() -> None:
    tree = Tree()
    tree.add(NONE, State("A whole answer."))
    tree.add(
        0,
        State("a\n\n", work={"thought": "<think>t</think>\n"}, step=True, ids=(1, 2), logprob=-1.0, tokens=2),
    )
    tree.add(1, State("b", step=True, ids=(3,)))
    path = Path.to(2, tree, PROBLEM)
    assert (path.text, path.begun, path.begun_ids) == ("a\n\nb", "<think>t</think>\na\n\nb", (1, 2, 3))
    assert [(node.id, node.logprob, node.tokens) for node in path.steps] == [(1, -1.0, 2), (2, None, 0)]
    assert Path.to(0, tree, PROBLEM).text == "A whole answer."
    assert Path.to(0, tree, PROBLEM).steps == ()
    longer = path.plus(Draft("c", step=True, tokens=4))
    assert (longer.text, longer.begun_ids, longer.last.tokens) == ("a\n\nbc", (), 4)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_draft_keeps_no_log_probability_that_is_no_number(number: float) -> None:
    with pytest.raises(ValueError, match="must be a finite number, or None"):
        Draft("a", logprob=number)


@pytest.mark.embedded
async def test_a_real_server_continues_where_the_step_ended(llama_url: str) -> None:
    steps, problem = Steps(LINES, max_step_tokens=16), Problem("p", "What is 2 + 3? Then add 4.", "number")
    path = Path(problem, (PathNode(0, "", None, {}, (), False, step=True),))
    async with connect(Settings(policy=RoleOptions(None, llama_url)), needs=steps.needs) as there:
        llm = Caller(there.models, Prompts(), "p", 1)
        for _ in range(2):
            (draft,) = await steps.grow(path, 1, llm)
            assert isinstance(draft, Draft)
            assert draft.text.strip()
            assert 0 < draft.tokens <= 16
            assert draft.truncated or draft.done or draft.text.endswith("\n")
            path = path.plus(draft)
    assert path.begun == "".join(node.text for node in path.steps)
    assert llm.tally.calls >= 2
