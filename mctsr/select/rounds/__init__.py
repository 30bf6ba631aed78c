"""Selectors whose iteration takes more than one ask."""
