"""`mctsr solve`: what it asks, writes and prints, what it refuses, and how it ends."""

import errno
import json
import os
import pty
import re
import signal
import socket
import subprocess
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_server import FakeServer, status

from .conftest import ANSWER, COMMAND, Command, Serve

SMALL = ("--recipe", "zero-shot")
FOLDER = re.compile(r"runs/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-zero-shot-sums")


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def closed_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port


def test_a_data_file_becomes_a_run_folder_and_a_report(mctsr: Command, serve: Serve, data: Path) -> None:
    ended = mctsr("solve", data, "--base-url", serve().url, *SMALL)
    assert ended.code == 0
    (folder,) = Path("runs").iterdir()
    assert FOLDER.fullmatch(str(folder))
    assert sorted(row["id"] for row in lines_of(folder / "results.jsonl")) == ["a", "b", "c"]
    assert re.search(r"selected +2 +3 +66\.7 %", ended.out)
    assert f"mctsr show {folder}" in ended.err
    assert f"mctsr export {folder}" in ended.err


def test_the_first_line_says_what_is_going_to_happen(mctsr: Command, serve: Serve, data: Path) -> None:
    server = serve()
    first, second, *rest = mctsr("solve", data, "--base-url", server.url, *SMALL).err.splitlines()
    assert first.startswith("mctsr ")
    assert first.endswith(f"· recipe zero-shot · {data} · server {server.url}")
    assert second.startswith("3 problems · fake")
    assert len(rest) == 3 + 1, "one line a problem, one for what comes next"
    assert not any("\r" in line for line in rest)


def test_json_prints_the_report_alone_on_stdout(mctsr: Command, serve: Serve, data: Path) -> None:
    ended = mctsr("solve", data, "--base-url", serve().url, *SMALL, "--json")
    report = json.loads(ended.out)
    assert (report["done"], report["total"], report["state"]) == (3, 3, "finished")


def test_quiet_shows_the_result_and_nothing_else(mctsr: Command, serve: Serve, data: Path) -> None:
    ended = mctsr("solve", data, "--base-url", serve().url, *SMALL, "--quiet")
    assert ended.err == ""
    assert "selected" in ended.out


def test_the_progress_display_can_be_left_out(mctsr: Command, serve: Serve, data: Path) -> None:
    ended = mctsr("solve", data, "--base-url", serve().url, *SMALL, "--display", "none")
    assert [line.partition(":")[0] for line in ended.err.splitlines()] == ["next"]


def test_a_moving_display_can_be_asked_for_and_leaves_no_line_behind(
    mctsr: Command, serve: Serve, data: Path
) -> None:
    ended = mctsr("solve", data, "--base-url", serve().url, *SMALL, "--display", "rich")
    assert ended.code == 0
    assert "[3/3] c: 4, wrong" in ended.err


def test_a_question_prints_the_selected_answer_on_stdout(mctsr: Command, serve: Serve) -> None:
    ended = mctsr("solve", "-q", "2+2?", "--base-url", serve().url, *SMALL)
    assert (ended.code, ended.out) == (0, f"{ANSWER}\n")
    assert "-question" in ended.err


def test_a_question_with_json_prints_its_result(mctsr: Command, serve: Serve) -> None:
    ended = mctsr("solve", "-q", "2+2?", "--base-url", serve().url, *SMALL, "--json")
    result = json.loads(ended.out)
    assert (result["answers"]["selected"], result["text"]) == ("4", ANSWER)


def test_a_question_that_failed_has_no_text(mctsr: Command, serve: Serve) -> None:
    server = serve()
    server.queue(status(400, "not now"))
    ended = mctsr("solve", "-q", "2+2?", "--base-url", server.url, *SMALL, "--json")
    assert (ended.code, json.loads(ended.out)["text"]) == (1, None)


