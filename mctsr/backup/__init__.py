"""What a new evaluation changes: a tree in front, a kernel behind. One idea a module.

A backup is called once after a node was judged, at its birth or again, and finds the new samples by itself.
Two kinds: those that first take the statistic of all samples of the node (its own value, in the side array
"own") and compute values from own values and children; and those that add each new sample to a sum, once.
"own" is exact in the first kind alone. Only the sources that compound read a previous `value`.

`wide` is False where nothing changes but the path from the judged node to its root. An unscored node never has
a number of its own: climbs pass over it, and what it shows comes from its descendants.
"""

from .averages import LlamaBerry, MedS3Comp, VisitWeighted
from .best import HalfOwnHalfBestChild, Max, McNest, MctsrCode
from .families import MaxOfWalks, OneEnd, trajectories_done, walks_done
from .own import Blended, OwnValue, Statistic, half_min_mean, mean, own_value
from .paths import MinimumOfSteps, ProductOfSteps
from .ranks import borda, borda_values, llama_berry_values
from .returns import MeanReturn
from .rewards import AfterBirth
from .sums import DecayedSum, DeepSearch, DeepSearchCode, Mean, MeanOfEnds
from .verdicts import grounded_prm, grounded_prm_code

__all__ = [
    "AfterBirth",
    "Blended",
    "DecayedSum",
    "DeepSearch",
    "DeepSearchCode",
    "HalfOwnHalfBestChild",
    "LlamaBerry",
    "Max",
    "MaxOfWalks",
    "McNest",
    "MctsrCode",
    "Mean",
    "MeanOfEnds",
    "MeanReturn",
    "MedS3Comp",
    "MinimumOfSteps",
    "OneEnd",
    "OwnValue",
    "ProductOfSteps",
    "Statistic",
    "VisitWeighted",
    "borda",
    "borda_values",
    "grounded_prm",
    "grounded_prm_code",
    "half_min_mean",
    "llama_berry_values",
    "mean",
    "own_value",
    "trajectories_done",
    "walks_done",
]
