"""Counts that stand out: the law of noise on all cells, and the exact δ of cells that nobody can list."""

from __future__ import annotations

import math
import time
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency

from engine.errors import InputRefused
from engine.privacy.event_json import event_from_json, event_to_json
from engine.privacy.events import Neighbours
from engine.privacy.mechanisms import ClearCounts, ClearLaplace, threshold_of
from engine.privacy.mechanisms.clear_counts import alone_above
from engine.privacy.noise import Noise
from tests.noise_source import seeded_noise

RUNS = 1_000


def above(count: int, threshold: int, scale: float) -> float:
    """Return P(count + X ≥ τ), summed."""
    q = math.exp(-1 / scale)
    return sum((1 - q) / (1 + q) * q ** abs(x) for x in range(threshold - count, threshold - count + 4000))


def test_the_law_is_that_of_noise_on_all_cells() -> None:
    """Which cells leave, and with which counts, beside noise on every cell of which the small are dropped."""
    cells, counts, size, scale, threshold = np.array([2, 5]), np.array([6, 1]), 12, Fraction(2), 4
    noise, plain = seeded_noise(1), seeded_noise(2)
    exact = np.zeros(size, dtype=np.int64)
    exact[cells] = counts
    found: list[Counter[tuple[int, int]]] = [Counter(), Counter()]
    many: list[Counter[int]] = [Counter(), Counter()]
    for _ in range(RUNS):
        kept, values = noise.clear_counts(cells, counts, scale=scale, threshold=threshold, size=size)
        assert (values >= threshold).all() and (np.diff(kept) > 0).all()
        dense = exact + plain.discrete_laplace(scale, size)
        there = np.flatnonzero(dense >= threshold)
        for place, (where, what) in enumerate(((kept, values), (there, dense[there]))):
            found[place].update(zip(where.tolist(), np.minimum(what, 9).tolist(), strict=True))
            many[place][min(len(where), 5)] += 1
    for one, other in (found, many):
        keys = [key for key in one.keys() | other.keys() if one[key] + other[key] >= 20]
        table = np.array([[one[key] for key in keys], [other[key] for key in keys]])
        assert chi2_contingency(table).pvalue > 1e-4


def test_of_many_cells_as_many_are_invented_as_the_law_says() -> None:
    size, scale, threshold = 10**7, Fraction(3), 45
    chance = above(0, threshold, 3.0)
    noise, nobody = seeded_noise(3), np.array([], dtype=np.int64)
    drawn = [
        len(noise.clear_counts(nobody, nobody, scale=scale, threshold=threshold, size=size)[0])
        for _ in range(60)
    ]
    low, high = binom.ppf([5e-5, 1 - 5e-5], 60 * size, chance)
    assert low <= sum(drawn) <= high
    # and they lie anywhere
    places = np.concatenate(
        [noise.clear_counts(nobody, nobody, scale=scale, threshold=21, size=10**6)[0] for _ in range(2)]
    )
    assert abs(places.mean() / 10**6 - 0.5) < 4.5 / math.sqrt(12 * len(places))


def test_a_cell_of_one_person_leaves_no_more_often_than_delta() -> None:
    scale, delta = Fraction(1), Fraction(1, 100)
    threshold = threshold_of(scale, delta)
    assert above(1, threshold, 1.0) <= 0.01 < above(1, threshold - 1, 1.0)
    noise, one = seeded_noise(4), np.array([1])
    left = sum(len(noise.clear_counts(one, one, scale=scale, threshold=threshold)[0]) for _ in range(RUNS))
    assert binom.cdf(left - 1, RUNS, 0.01) < 1 - 1e-4
    empty = noise.clear_counts(one[:0], one[:0], scale=scale, threshold=1)
    assert empty[0].size == 0, "a cell that nobody is in does not leave where cells cannot be listed"


@pytest.mark.guarantee
@pytest.mark.parametrize("scale", [1, 2, Fraction(7, 3)])
@pytest.mark.parametrize("exchanged", [False, True])
def test_the_event_bounds_the_exact_loss(scale: Fraction, exchanged: bool) -> None:
    """δ(ε) by summing over all outcomes of the two cells that one person, or two, may be in."""
    threshold = threshold_of(Fraction(scale), Fraction(1, 1000))
    event = ClearCounts(scale=Fraction(scale), sensitivity=Fraction(1), threshold=threshold, cells=0)
    epsilon, delta = (event.exchanged() if exchanged else event).stated()
    far = threshold + math.ceil(40 * float(scale))
    q = math.exp(-1 / float(scale))

    def law(count: int) -> np.ndarray:
        """Return the chances of not leaving and of every count that may leave."""
        if count == 0:
            return np.eye(1, far - threshold + 1)[0]
        values = np.arange(threshold, far) - count
        chances = (1 - q) / (1 + q) * q ** np.abs(values)
        return np.concatenate([[1 - chances.sum()], chances])

    for first in range(1, 4):
        for second in range(3):
            if exchanged:
                one, other = np.outer(law(first), law(second)), np.outer(law(first - 1), law(second + 1))
            else:
                one, other = law(first), law(first - 1)
            for mine, theirs in ((one, other), (other, one)):
                lost = np.maximum(mine - math.exp(float(epsilon)) * theirs, 0).sum()
                assert lost <= float(delta) * (1 + 1e-9)
    # and it is no larger than it has to be
    alone = np.maximum(law(1) - math.exp(float(event.stated()[0])) * law(0), 0).sum()
    assert alone >= float(event.failure) * 0.99


def test_what_is_claimed_is_what_is_drawn() -> None:
    own = ClearLaplace(2, Fraction(1, 2), threshold=70, cells=50)
    noise = seeded_noise(5)
    own.release(np.array([1]), np.array([9]), noise)
    assert noise.counted == own.event.drawn()
    assert own.event.epsilon() == Fraction(1, 2) and own.event.failure == 0
    for event in (own.event, ClearLaplace(1, Fraction(1), threshold=15).event):
        assert event_from_json(event_to_json(event)) == event
        assert event.together(Neighbours.ADD_REMOVE) == (event,)
    listed = ClearLaplace(1, Fraction(1), threshold=15).event
    assert listed.epsilon() is None and listed.loss() is None
    assert listed.stated() == (1, alone_above(Fraction(1), 15))


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputRefused, match=r"accounting\.unknown_event"):
        ClearCounts(scale=Fraction(9), sensitivity=Fraction(1), threshold=1, cells=0)
    one = np.array([1])
    for wrong in ({"scale": 0.5, "threshold": 2}, {"scale": 1, "threshold": 0}, {"scale": 0, "threshold": 2}):
        with pytest.raises(InputRefused):
            Noise().clear_counts(one, one, **wrong)


def test_a_hundred_million_cells_take_little_time() -> None:
    begun, rng = time.process_time(), np.random.default_rng(1)
    cells = np.unique(rng.integers(10**8, size=200_000))
    Noise().clear_counts(
        cells, np.ones(len(cells), dtype=np.int64), scale=20_000, threshold=370_000, size=10**8
    )
    assert time.process_time() - begun < 2.0
