"""What is read from recorded trees: verdicts, remarks, the history of a node, and which problem is meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import RunError
from mctsr.judge import lookahead
from mctsr.runs.records import NodeRecord
from mctsr.runs.verdict import word_of
from mctsr.view import steps
from mctsr.view.find import find_problem
from mctsr.view.node import Moment, NodeView
from mctsr.view.problems import problem_views
from mctsr.view.steps import on_the_way, solution
from mctsr.view.tree import TreeView, path_to
from mctsr.view.words import counted, ending, short_model
from tests.support.sample_run import IDS, clips_nodes, grade, node, result, sample, tree
from tests.support.step_run import CODE, LATEX, root, step, step_tree, sum_nodes

CLIPS = tree(IDS[0], clips_nodes(), 7)
GRADE = grade(IDS[0], "72", {"70": False, "72": True, "x = 72": None})


@pytest.mark.parametrize(
    ("answer", "word"),
    [("72", "right"), ("70", "wrong"), ("x = 72", "ungradable"), (None, "no answer"), ("41", "ungraded")],
)
def test_a_graded_answer_has_one_of_five_names(answer: str | None, word: str) -> None:
    assert word_of(answer, GRADE) == word


@pytest.mark.parametrize("answer", ["72", None])
def test_without_a_grade_everything_is_ungraded(answer: str | None) -> None:
    assert word_of(answer, None) == "ungraded"


def test_a_tree_view_marks_the_path_to_the_selected_answer() -> None:
    lines = TreeView.of(CLIPS, GRADE).lines
    assert [line.node["id"] for line in lines if line.on_path] == [0, 3, 6, 7]
    assert [line.node["id"] for line in lines if line.selected] == [7]


def test_a_tree_view_without_a_selected_answer_marks_no_path() -> None:
    view = TreeView.of(tree("a", clips_nodes(), None), None)
    assert not any(line.on_path or line.selected for line in view.lines)
    assert path_to(clips_nodes(), None) == []


def test_a_line_tells_every_reason_once_with_its_count() -> None:
    lines = {line.node["id"]: line for line in TreeView.of(CLIPS, GRADE).lines}
    assert lines[2].remarks == ["unscored: no score in the reply: 3 tries (x2)"]
    assert lines[4].remarks == ["unscored: truncated score: 3 tries"]
    assert lines[6].remarks == ["ended: context overflow: 900 > 512"]
    assert lines[0].remarks == []


def test_a_line_tells_flags_rewards_and_verdict() -> None:
    lines = {line.node["id"]: line for line in TreeView.of(CLIPS, GRADE).lines}
    assert [lines[i].flags for i in (1, 2, 4, 7)] == [
        ["planted"],
        ["same text as 0"],
        ["truncated"],
        ["selected"],
    ]
    assert lines[0].rewards == [60.0, -10.5]
    assert [lines[i].verdict for i in range(8)] == [
        *("wrong", "no answer", "wrong", "right", "no answer", "ungradable", "right", "right")
    ]


def test_a_tree_view_tells_which_drafts_are_missing() -> None:
    assert TreeView.of(CLIPS, None).faults == [(4, "server error: HTTP 500")]


def judged(number: int, value: float, answer: str | None, **more: object) -> NodeRecord:
    return node(number, 0, answer, samples=[sample(value)], value=value, visits=1, **more)


def test_a_tree_view_tells_which_better_nodes_were_passed_over_for_want_of_an_answer() -> None:
    nodes = [
        node(0, None, "1"),
        judged(1, 40, "2"),
        judged(2, 95, None),
        judged(3, 99, None, planted=True),
        judged(4, 30, None),
    ]
    view = TreeView.of(tree("a", nodes, 1), None)
    assert view.choice("best value") == (
        "node 1, best value among nodes with an answer; node 2 with Q 95 has none"
    )
    assert view.choice("majority") == "node 1, majority"
    more = TreeView.of(tree("a", [*nodes, judged(5, 97, None)], 1), None)
    assert more.choice("best value").endswith("; node 5 with Q 97 and 1 other have none")


def test_where_nothing_better_was_passed_over_nothing_is_said_of_it() -> None:
    assert TreeView.of(CLIPS, None).choice("best value") == "node 7, best value"
    assert TreeView.of(tree("a", clips_nodes(), None), None).choice("none") == "none"
    silent = [node(0, samples=[sample(1)], value=1.0), judged(1, 9, None)]
    assert TreeView.of(tree("a", silent, 0), None).choice("best value") == "node 0, best value"


def test_a_node_view_tells_who_chose_it_and_how_its_numbers_changed() -> None:
    view = NodeView.of(CLIPS, 3, GRADE)
    assert (view.children, view.chosen_by, view.moments) == ([5, 6], [5, 6], [Moment(3, 1, 50.0)])
    assert (view.verdict, view.selected, view.flags) == ("right", False, [])
    assert view.as_dict()["moments"] == [{"ask": 3, "visits": 1, "value": 50.0}]


def test_a_node_view_tells_which_asks_brought_samples_reasons_and_the_end() -> None:
    views = {number: NodeView.of(CLIPS, number, None) for number in (0, 2, 6)}
    found = {number: (view.judged_by, view.unscored_by, view.ended_by) for number, view in views.items()}
    assert found == {0: ([0, 0], [], None), 2: ([], [2, 2], None), 6: ([6], [], 6)}
    assert views[6].as_dict()["ended_by"] == 6


def test_a_node_view_says_in_words_where_it_stands_and_what_became_of_it() -> None:
    root, leaf = NodeView.of(CLIPS, 0, None), NodeView.of(CLIPS, 6, None)
    assert root.place == "a root · depth 0 · made in the opening · children: nodes 2, 3"
    assert leaf.place == "below node 3 · depth 2 · made in ask 6 · child: node 7"
    assert leaf.fate == "chosen in ask 7 · ended in ask 6: context overflow: 900 > 512"
    assert NodeView.of(CLIPS, 7, None).fate == "never chosen"


@pytest.mark.parametrize(
    ("value", "raw", "words"),
    [
        (50, 50, "50"),
        (50, 100, "50 (full marks are reduced: said 100, counts 50)"),
        (40, 80, "40 (said 80, counts 40)"),
    ],
)
def test_a_reward_says_what_the_judge_said_when_that_is_not_what_counts(
    value: float, raw: float, words: str
) -> None:
    made = node(0, None, "1", samples=[sample(value, raw)], value=value, visits=1)
    assert NodeView.of(tree("a", [made], 0), 0, None).rewards == [f"reward 1, the opening: {words}"]


@pytest.mark.parametrize("number", [-1, 8])
def test_a_node_that_is_not_there_is_an_error(number: int) -> None:
    with pytest.raises(IndexError):
        NodeView.of(CLIPS, number, None)


def test_a_deep_tree_is_viewed_without_recursion() -> None:
    deep = [node(i, i - 1 if i else None, str(i), depth=i, samples=[sample(1.0)]) for i in range(5000)]
    lines = TreeView.of(tree("deep", deep, 4999), None).lines
    assert len(lines) == 5000
    assert all(line.on_path for line in lines)


def test_problems_are_listed_in_the_order_of_the_run_without_the_unfinished() -> None:
    results = {IDS[1]: result(IDS[1], None), IDS[0]: result(IDS[0], CLIPS)}
    first, second = problem_views(IDS, results, {IDS[0]: GRADE})
    assert (first.number, first.failed, first.gold) == (1, False, "72")
    assert first.verdicts == {"first": "wrong", "selected": "right", "majority": "wrong"}
    assert (second.number, second.failed, second.gold) == (2, True, None)


def test_a_problem_is_found_by_id_beginning_or_number() -> None:
    ids = ["gsm-1", "gsm-10", "math-2"]
    assert find_problem(ids, "gsm-1") == "gsm-1"
    assert find_problem(ids, "m") == "math-2"
    assert find_problem(ids, "#2") == "gsm-10"
    assert find_problem(ids, "3") == "math-2"


def test_a_number_that_is_an_id_means_the_id() -> None:
    assert find_problem(["7", "3", "1"], "3") == "3"
    assert find_problem(["7", "3", "1"], "#3") == "1"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gsm", "fits 2 problems"),
        ("#0", "no problem"),
        ("#4", "no problem"),
        ("x", "'#1' to '#3'"),
        ("#²", "no problem"),
    ],
)
def test_a_problem_that_is_not_clear_is_an_error_that_says_what_is_allowed(name: str, said: str) -> None:
    with pytest.raises(RunError, match=said):
        find_problem(["gsm-1", "gsm-10", "math-2"], name)


@given(st.lists(st.text(min_size=1), min_size=1, unique=True), st.data())
def test_every_id_finds_its_own_problem(ids: list[str], data: st.DataObject) -> None:
    id = data.draw(st.sampled_from(ids))
    assert find_problem(ids, id) == id


@pytest.mark.parametrize(
    ("n", "words"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes"), (1234, "1,234 nodes")]
)
def test_a_count_goes_with_its_noun(n: int, words: str) -> None:
    assert counted(n, "node") == words
    assert counted(1, "problem is", "problems are") == "1 problem is"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("/srv/models/SmolLM2.Q4_1.gguf", "SmolLM2.Q4_1.gguf"),
        ("models/tiny.GGUF", "tiny.GGUF"),
        ("C:\\models\\tiny.gguf", "tiny.gguf"),
        ("/models/Qwen2.5-7B/", "Qwen2.5-7B"),
        ("./Qwen2.5-7B", "Qwen2.5-7B"),
        ("Qwen/Qwen2.5-7B", "Qwen/Qwen2.5-7B"),
        ("gpt-4o", "gpt-4o"),
        ("", ""),
    ],
)
def test_a_model_that_is_a_file_goes_by_its_last_part(name: str, short: str) -> None:
    assert short_model(name) == short


def test_ends_are_said_in_words_and_those_of_own_stoppers_as_they_are() -> None:
    assert ending("rollouts") == "all rollouts done"
    assert ending("all finished") == "all solutions are finished"
    assert ending("my own reason") == "my own reason"


def test_a_node_tells_how_its_answer_was_graded() -> None:
    wrong = next(each["id"] for each in CLIPS["nodes"] if each["answer"] == "70")
    said = GRADE["verdicts"]["70"]
    assert NodeView.of(CLIPS, wrong, GRADE).why == f"{said['method']}, {said['reason']} (gold 72)"
    assert NodeView.of(CLIPS, wrong, None).why == ""
    silent = tree("p", [node(0, answer=None)], None)
    assert NodeView.of(silent, 0, GRADE).why == ""


FIRST_STEP = "Multiply first: 3*4 = 12.\n\n"


def test_a_solution_is_all_steps_down_to_its_last_and_a_whole_answer_is_its_own() -> None:
    assert solution(sum_nodes(), 3) == FIRST_STEP + CODE + LATEX
    assert solution(sum_nodes(), 0) == ""
    assert solution(clips_nodes(), 7) == clips_nodes()[7]["text"]


def test_a_step_below_a_whole_answer_continues_it_alone() -> None:
    nodes = [node(0, text="not this"), node(1, 0, text="begun "), step(2, 1, "ended", 0.5)]
    assert solution(nodes, 2) == "begun ended"


def test_of_steps_on_the_way_no_answer_is_expected() -> None:
    assert [i for i, each in enumerate(sum_nodes()) if on_the_way(each)] == [0, 1, 2, 5, 7]
    assert not on_the_way(step(1, 0, "cut", 0.5, ended="max steps"))
    assert not on_the_way(node(0, answer=None))


def test_a_tree_view_of_steps_tells_the_whole_solution_and_passes_over_no_step() -> None:
    nodes = [root(), step(1, 0, "a\n\n", 0.9), step(2, 1, "b", 0.2, answer="4", ended="finished")]
    view = TreeView.of(step_tree("sum", nodes, 2), None)
    assert (view.stepwise, view.unfinished, view.solution) == (True, False, "a\n\nb")
    assert view.choice("best value") == "node 2, best value"
    assert TreeView.of(CLIPS, None).solution == ""


def test_a_tree_of_steps_in_which_nothing_was_finished_says_so() -> None:
    nodes = [root(), step(1, 0, "a", 0.9, ended="max steps")]
    view = TreeView.of(step_tree("sum", nodes), None)
    assert (view.unfinished, view.solution) == (True, "")
    assert view.choice("first (nothing scored)") == "no solution was finished with an answer"


def test_a_step_is_shown_alone_and_in_its_solution() -> None:
    record = step_tree("sum", [*sum_nodes()[:2], step(2, 1, "Done.\n\n", 0.5)], None)
    record["nodes"][1]["work"] = {"times": "2"}
    begin, first, second = (NodeView.of(record, number, None) for number in range(3))
    assert (begin.texts, begin.place.split(" · ")[0]) == ([], "the beginning, before any step")
    assert first.texts == [("step", FIRST_STEP.rstrip())]
    assert "said by 2 drafts" in first.place
    assert second.texts == [("step", "Done."), ("solution so far", FIRST_STEP + "Done.")]
    finished = NodeView.of(step_tree("sum", sum_nodes(), 3), 3, None)
    assert finished.texts[1] == ("solution in full", (FIRST_STEP + CODE + LATEX).rstrip())


def test_a_steps_own_score_is_told_apart_from_what_counts() -> None:
    made = step(1, 0, "a", 0.25, samples=[sample(0.25, 0.5)])
    # The order of a step's samples is told by its folds.
    assert (
        NodeView.of(step_tree("p", [root(), made]), 1, None)
        .rewards[0]
        .endswith("0.25 (the step itself 0.5, with the steps before it 0.25)")
    )


def test_a_step_that_was_judged_by_the_steps_after_it_says_so() -> None:
    assert steps.AHEAD == lookahead.AHEAD
    for own, said in ((0.1, "0.58 (the step itself 0.1,"), (0.58, "0.58 (the step itself 0.58,")):
        made = step(1, 0, "a", 0.58, samples=[sample(0.58, own, f"{lookahead.AHEAD}\n0.58: b")])
        (reward,) = NodeView.of(step_tree("p", [root(), made]), 1, None).rewards
        assert reward.endswith(f"{said} the best of what lies ahead 0.58)")
