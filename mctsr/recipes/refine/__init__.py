"""Recipes that refine whole answers."""
