"""Gold answers of several parts, with units and tolerances: made, spelt, compared."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.grading import Gold, Grader, Policy, gold_of

parts = st.lists(st.integers(-999, 999).map(str), min_size=2, max_size=5, unique=True)


def equal(gold: Gold, answer: str, policy: Policy = Policy.STANDARD) -> bool:
    said = Grader(symbolic=False, policy=policy).grade(gold, answer)
    assert said == Grader(symbolic=False, policy=policy).grade(str(gold), answer)
    return said.equal


@pytest.mark.parametrize(
    ("gold", "content", "kind"),
    [
        (gold_of("$1,3,5$", multiple=True), ("1", "3", "5"), "set"),
        (gold_of("$(1,2), (3,4)$", multiple=True), ("(1,2)", "(3,4)"), "set"),
        (gold_of([1, 2.0, "\\frac12"]), ("1", "2", "\\frac12"), "set"),
        (gold_of(["7"]), ("7",), "value"),
        (gold_of("\\{1,2\\}", kind="set"), ("1", "2"), "set"),
        (gold_of("(2,251,252)", kind="tuple"), ("2", "251", "252"), "tuple"),
        (gold_of("1,000, 2,000", multiple=True), ("1,000", "2,000"), "set"),
        (gold_of("\\$221 and \\$8", multiple=True), ("\\$221", "\\$8"), "set"),
        (gold_of("[3,4)", kind="interval"), ("[3,4)",), "interval"),
        (gold_of("a, b", kind="list"), ("a", "b"), "list"),
    ],
)
def test_a_column_becomes_typed_answers(gold: Gold, content: tuple[str, ...], kind: str) -> None:
    assert (gold.content, gold.kind) == (content, kind)
    assert Gold.read(str(gold)) == gold
    assert equal(gold, gold.text)


def test_a_plain_gold_is_spelt_as_its_text_and_others_as_json() -> None:
    assert str(gold_of("\\frac12")) == "\\frac12"
    assert json.loads(str(gold_of("3.5", unit="cm", tolerance="1e-1"))) == {
        "gold": ["3.5"],
        "kind": "value",
        "unit": "cm",
        "tolerance": "1e-1",
    }
    assert str(gold_of(5, tolerance=0)) == "5"


@pytest.mark.parametrize(
    "text", ['{"gold":', '{"gold": 5', '{"gold":["a"]}', '{"gold":{}, "kind": 1', "{}", "[]"]
)
def test_a_text_that_only_looks_like_a_spelling_is_a_plain_gold(text: str) -> None:
    assert Gold.read(text) == Gold("value", (text,))
    assert equal(Gold("value", (text,)), text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"value": [], "kind": None}, "is empty: give at least one"),
        ({"value": "5", "kind": "bag"}, "gold kind 'bag' is unknown"),
        ({"value": ["1", "2"], "kind": "interval"}, "holds 2 answers"),
        ({"value": "5", "tolerance": "about"}, "tolerance 'about' is no number"),
        ({"value": "5", "tolerance": -1}, "out of range"),
        ({"value": "5", "tolerance": "nan"}, "out of range"),
        ({"value": None}, "of type NoneType"),
    ],
)
def test_what_is_not_understood_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gold_of(**arguments)  # type: ignore[arg-type]


@given(parts, st.randoms(use_true_random=False), st.sampled_from(["{}", "\\{{{}\\}}", "$({})$", "[{}]"]))
def test_several_answers_are_taken_in_any_order_and_brackets(
    content: list[str], chance: object, form: str
) -> None:
    gold = gold_of(content)
    mixed = sorted(content, key=lambda part: hash((part, str(chance))))
    assert equal(gold, form.format(", ".join(mixed)))
    assert not equal(gold, form.format(", ".join(mixed[:-1])))
    assert not equal(gold, form.format(", ".join([*mixed[:-1], "1000"])))


@given(parts)
def test_a_point_is_taken_in_its_order_alone(content: list[str]) -> None:
    gold = gold_of(f"({', '.join(content)})", kind="tuple")
    assert equal(gold, f"({','.join(content)})")
    assert not equal(gold, f"({','.join(reversed(content))})")


@given(parts)
def test_an_ordered_list_is_taken_in_its_order_alone(content: list[str]) -> None:
    gold = gold_of(", ".join(content), kind="list")
    assert equal(gold, ",".join(content))
    assert not equal(gold, ",".join(reversed(content)))
    bare = gold_of(", ".join(content))
    assert equal(bare, ", ".join(reversed(content)))
    assert not equal(bare, ", ".join(reversed(content)), Policy.STRICT)


@pytest.mark.parametrize(
    ("gold", "answer", "verdict"),
    [
        (gold_of("[1,4)", kind="interval"), "1 \\le x < 4", True),
        (gold_of("[1,4)", kind="interval"), "x \\in [1, 4)", True),
        (gold_of("[1,4)", kind="interval"), "1 < x < 4", False),
        (gold_of("(-\\infty, 0) \\cup\\{1\\}", kind="interval"), "\\{1\\} \\cup (-\\infty,0)", True),
        (gold_of("(1,2)", multiple=True), "(1,2)", True),
        (gold_of("(1,2)", multiple=True), "(2,1)", False),
        (gold_of("12", unit="cm"), "12 cm", True),
        (gold_of("12", unit="cm"), "12", True),
        (gold_of("12", unit="cm"), "12 m", False),
        (gold_of("12", unit="\\text{ cm}^2"), "12 square centimeters", True),
        (gold_of("3.05", tolerance="1e-1"), "3.1", True),
        (gold_of("3.05", tolerance="1e-1"), "3.2", False),
        (gold_of("3.05", tolerance="1e-1"), "61/20", True),
        (gold_of("90", unit="$^{\\circ}$"), "90°", True),
        (gold_of("x=1, x=2", multiple=True), "2 and 1", True),
        (gold_of("5, 5", multiple=True), "5", True),
    ],
)
def test_types_decide_what_is_accepted(gold: Gold, answer: str, verdict: bool) -> None:
    assert equal(gold, answer) is verdict


def test_a_tolerance_holds_for_formulas_as_well() -> None:
    with Grader() as grader:
        assert grader.grade(gold_of("3.1", tolerance="0.1"), "\\pi").equal
        assert not grader.grade(gold_of("3.1", tolerance="0.01"), "\\pi + 1").equal
