"""Runs as data sets: files that other tools load, one schema each, independent of what a run contains.

Loaders take a column's type from the first rows they see. So every row has every key; a text, a count and a flag
are never null; lists that may be empty in all of a file's first rows are JSON in a string; and where a run has
scores, the first row has one.
"""
