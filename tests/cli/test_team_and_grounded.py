"""GroundedPRM, MASPRM and MedS3 from the command line, on one chat server: what is recorded, shown and exported."""

import json
from pathlib import Path

import pytest

from mctsr.recipes.registry import choose
from tests.support import fake_ways
from tests.support.fake_server import Body
from tests.support.fake_ways import Model

from .conftest import Command, Serve

SOLUTION = "2 + 2 = 4.\n\n4 - 1 = 3.\n\n3 + 1 = 4.\n\nThe final answer is \\boxed{4}"


def records(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path("here", name).read_text(encoding="utf-8").splitlines()]


def speaks(body: Body) -> str:
    """Reply as the judge of a team, or as one of its members."""
    if "schema" in str(body.get("response_format")):
        return '{"score": 7}'
    system = body["messages"][0]["content"]
    return "Now \\boxed{4}" if "solver" in system else "Add them." if "planner" in system else '{"score": 7}'


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        # Two growths of three, and three steps ahead of the first newborn, then two.
        ("grounded-prm", 3 + 3 + 3 + 2),
        ("grounded-prm-code", 3 + 3 + 3 + 2),
        # Steps with 6 // 2 completions each, all right: one end below the first of them.
        ("meds3", 3 + 3 * 3 + 1),
    ],
)
def test_known_answers_label_steps_and_are_no_test(
    mctsr: Command, serve: Serve, data: Path, name: str, calls: int
) -> None:
    server = serve('{"score": 7}', extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    given = {"meds3": {"completions": 6, "fewest": 2, "right": 1}}.get(name, {"rounds": 2})
    words = [word for key, value in given.items() for word in ("-s", f"{key}={value}")]
    ended = mctsr(
        *("solve", data, "--limit", 1, "--base-url", server.url, "--recipe", name, "-s", "uses_gold=true"),
        *(*words, "-o", "here"),
    )
    assert ended.code == 0, ended.err
    assert "no test result" in ended.out + ended.err
    settings = json.loads(Path("here", "run.json").read_text(encoding="utf-8"))
    assert settings["recipe_arguments"]["uses_gold"] is True
    (result,) = records("results.jsonl")
    assert result["usage"]["calls"] == calls  # type: ignore[index]
    assert result["answers"]["selected"] == "4"  # type: ignore[index]
    assert mctsr("show", "here", "a").code == 0
    # Values as released are sums, and leave the scale of a single simulation.
    wider = ["--scale=-20,20"] if name == "grounded-prm-code" else []
    exported = mctsr("export", "here", "-f", "stepwise", "--labels", "soft", *wider, "-o", "-")
    assert exported.code == 0, exported.err
    rows = [json.loads(line) for line in exported.out.splitlines()]
    assert all(label > 0.5 for row in rows for label in row["labels"])


@pytest.mark.parametrize("name", ["masprm", "masprm-labels"])
def test_a_team_needs_no_more_than_chat(mctsr: Command, serve: Serve, name: str) -> None:
    server = serve(speaks)
    ended = mctsr(
        *("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", name, "-s", "roles=planner,solver"),
        *("-s", "children=2", "-o", "here"),
    )
    assert ended.code == 0, ended.err
    assert "Now \\boxed{4}" in ended.out
    (tree,) = records("trees.jsonl")
    nodes = tree["nodes"]
    assert isinstance(nodes, list)
    assert [node["text"] for node in nodes] == ["", "Add them.\n\n", "Now \\boxed{4}"]
    assert [node["work"].get("role") for node in nodes] == [None, "planner", "solver"]
    assert nodes[1]["value"] == pytest.approx(0.7 if name == "masprm" else 2 * 0.7 - 1)
    shown = mctsr("show", "here", 1, "--node", 1)
    assert "planner" in shown.out


@pytest.mark.parametrize(
    ("name", "paper"),
    [
        ("grounded-prm", "arXiv:2510.14942"),
        ("grounded-prm-code", "arXiv:2510.14942"),
        ("masprm", "arXiv:2510.24803"),
        ("masprm-labels", "arXiv:2510.24803"),
        ("meds3", "arXiv:2501.12051"),
    ],
)
def test_every_recipe_names_its_paper_its_price_and_its_arguments(
    mctsr: Command, name: str, paper: str
) -> None:

    ended = mctsr("recipes", name)
    assert ended.code == 0
    assert paper in ended.out
    assert "Calls: " in ended.out
    chosen = choose(name)
    doc = chosen.function.__doc__ or ""
    assert len(doc.partition("\n")[0]) < 120
    assert all(f"        {argument}: " in doc for argument in chosen.arguments)


@pytest.mark.parametrize("name", ["grounded-prm", "grounded-prm-code", "masprm", "masprm-labels", "meds3"])
def test_a_dry_run_asks_nothing(mctsr: Command, serve: Serve, name: str) -> None:
    server = serve(extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    ended = mctsr("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", name, "--dry-run")
    assert ended.code == 0, ended.err
    assert not server.bodies


def test_a_role_without_a_prompt_is_refused_before_a_run_is_touched(
    mctsr: Command, serve: Serve, data: Path
) -> None:
    server = serve("The answer is 4.")
    assert mctsr("solve", data, "--base-url", server.url, "--recipe", "zero-shot", "-o", "here").code == 0
    before = {path.name: path.read_bytes() for path in Path("here").iterdir() if path.is_file()}
    ended = mctsr(
        *("solve", data, "--base-url", server.url, "--recipe", "masprm", "-s", "roles=nope,solver"),
        *("-o", "here", "--overwrite"),
    )
    assert ended.code == 2
    assert "no prompt named agent_nope; there are agent_critic, " in ended.err
    assert {path.name: path.read_bytes() for path in Path("here").iterdir() if path.is_file()} == before
