"""What the parts hand to each other: problem, path, ask, draft, verdict, and the ledger of a search."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from mctsr.errors import ContextOverflow, Refused, ServerError, ServerGone
from mctsr.kernels.node import DONE, PLANTED
from mctsr.lm.base import Tally
from mctsr.tree import Sample, State, Tree


@dataclass(frozen=True, slots=True)
class Problem:
    """One question. Its gold answer lives apart and never comes here.

    Attributes:
        id: Unique in its data set.
        text: What the model is shown.
        kind: How an answer is read: "number", "letter", "formula", or None when nothing is known.
    """

    id: str
    text: str
    kind: str | None = None


class PathNode(NamedTuple):
    """A node as it was when the path was taken; id -1 for a draft. `done`: it can never grow."""

    id: int
    text: str
    answer: str | None
    work: Mapping[str, str]
    samples: tuple[Sample, ...]
    planted: bool
    ids: tuple[int, ...] = ()
    logprob: float | None = None
    tokens: int = 0
    step: bool = False
    done: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """A problem and the nodes from a root to the one in question."""

    problem: Problem
    nodes: tuple[PathNode, ...]

    @property
    def last(self) -> PathNode:
        """The node that is to grow or to be judged."""
        return self.nodes[-1]

    @property
    def steps(self) -> tuple[PathNode, ...]:
        """The steps at the end of the path, from the first one; the empty root is none."""
        above = next((i for i in reversed(range(len(self.nodes))) if not self.nodes[i].step), -1)
        return tuple(node for node in self.nodes[above + 1 :] if node.text)

    @property
    def text(self) -> str:
        """The solution so far: all steps as the model wrote them, or the last whole answer."""
        return "".join(node.text for node in self.steps) if self.last.step else self.last.text

    @property
    def begun(self) -> str:
        """What a reply continues: the text with the thoughts that led to it, `work["thought"]` of each step."""
        said = "".join(node.work.get("thought", "") + node.text for node in self.steps)
        return said if self.last.step else self.last.text

    @property
    def begun_ids(self) -> tuple[int, ...]:
        """The same as token ids; empty when those of any step are unknown."""
        known = self.steps and all(node.ids for node in self.steps)
        return tuple(chain.from_iterable(node.ids for node in self.steps)) if known else ()

    @classmethod
    def to(cls, node: int, tree: Tree, problem: Problem) -> "Path":
        """Take the path from the root to `node`."""
        ids = tree.line(node)
        flags = tree.nodes["flags"][ids].tolist()
        return cls(problem, tuple(_taken(i, tree.states[i], own) for i, own in zip(ids, flags, strict=True)))

    def plus(self, draft: "Draft") -> "Path":
        """Return the path to a draft below the last node."""
        said = (draft.text, draft.answer, draft.work, (), draft.planted)
        node = PathNode(-1, *said, draft.ids, draft.logprob, draft.tokens, draft.step, draft.done)
        return Path(self.problem, (*self.nodes, node))


def _taken(node: int, state: State, flags: int) -> PathNode:
    said = (state.text, state.answer, state.work, tuple(state.samples), bool(flags & PLANTED))
    return PathNode(node, *said, state.ids, state.logprob, state.tokens, state.step, bool(flags & DONE))


class Ask(NamedTuple):
    """One piece of work, handed out by a selector.

    Attributes:
        node: Id of the node to grow.
        n: How many drafts are wanted; 0, together with `again`, for none.
        again: Whether the node is judged once more alongside.
    """

    node: int
    n: int = 1
    again: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A child before it is in the tree.

    Attributes:
        text: The whole answer or the step.
        answer: The final answer in it, for whole answers.
        work: What led to it, by name.
        planted: Written by the recipe, not by the model.
        truncated: The model was cut off.
        unscored: Why it must not be judged ("empty reply"); "" when it may.
        prior: Prior probability for rules that use one.
        done: The node can never grow.
        why: Why not, when `done`.
        step: The text is one step and continues the steps above it; otherwise it is a whole answer.
        unjudged: No judge sees it: the empty text at the root of a tree of steps.
        ids: Token ids of the text, where the server gives them.
        logprob: Sum of its tokens' log-probabilities in nats; None when unknown.
        tokens: How many tokens were written for it, >= 0.

    Raises:
        TypeError, ValueError: A field holds what a tree cannot keep.
    """

    text: str
    answer: str | None = None
    work: Mapping[str, str] = field(default_factory=dict)
    planted: bool = False
    truncated: bool = False
    unscored: str = ""
    prior: float = 1.0
    done: bool = False
    why: str = "finished"
    step: bool = False
    unjudged: bool = False
    ids: tuple[int, ...] = ()
    logprob: float | None = None
    tokens: int = 0

    def __post_init__(self) -> None:
        own = {"text": self.text, "answer": self.answer or "", "unscored": self.unscored, "why": self.why}
        for name, value in {**own, **self.work}.items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise TypeError(f"a Draft's {name} is {type(value).__name__}; it must be a text")
        if not 0.0 <= self.prior < math.inf:
            raise ValueError(f"a Draft's prior is {self.prior}; it must be a finite number, at least 0")
        if self.logprob is not None and not math.isfinite(self.logprob):
            raise ValueError(f"a Draft's logprob is {self.logprob}; it must be a finite number, or None")


def _spelled(error: ServerError) -> tuple[str, bool]:
    """Return a failed call in words, and whether the server was at fault."""
    if isinstance(error, Refused | ServerGone):
        raise error
    context = isinstance(error, ContextOverflow)
    return f"{'context overflow' if context else 'server error'}: {error}", not context


@dataclass(frozen=True, slots=True)
class Fault:
    """A draft that never came to be.

    Attributes:
        reason: What happened, for people.
        server: The server was at fault; otherwise the prompt did not fit, which ends the asked node.
    """

    reason: str
    server: bool = True

    @classmethod
    def of(cls, error: ServerError) -> "Fault":
        """Record a call that failed for good; what ends the whole run is raised again."""
        return cls(*_spelled(error))


@dataclass(frozen=True, slots=True)
class Unscored:
    """A judge's reply that gave no number: a first-class outcome, never a value.

    Attributes:
        reason: "no score in the reply", "truncated", "server error: …".
        server: Whether a server fault was the cause.
    """

    reason: str
    server: bool = False

    @classmethod
    def of(cls, error: ServerError) -> "Unscored":
        """Record a call that failed for good; what ends the whole run is raised again."""
        return cls(*_spelled(error))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of one node: one or more sampled evaluations, and those of them that were lost."""

    samples: tuple[Sample, ...]
    unscored: tuple[Unscored, ...] = ()


class Selected(NamedTuple):
    """The answer that a recipe returns without gold.

    Attributes:
        answer: The final answer, None when there is none.
        node: The node it was taken from, None for none.
        by: Which rule chose it, for people.
    """

    answer: str | None
    node: int | None
    by: str


@dataclass(slots=True)
class Ledger:
    """What a search has done so far, folded work only.

    Attributes:
        asks: Asks made, the opening left out.
        folds: Asks folded, the opening left out.
        tally: Calls and tokens of everything folded.
        best: Largest value of an unplanted node after the opening and each fold; -inf while none is scored.
        server_faults: Asks running that ended in server faults: one happened, and no child came of the ask that
            is scored, or needs no score.
        unscored: How often each reason gave no value.
    """

    asks: int = 0
    folds: int = 0
    tally: Tally = field(default_factory=Tally)
    best: list[float] = field(default_factory=list)
    server_faults: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
