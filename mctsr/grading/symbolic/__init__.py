"""The symbolic layer: formulas compared by a computer algebra system in processes that can be killed.

`reading`, `values` and `decide` run in the workers alone, and only they import sympy and math-verify; the others load
nothing heavy.
"""
