"""Judge replies of every shape seen in practice, and what may be read out of them."""

import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.judge.score import END, read_score

REPLIES: list[tuple[str, float | None]] = [
    # JSON, whole
    ('{"reason": "sign error in line 2", "score": -20}', -20),
    ('  \n{ "reason" : "fine" ,\n "score" : 85 }\n', 85),
    ('```json\n{"reason": "ok", "score": 40}\n```', 40),
    ('```\n{"score": -100, "reason": "wrong"}\n```', -100),
    ('Here is my evaluation:\n{"reason": "step 3 adds 12 and 5", "score": 5}\nHope this helps in 2 ways.', 5),
    ('Score object, on the scale from -100 to 100: {"reason": "x", "score": 7}', 7),
    ('{"reason": "ok", "score": "85"}', 85),
    ('{"reason": "ok", "score": "-85/100"}', -85),
    ('{"reason": "ok", "score": "+15"}', 15),
    ('{"reason": "ok", "score": -15.5}', -15.5),
    ('{"reason": "ok", "score": −15}', -15),
    ('{"reason": "uses \\\\( x^2 \\\\) and \\( y \\)", "score": 30}', 30),
    ('{"reason": "the student says Score: 99", "score": -40}', -40),
    ('{"reason": "he wrote {\\"score\\": 50}", "score": -40}', -40),
    ('{"reason": "a brace } and { another", "score": 12}', 12),
    ('{"reason": "line\nbreak", "score": 12,}', 12),
    ('{"reason": "he said "no" to it", "score": 12}', 12),
    ("{'reason': 'bad', 'score': -12}", -12),
    ("{reason: bad sign, score: -12}", -12),
    ('{"evaluation": {"reason": "x", "score": 33}}', 33),
    ('{"steps": [{"score": 10}, {"score": 20}], "score": -40}', -40),
    ('{"clarity_score": 10, "final_score": -40}', -40),
    ('[{"reason": "x", "score": 21}]', 21),
    ('Example: {"reason": "…", "score": 50}\nMine: {"reason": "bad", "score": -5}', -5),
    ('{"reason": "<think> is a tag </think> here, score: 9", "score": 4}', 4),
    ('{"reason": "x", "Rating": 64}', 64),
    ('{"reason": "fine", "score": 40 // strict\n}', 40),
    ('{"reason": "the decisive points", "score": an integer from -100 to 100}\nScore: 25', 25),
    # JSON without a readable score
    ('{"reason": "the score is 50"}', None),
    ('{"reason": "x", "score": 150}', None),
    ('{"reason": "x", "score": null}', None),
    ('{"reason": "x", "score": "high"}', None),
    ('{"reason": "x", "score": [40]}', None),
    ('{"reason": "x", "score": NaN}', None),
    ('{"reason": "x", "score": 1e999}', None),
    ('{"reason": "x", "score": -Infinity}', None),
    ('{"reason": "x", "score": 7,5}', None),
    ('{"reason": "x", "score": 9/10}', None),
    ('{"score": 10, "score": 40}', None),
    ('{"a": {"score": 10}, "b": {"score": 40}}', None),
    # JSON, cut off
    ("{", None),
    ('{"', None),
    ('{"score":', None),
    ('{"score": ', None),
    ('{"score": 4', None),
    ('{"score": "4', None),
    ('{"score": -', None),
    ('{"reason": "bla', None),
    ('{"reason": "half marks: score: 50 for', None),
    ('{"reason": "he wrote {\\"score\\": 50} and', None),
    ('{"reason": "he wrote "score": 50, and', None),
    ('{"reason": "bla", "score": 4', None),
    ('```json\n{"reason": "I would score this 40', None),
    ('Score: 70\n{"reason": "bla', None),
    ('{"score": 40, "reason": "the second st', 40),
    ('{"score": 40,\n "reason', 40),
    ('{"reason": "bla", "score": 40\n', 40),
    ('{"score": "-35", "reason": "uses \\( x', -35),
    # labels
    ("**Score: 9**", 9),
    ("Score: 9", 9),
    ("score:9", 9),
    ("SCORE = 9", 9),
    ("[Score] -50/100", -50),
    ("[Score] +85", 85),
    ("[Score]-15", -15),
    ("**[Score]:** -5", -5),
    ("[Score]...-20...", -20),
    ("[Score]: [-20]", -20),
    ("[Score]: $-20$", -20),
    (r"[Score] \boxed{-30}", -30),
    (r"Score: \(\boxed{-30}\)", -30),
    ("[Score]\n\n-20\n", -20),
    ("### Score\n**-20**", -20),
    ("### Score: -20", -20),
    ("- **Score**: `-20`", -20),
    ("<score>40</score>", 40),
    ("<score> -40 </score>\nDone.", -40),
    ("| Score | -20 |", -20),
    ("Score — 40", 40),
    ("Score -40", -40),
    ("Score: - 40", -40),
    ("*Score*: _40_", 40),
    ('"Score": 40', 40),
    ("Score: about 40.", 40),
    ("Score: 40 points", 40),
    ("Score: 40pts", 40),
    ("Rating: 70", 70),
    ("**Grade:** 70", 70),
    ("My rating = -70", -70),
    ("Score: minus 20", -20),
    ("Score: negative 20", -20),
    ("Score: -100", -100),
    ("Score: 100", 100),
    ("Score: 0", 0),
    ("Score: 085", 85),
    ("Score: .5", 0.5),
    ("Score: -15.5", -15.5),
    ("Score: 40\n- 3 errors in the algebra", 40),
    ("Score: -20 The proof fails.", -20),
    (r"[Analyst] weak\n[Score] -20\n[Response] rewrite", -20),
    ("final_score: 40", 40),
    # unicode
    ("Score: −15", -15),
    ("Score: –15", -15),
    ("[Score]−15", -15),
    ("Score：－15", -15),
    ("Score:\u00a0\u221215.5", -15.5),
    # denominators and percent
    ("Score: **9**/10", None),
    ("Score: 9/10", None),
    ("Score: 9 out of 10", None),
    ("Score: 85/100", 85),
    ("Score: 85 / 100", 85),
    ("Score: -50/+100", -50),
    ("[Score] [85]/100", 85),
    ("Score: 85 out of a possible 100", 85),
    ("Score: 42/50", None),
    ("Score: 85%", 85),
    (r"Score: 85\%", 85),
    ("The score is 85 percent.", 85),
    ("85 out of 100", 85),
    ("85/100", 85),
    ("Overall, 85 out of 100.", 85),
    ("85 out of 100, because step two is thin.", 85),
    ("9 out of 10", None),
    ("Score (out of 100): 85", 85),
    ("Score (out of 10): 8", None),
    ("Score: 8 (on a scale of 1 to 10)", None),
    ("Score: 8 on a 10-point scale", None),
    ("Score: 8 (0-10)", None),
    ("Score: 80 (on a scale from -100 to 100)", 80),
    # scale echoes
    ("Score: between -100 and 100", None),
    ("Score: from -100 to +100", None),
    ("Score: [-100, 100]", None),
    ("Score: -100 to 100", None),
    ("Score: -100..100", None),
    ("Score (from -100 to 100): 35", 35),
    ("Score (-100 to 100): 35", 35),
    ("Score [-100, 100]: 35", 35),
    ("**Score (-100–100):** 35", 35),
    ("Score on a scale from -100 to 100: 35", 35),
    ("Score (1-10): 7", None),
    ("On a scale of 1 to 100 I give 85", 85),
    ("On a scale from -100 to 100, I would give this answer -35.", -35),
    ("On a scale of 1 to 10, I give this a 7.", None),
    ("On a scale from -100 to 100, the score is 12.", 12),
    ("I must give a score between -100 and 100. The maximum score of 100 is out of reach.", None),
    ("I have to find a score from -100 to 100.\n\nScore: 15", 15),
    # out of range, no single number, no number
    ("Score: 150", None),
    ("Score: -101", None),
    ("Score: 1,000", None),
    ("Score: 123456789012345678901234567890", None),
    ("Score: 1,0", None),
    ("Score: 85,5", None),
    ("Score: 30-40", None),
    ("Score: 30 to 40", None),
    ("Score: 10 + 20 + 30 = 60", None),
    ("[Score] - 40", None),
    ("Score:\n- 40", None),
    ("Score: ±5", None),
    ("Score: NaN", None),
    ("Score: infinity", None),
    ("Score: N/A", None),
    ("Score: <your score here>", None),
    ("Score: good work, nearly all of the 12 steps are right", None),
    ("[Score] The solution has 3 errors and misses case 4.", None),
    ("Score:\n1. The first step is right.\n2. The second is not.", None),
    ("Score: 3 errors found", None),
    ("Score: 2nd best", None),
    ("Score:", None),
    ("[Score]", None),
    ("Clarity score: 10\nFinal score:", None),
    ("no idea", None),
    ("I don't know the value of 12 + 5.", None),
    ("", None),
    (" \n\t ", None),
    # several tags
    ("[Score] +100 is not possible.\n[Score] -60", -60),
    (r"[Score] +100" "\n" r"The answer is \boxed{8}", 100),
    ("[Score] -20\nSo n = 8.", -20),
    ("[Score] +75\n\nThe right result is \\boxed{-246}.", 75),
    ("Score: 10\nScore: 20", 20),
    ("Clarity score: 10\nRigour score: 20\nFinal score: -40", -40),
    ("Final score: -40\nClarity score: 10", -40),
    ("Clarity score: 10\nTotal score: 55\n", 55),
    ("**Overall Score:** 55\n\nClarity rating: 10", 55),
    ("Clarity score: 10\nRigour score: 20", 20),
    ("Clarity score: 10, so my final score is -40.", -40),
    ("Total score: 30/40", None),
    ("Previous score: 30\nScore: 20", 20),
    ("Score: -20\nReason for this score: the 3 cases are not covered", -20),
    ("Score: -20. A score of 50 would be too generous.", -20),
    ("The score of the game was 3-2. Score: 45", 45),
    ("The final score of the match was 3 to 2.\n\n[Score] 45", 45),
    ("The team's score rose by 12 in 4 rounds.\nRating: -45", -45),
    ("The score of the game was 3-2, so they lost.", None),
    # prose
    ("I would score this 40", 40),
    ("I'd score this solution at 40.", 40),
    ("I would rate this answer 70, since the base case is missing.", 70),
    ("I give it a score of -35.", -35),
    ("My score is 62.", 62),
    ("This answer deserves -80.", -80),
    ("The score is -15 because the sign is wrong.", -15),
    ("A score of 90 would be too generous, so I give 60.", 60),
    ("I give this 40. I give this 60.", None),
    ("I would not give a score of 80.", None),
    ("I give 3 reasons below.", None),
    ("I give 5 apples to Tom, who has 7.", None),
    # alone
    ("-20", -20),
    ("+85.", 85),
    ("**85**", 85),
    ("[-20]", -20),
    (r"\boxed{-30}", -30),
    (r"$\boxed{-30}$", -30),
    ("The second step divides by zero.\n\n[-20]", -20),
    ("The second step divides by zero. [-20]", -20),
    ("All steps but the last hold.\n\\boxed{-30}", -30),
    ("All steps but the last hold.\n\\[\\boxed{-30}\\]", -30),
    ("40\n\nThe solution is short of a proof.", 40),
    ("The solution is short of a proof.\n40", 40),
    (r"The correct answer is \boxed{25}", None),
    ("The correct answer is:\n\\boxed{25}", None),
    ("So x = 12.\n\\boxed{12}\nHence \\boxed{12}", None),
    ("#### 25", None),
    ("```python\nscore = 0\nfor i in range(10):\n    score += i\n```", None),
    ("```python\nscore = 0\nprint(score)\n```\nScore: 30", 30),
    ("for i in range(10): print(42)", None),
    ("Based on the analysis, the score for this answer is -85.", -85),
    ("Score assigned: -40", -40),
    ("The answer scores 40 out of 100.", 40),
    ("Grade: B+ (85)", None),
    ("Score: 33 1/3", None),
    ("Score: 1/2", None),
    ("Score: ‐75", -75),
    ("Score: -\u200975", -75),
    ("The final answer is 42. Score: 12", 12),
    ("[Score]\nBased on the above, I would give a score of -60.", -60),
    ("Score: -95 - the answer is wrong", -95),
    ("Score: -95; 3 of 4 cases are missing", -95),
    ("Score: -0", 0),
    # thoughts
    ("<think>Score: 90? no.</think>Score: -10", -10),
    ('<think>maybe I give 90</think>\n{"reason": "x", "score": -10}', -10),
    ("I think Score: 90 is right.</think>\n\nScore: -10", -10),
    ('Draft {"score": 90}.</think>\nScore: -10', -10),
    ("<think>Score: 90", None),
    ("<think>Score: 90</think>", None),
    ("<thinking>Score: 90</thinking>I cannot say.", None),
    ("[THINK]Score: 90[/THINK]Score: 11", 11),
]