def test_several_lines_of_plain_text_are_one_question_and_that_is_said(mctsr: Command, serve: Serve) -> None:
    url = serve().url
    ended = mctsr("solve", "-", "--base-url", url, *SMALL, "--json", stdin="2+2?\n\n3+3?\n")
    assert json.loads(ended.out)["status"] == "ok"
    assert "standard input is read as one question of 2 lines; give JSON Lines for several" in ended.err
    assert "one question" not in mctsr("solve", "-", "--base-url", url, *SMALL, stdin="2+2?\n").err
    assert "one question in plain text" in " ".join(mctsr("solve", "--help").out.split())


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_fields_that_are_not_used_are_named_once(mctsr: Command, serve: Serve, more: tuple[str, ...]) -> None:
    Path("odd.jsonl").write_text('{"question": "2+2?", "label": "4"}\n{"question": "3?", "uid": 7}\n')
    solve = ("solve", "odd.jsonl", "--base-url", serve().url, *SMALL, *more)
    ended = mctsr(*solve)
    assert ended.code == 0
    assert ended.err.count("notice: fields not used: label, uid\n") == 1
    assert "if 'label' holds them, give --answer-field label" in ended.err
    assert "notice" not in mctsr(*solve, "--quiet").err


def test_fields_that_the_user_names_are_read_and_recorded_and_resumed(mctsr: Command, serve: Serve) -> None:
    Path("own.jsonl").write_text(
        '{"ask": "2+2?", "true": "4", "nr": 7, "answer": "no"}\n{"ask": "", "nr": 8}\n{"ask": "1+1?", "nr": 9}\n'
    )
    fields = ("--problem-field", "ask", "--answer-field", "true", "--id-field", "nr")
    solve = ("solve", "own.jsonl", "--base-url", serve().url, *SMALL, *fields, "-o", "run")
    refused = mctsr(*solve)
    assert refused.code == 2
    assert "own.jsonl, line 2: 'ask' is ''; it must be a text" in refused.err
    ended = mctsr(*solve, "--skip-bad", "--answer-kind", "number")
    assert "notice: 1 row left out: own.jsonl, line 2: 'ask' is ''" in ended.err
    record = json.loads(Path("run/run.json").read_text())
    assert record["problem_ids"] == ["7", "9"]
    assert record["gold_ids"] == ["7"]
    assert [notice for notice in record["notices"] if notice.startswith("1 row left out: own.jsonl, line 2")]
    kept = record["settings"]
    assert (kept["problem_field"], kept["answer_field"], kept["id_field"]) == ("ask", "true", "nr")
    assert kept["skip_bad"] is True
    assert [grade["gold"] for grade in lines_of(Path("run/grades.jsonl"))] == ["4"]
    results = Path("run/results.jsonl")
    results.write_bytes(results.read_bytes().splitlines(keepends=True)[0])
    again = mctsr("resume", "run")
    assert again.code == 0, again.err
    assert [row["id"] for row in lines_of(results)] == ["7", "9"]


def test_typed_gold_answers_on_stdin_survive_in_the_run(mctsr: Command, serve: Serve) -> None:
    row = {"id": 1, "question": "Roots?", "final_answer": ["$2$, $4$"], "is_multiple_answer": True}
    url = serve("The answer is \\boxed{4, 2}.").url
    ended = mctsr("solve", "-", "--base-url", url, *SMALL, "-o", "run", stdin=json.dumps(row))
    assert ended.code == 0, ended.err
    spelt = json.loads(Path("run/run.json").read_text())["gold"]["1"]
    assert json.loads(spelt) == {"gold": ["2", "4"], "kind": "set"}
    (grade,) = lines_of(Path("run/grades.jsonl"))
    assert grade["gold"] == spelt
    assert [verdict["equal"] for verdict in grade["verdicts"].values()] == [True]
    assert mctsr("grade", "run").code == 0


def test_stdin_may_be_a_question_or_problems(mctsr: Command, serve: Serve, data: Path) -> None:
    url = serve().url
    assert mctsr("solve", "-", "--base-url", url, *SMALL, stdin="2+2?\n").out == f"{ANSWER}\n"
    rows = mctsr("solve", "-", "--base-url", url, *SMALL, "--json", stdin=data.read_text())
    assert json.loads(rows.out)["total"] == 3


