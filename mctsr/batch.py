"""Many problems at once: the plan of a run, its price beforehand, its execution, and going on with it.

Knows what a run needs and what must not have changed when it goes on. Gold answers are read here and handed to
whoever grades; nothing that searches sees them. Does not know flags, screens, or how a tree grows.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from platform import python_version

from mctsr.errors import PromptError, RunError, UsageError, named, user_path
from mctsr.lm.base import Role
from mctsr.lm.connect import Connected
from mctsr.parts import Judge, Problem
from mctsr.problems import (
    STDIN,
    chosen_gold,
    chosen_problems,
    chosen_skips,
    lasting_name,
    problem_hash,
    problems_sha256,
    question_problem,
)
from mctsr.prompting import Prompts
from mctsr.recipe import Recipe
from mctsr.recipes.registry import Chosen, choose
from mctsr.runs.attempt import Terms
from mctsr.runs.folder import Run
from mctsr.runs.grades import gold_sha256, labelling, with_gold
from mctsr.runs.price import Estimate, price
from mctsr.runs.records import SCHEMA, RunRecord
from mctsr.runs.settings import Settings, from_record, moved, pinned, to_record
from mctsr.runs.solving import BatchEvent, ProblemFinished, ProblemStarted, Summary, server_records, solve_all
from mctsr.runs.writer import RunWriter
from mctsr.stop import Limits

__all__ = [
    "BatchEvent", "Estimate", "Plan", "ProblemFinished", "ProblemStarted", "Summary", "estimate", "plan",
    "resume_plan", "run_record", "solve",
]  # fmt: skip

_PACKAGES = ("mctsr", "numpy", "numba", "aiohttp", "orjson")


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is settled before a model is asked.

    Attributes:
        name: Of the run: recipe and data.
        problems: In the order in which they are opened; without gold answers.
        chosen: The recipe's function with its arguments.
        recipe: The recipe, with the width that the settings ask for.
        prompts: What its parts say.
        settings: As given.
        gold: Gold answers by problem id, for grading alone; empty when the data has none.
        data: Absolute path of the data file, or a data set's name; None for a question or standard input.
        notices: What the run should say of its data: rows that were left out.
    """

    name: str
    problems: list[Problem]
    chosen: Chosen
    recipe: Recipe
    prompts: Prompts
    settings: Settings
    gold: Mapping[str, str]
    data: str | None
    notices: tuple[str, ...] = ()

    @property
    def terms(self) -> Terms:
        """What all searches have in common."""
        wanted = self.settings
        limits = Limits(wanted.max_calls, wanted.token_limit, wanted.time_limit)
        return Terms(Path(wanted.recipe).name, self.recipe, self.prompts, wanted.seed, limits)


def plan(
    settings: Settings, source: str | None = None, question: str | None = None, stdin_text: str | None = None
) -> Plan:
    """Read and check everything that `settings` name.

    Args:
        settings: What the run is told to do.
        source: Path of a data file, or "-" for standard input.
        question: One question instead.
        stdin_text: What stands on standard input, when it was read already.

    Raises:
        UsageError: Both or neither of `source` and `question`, or something in them or in the settings is unfit.
    """
    if (source is None) == (question is None):
        raise UsageError("give either a data file (or - for standard input) or a question with -q")
    gold: Mapping[str, str] = {}
    notices: tuple[str, ...] = ()
    if source is None:
        problems = [question_problem(question or "", settings.answer_kind)]
    else:
        problems = chosen_problems(source, settings, stdin_text)
        gold, notices = chosen_gold(source, settings, stdin_text), chosen_skips(source, settings, stdin_text)
    data = None if source in (None, STDIN) else lasting_name(str(source))
    word = Path(data).stem if data else "question" if source is None else "stdin"
    made = _settled(settings, problems, gold, data, word)
    return replace(made, notices=(*notices, *made.notices))


def estimate(plan: Plan) -> Estimate:
    """Find the expected cost by running the recipe on made-up replies; contacts nothing."""
    return price(plan.problems, plan.recipe, plan.prompts, plan.settings)


def run_record(plan: Plan, connected: Connected, created: datetime) -> RunRecord:
    """Write a plan down: everything needed to say what is run and to go on with it, and no secret."""
    inline = plan.data is None
    record: RunRecord = {
        "schema": SCHEMA,
        "name": plan.name,
        "created": created.astimezone().isoformat(timespec="seconds"),
        "versions": {"python": python_version(), **{name: version(name) for name in _PACKAGES}},
        "settings": to_record(plan.settings),
        "recipe": plan.terms.name,
        "recipe_arguments": dict(plan.chosen.arguments),
        "recipe_source_sha256": plan.chosen.source_sha256,
        "scale": _scale(plan.recipe.judge),
        "prompts": plan.prompts.hashes(),
        "data": plan.data,
        "problems": [{"id": p.id, "text": p.text, "kind": p.kind} for p in plan.problems] if inline else None,
        "problem_ids": [problem.id for problem in plan.problems],
        "problem_hashes": [problem_hash(problem) for problem in plan.problems],
        "problems_sha256": problems_sha256(plan.problems),
        "gold": dict(plan.gold) if inline and plan.gold else None,
        "gold_ids": [],
        "gold_sha256": None,
        "servers": server_records(connected),
        "notices": [*plan.notices, *connected.notices],
    }
    return with_gold(record, plan.gold)


