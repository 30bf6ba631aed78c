"""Births that are no rewards: a node's first evaluation is shown, and counts for nobody."""

from mctsr.backup import AfterBirth, DecayedSum, Mean, OwnValue
from mctsr.testing.laws import check_backup
from mctsr.tree import Sample, State, Tree


def rewards_below(tree: Tree) -> list[list[float]]:
    """Return what was earned at each node and below it; nothing is finished when it is born."""
    found = [[sample.value for sample in state.samples[1:]] for state in tree.states]
    for node in range(len(tree) - 1, -1, -1):
        above = tree.parent(node)
        if above is not None:
            found[above] += found[node]
    return found


def visits(tree: Tree) -> list[int]:
    return [len(earned) for earned in rewards_below(tree)]


def means(tree: Tree) -> list[float]:
    return [
        sum(earned) / len(earned) if earned else state.samples[0].value if state.samples else float("nan")
        for earned, state in zip(rewards_below(tree), tree.states, strict=True)
    ]


def test_a_mean_of_what_was_earned_after_births() -> None:
    check_backup(AfterBirth(Mean()), means, visits=visits)


def test_a_node_that_is_finished_at_its_birth_is_worth_that_to_all_above() -> None:
    tree, backup = Tree(low=-2.0), AfterBirth(DecayedSum(0.5))
    for parent, done in ((-1, False), (0, False), (1, True)):
        node = tree.add(parent, State("x"))
        if done:
            tree.end(node, "finished")
        tree.judged(node, (Sample(1.0, 1.0),))
        backup(tree, node)
    assert tree.nodes["value"][:3].tolist() == [0.25, 0.5, 1.0]
    assert tree.nodes["visits"][:3].tolist() == [1, 1, 0]


def test_it_is_as_wide_as_what_it_passes_rewards_to() -> None:
    assert AfterBirth(Mean()).wide is False
    assert AfterBirth(OwnValue()).wide is False
    assert AfterBirth(lambda tree, node: None).wide is True
