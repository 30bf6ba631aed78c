"""Boundaries: no character is lost, nothing is cut inside a block, and a list inside a step is no step."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import RecipeError
from mctsr.expand.blocks import LONGEST_FORMULA, find_blocks, find_opened
from mctsr.expand.boundary import LINES, NUMBERED, PARAGRAPHS, Boundary, read_boundary, split, step_end

MARKED = Boundary((" ки\n", "ки"))
BOUNDARIES = [PARAGRAPHS, NUMBERED, LINES, MARKED]

#: What boundaries and blocks are made of, whole and in pieces.
SPACES = ["a", " ", "\n", "\n\n", "\n \n", "\r\n", "\t", "ки", "é\u2028"]
MARKS = ["$", "$$", "\\", "\\[", "\\]", "\\\\[2pt]", "`", "\n```", "```py\n", "~~~", "{", "}"]
NAMES = ["\\begin{align}", "\\end{align}", "\\begin{cases}", "\\end{cases}"]
HEADS = ["\nStep 1:", "\nStep 2:", "\n**Step 2.**", "\n### Step 3", "\n1. ", "\n2. ", "2.", "Step 1"]
SHARDS = st.sampled_from([*SPACES, *MARKS, *NAMES, *HEADS])
TEXTS = st.one_of(st.text(max_size=60), st.lists(SHARDS, max_size=30).map("".join))

BLOCKS = [
    "$$x = 1\n\ny = 2$$",
    "\\[\na\n\nb \\\\[2pt]\n\nc\n\\]",
    "\\begin{align}\na &= b\n\n\\begin{cases}\n\n1\n\\end{cases}\n\nc\n\\end{align}",
    "```python\nx = 1\n\n\ny = '$$'\n```",
    "~~~\n\n\\[\n\n~~~",
    "  ```\n\n```",
    "code: ```py\nx = 1\n\ny = 2\n```",
]


@pytest.mark.parametrize("boundary", BOUNDARIES)
@given(text=TEXTS)
def test_the_steps_of_a_text_joined_are_the_text(boundary: Boundary, text: str) -> None:
    steps = split(text, boundary)
    assert "".join(steps) == text
    assert all(step.strip() for step in steps) or len(steps) == 1
    assert bool(steps) == bool(text)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@given(text=TEXTS)
def test_no_block_is_cut(boundary: Boundary, text: str) -> None:
    ends, position = set(), 0
    for step in split(text, boundary):
        position += len(step)
        ends.add(position)
    for block in find_blocks(text):
        assert not any(block.start < end < block.end for end in ends)


@given(text=TEXTS)
def test_blocks_do_not_overlap_and_an_open_one_comes_behind_them(text: str) -> None:
    position = 0
    for block in find_blocks(text):
        assert position <= block.start < block.end <= len(text)
        position = block.end
    opened = find_opened(text)
    assert opened is None or (opened.closer and opened.start < len(text))


@pytest.mark.parametrize("boundary", [PARAGRAPHS, LINES, MARKED])
@given(text=TEXTS)
def test_the_first_step_ends_where_splitting_cuts_first(boundary: Boundary, text: str) -> None:
    steps = split(text, boundary)
    end = step_end(text, boundary)
    if len(steps) > 1:
        assert end == len(steps[0])
    else:
        assert end in (0, len(text)) or not text[end:].strip()


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("", []),
        ("one", ["one"]),
        ("one\n\ntwo", ["one\n\n", "two"]),
        ("one\n\ntwo\n\n", ["one\n\n", "two\n\n"]),
        ("one\n\n\n  \n\ntwo", ["one\n\n\n  \n\n", "two"]),
        ("\n\none\n\ntwo", ["\n\none\n\n", "two"]),
        ("one\n\n  ", ["one\n\n  "]),
        (" \n\n ", [" \n\n "]),
        ("one\n two\n\n  three", ["one\n two\n\n", "  three"]),
        ("it costs $$5\n\nand more", ["it costs $$5\n\n", "and more"]),
        ("an open \\[ x\n\nand on", ["an open \\[ x\n\n", "and on"]),
        ("an open \\begin{x}\n\n$$a\n\nb$$\n\non", ["an open \\begin{x}\n\n", "$$a\n\nb$$\n\n", "on"]),
        ("an end \\end{x}\n\n\\] on", ["an end \\end{x}\n\n", "\\] on"]),
        ("a matrix \\\\[2pt]\n\nno block \\]", ["a matrix \\\\[2pt]\n\n", "no block \\]"]),
        ("escaped \\$$5\n\n$$", ["escaped \\$$5\n\n", "$$"]),
        ("in a line ```x```\n\nend", ["in a line ```x```\n\n", "end"]),
    ],
)
def test_paragraphs(text: str, steps: list[str]) -> None:
    assert split(text) == steps


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_stays_whole_between_its_neighbours(block: str) -> None:
    assert split(f"before\n\n{block}\n\nafter") == ["before\n\n", f"{block}\n\n", "after"]
    assert find_opened(f"before\n\n{block}\n\nafter") is None


@pytest.mark.parametrize(
    ("text", "closer"),
    [
        ("see $$x\n\n", "$$"),
        ("see \\[x\n\n", "\\]"),
        ("\\begin{align*}\na\n\n", "\\end{align*}"),
        ("\\begin{a}\\begin{b}x\\end{b}\n\n", "\\end{a}"),
        ("```python\nx = '$$'\n\n", "```"),
        ("~~~~\n\\[\n\n", "~~~~"),
        ("$$a$$ and \\[ b", "\\]"),
        ("$$a$$\n\n", ""),
        ("plain", ""),
        ("a price of $$ 5" + "x" * LONGEST_FORMULA, ""),
        ("```\n" + "x\n\n" * LONGEST_FORMULA, "```"),
    ],
)
def test_an_open_block_says_what_would_close_it(text: str, closer: str) -> None:
    opened = find_opened(text)
    assert (opened.closer if opened else "") == closer


NUMBERED_TABLE = [
    ("Step 1: a\nStep 2: b\n", ["Step 1: a\n", "Step 2: b\n"]),
    ("Let us see.\n\nStep 1: a\n\nStep 2: b", ["Let us see.\n\nStep 1: a\n\n", "Step 2: b"]),
    ("**Step 1:** a\n**Step 2:** b", ["**Step 1:** a\n", "**Step 2:** b"]),
    ("## Step 1\na\n\n## Step 2\nb", ["## Step 1\na\n\n", "## Step 2\nb"]),
    ("step 1 a\nSTEP 2 b", ["step 1 a\n", "STEP 2 b"]),
    ("1. a\n2. b\n10. c", ["1. a\n", "2. b\n10. c"]),
    ("1) a\n2) b", ["1) a\n", "2) b"]),
    ("Step 1: a\n1. x\n2. y\nStep 2: b", ["Step 1: a\n1. x\n2. y\n", "Step 2: b"]),
    ("Step 1: as in Step 2\nStep 3: no\nStep 2: b", ["Step 1: as in Step 2\nStep 3: no\n", "Step 2: b"]),
    ("1. a\n   1. x\n2. b", ["1. a\n   1. x\n", "2. b"]),
    ("1. it takes\n2.5 hours\n2. b", ["1. it takes\n2.5 hours\n", "2. b"]),
    ("2024. That year\n1. a\n2. b", ["2024. That year\n1. a\n", "2. b"]),
    ("Step 1: a\n```\nStep 2: code\n```\nStep 2: b", ["Step 1: a\n```\nStep 2: code\n```\n", "Step 2: b"]),
    ("Step 3: a\nStep 4: b", ["Step 3: a\n", "Step 4: b"]),
    ("no heading\n\nat all", ["no heading\n\nat all"]),
]


@pytest.mark.parametrize(("text", "steps"), NUMBERED_TABLE)
def test_numbered_steps(text: str, steps: list[str]) -> None:
    assert split(text, NUMBERED) == steps


@pytest.mark.parametrize(
    ("begun", "stops"),
    [
        ("", ("\nStep 2", "\n**Step 2", "## Step 2", "\n2.")),
        ("Step 1: a\n", ("\nStep 3", "\n**Step 3", "## Step 3")),
        ("Step 1: a\nStep 2: b and", ("\nStep 3", "\n**Step 3", "## Step 3")),
        ("1. a\n2. b\n", ("\n4.", "\n**4.")),
        ("no heading yet\n", ("\nStep 2", "\n**Step 2", "## Step 2", "\n2.")),
    ],
)
def test_a_model_is_stopped_at_the_heading_that_comes_next(begun: str, stops: tuple[str, ...]) -> None:
    assert NUMBERED.stops(begun) == stops
    assert PARAGRAPHS.stops(begun) == ("\n\n",)


@pytest.mark.parametrize(
    ("text", "begun", "step"),
    [
        ("Step 2: b\nStep 3", "Step 1: a\n", "Step 2: b\n"),
        ("Step 1: a\nStep 2", "", "Step 1: a\n"),
        ("nd so on\nStep 2", "Step 1: a", "nd so on\n"),
        ("Step 2: b\n1. x\n2. y", "Step 1: a\n", ""),
        ("\n\nStep 2: b\nStep 3", "Step 1: a\n", "\n\nStep 2: b\n"),
    ],
)
def test_a_numbered_step_ends_before_the_heading_that_follows_it(text: str, begun: str, step: str) -> None:
    assert text[: step_end(text, NUMBERED, begun)] == step


def test_a_block_in_which_the_text_before_was_cut_off_is_closed_first() -> None:
    assert step_end("y\n\nz$$\n\nafter", PARAGRAPHS, "so $$x\n\n") == len("y\n\nz$$\n\n")
    assert step_end("y\n\nz", PARAGRAPHS, "a price of $$5") == len("y\n\n")


def test_the_steps_of_other_separators() -> None:
    assert split("1+1=2 ки\n2+2=4 ки\nend", MARKED) == ["1+1=2 ки\n", "2+2=4 ки\n", "end"]
    assert split("a\n\nb\nc", LINES) == ["a\n\n", "b\n", "c"]


def test_a_boundary_is_named_by_a_setting() -> None:
    assert read_boundary("paragraph") == PARAGRAPHS
    assert read_boundary("line") == LINES
    assert read_boundary("numbered") == NUMBERED
    assert read_boundary(" ки\\n") == Boundary((" ки\n",))
    with pytest.raises(RecipeError):
        read_boundary("")


@pytest.mark.parametrize("strings", [(), ("",), ("\n\n", "")])
def test_a_boundary_without_a_string_is_refused(strings: tuple[str, ...]) -> None:
    with pytest.raises(RecipeError, match="give at least one, none of them empty"):
        Boundary(strings)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize(
    "shard",
    [
        "\\[",
        "\\begin{a}",
        "$$x",
        "```py\n",
        "x\n\n",
        "\\begin{a}\\end{b}",
        "Step 1: a\n",
        "1. a\n",
        "\\",
        "`",
    ],
)
def test_a_long_text_takes_linear_time(boundary: Boundary, shard: str) -> None:
    text = shard * (200_000 // len(shard))
    began = time.process_time()
    assert "".join(split(text, boundary)) == text
    find_opened(text)
    assert time.process_time() - began < 3.0


@pytest.mark.parametrize("words", ["lines", "Line", "paragraphs", "Numbered"])
def test_a_name_that_is_nearly_one_is_no_separator(words: str) -> None:
    with pytest.raises(RecipeError, match="did you mean"):
        read_boundary(words)


def test_an_empty_boundary_says_how_a_new_line_is_written() -> None:
    with pytest.raises(RecipeError, match=r"a new line is written \\n"):
        read_boundary("")
