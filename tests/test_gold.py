"""Gold answers join after the search: they change no tree and no prediction, and no model ever sees them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from mctsr.batch import plan, run_record, solve
from mctsr.lm.connect import connect
from mctsr.lm.scripted import Scripted
from mctsr.runs.settings import RoleOptions
from mctsr.runs.writer import RunWriter
from tests.runs.world import NOW, by_place, by_seed, lines, run, settings, steady, sums, write_jsonl
from tests.support.fake_server import FakeServer

SENTINEL = "9081726354"
RECIPES = [
    "mctsr",
    "mctsr-code",
    "self-refine",
    "self-consistency",
    "best-of-n",
    "weighted-best-of-n",
    "zero-shot",
]
GOLDS: dict[str, Callable[[int], object]] = {
    "another number": lambda i: 1000 + i,
    "a letter": lambda i: "B",
    "a solution with a number": lambda i: f"It is {i}.\n#### {i}",
    "none": lambda i: None,
}


def predictions(folder: Path) -> list[str]:
    """Return what a run found, byte for byte, without what may differ between any two runs."""
    records = [*lines(folder / "trees.jsonl"), *lines(folder / "results.jsonl")]
    return [json.dumps(steady(record), ensure_ascii=False) for record in records]


async def solved(folder: Path, rows: list[dict[str, object]], recipe: str = "mctsr") -> list[str]:
    folder.mkdir(parents=True)
    source = write_jsonl(folder / "gsm8k.jsonl", rows)
    await run(folder / "run", plan(settings(recipe=recipe, arguments={}), source), Scripted(by_place), 1)
    return predictions(folder / "run")


@pytest.mark.parametrize("recipe", RECIPES)
async def test_replacing_every_gold_answer_changes_no_tree_and_no_prediction(
    tmp_path: Path, recipe: str
) -> None:
    before = await solved(tmp_path / "before", sums(3), recipe)
    for name, gold in GOLDS.items():
        assert await solved(tmp_path / name, sums(3, gold), recipe) == before


@hypothesis_settings(max_examples=10, deadline=None)
@given(
    golds=st.lists(
        st.integers() | st.floats(-1e9, 1e9) | st.text("ABCDE0123456789", min_size=1), min_size=2, max_size=2
    )
)
async def test_any_gold_answers_leave_predictions_alone(
    tmp_path_factory: pytest.TempPathFactory, golds: list[object]
) -> None:
    folder = tmp_path_factory.mktemp("gold")
    assert await solved(folder / "a", sums(2)) == await solved(folder / "b", sums(2, golds.__getitem__))


async def test_changed_gold_answers_do_change_grades(tmp_path: Path) -> None:
    await solved(tmp_path / "a", sums(3))
    await solved(tmp_path / "b", sums(3, GOLDS["another number"]))
    kept = [[grade["gold"] for grade in lines(tmp_path / name / "run" / "grades.jsonl")] for name in "ab"]
    assert kept == [["2", "3", "4"], ["1000", "1001", "1002"]]


@pytest.mark.parametrize("recipe", RECIPES)
async def test_a_gold_answer_and_other_columns_never_reach_a_server(tmp_path: Path, recipe: str) -> None:
    extra = {
        "solution": f"So it is {SENTINEL}.",
        "code": f"print({SENTINEL})",
        "Answer": SENTINEL,
        "target": SENTINEL,
    }
    rows = [{**row, "answer": f"So it is.\n#### {SENTINEL}", **extra} for row in sums(2)]
    async with FakeServer(by_seed) as server:
        chosen = settings(recipe=recipe, arguments={}, policy=RoleOptions("fake", server.url))
        planned = plan(chosen, write_jsonl(tmp_path / "gsm8k.jsonl", rows))
        async with connect(chosen) as there:
            with RunWriter.create(tmp_path / "run", run_record(planned, there, NOW)) as writer:
                summary = await solve(planned, writer, there)
        assert summary.counts["graded"] == 2
        assert len(server.bodies) == summary.counts["calls"] > 0
        assert SENTINEL not in json.dumps(server.bodies)
        assert all("What is" in json.dumps(body["messages"]) for body in server.bodies if body)
    for name in ("run.json", "trees.jsonl", "results.jsonl"):
        assert SENTINEL not in (tmp_path / "run" / name).read_text()
    assert SENTINEL in (tmp_path / "run" / "grades.jsonl").read_text()
