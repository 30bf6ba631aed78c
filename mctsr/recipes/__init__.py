"""Published methods as keyword functions, found by name. Listing the names imports nothing."""

from collections.abc import Mapping

#: Name on the command line → where the function is.
RECIPES: Mapping[str, str] = {
    "best-of-n": "mctsr.recipes.sampling.best_of_n:best_of_n",
    "mctsr": "mctsr.recipes.refine.mctsr:mctsr",
    "mctsr-code": "mctsr.recipes.refine.mctsr_code:mctsr_code",
    "self-consistency": "mctsr.recipes.sampling.self_consistency:self_consistency",
    "self-refine": "mctsr.recipes.refine.self_refine:self_refine",
    "weighted-best-of-n": "mctsr.recipes.sampling.best_of_n:weighted_best_of_n",
    "zero-shot": "mctsr.recipes.sampling.zero_shot:zero_shot",
}
