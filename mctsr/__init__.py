"""Monte Carlo tree search for LLM reasoning.

Everything that a recipe of your own needs is a name of this package; importing it loads nothing heavy.
"""

import importlib
from typing import TYPE_CHECKING

# fmt: off
# isort: off
if TYPE_CHECKING:
    from mctsr.answer import best_finalist, best_value, finalists, first, last, majority, weighted_vote
    from mctsr.backup import (
        AfterBirth,
        Blended, DecayedSum, DeepSearch, DeepSearchCode, HalfOwnHalfBestChild, LlamaBerry, Max, McNest,
        MctsrCode, Mean, MeanOfEnds, MeanReturn, MedS3Comp, MinimumOfSteps, OneEnd, OwnValue,
        ProductOfSteps, VisitWeighted, half_min_mean, mean, trajectories_done,
    )
    from mctsr.backup.amaf import AmafMean
    from mctsr.backup.rollouts import ShareOfRollouts
    from mctsr.caller import Caller
    from mctsr.engine import Outcome, search
    from mctsr.errors import (
        ContextOverflow, MctsrError, RecipeError, Refused, ServerError, ServerGone, UsageError,
    )
    from mctsr.expand.answer import Answer
    from mctsr.expand.boundary import Boundary, read_boundary, split
    from mctsr.expand.completions import Completions
    from mctsr.expand.drafts import plain_answer, together, whole_answer
    from mctsr.expand.moves.agents import Agents
    from mctsr.expand.moves.reflect import ReasonFinishReflect
    from mctsr.expand.priors import LikelihoodPriors
    from mctsr.expand.rectify import Rectify
    from mctsr.expand.refine import REFUSAL, SelfRefine
    from mctsr.expand.step import Steps
    from mctsr.expand.sub_question import SubQuestions
    from mctsr.grading import extract_answer
    from mctsr.judge.certainty import SelfCertainty
    from mctsr.judge.fading import FadingEstimate
    from mctsr.judge.grounded.rollout import GroundedRollout
    from mctsr.judge.grounded.verify import ToolVerify
    from mctsr.judge.llm_judge import LlmJudge
    from mctsr.judge.lookahead import Lookahead
    from mctsr.judge.mc_estimate import McEstimate
    from mctsr.judge.outcome import Ends, OutcomeReward
    from mctsr.judge.process.chat_token import ChatTokenPrm
    from mctsr.judge.process.gen_prm import GenPrm
    from mctsr.judge.process.qwen import QwenPrm
    from mctsr.judge.process.shepherd import TokenPrm, openr_prm
    from mctsr.judge.process.think_prm import ThinkPrm
    from mctsr.judge.self_reward import SelfReward, fifty_from_95, lose_50_above_95, read_score
    from mctsr.judge.seq_rm import SeqRm
    from mctsr.judge.sub_question import SubQuestionReward
    from mctsr.lm.base import LM, Completion, Message, Place, Pooled, Pooling, Request, Token, Usage
    from mctsr.lm.scripted import Scripted
    from mctsr.parts import (
        Answerer, Ask, Backup, Draft, Expander, Fault, Judge, Ledger, Path, PathNode, Problem, Rule,
        Selected, Selector, Stopper, Unscored, Verdict,
    )
    from mctsr.prompting import Prompts
    from mctsr.recipe import Recipe
    from mctsr.recipes.steps.scope import rectified
    from mctsr.select.anywhere import Anywhere, Choose, greedy
    from mctsr.select.chain import Chain
    from mctsr.select.deepsearch import DeepSearchJump
    from mctsr.select.descent import Descent, RootNoise, Widening
    from mctsr.select.frontier import Frontier
    from mctsr.select.grave import Grave, Mcps
    from mctsr.select.gumbel import Gumbel
    from mctsr.select.labels.chance import AnyChildOfRoot
    from mctsr.select.labels.first_error import FirstError, searches_done
    from mctsr.select.labels.reflecting import EndRight, uct_trajectory
    from mctsr.select.particles import Particles, Weight
    from mctsr.select.pools import FrontierDeepSearch, OmegaPrm, Stored, nash
    from mctsr.select.population import Beams, Subtrees
    from mctsr.select.rounds.look import GrowThenLook, rounds_done, first_open
    from mctsr.select.sampled import among_top, anyone, importance, pairwise_importance, top_k
    from mctsr.select.scores import (
        by_value, i_mcts, puct, puct_alphazero, puct_masprm_inference, uct, uct_deepsearch,
        uct_grounded_prm, uct_llama_berry, uct_masprm, uct_masprm_inference, uct_mc_nest, uct_mctsr,
        uct_mctsr_code, uct_meds3, uct_prior, uct_rap, uct_rest_mcts, uct_rstar_math,
    )
    from mctsr.select.step_code import step_code, step_form
    from mctsr.select.sweeps.gibbs import Gibbs
    from mctsr.select.sweeps.salvage import Salvage, salvaged_after
    from mctsr.select.thompson import Beta, Gaussian, Thompson, thompson_beta, thompson_gaussian
    from mctsr.stop import (
        Limits, all_drawn, all_finished, first_of, max_depth, never, no_gain, paths_done, rollouts_done,
        solution_found,
    )
    from mctsr.tree import Sample, State, Tree

