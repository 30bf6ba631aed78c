"""The next step of a partial solution.

Knows how a path becomes a request, and when what came back is a whole step, a finished solution, or neither. How a
begun turn is continued on the wire is for `lm`; where a text is cut, for `boundary`; what a reply holds, for `written`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from mctsr.caller import Caller
from mctsr.errors import ContextOverflow, RecipeError
from mctsr.grading import extract_answer
from mctsr.lm.base import Request
from mctsr.parts import Draft, Fault, Path, Problem

from .boundary import PARAGRAPHS, Boundary
from .drafts import merged, together
from .finish import is_final
from .written import Step, Thought, Written

_TOLD = frozenset({"token_ids", "logprobs"})

MOST_PIECES = 16
"""Calls that one step may take: a reply ends in each empty line inside a block that was not expected."""


@dataclass(frozen=True, slots=True)
class Steps:
    r"""Continue the solution by one step.

    A step ends at the boundary, never inside a code fence or a formula: a reply that stops there is continued, in
    further calls for the same draft, until the block is closed. A solution is finished when the model ends its turn,
    or when the step holds a final answer: a box, a `####` line, or a phrase such as "the answer is 12". A server that
    does not tell the end of a turn from a stop string is judged by the text alone; then an unmarked end shows one step
    later, as an empty reply. An empty reply is unscored and ends its node; it keeps the answer that can be read from
    the path when the model ended its turn there. A step that was cut off is marked and may be continued.

    A thinking model's thought is not part of the text by default ("after"): it is written to its end before the first
    step, kept in `work["thought"]` as it came, sent along when the solution is continued, and seen by no judge and no
    rule for answers. With "inside" the thought is searched as well: its paragraphs are steps like any other, and no
    answer in it counts as final.

    Attributes:
        boundary: Where a step ends.
        max_step_tokens: Longest step, over all its calls: where a call may be no longer than less, it takes several.
        max_steps: Steps in a solution; the last one is ended with the reason "max steps" unless it finished.
        prompt: Prompt file, with the input "problem"; "" for "step", or "step_numbered" with such a boundary.
        temperature: 0 to 2; None leaves it to the model's settings.
        distinct: Keep one of equal drafts of an ask, before any is judged; its prior is then the share of the drafts
            that said the same, and `work["times"]` their number. Otherwise twins stay, and are flagged.
        thought: "after" or "inside", see above.
        opened: Whether the model's chat template opens the thought itself, so that replies hold only its end.
        max_thought_tokens: Longest thought, with thought="after".
        logprobs: Alternatives to report a token; None for no log-probabilities.
        judged_root: Whether the empty text is judged, too, by a judge that completes it.

    Raises:
        RecipeError: A number is out of range.
    """

    boundary: Boundary = PARAGRAPHS
    max_step_tokens: int = 512
    max_steps: int = 40
    prompt: str = ""
    temperature: float | None = None
    distinct: bool = False
    thought: Thought = "after"
    opened: bool = False
    max_thought_tokens: int = 8192
    logprobs: int | None = None
    judged_root: bool = False

    def __post_init__(self) -> None:
        for name in ("max_step_tokens", "max_steps", "max_thought_tokens"):
            if getattr(self, name) < 1:
                raise RecipeError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.thought not in ("after", "inside"):
            raise RecipeError(f'thought is {self.thought!r}; it must be "after" or "inside"')
        if self.logprobs is not None and self.logprobs < 0:
            raise RecipeError(f"logprobs is {self.logprobs}; it must be at least 0, or None")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise RecipeError(f"temperature is {self.temperature}; it must be a number from 0 to 2, or None")

    @property
    def needs(self) -> frozenset[str]:
        """A server that continues a begun turn, and reports log-probabilities if asked to."""
        return frozenset({"steps"} if self.logprobs is None else {"steps", "logprobs"})

    @property
    def prompt_name(self) -> str:
        """The prompt file, also the part in the place of each call."""
        return self.prompt or ("step_numbered" if self.boundary.numbered else "step")

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Plant `n` empty solutions, one in most recipes, without a call."""
        return [Draft("", step=True, unjudged=not self.judged_root)] * n

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Write `n` next steps, independently."""
        drafts = await together(partial(self.write, path, i, llm) for i in range(n))
        return merged(drafts) if self.distinct else drafts

    async def write(self, path: Path, draft: int, llm: Caller) -> Draft:
        """Write one next step; `draft` is the number in the places of its calls.

        Raises:
            ServerError: A call failed for good; ContextOverflow when the path does not fit.
        """
        request = replace(
            llm.ask(self.prompt_name, {"problem": path.problem.text}, temperature=self.temperature),
            stop=self.boundary.stops(path.text),
            logprobs=self._alternatives(llm),
        )
        written = Written(self.boundary, path.text, self.thought, self.opened and not path.begun)
        for piece in range(MOST_PIECES):
            left = self._left(written)
            if left < 1 or written.complete:
                break
            asked = self._asked(request, path, written, left)
            try:
                completion = await llm.complete(asked, part=self.prompt_name, draft=draft, sample=piece)
            except ContextOverflow:
                if not piece:
                    raise
                break
            written.add(completion, asked.stop, left)
        return self._draft(path, written.step())

    def _alternatives(self, llm: Caller) -> int | None:
        """Return how many alternatives to ask for.

        A numbered step ends before the heading at which the model was stopped: which of the ids that came back are
        the step's, only the text of each token tells, and that comes with log-probabilities.
        """
        told = self.boundary.numbered and llm.offers() >= _TOLD
        return 0 if told and self.logprobs is None else self.logprobs

    def _left(self, written: Written) -> int:
        if written.parted.closer:
            return self.max_thought_tokens - written.thought_tokens
        return self.max_step_tokens - written.step_tokens

    def _asked(self, request: Request, path: Path, written: Written, left: int) -> Request:
        """Ask for the next piece: up to the end of the open block, or of the step."""
        ids, known = written.ids, path.begun_ids or not path.begun
        return replace(
            request,
            begun=path.begun + written.raw,
            begun_ids=(*path.begun_ids, *ids) if known and ids is not None else (),
            stop=(written.closer,) if written.closer else request.stop,
            max_tokens=left,
        )

    def _draft(self, path: Path, step: Step) -> Draft:
        kind, before = path.problem.kind, self._heard(path.text)
        finished = step.ended or is_final(_whole(path, step.text), kind, cut=step.cut, before=before)
        swallowed = step.swallowed and not finished
        text = step.text + self.boundary.separator if swallowed else step.text
        nothing = "cut off in its thought" if step.thought and step.cut else "empty reply"
        empty = "" if text.strip() else nothing
        ends = bool(empty) or len(path.steps) + 1 >= self.max_steps
        return Draft(
            text,
            extract_answer(before + text, kind) if finished else None,
            {"thought": step.thought} if step.thought else {},
            truncated=step.cut,
            unscored=empty,
            done=finished or ends,
            why=(empty or "max steps") if ends and not finished else "finished",
            step=True,
            ids=() if swallowed else step.ids,
            logprob=step.logprob,
            tokens=step.tokens,
        )

    def _heard(self, text: str) -> str:
        """Return a solution as its reader must take it: one that begins in a thought says so."""
        return f"<think>{text}" if self.opened and self.thought == "inside" else text


def _whole(path: Path, text: str) -> str:
    """Put in front of a step the beginning of it that was cut off before."""
    for node in reversed(path.steps):
        if node.text[-1].isspace():
            break
        text = node.text + text
    return text
