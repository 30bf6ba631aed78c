"""`mctsr recipes`: every name, its paper, its arguments."""

import json
from pathlib import Path

import pytest

from mctsr.recipes import RECIPES

from .conftest import Command
from .test_show_screen import on_terminal

OWN = '''
def careful(*, again: int, name: str = "x", sure: bool = True):
    """Look twice. arXiv:1234.56789.

    And once more.
    """
'''


def test_every_recipe_is_listed_with_what_it_is(mctsr: Command) -> None:
    ended = mctsr("recipes")
    assert ended.code == 0
    lines = {line.split()[0]: line for line in ended.out.splitlines()[1:] if line}
    assert lines.keys() >= RECIPES.keys()
    assert "arXiv:2406.07394" in lines["mctsr"]
    assert RECIPES["mctsr"] in lines["mctsr"]


def test_recipes_stand_with_their_family(mctsr: Command) -> None:
    blocks = [block.splitlines() for block in mctsr("recipes").out.split("\n\n")[1:]]
    found = {head: [line.split()[0] for line in rows] for head, *rows in blocks}
    assert found["answers that are refined"] == ["mctsr", "mctsr-code", "self-refine"]
    assert "zero-shot" in found["independent answers"]
    listed = [name for names in found.values() for name in names]
    assert sorted(listed) == sorted(entry["name"] for entry in json.loads(mctsr("recipes", "--json").out))
    families = {entry["family"] for entry in json.loads(mctsr("recipes", "--json").out)}
    assert families >= {"sampling", "refine", "steps", "populations", "labels"}


def test_a_narrow_terminal_lists_every_recipe_without_cutting_it() -> None:
    lines = on_terminal("recipes", NO_COLOR="1", TERM="dumb").splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if "…" in line]
    assert {line.split()[0] for line in lines if line} >= RECIPES.keys()
    assert "mctsr recipes NAME says" in lines[-1]


def test_a_narrow_terminal_wraps_what_is_said_of_a_recipe_anew() -> None:
    said = on_terminal("recipes", "best-of-n", columns=60, NO_COLOR="1", TERM="dumb")
    assert max(map(len, said.splitlines())) <= 60
    wide = on_terminal("recipes", "beam", columns=200, NO_COLOR="1", TERM="dumb").splitlines()
    about = [line for line in wide if line.startswith("    n: ") or line.startswith("    judge: ")]
    assert len(about) == 2
    judge = next(line for line in about if "judge: " in line)
    assert judge.endswith("a wrong name lists all.")


def test_json_is_a_list_of_objects_with_names_and_arguments(mctsr: Command) -> None:
    entries = {entry["name"]: entry for entry in json.loads(mctsr("recipes", "--json").out)}
    assert entries.keys() >= RECIPES.keys()
    assert entries["mctsr"]["paper"] == "arXiv:2406.07394"
    rollouts = {"name": "rollouts", "type": "int", "default": 8, "required": False}
    assert rollouts in entries["mctsr"]["arguments"]


def test_one_recipe_shows_its_text_and_arguments(mctsr: Command) -> None:
    ended = mctsr("recipes", "best-of-n")
    assert ended.code == 0
    assert "Best-of-n" in ended.out
    assert any(line.split() == ["n", "int", "8"] for line in ended.out.splitlines())
    assert json.loads(mctsr("recipes", "best-of-n", "--json").out)["name"] == "best-of-n"


def test_a_recipe_of_ones_own_can_be_shown_also_when_it_needs_arguments(mctsr: Command) -> None:
    Path("own.py").write_text(OWN)
    ended = mctsr("recipes", "own.py:careful", "--json")
    entry = json.loads(ended.out)
    assert (entry["description"], entry["paper"]) == ("Look twice. arXiv:1234.56789.", "arXiv:1234.56789")
    assert [a["required"] for a in entry["arguments"]] == [True, False, False]
    shown = mctsr("recipes", "own.py:careful").out.splitlines()
    assert ["again", "int", "required"] in [line.split() for line in shown]
    assert ["sure", "bool", "true"] in [line.split() for line in shown]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mctss", "did you mean 'mctsr'?"),
        ("nowhere.py:f", "recipe file 'nowhere.py' does not exist"),
        ("own.py", "names no function; give own.py:careful"),
        ("own", "names no function; give own.py:careful"),
        ("empty.py", "none in it looks like a recipe; give empty.py:function"),
        ("own.py:other", "has no function 'other'; give own.py:careful"),
    ],
)
def test_an_unknown_recipe_is_one_clear_line(mctsr: Command, name: str, said: str) -> None:
    Path("own.py").write_text(OWN)
    Path("empty.py").write_text("def score(tree, ids): ...\ndef _hidden(): ...\ndef three() -> int: ...\n")
    ended = mctsr("recipes", name)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_every_rule_is_listed_with_its_formula_and_source(mctsr: Command) -> None:
    ended = mctsr("recipes", "--rules")
    assert ended.code == 0
    lines = {line.split()[1]: line for line in ended.out.splitlines()[1:]}
    assert lines["uct_rest_mcts"].split()[0] == "score"
    assert "arXiv:2406.03816" in lines["uct_rest_mcts"]
    assert "V + c sqrt(2 ln N / n)" in lines["uct_rest_mcts"]
    entries = json.loads(mctsr("recipes", "--rules", "--json").out)
    assert {entry["kind"] for entry in entries} == {
        *("selector", "setting", "score", "choice", "survivors", "backup", "value")
    }
    assert len(entries) >= 50
    assert all(entry["source"] and entry["formula"] and ":" in entry["where"] for entry in entries)


def test_one_rule_is_shown_in_full_and_an_unknown_one_named(mctsr: Command) -> None:
    ended = mctsr("recipes", "--rules", "uct_rest_mcts")
    assert ended.code == 0
    assert "where: mctsr.select.scores:uct_rest_mcts" in ended.out
    assert "THUDM/ReST-MCTS" in ended.out
    unknown = mctsr("recipes", "--rules", "uct_nobody")
    assert unknown.code == 2
    assert "no rule 'uct_nobody'" in unknown.err
