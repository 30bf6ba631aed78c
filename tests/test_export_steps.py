"""Steps with labels load with the real datasets package, mean what their card says, and refuse what has no steps."""

import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import RunError, UsageError
from mctsr.export import judges
from mctsr.export.labels import Labels
from mctsr.export.math_shepherd import TAG
from mctsr.export.scale import judge_scale, read_scale, scale_of
from mctsr.export.steps import is_of_steps, prefixes
from mctsr.export.write import FORMATS, STEP_FORMATS, Written, write
from mctsr.judge.aggregate import AGGREGATES
from mctsr.lm.base import Completion, Place, Request, Usage
from mctsr.lm.scripted import Scripted
from mctsr.recipes.judges import OF_PREFIXES, OF_SCORES
from mctsr.report.curve import follow
from mctsr.runs.folder import Run
from mctsr.runs.records import NodeRecord
from tests.runs import world
from tests.support.sample_run import clips_nodes, make_run, make_trees, node, sample, tree
from tests.support.step_run import CODE, LATEX, make_step_run, root, step, step_tree, sum_nodes

Rows = list[dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.open(make_step_run(tmp_path / "run"))


def load(path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Rows:
    """Read a file as a user of datasets would, without a network."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(cache / "home"))
    from datasets import disable_progress_bars, load_dataset

    disable_progress_bars()
    loaded = load_dataset("json", data_files=str(path), split="train", cache_dir=str(cache / "data"))
    return [dict(row) for row in loaded]


def rows(run: Run, form: str, labels: Labels | None = None) -> Rows:
    out = BytesIO()
    write(run, form, out, labels=labels)
    return [json.loads(line) for line in out.getvalue().decode().splitlines()]


def card(written: Written) -> str:
    assert written.card is not None
    return written.card.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["hard", "soft"])
@pytest.mark.parametrize("form", [*FORMATS, *STEP_FORMATS])
def test_datasets_reads_back_what_was_written(
    form: str, kind: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = Labels(kind) if form in STEP_FORMATS else None
    written = write(run, form, labels=labels)
    assert written.path is not None
    read = load(written.path, tmp_path, monkeypatch)
    assert len(read) == written.rows > 0
    assert read == [json.loads(line) for line in written.path.read_bytes().split(b"\n")[:-1]]


def test_a_stepwise_row_has_as_many_labels_as_steps_and_no_separators(run: Run) -> None:
    first, second, third = rows(run, "stepwise")
    assert first == {
        "prompt": "2+3*4?",
        "completions": ["Multiply first: 3*4 = 12.", CODE.rstrip(), LATEX],
        "labels": [True, True, True],
        "scores": [0.9, 0.75, 1.0],
        "visits": [3, 2, 1],
        "problem_id": "sum",
        "node_id": 3,
        "answer": "14",
    }
    assert (second["labels"], second["answer"]) == ([True, False], "15")
    assert (third["completions"], third["labels"], third["answer"]) == (["Hmm."], [False], "")


def test_soft_labels_are_the_scores(run: Run) -> None:
    for row in rows(run, "stepwise", Labels("soft")):
        assert row["labels"] == row["scores"]
        assert all(isinstance(label, float) for label in row["labels"])


@pytest.mark.parametrize(
    ("threshold", "labels"),
    [(0.0, [True, True]), (0.25, [True, False]), (0.2, [True, True]), (0.9, [False, False])],
)
def test_a_step_is_good_above_the_threshold_and_not_at_it(
    threshold: float, labels: list[bool], run: Run
) -> None:
    (row,) = [row for row in rows(run, "stepwise", Labels(threshold=threshold)) if row["node_id"] == 4]
    assert row["labels"] == labels


def test_a_path_ends_before_a_step_with_too_few_visits(run: Run) -> None:
    found = rows(run, "stepwise", Labels(min_visits=2))
    assert [(row["node_id"], row["visits"]) for row in found] == [(2, [3, 2]), (7, [2])]


def test_a_step_that_was_cut_off_has_no_label_and_ends_its_path(tmp_path: Path) -> None:
    nodes = [
        root(),
        step(1, 0, "A seed.\n\n", 0.9),
        step(2, 1, "It will grow to become", 0.2, depth=2, truncated=True),
        step(3, 2, " a beautiful tree.\n\n", 0.2, depth=3),
    ]
    found = Run.open(make_step_run(tmp_path / "run", [step_tree("p", nodes)]))
    written = write(found, "stepwise")
    assert [row["completions"] for row in rows(found, "stepwise")] == [["A seed."]]
    assert "left out: 1 steps that were cut off\n" in card(written)
    assert "left out: 1 steps below one without a label\n" in card(written)
    assert "a step that was cut off at its longest has no label and ends its path" in card(written)


def test_a_run_whose_steps_were_all_cut_off_asks_for_longer_ones(tmp_path: Path) -> None:
    nodes = [root(), step(1, 0, "It will grow to", 0.9, truncated=True)]
    found = Run.open(make_step_run(tmp_path / "run", [step_tree("p", nodes)]))
    with pytest.raises(
        RunError, match=r"1 steps that were cut off; run again with longer ones, .*max_step_tokens"
    ):
        write(found, "stepwise")


def test_steps_that_were_judged_and_never_visited_are_labelled_when_asked_for(tmp_path: Path) -> None:
    nodes = [root(), step(1, 0, "a\n", 0.9, visits=0), step(2, 0, "b\n", 0.2, visits=0)]
    found = Run.open(make_step_run(tmp_path / "run", [step_tree("p", nodes)]))
    never = "2 steps with a value that were never visited; give --min-visits 0"
    with pytest.raises(RunError, match=never):
        write(found, "stepwise")
    written = write(found, "stepwise", labels=Labels(min_visits=0))
    assert [row["scores"] for row in rows(found, "stepwise", Labels(min_visits=0))] == [[0.9], [0.2]]
    assert "- steps with a value that were never visited are labelled, too\n" in card(written)
    assert "fewer visits than" not in card(written)


def test_no_label_is_made_below_a_step_without_a_value(run: Run) -> None:
    assert not any("Add first." in row["completions"] for row in rows(run, "stepwise"))
    assert not any(row["node_id"] == 6 for row in rows(run, "stepwise"))


def test_equal_paths_are_written_once_and_counted(tmp_path: Path) -> None:
    nodes = [root(), step(1, 0, "a\n", 0.9), step(2, 0, "a\n", 0.1, twin=1)]
    found = Run.open(make_step_run(tmp_path / "run", [step_tree("p", nodes)]))
    written = write(found, "stepwise")
    assert written.rows == 1
    assert "left out: 1 paths equal to another" in card(written)


def read_shepherd(row: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Read the steps and the verdicts of a row as loaders do: by the places of the tags."""
    parts = row["input"].split(TAG)
    assert parts[-1] == ""
    verdicts, rest = [], row["label"]
    for part in parts[:-1]:
        assert rest.startswith(part)
        verdict = re.match(r"[+-]|\d\.\d{4}", rest[len(part) :])
        assert verdict is not None
        verdicts.append(verdict[0])
        rest = rest[len(part) + len(verdict[0]) :]
    assert rest == ""
    return parts[:-1], verdicts


def test_math_shepherd_puts_a_verdict_in_the_place_of_each_tag(run: Run) -> None:
    first, second, _ = rows(run, "math-shepherd")
    assert first["task"] == "gsm8k"
    steps, verdicts = read_shepherd(first)
    assert steps[0] == "2+3*4? Step 1: Multiply first: 3*4 = 12. "
    assert steps[1] == f"\nStep 2: {CODE.strip()} "
    assert verdicts == ["+", "+", "+"]
    assert second["input"].endswith("\nStep 2: 2+12 = 15.\nThe answer is 15. ки"), "a number is not doubled"
    assert second["label"].endswith("\nStep 2: 2+12 = 15.\nThe answer is 15. -")


def test_math_shepherd_with_soft_labels_has_a_number_in_the_place_of_each_tag(run: Run) -> None:
    assert read_shepherd(rows(run, "math-shepherd", Labels("soft"))[0])[1] == ["0.9000", "0.7500", "1.0000"]


def test_a_path_that_holds_the_tag_itself_is_left_out_and_counted(tmp_path: Path) -> None:
    nodes = [root(), step(1, 0, "Две руки\n", 0.9), step(2, 0, "Две\n", 0.9)]
    found = Run.open(make_step_run(tmp_path / "run", [step_tree("p", nodes)]))
    written = write(found, "math-shepherd")
    assert written.rows == 1
    assert "left out: 1 paths that hold the step tag ки themselves" in card(written)
    assert len(rows(found, "stepwise")) == 2


def test_the_card_says_what_a_label_means_on_which_range_and_whose_it_is(run: Run) -> None:
    written = write(run, "stepwise", labels=Labels(threshold=0.6, min_visits=1))
    assert written.card == run.path / "export" / "stepwise.card.md"
    said = card(written)
    for line in (
        "labels: judge values, no gold",
        "kind: hard; `true` where the score is above 0.6, else `false`",
        "score: the value, in [0, 1]; values are on the scale 0 to 1, as the run recorded it",
        "paths: 3, one row each; problems with a path: 1 of 1 solved",
        "problems without a finished path of good steps alone: 0",
        "labelled steps: 6, a step counted in every path it is part of; above the threshold 4 = 66.7 %, not above 2",
        "scores: 0.25 to 1",
        "left out: 1 steps without a value",
        "left out: 1 steps below one without a label",
        "run: run, begun 2026-01-02T03:04:05+00:00, finished",
        "recipe: beam(n=4), seed 7",
        "models: policy: tiny-model",
        "data: gsm8k, problems hash not recorded; its licence holds for these rows",
    ):
        assert f"- {line}\n" in said
    assert "/data/" not in said


def test_the_card_tells_when_a_recipe_consulted_gold_answers(tmp_path: Path) -> None:
    found = Run.open(make_step_run(tmp_path / "run", recipe_arguments={"uses_gold": True}))
    assert "labels: judge values of a recipe that used gold answers" in card(write(found, "stepwise"))


def test_no_card_is_written_beside_a_stream_or_a_device(run: Run, tmp_path: Path) -> None:
    assert write(run, "stepwise", BytesIO()).card is None
    assert write(run, "stepwise", Path("/dev/null")).card is None
    assert not (run.path / "export").exists()


def test_values_are_mapped_from_the_judges_scale(tmp_path: Path) -> None:
    nodes = [root(), step(1, 0, "a\n", -50.0), step(2, 1, "b", 100.0, depth=2)]
    trees = [step_tree("p", nodes)]
    recorded = Run.open(make_step_run(tmp_path / "a", trees, scale=[-100, 100]))
    assert rows(recorded, "stepwise")[0]["scores"] == [0.25, 1.0]
    given = Run.open(make_step_run(tmp_path / "b", trees, scale=None))
    assert rows(given, "stepwise", Labels(scale=read_scale("-50,100")))[0]["scores"] == [0.0, 1.0]


def test_the_scale_of_a_shipped_recipe_is_that_of_its_judge(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"recipe": "mctsr", "policy": {}, "judge": None}
    named: dict[str, Any] = {"scale": None, "settings": settings, "recipe_arguments": {"rollouts": 2}}
    scale = judge_scale(Run.open(make_step_run(tmp_path / "a", **named)))
    assert scale == (-100.0, 100.0, "that of the judge of recipe mctsr")
    settings["recipe"] = "self-consistency"
    with pytest.raises(RunError, match="has no judge"):
        judge_scale(Run.open(make_step_run(tmp_path / "b", **{**named, "recipe_arguments": {}})))


def test_a_scale_that_is_nowhere_recorded_is_asked_for(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"recipe": "own.py:mine", "policy": {}, "judge": None}
    found = Run.open(make_step_run(tmp_path / "run", scale=None, settings=settings))
    with pytest.raises(RunError, match=r"is not recorded.*give --scale LOW,HIGH"):
        write(found, "stepwise")
    assert not (found.path / "export" / "stepwise.jsonl").exists()


def test_a_value_off_the_scale_is_an_error_that_tells_a_scale_which_holds_all(tmp_path: Path) -> None:
    trees = [
        step_tree("p", [root(), step(1, 0, "a\n", 3.5)]),
        step_tree("q", [root(), step(1, 0, "a\n", -7.25)]),
    ]
    found = Run.open(make_step_run(tmp_path / "run", trees, scale=[-2, 2]))
    with pytest.raises(RunError) as error:
        write(found, "stepwise")
    assert str(error.value) == (
        "the value 3.5 of node 1 of 'p' is off the judge's scale -2 to 2 (as the run recorded it); the values in this "
        "run go from -7.25 to 3.5: give a scale that holds them, such as --scale=-8,8, which has the same middle"
    )
    assert len(rows(found, "stepwise", Labels(scale=read_scale("-8,8")))) == 2


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0, 1, "the value"),
        (0, 10, "value / 10"),
        (-1, 1, "(value + 1) / 2"),
        (1, 5, "(value - 1) / 4"),
        (-1, 0, "value + 1"),
    ],
)
def test_a_scale_says_how_values_become_scores(low: float, high: float, said: str) -> None:
    assert scale_of(low, high, "as given").formula == said


