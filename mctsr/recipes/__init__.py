"""Published methods as keyword functions, found by name. Listing the names imports nothing."""

from collections.abc import Mapping

#: Name on the command line → where the function is.
RECIPES: Mapping[str, str] = {
    "beam": "mctsr.recipes.populations.beam:beam",
    "best-of-n": "mctsr.recipes.sampling.best_of_n:best_of_n",
    "best-of-n-prm": "mctsr.recipes.sampling.best_of_n_prm:best_of_n_prm",
    "dvts": "mctsr.recipes.populations.dvts:dvts",
    "grave-steps": "mctsr.recipes.steps.grave_steps:grave_steps",
    "mcps-steps": "mctsr.recipes.steps.mcps_steps:mcps_steps",
    "mctsr": "mctsr.recipes.refine.mctsr:mctsr",
    "mctsr-code": "mctsr.recipes.refine.mctsr_code:mctsr_code",
    "particle-filter": "mctsr.recipes.populations.particle_filter:particle_filter",
    "puct-prm": "mctsr.recipes.steps.puct_prm:puct_prm",
    "rstar-math": "mctsr.recipes.steps.rstar_math:rstar_math",
    "self-consistency": "mctsr.recipes.sampling.self_consistency:self_consistency",
    "self-refine": "mctsr.recipes.refine.self_refine:self_refine",
    "tot": "mctsr.recipes.populations.tot:tot",
    "ts-llm": "mctsr.recipes.steps.ts_llm:ts_llm",
    "weighted-best-of-n": "mctsr.recipes.sampling.best_of_n:weighted_best_of_n",
    "zero-shot": "mctsr.recipes.sampling.zero_shot:zero_shot",
}
