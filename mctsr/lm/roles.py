"""Policy and judge behind one door: which server answers for a role, and with which settings.

Knows: roles, the settings a user gave, the order of problems.
Does not know: how a server is spoken to, or what is logged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from .base import Completion, Place, Request, Role
from .dialects import Logical
from .gate import Gate
from .server import Server

DEFAULT_TEMPERATURE = 0.7


@dataclass(frozen=True, slots=True)
class RoleSettings:
    """How a role samples; every value is sent with every request.

    Attributes:
        temperature: What the user asked for, in [0, 2]; None leaves it to the request, else 0.7.
        top_p: Nucleus, in (0, 1].
        max_tokens: Longest reply, >= 1, thoughts included.
        top_k: Candidates per token; 0 for all.
        min_p: Smallest probability relative to the best token's, in [0, 1].
        repetition_penalty: 1 for none.
        extra_body: Further fields of the request, sent as they are and winning over all others.
    """

    temperature: float | None = None
    top_p: float = 0.95
    max_tokens: int = 2048
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    extra_body: Mapping[str, object] = field(default_factory=dict)


class Seat(NamedTuple):
    """Who answers for a role, and how."""

    server: Server
    settings: RoleSettings


class Models:
    """The models of one process as one language model; the policy judges itself unless a judge is given."""

    def __init__(self, policy: Seat, judge: Seat | None = None, *, gate: Gate, seed: int = 0) -> None:
        """Seat the roles.

        Args:
            policy: Writes and, without a judge, evaluates.
            judge: Evaluates.
            gate: Limits the calls in flight of all roles together.
            seed: The run's seed; every call derives its own from it.
        """
        self._seats: dict[Role, Seat] = {"policy": policy, "judge": judge or policy}
        self._gate = gate
        self._seed = seed
        self._order: dict[str, int] = {}

    @property
    def offers(self) -> frozenset[str]:
        """Nothing beyond plain chat."""
        return frozenset()

    def order(self, problem: str) -> int:
        """Return a problem's rank, in the order in which problems were first seen; lower ones go first."""
        return self._order.setdefault(problem, len(self._order))

    def logical(self, place: Place, request: Request) -> Logical:
        """Resolve every setting of a request, before any server's dialect."""
        server, settings = self._seats[request.role]
        chosen = (settings.temperature, request.temperature, DEFAULT_TEMPERATURE)
        return {
            "role": request.role,
            "model": server.model,
            "messages": [{"role": turn.role, "content": turn.content} for turn in request.messages],
            "max_tokens": settings.max_tokens,
            "temperature": float(next(t for t in chosen if t is not None)),
            "top_p": float(settings.top_p),
            "top_k": settings.top_k,
            "min_p": float(settings.min_p),
            "repetition_penalty": float(settings.repetition_penalty),
            "seed": place.seed(self._seed),
            "schema": request.schema,
            "extra_body": settings.extra_body,
        }

    async def complete(self, place: Place, request: Request) -> Completion:
        """Ask the role's server, the oldest problem first.

        Raises:
            ServerError: or one of its kinds, as `Server.complete` says.
        """
        slots = partial(self._gate.slot, (self.order(place.problem),))
        return await self._seats[request.role].server.complete(self.logical(place, request), slots=slots)