_HOME = {
    "mctsr.answer": ("best_finalist", "best_value", "finalists", "first", "last", "majority", "weighted_vote"),
    "mctsr.backup": (
        "Blended", "MeanReturn", "OneEnd", "trajectories_done",
        "DecayedSum", "DeepSearch", "DeepSearchCode", "HalfOwnHalfBestChild", "LlamaBerry", "Max",
        "McNest", "MctsrCode", "Mean", "MeanOfEnds", "MedS3Comp", "MinimumOfSteps", "OwnValue",
        "ProductOfSteps", "VisitWeighted", "half_min_mean", "mean",
        "AfterBirth",
    ),
    "mctsr.backup.amaf": ("AmafMean",),
    "mctsr.backup.rollouts": ("ShareOfRollouts",),
    "mctsr.caller": ("Caller",),
    "mctsr.engine": ("Outcome", "search"),
    "mctsr.errors": (
        "ContextOverflow", "MctsrError", "RecipeError", "Refused", "ServerError", "ServerGone",
        "UsageError",
    ),
    "mctsr.expand.answer": ("Answer",),
    "mctsr.expand.drafts": ("plain_answer", "together", "whole_answer"),
    "mctsr.expand.boundary": ("Boundary", "read_boundary", "split"),
    "mctsr.expand.completions": ("Completions",),
    "mctsr.expand.moves.agents": ("Agents",),
    "mctsr.expand.moves.reflect": ("ReasonFinishReflect",),
    "mctsr.expand.refine": ("REFUSAL", "SelfRefine"),
    "mctsr.expand.priors": ("LikelihoodPriors",),
    "mctsr.expand.rectify": ("Rectify",),
    "mctsr.expand.step": ("Steps",),
    "mctsr.expand.sub_question": ("SubQuestions",),
    "mctsr.grading": ("extract_answer",),
    "mctsr.judge.fading": ("FadingEstimate",),
    "mctsr.judge.grounded.rollout": ("GroundedRollout",),
    "mctsr.judge.self_reward": ("SelfReward", "fifty_from_95", "lose_50_above_95", "read_score"),
    "mctsr.judge.certainty": ("SelfCertainty",),
    "mctsr.judge.grounded.verify": ("ToolVerify",),
    "mctsr.judge.llm_judge": ("LlmJudge",),
    "mctsr.judge.lookahead": ("Lookahead",),
    "mctsr.judge.mc_estimate": ("McEstimate",),
    "mctsr.judge.outcome": ("Ends", "OutcomeReward"),
    "mctsr.judge.process.chat_token": ("ChatTokenPrm",),
    "mctsr.judge.process.gen_prm": ("GenPrm",),
    "mctsr.judge.process.qwen": ("QwenPrm",),
    "mctsr.judge.process.shepherd": ("TokenPrm", "openr_prm"),
    "mctsr.judge.process.think_prm": ("ThinkPrm",),
    "mctsr.judge.seq_rm": ("SeqRm",),
    "mctsr.judge.sub_question": ("SubQuestionReward",),
    "mctsr.lm.base": ("LM", "Completion", "Message", "Place", "Pooled", "Pooling", "Request", "Token", "Usage"),
    "mctsr.lm.scripted": ("Scripted",),
    "mctsr.parts": (
        "Answerer", "Ask", "Backup", "Draft", "Expander", "Fault", "Judge", "Ledger", "Path", "PathNode",
        "Problem", "Rule", "Selected", "Selector", "Stopper", "Unscored", "Verdict",
    ),
    "mctsr.prompting": ("Prompts",),
    "mctsr.recipe": ("Recipe",),
    "mctsr.recipes.steps.scope": ("rectified",),
    "mctsr.select.anywhere": ("Anywhere", "Choose", "greedy"),
    "mctsr.select.chain": ("Chain",),
    "mctsr.select.deepsearch": ("DeepSearchJump",),
    "mctsr.select.descent": ("Descent", "RootNoise", "Widening"),
    "mctsr.select.frontier": ("Frontier",),
    "mctsr.select.grave": ("Grave", "Mcps"),
    "mctsr.select.gumbel": ("Gumbel",),
    "mctsr.select.labels.chance": ("AnyChildOfRoot",),
    "mctsr.select.labels.first_error": ("FirstError", "searches_done"),
    "mctsr.select.labels.reflecting": ("EndRight", "uct_trajectory"),
    "mctsr.select.particles": ("Particles", "Weight"),
    "mctsr.select.pools": ("FrontierDeepSearch", "OmegaPrm", "Stored", "nash"),
    "mctsr.select.population": ("Beams", "Subtrees"),
    "mctsr.select.rounds.look": ("GrowThenLook", "rounds_done", "first_open"),
    "mctsr.select.sampled": ("among_top", "anyone", "importance", "pairwise_importance", "top_k"),
    "mctsr.select.scores": (
        "by_value", "i_mcts", "puct", "puct_alphazero", "puct_masprm_inference", "uct", "uct_deepsearch",
        "uct_grounded_prm", "uct_llama_berry", "uct_masprm", "uct_masprm_inference", "uct_mc_nest", "uct_mctsr",
        "uct_mctsr_code", "uct_meds3", "uct_prior", "uct_rap", "uct_rest_mcts", "uct_rstar_math",
    ),
    "mctsr.select.step_code": ("step_code", "step_form"),
    "mctsr.select.sweeps.gibbs": ("Gibbs",),
    "mctsr.select.sweeps.salvage": ("Salvage", "salvaged_after"),
    "mctsr.select.thompson": ("Beta", "Gaussian", "Thompson", "thompson_beta", "thompson_gaussian"),
    "mctsr.stop": (
        "Limits", "all_drawn", "all_finished", "first_of", "max_depth", "never", "no_gain", "paths_done",
        "rollouts_done", "solution_found",
    ),
    "mctsr.tree": ("Sample", "State", "Tree"),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [  # noqa: RUF022
    "AfterBirth", "Agents", "AmafMean", "Answer", "Answerer", "AnyChildOfRoot", "Anywhere", "Ask",
    "Backup", "Beams", "Beta", "Blended", "Boundary", "Caller", "Chain", "ChatTokenPrm", "Choose",
    "Completion", "Completions", "ContextOverflow", "DecayedSum", "DeepSearch", "DeepSearchCode",
    "DeepSearchJump", "Descent", "Draft", "EndRight", "Ends", "Expander", "FadingEstimate", "Fault",
    "FirstError", "Frontier", "FrontierDeepSearch", "Gaussian", "GenPrm", "Gibbs", "Grave",
    "GroundedRollout", "GrowThenLook", "Gumbel", "HalfOwnHalfBestChild", "Judge", "LM", "Ledger",
    "LikelihoodPriors", "Limits", "LlamaBerry", "LlmJudge", "Lookahead", "Max", "McEstimate",
    "McNest", "Mcps", "MctsrCode", "MctsrError", "Mean", "MeanOfEnds", "MeanReturn", "MedS3Comp",
    "Message", "MinimumOfSteps", "OmegaPrm", "OneEnd", "Outcome", "OutcomeReward", "OwnValue",
    "Particles", "Path", "PathNode", "Place", "Pooled", "Pooling", "Problem", "ProductOfSteps",
    "Prompts", "QwenPrm", "REFUSAL", "ReasonFinishReflect", "Recipe", "RecipeError", "Rectify",
    "Refused", "Request", "RootNoise", "Rule", "Salvage", "Sample", "Scripted", "Selected",
    "Selector", "SelfCertainty", "SelfRefine", "SelfReward", "SeqRm", "ServerError", "ServerGone",
    "ShareOfRollouts", "State", "Steps", "Stopper", "Stored", "SubQuestionReward", "SubQuestions",
    "Subtrees", "ThinkPrm", "Thompson", "Token", "TokenPrm", "ToolVerify", "Tree", "Unscored",
    "Usage", "UsageError", "Verdict", "VisitWeighted", "Weight", "Widening", "all_drawn", "all_finished",
    "among_top", "anyone", "best_finalist", "best_value", "by_value", "extract_answer",
    "fifty_from_95", "finalists", "first", "first_of", "first_open", "greedy", "half_min_mean",
    "i_mcts", "importance", "last", "lose_50_above_95", "majority", "max_depth", "mean", "nash",
    "never", "no_gain", "openr_prm", "pairwise_importance", "paths_done", "plain_answer", "puct",
    "puct_alphazero", "puct_masprm_inference", "read_boundary", "read_score", "rectified",
    "rollouts_done", "rounds_done", "salvaged_after", "search", "searches_done", "solution_found",
    "split", "step_code", "step_form", "thompson_beta", "thompson_gaussian", "together", "top_k",
    "trajectories_done", "uct", "uct_deepsearch", "uct_grounded_prm", "uct_llama_berry",
    "uct_masprm", "uct_masprm_inference", "uct_mc_nest", "uct_mctsr", "uct_mctsr_code", "uct_meds3",
    "uct_prior", "uct_rap", "uct_rest_mcts", "uct_rstar_math", "uct_trajectory", "weighted_vote",
    "whole_answer",
]
# fmt: on


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'mctsr' has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
