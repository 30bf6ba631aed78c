"""What a recorded tree of steps looks like: texts joined from the root, answers where a solution is finished."""

from collections.abc import Sequence

from mctsr.judge.mc_estimate import remembered
from mctsr.runs.records import NodeRecord, TreeRecord
from mctsr.tree import Sample


def is_of_steps(tree: TreeRecord) -> bool:
    """Say whether a tree was grown step by step: its roots are steps."""
    roots = [node for node in tree["nodes"] if node["parent"] is None]
    return bool(roots) and all(node.get("step") for node in roots)


def is_of_rollouts(tree: TreeRecord) -> bool:
    """Say whether solutions were completed whole: below each root of a tree of steps there are whole answers alone."""
    nodes = tree["nodes"]
    first = [node for node in nodes if node["parent"] is not None and nodes[node["parent"]]["parent"] is None]
    return is_of_steps(tree) and bool(first) and not any(node.get("step") for node in first)


def prefixes(tree: TreeRecord) -> list[str]:
    """Return the text before each node: that of the steps above it, up to a whole answer; "" for a whole answer."""
    found: list[str] = []
    for node in tree["nodes"]:
        above = node["parent"]
        anew = above is None or not node.get("step") or not tree["nodes"][above].get("step")
        found.append("" if above is None or anew else found[above] + tree["nodes"][above]["text"])
    return found


def final_answers(nodes: Sequence[NodeRecord]) -> dict[int, str]:
    """Return the final answer of each finished node; an empty reply below a step finishes that step."""
    ended = {node["id"]: node["answer"] for node in nodes if node["answer"] is not None}
    empty = {
        node["parent"]: node["answer"]
        for node in nodes
        if node["answer"] is not None and node["parent"] is not None and not node["text"].strip()
    }
    return empty | ended


def line_of(nodes: Sequence[NodeRecord], leaf: int) -> list[int]:
    """Return the ids of the steps from the first to `leaf`; the root is none."""
    line: list[int] = []
    node: int | None = leaf
    while node is not None and nodes[node]["parent"] is not None:
        line.append(node)
        node = nodes[node]["parent"]
    return line[::-1]


def completions_of(node: NodeRecord) -> int:
    """Return how many completions a step's value is made of, lost ones left out; 1 for an end that was compared."""
    return len(remembered([Sample(one["value"], one["raw"], one["text"]) for one in node["samples"]]))
