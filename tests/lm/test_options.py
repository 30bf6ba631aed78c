"""Which models are started here."""

import pytest

from mctsr.lm.options import RoleOptions


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