def test_flags_may_be_spelt_with_underscores(mctsr: Command, serve: Serve) -> None:
    server = serve()
    assert mctsr("solve", "-q", "2+2?", "--base_url", server.url, *SMALL, "--max_tokens", 7).code == 0
    assert server.bodies[0]["max_tokens"] == 7


def test_sampling_flags_and_extra_fields_arrive_unchanged(mctsr: Command, serve: Serve) -> None:
    server = serve()
    extra = '{"chat_template_kwargs": {"enable_thinking": false}}'
    sampling = ("--temperature", 0.25, "--top-p", 0.5, "--max-tokens", 77, "--extra-body", extra)
    assert mctsr("solve", "-q", "2+2?", "--base-url", server.url, *SMALL, *sampling).code == 0
    (body,) = server.bodies
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.25, 0.5, 77)
    assert body["chat_template_kwargs"] == {"enable_thinking": False}


def test_the_judge_may_be_another_server(mctsr: Command, serve: Serve) -> None:
    policy, judge = serve(models=("writer",)), serve(models=("reader",))
    ended = mctsr(
        *("solve", "-q", "2+2?", "--base-url", policy.url, "--judge-base-url", judge.url, "-s", "rollouts=1"),
        *("--judge-model", "reader", "--judge-max-tokens", 33),
    )
    assert ended.code == 0
    assert {body["model"] for body in policy.bodies} == {"writer"}
    assert {(body["model"], body["max_tokens"]) for body in judge.bodies} == {("reader", 33)}


def test_what_the_server_does_not_take_is_said_once_unless_quiet(mctsr: Command, serve: Serve) -> None:
    url = serve(refuses={"seed": "unknown field seed"}).url
    assert mctsr("solve", "-q", "2+2?", "--base-url", url, *SMALL).err.count("does not take seed") == 1
    url = serve(refuses={"seed": "unknown field seed"}).url
    assert mctsr("solve", "-q", "2+2?", "--base-url", url, *SMALL, "--quiet").err == ""


def test_some_problems_can_be_picked(mctsr: Command, serve: Serve, data: Path) -> None:
    server = serve()
    picked = mctsr("solve", data, "--base-url", server.url, *SMALL, "--ids", "c,a", "--limit", 1, "--json")
    assert json.loads(picked.out)["total"] == 1
    assert "2+2?" in server.bodies[0]["messages"][-1]["content"]


def test_a_folder_that_holds_a_run_is_refused_before_any_call_and_replaced_when_told_so(
    mctsr: Command, serve: Serve, data: Path
) -> None:
    server = serve()
    solve = ("solve", data, "--base-url", server.url, *SMALL, "-o", "here")
    assert mctsr(*solve).code == 0
    asked = len(server.bodies)
    again = mctsr(*solve)
    assert again.code == 2
    assert "`mctsr resume here`" in again.err
    assert "--overwrite" in again.err
    assert len(server.bodies) == asked
    assert mctsr(*solve, "--overwrite", "--limit", 1).code == 0
    assert len(lines_of(Path("here/results.jsonl"))) == 1


def test_call_logs_are_kept_when_told_so(mctsr: Command, serve: Serve, data: Path) -> None:
    assert mctsr("solve", data, "--base-url", serve().url, *SMALL, "-o", "here", "--keep-calls").code == 0
    assert len(list(Path("here/calls").iterdir())) == 3


