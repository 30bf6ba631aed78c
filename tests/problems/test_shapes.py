r"""The common data sets load without being told anything: rows in the shape of each, written for these tests."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from mctsr.grading import Gold
from mctsr.problems import Columns, describe, read_gold, read_notes, read_problems

MATH = {"problem": "Find $x$.", "level": "Level 3", "type": "Algebra", "solution": "", "idx": 0}


class Shape(NamedTuple):
    """A row as a file has it, and what must come out of it."""

    file: str
    row: object
    id: str | None
    text: str
    gold: str
    kind: str


SHAPES = {
    "gsm8k": Shape(
        "gsm8k_test.jsonl",
        {"question": "How many eggs?", "answer": "He has <<2000+125=2125>>2,125.\n#### 2,125"},
        None,
        "How many eggs?",
        "2125",
        "number",
    ),
    "gsm-hard": Shape(
        "gsm_hard.jsonl",
        {"input": "How much?", "code": "def solution(): return 1", "target": -9867630.0},
        None,
        "How much?",
        "-9867630",
        "number",
    ),
    "math500": Shape(
        "math500.jsonl",
        {
            "problem": "Which point?",
            "solution": r"So \boxed{1}.",
            "answer": r"\left( 3, \frac{\pi}{2} \right)",
            "subject": "Precalculus",
            "level": 2,
            "unique_id": "test/precalculus/807.json",
        },
        "test/precalculus/807.json",
        "Which point?",
        r"\left( 3, \frac{\pi}{2} \right)",
        "formula",
    ),
    "math": Shape(
        "math_test.jsonl",
        {**MATH, "solution": r"First $\boxed{15\frac{39}{40}}$, that is $\boxed{\frac{639}{40}}$."},
        "0",
        "Find $x$.",
        r"\frac{639}{40}",
        "formula",
    ),
    "aime24": Shape(
        "aime24.jsonl",
        {"id": 61, "problem": "Find $m+n$.", "solution": "x", "answer": "025", "question": "Find $m+n$."},
        "61",
        "Find $m+n$.",
        "25",
        "number",
    ),
    "aime25": Shape(
        "aime25.jsonl",
        {"problem": "Find the area.", "answer": 588, "id": "1"},
        "1",
        "Find the area.",
        "588",
        "number",
    ),
    "amc23": Shape(
        "amc23.jsonl",
        {"id": 0, "problem": "How far?", "answer": 27.0, "url": "u", "question": "How far?"},
        "0",
        "How far?",
        "27",
        "number",
    ),
    "odyssey": Shape(
        "math_odyssey.jsonl",
        {
            "Problem_7": {
                "question": "Which is it?\n\\begin{align*}\n\\text{A)}\\ & 1 &\n\\text{B)}\\ & 2\\\\\n"
                "\\end{align*} \n\t\n\\end{problem}\n\\noindent",
                "answer": "D\\\\\n\\noindent",
                "reasoning": "So.",
                "label": "Algebra",
                "level": "high school",
            }
        },
        "Problem_7",
        "Which is it?\n\\begin{align*}\n\\text{A)}\\ & 1 &\n\\text{B)}\\ & 2\\\\\n\\end{align*}",
        "D",
        "letter",
    ),
    "svamp": Shape(
        "svamp.json",
        {"ID": "chal-1", "Body": "A pack costs 76 dollars", "Question": "How much?", "Answer": 51.0},
        "chal-1",
        "A pack costs 76 dollars. How much?",
        "51",
        "number",
    ),
}
OLYMPIAD: dict[str, object] = {
    "id": 1606,
    "subfield": "Algebra",
    "context": None,
    "question": "Find all.",
    "solution": ["Since."],
    "final_answer": ["$2$"],
    "is_multiple_answer": False,
    "unit": None,
    "answer_type": "Numerical",
    "error": None,
}


def write(folder: Path, name: str, *rows: object) -> str:
    path = folder / name
    lines = json.dumps(rows, indent=4) if name.endswith(".json") else "\n".join(map(json.dumps, rows))
    path.write_text(lines + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", SHAPES)
def test_a_common_file_loads_without_flags(tmp_path: Path, name: str) -> None:
    shape = SHAPES[name]
    source = write(tmp_path, shape.file, shape.row)
    (problem,) = read_problems(source)
    assert problem.text == shape.text
    assert problem.id == shape.id if shape.id else len(problem.id) == 12
    assert problem.kind == shape.kind
    assert {id: str(gold) for id, gold in read_gold(source).items()} == {problem.id: shape.gold}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("gold", ["7", r"\text{(B)}", 3.5, ["1", "2"], None])
def test_no_gold_answer_changes_a_problem(tmp_path: Path, name: str, gold: object) -> None:
    shape = SHAPES[name]
    before = read_problems(write(tmp_path, shape.file, shape.row))
    changed = json.loads(json.dumps(shape.row))
    row = changed.get("Problem_7", changed)
    for field in ("answer", "target", "Answer", "solution"):
        if field in row:
            row[field] = gold
    assert read_problems(write(tmp_path, shape.file, changed)) == before


@pytest.mark.parametrize(
    ("changed", "gold"),
    [
        ({}, Gold("value", ("2",))),
        ({"final_answer": ["$69$,$84$"], "is_multiple_answer": True}, Gold("set", ("69", "84"))),
        ({"final_answer": ["$221,$8$"], "is_multiple_answer": True}, Gold("set", ("221", "8"))),
        (
            {"final_answer": ["$(1,8), (2,7)$"], "is_multiple_answer": True, "answer_type": "Tuple"},
            Gold("set", ("(1,8)", "(2,7)")),
        ),
        ({"final_answer": ["$(2,4)$"], "answer_type": "Tuple"}, Gold("tuple", ("2", "4"))),
        ({"final_answer": ["$[1, 8]$"], "answer_type": "Interval"}, Gold("interval", ("[1, 8]",))),
        (
            {"final_answer": [r"$(-\infty, 0) \cup(1,2)$"], "answer_type": "Interval"},
            Gold("value", (r"(-\infty, 0) \cup(1,2)",)),
        ),
        ({"final_answer": ["8"], "unit": "min"}, Gold("value", ("8",), "min")),
        ({"final_answer": ["4.2"], "unit": "%", "error": "1e-1"}, Gold("value", ("4.2",), "%", "1e-1")),
    ],
)
def test_an_olympiad_answer_has_a_type(tmp_path: Path, changed: dict[str, object], gold: Gold) -> None:
    source = write(tmp_path, "olympiadbench.jsonl", {**OLYMPIAD, **changed})
    assert read_gold(source) == {"1606": gold}
    assert Gold.read(str(gold)) == gold
    assert read_notes(source)[-1] == "fields not used: subfield, solution"


def test_a_unit_and_an_error_mean_something_only_beside_a_type(tmp_path: Path) -> None:
    source = write(
        tmp_path, "own.jsonl", {"id": 1, "question": "a", "answer": "7", "unit": 3, "error": "late"}
    )
    assert read_gold(source) == {"1": Gold("value", ("7",))}


def test_a_solution_without_a_marked_answer_is_no_gold_answer(tmp_path: Path) -> None:
    prose = {**MATH, "idx": 1, "problem": "b", "solution": "We see at once that it must be larger than any."}
    source = write(tmp_path, "math.jsonl", {**MATH, "solution": r"\boxed{4}"}, prose)
    assert read_gold(source) == {"0": Gold("value", ("4",))}
    assert read_gold(source, columns=Columns(answer="solution")).keys() == {"0", "1"}
    assert describe(source).odd["no gold answer"] == 1


def test_several_answers_in_a_list_are_a_set(tmp_path: Path) -> None:
    source = write(tmp_path, "own.jsonl", {"id": "x", "question": "a", "answer": ["1", 2]})
    assert read_gold(source) == {"x": Gold("set", ("1", "2"))}


@pytest.mark.parametrize("body", ["It rains.", "It rains!", "It rains"])
def test_both_halves_of_a_problem_are_sentences(tmp_path: Path, body: str) -> None:
    source = write(tmp_path, "x.jsonl", {"body": body, "question": " Why? "})
    assert read_problems(source)[0].text == f"{body.rstrip('.!')}{'!' if '!' in body else '.'} Why?"


def test_fields_may_be_named_and_then_nothing_is_guessed(tmp_path: Path) -> None:
    row = {"Problem": "no", "question": "no", "ask": "Why?", "answer": "no", "said": "7", "id": "no", "nr": 3}
    source = write(tmp_path, "own.jsonl", row)
    columns = Columns("ask", "said", "nr")
    assert [(p.id, p.text) for p in read_problems(source, columns=columns)] == [("3", "Why?")]
    assert read_gold(source, columns=columns) == {"3": Gold("value", ("7",))}
