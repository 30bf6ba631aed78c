"""What is seen of a run while it goes on: one moving line on a terminal, few plain lines anywhere else.

Knows: the events of a run, and what can be counted from them. Writes to stderr only, and never stops a run: when
nobody reads stderr any more, it falls silent. Does not know how problems are solved or graded.
"""

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from mctsr.batch import BatchEvent, ProblemFinished, ProblemStarted
from mctsr.report import wilson
from mctsr.rollout import Folded
from mctsr.runs.records import GradeRecord, ResultRecord
from mctsr.runs.verdict import word_of

from .render import measure, number, one_line, seconds, talk

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

SILENCE = 10.0
"""Seconds after which a plain display says where it is."""

LINES = 100
"""Most lines that a plain display spends on finished problems, failed ones left out."""

_WINDOW = 60.0
_BAR = 24


class Progress:
    """What has happened so far, counted.

    Attributes:
        phase: What is going on while no problem is.
        total: Problems of the run.
        done: Finished ones, those that failed included.
        failed: Those that failed.
        in_flight: Problems being searched.
        rollouts: Asks folded in this process, openings left out.
        tokens: Prompt and reply tokens in this process.
        correct: Graded problems whose selected answer is right.
        graded: Graded problems, those that failed included.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.phase = "starting"
        self.total = self.done = self.failed = self.in_flight = self.rollouts = self.tokens = 0
        self.correct = self.graded = 0
        self._clock = clock
        self._began = clock()
        self._before = 0
        self._spent: deque[tuple[float, int]] = deque()

    def begin(self, total: int) -> None:
        """Start the clock; what was counted before is an earlier process's."""
        self.phase, self.total, self._before, self._began = "", total, self.done, self._clock()

    def take(self, event: BatchEvent) -> None:
        """Count an event."""
        if isinstance(event, ProblemStarted):
            self.in_flight += 1
        elif isinstance(event, ProblemFinished):
            self.in_flight -= 1
            self.count(event.result, event.grade)
        elif isinstance(event, Folded):
            self.rollouts += event.ask > 0
            self._spend(event.tally.usage.total_tokens)

    def count(self, result: ResultRecord, grade: GradeRecord | None) -> None:
        """Count a finished problem."""
        failed = result["status"] == "failed"
        self.done += 1
        self.failed += failed
        self.graded += failed or grade is not None
        self.correct += word_of(result["answers"]["selected"], grade) == "right"

    @property
    def rate(self) -> float:
        """Tokens a second over the last minute."""
        now = self._clock()
        since = max(self._began, now - _WINDOW)
        return sum(tokens for at, tokens in self._spent if at >= since) / max(now - since, 1.0)

    @property
    def left(self) -> float | None:
        """Seconds to go, at the pace so far; None before the first problem of this process is done."""
        here = self.done - self._before
        return (self.total - self.done) * (self._clock() - self._began) / here if here else None

    def line(self) -> str:
        """Say all of it in one line."""
        if self.phase:
            return f"{self.phase} · {seconds(self._clock() - self._began)}"
        parts = [f"{self.done}/{self.total} done", f"{self.in_flight} in flight"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        parts += [f"{self.rollouts} rollouts", f"{number(self.rate, 0)} tokens/s"]
        if self.correct or self.graded > self.failed:
            low, high = wilson(self.correct, self.graded)
            share = 100 * self.correct / self.graded
            parts.append(f"selected@1 {share:.0f} % [{100 * low:.0f}–{100 * high:.0f}]")
        if self.left and self.done < self.total:
            parts.append(f"ETA {seconds(self.left)}")
        return " · ".join(parts)

    def _spend(self, tokens: int) -> None:
        now = self._clock()
        self.tokens += tokens
        self._spent.append((now, tokens))
        while self._spent[0][0] < now - _WINDOW:
            self._spent.popleft()


def told(result: ResultRecord, grade: GradeRecord | None) -> str:
    """Say in one line how a problem ended."""
    if result["status"] == "failed":
        return one_line(f"{result['id']}: failed: {result['stopped']}")
    usage, answer = result["usage"], result["answers"]["selected"]
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    word = "" if grade is None or answer is None else f", {word_of(answer, grade)}"
    said = "no answer" if answer is None else f"{answer:.60}{word}"
    calls = f"{usage['calls']} call{'' if usage['calls'] == 1 else 's'}"
    cost = f"{calls}, {number(tokens)} tokens, {seconds(result['seconds'])}"
    return one_line(f"{result['id']}: {said} ({cost})")


class Watch:
    """A display, used inside `with`; its events are those of one run.

    Attributes:
        progress: What it shows.
    """

    def __init__(self, style: str) -> None:
        """Choose how it looks: "rich", "plain" or "none"; "auto" looks at the terminal."""
        self.progress = Progress()
        self._style = _chosen(style)
        self._live: Live | None = None
        self._over = threading.Event()
        # Loading the library was silent, too.
        self._spoke = time.monotonic() - SILENCE / 2
        self._lock = threading.Lock()

    def begin(self, total: int) -> None:
        """Say that the problems begin."""
        with self._lock:
            self.progress.begin(total)

    def phase(self, what: str) -> None:
        """Say what is going on before the problems begin."""
        with self._lock:
            self.progress.phase = what

    def say(self, text: str, *, style: str = "") -> None:
        """Say something once."""
        if self._style == "none":
            return
        self._spoke = time.monotonic()
        with suppress(OSError, ValueError):
            if self._live is None:
                talk(text, style)
            else:
                self._live.console.print(one_line(text), style=style or None, markup=False, highlight=False)

    def __call__(self, event: BatchEvent) -> None:
        """Take an event in."""
        with self._lock:
            self.progress.take(event)
        if isinstance(event, ProblemFinished) and self._is_told(event.result):
            self.say(f"[{self.progress.done}/{self.progress.total}] {told(event.result, event.grade)}")

    def close(self) -> None:
        """End it at once; ending it twice is harmless."""
        self._over.set()
        live, self._live = self._live, None
        if live is not None:
            with suppress(OSError, ValueError):
                live.stop()

    def abandon(self) -> None:
        """Give the terminal its cursor back and nothing else: safe at any moment, and nothing may follow."""
        if self._live is not None:
            os.write(sys.stderr.fileno(), b"\r\x1b[2K\x1b[?25h")

    def __enter__(self) -> Self:
        if self._style == "rich":
            self._live = _start_live(self._moving)
        elif self._style == "plain":
            threading.Thread(target=self._break_silence, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _is_told(self, result: ResultRecord) -> bool:
        every = -(-self.progress.total // LINES)
        return result["status"] == "failed" or every < 2 or self.progress.done % every == 0

    def _break_silence(self) -> None:
        # A thread, because compiling or starting a model may hold the event loop for longer than that.
        while not self._over.wait(0.5):
            if time.monotonic() - self._spoke >= SILENCE - 2:
                with self._lock:
                    line = self.progress.line()
                self.say(line)

    def _moving(self) -> "Text":
        from rich.text import Text

        with self._lock:
            line, done, total = self.progress.line(), self.progress.done, self.progress.total
        room = min(_BAR, (self._live.console.width if self._live else 0) - measure(line) - 1)
        filled = room * done // total if total else 0
        if room < _BAR // 3:
            return Text(line)
        return Text.assemble(("━" * filled, "green"), ("━" * (room - filled), "dim"), " ", line)


def _chosen(style: str) -> str:
    if style != "auto":
        return style
    plain = not sys.stderr.isatty() or os.environ.get("TERM") == "dumb" or bool(os.environ.get("CI"))
    return "plain" if plain else "rich"


def _start_live(show: Callable[[], "Text"]) -> "Live":
    from rich.console import Console
    from rich.live import Live

    console = Console(file=sys.stderr, markup=False, emoji=False, highlight=False)
    live = Live(console=console, get_renderable=show, refresh_per_second=4, transient=True)
    live.start()
    return live
