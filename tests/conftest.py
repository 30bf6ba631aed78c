"""Fixtures that the whole test-suite shares."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.llama import llama_server

# The first example of a kernel's test may compile the kernel. `scripts/test` draws the same examples every time.
settings.register_profile("search", deadline=None)
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "search"))


@pytest.fixture(scope="session")
def llama_url() -> Iterator[str]:
    """Base URL of one real llama.cpp server, started when first asked for and shared by all tests."""
    with llama_server() as url:
        yield url
