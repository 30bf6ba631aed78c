"""One problem: searched on its call log, and turned into records.

Knows which errors end a problem and which end the run. Does not know gold answers, other problems, or when
records are written.
"""

import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mctsr.engine import search
from mctsr.errors import Refused, ServerGone, UsageError
from mctsr.lm.base import LM, Completion, Place, Request
from mctsr.lm.calllog import CallLog, LoggedLM, LogicalLM
from mctsr.parts import Problem
from mctsr.prompting import Prompts
from mctsr.recipe import Recipe
from mctsr.rollout import Event
from mctsr.stop import Limits

from .build import Effort, failed_record, result_record, tree_record
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
) -> Attempt:
    """Search one problem, taking from its call log what was said before.

    An error in the recipe's own code fails the problem and no other.

    Args:
        problem: The question.
        terms: What is the same for all problems.
        models: Who answers what the log does not hold.
        log: The call log; it goes on growing.
        retry_failed: Ask again for calls that failed before.
        watch: Receives every event of the search.

    Raises:
        Refused, ServerGone: The run cannot go on; the log holds what came so far.
        UsageError: The recipe, the prompts or the log are unusable for all problems alike.
        OSError: The log cannot be written.
    """
    calls = CallLog(log)
    lm = LoggedLM(models, calls, retry_failed=retry_failed)
    seen = _Remarks(lm)
    events: list[Event] = []

    def note(event: Event) -> None:
        events.append(event)
        watch(event)

    began = time.monotonic()

    def effort() -> Effort:
        spent = time.monotonic() - began
        return Effort(spent, _repeated(calls), lm.replayed, lm.stale, tuple(sorted(seen.remarks)))

    try:
        outcome = await search(
            problem,
            terms.recipe,
            seen,
            seed=terms.seed,
            prompts=terms.prompts,
            limits=terms.limits,
            watch=note,
            decisions=lm,
        )
        selected = terms.recipe.answerer(outcome.tree)
        result = result_record(problem, outcome, selected, effort(), terms.limits)
        tree = None if outcome.failed else tree_record(problem, terms.name, outcome, events, selected)
    except (Refused, ServerGone, UsageError, OSError):
        raise
    except Exception as error:
        reason = f"error in the recipe: {type(error).__name__}: {error}"
        return Attempt(None, failed_record(problem, reason, effort()), traceback.format_exc())
    finally:
        calls.close()
    return Attempt(tree, result)


def _repeated(log: CallLog) -> int:
    """Count calls that were sent again because a kill came before their reply was logged, in all processes."""
    unanswered: set[object] = set()
    count = 0
    for line in log.read():
        if line["t"] == "sent":
            count += line["key"] in unanswered
            unanswered.add(line["key"])
        elif "key" in line:
            unanswered.discard(line["key"])
    return count


class _Remarks:
    """A model in front of another that remembers what had to be changed for the servers."""

    def __init__(self, inner: LM) -> None:
        self._inner = inner
        self.remarks: set[str] = set()

    @property
    def offers(self) -> frozenset[str]:
        return self._inner.offers

    async def complete(self, place: Place, request: Request) -> Completion:
        completion = await self._inner.complete(place, request)
        self.remarks.update(completion.wire)
        return completion