TAG_FORMS = (
    "Score: {}",
    "[Score] {}",
    "**[Score]:** {}",
    "Reasons first, 3 of them.\n\nScore: **{}**\n\nEnd.",
    "### Final Score\n\n{}\n",
    "<score>{}</score>",
    '```json\n{{"reason": "n = 3", "score": {}}}\n```',
    '{{"reason": "n = 3", "score": "{}"}}',
    "I would give this solution a score of {}.",
    "The work is sound up to step 2.\n[{}]",
    "Rating (from -100 to 100) = {}",
    r"[Score]: \boxed{{{}}}",
)


@pytest.mark.parametrize(("reply", "expected"), REPLIES)
def test_reply_reads_as_expected(reply: str, expected: float | None) -> None:
    assert read_score(reply) == expected


@pytest.mark.parametrize(
    ("reply", "low", "high", "expected"),
    [
        ("Score: 9/10", 0, 10, 9),
        ("Score: **8.5**/10", 0, 10, 8.5),
        ("9 out of 10", 0, 10, 9),
        ("Score (1-10): 7", 0, 10, 7),
        ("On a scale of 1 to 10, I give this a 7.", 0, 10, 7),
        ("Score: 8 on a 10-point scale", 0, 10, 8),
        ("Score - 4", 0, 10, 4),
        ("Score:\n- 4", 0, 10, 4),
        ("Score: -4", 0, 10, None),
        ("Score: 11", 0, 10, None),
        ("Score: 85/100", 0, 10, None),
        ("Score: 85%", 0, 10, None),
        ('{"score": 10}', 0, 10, 10),
        ("Score: 0.85", 0, 1, 0.85),
        ("Score: .85", 0, 1, 0.85),
        ("[Score] 1", 0, 1, 1),
        ("Score: 1.01", 0, 1, None),
        ("Score: 85%", 0, 1, None),
        ("Score: 4e-1", 0, 1, 0.4),
        ("Score (0 to 1): 0.3", 0, 1, 0.3),
        ('{"reason": "x", "score": 0.25}', 0, 1, 0.25),
        ("Score: 1,000", 0, 5000, 1000),
        ("Score: 12/20", 0, 20, 12),
    ],
)
def test_other_scales_have_their_own_bounds_and_denominators(
    reply: str, low: float, high: float, expected: float | None
) -> None:
    assert read_score(reply, low, high) == expected


