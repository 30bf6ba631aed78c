"""From settings to models that answer: servers found or started, roles seated, the limit on calls set.

Knows: which role talks to which server, when the embedded model has to be started, how many calls this process
may have in flight. Does not know: flags and variables, run folders, problems.
"""

import resource
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import NamedTuple, Protocol

from mctsr.errors import UsageError
from mctsr.models import EMBEDDED, find_model

from .base import Role
from .calllog import LogicalLM
from .embedded import EmbeddedServer
from .gate import Gate
from .roles import Models, RoleSettings, Seat
from .server import Server

DEFAULT_CONCURRENCY = 32
EMBEDDED_CONCURRENCY = 4

_OTHER_FILES = 128
"""Files that are open beside connections and call logs."""


class RoleChoice(Protocol):
    """How a user wants one role's model reached and sampled; `runs.settings.RoleOptions` is one."""

    @property
    def model(self) -> str | None:
        """Its name, "embedded", a `.gguf` path, or None for the first one served."""

    @property
    def base_url(self) -> str | None:
        """Where it is, None for an embedded model."""

    @property
    def temperature(self) -> float | None:
        """Of every call, None for the recipe's."""

    @property
    def top_p(self) -> float:
        """Nucleus."""

    @property
    def max_tokens(self) -> int:
        """Longest reply."""

    @property
    def extra_body(self) -> Mapping[str, object]:
        """Fields sent along unchanged."""


class Choice(Protocol):
    """What a user wants of all models together; `runs.settings.Settings` is one."""

    @property
    def policy(self) -> RoleChoice:
        """The model that answers."""

    @property
    def judge(self) -> RoleChoice | None:
        """The model that scores, None when the policy judges itself."""

    @property
    def judge_max_tokens(self) -> int:
        """Longest judgement."""

    @property
    def seed(self) -> int:
        """The run's seed."""

    @property
    def max_concurrency(self) -> int | None:
        """Calls in flight, None for the default."""

    @property
    def timeout(self) -> float:
        """Seconds for one attempt."""

    @property
    def max_retries(self) -> int:
        """Further attempts."""

    @property
    def wait_for_server(self) -> float:
        """Seconds to wait for a server that is still loading."""


class Keys(NamedTuple):
    """The secrets of the roles; they are recorded nowhere. A judge on the policy's server needs none."""

    policy: str | None = None
    judge: str | None = None


class Found(NamedTuple):
    """Who answers for a role; `context` is the model's context in tokens, None when the server does not tell."""

    role: Role
    kind: str
    model: str
    base_url: str
    version: str
    context: int | None


class Connected(NamedTuple):
    """Models that can be asked, for as long as the connection is open.

    Attributes:
        models: Policy and judge behind one door.
        servers: Who answers, one entry a role.
        notices: What the user should know, one line each.
        concurrency: Calls that may be in flight at once.
    """

    models: LogicalLM
    servers: list[Found]
    notices: list[str]
    concurrency: int


@asynccontextmanager
async def connect(choice: Choice, keys: Keys = Keys()) -> AsyncIterator[Connected]:  # noqa: B008  (immutable)
    """Reach every server that is needed, starting the embedded model when it is asked for.

    Raises:
        UsageError: No server was named, or a name, address or key is unusable.
        ServerError: A server cannot be reached, refuses the key, or is still loading.
    """
    wanted, notices = concurrency(choice), []
    limit = _limited_by_files(wanted)
    if limit < wanted:
        notices.append(
            f"max_concurrency {wanted} is lowered to {limit}: more files cannot be open (ulimit -n)"
        )
    async with AsyncExitStack() as stack:
        starting = _Starting(stack, choice, limit)
        policy = await starting.server(choice.policy, keys.policy)
        judge, judging = policy, choice.judge or choice.policy
        if choice.judge is not None:
            judge = await starting.judge(choice.judge, keys)
        seats = (
            Seat(policy, _sampling(choice.policy)),
            Seat(judge, replace(_sampling(judging), max_tokens=choice.judge_max_tokens)),
        )
        found = [_found("policy", policy, choice.policy), _found("judge", judge, judging)]
        notices += [note for seat, who in zip(seats, found, strict=True) for note in _doubts(seat, who)]
        yield Connected(Models(*seats, gate=Gate(limit), seed=choice.seed), found, notices, limit)


def concurrency(choice: Choice) -> int:
    """Say how many calls may be in flight: what the user wants, else what fits the servers."""
    if choice.max_concurrency is not None:
        return choice.max_concurrency
    embedded = is_embedded(choice.policy) or (choice.judge is not None and is_embedded(choice.judge))
    return EMBEDDED_CONCURRENCY if embedded else DEFAULT_CONCURRENCY


def is_embedded(role: RoleChoice) -> bool:
    """Say whether a role's model has to be started here."""
    return (
        role.base_url is None
        and role.model is not None
        and (role.model == EMBEDDED or role.model.endswith(".gguf"))
    )


class _Starting:
    """Servers as they are reached, each once."""

    def __init__(self, stack: AsyncExitStack, choice: Choice, limit: int) -> None:
        self._stack, self._choice, self._limit = stack, choice, limit
        self._embedded: dict[str, Server] = {}

    async def server(self, role: RoleChoice, key: str | None) -> Server:
        """Reach the server of a role."""
        if is_embedded(role):
            return await self._started(str(role.model))
        if role.base_url is None:
            raise UsageError(
                "no server is given; name one with --base-url URL (or OPENAI_BASE_URL), "
                "or take the one on this machine with --model embedded"
            )
        return await self._reached(role.base_url, role.model, key)

    async def judge(self, role: RoleChoice, keys: Keys) -> Server:
        """Reach the judge: on its own server, or as another model of the policy's."""
        address = role.base_url or self._choice.policy.base_url
        if is_embedded(role) or address is None:
            return await self.server(role, keys.judge)
        same = address == self._choice.policy.base_url
        return await self._reached(address, role.model, keys.judge or (keys.policy if same else None))

    async def _started(self, model: str) -> Server:
        if model not in self._embedded:
            starting = EmbeddedServer(
                find_model(model), n_parallel=min(self._limit, 2 * EMBEDDED_CONCURRENCY)
            )
            process = await self._stack.enter_async_context(starting)
            self._embedded[model] = await self._reached(process.base_url, None, None)
        return self._embedded[model]

    async def _reached(self, address: str, model: str | None, key: str | None) -> Server:
        choice = self._choice
        server = Server(address, model, api_key=key, timeout=choice.timeout, max_retries=choice.max_retries)
        await self._stack.enter_async_context(server)
        await server.check(choice.wait_for_server)
        return server


def _sampling(role: RoleChoice) -> RoleSettings:
    return RoleSettings(
        temperature=role.temperature,
        top_p=role.top_p,
        max_tokens=role.max_tokens,
        extra_body=dict(role.extra_body),
    )


def _found(role: Role, server: Server, choice: RoleChoice) -> Found:
    info = server.info
    assert info is not None
    # The port of a started server says nothing tomorrow.
    address = EMBEDDED if is_embedded(choice) else server.address.base
    return Found(role, info.kind, info.model, address, info.version, info.context)


def _doubts(seat: Seat, found: Found) -> list[str]:
    longest, context = seat.settings.max_tokens, found.context
    if context is None or longest < context:
        return []
    return [f"{found.role}: replies of up to {longest} tokens leave no room in a context of {context}"]


def _limited_by_files(wanted: int) -> int:
    """Raise the soft limit on open files as far as is needed; return the calls in flight that then fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * wanted + _OTHER_FILES  # one connection and one call log each
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(1, (allowed - _OTHER_FILES) // 2)
