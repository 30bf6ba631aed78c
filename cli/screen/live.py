"""What is seen of a run while it goes on: one moving line on a terminal, few plain lines anywhere else.

Knows: how a run's progress is worded. Writes to stderr only, and never stops a run: when
nobody reads stderr any more, it falls silent. Does not know how anything is solved, graded or counted.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from mctsr.batch import BatchEvent, ProblemFinished
from mctsr.errors import brief, short
from mctsr.report import wilson
from mctsr.runs.progress import CallEvent, Progress
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

_BAR = 24


def line(progress: Progress) -> str:
    """Say how far a run is, in one line."""
    if progress.phase:
        return f"{progress.phase} · {seconds(progress.seconds)}"
    calls = f"{_several(progress.calls, 'call')} in flight"
    parts = [f"{progress.done}/{progress.total} done"]
    if not progress.replies:
        return " · ".join([*parts, f"waiting for the first reply, {seconds(progress.seconds)}", calls])
    parts += [f"{progress.open} open", calls]
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    parts += [_several(progress.rollouts, "rollout"), f"{number(progress.rate, 0)} tokens/s"]
    if progress.correct or progress.graded > progress.failed:
        low, high = wilson(progress.correct, progress.graded)
        share = 100 * progress.correct / progress.graded
        parts.append(f"selected@1 {share:.0f} % [{100 * low:.0f}–{100 * high:.0f}]")
    if progress.left and progress.done < progress.total:
        parts.append(f"ETA {seconds(progress.left)}")
    return " · ".join(parts)


def _several(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def told(result: ResultRecord, grade: GradeRecord | None) -> str:
    """Say in one line how a problem ended."""
    if result["status"] == "failed":
        return brief(one_line(f"{short(result['id'])}: failed: {result['stopped']}"))
    usage, answer = result["usage"], result["answers"]["selected"]
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    word = "" if grade is None or answer is None else f", {word_of(answer, grade)}"
    said = "no answer" if answer is None else f"{answer:.60}{word}"
    cost = f"{_several(usage['calls'], 'call')}, {number(tokens)} tokens, {seconds(result['seconds'])}"
    return one_line(f"{short(result['id'])}: {said} ({cost})")


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

    def __call__(self, event: BatchEvent | CallEvent) -> None:
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
                    where = line(self.progress)
                self.say(where)

    def _moving(self) -> "Text":
        from rich.text import Text

        with self._lock:
            where, done, total = line(self.progress), self.progress.done, self.progress.total
        room = min(_BAR, (self._live.console.width if self._live else 0) - measure(where) - 1)
        filled = room * done // total if total else 0
        if room < _BAR // 3:
            return Text(where)
        return Text.assemble(("━" * filled, "green"), ("━" * (room - filled), "dim"), " ", where)


class _Notices(logging.Handler):
    """Shows the library's warnings where the display wants them."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(logging.WARNING)
        self._watch = watch

    def emit(self, record: logging.LogRecord) -> None:
        """Show one."""
        self._watch.say(brief(one_line(f"notice: {record.getMessage()}")))


@contextmanager
def telling(watch: Watch) -> Iterator[None]:
    """Show warnings of the library for a while."""
    handler, logger = _Notices(watch), logging.getLogger("mctsr")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


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
