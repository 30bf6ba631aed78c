"""Three ways to go on: reason another step, finish in one go, or reflect on an answer that seems wrong.

Knows which of them a path calls for. How a step is written is for `step`; that an answer seems wrong, the selector
says, by leaving its node open.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from mctsr.caller import Caller
from mctsr.errors import RecipeError
from mctsr.expand.drafts import together
from mctsr.expand.finish import is_final
from mctsr.expand.step import Steps
from mctsr.grading import extract_answer
from mctsr.parts import Draft, Fault, Path, Problem

ACTION = "action"
"""Where a node that is no reasoning keeps what it is, "finish" or "reflect", in `Draft.work`."""

REFLECTION = "\n\nWait, this answer may be wrong. Let me go through it again and find the mistake.\n\n"
"""What a reflection begins with; the model goes on from there."""


@dataclass(frozen=True, slots=True)
class ReasonFinishReflect:
    """Write `n` next steps, one end, or one reflection.

    Below a node that is worth at least `finish_at` the rest of the solution is one child. Below an answer one child
    reflects on it. Everything else is reasoned step by step; a step that gives the final answer is a finish, too.
    Finished nodes are left open as long as reflections are left on their path: who selects must end those that are
    right.
    Source: MedS3, arXiv:2501.12051, with its released code (pixas/MedSSS).

    Attributes:
        steps: Writes the steps.
        finish_at: Mean sample from which on a node is finished; None for never.
        reflections: Reflections on one path.
    """

    steps: Steps
    finish_at: float | None = 0.9
    reflections: int = 1

    def __post_init__(self) -> None:
        if self.reflections < 0:
            raise RecipeError(f"reflections is {self.reflections}; it must be at least 0")

    @property
    def needs(self) -> frozenset[str]:
        """What the writer of steps needs."""
        return self.steps.needs

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Plant `n` empty solutions, without a call."""
        return await self.steps.open(problem, n, llm)

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Go on from the path's last node."""
        if path.last.answer is not None:
            drafts = await together([lambda: self._reflect(path, llm)])
        elif self._sure(path):
            drafts = await together([lambda: self._finish(path, llm)])
        else:
            drafts = await self.steps.grow(path, n, llm)
        return [self._opened(path, draft) if isinstance(draft, Draft) else draft for draft in drafts]

    def _sure(self, path: Path) -> bool:
        samples = path.last.samples
        if self.finish_at is None or not samples:
            return False
        return fmean(sample.value for sample in samples) >= self.finish_at

    def _opened(self, path: Path, draft: Draft) -> Draft:
        """Leave a finished draft open if it may be reflected on, and name it."""
        if draft.answer is None or draft.unscored:
            return draft
        work = draft.work if ACTION in draft.work else {**draft.work, ACTION: "finish"}
        used = sum(node.work.get(ACTION) == "reflect" for node in path.steps) + (work[ACTION] == "reflect")
        room = len(path.steps) + 1 < self.steps.max_steps
        return replace(draft, work=work, done=not (room and used < self.reflections))

    async def _reflect(self, path: Path, llm: Caller) -> Draft:
        begun = path.plus(Draft(REFLECTION, step=True))
        draft = await self.steps.write(begun, 0, llm)
        # The token ids of the beginning are not known.
        return replace(draft, text=REFLECTION + draft.text, work={**draft.work, ACTION: "reflect"}, ids=())

    async def _finish(self, path: Path, llm: Caller) -> Draft:
        values = {"problem": path.problem.text}
        request = llm.ask(self.steps.prompt_name, values, temperature=self.steps.temperature)
        request = replace(request, begun=path.begun, begun_ids=path.begun_ids)
        reply = await llm.complete(request, part="finish")
        text, kind = reply.text, path.problem.kind
        whole = reply.finish == "stop" or is_final(text, kind, cut=True, before=path.text)
        return Draft(
            text,
            extract_answer(path.text + text, kind) if whole else None,
            {ACTION: "finish"},
            truncated=reply.finish == "length",
            unscored="" if text.strip() else "empty reply",
            done=whole or not text.strip(),
            why="finished" if whole or text.strip() else "empty reply",
            step=True,
            ids=reply.ids,
            tokens=reply.usage.completion_tokens,
        )
