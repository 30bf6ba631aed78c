"""Which ways of continuing a begun turn a kind of server may know, best first, and how one is chosen.

Knows: the table. A further dialect is a further line, or a further module beside it.
"""

from collections.abc import Mapping

from mctsr.lm.asking.call import Slots
from mctsr.lm.asking.sender import Sender
from mctsr.lm.dialects import Kind

from .ids import TokenIds
from .prefill import Prefill
from .quoted import Quoted
from .text import NativeText, PlainText
from .trial import proven
from .way import Way

_PAIR = Prefill((("add_generation_prompt", False), ("continue_final_message", True)))
_FLAG = Prefill((("continue_final_message", True),))
_OPEN = Prefill()
_MARK = Prefill(marks=(("prefix", True),))
_LAST = Quoted()

WAYS: Mapping[Kind, tuple[Way, ...]] = {
    "vllm": (TokenIds(), PlainText(), _PAIR),
    "llama.cpp": (NativeText(), _OPEN),
    "sglang": (_FLAG,),
    "ollama": (_OPEN,),
    "openai": (),
    "other": (_OPEN, _MARK, _PAIR),
}
"""What is tried, in order; what is left when none of it works is the quotation."""


async def find_way(sender: Sender, model: str, extra: Mapping[str, object], slots: Slots) -> Way:
    """Return the first way that a trial shows to work.

    Args:
        sender: Sends to the server.
        model: Name of the model.
        extra: What the user sends along with every request.
        slots: Gives a slot to each trial.

    Raises:
        ServerError: the server cannot be asked at all now.
    """
    for way in WAYS[sender.kind]:
        found = await proven(way, sender, model, extra, slots)
        if found is not None:
            return found
    return _LAST
