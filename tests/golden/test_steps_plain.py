"""ReST-MCTS* and DeepSearch once more as plain Python over objects, on random tables with many ties."""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from tests.support.step_story import Story, name_of, names, recipe, told

STEPS, WIDTH = 5, 3


def story(seed: int, grain: int) -> Story:
    """Draw a table: three words below each solution, every fourth an end; scores and chances that often are equal."""
    rng = np.random.default_rng(seed)
    after, score, chance = dict[str, list[str]](), dict[str, float](), dict[str, float]()
    level = [""]
    for depth in range(STEPS):
        for name in level:
            ends = rng.random(WIDTH) < (0.25 if depth else 0.0)
            after[name] = [f"={i % 2}" if end else "abc"[i] for i, end in enumerate(ends)]
            for word in after[name]:
                longer = f"{name} {word}".strip()
                score[longer] = float(rng.integers(grain + 1)) / grain
                chance[longer] = float(rng.integers(1, 4)) / 4
        level = [f"{name} {word}".strip() for name in level for word in after[name] if word[0] != "="]
    return Story(after, score, chance)


@dataclass(eq=False)
class Node:
    """A partial solution; `own` is its score, `value` what selection reads, `q` a sum."""

    name: str
    above: "Node | None" = None
    own: float = 0.0
    value: float = 0.0
    visits: int = 0
    q: float = 0.0
    below: list["Node"] = field(default_factory=list)

    @property
    def path(self) -> list["Node"]:
        """From the node up to the root."""
        return [self, *(self.above.path if self.above else [])]

    @property
    def depth(self) -> int:
        return len(self.path) - 1

    @property
    def answered(self) -> bool:
        return "=" in self.name

    @property
    def done(self) -> bool:
        return self.answered or self.depth == STEPS

    @property
    def closed(self) -> bool:
        return self.done or (bool(self.below) and all(child.closed for child in self.below))


def grow(table: Story, node: Node, tree: list[Node]) -> list[Node]:
    """Write the next steps; equal ones are one."""
    for word in dict.fromkeys(table.after[node.name]):
        name = f"{node.name} {word}".strip()
        score = table.score[name]
        assert isinstance(score, float)
        node.below.append(Node(name, node, score, score))
    tree += node.below
    return node.below


def rest_mcts(table: Story, rounds: int, c: float = 0.7, alpha: float = 0.5) -> list[Node]:
    """Grow a tree by the released code's rules, without its gate."""

    def score(child: Node) -> float:
        above = child.above
        if not child.visits or not above:
            return child.value + 1.0
        return child.value + c * math.sqrt(2 * math.log(max(above.visits, 1)) / child.visits)

    def ahead(node: Node) -> list[float]:
        """Return the scores of three steps, one below the other; their drafts are -2, -3, -4."""
        name, seen = node.name, list[float]()
        for draft in (-2, -3, -4):
            if "=" in name or len(name.split()) == STEPS:
                break
            name = f"{name} {table.after[name][draft % WIDTH]}"
            seen.append(table.score[name])  # type: ignore[arg-type]
        return seen

    root = Node("")
    tree = [root]
    for _ in range(rounds):
        node = root
        while node.below:
            node = max((child for child in node.below if not child.closed), key=score)
        best = max(grow(table, node, tree), key=lambda child: child.value)
        best.value = (1 - alpha) * best.value + alpha * max(ahead(best), default=best.value)
        best.visits = 1
        for up in node.path:
            up.visits += 1
            up.value = sum(n.value * n.visits for n in up.below) / sum(n.visits for n in up.below)
        if root.closed:
            break
    return tree


def deepsearch(table: Story, ends: int, shift: int, lam: float = 2.0) -> list[Node]:
    """Grow a tree by the paper's rules (shift 0) or the released code's (shift 1), a judge standing for the gold."""

    def entropy(node: Node) -> float:
        return -math.log(table.chance[node.name])

    def rank(node: Node) -> tuple[bool, float, bool, float]:
        worth, steps = value(node), node.path[:-1]
        complete = node.answered or not shift
        return worth > 0, max(worth, 0), complete, -sum(map(entropy, steps)) / len(steps)

    def value(node: Node) -> float:
        return 2 * node.own - 1 if node.answered else -1.0

    def back_up(end: Node) -> None:
        for up in end.path:
            share = 1.0 if up is end else max((up.depth + shift) / (end.depth + shift), 0.1)
            up.visits += 1
            if up.q * value(end) >= 0:
                up.q += share * value(end)
            elif value(end) > 0:
                up.q = share * value(end)

    def local(child: Node) -> float:
        above = child.above
        assert above
        return child.q / child.visits + lam * math.sqrt(math.log(max(above.visits, 1)) / child.visits)

    def anywhere(leaf: Node) -> float:
        above = leaf.above
        assert above
        mean = above.q / above.visits if above.visits else 0.0
        return 0.4 * math.tanh(mean) + 0.01 * math.sqrt(leaf.depth / STEPS)

    root = Node("")
    tree, at = [root], list[Node]([root])
    while at and ends:
        above = at.pop()
        newborn = grow(table, above, tree)
        for child in newborn:
            child.visits += not child.done
        if finished := [child for child in newborn if child.done]:
            back_up(max(finished, key=rank))
            ends -= 1
            leaves = [node for node in tree[1:] if not node.below and not node.done]
            at += sorted(leaves, key=anywhere, reverse=True)[:1]
        else:
            at.append(max(newborn, key=local))
    return tree


@pytest.mark.parametrize("grain", [1, 2, 8])
@pytest.mark.parametrize("seed", range(5))
async def test_rest_mcts_is_its_plain_loop(seed: int, grain: int) -> None:
    table = story(seed, grain)
    outcome, _ = await told(table, recipe("rest-mcts", rounds=25, end_gate=1.1, max_steps=STEPS))
    expected = rest_mcts(table, 25)
    tree, used = outcome.tree, outcome.tree.nodes[: len(outcome.tree)]
    assert names(tree) == [node.name for node in expected]
    assert used["visits"].tolist() == [node.visits for node in expected]
    assert used["value"].tolist() == pytest.approx([node.value for node in expected])


@pytest.mark.parametrize(("name", "shift"), [("deepsearch", 0), ("deepsearch-code", 1)])
@pytest.mark.parametrize("grain", [1, 2, 8])
@pytest.mark.parametrize("seed", range(5))
async def test_deepsearch_is_its_plain_loop(seed: int, grain: int, name: str, shift: int) -> None:
    table = story(seed, grain)
    outcome, _ = await told(table, recipe(name, children=WIDTH, max_steps=STEPS))
    expected = deepsearch(table, 8, shift)
    tree, used = outcome.tree, outcome.tree.nodes[: len(outcome.tree)]
    assert names(tree) == [node.name for node in expected]
    assert used["visits"].tolist() == [node.visits for node in expected]
    assert used["value_sum"].tolist() == pytest.approx([node.q for node in expected], abs=1e-12)
    assert {name_of(tree, node) for node in tree.ended} == {node.name for node in expected if node.done}
