"""The random numbers of one search: a generator for each ask and stage, whatever the load.

Knows seeds. Does not know what is drawn, or by whom.
"""

from hashlib import blake2b

from numpy.random import PCG64, Generator

CHOOSING, FOLDING = 0, 1


class Dice:
    """Where the generators of one search come from."""

    def __init__(self, seed: int, problem: str) -> None:
        name = f"{seed}\x1f{problem}".encode("utf-8", "surrogatepass")
        self._entropy = int.from_bytes(blake2b(name, digest_size=8).digest(), "big")

    def of(self, ask: int, stage: int) -> Generator:
        """Return the generator of an ask's stage, CHOOSING or FOLDING."""
        return LateGenerator(self._entropy, ask, stage)


class LateGenerator(Generator):
    """`numpy.random.default_rng(words)`, seeded at its first use: most parts are handed one and draw nothing."""

    def __init__(self, *words: int) -> None:
        # Generator.__init__ waits, since seeding takes 10 µs.
        self._words: tuple[int, ...] | None = words

    def __getattribute__(self, name: str) -> object:
        # Every use begins with looking up a method, here.
        words = object.__getattribute__(self, "_words")
        if words is not None:
            self._words = None
            super().__init__(PCG64(words))
        return object.__getattribute__(self, name)
