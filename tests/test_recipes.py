"""The shipped recipes, and how they are found, checked and built by name."""

import asyncio
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mctsr.answer import best_value, finalists, first, last, majority, weighted_vote
from mctsr.backup import OwnValue
from mctsr.errors import RecipeError
from mctsr.expand.refine import REFUSAL, SelfRefine
from mctsr.lm.base import Place
from mctsr.recipe import Recipe
from mctsr.recipes.arguments import convert
from mctsr.recipes.registry import choose, names
from mctsr.rollout import Asked
from mctsr.select.chain import Chain
from mctsr.stop import rollouts_done
from mctsr.tree import Sample, State, Tree
from tests.testing.replies import graded, grow, hashed, named, recipe

SHIPPED = [
    "best-of-n",
    "mctsr",
    "mctsr-code",
    "self-consistency",
    "self-refine",
    "weighted-best-of-n",
    "zero-shot",
]

# What each recipe costs


@pytest.mark.parametrize(
    ("name", "arguments", "calls"),
    [
        ("zero-shot", {}, {"answer": 1}),
        ("self-consistency", {"n": 5}, {"answer": 5}),
        ("best-of-n", {"n": 5}, {"answer": 5, "self_reward": 5}),
        ("best-of-n", {"n": 5, "samples": 3}, {"answer": 5, "self_reward": 15}),
        ("weighted-best-of-n", {"n": 5}, {"answer": 5, "self_reward": 5}),
        ("self-refine", {"rollouts": 3}, {"answer": 1, "critique": 3, "rewrite": 3}),
        ("mctsr", {"rollouts": 4}, {"answer": 1, "critique": 4, "rewrite": 4, "self_reward": 10}),
        (
            "mctsr",
            {"rollouts": 2, "samples": 2},
            {"answer": 1, "critique": 2, "rewrite": 2, "self_reward": 12},
        ),
        ("mctsr-code", {"rollouts": 4}, {"answer": 1, "critique": 4, "rewrite_unseen": 4, "self_reward": 10}),
    ],
)
async def test_a_recipe_makes_exactly_these_calls(
    name: str, arguments: dict[str, int], calls: dict[str, int]
) -> None:
    _, lm, _ = await grow(recipe(name, **arguments), graded(hashed))
    assert Counter(place.part for place, _ in lm.calls) == calls


# What each recipe does


async def test_self_refine_walks_a_chain_and_returns_its_end() -> None:
    what = recipe("self-refine", rollouts=3)
    outcome, _, events = await grow(what, graded(hashed))
    assert [e.node for e in events if isinstance(e, Asked)] == [-1, 0, 1, 2]
    assert what.answerer(outcome.tree) == ("300", 3, "last")


async def test_a_rewrite_sees_the_answer_and_its_critique() -> None:
    _, lm, _ = await grow(recipe("mctsr", rollouts=1), graded(hashed))
    said = next(request.messages[-1].content for place, request in lm.calls if place.part == "rewrite")
    assert "answer 0.0" in said
    assert "Critique in ask 1, draft 0." in said


async def test_only_refining_recipes_plant_a_refusal() -> None:
    for name in SHIPPED:
        outcome, _, _ = await grow(recipe(name), graded(hashed))
        texts = [state.text for state in outcome.tree.states]
        assert texts.count(REFUSAL) == (name in ("mctsr", "mctsr-code"))


async def test_self_consistency_returns_the_most_frequent_answer() -> None:
    answers = ["7", "8", "8.0", "9", "8"]
    what = recipe("self-consistency", n=5)
    outcome, _, _ = await grow(what, lambda p, _: f"The final answer is \\boxed{{{answers[p.draft]}}}")
    assert what.answerer(outcome.tree) == ("8", 1, "majority")


async def test_best_of_n_returns_the_best_scored_answer() -> None:
    scores = [10, 60, 99, 50]  # 99 is full marks, suppressed to 49
    what = recipe("best-of-n", n=4)
    outcome, _, _ = await grow(what, graded(lambda place: scores[place.draft]))
    assert what.answerer(outcome.tree).node == 1


async def test_weighted_best_of_n_adds_up_the_scores_of_equal_answers() -> None:
    # Weights (s + 100) / 200: the answer 1 has 0.9, the answer 2 has 0.5 + 0.5.
    answers, scores = [1, 2, 2], [80, 0, 0]
    what = recipe("weighted-best-of-n", n=3)
    replies = graded(
        lambda p: scores[p.draft], lambda p: f"The final answer is \\boxed{{{answers[p.draft]}}}"
    )
    outcome, _, _ = await grow(what, replies)
    assert what.answerer(outcome.tree) == ("2", 1, "weighted vote")
    assert best_value(outcome.tree).answer == "1"


async def test_mctsr_stops_at_the_depth_it_is_given() -> None:
    outcome, _, _ = await grow(
        recipe("mctsr", depth=2, rollouts=50), graded(lambda p: 10 * p.ask if p.draft >= 0 else 90)
    )
    assert outcome.reason == "max depth"
    assert outcome.tree.nodes["depth"].max() == 2


