"""`mctsr data`: what is shown of a file before anything is solved."""

import json
import sys
import time
from pathlib import Path

import pytest

from .conftest import Command


def test_three_problems_are_shown_with_gold_answers_and_what_was_guessed(mctsr: Command) -> None:
    rows = [
        {"ID": f"c{i}", "Body": "It rains", "Question": f"{i}?", "Answer": float(i), "Type": "x"}
        for i in range(5)
    ]
    Path("svamp.json").write_text(json.dumps(rows))
    ended = mctsr("data", "svamp.json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("svamp.json  5 problems, JSON list\nproblem   from Body + Question\n")
    assert "answer    from Answer\nid        from ID\n" in ended.out
    assert "answers   read as number (by the file's name)\nnot used  Type\n" in ended.out
    assert "c2  number\n  It rains. 2?\n  gold  2\n" in ended.out
    assert "c3" not in ended.out


def test_odd_rows_are_counted(mctsr: Command) -> None:
    typed = {"answer_type": "Numerical", "error": None}
    rows = [
        {"question": "a", "final_answer": ["1,2"], "is_multiple_answer": True, **typed},
        {"question": "b", "final_answer": ["8"], "is_multiple_answer": False, **typed, "unit": "min"},
        {"question": "c", "final_answer": ["4.2"], "is_multiple_answer": False, **typed, "error": "1e-1"},
        {"question": "Which?\nA. x\nB. y", "final_answer": None, "is_multiple_answer": False},
        {"id": 1, "question": "a", "final_answer": "3"},
    ]
    Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "{bad\n")
    refused = mctsr("data", "d.jsonl")
    assert (refused.code, refused.out) == (2, "")
    assert "d.jsonl, line 6: not JSON" in refused.err
    ended = mctsr("data", "d.jsonl", "--skip-bad", "--json")
    odd = json.loads(ended.out)["odd"]
    assert odd == {
        "no gold answer": 1,
        "several answers": 1,
        "a unit": 1,
        "a tolerance": 1,
        "options to choose from": 1,
        "the text of another": 1,
        "left out": 1,
        "an answer that is none": 0,
    }
    shown = mctsr("data", "d.jsonl", "--skip-bad").out
    assert "d.jsonl, line 6: not JSON" in shown
    assert "id        from a hash of the text (4 of 5), id (1 of 5)" in shown
    assert "none with" not in shown
    assert "a fault, left out" in shown
    assert "unreadable" not in shown


def test_typed_gold_answers_are_written_for_people(mctsr: Command) -> None:
    typed = {"is_multiple_answer": False, "answer_type": "Numerical", "unit": None, "error": None}
    rows = [
        {"question": "a", "final_answer": ["2,3"], "context": None, **typed, "is_multiple_answer": True},
        {"question": "b", "final_answer": ["4.2"], "context": None, **typed, "unit": "min", "error": "1e-1"},
        {"question": "c", "final_answer": None, "context": None, **typed, "subfield": "x"},
    ]
    Path("d.json").write_text(json.dumps(rows))
    shown = mctsr("data", "d.json").out
    assert "  gold  2, 3 (set)\n" in shown
    assert "  gold  4.2 min (within 1e-1)\n" in shown
    assert "  gold  -\n" in shown
    assert "types     from is_multiple_answer, answer_type, unit, error\n" in shown
    assert "not used  subfield, context (empty)\n" in shown
    told = json.loads(mctsr("data", "d.json", "--json").out)
    assert told["samples"][0]["gold"] == '{"gold": ["2", "3"], "kind": "set"}'
    assert (told["beside"][2:], told["empty"], told["unused"]) == (
        ["unit", "error"],
        ["context"],
        ["subfield"],
    )


def test_gold_answers_that_are_null_everywhere_are_said_to_be(mctsr: Command) -> None:
    Path("d.jsonl").write_text('{"question": "a", "answer": null}\n{"question": "b", "answer": null}\n')
    shown = mctsr("data", "d.jsonl").out
    assert "answer    answer is null in every row\n" in shown
    assert "not used" not in shown
    Path("e.jsonl").write_text('{"question": "a"}\n')
    assert "answer    from nowhere\n" in mctsr("data", "e.jsonl").out


