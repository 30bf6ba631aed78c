"""Solutions written to their end from wherever they stand, and cut into the steps that others may go on from.

Knows how a partial solution becomes whole solutions, and a whole one its beginnings. Says of none how good it is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from mctsr.caller import Caller
from mctsr.errors import RecipeError
from mctsr.grading import extract_answer
from mctsr.lm.base import Completion, Request
from mctsr.parts import Draft, Fault, Path, Problem

from .boundary import PARAGRAPHS, Boundary
from .cuts import cut_ends
from .drafts import together
from .thoughts import part

ANSWERS = "answers"
"""In the work of a solution: the answers of all that were written for the problem itself, a JSON list, null for none.

Those written behind a mistake are not among them: together they would outvote the rest, and make the mistake right.
"""


@dataclass(frozen=True, slots=True)
class Completions:
    """Below a partial solution whole ones, one call each; below a whole one its beginnings, without a call.

    Nodes alternate: a state, which is the empty root or a beginning, and its rollouts, whole answers whose text is the
    state's with what was written from there. A beginning's text is all of it, from the first character. It ends with a
    step, is longer than the state that its rollout was written from, and shorter than the rollout. No judge sees it.
    An ask of a rollout brings all its beginnings, whatever the number asked for, shortest first. A rollout that has
    none, being one step, is finished at once.

    An answer is read from the whole solution; one that was cut off has none. A model that has nothing to add to a
    beginning has ended there, unless it was cut off: then the reply is empty. A thought in front of the solution is
    kept in `work["thought"]` and sent along, and is never cut.

    Attributes:
        boundary: Where a step ends.
        most_steps: Steps into which what was written is cut; of more, neighbours are taken together. 0 for any number.
        prompt: Prompt file, with the input "problem"; "" for "step", or "step_numbered" with such a boundary.
        temperature: 0 to 2; None leaves it to the model's settings.
        max_tokens: Longest continuation; None leaves it to the model's settings.

    Raises:
        RecipeError: A number is out of range.
    """

    boundary: Boundary = PARAGRAPHS
    most_steps: int = 16
    prompt: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    needs: ClassVar[frozenset[str]] = frozenset({"steps"})

    def __post_init__(self) -> None:
        if self.most_steps < 0 or self.most_steps == 1:
            raise RecipeError(f"most_steps is {self.most_steps}; it must be at least 2, or 0 for any number")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise RecipeError(f"max_tokens is {self.max_tokens}; it must be at least 1, or None")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise RecipeError(f"temperature is {self.temperature}; it must be a number from 0 to 2, or None")

    @property
    def prompt_name(self) -> str:
        """The prompt file, also the part in the place of each call."""
        return self.prompt or ("step_numbered" if self.boundary.numbered else "step")

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Plant `n` empty solutions, one in most recipes, without a call; no judge sees them."""
        return [Draft("", step=True, unjudged=True)] * n

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Write `n` solutions below a state, or take all beginnings of a solution."""
        if path.last.text and not path.last.step:
            return self._beginnings(path)
        request = replace(
            llm.ask(self.prompt_name, {"problem": path.problem.text}, temperature=self.temperature),
            begun=path.begun,
            begun_ids=path.begun_ids,
            max_tokens=self.max_tokens,
        )
        drafts = await together(partial(self._written, path, request, i, llm) for i in range(n))
        return _told(drafts, path)

    async def _written(self, path: Path, request: Request, draft: int, llm: Caller) -> Draft:
        reply = await llm.complete(request, part=self.prompt_name, draft=draft)
        thought, said = path.last.work.get("thought", ""), reply.text
        if not path.text:
            thought, said, _ = part(reply.text)
        text, cut = path.text + said, reply.finish != "stop"
        nothing = "cut off in its thought" if thought and cut else "empty reply"
        blank = not text.strip() or (cut and not said.strip())
        return Draft(
            text,
            None if cut else extract_answer(text, path.problem.kind),
            {"thought": thought} if thought else {},
            truncated=cut,
            unscored=nothing if blank else "",
            done=not self._ends(text, path.text),
            tokens=_tokens(reply),
        )

    def _beginnings(self, path: Path) -> list[Draft]:
        """Take a solution's beginnings; its thought stays in front of each."""
        text, thought = path.text, path.last.work.get("thought", "")
        work = {"thought": thought} if thought else {}
        ends = self._ends(text, path.nodes[-2].text)
        return [Draft(text[:end], work=work, step=True, unjudged=True) for end in ends]

    def _ends(self, text: str, begun: str) -> list[int]:
        return cut_ends(text, self.boundary, len(begun), self.most_steps)


def _tokens(reply: Completion) -> int:
    return reply.usage.completion_tokens or len(reply.ids) or len(reply.tokens)


def _told(drafts: Sequence[Draft | Fault], path: Path) -> Sequence[Draft | Fault]:
    """Let each draft know the answers at the root: of the path's first solution, or of these themselves."""
    own = json.dumps([draft.answer for draft in drafts if isinstance(draft, Draft)], ensure_ascii=False)
    answers = next((node.work[ANSWERS] for node in path.nodes if ANSWERS in node.work), own)
    return [replace(d, work={**d.work, ANSWERS: answers}) if isinstance(d, Draft) else d for d in drafts]