USAGE = [
    ((), "give a file of problems"),
    (("data.jsonl", "-q", "2+2?"), "give a file of problems"),
    (("-q", "x", "--limit", "1"), "--limit, --ids and fields are for a file; leave them out with -q"),
    (("nowhere.jsonl",), "data file 'nowhere.jsonl' does not exist"),
    (("-q", " "), "the question is empty"),
    (("-q", "x", "--max-concurrency", "0"), "--max-concurrency: '0'; give a whole number, 1 or more"),
    (("-q", "x", "--max-concurrency", "-1"), "--max-concurrency: '-1'; give a whole number, 1 or more"),
    (("-q", "x", "--max-concurrency", "abc"), "--max-concurrency: 'abc'; give a whole number, 1 or more"),
    (("-q", "x", "--width", "1.5"), "--width: '1.5'; give a whole number, 1 or more"),
    (("-q", "x", "--temperature", "nan"), "--temperature: 'nan'; give a number from 0 to 2"),
    (("-q", "x", "--top-p", "0"), "--top-p: '0'; give a number above 0 to 1"),
    (("-q", "x", "--timeout", "0"), "--timeout: '0'; give a number above 0"),
    (("-q", "x", "--timeout", "inf"), "--timeout: 'inf'; give a number above 0"),
    (("-q", "x", "--max-retries", "-1"), "--max-retries: '-1'; give a whole number, 0 or more"),
    (("-q", "x", "--extra-body", "[1]"), "--extra-body: '[1]'; give a JSON object"),
    (("-q", "x", "--extra-body", "{"), "--extra-body: '{'; give a JSON object"),
    (("-q", "x", "--display", "loud"), "--display"),
    (("-q", "x", "--answer-kind", "colour"), "answer kind 'colour' is unknown"),
    (("-q", "x", "--recipe", "mctss"), "no recipe 'mctss'; did you mean 'mctsr'?"),
    (("-q", "x", "--recipe", "own.py"), "give own.py:mine"),
    (("-q", "x", "-s", "rollouts"), "-s 'rollouts' is no assignment; give -s key=value"),
    (("-q", "x", "-s", "=1"), "-s '=1' is no assignment"),
    (("-q", "x", "-s", "rollout=1"), "no argument 'rollout'; did you mean 'rollouts'?"),
    (("-q", "x", "-s", "rollouts=many"), "'many'; allowed is int"),
    (("-q", "x", "--prompts", "nowhere"), "prompt folder 'nowhere' does not exist"),
    (("-q", "x", "--overwrite", "False"), "give a file of problems"),
    (("-q", "x", "--base-url", "here"), "'here' is one bare word"),
    (("-q", "x", "--base-url", "http://u:secret@h/v1"), "the base URL carries a user or password"),
    (("-q", "x", "--model", "embedded"), "--model embedded starts a server of its own"),
    (("-q", "x", "--max-tokn", "1"), "--max-tokn"),
    (("-q", "x", "-o", "data.jsonl/run"), "data.jsonl"),
]


@pytest.mark.parametrize(
    ("arguments", "said"), USAGE, ids=lambda part: " ".join(part) if isinstance(part, tuple) else ""
)
def test_wrong_input_is_one_line_and_exit_code_2(
    mctsr: Command, arguments: tuple[str, ...], said: str, serve: Serve
) -> None:
    Path("data.jsonl").write_text('{"question": "2+2?"}\n')
    Path("own.py").write_text("def mine(): ...\n")
    server = [] if "--base-url" in arguments else ["--base-url", "http://127.0.0.1:9/v1"]
    ended = mctsr("solve", *arguments, *server)
    assert (ended.code, ended.out) == (2, "")
    *before, last = ended.err.splitlines()
    assert last.startswith("error: ")
    assert said in last
    assert "secret" not in ended.err
    assert all(line.startswith("mctsr ") for line in before)
    assert not Path("runs").exists()


def test_without_a_server_nothing_begins(mctsr: Command) -> None:
    ended = mctsr("solve", "-q", "2+2?")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: no server; give --base-url URL (or OPENAI_BASE_URL), or --model embedded\n"


@pytest.mark.parametrize(("model", "near"), [("embeded", True), ("Embedded", True), ("big", False)])
def test_a_misspelt_embedded_model_is_recognised(mctsr: Command, model: str, near: bool) -> None:
    ended = mctsr("solve", "-q", "2+2?", "--model", model)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: no server for --model {model}; ")
    assert ("did you mean embedded?" in ended.err) is near


def test_no_server_is_said_to_be_started_before_it_is(mctsr: Command) -> None:
    ended = mctsr("solve", "nowhere.jsonl", "--model", "embedded")
    assert ended.code == 2
    first, error = ended.err.splitlines()
    assert first.endswith("· nowhere.jsonl · embedded model")
    assert "does not exist" in error
    assert "started" not in ended.err


