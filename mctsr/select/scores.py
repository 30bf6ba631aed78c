"""Scores of nodes, each named after the paper or code that it comes from.

Every function returns a rule for `Descent` and `Anywhere`: it maps (tree, ids) to f8 of the same length. `N` is the
visits of the parent, `n` and `Q` the visits and value of the node, work in flight included. The formulas are in
`mctsr.kernels.rules`; what a score assumes of the values (scale, what an unvisited node holds) is said here.
Constants are finite and at least 0, where division needs it above 0, and `first` is any number; else a RecipeError.
"""

import math
from dataclasses import dataclass

import numpy as np

from mctsr.errors import RecipeError
from mctsr.kernels import rules
from mctsr.kernels.node import NONE, Constants, Floats, Ids
from mctsr.tree import Tree

_NO: Constants = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class KernelRule:
    """A built-in score, computed in `mctsr.kernels.rules`.

    Attributes:
        code: Which rule.
        k: Its constants, in the order that `mctsr.kernels.rules` gives.
        root: Score of a node without parent; NaN for its value.
    """

    code: int
    k: Constants = _NO
    root: float = math.nan

    def __call__(self, tree: Tree, ids: Ids) -> Floats:
        """Score `ids`; f8 of the same length."""
        out = np.empty(len(ids))
        rules.scores(tree.nodes, ids, self.code, self.k, tree.low, out)
        if not math.isnan(self.root):
            out[tree.nodes["parent"][ids] == NONE] = self.root
        return out


def _rule(code: int, *k: float, root: float = math.nan) -> KernelRule:
    padded = (*k, 0.0, 0.0, 0.0, 0.0)
    return KernelRule(code, (padded[0], padded[1], padded[2], padded[3]), root)


def _fit(name: str, value: float, *, above: bool = False) -> float:
    """Return the constant `value` if it is finite and at least 0, with `above` greater."""
    if not (0 < value < math.inf or (value == 0 and not above)):
        allowed = "above 0" if above else "at least 0"
        raise RecipeError(f"{name} is {value}; it must be a finite number {allowed}")
    return value


def _first(value: float) -> float:
    """Return what an unvisited node gets: any number, also an infinite one."""
    if math.isnan(value):
        raise RecipeError(f"first is {value}; it must be a number")
    return value


def by_value() -> KernelRule:
    """Q: greedy, best first."""
    return _rule(rules.VALUE)


def uct(c: float = math.sqrt(2)) -> KernelRule:
    """Q + c sqrt(ln N / n); an unvisited node first.

    Source: UCB1 in trees, Kocsis and Szepesvári 2006, "Bandit based Monte-Carlo planning". Also LATS
    (arXiv:2310.04406, section 4.1, c = 1) and rStar (arXiv:2408.06195).
    """
    return _rule(rules.UCB1, _fit("c", c))


def uct_mctsr(c: float = 1.4, eps: float = 1e-5) -> KernelRule:
    """Q + c sqrt((ln N + 1) / (n + eps)); no bonus for a root.

    Source: MCTSr, arXiv:2406.07394, section 3.4. Values lie in [-100, 100]: c is little more than a tie breaker.
    """
    return _rule(rules.UCT_MCTSR, _fit("c", c), _fit("eps", eps, above=True))


def uct_mctsr_code(c: float = 1.4, eps: float = 1e-5) -> KernelRule:
    """Q + c sqrt(ln(N + 1) / (n + eps)), N of a root = 0.

    Source: MCTSr's released code (trotsky1997/MathBlackBox), without the staleness of its scores; that is
    `pools.Stored("ucb")` over the backup `MctsrCode`.
    """
    return _rule(rules.UCT_MCTSR_CODE, _fit("c", c), _fit("eps", eps, above=True))


def uct_mc_nest(c: float = 1.0, eps: float = 1e-10) -> KernelRule:
    """Q + c sqrt(ln(N + 1) / (n + eps)); 10 000 for a root.

    Source: MC-NEST, arXiv:2411.15645, in its released code (corei5/MC_NEST_GPT). The Nash term is `pools.nash`. Where
    the code falls back to the root for want of candidates, the search ends.
    """
    return _rule(rules.UCT_MCTSR_CODE, _fit("c", c), _fit("eps", eps, above=True), root=10_000.0)


def uct_llama_berry(c: float = 1.4) -> KernelRule:
    """Q + c sqrt(ln N / n).

    Source: LLaMA-Berry, arXiv:2410.02884, section 3.1. Q is a rank in [0, 1]; every node is visited when it is made.
    """
    return _rule(rules.UCB1, _fit("c", c))


def uct_rstar_math(c: float = 2.0) -> KernelRule:
    """Q + c sqrt(ln N / n); an unvisited node has bonus 0 and Q 0.

    Source: rStar-Math, arXiv:2501.04519, section 3.1; unvisited as in its code (microsoft/rStar). No prior, though
    the code calls it puct.
    """
    return _rule(rules.UCT_ZERO, _fit("c", c))


