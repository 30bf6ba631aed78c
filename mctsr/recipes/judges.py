"""The judges of steps by the names that recipes take.

Knows which judge a name means and whether it makes one value of many scores. What a judge does, `mctsr.judge` says.

Recipes take "llm-judge" unless told otherwise, so that one generation server is enough: it works with every chat
server, and says how right a step is. A judgement is one call: of one token where log-probabilities are offered, of a
short text where not. "self-certainty" costs no call, but says how sure the model was of its words, and needs
log-probabilities.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mctsr.errors import RecipeError, named, shown
from mctsr.judge.aggregate import Aggregate, last, named_aggregate
from mctsr.judge.certainty import SelfCertainty
from mctsr.judge.grounded.verify import ToolVerify
from mctsr.judge.llm_judge import LlmJudge
from mctsr.judge.mc_estimate import McEstimate
from mctsr.judge.process.chat_token import ChatTokenPrm
from mctsr.judge.process.gen_prm import GenPrm
from mctsr.judge.process.qwen import QwenPrm
from mctsr.judge.process.shepherd import TokenPrm
from mctsr.judge.process.think_prm import ThinkPrm
from mctsr.judge.seq_rm import SeqRm
from mctsr.parts import Judge

LLM_JUDGE, SELF_CERTAINTY, MC_ESTIMATE = "llm-judge", "self-certainty", "mc-estimate"

OF_SCORES: Mapping[str, Callable[[Aggregate], Judge]] = MappingProxyType(
    {
        "qwen-prm": QwenPrm,
        "token-prm": TokenPrm,
        "chat-token-prm": ChatTokenPrm,
        "gen-prm": GenPrm,
        LLM_JUDGE: LlmJudge,
        SELF_CERTAINTY: SelfCertainty,
    }
)
"""Judges that score each step, and make one value of the scores."""

OF_PREFIXES: Mapping[str, Callable[[], Judge]] = MappingProxyType(
    {"seq-rm": SeqRm, "think-prm": ThinkPrm, MC_ESTIMATE: McEstimate, "tool-verify": ToolVerify}
)
"""Judges whose one score stands for itself: there is nothing to aggregate."""


def named_judge(
    name: str, aggregate: str = "last", *, prompt: str = "", temperature: float | None = None
) -> Judge:
    """Return the judge called `name`.

    Args:
        name: A key of `OF_SCORES` or `OF_PREFIXES`.
        aggregate: How a path's scores become one value: "last", "min", "product" or "mean".
        prompt: The prompt that the steps are written under, for judges that go on in their conversation; "" for
            "step", or "answer" where it is a whole answer that "llm-judge" is shown.
        temperature: Of the steps, for the judge that goes on writing them.

    Raises:
        RecipeError: There is no such judge or aggregation, or the judge does not aggregate.
    """
    chosen = named_aggregate(aggregate)
    if name == LLM_JUDGE:
        return LlmJudge(chosen, prompt=prompt)
    if name in OF_SCORES:
        return OF_SCORES[name](chosen)
    if name not in OF_PREFIXES:
        raise RecipeError(
            f"judge {shown(name)} is unknown; choose one of {named([*OF_SCORES, *OF_PREFIXES])}"
        )
    if chosen is not last:
        raise RecipeError(
            f"judge {name!r} gives one score for all steps, so aggregate={aggregate!r} has no meaning; leave it out, "
            f"or choose one of {named(OF_SCORES)}"
        )
    if name == MC_ESTIMATE:
        return McEstimate(prompt=prompt or "step", temperature=temperature)
    return OF_PREFIXES[name]()