def test_a_model_asked_for_by_flag_wins_over_an_address_from_a_variable(
    mctsr: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    ended = mctsr("solve", "-q", "2+2?", "--model", "embedded", "--dry-run", "--json")
    assert json.loads(ended.out)["servers"]["policy"] == "embedded model"


def test_a_judge_needs_a_server_too(mctsr: Command) -> None:
    ended = mctsr("solve", "-q", "2+2?", "--model", "embedded", "--judge-model", "big")
    assert ended.code == 2
    assert "--judge-base-url" in ended.err


def test_a_remote_server_without_a_key_is_refused_before_the_first_call(mctsr: Command) -> None:
    ended = mctsr("solve", "-q", "2+2?", "--base-url", "https://api.example.com/v1")
    assert ended.code == 2
    assert ended.err.splitlines()[-1].startswith("error: no key for api.example.com; set OPENAI_API_KEY")


def test_a_dry_run_prints_the_plan_and_contacts_nothing(mctsr: Command, serve: Serve, data: Path) -> None:
    server = serve()
    ended = mctsr("solve", data, "--base-url", server.url.removesuffix("/v1"), "--dry-run", "--limit", 2)
    assert (ended.code, ended.err) == (0, "")
    assert not server.gets
    assert not server.bodies
    assert not Path("runs").exists()
    assert f"server    {server.url}" in ended.out
    assert "data      JSON Lines: problem from question, answer from answer, id from id\n" in ended.out
    assert "          answers read as any kind (nothing says what answers are like)\n" in ended.out
    assert "mctsr(rollouts=8, max_children=2, c=1.4," in ended.out
    assert "35 calls" in ended.out
    assert "70 calls" in ended.out
    assert re.search(r"^limit +2 +flag$", ended.out, re.MULTILINE)


def test_a_dry_run_counts_what_the_search_then_asks(mctsr: Command, serve: Serve, data: Path) -> None:
    server = serve()
    how = ("solve", data, "--base-url", server.url, "-s", "rollouts=2")
    expected = json.loads(mctsr(*how, "--dry-run", "--json").out)["expected"]
    assert mctsr(*how).code == 0
    assert expected["total_calls"] == len(server.bodies) == 33


BROKEN = """
from mctsr import Anywhere, OwnValue, Recipe, SelfRefine, SelfReward, best_value, rollouts_done

def score(tree, ids):
    return [tree.nothing[i] for i in ids]

def broken():
    return Recipe(SelfRefine(), SelfReward(), Anywhere(score), OwnValue(), rollouts_done(2), best_value)
"""


def test_an_error_in_a_recipe_of_ones_own_is_one_line_with_its_place(mctsr: Command, serve: Serve) -> None:
    Path("badr.py").write_text(BROKEN)
    how = ("solve", "-q", "2+2?", "--base-url", serve().url, "--recipe", "badr.py:broken", "-o", "here")
    words = "AttributeError: 'Tree' object has no attribute 'nothing' (badr.py:5)"
    assert mctsr(*how, "--dry-run") == (2, "", f"error: recipe 'badr.py:broken' broke: {words}\n")
    ended = mctsr(*how)
    assert (ended.code, ended.out) == (1, "")
    assert f"error in the recipe: {words}; the traceback is in run.log" in ended.err
    assert "Traceback" not in ended.err
    assert "Traceback" in Path("here/run.log").read_text()
    assert ended.err.splitlines()[-1].startswith(
        "next: mend the recipe and begin a new run with mctsr solve · mctsr show here · "
    )
    assert "resume" not in ended.err


def test_a_part_of_ones_own_that_lacks_something_is_refused_wherever_it_is_named(
    mctsr: Command, serve: Serve
) -> None:
    Path("poor.py").write_text(BROKEN.replace("Anywhere(score)", "Poor()") + "\nclass Poor:\n    roots = 1\n")
    server = serve()
    how = ("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", "poor.py:broken")
    for command in (how, (*how, "--dry-run"), ("recipes", "poor.py:broken")):
        ended = mctsr(*command)
        assert ended.code == 2
        assert ended.err.splitlines()[-1].startswith("error: the selector 'Poor' has no barrier, ask, tell; ")
    assert not server.bodies


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--max-tokens", 120), "notice: --max-tokens 120 is for one call; a step of up to 1,024 tokens"),
        (("--max-tokens", 120), "; give -s max_step_tokens=120 to end it there"),
        (("--max-tokens", 120, "-s", "max_step_tokens=120"), ""),
        ((), ""),
    ],
)
def test_a_step_that_may_be_longer_than_a_call_is_told_beforehand(
    mctsr: Command, more: tuple[object, ...], said: str
) -> None:
    ended = mctsr("solve", "-q", "x", "--base-url", "http://h:1", "--recipe", "beam", "--dry-run", *more)
    assert ended.code == 0
    assert said in ended.err
    assert bool(said) == bool(ended.err)


