"""A table of answers: which are the gold answer, which are not, and which exact comparison leaves open."""

import pytest

from mctsr.grading import Grader

EXACT = Grader(symbolic=False)

EQUAL = [
    # whole numbers
    ("18", "18"), ("2125", "2,125"), ("025", "25"), ("25", "025"), ("-7", "-7"), ("-7", "\u22127"),
    ("-7", "\u20137"), ("7", "+7"), ("0", "-0"), ("27", "27.0"), ("27", "27."), ("27.0", "27"),
    ("1000000", "1,000,000"), ("10000", "10{,}000"), ("10,\\!080", "10080"), ("10080", "10\\,080"),
    ("11,\\! 111,\\! 111,\\! 100", "11111111100"), ("12345678", "12\u202f345\u202f678"),
    ("12345", "12\u2009345"), ("1234567", "1\u00a0234\u00a0567"), ("58,500", "58500"), ("42", "\uff14\uff12"),
    ("99999999999999999999999", "99,999,999,999,999,999,999,999"), ("5", "(5)"), ("42", "\u200b42"),
    # wrapping
    ("42", "$42$"), ("42", "$$42$$"), ("42", "\\(42\\)"), ("42", "\\[ 42 \\]"), ("42", "**42**"),
    ("42", "`42`"), ("42", "\\boxed{42}"), ("840", "\\boxed{840} and so \\boxed{840}"), ("42", "42 \\\\"),
    ("16\\\\\n\\noindent", "16"), ("42", '"42"'), ("42", "\\text{42}"), ("42", "{42}"), ("42", "\\mathbf{42}"),
    # money, percent, degrees, units
    ("\\$32,\\!348", "32348"), ("32348", "\\$32,348"), ("\\$18.90", "18.90"), ("18.90", "$18.90"),
    ("18.9", "\\$18.90"), ("75000", "$75,000"), ("-5", "-$5"), ("5", "5 dollars"), ("\\$5", "5 dollars"),
    ("10\\%", "10"), ("10", "10\\%"), ("0.1", "10\\%"), ("10\\%", "0.1"), ("10\\%", "10 percent"),
    ("12.5%", "1/8"), ("90^\\circ", "90"), ("90", "90^{\\circ}"), ("90^\\circ", "90\u00b0"),
    ("30", "30 degrees"), ("36.36", "36.36 seconds"), ("864 \\mbox{ inches}^2", "864"),
    ("864 \\mbox{ inches}^2", "864 \\text{ square inches}"), ("15\\mbox{ cm}^2", "15"), ("10", "10 cm^2"),
    ("10", "10cm"), ("10", "10 weeks"), ("5.4 \\text{ cents}", "5.4"), ("5 Robins", "5"), ("4ft", "4 feet"),
    ("\\frac{270}7\\text{ degrees}", "270/7"), ("60", "60 miles per hour"), ("60", "60 km/h"),
    ("5", "5 red marbles"), ("1500000", "1.5 million"), ("1500000", "$1.5 million"), ("0.64", "0.64N"),
    # fractions and mixed numbers
    ("\\frac{14}{3}", "14/3"), ("\\frac{14}{3}", "\\dfrac{14}{3}"), ("\\frac 59", "5/9"), ("\\frac59", "5/9"),
    ("\\frac9{19}", "\\tfrac{9}{19}"), ("\\frac{270}7", "\\frac{270}{7}"), ("1/2", "2/4"), ("649", "3245/5"),
    ("-\\frac{35}{9}", "\\frac{-35}{9}"), ("-\\frac{1}{2}", "-1/2"), ("137 \\frac{1}{2}", "137.5"),
    ("137 \\frac{1}{2}", "275/2"), ("1\\frac{4}{5}", "1 4/5"), ("\\frac{1}{2}", "\u00bd"), ("3.5", "3\u00bd"),
    ("\\frac{1}{2}", "1\u20442"), ("\\frac{1}{2}", "0.5"), ("\\frac{1}{2}", ".5"), ("0.5", ".50"),
    ("-3.75", "-3 3/4"), ("\\frac{1997}{2}", "998.5"), ("\\frac{1}{2}", "(1/2)"), ("2/3", "2 / 3"),
    # powers and scientific notation
    (".0000672", "6.72 \\times 10^{-5}"), ("0.0000672", "6.72e-5"), ("300000", "3 \\times 10^5"),
    ("300000", "3e5"), ("1024", "2^{10}"), ("3^5", "243"), ("1/1024", "2^{-10}"), ("1000", "10\u00b3"),
    ("602", "6.02 \u00d7 10^2"),
    # names and sums in front
    ("x=5", "5"), ("5", "x = 5"), ("5", "n=5"), ("1/2", "P(A) = \\frac{1}{2}"), ("15", "3 \\times 5 = 15"),
    ("15", "5*3 = 15"), ("2", "2 = x"), ("20", "Total = 20"), ("7", "= 7"),
    # rounding: a decimal gold takes what rounds to it, an exact gold a long rounding
    ("0.42", "5/12"), ("0.42", "0.4167"), ("12.08", "12.0833"), ("1/3", "0.3333"), ("2/3", "0.66667"),
    ("0.13", "1/8"), ("0.12", "1/8"), ("0.42", "41.67%"), ("5.3333333333", "16/3"), ("5.3333333333", "5.33"),
    ("6.733333333333333", "6.73"), ("41.400000000000006", "41.4"), ("55938720.00000001", "55938720"),
    ("1345.567", "1345.57"), ("9.3e-07", "0.00000093"),
    # bases
    ("52_8", "52_{8}"), ("52_8", "52"), ("4210_{5}", "4210"), ("52_8", "52\u2088"), ("2516_8", "$2516_{8}$"),
    # options and words
    ("C", "(C)"), ("C", "\\text{(C)}"), ("\\text{(C)}", "C"), ("E", "\\text{E}"), ("E", "E."), ("B", "b"),
    ("B", "(b)"), ("C", "\\textbf{(C)}"), ("C", "C. 12 apples"), ("C", "(C) 12"), ("D", "Option D"),
    ("Yes", "yes."), ("No.", "no"), ("\\text{Evelyn}", "Evelyn"), ("\\text{east}", "East"),
    # formulas, lists and the like: the same once cleaned
    ("3\\sqrt{13}", "3 \\sqrt{13}"), ("11\\sqrt2", "11\\sqrt{2}"), ("65\\sqrt{2}", "65\u221a2"),
    ("2 \\sqrt{3}", "2sqrt(3)"), ("288 \\pi", "288\u03c0"), ("(3,4]", "(3, 4]"), ("x^{2}+1", "x\u00b2 + 1"),
    ("\\left( 3, \\frac{\\pi}{2} \\right)", "(3, \\dfrac{\\pi}{2})"), ("1,-2", "1, -2"),
    ("\\begin{pmatrix} -2 \\\\ 7 \\end{pmatrix}", "\\begin{pmatrix}-2\\\\7\\end{pmatrix}"),
    ("(-\\infty, 0]", "(\u2212\u221e, 0]"), ("y = 2x + 3", "y=2x+3"), ("1 \\pm \\sqrt{19}", "1\u00b1\u221a19"),
]  # fmt: skip

