"""Data sets of the Hugging Face hub by their names, through the package `datasets`.

Knows `org/name`, `org/name:split`, and that a path which exists is a file. Loads nothing until one is asked for.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from threading import Event, Thread

from mctsr.errors import DataError, MissingExtra, named, shown

from .rows import Row, Table

_NAME = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?::(\w[\w.-]*))?")
_FILES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".gz", ".txt", ".yaml", ".yml", ".ndjson")
_FIRST = ("test", "validation", "train")
_PATIENCE = 5.0
"""Seconds that the hub has to answer at all."""


def is_hub_name(source: str) -> bool:
    """Say whether a source is the name of a data set: `org/name[:split]`, no file's name, and nothing lies there."""
    match = _NAME.fullmatch(source)
    return bool(
        match
        and not match[1].lower().endswith(_FILES)
        and not Path(source).exists()
        and _folder_is_free(match)
    )


@lru_cache(maxsize=4)
def read_hub(source: str) -> Table:
    """Fetch a data set, or take it from the local cache.

    Args:
        source: Its name; without a split the test split is taken, else the validation split, else the only one.

    Raises:
        MissingExtra: The package `datasets` is not installed.
        DataError: There is no such data set or split, or it cannot be reached.
    """
    try:
        import datasets
    except ImportError:
        raise MissingExtra(
            f"{shown(source)} is no file; to read it as a data set of the Hugging Face hub: "
            "pip install 'mctsr[datasets]'"
        ) from None
    name, _, split = source.partition(":")
    datasets.disable_progress_bars()
    with _quiet(), _reached() as reached:
        try:
            found = datasets.load_dataset(name)
        except Exception as error:
            told = " ".join(str(error).split()) or type(error).__name__
            why = told if reached else "the hub does not answer, and it is not cached"
            raise DataError(
                f"{shown(source)} is no file and no data set of the hub that can be reached: {why:.300}; "
                "give a path, or the name of one that is cached or reachable"
            ) from None
    chosen = _split(source, found, split)
    return Table(f"data set {name}, split {chosen}", _rows(source, found[chosen]))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the hub's client from logging every attempt of its own."""
    log = logging.getLogger("huggingface_hub")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


@contextmanager
def _reached() -> Iterator[bool]:
    """Say whether the hub answers; while it does not, only what is cached is looked for.

    The hub's client would try each address several times, which takes half a minute.
    """
    import datasets
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE
    reached = not any(before) and hub_answers()
    if not reached:
        constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
    try:
        yield reached
    finally:
        constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE = before


def hub_answers(patience: float = _PATIENCE) -> bool:
    """Ask the hub once whether it is there, through proxies if need be, and wait for `patience` seconds at most."""
    from huggingface_hub import constants, get_session

    answered = Event()

    def ask() -> None:
        with suppress(Exception):
            get_session().head(constants.ENDPOINT, timeout=patience)
            answered.set()

    # A name server that is silent, or several addresses, take longer than the client's own limit.
    asking = Thread(target=ask, daemon=True)
    asking.start()
    asking.join(patience)
    return answered.is_set()


def _split(source: str, found: Mapping[str, object], split: str) -> str:
    chosen = split or next((name for name in _FIRST if name in found), "")
    if not chosen and len(found) == 1:
        return next(iter(found))
    if chosen not in found:
        raise DataError(f"{shown(source)} has no such split; it has {named(found)}; give NAME:SPLIT")
    return chosen


def _rows(source: str, found: object) -> list[Row]:
    assert hasattr(found, "__iter__")
    return [Row(f"{source}, row {number}", dict(row)) for number, row in enumerate(found, start=1)]


def _folder_is_free(match: re.Match[str]) -> bool:
    """Say whether the first part is no folder here: then a wrong path is what was meant."""
    return not Path(match[1]).parent.is_dir()
