"""Generators of a search: named by ask and stage, the same whatever was drawn elsewhere, made when used."""

import copy
import pickle
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr import draws
from mctsr.draws import CHOOSING, FOLDING, Dice


@given(
    st.integers(0, 2**40), st.text(max_size=8), st.integers(0, 10**6), st.sampled_from([CHOOSING, FOLDING])
)
def test_the_stream_is_that_of_numpys_own_generator(seed: int, problem: str, ask: int, stage: int) -> None:
    name = f"{seed}\x1f{problem}".encode("utf-8", "surrogatepass")
    entropy = int.from_bytes(blake2b(name, digest_size=8).digest(), "big")
    ours, numpys = Dice(seed, problem).of(ask, stage), np.random.default_rng([entropy, ask, stage])
    assert ours.normal(size=3).tolist() == numpys.normal(size=3).tolist()
    assert ours.integers(2**62) == numpys.integers(2**62)
    assert ours.bit_generator.state == numpys.bit_generator.state


def test_nothing_is_seeded_before_something_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    seeded = []

    def pcg64(words: tuple[int, ...]) -> np.random.PCG64:
        seeded.append(words)
        return np.random.PCG64(words)

    monkeypatch.setattr(draws, "PCG64", pcg64)
    generators = [Dice(0, "p").of(ask, CHOOSING) for ask in range(3)]
    assert seeded == []
    generators[1].random()
    generators[1].random()
    assert [words[1:] for words in seeded] == [(1, CHOOSING)]


def test_it_is_a_generator_to_all_that_take_one() -> None:
    first = Dice(0, "p").of(1, CHOOSING).random()
    assert isinstance(Dice(0, "p").of(1, CHOOSING), np.random.Generator)
    assert np.random.default_rng(Dice(0, "p").of(1, CHOOSING)).random() == first
    assert copy.deepcopy(Dice(0, "p").of(1, CHOOSING)).random() == first
    assert pickle.loads(pickle.dumps(Dice(0, "p").of(1, CHOOSING))).random() == first
    assert "PCG64" in repr(Dice(0, "p").of(1, CHOOSING))
