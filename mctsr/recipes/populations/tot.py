"""Tree of Thoughts, breadth first."""

from mctsr.answer import best_finalist
from mctsr.backup import OwnValue
from mctsr.expand.boundary import read_boundary
from mctsr.expand.step import Steps
from mctsr.judge.llm_judge import LlmJudge
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import check_counts
from mctsr.select.frontier import Frontier
from mctsr.select.population import Beams
from mctsr.stop import all_finished


def tot(
    *,
    breadth: int = 5,
    children: int = 5,
    votes: int = 3,
    boundary: str = "paragraph",
    max_steps: int = 10,
    max_step_tokens: int = 512,
    temperature: float | None = 0.7,
) -> Recipe:
    """Tree of Thoughts, breadth first (ToT-BFS). Yao et al. 2023, arXiv:2305.10601, algorithm 1.

    Each level writes thoughts below each of the best states, independently, and the model itself values every new
    state several times; the states with the best mean go on. The answer is the best state of the last level. Calls:
    breadth * children * (1 + votes) a level, 100 by default; the first level has as many thoughts below the problem.

    The paper leaves the thoughts and their valuation to the task. Here a thought is a step, and a valuation is a score
    from 0 to 10 by the shipped judge's prompt, one of the paper's two forms; its game of 24 has labels instead (sure
    20, likely 1, impossible 0.001) and proposes thoughts in one reply. Finished states stay and compete.

    Args:
        breadth: b, states that go on; 5 in the game of 24.
        children: k, thoughts of each; 5 in creative writing.
        votes: Valuations of each state; 3 in the game of 24.
        boundary: What ends a thought: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: T, levels.
        max_step_tokens: Longest thought.
        temperature: Of thoughts and valuations; none leaves it to the settings, and the command line wins.
    """
    check_counts(breadth=breadth, children=children, votes=votes)
    expander = Steps(
        read_boundary(boundary),
        max_step_tokens=max_step_tokens,
        max_steps=max_steps,
        temperature=temperature,
    )
    judge = LlmJudge(samples=votes, labels=False, temperature=temperature, prompt=expander.prompt_name)
    selector = Frontier(breadth * children, Beams(children), opened=1)
    return Recipe(expander, judge, selector, OwnValue(), all_finished(), best_finalist)
