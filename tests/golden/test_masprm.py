r"""MASPRM's two searches, worked out by hand; two candidates a message. q (n): value and visits.

At inference, c = 1, roles planner and solver. Scores: add .8, buy .6; add =3 .4, add =5 .6; buy =5 .9, buy =7 .1.
  ask 1-2  root; add (.8 > .6): both transcripts are finished. add .5 (2), root .5 (2)
  ask 3    add is spent. buy (0 + .6) / 1 + sqrt(ln 3) = 1.648: buy. buy .5 (2)
  answer   a walk: add (1 + .8) / 3 = .6, buy (1 + .6) / 3 = .533: add; =3 .4, =5 .6: 5. buy =5 had the best score.

For labels, c = 2, roles planner, critic and solver, right is 5. Q = 0 for what was never visited; the first wins ties.
  ask 1-3  root; add; add cut, whose transcripts both say 5: add cut 1 (2), add 1 (2), root 1 (2)
  ask 4    add 1 + 2 sqrt(ln 2 / 2) = 2.177, buy 0 + 2 sqrt(ln 2) = 1.665: add; cut is spent: add dig, 3 and 7.
           add dig -1 (2), add 0 (4), root 0 (4)
  ask 5    add is spent: buy
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from mctsr.engine import Outcome, search
from mctsr.errors import PromptError, RecipeError, ServerError
from mctsr.expand.moves.agents import ROLE, Agents, transcript
from mctsr.lm.base import Completion, Place, Request, Token, Usage
from mctsr.lm.scripted import Scripted
from mctsr.parts import Ledger, Path
from mctsr.prompting import Prompts
from mctsr.recipes.steps.masprm import settled
from mctsr.rollout import Asked
from mctsr.runs.price import price
from mctsr.runs.settings import Settings
from mctsr.testing.laws import check_expander, check_recipe
from mctsr.tree import Sample, State, Tree
from tests.support.judging import label
from tests.support.step_story import PROBLEM, name_of, names, recipe

NAMES = ["masprm", "masprm-labels"]
OFFERS = frozenset({"logprobs"})
MESSAGES: Mapping[str, Sequence[str]] = {
    **{"": ["add", "buy"], "add": ["=3", "=5"], "buy": ["=5", "=7"]},
}
LONGER: Mapping[str, Sequence[str]] = {
    **{"": ["add", "buy"], "add": ["cut", "dig"], "buy": ["cut", "dig"]},
    **{
        "add cut": ["=5", "Well, =5"],
        "add dig": ["=3", "=7"],
        "buy cut": ["=5", "=3"],
        "buy dig": ["=5", "=3"],
    },
}
SCORES = {"add": 0.8, "buy": 0.6, "=3": 0.4, "=5": 0.6, "=7": 0.1, "buy =5": 0.9}


class Team:
    """Speakers that say what is written, one message a draft, and a judge with a score for the last one."""

    def __init__(self, messages: Mapping[str, Sequence[str]]) -> None:
        self.messages = messages

    def __call__(self, place: Place, request: Request) -> Completion:
        asked = request.messages[-1].content
        if place.part == "judge_label":
            messages = request.messages[-2].content.split("\n\n")
            said = " ".join(_word(message) for message in messages if message)
            score = SCORES.get(said, SCORES.get(said.split()[-1], 0.5))
            return label(yes=score, no=1 - score)
        lines = asked.partition("What your team has said so far:\n")[2].split("\n")
        above = [_word(line) for line in lines if line and not line.endswith(":") and "you begin" not in line]
        words = self.messages[" ".join(above)]
        word = words[place.draft % len(words)]
        text = word.replace("=", "The answer is \\boxed{") + "}" if "=" in word else word
        return Completion(text, usage=Usage(1, 1), tokens=(Token(text, -0.5),))


def _word(text: str) -> str:
    return re.sub(r"(?:Well, )?The answer is \\boxed\{(\d)\}", r"=\1", text.strip())


async def test_a_last_message_that_was_cut_off_has_no_answer_unless_it_is_in_a_box() -> None:
    async def outcome(text: str) -> tuple[str | None, float]:
        lm = Scripted(lambda place, request: Completion(text, finish="length"), offers=OFFERS)
        what = recipe("masprm-labels", roles="solver", rollouts=1, children=1, uses_gold=True)
        tree = (await search(PROBLEM, what, lm, referee=known)).tree
        return tree.states[1].answer, tree.value(1)

    assert await outcome("First, 2 + 3 = 5, and then") == (None, -1.0)
    assert await outcome("So it is \\boxed{5}, which") == ("5", 1.0)


async def known(answer: str) -> bool:
    return answer == "5"


async def told(
    name: str, messages: Mapping[str, Sequence[str]], **arguments: object
) -> tuple[Outcome, Scripted, list[int]]:
    lm, asked = Scripted(Team(messages), offers=OFFERS), list[int]()

    def watch(event: object) -> None:
        if isinstance(event, Asked):
            asked.append(event.node)

    what = recipe(name, children=2, **arguments)
    outcome = await search(PROBLEM, what, lm, watch=watch, referee=known if what.uses_gold else None)
    return outcome, lm, asked[1:]


def same(tree: Tree, wanted: dict[str, tuple[float, int]]) -> None:
    found = {name_of(tree, i): (tree.value(i), int(tree.nodes["visits"][i])) for i in range(len(tree))}
    for name, (value, visits) in wanted.items():
        assert found[name][0] == pytest.approx(value), name
        assert found[name][1] == visits, name


async def test_a_score_is_a_visit_before_the_first_and_a_walk_gives_the_answer() -> None:
    outcome, lm, asked = await told("masprm", MESSAGES, roles="planner,solver")
    assert names(outcome.tree) == ["", "add", "buy", "add =3", "add =5", "buy =5", "buy =7"]
    assert asked == [0, 1, 2]
    same(
        outcome.tree,
        {
            **{"": (0.5, 4), "add": (0.5, 2), "buy": (0.5, 2)},
            **{"add =5": (0.6, 1), "buy =5": (0.9, 1), "buy =7": (0.1, 1)},
        },
    )
    said = recipe("masprm").answerer(outcome.tree)
    assert (said.answer, said.by) == ("5", "greedy walk")
    assert name_of(outcome.tree, said.node or 0) == "add =5"
    assert outcome.reason == "exhausted"
    assert Counter(place.part for place, _ in lm.calls) == {
        **{"agent_planner": 2, "agent_solver": 4, "judge_label": 6},
    }


async def test_a_simulation_goes_on_to_the_end_of_a_transcript() -> None:
    outcome, _, asked = await told("masprm", LONGER, roles="planner,critic,solver", simulations=1)
    assert [name_of(outcome.tree, node) for node in asked] == ["", "add", "add cut"]
    assert outcome.reason == "paths"


async def test_labels_are_the_mean_outcome_of_the_transcripts_below() -> None:
    roles = "planner,critic,solver"
    outcome, lm, asked = await told("masprm-labels", LONGER, roles=roles, simulations=2, uses_gold=True)
    assert [name_of(outcome.tree, node) for node in asked] == ["", "add", "add cut", "add dig"]
    same(
        outcome.tree,
        {
            **{"": (0.0, 4), "add": (0.0, 4), "buy": (0.0, 0), "add cut": (1.0, 2), "add dig": (-1.0, 2)},
            **{"add cut =5": (1.0, 1), "add dig =3": (-1.0, 1)},
        },
    )
    assert not [place for place, _ in lm.calls if place.part.startswith("judge")]
    _, _, asked = await told("masprm-labels", LONGER, roles=roles, simulations=3, uses_gold=True)
    assert asked[4] == 2


async def test_without_known_answers_a_judge_labels_ends_alone() -> None:
    outcome, lm, _ = await told("masprm-labels", MESSAGES, roles="planner,solver", simulations=1)
    assert Counter(place.part for place, _ in lm.calls)["judge_label"] == 2
    same(outcome.tree, {"add =3": (2 * 0.4 - 1, 1), "add =5": (2 * 0.6 - 1, 1), "add": (0.0, 2)})


async def test_each_role_reads_what_was_said_before_under_its_name() -> None:
    outcome, lm, _ = await told("masprm", LONGER, roles="planner,critic,solver", simulations=1)
    asked = {place.part: request.messages[-1].content for place, request in lm.calls if place.draft == 0}
    assert "Nothing yet" in asked["agent_planner"]
    assert "Planner:\nadd\n\nCritic:\ncut" in asked["agent_solver"]
    assert [outcome.tree.states[node].work[ROLE] for node in outcome.tree.line(5)[1:]] == [
        *["planner", "critic", "solver"],
    ]
    assert transcript(Path.to(5, outcome.tree, PROBLEM)).startswith(
        "Planner:\nadd\n\nCritic:\ncut\n\nSolver:\n"
    )
    assert [state.ended for state in outcome.tree.states] == [""] * 5 + ["finished"] * 2


async def test_equal_messages_are_one_node_before_any_is_judged() -> None:
    outcome, lm, _ = await told("masprm", {"": ["add", "add"], "add": ["=5", "=5"]}, roles="planner,solver")
    assert names(outcome.tree) == ["", "add", "add =5"]
    assert Counter(place.part for place, _ in lm.calls)["judge_label"] == 2


async def test_a_thought_is_passed_on_to_nobody_and_an_empty_message_ends_its_node() -> None:
    outcome, lm, _ = await told(
        "masprm", {"": ["<think>hm</think>add", " "], "add": ["=5", "=3"]}, roles="planner,solver"
    )
    assert [state.text for state in outcome.tree.states][:3] == ["", "add\n\n", ""]
    assert outcome.tree.states[2].ended == "empty reply"
    assert outcome.ledger.unscored == {"empty reply": 1}
    assert not any("hm" in request.messages[-1].content for _, request in lm.calls)


def test_a_mean_that_stays_or_is_sure_has_settled() -> None:
    def grown(*families: tuple[float, ...]) -> Tree:
        tree = Tree(low=-1.0)
        for ask, family in enumerate(families, 1):
            for value in family:
                node = tree.add(-1, State("x", "5", ask=ask))
                tree.judged(node, (Sample(value, value),))
                tree.end(node, "finished")
        return tree

    def says(patience: int, *families: tuple[float, ...]) -> str | None:
        return settled(patience)(grown(*families), Ledger())

    assert says(2, (1.0, -1.0), (1.0, -1.0), (-1.0, 1.0)) == "settled"
    assert says(2, (1.0, -1.0), (1.0, -1.0)) is None
    assert says(3, (1.0,), (1.0,), (1.0,)) == "settled"
    assert says(2, (1.0, -1.0), (1.0, -1.0), (1.0, 1.0)) is None
    assert says(0, (1.0,), (1.0,), (1.0,)) is None
    with pytest.raises(RecipeError, match="patience is -1"):
        settled(-1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1, 3])
async def test_a_search_ends_repeats_itself_and_answers_with_what_was_written(name: str, width: int) -> None:
    what = replace(recipe(name, children=2, roles="planner,critic,solver"), width=width)
    await check_recipe(what, calls=60, problem=PROBLEM, lm=lambda: Scripted(Team(LONGER), offers=OFFERS))


@pytest.mark.parametrize("name", NAMES)
async def test_a_server_that_fails_at_times_ends_no_search(name: str) -> None:
    team = Team(LONGER)

    def fails(place: Place, request: Request) -> Completion | ServerError:
        return ServerError("busy", status=503) if place.seed(4) % 7 == 0 else team(place, request)

    what = recipe(name, children=2, roles="planner,critic,solver")
    for seed in range(4):
        outcome = await search(PROBLEM, what, Scripted(fails, offers=OFFERS), seed=seed)
        assert not outcome.failed
        assert not outcome.tree.nodes["in_flight"].any()


async def test_the_expander_keeps_the_laws() -> None:
    await check_expander(Agents(("planner", "solver"), distinct=False))


def test_plain_chat_is_enough() -> None:
    assert recipe("masprm").needs == frozenset()
    assert recipe("masprm", judge="self-certainty").needs == {"logprobs"}
    assert recipe("masprm-labels", uses_gold=True, judge="qwen-prm").needs == frozenset()


async def test_a_role_without_a_prompt_is_named() -> None:
    with pytest.raises(PromptError, match="agent_chef"):
        await told("masprm", MESSAGES, roles="chef,solver")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"roles": ""}, "roles are ''"),
        ({"roles": "planner,,solver"}, "roles are 'planner,,solver'"),
        ({"roles": "../planner"}, "roles are"),
        ({"children": "0"}, "children is 0"),
        ({"judge": "mc-estimate"}, "goes on writing steps"),
        ({"simulations": "-1"}, "simulations is -1; it "),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(name: str, given: dict[str, str], message: str) -> None:
    with pytest.raises(RecipeError) as caught:
        recipe(name, **given)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "calls"), [("masprm", 2 * 5 * 4), ("masprm-labels", 4 * 4 + 4)])
def test_a_dry_run_prices_a_simulation(name: str, calls: int) -> None:
    found = price([PROBLEM], recipe(name, simulations=1), Prompts(), Settings())
    assert not found.at_least
    assert calls - 4 <= found.calls <= calls  # made-up messages are equal at times