def test_the_tag_is_explained_beside_the_format_that_has_it(run: Run) -> None:
    said = f"- tag: `{TAG}` ends each step in `input`; `label` has its verdict there\n"
    assert said in card(write(run, "math-shepherd"))
    assert said not in card(write(run, "stepwise"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("beam", "what the judge said of the solution up to and with this step; the search backs nothing up"),
        ("puct-prm", "after all backups: what the judge said here, mixed with what it said of"),
        ("own.py:mine", "as the recipe's judge and backup made it"),
    ],
)
def test_the_card_says_who_judged_and_whether_the_search_changed_it(
    name: str, value: str, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"recipe": name, "policy": {}, "judge": None}
    arguments = {"judge": "llm-judge", "aggregate": "min"}
    found = make_step_run(tmp_path / "run", recipe=name, settings=settings, recipe_arguments=arguments)
    said = card(write(Run.open(found), "stepwise"))
    assert value in said
    assert "- judge: llm-judge, a chat model's opinion whether the last step is right" in said
    assert "; the worst score of the steps so far counts\n" in said


@pytest.mark.parametrize(("name", "kind"), [("grounded-prm", "the mean"), ("grounded-prm-code", "the sum")])
def test_the_card_of_grounded_prm_says_how_checks_come_in(name: str, kind: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"recipe": name, "policy": {}, "judge": None}
    arguments = {"judge": "qwen-prm"}
    folder = make_step_run(
        tmp_path / "run", recipe=name, settings=settings, recipe_arguments=arguments, scale=[-2, 2]
    )
    said = card(write(Run.open(folder), "stepwise"))
    assert f"- value: {kind}" in said
    assert "by a computer algebra system: 1 right, -1 wrong, 0 nothing to check" in said
    assert "right: as far as the judge said of the last step; no known answer was used" in said
    assert "- judge: qwen-prm, a reward model's probability that the last step is good\n" in said
    assert "score: (value + 2) / 4, in [0, 1]; values are on the scale -2 to 2" in said


