"""Reward models and training data as users of such tools have seen them fail.

What a run does when its reward model is of the wrong kind, or talks nonsense: `tests/cli/test_bad_reward_models.py`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
import pytest

from tests.support import fake_ways
from tests.support.fake_ways import Model
from tests.support.reward_models import GOOD, label_chat, label_text, per_step, scorer, steps_of
from tests.support.sample_run import command
from tests.support.served import served
from tests.support.step_run import make_step_run, step, step_tree, sum_nodes

SOLUTION = "2 + 2 = 4.\n\nNothing is left.\n\nThe final answer is \\boxed{4}"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def policy() -> dict[str, Any]:
    return {"reply": "4", "extra": {"owned_by": "vllm"}, "more": fake_ways.vllm(Model(SOLUTION))}


def reward_model(**how: Any) -> dict[str, Any]:
    return {"reply": "hi", "models": ("rm",), "extra": {"owned_by": "vllm"}, **how}


# The tag after a step became several tokens, and an extra blank broke it: scores and steps no longer fit each other.


@pytest.mark.parametrize(
    ("more", "code", "found"),
    [
        (0, 0, "3 scores for 3 steps: 0.75, 0.75, 0.75"),
        (1, 1, "wrong number of scores: 4 for 3 steps"),
        (-1, 1, "wrong number of scores: 2 for 3 steps"),
    ],
)
def test_the_doctor_compares_the_number_of_scores_with_the_number_of_steps(
    more: int, code: int, found: str
) -> None:
    endpoint = {"/pooling": scorer(lambda body: [[0.25, 0.75]] * (steps_of(body) + more))["/pooling"]}
    with served(**policy()) as main, served(**reward_model(more=endpoint)) as prm:
        said = command("doctor", "--base-url", main.url, "--prm-base-url", prm.url, "--json")
    (role,) = [role for role in json.loads(said.out)["roles"] if role["role"] == "prm"]
    assert {probe["probe"]: probe["found"] for probe in role["findings"]}["qwen-prm"] == found
    assert said.code == code, "what solve could not do is an error"


# Interfaces of reward models differ by model and version: each kind is asked in its own way, by name.

KINDS: dict[str, tuple[Mapping[str, Any], float]] = {
    "qwen-prm": ({"more": scorer(per_step)}, 0.75),
    "seq-rm": ({"more": scorer(lambda _: [[0.0]])}, 0.5),
    "token-prm": ({"reply": label_chat(GOOD), "more": label_text(GOOD)}, 0.8),
    "chat-token-prm": ({"reply": label_chat(GOOD)}, 0.8),
}


@pytest.mark.parametrize("judge", KINDS)
def test_each_kind_of_reward_model_is_asked_in_its_own_way(judge: str) -> None:
    how, value = KINDS[judge]
    with served(**policy()) as main, served(**reward_model(**how)) as prm:
        said = command(
            *("solve", "-q", "2+2?", "--base-url", main.url, "--prm-base-url", prm.url, "-o", "here"),
            *("--recipe", "beam", "-s", "n=2", "-s", "m=2", "-s", f"judge={judge}"),
        )
    assert (said.code, said.out.strip()) == (0, SOLUTION)
    nodes = json.loads(Path("here/trees.jsonl").read_text(encoding="utf-8"))["nodes"]
    assert [node["value"] for node in nodes] == [None, *[pytest.approx(value)] * 6]


def test_an_unknown_kind_is_one_line_that_lists_all() -> None:
    said = command(
        "solve", "-q", "2+2?", "--base-url", "http://127.0.0.1:9", "-s", "judge=prm", "--recipe", "beam"
    )
    assert said.code == 2
    for name in KINDS:
        assert name in said.err.splitlines()[-1]


# Soft labels were asked for; files did not load in trainers; nobody knew what a label meant or how many there were.


def exported(run: Path, form: str, *options: str) -> list[dict[str, Any]]:
    said = command("export", str(run), "--format", form, "-o", f"{form}.jsonl", *options)
    assert said.code == 0, said.err
    file = Path(f"{form}.jsonl").resolve()
    loaded = datasets.load_dataset("json", data_files=str(file), split="train")
    rows: list[dict[str, Any]] = [dict(row) for row in loaded]
    file.unlink()
    for card in file.parent.glob("*.card.md"):
        card.unlink()
    return rows


def test_labels_are_hard_or_soft(tmp_path: Path) -> None:
    run = make_step_run(tmp_path / "run")
    hard = exported(run, "stepwise", "--labels", "hard")
    soft = exported(run, "stepwise", "--labels", "soft")
    assert [row["completions"] for row in hard] == [row["completions"] for row in soft]
    for verdicts, scores in zip(hard, soft, strict=True):
        assert [score > 0.5 for score in scores["labels"]] == verdicts["labels"]
    assert {type(label) for row in hard for label in row["labels"]} == {bool}
    assert {type(label) for row in soft for label in row["labels"]} == {float}


def tokenized(row: Mapping[str, Any], separator: str = "\n") -> tuple[list[str], list[int]]:
    """Lay a stepwise row out as TRL's PRMTrainer does: a label at the separator behind each step, -100 elsewhere."""
    pieces, labels = [row["prompt"]], [-100]
    for completion, label in zip(row["completions"], row["labels"], strict=True):
        pieces += [completion, separator]
        labels += [-100, int(label)]
    return pieces, labels


