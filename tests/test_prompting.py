"""Prompt files: what is refused, how they are filled, and what the shipped ones keep."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import PromptError
from mctsr.prompting import Prompts, parse, shipped_folder

SHIPPED = Prompts()
GOOD = """+++
inputs = ["problem", "answer"]
output = "text"
source = "made up"
+++
{{role "system"}}
Be exact about \\boxed{x} and $5.
{{role "user"}}
P: {{problem}}
A: {{answer}}
again: {{problem}}
"""

# What is refused


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "TOML front matter between two `\\+\\+\\+` lines"),
        (GOOD.removeprefix("+++\n"), "TOML front matter between two"),
        (GOOD.replace('made up"\n+++', 'made up"'), "TOML front matter between two"),
        ("\n" + GOOD, "TOML front matter between two"),
        (GOOD.replace('output = "text"', "output = text"), "front matter is not TOML"),
        (GOOD.replace("source", "sauce"), r"front matter has \[.*'sauce'\], allowed are \[.*'source'"),
        (GOOD.replace("source", "model = 'big'\nsource"), "front matter has .*'model'.*allowed are"),
        (GOOD.replace('source = "made up"\n', ""), r"front matter has \['inputs', 'output'\]"),
        (GOOD.replace('output = "text"\n', ""), r"front matter has \['inputs', 'source'\]"),
        (GOOD.replace('inputs = ["problem", "answer"]\n', ""), r"front matter has \['output', 'source'\]"),
        (re.sub(r"\{\{role.*\n", "", GOOD), "must be role sections"),
        (GOOD.split("{{role", maxsplit=1)[0], "must be role sections"),
        (GOOD.replace('{{role "system"}}', 'Hello.\n{{role "system"}}'), "must be role sections"),
        (GOOD + '{{role "assistant"}}\nSure.\n', r'the last one \{\{role "user"\}\}'),
        (GOOD.replace('"user"', '"system"'), r'the last one \{\{role "user"\}\}'),
        (
            GOOD.replace('"answer"]', '"answer", "critique"]'),
            r"inputs \['answer', 'critique', 'problem'\] but",
        ),
        (GOOD.replace(', "answer"]', "]"), r"inputs \['problem'\] but the text uses \['answer', 'problem'\]"),
    ],
)
def test_a_malformed_file_is_one_clear_error_with_its_name(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "broken.md").write_text(text, encoding="utf-8")
    with pytest.raises(PromptError, match=rf"prompt 'broken': .*{words}") as caught:
        Prompts(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_bytes(GOOD.encode() + b"\xff\xfe")
    with pytest.raises(PromptError, match=r"answer\.md' is not UTF-8"):
        Prompts(tmp_path)


def test_a_folder_without_prompts_is_named(tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text(GOOD, encoding="utf-8")
    with pytest.raises(PromptError, match=f"{re.escape(str(tmp_path))}' holds no .md file"):
        Prompts(tmp_path)


@pytest.mark.parametrize("name", ["nowhere", "answer.md"])
def test_a_folder_that_is_none_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(GOOD, encoding="utf-8")
    with pytest.raises(PromptError, match=f"{name}' does not exist"):
        Prompts(tmp_path / name)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"problem": "x"}, r"missing values \['answer'\], unknown values \[\]"),
        ({"problem": "x", "answer": "y", "gold": "z"}, r"missing values \[\], unknown values \['gold'\]"),
        ({}, r"missing values \['answer', 'problem'\]"),
    ],
)
def test_values_that_do_not_fit_the_inputs_are_refused(values: dict[str, str], words: str) -> None:
    with pytest.raises(PromptError, match=f"'mine': {words}"):
        parse("mine", GOOD).fill(values)


# Filling

LATEX = ("\\frac{a}{b}", "$1$", "\\", "{0}")
FORMATS = ("{problem}", "$problem", "%(problem)s", "%s", "\\1", "\\g<0>")
MARKERS = ("{{problem}}", "{{answer}}", "{{", "}}", '{{role "user"}}\n', "\n+++\n", "\r\n", "\x00", "ß")
HOSTILE = st.sampled_from([*LATEX, *FORMATS, *MARKERS])
VALUES = st.lists(HOSTILE | st.text(max_size=8), max_size=6).map("".join)


@given(VALUES, VALUES)
def test_values_come_out_as_they_went_in(problem: str, answer: str) -> None:
    assert parse("mine", GOOD).fill({"problem": problem, "answer": answer}) == (
        ("system", "Be exact about \\boxed{x} and $5."),
        ("user", f"P: {problem}\nA: {answer}\nagain: {problem}"),
    )


def test_windows_line_ends_and_examples_by_the_assistant_are_understood() -> None:
    text = GOOD.replace(
        '{{role "user"}}', '{{role "user"}}\nEx?\n{{role "assistant"}}\nYes.\n{{role "user"}}'
    )
    said = parse("mine", text.replace("\n", "\r\n")).fill({"problem": "p", "answer": "a"})
    assert [role for role, _ in said] == ["system", "user", "assistant", "user"]
    assert said[2][1] == "Yes."


# Folders


def test_a_folder_overrides_file_by_file_and_adds(tmp_path: Path) -> None:
    mine = GOOD.replace("made up", "mine")
    (tmp_path / "critique.md").write_text(mine, encoding="utf-8")
    (tmp_path / "extra.md").write_text(mine, encoding="utf-8")
    prompts = Prompts(tmp_path)
    assert set(prompts) == {*SHIPPED, "extra"}
    assert len(prompts) == len(SHIPPED) + 1
    assert {name for name in prompts if prompts[name].source == "mine"} == {"critique", "extra"}
    assert all(prompts[name] == SHIPPED[name] for name in SHIPPED if name != "critique")


def test_a_hash_is_that_of_the_file_and_changes_with_it_alone(tmp_path: Path) -> None:
    file = tmp_path / "answer.md"
    file.write_text(GOOD, encoding="utf-8")
    before = Prompts(tmp_path).hashes()
    assert before["answer"] == hashlib.sha256(file.read_bytes()).hexdigest()
    file.write_text(GOOD.replace("again:", "Again:"), encoding="utf-8")
    after = Prompts(tmp_path).hashes()
    assert {name for name in after if after[name] != before[name]} == {"answer"}
    assert list(after) == sorted(after)


# What is shipped


def test_every_file_of_the_folder_is_a_prompt() -> None:
    assert {file.stem for file in shipped_folder().glob("*.md")} == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_prompt_says_what_it_is_for_and_where_it_comes_from(name: str) -> None:
    prompt = SHIPPED[name]
    assert re.search(r"arXiv:\d{4}\.\d{5}|[\w-]+/[\w-]+", prompt.source)
    assert "Own wording" in prompt.source
    assert prompt.output in ("text", "score")
    assert (prompt.schema is not None) == (prompt.output == "score")
    assert [role for role, _ in prompt.sections] == (["system", "user"] if prompt.inputs else ["user"])


def test_what_is_asked_behind_other_turns_takes_nothing_and_all_else_begins_a_conversation() -> None:
    assert {name for name in SHIPPED if not SHIPPED[name].inputs} == {"judge_label", "judge_score"}
    assert len({SHIPPED[name].sections for name in SHIPPED}) == len(SHIPPED)


def test_system_lines_tell_the_prompts_apart() -> None:
    lines = [dict(prompt.sections)["system"] for prompt in SHIPPED.values() if prompt.inputs]
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize("name", [name for name in SHIPPED if SHIPPED[name].inputs])
def test_what_never_varies_comes_first_and_what_varies_most_last(name: str) -> None:
    """A server keeps the beginning of a prompt that it has seen; a problem is seen more often than an answer."""
    turns = dict(SHIPPED[name].sections)
    assert "{{" not in turns["system"]
    head, *rest = re.split(r"(\{\{[a-z_]+\}\})", turns["user"])
    assert rest[::2] == [
        f"{{{{{key}}}}}"
        for key in ("problem", "transcript", "steps", "question", "answer", "critique")
        if key in SHIPPED[name].inputs
    ]
    labels = [head.rpartition("\n\n")[2], *rest[1:-1:2]] if head else rest[1:-1:2]
    assert all(re.fullmatch(r"(\n\n)?[A-Z][a-z ]+:\n", label) for label in labels)
    assert rest[-1] == ""


def test_the_schema_of_a_score_is_valid_and_says_what_a_score_is() -> None:
    schema: Any = SHIPPED["self_reward"].schema
    jsonschema.Draft202012Validator.check_schema(schema)
    judge = jsonschema.Draft202012Validator(schema)
    assert judge.is_valid({"reason": "fine", "score": -100})
    for bad in ({"score": 5}, {"reason": "x"}, {"reason": "x", "score": 101}, {"reason": "x", "score": "5"}):
        assert not judge.is_valid(bad)
    assert not judge.is_valid({"reason": "x", "score": 5, "more": 1})
    assert list(schema["properties"]) == ["reason", "score"], "the reason is written before the score"
    assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize(
    "front",
    [
        'inputs = 3\noutput = "text"\nsource = "x"',
        'inputs = ["problem", 1]\noutput = "text"\nsource = "x"',
        'inputs = ["problem"]\noutput = 3\nsource = "x"',
        'inputs = ["problem"]\noutput = "prose"\nsource = "x"',
        'inputs = ["problem"]\noutput = "text"\nsource = 3',
        'inputs = ["problem"]\noutput = "text"\nsource = "x"\nschema = "x"',
    ],
)
def test_front_matter_of_the_wrong_type_is_a_prompt_error(front: str) -> None:
    with pytest.raises(PromptError, match="'p'"):
        parse("p", f'+++\n{front}\n+++\n{{{{role "user"}}}}\n{{{{problem}}}}\n')


@pytest.mark.parametrize("spelling", ["{{Problem}}", "{{problem1}}", "{{ problem }}", "{{}}"])
def test_a_misspelt_placeholder_is_found_before_a_model_sees_it(spelling: str) -> None:
    front = 'inputs = ["problem"]\noutput = "text"\nsource = "x"'
    with pytest.raises(PromptError, match="the text uses"):
        parse("p", f'+++\n{front}\n+++\n{{{{role "user"}}}}\n{{{{problem}}}} {spelling}\n')
