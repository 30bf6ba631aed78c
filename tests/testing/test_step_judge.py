"""The judge of steps has the quality that it is asked for."""

import math

import numpy as np
import pytest

from mctsr.testing.puzzles import Puzzle, Step, read_puzzle
from mctsr.testing.steps.chains import make_chains, standing, wrong_steps
from mctsr.testing.steps.judge import StepJudge
from mctsr.testing.steps.policy import StepWriter

PROBLEMS = make_chains(400, 5)
PUZZLE = Puzzle(12, (Step("+", 8), Step("*", 3), Step("-", 10)))
FAULTLESS = StepWriter(p_err=0.0)
STEPS = ("12 + 8 = 20.\n\n", "Now 20 * 3 = 60.\n\n", "60 - 10 = 50. The final answer is \\boxed{50}")
SLIP = ("12 + 8 = 20.\n\n", "20 * 3 = 23.\n\n", "23 - 10 = 13. The final answer is \\boxed{13}")


def verdicts(judge: StepJudge) -> tuple[list[float], list[float]]:
    """Judge one solution of each problem with one right and one wrong third step; return the third steps' scores."""
    right, wrong = [], []
    for problem, _ in PROBLEMS:
        puzzle = read_puzzle(problem.text)
        assert puzzle is not None
        said = standing(puzzle, FAULTLESS.go_on(puzzle, "", 1)).equations
        slip = wrong_steps(said[2].left, puzzle.steps[2])[0]
        before = [str(one) for one in said[:2]]
        right.append(judge.verdicts(puzzle, [*before, str(said[2])])[-1])
        wrong.append(judge.verdicts(puzzle, [*before, str(slip)])[-1])
    return right, wrong


@pytest.mark.parametrize("auc", [0.6, 0.85, 0.95])
@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_a_noisy_judge_has_the_quality_asked_for(auc: float, shared: float) -> None:
    right, wrong = verdicts(StepJudge(auc=auc, shared=shared))
    found = np.mean(np.array(right)[:, None] > np.array(wrong)[None, :])
    # The standard error of an AUC over n pairs of samples is below sqrt(auc (1 - auc) / n).
    assert found == pytest.approx(auc, abs=4 * math.sqrt(auc * (1 - auc) / len(right)))


def test_a_noisy_judge_is_calibrated_at_even_odds() -> None:
    scores = np.concatenate(verdicts(StepJudge(auc=0.85)))
    is_right = np.arange(len(scores)) < len(scores) / 2
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0)):
        within = (scores >= low) & (scores < high)
        near = 4 * math.sqrt(0.25 / within.sum())
        assert is_right[within].mean() == pytest.approx(scores[within].mean(), abs=near)


def test_a_perfect_judge_tells_all_steps_from_the_mistake_on() -> None:
    judge = StepJudge("perfect")
    assert min(judge.verdicts(PUZZLE, STEPS)) > 0.99
    assert [score > 0.5 for score in judge.verdicts(PUZZLE, SLIP)] == [True, False, False]


def test_an_over_confident_judge_overlooks_as_many_mistakes_as_asked_and_is_surer_of_them() -> None:
    noisy, sure = StepJudge(auc=0.9), StepJudge("over-confident", auc=0.9, overlooked=0.3)
    right, wrong = verdicts(sure)
    assert right == verdicts(noisy)[0]
    raised = [new > old for new, old in zip(wrong, verdicts(noisy)[1], strict=True)]
    assert np.mean(raised) == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / len(raised)))
    overlooked = [score for score, up in zip(wrong, raised, strict=True) if up]
    assert np.median(overlooked) > np.median(right) > 0.5 > np.median(wrong)


def test_an_oversight_ends_with_its_step_unless_it_lasts() -> None:
    once, lasting = (
        StepJudge("over-confident", overlooked=1.0, surer=9.0, lasting=lasts).verdicts(PUZZLE, SLIP)
        for lasts in (False, True)
    )
    assert once[1] == lasting[1] > 0.99
    assert lasting[2] > 0.99
    assert once[2] == StepJudge().verdicts(PUZZLE, SLIP)[2]


def test_noise_belongs_to_the_text_and_its_shared_part_to_what_is_said() -> None:
    other = ("Then 12 + 8 = 20.", *STEPS[1:])
    assert StepJudge().verdicts(PUZZLE, STEPS) == StepJudge().verdicts(PUZZLE, STEPS)
    assert StepJudge().verdicts(PUZZLE, STEPS) != StepJudge(seed=1).verdicts(PUZZLE, STEPS)
    assert StepJudge().verdicts(PUZZLE, STEPS)[2] != StepJudge().verdicts(PUZZLE, other)[2]
    assert StepJudge(shared=1.0).verdicts(PUZZLE, STEPS) == StepJudge(shared=1.0).verdicts(PUZZLE, other)
    assert StepJudge().verdicts(PUZZLE, STEPS[:2]) == StepJudge().verdicts(PUZZLE, STEPS)[:2]
