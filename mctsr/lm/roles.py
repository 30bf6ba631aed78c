"""Policy, judge and reward model behind one door: which server answers for a role, and with which settings.

Knows: roles, the options a user gave, the order of problems.
Does not know: how a server is spoken to, or what is logged.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, overload

from mctsr.errors import UsageError

from .base import Completion, Place, Pooled, Pooling, Request, Role
from .dialects import Kind, Logical, LogicalPooling
from .gate import Gate
from .options import RoleOptions
from .server import Server

DEFAULT_TEMPERATURE = 0.7

_OFFERS: Mapping[Kind, frozenset[str]] = {
    "vllm": frozenset({"steps", "prefill", "token_ids", "logprobs", "labels", "schema"}),
    "llama.cpp": frozenset({"steps", "prefill", "logprobs", "schema"}),
    "sglang": frozenset({"steps", "prefill", "logprobs", "schema"}),
    "ollama": frozenset({"steps", "prefill", "logprobs", "schema"}),
    "openai": frozenset({"steps", "logprobs", "schema"}),
    "other": frozenset({"steps", "logprobs", "schema"}),
}
"""What a kind of server can be asked for at best; a trial takes back what it does not keep."""

_EXACT = frozenset({"prefill", "token_ids"})
_SCORES = frozenset({"prm", "pooling", "classify"})


class Seat(NamedTuple):
    """Who answers for a role, and how."""

    server: Server
    options: RoleOptions


class Models:
    """The models of one process as one language model.

    The policy judges itself unless a judge is given; a reward model is there only when it is given.
    """

    def __init__(
        self, policy: Seat, judge: Seat | None = None, prm: Seat | None = None, *, gate: Gate, seed: int = 0
    ) -> None:
        """Seat the roles.

        Args:
            policy: Writes and, without a judge, evaluates.
            judge: Evaluates.
            prm: Scores steps or answers; nobody takes its place.
            gate: Limits the calls in flight of all roles together.
            seed: The run's seed; every call derives its own from it.
        """
        self._seats: dict[Role, Seat] = {"policy": policy, "judge": judge or policy}
        if prm is not None:
            self._seats["prm"] = prm
        self._gate = gate
        self._seed = seed
        self._order: dict[str, int] = {}
        self._absent: dict[Server, frozenset[str]] = {}

    @property
    def offers(self) -> frozenset[str]:
        """What the policy's server can do, as far as it is known, and which other models there are."""
        policy, judge, prm = self._seats["policy"], self._seats["judge"], self._seats.get("prm")
        offered = self._of(policy.server)
        if judge.server is not policy.server:
            offered |= {"judge", *(f"judge {word}" for word in self._of(judge.server))}
        if prm is not None:
            offered |= {*_SCORES, *(f"prm {word}" for word in self._of(prm.server))}
        return offered

    def take_back(self, role: Role, words: frozenset[str]) -> None:
        """Offer no longer what the server of a role was found not to do."""
        server = self._seat(role).server
        self._absent[server] = self._absent.get(server, frozenset()) | words

    def _of(self, server: Server) -> frozenset[str]:
        offered, way = _OFFERS[server.kind], server.info.way if server.info else ""
        if way:
            offered -= _EXACT
            offered |= {"quoted": frozenset[str](), "token ids": _EXACT}.get(way, frozenset({"prefill"}))
        return offered - self._absent.get(server, frozenset())

    def order(self, problem: str) -> int:
        """Return a problem's rank, in the order in which problems were first seen; lower ones go first."""
        return self._order.setdefault(problem, len(self._order))

    @overload
    def logical(self, place: Place, request: Request) -> Logical: ...

    @overload
    def logical(self, place: Place, request: Pooling) -> LogicalPooling: ...

    def logical(self, place: Place, request: Request | Pooling) -> Logical | LogicalPooling:
        """Resolve every setting of a request, before any server's dialect.

        Raises:
            UsageError: no model has the role.
        """
        seat = self._seat(request.role)
        if isinstance(request, Pooling):
            return _scored(seat, request)
        return _asked(seat, request, place.seed(self._seed))

    async def complete(
        self, place: Place, request: Request, *, sent: Callable[[], None] = lambda: None
    ) -> Completion:
        """Ask the role's server, the oldest problem first; `sent` is called when the first slot is taken.

        Raises:
            UsageError: no model has the role.
            ServerError: or one of its kinds, as `Server.complete` says.
        """
        slots = partial(self._gate.slot, (self.order(place.problem),))
        server = self._seat(request.role).server
        return await server.complete(self.logical(place, request), slots=slots, sent=sent)

    async def pool(
        self, place: Place, pooling: Pooling, *, sent: Callable[[], None] = lambda: None
    ) -> Pooled:
        """Ask the role's server for scores, as `complete` does; raises the same."""
        slots = partial(self._gate.slot, (self.order(place.problem),))
        server = self._seat(pooling.role).server
        return await server.pool(self.logical(place, pooling), slots=slots, sent=sent)

    def _seat(self, role: Role) -> Seat:
        seat = self._seats.get(role)
        if seat is None:
            raise UsageError(
                f"no model has the role {role!r}; name one with --{role}-base-url or --{role}-model"
            )
        return seat


def _asked(seat: Seat, request: Request, seed: int) -> Logical:
    options = seat.options
    chosen = (options.temperature, request.temperature, DEFAULT_TEMPERATURE)
    logical: Logical = {
        "role": request.role,
        "model": seat.server.model,
        "messages": _turns(request),
        "max_tokens": min(options.max_tokens, request.max_tokens or options.max_tokens),
        "temperature": float(next(t for t in chosen if t is not None)),
        "top_p": float(options.top_p),
        "seed": seed,
        "schema": request.schema,
        "extra_body": options.extra_body,
    }
    if request.begun:
        logical["begun"] = request.begun
    if request.begun_ids:
        logical["begun_ids"] = request.begun_ids
    if request.stop:
        logical["stop"] = request.stop
    if request.logprobs is not None:
        logical["logprobs"] = request.logprobs
    if request.labels:
        logical["labels"] = request.labels
    return logical


def _scored(seat: Seat, pooling: Pooling) -> LogicalPooling:
    return {
        "task": pooling.task,
        "role": pooling.role,
        "model": seat.server.model,
        "messages": _turns(pooling),
        "text": pooling.text,
        "raw": pooling.raw,
        "extra_body": seat.options.extra_body,
    }


def _turns(asked: Request | Pooling) -> list[dict[str, str]]:
    return [{"role": turn.role, "content": turn.content} for turn in asked.messages]
