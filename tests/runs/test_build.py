"""From a search to its records: complete enough to replay, strict enough for any reader."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import jsonschema
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from mctsr.caller import Caller
from mctsr.errors import ContextOverflow, ServerError
from mctsr.expand.drafts import merged
from mctsr.lm.base import Completion, Place, Request, Usage
from mctsr.lm.scripted import Reply, Scripted
from mctsr.parts import Draft, Expander, Fault, Problem
from mctsr.parts import Path as NodesPath
from mctsr.prompting import Prompts
from mctsr.recipes.registry import choose
from mctsr.runs.attempt import Terms, attempt
from mctsr.runs.build import summary_record
from mctsr.runs.files import dumps, loads
from mctsr.runs.folder import Run
from mctsr.runs.records import NodeRecord, TreeRecord
from mctsr.runs.schema import schemas
from mctsr.stop import Limits
from tests.runs.world import by_place, planned, run

RECIPES = [
    "mctsr",
    "mctsr-code",
    "self-refine",
    "self-consistency",
    "best-of-n",
    "weighted-best-of-n",
    "zero-shot",
]
PROBLEM = Problem("p", "How many?", "number")


def terms(recipe: str, limits: Limits = Limits(), **arguments: object) -> Terms:  # noqa: B008
    return Terms(recipe, choose(recipe, arguments).build(), Prompts(), 0, limits)


def moody(seed: int) -> Any:
    """Reply as a model that is sometimes silent, off the point, cut off, or behind a broken server."""

    def reply(place: Place, request: Request) -> Reply:
        mood = place.seed(seed) % 8 if place.ask else 7
        if mood == 0:
            return ServerError("lost")
        if mood == 1:
            return Completion("", "stop")
        if mood == 2:
            return Completion("no score at al", "length", usage=Usage(3, 4))
        return by_place(place, request)

    return reply


@dataclass(frozen=True)
class _Merging:
    """Lets equal drafts be one."""

    inner: Expander
    needs: frozenset[str] = frozenset()

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        return merged(await self.inner.open(problem, n, llm))

    async def grow(self, path: NodesPath, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        return merged(await self.inner.grow(path, n, llm))


def replayed(tree: TreeRecord) -> list[dict[int, tuple[int, float | None]]]:
    """Rebuild the numbers of all nodes after every fold from the events alone."""
    now: dict[int, tuple[int, float | None]] = {}
    states = []
    for event in tree["events"]:
        if event["event"] == "folded":
            now |= {id: (visits, value) for id, visits, value in event["changed"]}
            states.append(dict(now))
    return states


def mentions(tree: TreeRecord, key: Literal["judged", "unscored", "ended"]) -> Counter[int]:
    """Count how often the folds name each node."""
    return Counter(id for event in tree["events"] if event["event"] == "folded" for id in event[key])


@pytest.mark.parametrize("recipe", RECIPES)
@hypothesis_settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
async def test_events_rebuild_every_intermediate_state(
    tmp_path_factory: pytest.TempPathFactory, recipe: str, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("replay")
    done = await attempt(PROBLEM, terms(recipe), Scripted(moody(seed)), folder / "log.jsonl")
    jsonschema.validate(done.result, schemas()["result"])
    if done.tree is None:
        assert done.result["status"] == "failed"
        return
    tree = cast(TreeRecord, loads(dumps(done.tree)))
    jsonschema.validate(tree, schemas()["tree"])
    states = replayed(tree)
    assert states[-1] == {node["id"]: (node["visits"], node["value"]) for node in tree["nodes"]}
    born = [id for event in tree["events"] if event["event"] == "folded" for id in event["born"]]
    assert born == [node["id"] for node in tree["nodes"]] == list(range(len(tree["nodes"])))
    assert [len(state) for state in states] == [
        sum(node["ask"] <= event["ask"] for node in tree["nodes"])
        for event in tree["events"]
        if event["event"] == "folded"
    ]
    assert tree["events"][-1] == {"event": "stopped", "reason": done.result["stopped"]}
    assert mentions(tree, "judged") == {n["id"]: len(n["samples"]) for n in tree["nodes"] if n["samples"]}
    assert mentions(tree, "unscored") == {n["id"]: len(n["unscored"]) for n in tree["nodes"] if n["unscored"]}
    assert mentions(tree, "ended") == {n["id"]: 1 for n in tree["nodes"] if n["ended"]}


async def test_each_state_on_the_way_is_that_of_the_search_stopped_there(tmp_path: Path) -> None:
    async def grown(rollouts: int) -> TreeRecord:
        done = await attempt(
            PROBLEM, terms("mctsr", rollouts=rollouts), Scripted(by_place), tmp_path / f"{rollouts}.jsonl"
        )
        assert done.tree is not None
        return done.tree

    long = replayed(await grown(6))
    for rollouts in range(7):
        nodes = (await grown(rollouts))["nodes"]
        assert long[rollouts] == {node["id"]: (node["visits"], node["value"]) for node in nodes}


def node_of(tree: TreeRecord | None, id: int) -> NodeRecord:
    assert tree is not None
    return tree["nodes"][id]


async def test_a_tree_says_what_led_to_each_node_and_what_was_thought_of_it(tmp_path: Path) -> None:
    done = await attempt(PROBLEM, terms("mctsr", rollouts=1), Scripted(by_place), tmp_path / "log.jsonl")
    first, planted, child = (node_of(done.tree, id) for id in range(3))
    assert (first["parent"], planted["parent"], child["depth"], child["ask"]) == (None, None, 1, 1)
    assert (first["planted"], planted["planted"], planted["answer"]) == (False, True, None)
    assert child["work"].keys() == {"critique"}
    asked = first if child["parent"] == 0 else planted
    assert len(asked["samples"]) == 2
    assert child["samples"][0]["text"].startswith('{"reason"')
    assert done.result["answers"]["first"] == first["answer"]
    assert done.result["answers"]["selected"] in done.result["answers"]["distinct"]
    assert (done.result["counts"]["nodes"], done.result["counts"]["rollouts"]) == (3, 1)
    assert done.result["usage"]["calls"] == 7


async def test_a_fold_names_who_was_judged_who_was_not_and_who_ended(tmp_path: Path) -> None:
    def reply(place: Place, request: Request) -> Reply:
        if request.role == "judge" and place.ask and place.draft == 0:
            return "I would rather not."
        return (
            ContextOverflow("9 > 5")
            if place.ask == 2 and request.role != "judge"
            else by_place(place, request)
        )

    done = await attempt(PROBLEM, terms("mctsr", rollouts=2), Scripted(reply), tmp_path / "log.jsonl")
    assert done.tree is not None
    opening, first, second = (event for event in done.tree["events"] if event["event"] == "folded")
    assert (opening["judged"], opening["unscored"], opening["ended"]) == ([0, 1], [], [])
    asked = [event["node"] for event in done.tree["events"] if event["event"] == "asked"]
    assert (first["judged"], first["unscored"], first["ended"]) == ([asked[1]], [2], [])
    assert (second["born"], second["judged"], second["ended"]) == ([], [asked[2]], [asked[2]])
    assert first["changed"][-1] == (2, 0, None)


async def test_what_gave_no_score_is_counted_by_reason_and_has_no_value(tmp_path: Path) -> None:
    def deaf(place: Place, request: Request) -> Reply:
        return "I would rather not." if request.role == "judge" else by_place(place, request)

    done = await attempt(PROBLEM, terms("mctsr", rollouts=1), Scripted(deaf), tmp_path / "log.jsonl")
    assert node_of(done.tree, 0)["value"] is None
    assert node_of(done.tree, 0)["unscored"] == ["no score in the reply: 3 tries"]
    assert done.result["unscored_reasons"] == {"no score in the reply": 2}
    assert done.result["counts"]["unscored"] == 2
    assert (done.result["stopped"], done.result["selected_by"]) == ("all unscored", "first (nothing scored)")


async def test_a_draft_that_was_merged_into_another_repeats_its_text_as_a_twin_does(tmp_path: Path) -> None:
    def same(place: Place, request: Request) -> Reply:
        return "It is \\boxed{4}" if place.draft < 3 else "It is \\boxed{5}"

    first = choose("self-consistency", {"n": 5}).build()
    for merging, nodes in ((True, 2), (False, 5)):
        recipe = replace(first, expander=_Merging(first.expander) if merging else first.expander)
        whole = terms("self-consistency")._replace(recipe=recipe)
        done = await attempt(PROBLEM, whole, Scripted(same), tmp_path / f"{merging}.jsonl")
        assert (done.result["counts"]["nodes"], done.result["counts"]["duplicates"]) == (nodes, 3)


async def test_overshoot_says_by_how_much_a_limit_was_passed(tmp_path: Path) -> None:
    done = await attempt(PROBLEM, terms("mctsr", Limits(calls=5)), Scripted(by_place), tmp_path / "log.jsonl")
    assert (done.result["stopped"], done.result["usage"]["calls"]) == ("call limit", 7)
    assert done.result["overshoot"] == {"calls": 2}


async def test_what_was_changed_for_the_server_is_listed_once(tmp_path: Path) -> None:
    def changed(place: Place, request: Request) -> Reply:
        text = str(by_place(place, request))
        return Completion(text, wire=("dropped seed",) if place.ask else ("dropped min_p", "dropped seed"))

    for _ in range(2):  # the second time from the log
        done = await attempt(PROBLEM, terms("mctsr"), Scripted(changed), tmp_path / "log.jsonl")
        assert done.result["wire"] == ["dropped min_p", "dropped seed"]
    assert done.result["counts"]["replayed"] == done.result["usage"]["calls"] == 35


async def test_an_error_in_the_recipes_own_code_fails_its_problem(tmp_path: Path) -> None:
    class Crash(Exception):
        pass

    def crash(place: Place, request: Request) -> Reply:
        return Crash("no such thing") if place.ask == 1 else by_place(place, request)

    done = await attempt(PROBLEM, terms("mctsr"), Scripted(crash), tmp_path / "log.jsonl")
    assert done.tree is None
    assert done.result["status"] == "failed"
    assert done.result["stopped"].startswith("error in the recipe: Crash: no such thing (")
    assert "Traceback" in done.trace
    jsonschema.validate(done.result, schemas()["result"])


async def test_a_summary_can_be_made_anew_from_the_other_files(tmp_path: Path) -> None:
    summary = await run(tmp_path / "run", planned(tmp_path))
    found = Run.open(tmp_path / "run")
    again = summary_record(found.record["problem_ids"], found.results(), found.grades())
    assert again == summary.counts
    assert (again["problems"], again["ok"], again["graded"], again["calls"]) == (3, 3, 3, 33)
