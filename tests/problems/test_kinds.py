"""How answers are read: by names and by what a problem asks for."""

import pytest

from mctsr.problems.kinds import kind_of, profile


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("gsm8k_test.jsonl", "number"),
        ("data/aime24/test.jsonl", "number"),
        ("AMC-23.csv", "number"),
        ("camcorder.jsonl", None),
        ("math500.jsonl", "formula"),
        ("olympiadbench.jsonl", "formula"),
        ("aftermath.jsonl", None),
        ("gsm8k/mine.jsonl", None),
        ("test.jsonl", None),
    ],
)
def test_a_file_name_says_what_answers_are(source: str, kind: str | None) -> None:
    assert profile(source, ()).kind == kind


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        (("ID", "Body", "Question", "Answer"), "number"),
        (("problem", "level", "type", "solution"), "formula"),
        (("question", "answer"), None),
    ],
)
def test_field_names_say_it_where_the_file_does_not(fields: tuple[str, ...], kind: str | None) -> None:
    assert profile("x.jsonl", fields).kind == kind
    assert profile("gsm8k.jsonl", fields).kind == "number"
    assert profile("gsm8k.jsonl", fields, "formula").kind == "formula"


OPTIONS = [
    "Who wins?\nA. Alice\nB. Bob\nC. Neither",
    "Find it.\n\\begin{align*}\n\\text{A)}\\ & 84 &\n\\text{B)}\\ & 73\\\\\n\\end{align*}",
    "Which one? (A) one (B) two (C) three",
    "Which?\n\n$\\bullet$ A. $50$\n\n$\\bullet$ B. $38$",
    "Enter the letter of the graph of $y = f(x).$",
    "Enter your answer as $A$, $B$, or $C$.",
]
NO_OPTIONS = [
    "Find $P(A)$, $P(B)$ and $P(C)$.",
    "Express your answer as a common fraction.",
    "Points $A$, $B$ and $C$. Find the area of (AB).",
    "Find $x$. [asy]\nA=(0,0);\nlabel(A);\ndot (A); dot (B); dot (C);\n[/asy]",
    "(A) $1$ (B) $2$ (C) $3$\n\nEnter the letters of the correct options, separated by commas.",
]


@pytest.mark.parametrize("text", OPTIONS)
def test_options_in_the_text_ask_for_a_letter(text: str) -> None:
    assert kind_of(text, profile("x.jsonl", ())) == "letter"
    assert kind_of(text, profile("math.jsonl", ())) == "letter"
    assert kind_of(text, profile("aime.jsonl", ())) == "number"
    assert kind_of(text, profile("x.jsonl", (), "formula")) == "formula"


@pytest.mark.parametrize("text", NO_OPTIONS)
def test_letters_in_a_text_are_not_always_options(text: str) -> None:
    assert kind_of(text, profile("x.jsonl", ())) is None
