"""What a user says of the models: which are started here, what may be sent along, what no message repeats."""

import pytest

from mctsr.errors import UsageError
from mctsr.lm.address import masked, read_address
from mctsr.lm.options import DEEPEST, RoleOptions, check_body


@pytest.mark.parametrize(
    ("options", "here"),
    [
        (RoleOptions("embedded"), True),
        (RoleOptions("models/small.gguf"), True),
        (RoleOptions("embedded", ""), True),
        (RoleOptions("small.gguf", "http://h/v1"), False),
        (RoleOptions("qwen", "http://h/v1"), False),
        (RoleOptions("qwen"), False),
        (RoleOptions(), False),
    ],
)
def test_a_known_name_or_a_file_without_a_server_is_started_here(options: RoleOptions, here: bool) -> None:
    assert options.starts_here is here


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"top_k": 20, "max_tokens": 5, "seed": 1},
        {"stop_token_ids": [1], "eos_token": "x", "skip_special_tokens": True, "keys": 1, "monkey": 2},
        {"chat_template_kwargs": {"enable_thinking": False}},
    ],
)
def test_fields_that_servers_know_may_be_sent_along(body: dict[str, object]) -> None:
    check_body(body, ("sk-secret", None, " "))


@pytest.mark.parametrize("name", ["model", "messages", "n", "stream", "stream_options"])
def test_what_a_run_decides_itself_is_named_and_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"sets {name}, which the run itself decides"):
        check_body({"top_k": 1, name: 1})


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "API-Key",
        "apikey",
        "x-api-key",
        "Authorization",
        "token",
        "hf_token",
        "client_secret",
        "password",
    ],
)
def test_what_is_called_like_a_key_is_refused_at_any_depth(name: str) -> None:
    for body in ({name: "v"}, {"a": {"b": [{name: "v"}]}}):
        with pytest.raises(UsageError, match=f"holds '{name}'.*--api-key"):
            check_body(body)


@pytest.mark.parametrize("body", [{"a": "sk-secret"}, {"a": [["Bearer sk-secret!"]]}, {"sk-secret": 1}])
def test_a_key_itself_is_refused_without_being_shown(body: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="holds the API key") as caught:
        check_body(body, (None, "sk-secret\n"))
    assert "sk-secret" not in str(caught.value)


def test_a_short_key_counts_only_as_a_whole_text() -> None:
    check_body({"stop": "xyz"}, ("x",))
    with pytest.raises(UsageError):
        check_body({"stop": "x"}, ("x",))


def test_what_is_sent_along_is_nested_no_deeper_than_can_be_recorded() -> None:
    deep: object = 1
    for _ in range(DEEPEST - 1):
        deep = [deep]
    check_body({"a": deep})
    with pytest.raises(UsageError, match=f"deeper than {DEEPEST} levels"):
        check_body({"a": [deep]})


@pytest.mark.parametrize(
    ("address", "safe"),
    [
        ("http://h:1/v1", "http://h:1/v1"),
        ("http://user:SECRET@h/v1", "http://***@h/v1"),
        ("user:SECRET@h", "***@h"),
        ("http://u:SEC/RET@h", "http://***@h"),
        ("http://u:SEC?#RET@h", "http://***@h"),
        ("http://h/v1?key=SECRET", "http://h/v1?***"),
        ("http://h/v1#SECRET", "http://h/v1?***"),
    ],
)
def test_no_message_repeats_what_may_be_secret_in_an_address(address: str, safe: str) -> None:
    assert masked(address) == safe
    if safe != address:
        with pytest.raises(UsageError) as caught:
            read_address(address)
        assert "SEC" not in str(caught.value)


def test_a_password_in_place_of_a_port_is_not_repeated_by_the_error() -> None:
    with pytest.raises(UsageError, match="perhaps for its port") as caught:
        read_address("http://user:SECRET@h:port/v1?key=SECRET")
    assert "SECRET" not in str(caught.value)
