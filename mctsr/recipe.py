"""A search is six parts around one tree.

    mctsr            = refine + self-reward + Anywhere(UCT) + half own, half best child + rollouts(n) + best value
    best-of-n        = answer + self-reward + Frontier(n)   + own value                 + all drawn   + best value
    self-consistency = answer + no judge    + Frontier(n)   + own value                 + all drawn   + majority
    self-refine      = refine + no judge    + Chain         + own value                 + rollouts(n) + last

| part     | question it answers                | protocol          |
|----------|------------------------------------|-------------------|
| expander | what could come next here?         | `parts.Expander`  |
| judge    | how good is it? (or None)          | `parts.Judge`     |
| selector | where to work next?                | `parts.Selector`  |
| backup   | what does a new evaluation change? | `parts.Backup`    |
| stopper  | when is it enough?                 | `parts.Stopper`   |
| answerer | what do we say?                    | `parts.Answerer`  |

A published method is a keyword function that returns one `Recipe`; the loop in `engine.py` knows none of them.
"""

from dataclasses import dataclass

from mctsr.errors import RecipeError
from mctsr.parts import Answerer, Backup, Expander, Judge, Selector, Stopper, check_part, use_gold, words_of


@dataclass(frozen=True, slots=True)
class Recipe:
    """One composition of the six parts.

    Attributes:
        expander: Asks the model for drafts.
        judge: Scores them; None for recipes that vote or take the last.
        selector: Chooses where to work.
        backup: Spreads values.
        stopper: Says when it is enough.
        answerer: Says what the answer is.
        width: Asks in flight in one tree; published recipes use 1.
    """

    expander: Expander
    judge: Judge | None
    selector: Selector
    backup: Backup
    stopper: Stopper
    answerer: Answerer
    width: int = 1

    def __post_init__(self) -> None:
        for name in ("expander", "judge", "selector", "backup", "stopper", "answerer"):
            if name != "judge" or self.judge is not None:
                check_part(name, getattr(self, name))
        if self.width < 1:
            raise RecipeError(f"width is {self.width}; it is the number of asks in flight, at least 1")

    @property
    def needs(self) -> frozenset[str]:
        """What the expander and the judge need from the model together."""
        return self.expander.needs | (self.judge.needs if self.judge else frozenset())

    @property
    def prompts(self) -> frozenset[str]:
        """Prompt files that parts are sure to ask for; few parts say so, those whose prompts a user names."""
        return words_of("prompts", self.expander, self.judge)

    @property
    def uses_gold(self) -> bool:
        """Whether a part compares answers with known ones: such a search makes labels, and tests nothing."""
        return use_gold(self.expander, self.judge)

    @property
    def wishes(self) -> frozenset[str]:
        """What parts make use of where the model offers it, and do without where not; few parts say so."""
        return words_of("wishes", self.expander, self.judge)
