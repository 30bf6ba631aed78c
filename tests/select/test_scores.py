"""Named scores against the numbers that their papers and codes give, by the ids of the table of vectors."""

import inspect
import math
from collections.abc import Callable

import numpy as np
import pytest

from mctsr.errors import RecipeError
from mctsr.kernels.node import NONE
from mctsr.parts import Rule
from mctsr.select import pools, scores
from mctsr.select.anywhere import Anywhere
from mctsr.tree import Sample, State, Tree


def pair(q: float = math.nan, *, n: int, above: int, prior: float = 1.0, raw: float | None = None) -> Tree:
    """Make a root with `above` visits and a child with `n` visits and value `q`."""
    tree = Tree()
    tree.add(NONE, State("root"))
    tree.add(0, State("child"), prior=prior)
    if raw is not None:
        tree.judged(1, (Sample(raw, raw),))
    tree.nodes["visits"][:2] = above, n
    tree.nodes["value"][:2] = 0.0, q
    return tree


def of_child(rule: Rule, tree: Tree) -> float:
    return float(rule(tree, np.array([1]))[0])


def near(value: float) -> object:
    return pytest.approx(value, abs=5e-7)


def test_a2_mctsr_released_code_has_the_one_inside_the_logarithm() -> None:
    assert of_child(scores.uct_mctsr_code(1.4, 1e-5), pair(-70 / 3, n=3, above=3)) == near(-22.381646)


def test_a3_mctsr_paper_has_the_one_outside_the_logarithm() -> None:
    assert of_child(scores.uct_mctsr(1.4, 1e-5), pair(-70 / 3, n=3, above=3)) == near(-22.162398)


def test_a5_mc_nest() -> None:
    assert of_child(scores.uct_mc_nest(1.0), pair(10, n=1, above=3)) == near(11.177410)


def test_mc_nest_takes_the_root_as_long_as_it_is_a_candidate() -> None:
    assert scores.uct_mc_nest()(pair(10, n=1, above=3), np.array([0, 1])).argmax() == 0


def test_mc_nest_adds_a_uniform_strategy_over_the_roots_children() -> None:
    tree = pair(10, n=1, above=3)
    tree.add(0, State("sibling"))
    tree.add(1, State("grandchild"))
    assert pools.nash(tree, np.arange(4)).tolist() == [0.0, 0.5, 0.5, 0.0]


def test_a9_i_mcts_visited() -> None:
    # q = 1.5 in all over n = 2 visits
    assert of_child(scores.i_mcts(), pair(0.75, n=2, above=5, raw=0.8)) == near(2.548668)


def test_a10_i_mcts_unvisited() -> None:
    assert of_child(scores.i_mcts(), pair(n=0, above=5, raw=0.8)) == near(6.473514)


def test_i_mcts_below_a_parent_without_visits_is_a_number() -> None:
    assert of_child(scores.i_mcts(), pair(n=0, above=0, raw=0.8)) == pytest.approx(0.8, abs=5e-3)


def test_a14_deepsearch_frontier() -> None:
    tree = pair(n=0, above=1)
    tree.nodes["value"][0], tree.nodes["depth"][1] = 0.5, 4
    assert of_child(pools.FrontierDeepSearch(), tree) == near(0.187347)


def test_deepsearch_frontier_adds_the_entropy_of_the_step_where_it_is_known() -> None:
    tree = pair(n=0, above=1)
    without = of_child(pools.FrontierDeepSearch(entropy=0.4), tree)
    tree.own_array("entropy")[1] = 1.5
    assert of_child(pools.FrontierDeepSearch(entropy=0.4), tree) == pytest.approx(without + 0.6)


def omega(mc: float, searched: int, length: float, elsewhere: int) -> Tree:
    """Make a state with one new rollout, id 1, and some that were searched; and another state with its own."""
    tree = Tree()
    for parent in (NONE, 0, NONE):
        tree.add(parent, State(f"node {len(tree)}"))
    tree.nodes["value"][0], tree.nodes["value"][2] = mc, 0.5
    for state, count in ((0, searched), (2, elsewhere)):
        for _ in range(count):
            rollout = tree.add(state, State(f"rollout {len(tree)}"))
            tree.own_array("length")[rollout] = 50
            tree.add(rollout, State(f"state {len(tree)}"))
    tree.own_array("length")[1] = length
    return tree


def test_a15_omega_prm() -> None:
    whole = of_child(pools.OmegaPrm(), omega(0.5, 3, 100, 29))
    worth = of_child(pools.OmegaPrm(c=0.0), omega(0.5, 3, 100, 29))
    assert worth == near(0.692362)
    assert whole - worth == near(0.176777)


@pytest.mark.parametrize("mc", [0.0, 1.0])
def test_omega_prm_leaves_out_states_that_are_always_right_or_wrong(mc: float) -> None:
    assert math.isnan(of_child(pools.OmegaPrm(), omega(mc, 0, 100, 0)))


def test_omega_prm_hands_out_each_rollout_once_and_states_never() -> None:
    tree, selector = omega(0.5, 1, 100, 2), Anywhere(pools.OmegaPrm(), open_below=1, closed_by="number")
    for node in range(len(tree)):
        tree.nodes["flags"][node] = 0
    assert [ask.node for ask in selector.ask(tree, np.random.default_rng(0), 1)] == [1]
    tree.mark(1, +1)
    assert np.isnan(pools.OmegaPrm()(tree, selector.candidates(tree))).all()
    assert list(selector.ask(tree, np.random.default_rng(0), 1)) == []


def test_a16_ts_llm_bonus() -> None:
    tree = pair(0.0, n=2, above=9, prior=0.3)
    assert of_child(scores.puct_alphazero(1.25), tree) == near(0.375153)
    assert of_child(scores.puct_alphazero(10.0), tree) == near(3.000153)


