"""What tests of recipes need, for everybody who writes one: laws, toy worlds, a simulated reasoner.

`laws` says what every part must keep, as functions that raise `LawBroken`. `worlds` are language models with a
known best answer. `reasoner` answers arithmetic puzzles with known error rates, over HTTP or in-process, to see
whether accuracy rises with the budget as it should.
"""