def test_every_judge_of_steps_and_every_aggregate_has_words() -> None:
    assert set(judges.SAYS) == {*OF_SCORES, *OF_PREFIXES}
    assert set(judges.MADE) == set(AGGREGATES)


@pytest.mark.parametrize("form", STEP_FORMATS)
def test_trees_of_whole_answers_are_refused_in_one_line(form: str, tmp_path: Path) -> None:
    found = Run.open(make_run(tmp_path / "run"))
    with pytest.raises(
        RunError, match=r"\(recipe mctsr\) hold whole answers, not steps; export them with"
    ) as error:
        write(found, form)
    assert "\n" not in str(error.value)
    assert not (found.path / "export" / f"{form}.jsonl").exists()


def test_an_empty_first_reply_does_not_make_a_tree_one_of_steps() -> None:
    assert is_of_steps(step_tree("p", sum_nodes()))
    assert not is_of_steps(tree("p", [node(0, text=""), node(1, 0, "4")], 1))
    assert not is_of_steps(tree("p", clips_nodes(), 7))
    assert not is_of_steps(tree("p", [], None))


def test_an_empty_reply_finishes_the_step_above_it(tmp_path: Path) -> None:
    nodes = [root(), step(1, 0, "It is 14.", 0.9), step(2, 1, "", None, depth=2, answer="14")]
    found = Run.open(make_step_run(tmp_path / "run", [step_tree("p", nodes)]))
    (row,) = rows(found, "stepwise")
    assert (row["completions"], row["node_id"], row["answer"]) == (["It is 14."], 1, "14")


