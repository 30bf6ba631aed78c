"""Plain tables, targets that were met or missed, and times that other work on the machine disturbs least."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Sheet:
    """What is printed, and what was missed.

    Attributes:
        missed: Targets that were not reached, in words.
    """

    missed: list[str] = field(default_factory=list)

    def title(self, text: str) -> None:
        """Begin a section."""
        print(f"\n== {text}\n", flush=True)

    def rows(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table; the first and the last column stand left, numbers between them right."""
        lines = [tuple(heads), *map(tuple, rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
        for line in lines:
            last = len(line) - 1
            cells = [
                c.ljust(w) if i in (0, last) else c.rjust(w)
                for i, (c, w) in enumerate(zip(line, widths, strict=True))
            ]
            print("  ".join(cells).rstrip(), flush=True)

    def at_least(self, name: str, value: float, target: float, unit: str = "") -> None:
        """Say whether `value` reaches `target`."""
        self._judge(name, value, target, unit, value >= target, ">=")

    def at_most(self, name: str, value: float, target: float, unit: str = "") -> None:
        """Say whether `value` stays within `target`."""
        self._judge(name, value, target, unit, value <= target, "<=")

    def _judge(self, name: str, value: float, target: float, unit: str, met: bool, sign: str) -> None:
        said = f"{name}: {number(value)}{unit}, target {sign} {number(target)}{unit}"
        print(f"{'ok    ' if met else 'MISSED'} {said}", flush=True)
        if not met:
            self.missed.append(said)


def number(value: float) -> str:
    """Write a number with about three digits that count, thousands apart."""
    if abs(value) >= 100:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}"


def interleaved(
    runs: Mapping[str, Callable[[], object]], before: Callable[[], object], times: int
) -> dict[str, float]:
    """Run all in turn, `times` times over; return the median CPU seconds of each.

    What slows the machine down for a while slows all of them. `before` is called ahead of each and not timed.
    """
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(times):
        for name, run in runs.items():
            before()
            began = time.thread_time()
            run()
            spent[name].append(time.thread_time() - began)
    return {name: statistics.median(seconds) for name, seconds in spent.items()}
