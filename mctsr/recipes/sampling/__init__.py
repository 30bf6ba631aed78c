"""Recipes that sample whole answers independently."""