def test_a_whole_answer_among_steps_is_no_step(tmp_path: Path) -> None:
    whole = node(2, 1, "14", samples=[sample(1.0)], visits=1, value=1.0, depth=2)
    nodes = [root(), step(1, 0, "Hm.\n\n", 0.9), whole]
    found = Run.open(make_step_run(tmp_path / "run", [step_tree("p", nodes)]))
    written = write(found, "stepwise")
    assert written.rows == 1
    assert "left out: 1 whole answers among the steps" in card(written)
    assert [row["prefix"] for row in rows(found, "nodes")] == ["", "", ""]


@pytest.mark.parametrize(
    ("nodes", "form", "labels", "said"),
    [
        ([root()], "stepwise", Labels(), "there are no steps at all"),
        ([root(), step(1, 0, "a", None)], "stepwise", Labels(), "1 steps without a value; .*report"),
        ([root(), step(1, 0, " \n", 0.5)], "stepwise", Labels(), "1 empty steps; the model wrote nothing"),
        (
            [root(), step(1, 0, f"a {TAG}", 0.5)],
            "math-shepherd",
            Labels(),
            "step tag .*; the tag inside .* --format stepwise",
        ),
        ([root(), step(1, 0, "a", 0.5)], "stepwise", Labels(min_visits=99), "99 visits; .*--min-visits"),
    ],
    ids=["no steps", "no values", "empty", "tag", "visits"],
)
def test_a_run_in_which_nothing_gets_a_label_is_refused_for_its_own_reason(
    nodes: list[NodeRecord], form: str, labels: Labels, said: str, tmp_path: Path
) -> None:
    found = Run.open(make_step_run(tmp_path / "run", [step_tree("p", nodes)]))
    with pytest.raises(RunError, match=rf"no step of .* gets a label: .*{said}") as error:
        write(found, form, labels=labels)
    assert ("--min-visits" in str(error.value)) == (labels.min_visits > 1)
    assert not (found.path / "export" / f"{form}.jsonl").exists()


