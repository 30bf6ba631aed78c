"""The README keeps its word: its commands are run, its programs too, against the simulated reasoner."""

import ast
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from mctsr.recipes.registry import choose
from mctsr.rollout import Asked
from mctsr.runs.folder import find_run
from mctsr.testing.puzzles import make_problems
from tests.testing.replies import graded, grow, hashed

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
LINES = [line for kind, block in BLOCKS if kind == "sh" for line in block.splitlines() if line.strip()]
PROGRAMS = [block for kind, block in BLOCKS if kind == "python"]
PROSE = re.sub(r"^```.*?^```", "", TEXT, flags=re.DOTALL | re.MULTILINE)
ASIDES = dict.fromkeys(code for code in re.findall(r"`(mctsr [^`]+)`", TEXT))
SERVER = re.compile(r"http://localhost:\d+/v1")
FEW_CALLS = 12
"""So many calls to the embedded model are made for one line; a line that wants more is only planned."""


def words(line: str) -> list[str]:
    """Split a line as a shell would; its comment is no part of it."""
    return shlex.split(line, comments=True)


def kind(line: str) -> str:
    """Say what a line begins with: "mctsr", "python", "pip" or "scripts"."""
    return words(line)[0].partition("/")[0]


TYPED = [line for line in LINES if words(line)]
COMMANDS = [line for line in TYPED if kind(line) == "mctsr"]
SOLVING = [line for line in COMMANDS if words(line)[1] == "solve"]
MODULES = [line for line in TYPED if kind(line) == "python"]
SERVING = [line for line in MODULES if "--port" in line]
OTHERS = [line for line in TYPED if kind(line) not in ("mctsr", "python")]


@dataclass
class Ended:
    """How a command ended."""

    arguments: list[str]
    code: int
    out: str
    err: str


@dataclass
class Reader:
    """Somebody who types what the README says, in a folder of their own."""

    server: str
    ended: dict[str, Ended] = field(default_factory=dict)

    def type(self, line: str) -> Ended:
        """Run a line that begins with `mctsr`, or with `python` and serves nothing, once."""
        if line not in self.ended:
            self.ended[line] = self.ran(line)
        return self.ended[line]

    def ran(self, line: str) -> Ended:
        """Run a line; of a data file two problems are enough."""
        if kind(line) == "python":
            return shell(line)
        arguments = [self.meant(word) for word in words(line)[1:]]
        with pytest.MonkeyPatch.context() as patch:
            if any(word.endswith(".jsonl") for word in arguments):
                patch.setenv("MCTSR_LIMIT", "2")
            return run(self.planned(arguments) if _embedded(arguments) else arguments)

    def meant(self, word: str) -> str:
        """Put what is there in the place of what stands for it."""
        known = {"RUN": "latest", "YOUR.jsonl": "data.jsonl"}
        return self.problem() if word == "ID" else SERVER.sub(self.server, known.get(word, word))

    def planned(self, arguments: list[str]) -> list[str]:
        """Only plan what would take minutes."""
        dry = [*arguments, "--dry-run"]
        plan = json.loads(run([*dry, "--json"]).out)
        return arguments if plan["expected"]["total_calls"] <= FEW_CALLS else dry

    def latest(self) -> Path:
        """Return the run that a command takes for the latest: of one second the last by name."""
        return find_run("latest", Path("runs"))

    def problem(self) -> str:
        """Return the id of a problem of the newest run."""
        return str(rows(self.latest() / "results.jsonl")[0]["id"])


def run(arguments: list[str]) -> Ended:
    """Run `mctsr` in this process."""
    (entry,) = entry_points(group="console_scripts", name="mctsr")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["mctsr", *arguments])
        patch.setattr(sys, "stdin", io.StringIO())
        main: Callable[[], int] = entry.load()
        code = main()
    said = []
    for stream in (out, err):
        stream.flush()
        stream.seek(0)
        said.append(stream.read())
    return Ended(arguments, code, *said)


def shell(line: str) -> Ended:
    """Run a line that begins with `python` in a shell."""
    command = re.sub("^python", shlex.quote(sys.executable), line)
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    return Ended(words(line), done.returncode, done.stdout, done.stderr)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _embedded(arguments: list[str]) -> bool:
    return "embedded" in arguments or any(word.endswith(".gguf") for word in arguments)


def _recipe_file(arguments: list[str]) -> tuple[str, str] | None:
    found = [re.fullmatch(r"(\w+\.py):(\w+)", word) for word in arguments]
    return next(((match[1], match[2]) for match in found if match), None)


