"""From a tree to one answer: votes counted by hand, ties, and what is said when there is nothing to say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.answer import best_finalist, best_value, finalists, first, last, majority, weighted_vote
from mctsr.backup import OwnValue
from mctsr.tree import Sample, State, Tree

vote = weighted_vote(-100, 100)
Leaf = tuple[str | None, float | None]


def grown(*leaves: Leaf, planted: tuple[int, ...] = (), front: tuple[int, ...] = ()) -> Tree:
    """Make roots of answers and values; a value of None stays unscored."""
    tree = Tree(low=-100)
    for i, (answer, value) in enumerate(leaves):
        tree.add(-1, State(f"text {i}", answer), planted=i in planted)
        if value is None:
            tree.unscored(i, "no score in the reply")
        else:
            tree.judged(i, (Sample(value, value),))
            OwnValue()(tree, i)
    tree.front = list(front)
    return tree


# Votes


def test_the_most_frequent_answer_wins_in_whatever_way_it_is_written() -> None:
    tree = grown(("7", 0), ("0.5", 0), ("\\frac{1}{2}", 0), ("1/2", 0), ("7", 0))
    assert majority(tree) == ("0.5", 1, "majority")


def test_a_tie_goes_to_the_answer_seen_first_and_not_to_the_one_that_got_there_first() -> None:
    assert majority(grown(("5", 0), ("6", 0), ("6", 0), ("5", 0))).node == 0
    assert majority(grown(("6", 0), ("5", 0), ("5", 0), ("6", 0))).answer == "6"


def test_no_answer_has_no_vote_however_many_there_are() -> None:
    tree = grown((None, 90), (None, 90), (None, 90), ("3", -90))
    assert majority(tree) == ("3", 3, "majority")
    assert vote(tree) == ("3", 3, "weighted vote")
    assert (
        vote(grown((None, 90)))
        == majority(grown((None, 90)))._replace(by="weighted vote")
        == (None, None, "weighted vote")
    )


def test_what_is_planted_never_votes_and_is_never_chosen() -> None:
    tree = grown(("1", 99), ("1", 99), ("2", -99), planted=(0, 1))
    for front in ([], [0, 1, 2], [2, 1, 0], [0, 1]):
        tree.front = front
        assert not {0, 1} & set(finalists(tree))
        for answerer in (first, last, best_value, majority, vote):
            assert answerer(tree).node not in (0, 1)


def test_weights_are_values_on_the_judges_scale_so_that_low_scores_do_not_count_against_an_answer() -> None:
    # (s + 100) / 200: the answer 1 has 0.3, the answer 2 has 0.2 + 0.2. Summed as they are, 2 would lose.
    assert vote(grown(("1", -40), ("2", -60), ("2", -60))) == ("2", 1, "weighted vote")
    # 0.9 against 0.5 + 0.35
    assert vote(grown(("1", 80), ("2", 0), ("2", -30))).answer == "1"
    # 0.9 against 0.5 + 0.45
    assert vote(grown(("1", 80), ("2", 0), ("2", -10))).answer == "2"


def test_the_lowest_score_weighs_nothing_and_a_tie_goes_to_the_first_seen() -> None:
    assert vote(grown(("1", -100), ("1", -100), ("2", -99))).answer == "2"
    assert vote(grown(("1", -100), ("2", -100))).node == 0
    assert weighted_vote(0, 10)(grown(("1", 4), ("2", 2), ("2", 2))).answer == "1"


def test_unscored_answers_weigh_nothing() -> None:
    assert vote(grown(("1", None), ("1", None), ("2", -90))).answer == "2"


@given(st.lists(st.tuples(st.sampled_from(["1", "2", "3", None]), st.integers(-100, 100)), max_size=9))
def test_votes_are_those_counted_by_hand(leaves: list[tuple[str | None, int]]) -> None:
    counts, weights = dict[str, int](), dict[str, int]()
    for answer, value in leaves:
        if answer:
            counts[answer] = counts.get(answer, 0) + 1
            weights[answer] = weights.get(answer, 0) + value + 100
    tree = grown(*[(answer, float(value)) for answer, value in leaves])
    assert majority(tree).answer == max(counts, key=counts.__getitem__, default=None)
    said = vote(tree).answer
    if said is None:
        assert not weights
    else:
        assert weights[said] == max(weights.values())


# Who votes


def test_the_front_votes_where_a_recipe_keeps_one() -> None:
    tree = grown(("1", 0), ("1", 0), ("2", 0), front=(2,))
    assert (finalists(tree), majority(tree).answer) == ([2], "2")


def test_without_a_front_the_scored_vote_and_without_scores_everybody() -> None:
    assert finalists(grown(("1", None), ("2", 5), ("3", 5))) == [1, 2]
    assert finalists(grown(("1", None), ("2", None))) == [0, 1]
    assert finalists(grown(("1", None), ("2", None), planted=(0,))) == [1]


# One node


def test_the_best_value_wins_and_the_first_created_among_equals() -> None:
    assert best_value(grown(("1", 5), ("2", 7), ("3", 7))) == ("2", 1, "best value")
    assert best_value(grown(("1", None), ("2", -99))).node == 1


def test_a_text_without_an_answer_is_passed_over_while_a_scored_one_has_it() -> None:
    assert best_value(grown((None, 95), ("2", -95), (None, 90))) == ("2", 1, "best value")
    assert best_value(grown((None, 10), (None, 95))) == (None, 1, "best value")


@pytest.mark.parametrize("answerer", [best_value, vote])
def test_where_nothing_is_scored_the_first_answer_is_given_and_this_is_said(answerer: object) -> None:
    tree = grown(("9", None), ("1", None), ("2", None), planted=(0,))
    assert answerer(tree) == ("1", 1, "first (nothing scored)")  # type: ignore[operator]


def test_the_last_of_the_front_counts_or_else_the_first_answer() -> None:
    leaves: tuple[Leaf, ...] = (("1", 0), ("2", 0), ("3", 0))
    assert last(grown(*leaves, front=(0, 2, 1))) == ("2", 1, "last")
    assert last(grown(*leaves, front=(0, 2), planted=(2,))) == ("1", 0, "last")
    assert last(grown(*leaves)) == ("1", 0, "first")
    assert last(grown(*leaves, front=(0,), planted=(0,))) == ("2", 1, "first")


def test_the_first_answer_is_the_first_the_model_gave_also_when_it_says_nothing() -> None:
    assert first(grown((None, 5), ("2", 5))) == (None, 0, "first")
    assert first(grown(("1", 5), planted=(0,))) == (None, None, "none")


# Trees of steps


def stepped(*nodes: tuple[int, str | None, float | None], front: tuple[int, ...] = ()) -> Tree:
    """Make steps of parents, answers and values below an empty root, which is node 0."""
    tree = Tree()
    tree.add(-1, State("", step=True))
    for i, (parent, answer, value) in enumerate(nodes, 1):
        tree.add(parent, State(f"step {i}", answer, step=True))
        if value is not None:
            tree.judged(i, (Sample(value, value),))
            OwnValue()(tree, i)
    tree.front = list(front)
    return tree


RULES = (first, last, best_value, best_finalist, majority, weighted_vote(0, 1))


def test_steps_on_the_way_never_speak_however_good_they_are() -> None:
    tree = stepped((0, None, 0.9), (1, None, 0.8), (1, "5", 0.1))
    for front in ((), (1, 2), (2,), (0,), (1, 3), (3, 2)):
        tree.front = list(front)
        assert {answerer(tree).node for answerer in RULES} == {3}
        assert finalists(tree) == [3]


def test_a_tree_in_which_nothing_was_finished_has_no_answer() -> None:
    for tree in (stepped(), stepped((0, None, 0.9), (1, None, 0.8), front=(1, 2))):
        for answerer in RULES:
            assert answerer(tree)[:2] == (None, None)
        assert finalists(tree) == []


def test_the_first_of_steps_is_the_first_solution_that_was_finished() -> None:
    assert first(stepped((0, None, 0.9), (0, "7", 0.1), (1, "5", 0.8))) == ("7", 2, "first")


def test_a_front_without_a_solution_gives_its_votes_to_those_finished_earlier() -> None:
    tree = stepped((0, None, 0.9), (0, "7", 0.1), (0, "5", 0.8), front=(1, 1))
    assert finalists(tree) == [2, 3]
    assert best_finalist(tree) == ("5", 3, "best of the front")
    tree.front = [1, 2]
    assert finalists(tree) == [2]
    assert best_finalist(tree) == ("7", 2, "best of the front")
    assert best_value(tree).node == 3


def test_the_best_finalist_without_a_front_is_the_best_value() -> None:
    tree = grown(("1", 5), ("2", 7), (None, 9))
    assert best_finalist(tree) == best_value(tree) == ("2", 1, "best value")


def test_who_votes_can_be_said() -> None:
    tree = grown(("1", 90), ("2", 10), ("2", 20))
    assert weighted_vote(-100, 100, lambda tree: [0])(tree).answer == "1"
    assert weighted_vote(-100, 100, lambda tree: [])(tree) == ("1", 0, "first (nothing scored)")
