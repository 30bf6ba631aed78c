"""Where settings come from: flags, variables, a file, defaults; and what is no setting."""

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Command

SERVER = ("--base-url", "http://localhost:1/v1")


def planned(mctsr: Command, *arguments: object) -> dict[str, Any]:
    """Return the plan that a dry run prints as JSON."""
    ended = mctsr("solve", "-q", "2+2?", *SERVER, "--dry-run", "--json", *arguments)
    assert ended.code == 0, ended.err
    plan: dict[str, Any] = json.loads(ended.out)
    return plan


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.toml"


def test_a_flag_wins_over_a_variable_over_the_file_over_the_default(
    mctsr: Command, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert planned(mctsr)["settings"]["max_tokens"] == [1024, "default"]
    file.write_text("max_tokens = 11")
    assert planned(mctsr, "-C", file)["settings"]["max_tokens"] == [11, str(file)]
    monkeypatch.setenv("MCTSR_MAX_TOKENS", "12")
    assert planned(mctsr, "-C", file)["settings"]["max_tokens"] == [12, "MCTSR_MAX_TOKENS"]
    assert planned(mctsr, "-C", file, "--max-tokens", 13)["settings"]["max_tokens"] == [13, "flag"]


def test_the_shared_address_is_read_after_our_own_and_the_old_name_with_a_notice(
    mctsr: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def server() -> str:
        ended = mctsr("solve", "-q", "2+2?", "--dry-run", "--json")
        assert ended.code == 0, ended.err
        return str(json.loads(ended.out)["servers"]["policy"])

    monkeypatch.setenv("OPENAI_API_BASE", "http://localhost:1")
    assert server() == "http://localhost:1/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:2")
    assert server() == "http://localhost:2/v1"
    monkeypatch.setenv("MCTSR_BASE_URL", "localhost:3/v1/chat/completions")
    assert server() == "http://localhost:3/v1"


def test_the_old_name_of_the_address_variable_draws_a_notice(
    mctsr: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9")
    assert "OPENAI_API_BASE is taken for OPENAI_BASE_URL" in mctsr("solve", "-q", "2+2?").err


def test_an_empty_variable_is_no_value(mctsr: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MCTSR_MAX_TOKENS", "OPENAI_BASE_URL", "OPENAI_API_KEY", "MCTSR_MODEL"):
        monkeypatch.setenv(name, "")
    assert planned(mctsr)["settings"]["max_tokens"] == [1024, "default"]


def test_the_file_can_be_named_by_a_variable_and_hold_every_kind_of_value(
    mctsr: Command, file: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(
        'top-p = 0.5\nkeep_calls = true\nids = ["a", "b"]\n'
        "[extra_body.chat_template_kwargs]\nthinking = false\n"
    )
    monkeypatch.setenv("MCTSR_CONFIG", str(file))
    ended = mctsr("solve", data, *SERVER, "--dry-run", "--json")
    assert ended.code == 0, ended.err
    settings = json.loads(ended.out)["settings"]
    assert [settings[name][0] for name in ("top_p", "keep_calls", "ids")] == [
        0.5,
        True,
        ["a", "b"],
    ]
    assert json.loads(settings["extra_body"][0]) == {"chat_template_kwargs": {"thinking": False}}


def test_the_data_file_can_stand_in_the_configuration(mctsr: Command, file: Path, data: Path) -> None:
    file.write_text(f'data = "{data}"\n')
    ended = mctsr("solve", "-C", file, *SERVER, "--dry-run", "--json")
    assert json.loads(ended.out)["problems"] == 3


def test_recipe_arguments_come_from_the_common_table_the_recipes_own_and_flags_in_that_order(
    mctsr: Command, file: Path
) -> None:
    file.write_text(
        "[recipe_arguments]\nrollouts = 1\nc = 1\nsamples = 2\n[mctsr]\nc = 2\nsamples = 3\n[best-of-n]\nn = 9\n"
    )
    found = planned(mctsr, "-C", file, "-s", "samples=4", "-s", "samples=5")["arguments"]
    assert (found["rollouts"], found["c"], found["samples"]) == (1, 2.0, 5)


def test_an_argument_may_be_spelt_with_dashes_and_hold_equals_signs(mctsr: Command) -> None:
    assert planned(mctsr, "-s", "max-children=3")["arguments"]["max_children"] == 3
    ended = mctsr("solve", "-q", "x", *SERVER, "--dry-run", "-s", "rollouts=1=2")
    assert (ended.code, ended.out) == (2, "")
    assert "'1=2'" in ended.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_token = 5", "no option 'max_token'; did you mean 'max_tokens'?"),
        ("[recipe_argument]\nrollouts = 1", "[recipe_argument]; did you mean 'recipe_arguments'?"),
        ("max_tokens = 1.5", "--max-tokens"),
        ("max_tokens = true", "give a value in quotes"),
        ("max_tokens = [1]", "is a list; give one value"),
        ("overwrite = 1", "give true or false"),
        ("display = 'loud'", "--display"),
        ("max_tokens = ", "is not TOML"),
        ("[recipe_arguments]\nrollout = 1", "did you mean 'rollouts'?"),
        ("[mctsr]\nrollouts = 'many'", "'many'; allowed is int"),
    ],
)
def test_what_a_file_must_not_hold_is_one_clear_line(
    mctsr: Command, file: Path, text: str, said: str
) -> None:
    file.write_text(text)
    ended = mctsr("solve", "-q", "2+2?", *SERVER, "--dry-run", "-C", file)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_a_file_that_is_not_there_is_one_clear_line(mctsr: Command) -> None:
    ended = mctsr("solve", "-q", "2+2?", "-C", "nowhere.toml")
    assert (ended.code, ended.err) == (
        2,
        "error: configuration file 'nowhere.toml' cannot be read: No such file or directory\n",
    )


def test_a_wrong_variable_is_named(mctsr: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCTSR_MAX_CONCURRENCY", "many")
    ended = mctsr("solve", "-q", "2+2?", *SERVER)
    assert ended.code == 2
    assert ended.err == (
        "error: --max-concurrency (from MCTSR_MAX_CONCURRENCY): 'many'; give a whole number, 1 or more; "
        "see mctsr solve --help\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("question = {a = 1}", "question is a table; give one value"),
        ("temperature = {a = 1}", "temperature is a table; give one value"),
        ("ids = [{a = 1}]", "ids holds a table or a list; give a list of texts"),
        ("seed = 2024-01-01", "seed holds the date or time 2024-01-01; put it in quotes"),
        ("question = 2024-01-01T10:00:00Z", "question holds the date or time"),
        ("[mctsr]\nrollouts = 10:00:00", "mctsr holds the date or time 10:00:00"),
        ("extra_body = {a = [2024-01-01]}", "extra_body holds the date or time"),
        ("extra_body = {a = nan}", "NaN, Infinity and 1e999 are no JSON"),
        ("extra_body = {model = 'x'}", "the extra body sets model"),
        ("x = " + "[" * 20_000, "is nested too deeply to be read"),
        ("mctsr.rollouts" + ".a" * 5000 + " = 1", "mctsr is nested deeper than 64 levels"),
        ("seed = " + "9" * 6000, "is not TOML"),
        ("seed = 0x" + "f" * 6000, "seed holds a number of more than 100 digits"),
        ("x" * 5000 + " = 1", "no option 'xxx"),
        ('output_dir = "a\\u0000b"', "holds a zero character"),
    ],
)
def test_a_file_of_any_content_ends_in_one_clear_line(
    mctsr: Command, file: Path, text: str, said: str
) -> None:
    file.write_text(text)
    question = () if text.startswith("question") else ("-q", "2+2?")
    ended = mctsr("solve", *question, *SERVER, "-C", file, "--quiet")
    assert ended.code == 2, ended.err
    assert said in ended.err
    assert ended.err.count("\n") == 1
    assert len(ended.err) < 1300


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"model": 1, "n": 2}', "sets model, n, which the run itself decides"),
        ('{"a": NaN}', "no JSON"),
        ('{"a": [-Infinity]}', "no JSON"),
        ('{"a": 1e999}', "no JSON"),
        ('{"a": {"API-Key": "v"}}', "holds 'API-Key' and is recorded; give it by --api-key"),
        ('{"a": "sk-secret"}', "holds the API key"),
        ('{"a":' * 300 + "1" + "}" * 300, "nested deeper than 64 levels"),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, "nested deeper than 64 levels"),
    ],
)
def test_what_cannot_be_sent_along_is_refused_before_anything_is_asked(
    mctsr: Command, body: str, said: str
) -> None:
    ended = mctsr("solve", "-q", "x", *SERVER, "--api-key", "sk-secret", "--extra-body", body, "--dry-run")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert "sk-secret" not in ended.err


