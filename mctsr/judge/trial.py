"""A trial of the judges that score steps: three steps of a small sum, and one score wanted for each.

Knows: the protocols that a reward model may speak. Does not know: servers, or what is done about a failure.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from mctsr.caller import Caller
from mctsr.errors import MctsrError, ServerError
from mctsr.parts import Judge, Path, PathNode, Problem, Unscored

from .aggregate import Aggregate, last
from .process.chat_token import ChatTokenPrm
from .process.qwen import QwenPrm
from .process.shepherd import TokenPrm
from .seq_rm import SeqRm

_PROBLEM = Problem("doctor", "What is 2 + 3 * 4?", "number")
_STEPS = (
    "Step 1: First multiply: 3 * 4 = 12.\n\n",
    "Step 2: Then add: 2 + 12 = 14.\n\n",
    "Step 3: The answer is \\boxed{14}.",
)


class Protocol(NamedTuple):
    """A way of asking a reward model.

    Attributes:
        make: Makes its judge with an aggregate of the steps' scores.
        endpoint: "pooling", "classify", "completions" (plain text) or "chat".
        scores: How many scores the three steps must have: one each, or one for the whole.
    """

    make: Callable[[Aggregate], Judge]
    endpoint: str
    scores: int = len(_STEPS)

    @property
    def needs(self) -> frozenset[str]:
        """What the judge needs from the model."""
        return self.make(last).needs


PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        "qwen-prm": Protocol(QwenPrm, "pooling"),
        "seq-rm": Protocol(lambda _: SeqRm(), "classify", 1),
        "token-prm": Protocol(TokenPrm, "completions"),
        "chat-token-prm": Protocol(ChatTokenPrm, "chat"),
    }
)
"""What is tried, by the name of the judge."""


class Trial(NamedTuple):
    """How a protocol fared.

    Attributes:
        scores: Those of the steps; empty when there were none.
        fault: Why it does not work; "" when it does.
        answered: Whether scores came back at all, right or wrong; not so where there is no such endpoint.
    """

    scores: tuple[float, ...]
    fault: str = ""
    answered: bool = True


async def try_protocol(name: str, llm: Caller) -> Trial:
    """Score three steps by the protocol called `name`."""
    protocol, seen = PROTOCOLS[name], list[float]()

    def heard(scores: Sequence[float]) -> float:
        seen[:] = scores
        return scores[-1]

    try:
        verdict = await protocol.make(heard).judge(_path(), 0, llm)
    except MctsrError as error:
        return Trial((), str(error), not isinstance(error, ServerError))
    if isinstance(verdict, Unscored):
        return Trial((), verdict.reason, not verdict.server)
    scores = tuple(seen) or tuple(sample.raw for sample in verdict.samples)
    return Trial(scores, _count(len(scores), protocol.scores))


def _count(got: int, wanted: int) -> str:
    return "" if got == wanted else f"{got} scores for {len(_STEPS)} steps, {wanted} are wanted"


def _path() -> Path:
    steps = [PathNode(i, text, None, {}, (), False, step=True) for i, text in enumerate(("", *_STEPS))]
    return Path(_PROBLEM, tuple(steps))