# Answers


def grown(*nodes: tuple[str | None, float | None], planted: tuple[int, ...] = ()) -> Tree:
    tree = Tree(low=-100)
    for i, (answer, value) in enumerate(nodes):
        tree.add(-1, State(f"text {i}", answer), planted=i in planted)
        if value is not None:
            tree.judged(i, (Sample(value, value),))
            OwnValue()(tree, i)
    return tree


def test_nothing_planted_is_ever_selected() -> None:
    tree = grown(("1", 99.0), ("2", 5.0), planted=(0,))
    for front in ([], [0], [1], [0, 1], [1, 0]):
        tree.front = front
        for answerer in (first, last, best_value, majority, weighted_vote(-100, 100)):
            assert answerer(tree).node in (1, None)
        assert 0 not in finalists(tree)


async def test_a_chain_over_a_planted_answer_never_returns_it() -> None:
    what = Recipe(SelfRefine(planted=REFUSAL), None, Chain(), OwnValue(), rollouts_done(0), last)
    outcome, _, _ = await grow(what, graded(hashed))
    assert what.answerer(outcome.tree).node == 0


def test_votes_of_equal_weight_go_to_the_answer_seen_first() -> None:
    tree = grown(("5", 1.0), ("6", 1.0), ("6.0", 1.0), ("5", 1.0))
    assert majority(tree) == ("5", 0, "majority")
    assert weighted_vote(-100, 100)(tree).node == 0


def test_no_answer_has_no_vote() -> None:
    tree = grown((None, 1.0), (None, 1.0), ("6", 1.0))
    assert majority(tree).answer == "6"
    assert majority(grown((None, 1.0))) == (None, None, "majority")


def test_unscored_answers_neither_win_nor_weigh() -> None:
    tree = grown(("1", None), ("2", -90.0), ("1", None))
    assert best_value(tree).node == 1
    assert weighted_vote(-100, 100)(tree).answer == "2"
    assert majority(tree).answer == "2"


def test_an_empty_tree_has_no_answer() -> None:
    for answerer in (first, last, best_value, majority, weighted_vote(-100, 100)):
        assert answerer(Tree()).answer is None


# The registry


def test_all_shipped_recipes_are_listed_build_and_are_documented() -> None:
    assert set(SHIPPED) <= set(names())
    for name in SHIPPED:
        chosen = choose(name)
        assert isinstance(chosen.build(), Recipe)
        doc = chosen.function.__doc__ or ""
        assert len(doc.partition("\n")[0]) < 120
        assert all(f"{argument}:" in doc for argument in chosen.arguments)
        assert len(chosen.source_sha256) == 64


def test_listing_names_imports_no_recipe() -> None:
    program = (
        "import sys; from mctsr.recipes.registry import names; names(); "
        "print([m for m in sys.modules if m.startswith('mctsr.recipes.') and m.count('.') > 2])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_arguments_are_converted_from_text_and_completed_with_defaults() -> None:
    arguments = choose("mctsr", {"rollouts": "16", "c": "2"}).arguments
    assert (arguments["rollouts"], arguments["c"], arguments["max_children"]) == (16, 2.0, 2)
    assert isinstance(arguments["c"], float)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("mctrs", {}, "no recipe 'mctrs'; did you mean 'mctsr'"),
        ("", {}, "no recipe ''"),
        ("mctsr", {"rolouts": "3"}, "no argument 'rolouts'; did you mean 'rollouts'"),
        ("zero-shot", {"n": "3"}, "allowed are: none"),
        ("mctsr", {"rollouts": "many"}, "argument 'rollouts' is 'many'; allowed is int"),
        ("mctsr", {"rollouts": "2.5"}, "argument 'rollouts' is '2.5'; allowed is int"),
        ("mctsr", {"rollouts": True}, "argument 'rollouts' is True; allowed is int"),
        ("mctsr", {"c": "nan"}, "argument 'c' is 'nan'; allowed is float"),
        ("mctsr", {"c": "inf"}, "argument 'c' is 'inf'; allowed is float"),
        ("nowhere.py:f", {}, "'nowhere.py' does not exist"),
        ("no.such.module:f", {}, "does not import"),
        ("mctsr.stop:nothing", {}, "no function 'nothing'"),
        ("mctsr.stop:rollouts_done", {}, "needs the argument 'n'; give -s n="),
    ],
)
def test_a_wrong_name_or_argument_is_one_clear_error(
    name: str, given: dict[str, object], message: str
) -> None:
    with pytest.raises(RecipeError, match=re.escape(message)) as caught:
        choose(name, given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("mctsr", {"rollouts": "-1"}),
        ("mctsr", {"width": "0"}),
        ("mctsr", {"samples": "0"}),
        ("mctsr", {"attempts": "0"}),
        ("mctsr", {"patience": "-1"}),
        ("mctsr", {"depth": "-1"}),
        ("best-of-n", {"n": "0"}),
        ("self-refine", {"rollouts": "-2"}),
        ("mctsr.stop:never", {}),
    ],
)
def test_a_value_out_of_range_is_refused_when_the_recipe_is_built(
    name: str, given: dict[str, object]
) -> None:
    with pytest.raises(RecipeError):
        choose(name, given).build()


