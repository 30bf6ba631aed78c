"""Whether the servers do what a recipe needs: compared before the first call of a search.

What a kind of server can do at best is in a table; here it is looked at, where a token shows it. Knows: which needs
a trial can settle. Does not know: recipes.
"""

from collections.abc import Iterable, Mapping

from mctsr.errors import ServerError, UsageError
from mctsr.lm.base import LM, Role

from .extras import LOGPROBS, logprobs
from .finding import Bench


async def lacking(lm: LM, needs: frozenset[str], roles: Iterable[Role]) -> frozenset[str]:
    """Return the needs that are not met.

    Args:
        lm: The models.
        needs: Words of `LM.offers`.
        roles: The roles that are seated; log-probabilities of one of them are enough, since a need does not say whose.
    """
    missing = needs - lm.offers
    if "prm" in missing:
        return missing
    if needs & LOGPROBS - missing and not await _any_logprobs(lm, roles):
        missing |= LOGPROBS
    return missing


async def _any_logprobs(lm: LM, roles: Iterable[Role]) -> bool:
    for role in roles:
        if not await unmet_wishes(lm, LOGPROBS, role):
            return True
    return False


async def unmet_wishes(lm: LM, wishes: frozenset[str], role: Role) -> frozenset[str]:
    """Return the wishes that a role's server was seen not to meet; only log-probabilities are looked at."""
    if not wishes & LOGPROBS:
        return frozenset()
    try:
        (finding,) = await logprobs(Bench(lm, role))
    except (ServerError, UsageError):
        # It cannot be told now; the search itself will say what is wrong.
        return frozenset()
    return finding.lacks


def refusal(needs: frozenset[str], missing: frozenset[str], servers: Mapping[Role, str]) -> UsageError:
    """Return what is said of a recipe whose needs are not met: what it needs, and what each server lacks.

    Args:
        needs: Words of `LM.offers`.
        missing: Those of them that are not met. Whose log-probabilities are meant is open, so all lack them; of the
            others the policy is meant.
        servers: Who answers for the roles that were looked at.
    """
    lacks = {role: missing if role == "policy" else missing & LOGPROBS for role in servers}
    found = [
        f"{role} at {where} was found without {_listed(lacks[role])}"
        for role, where in servers.items()
        if lacks[role]
    ]
    return UsageError(
        f"the recipe needs {_listed(needs)}; {'; '.join(found)}; choose another recipe or server "
        "(mctsr doctor shows what a server does)"
    )


def _listed(words: frozenset[str]) -> str:
    return ", ".join(sorted(words)) or "nothing"
