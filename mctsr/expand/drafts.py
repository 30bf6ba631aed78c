"""What all expanders share: one draft a coroutine, faults kept apart, texts read for their answer."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from mctsr.caller import Caller, all_of, leaving
from mctsr.errors import ServerError
from mctsr.grading import extract_answer
from mctsr.lm.base import Completion
from mctsr.parts import Draft, Fault, Problem

TIMES = "times"
"""Where the work of a draft says how many drafts it stands for, when it is more than one."""


async def together(makers: Iterable[Callable[[], Awaitable[Draft]]]) -> Sequence[Draft | Fault]:
    """Make all drafts at once, in order; one that fails becomes a `Fault` and takes no sibling along.

    Args:
        makers: Called when their turn comes, so that a search cancelled before leaves no coroutine unawaited.

    Raises:
        Refused, ServerGone: The run cannot go on.
    """
    return await all_of(partial(_one, make) for make in makers)


async def _one(make: Callable[[], Awaitable[Draft]]) -> Draft | Fault:
    try:
        return await make()
    except ServerError as error:
        return Fault.of(error)
    except SystemExit:
        raise leaving() from None


def whole_answer(completion: Completion, problem: Problem, work: Mapping[str, str] | None = None) -> Draft:
    """Make a draft of a reply that is a whole answer; an empty reply must not be judged."""
    text = completion.text
    return Draft(
        text,
        extract_answer(text, problem.kind),
        work or {},
        truncated=completion.finish == "length",
        unscored="" if text.strip() else "empty reply",
    )


async def plain_answer(problem: Problem, draft: int, llm: Caller) -> Draft:
    """Answer the problem as it stands: the first call, and the same one, of every recipe of whole answers."""
    completion = await llm.say("answer", {"problem": problem.text}, draft=draft)
    return whole_answer(completion, problem)


def merged(drafts: Sequence[Draft | Fault]) -> Sequence[Draft | Fault]:
    """Keep the first of equal drafts, in place: `work[TIMES]` says how many there were, the prior their share."""
    times = Counter(draft.text.strip() for draft in drafts if isinstance(draft, Draft))
    kept, seen = list[Draft | Fault](), set[str]()
    for draft in drafts:
        if isinstance(draft, Fault):
            kept.append(draft)
            continue
        text = draft.text.strip()
        if text not in seen:
            seen.add(text)
            count = times[text]
            work = {**draft.work, TIMES: str(count)} if count > 1 else draft.work
            kept.append(replace(draft, work=work, prior=count / times.total()))
    return kept
