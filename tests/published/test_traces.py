"""Invented histories of a hospital of 20,000 people, beside a cut of every history after ten events."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.published import traces


@pytest.mark.slow
def test_whole_histories_come_nearer_than_cut_ones_and_usual_orders_are_kept() -> None:
    """At ε = 1, with and without δ. The draws are seeded; `traces.md` has means of three."""
    log, ends = traces.hospital()
    cut, shared, _, weighed, whole, by_delta = (
        traces.measure(log, ends, Fraction(1), kind, cap=4) for kind in traces.KINDS
    )
    for one in (whole, by_delta):
        assert one["moves"] <= 0.16 and one["lengths"] <= 0.04 and one["orders"] <= 0.10
        assert weighed["orders"] > 0.5 and weighed["ends"] > one["ends"] + 0.1
    assert weighed["moves"] <= 0.16 and cut["moves"] > weighed["moves"] + 0.02
    assert shared["moves"] > weighed["moves"] + 0.05


@pytest.mark.slow
def test_usual_orders_are_kept_without_delta_where_the_last_two_places_decide() -> None:
    """A log that nothing was chosen by."""
    log, ends = traces.generated(15_000, traces.by_last_two(12, 0.25))
    weighed, whole = (
        traces.measure(log, ends, Fraction(1), kind, cap=3) for kind in (traces.WEIGHED, traces.ORDERS)
    )
    assert whole["orders"] <= 0.10 and weighed["orders"] > whole["orders"] + 0.05