def _scale(judge: Judge | None) -> list[float] | None:
    """Return a judge's bounds, where it has both: JSON has no infinity."""
    bounds = [] if judge is None else [float(judge.low), float(judge.high)]
    return bounds if bounds and all(map(math.isfinite, bounds)) else None


def resume_plan(run: Run, addresses: Mapping[Role, str] | None = None) -> Plan:
    """Make the plan of a run again, to go on with it as it was begun.

    Args:
        run: The run.
        addresses: Where the servers of some roles are now; the models stay the same.

    Raises:
        RunError: Problems, recipe or prompts are not what they were; says what changed.
        UsageError: Something that the run needs cannot be read any more, or an address is for no server of its.
    """
    record = run.record
    settings = moved(pinned(from_record(record["settings"]), record["servers"]), addresses or {})
    if record["data"] is None:
        problems = [Problem(str(p["id"]), str(p["text"]), p["kind"]) for p in record["problems"] or ()]
        gold = record["gold"] or {}
    else:
        problems, gold = chosen_problems(record["data"], settings), chosen_gold(record["data"], settings)
    again = replace(_settled(settings, problems, gold, record["data"], ""), name=record["name"])
    if changes := _changes(record, again):
        raise RunError(f"{run.path} cannot go on: {'; '.join(changes)}; put it back, or begin a new run")
    return again


async def solve(
    plan: Plan, writer: RunWriter, connected: Connected, watch: Callable[[BatchEvent], None] = lambda _: None
) -> Summary:
    """Solve every problem of `plan` that has no result yet in the writer's folder; failed ones again.

    A problem that fails takes no other along. A server that refuses every call or is gone ends the run: problems
    then open stay unfinished, with their call logs. Cancelling does the same.

    Args:
        plan: What is to be done.
        writer: The run folder.
        connected: Who answers.
        watch: Receives what happens, in order for each problem.

    Raises:
        UsageError: The recipe needs what the servers do not offer, or its parts misuse them.
        OSError: The folder cannot be written.
    """
    return await solve_all(plan.problems, plan.terms, plan.gold, writer, connected, watch)


def _settled(
    settings: Settings, problems: list[Problem], gold: Mapping[str, str], data: str | None, word: str
) -> Plan:
    chosen = choose(settings.recipe, settings.arguments)
    recipe = chosen.build()
    if settings.width is not None:
        recipe = replace(recipe, width=settings.width)
    prompts = Prompts(user_path(settings.prompts) if settings.prompts else None)
    if missing := recipe.prompts - set(prompts):
        raise PromptError(f"no prompt named {named(sorted(missing))}; there are {named(sorted(prompts))}")
    name = re.sub(r"[^\w.-]+", "-", f"{Path(settings.recipe).name}-{word}")
    kept = {problem.id: gold[problem.id] for problem in problems if problem.id in gold}
    notices = labelling(recipe, chosen.arguments, [problem.id for problem in problems], kept)
    return Plan(name, problems, chosen, recipe, prompts, settings, kept, data, notices)


def _changes(record: RunRecord, again: Plan) -> list[str]:
    """Say in what a plan differs from the record that it was made from."""
    found = []
    if record["problems_sha256"] != problems_sha256(again.problems):
        found.append(_problem_changes(record, again.problems))
    if record["recipe_arguments"] != dict(again.chosen.arguments):
        was, now = record["recipe_arguments"], dict(again.chosen.arguments)
        found.append(f"the arguments of {record['recipe']!r} were {was} and are {now}")
    if again.recipe.uses_gold and record["gold_sha256"] != gold_sha256(again.gold):
        found.append("the known answers changed, and the search uses them")
    if record["recipe_source_sha256"] != again.chosen.source_sha256:
        found.append(f"the source of recipe {record['recipe']!r} changed")
    # A prompt that came later is no change: what the run began with cannot use it.
    hashes = again.prompts.hashes()
    if changed := sorted(name for name, was in record["prompts"].items() if hashes.get(name) != was):
        found.append(f"the prompts {', '.join(changed)} changed")
    return found


def _problem_changes(record: RunRecord, problems: list[Problem]) -> str:
    before = dict(zip(record["problem_ids"], record["problem_hashes"], strict=True))
    now = {problem.id: problem_hash(problem) for problem in problems}
    kinds = {
        "gone": [id for id in before if id not in now],
        "new": [id for id in now if id not in before],
        "changed": [id for id in before if id in now and before[id] != now[id]],
    }
    shown = [f"{len(ids)} {word} (such as {ids[0]!r})" for word, ids in kinds.items() if ids]
    return f"the problems in {record['data']} differ: {', '.join(shown) or 'their order changed'}"
