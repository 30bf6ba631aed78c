"""Runs of labelling recipes as training data: the right steps, labels and counts, read back by datasets, checked."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mctsr.batch import plan
from mctsr.errors import RunError
from mctsr.export.check import check
from mctsr.export.labels import Labels
from mctsr.export.steps import is_of_rollouts
from mctsr.export.write import FORMATS, STEP_FORMATS, write
from mctsr.lm.base import Completion, Place, Request, Usage
from mctsr.lm.scripted import Scripted
from mctsr.runs.folder import Run
from tests.golden.test_labels_trees import OMEGA
from tests.runs import world
from tests.support.judging import label
from tests.support.rollout_story import Rollouts, words
from tests.support.sample_run import command
from tests.support.step_story import OFFERS
from tests.test_export_steps import load, rows

STORIES: Mapping[str, Rollouts] = {
    "mixed": OMEGA,
    "easy": Rollouts({"": ["add =7", "add buy =7"]}),
    "hard": Rollouts({"": ["add =1", "add buy =2"]}),
}

MIXED = [
    (["add buy =7"], [1.0], [1]),
    (["add cut", "dig", "eat =3"], [0.25, 0.0, 0.0], [4, 4, 1]),
    (["buy", "=3"], [0.0, 0.0], [4, 1]),
    (["add cut", "=7"], [0.25, 1.0], [4, 1]),
    (["add cut", "fix", "get", "=9"], [0.25, 1.0, 0.0, 0.0], [4, 4, 4, 1]),
    (["add cut", "fix", "=7"], [0.25, 1.0, 1.0], [4, 4, 1]),
]


async def omega(folder: Path, *, uses_gold: bool = True, problems: tuple[str, ...] = tuple(STORIES)) -> Run:
    folder.mkdir(parents=True, exist_ok=True)
    data = world.write_jsonl(
        folder / "sums.jsonl", [{"id": id, "question": "How much?", "answer": "7"} for id in problems]
    )
    arguments = {"completions": "4", "uses_gold": str(uses_gold).lower()}
    planned = plan(world.settings(recipe="omega-prm", arguments=arguments), data)
    lm = Scripted(lambda place, request: STORIES[place.problem](place, request), offers=OFFERS)
    await world.run(folder / "run", planned, lm, concurrency=1)
    return Run.open(folder / "run")


async def shepherd(folder: Path, *, uses_gold: bool = True) -> Run:
    """Label two solutions, add =5 and buy =3, by two completions of each step."""
    given = {"n": "2", "completions": "2", "uses_gold": str(uses_gold).lower()}
    return await labelled(folder, "math-shepherd", given)


async def labelled(folder: Path, name: str, arguments: dict[str, str], **more: object) -> Run:
    """Run a recipe that writes two solutions, add =5 and buy =3, where 5 is right."""

    def says(place: Place, request: Request) -> Completion:
        begun = words(request.begun)
        if place.part == "judge_label":
            return label(yes=0.75, no=0.25)
        if place.part == "mc_estimate":
            answer = 5 if begun == "add" or place.sample else 3
            return Completion(f"So \\boxed{{{answer}}}", usage=Usage(1, 1), stop="")
        if place.part == "agent_solver":
            return Completion(f"So \\boxed{{{5 - 2 * place.draft}}}", usage=Usage(1, 1), stop="")
        if begun:
            return Completion(f"So \\boxed{{{5 if begun == 'add' else 3}}}", usage=Usage(1, 1), stop="")
        return Completion(("add", "buy")[place.draft] + "\n\n", usage=Usage(1, 1), stop="\n\n")

    folder.mkdir(parents=True, exist_ok=True)
    data = world.write_jsonl(folder / "sums.jsonl", [{"id": "p", "question": "How much?", "answer": "5"}])
    planned = plan(world.settings(recipe=name, arguments=arguments, **more), data)
    await world.run(folder / "run", planned, Scripted(says, offers=OFFERS))
    return Run.open(folder / "run")


def told(row: dict[str, Any]) -> tuple[list[str], list[float], list[int]]:
    return [words(text) for text in row["completions"]], row["scores"], row["visits"]


async def test_a_row_of_omega_prm_has_a_step_for_each_place_that_was_asked_about(tmp_path: Path) -> None:
    run = await omega(tmp_path)
    found = rows(run, "stepwise", Labels("soft"))
    assert [told(row) for row in found if row["problem_id"] == "mixed"] == MIXED
    assert [told(row) for row in found if row["problem_id"] == "easy"] == [(["add =7"], [1.0], [1])]
    assert [row["labels"] for row in found] == [row["scores"] for row in found]
    assert [row["answer"] for row in found if row["problem_id"] == "mixed"] == ["7", "3", "3", "7", "9", "7"]


async def test_a_step_is_good_when_any_completion_is_right(tmp_path: Path) -> None:
    for run in (await omega(tmp_path / "omega"), await shepherd(tmp_path / "shepherd")):
        for row in rows(run, "stepwise"):
            assert row["labels"] == [score > 0.0 for score in row["scores"]]
        strict = rows(run, "stepwise", Labels(threshold=0.5))
        assert [row["labels"] for row in strict] == [[s > 0.5 for s in row["scores"]] for row in strict]


async def test_states_with_few_completions_are_no_place_and_ends_are_kept(tmp_path: Path) -> None:
    run = await omega(tmp_path, problems=("mixed",))
    found = [told(row) for row in rows(run, "stepwise", Labels(min_visits=5))]
    assert found == [
        (["add buy =7"], [1.0], [1]),
        (["add cut =7"], [1.0], [1]),
        (["add cut fix =7"], [1.0], [1]),
    ]


async def test_nodes_of_omega_prm_hold_their_own_estimates_and_whole_texts(tmp_path: Path) -> None:
    run = await omega(tmp_path, problems=("mixed",))
    found = {(words(row["text"]), row["step"]): row for row in rows(run, "nodes")}
    assert is_of_rollouts(next(iter(run.trees())))
    state = found["add cut", True]
    assert (state["value"], state["visits"], state["samples"], state["prefix"]) == (0.25, 4, [], "")
    assert found["add", True]["value"] is None
    assert found["add cut fix", True]["prefix"] == ""
    wrong = found["add cut dig eat =3", False]
    assert (wrong["value"], wrong["correct"], wrong["samples"]) == (0.0, "no", [0.0])
    assert json.loads(wrong["meta"])["ended"] == "first error in step 3"


async def test_the_card_of_omega_prm_says_what_was_estimated_how_and_for_which_problems_in_vain(
    tmp_path: Path,
) -> None:
    written = write(await omega(tmp_path), "stepwise")
    assert written.card is not None
    said = written.card.read_text(encoding="utf-8")
    for line in (
        "labels: judge values of a recipe that used gold answers",
        "right: equal to the known answer, which the recipe was told to use (uses_gold)",
        "kind: hard; `true` where the score is above 0, else `false`",
        "visits: the completions that an estimate is made of; 1 for the end of a solution",
        "a place with fewer visits than 1 has no label, and its step goes on to the next place; ends are kept",
        "problems without a finished path of good steps alone: 1",
        "paths: 7, one row each; problems with a path: 2 of 3 solved",
        "scores: 0 to 1",
        "left out: 7 right solutions beside the first of their state",
    ):
        assert f"- {line}\n" in said, said
    assert "recipe: omega-prm(" in said
    assert "uses_gold=True" in said


async def test_the_card_says_whose_majority_stood_for_the_known_answer(tmp_path: Path) -> None:
    written = write(await omega(tmp_path, uses_gold=False, problems=("mixed",)), "math-shepherd")
    assert written.card is not None
    said = written.card.read_text(encoding="utf-8")
    assert "- labels: judge values, no gold\n" in said
    assert (
        "- right: what most of the completions of the problem itself say; no known answer was used\n" in said
    )


async def test_the_card_of_math_shepherd_says_that_the_problems_own_completions_vote(tmp_path: Path) -> None:
    written = write(await shepherd(tmp_path, uses_gold=False), "stepwise")
    assert written.card is not None
    assert (
        "- right: what most of the completions of the problem itself say; no known answer was used\n"
    ) in written.card.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "discount"),
    [
        ("agentprm", "k the steps that it stands before the end"),
        ("agentprm-code", "k the steps that it stands behind the beginning"),
    ],
)
@pytest.mark.parametrize("uses_gold", [True, False])
async def test_the_card_of_agentprm_says_what_was_discounted_and_who_was_right(
    tmp_path: Path, name: str, discount: str, uses_gold: bool
) -> None:
    what = {"n": "2", "uses_gold": str(uses_gold).lower()}
    written = write(await labelled(tmp_path, name, what), "stepwise", labels=Labels("soft"))
    assert written.card is not None
    said = written.card.read_text(encoding="utf-8")
    assert discount in said
    assert ("right: equal to the known answer" in said) == uses_gold
    assert ("right: as far as the judge said of its end" in said) != uses_gold
    assert "score: (value + 1) / 2, in [0, 1]" in said
    assert "visits: the solutions that took this step behind the same steps" in said
    (add, end), (buy, wrong) = (
        row["labels"] for row in rows(Run.open(tmp_path / "run"), "stepwise", Labels("soft"))
    )
    if uses_gold:
        first, last = (0.975, 1.0) if name == "agentprm" else (1.0, 0.975)
        assert [add, end, buy, wrong] == pytest.approx([first, last, 1 - first, 1 - last])


@pytest.mark.parametrize("name", ["agentprm", "masprm-labels", "deepsearch"])
async def test_a_step_below_which_nothing_has_ended_has_no_label_whatever_its_visits(
    tmp_path: Path, name: str
) -> None:
    given: dict[str, dict[str, str]] = {
        "agentprm": {"n": "2", "max_steps": "9"},
        "masprm-labels": {"roles": "solver,solver", "children": "2", "simulations": "1"},
        "deepsearch": {"children": "2", "rollouts": "1", "wrong": "first"},
    }
    run = await labelled(tmp_path, name, {**given[name], "uses_gold": "true"}, max_calls=2)
    with pytest.raises(
        RunError, match="2 steps below which nothing has ended; give the search more to spend"
    ):
        rows(run, "stepwise", Labels(min_visits=0))


async def test_the_card_of_masprm_labels_says_that_a_step_is_a_message_and_how_transcripts_ended(
    tmp_path: Path,
) -> None:
    what = {"roles": "solver", "children": "2", "uses_gold": "true"}
    run = await labelled(tmp_path, "masprm-labels", what)
    written = write(run, "stepwise")
    assert written.card is not None
    said = written.card.read_text(encoding="utf-8")
    assert "value: the mean outcome of the finished transcripts that go on from this message" in said
    assert "`true` where the score is above 0.5" in said
    assert [row["labels"] for row in rows(run, "stepwise")] == [[True], [False]]


@pytest.mark.parametrize(("judge", "threshold"), [("mc-estimate", "0"), ("llm-judge", "0.5")])
async def test_a_value_of_meds3_is_good_above_zero_where_completions_make_it(
    tmp_path: Path, judge: str, threshold: str
) -> None:
    what = {"judge": judge, "nodes": "5", "children": "2", "completions": "2"}
    written = write(await labelled(tmp_path, "meds3", what), "stepwise")
    assert written.card is not None
    said = written.card.read_text(encoding="utf-8")
    assert re.search(rf"`true` where the score is above {threshold}(?!\.?\d)", said)
    assert ("mixed with those of the steps below it" in said) == (judge == "mc-estimate")


async def test_problems_that_were_all_wrong_give_no_row_and_one_reason(tmp_path: Path) -> None:
    run = await omega(tmp_path, problems=("hard",))
    said = command("export", str(run.path), "-f", "stepwise")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "4 wrong solutions that were not searched; no completion was right" in said.err


async def test_math_shepherd_labels_each_step_by_its_own_share(tmp_path: Path) -> None:
    run = await shepherd(tmp_path)
    found = rows(run, "stepwise", Labels("soft"))
    assert [(row["labels"], row["visits"]) for row in found] == [([1.0, 1.0], [2, 1]), ([0.5, 0.0], [2, 1])]
    first, second = rows(run, "math-shepherd")
    assert first["label"] == "How much? Step 1: add +\nStep 2: So \\boxed{5} +"
    assert second["label"] == "How much? Step 1: buy +\nStep 2: So \\boxed{3} -"
    written = write(run, "math-shepherd")
    assert written.card is not None
    assert "the share of the solutions completed from behind this step that are right" in (
        written.card.read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("kind", ["hard", "soft"])
@pytest.mark.parametrize("form", [*FORMATS, *STEP_FORMATS])
@pytest.mark.parametrize("made", [omega, shepherd])
async def test_datasets_reads_them_back_and_the_check_passes(
    made: Any, form: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await made(tmp_path / "made")
    labels = Labels(kind) if form in STEP_FORMATS else None
    written = write(run, form, labels=labels)
    assert written.path is not None
    read = load(written.path, tmp_path, monkeypatch)
    assert len(read) == written.rows > 0
    assert read == [json.loads(line) for line in written.path.read_bytes().split(b"\n")[:-1]]
    if labels is not None:
        found = check(written.path)
        assert (found.form, found.kind, found.rows) == (form, kind, written.rows)
        assert command("export", "--check", str(written.path)).code == 0


async def test_visits_of_math_shepherd_are_completions_so_that_few_can_be_left_out(tmp_path: Path) -> None:
    run = await shepherd(tmp_path)
    kept = rows(run, "stepwise", Labels("soft", min_visits=2))
    assert [row["visits"] for row in kept] == [[2, 1], [2, 1]], "ends are compared once, and kept"
    with pytest.raises(RunError, match="2 steps with fewer than 3 visits"):
        write(run, "stepwise", labels=Labels(min_visits=3))
    written = write(run, "stepwise", labels=Labels(min_visits=2))
    assert written.card is not None
    said = written.card.read_text(encoding="utf-8")
    assert "- visits: the completions that the estimate is made of; 1 for the end of a solution\n" in said
    assert (
        "- a step with fewer visits than 2 has no label and ends its path; ends of solutions are kept\n"
        in said
    )
