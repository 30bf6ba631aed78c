"""A fake server beside a test that blocks: on a thread and a loop of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.fake_server import FakeServer


@contextmanager
def served(reply: Any = "The answer is 4.", **how: Any) -> Iterator[FakeServer]:
    """Serve `FakeServer(reply, **how)` for as long as the block lasts."""
    server, loop = FakeServer(reply, **how), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
