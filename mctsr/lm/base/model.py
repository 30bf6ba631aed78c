"""What a language model is to us: one request in, one completion out.

A call is one sequence. Several drafts are several calls, so that every sequence has its own place, seed,
log line and retry, and one failure never takes its siblings along.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from mctsr.errors import UsageError

from .reply import Completion, Pooled
from .request import Place, Pooling, Request, Role


def no_scores(pooling: Pooling) -> UsageError:
    """Return what a language model raises that has no reward model behind it."""
    return UsageError(
        f"no model has the role {pooling.role!r}, whose scores are needed; "
        f"name one with --{pooling.role}-base-url or --{pooling.role}-model"
    )


def offered_by(role: Role, offers: frozenset[str]) -> frozenset[str]:
    """Return what the model of a role can be asked for: the policy's own words where it has that role, too.

    Args:
        role: The role.
        offers: Words of `LM.offers`.
    """
    if role == "policy" or (role == "judge" and role not in offers):
        return offers
    head = f"{role} "
    return frozenset(word.removeprefix(head) for word in offers if word.startswith(head))


def unoffered(missing: frozenset[str], offers: frozenset[str]) -> UsageError:
    """Return what is said of a recipe that needs what is not offered; both are words of `LM.offers`."""
    if "prm" in missing:
        return UsageError(
            "the recipe needs a reward model, and none is given; name one with --prm-base-url URL "
            "or --prm-model NAME, or choose another judge or recipe"
        )
    return UsageError(
        f"the recipe needs {sorted(missing)} from the model, the server offers {sorted(offers)}; "
        "choose another recipe or server"
    )


class LM(Protocol):
    """A language model, or several behind one door (policy, judge, reward model)."""

    @property
    def offers(self) -> frozenset[str]:
        """What can be asked for beyond plain chat.

        "steps": a begun turn is continued in some way; "prefill": exactly, character for character;
        "token_ids": the same with token ids in and out; "logprobs"; "labels": log-probabilities of chosen
        ids; "schema": a JSON Schema is enforced. All of these are the policy's. "prm": there is a reward model,
        and "pooling" and "classify" its scores; "judge": another model judges. What such a model can do has
        its role in front: "judge logprobs".
        """
        ...

    async def complete(self, place: Place, request: Request) -> Completion:
        """Return one completion.

        Raises:
            ServerError: The call failed for good.
            ContextOverflow: The prompt does not fit.
        """
        ...

    async def pool(self, place: Place, pooling: Pooling) -> Pooled:
        """Return the scores of a reward model.

        Raises:
            UsageError: No model has the role.
            ServerError: The call failed for good; Refused when the model there gives no such scores.
            ContextOverflow: The text does not fit.
        """
        ...


class LogicalLM(LM, Protocol):
    """A language model that can say what it is going to ask, with all its settings."""

    def logical(self, place: Place, request: Request | Pooling) -> Mapping[str, object]:
        """Resolve every setting of a request; its hash is part of the call's name."""
        ...

    async def complete(self, place: Place, request: Request, *, sent: Callable[[], None] = ...) -> Completion:
        """Return one completion, as `LM.complete` does.

        Args:
            place: The call's name.
            request: What is asked.
            sent: Called once, when the request is about to leave; what it raises ends the call.
        """
        ...

    async def pool(self, place: Place, pooling: Pooling, *, sent: Callable[[], None] = ...) -> Pooled:
        """Return scores, as `LM.pool` does; `sent` as in `complete`."""
        ...