def test_table_is_as_wide_as_promised() -> None:
    assert len(REPLIES) >= 120
    assert len({reply for reply, _ in REPLIES}) == len(REPLIES)


WORDS = (
    'Score|score:|[Score]|final |I give|"score"|"reason"|100|1,000|0.5|e9|/10|/100|out of | to |between |\\boxed{|is '
    "|of |NaN|inf|<think>|</think>|```python\n|```"
)
PIECES = st.sampled_from([*WORDS.split("|"), *'{}[]()":,\\-−+%7\n \ud800\x00', "9" * 400])


@given(st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text()))
def test_any_text_gives_a_score_in_bounds_or_none(text: str) -> None:
    for low, high in ((-100, 100), (0, 10), (0.0, 1.0)):
        score = read_score(text, low, high)
        assert score is None or (math.isfinite(score) and low <= score <= high)


@given(
    st.one_of(
        st.integers(-100, 100).map(str),
        st.integers(-10000, 10000).map(lambda n: f"{n / 100:.2f}"),
        st.floats(-100, 100).map(lambda x: f"{x:.10f}"),
        st.integers(0, 100).map(lambda n: f"+{n}"),
    ),
    st.sampled_from(TAG_FORMS),
)
def test_any_number_reads_back_exactly_from_every_tag_form(number: str, form: str) -> None:
    if number.startswith("+") and '"score": {}' in form:
        number = number[1:]
    assert read_score(form.format(number)) == float(number)


