"""The symbolic layer: formulas compared by a computer algebra system in processes that can be killed.

The modules `pool` and `process` run in this process and load nothing heavy; `worker`, `reading`, `values` and `verdicts`
run in the workers alone, and only they import sympy and math-verify.
"""