def test_annotations_decide_what_a_text_means() -> None:
    assert convert("x", "true", bool) is True
    assert convert("x", "none", int | None) is None
    assert convert("x", "3", int | None) == 3
    assert convert("x", "3", str) == "3"
    for value, hint in (("yes", bool), ("none", int), (3, str), ([1], int), ({}, float)):
        with pytest.raises(RecipeError, match="allowed is"):
            convert("x", value, hint)


MINE = '''
from mctsr import Answer, Frontier, OwnValue, Recipe, last, never

def two(*, n: int = 2) -> Recipe:
    """Two answers, the last one counts."""
    return Recipe(Answer(), None, Frontier(n), OwnValue(), never(), last)
'''


async def test_a_recipe_of_ones_own_is_found_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    what = choose(f"{file}:two", {"n": "3"}).build()
    outcome, _, _ = await grow(what, graded(hashed))
    assert what.answerer(outcome.tree).node == 2


@pytest.mark.parametrize("stem", ["mctsr", "select", "asyncio"])
def test_a_file_named_like_a_module_takes_nothings_place(stem: str, tmp_path: Path) -> None:
    file = tmp_path / f"{stem}.py"
    file.write_text(MINE)
    before = sys.modules.get(stem)
    assert isinstance(choose(f"{file}:two").build(), Recipe)
    assert sys.modules.get(stem) is before
    assert asyncio.sleep.__module__ == "asyncio.tasks"


def test_an_error_in_a_recipe_file_is_told_with_its_kind(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def broken(:\n")
    with pytest.raises(RecipeError, match="does not import: SyntaxError"):
        choose(f"{file}:broken")


def test_what_is_no_documented_function_is_refused() -> None:
    for name in ("os:getcwd", "functools:partial", "mctsr.engine:MAX_SERVER_FAULTS"):
        with pytest.raises(RecipeError):
            choose(name).build()


def test_scores_of_equal_places_are_equal_and_of_others_mostly_not() -> None:
    values = [hashed(Place("p", ask, "self_reward", draft)) for ask in range(9) for draft in (-1, 0)]
    assert min(values) >= -95
    assert len(np.unique(values)) > 12
    assert named(Place("p", 1, "answer")) != named(Place("p", 2, "answer"))


@pytest.mark.parametrize(
    ("name", "argument", "value"),
    [
        *(
            (name, "children", 0)
            for name in ("grave-steps", "mcps-steps", "puct-prm", "rstar-math", "ts-llm")
        ),
        *(("tot", argument, value) for argument in ("breadth", "children", "votes") for value in (0, -1)),
        ("particle-filter", "weight_temperature", 0.0),
        ("particle-filter", "hottest", 0.5),
        ("particle-filter", "cooling", -1),
        ("particle-gibbs", "n", 1),
        ("particle-gibbs", "sweeps", 0),
        ("particle-gibbs", "weight_temperature", 0.0),
        ("rap", "alpha", 1.5),
        ("rap", "w_exp", -1.0),
        ("rap", "temperature", 2.5),
        *(("scope", argument, -1) for argument in ("least", "most", "tries")),
        ("scope", "threshold", 1.5),
        ("puct-prm", "c", -1.0),
        ("rstar-math", "c", -1.0),
        ("ts-llm", "init", -1.0),
        ("ts-llm", "base", 0.0),
        ("grave-steps", "ref", -1),
        ("grave-steps", "bias", -1.0),
        ("mcps-steps", "ref", -1),
        ("mcps-steps", "window", 0),
        *(("rest-mcts", argument, 0) for argument in ("rounds", "children", "forward")),
        ("rest-mcts", "c", -1.0),
        ("rest-mcts", "alpha", 1.5),
        *((name, "children", 0) for name in ("deepsearch", "deepsearch-code")),
        *((name, "trajectories", -1) for name in ("deepsearch", "deepsearch-code")),
        ("deepsearch", "lam", -1.0),
        *((name, "n", 0) for name in ("agentprm", "agentprm-code")),
        *((name, "gamma", 1.5) for name in ("agentprm", "agentprm-code")),
        *((name, "temperature", 2.5) for name in ("beam", "dvts", "particle-filter", "tot", "puct-prm")),
    ],
)
def test_a_value_out_of_range_is_told_by_the_recipes_own_argument(
    name: str, argument: str, value: float
) -> None:
    with pytest.raises(RecipeError, match=f"^{argument} is {value}; it "):
        choose(name, {argument: value}).build()


def test_a_part_that_was_not_made_is_named() -> None:
    with pytest.raises(RecipeError, match=r"the backup is the class OwnValue; make one: OwnValue\(…\)"):
        Recipe(SelfRefine(), None, Chain(), OwnValue, rollouts_done(1), last)  # type: ignore[arg-type]
