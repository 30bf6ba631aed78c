"""What a reader wants to know of a node in a tree of steps: the solution up to it, and whether it goes on.

Reads records of a run folder, and no gold answer.
"""

from collections.abc import Sequence

from mctsr.runs.records import NodeRecord


def solution(nodes: Sequence[NodeRecord], node: int) -> str:
    """Return the texts of the steps from the root to `node`, joined; of a whole answer its own text."""
    texts, at = [], nodes[node]
    while at.get("step") and (above := at["parent"]) is not None:
        texts.append(at["text"])
        at = nodes[above]
    return "".join([*texts, at["text"]][::-1])


def on_the_way(node: NodeRecord) -> bool:
    """Say whether a node is a step whose solution goes on, so that no answer is to be expected of it."""
    return bool(node.get("step")) and node["answer"] is None and not node["ended"]


def digits(node: NodeRecord) -> int:
    """Return how many decimals tell values apart: steps are scored from 0 to 1, whole answers mostly to 100."""
    return 2 if node.get("step") else 1
