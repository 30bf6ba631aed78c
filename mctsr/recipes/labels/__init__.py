"""Searches whose trees are training data: how well a partial solution goes on, for every step that they tried."""