@contextmanager
def serving(*flags: str) -> Iterator[str]:
    """Serve the simulated reasoner from a process of its own; gives what it prints first."""
    command = [sys.executable, "-m", "mctsr.testing.reasoner", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Give the URL of the simulated reasoner."""
    with serving("--port", "0") as url:
        yield url


@pytest.fixture(scope="module")
def reader(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """Give a reader who has a data file, the README's recipe file, and has typed every command in order."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("MCTSR_", "OPENAI_")) and name != "MCTSR_CACHE_DIR":
                patch.delenv(name)
        patch.setenv("COLUMNS", "200")
        patch.chdir(tmp_path_factory.mktemp("reader"))
        data = [{"question": problem.text, "answer": str(gold)} for problem, gold in make_problems(2, 4)]
        Path("data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data), encoding="utf-8")
        pairs = [{"gold": row["answer"], "answer": "42"} for row in data]
        Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs), encoding="utf-8")
        for line in COMMANDS:
            if file := _recipe_file(words(line)):
                (program,) = [text for text in PROGRAMS if f"def {file[1]}(" in text]
                Path(file[0]).write_text(program, encoding="utf-8")
        somebody = Reader(server)
        for line in TYPED:
            if kind(line) == "mctsr" or (line in MODULES and line not in SERVING):
                somebody.type(line)
        yield somebody


# Commands


@pytest.mark.parametrize("line", [*COMMANDS, *(line for line in MODULES if line not in SERVING)])
def test_a_command_does_what_it_says(line: str, reader: Reader) -> None:
    ended = reader.type(line)
    assert ended.code == 0, ended.err
    (file,) = re.findall(r" > (\S+)", line) or [None]
    assert Path(file).read_text(encoding="utf-8").strip() if file else ended.out.strip(), (
        "it gives its result"
    )
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("line", SERVING)
def test_a_server_can_be_started_as_it_says(line: str) -> None:
    module, *flags = words(line)[2:]
    assert module == "mctsr.testing.reasoner"
    flags[flags.index("--port") + 1] = "0"
    with serving(*flags) as url, urlopen(f"{url}/models", timeout=10) as reply:
        assert json.load(reply)["data"]


def test_there_are_commands_of_every_kind() -> None:
    kinds = {words(line)[1] for line in COMMANDS}
    assert {"solve", "report", "show", "export", "grade", "runs", "recipes"} <= kinds


@pytest.mark.parametrize("line", SOLVING)
def test_a_run_that_was_not_only_planned_solved_both_problems(line: str, reader: Reader) -> None:
    ended = reader.type(line)
    if "--dry-run" in ended.arguments:
        assert "expected" in ended.out
    else:
        folder = re.findall(r"runs/[\w.-]+", ended.err)[-1]
        results = rows(Path(folder) / "results.jsonl")
        assert {row["status"] for row in results} == {"ok"}
        assert len(results) == 2 or "-q" in words(line)


@pytest.mark.parametrize("line", ASIDES)
def test_a_command_named_in_passing_works_too(line: str, reader: Reader) -> None:
    ended = reader.type(line)
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("line", OTHERS)
def test_what_is_no_command_of_ours_is_a_script_that_runs_or_a_way_to_install(line: str) -> None:
    first, *rest = words(line)
    if first.startswith("scripts/"):
        assert os.access(ROOT / first, os.X_OK)
        assert subprocess.run(["bash", "-n", ROOT / first], check=False).returncode == 0
        assert rest == []
    else:
        assert (first, rest[0]) == ("pip", "install")


def test_extras_to_install_are_those_there_are() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {extra for found in re.findall(r"\.\[([\w,]+)\]", TEXT) for extra in found.split(",")}
    assert extras
    assert extras <= project["optional-dependencies"].keys()