def test_a_dry_run_names_the_servers_that_are_asked_and_what_its_numbers_hold_for(mctsr: Command) -> None:
    def told(*more: object) -> str:
        return mctsr("solve", "-q", "x", "--base-url", "http://h:1", "--dry-run", *more).out

    beam = told("--recipe", "beam")
    assert re.search(r"^judge +http://h:1/v1$", beam, re.MULTILINE)
    assert "expected  at most about 192 calls, " in beam
    assert "          at most about 192 calls, " in beam
    omega = told("--recipe", "omega-prm")
    assert "judge " not in omega
    assert "expected  at most about " in omega
    assert " a problem, less where solutions are short or agree\n" in omega
    capped = told("--recipe", "puct-prm", "--max-calls", 6)
    assert ", for solutions of up to 6 steps; the call limit ends it\n" in capped
    assert ", for solutions of 1 step\n" in told("--recipe", "beam", "-s", "max_steps=1")
    scored = told("--recipe", "beam", "-s", "judge=qwen-prm")
    assert re.search(r"^prm +none is given; name one with --prm-base-url URL$", scored, re.MULTILINE)
    assert "judge  " not in scored


def test_a_server_that_refuses_every_request_fails_the_run_with_its_words(
    mctsr: Command, serve: Serve, data: Path
) -> None:
    server = serve(refuses={"messages": "temperature of this server is too high"})
    ended = mctsr("solve", data, "--base-url", server.url, *SMALL)
    assert (ended.code, ended.out) == (1, "")
    assert "all 3 problems failed: " in ended.err
    assert "temperature of this server is too high" in ended.err
    assert "%" not in ended.err
    assert "mctsr resume runs/" in ended.err


def test_a_wrong_key_ends_the_run_at_once(mctsr: Command, serve: Serve, data: Path) -> None:
    server = serve()
    server.queue(*[status(401, "Incorrect API key provided")] * 9)
    ended = mctsr("solve", data, "--base-url", server.url, *SMALL)
    assert ended.code == 1
    assert "Incorrect API key provided" in ended.err
    assert "3 of 3 problems not finished" in ended.err


@pytest.mark.parametrize(("allowed", "code"), [("0.2", 1), ("0.4", 0), ("0", 1), ("1", 0)])
def test_failed_problems_count_against_what_is_allowed(
    mctsr: Command, serve: Serve, data: Path, allowed: str, code: int
) -> None:
    server = serve()
    server.queue(status(400, "not this one"))
    ended = mctsr("solve", data, "--base-url", server.url, *SMALL, "--fail-on-error", allowed, "--json")
    assert ended.code == code
    assert len(json.loads(ended.out)["failures"]) == 1
    assert (f"--fail-on-error allows {allowed}" in ended.err) == bool(code)


def test_a_folder_that_cannot_be_written_any_more_is_one_line(
    mctsr: Command, serve: Serve, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "here/trees.jsonl")

    monkeypatch.setattr("mctsr.runs.writer.RunWriter.commit", full)
    ended = mctsr("solve", data, "--base-url", serve().url, *SMALL, "-o", "here")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.endswith(
        "error: here/trees.jsonl: no space left on device; "
        "free some space, then go on with mctsr resume or try again\n"
    )