DIFFERENT = [
    ("18", "19"), ("2125", "2,126"), ("2125", "2.125"), ("100000000000", "99999999999"), ("5", "-5"),
    ("5", "5.001"), ("2", "2.0001"), ("5", "5.0001"), ("0.75", "75"), ("1/2", "1/3"), ("1/3", "0.33"),
    ("1/3", "0.3334"), ("0.42", "0.43"), ("0.42", "0.4"), ("0.70", "0.71"), ("137 \\frac{1}{2}", "137"),
    ("137 \\frac{1}{2}", "138"), (".0000672", "0.0"), (".35625", "0.36"), ("10\\%", "1"), ("10\\%", "0.01"),
    ("90^\\circ", "91^\\circ"), ("1/1000000", "0"), ("1/2^{40}", "1/3"), ("2^{10}", "1025"), ("27.0", "27.04"),
    ("864 \\mbox{ inches}^2", "865"), ("1500000", "1.5"), ("1.5 million", "1.5 thousand"), ("52_8", "53_8"),
    ("52_8", "42"), ("C", "(D)"), ("\\text{(C)}", "B"), ("C", "D. the answer C is wrong"), ("Yes", "No"),
    ("True", "false"), ("even", "odd"), ("5.3333333333", "5.34"), ("5.3333333333", "5.3"), ("12345678", "1.235e7"),
    ("6.733333333333333", "6.7334"), ("x=5", "x=6"), ("15", "3 \\times 5 = 16"), ("0", "1e-300"),
    ("1e300", "1e301"), ("123456789012345678901", "123456789012345678902"), ("0.5", "5/9"),
]  # fmt: skip

