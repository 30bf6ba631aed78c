"""How messages are kept readable, and what a user's path means."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import LONGEST_LINE, LONGEST_SHOWN, UsageError, brief, named, short, shown, user_path


@given(st.text(max_size=500), st.integers(2, 300))
def test_a_shortened_text_keeps_both_ends_and_its_bound(text: str, most: int) -> None:
    found = short(text, most)
    assert len(found) <= most
    if len(text) <= most:
        assert found == text
    else:
        head, tail = found[: found.index("…")], found[found.rindex("…") + 1 :]
        assert text.startswith(head)
        assert text.endswith(tail)


def test_values_are_quoted_and_short() -> None:
    assert shown("a\nb") == "'a\\nb'"
    assert shown(3) == "3"
    assert shown("x" * 999).startswith("'xxx")
    assert shown("x" * 999).endswith("xxx'")
    assert len(shown(["x" * 999])) == LONGEST_SHOWN


def test_a_list_says_how_many_it_leaves_out() -> None:
    assert named([]) == ""
    assert named("abc") == "a, b, c"
    assert named(range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    assert named("abc", 2) == "a, b and 1 more"


@given(st.text(max_size=5000))
def test_a_message_is_never_longer_than_a_screen(text: str) -> None:
    assert len(brief(text)) <= LONGEST_LINE


def test_only_the_long_words_of_a_message_are_shortened() -> None:
    assert brief("a plain message") == "a plain message"
    found = brief(f"file {'x' * 999} does not exist; give another")
    assert found.startswith("file xxx")
    assert found.endswith("xxx does not exist; give another")
    assert len(found) < 300


def test_a_path_is_taken_as_it_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert user_path("a/b") == Path("a/b")
    assert user_path("~/a") == tmp_path / "a"
    assert user_path("./~nosuchuser/a") == tmp_path / "~nosuchuser/a", "a name that begins with ~ is no user"
    assert user_path("a/~nosuchuser") == Path("a/~nosuchuser")


@pytest.mark.parametrize("text", ["~nosuchuser", "~nosuchuser/a"])
def test_a_user_without_a_home_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=r"begins with ~nosuchuser.*or \./~nosuchuser"):
        user_path(text)


def test_no_path_holds_a_zero_character() -> None:
    with pytest.raises(UsageError, match="zero character"):
        user_path("a\0b")
