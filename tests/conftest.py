"""Fixtures that the whole test-suite shares."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.llama import llama_server

# The first example of a kernel's test may compile the kernel.
settings.register_profile("mctsr", deadline=None)
settings.load_profile("mctsr")


@pytest.fixture(scope="session")
def llama_url() -> Iterator[str]:
    """Base URL of one real llama.cpp server, started when first asked for and shared by all tests."""
    with llama_server() as url:
        yield url
