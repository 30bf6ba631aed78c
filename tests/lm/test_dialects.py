"""Addresses, request bodies, replies and error bodies: everything about the wire that needs no wire."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import UsageError
from mctsr.lm import faults, wire
from mctsr.lm.address import read_address
from mctsr.lm.asking.adapt import adapt
from mctsr.lm.base import Completion, Usage
from mctsr.lm.dialects import (
    Kind,
    Logical,
    chat_body,
    encode,
    longest_reply,
    read,
)
from mctsr.lm.faults import Fault, blamed_field, judge, read_fault, wait_wished
from mctsr.lm.replies.chat import read_reply, split_thought
from mctsr.lm.replies.fields import Malformed


def logical(**changes: object) -> Logical:
    whole: Logical = {
        "role": "policy",
        "model": "m",
        "messages": [{"role": "user", "content": "2+2?"}],
        "max_tokens": 96,
        "temperature": 0.7,
        "top_p": 0.95,
        "seed": 11,
        "schema": None,
        "extra_body": {},
    }
    return {**whole, **changes}  # type: ignore[typeddict-item]


# Addresses


@pytest.mark.parametrize(
    ("given_url", "base"),
    [
        ("host:8000", "http://host:8000/v1"),
        ("http://h:8000", "http://h:8000/v1"),
        ("http://h:8000/", "http://h:8000/v1"),
        ("http://h:8000/v1", "http://h:8000/v1"),
        ("  http://h:8000/v1/ \n", "http://h:8000/v1"),
        ("http://h:8000/v1//", "http://h:8000/v1"),
        ("http://h:8000/v1/chat/completions", "http://h:8000/v1"),
        ("http://h:8000/v1/chat/completions/", "http://h:8000/v1"),
        ("http://h:8000/v1/models", "http://h:8000/v1"),
        ("http://h:8000/v1/completions", "http://h:8000/v1"),
        ("HTTP://Localhost:8000", "http://localhost:8000/v1"),
        ("localhost", "http://localhost/v1"),
        ("127.0.0.1:1", "http://127.0.0.1:1/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("api.openai.com", "https://api.openai.com/v1"),
        ("api.openai.com:443", "https://api.openai.com:443/v1"),
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("example.com:8000", "http://example.com:8000/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1"),
        ("https://g.com/v1beta/openai", "https://g.com/v1beta/openai"),
        ("https://g.com/beta", "https://g.com/beta"),
        ("'http://h:8000/v1'", "http://h:8000/v1"),
    ],
)
def test_every_usual_shape_of_a_base_url_is_understood(given_url: str, base: str) -> None:
    address = read_address(given_url)
    assert address.base == base
    assert read_address(base) == address


def test_a_full_endpoint_without_a_version_is_believed() -> None:
    assert read_address("http://h/prefix/chat/completions").base == "http://h/prefix"


@pytest.mark.parametrize(
    "given_url",
    [
        "",
        "   ",
        "http://",
        "ftp://h/v1",
        "htp://h",
        "http:/h",
        "http://h:99999",
        "http://h:port",
        "two words",
        "http://a b/v1",
        "embedded",
        "8000",
        ":8000",
        "/v1",
        "http://h/v1?key=1",
        "http://h/v1#x",
        "http://..",
        "http://[::1",
    ],
)
def test_nonsense_is_no_base_url_and_the_message_shows_one(given_url: str) -> None:
    with pytest.raises(UsageError, match="http://localhost:8000/v1"):
        read_address(given_url)


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        read_address("https://me:secret@h.com/v1")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("127.9.9.9", True),
        ("10.1.2.3", True),
        ("192.168.0.7", True),
        ("[::1]", True),
        ("[fd00::1]", True),
        ("0.0.0.0", True),
        ("gpu-box", True),
        ("gpu-box.local", True),
        ("8.8.8.8", False),
        ("api.openai.com", False),
    ],
)
def test_local_hosts_are_told_from_remote_ones(host: str, local: bool) -> None:
    assert read_address(f"http://{host}:8000").local is local


def test_the_root_is_the_address_without_its_version() -> None:
    assert read_address("http://h:1/p/v1").root == "http://h:1/p"
    assert read_address("http://h:1/v1beta/openai").root == "http://h:1/v1beta/openai"


@given(st.text(max_size=30))
def test_any_text_is_an_address_or_a_usage_error(text: str) -> None:
    try:
        address = read_address(text)
    except UsageError:
        return
    assert address.base.startswith(("http://", "https://"))
    assert not address.base.endswith("/")


# Bodies


def test_all_sampling_fields_are_sent() -> None:
    assert chat_body(logical(), "vllm") == {
        "model": "m",
        "messages": [{"role": "user", "content": "2+2?"}],
        "max_tokens": 96,
        "temperature": 0.7,
        "top_p": 0.95,
        "seed": 11,
        "top_k": 0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
    }


@pytest.mark.parametrize(
    ("kind", "present", "absent"),
    [
        ("llama.cpp", {"repeat_penalty": 1.0, "top_k": 0, "min_p": 0.0}, {"repetition_penalty"}),
        ("sglang", {"top_k": -1, "repetition_penalty": 1.0}, {"repeat_penalty"}),
        ("ollama", {"max_tokens": 96}, {"max_completion_tokens"}),
        ("openai", {"max_completion_tokens": 96}, {"max_tokens", "top_k", "min_p", "repetition_penalty"}),
        ("other", {"max_tokens": 96, "top_k": 0}, {"repeat_penalty"}),
    ],
)
def test_each_kind_of_server_gets_its_own_names(
    kind: Kind, present: dict[str, object], absent: set[str]
) -> None:
    body = chat_body(logical(), kind)
    assert present.items() <= body.items()
    assert not absent & body.keys()


def test_a_schema_becomes_a_strict_response_format() -> None:
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
    assert chat_body(logical(schema=schema), "vllm")["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": schema},
    }


def test_extra_body_comes_last_and_unchanged() -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 20}
    body = chat_body(logical(extra_body=extra), "vllm")
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["top_k"] == 20


def test_changes_drop_and_rename_and_are_noted_only_where_they_bite() -> None:
    changes = {"max_tokens": "max_completion_tokens", "top_k": None, "response_format": None}
    body, notes = adapt(chat_body(logical(), "other"), changes)
    assert body["max_completion_tokens"] == 96
    assert not {"max_tokens", "top_k"} & body.keys()
    assert notes == ("renamed max_tokens to max_completion_tokens", "dropped top_k")


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, b"out of memory", Fault(500, "out of memory")),
        (200, b'{"choices": []}', Fault(502, "the reply holds no choices")),
        (200, b'{"choices": [', Fault(502, "the reply is no JSON, perhaps cut off")),
        (200, b'{"error": {"message": "busy", "code": 503}}', Fault(503, "busy", code="503")),
    ],
)
def test_whatever_holds_no_completion_is_a_fault(status: int, body: bytes, said: Fault) -> None:
    assert read(status, body, read_reply) == said


def test_lone_surrogates_in_a_request_are_replaced_and_counted() -> None:
    payload, notes = encode({"messages": [{"content": "a\ud800b\udfff \\udots"}]})
    assert json.loads(payload)["messages"][0]["content"] == "a\ufffdb\ufffd \\udots"
    assert notes == ("replaced 2 lone surrogates in the request",)


def test_whole_pairs_and_latex_are_left_alone() -> None:
    payload, notes = encode({"content": "😀 \\udots {$x$}"})
    assert (json.loads(payload), notes) == ({"content": "😀 \\udots {$x$}"}, ())


# JSON


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s, max_size=3)))
def test_json_survives_the_way_there_and_back(value: object) -> None:
    assert wire.loads(wire.dumps(value)) == value


def test_equal_values_have_equal_canonical_bytes() -> None:
    assert wire.canonical({"b": 1, "a": (1, 2)}) == wire.canonical({"a": [1, 2], "b": 1})
    assert wire.canonical({"b": "\ud800", "a": 1}) == wire.canonical({"a": 1, "b": "\ud800"})


@pytest.mark.parametrize("data", [b"", b"{", b'{"a":', b"[" * 100_000])
def test_what_is_no_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        wire.loads(data)


# Replies


def reply(message: object, **more: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **more}


def test_a_plain_reply_is_read_with_its_usage() -> None:
    details = {"cached_tokens": 32}
    usage = {"prompt_tokens": 42, "completion_tokens": 9, "prompt_tokens_details": details}
    completion = read_reply(reply({"content": " four "}, usage=usage))
    assert (completion.text, completion.finish, completion.thought) == (" four ", "stop", "")
    assert completion.usage == Usage(42, 9, 32)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": None}, "none", {"prompt_tokens_details": None}]
)
def test_missing_usage_is_zero(usage: object) -> None:
    assert read_reply(reply({"content": "x"}, usage=usage)).usage == Usage()


def test_cache_hits_are_found_under_their_other_name() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}
    assert read_reply(reply({"content": "x"}, usage=usage)).usage.cached_tokens == 4
    assert read_reply(reply({"content": "x"}, timings={"cache_n": 7})).usage == Usage(0, 0, 7)
    assert read_reply(reply({"content": "x"}, usage={"cached_tokens": 6})).usage == Usage(0, 0, 6)


@pytest.mark.parametrize(("told", "cached"), [(0, 0), (None, None), (True, None), (-1, None), ("3", None)])
def test_no_cache_hits_are_another_thing_than_silence_about_them(told: object, cached: int | None) -> None:
    usage = {"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": told}}
    assert read_reply(reply({"content": "x"}, usage=usage)).usage == Usage(5, 0, cached)


@pytest.mark.parametrize(
    ("message", "text", "thought"),
    [
        ({"content": None, "reasoning_content": "hm"}, "", "hm"),
        ({"content": "4", "reasoning": "hm"}, "4", "hm"),
        ({"content": "4", "reasoning": None, "reasoning_content": "hm"}, "4", "hm"),
        ({"content": None}, "", ""),
        ({}, "", ""),
        (None, "", ""),
        ({"content": None, "refusal": "I will not."}, "I will not.", ""),
        ({"content": "<think>\nhm</think>\n\n4"}, "4", "hm"),
        ({"content": "\n<think></think>4"}, "4", ""),
        ({"content": "hm\n</think>\n4"}, "4", "hm"),
        ({"content": "<think>cut off"}, "", "cut off"),
        ({"content": "<thinking>hm</thinking>4"}, "4", "hm"),
        ({"content": "[THINK]hm[/THINK]4"}, "4", "hm"),
        ({"content": "the tag <think> is plain here"}, "the tag <think> is plain here", ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", ""),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                    {"type": "text", "text": "4"},
                ]
            },
            "4",
            "hm",
        ),
    ],
)
def test_text_and_thought_are_told_apart(message: object, text: str, thought: str) -> None:
    completion = read_reply(reply(message))
    assert (completion.text, completion.thought) == (text, thought)


def test_a_completions_shaped_choice_is_read_too() -> None:
    assert read_reply({"choices": [{"text": "4", "finish_reason": "length"}]}).text == "4"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("eos", "stop"),
        ({"type": "stop", "matched": 7}, "stop"),
        ("length", "length"),
        ({"type": "length", "length": 5}, "length"),
        ("MAX_TOKENS", "length"),
        ("content_filter", "other"),
        ("repetition", "other"),
        (None, "other"),
        (7, "other"),
    ],
)
def test_finish_reasons_of_every_shape(reason: object, finish: str) -> None:
    data = {"choices": [{"message": {"content": "x"}, "finish_reason": reason}]}
    assert read_reply(data).finish == finish


@pytest.mark.parametrize("data", [None, [], "x", {}, {"choices": None}, {"choices": []}, {"choices": [1]}])
def test_a_reply_without_a_choice_is_malformed(data: object) -> None:
    with pytest.raises(Malformed, match="no choices"):
        read_reply(data)


@pytest.mark.parametrize("reason", ["abort", "error", "insufficient_system_resource"])
def test_a_server_that_gave_up_in_the_middle_is_malformed(reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        read_reply({"choices": [{"message": {"content": "x"}, "finish_reason": reason}]})


def test_lone_surrogates_in_a_reply_are_replaced_and_counted() -> None:
    raw = b'{"choices":[{"message":{"content":"a\\ud800b \\ud83d\\ude00"},"finish_reason":"stop"}]}'
    completion = read_reply(wire.loads(raw))
    assert completion.text == "a\ufffdb 😀"
    assert completion.wire == ("replaced 1 lone surrogates in the reply",)


def test_bytes_that_are_no_utf8_are_replaced_and_counted() -> None:
    raw = b'{"choices":[{"message":{"content":"a\xff"},"finish_reason":"stop"}]}'
    completion = read_reply(wire.loads(raw))
    assert (completion.text, len(completion.wire)) == ("a\ufffd", 1)


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", " ", "\n"]), max_size=8).map("".join))
def test_splitting_a_thought_loses_nothing_but_tags_and_space(text: str) -> None:
    said, thought = split_thought(text)
    bare = "".join(thought.split()) + "".join(said.split())
    tags = ("<think>", "</think>")
    left = text
    for tag in tags:
        left, bare = left.replace(tag, ""), bare.replace(tag, "")
    assert bare == "".join(left.split())


# Errors


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"error":{"message":"too hot","type":"T","param":"temperature","code":400}}', "too hot"),
        (b'{"error":"too hot"}', "too hot"),
        (b'{"object":"error","message":"too hot","code":400}', "too hot"),
        (b'{"detail":"too hot"}', "too hot"),
        (b'{"detail":[{"loc":["body","top_k"],"msg":"too hot"}]}', "too hot"),
        (b'{"errors":[{"message":"too hot"}]}', "too hot"),
        (b'[{"error":{"message":"too hot"}}]', "too hot"),
        (b'{"message":"too\\n  hot"}', "too hot"),
        (b"too hot", "too hot"),
        (b"<html><head><title>too hot</title></head><body><h1>x</h1></body></html>", "too hot"),
        (b"<p>too&nbsp;hot</p>", "too hot"),
        (b"", "Bad Request"),
        (b"{}", "Bad Request"),
        (b"null", "Bad Request"),
        (b'{"odd":1}', '{"odd":1}'),
    ],
)
def test_error_bodies_of_every_shape_become_one_line(raw: bytes, message: str) -> None:
    assert read_fault(400, raw).message == message


@given(st.binary(max_size=200), st.integers(100, 999))
def test_no_error_body_breaks_the_reader(raw: bytes, status: int) -> None:
    message = read_fault(status, raw).message
    assert message
    assert len(message.splitlines()) == 1


def test_control_characters_of_a_server_never_reach_the_terminal() -> None:
    assert read_fault(500, b"a\x1b[31mred\x07").message == "a [31mred"


def test_long_errors_are_cut() -> None:
    assert len(read_fault(500, b"x " * 5000).message) <= 400


@pytest.mark.parametrize(
    "raw",
    [
        b'{"error":{"message":"This model\'s maximum context length is 4096 tokens. However, your prompt contains '
        b'5000 input tokens","param":"input_tokens","code":400}}',
        b'{"error":{"message":"This model\'s maximum context length is 4096 tokens. However, you requested 5000"}}',
        b'{"object":"error","message":"max_tokens must be at least 1, got 0","code":400}',
        b'{"object":"error","message":"max_tokens must be at least 1, got -12","code":400}',
        b'{"error":{"message":"x","code":"context_length_exceeded"}}',
        b'{"error":{"code":400,"message":"the request exceeds the available context size","type":"x"}}',
        b'{"error":{"code":400,"message":"x","type":"exceed_context_size_error","n_ctx":512}}',
        b'{"message":"The input (9 tokens) is longer than the model\'s context length (8 tokens)."}',
        b'{"error":"`inputs` tokens + `max_new_tokens` must be <= 4096"}',
        b'{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}',
        b'{"error":{"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}',
    ],
)
@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_prompt_that_does_not_fit_is_recognised_on_every_server(raw: bytes, status: int) -> None:
    assert judge(read_fault(status, raw)) == "overflow"


@pytest.mark.parametrize(
    ("status", "raw", "verdict"),
    [
        (401, b"{}", "refused"),
        (403, b"{}", "refused"),
        (403, b'{"error":{"message":"your input was flagged"}}', "final"),
        (404, b'{"error":{"message":"The model `x` does not exist."}}', "refused"),
        (400, b'{"error":{"message":"x is not a valid model ID"}}', "refused"),
        (402, b'{"error":{"message":"Insufficient balance"}}', "refused"),
        (308, b"", "refused"),
        (429, b'{"error":{"message":"x","code":"insufficient_quota"}}', "refused"),
        (429, b'{"error":{"message":"tokens per min; context length"}}', "overload"),
        (503, b"{}", "overload"),
        (408, b"", "again"),
        (409, b"", "again"),
        (425, b"", "again"),
        (500, b"", "again"),
        (502, b"<html>", "again"),
        (529, b"", "again"),
        (501, b"", "final"),
        (400, b'{"error":{"message":"made up"}}', "final"),
        (400, b'{"error":{"message":"the context-free grammar exceeds a size"}}', "final"),
        (418, b"", "final"),
    ],
)
def test_verdicts(status: int, raw: bytes, verdict: str) -> None:
    assert judge(read_fault(status, raw)) == verdict


BODY = [*chat_body(logical(schema={}), "vllm")]


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b'{"error":{"message":"no","param":"top_k"}}', "top_k"),
        (b'{"error":{"message":"no","param":"response_format.type"}}', "response_format"),
        (b'{"error":{"message":"Unrecognized request arguments supplied: min_p, top_k"}}', "min_p"),
        (b'{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs"}]}', "seed"),
        (
            b'{"error":{"message":"Unsupported parameter: \'max_tokens\' is not supported with this model. Use '
            b'\'max_completion_tokens\' instead.","param":"max_tokens","code":"unsupported_parameter"}}',
            "max_tokens",
        ),
        (
            b'{"error":{"message":"Unsupported value: only the default must be used","param":"temperature",'
            b'"code":"unsupported_value"}}',
            "temperature",
        ),
        (b'{"error":{"message":"structured outputs are not available"}}', "response_format"),
        (b'{"error":{"message":"top_k must be -1 or at least 1, got 0"}}', "top_k"),
        (b'{"error":{"message":"temperature must be in [0, 2]","param":"temperature"}}', None),
        (b'{"error":{"message":"max_tokens is too large: 9. At most 8","param":"max_tokens"}}', None),
        (b'{"error":{"message":"no","param":"messages"}}', None),
        (b'{"error":{"message":"desktop_k is off"}}', None),
        (b'{"error":{"message":"made up"}}', None),
    ],
)
def test_the_field_that_a_server_complains_about_is_named(raw: bytes, field: str | None) -> None:
    assert blamed_field(read_fault(400, raw), BODY) == field
    assert blamed_field(read_fault(500, raw), BODY) is None


def test_errors_inside_a_good_status_are_found() -> None:
    inside = faults.fault_within({"error": {"message": "busy", "code": 429}})
    assert inside == Fault(429, "busy", "", "429")
    per_choice = faults.fault_within({"choices": [{"error": {"message": "broke"}}]})
    assert per_choice is not None
    assert (per_choice.status, per_choice.message) == (502, "broke")
    assert faults.fault_within(reply({"content": "fine"}, error=None)) is None
    assert faults.fault_within([]) is None


NOW = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "9999"}, 120.0),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": format_datetime(NOW + timedelta(seconds=7), usegmt=True)}, 7.0),
        ({"Retry-After": format_datetime(NOW - timedelta(days=1), usegmt=True)}, 0.0),
        ({"retry-after-ms": "250", "Retry-After": "3"}, 0.25),
        ({}, None),
    ],
)
def test_a_wish_to_wait_is_read_in_seconds_and_as_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert wait_wished(headers, NOW) == seconds


# What is no text


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"content": 4}, "content is a number, no text"),
        ({"content": {"a": 1}}, "content is an object, no text"),
        ({"content": None, "refusal": 3}, "content is a number, no text"),
        ({"content": ["a"]}, "parts that are no text"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}, "parts that are no text"),
        ({"content": [{"type": "text", "text": 4}]}, "a part without its text"),
        ({"content": [{"type": "text"}]}, "a part without its text"),
        ("four", "message is a text, no object"),
        (["four"], "message is a list, no object"),
        (4, "message is a number, no object"),
    ],
)
def test_a_reply_of_the_wrong_shape_is_a_fault_and_no_answer(message: object, said: str) -> None:
    data = {"choices": [{"message": message, "finish_reason": "stop"}]}
    with pytest.raises(Malformed, match=said):
        read_reply(data)
    fault = read(200, json.dumps(data).encode(), read_reply)
    assert isinstance(fault, faults.Fault)
    assert (fault.status, faults.judge(fault)) == (502, "again")


@pytest.mark.parametrize("message", [{"content": None}, {"content": ""}, {"content": []}, {}, None])
def test_a_reply_without_content_is_an_empty_text(message: object) -> None:
    assert read_reply({"choices": [{"message": message, "finish_reason": "stop"}]}).text == ""


def test_parts_of_text_are_joined_whatever_they_are_called() -> None:
    parts = [{"type": "output_text", "text": "a"}, {"text": "b"}, {"type": "thinking", "thinking": "hm"}]
    completion = read_reply({"choices": [{"message": {"content": parts}}]})
    assert (completion.text, completion.thought) == ("ab", "hm")


def test_a_reply_may_be_as_long_as_its_tokens_can_make_it_and_never_endless() -> None:
    assert longest_reply({}) == 2 << 20
    assert longest_reply({"max_tokens": 1024}) == (2 << 20) + 1024 * 256
    assert longest_reply({"max_completion_tokens": 4096}) == (2 << 20) + 4096 * 256
    assert longest_reply({"max_tokens": 10**12}) == 64 << 20
    assert longest_reply({"max_tokens": -1}) == longest_reply({"max_tokens": "x"}) == 2 << 20


@pytest.mark.parametrize(
    "written", ["1" + "0" * 400, "-1" + "0" * 400, "true", "null", '"x"', "NaN", "-Infinity"]
)
@pytest.mark.parametrize(
    "layout",
    [
        '{"content": [{"token": "a", "logprob": %s, "top_logprobs": [{"token": "b", "logprob": %s}]}]}',
        '{"tokens": ["a"], "token_logprobs": [%s], "top_logprobs": [{"b": %s}]}',
    ],
)
def test_a_log_probability_that_is_no_finite_number_stands_for_never(written: str, layout: str) -> None:
    body = '{"choices": [{"message": {"content": "a"}, "logprobs": %s}]}' % (layout % (written, written))
    reply = read(200, body.encode(), read_reply)
    assert isinstance(reply, Completion)
    assert [token.logprob for token in reply.tokens] == [-9999.0]
    assert set(reply.tokens[0].top) == {("a", -9999.0), ("b", -9999.0)}


def test_secrets_are_covered_in_the_words_of_every_fault() -> None:
    for number, body in ((400, b'{"error": "bad KEY"}'), (500, b"bad KEY"), (200, b'{"error": "bad KEY"}')):
        fault = read(number, body, read_reply, lambda words: words.replace("KEY", "***"))
        assert isinstance(fault, faults.Fault)
        assert fault.message == "bad ***"
