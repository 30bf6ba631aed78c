"""What would have been answered at every moment, replayed from the record alone."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mctsr.engine
from mctsr import answer as answerers
from mctsr.engine import search
from mctsr.grading import normal_form
from mctsr.kernels.node import NONE
from mctsr.report.replay import FIRST, FRONT, LAST, MAJORITY, VALUE, Moment, replay, way_of
from mctsr.rollout import Event, Folded
from mctsr.runs.build import tree_record
from mctsr.runs.folder import Run
from mctsr.runs.records import FoldedRecord, NodeRecord, RowRecord, TreeRecord
from mctsr.tree import Sample, State, Tree
from tests.golden.test_steps_populations import BEAM, DVTS, PARTICLES, TOT
from tests.golden.test_steps_trees import STORY
from tests.runs import world
from tests.support.sample_run import clips_nodes, node, sample, tree
from tests.support.step_run import step_tree, sum_nodes
from tests.support.step_story import PROBLEM, Story, model, recipe

WAYS = (
    (VALUE, answerers.best_value),
    (FRONT, answerers.best_finalist),
    (LAST, answerers.last),
    (FIRST, answerers.first),
    (MAJORITY, answerers.majority),
)


def grown(nodes: list[NodeRecord], folds: list[FoldedRecord]) -> TreeRecord:
    return {**tree("p", nodes, None), "events": [*folds]}


def fold(born: list[int], changed: list[RowRecord], **more: object) -> FoldedRecord:
    made: dict[str, object] = {
        "event": "folded",
        "ask": 0,
        "born": born,
        "judged": [row[0] for row in changed if row[2] is not None],
        "unscored": [],
        "ended": [],
        "changed": changed,
        "front": [],
        "faults": [],
        "tokens": 10,
    }
    return {**made, **more}  # type: ignore[typeddict-item]


def test_the_best_value_so_far_is_answered_and_a_planted_node_never() -> None:
    moments = replay(tree("clips-1", clips_nodes(), 7), VALUE)
    assert [moment.tokens for moment in moments] == [100 * n for n in range(1, 9)]
    assert [moment.answer for moment in moments] == ["70", "70", "70", "72", "72", "72", "72", "72"]


def test_a_value_that_falls_gives_way_to_the_next_best() -> None:
    nodes = [node(0, None, "4"), node(1, 0, "5")]
    folds = [
        fold([0], [(0, 1, 50.0)]),
        fold([1], [(1, 1, 60.0)]),
        fold([], [(1, 2, 10.0)]),
        fold([], [(1, 3, 50.0)]),
    ]
    assert [moment.answer for moment in replay(grown(nodes, folds), VALUE)] == ["4", "5", "4", "4"]


def test_an_answer_goes_before_a_higher_value_without_one() -> None:
    nodes = [node(0, None, None), node(1, 0, "5")]
    folds = [fold([0], [(0, 1, 90.0)]), fold([1], [(1, 1, 5.0)])]
    assert replay(grown(nodes, folds), VALUE) == [Moment(10, None), Moment(20, "5")]


def test_a_node_with_a_value_from_below_alone_is_not_scored_itself() -> None:
    nodes = [node(0, None, "4"), node(1, 0, "5")]
    folds = [fold([0], [(0, 0, None)]), fold([1], [(0, 1, 90.0), (1, 1, 90.0)], judged=[1])]
    assert [moment.answer for moment in replay(grown(nodes, folds), VALUE)] == ["4", "5"]


def test_the_last_of_the_front_is_answered_and_before_there_is_one_the_first() -> None:
    nodes = [node(0, None, "4"), node(1, 0, "5"), node(2, 1, "6")]
    folds = [fold([0], []), fold([1], [], front=[1]), fold([2], [], front=[2])]
    assert [moment.answer for moment in replay(grown(nodes, folds), LAST)] == ["4", "5", "6"]
    assert [moment.answer for moment in replay(grown(nodes, folds), FIRST)] == ["4", "4", "4"]


def test_equal_answers_vote_together_and_the_first_seen_wins_ties() -> None:
    nodes = [node(0, None, "0.5"), node(1, None, "7"), node(2, None, "7.0"), node(3, None, "1/2")]
    folds = [fold([n], []) for n in range(4)]
    assert [moment.answer for moment in replay(grown(nodes, folds), MAJORITY)] == ["0.5", "0.5", "7", "0.5"]


def test_with_a_front_it_alone_votes() -> None:
    nodes = [node(0, None, "4"), node(1, None, "4"), node(2, None, "5")]
    folds = [fold([0, 1, 2], [], front=[2])]
    assert replay(grown(nodes, folds), MAJORITY)[-1].answer == "5"


def test_a_search_over_steps_has_no_answer_until_a_solution_is_finished() -> None:
    moments = replay(step_tree("sum", sum_nodes(), 3), VALUE)
    assert [moment.answer for moment in moments] == [None, None, None, "14", "14", "14", "14", "14"]


def test_steps_on_the_way_have_no_say_however_good_they_are() -> None:
    nodes = [
        node(0, step=True),
        node(1, 0, step=True),
        node(2, 0, "5", step=True),
        node(3, 1, "7", step=True),
    ]
    folds = [
        fold([0], [], front=[0, 0]),
        fold([1, 2], [(1, 1, 0.9), (2, 1, 0.2)], front=[1, 2]),
        fold([3], [(3, 1, 0.1)], front=[1, 1]),
        fold([], [], front=[3, 1]),
    ]
    record = grown(nodes, folds)
    said = {way: [moment.answer for moment in replay(record, way)] for way, _ in WAYS}
    assert said == {
        VALUE: [None, "5", "5", "5"],
        FRONT: [None, "5", "5", "7"],
        LAST: [None, "5", "5", "7"],
        FIRST: [None, "5", "5", "5"],
        MAJORITY: [None, "5", "5", "7"],
    }


def test_rules_that_cannot_be_replayed_are_replayed_as_majority() -> None:
    said = ("best value", "best of the front", "first (nothing scored)", "last", "first")
    assert [way_of(by) for by in said] == [VALUE, FRONT, VALUE, LAST, FIRST]
    assert way_of("weighted vote") == way_of("somebody's own rule") == MAJORITY


@st.composite
def searches(draw: st.DrawFn) -> tuple[TreeRecord, list[Tree]]:
    """Grow a random tree fold by fold; gives its record and a tree as it stood after each fold."""
    answers = draw(st.lists(st.sampled_from([None, "1", "2", "2.0", "x"]), min_size=1, max_size=8))
    stepwise = draw(st.booleans())
    nodes, folds, stages = [], [], list[Tree]()
    live = Tree()
    for number, answer in enumerate(answers):
        planted = draw(st.integers(0, 4)) == 0
        live.add(NONE, State("some text", answer, step=stepwise), planted=planted)
        kind = {"step": True} if stepwise else {}
        nodes.append(node(number, None, answer, text="some text", planted=planted, **kind))
        judged = draw(st.lists(st.sampled_from(range(number + 1)), max_size=3, unique=True))
        changed: list[RowRecord] = []
        for id in judged:
            value = float(draw(st.integers(0, 3)))
            live.judged(id, (Sample(value, value),))
            live.nodes["value"][id] = value
            changed.append((id, 1, value))
        live.front = draw(st.lists(st.sampled_from(range(number + 1)), max_size=3, unique=True))
        folds.append(fold([number], changed, front=list(live.front)))
        stages.append(copy_of(live))
    return grown(nodes, folds), stages


def copy_of(live: Tree) -> Tree:
    copied = Tree()
    copied.nodes, copied.states, copied.front = live.nodes.copy(), list(live.states), list(live.front)
    return copied


@given(searches())
def test_every_moment_is_what_the_answerers_would_have_said_of_the_tree(
    search: tuple[TreeRecord, list[Tree]],
) -> None:
    record, stages = search
    for way, answerer in WAYS:
        said = [moment.answer for moment in replay(record, way)]
        assert said == [answerer(stage).answer for stage in stages], way


SMALL: dict[str, object] = {"n": 4, "m": 2}
STEP_SEARCHES: list[tuple[str, dict[str, object], Story]] = [
    ("beam", {**SMALL, "answer": "best"}, BEAM),
    ("beam", {**SMALL, "answer": "majority"}, BEAM),
    ("beam", {**SMALL, "max_steps": 2, "answer": "best"}, BEAM),
    ("beam", {**SMALL, "max_steps": 1}, BEAM),
    ("dvts", SMALL, DVTS),
    ("particle-filter", {"n": 4, "weights": "bernoulli"}, PARTICLES),
    ("particle-filter", {"n": 4, "weights": "bernoulli", "answer": "majority"}, PARTICLES),
    ("tot", {"breadth": 2, "children": 2, "votes": 2}, TOT),
    ("puct-prm", {"children": 2, "rollouts": 9}, STORY),
    ("grave-steps", {"children": 2, "rollouts": 9}, STORY),
    ("best-of-n-prm", {"n": 3}, Story({"": ["=3", "=5", "=7"]}, {"=3": 0.4, "=5": 0.9, "=7": 0.1})),
]


@pytest.mark.parametrize(("name", "arguments", "story"), STEP_SEARCHES)
async def test_every_moment_of_a_search_over_steps_is_what_the_answerers_said_then(
    name: str, arguments: dict[str, object], story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees, stages, events = list[Tree](), list[Tree](), list[Event]()

    def made(*, low: float) -> Tree:
        trees.append(Tree(low=low))
        return trees[-1]

    def watch(event: Event) -> None:
        events.append(event)
        if isinstance(event, Folded):
            stages.append(copy_of(trees[0]))

    monkeypatch.setattr(mctsr.engine, "Tree", made)
    what = recipe(name, **arguments)
    outcome = await search(PROBLEM, what, model(story), watch=watch)
    selected = what.answerer(outcome.tree)
    record = tree_record(PROBLEM, name, outcome, events, selected)
    assert len(stages) > 1 or name == "best-of-n-prm"
    for way, answerer in WAYS:
        said = [moment.answer for moment in replay(record, way)]
        assert said == [answerer(stage).answer for stage in stages], way
    if selected.by != "weighted vote":
        assert replay(record, way_of(selected.by))[-1].answer == selected.answer


@pytest.mark.parametrize(
    ("recipe", "arguments"),
    [
        ("mctsr", {"rollouts": 3}),
        ("mctsr-code", {"rollouts": 3}),
        ("best-of-n", {"n": 4}),
        ("self-consistency", {"n": 4}),
        ("self-refine", {}),
        ("zero-shot", {}),
    ],
)
async def test_the_replay_of_a_whole_search_ends_in_its_recorded_answer(
    recipe: str, arguments: dict[str, object], tmp_path: Path
) -> None:
    await world.run(tmp_path / "run", world.planned(tmp_path, 4, recipe=recipe, arguments=arguments))
    run = Run.open(tmp_path / "run")
    for id, result in run.results().items():
        moments = replay(run.tree(id), way_of(result["selected_by"]))
        selected = result["answers"]["selected"]
        assert selected is not None
        assert normal_form(moments[-1].answer or "") == normal_form(selected)
        assert moments[-1].tokens == result["usage"]["prompt_tokens"] + result["usage"]["completion_tokens"]


def test_samples_count_once_however_often_a_node_is_judged() -> None:
    made = node(0, None, "1", samples=[sample(1.0), sample(2.0)])
    folds = [fold([0], [(0, 2, 1.5)], judged=[0, 0]), fold([], [(0, 3, 1.0)])]
    assert [moment.answer for moment in replay(grown([made], folds), MAJORITY)] == ["1", "1"]
