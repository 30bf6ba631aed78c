"""The examination of one role: its server is reached, and every probe that fits the role is run.

Knows: which probes a role has, and in which order. Does not know: flags, recipes, how findings are shown.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from mctsr.errors import MctsrError
from mctsr.lm.address import read_address
from mctsr.lm.base import Role
from mctsr.lm.connect import Connected, Found, Keys, connect
from mctsr.lm.options import Settings

from .basics import drafts, replies, says, stops
from .extras import constrained, logprobs
from .finding import Bench, Finding, Probe, is_empty, tried, unreached
from .turns import continues, ids

Named = tuple[str, Probe]

TEXT: Sequence[Named] = (
    ("completions", replies),
    ("n drafts", drafts),
    ("continuing", continues),
    ("stop strings", stops),
    ("ids in = ids out", ids),
    ("log-probabilities", logprobs),
    ("JSON Schema", constrained),
)
"""What is asked of the model that writes."""

JUDGING: Sequence[Named] = (
    ("completions", replies),
    ("log-probabilities", logprobs),
    ("JSON Schema", constrained),
)
"""What is asked of a model that reads and says what it thinks of it."""

LABELS: Sequence[Named] = (
    ("completions", says),
    ("continuing", continues),
    ("log-probabilities", logprobs),
)
"""What is asked of a reward model that may be one that writes labels."""


class Examined(NamedTuple):
    """What was found of one role.

    Attributes:
        role: The role.
        server: Who answers; None when nobody could be reached.
        findings: In the order of the probes.
    """

    role: Role
    server: Found | None
    findings: tuple[Finding, ...]

    @property
    def runs(self) -> bool:
        """Whether a search could ask this role at all."""
        return all(finding.state != "bad" for finding in self.findings)

    @property
    def offers(self) -> frozenset[str]:
        """Words of `LM.offers` that were seen to hold."""
        return frozenset[str]().union(*(finding.gives for finding in self.findings))


async def examine(role: Role, settings: Settings, keys: Keys, probes: Sequence[Named]) -> Examined:
    """Reach the server of a role and run the probes one after another; a failure of it is a finding.

    Args:
        role: Which role of `settings`.
        settings: Which servers and models; time-outs and tries hold for each probe.
        keys: Their keys.
        probes: What is asked; when the first one finds that nothing can be run, the others are left out.
    """
    alone, own = _alone(role, settings, keys)
    try:
        async with connect(alone, own) as connected:
            found = _seated(role, connected)
            about = (_reached(found), _context(found))
            return Examined(role, found, about + await _probed(Bench(connected.models, role, []), probes))
    except MctsrError as error:
        return Examined(role, None, (unreached(error),))


async def _probed(bench: Bench, probes: Sequence[Named]) -> tuple[Finding, ...]:
    findings: list[Finding] = []
    for name, probe in probes:
        findings += await tried(name, probe, bench)
        if any(finding.state == "bad" for finding in findings):
            break
    if probes and probes[0][1] is replies and bench.heard and all(map(is_empty, bench.heard)):
        return tuple(map(_mute, findings))
    return tuple(findings)


def _mute(finding: Finding) -> Finding:
    """Take back what a finding gives or lacks, where every reply was empty: nothing can be told of such a model."""
    finding = replace(finding, gives=frozenset(), lacks=frozenset())
    if finding.probe != "completions":
        return finding
    means = "; ".join(
        filter(None, ("no search can run: every reply is empty; check the model", finding.means))
    )
    return replace(finding, state="bad", means=means)


def _alone(role: Role, settings: Settings, keys: Keys) -> tuple[Settings, Keys]:
    """Return the settings of a process in which this role's server is the only one: none takes another along."""
    if role == "policy":
        return replace(settings, judge=None, prm=None), Keys(keys.policy)
    options, key = (settings.judge, keys.judge) if role == "judge" else (settings.prm, keys.prm)
    assert options is not None
    shared = settings.policy.base_url
    if not options.starts_here and not options.base_url:
        options = replace(options, base_url=shared)
    if key is None and shared and options.base_url and read_address(options.base_url) == read_address(shared):
        key = keys.policy
    alone = replace(settings, policy=options, judge=None, prm=None)
    alone = replace(alone, judge=options) if role == "judge" else replace(alone, prm=options)
    return alone, Keys(key, key, key)


def _seated(role: Role, connected: Connected) -> Found:
    return next(found for found in connected.servers if found.role == role)


def _reached(found: Found) -> Finding:
    kind = "an OpenAI-like server" if found.kind == "other" else f"{found.kind} {found.version}".strip()
    return Finding("reachable", kind)


def _context(found: Found) -> Finding:
    if found.context is None:
        means = "a prompt that is too long shows by the server's refusal alone"
        return Finding("context", "not told", "unknown", means)
    return Finding("context", f"{found.context} tokens")