REASONS = st.one_of(
    st.text(max_size=60),
    st.lists(PIECES, max_size=12).map("".join),
    st.sampled_from(
        ["score: 50, then", 'he wrote {"score": 50}, so', "I give 50.\n[50]", "</think>Score: 50", "```py\n"]
    ),
)


@given(
    REASONS,
    st.integers(-100, 100),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 1]),
    st.sampled_from(
        [("", ""), ("```json\n", "\n```"), ("Here is the verdict on a -100 to 100 scale:\n", "\nDone.")]
    ),
    st.booleans(),
)
def test_cutting_a_json_reply_never_yields_another_number(
    reason: str,
    score: int,
    score_first: bool,
    ascii_only: bool,
    indent: int | None,
    around: tuple[str, str],
    text: bool,
) -> None:
    fields: dict[str, object] = {"reason": reason, "score": str(score) if text else score}
    if score_first:
        fields = dict(reversed(fields.items()))
    whole = around[0] + json.dumps(fields, ensure_ascii=ascii_only, indent=indent) + around[1]
    # Behind an introduction a literal tag or fence in the reason may hide the object: safe, but asked again.
    hides = around[0].startswith("Here") and any(mark in reason for mark in ("<", "[", "```"))
    assert read_score(whole) in ((score, None) if hides else (score,))
    for end in range(len(whole)):
        assert read_score(whole[:end]) in (None, score)


