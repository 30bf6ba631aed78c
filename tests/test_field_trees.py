"""Trees as users of such tools have seen them fail: too deep, too slow, of another problem, saturated, never ending."""

import json
import math
import pickle
import re
import socket
import time
from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from mctsr.backup import MeanOfEnds
from mctsr.engine import search
from mctsr.expand.step import Steps
from mctsr.kernels.node import NONE
from mctsr.lm.base import Completion, Place, Request, Token, Usage
from mctsr.lm.scripted import Scripted
from mctsr.parts import Path as TreePath
from mctsr.parts import Problem
from mctsr.recipes import RECIPES
from mctsr.recipes.registry import choose
from mctsr.select.descent import Descent
from mctsr.select.scores import puct, uct
from mctsr.stop import Limits
from mctsr.tree import Sample, State, Tree, warm_up
from tests.support import fake_ways
from tests.support.fake_server import Body
from tests.support.fake_ways import Model
from tests.support.sample_run import command
from tests.support.served import served
from tests.support.step_run import make_step_run
from tests.support.step_story import OFFERS

PROBLEM = Problem("p", "How much is 2 + 2?", "number")
SOLUTION = "2 + 2 = 4.\n\nNothing is left.\n\nThe final answer is \\boxed{4}"
STEP_RECIPES = [name for name, where in RECIPES.items() if re.search(r"\.(steps|populations)\.", where)]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


# A copy of a tree 2 000 levels deep ended in a RecursionError, and a thousand steps took 44 s.


def grow(tree: Tree, parent: int, value: float) -> int:
    node = tree.add(parent, State(f"step {len(tree)}", step=True))
    tree.judged(node, (Sample(value, value),))
    MeanOfEnds()(tree, node)
    return node


def test_ten_thousand_nodes_are_searched_in_a_second() -> None:
    warm_up()
    rng, selector = np.random.default_rng(0), Descent(puct(), n=4)

    def searched(size: int) -> Tree:
        tree = Tree()
        root = tree.add(NONE, State("", step=True))
        selector.tell(tree, rng, [root])
        while len(tree) < size:
            (ask,) = selector.ask(tree, rng, 1)
            selector.tell(tree, rng, [grow(tree, ask.node, float(rng.random())) for _ in range(ask.n)])
        return tree

    searched(50)
    took = []
    for _ in range(3):  # others may use the processor, too
        began = time.process_time()
        tree = searched(10_000)
        took.append(time.process_time() - began)
    assert min(took) < 1.0
    assert len(tree) >= 10_000
    assert tree.nodes["visits"][1 : len(tree)].all()


def test_a_solution_of_ten_thousand_steps_is_kept_copied_and_taken_apart() -> None:
    tree, node = Tree(), NONE
    for _ in range(10_000):
        node = grow(tree, node, 0.5)
    assert tree.line(node) == list(range(10_000))
    assert len(TreePath.to(node, tree, PROBLEM).steps) == 10_000
    for copy in (deepcopy(tree), pickle.loads(pickle.dumps(tree))):
        assert len(copy) == 10_000
        assert copy.nodes["depth"][node] == tree.nodes["depth"][node]


# The root of the problem before was kept for the next one.


