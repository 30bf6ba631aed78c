"""Monte Carlo Tree Self-refine, as in the released code, without its gold leak."""

from mctsr.answer import best_value
from mctsr.backup import MctsrCode
from mctsr.expand.refine import REFUSAL, SelfRefine
from mctsr.judge.self_reward import SelfReward, fifty_from_95
from mctsr.recipe import Recipe
from mctsr.select.anywhere import Anywhere
from mctsr.select.pools import Stored
from mctsr.stop import rollouts_done


def mctsr_code(
    *, rollouts: int = 16, max_children: int = 3, c: float = 1.4, temperature: float = 0.95, attempts: int = 3
) -> Recipe:
    """MCTSr by the rules of its released code. trotsky1997/MathBlackBox, `run_with_earlystopping.py`.

    Kept: ln(N + 1) under the root, N = 0 above the roots, raw child values backed up one level, scores that
    stay stale where all children are inner nodes, scores from 95 on replaced by 50, a rewrite that sees only
    the critique, three children, 16 iterations, temperature 0.95.
    Not kept: the stop on a match with the gold answer, answer formats derived from it, "any node correct" as
    the metric (the answer is the best value; oracle is reported apart), endless retries of an unreadable score
    (`attempts` tries), and the random choice among six refusals (one is used).

    Args:
        rollouts: Iterations after the opening.
        max_children: Children a node needs, one as good, before it is fully expanded.
        c: Exploration constant on the scale [-100, 100].
        temperature: Of every call but the first answer, which is the same in every recipe; the command line wins.
        attempts: Tries at one readable score.
    """
    return Recipe(
        SelfRefine(planted=REFUSAL, temperature=temperature, show_answer=False),
        SelfReward(attempts=attempts, suppress=fifty_from_95, temperature=temperature),
        Anywhere(Stored("ucb"), open_below=max_children, closed_by="as good"),
        MctsrCode(c),
        rollouts_done(rollouts),
        best_value,
    )
