"""What the accountant states for many releases, against the exact loss of the worst mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from engine.privacy.accounting import total
from engine.privacy.events import Event
from engine.privacy.mechanisms import DiscreteLaplace, GaussianCounts
from engine.privacy.promise import Loss, Neighbours, Promise, Unit


def promised(epsilon: Fraction, delta: Fraction, event: Event) -> Promise:
    kind = "approximate_dp" if delta else "pure_dp"
    return Promise(kind, Loss(epsilon, delta, Neighbours.ADD_REMOVE, event), Unit.PERSON, 1)


def worst_pure_delta(each: float, count: int, epsilon: float) -> float:
    """Of randomised responses, which no pure mechanism exceeds. Kairouz, Oh and Viswanath (2015)."""
    true = np.arange(count + 1)
    loss = (2 * true - count) * each
    share = binom.logpmf(true, count, 1 / (1 + math.exp(-each)))
    over = loss > epsilon
    return float((np.exp(share[over]) * -np.expm1(epsilon - loss[over])).sum())


def gaussian_delta(scale: float, count: int, epsilon: float) -> float:
    """Of discrete Gaussian noise on as many unit shifts, by convolution."""
    reach = int(14 * scale * math.sqrt(count)) + 20
    one = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * scale**2))
    one /= one.sum()
    shares = one
    for _ in range(count - 1):
        shares = np.convolve(shares, one)
    loss = (2 * (np.arange(len(shares)) - (len(shares) - 1) // 2) + count) / (2 * scale**2)
    over = loss > epsilon
    return float((shares[over] * -np.expm1(epsilon - loss[over])).sum())


@pytest.mark.parametrize(
    ("epsilon", "count", "delta"),
    [
        ("1/10", 10, "1e-6"),
        ("1/100", 300, "1e-12"),
        ("1/100", 300, "1e-15"),
        ("1/1000000", 300, "1e-6"),
        ("1/2", 30, "1e-6"),
    ],
)
def test_many_pure_releases_never_cost_less_than_they_can_lose(epsilon: str, count: int, delta: str) -> None:
    each = Fraction(epsilon)
    event = DiscreteLaplace(1 / each, Fraction(1))
    found = total([promised(each, Fraction(0), event)] * count, delta=Fraction(delta))
    assert found.delta <= Fraction(delta)
    assert worst_pure_delta(float(each), count, float(found.epsilon)) <= float(found.delta)
    assert found.epsilon <= count * each


@pytest.mark.parametrize(
    ("epsilon", "own", "count", "delta"),
    [("1", "1e-6", 10, "1e-5"), ("1", "1e-12", 5, "1e-11"), ("3", "1e-15", 3, "1e-14")],
)
def test_nor_do_gaussian_ones(epsilon: str, own: str, count: int, delta: str) -> None:
    mechanism = GaussianCounts(1, Fraction(epsilon), Fraction(own))
    guarantee = promised(Fraction(epsilon), Fraction(own), mechanism.event)
    found = total([guarantee] * count, delta=Fraction(delta))
    assert gaussian_delta(float(mechanism.scale), count, float(found.epsilon)) <= float(found.delta)


def test_a_budget_spent_in_small_pieces_is_spent() -> None:
    each = Fraction(1, 3 * 10**6)
    event = DiscreteLaplace(1 / each, Fraction(1))
    assert total([promised(each, Fraction(0), event)] * 300, delta=Fraction(0)).epsilon == 300 * each
    replaced = total(
        [promised(each, Fraction(0), event)] * 3, delta=Fraction(0), neighbours=Neighbours.REPLACE_ONE
    )
    assert replaced.epsilon == 6 * each
