"""MASPRM's two searches over the messages of a team: at inference, and for labels."""

import math
from dataclasses import replace

from mctsr.answer import first, whole
from mctsr.backup import MeanOfEnds
from mctsr.errors import RecipeError
from mctsr.expand.moves.agents import Agents
from mctsr.kernels.node import NONE
from mctsr.parts import Ledger, Selected, Stopper
from mctsr.recipe import Recipe
from mctsr.recipes.judges import MC_ESTIMATE, SELF_CERTAINTY, named_judge
from mctsr.recipes.stepping import check_counts, check_limits, judge_of_ends
from mctsr.select.descent import Descent
from mctsr.select.scores import uct_masprm, uct_masprm_inference
from mctsr.stop import first_of, paths_done, rollouts_done
from mctsr.tree import Tree


def masprm(
    *,
    roles: str = "planner,solver,critic,solver",
    simulations: int = 40,
    rollouts: int = 160,
    children: int = 5,
    c: float = 1.0,
    judge: str = "llm-judge",
    aggregate: str = "last",
    max_message_tokens: int = 1024,
    temperature: float | None = None,
) -> Recipe:
    """MASPRM at inference: a search over a team's messages, guided by scores. arXiv:2510.24803, section 3.

    The agents of a team speak in a fixed order; a level of the tree is the next one's message, and a path a
    transcript. A new message's score v is a visit before the first: (q + v) / (n + 1) + c sqrt(ln(N + 1) / (n + 1)). A
    finished transcript's score is added to all messages above it. Equal messages are dropped before they are scored.
    The answer is at the end of a greedy walk by (q + v) / (n + 1). Calls: children a rollout, and as many for scores
    where the judge makes calls; a simulation takes a rollout for each role that has not spoken there.

    40 simulations and 5 candidates are the released code's (milad1378yz/MASPRM); its c is 2 on [-1, 1], which is 1
    here on [0, 1]. Not kept: graphs of agents, here each reads everything before; simulations that end at a transcript
    that is finished already, here no end is visited twice and all finished candidates of an expansion count; a walk
    that leads to no finished transcript, here those branches are passed over; PUCT. Until a model of the team's
    messages is trained, any judge of steps stands for it.

    Args:
        roles: Who speaks, in order, with commas between; each is a prompt file `agent_<role>.md`: reader, planner,
            solver and critic are shipped. The last one gives the answer.
        simulations: Stop when so many transcripts were finished, siblings counted once; 0 is off.
        rollouts: Stop after so many rollouts, each the growth of one node by its children.
        children: Candidates, messages written for a node.
        c: Exploration constant on the scale [0, 1].
        judge: Who scores a message in its transcript: "llm-judge", which needs no further model, "self-certainty",
            which makes no call, "qwen-prm" and others of a reward model; a wrong name lists all.
        aggregate: How the messages' scores become one: "last", "min", "product" or "mean".
        max_message_tokens: Longest message.
        temperature: Of the messages; none leaves it to the settings, and the command line wins.
    """
    check_counts(children=children, max_message_tokens=max_message_tokens)
    check_limits(simulations=simulations)
    team = _team(roles, judge, max_message_tokens, temperature)
    return Recipe(
        team,
        named_judge(judge, aggregate),
        Descent(uct_masprm_inference(c), children),
        MeanOfEnds(steps_count=False),
        first_of(paths_done(simulations), rollouts_done(rollouts)),
        greedy_walk,
    )


