"""How likely a label is as the next token.

Knows log-probabilities of tokens and their spellings, no prompts and no models. Spellings of one label ("Yes", " yes",
"{Yes") are added up; what is not among the reported alternatives counts as impossible.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mctsr.errors import RecipeError, shown
from mctsr.lm.base import Token

MOST_ALTERNATIVES = 20
"""Alternatives that servers report at most unless they are told otherwise."""

NO_LABEL = "no label in the reply"
_AROUND = " \t\n\r▁ĠĊ{}()[]*$\"'`.:,"


class Reading(NamedTuple):
    """What was read at one token.

    Attributes:
        share: P(good) / (P(good) + P(bad)), in [0, 1]; 0 when neither was there.
        mass: P(good) + P(bad), in [0, 1]: how much the model wanted to say one of the two.
        reason: Why nothing can be made of it; "" when `share` counts.
    """

    share: float
    mass: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Labels:
    """Two words, one of which the model is to say.

    Attributes:
        good: Said of what is right.
        bad: Said of what is wrong.
        least: Mass under which the model wanted to say something else, in [0, 1].
    """

    good: str
    bad: str
    least: float = 0.5

    def __post_init__(self) -> None:
        if not _bare(self.good) or not _bare(self.bad) or _bare(self.good) == _bare(self.bad):
            raise RecipeError(
                f"labels {shown(self.good)} and {shown(self.bad)}; they must differ in more than case and brackets"
            )

    @property
    def spellings(self) -> tuple[str, ...]:
        """How the two may stand in a reply, with and without a blank before them."""
        words = [
            w for label in (self.good, self.bad) for w in (label, label.lower(), label.upper(), label.title())
        ]
        return tuple(dict.fromkeys(blank + word.strip() for word in words for blank in ("", " ")))

    def read(self, tokens: Sequence[Token]) -> Reading:
        """Read the first token that says anything; opening brackets and blanks before it are passed over."""
        for token in tokens:
            if _bare(token.text):
                return self._read(token)
        # Where white space is likeliest by a little only, what could have stood there still tells.
        if tokens and not (found := self._read(tokens[-1])).reason:
            return found
        pair = f"{shown(self.good)} or {shown(self.bad)}"
        blank = f"{NO_LABEL}: white space where {pair} was to be; each must be one token to this model"
        return Reading(0.0, 0.0, blank if tokens else "no log-probabilities in the reply")

    def _read(self, token: Token) -> Reading:
        said = _probabilities(token)
        good, bad = said.get(_bare(self.good), 0.0), said.get(_bare(self.bad), 0.0)
        mass = min(good + bad, 1.0)
        if mass <= 0.0 or mass < self.least:
            return Reading(0.0, mass, self._why(said, mass))
        return Reading(good / (good + bad), mass)

    def _why(self, said: dict[str, float], mass: float) -> str:
        """Say what stood there instead; a label that is cut into tokens shows its first part."""
        pair = f"{shown(self.good)} or {shown(self.bad)}"
        likeliest = max(said, key=lambda text: said[text], default="")
        for label in (self.good, self.bad):
            other = _bare(self.bad if label == self.good else self.good)
            if (
                likeliest
                and likeliest != other
                and _bare(label) != likeliest
                and _bare(label).startswith(likeliest)
            ):
                return f"{NO_LABEL}: {shown(label)} is several tokens to this model"
        return f"{NO_LABEL}: only {mass:.2g} of the next token is {pair}, most likely is {shown(likeliest)}"


def _bare(text: str) -> str:
    """Strip what a tokenizer or a template puts around a label."""
    return text.strip(_AROUND).casefold()


def _probabilities(token: Token) -> dict[str, float]:
    """Add up the alternatives by their bare text; NaN counts as impossible."""
    found: dict[str, float] = {}
    listed = (
        token.top
        if any(text == token.text for text, _ in token.top)
        else ((token.text, token.logprob), *token.top)
    )
    for text, logprob in listed:
        chance = 0.0 if math.isnan(logprob) else math.exp(min(logprob, 0.0))
        found[_bare(text)] = found.get(_bare(text), 0.0) + chance
    return found
