"""The workers: started late, killed in time, replaced, and never left behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mctsr.grading import Grader
from mctsr.grading.symbolic import pool as pools
from mctsr.grading.symbolic.pool import MEMORY, Pool

FORMULAS = [
    ("2\\sqrt{3}", "\\sqrt{12}", True), ("x^2+2x+1", "(x+1)^2", True), ("\\sqrt{2}", "1.4142", True),
    ("\\sin^2 x", "1-\\cos^2 x", True), ("2\\sqrt{3}", "\\sqrt{13}", False), ("x+1", "x-1", False),
    ("1 - 1/\\mathrm{e}", "1 + 1/\\mathrm{e}", False), ("1/2^{99}+x", "1/2^{98}+x", False),
    ("\\frac{1}{2004!}", "\\frac{1}{2006!}", False), ("5x-7y+4=0", "-5x+7y=4", True),
    ("\\lfloor\\frac{2n-1}{5}\\rfloor", "\\lfloor\\frac{2n-1}{8}\\rfloor", False),
    ("\\lceil\\frac{n}{2}\\rceil", "\\lfloor\\frac{n+1}{2}\\rfloor", True), ("(-1)^n", "\\cos(n\\pi)", True),
    ("|k|", "k", False), ("n!", "n\\cdot(n-1)!", True), ("\\sin 30^\\circ", "1/2", True), ("3R^2", "3r^2", False),
]  # fmt: skip

ENDLESS = [
    "((x^{99}+1)^{99}+1)^{99}", "(x^{3999}+1)^{3999}", "9^{9\\cdot 9^9}", "2^{2\\cdot 10^9}",
    "\\exp(\\exp(\\exp(\\exp(99))))",
    "2^{\\frac{10^{99}}{3}}", "\\int_0^1 \\int_0^1 \\frac{\\sin(x^y)}{x+y+1} dx dy", "((2^{3999})^{3999})^{3999}",
    "\\sum_{n=1}^{\\infty} \\frac{\\sin(n^2)}{n^3+\\cos n}", "(10^{3999})^{10^{3998}}",
]  # fmt: skip

REFUSED = [
    "9^{9^{8}}", "9^{9^{9}}", "(10^6)!", "\\binom{1000000}{500000}", "5^{5^{5^{5}}}", "2^{99999999}", "((9!)!)!",
    "\\sum_{k=1}^{999999999} \\frac{1}{k+1}", "x^{" + "{".join("y^" * 60) + "}" * 60, "1+" * 300 + "x",
]  # fmt: skip


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_gone(pids: list[int], seconds: float = 15.0) -> bool:
    end = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(alive, pids))


@pytest.mark.parametrize(("gold", "answer", "equal"), FORMULAS)
def test_formulas_are_compared_by_value(gold: str, answer: str, equal: bool) -> None:
    grade = Grader().grade(gold, answer)
    assert (grade.equal, grade.method) == (equal, "symbolic"), grade


def test_no_worker_is_started_for_numbers_and_none_stays_behind() -> None:
    with Grader() as grader:
        assert grader.grade("5", "5.0").equal
        assert grader.worker_pids == []
        assert grader.grade("2\\sqrt{3}", "\\sqrt{12}").equal
        pids = grader.worker_pids
        assert len(pids) == 1
        assert alive(pids[0])
    assert wait_gone(pids)


def test_a_warmed_worker_is_there_before_the_first_formula() -> None:
    with Grader() as grader:
        grader.warm()
        pids = grader.worker_pids
        assert len(pids) == 1
        assert grader.grade("x+x", "2x").equal
        assert grader.worker_pids == pids


def test_hanging_pairs_among_many_end_as_ungradable_and_cost_no_other_pair_its_verdict() -> None:
    easy = [(rf"\frac{{{n}\sqrt{{2}}}}{{3}}", rf"\sqrt{{2}}\cdot {n}/3") for n in range(2, 92)]
    pairs = [
        *easy,
        *(("\\sqrt{2}+x", hard) for hard in ENDLESS + REFUSED),
        *((str(n), f"{n}.0") for n in range(90)),
    ]
    with Grader(limit=1.2) as grader, ThreadPoolExecutor(2) as threads:
        start = time.monotonic()
        grades = list(threads.map(lambda pair: grader.grade(*pair), pairs))
        seconds = time.monotonic() - start
        pids = grader.worker_pids
    assert sum(grade.equal for grade in grades) == 180
    hard = grades[90:110]
    assert [grade.ungradable and bool(grade.reason) for grade in hard] == [True] * 20
    assert {grade.reason for grade in hard[:10]} == {"timeout"}
    assert {"not computed with" in grade.reason for grade in hard[10:]} == {True}
    assert seconds < 40
    assert wait_gone(pids)


def test_a_killed_worker_is_replaced_and_the_pair_asked_again() -> None:
    with Grader() as grader:
        assert grader.grade("x+x", "2x").equal
        (pid,) = grader.worker_pids
        os.kill(pid, signal.SIGKILL)
        assert grader.grade("x+x+x", "3x").equal
        assert pid not in grader.worker_pids


def test_a_worn_worker_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "_RECYCLED_AFTER", 2)
    with Grader() as grader:
        seen = set()
        for n in range(2, 8):
            assert grader.grade(f"x+{n - 1}x", f"{n}x").equal
            seen |= set(grader.worker_pids)
    assert len(seen) >= 3
    assert wait_gone(list(seen))


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="needs /proc")
def test_a_workers_memory_is_bounded_and_small() -> None:
    with Grader() as grader:
        for gold, answer, _ in FORMULAS:
            grader.grade(gold, answer)
        (pid,) = grader.worker_pids
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        limits = Path(f"/proc/{pid}/limits").read_text(encoding="utf-8")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmPeak"))
    assert peak < 2 * 2**20  # KiB
    assert next(line.split()[3] for line in limits.splitlines() if "address space" in line) == str(MEMORY)


def test_a_pair_that_takes_too_much_memory_is_ungradable_and_the_grader_goes_on() -> None:
    with Grader(memory=200 * 2**20, limit=3) as grader:
        grade = grader.grade("\\sqrt{2}", "((2^{3999})^{3999})^{99}+\\sqrt{3}")
        assert (grade.equal, grade.ungradable) == (False, True)
        assert grade.reason in {"memory", "timeout", "the worker ended before it answered"}
        assert grader.grade("x+x", "2x").equal


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false"])
def test_without_workers_grading_goes_on_with_a_notice(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", program)
    with Grader() as grader:
        assert grader.notice == ""
        grades = [grader.grade(f"\\sqrt{{{n}}}", "x") for n in (2, 3, 5)]
        assert grader.grade("1/2", "0.5").equal
        assert {(grade.equal, grade.method) for grade in grades} == {(False, "none")}
        assert "not available" in grades[-1].reason
        assert grader.notice.startswith("the symbolic layer is not available: ")


def test_threads_the_event_loop_and_the_main_thread_agree() -> None:
    pairs = [(gold, answer) for gold, answer, _ in FORMULAS] * 5
    right = [equal for *_, equal in FORMULAS] * 5

    async def in_loop(grader: Grader) -> list[bool]:
        tasks = (asyncio.to_thread(grader.grade, *pair) for pair in pairs)
        return [grade.equal for grade in await asyncio.gather(*tasks)]

    for way in ("threads", "loop", "here"):
        with Grader() as grader:
            if way == "threads":
                with ThreadPoolExecutor(8) as threads:
                    said = [grade.equal for grade in threads.map(lambda pair: grader.grade(*pair), pairs)]
            else:
                said = (
                    asyncio.run(in_loop(grader)) if way == "loop" else [grader.grade(*p).equal for p in pairs]
                )
        assert said == right, way


SCRIPT = """
import json, sys, threading
from mctsr.grading import Grader
pairs = json.loads(sys.argv[1])
grader = Grader()
said = []
thread = threading.Thread(target=lambda: said.extend(grader.grade(*pair).equal for pair in pairs))
thread.start(); thread.join()
from mctsr.grading.symbolic.pool import LIMIT, MEMORY, process_pool
print(json.dumps([said, process_pool(LIMIT, None, MEMORY).pids]))
"""


def test_a_script_on_standard_input_without_a_terminal_grades_alike_and_leaves_nothing() -> None:
    pairs = [(gold, answer) for gold, answer, _ in FORMULAS]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-", json.dumps(pairs)],
        input=SCRIPT, capture_output=True, text=True, check=False, timeout=60, start_new_session=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    said, pids = json.loads(done.stdout)
    assert said == [equal for *_, equal in FORMULAS]
    assert pids
    assert wait_gone(pids)


def test_a_worker_ends_with_a_parent_that_is_killed_in_the_middle_of_a_pair() -> None:
    script = """
