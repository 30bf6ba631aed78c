"""Recipes that grow a tree of steps, one node at a time."""
