"""Policy and judge behind one door: which server answers for a role, and with which settings.

Knows: roles, the options a user gave, the order of problems.
Does not know: how a server is spoken to, or what is logged.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from .base import Completion, Place, Request, Role
from .dialects import Logical
from .gate import Gate
from .options import RoleOptions
from .server import Server

DEFAULT_TEMPERATURE = 0.7


class Seat(NamedTuple):
    """Who answers for a role, and how."""

    server: Server
    options: RoleOptions


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
        server, options = self._seats[request.role]
        chosen = (options.temperature, request.temperature, DEFAULT_TEMPERATURE)
        return {
            "role": request.role,
            "model": server.model,
            "messages": [{"role": turn.role, "content": turn.content} for turn in request.messages],
            "max_tokens": options.max_tokens,
            "temperature": float(next(t for t in chosen if t is not None)),
            "top_p": float(options.top_p),
            "seed": place.seed(self._seed),
            "schema": request.schema,
            "extra_body": options.extra_body,
        }

    async def complete(
        self, place: Place, request: Request, *, sent: Callable[[], None] = lambda: None
    ) -> Completion:
        """Ask the role's server, the oldest problem first; `sent` is called when the first slot is taken.

        Raises:
            ServerError: or one of its kinds, as `Server.complete` says.
        """
        slots = partial(self._gate.slot, (self.order(place.problem),))
        server = self._seats[request.role].server
        return await server.complete(self.logical(place, request), slots=slots, sent=sent)
