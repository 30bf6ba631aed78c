"""Recipes that label: told whether an answer is right, when and only when that was asked for by name."""

from pathlib import Path

import pytest

from mctsr.batch import Plan, estimate, plan, resume_plan
from mctsr.errors import RecipeError, RunError
from mctsr.lm.scripted import Scripted
from mctsr.runs.folder import Run
from tests.runs.world import by_place, lines, run, settings, steady, sums, write_jsonl

LABELS = '''
from mctsr import Answer, Frontier, OwnValue, Recipe, best_value, never
from mctsr.judge.outcome import OutcomeReward

def labels(*, n: int = 3, uses_gold: bool = False) -> Recipe:
    """Answer n times, and say which answers are right."""
    return Recipe(Answer(), OutcomeReward(uses_gold), Frontier(n), OwnValue(), never(), best_value)

def sly(*, n: int = 3) -> Recipe:
    """Look, without having been asked to."""
    return labels(n=n, uses_gold=True)

def blunt(*, n: int = 3, uses_gold: bool = False) -> Recipe:
    """Look although told not to."""
    return labels(n=n, uses_gold=True)
'''


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(LABELS)


def planned(tmp: Path, name: str = "labels", gold: object = None, **arguments: str) -> Plan:
    rows = sums(2, (lambda i: i + 2) if gold is None else lambda i: gold)
    return plan(settings(recipe=f"own.py:{name}", arguments=arguments), write_jsonl(tmp / "sums.jsonl", rows))


async def test_values_are_right_or_wrong_and_the_run_says_that_it_tests_nothing(tmp_path: Path) -> None:
    await run(tmp_path / "run", planned(tmp_path, n="8", uses_gold="true"))
    trees = lines(tmp_path / "run" / "trees.jsonl")
    gold = {"sum-0": "2", "sum-1": "3"}
    found = {
        (node["answer"] == gold[tree["problem_id"]], node["samples"][0]["value"])
        for tree in trees
        for node in tree["nodes"]
    }
    assert found == {(True, 1.0), (False, 0.0)}
    record = Run.open(tmp_path / "run").record
    assert record["recipe_arguments"]["uses_gold"] is True
    assert any("no test result" in notice for notice in record["notices"])


async def test_without_being_asked_for_known_answers_change_no_tree(tmp_path: Path) -> None:
    await run(tmp_path / "a", planned(tmp_path, n="8"))
    await run(tmp_path / "b", planned(tmp_path, n="8", gold=77))
    a, b = (steady(lines(tmp_path / name / "trees.jsonl")) for name in "ab")
    assert a == b
    assert not Run.open(tmp_path / "a").record["notices"]


@pytest.mark.parametrize("name", ["sly", "blunt"])
def test_a_recipe_that_was_not_asked_to_may_not_look(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecipeError, match="nobody asked for it"):
        planned(tmp_path, name)


def test_problems_without_a_known_answer_are_named_before_anything_begins(tmp_path: Path) -> None:
    rows = sums(2)
    rows.append({"id": "open", "question": "What is 4 and 2?"})
    wanted = settings(recipe="own.py:labels", arguments={"uses_gold": "true"})
    with pytest.raises(RecipeError, match="1 of 3 problems have no known answer, such as 'open'"):
        plan(wanted, write_jsonl(tmp_path / "sums.jsonl", rows))


async def test_a_run_of_labels_does_not_go_on_with_other_known_answers(tmp_path: Path) -> None:
    await run(tmp_path / "run", planned(tmp_path, uses_gold="true"), Scripted(by_place))
    planned(tmp_path, uses_gold="true", gold=5)
    with pytest.raises(RunError, match="the known answers changed"):
        resume_plan(Run.open(tmp_path / "run"))


def test_a_dry_run_prices_labels_without_knowing_any_answer(tmp_path: Path) -> None:
    assert estimate(planned(tmp_path, uses_gold="true")).calls == 3
