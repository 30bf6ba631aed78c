"""How numbers, counts, models and ends of searches are written. Knows no terminal and reads no file."""

import re

_A_FILE = re.compile(r"[/~.]|[A-Za-z]:[\\/]|.*\.gguf$", re.IGNORECASE)
_ENDS = {
    "rollouts": "all rollouts done",
    "paths": "enough paths came to an end",
    "no gain": "no better value found for a while",
    "max depth": "largest depth reached",
    "all drawn": "all answers are drawn",
    "all finished": "all solutions are finished",
    "searches": "enough wrong solutions were searched",
    "exhausted": "nothing left to do",
    "all unscored": "nothing could be scored",
}


def number(value: float | None, digits: int = 1) -> str:
    """Write a number without needless zeros; "-" for None."""
    if value is None:
        return "-"
    text = f"{value:,.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:,.0f}"
    return "0" if text == "-0" else text


def counted(n: int, noun: str, plural: str = "") -> str:
    """Write a count with its noun: "1 node", "2 nodes"; `plural` defaults to the noun and an "s"."""
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


def short_model(name: str) -> str:
    """Return a model's name, of a file its last part; "owner/model" is a name and stays."""
    return re.split(r"[\\/]", name.rstrip("\\/"))[-1] if _A_FILE.match(name) else name


def ending(reason: str) -> str:
    """Say why a search stopped; a reason of somebody's own stopper stays as it is."""
    return _ENDS.get(reason, reason)