def uct_deepsearch(lam: float = 2.0) -> KernelRule:
    """Q + lam sqrt(ln N / n); an unvisited node has bonus 0 and Q 0.

    Source: DeepSearch, arXiv:2509.25454, local selection among siblings. Q = q / n.
    """
    return _rule(rules.UCT_ZERO, _fit("lam", lam))


def uct_grounded_prm(c: float = 1.8) -> KernelRule:
    """Q + c sqrt(ln N / n); an unvisited node first.

    Source: GroundedPRM, arXiv:2510.14942, section 3, as published. Its released code (JerryPlain/GroundedPRMCode) never
    calls it and takes a child by chance: `sampled.anyone`.
    """
    return _rule(rules.UCB1, _fit("c", c))


def uct_rest_mcts(c: float = 0.7, first: float = 1.0) -> KernelRule:
    """V + c sqrt(2 ln N / n); V + first for an unvisited node.

    Source: ReST-MCTS*, arXiv:2406.03816, in its released code (THUDM/ReST-MCTS), whose constant INF is 1.0. The code
    breaks ties by chance; here the first created wins.
    """
    return _rule(rules.UCT_REST, _fit("c", c), _first(first))


def uct_meds3(c: float = 2.0, first: float = 5.0) -> KernelRule:
    """V + c sqrt(ln N / n); `first` for an unvisited node.

    Source: MedS3, arXiv:2501.12051, in its released code (pixas/MedSSS). Completed nodes are DONE here.
    """
    return _rule(rules.UCT_MEDS3, _fit("c", c), _first(first))


def uct_masprm(c: float = 2.0) -> KernelRule:
    """Q + c sqrt(ln max(N, 1) / max(n, 1)); Q 0 for an unvisited node.

    Source: MASPRM, arXiv:2510.24803, target search in its code (milad1378yz/MASPRM, `mcts.py`).
    """
    return _rule(rules.UCT_ONE, _fit("c", c), 0.0)


def uct_rap(w_exp: float = 1.0) -> KernelRule:
    """Q + w_exp sqrt(ln N / max(1, n)); an unvisited node has its own reward as Q.

    Source: RAP, arXiv:2305.14992, in its code (maitrix-org/llm-reasoners, `MCTS._uct`).
    """
    return _rule(rules.UCT_ONE, _fit("w_exp", w_exp), 1.0)


def uct_masprm_inference(c: float = 2.0) -> KernelRule:
    """Q' + c sqrt(ln(N + 1) / (n + 1)), Q' = (q + v) / (n + 1): the PRM's score v counts as one visit.

    Source: MASPRM, arXiv:2510.24803, inference search in its code. q is the sum of backed-up values.
    """
    return _rule(rules.UCT_PSEUDO, _fit("c", c))


def puct_masprm_inference(c: float = 2.0) -> KernelRule:
    """Q' + c p sqrt(max(N, 1)) / (1 + n), Q' = (q + v) / (n + 1): the PRM's score v counts as one visit.

    Source: MASPRM, arXiv:2510.24803, inference search in its code; p = softmax of mean token log-probabilities.
    """
    return _rule(rules.PUCT_PSEUDO, _fit("c", c))


def uct_prior(c: float = math.sqrt(2)) -> KernelRule:
    """Q + c p sqrt(ln N / n); an unvisited node first.

    Source: the standard MCTS of TreeQuest (SakanaAI/treequest, `StandardMCTS`).
    """
    return _rule(rules.UCT_PRIOR, _fit("c", c))


def puct(c: float = 1.25, first: float = 0.0) -> KernelRule:
    """Q + c p sqrt(N) / (1 + n); an unvisited node has its own value as Q, else `first`.

    Source: AlphaGo Zero, Silver et al. 2017, "Mastering the game of Go without human knowledge", Methods.
    """
    return _rule(rules.PUCT, _fit("c", c), _first(first))


def puct_alphazero(init: float = 1.25, base: float = 19652.0, first: float = 0.0) -> KernelRule:
    """Q + p sqrt(N) / (1 + n) (ln((N + base + 1) / base) + init); an unvisited node has its own value, else `first`.

    Source: AlphaZero, Silver et al. 2018, pseudo-code; TS-LLM (arXiv:2309.17179, `tsllm/mcts/tree.py`) uses it with
    the critic's value for unvisited nodes, and `init` = 10 on its command line.
    """
    return _rule(rules.PUCT_ALPHAZERO, _fit("init", init), _fit("base", base, above=True), _first(first))


def i_mcts(c: float = 2.0, virtual: float = 0.2) -> KernelRule:
    """w v + (1 - w) Q + c sqrt(ln(N + 1e-6) / n), w = virtual / (n + virtual); v and n := virtual when unvisited.

    Source: I-MCTS, arXiv:2502.14693, section 3.3, over all children ever made: a root comes last. v is the LLM's
    judgement before execution, in [0, 1], the first reward that a node gets. A parent without visits gives bonus 0,
    where the released code gives NaN.
    """
    return _rule(rules.I_MCTS, _fit("c", c), _fit("virtual", virtual, above=True), root=-math.inf)
