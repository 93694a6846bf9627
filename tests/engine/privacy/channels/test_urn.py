"""The urn: never below what enumeration finds, and not far above it."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import binom

from engine.privacy.channels import Bit, Geometry, Option, Sets, Signs, Wave, for_choice, for_number
from engine.privacy.channels.urn import SLACK, _of_many, differing, urn_epsilon

ONE = Fraction(1)


def least(one, other, slack, most):
    """Return the smallest ε with which one distribution is within the slack of another, both ways."""
    low, high = 0.0, most
    for _ in range(40):
        middle = (low + high) / 2
        factor = math.exp(middle)
        told = max(np.maximum(a - factor * b, 0).sum() for a, b in ((one, other), (other, one)))
        low, high = (low, middle) if told <= slack else (middle, high)
    return high


def enumerated(people, channel, yes):
    """Return ε of the count of yes, of yes or no, with so many others who say yes."""
    p = float(Fraction(channel.hit, channel.tickets))
    others = people - 1 - yes
    counts = np.convolve(
        binom.pmf(np.arange(yes + 1), yes, p), binom.pmf(np.arange(others + 1), others, 1 - p)
    )
    sides = [np.convolve(counts, [1 - one, one]) for one in (p, 1 - p)]
    return least(*sides, SLACK, math.log(channel.odds))


@pytest.mark.parametrize(("people", "epsilon", "wanted"), [
    (200, 1, 0.32), (1000, 1, 0.127), (200, 3, 2.98), (1000, 3, 0.70), (60, "1/2", None), (2, 1, None),
    (1001, 1, None), (3000, 1, None), (10_000, 1, 0.036), (10_000, 3, 0.17),
])  # fmt: skip
def test_of_yes_and_no_it_is_what_enumeration_finds_and_of_many_never_below(people, epsilon, wanted):
    """At most a hundredth above it where not every split is gone through."""
    channel = Sets.at(2, 1, 1, Fraction(epsilon))
    splits = range(people) if people <= 200 else (0, people // 4, people // 2, people - 1)
    worst = max(enumerated(people, channel, yes) for yes in splits)
    found = urn_epsilon(channel, people)
    assert worst <= found + 1e-9 and found <= (1.001 if people <= 1001 else 1.01) * worst
    assert wanted is None or worst == pytest.approx(wanted, rel=0.015)


def test_ranges_of_splits_bound_every_one_of_them():
    """Of so few people that each split is gone through by itself, to an ε at which one end tells the most."""
    for epsilon, people in ((ONE, 101), (Fraction(5), 120)):
        channel = Sets.at(2, 1, 1, epsilon)
        worst = max(enumerated(people, channel, yes) for yes in range(people))
        assert worst <= _of_many(channel, people, SLACK) + 1e-9 <= 1.02 * worst + 1e-9


SMALL = [
    Sets(3, 4, 3, 1, 1), Sets(3, 4, 4, 1, 2), Sets(3, 4, 4, 2, 1), Option(3, 4, 2),
    Signs(7, 8, 2, 1), Signs(3, 4, 2, 2), Signs(3, 4, 3, 2),
    Geometry(3, 4, 3, 2, 2, 1), Geometry(3, 4, 3, 2, 2, 0),
    Wave(3, 4, 3, 1), Bit(3, 4, 3),
]  # fmt: skip


@pytest.mark.parametrize("channel", SMALL, ids=str)
@pytest.mark.parametrize("slack", [1e-6, 1e-3, 0.05])
def test_of_every_kind_it_bounds_all_that_four_people_can_show(channel, slack):
    """Every answer of two others, every pair of the third: counts of all outcomes, cell by cell."""
    truths, outcomes = list(channel.truths()), list(channel.outcomes())
    rows = np.array([[float(channel.chance(one, y)) for y in outcomes] for one in truths])
    worst = 0.0
    for others in combinations_with_replacement(range(len(truths)), 2):
        shown = []
        for truth in range(len(truths)):
            cells = {}
            for drawn in product(range(len(outcomes)), repeat=3):
                key = tuple(sorted(drawn))
                chance = rows[truth, drawn[0]] * rows[others[0], drawn[1]] * rows[others[1], drawn[2]]
                cells[key] = cells.get(key, 0.0) + chance
            shown.append(np.array([cells[key] for key in sorted(cells)]))
        worst = max(
            worst,
            *(least(a, b, slack, math.log(channel.odds)) for a, b in combinations_with_replacement(shown, 2)),
        )
    assert 0 < worst <= urn_epsilon(channel, 3, slack) + 1e-9


def test_differing_outcomes_are_counted():
    for channel in SMALL[:-1]:  # a bit is rounded first
        truths, outcomes = list(channel.truths()), list(channel.outcomes())
        found = {
            sum(channel.marks(one, y) and not channel.marks(other, y) for y in outcomes)
            for one in truths for other in truths if one != other
        }  # fmt: skip
        assert found == set(differing(channel)), channel


def test_more_people_hide_one_and_nothing_tells_more_than_a_report():
    for channel in (for_choice(1000, ONE).channel, for_number(12, ONE).channel):
        found = [urn_epsilon(channel, people) for people in (1, 100, 10**5, 10**9)]
        assert found == sorted(found, reverse=True) and found[0] <= math.log(channel.odds)
        assert found[0] > 0.99 and found[-1] < 0.01
