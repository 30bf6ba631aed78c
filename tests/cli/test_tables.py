"""Tables on terminals that are too narrow for them: nothing is lost without a word."""

from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

# By its installed name, which only the installed package has.
tables: Any = import_module("mctsr.cli.screen.tables")
Column, folded, layout, parts = tables.Column, tables.folded, tables.layout, tables.parts

KEY, WIDE, OTHER = Column("key"), Column("wide", right=True), Column("other", right=True)
ROWS = [["a", "1" * 30, "2" * 30], ["b", "3", "4"]]


def texts(laid: Any) -> list[str]:
    lines = [*laid.heading, *(line for row in laid.rows for line in row)]
    return ["".join(cell if isinstance(cell, str) else cell.text for cell in line).rstrip() for line in lines]


@pytest.mark.parametrize(
    ("width", "found"),
    [(None, [[0, 1, 2]]), (67, [[0, 1, 2]]), (66, [[0, 1], [0, 2]]), (9, [[0, 1], [0, 2]])],
)
def test_a_table_that_is_too_wide_comes_in_parts_with_the_first_column(
    width: int | None, found: list[list[int]]
) -> None:
    assert parts([KEY, WIDE, OTHER], ROWS, width) == found


def test_a_column_that_may_go_is_named_when_it_goes() -> None:
    columns = [KEY, WIDE, Column("other", right=True, spare=True)]
    assert parts(columns, ROWS, 40) == [[0, 1, 2]]
    laid = layout(columns, ROWS, 40)
    assert laid.gone == ("other",)
    assert not any("2" in text for text in texts(laid))
    assert not layout(columns, ROWS, 80).gone


def test_what_folds_goes_on_below_and_is_not_cut() -> None:
    columns = [KEY, Column("says", least=10, folds=True), Column("cut", least=4)]
    laid = layout(columns, [["a", "one two three four", "something long"]], 24)
    assert texts(laid) == ["key  says        cut", "a    one two     someth…", "     three four"]
    assert [len(row) for row in laid.rows] == [2]


def test_a_heading_folds_as_its_column_does() -> None:
    laid = layout([Column("tokens a problem", least=8, folds=True), WIDE], [["5", "6" * 10]], 20)
    assert texts(laid) == ["tokens a        wide", "problem", "5         6666666666"]


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.just(" ")), st.integers(2, 30)
)
def test_folding_keeps_every_word_and_the_width(text: str, width: int) -> None:
    lines = folded(text, width)
    assert max(map(tables.measure, lines), default=0) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())
