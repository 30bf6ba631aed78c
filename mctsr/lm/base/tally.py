"""What calls have cost and how they went."""

from dataclasses import dataclass, field

from mctsr.errors import ServerError

from .reply import Completion, Pooled, Usage
from .request import Role


@dataclass(slots=True)
class Tally:
    """What calls have cost and how they went; one per ask, added up per problem when the ask is folded.

    Attributes:
        calls: Calls that the model replied to or failed, its retries not counted.
        usage: Tokens of the replies.
        seconds: Wall time of the successful attempts.
        retried: Attempts that failed before a reply or before the call was given up.
        failed: Calls without a reply, also those that never left.
        truncated: Replies that were cut off.
        empty: Replies without text.
        wire: What had to be changed for the servers.
        reasked: Those of `calls` that asked again because nothing could be read in the reply before.
        roles: The parts of `usage` whose role is known, in the order of their names.
    """

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    retried: int = 0
    failed: int = 0
    truncated: int = 0
    empty: int = 0
    wire: frozenset[str] = frozenset()
    reasked: int = 0
    roles: dict[Role, Usage] = field(default_factory=dict)

    def count(
        self,
        completion: Completion | Pooled,
        *,
        attempt: int = 0,
        role: Role | None = None,
        label: bool = False,
    ) -> None:
        """Add one completion or row of scores.

        Args:
            completion: What came back.
            attempt: That of its place.
            role: Whose call it was.
            label: Whether only a label was wanted: such a reply ends at its limit and is not cut off.
        """
        self.calls += 1
        self.reasked += attempt > 0
        self.usage += completion.usage
        if role is not None:
            self._share(role, completion.usage)
        self.seconds += completion.seconds
        self.retried += completion.retries
        if isinstance(completion, Completion):
            self.truncated += completion.finish == "length" and not label
            self.empty += not completion.text.strip()
        if completion.wire:
            self.wire = self.wire.union(completion.wire)

    def fail(self, error: BaseException, *, attempt: int = 0) -> None:
        """Add a call that raised; one that was cancelled has not failed."""
        if not isinstance(error, Exception):
            return
        self.failed += 1
        if isinstance(error, ServerError):
            self.calls += 1
            self.reasked += attempt > 0
            self.retried += error.retries

    def add(self, other: "Tally") -> None:
        """Add another tally."""
        self.calls += other.calls
        self.usage += other.usage
        self.seconds += other.seconds
        self.retried += other.retried
        self.failed += other.failed
        self.truncated += other.truncated
        self.empty += other.empty
        self.wire |= other.wire
        self.reasked += other.reasked
        for role, usage in other.roles.items():
            self._share(role, usage)

    def _share(self, role: Role, usage: Usage) -> None:
        if role in self.roles:
            self.roles[role] += usage
        else:
            # In the order of their names: that of arrival is chance.
            self.roles = dict(sorted([*self.roles.items(), (role, usage)], key=lambda part: part[0]))
