"""Monte Carlo tree search for LLM reasoning.

Everything that a recipe of your own needs is a name of this package; importing it loads nothing heavy.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mctsr.answer import best_value, finalists, first, last, majority, weighted_vote
    from mctsr.backup import HalfOwnHalfBestChild, OwnValue, half_min_mean, mean
    from mctsr.caller import Caller
    from mctsr.engine import Outcome, search
    from mctsr.errors import (
        ContextOverflow,
        MctsrError,
        RecipeError,
        Refused,
        ServerError,
        ServerGone,
        UsageError,
    )
    from mctsr.expand.answer import Answer
    from mctsr.expand.drafts import plain_answer, together, whole_answer
    from mctsr.expand.refine import REFUSAL, SelfRefine
    from mctsr.grading import extract_answer
    from mctsr.judge.self_reward import SelfReward, fifty_from_95, lose_50_above_95, read_score
    from mctsr.lm.base import LM, Completion, Message, Place, Request, Usage
    from mctsr.lm.scripted import Scripted
    from mctsr.parts import (
        Answerer,
        Ask,
        Backup,
        Draft,
        Expander,
        Fault,
        Judge,
        Ledger,
        Path,
        PathNode,
        Problem,
        Rule,
        Selected,
        Selector,
        Stopper,
        Unscored,
        Verdict,
    )
    from mctsr.prompting import Prompts
    from mctsr.recipe import Recipe
    from mctsr.select.anywhere import Anywhere
    from mctsr.select.chain import Chain
    from mctsr.select.frontier import Frontier
    from mctsr.select.pools import Stored
    from mctsr.select.scores import by_value, uct_mctsr, uct_mctsr_code
    from mctsr.stop import Limits, first_of, max_depth, never, no_gain, rollouts_done
    from mctsr.tree import Sample, State, Tree

_HOME = {
    "mctsr.answer": (
        "best_value",
        "finalists",
        "first",
        "last",
        "majority",
        "weighted_vote",
    ),
    "mctsr.backup": (
        "HalfOwnHalfBestChild",
        "OwnValue",
        "half_min_mean",
        "mean",
    ),
    "mctsr.caller": ("Caller",),
    "mctsr.engine": (
        "Outcome",
        "search",
    ),
    "mctsr.errors": (
        "ContextOverflow",
        "MctsrError",
        "RecipeError",
        "Refused",
        "ServerError",
        "ServerGone",
        "UsageError",
    ),
    "mctsr.expand.answer": ("Answer",),
    "mctsr.expand.drafts": (
        "plain_answer",
        "together",
        "whole_answer",
    ),
    "mctsr.expand.refine": (
        "REFUSAL",
        "SelfRefine",
    ),
    "mctsr.grading": ("extract_answer",),
    "mctsr.judge.self_reward": (
        "SelfReward",
        "fifty_from_95",
        "lose_50_above_95",
        "read_score",
    ),
    "mctsr.lm.base": (
        "LM",
        "Completion",
        "Message",
        "Place",
        "Request",
        "Usage",
    ),
    "mctsr.lm.scripted": ("Scripted",),
    "mctsr.parts": (
        "Answerer",
        "Ask",
        "Backup",
        "Draft",
        "Expander",
        "Fault",
        "Judge",
        "Ledger",
        "Path",
        "PathNode",
        "Problem",
        "Rule",
        "Selected",
        "Selector",
        "Stopper",
        "Unscored",
        "Verdict",
    ),
    "mctsr.prompting": ("Prompts",),
    "mctsr.recipe": ("Recipe",),
    "mctsr.select.anywhere": ("Anywhere",),
    "mctsr.select.pools": ("Stored",),
    "mctsr.select.scores": (
        "by_value",
        "uct_mctsr",
        "uct_mctsr_code",
    ),
    "mctsr.select.chain": ("Chain",),
    "mctsr.select.frontier": ("Frontier",),
    "mctsr.stop": (
        "Limits",
        "first_of",
        "max_depth",
        "never",
        "no_gain",
        "rollouts_done",
    ),
    "mctsr.tree": (
        "Sample",
        "State",
        "Tree",
    ),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [  # noqa: RUF022
    "Answer", "Answerer", "Anywhere", "Ask", "Backup", "Caller", "Chain", "Completion", "ContextOverflow",
    "Draft", "Expander", "Fault", "Frontier", "HalfOwnHalfBestChild", "Judge", "LM", "Ledger", "Limits",
    "MctsrError", "Message", "Outcome", "OwnValue", "Path", "PathNode", "Place", "Problem", "Prompts",
    "REFUSAL", "Recipe", "RecipeError", "Refused", "Request", "Rule", "Sample", "Scripted", "Selected",
    "Selector", "SelfRefine", "SelfReward", "ServerError", "ServerGone", "State", "Stopper", "Stored",
    "Tree", "Unscored", "Usage", "UsageError", "Verdict", "best_value", "by_value", "extract_answer",
    "fifty_from_95", "finalists", "first", "first_of", "half_min_mean", "last", "lose_50_above_95",
    "majority", "max_depth", "mean", "never", "no_gain", "plain_answer", "read_score", "rollouts_done",
    "search", "together", "uct_mctsr", "uct_mctsr_code", "weighted_vote", "whole_answer",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'mctsr' has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
