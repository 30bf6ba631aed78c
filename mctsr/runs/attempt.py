"""One problem: searched on its call log, and turned into records.

Knows which errors end a problem and which end the run. Does not know gold answers, other problems, or when
records are written.
"""

import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from mctsr.answer import answer_of
from mctsr.caller import Referee
from mctsr.engine import Outcome, search
from mctsr.errors import Refused, ServerGone, UsageError, WrongModel
from mctsr.lm.base import LogicalLM
from mctsr.lm.calllog import CallLog, LoggedLM
from mctsr.parts import Ledger, Problem, Selected
from mctsr.prompting import Prompts
from mctsr.recipe import Recipe
from mctsr.recipes.source import told
from mctsr.rollout import Event, Folded
from mctsr.stop import Limits
from mctsr.tree import Tree

from .build import Effort, result_record, tree_record
from .records import ResultRecord, TreeRecord


class Attempt(NamedTuple):
    """How a problem ended.

    Attributes:
        tree: Its tree; None for a failed problem.
        result: Its result, which does not know yet where the tree lies.
        trace: Where the recipe's own code broke, "" when it did not.
    """

    tree: TreeRecord | None
    result: ResultRecord
    trace: str = ""


class Terms(NamedTuple):
    """What is the same for all problems of a run.

    Attributes:
        name: The recipe's name.
        recipe: The recipe.
        prompts: What its parts say.
        seed: The run's seed.
        limits: What one problem may cost.
    """

    name: str
    recipe: Recipe
    prompts: Prompts
    seed: int
    limits: Limits


async def attempt(
    problem: Problem,
    terms: Terms,
    models: LogicalLM,
    log: Path,
    *,
    retry_failed: bool = False,
    watch: Callable[[Event], None] = lambda _: None,
    referee: Referee | None = None,
) -> Attempt:
    """Search one problem, taking from its call log what was said before.

    An error in the recipe's own code fails the problem and no other. What a model of the wrong kind has said is taken
    out of the log; where the log is of an earlier process, the right one may be served by now, and is asked.

    Args:
        problem: The question.
        terms: What is the same for all problems.
        models: Who answers what the log does not hold.
        log: The call log; it goes on growing.
        retry_failed: Ask again for calls that failed before.
        watch: Receives every event of the search.
        referee: Compares answers with the known one, for a recipe that labels.

    Raises:
        Refused, ServerGone: The run cannot go on; the log holds what came so far.
        UsageError: The recipe, the prompts or the log are unusable for all problems alike.
        OSError: The log cannot be written.
    """
    old = log.exists()
    while True:
        try:
            return await _once(
                problem, terms, models, log, retry_failed=retry_failed, watch=watch, referee=referee
            )
        except WrongModel as wrong:
            if not CallLog(log).forget(wrong.part) or not old:
                raise
            old = False


async def _once(
    problem: Problem,
    terms: Terms,
    models: LogicalLM,
    log: Path,
    *,
    retry_failed: bool,
    watch: Callable[[Event], None],
    referee: Referee | None,
) -> Attempt:
    """Search one problem once; raises what `attempt` raises."""
    lm = LoggedLM(models, CallLog(log), retry_failed=retry_failed)
    events: list[Event] = []

    def note(event: Event) -> None:
        events.append(event)
        watch(event)

    began = time.monotonic()

    def result(outcome: Outcome, selected: Selected) -> ResultRecord:
        spent, remarks = time.monotonic() - began, sorted(outcome.ledger.tally.wire)
        effort = Effort(spent, lm.repeated, lm.replayed, lm.stale, remarks)
        return result_record(problem, outcome, selected, effort, terms.limits)

    try:
        outcome = await search(
            problem,
            terms.recipe,
            lm,
            seed=terms.seed,
            prompts=terms.prompts,
            limits=terms.limits,
            watch=note,
            decisions=lm,
            referee=referee,
        )
        selected = answer_of(terms.recipe.answerer, outcome.tree)
        tree = None if outcome.failed else tree_record(problem, terms.name, outcome, events, selected)
        return Attempt(tree, result(outcome, selected))
    except (Refused, ServerGone, UsageError, OSError):
        raise
    except (Exception, SystemExit) as error:
        outcome = _broken_off(error, events)
        return Attempt(None, result(outcome, Selected(None, None, "none")), traceback.format_exc())
    finally:
        lm.close()


def _broken_off(error: BaseException, events: Sequence[Event]) -> Outcome:
    """Say what is left of a search whose recipe broke: no tree that could be trusted, but all that was paid."""
    ledger = Ledger()
    for event in events:
        if isinstance(event, Folded):
            ledger.folds += event.ask > 0
            ledger.tally.add(event.tally)
    return Outcome(
        Tree(), ledger, f"error in the recipe: {told(error)}; the traceback is in run.log", failed=True
    )