@pytest.mark.parametrize(
    ("given_values", "named"),
    [
        ({"kind": "both"}, "--labels hard or soft"),
        ({"threshold": 1.0}, "--threshold"),
        ({"threshold": float("nan")}, "--threshold"),
        ({"min_visits": -1}, "--min-visits"),
    ],
)
def test_unfit_labels_are_refused_by_name(given_values: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        Labels(**given_values)


@pytest.mark.parametrize("text", ["", "1", "0,1,2", "a,b", "1,0", "0,0", "0,inf", "nan,1"])
def test_an_unfit_scale_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--scale"):
        read_scale(text)


def test_labels_are_refused_for_a_format_without_them(run: Run) -> None:
    with pytest.raises(UsageError, match="nodes has no labels; stepwise and math-shepherd have"):
        write(run, "nodes", labels=Labels())


def test_an_unknown_format_names_all(run: Run) -> None:
    with pytest.raises(UsageError, match="allowed are tree, nodes, stepwise, math-shepherd"):
        write(run, "csv")


def test_a_step_of_ten_thousand_characters_is_kept_whole(tmp_path: Path) -> None:
    nodes = [root(), step(1, 0, "x" * 10_000 + "\n\n", 0.9)]
    found = Run.open(make_step_run(tmp_path / "run", [step_tree("p", nodes)]))
    assert rows(found, "stepwise")[0]["completions"] == ["x" * 10_000]


def test_prefix_and_text_of_a_node_row_are_the_partial_solution(run: Run) -> None:
    found = {row["node_id"]: row for row in rows(run, "nodes")}
    assert found[3]["prefix"] + found[3]["text"] == "Multiply first: 3*4 = 12.\n\n" + CODE + LATEX
    assert (found[0]["prefix"], found[0]["text"], found[1]["prefix"]) == ("", "", "")
    assert json.loads(found[1]["meta"])["ids"] == [5, 6]
    assert all(row["step"] for row in found.values())


def test_nodes_of_whole_answers_have_no_prefix(tmp_path: Path) -> None:
    found = Run.open(make_trees(tmp_path / "run", [tree("p", clips_nodes(), 7)]))
    assert {(row["prefix"], row["step"]) for row in rows(found, "nodes")} == {("", False)}


def test_tree_rows_have_the_same_keys_at_every_node_whatever_some_of_them_have(run: Run) -> None:
    (row,) = rows(run, "tree")
    assert len({tuple(made) for made in row["nodes"]}) == 1
    assert json.loads(row["nodes"][1]["more"]) == {"ids": [5, 6], "logprob": -0.25, "tokens": 2}
    assert row["nodes"][2]["more"] == "{}"


@st.composite
def step_nodes(draw: st.DrawFn) -> list[NodeRecord]:
    nodes = [root()]
    for number in range(1, draw(st.integers(2, 12))):
        text = draw(st.text("ab \n", max_size=4))
        value = draw(st.none() | st.floats(0.01, 1))
        visits = draw(st.integers(0, 3))
        nodes.append(step(number, draw(st.integers(0, number - 1)), text, value, visits=visits))
    return nodes


class Grown:
    """Stands for a run in memory."""

    path = Path("run")

    def __init__(self, nodes: list[NodeRecord]) -> None:
        self.nodes = nodes
        self.record: Any = {"scale": [0, 1], "settings": {}, "recipe": "beam", "recipe_arguments": {}}

    def trees(self) -> Any:
        return iter([step_tree("p", self.nodes)])


@given(step_nodes(), st.integers(1, 3), st.floats(0, 0.99))
def test_every_row_is_a_path_from_the_root_whose_steps_all_have_their_label(
    nodes: list[NodeRecord], least: int, threshold: float
) -> None:
    labels = Labels(threshold=threshold, min_visits=least, scale=scale_of(0, 1, "as given"))
    try:
        found = rows(Grown(nodes), "stepwise", labels)  # type: ignore[arg-type]
    except RunError:
        found = []
    before = prefixes(step_tree("p", nodes))
    for row in found:
        assert len(row["completions"]) == len(row["labels"]) == len(row["visits"]) >= 1
        assert min(row["visits"]) >= least
        assert all(text.strip() for text in row["completions"])
        assert row["labels"] == [score > threshold for score in row["scores"]]
        end = nodes[row["node_id"]]
        line = []
        while end["parent"] is not None:
            line.append(end)
            end = nodes[end["parent"]]
        assert row["completions"] == [made["text"].rstrip() for made in line[::-1]]
        assert before[line[0]["id"]] == "".join(made["text"] for made in line[:0:-1])
    fit = {
        n["id"] for n in nodes[1:] if n["value"] is not None and n["visits"] >= least and n["text"].strip()
    }
    firsts = {nodes[id]["text"] for id in fit if nodes[id]["parent"] == 0}
    assert {row["completions"][0] for row in found} == {text.rstrip() for text in firsts}


BEAM = '''
from dataclasses import dataclass

from mctsr import Recipe, Sample, Verdict, best_value, rollouts_done
from mctsr.backup.best import Max
from mctsr.expand.step import Steps
from mctsr.select.frontier import Frontier
from mctsr.select.population import Beams


@dataclass(frozen=True)
class Length:
    """A short solution is a good one."""

    needs: frozenset[str] = frozenset()
    low: float = 0.0
    high: float = 1.0

    async def judge(self, path, draft, llm):
        value = 1 / len(path.nodes)
        return Verdict((Sample(value, value),))


def beam() -> Recipe:
    return Recipe(Steps(), Length(), Frontier(2, Beams(2), opened=1), Max(), rollouts_done(9), best_value)
'''


def write_step(place: Place, request: Request) -> Completion:
    """End every solution after two steps and a last one."""
    last = request.begun.count("\n\n") == 2
    text = f"So it is \\boxed{{{place.draft}}}." if last else f"Step by {place.draft}.\n\n"
    return Completion(text, usage=Usage(10, 5), stop="" if last else "\n\n")


async def test_a_search_over_steps_is_exported_as_the_model_wrote_it(tmp_path: Path) -> None:
    (tmp_path / "beam.py").write_text(BEAM, encoding="utf-8")
    planned = world.planned(tmp_path, 2, recipe=f"{tmp_path}/beam.py:beam", arguments={})
    await world.run(tmp_path / "run", planned, Scripted(write_step, offers=frozenset({"steps"})))
    found = Run.open(tmp_path / "run")
    labelled = rows(found, "stepwise", Labels(threshold=0.3, scale=scale_of(0, 1, "as given")))
    assert labelled
    for row in labelled:
        tree = found.tree(row["problem_id"])
        texts = [made["text"] for made in tree["nodes"]]
        end = row["node_id"]
        assert row["completions"][-1] == texts[end].rstrip()
        assert row["prompt"] == tree["problem"]
        assert row["labels"] == [score > 0.3 for score in row["scores"]]
    finished = [row for row in labelled if row["answer"]]
    assert {len(row["completions"]) for row in finished} == {3}
    assert all(row["prefix"] or row["depth"] < 2 for row in rows(found, "nodes"))
    selected = {id: result["answers"]["selected"] for id, result in found.results().items()}
    drawn = follow(found, list(selected))
    assert drawn.agreed == len(selected) == 2