def test_every_flag_is_in_the_help_of_a_command(reader: Reader) -> None:
    kinds = re.findall(r"^│ ([a-z]+) ", run(["--help"]).out, re.MULTILINE)
    helps = {kind: run([kind, "--help"]).out for kind in kinds}
    flags = set(
        re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join([*COMMANDS, *re.findall(r"`([^`\n]+)`", PROSE)]))
    )
    there = {flag for shown in helps.values() for flag in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", shown)}
    assert {"--base-url", "--json", "-s"} <= flags
    assert flags <= there, sorted(flags - there)


def test_every_reading_command_takes_json(reader: Reader) -> None:
    assert re.search(r"[Ee]very reading command takes `--json`", TEXT)
    for line in dict.fromkeys(line for line in COMMANDS if words(line)[1] not in ("solve", "resume")):
        again = ["--overwrite"] if words(line)[1] == "export" and "--check" not in line else []
        ended = run([*(reader.meant(word) for word in words(line)[1:]), *again, "--json"])
        assert ended.code == 0, line
        # Pairs are graded as they come: one JSON object a line.
        for text in ended.out.splitlines() if "--pairs" in line else [ended.out]:
            json.loads(text)


# Programs


@pytest.mark.parametrize("program", [text for text in PROGRAMS if "Recipe" not in text])
def test_a_program_reads_a_real_run(program: str, reader: Reader) -> None:
    folder = reader.latest()
    file = folder / "trees.jsonl"
    here = re.sub(r"runs/[\w-]+/", f"{folder}/", program)
    assert here != program
    done = subprocess.run(
        [sys.executable, "-W", "error::SyntaxWarning", "-c", here],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    nodes = [(tree["problem_id"], node) for tree in rows(file) for node in tree["nodes"]]
    begun = [line.split() for line in said if line.startswith(tuple({id for id, _ in nodes}))]
    assert len(begun) == len(nodes) > 2
    for line, (problem, node) in zip(begun, nodes, strict=True):
        assert line[0] == problem
        assert {str(node["parent"]), str(node["value"]), str(node["visits"])} <= set(line)


RECIPES = [(text, name) for text in PROGRAMS for name in re.findall(r"^def (\w+)\(.*-> Recipe:", text, re.M)]


@pytest.mark.parametrize(("program", "name"), RECIPES, ids=[name for _, name in RECIPES])
async def test_a_recipe_of_the_readme_searches_and_answers(program: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(program, encoding="utf-8")
    what = choose(f"{file}:{name}").build()
    outcome, lm, _ = await grow(what, graded(hashed))
    assert not outcome.failed
    assert outcome.ledger.asks >= 2
    assert what.answerer(outcome.tree).answer is not None
    assert len(lm.calls) < 50, "it stops by itself"


def best_at_the_time(tree: dict[str, Any]) -> list[tuple[int, int]]:
    """Replay a tree's events: for each refinement the node that was asked, and the best-valued one then."""
    values: dict[int, float] = {}
    pairs = []
    for event in tree["events"]:
        if event["event"] == "folded":
            values |= {id: value for id, _, value in event["changed"] if value is not None}
        elif event["event"] == "asked" and event["ask"]:
            pairs.append((event["node"], max(values, key=values.__getitem__)))
    return pairs


def test_the_recipe_always_refines_the_best_answer_so_far(reader: Reader) -> None:
    (line,) = [line for line in COMMANDS if _recipe_file(words(line))]
    folder = re.findall(r"runs/[\w.-]+", reader.type(line).err)[-1]
    trees = rows(Path(folder) / "trees.jsonl")
    (rollouts,) = re.findall(r"-s rollouts=(\d+)", line)
    for tree in trees:
        pairs = best_at_the_time(tree)
        assert len(pairs) == int(rollouts)
        assert all(asked == best for asked, best in pairs)
    assert len({asked for tree in trees for asked, _ in best_at_the_time(tree)}) > 1, "the best one changed"


def test_the_recipe_is_as_short_as_its_heading_says() -> None:
    (promised,) = re.findall(r"recipe in (\d+) lines", TEXT)
    for program in PROGRAMS:
        if "Recipe" in program:
            assert len([line for line in program.splitlines() if line.strip()]) <= int(promised)


# A stranger, who knows the public names alone

STRANGER = '''
from mctsr import Anywhere, OwnValue, Recipe, SelfRefine, SelfReward, best_value, first_of, rollouts_done

def content(tree, ledger):
    return "good enough" if max(ledger.best) >= 90 else None

def worth(tree, ids):
    return tree.nodes["value"][ids]

def greedy(*, rollouts: int = 4) -> Recipe:
    """Refine the best answer until it is good enough."""
    where = Anywhere(worth, open_below=None, again=False)
    stop = first_of(content, rollouts_done(rollouts))
    return Recipe(SelfRefine(), SelfReward(), where, OwnValue(), stop, best_value)
'''


def test_a_strangers_recipe_takes_few_lines_and_the_public_names_alone() -> None:
    code = [line for line in STRANGER.splitlines() if line.strip()]
    assert len(code) <= 15
    imports = [
        node for node in ast.walk(ast.parse(STRANGER)) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert [node.module for node in imports if isinstance(node, ast.ImportFrom)] == ["mctsr"] * len(imports)


@pytest.mark.parametrize(
    ("scores", "asked", "reason", "chosen"),
    [
        ([10, 20, 5, 30, 8], [0, 1, 1, 3], "rollouts", 3),
        ([10, 5, 5, 5, 5], [0, 0, 0, 0], "rollouts", 0),
        ([10, 40, 91, 0, 0], [0, 1], "good enough", 2),
        ([-50, -40, -30, -20, -10], [0, 1, 2, 3], "rollouts", 4),
    ],
)
async def test_a_strangers_recipe_refines_the_best_so_far(
    scores: list[int], asked: list[int], reason: str, chosen: int, tmp_path: Path
) -> None:
    file = tmp_path / "stranger.py"
    file.write_text(STRANGER, encoding="utf-8")
    what = choose(f"{file}:greedy").build()
    outcome, lm, events = await grow(what, graded(lambda place: scores[place.ask]))
    assert [event.node for event in events if isinstance(event, Asked)][1:] == asked
    assert (outcome.reason, what.answerer(outcome.tree).node) == (reason, chosen)
    assert len(lm.calls) == 2 + 3 * len(asked)


async def test_a_strangers_argument_is_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "stranger.py"
    file.write_text(STRANGER, encoding="utf-8")
    outcome, _, _ = await grow(choose(f"{file}:greedy", {"rollouts": "2"}).build(), graded(hashed))
    assert outcome.ledger.asks == 2
