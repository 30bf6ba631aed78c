"""Paths of steps, label tokens and callers for tests of judges."""

import math
from collections.abc import Callable, Mapping, Sequence

from mctsr.caller import Caller
from mctsr.lm.base import Completion, Place, Request, Token
from mctsr.lm.scripted import Replies, Score, Scripted
from mctsr.parts import Judge, Path, PathNode, Problem, Unscored, Verdict
from mctsr.prompting import Prompts
from mctsr.tree import Sample

PROMPTS = Prompts()
PROBLEM = Problem("p", "What is 2+3*4?", "number")
ROOT = PathNode(0, "", None, {}, (), False, step=True)


def node(text: str, score: float | None = None, *, answer: str | None = None, said: str = "") -> PathNode:
    """Return a step, judged before when it has a score."""
    samples = () if score is None else (Sample(score, score, said),)
    return PathNode(1, text, answer, {}, samples, False, step=True)


def path(*steps: PathNode | str) -> Path:
    """Return a path of steps below the empty root; the problem is 2+3*4."""
    return Path(PROBLEM, (ROOT, *(node(step) if isinstance(step, str) else step for step in steps)))


def answered(text: str) -> Path:
    """Return a path that is one whole answer."""
    return Path(PROBLEM, (PathNode(0, text, None, {}, (), False),))


def token(said: Mapping[str, float]) -> Token:
    """Return a token from the probabilities of what could stand there, the likeliest first."""
    top = tuple((text, math.log(p) if p else -9999.0) for text, p in said.items())
    return Token(top[0][0], top[0][1], None, top)


def label(**said: float) -> Completion:
    """Return a one-token reply; `good`, `bad`, `yes`, `no` stand for +, -, Yes, No."""
    spelled = {"good": "+", "bad": "-", "yes": "Yes", "no": "No"}
    found = token({spelled.get(name, name): p for name, p in said.items()})
    return Completion(found.text, tokens=(found,))


def scripted(
    replies: Replies | None = None,
    scores: Sequence[Score] | Callable[..., Score] | None = None,
    *,
    offers: frozenset[str] = frozenset(),
) -> Scripted:
    """Return a model that replies nothing unless it is told to."""
    return Scripted(replies if replies is not None else [], scores=scores, offers=offers)


async def judged(
    judge: Judge, where: Path, lm: Scripted, draft: int = 0, known: str | None = None
) -> Verdict | Unscored:
    """Judge the last node of a path; `known` is what a labelling recipe may compare with; "0" cannot be."""

    async def referee(answer: str) -> bool | None:
        return None if answer == "0" else answer == known

    return await judge.judge(where, draft, Caller(lm, PROMPTS, "p", 2, None if known is None else referee))


def the_sample(found: Verdict | Unscored) -> Sample:
    """Return the only sample of a verdict."""
    assert isinstance(found, Verdict), found
    (sample,) = found.samples
    return sample


Said = Callable[[Place, Request], Completion]
