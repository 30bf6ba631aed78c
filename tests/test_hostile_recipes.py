"""Recipes that return rubbish, raise, or leave: the problem fails in words, or the run ends with exit 2."""

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mctsr import (
    Ask,
    Caller,
    Draft,
    OwnValue,
    Problem,
    Recipe,
    Sample,
    Scripted,
    Selected,
    SelfRefine,
    Unscored,
    UsageError,
    Verdict,
    best_value,
    rollouts_done,
)
from mctsr.parts import Path as TreePath
from mctsr.prompting import Prompts
from mctsr.recipes.registry import choose
from mctsr.runs.attempt import Attempt, Terms, attempt
from mctsr.select.anywhere import Anywhere
from mctsr.select.scores import by_value
from mctsr.stop import Limits


@dataclass(frozen=True)
class Says:
    """A judge that returns what it is told to."""

    verdict: Callable[[], object]
    needs: frozenset[str] = frozenset()
    low: float = -100.0
    high: float = 100.0

    async def judge(self, path: TreePath, draft: int, llm: Caller) -> Verdict | Unscored:
        return self.verdict()  # type: ignore[return-value]


def good() -> Recipe:
    judge = Says(lambda: Verdict((Sample(5.0, 5.0),)))
    return Recipe(SelfRefine(), judge, Anywhere(by_value()), OwnValue(), rollouts_done(2), best_value)


async def solved(recipe: Recipe, folder: Path) -> Attempt:
    terms = Terms("mine", recipe, Prompts(), 0, Limits())
    return await attempt(
        Problem("p", "1 + 1?"), terms, Scripted(lambda place, _: "the answer is 2"), folder / "p"
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e6, -100.5])
async def test_a_number_off_the_scale_is_unscored_and_never_backed_up(value: float, tmp_path: Path) -> None:
    done = await solved(replace(good(), judge=Says(lambda: Verdict((Sample(value, value),)))), tmp_path)
    assert done.tree is not None
    assert (done.result["status"], done.result["stopped"]) == ("ok", "all unscored")
    assert [node["value"] for node in done.tree["nodes"]] == [None]
    assert done.tree["nodes"][0]["unscored"] == [f"off the scale: {value} of -100.0 to 100.0"]
    json.dumps(done.tree, allow_nan=False)


async def test_of_several_samples_only_those_off_the_scale_are_lost(tmp_path: Path) -> None:
    samples = (Sample(math.nan, 0.0), Sample(7.0, 7.0))
    done = await solved(replace(good(), judge=Says(lambda: Verdict(samples))), tmp_path)
    assert done.tree is not None
    assert done.tree["nodes"][0]["value"] == 7.0


async def test_a_verdict_without_a_sample_is_unscored(tmp_path: Path) -> None:
    done = await solved(replace(good(), judge=Says(lambda: Verdict(()))), tmp_path)
    assert done.result["unscored_reasons"] == {"the judge returned no sample": 1}


def leave() -> object:
    sys.exit(0)


@pytest.mark.parametrize("verdict", [lambda: None, lambda: 1.0, leave, lambda: 1 / 0])
async def test_a_judge_that_breaks_fails_its_problem_in_words(
    verdict: Callable[[], object], tmp_path: Path
) -> None:
    done = await solved(replace(good(), judge=Says(verdict)), tmp_path)
    assert (done.tree, done.result["status"]) == (None, "failed")
    assert done.result["stopped"].startswith("error in the recipe: ")


@pytest.mark.parametrize(
    "answerer",
    [
        lambda tree: Selected("2", -1, "mine"),
        lambda tree: Selected("2", 999, "mine"),
        lambda tree: Selected(2, 0, "mine"),  # type: ignore[arg-type]
        lambda tree: "2",
        lambda tree: leave(),
    ],
)
async def test_an_answer_that_cannot_be_kept_fails_its_problem(
    answerer: Callable[[object], Selected], tmp_path: Path
) -> None:
    done = await solved(replace(good(), answerer=answerer), tmp_path)
    assert (done.tree, done.result["status"]) == (None, "failed")
    assert "error in the recipe" in done.result["stopped"]


@pytest.mark.parametrize(
    "fields",
    [
        {"text": None},
        {"text": "x", "answer": 3},
        {"text": "x", "work": {"k": object()}},
        {"text": "x", "work": {3: "v"}},
        {"text": "x", "prior": math.nan},
        {"text": "x", "prior": -1.0},
    ],
)
def test_a_draft_that_no_tree_can_keep_is_refused_where_it_is_made(fields: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError), match="Draft's"):
        Draft(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("ask", [Ask(7), Ask(-1), Ask(0, n=0)])
async def test_an_ask_outside_the_tree_ends_the_run_in_words(ask: Ask, tmp_path: Path) -> None:
    class Astray(Anywhere):
        def ask(self, *_: object) -> tuple[Ask, ...]:
            return (ask,)

    with pytest.raises(UsageError, match="the selector asked"):
        await solved(replace(good(), selector=Astray(by_value())), tmp_path)


@pytest.mark.parametrize("score", [[1.0, 2.0, 3.0], [math.nan]])
async def test_a_score_that_is_not_one_number_an_id_ends_the_run_in_words(
    score: list[float], tmp_path: Path
) -> None:
    selector = Anywhere(lambda tree, ids: score)  # type: ignore[arg-type,return-value]
    with pytest.raises(UsageError, match="it must return one number"):
        await solved(replace(good(), selector=selector), tmp_path)


async def test_a_stop_reason_that_is_no_text_ends_the_run_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the stopper returned True"):
        await solved(replace(good(), stopper=lambda tree, ledger: True), tmp_path)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f():\n    raise ValueError('odd')\n", "broke: ValueError: odd"),
        ("import sys\ndef f():\n    sys.exit(0)\n", "broke: SystemExit: 0"),
        ("import sys\nsys.exit(0)\n", "does not import: SystemExit: 0"),
        ("async def f():\n    pass\n", "has no function 'f'"),
        ("def f(*, n: 'Bogus' = 1):\n    pass\n", "annotations cannot be read"),
        ("def f(*, n=object()):\n    pass\n", "which a run cannot record"),
        ("def f():\n    return 3\n", "it must return a Recipe"),
    ],
)
def test_a_recipe_that_cannot_be_built_says_so_in_one_line(source: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(source)
    with pytest.raises(UsageError, match=said) as caught:
        choose(f"{file}:f").build()
    assert "\n" not in str(caught.value)


def test_what_a_recipe_prints_is_talk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text("print('hello')\ndef f():\n    print('there')\n")
    with pytest.raises(UsageError):
        choose(f"{file}:f").build()
    assert capsys.readouterr() == ("", "hello\nthere\n")
