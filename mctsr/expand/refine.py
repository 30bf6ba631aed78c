"""Self-refine: criticise a whole answer, then rewrite it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from mctsr.caller import Caller
from mctsr.parts import Draft, Fault, Path, Problem

from .drafts import plain_answer, together, whole_answer

REFUSAL = "I don't know the answer to this problem."


@dataclass(frozen=True, slots=True)
class SelfRefine:
    """Critique, then rewrite with the answer and the critique in view.

    Source: MCTSr, arXiv:2406.07394, section 3.3. The released code cuts the history to its last two messages,
    so that its rewrite never sees the answer; ours does.

    Attributes:
        planted: Text of a second root beside the first answer, against over-fitting to it; "" for none.
        temperature: Of critiques and rewrites; None leaves it to the model's settings.
        show_answer: False hides the answer from the rewrite, as the released code does.
    """

    planted: str = ""
    temperature: float | None = None
    show_answer: bool = True
    needs: frozenset[str] = frozenset()

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Answer `n` times and plant the refusal behind."""
        answers = await together(partial(plain_answer, problem, i, llm) for i in range(n))
        return [*answers, Draft(self.planted, planted=True)] if self.planted else answers

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Refine the path's last answer `n` times, independently."""
        return await together(partial(self._refine, path, i, llm) for i in range(n))

    async def _refine(self, path: Path, draft: int, llm: Caller) -> Draft:
        values = {"problem": path.problem.text, "answer": path.last.text}
        critique = await llm.say("critique", values, draft=draft, temperature=self.temperature)
        if self.show_answer:
            prompt, values = "rewrite", {**values, "critique": critique.text}
        else:
            prompt, values = "rewrite_unseen", {"problem": path.problem.text, "critique": critique.text}
        rewrite = await llm.say(prompt, values, draft=draft, temperature=self.temperature)
        return whole_answer(rewrite, path.problem, {"critique": critique.text})
