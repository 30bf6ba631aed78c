"""The selectors that read what steps were worth elsewhere."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from mctsr.answer import best_value
from mctsr.backup import Mean
from mctsr.backup.amaf import AmafMean
from mctsr.engine import search
from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, NONE, SPENT
from mctsr.parts import Ask, Selector
from mctsr.recipe import Recipe
from mctsr.select.grave import Grave, Mcps
from mctsr.select.step_code import step_code
from mctsr.stop import never, rollouts_done
from mctsr.testing.laws import check_selector
from mctsr.testing.order_parts import NextStep, StepJudge
from mctsr.testing.orders import step_world
from mctsr.tree import Sample, State, Tree

Pair = tuple[Selector, AmafMean]


def code(text: str) -> int:
    return int(text.rpartition(" ")[2] or -1)


def letter(text: str) -> int:
    return ord(text[0])


def grave(of: Callable[[str], int] = code, **given: int | str) -> Pair:
    return Grave(of, **given), AmafMean(of)  # type: ignore[arg-type]


def mcps(of: Callable[[str], int] = code, ref: int = 2, window: int = 20, n: int = 3) -> Pair:
    return Mcps(of, ref, window, n), AmafMean(of, ref, window)


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize(
    "pair",
    [
        grave(),
        grave(ref=0, n=1),
        grave(variant="ludii"),
        grave(variant="ucb1"),
        mcps(),
        mcps(ref=0, window=3, n=1),
    ],
)
def test_the_laws_of_selectors_hold(pair: Pair, judged: bool, width: int) -> None:
    selector, backup = pair
    check_selector(selector, backup=backup, judged=judged, width=width)


def test_the_laws_hold_over_a_backup_that_counts_no_playouts() -> None:
    check_selector(Grave(code), backup=Mean())
    check_selector(Mcps(code), backup=Mean())


def planted(pair: Pair, steps: Sequence[tuple[int, str, float]]) -> Tree:
    """Grow a tree from (parent, text, reward) below an empty root."""
    tree = Tree(low=0.0)
    tree.add(NONE, State(""))
    for parent, text, reward in steps:
        node = tree.add(parent, State(text))
        tree.judged(node, (Sample(reward, reward),))
        pair[1](tree, node)
        pair[0].tell(tree, np.random.default_rng(0), [node])
    return tree


def asked(pair: Pair, tree: Tree) -> list[int]:
    return [ask.node for ask in pair[0].ask(tree, np.random.default_rng(0), 1)]


def test_a_step_that_did_well_in_another_branch_is_preferred() -> None:
    # b below a has the smaller reward of its own, and was worth more after c.
    steps = [(0, "a", 0.9), (0, "c", 0.1), (1, "d", 0.5), (1, "b", 0.4), (2, "b", 0.9), (2, "d", 0.0)]
    pair = grave(letter, ref=50)
    assert asked(pair, planted(pair, steps)) == [4]
    rave = grave(letter, ref=0)
    assert asked(rave, planted(rave, steps)) == [3], "at its own parent, d did better"


def test_permutation_search_prefers_a_step_that_did_well_with_the_same_steps_in_another_order() -> None:
    # Without a, d did better than b. With a, b did well: once, in the other order.
    steps = [
        (0, "a", 0.9),
        (0, "b", 0.1),
        (0, "d", 0.55),
        (2, "a", 0.9),
        (2, "x", 0.1),
        (1, "d", 0.3),
        (1, "b", 0.3),
    ]
    by_amaf, by_permutation = grave(letter, ref=50), mcps(letter, ref=2)
    assert asked(by_amaf, planted(by_amaf, steps)) == [6]
    assert asked(by_permutation, planted(by_permutation, steps)) == [7]


def test_the_variants_differ_as_ludii_does() -> None:
    # b was good elsewhere, d is new here and was bad elsewhere.
    steps = [(0, "a", 0.9), (0, "c", 0.1), (1, "b", 0.9), (2, "b", 0.9), (2, "d", 0.0)]
    made = {name: grave(letter, ref=50, variant=name) for name in ("paper", "ludii", "ucb1")}
    trees = {name: planted(pair, steps) for name, pair in made.items()}
    for tree, pair in zip(trees.values(), made.values(), strict=True):
        child = tree.add(1, State("d"))
        pair[0].tell(tree, np.random.default_rng(0), [child])
    assert {name: asked(made[name], tree) for name, tree in trees.items()} == {
        "paper": [3],  # .9 against .0
        "ludii": [6],  # nobody has visited it
        "ucb1": [3],  # one visit is the least of both, so the bonus is the same
    }


def test_ucb1_visits_what_was_visited_least_when_values_are_close() -> None:
    steps = [(0, "a", 0.5), (0, "c", 0.49), *[(1, "b", 0.5)] * 4]
    for variant, expected in (("paper", [3]), ("ucb1", [2])):
        pair = grave(letter, ref=50, variant=variant)
        assert asked(pair, planted(pair, steps)) == expected


def test_a_finished_step_is_passed_through_to_its_open_children() -> None:
    for pair in (grave(letter), mcps(letter)):
        tree = planted(pair, [(0, "a", 0.9), (1, "b", 0.9), (0, "c", 0.1)])
        tree.end(0, "context overflow: too long")
        tree.end(1, "context overflow: too long")
        assert asked(pair, tree) == [2]
        tree.end(2, "finished")
        assert asked(pair, tree) == [3]
        tree.end(3, "finished")
        assert asked(pair, tree) == []


def test_a_closed_subtree_ends_the_search() -> None:
    for pair in (grave(letter), mcps(letter)):
        tree = planted(pair, [(0, "a", 0.9), (1, "b", 0.9), (0, "c", 0.1)])
        assert asked(pair, tree) == [2]
        tree.prune(1, "pruned")
        assert asked(pair, tree) == [3]
        tree.end(3, "finished")
        assert asked(pair, tree) == []


def test_a_node_whose_children_are_all_unscored_is_left_and_flagged() -> None:
    pair = grave(letter)
    tree = planted(pair, [(0, "a", 0.9), (0, "c", 0.1)])
    born = [tree.add(1, State("x")), tree.add(1, State("y"))]
    for node in born:
        tree.unscored(node, "no score in the reply")
    assert asked(pair, tree) == [2], "a dead end that nobody has flagged yet is passed over"
    pair[0].tell(tree, np.random.default_rng(0), born)
    assert tree.has(1, SPENT)
    assert asked(pair, tree) == [2]


def test_while_all_leaves_are_in_flight_the_selector_waits() -> None:
    pair = mcps(letter)
    tree = planted(pair, [(0, "a", 0.9), (0, "c", 0.1)])
    tree.mark(1, +1)
    assert asked(pair, tree) == [2]
    tree.mark(2, +1)
    assert asked(pair, tree) == []
    tree.mark(1, -1)
    assert asked(pair, tree) == [1]


def test_a_planted_root_is_never_grown() -> None:
    tree = Tree()
    tree.add(NONE, State("refusal"), planted=True)
    assert Grave(letter).ask(tree, np.random.default_rng(0), 1) == ()
    tree.add(NONE, State("answer"))
    assert Grave(letter, n=2, roots=2).ask(tree, np.random.default_rng(0), 1) == (Ask(1, 2),)


@pytest.mark.parametrize("scale", [1.0, 200.0])
@pytest.mark.parametrize("shift", [0.0, -100.0])
@pytest.mark.parametrize("make", [grave, mcps])
def test_another_scale_of_the_judge_changes_no_choice(
    make: Callable[..., Pair], scale: float, shift: float
) -> None:
    def choices(scale: float, shift: float) -> list[int]:
        rng, pair = np.random.default_rng(5), make(letter, ref=3)
        tree, found = planted(pair, [(0, "a", 0.5 * scale + shift)]), []
        tree.low = shift
        for _ in range(40):
            node = asked(pair, tree)[0]
            found.append(node)
            for _ in range(2):
                child = tree.add(node, State("abcdefgh"[rng.integers(8)]))
                reward = int(rng.integers(0, 65)) / 64 * scale + shift
                tree.judged(child, (Sample(reward, reward),))
                pair[1](tree, child)
        return found

    assert choices(scale, shift) == choices(1.0, 0.0)


@pytest.mark.parametrize("width", [1, 5])
@pytest.mark.parametrize("pair", [grave(step_code), mcps(step_code)])
async def test_a_small_world_is_searched_to_its_end(pair: Pair, width: int) -> None:
    world = step_world("free", 1, steps=4, length=3)
    recipe = Recipe(NextStep(world), StepJudge(), pair[0], pair[1], never(), best_value, width=width)
    outcome = await search(world.problem, recipe, world)
    assert outcome.reason == "exhausted"
    assert not outcome.tree.nodes["in_flight"].any()
    assert all(outcome.tree.has(node, DONE | SPENT) for node in range(len(outcome.tree)))
    first = Recipe(NextStep(world), StepJudge(), pair[0], pair[1], rollouts_done(5), best_value, width=width)
    assert len((await search(world.problem, first, world)).tree) < len(outcome.tree)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Grave(code, n=0), "n is 0"),
        (lambda: Grave(code, ref=-1), "ref is -1"),
        (lambda: Grave(code, bias=-1e-5), "bias is -1e-05"),
        (lambda: Grave(code, bias=float("nan")), "bias is nan"),
        (lambda: Grave(code, variant="java"), "variant is 'java'; it is one of paper, ludii, ucb1"),  # type: ignore[arg-type]
        (lambda: Mcps(code, window=0), "window is 0"),
    ],
)
def test_impossible_settings_are_refused(make: Callable[[], Selector], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        make()


def test_a_backup_that_counts_otherwise_is_refused() -> None:
    tree = planted(grave(letter), [(0, "a", 0.9)])
    with pytest.raises(RecipeError, match="keep different playouts"):
        Mcps(letter).ask(tree, np.random.default_rng(0), 1)
    with pytest.raises(RecipeError, match="keep different playouts"):
        Grave(code).ask(tree, np.random.default_rng(0), 1)


def test_another_backup_than_its_own_is_refused_as_soon_as_a_reward_came() -> None:
    tree, selector = Tree(), Grave(len)
    tree.add(NONE, State(""))
    assert selector.ask(tree, np.random.default_rng(0), 1) == (Ask(0, 3),)
    child = tree.add(0, State("step"))
    tree.judged(child, (Sample(0.5, 0.5),))
    Mean()(tree, child)
    selector.tell(tree, np.random.default_rng(0), [child])
    with pytest.raises(RecipeError, match="need the backup AmafMean"):
        selector.ask(tree, np.random.default_rng(0), 1)
