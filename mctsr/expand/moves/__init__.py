"""Expanders that have more than one kind of move: whose turn it is, or what a path calls for."""
