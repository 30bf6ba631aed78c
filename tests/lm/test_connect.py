"""Servers are reached once: one pool of connections a place, one client a model."""

from collections.abc import Callable
from typing import Any

import pytest

from mctsr.lm.base import Message, Place, Request, Role
from mctsr.lm.connect import Connected, Keys, connect
from mctsr.lm.options import RoleOptions, Settings
from mctsr.lm.roles import Models
from mctsr.lm.server import Server
from tests.support.fake_server import FakeServer

TURNS = (Message("user", "two and two?"),)
REFUSES = {"top_k": "top_k is unknown"}


def servers(there: Connected) -> tuple[Server, Server]:
    assert isinstance(there.models, Models)
    seats = there.models._seats
    return seats["policy"].server, seats["judge"].server


async def ask_both(there: Connected) -> list[tuple[str, ...]]:
    """Ask the policy, then the judge; return what had to be changed for each."""
    roles: tuple[Role, ...] = ("policy", "judge")
    return [
        (await there.models.complete(Place("p", 0, "a", i), Request(TURNS, role))).wire
        for i, role in enumerate(roles)
    ]


def shapes(fake: FakeServer) -> list[tuple[str, bool]]:
    return [(body["model"], "top_k" in body) for body in fake.bodies]


@pytest.mark.parametrize(
    "judge",
    [
        lambda url: None,
        lambda url: RoleOptions("one", url),
        lambda url: RoleOptions(None, url.removesuffix("/v1")),
        lambda url: RoleOptions("one"),
    ],
)
async def test_a_judge_that_is_the_policys_model_shares_all_that_is_learnt(
    judge: Callable[[str], RoleOptions | None],
) -> None:
    async with FakeServer(models=("one", "two"), refuses=REFUSES) as fake:
        settings = Settings(policy=RoleOptions("one", fake.url), judge=judge(fake.url))
        async with connect(settings) as there:
            policy, second = servers(there)
            assert second is policy
            assert await ask_both(there) == [("dropped top_k",)] * 2
    assert shapes(fake) == [("one", True), ("one", False), ("one", False)]


async def test_a_judge_that_is_another_model_shares_the_connections_alone() -> None:
    async with FakeServer(models=("one", "two"), refuses=REFUSES) as fake:
        settings = Settings(policy=RoleOptions("one", fake.url), judge=RoleOptions("two", max_tokens=9))
        async with connect(settings) as there:
            policy, judge = servers(there)
            assert policy is not judge
            assert policy._connection is judge._connection
            assert [found.model for found in there.servers] == ["one", "two"]
            await ask_both(there)
    assert shapes(fake) == [("one", True), ("one", False), ("two", True), ("two", False)]
    assert fake.bodies[-1]["max_tokens"] == settings.judge_max_tokens


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        (Keys("sk-one", "sk-two"), ["Bearer sk-one", "Bearer sk-two"]),
        (Keys("sk-one"), ["Bearer sk-one", "Bearer sk-one"]),
    ],
)
async def test_a_judge_with_a_key_of_its_own_has_connections_of_its_own(keys: Keys, sent: list[str]) -> None:
    async with FakeServer(models=("one", "two")) as fake:
        settings = Settings(policy=RoleOptions("one", fake.url), judge=RoleOptions("two"))
        async with connect(settings, keys) as there:
            policy, judge = servers(there)
            assert (policy._connection is judge._connection) == (keys.judge is None)
            await ask_both(there)
        headers: list[Any] = [each["Authorization"] for each in fake.headers]
    assert headers == sent


async def test_a_judge_elsewhere_does_not_get_the_policys_key() -> None:
    async with FakeServer() as one, FakeServer() as two:
        settings = Settings(policy=RoleOptions("fake", one.url), judge=RoleOptions("fake", two.url))
        async with connect(settings, Keys("sk-one")) as there:
            await ask_both(there)
    assert ["Authorization" in fake.headers[0] for fake in (one, two)] == [True, False]
