"""What a reader wants to know of a node in a tree of steps: the solution up to it, and whether it goes on.

Reads records of a run folder, and no gold answer.
"""

from collections.abc import Sequence

from mctsr.runs.records import NodeRecord

AHEAD = "what lies ahead:"
"""Begins what a judge says of a step that it judged by the steps after it."""

TIMES = "times"
"""Where a step keeps how many drafts said it."""


def solution(nodes: Sequence[NodeRecord], node: int) -> str:
    """Return the texts of the steps from the root to `node`, joined; of a whole answer its own text."""
    texts, at = [], nodes[node]
    while at.get("step") and (above := at["parent"]) is not None:
        texts.append(at["text"])
        at = nodes[above]
    return "".join([*texts, at["text"]][::-1])


def news_of(nodes: Sequence[NodeRecord], node: int) -> str:
    """Return what a node adds to the texts above and before it: its own text, but where it says these again.

    A whole solution below its beginning says that again, and so do the beginnings of a solution, each the one before.
    """
    text, above = nodes[node]["text"], nodes[node]["parent"]
    if above is None or bool(nodes[node].get("step")) == bool(nodes[above].get("step")):
        return text
    known = [nodes[above]["text"]]
    if nodes[node].get("step"):
        state = nodes[above]["parent"]
        known = [nodes[i]["text"] for i in (state, node - 1) if i is not None and nodes[i].get("step")]
    begun = max((one for one in known if text.startswith(one)), key=len, default="")
    return text[len(begun) :]


def on_the_way(node: NodeRecord) -> bool:
    """Say whether a node is a step whose solution goes on, so that no answer is to be expected of it."""
    return bool(node.get("step")) and node["answer"] is None and not node["ended"]


def said_by(node: NodeRecord) -> str:
    """Say how many drafts of an ask said a step, in words; "" when it was one."""
    times = node["work"].get(TIMES, "") if node.get("step") else ""
    return times and f"said by {times} drafts"


def digits(node: NodeRecord) -> int:
    """Return how many decimals tell values apart: steps are scored from 0 to 1, whole answers mostly to 100."""
    return 2 if node.get("step") else 1