@pytest.mark.parametrize(
    "given",
    [("--seed", "١٢"), ("--temperature", "١"), ("--max-calls", "５"), ("--limit", "١"), ("--node", "١")],
)
def test_digits_of_other_scripts_are_refused_everywhere(
    mctsr: Command, data: Path, given: tuple[str, str]
) -> None:
    command = ("show", "x", "y") if given[0] == "--node" else ("solve", data, *SERVER, "--dry-run")
    ended = mctsr(*command, *given)
    assert ended.code == 2
    assert given[1] in ended.err


@pytest.mark.parametrize(
    "address",
    ["http://user:SECRET@h/v1", "http://h/v1?key=SECRET", "http://u:SECRET@h:port", "http://h/#SECRET"],
)
@pytest.mark.parametrize("option", ["--base-url", "--judge-base-url"])
def test_a_secret_in_an_address_is_refused_and_not_shown(mctsr: Command, address: str, option: str) -> None:
    first = () if option == "--base-url" else SERVER
    ended = mctsr("solve", "-q", "x", *first, option, address, "--dry-run")
    assert (ended.code, ended.out) == (2, "")
    assert "SECRET" not in ended.err


def test_fields_of_the_data_are_options_like_any_other(
    mctsr: Command, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("own.jsonl").write_text('{"ask": "2+2?", "said": "4", "nr": 1}\n')
    file.write_text('problem_field = "ask"\nskip_bad = true\n')
    monkeypatch.setenv("MCTSR_ANSWER_FIELD", "said")
    command = ("solve", "own.jsonl", *SERVER, "--dry-run", "-C", file, "--id-field", "nr")
    told = json.loads(mctsr(*command, "--json").out)["settings"]
    assert told["problem_field"] == ["ask", str(file)]
    assert told["answer_field"] == ["said", "MCTSR_ANSWER_FIELD"]
    assert told["id_field"] == ["nr", "flag"]
    assert told["skip_bad"] == [True, str(file)]
    assert "problem from ask, answer from said, id from nr" in mctsr(*command).out