def test_a_long_gold_answer_is_cut_on_screen_and_whole_in_json(mctsr: Command) -> None:
    Path("d.jsonl").write_text(json.dumps({"question": "a", "answer": "7" * 100_000}))
    assert max(map(len, mctsr("data", "d.jsonl").out.splitlines())) < 400
    assert len(json.loads(mctsr("data", "d.jsonl", "--json").out)["samples"][0]["gold"]) == 100_000


def test_leaving_rows_out_is_advised_only_where_some_are_left(mctsr: Command) -> None:
    advice = "--skip-bad leaves such rows out"
    for wrong in ("{bad\n", '{"text": 1}\n', '{"question": "a", "answer": [[]]}\n'):
        Path("d.jsonl").write_text(wrong)
        ended = mctsr("data", "d.jsonl")
        assert (ended.code, advice in ended.err) == (2, False)
        Path("d.jsonl").write_text(wrong + '{"question": "b", "answer": 1}\n')
        ended = mctsr("data", "d.jsonl")
        assert (ended.code, advice in ended.err) == (2, True)


def test_a_name_that_the_hub_may_have_is_said_to_be_looked_for(
    mctsr: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    ended = mctsr("data", "no/such")
    assert ended.code == 2
    assert ended.err.startswith("looking on the Hugging Face Hub …\nerror: 'no/such' is no file")


def test_of_many_wrong_rows_the_first_are_named(mctsr: Command) -> None:
    Path("d.jsonl").write_text('{"question": "a"}\n' + "{bad\n" * 25)
    out = mctsr("data", "d.jsonl", "--skip-bad").out
    assert out.count("not JSON") == 10
    assert "and 15 more\n" in out


def test_json_holds_all_of_it(mctsr: Command, data: Path) -> None:
    told = json.loads(mctsr("data", data, "--json").out)
    assert (told["format"], told["problems"], told["kind"]) == ("JSON Lines", 3, None)
    assert told["fields"] == {"problem": {"question": 3}, "answer": {"answer": 3}, "id": {"id": 3}}
    assert told["samples"][0] == {"id": "a", "problem": "2+2?", "gold": "4", "kind": None}


def test_fields_and_kind_can_be_given(mctsr: Command) -> None:
    Path("own.csv").write_text("ask,said,nr\n2+2?,4,x\n")
    fields = (
        "--problem-field",
        "ask",
        "--answer-field",
        "said",
        "--id-field",
        "nr",
        "--answer-kind",
        "number",
    )
    assert "x  number\n  2+2?\n  gold  4\n" in mctsr("data", "own.csv", *fields).out
    ended = mctsr("data", "own.csv", "--problem-field", "asked")
    assert (ended.code, ended.out) == (2, "")
    assert "no row has the field 'asked' of --problem-field; there are 'ask', 'said', 'nr'" in ended.err


def test_standard_input_may_be_rows_or_a_question(mctsr: Command, data: Path) -> None:
    assert "3 problems, JSON Lines" in mctsr("data", "-", stdin=data.read_text()).out
    assert mctsr("data", "-", stdin=data.read_text()).out.startswith("standard input  3 problems")
    assert "1 problem, one question" in mctsr("data", "-", stdin="What is 2+2?\n").out


@pytest.mark.parametrize("columns", ["40", "80"])
def test_a_narrow_terminal_is_no_trouble(
    mctsr: Command, data: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert mctsr("data", data).code == 0


def test_five_thousand_problems_take_no_time(mctsr: Command) -> None:
    row = {"level": "Level 3", "type": "Algebra", "solution": "So it is " * 60 + "$\\boxed{\\frac{1}{2}}$."}
    rows = [json.dumps({"problem": f"Find $x$ in ${i}$. " * 8, **row, "idx": i}) for i in range(5000)]
    Path("math.jsonl").write_text("\n".join(rows))
    start = time.perf_counter()
    assert "5,000 problems" in mctsr("data", "math.jsonl").out
    assert time.perf_counter() - start < 1.5