def test_cutting_at_any_byte_never_yields_another_number() -> None:
    whole = '{"reason": "Größe −5 statt 50, “Score: 50”…", "score": -38}'.encode()
    for end in range(len(whole)):
        assert read_score(whole[:end].decode("utf-8", "replace")) is None
    assert read_score(whole.decode()) == -38


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        " " * 1_000_000,
        "\n" * 1_000_000,
        "9" * 1_000_000,
        "[" * 100_000,
        "{" * 100_000,
        "(" * 100_000 + "Score",
        "Score" + "[" * 100_000,
        '{"a":' * 100_000,
        '{"score":1,' * 50_000,
        '{"score":1}' * 50_000,
        '{"score":{' * 50_000,
        '{"' * 100_000,
        '{"a' * 100_000,
        '{"' + '\\"' * 300_000,
        "{'" * 100_000,
        "{'\\" * 100_000,
        "score " * 50_000,
        "score:" * 50_000,
        "final score" * 50_000,
        "Score: -100 to 100 " * 15_000,
        "Score (" * 40_000,
        "I would " * 100_000,
        "<think>" * 100_000,
        "</think>" * 100_000,
        "```python " * 80_000,
        "\\boxed{" * 100_000,
        "-" * 500_000,
        "1," * 400_000,
        "Score: " + "1," * 400_000,
        "a scale of " * 80_000,
        "*_`$" * 200_000,
        "{ab" + " " * 500_000,
        "\ud800" * 300_000,
    ],
    ids=lambda text: f"{text[:12]!r}x{len(text)}",
)
def test_huge_and_hostile_replies_take_linear_time(text: str) -> None:
    begun = time.perf_counter()
    score = read_score(text)
    assert time.perf_counter() - begun < 15  # quadratic work would take minutes
    assert score is None or -100 <= score <= 100


# Length and digits


def test_of_a_long_reply_both_ends_are_read_and_the_time_is_bounded() -> None:
    filler = "The steps are fine. " * (10**7 // 20)
    began = time.perf_counter()
    assert read_score(f"{filler}\nScore: 40") == 40
    assert read_score(f"Score: 40\n{filler}") == 40
    assert read_score(f'{{"reason": "{filler}", "score": 40}}') == 40
    assert read_score(f"{filler}\nScore: 40\n{filler}") is None
    assert time.perf_counter() - began < 3


@given(st.integers(0, END), st.integers(0, END))
def test_a_reply_up_to_the_bound_is_read_whole(before: int, after: int) -> None:
    text = "x" * max(before - 12, 0) + "\nScore: 40\n" + "y" * max(after - 12, 0)
    assert len(text) <= 2 * END
    assert read_score(text) == 40


@pytest.mark.parametrize(
    "text",
    ["Score: ٨٥", "Score: 8٥", "Score: ４０", '{"score": ٤}', "٤٠", "I would score this ٤٠.", "Score: 9/١٠"],
)
def test_digits_of_other_scripts_are_no_score(text: str) -> None:
    assert read_score(text) is None


def test_digits_of_other_scripts_in_the_reasons_do_no_harm() -> None:
    assert read_score("الخطوة ٣ صحيحة.\nScore: 40") == 40
