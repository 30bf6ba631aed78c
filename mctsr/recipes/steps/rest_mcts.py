"""ReST-MCTS*: search by a value model, with a greedy look ahead from the best new step."""

from dataclasses import replace

from mctsr.backup import Blended, VisitWeighted
from mctsr.judge.lookahead import Lookahead
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, check_counts, growth
from mctsr.select.descent import Descent
from mctsr.select.rounds.look import GrowThenLook, rounds_done
from mctsr.select.scores import uct_rest_mcts
from mctsr.stop import first_of, solution_found


def rest_mcts(
    *,
    rounds: int = 50,
    children: int = 3,
    forward: int = 3,
    alpha: float = 0.5,
    end_gate: float = 0.9,
    c: float = 0.7,
    judge: str = "llm-judge",
    aggregate: str = "last",
    answer: Choice = "best",
    boundary: str = "paragraph",
    max_steps: int = 16,
    max_step_tokens: int = 256,
    temperature: float | None = 0.7,
) -> Recipe:
    """ReST-MCTS*, its search with a value model. Zhang et al. 2024, arXiv:2406.03816.

    A round follows V + c sqrt(2 ln N / n) from the root to a leaf and writes its next steps, each valued by the judge.
    Then it looks ahead from the best of them: three steps at temperature 0, one below the other, none of which joins
    the tree; the step's value becomes (1 - alpha) V + alpha max V seen, and it has its first visit. Above it V is the
    mean of the children's values weighted by their visits, so that a step never looked at weighs nothing. A finished
    solution worth `end_gate` ends the search. Calls: a round writes children + forward steps, and makes as many scores
    where the judge makes calls; equal steps are dropped first. An unvisited step counts 1 more than it is worth, and
    so most are entered before a good one is entered again: with fewer than some twenty rounds few solutions are
    finished, and those seen ahead are not kept.

    Defaults are those of the released code (THUDM/ReST-MCTS), with its limit of 50 rounds; max_steps is ours. Two
    rollouts are one round. Differences: the first created wins ties, which the code breaks by chance; there, any step
    worth `end_gate` ends the search once it is chosen, here only a finished solution does, as soon as it is there;
    finished solutions are not entered again. Not kept: the call that asks whether the solution is complete, as its end
    shows in the text and in the model's stop; new proposals in place of repeated ones; the answer is one of the
    finished solutions, where the code takes the unexpanded step with the largest value and has it summed up. The
    targets that the paper trains its value model towards need known answers, and are no part of the search.

    Args:
        rounds: Most rounds, the paper's iterations.
        children: Proposals, next steps written for a node.
        forward: Steps of a look ahead.
        alpha: Share of what the look ahead saw, 0 to 1.
        end_gate: Value of a finished solution that ends the search; above 1 is off.
        c: Exploration constant on the scale [0, 1].
        judge: The value model: "llm-judge", which needs no further model, "self-certainty", which makes no call,
            "qwen-prm" and others of a reward model; a wrong name lists all.
        aggregate: How the steps' scores become one: "last", "min", "product" or "mean".
        answer: Among finished solutions: "best" score, "weighted" vote or "majority".
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution.
        max_step_tokens: Longest step.
        temperature: Of proposals; none leaves it to the settings. The command line wins, over that of looks ahead, too.
    """
    check_counts(rounds=rounds, children=children, forward=forward)
    expander, value_model = growth(
        judge=judge,
        aggregate=aggregate,
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
        distinct=True,
    )
    return Recipe(
        expander,
        Lookahead(value_model, replace(expander, temperature=0.0), forward),
        GrowThenLook(Descent(uct_rest_mcts(c), children)),
        VisitWeighted(Blended(alpha), births_count=False),
        first_of(solution_found(end_gate), rounds_done(rounds)),
        answerer(answer, value_model),
    )
