"""Published methods as keyword functions, found by name. Listing the names imports nothing."""

from collections.abc import Mapping

#: Name on the command line → where the function is.
RECIPES: Mapping[str, str] = {
    "agentprm": "mctsr.recipes.labels.agentprm:agentprm",
    "agentprm-code": "mctsr.recipes.labels.agentprm:agentprm_code",
    "beam": "mctsr.recipes.populations.beam:beam",
    "best-of-n": "mctsr.recipes.sampling.best_of_n:best_of_n",
    "best-of-n-prm": "mctsr.recipes.sampling.best_of_n_prm:best_of_n_prm",
    "deepsearch": "mctsr.recipes.steps.deepsearch:deepsearch",
    "deepsearch-code": "mctsr.recipes.steps.deepsearch_code:deepsearch_code",
    "dvts": "mctsr.recipes.populations.dvts:dvts",
    "grave-steps": "mctsr.recipes.steps.grave_steps:grave_steps",
    "grounded-prm": "mctsr.recipes.labels.grounded_prm:grounded_prm",
    "grounded-prm-code": "mctsr.recipes.labels.grounded_prm_code:grounded_prm_code",
    "masprm": "mctsr.recipes.steps.masprm:masprm",
    "masprm-labels": "mctsr.recipes.steps.masprm:masprm_labels",
    "math-shepherd": "mctsr.recipes.labels.math_shepherd:math_shepherd",
    "mcps-steps": "mctsr.recipes.steps.mcps_steps:mcps_steps",
    "mctsr": "mctsr.recipes.refine.mctsr:mctsr",
    "mctsr-code": "mctsr.recipes.refine.mctsr_code:mctsr_code",
    "meds3": "mctsr.recipes.steps.meds3:meds3",
    "omega-prm": "mctsr.recipes.labels.omega_prm:omega_prm",
    "particle-filter": "mctsr.recipes.populations.particle_filter:particle_filter",
    "particle-gibbs": "mctsr.recipes.populations.particle_gibbs:particle_gibbs",
    "puct-prm": "mctsr.recipes.steps.puct_prm:puct_prm",
    "rap": "mctsr.recipes.steps.rap:rap",
    "rest-mcts": "mctsr.recipes.steps.rest_mcts:rest_mcts",
    "rstar-math": "mctsr.recipes.steps.rstar_math:rstar_math",
    "scope": "mctsr.recipes.steps.scope:scope",
    "self-consistency": "mctsr.recipes.sampling.self_consistency:self_consistency",
    "self-refine": "mctsr.recipes.refine.self_refine:self_refine",
    "tot": "mctsr.recipes.populations.tot:tot",
    "ts-llm": "mctsr.recipes.steps.ts_llm:ts_llm",
    "weighted-best-of-n": "mctsr.recipes.sampling.best_of_n:weighted_best_of_n",
    "zero-shot": "mctsr.recipes.sampling.zero_shot:zero_shot",
}
