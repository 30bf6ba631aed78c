"""What judges of steps share: aggregates, the steps of a path, labels as next tokens."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import RecipeError
from mctsr.judge.aggregate import AGGREGATES, last, mean, minimum, named_aggregate, product
from mctsr.judge.labels import Labels
from mctsr.judge.steps import numbered, settled, steps_of, verdict, wanted
from mctsr.lm.base import Token
from mctsr.parts import Unscored, Verdict
from tests.support.judging import answered, node, path, token

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=30)
SIGNS = Labels("+", "-")
WORDS = Labels("Yes", "No")


def test_aggregates_are_those_of_the_papers() -> None:
    scores = [0.5, 0.25, 1.0]
    assert [f(scores) for f in (last, minimum, product, mean)] == [1.0, 0.25, 0.125, pytest.approx(1.75 / 3)]


@given(SCORES)
def test_aggregates_stay_probabilities(scores: list[float]) -> None:
    for name in AGGREGATES:
        assert 0 <= named_aggregate(name)(scores) <= 1
    assert product(scores) <= minimum(scores) <= mean(scores) + 1e-12


def test_an_unknown_aggregate_is_named_with_those_there_are() -> None:
    with pytest.raises(RecipeError, match="'median' is unknown; choose one of last, min, product, mean"):
        named_aggregate("median")


def test_the_nodes_of_a_step_tree_are_the_steps_and_blank_ones_are_none() -> None:
    found = steps_of(path(node("a\n\n", 0.5), "\n\n", "b"))
    assert [(step.text, step.score) for step in found] == [("a\n\n", 0.5), ("b", None)]


def test_a_whole_answer_is_cut_after_blank_lines() -> None:
    assert [s.text for s in steps_of(answered("\n\na\nb\n \n\nc\n\nd"))] == ["\n\na\nb\n \n\n", "c\n\n", "d"]


@given(st.text(alphabet="ab \n", max_size=60))
def test_no_visible_character_of_an_answer_is_lost(text: str) -> None:
    joined = "".join(step.text for step in steps_of(answered(text)))
    assert joined.split() == text.split()


def test_what_was_judged_or_is_empty_needs_no_call() -> None:
    assert settled(path("a", " \n")) == Unscored("empty step")
    assert settled(path("a", node("b", 0.25))) == Verdict(node("b", 0.25).samples)
    assert settled(path(node("a", 0.25), "b")) is None


def test_only_the_last_step_is_wanted_when_only_the_last_score_counts() -> None:
    steps = steps_of(path("a", "b", "c"))
    assert (list(wanted(steps, last)), list(wanted(steps, minimum))) == ([2], [0, 1, 2])


@pytest.mark.parametrize("odd", [math.nan, math.inf, -0.1, 1.1])
def test_what_is_no_probability_is_no_score(odd: float) -> None:
    assert verdict([0.5, odd], last) == Unscored(f"no probability: the score is {odd}")
    assert isinstance(verdict([odd, 0.5], last), Unscored)


def test_a_step_is_numbered_once() -> None:
    assert [numbered(2, "x = 1\n"), numbered(2, "Step 2: x")] == ["Step 2: x = 1", "Step 2: x"]


# Labels


def test_the_share_is_taken_among_the_two_labels() -> None:
    found = SIGNS.read([token({"+": 0.6, "-": 0.2, "x": 0.2})])
    assert (found.share, found.mass) == pytest.approx((0.75, 0.8))
    assert found.reason == ""


def test_spellings_of_a_label_are_added_up() -> None:
    found = WORDS.read([token({"Yes": 0.3, " yes": 0.2, "▁YES": 0.1, "{No": 0.2})])
    assert found.share == pytest.approx(0.75)


def test_the_sampled_token_counts_when_it_is_not_among_the_alternatives() -> None:
    found = SIGNS.read([Token("-", math.log(0.5), None, (("+", math.log(0.25)),))])
    assert found.share == pytest.approx(1 / 3)


def test_a_label_that_was_not_reported_is_impossible() -> None:
    assert SIGNS.read([token({"+": 0.9, "x": 0.1})]).share == 1.0


def test_brackets_before_the_label_are_passed_over() -> None:
    found = WORDS.read([token({"{": 1.0}), token({"No": 0.75, "Yes": 0.25})])
    assert found.share == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        ([], "no log-probabilities in the reply"),
        ([token({" ": 1.0})], "white space where 'Yes' or 'No' was to be; each must be one token"),
        ([token({"The": 0.9, "Yes": 0.1})], r"0.1 of the next token is 'Yes' or 'No', most likely is 'the'"),
        ([Token("Yes", math.nan)], "0 of the next token is"),
    ],
)
def test_why_nothing_can_be_read_is_said(tokens: list[Token], reason: str) -> None:
    assert reason in WORDS.read(tokens).reason


def test_white_space_that_is_likeliest_by_a_little_hides_no_label() -> None:
    assert WORDS.read([token({" ": 0.4, "Yes": 0.36, "No": 0.24})]).share == pytest.approx(0.6)
    assert WORDS.read([token({"\n": 0.6, "Yes": 0.3, "No": 0.1})]).reason.startswith("no label")


def test_a_label_of_several_tokens_is_recognised() -> None:
    found = Labels("correct", "incorrect").read([token({"in": 0.9, "correct": 0.1})])
    assert found.reason == "no label in the reply: 'incorrect' is several tokens to this model"


@pytest.mark.parametrize(("good", "bad"), [("", "-"), ("Yes", " yes"), ("{}", "No")])
def test_labels_must_be_told_apart(good: str, bad: str) -> None:
    with pytest.raises(RecipeError, match="must differ"):
        Labels(good, bad)


@given(st.floats(-50, 5), st.floats(-50, 5))
def test_a_share_is_a_probability_whatever_the_server_says(good: float, bad: float) -> None:
    found = Labels("+", "-", least=0.0).read([Token("+", good, None, (("+", good), ("-", bad)))])
    assert 0 <= found.share <= 1
    assert 0 <= found.mass <= 1
