"""Laws of the parts that ask a model: expanders, judges, and whole recipes.

The model is the simulated reasoner unless another is given; a spy in front of it keeps the calls and makes some fail.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from mctsr.caller import Caller
from mctsr.engine import Outcome, search
from mctsr.errors import Refused, ServerError
from mctsr.lm.base import LM, Completion, Place, Pooled, Pooling, Request, no_scores
from mctsr.parts import Draft, Expander, Fault, Judge, Path, PathNode, Problem, Unscored, Verdict
from mctsr.prompting import Prompts
from mctsr.recipe import Recipe
from mctsr.tree import Sample

from .puzzles import make_problems
from .reasoner import Simulated
from .tree_laws import check_shape, law

PROBLEM = make_problems(1, 0)[0][0]

_LOST = ServerError("this call failed", status=500)
_REFUSED = Refused("no call is answered", status=401)

Fail = Callable[[Place], Exception | None]
Drafts = Callable[["_Spy"], Awaitable[Sequence[Draft | Fault]]]


class _Spy:
    """A model that keeps its calls, makes some fail, and answers in the order it is told."""

    def __init__(
        self, inner: LM, fail: Fail | None = None, delay: Callable[[Place], float] | None = None
    ) -> None:
        self._inner, self._fail, self._delay = inner, fail, delay
        self.calls: list[tuple[Place, Request]] = []

    @property
    def offers(self) -> frozenset[str]:
        return self._inner.offers

    async def complete(self, place: Place, request: Request) -> Completion:
        self.calls.append((place, request))
        if self._delay:
            await asyncio.sleep(self._delay(place))
        if self._fail and (error := self._fail(place)):
            raise error
        return await self._inner.complete(place, request)

    async def pool(self, place: Place, pooling: Pooling) -> Pooled:
        return await self._inner.pool(place, pooling)

    def caller(self, problem: Problem, ask: int) -> Caller:
        return Caller(self, Prompts(), problem.id, ask)

    def places(self) -> list[Place]:
        return [place for place, _ in self.calls]


async def check_expander(
    expander: Expander, *, problem: Problem = PROBLEM, lm: Callable[[], LM] = Simulated, n: int = 3
) -> None:
    """An expander repeats itself, names its calls apart, and loses one draft to one failed call.

    Args:
        expander: The part; it opens the tree and grows the first draft.
        problem: What is to be solved.
        lm: Makes the model, which must reply alike each time.
        n: Drafts asked for.

    Raises:
        LawBroken: It does otherwise.
    """

    async def opened(spy: _Spy) -> Sequence[Draft | Fault]:
        return await expander.open(problem, n, spy.caller(problem, 0))

    first = next(draft for draft in await opened(_Spy(lm())) if isinstance(draft, Draft))
    node = PathNode(0, first.text, first.answer, first.work, (Sample(1.0, 1.0),), first.planted)

    async def grown(spy: _Spy) -> Sequence[Draft | Fault]:
        return await expander.grow(Path(problem, (node,)), n, spy.caller(problem, 1))

    for drafts in (opened, grown):
        await _check_drafts(drafts, lm, n)


async def _check_drafts(drafts: Drafts, lm: Callable[[], LM], n: int) -> None:
    spy, twin = _Spy(lm()), _Spy(lm())
    found, again = list(await drafts(spy)), list(await drafts(twin))
    law(found == again, "the same replies gave other drafts")
    law(spy.calls == twin.calls, "the same replies led to other calls")
    law(len(set(spy.places())) == len(spy.calls), "two calls share a place; number them by draft")
    made = [draft for draft in found if isinstance(draft, Draft) and not draft.planted]
    law(len(made) == n, f"{n} drafts were asked for, {len(made)} came")
    for lost in range(n):
        failing = _Spy(lm(), lambda place, lost=lost: _LOST if place.draft == lost else None)  # type: ignore[misc]
        kept = await drafts(failing)
        if any(place.draft == lost for place in failing.places()):
            wanted = [draft for i, draft in enumerate(found) if i != lost]
            left = [draft for draft in kept if isinstance(draft, Draft)]
            law(left == wanted, f"when draft {lost} failed, the others did not stay as they were")
            law(isinstance(kept[lost], Fault), f"draft {lost} failed and left no Fault in its place")
    if spy.calls:
        await _check_refusal(drafts, lm)


async def _check_refusal(ask: Callable[[_Spy], Awaitable[object]], lm: Callable[[], LM]) -> None:
    try:
        await ask(_Spy(lm(), lambda place: _REFUSED))
    except Refused:
        return
    law(False, "Refused was swallowed: it ends the run and must pass")


async def check_judge(judge: Judge, *, problem: Problem = PROBLEM, lm: Callable[[], LM] = Simulated) -> None:
    """A judge repeats itself, stays on its scale, and never makes a number of a reply that holds none.

    Args:
        judge: The part.
        problem: What was to be solved.
        lm: Makes the model, which must reply alike each time.

    Raises:
        LawBroken: It does otherwise.
    """
    law(judge.low < judge.high, f"the scale from {judge.low} to {judge.high} is empty")
    for i, text in enumerate(("The final answer is \\boxed{17}", "I do not know.", "x" * 5000)):
        path = Path(problem, (PathNode(0, text, None, {}, (), False),))

        async def verdict(spy: _Spy, path: Path = path, draft: int = i) -> Verdict | Unscored:
            return await judge.judge(path, draft, spy.caller(problem, 1))

        spy, twin = _Spy(lm()), _Spy(lm())
        found = await verdict(spy)
        law(found == await verdict(twin) and spy.calls == twin.calls, "the same replies gave another verdict")
        law(len(set(spy.places())) == len(spy.calls), "two calls share a place; number samples and attempts")
        if isinstance(found, Verdict):
            law(bool(found.samples), "a verdict without samples; return Unscored with the reason")
            for sample in found.samples:
                law(judge.low <= sample.value <= judge.high, f"{sample.value} is off the scale")
        if spy.calls:
            silent = await verdict(_Spy(_Mute()))
            law(isinstance(silent, Unscored), f"a reply that holds no score became {silent}")
            await _check_refusal(verdict, lm)


class _Mute:
    """A model that says nothing that could be read."""

    offers: frozenset[str] = frozenset({"logprobs", "prefill", "token_ids"})

    async def complete(self, place: Place, request: Request) -> Completion:
        return Completion("I would rather not say.")

    async def pool(self, place: Place, pooling: Pooling) -> Pooled:
        raise no_scores(pooling)


async def check_recipe(
    recipe: Recipe,
    *,
    calls: int,
    problem: Problem = PROBLEM,
    lm: Callable[[], LM] = Simulated,
    seconds: float = 30.0,
) -> None:
    """A search ends, within its calls, with nothing in flight, repeatably, and answers with what the model wrote.

    Args:
        recipe: The whole.
        calls: The largest number of calls it may make.
        problem: What is to be solved.
        lm: Makes the model, which must reply alike each time.
        seconds: When a search counts as endless.

    Raises:
        LawBroken: It does otherwise.
    """
    spy = _Spy(lm())
    outcome = await _within(seconds, search(problem, recipe, spy))
    law(len(spy.calls) <= calls, f"{len(spy.calls)} calls were made, at most {calls} are allowed")
    law(len(set(spy.places())) == len(spy.calls), "two calls share a place; number them by draft and sample")
    law(not outcome.tree.nodes["in_flight"].any(), "the search ended with work in flight")
    check_shape(outcome.tree)
    law(not outcome.failed, f"the search failed: {outcome.reason}")
    selected = recipe.answerer(outcome.tree)
    node = selected.node
    law(node is None or not outcome.tree.planted(node), f"{selected} was planted by the recipe itself")
    # Calls come back in another order now: a tree that depends on arrivals differs.
    late = _Spy(lm(), delay=lambda place: place.seed(0) % 7 / 1000)
    other = await _within(seconds, search(problem, recipe, late))
    law(_told(outcome) == _told(other), "the tree depends on the order in which replies arrive")
    await _within(seconds, search(problem, recipe, _Spy(lm(), lambda place: _LOST)))


async def _within(seconds: float, searching: Awaitable[Outcome]) -> Outcome:
    try:
        return await asyncio.wait_for(searching, seconds)
    except TimeoutError:
        law(False, f"the search did not end within {seconds} s; has it a stopper?")
        raise


def _told(outcome: Outcome) -> str:
    tree = outcome.tree
    return repr((tree.nodes[: len(tree)].tolist(), tree.states, tree.front, outcome.reason))
