"""One model behind an OpenAI-like server: who it is, how begun turns are continued there, and what it is asked.

Does not know: roles and settings (`roles`), field names and reply shapes (`dialects`, `replies`), when a request is
sent again (`asking`), who waits (`gate`).
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Self

from mctsr.errors import ServerError, UsageError

from .address import read_address
from .asking.asked import ADVICE, Asked, Door, Prepare
from .asking.call import Call, Slots
from .asking.labels import with_labels
from .asking.sender import Sender
from .base import Completion, Pooled, Role
from .connection import Connection
from .continuing.raw import ask_raw, is_raw, no_raw
from .continuing.way import Way
from .continuing.ways import find_way
from .dialects import Kind, Logical, LogicalPooling, chat_body, pooling_body
from .gate import Gate
from .identity import ServerInfo, identify
from .replies.chat import read_reply
from .replies.pooled import read_pooled

Ask = Callable[[Logical, Door], Awaitable[Asked[Completion]]]

_UNLIMITED = 1 << 30
_UNFIT = re.compile(
    r"not support.{0,40}(pooling|classif|reward|task)|(unsupported|unknown|invalid).{0,20}task"
    r"|task.{0,40}(not supported|mismatch)",
    re.IGNORECASE | re.DOTALL,
)


class Server:
    """A model behind an OpenAI-like server; use it inside `async with`.

    Attributes:
        address: Where it lives.
        info: What it told about itself; None before `check`.
    """

    def __init__(
        self,
        base_url: str,
        model: str | None = None,
        *,
        api_key: str | None = None,
        timeout: float | None = 600.0,
        max_retries: int = 5,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Describe a server; nothing is sent before `check` or `complete`.

        Args:
            base_url: Its address in any usual shape.
            model: Name of the model; None for the first that a local server lists.
            api_key: Key; needed unless the host is local.
            timeout: Seconds for one attempt, > 0; None for no limit.
            max_retries: Further attempts after the first, >= 0.
            sleep: Waits between attempts.

        Raises:
            UsageError: the address, the key or a number is unusable.
        """
        if max_retries < 0 or (timeout is not None and timeout <= 0):
            raise UsageError(f"retries {max_retries} and timeout {timeout}: allowed are >= 0 and > 0")
        self.address = read_address(base_url)
        self.info: ServerInfo | None = None
        self._named = model
        self._connection = Connection(self.address, api_key, timeout)
        self._sender = Sender(self._connection, self.address, max_retries, sleep)
        self._way: Way | None = None
        self._choosing = asyncio.Lock()

    def __repr__(self) -> str:
        return f"Server({self.address.base!r}, model={self._named!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def beside(self, model: str | None) -> "Server":
        """Describe another model of this server, reached over the same connections."""
        other = copy(self)
        other.info, other._named, other._way = None, model, None
        other._sender, other._choosing = self._sender.beside(), asyncio.Lock()
        return other

    async def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        await self._connection.close()

    @property
    def model(self) -> str:
        """Name of the model, as `check` settled it.

        Raises:
            UsageError: none was named, and `check` was not called.
        """
        name = self.info.model if self.info else self._named
        if name is None:
            raise UsageError(f"no model is known at {self.address.base}; name one or check the server first")
        return name

    @property
    def kind(self) -> Kind:
        """The server's dialect, "other" before `check`."""
        return self.info.kind if self.info else "other"

    async def check(self, wait: float = 0.0) -> ServerInfo:
        """Find out who answers and settle the model.

        Waits up to `wait` seconds for a server to come up, and raises what `identify` raises.
        """
        self.info = await identify(self._connection, self.address, self._named, wait)
        self._sender.kind = self.info.kind
        return self.info

    async def find_way(self, extra: Mapping[str, object] | None = None, *, slots: Slots | None = None) -> Way:
        """Find out how a begun turn is continued here, by trying; the result is kept, also in `info`.

        Args:
            extra: What the user sends along with every request; some of it changes how a chat is rendered.
            slots: Gives a slot to each trial.

        Raises:
            ServerError: the server cannot be asked at all now; the next call tries again.
        """
        async with self._choosing:
            if self._way is None:
                self._way = await find_way(self._sender, self.model, extra or {}, slots or _unlimited())
                self.info = self.info and self.info._replace(way=self._way.name)
            return self._way

    async def complete(
        self, logical: Logical, *, slots: Slots | None = None, sent: Callable[[], None] | None = None
    ) -> Completion:
        """Return one completion; a request that continues a turn, or ends at a stop string, goes by `find_way`.

        A begun text without a chat is sent as it is.
        `sent` is called once, when the first attempt has its slot and the request is about to leave.

        Raises:
            ContextOverflow, Refused, ServerGone, ServerError: as `Sender.send` says.
            UsageError: the server takes no plain text.
        """
        slots = slots or _unlimited()
        if is_raw(logical):
            return await self._raw(logical, Call(_prepared(ask_raw, logical), slots, logical["seed"], sent))
        ask = _chat
        if logical.get("begun") or logical.get("stop"):
            ask = (await self.find_way(logical["extra_body"], slots=slots)).ask
        reply = await self._sender.send(Call(_prepared(ask, logical), slots, logical["seed"], sent))
        ended = reply.stop is None and reply.finish == "stop" and "dropped stop" in reply.wire
        # A server that never heard of the stop strings ended where the model did.
        return replace(reply, stop="") if ended else reply

    async def _raw(self, logical: Logical, call: Call[Completion]) -> Completion:
        try:
            return await self._sender.send(call)
        except ServerError as error:
            if said := no_raw(logical["role"], error):
                raise said from error
            raise

    async def pool(
        self, logical: LogicalPooling, *, slots: Slots | None = None, sent: Callable[[], None] | None = None
    ) -> Pooled:
        """Return the scores of a reward model; `sent` and errors as for `complete`.

        Raises:
            Refused: what answers here gives no such scores.
        """
        prepare = partial(_scores, logical)
        return await self._sender.send(Call(prepare, slots or _unlimited(), sent=sent))


def _unlimited() -> Slots:
    return Gate(_UNLIMITED).slot


def _prepared(ask: Ask, logical: Logical) -> Prepare[Completion]:
    async def prepare(door: Door) -> Asked[Completion]:
        asked = replace(await ask(logical, door), advice=_advice(logical["role"], door.kind))
        return await with_labels(asked, logical, door)

    return prepare


def _advice(role: Role, kind: Kind) -> str:
    """Say what to look at when a server refuses whatever it is asked to write."""
    whose = "" if role == "policy" else f" of the {role} role (--{role}-base-url)"
    where = f"check key, model and address{whose}" if whose else ADVICE
    return where + ("; vLLM writes nothing with a model that it serves for pooling" if kind == "vllm" else "")


async def _chat(logical: Logical, door: Door) -> Asked[Completion]:
    kept = frozenset(logical["extra_body"])
    return Asked(f"{door.base}/chat/completions", chat_body(logical, door.kind), read_reply, kept)


async def _scores(logical: LogicalPooling, door: Door) -> Asked[Pooled]:
    task, body = logical["task"], pooling_body(logical)
    advice = (
        f"/{task} needs a reward model with such scores, as `vllm serve MODEL --runner pooling` starts it; "
        f"check --{logical['role']}-base-url and --{logical['role']}-model"
    )
    url = f"{door.root}/{task}"
    return Asked(url, body, read_pooled, frozenset(body), advice=advice, unfit=_UNFIT)