def test_stepwise_rows_are_what_the_prm_trainer_of_trl_takes(tmp_path: Path) -> None:
    for row in exported(make_step_run(tmp_path / "run"), "stepwise"):
        assert list(row)[:3] == ["prompt", "completions", "labels"]
        pieces, labels = tokenized(row)
        assert "".join(pieces).startswith(row["prompt"])
        assert sum(label != -100 for label in labels) == len(row["completions"])
        # The trainer writes the separator itself.
        assert not any(text[-1].isspace() for text in row["completions"])


def labelled(row: Mapping[str, Any], placeholder: str = "ки") -> Sequence[str]:
    """Read a math-shepherd row as OpenRLHF does: label and input are alike but for what stands at each placeholder."""
    parts = row["input"].split(placeholder)
    pattern = "(.+?)".join(re.escape(part) for part in parts)
    found = re.fullmatch(pattern, row["label"], re.DOTALL)
    assert found is not None
    return found.groups()


def test_math_shepherd_rows_have_a_verdict_at_each_placeholder(tmp_path: Path) -> None:
    rows = exported(make_step_run(tmp_path / "run"), "math-shepherd")
    assert rows
    for row in rows:
        assert set(labelled(row)) <= {"+", "-"}
        assert len(labelled(row)) == len(re.findall(r"Step \d+: ", row["input"]))


def test_beside_the_rows_lies_a_card_of_what_they_are(tmp_path: Path) -> None:
    run = make_step_run(tmp_path / "run")
    said = command("export", str(run), "--format", "stepwise")
    card = Path(said.out.strip()).with_name("stepwise.card.md").read_text(encoding="utf-8")
    for words in (
        "kind: hard",
        "value: ",
        "score: ",
        "scores: 0.25 to 1",
        "labelled steps: 6",
        "run: run",
        "beam",
    ):
        assert words in card


def test_what_a_label_says_and_what_it_does_not_is_told_before_and_beside(tmp_path: Path) -> None:
    helped = " ".join(command("export", "--help").out.split())
    assert "not verdicts of people" in helped
    run = make_step_run(tmp_path / "run")
    command("export", str(run), "--format", "math-shepherd")
    card = (run / "export" / "math-shepherd.card.md").read_text(encoding="utf-8")
    assert "value: what the judge said of the solution up to and with this step" in card
    assert "not a human verdict on the step" in card


def test_a_file_is_checked_and_its_balance_told(tmp_path: Path) -> None:
    run = make_step_run(tmp_path / "run")
    file = command("export", str(run), "--format", "stepwise").out.strip()
    assert command("export", "--check", file).out.splitlines()[1] == "66.7 % of the steps good"
    text = Path(file).read_text(encoding="utf-8")
    Path("bad.jsonl").write_text(text.replace("true, ", "", 1).replace("true,", "", 1), encoding="utf-8")
    said = command("export", "--check", "bad.jsonl")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "bad.jsonl, line 1" in said.err


def test_problems_without_a_good_path_are_counted(tmp_path: Path) -> None:
    bad = [sum_nodes()[0], step(1, 0, "5.", 0.125, answer="5", ended="finished")]
    run = make_step_run(tmp_path / "run", [step_tree("sum", sum_nodes(), 3), step_tree("hard", bad, 1)])
    said = command("export", str(run), "--format", "stepwise")
    assert "1 of 2 problems without a finished path of good steps" in said.err
    card = Path(said.out.strip()).with_name("stepwise.card.md").read_text(encoding="utf-8")
    assert "problems without a finished path of good steps alone: 1" in card
