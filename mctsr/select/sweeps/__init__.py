"""Selectors that go over a finished search once more: from the root with one path kept, or to mend what failed."""