import os, threading, time
from mctsr.grading import Grader
with Grader(limit=1.0) as grader:
    grader.grade("x+x", "2x")
    threading.Thread(target=grader.grade, args=("x", "((x^{99}+1)^{99}+1)^{99}"), daemon=True).start()
    time.sleep(0.2)
    print(*grader.worker_pids, flush=True)
    os.kill(os.getpid(), 9)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    pids = [int(pid) for pid in done.stdout.split()]
    assert pids
    assert wait_gone(pids)


PAYLOADS = [
    "__import__('os').system('touch {mark}')", "exec(\"open('{mark}','w')\")", "open('{mark}','w').write('x')",
    "(lambda: open('{mark}','w'))()", "\\write18{{touch {mark}}}", "\\input{{|\"touch {mark}\"}}",
    "\\immediate\\write18{{touch {mark}}}", "eval(compile('open(\"{mark}\",\"w\")','','exec'))",
    "\\openout5={mark}", "x.__class__.__base__.__subclasses__()", "$(touch {mark})", "`touch {mark}`",
    "\\text{{__import__('os').system('touch {mark}')}}", "1; import os; os.system('touch {mark}')",
]  # fmt: skip


def test_programs_in_answers_do_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    workers = Pool()
    try:
        with Grader() as grader:
            for payload in PAYLOADS:
                text = payload.format(mark=mark)
                assert not grader.grade("5", text).equal
                assert not grader.grade_reply("5", f"The answer is \\boxed{{{text}}}").equal
                # behind the guards as well
                assert workers.ask((text, text + "+1", "", "standard")).equal is not True
    finally:
        workers.close()
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pool_answers_nothing_and_closing_twice_is_nothing() -> None:
    workers = Pool()
    assert workers.ask(("x+x", "2x", "", "standard")).equal is True
    workers.close()
    workers.close()
    assert workers.ask(("x+x", "2x", "", "standard")).equal is None
    assert workers.pids == []
