"""Reasoning as planning: tree search over sub-questions and their answers."""

from mctsr.backup import MaxOfWalks, walks_done
from mctsr.expand.sub_question import SubQuestions
from mctsr.judge.sub_question import SubQuestionReward
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, check_counts
from mctsr.select.descent import Descent
from mctsr.select.scores import uct_rap
from mctsr.select.sweeps.walk import Walk
from mctsr.stop import first_of, rollouts_done


def rap(
    *,
    paths: int = 10,
    rollouts: int = 50,
    children: int = 4,
    w_exp: float = 1.0,
    alpha: float = 0.5,
    answers: int = 8,
    answer: Choice = "best",
    max_steps: int = 5,
    temperature: float | None = 0.8,
) -> Recipe:
    """Reasoning via planning (RAP) for mathematics. Hao et al. 2023, arXiv:2305.14992, section 4.2.

    A step is a smaller question and the model's own answer to it, drawn several times. Its reward is
    r = useful^alpha * confidence^(1 - alpha): how likely the model calls the question useful, and the share of its
    answers that agree. UCT from the root, Q + w_exp sqrt(ln N / n), down to a leaf, and from there by the best new step
    on to an end; Q is that of the best path below, as far as it goes, and n the paths that were walked. The answer is
    the solution with the best mean reward. Calls: a rollout has one for each question, 2 to `answers` for its answers
    and one for its usefulness, 16 to 40 in all by default; equal questions are answered once. Ten paths of five
    questions take 270 to 900 calls. Needs no continuing of a begun turn, so any chat server will do.

    Four actions, depth 5, weight 1, 10 iterations, temperature 0.8, and when to stop drawing answers are those of the
    released code (maitrix-org/llm-reasoners). Not kept: its examples in the
    prompts, here are instructions in our own words; questions are answered when they are asked, not when they are
    first visited, so there is no stand-in for an unknown confidence, and that is what makes it dearer; Q is the mean
    reward of the whole path, in the code of the part below the node; its answer is a vote over paths by default, here
    see `answer`.

    Args:
        paths: Stop when so many paths were walked to an end, the code's iterations; 0 is off.
        rollouts: Stop after so many rollouts, each the growth of one node by its children.
        children: Questions asked below a node.
        w_exp: Exploration constant.
        alpha: Weight of the question's usefulness against the answer's confidence, in [0, 1].
        answers: Most answers drawn to a question.
        answer: Among finished solutions: "best" mean reward, "weighted" vote or "majority".
        max_steps: Questions in a solution; the last one is the problem's own.
        temperature: Of questions and answers; none leaves it to the settings, and the command line wins.
    """
    check_counts(children=children, answers=answers, max_steps=max_steps)
    reward = SubQuestionReward(alpha)
    return Recipe(
        SubQuestions(answers, max_steps, temperature),
        reward,
        Walk(Descent(uct_rap(w_exp), children), children),
        MaxOfWalks(),
        first_of(walks_done(paths), rollouts_done(rollouts)),
        answerer(answer, reward),
    )