def test_some_failures_are_no_failed_run_by_themselves(mctsr: Command, serve: Serve, data: Path) -> None:
    server = serve()
    server.queue(status(400, "not this one"))
    ended = mctsr("solve", data, "--base-url", server.url, *SMALL)
    assert ended.code == 0
    assert "failed: " in ended.err
    assert "not this one" in ended.err


def test_a_dead_port_is_told_within_seconds(mctsr: Command, data: Path) -> None:
    began = time.monotonic()
    url = f"http://127.0.0.1:{closed_port()}/v1"
    ended = mctsr("solve", data, "--base-url", url)
    assert time.monotonic() - began < 5
    assert ended.code == 1
    assert f"error: no server answers at {url}: connection refused" in ended.err
    assert not Path("runs").exists()


def test_a_key_is_sent_and_never_shown_or_written(
    mctsr: Command, serve: Serve, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    keys = {"OPENAI_API_KEY": "sk-from-variable", "MCTSR_JUDGE_API_KEY": "sk-of-the-judge"}
    for name, key in keys.items():
        monkeypatch.setenv(name, key)
    server.queue(status(400, "your key sk-from-variable is odd"))
    said = [
        mctsr("solve", data, "--base-url", server.url, *SMALL),
        mctsr("solve", data, "--base-url", server.url, "--dry-run"),
        mctsr("solve", data, "--base-url", server.url, "--api-key", "sk-from-flag", "--dry-run", "--json"),
        mctsr("solve", data, "--api-key", "sk-from-flag", "--max-tokens", "no"),
        mctsr("solve", "--help"),
    ]
    assert server.headers[0]["Authorization"] == "Bearer sk-from-variable"
    written = [file.read_text() for file in Path("runs").rglob("*") if file.is_file()]
    assert len(written) >= 4
    assert [text for ended in said for text in (ended.out, ended.err, *written) if "sk-" in text] == []


def until(folder: Path, pattern: str, process: "subprocess.Popen[str]") -> None:
    """Wait until something is in a file of the run."""
    for _ in range(300):
        if any(path.stat().st_size for path in folder.glob(pattern)):
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError(f"no {pattern} in {folder}")


def running(server: FakeServer, data: Path, *more: str) -> "subprocess.Popen[str]":
    """Start a run in a process of its own, in the folder `here`."""
    command = [*COMMAND, "solve", str(data), "--base-url", server.url, "-o", "here", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_stops_cleanly_and_the_run_goes_on_afterwards(
    mctsr: Command, serve: Serve, data: Path
) -> None:
    server = serve(delay=lambda body: 0.0 if "2+2?" in str(body["messages"]) else 3.0)
    process = running(server, data, *SMALL)
    until(Path("here"), "live/b.jsonl", process)
    until(Path("here"), "results.jsonl", process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert err.endswith("interrupted; go on with: mctsr resume here\n")
    assert [row["id"] for row in lines_of(Path("here/results.jsonl"))] == ["a"]
    server.delay = 0.0
    asked = len(server.bodies)
    ended = mctsr("resume", "here", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["done"] == 3
    assert len(server.bodies) == asked + 2


def test_ctrl_c_before_the_server_is_there_leaves_nothing_behind(serve: Serve, data: Path) -> None:
    server = serve(loading=60.0)
    process = running(server, data, "--wait-for-server", "60", "--display", "none")
    for _ in range(600):
        if server.gets:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=10) == ("", "interrupted; nothing was begun\n")
    assert process.returncode == 130
    assert not Path("here").exists()


def test_sigterm_stops_cleanly_also_when_it_comes_twice(serve: Serve, data: Path) -> None:
    process = running(serve(delay=30.0), data, *SMALL)
    until(Path("here"), "live/a.jsonl", process)
    for _ in range(2):  # as `timeout` does, which signals the process and then its group
        process.send_signal(signal.SIGTERM)
        time.sleep(0.02)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (143, "")
    assert "Traceback" not in err
    assert err.endswith("interrupted; go on with: mctsr resume here\n")


STUBBORN = """
import asyncio, time

class Stubborn:
    needs = frozenset()
    async def open(self, problem, n, llm):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            time.sleep(60)
    grow = open

def stubborn():
    from dataclasses import replace
    from mctsr.recipes.sampling.zero_shot import zero_shot
    return replace(zero_shot(), expander=Stubborn())
"""


def test_a_second_ctrl_c_ends_at_once(serve: Serve, data: Path) -> None:
    Path("stubborn.py").write_text(STUBBORN)
    process = running(serve(), data, "--recipe", "stubborn.py:stubborn")
    assert process.stderr is not None
    said = iter(process.stderr.readline, "")
    assert next(line for line in said if line.startswith("3 problems"))
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert next(line for line in said if line.startswith("stopping; press Ctrl-C again"))
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    assert time.monotonic() - began < 2
    process.communicate()


def test_a_reader_that_goes_away_stops_no_run_and_draws_no_traceback(serve: Serve, data: Path) -> None:
    command = [*COMMAND, "solve", str(data), "--base-url", serve(delay=0.2).url, *SMALL, "-o", "here"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"mctsr ")
        process.stdout.close()
        process.stderr.close()
        assert process.wait(20) in (0, 141)
    assert len(lines_of(Path("here/results.jsonl"))) == 3


def test_on_a_terminal_one_line_moves_and_is_gone_at_the_end(
    serve: Serve, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    terminal, side = pty.openpty()
    command = [
        *COMMAND,
        "solve",
        str(data),
        "--base-url",
        serve(delay=1.0).url,
        *SMALL,
        "--max-concurrency",
        "1",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=side, stdin=subprocess.DEVNULL) as process:
        os.close(side)
        shown = b"".join(iter(lambda: read_terminal(terminal), b"")).decode()
        assert process.wait(20) == 0
    assert "\x1b[?25l" in shown, "the cursor is hidden"
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l"), "and comes back"
    assert re.search(r"1/3 done · 1 open · 1 call in flight · \d+ rollouts? · [1-9]\d* tokens/s", shown)
    assert "selected@1 100 % [21–100]" in shown
    assert "ETA" in shown


def read_terminal(terminal: int) -> bytes:
    """Read what was written; a terminal whose writers are gone is at its end."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def test_a_silent_run_says_where_it_is_every_ten_seconds(serve: Serve) -> None:
    began = time.monotonic()
    command = [*COMMAND, "solve", "-q", "2+2?", "--base-url", serve(delay=12.0).url, *SMALL]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    at = [(time.monotonic() - began, line) for line in process.stderr]
    process.communicate()
    assert at[0][0] < 2
    gaps = [later[0] - earlier[0] for earlier, later in pairwise(at)]
    assert max(gaps) <= 10
    assert any(
        re.match(r"0/1 done · waiting for the first reply, \d+\.\d s · 1 call in flight$", line)
        for _, line in at
    )
    assert not any("\r" in line for _, line in at)


def test_a_plan_without_an_end_is_priced_all_the_same(mctsr: Command) -> None:
    plan = ("solve", "-q", "2+2?", "--base-url", "http://h:1", "--dry-run", "-s", "rollouts=1" + "0" * 24)
    ended = mctsr(*plan)
    assert ended.code == 0
    assert re.search(r"expected +more than [\d,]+ calls", ended.out)
    assert json.loads(mctsr(*plan, "--max-calls", "9", "--json").out)["expected"]["at_least"] is False


def test_a_model_file_is_named_by_its_last_part_and_counts_by_their_words(
    mctsr: Command, serve: Serve
) -> None:
    ended = mctsr("solve", "-q", "2+2?", "--base-url", serve(models=("/deep/in/x.gguf",)).url, *SMALL)
    assert re.search(r"^1 problem · x\.gguf \(other\) at ", ended.err, re.MULTILINE)
