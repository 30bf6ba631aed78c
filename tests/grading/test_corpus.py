"""The corpus of pairs: how often the grader is right, on every kind, and how fast."""

import json
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import TypedDict

import pytest

from mctsr.grading import Grader, gold_of

PATH = Path(__file__).parent.parent / "corpus" / "pairs.jsonl"


class Pair(TypedDict):
    gold: str
    answer: str
    equal: bool
    kind: str
    note: str


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]


def test_the_corpus_holds_three_pairs_of_every_kind_and_says_no_often(pairs: list[Pair]) -> None:
    kinds = Counter(pair["kind"] for pair in pairs)
    assert len(pairs) >= 300
    assert min(kinds.values()) >= 3
    assert len({(pair["gold"], pair["answer"]) for pair in pairs}) == len(pairs)
    assert 0.3 < sum(pair["equal"] for pair in pairs) / len(pairs) < 0.7


def test_the_grader_is_right_on_the_corpus(pairs: list[Pair]) -> None:
    with Grader() as grader:
        said = [grader.grade(pair["gold"], pair["answer"]) for pair in pairs]
    wrong = [(pair, grade) for pair, grade in zip(pairs, said, strict=True) if pair["equal"] != grade.equal]
    accepted = [pair for pair, grade in wrong if grade.equal]
    assert len(wrong) <= 0.03 * len(pairs), wrong
    assert len(accepted) <= len(pairs) / 300, accepted


def test_exact_comparison_alone_accepts_nothing_wrong_and_takes_less_than_a_millisecond(
    pairs: list[Pair],
) -> None:
    grader, seconds, rejected = Grader(symbolic=False), [], 0
    for pair in pairs:
        start = time.perf_counter()
        grade = grader.grade(pair["gold"], pair["answer"])
        seconds.append(time.perf_counter() - start)
        assert pair["equal"] or not grade.equal, pair
        rejected += pair["equal"] and not grade.equal and grade.method != "none"
    assert rejected <= len(pairs) / 100
    assert statistics.median(seconds) < 0.001


def test_every_gold_of_the_corpus_is_itself_bare_and_boxed(pairs: list[Pair]) -> None:
    grader = Grader(symbolic=False)
    for gold in {pair["gold"] for pair in pairs}:
        assert grader.grade(gold, gold).equal, gold
        if "$" not in gold:
            assert grader.grade_reply(gold, f"So it is $\\boxed{{{gold}}}$.").equal, gold
        assert grader.grade(gold_of(gold), gold).equal, gold
