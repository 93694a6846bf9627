"""The sparse vector technique: exact chances against draws, the right one within its claim, broken ones not.

The five ways in which it was published wrongly are after Lyu, Su and Li (2017), figure 1 and section 3.
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from engine.errors import InputRefused
from engine.privacy.event_json import event_from_json, event_to_json
from engine.privacy.mechanisms import AboveThresholds
from engine.privacy.noise import Noise
from tests.engine.sparse import log_chance
from tests.noise_source import seeded_noise

WITHOUT_MOST, NO_STOP = "noise without the number of answers above", "no stop"
NO_ANSWER_NOISE, NO_THRESHOLD_NOISE = "no noise on the answers", "no noise on the threshold"
PRINTED = "value printed with the compared noise"


def outcomes(size, most):
    """Give everything that can be said about so many scores."""
    seen = set()
    for said in product((0, 1), repeat=size):
        found, left = list(said), most
        for place, one in enumerate(said):
            left -= one
            if left == 0:
                found[place + 1 :] = [-1] * (size - place - 1)
                break
        seen.add(tuple(found))
    return sorted(seen)


def worst(one, other, *, most, threshold, each):
    """Return the largest loss over everything that can be said."""
    said = outcomes(len(one), most)
    sizes = {"threshold": threshold, "each": each}
    return max(abs(log_chance(one, what, **sizes) - log_chance(other, what, **sizes)) for what in said)


def test_what_is_drawn_has_the_chances_that_are_worked_out():
    scores, most, runs, noise = np.array([0, -3, 2, 1]), 2, 8_000, seeded_noise(2)
    sizes = {"threshold": Fraction(3), "each": Fraction(4)}
    drawn = Counter(tuple(noise.sparse_vector(scores, most=most, **sizes).tolist()) for _ in range(runs))
    assert set(drawn) <= set(outcomes(4, most))
    chances = {said: math.exp(log_chance(scores, said, **sizes)) for said in outcomes(4, most)}
    assert sum(chances.values()) == pytest.approx(1, abs=1e-9)
    for said, chance in chances.items():
        assert abs(drawn[said] / runs - chance) < 4.5 * math.sqrt(chance / runs) + 1e-4, said


@pytest.mark.guarantee
@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("one_way", [True, False])
def test_the_right_one_loses_no_more_than_it_claims(most, one_way):
    """Over every answer and the pairs that move most: all up, and up and down where that can be."""
    found, draw = [], np.random.default_rng(most)
    mechanism = AboveThresholds(2, Fraction(1), most, 5, one_way)
    event = mechanism.event
    assert event.epsilon() == 1
    sizes = {"most": most, "threshold": event.threshold, "each": event.each}
    for _ in range(6):
        scores = draw.integers(-6, 7, 5)
        moves = [np.full(5, 2), draw.integers(0, 3, 5)]
        moves += [] if one_way else [draw.choice([-2, 2], 5), np.array([2, -2, 2, -2, 2])]
        found += [worst(scores, scores + move, **sizes) for move in moves]
    far = np.array([-40, -40, -40, 40, 40])
    found.append(worst(far, far + 2, **sizes))
    assert max(found) <= 1 + 1e-9
    assert max(found) > 0.3


@pytest.mark.parametrize(
    ("name", "one", "other", "said"),
    [
        (WITHOUT_MOST, [20] * 30 + [0] * 12, [20] * 30 + [1] * 12, [0] * 30 + [1] * 12),
        (NO_STOP, [-1] * 25 + [0] * 25, [-2] * 25 + [1] * 25, [0] * 25 + [1] * 25),
        (NO_ANSWER_NOISE, [-1, 0], [0, -1], [0, 1]),
        (NO_THRESHOLD_NOISE, [-1] * 25, [0] * 25, [0] * 25),
        (PRINTED, [0] * 10 + [1], [1] * 10 + [0], [0] * 10 + [1]),
    ],
)
def test_the_five_broken_ones_lose_more_than_they_claim(name, one, other, said):
    """Each claims ε = 1 with half for the threshold; the same answer from two neighbours says otherwise."""
    most = sum(said) if name == WITHOUT_MOST else 1
    first, second = (_broken_at(name, scores, said, most) for scores in (one, other))
    assert abs(first - second) > 1.25


def _broken_at(name, scores, said, most):
    """Return ln P of a fixed answer under a broken one."""
    half, grid = 0.5, np.linspace(-400, 400, 80_001)
    step = grid[1] - grid[0]
    shared = np.exp(-np.abs(grid) * half) * half / 2
    width = most / half

    def above(x, b):
        tail = np.exp(-np.abs(x) / b) / 2
        return np.where(x > 0, tail, 1 - tail)

    if name == NO_THRESHOLD_NOISE:
        sides = [above(np.array(-score), width) for score in scores]
        return sum(math.log(float(side if one else 1 - side)) for side, one in zip(sides, said, strict=True))
    if name == NO_ANSWER_NOISE:
        inside = np.prod(
            [(score >= grid) if one else (score < grid) for score, one in zip(scores, said, strict=True)],
            axis=0,
        )
        return math.log(max((shared * inside).sum() * step, 1e-300))
    if name == WITHOUT_MOST:
        width = 1 / half
    chance = shared.copy()
    for score, one in zip(scores, said, strict=True):
        if one and name == PRINTED:
            chance = chance * np.exp(-abs(0 - score) / width) * (grid <= 0)
        else:
            side = above(grid - score, width)
            chance = chance * (side if one else 1 - side)
    return math.log(chance.sum() * step)


def test_a_list_ends_where_it_was_said_to():
    scores = np.array([50, -50, 50, 50, -50])
    sizes = {"threshold": Fraction(1), "each": Fraction(1)}
    noise = seeded_noise(5)
    assert noise.sparse_vector(scores, most=2, **sizes).tolist() == [1, 0, 1, -1, -1]
    assert noise.sparse_vector(scores, most=9, **sizes).tolist() == [1, 0, 1, 1, 0]
    assert noise.sparse_vector(scores[:0], most=1, **sizes).tolist() == []


def test_what_is_drawn_is_what_was_declared():
    mechanism = AboveThresholds(3, Fraction(1, 7), 4, 9, True)
    noise = seeded_noise(1)
    found = mechanism.compare(np.arange(9), np.full(9, 4), noise)
    assert found.shape == (9,) and noise.counted == mechanism.event.drawn()
    assert event_from_json(event_to_json(mechanism.event)) == mechanism.event
    assert mechanism.event.exchanged().epsilon() == 2 * mechanism.event.epsilon()


@pytest.mark.parametrize("change", [{"most": 0}, {"threshold": Fraction(0)}, {"each": 0.5}])
def test_what_makes_no_sense_is_refused(change):
    asked = {"threshold": Fraction(1), "each": Fraction(1), "most": 1} | change
    with pytest.raises(InputRefused):
        Noise().sparse_vector(np.array([1, 2]), **asked)


@pytest.mark.parametrize("most", [1, 3])
def test_from_the_gap_on_everything_is_told_rightly_in_95_of_100(most):
    mechanism = AboveThresholds(1, Fraction(1), most, 20, True)
    gap, noise, runs = mechanism.gap(share=0.95), seeded_noise(7), 3000
    scores = np.where(np.arange(20) >= 20 - most, gap, -gap)
    truth = (scores > 0).astype(int)
    right = sum(
        (mechanism.compare(scores, np.zeros(20, dtype=int), noise) == truth).all() for _ in range(runs)
    )
    assert 0.94 < right / runs < 0.965