def test_the_tree_of_a_problem_holds_nothing_of_the_one_before() -> None:
    def say(body: Body) -> str:
        asked = json.dumps(body["messages"])
        return (
            f"score 50. For {' and '.join(re.findall('apples|pears', asked)[:1])} the answer is \\boxed{{4}}."
        )

    rows = [{"id": "A", "question": "How many apples?"}, {"id": "B", "question": "How many pears?"}]
    Path("two.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with served(say) as server:
        arguments = ("--base-url", server.url, "-s", "rollouts=3", "--max-concurrency", "1", "-o", "here")
        assert command("solve", "two.jsonl", *arguments).code == 0
    trees = [json.loads(line) for line in Path("here/trees.jsonl").read_text(encoding="utf-8").splitlines()]
    found = {tree["problem_id"]: json.dumps(tree) for tree in trees}
    assert ("apples" in found["A"], "pears" in found["A"]) == (True, False)
    assert ("apples" in found["B"], "pears" in found["B"]) == (False, True)


# Selection looked at one level only, was not the paper's formula, and a full tree stalled.


def test_selection_goes_down_level_by_level_as_the_formula_says() -> None:
    """Three levels by hand: Q + 1.4 sqrt(ln N / n), where Q is the mean over the visits.

    The root was visited 6 times: a = (0.6, 3), 0.6 + 1.4 sqrt(ln 6 / 3) = 1.682; b = (0.5, 2), 0.5 + 1.4 sqrt(ln 6 / 2)
    = 1.825. Below b, 2 visits: c = (0.9, 1), 0.9 + 1.4 sqrt(ln 2) = 2.066; d = (0.1, 1) = 1.266. So c, although a is
    worth more than b, and b than d.
    """
    tree = Tree()
    root = tree.add(NONE, State(""))
    a, b = (tree.add(root, State(text)) for text in "ab")
    c, d = (tree.add(b, State(text)) for text in "cd")
    for node, value, visits in ((root, 0.55, 6), (a, 0.6, 3), (b, 0.5, 2), (c, 0.9, 1), (d, 0.1, 1)):
        tree.nodes["value"][node], tree.nodes["visits"][node] = value, visits
    by_hand = {
        "a": 0.6 + 1.4 * math.sqrt(math.log(6) / 3),
        "b": 0.5 + 1.4 * math.sqrt(math.log(6) / 2),
        "c": 0.9 + 1.4 * math.sqrt(math.log(2)),
        "d": 0.1 + 1.4 * math.sqrt(math.log(2)),
    }
    assert {name: round(score, 3) for name, score in by_hand.items()} == {
        "a": 1.682,
        "b": 1.825,
        "c": 2.066,
        "d": 1.266,
    }
    (ask,) = Descent(uct(1.4)).ask(tree, np.random.default_rng(0), 1)
    assert ask.node == c
    # One level alone would say otherwise, and so it does when b has nothing to offer.
    tree.nodes["value"][b] = 0.3
    assert Descent(uct(1.4)).ask(tree, np.random.default_rng(0), 1)[0].node == a


async def test_a_tree_in_which_nothing_can_grow_ends_and_says_so() -> None:
    what = choose("puct-prm", {"rollouts": 10**6, "paths": 0, "children": 2, "max_steps": 2}).build()
    outcome = await search(PROBLEM, what, Scripted(always("So 1 + 1.\n\n"), offers=OFFERS))
    assert (outcome.reason, outcome.failed) == ("exhausted", False)
    assert len(outcome.tree) == 3


# The same text again and again wasted the whole budget.


def always(text: str) -> "Replies":
    return Replies(text)


class Replies:
    """Say one text to whoever writes, and something readable to whoever judges."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, place: Place, request: Request) -> Completion:
        if request.logprobs is not None and request.max_tokens == 1:
            top = (("Yes", math.log(0.8)), ("No", math.log(0.2)))
            return Completion("Yes", usage=Usage(1, 1), tokens=(Token("Yes", math.log(0.8), None, top),))
        if request.role == "judge" or place.part.startswith("judge"):
            return Completion('{"score": 7}', usage=Usage(1, 1))
        stops = "\n\n" in request.stop and self.text.endswith("\n\n")
        tokens = (Token(self.text, -1.0),)
        return Completion(self.text, usage=Usage(1, 1), stop="\n\n" if stops else "", tokens=tokens)


@pytest.mark.parametrize("name", STEP_RECIPES)
@pytest.mark.parametrize("text", ["Add 1.\n\n", "The final answer is \\boxed{4}"], ids=["steps", "answer"])
async def test_a_model_that_always_says_the_same_is_no_search_without_end(name: str, text: str) -> None:
    what = choose(name, {}).build()
    assert what.needs <= OFFERS
    outcome = await search(PROBLEM, what, Scripted(always(text), offers=OFFERS), limits=Limits(calls=20_000))
    assert outcome.reason != "call limit"
    assert not outcome.failed
    tree = outcome.tree
    if not isinstance(what.expander, Steps):
        return
    twins = sum(state.twin is not None for state in tree.states)
    merged = sum(int(state.work.get("times", "1")) - 1 for state in tree.states)
    assert twins + merged > 0 or len(tree) <= 3, "what was said twice is counted"


def test_repeated_texts_are_counted_in_the_report_and_marked_in_the_tree() -> None:
    with served("score 7", extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION))) as server:
        arguments = ("--base-url", server.url, "--recipe", "beam", "-s", "n=4", "-s", "m=2", "-o", "here")
        assert command("solve", "-q", "2+2?", *arguments).code == 0
    assert re.search(r"drafts that repeat the text of another +9\n", command("report", "here").out)
    assert "same text as 1" in command("show", "here", "1").out


def test_drafts_that_say_the_same_are_one_node_in_a_tree_search() -> None:
    with served("score 7", extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION))) as server:
        arguments = ("--base-url", server.url, "--recipe", "puct-prm", "-o", "here")
        assert command("solve", "-q", "2+2?", *arguments).code == 0
    nodes = json.loads(Path("here/trees.jsonl").read_text(encoding="utf-8"))["nodes"]
    assert "".join(node["text"] for node in nodes) == SOLUTION
    assert command("show", "here", "1").out.count("said by 4 drafts") == len(nodes) - 1 == 3


# The viewer crashed, and asked for a service of its own.


def test_a_tree_is_shown_without_any_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = str(make_step_run(tmp_path / "run"))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "bind", refuse)
    for arguments in ((), ("sum",), ("sum", "--node", "3"), ("sum", "--json")):
        said = command("show", folder, *arguments)
        assert (said.code, said.err) == (0, "")
        assert "14" in said.out


# Nobody knew what a depth counts.


@pytest.mark.parametrize("name", STEP_RECIPES)
def test_what_a_limit_of_depth_counts_is_explained(name: str) -> None:
    said = command("recipes", name).out
    limits = [line.split(":")[1] for line in said.splitlines() if re.match(r" +max_\w*(steps|depth):", line)]
    assert all(re.search("step|level|thought|agent|question", words, re.IGNORECASE) for words in limits)


@pytest.mark.parametrize("name", ["beam", "puct-prm", "tot", "particle-filter", "rstar-math"])
def test_no_step_at_all_is_refused_in_one_line(name: str) -> None:
    said = command(
        "solve", "-q", "2+2?", "--base-url", "http://127.0.0.1:9", "--recipe", name, "-s", "max_steps=0"
    )
    assert (said.code, said.out) == (2, "")
    assert said.err.splitlines()[1:] == ["error: max_steps is 0; it must be at least 1"]


@pytest.mark.parametrize("steps", [1, 2])
async def test_solutions_have_as_many_steps_as_allowed_and_end_there(steps: int) -> None:
    what = choose("beam", {"n": 2, "m": 2, "max_steps": steps}).build()
    outcome = await search(PROBLEM, what, Scripted(always("Add 1.\n\n"), offers=OFFERS))
    assert outcome.tree.nodes["depth"].max() == steps
    assert [outcome.tree.states[node].ended for node in outcome.tree.front] == ["max steps"] * 2


@pytest.mark.parametrize(("depth", "deepest", "reason"), [(0, 3, "rollouts"), (1, 1, "max depth")])
async def test_the_depth_of_refinements_is_off_at_zero_and_one_below_a_root_at_one(
    depth: int, deepest: int, reason: str
) -> None:
    def better(place: Place, request: Request) -> str:
        return f"score {10 * place.ask + place.sample}. The answer is \\boxed{{{place.ask}}}"

    outcome = await search(
        PROBLEM, choose("mctsr", {"rollouts": 8, "depth": depth}).build(), Scripted(better)
    )
    assert outcome.reason == reason
    assert (
        outcome.tree.nodes["depth"].max() >= deepest if not depth else outcome.tree.nodes["depth"].max() == 1
    )
    assert "0 is off" in command("recipes", "mctsr").out


# A population whose members are all finished was said to have nothing left to try.


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("beam", {"n": 4, "m": 2}),
        ("dvts", {"n": 4, "m": 2}),
        ("particle-filter", {"n": 4}),
        ("tot", {"breadth": 2, "children": 2}),
    ],
)
async def test_a_population_that_is_finished_says_so(name: str, arguments: dict[str, int]) -> None:
    what = choose(name, arguments).build()
    outcome = await search(PROBLEM, what, Scripted(always("The final answer is \\boxed{4}"), offers=OFFERS))
    assert (outcome.reason, outcome.failed) == ("all finished", False)
    assert list(names_of(outcome.tree.front, outcome.tree)) == ["finished"] * len(outcome.tree.front)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("zero-shot", {}),
        ("self-consistency", {"n": 3}),
        ("best-of-n", {"n": 3}),
        ("weighted-best-of-n", {"n": 3}),
        ("best-of-n-prm", {"n": 3}),
    ],
)
async def test_independent_answers_are_all_drawn_when_they_are(name: str, arguments: dict[str, int]) -> None:
    what = choose(name, arguments).build()
    outcome = await search(PROBLEM, what, Scripted(always("The final answer is \\boxed{4}"), offers=OFFERS))
    assert (outcome.reason, outcome.failed) == ("all drawn", False)
    mute = await search(
        PROBLEM, choose("best-of-n", {"n": 2}).build(), Scripted(lambda place, request: "Hm.")
    )
    assert mute.reason == "all unscored"


def names_of(front: Iterable[int], tree: Tree) -> Iterable[str]:
    return (tree.states[node].ended for node in front)