def test_a18_rest_mcts() -> None:
    assert of_child(scores.uct_rest_mcts(0.7), pair(0.5, n=3, above=10)) == near(1.367282)


def test_rest_mcts_gives_an_unvisited_node_its_value_and_one() -> None:
    assert of_child(scores.uct_rest_mcts(), pair(0.4, n=0, above=10)) == 1.4


def test_a22_masprm() -> None:
    assert of_child(scores.uct_masprm(2.0), pair(0.2, n=3, above=10)) == near(1.952174)


def test_a24_rstar_math() -> None:
    assert of_child(scores.uct_rstar_math(2.0), pair(0.6, n=5, above=20)) == near(2.148091)


@pytest.mark.parametrize("rule", [scores.uct_rstar_math(), scores.uct_deepsearch()])
def test_some_papers_give_an_unvisited_node_nothing(rule: Rule) -> None:
    assert of_child(rule, pair(n=0, above=20)) == 0.0


def test_masprm_counts_the_prms_score_as_one_visit() -> None:
    tree = pair(0.5, n=1, above=3, prior=0.25, raw=0.9)
    assert of_child(scores.uct_masprm_inference(2.0), tree) == pytest.approx(
        0.7 + 2 * math.sqrt(math.log(4) / 2)
    )
    assert of_child(scores.puct_masprm_inference(2.0), tree) == pytest.approx(
        0.7 + 2 * 0.25 * math.sqrt(3) / 2
    )


@pytest.mark.parametrize("rule", [scores.uct(), scores.uct_llama_berry(), scores.uct_prior()])
def test_in_the_classic_forms_an_unvisited_node_comes_first(rule: Rule) -> None:
    assert of_child(rule, pair(n=0, above=20)) == math.inf


def test_priors_weigh_the_bonus() -> None:
    for rule in (scores.puct(), scores.puct_alphazero(), scores.uct_prior()):
        low, high = (of_child(rule, pair(0.5, n=2, above=9, prior=p)) for p in (0.1, 0.7))
        assert (high - 0.5) == pytest.approx(7 * (low - 0.5), rel=1e-6)


def test_an_unvisited_node_keeps_the_critics_value_until_it_is_visited() -> None:
    assert of_child(scores.puct(c=0.0, first=0.3), pair(0.8, n=0, above=4)) == 0.8
    assert of_child(scores.puct(c=0.0, first=0.3), pair(n=0, above=4)) == 0.3
    assert of_child(scores.puct_alphazero(init=0.0, base=1e300, first=0.3), pair(n=0, above=4)) == 0.3
    assert of_child(scores.uct_rap(0.0), pair(0.8, n=0, above=4)) == 0.8


def test_masprm_gives_an_unvisited_node_nothing_but_the_bonus() -> None:
    assert of_child(scores.uct_masprm(0.0), pair(0.7, n=0, above=4)) == 0.0


def test_a_node_keeps_its_first_reward_as_the_judgement_before_the_search() -> None:
    tree = pair(0.1, n=1, above=5, raw=0.8)
    tree.judged(1, (Sample(0.1, 0.1),))
    # w = 0.2 / 1.2 of the LLM's 0.8, the rest of the value
    assert of_child(scores.i_mcts(0.0), tree) == pytest.approx((0.2 * 0.8 + 1.0 * 0.1) / 1.2)
    assert of_child(scores.uct_masprm_inference(0.0), tree) == pytest.approx(0.45)


def test_a_first_reward_that_never_came_counts_as_the_value() -> None:
    assert of_child(scores.uct_masprm_inference(0.0), pair(0.6, n=1, above=5)) == pytest.approx(0.6)
    assert of_child(scores.i_mcts(0.0), pair(0.6, n=1, above=5)) == pytest.approx(0.6)
    assert of_child(scores.uct_masprm_inference(0.0), pair(n=0, above=5)) == 0.0


def test_in_i_mcts_a_root_comes_last() -> None:
    assert scores.i_mcts()(pair(0.1, n=1, above=5, raw=0.1), np.array([0, 1])).argmax() == 1


def test_every_score_names_its_source() -> None:
    public = [
        f
        for name, f in vars(scores).items()
        if getattr(f, "__module__", "") == scores.__name__ and name[0] != "_"
    ]
    functions = [f for f in public if not isinstance(f, type)]
    assert len(functions) >= 17
    assert [
        f.__name__ for f in functions if "Source: " not in (f.__doc__ or "") and f is not scores.by_value
    ] == []


CONSTANTS = [
    (function, name)
    for function in vars(scores).values()
    if inspect.isfunction(function)
    and function.__module__ == scores.__name__
    and not function.__name__.startswith("_")
    for name in inspect.signature(function).parameters
]


@pytest.mark.parametrize(("function", "name"), CONSTANTS, ids=lambda one: getattr(one, "__name__", one))
def test_a_constant_that_no_formula_can_take_is_refused_by_name(
    function: Callable[..., Rule], name: str
) -> None:
    unfit = [math.nan] if name == "first" else [math.nan, math.inf, -math.inf, -1.0]
    if name in ("base", "virtual", "eps"):
        unfit.append(0.0)
    for value in unfit:
        with pytest.raises(RecipeError, match=f"^{name} is {value}; it must be a "):
            function(**{name: value})


def test_an_exploration_constant_may_be_off_and_an_unvisited_node_may_come_first_or_last() -> None:
    assert of_child(scores.uct(0.0), pair(0.25, n=2, above=4)) == 0.25
    for first in (math.inf, -math.inf, -1.0):
        assert of_child(scores.puct(first=first), pair(n=0, above=0)) == first