PARTS_DIFFER = [
    ("5", "5 or 6"), ("5", "5 and 6"), ("5", "5, 6"), ("1234", "1, 234"), ("1, 234", "1,234"), ("(1,2)", "(2,1)"),
    ("(0,9)", "[0,9)"), ("52_8", "52_9"), ("12", "1,2"), ("5", "\\pm 5"), ("2 1/3", "21/3"),
    ("\\{1,2\\}", "(1,2)"), ("(3,4)", "3, 4"), ("[1, 2; 3, 4]", "[1, 3; 2, 4]"), ("1, 2, 3", "1, 2, 4"),
]  # fmt: skip

OPEN = [
    ("2\\sqrt{3}", "\\sqrt{12}"), ("2k", "2"), ("2e", "2"), ("3R^2", "3"), ("4", "\\sqrt{16}"), ("5", "x"),
    ("5x", "5"), ("100!", "100"), ("1/2004!", "1/2006!"), ("1/2^{99}", "1/2^{98}!"), ("1/3", "0.333..."),
    ("10 cm", "10 m"), ("\\$5", "5 cents"), ("x=5", "y=5"), ("10 cm^2", "10 cm^3"), ("3s^2", "3"),
    ("(a+5)(b+2)", "(+5)(b+2)"), ("1 - 1/\\mathrm{e}", "1 + 1/\\mathrm{e}"), ("10^{10}", "10^{10^{10}}"),
    ("4", "4\\sqrt(2)"), ("C", "12"), ("A", "a rectangle"), ("18", "the sum of both"),
    ("10^{10^{10^{10}}}", "9^{9^{9}}"), ("1e999999999", "1e999999998"), ("9^{999999}", "9^{999998}"),
    ("5", "5 dozen"), ("5", "5 less"), ("7", "5+2"), ("\\text{Evelyn}", "Navin"), ("1/0", "5"),
    ("\\sin x = a", "\\cos x = a"), ("2", "--2"), ("3", "3i"), ("", "5"), ("5", "5:30"), ("1,3,\\ldots", "1,2,\\ldots"),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "answer"), EQUAL)
def test_an_answer_in_another_notation_is_the_gold_answer(gold: str, answer: str) -> None:
    grade = EXACT.grade(gold, answer)
    assert grade.equal, grade
    assert grade.method in {"exact", "numeric", "choice"}
    assert not grade.ungradable


@pytest.mark.parametrize(("gold", "answer"), DIFFERENT)
def test_a_different_answer_is_known_to_be_different(gold: str, answer: str) -> None:
    grade = EXACT.grade(gold, answer)
    assert not grade.equal
    assert grade.method in {"exact", "numeric", "choice"} or "^" in gold, grade


@pytest.mark.parametrize(("gold", "answer"), PARTS_DIFFER)
def test_answers_with_different_parts_are_known_to_be_different(gold: str, answer: str) -> None:
    grade = EXACT.grade(gold, answer)
    assert not grade.equal
    assert grade.method in {"exact", "numeric"}, grade


@pytest.mark.parametrize(("gold", "answer"), OPEN)
def test_what_exact_comparison_cannot_tell_is_ungradable_and_never_equal(gold: str, answer: str) -> None:
    grade = EXACT.grade(gold, answer)
    assert (grade.equal, grade.method, grade.ungradable) == (False, "none", True)


@pytest.mark.parametrize("gold", sorted({gold for gold, _ in EQUAL + DIFFERENT + PARTS_DIFFER + OPEN} - {""}))
def test_every_gold_answer_is_itself(gold: str) -> None:
    assert EXACT.grade(gold, gold).equal


def test_the_table_is_long_enough_to_mean_something() -> None:
    assert len(EQUAL) + len(DIFFERENT) + len(OPEN) >= 150
