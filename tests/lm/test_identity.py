"""Who answers at an address: reading lists of models, choosing one, and asking at the side doors."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import Refused, ServerError, ServerGone, UsageError
from mctsr.lm.address import Address, read_address
from mctsr.lm.connection import Connection, Raw
from mctsr.lm.identity import Model, ServerInfo, choose, identify, listed
from tests.support.fake_server import FakeServer

HERE = read_address("http://localhost:8000/v1")
THERE = read_address("https://api.example.com/v1")


def reply(data: object, status: int = 200) -> Raw:
    return Raw(status, {}, data if isinstance(data, bytes) else json.dumps(data).encode())


def named(*ids: str, **more: object) -> list[Model]:
    return [{"id": name, **more} for name in ids]


async def met(fake: FakeServer, name: str | None = None, wait: float = 0.0) -> ServerInfo:
    """Identify the server that is running."""
    where = read_address(fake.url)
    connection = Connection(where, None, 5.0)
    try:
        return await identify(connection, where, name, wait)
    finally:
        await connection.close()


# Lists of models


@pytest.mark.parametrize(
    ("raw", "ids"),
    [
        (reply({"object": "list", "data": [{"id": "a"}, {"id": "b"}]}), ["a", "b"]),
        (reply([{"id": "a"}]), ["a"]),  # some hosted servers leave the wrapping out
        (reply({"data": [{"id": "a"}, {"name": "b"}, {"id": 3}, "c", None]}), ["a"]),
        (reply({"data": []}), []),
        (reply({"data": None}), None),
        (reply({"models": [{"id": "a"}]}), None),
        (reply("a, b"), None),
        (reply(b"<html>hello</html>"), None),
        (reply(b""), None),
        (reply({"data": [{"id": "a"}]}, status=404), None),
    ],
)
def test_a_list_of_models_is_read_or_there_is_none(raw: Raw, ids: list[str] | None) -> None:
    models = listed(raw)
    assert (None if models is None else [model["id"] for model in models]) == ids


@given(st.binary(max_size=40), st.integers(100, 599))
def test_no_reply_breaks_the_reading_of_a_list(body: bytes, status: int) -> None:
    models = listed(Raw(status, {}, body))
    assert models is None or all(isinstance(model["id"], str) for model in models)


# Choosing a model


def test_a_local_server_is_taken_at_its_first_model_and_a_remote_one_only_at_its_only() -> None:
    assert choose(None, named("a", "b"), HERE)["id"] == "a"
    assert choose(None, named("a"), THERE)["id"] == "a"
    with pytest.raises(UsageError, match=r"no model was named; https://api.example.com/v1 serves a, b; give"):
        choose(None, named("a", "b"), THERE)


@pytest.mark.parametrize("where", [HERE, THERE])
def test_a_name_is_believed_where_nothing_is_listed(where: Address) -> None:
    assert choose("mine", None, where) == choose("mine", [], where) == {"id": "mine"}
    with pytest.raises(UsageError, match="does not list its models; name one with --model"):
        choose(None, None, where)
    with pytest.raises(UsageError, match="serves nothing; give --model"):
        choose(None, [], where)


@pytest.mark.parametrize("name", ["llama3", "llama3:latest", "llama3:8b", "small"])
def test_a_model_is_known_by_its_tag_and_aliases_and_keeps_the_name_it_was_given(name: str) -> None:
    own = "llama3" if name.endswith(":8b") else "llama3:latest"
    models = [*named("other"), *named(own, aliases=["small"], max_model_len=9)]
    assert choose(name, models, THERE) == {"id": name, "aliases": ["small"], "max_model_len": 9}


def test_an_unknown_name_is_answered_with_the_nearest_first_and_not_with_hundreds() -> None:
    models = named(*[f"model-{i}" for i in range(100)], "qwen-7b-chat")
    with pytest.raises(UsageError, match="'qwen-7b' is not served") as caught:
        choose("qwen-7b", models, THERE)
    assert "it serves qwen-7b-chat, " in str(caught.value)
    assert str(caught.value).endswith("and 93 more")


@pytest.mark.parametrize("aliases", [None, "small", 7, [None, 7]])
def test_aliases_of_another_shape_do_no_harm(aliases: object) -> None:
    assert choose("a", named("a", aliases=aliases), HERE)["id"] == "a"
    with pytest.raises(UsageError, match="not served"):
        choose("b", named("a", aliases=aliases), HERE)


# Asking


async def test_a_plain_server_is_asked_three_times_at_most() -> None:
    async with FakeServer() as fake:
        assert await met(fake) == ServerInfo("other", "", "fake", None)
        assert fake.gets == ["/v1/models", "/props", "/version"]


@pytest.mark.parametrize(
    "pages", [{"/props": [], "/version": "1.0"}, {"/props": None, "/version": {"version": 7}}]
)
async def test_side_doors_that_say_something_else_tell_nothing(pages: dict[str, object]) -> None:
    async with FakeServer(pages=pages) as fake:
        assert await met(fake) == ServerInfo("other", "", "fake", None)


@pytest.mark.parametrize(
    ("extra", "pages", "context"),
    [
        ({"max_model_len": 4096}, {}, 4096),
        ({"context_window": 128}, {}, 128),
        ({"max_context_length": 64, "max_model_len": None}, {}, 64),
        ({"meta": {"n_ctx": 512}, "owned_by": "llamacpp"}, {}, 512),
        ({"meta": {"n_ctx": 512}}, {"/props": {"default_generation_settings": {"n_ctx": 256}}}, 256),
        ({"max_model_len": 0}, {}, None),
        ({"max_model_len": "4096"}, {}, None),
        ({"meta": 3}, {}, None),
    ],
)
async def test_the_length_of_the_context_is_found_where_servers_put_it(
    extra: dict[str, object], pages: dict[str, object], context: int | None
) -> None:
    async with FakeServer(extra=extra, pages=pages) as fake:
        assert (await met(fake)).context == context


async def test_the_named_model_is_the_one_described() -> None:
    async with FakeServer(models=("a", "b")) as fake:
        assert (await met(fake, "b")).model == "b"
        with pytest.raises(UsageError, match="'c' is not served"):
            await met(fake, "c")
    async with FakeServer(models=None) as fake:
        assert (await met(fake, "c")).model == "c"


async def test_a_key_that_is_not_taken_is_said_with_the_address() -> None:
    async with FakeServer(key="right") as fake:
        with pytest.raises(
            Refused, match=rf"{fake.url} does not accept the key; set OPENAI_API_KEY"
        ) as caught:
            await met(fake)
    assert caught.value.status == 401


async def test_without_waiting_a_server_that_is_not_there_or_not_ready_is_said_at_once() -> None:
    fake = FakeServer(loading=60)
    async with fake:
        with pytest.raises(
            ServerError, match=r"is not ready: Loading model; wait for it with --wait-for-server"
        ) as caught:
            await met(fake)
        assert caught.value.status == 503
    with pytest.raises(
        ServerGone, match=r"no server answers at .*refused; start it, correct --base-url, or wait"
    ):
        await met(fake)