def masprm_labels(
    *,
    roles: str = "planner,solver,critic,solver",
    simulations: int = 64,
    rollouts: int = 256,
    children: int = 4,
    c: float = 2.0,
    patience: int = 24,
    judge: str = "llm-judge",
    uses_gold: bool = False,
    max_message_tokens: int = 1024,
    temperature: float | None = None,
) -> Recipe:
    """MASPRM's search for labels: a message is worth the mean outcome of the transcripts below. arXiv:2510.24803.

    As `masprm`, but no message is scored before transcripts below it are finished: Q + c sqrt(ln max(N, 1) / max(n, 1))
    with Q 0 for a message without visits. A finished transcript is worth 1 or -1, and Q is the mean, the label of a
    message. Calls: children a rollout, and one for each finished transcript where a model judges it.

    With `uses_gold` a transcript is worth 1 when its answer is right. Without it a judge says what it thinks of the
    last message, stretched to [-1, 1]; without an answer it is -1. The search also ends when the root's mean has
    settled: `patience` simulations running moved it by at most 0.01, or left it beyond 0.95 either way.
    64 simulations, 4 candidates and 24 are the released code's (milad1378yz/MASPRM). Not kept: half as many candidates
    of the last agent; chance among candidates without visits, here the first; simulations that end where one has
    ended before; the choice of trees with a root's mean from -0.7 to 0.7 for training.

    Args:
        roles: Who speaks, in order, with commas between; each is a prompt file `agent_<role>.md`: reader, planner,
            solver and critic are shipped. The last one gives the answer.
        simulations: Stop when so many transcripts were finished, siblings counted once; 0 is off.
        rollouts: Stop after so many rollouts, each the growth of one node by its children.
        children: Candidates, messages written for a node.
        c: Exploration constant on the scale [-1, 1].
        patience: Simulations without a change of the root's mean after which the search ends; 0 is off.
        judge: Who judges finished transcripts without known answers; a wrong name lists all.
        uses_gold: Compare answers with the known ones: such a run makes labels, and tests nothing.
        max_message_tokens: Longest message.
        temperature: Of the messages; none leaves it to the settings, and the command line wins.
    """
    check_counts(children=children, max_message_tokens=max_message_tokens)
    check_limits(simulations=simulations, patience=patience)
    team = _team(roles, "" if uses_gold else judge, max_message_tokens, temperature)
    return Recipe(
        team,
        judge_of_ends(judge, named_judge(judge), uses_gold=uses_gold),
        Descent(uct_masprm(c), children),
        MeanOfEnds(steps_count=False),
        first_of(settled(patience), paths_done(simulations), rollouts_done(rollouts)),
        greedy_walk,
    )


def settled(patience: int, least: float = 0.01, sure: float = 0.95) -> Stopper:
    """Stop when the root's mean has not moved for `patience` simulations running; 0 switches it off.

    A mean that moved by at most `least` since it last moved more counts as unmoved, and so does one of at least
    `sure` in size. A simulation is a family of finished siblings.

    Raises:
        RecipeError: `patience` is negative.
    """
    if patience < 0:
        raise RecipeError(f"patience is {patience}; it is a number of simulations, 0 for off")

    def stop(tree: Tree, ledger: Ledger) -> str | None:
        if not patience or len(tree.ended) < patience:
            return None
        stale, before = 0, math.nan
        for mean in _means(tree):
            moved = not abs(mean - before) <= least
            stale = stale + 1 if not moved or abs(mean) >= sure else 0
            before = mean if moved else before
        return "settled" if stale >= patience else None

    return stop


def greedy_walk(tree: Tree) -> Selected:
    """Return the answer at the end of the walk from the root to the child with the largest mean, v counted once.

    Only branches with a finished answer are entered; the first created wins ties.
    """
    leads = _leading(tree)
    if not leads or 0 not in leads:
        return first(tree)._replace(by="first (nothing finished)")
    node = 0
    while (child := _best(tree, node, leads)) != NONE:
        node = child
    return Selected(tree.states[node].answer, node, "greedy walk")


def _team(roles: str, judge: str, max_tokens: int, temperature: float | None) -> Agents:
    if judge == MC_ESTIMATE:
        raise RecipeError(
            f"judge {judge!r} goes on writing steps, and messages of a team are none; take another"
        )
    names = tuple(role.strip() for role in roles.split(","))
    team = Agents(names, temperature=temperature, max_tokens=max_tokens)
    return replace(team, logprobs=0) if judge == SELF_CERTAINTY else team


def _means(tree: Tree) -> list[float]:
    """Return the mean of all ends after each family of them, in the order in which they came."""
    total, count, means = 0.0, 0, dict[int, float]()
    for node in tree.ended:
        for sample in tree.states[node].samples:
            total, count = total + sample.value, count + 1
        if count:
            means[tree.states[node].ask] = total / count
    return list(means.values())


def _leading(tree: Tree) -> set[int]:
    """Return the nodes at and above scored, finished answers."""
    ends = [i for i in range(len(tree)) if tree.states[i].answer is not None and whole(tree, i)]
    return {above for end in ends if tree.scored(end) for above in tree.line(end)}


def _best(tree: Tree, node: int, leads: set[int]) -> int:
    best, highest = NONE, -math.inf
    child = int(tree.nodes["first"][node])
    while child != NONE:
        row = tree.nodes[child]
        mean = (float(row["value"]) * row["visits"] + float(row["initial"])) / (row["visits"] + 1)
        if child in leads and mean > highest:
            best, highest = child, mean
        child = int(tree.nodes["next"][child])
    return best
