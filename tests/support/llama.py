"""A real llama.cpp server with the embedded model, for tests that want a real one.

It decodes about 25-45 tokens a second on one thread: few calls, few tokens.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from mctsr.lm.local import gguf as models
from mctsr.lm.local.embedded import EmbeddedServer

N_PARALLEL = 4
N_CTX = 2048


@contextmanager
def llama_server() -> Iterator[str]:
    """Serve the default model while the block runs; gives the base URL, `http://127.0.0.1:PORT/v1`."""
    server = EmbeddedServer(models.fetch_default(), n_parallel=N_PARALLEL, n_ctx=N_CTX, threads=1)
    # A loop of its own: tests run each in another one, and the server outlives them.
    with asyncio.Runner() as runner:
        runner.run(server.start())
        try:
            yield server.base_url
        finally:
            runner.run(server.stop())
