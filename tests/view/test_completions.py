"""What is said of the completions behind a step: how many were right, what they said, and whose majority was right."""

import json

import pytest

from mctsr.runs.records import NodeRecord, SampleRecord
from mctsr.view.completions import Vote, answers_of, vote_of
from mctsr.view.node import NodeView
from tests.support.sample_run import sample
from tests.support.step_run import root, step, step_tree


def completed(value: float, *answers: str | None) -> SampleRecord:
    return sample(value, text=json.dumps(answers))


def made(number: int, parent: int, text: str, only: SampleRecord, **more: object) -> NodeRecord:
    return step(number, parent, text, 1.0, **{"samples": [only], **more})


def nodes() -> list[NodeRecord]:
    """Make a tree whose beginning was completed four times, with 2 in the lead: 0 > 1 > 2, and 3 lost all answers."""
    begin = root()
    begin["samples"], begin["value"], begin["visits"] = [completed(0.5, "3", "2", "2.0", None)], 0.5, 1
    return [
        begin,
        made(1, 0, "a\n\n", completed(0.25, "50%", "2", None, "50%")),
        made(2, 1, "It is 3.", completed(0.0, "3"), depth=2, answer="3"),
        made(3, 0, "b\n\n", completed(0.0, None, None)),
    ]


def reward(number: int) -> str:
    (said,) = NodeView.of(step_tree("p", nodes()), number, None).rewards
    return said


def test_a_step_tells_how_many_completions_were_right_and_what_stood_for_right() -> None:
    assert reward(1).endswith(
        "0.25 (1 of 4 completions count as right; they said 50% x2, 2 x1, no answer x1; "
        "without a known answer right is 2, of most completions of node 0)"
    )


def test_the_end_of_a_solution_is_compared_and_says_so() -> None:
    assert "0 (its answer 3 counts as wrong; without a known answer right is 2, of most" in reward(2)


def test_equal_answers_count_under_their_first_spelling() -> None:
    assert "2 of 4 completions count as right; they said 3 x1, 2 x2, no answer x1" in reward(0)


def test_completions_without_any_answer_have_no_vote_of_their_own() -> None:
    assert vote_of(nodes(), 3) == Vote("2", 0)
    alone = [root(), made(1, 0, "b", completed(0.0, None))]
    assert vote_of(alone, 1) is None
    (said,) = NodeView.of(step_tree("p", alone), 1, None).rewards
    assert said.endswith("0 (0 of 1 completions count as right; they said no answer x1)")


def test_a_share_of_fewer_than_all_names_no_count_that_would_not_be_true() -> None:
    lost = [root(), made(1, 0, "b", completed(2 / 3, "2", "2", "3", "x = ?"))]
    (said,) = NodeView.of(step_tree("p", lost), 1, None).rewards
    assert "(4 completions; they said 2 x2, 3 x1, x = ? x1;" in said


@pytest.mark.parametrize("text", ["", "0.5", "Yes", '{"a": 1}', "[1, 2]", "[unreadable"])
def test_other_judges_have_no_completions(text: str) -> None:
    assert not answers_of(sample(0.5, text=text))
    view = NodeView.of(step_tree("p", [root(), made(1, 0, "a", sample(0.5, text=text))]), 1, None)
    assert (view.vote, view.as_dict()["vote"]) == (None, None)
    assert view.rewards[0].endswith(": 0.5")


def test_json_holds_the_vote() -> None:
    assert NodeView.of(step_tree("p", nodes()), 1, None).as_dict()["vote"] == {"answer": "2", "node": 0}
