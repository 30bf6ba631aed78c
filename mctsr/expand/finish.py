"""Whether a step ends the solution: what it says is the final answer.

Knows the marks by which writers give their answer, and is stricter than the reading of whole answers: in the middle of
a solution every step has a last number, and "to find the answer, add 3 + 4 = 7" is no end.
"""

import re
from collections import deque

from mctsr.grading.cues import from_boxes, from_phrases

from .thoughts import behind, is_open

_VALUE = (
    r"""[\s*_$("'{\[]*(?:[-+−]?[0-9.]|[\\√π∞£€]|(?-i:[A-J])(?![\w'’])|[a-z]\s?=|(?:yes|no|true|false)\b)"""
)
_MARK = re.compile(
    rf"^[ \t]*\#{{4,}}[ \t]*+(?![0-9]+[.):]\s*\D*[a-z]{{3}}){_VALUE}", re.IGNORECASE | re.MULTILINE
)
_PHRASE = re.compile(
    rf"""
    (?: ["'](?:final[_ ]?)?answer["']\s?:
      | <(?:final_)?answer>
      | \[\s?(?:final\s)?answer\s?\]
      | \banswer(?:\s(?:to|for)\s(?:the|this|your)\s(?:[a-z]+\s)?(?:problem|question))?
        [\s*_]*(?:is\b|(?:would|should|must|will)\sbe\b|equals\b|[:=])
      | \b(?:correct|right|best|final)\s(?:option|choice|letter)[\s*_]*(?:is\b|:)
    )
    [\s*_:]*(?:(?:therefore|thus|hence|then|simply|just|indeed|exactly|about|approximately)\b[\s:]*)?
    {_VALUE}
    """,
    re.IGNORECASE | re.VERBOSE,
)


def is_final(step: str, kind: str | None, *, cut: bool = False, before: str = "") -> bool:
    r"""Say whether a step gives the final answer. Linear time.

    Args:
        step: The step.
        kind: What an answer looks like: "number", "letter", "formula" or None.
        cut: Whether the step was cut off; then only a box counts, whose end can be seen.
        before: The solution before it: an answer inside a thought is not final.

    Returns:
        Whether there is a box, or else a value right behind `####` or a phrase such as "the answer is": neither
        "The answer follows by adding" nor the heading "#### 1. Find the total" is an end.
    """
    if is_open(before + step):
        return False
    said = behind(step)
    if from_boxes(said, kind) is not None:
        return True
    if cut:
        return False
    last = next(iter(deque(_PHRASE.finditer(said), maxlen=1)), None)
    phrase = last is not None and from_phrases(said[last.start() :], kind) is not None
    return phrase or _MARK.search(said) is not None
