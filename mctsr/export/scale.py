"""On which scale a run's judge gave its values. Knows run.json and the shipped recipes; reads no tree."""

from math import ceil, isfinite
from typing import TYPE_CHECKING, NamedTuple

from mctsr.errors import RecipeError, RunError, UsageError, shown
from mctsr.recipes import RECIPES
from mctsr.runs.records import NodeRecord, TreeRecord

if TYPE_CHECKING:
    from mctsr.runs.folder import Run


class OffScale(RunError):
    """A value lies off the scale it is to be read on."""


class Scale(NamedTuple):
    """The bounds of a judge's values, and where they are known from."""

    low: float
    high: float
    source: str

    def share(self, value: float) -> float | None:
        """Map a value to [0, 1]; None when it lies off the scale."""
        share = (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0) if -1e-9 <= share <= 1 + 1e-9 else None

    @property
    def formula(self) -> str:
        """How a value becomes a score, in words."""
        if (self.low, self.high) == (0.0, 1.0):
            return "the value"
        above = f"value {'+' if self.low < 0 else '-'} {abs(self.low):g}" if self.low else "value"
        width = self.high - self.low
        return above if width == 1 else f"{f'({above})' if self.low else above} / {width:g}"


def scale_of(low: float, high: float, source: str) -> Scale:
    """Make a scale.

    Raises:
        UsageError: The bounds are not finite, or not in order.
    """
    if not (isfinite(low) and isfinite(high) and low < high):
        raise UsageError(f"the scale {low:g},{high:g} is none; give --scale LOW,HIGH with LOW below HIGH")
    return Scale(float(low), float(high), source)


def read_scale(text: str) -> Scale:
    """Read a scale as it is written on the command line, such as "0,1".

    Raises:
        UsageError: It is none.
    """
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"the scale {shown(text)} is none; give two numbers, such as --scale 0,1") from None
    return scale_of(low, high, "as given")


def judge_scale(run: "Run") -> Scale:
    """Return the scale of a run's judge: as run.json has it, else that of the shipped recipe it names.

    A recipe of the user's own is not loaded for this.

    Raises:
        RunError: The recipe has no judge, or the scale is not known.
    """
    record = run.record
    if bounds := _bounds(record.get("scale")):
        return scale_of(*bounds, "as the run recorded it")
    name = str(record["settings"].get("recipe") or record["recipe"])
    if name in RECIPES:
        from mctsr.recipes.registry import choose

        try:
            judge = choose(name, record["recipe_arguments"]).build().judge
        except RecipeError as error:
            raise _unknown(run, str(error)) from None
        if judge is None:
            raise RunError(
                f"recipe {name!r} has no judge, so the steps of {run.path} have no values to label"
            )
        return scale_of(judge.low, judge.high, f"that of the judge of recipe {name}")
    raise _unknown(run, f"recipe {shown(name)} is none of those shipped")


def score_of(node: NodeRecord, tree: TreeRecord, scale: Scale) -> float:
    """Return the share of a node's value on the scale, in [0, 1].

    Raises:
        OffScale: It has none, or it lies off the scale.
    """
    score = None if node["value"] is None else scale.share(node["value"])
    if score is None:
        raise OffScale(
            f"the value {node['value']} of node {node['id']} of {tree['problem_id']!r} is off the judge's scale "
            f"{scale.low:g} to {scale.high:g} ({scale.source})"
        )
    return score


def fitting_scale(run: "Run", scale: Scale) -> str:
    """Say from where to where the values of a run's steps go, and which scale of the same middle holds them all."""
    values = [
        node["value"]
        for tree in run.trees()
        for node in tree["nodes"]
        if node["parent"] is not None and node["value"] is not None
    ]
    low, high, middle = min(values), max(values), (scale.low + scale.high) / 2
    half = ceil(max(high - middle, middle - low))
    return (
        f"the values in this run go from {low:.4g} to {high:.4g}: give a scale that holds them, such as "
        f"--scale={middle - half:g},{middle + half:g}, which has the same middle"
    )


def _bounds(value: object) -> tuple[float, float] | None:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(bound, int | float) for bound in value):
        return float(value[0]), float(value[1])
    return None


def _unknown(run: "Run", why: str) -> RunError:
    return RunError(f"the scale of the judge of {run.path} is not recorded ({why}); give --scale LOW,HIGH")
