"""Selectors that look for labels rather than for answers."""
