"""The model as one ask sees it: prompts are filled, places are named, costs are counted."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from itertools import chain, islice
from typing import TypeVar

from mctsr.errors import PromptError, ServerError, UsageError
from mctsr.lm.base import LM, Completion, Message, Place, Pooled, Pooling, Request, Role, Tally, offered_by
from mctsr.prompting import Prompt, Prompts

T = TypeVar("T")
Referee = Callable[[str], Awaitable[bool | None]]
"""Says whether an answer is right, None when nobody can tell; shows no gold answer."""

NO_REFEREE = (
    "the recipe asks whether answers are right, but this search may not know; parts that label declare uses_gold, "
    "and `search` takes a referee then"
)

R = TypeVar("R", Completion, Pooled)


@asynccontextmanager
async def siblings() -> AsyncIterator[asyncio.TaskGroup]:
    """Run tasks side by side; when one raises, the others are cancelled and its own exception comes out.

    What concerns one call alone is caught where it happens; what is raised here ends the run, and a call that
    went on would still be paid and logged.
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def all_of(works: Iterable[Callable[[], Coroutine[object, object, T]]]) -> list[T]:
    """Run all side by side, as `siblings` does, and return their results in order; one alone needs no task."""
    starts = iter(works)
    head = list(islice(starts, 2))
    if len(head) < 2:
        return [await start() for start in head]
    # One by one: a dry run is told of each task, and ends a population that no memory holds.
    async with siblings() as group:
        tasks = [group.create_task(start()) for start in chain(head, starts)]
    return [task.result() for task in tasks]


def leaving() -> RuntimeError:
    """Return what is raised for a part that calls `sys.exit`: as it is, SystemExit would end the event loop."""
    return RuntimeError("the recipe called sys.exit")


class Caller:
    """What expanders and judges talk to.

    Attributes:
        tally: What the ask has cost so far, also when it is cancelled later.
    """

    def __init__(
        self, lm: LM, prompts: Prompts, problem: str, ask: int, referee: Referee | None = None
    ) -> None:
        self._lm = lm
        self._referee = referee
        self._prompts = prompts
        self._problem = problem
        self._ask = ask
        self.tally = Tally()

    def offers(self, role: Role = "policy") -> frozenset[str]:
        """Return what the model of a role can be asked for beyond plain chat, in the words of `LM.offers`."""
        return offered_by(role, self._lm.offers)

    def inputs(self, prompt: str) -> frozenset[str]:
        """Return what the prompt file `prompt` takes.

        Raises:
            PromptError: No such prompt.
        """
        return self._template(prompt).inputs

    def ask(
        self,
        prompt: str,
        values: Mapping[str, str],
        *,
        role: Role = "policy",
        temperature: float | None = None,
    ) -> Request:
        """Fill the prompt file `prompt` into a request, and send nothing.

        Args:
            prompt: Name of the prompt file.
            values: One text for each of its inputs.
            role: Which model is to answer.
            temperature: Overrides the role's default unless the user chose one.

        Raises:
            PromptError: No such prompt, or the wrong values.
        """
        template = self._template(prompt)
        turns = tuple(Message(role, text) for role, text in template.fill(values))  # type: ignore[arg-type]
        return Request(turns, role, temperature, template.schema)

    async def say(
        self,
        prompt: str,
        values: Mapping[str, str],
        *,
        role: Role = "policy",
        temperature: float | None = None,
        draft: int = 0,
        sample: int = 0,
        attempt: int = 0,
    ) -> Completion:
        """Fill the prompt file `prompt` and return one completion.

        Args:
            prompt: Name of the prompt file; also the part in the call's place.
            values: One text for each of its inputs.
            role: Which model answers.
            temperature: Overrides the role's default unless the user chose one.
            draft: Number of the draft within the ask; -1 for the asked node itself.
            sample: Number of the sample of the same thing.
            attempt: Number of the try at a reply that can be parsed.

        Raises:
            PromptError: No such prompt, or the wrong values.
            ServerError: The call failed for good; ContextOverflow when it does not fit.
        """
        request = self.ask(prompt, values, role=role, temperature=temperature)
        return await self.complete(request, part=prompt, draft=draft, sample=sample, attempt=attempt)

    async def complete(
        self, request: Request, *, part: str, draft: int = 0, sample: int = 0, attempt: int = 0
    ) -> Completion:
        """Complete a request that no prompt file describes; raises what `LM.complete` raises."""
        place = Place(self._problem, self._ask, part, draft, sample, attempt)
        return await self._counted(
            self._lm.complete(place, request), attempt, request.role, label=bool(request.labels)
        )

    async def pool(
        self, pooling: Pooling, *, part: str, draft: int = 0, sample: int = 0, attempt: int = 0
    ) -> Pooled:
        """Ask a reward model for scores; raises what `LM.pool` raises."""
        place = Place(self._problem, self._ask, part, draft, sample, attempt)
        return await self._counted(self._lm.pool(place, pooling), attempt, pooling.role)

    async def correct(self, answer: str | None) -> bool | None:
        """Compare an answer with the known one; None when nobody can tell whether they are equal.

        Only parts that declare `uses_gold` may ask. No answer is a wrong one.

        Raises:
            UsageError: This search knows no answer.
        """
        if self._referee is None:
            raise UsageError(NO_REFEREE)
        return False if answer is None else await self._referee(answer)

    def _template(self, name: str) -> Prompt:
        found = self._prompts.get(name)
        if found is None:
            raise PromptError(f"no prompt named {name!r}; there are {sorted(self._prompts)}")
        return found

    async def _counted(self, call: Awaitable[R], attempt: int, role: Role, *, label: bool = False) -> R:
        try:
            reply = await call
        except ServerError as error:
            self.tally.fail(error, attempt=attempt)
            raise
        self.tally.count(reply, attempt=attempt, role=role, label=label)
        return reply
