"""Mean returns: the published vector, what twins share, and what equals the targets of the export."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.backup import MeanReturn
from mctsr.errors import RecipeError
from mctsr.export.targets import agent_prm_code_labels, agent_prm_labels
from mctsr.kernels.node import NONE
from mctsr.tree import Sample, State, Tree

Episode = tuple[str, float]


def told(backup: MeanReturn, episodes: Sequence[Episode]) -> tuple[Tree, list[list[int]]]:
    """Return a tree in which each episode has nodes of its own below the root, a letter each, and these nodes."""
    tree = Tree(low=-1.0)
    tree.add(NONE, State("", step=True))
    lines = []
    for letters, score in episodes:
        above, line = 0, []
        for letter in letters:
            above = tree.add(above, State(letter, step=True))
            line.append(above)
            if len(line) == len(letters):
                tree.end(above, "finished")
                tree.judged(above, (Sample(score, score),))
            else:
                tree.judged(above, (Sample(0.0, 0.0),))
            backup(tree, above)
        lines.append(line)
    return tree, lines


@pytest.mark.parametrize(
    ("from_start", "labels"),
    [(True, [1, 0.975, 0.95125, 0.928687]), (False, [0.928687, 0.95125, 0.975, 1])],
)
def test_a23_labels_of_a_right_solution_of_four_steps(from_start: bool, labels: list[float]) -> None:
    tree, ((*line,),) = told(MeanReturn(0.95, from_start), [("abcd", 1.0)])
    assert (1 + tree.nodes["value"][line]) / 2 == pytest.approx(labels, abs=1e-6)
    assert tree.nodes["visits"][[0, *line]].tolist() == [1] * 5


@given(
    st.lists(
        st.tuples(st.text("ab", min_size=1, max_size=4), st.sampled_from([-1.0, 0.5, 1.0])),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
)
def test_values_are_the_targets_of_the_export(episodes: list[Episode], from_start: bool) -> None:
    tree, lines = told(MeanReturn(0.95, from_start), episodes)
    texts = [letters[: t + 1] for letters, _ in episodes for t in range(len(letters))]
    numbers = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    keys = np.array([numbers[text] for text in texts], dtype=np.int64)
    lengths = np.array([len(letters) for letters, _ in episodes], dtype=np.int64)
    scores = np.array([(score + 1) / 2 for _, score in episodes])
    wanted = (agent_prm_code_labels if from_start else agent_prm_labels)(keys, lengths, scores)
    nodes = [node for line in lines for node in line]
    assert (1 + tree.nodes["value"][nodes]) / 2 == pytest.approx(wanted)
    assert tree.nodes["visits"][nodes].tolist() == [texts.count(text) for text in texts]
    assert tree.value(0) == pytest.approx(np.mean([score for _, score in episodes]))


def test_an_unfinished_solution_earns_nothing_and_shows_its_own_value() -> None:
    tree, backup = Tree(low=-1.0), MeanReturn()
    tree.add(NONE, State("", step=True))
    tree.add(0, State("a", step=True))
    tree.judged(1, (Sample(0.0, 0.0),))
    backup(tree, 1)
    assert tree.nodes["value"][1] == 0.0
    assert tree.nodes["visits"][:2].tolist() == [0, 0]


@pytest.mark.parametrize("gamma", [0.0, -1.0, 1.5])
def test_a_discount_out_of_range_is_refused(gamma: float) -> None:
    with pytest.raises(RecipeError, match=f"gamma is {gamma}; it must be above 0"):
        MeanReturn(gamma)
