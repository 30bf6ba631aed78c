"""The published rules that recipes are made of, with formula and source as their docstrings give them.

Knows in which modules each kind lives. A new function or class there is listed without being told of here.
"""

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import NamedTuple

#: Kind of rule → where its rules are.
KINDS: Mapping[str, tuple[str, ...]] = {
    "selector": tuple(
        f"mctsr.select.{name}"
        for name in (
            "anywhere",
            "descent",
            "deepsearch",
            "frontier",
            "chain",
            "grave",
            "thompson",
            "gumbel",
            "rounds.look",
            "sweeps.gibbs",
            "sweeps.salvage",
            "sweeps.walk",
        )
    ),
    "score": ("mctsr.select.scores", "mctsr.select.pools"),
    "choice": ("mctsr.select.sampled",),
    "survivors": ("mctsr.select.population", "mctsr.select.particles"),
    "backup": tuple(
        f"mctsr.backup.{name}"
        for name in (
            "own",
            "averages",
            "best",
            "paths",
            "sums",
            "amaf",
            "ranks",
            "verdicts",
            "families",
            "returns",
        )
    ),
}

_SOURCE = re.compile(r"(?:^|\s)Source: (.*?)(?:\n\s*\n|\n(?:Args|Attributes|Returns|Raises):|\Z)", re.DOTALL)
_PAPER = re.compile(r"([^.()]*arXiv:\d{4}\.\d{4,5}[^.()]*)")


class Rule(NamedTuple):
    """One rule: its kind, name, formula or first sentence, where it is from, and where it is."""

    kind: str
    name: str
    formula: str
    source: str
    where: str


def rules() -> list[Rule]:
    """List the functions and classes of `KINDS` whose docstrings name a source, in the order of their modules."""
    modules = [(kind, importlib.import_module(name)) for kind, names in KINDS.items() for name in names]
    return [rule for kind, module in modules for rule in _of_module(kind, module)]


def _of_module(kind: str, module: ModuleType) -> Iterator[Rule]:
    for name, member in vars(module).items():
        own = getattr(member, "__module__", None) == module.__name__
        if not own or name.startswith("_") or not (inspect.isfunction(member) or inspect.isclass(member)):
            continue
        text = inspect.getdoc(member) or ""
        if source := source_of(text):
            formula = " ".join(text.partition("\n\n")[0].split())
            yield Rule(_kind(kind, member), name, formula, source, f"{module.__name__}:{name}")


def _kind(kind: str, member: object) -> str:
    """Tell a part from what goes into one: settings of selectors, and values that backups spread."""
    if kind == "selector" and isinstance(member, type) and not hasattr(member, "ask"):
        return "setting"
    return "value" if kind == "backup" and not isinstance(member, type) else kind


def source_of(text: str) -> str:
    """Return what a docstring says after "Source:", else the sentence that names a paper, else ""."""
    if (said := _SOURCE.search(text)) is not None:
        return " ".join(said[1].split()).rstrip(".")
    named = _PAPER.search(" ".join(text.split()))
    return named[1].strip() if named else ""
