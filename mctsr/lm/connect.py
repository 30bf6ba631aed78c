"""From settings to models that answer: servers found or started, roles seated, the limit on calls set.

Knows: which role talks to which server, when the embedded model has to be started, how many calls this process
may have in flight. Does not know: flags and variables, run folders, problems.
"""

import resource
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from mctsr.errors import UsageError
from mctsr.lm.local.gguf import EMBEDDED, find_model

from .address import read_address
from .base import LogicalLM, Role, unoffered
from .doctor.needs import lacking, refusal, unmet_wishes
from .gate import Gate
from .local.embedded import EmbeddedServer
from .options import RoleOptions, Settings, check_body
from .roles import Models, Seat
from .server import Server

DEFAULT_CONCURRENCY = 32
EMBEDDED_CONCURRENCY = 4

CONTINUING = frozenset({"steps", "prefill", "token_ids"})
"""Needs of recipes that grow answers step by step."""

_OTHER_FILES = 128
"""Files that are open beside connections and call logs."""


class Keys(NamedTuple):
    """The secrets of the roles; they are recorded nowhere. One on the policy's server needs none."""

    policy: str | None = None
    judge: str | None = None
    prm: str | None = None


class Found(NamedTuple):
    """Who answers for a role; `context` is the model's context in tokens, None when the server does not tell.

    `way` is how begun turns are continued there, "" when that was not tried.
    """

    role: Role
    kind: str
    model: str
    base_url: str
    version: str
    context: int | None
    way: str = ""


class Connected(NamedTuple):
    """Models that can be asked, for as long as the connection is open.

    Attributes:
        models: All roles behind one door.
        servers: Who answers, one entry a role.
        notices: What the user should know, one line each.
        concurrency: Calls that may be in flight at once.
    """

    models: LogicalLM
    servers: list[Found]
    notices: list[str]
    concurrency: int


@asynccontextmanager
async def connect(
    settings: Settings,
    keys: Keys = Keys(),  # noqa: B008  (immutable)
    *,
    needs: frozenset[str] = frozenset(),
    wishes: frozenset[str] = frozenset(),
) -> AsyncIterator[Connected]:
    """Reach every server that is needed, starting the embedded model when it is asked for.

    Args:
        settings: Which servers and models.
        keys: Their keys.
        needs: What the recipe needs beyond plain chat; where that is to continue begun turns, the policy's
            server is tried out for its way of doing so.
        wishes: What its judge makes use of where the judge's server offers it, which is tried out.

    Raises:
        UsageError: No server was named, a name, address, key or extra body is unusable, or a need is not met.
        ServerError: A server cannot be reached, refuses the key, or is still loading.
    """
    if "prm" in needs and settings.prm is None:
        raise unoffered(needs, frozenset())
    for role in (settings.policy, settings.judge, settings.prm):
        check_body(role.extra_body if role else {}, keys)
    wanted, notices = concurrency(settings), []
    limit = _limited_by_files(wanted)
    if limit < wanted:
        notices.append(
            f"max_concurrency {wanted} is lowered to {limit}: more files cannot be open (ulimit -n)"
        )
    async with AsyncExitStack() as stack:
        starting = _Starting(stack, settings, limit)
        seats = await starting.seats(keys)
        if needs & CONTINUING:
            await seats["policy"].server.find_way(settings.policy.extra_body)
        found = [_found(role, seat) for role, seat in seats.items()]
        notices += [
            note for seat, who in zip(seats.values(), found, strict=True) for note in _doubts(seat, who)
        ]
        models = Models(*seats.values(), gate=Gate(limit), seed=settings.seed)
        # A need does not say whose it is, but a reward model that is not needed is not asked either.
        asked = {"policy", *needs & {"prm"}}
        where: dict[Role, str] = {
            who.role: f"{who.base_url} ({who.kind})" for who in found if who.role in asked
        }
        if missing := await lacking(models, needs, where):
            raise refusal(needs, missing, where)
        models.take_back("judge", await unmet_wishes(models, wishes, "judge"))
        yield Connected(models, found, notices, limit)


