"""Shared support of the test-suite."""
