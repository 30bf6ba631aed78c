"""`mctsr resume`: a run goes on as it was begun, and asks nothing that was answered."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from mctsr.runs.progress import Progress
from mctsr.runs.records import GradeRecord, ResultRecord
from tests.support.fake_server import FakeServer, status

from .conftest import COMMAND, Command, Serve

SMALL = ("--recipe", "zero-shot")


@pytest.fixture
def server(serve: Serve) -> FakeServer:
    return serve()


@pytest.fixture
def broken(mctsr: Command, server: FakeServer, data: Path) -> Path:
    """Give a run whose first problem failed."""
    server.queue(status(400, "not this one"))
    assert (
        mctsr("solve", data, "--base-url", server.url, *SMALL, "--max-concurrency", 1, "-o", "run").code == 0
    )
    return Path("run")


def test_failed_problems_are_tried_again_and_finished_ones_are_not(
    mctsr: Command, server: FakeServer, broken: Path
) -> None:
    asked = len(server.bodies)
    ended = mctsr("resume", broken, "--json")
    assert ended.code == 0
    assert len(server.bodies) == asked + 1
    report = json.loads(ended.out)
    assert (report["done"], report["failures"]) == (3, {})
    assert "1 of 3 problems left" in ended.err
    assert "[3/3] a: 4, right" in ended.err


def test_a_finished_run_is_reported_without_any_server(
    mctsr: Command, server: FakeServer, broken: Path
) -> None:
    assert mctsr("resume", broken).code == 0
    asked, gets = len(server.bodies), len(server.gets)
    ended = mctsr("resume", broken)
    assert ended.code == 0
    assert "nothing is left to do in run" in ended.err
    assert "selected" in ended.out
    assert (len(server.bodies), len(server.gets)) == (asked, gets)


def test_a_killed_run_goes_on_with_its_settings_and_repeats_no_answered_call(
    mctsr: Command, serve: Serve, data: Path
) -> None:
    server = serve(delay=0.1)
    command = [*COMMAND, "solve", str(data), "--base-url", server.url, "-o", "run", "--max-tokens", "33"]
    with subprocess.Popen([*command, "-s", "rollouts=4"], stderr=subprocess.DEVNULL) as process:
        while len(server.bodies) < 12:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    logs = [
        json.loads(line) for file in Path("run/live").iterdir() for line in file.read_bytes().splitlines()
    ]
    answered = sum(line["t"] == "reply" for line in logs)
    assert answered
    time.sleep(0.3)
    asked = len(server.bodies)
    ended = mctsr("resume", "run", "--quiet", "--json")
    assert ended.code == 0
    report = json.loads(ended.out)
    assert (report["state"], report["done"], report["cost"]["calls"]) == ("finished", 3, 3 * 19)
    assert len(server.bodies) - asked == 3 * 19 - answered
    assert {body["max_tokens"] for body in server.bodies} == {33, 512}


def test_a_question_goes_on_without_its_data_file(mctsr: Command, serve: Serve) -> None:
    server = serve()
    server.queue(status(400, "not now"))
    assert mctsr("solve", "-q", "2+2?", "--base-url", server.url, *SMALL, "-o", "run").code == 1
    ended = mctsr("resume", "run")
    assert (ended.code, ended.out) == (0, f"{server.reply}\n")


def test_the_latest_run_and_the_beginning_of_a_name_are_enough(
    mctsr: Command, server: FakeServer, data: Path
) -> None:
    assert mctsr("solve", data, "--base-url", server.url, *SMALL).code == 0
    (folder,) = Path("runs").iterdir()
    for name in ("latest", folder.name[:15], folder):
        ended = mctsr("resume", name)
        assert ended.code == 0
        assert f"nothing is left to do in {folder}" in ended.err


def test_changed_problems_are_refused_with_the_difference(mctsr: Command, broken: Path, data: Path) -> None:
    data.write_text(data.read_text().replace("2+3?", "2+4?"))
    ended = mctsr("resume", broken)
    assert (ended.code, ended.out) == (2, "")
    assert "1 changed (such as 'c')" in ended.err


def test_the_running_score_leaves_out_what_is_graded_anew(
    mctsr: Command, broken: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: dict[str, str | None] = {}
    count = Progress.count

    def note(self: Progress, result: ResultRecord, grade: GradeRecord | None) -> None:
        counted[result["id"]] = grade["gold"] if grade else None
        count(self, result, grade)

    monkeypatch.setattr(Progress, "count", note)
    data.write_text(data.read_text().replace('"answer": "5"', '"answer": "4"'))
    report = json.loads(mctsr("resume", broken, "--json").out)
    assert counted == {"a": "4", "b": "4", "c": None}
    assert [score["correct"] for score in report["scores"] if score["name"] == "selected"] == [3]


def test_a_folder_without_a_run_is_one_clear_line(mctsr: Command) -> None:
    Path("empty").mkdir()
    for name in ("empty", "nowhere"):
        ended = mctsr("resume", name)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith("error: ")
        assert ended.err.count("\n") == 1


def test_keys_come_from_the_environment_anew(
    mctsr: Command, server: FakeServer, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-new-one")
    assert mctsr("resume", broken).code == 0
    assert server.headers[-1]["Authorization"] == "Bearer sk-new-one"
    assert "Authorization" not in server.headers[0]
    assert not any("sk-new-one" in file.read_text() for file in broken.rglob("*") if file.is_file())


def test_settings_of_a_run_cannot_be_changed(mctsr: Command, broken: Path) -> None:
    ended = mctsr("resume", broken, "--seed", 2)
    assert ended.code == 2
    assert "--seed" in ended.err


def test_a_run_goes_on_where_its_servers_are_now(mctsr: Command, serve: Serve, broken: Path) -> None:
    moved = serve()
    before = json.loads((broken / "run.json").read_bytes())["servers"][0]["base_url"]
    ended = mctsr("resume", broken, "--base-url", moved.url.removesuffix("/v1"))
    assert ended.code == 0
    assert (len(moved.bodies), f"at {moved.url}" in ended.err) == (1, True)
    record = json.loads((broken / "run.json").read_bytes())
    assert {server["base_url"] for server in record["servers"]} == {moved.url} != {before}
    assert "the servers changed when the run went on" in record["notices"]


def test_a_run_that_has_moved_goes_on_at_the_last_place(mctsr: Command, serve: Serve, data: Path) -> None:
    first, second = serve(), serve()
    first.queue(status(400, "not now"))
    one = ("--limit", 1, *SMALL, "-o", "run")
    assert mctsr("solve", data, "--base-url", first.url, *one).code == 1
    second.queue(status(400, "not now, either"))
    assert mctsr("resume", "run", "--base-url", second.url).code == 1
    asked = len(first.bodies)
    assert mctsr("resume", "run").code == 0
    assert (len(first.bodies), len(second.bodies)) == (asked, 2)


def test_a_variable_does_not_move_a_run(
    mctsr: Command, server: FakeServer, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_BASE_URL", "MCTSR_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    assert mctsr("resume", broken).code == 0
    assert len(server.bodies) == 4


@pytest.mark.parametrize("flag", ["--judge-base-url", "--prm-base-url"])
def test_a_role_that_the_run_has_not_cannot_move(mctsr: Command, broken: Path, flag: str) -> None:
    ended = mctsr("resume", broken, flag, "http://127.0.0.1:9/v1")
    assert ended.code == 2
    assert ended.err.startswith(f"error: {flag} does not fit: the run's ")


def test_misuse_that_shows_while_a_run_goes_on_says_how_to_go_on_with_it(
    mctsr: Command, server: FakeServer, data: Path
) -> None:
    Path("own.py").write_text(
        "from dataclasses import replace\n"
        "from mctsr import RecipeError\n"
        "from mctsr.recipes.sampling.zero_shot import zero_shot\n\n\n"
        "def stop(tree, ledger):\n"
        "    raise RecipeError('this does not fit')\n\n\n"
        "def spoilt():\n"
        "    return replace(zero_shot(), stopper=stop)\n"
    )
    asked = ("--recipe", "own.py:spoilt", "--limit", 1, "-o", "run")
    ended = mctsr("solve", data, "--base-url", server.url, *asked)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[-2] == "error: this does not fit (1 of 1 problem not finished)"
    assert ended.err.splitlines()[-1].startswith("next: mctsr resume run · ")
