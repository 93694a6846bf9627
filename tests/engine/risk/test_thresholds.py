"""Thresholds: every pair of answers leads to a published size, more motive never to a smaller one."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from engine import texts
from engine.risk.group_sizes import THRESHOLDS
from engine.risk.thresholds import CONTROLS, MOTIVES, SIZES, group_size, highest_risk, propose_threshold


def test_sizes_are_those_that_are_counted() -> None:
    assert SIZES == THRESHOLDS


def test_every_pair_of_answers_leads_to_a_size_with_a_precedent() -> None:
    found = {propose_threshold(motive, control) for motive, control in product(MOTIVES, CONTROLS)}
    assert found == set(SIZES)


def test_more_motive_and_less_control_never_ask_for_less() -> None:
    for control in CONTROLS:
        sizes = [propose_threshold(motive, control) or 0 for motive in MOTIVES]
        assert sizes == sorted(sizes)
    for motive in MOTIVES:
        sizes = [propose_threshold(motive, control) or 0 for control in CONTROLS]
        assert all(earlier >= later for earlier, later in pairwise(sizes))


def test_published_never_asks_for_less_than_eleven() -> None:
    assert min(propose_threshold(motive, "published") or 0 for motive in MOTIVES) == 11


@pytest.mark.parametrize(("motive", "control"), [("", "published"), ("gain", ""), ("gain", "a lock")])
def test_nothing_is_proposed_without_both_answers(motive: str, control: str) -> None:
    assert propose_threshold(motive, control) is None


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("11", 11),
        (" 5: own policy", 5),
        ("0.09", 11),
        ("0,09: Policy 0070", 11),
        (".05", 20),
        ("0.1", 10),
        ("0.33", 3),
        ("0.075", 14),
        ("9 %", 11),
        ("9%: own policy", 11),
        ("33 %", 3),
        ("33.3 %", 4),
        ("0.5", 2),
        ("0.9", 2),
        ("0.00", None),
        ("0 %", None),
        ("0", None),
        ("11.5", None),
        ("1", None),
        ("none", None),
        ("", None),
    ],
)
def test_a_written_threshold_is_read(written: str, size: int | None) -> None:
    assert group_size(written) == size


def test_the_highest_risk_of_eleven_is_the_number_of_the_agencies() -> None:
    assert f"{float(highest_risk(11)):.2f}" == "0.09"


def test_every_answer_has_its_words_in_the_report() -> None:
    for name, known in (("motive", MOTIVES), ("control", CONTROLS)):
        assert all(texts.has(f"report.groups.{name}_{one}") for one in known)
