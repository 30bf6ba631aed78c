"""Recipes that keep a population of partial solutions, and grow all of it at once."""
