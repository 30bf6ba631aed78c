"""Growing solutions step by step from the command line: how turns were continued, the reward model, the dry run."""

import json
from pathlib import Path

import pytest

from mctsr.parts import Problem
from mctsr.prompting import Prompts
from mctsr.recipes.registry import choose
from mctsr.runs.price import REPLY_TOKENS, STEPS, price
from mctsr.runs.settings import Settings, from_record, to_record
from tests.support import fake_ways
from tests.support.fake_ways import Model

from .conftest import Command, Serve

CHAIN = '''
from dataclasses import dataclass
from mctsr.answer import majority
from mctsr.backup.best import Max
from mctsr.expand.step import Steps
from mctsr.kernels.node import DONE, UNSCORED
from mctsr.parts import Ask
from mctsr.recipe import Recipe
from mctsr.stop import never

@dataclass(frozen=True, slots=True)
class Chain:
    """Grow the newest node, as long as it is open."""
    roots: int = 1
    barrier: bool = False
    def ask(self, tree, rng, room):
        last = tree.nodes[len(tree) - 1]
        return [] if last["in_flight"] or last["flags"] & (DONE | UNSCORED) else [Ask(len(tree) - 1, 1)]
    def tell(self, tree, rng, born):
        pass

def chain():
    return Recipe(Steps(), None, Chain(), Max(), never(), majority)
'''


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(CHAIN, encoding="utf-8")
    return "own.py:chain"


def record(name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(Path("here", name).read_text(encoding="utf-8").splitlines()[0])
    return found


def test_a_run_records_how_its_turns_were_continued(mctsr: Command, serve: Serve, own: str) -> None:
    model = Model("2 + 2 = 4.\n\nNothing is left.\n\nThe final answer is \\boxed{4}")
    server = serve(extra={"owned_by": "vllm"}, more=fake_ways.vllm(model))
    ended = mctsr("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", own, "-o", "here")
    assert (ended.code, ended.out.strip()) == (0, model.text)
    servers = json.loads(Path("here/run.json").read_text(encoding="utf-8"))["servers"]
    assert [entry["way"] for entry in servers] == ["token ids", "token ids"]
    assert record("results.jsonl")["wire"] == ["continued by token ids"]
    assert not server.bodies, "nothing was asked by chat"
    tree = record("trees.jsonl")["nodes"]
    assert isinstance(tree, list)
    assert "".join(node["text"] for node in tree) == model.text


def test_a_plain_run_tries_nothing_and_records_no_way(mctsr: Command, serve: Serve, own: str) -> None:
    server = serve(extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model()))
    assert mctsr("solve", "-q", "2+2?", "--base-url", server.url, "-s", "rollouts=1", "-o", "here").code == 0
    servers = json.loads(Path("here/run.json").read_text(encoding="utf-8"))["servers"]
    assert all("way" not in entry for entry in servers)
    assert not server.posts


def test_the_reward_model_is_recorded_without_its_key(mctsr: Command, serve: Serve, own: str) -> None:
    policy, prm = serve(), serve(models=("rm",), key="sesame-open", extra={"owned_by": "vllm"})
    ended = mctsr(
        *("solve", "-q", "2+2?", "--base-url", policy.url, "--prm-base-url", prm.url, "-s", "rollouts=1"),
        *("--prm-api-key", "sesame-open", "-o", "here"),
    )
    assert ended.code == 0
    text = Path("here/run.json").read_text(encoding="utf-8")
    run = json.loads(text)
    assert [(entry["role"], entry["model"]) for entry in run["servers"]][2:] == [("prm", "rm")]
    assert run["settings"]["prm"]["base_url"] == prm.url
    assert "sesame" not in text
    kept = from_record(run["settings"])
    assert kept.prm is not None
    assert from_record(to_record(kept)) == kept
    older = {name: value for name, value in run["settings"].items() if name != "prm"}
    assert from_record(older).prm is None
    assert mctsr("resume", "here", "--prm-api-key", "sesame-open").code == 0


def test_a_reward_model_without_a_server_is_a_mistake(mctsr: Command, own: str) -> None:
    ended = mctsr("solve", "-q", "2+2?", "--model", "embedded", "--prm-model", "big")
    assert ended.code == 2
    assert "no server for --prm-model big; give --prm-base-url URL" in ended.err


def test_a_dry_run_counts_the_steps_of_a_solution(own: str) -> None:
    recipe = choose(own, {}).build()
    found = price([Problem("p", "2+2?", "number")], recipe, Prompts(), Settings())
    assert (found.calls, found.completion_tokens) == (STEPS, REPLY_TOKENS)
    assert found.steps == STEPS


@pytest.mark.parametrize(("more", "steps"), [((), STEPS), (("-s", "max_steps=3"), 3)])
def test_a_dry_run_says_how_many_steps_it_takes_a_solution_to_have(
    mctsr: Command, more: tuple[str, ...], steps: int
) -> None:
    plan = ("solve", "-q", "2+2?", "--base-url", "http://h:1", "--recipe", "beam", "--dry-run", *more)
    said = mctsr(*plan).out
    assert f"{2 * 16 * steps} calls, " in said
    assert (
        f" reply tokens a problem, for solutions of up to {steps} {'steps' if steps > 1 else 'step'}\n"
        in said
    )
    assert json.loads(mctsr(*plan, "--json").out)["expected"]["steps"] == steps
    plain = ("solve", "-q", "2+2?", "--base-url", "http://h:1", "--dry-run")
    assert "steps" not in mctsr(*plain).out
    assert json.loads(mctsr(*plain, "--json").out)["expected"]["steps"] == 0