def concurrency(settings: Settings) -> int:
    """Say how many calls may be in flight: what the user wants, else what fits the servers."""
    if settings.max_concurrency is not None:
        return settings.max_concurrency
    roles = [role for role in (settings.policy, settings.judge, settings.prm) if role]
    return EMBEDDED_CONCURRENCY if any(role.starts_here for role in roles) else DEFAULT_CONCURRENCY


class _Place(NamedTuple):
    """What one pool of connections is for: its address, and the key that they carry."""

    base: str
    key: str | None


class _Starting:
    """Servers as they are reached: one process a file, one pool of connections a place, one client a model."""

    def __init__(self, stack: AsyncExitStack, settings: Settings, limit: int) -> None:
        self._stack, self._settings, self._limit = stack, settings, limit
        self._processes: dict[Path, str] = {}
        self._places: dict[_Place, Server] = {}
        self._models: dict[tuple[_Place, str], Server] = {}

    async def seats(self, keys: Keys) -> dict[Role, Seat]:
        """Reach the server of every role; the policy judges unless there is another judge."""
        settings = self._settings
        policy = await self.server(settings.policy, keys.policy)
        judge, judging = policy, settings.judge or settings.policy
        if settings.judge is not None:
            judge = await self.other(settings.judge, keys, keys.judge)
        seats: dict[Role, Seat] = {
            "policy": Seat(policy, settings.policy),
            "judge": Seat(judge, replace(judging, max_tokens=settings.judge_max_tokens)),
        }
        if settings.prm is not None:
            seats["prm"] = Seat(await self.other(settings.prm, keys, keys.prm), settings.prm)
        return seats

    async def server(self, role: RoleOptions, key: str | None) -> Server:
        """Reach the server of a role."""
        if role.starts_here:
            return await self._reached(await self._started(find_model(str(role.model))), None, None)
        if not role.base_url:
            raise UsageError(
                "no server is given; name one with --base-url URL (or OPENAI_BASE_URL), "
                "or take the one on this machine with --model embedded"
            )
        return await self._reached(role.base_url, role.model, key)

    async def other(self, role: RoleOptions, keys: Keys, own: str | None) -> Server:
        """Reach a judge or reward model: on its own server, or as another model of the policy's."""
        shared = self._settings.policy.base_url or ""
        address = role.base_url or shared
        if role.starts_here or not address:
            return await self.server(role, own)
        same = shared and read_address(address) == read_address(shared)
        return await self._reached(address, role.model, own or (keys.policy if same else None))

    async def _started(self, file: Path) -> str:
        if file not in self._processes:
            starting = EmbeddedServer(file, n_parallel=min(self._limit, 2 * EMBEDDED_CONCURRENCY))
            self._processes[file] = (await self._stack.enter_async_context(starting)).base_url
        return self._processes[file]

    async def _reached(self, address: str, model: str | None, key: str | None) -> Server:
        """Return the client of a model; what it learns of its server serves every role that the model has."""
        settings, place = self._settings, _Place(read_address(address).base, key)
        if place in self._places:
            server = self._places[place].beside(model)
        else:
            timeout, retries = settings.timeout, settings.max_retries
            server = Server(address, model, api_key=key, timeout=timeout, max_retries=retries)
            self._places[place] = await self._stack.enter_async_context(server)
        await server.check(settings.wait_for_server)
        return self._models.setdefault((place, server.model), server)


def _found(role: Role, seat: Seat) -> Found:
    info = seat.server.info
    assert info is not None
    # The port of a started server says nothing tomorrow.
    address = EMBEDDED if seat.options.starts_here else seat.server.address.base
    return Found(role, info.kind, info.model, address, info.version, info.context, info.way)


def _doubts(seat: Seat, found: Found) -> list[str]:
    longest, context = seat.options.max_tokens, found.context
    if context is None or longest < context or found.role == "prm":
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
