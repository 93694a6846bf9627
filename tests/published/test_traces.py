"""Invented histories of a hospital of 20,000 people, beside a cut of every history after ten events."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.published import traces


@pytest.mark.slow
def test_whole_histories_come_nearer_than_cut_ones_and_usual_orders_are_kept() -> None:
    """At ε = 1. The draw is seeded; `traces.md` has means of three."""
    log, ends = traces.hospital()
    cut, _, weighed, whole = (traces.measure(log, ends, Fraction(1), kind, cap=4) for kind in traces.KINDS)
    assert whole["moves"] <= 0.16 and whole["lengths"] <= 0.04 and whole["orders"] <= 0.10
    assert weighed["orders"] > 0.5 and weighed["ends"] > whole["ends"] + 0.1
    assert weighed["moves"] <= 0.16 and cut["moves"] > weighed["moves"] + 0.02
