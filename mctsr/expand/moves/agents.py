"""The next message of a team: a fixed order of roles, each of which reads all that was said before.

Knows whose turn it is, and what a speaker is shown. What a role is told to do stands in its prompt file.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from mctsr.caller import Caller
from mctsr.errors import RecipeError
from mctsr.expand.drafts import merged, together
from mctsr.expand.finish import is_final
from mctsr.expand.thoughts import part
from mctsr.grading import extract_answer
from mctsr.lm.base import Completion
from mctsr.parts import Draft, Fault, Path, Problem

ROLE = "role"
"""Where a message keeps its speaker, in `Draft.work`."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NOTHING = "Nothing yet: you begin."
_APART = "\n\n"


@dataclass(frozen=True, slots=True)
class Agents:
    """Let the next role speak.

    A message is a step: the transcript is the text of the path, and judges of steps read it as one. The last role's
    message holds the answer and ends its path; where it was cut off, only a box is one. A speaker is shown the problem
    and, under the names of those who spoke, every message so far. An empty message is unscored and ends its node.
    Source: MASPRM, arXiv:2510.24803, for a team in a line.

    Attributes:
        roles: Who speaks, in order; each is the name of a prompt file behind "agent_", with the inputs "problem" and
            "transcript".
        temperature: 0 to 2; None leaves it to the model's settings.
        max_tokens: Longest message; None leaves it to the model's settings.
        distinct: Keep one of equal messages of an ask, before any is judged.
        logprobs: Alternatives to report a token; None for no log-probabilities.

    Raises:
        RecipeError: No role, or one that can be no name of a file; a number is out of range.
    """

    roles: tuple[str, ...]
    temperature: float | None = None
    max_tokens: int | None = None
    distinct: bool = True
    logprobs: int | None = None

    def __post_init__(self) -> None:
        if not self.roles or not all(_NAME.fullmatch(role) for role in self.roles):
            raise RecipeError(
                f"roles are {','.join(self.roles)!r}; name at least one, in small letters, e.g. planner,solver: "
                "each is the prompt file agent_<role>.md"
            )
        if self.max_tokens is not None and self.max_tokens < 1:
            raise RecipeError(f"max_tokens is {self.max_tokens}; it must be at least 1, or None")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise RecipeError(f"temperature is {self.temperature}; it must be a number from 0 to 2, or None")

    @property
    def needs(self) -> frozenset[str]:
        """Plain chat, and log-probabilities if asked for."""
        return frozenset() if self.logprobs is None else frozenset({"logprobs"})

    @property
    def prompts(self) -> frozenset[str]:
        """The roles' prompt files."""
        return frozenset(f"agent_{role}" for role in self.roles)

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Plant `n` empty transcripts, without a call; no judge sees them."""
        return [Draft("", step=True, unjudged=True)] * n

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Ask the next role for `n` messages, independently."""
        drafts = await together(partial(self._message, path, i, llm) for i in range(n))
        return merged(drafts) if self.distinct else drafts

    async def _message(self, path: Path, draft: int, llm: Caller) -> Draft:
        turn = len(path.steps)
        role, last = self.roles[turn], turn + 1 == len(self.roles)
        values = {"problem": path.problem.text, "transcript": transcript(path)}
        request = llm.ask(f"agent_{role}", values, temperature=self.temperature)
        request = replace(request, max_tokens=self.max_tokens, logprobs=self.logprobs)
        reply = await llm.complete(request, part=f"agent_{role}", draft=draft)
        text, kind = part(reply.text).said.strip(), path.problem.kind
        ended = last and text and (reply.finish == "stop" or is_final(text, kind, cut=True))
        return Draft(
            text + _APART if text and not last else text,
            extract_answer(text, kind) if ended else None,
            {ROLE: role},
            truncated=reply.finish == "length",
            unscored="" if text else "empty reply",
            done=last or not text,
            why="finished" if text else "empty reply",
            step=True,
            logprob=_sum(reply),
            tokens=len(reply.tokens) or reply.usage.completion_tokens,
        )


def transcript(path: Path) -> str:
    """Return what was said so far, each message under the name of its speaker."""
    said = [f"{node.work.get(ROLE, 'somebody').capitalize()}:\n{node.text.strip()}" for node in path.steps]
    return _APART.join(said) or _NOTHING


def _sum(reply: Completion) -> float | None:
    total = math.fsum(token.logprob for token in reply.tokens) if reply.tokens else math.nan
    return total if math.isfinite(total) else None
