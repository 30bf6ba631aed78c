"""Numba, and only here: the node record and everything that loops over it."""
