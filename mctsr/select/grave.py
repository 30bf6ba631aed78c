"""From the root down by what steps were worth wherever they were taken: GRAVE and permutation search.

Both read statistics that a backup of the same settings keeps: `AmafMean` of `mctsr.backup`. They are meant for steps
that are worth about the same wherever they come; where the order of steps matters they mislead. Neither has an
exploration term, but for GRAVE's variant "ucb1": statistics shared between branches take its place.

All means must be on one scale, since they are averaged: AmafMean counts each reward, as the judge gave it, in all of
them. Then an affine change of the scale changes nothing, again but for "ucb1".

The statistics take 8 bytes x inner nodes x distinct codes, more while they grow; a search that would pass 2 GiB ends
with a RecipeError. Sums are f4: after a million results of one sign one has drifted by about 1e-2 of itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.amaf import GRAVE, GRAVE_LUDII, MCPS, UCB1_GRAVE
from mctsr.kernels.node import NONE
from mctsr.kernels.playouts import How, Playouts, Settings
from mctsr.parts import Ask
from mctsr.tree import Tree

_METHODS = {"paper": GRAVE, "ludii": GRAVE_LUDII, "ucb1": UCB1_GRAVE}


@dataclass(frozen=True, slots=True)
class Grave:
    """(1 - b) Q + b Q_amaf, b = n_amaf / (n_amaf + n + bias n_amaf n): the best child at each level, to a leaf.

    Q_amaf and n_amaf are the mean and the number of playouts in which the step's code came at the reference node or
    after it: the deepest node above or at the children's parent with more than `ref` visits, else the root.
    An unvisited child is worth its Q_amaf; one of which nothing is known comes first; the first created wins ties.
    Children that are unscored, spent, or finished without children are passed over, and leaves that are being grown;
    while a way ends at work in flight the next best one is taken. Needs the backup `AmafMean(code)`.
    Source: GRAVE, Cazenave 2015, "Generalized Rapid Action Value Estimation", IJCAI. With `ref` = 0 every node is its
    own reference: RAVE, Gelly and Silver 2011. Variants: LudiiAI's code (Ludeme/LudiiAI, `McGRAVE`, `UCB1GRAVE`).

        "paper"  as above
        "ludii"  an unvisited child comes first, whatever AMAF says of it
        "ucb1"   plus sqrt(2 ln(sum n) / max(n, 1)) over the children's n; made for results in [0, 1] or [-1, 1]

    Ludii breaks ties by chance, takes ref = 100, and counts a move as often as a playout has it. Here, in all three,
    the order of creation breaks ties and a playout counts a code once.

    Attributes:
        code: Maps the text of a step to what it is counted as.
        ref: Visits of a reference node. The paper takes 50 of 1 000 playouts or more; a search that asks a language
            model has tens of rewards, hence the small default.
        bias: How fast AMAF gives way to the step's own mean.
        n: Drafts an ask.
        roots: Drafts that the opening asks for; the first that can still grow is where descents begin.
        variant: Which of the above.
    """

    code: Callable[[str], int]
    ref: int = 8
    bias: float = 1e-5
    n: int = 3
    roots: int = 1
    variant: Literal["paper", "ludii", "ucb1"] = "paper"
    barrier: bool = False

    def __post_init__(self) -> None:
        _check(self.n, self.ref)
        if not self.bias >= 0:
            raise RecipeError(f"bias is {self.bias}; it must be 0 or more")
        if self.variant not in _METHODS:
            raise RecipeError(f"variant is {self.variant!r}; it is one of {', '.join(_METHODS)}")

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out one leaf, or nothing when there is none.

        Raises:
            RecipeError: The backup keeps other statistics.
        """
        how = How(_METHODS[self.variant], self.ref, self.bias, tree.low)
        return _ask(tree, _kept(tree, Settings(self.code)), how, self.roots, self.n)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Note the codes of the new nodes.

        Raises:
            RecipeError: Statistics would pass 2 GiB.
        """
        _tell(tree, _kept(tree, Settings(self.code)), born)


@dataclass(frozen=True, slots=True)
class Mcps:
    """(n Q + n_amaf Q_amaf + n_perm Q_perm) / (n + n_amaf + n_perm): the best child at each level, to a leaf.

    Q_perm and n_perm are the mean and the number of playouts, among the last `window`, that contain the step's code and
    all codes from the root to the children's parent in any order. They are counted once, when the visits of a node
    exceed `ref`, then frozen and inherited below; descriptions of the method also have "reaches ref", one visit
    earlier. All else as in `Grave`; there is no bias to choose. Needs the backup
    `AmafMean(code, ref, window)` with the same three.
    Source: Monte Carlo Permutation Search, arXiv:2510.06381.

    Attributes:
        code: Maps the text of a step to what it is counted as.
        ref: Visits of a reference node, for both kinds of statistics.
        window: Playouts that permutation statistics look back on.
        n: Drafts an ask.
        roots: Drafts that the opening asks for; the first that can still grow is where descents begin.
    """

    code: Callable[[str], int]
    ref: int = 8
    window: int = 10_000
    n: int = 3
    roots: int = 1
    barrier: bool = False

    def __post_init__(self) -> None:
        _check(self.n, self.ref)
        if self.window < 1:
            raise RecipeError(f"window is {self.window}; it must be at least 1 playout")

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out one leaf, or nothing when there is none.

        Raises:
            RecipeError: The backup keeps other statistics.
        """
        how = How(MCPS, self.ref, 0.0, tree.low)
        return _ask(tree, _kept(tree, self._settings), how, self.roots, self.n)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Note the codes of the new nodes.

        Raises:
            RecipeError: Statistics would pass 2 GiB.
        """
        _tell(tree, _kept(tree, self._settings), born)

    @property
    def _settings(self) -> Settings:
        return Settings(self.code, self.window, self.ref)


def _check(n: int, ref: int) -> None:
    if n < 1:
        raise RecipeError(f"n is {n}; it is the number of children of a leaf, at least 1")
    if ref < 0:
        raise RecipeError(f"ref is {ref}; it is a number of visits, at least 0")


def _kept(tree: Tree, settings: Settings) -> Playouts:
    playouts = tree.keep("playouts", lambda: Playouts(settings))
    playouts.agree(settings)
    return playouts


def _ask(tree: Tree, playouts: Playouts, how: How, roots: int, n: int) -> Sequence[Ask]:
    for root in range(min(roots, len(tree))):
        if not playouts.seen and tree.nodes["visits"][root] > tree.nodes["n_rewards"][root]:
            raise RecipeError(
                "rewards were backed up, but no playouts kept: Grave and Mcps need the backup AmafMean"
            )
        leaf = NONE if tree.planted(root) else playouts.leaf(tree.nodes, root, how)
        if leaf != NONE:
            return (Ask(leaf, n),)
    return ()


def _tell(tree: Tree, playouts: Playouts, born: Sequence[int]) -> None:
    for node in born:
        if tree.parent(node) is not None and not playouts.placed(node):
            playouts.place(tree.nodes, node, playouts.settings.code(tree.states[node].text))
