"""Judging by computation: what a step claims is found in its text and checked by a computer algebra system."""
