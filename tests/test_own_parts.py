"""Parts of one's own: one that does not fit its protocol is refused in one line before anything is asked."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mctsr import Caller, OwnValue, Recipe, Sample, SelfRefine, Verdict, best_value, rollouts_done
from mctsr.errors import RecipeError
from mctsr.parts import Path as TreePath
from mctsr.recipes.registry import choose, find, names
from mctsr.select.anywhere import Anywhere
from mctsr.select.scores import by_value


class Short:
    """A judge as small as one can be: the shorter an answer, the better."""

    needs: object = frozenset()
    low: object = 0.0
    high: object = 1.0

    async def judge(self, path: TreePath, draft: int, llm: Caller) -> Verdict:
        value = 1 / (1 + len(path.last.text) / 1000)
        return Verdict((Sample(value, raw=value),))


def composed(judge: object = None) -> Recipe:
    own: Any = judge or Short()
    return Recipe(SelfRefine(), own, Anywhere(by_value()), OwnValue(), rollouts_done(2), best_value)


def without(name: str) -> object:
    """Make a judge that lacks one thing."""
    own = {word: value for word, value in vars(Short).items() if word != name and not word.startswith("__")}
    return type("Poor", (), own)()


def test_a_part_that_is_all_there_is_taken() -> None:
    assert composed().needs == frozenset()
    assert replace(composed(), judge=None).needs == SelfRefine().needs


@pytest.mark.parametrize("name", ["needs", "low", "high", "judge"])
def test_what_a_judge_lacks_is_named_with_all_that_it_must_have(name: str) -> None:
    with pytest.raises(RecipeError) as caught:
        composed(without(name))
    said = str(caught.value)
    assert said.startswith(
        f"the judge 'Poor' has no {name}; it must have needs, low, high, async judge(path, draft, llm); "
    )
    assert "\n" not in said


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("expander", "has no needs, open, grow; it must have needs, async open(problem, n, llm), "),
        ("selector", "has no roots, barrier, ask, tell; it must have roots, barrier, ask(tree, rng, room), "),
        ("backup", "the backup is <object object at "),
        ("stopper", "it must be a function (tree, ledger)"),
        ("answerer", "it must be a function (tree)"),
    ],
)
def test_every_part_is_looked_at(part: str, said: str) -> None:
    odd: dict[str, Any] = {part: object()}
    with pytest.raises(RecipeError) as caught:
        replace(composed(), **odd)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("needs", ["logprobs"], "the judge's needs are ['logprobs']; they must be a frozenset of words"),
        ("needs", "logprobs", "the judge's needs are 'logprobs'"),
        ("low", "zero", "low is 'zero' and its high 1.0; they must be numbers"),
        ("high", -1.0, "low is 0.0 and its high -1.0"),
    ],
)
def test_values_that_no_search_could_use_are_refused(name: str, value: object, said: str) -> None:
    with pytest.raises(RecipeError) as caught:
        composed(type("Odd", (Short,), {name: value})())
    assert said in str(caught.value)


SOURCE = """
from mctsr import Anywhere, OwnValue, Recipe, SelfRefine, best_value, by_value, rollouts_done

class Short:
    low, high = 0.0, 1.0

    async def judge(self, path, draft, llm):
        return None

def short({arguments}):
    "Prefer short answers."
    return Recipe(SelfRefine(), Short(), Anywhere(by_value()), OwnValue(), rollouts_done(2), best_value)
"""


@pytest.mark.parametrize("look", [find, lambda name: choose(name).build()])
def test_a_recipe_of_ones_own_is_refused_where_it_is_looked_at_and_where_it_is_built(
    look: Callable[[str], object], tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(SOURCE.format(arguments="rollouts: int = 4"))
    with pytest.raises(RecipeError, match="the judge 'Short' has no needs"):
        look(f"{file}:short")


def test_a_recipe_that_has_to_be_told_something_is_shown_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(SOURCE.format(arguments="rollouts"))
    assert find(f"{file}:short").__name__ == "short"


def test_shipped_recipes_have_all_that_their_parts_must_have() -> None:
    for name in names():
        assert isinstance(choose(name).build(), Recipe)
