"""Priors from likelihoods: shares that sum to 1, and faults that stay where they are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.caller import Caller
from mctsr.expand.priors import LikelihoodPriors
from mctsr.lm.scripted import Scripted
from mctsr.parts import Draft, Fault, Path, Problem
from mctsr.prompting import Prompts
from tests.support.judging import PROBLEM, path

LLM = Caller(Scripted([]), Prompts(), "p", 1)


@dataclass(frozen=True, slots=True)
class Writes:
    """An expander that returns what it is told to."""

    drafts: Sequence[Draft | Fault]
    needs: frozenset[str] = frozenset({"steps", "logprobs"})

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        return [Draft("", step=True, unjudged=True)]

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        return self.drafts


def draft(logprob: float | None, tokens: int = 1) -> Draft:
    return Draft("a step", logprob=logprob, tokens=tokens, step=True)


async def priors(*drafts: Draft | Fault) -> list[float | None]:
    grown = await LikelihoodPriors(Writes(drafts)).grow(path("x"), len(drafts), LLM)
    return [draft.prior if isinstance(draft, Draft) else None for draft in grown]


async def test_priors_are_the_geometric_means_of_token_probabilities_made_to_sum_to_one() -> None:
    # exp(2 ln .6 / 2) = .6 and .2: the number of tokens does not count against a step.
    assert await priors(draft(2 * math.log(0.6), 2), draft(math.log(0.2))) == pytest.approx([0.75, 0.25])


async def test_a_fault_stays_in_its_place_and_takes_no_share() -> None:
    fault = Fault("busy")
    assert await priors(draft(-1.0), fault, draft(-1.0)) == [0.5, None, 0.5]
    assert await priors(fault) == [None]
    assert await priors() == []


@pytest.mark.parametrize("unknown", [draft(None), draft(-1.0, 0)])
async def test_an_unknown_likelihood_makes_all_siblings_alike(unknown: Draft) -> None:
    assert await priors(draft(-0.1), unknown, draft(-9.0)) == [1 / 3] * 3


@given(st.lists(st.floats(-1e6, 0.0), min_size=1, max_size=6))
async def test_priors_sum_to_one_however_unlikely_the_steps_are(logprobs: list[float]) -> None:
    found = [prior for prior in await priors(*map(draft, logprobs)) if prior is not None]
    assert math.fsum(found) == pytest.approx(1.0)
    best = max(range(len(logprobs)), key=lambda i: logprobs[i])
    assert found[best] == max(found)


async def test_it_opens_and_needs_what_the_inner_expander_does() -> None:
    wrapped = LikelihoodPriors(Writes([]))
    assert wrapped.needs == {"steps", "logprobs"}
    assert await wrapped.open(PROBLEM, 1, LLM) == [Draft("", step=True, unjudged=True)]
