"""Staircase noise: its law, its published figures, its loss, the battery, and mutants."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from engine.privacy.accounting import total
from engine.privacy.accuracy import staircase_error
from engine.privacy.at_risk.mechanisms import staircase
from engine.privacy.event_json import event_from_json, event_to_json
from engine.privacy.exact_vector import rest_threshold, weight_bracket, whole_weight
from engine.privacy.mechanisms import DiscreteLaplace, LaplaceCounts, Staircase, StaircaseNumber
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from tests.engine.battery.checks import failing
from tests.engine.battery.distributions import (
    CheckFailed,
    check_all,
    check_pmf,
    check_residues,
    laplace_law,
    staircase_law,
)
from tests.engine.battery.honest import REACH, STEP, SUM, bounded_sum
from tests.noise_source import seeded_noise

MILLION = 1_000_000
SHAPES = [
    (1, 1, Fraction(1)),
    (2, 1, Fraction(5)),
    (7, 7, Fraction(1, 3)),
    (10, 3, Fraction(2)),
    (64, 1, Fraction(4)),
    (1000, 400, Fraction(1, 10)),
    (3, 2, Fraction(40)),
    (5, 2, Fraction(1, 10**4)),
]


def stairs(sensitivity, plateau, reach):
    """Return how many stairs below the highest every whole number from −reach to reach lies."""
    magnitudes = np.abs(np.arange(-reach, reach + 1))
    return np.array([0 if i < plateau else 1 + (i - plateau) // sensitivity for i in magnitudes.tolist()])


def masses(sensitivity, plateau, epsilon):
    """Return all whole numbers that matter and their probabilities, summed up one by one."""
    reach = math.ceil(plateau + sensitivity * (2 + 45 / float(epsilon)))
    weights = np.exp(-float(epsilon) * stairs(sensitivity, plateau, reach))
    return np.arange(-reach, reach + 1), weights / weights.sum()


# --- the law --------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**9), Fraction(1, 10), Fraction(1), Fraction(50)])
@pytest.mark.parametrize("step", [1, 7, 10**6])
def test_the_weight_of_all_lower_stairs_is_bracketed(step, epsilon):
    with mpmath.workdps(80):
        exact = step / mpmath.expm1(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        for bits in (0, 5, 60):
            low, high = weight_bracket(step, epsilon, bits)
            assert low <= exact * 2**bits <= high <= low + 2
        assert whole_weight(step, epsilon) == int(mpmath.floor(exact))
        rest = exact - mpmath.floor(exact)
        assert rest_threshold(step, epsilon) == int(mpmath.floor(rest * 2**32))


@pytest.mark.parametrize(("step", "first", "epsilon"), SHAPES[:5])
def test_the_places_and_stairs_that_are_drawn_make_the_law(step, first, epsilon):
    """Every way to a number, multiplied out: each magnitude gets e^(−ε · stair), exactly."""
    with mpmath.workdps(60):
        b = mpmath.exp(-mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        x = step * b / (1 - b)
        ways = {magnitude: mpmath.mpf(1) for magnitude in range(first)}
        for stair, place in itertools.product(range(6), range(step)):
            geometric = (1 - b) * b**stair
            ways[first + step * stair + place] = x * geometric / step
        level = stairs(step, first, max(ways))
        for magnitude, weight in ways.items():
            assert abs(weight / b ** int(level[max(ways) + magnitude]) - 1) < mpmath.mpf(10) ** -50


@pytest.mark.parametrize(("step", "first", "epsilon"), SHAPES, ids=str)
def test_a_million_draws(step, first, epsilon):
    draws = seeded_noise(1).staircase(step, first, epsilon=epsilon, size=MILLION)
    if epsilon < Fraction(1, 1000):  # beyond a table: stairs and places, each on its own
        far = np.abs(draws) >= first
        assert abs(far.mean() - 1) < 1e-3
        check_pmf((np.abs(draws[far]) - first) // step * np.sign(draws[far]), laplace_law(1 / epsilon))
        return
    check_all(draws, staircase_law(step, first, epsilon))


def test_stairs_of_one_step_are_discrete_laplace():
    draws = seeded_noise(2).staircase(1, 1, epsilon=Fraction(1, 7), size=MILLION)
    check_all(draws, laplace_law(7))


@pytest.mark.parametrize(
    ("drawn", "claimed"),
    [
        ((10, 3, Fraction(2)), (10, 4, Fraction(2))),
        ((10, 3, Fraction(2)), (10, 2, Fraction(2))),
        ((9, 3, Fraction(2)), (10, 3, Fraction(2))),
        ((10, 3, Fraction(2)), (10, 3, Fraction(203, 100))),
        ((20, 8, Fraction(3, 10)), (20, 9, Fraction(3, 10))),
    ],
)
def test_the_tests_see_a_plateau_or_a_stair_that_is_one_off(drawn, claimed):
    draws = seeded_noise(3).staircase(drawn[0], drawn[1], epsilon=drawn[2], size=MILLION)
    with pytest.raises(CheckFailed):
        check_all(draws, staircase_law(*claimed))


def test_the_path_for_any_width_follows_the_same_law():
    noise = seeded_noise(4)
    draws = np.array([noise._one_staircase(10, 3, Fraction(2)) for _ in range(20_000)])
    check_pmf(draws, staircase_law(10, 3, Fraction(2)))
    check_residues(draws, staircase_law(10, 3, Fraction(2)), modulus=16)
    wide = noise.staircase(2**60, 2**58, epsilon=Fraction(1), size=400)
    assert wide.dtype == object and all(type(draw) is int for draw in wide)
    share = sum(abs(draw) < 2**58 for draw in wide) / 400
    expected = 2**58 / (2**58 + 2**60 / math.expm1(1))
    assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / 400)


# --- what it costs --------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "first", "epsilon"), SHAPES[:6], ids=str)
def test_no_shift_up_to_the_sensitivity_goes_down_more_than_one_stair(step, first, epsilon):
    """ε is kept for every shift and every number, in stairs, and reached; one step further it is not."""
    reach = 6 * step
    levels = stairs(step, first, reach + step + 1)
    middle = slice(step + 1, len(levels) - step - 1)
    for shift in range(step + 2):
        moved = np.abs(np.roll(levels, shift) - levels)[middle].max()
        assert moved == (0 if shift == 0 else 1 if shift <= step else 2)


@pytest.mark.parametrize(("step", "first", "epsilon"), SHAPES[:5], ids=str)
def test_the_loss_is_that_of_the_worst_shift(step, first, epsilon):
    _, probabilities = masses(step, first, epsilon)
    one_sided = two_sided = 1.0
    for shift in range(1, step + 1):
        losses = np.rint(np.log(probabilities / np.roll(probabilities, shift)) / float(epsilon))[step:-step]
        one_sided = min(one_sided, probabilities[step:-step][losses <= 0].sum())
        two_sided = min(two_sided, probabilities[step:-step][losses == 0].sum())
    loss = staircase(epsilon0=epsilon, sensitivity=step, plateau=first)
    half = float(epsilon) / 2
    assert loss.confidence(half) == pytest.approx(one_sided, abs=1e-9)
    assert loss.confidence_two_sided(half) == pytest.approx(two_sided, abs=1e-9)
    assert loss.masses.sum() == pytest.approx(1)
    below = loss.masses @ np.exp(-loss.losses)
    assert below == pytest.approx(1)  # the same outcomes under the neighbour
    assert loss.delta(half) == pytest.approx((1 - one_sided) * (1 - math.exp(-half)), abs=1e-9)


def test_the_accountant_composes_it_and_doubles_it_for_an_exchange():
    number = StaircaseNumber(50, Fraction(1, 10))
    assert number.event == event_from_json(event_to_json(number.event))
    assert number.event.epsilon() == Fraction(1, 10) and number.event.scale == 500
    assert number.event.exchanged().epsilon() == Fraction(1, 5)
    assert number.event.exchanged().drawn() == number.event.drawn()
    many = replace(number.event, count=40)
    promise = Promise(
        "differential_privacy", Loss(Fraction(4), Fraction(0), Neighbours.ADD_REMOVE, many), Unit.PERSON, 1
    )
    assert total([promise], delta=Fraction(0)).epsilon == 4
    composed = total([promise], delta=Fraction(1, 10**6))
    laplace = replace(
        promise, loss=replace(promise.loss, events=DiscreteLaplace(Fraction(500), Fraction(50), count=40))
    )
    assert composed.method == "loss_distribution"
    assert 2 < composed.epsilon < 4
    assert composed.epsilon >= total([laplace], delta=Fraction(1, 10**6)).epsilon * Fraction(99, 100)
    exchanged = total([promise], delta=Fraction(1, 10**6), neighbours=Neighbours.REPLACE_ONE)
    assert composed.epsilon < exchanged.epsilon < 8


@pytest.mark.parametrize(
    "wrong", [{"plateau": 0}, {"plateau": 11}, {"sensitivity": 0}, {"level": Fraction(0)}, {"stairs": 0}]
)
def test_an_event_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(Exception, match="unknown_event"):
        replace(Staircase(10, 3, Fraction(1)), **wrong)


# --- how good it is -------------------------------------------------------------------------------

BRUTE = list(itertools.product([1, 2, 3, 7, 20, 101], ["1/10", "1/2", "1", "2", "4", "12"]))


@pytest.mark.parametrize(("step", "level"), BRUTE)
@pytest.mark.parametrize("squares", [False, True])
def test_the_plateau_is_the_best_of_all_and_the_figures_are_sums(step, level, squares):
    epsilon = Fraction(level)
    number = StaircaseNumber(step, epsilon, squares=squares)
    power = 2 if squares else 1
    costs = []
    for plateau in range(1, step + 1):
        z, probabilities = masses(step, plateau, epsilon)
        costs.append(float(probabilities @ np.abs(z).astype(float) ** power))
    assert costs[number.plateau - 1] == pytest.approx(min(costs), rel=1e-12)
    stated = number.expected_square if squares else number.expected_magnitude
    assert stated == pytest.approx(min(costs), rel=1e-9)


@pytest.mark.parametrize(("step", "level"), BRUTE[::2])
def test_accuracy_is_the_smallest_limit(step, level):
    number = StaircaseNumber(step, Fraction(level))
    z, probabilities = masses(step, number.plateau, number.epsilon)
    for share in (0.5, 0.95, 0.999):
        t = staircase_error(step, number.plateau, number.epsilon, share=share)
        assert probabilities[np.abs(z) <= t].sum() >= share - 1e-11
        assert t == 0 or probabilities[np.abs(z) < t].sum() < share + 1e-11
    assert number.accuracy().median <= number.accuracy().limit


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 4, 8, 12])
def test_published_figures_of_continuous_noise_are_its_limit(epsilon):
    """Geng and Viswanath (2016): least expected magnitude and square, in units of Δ and Δ²."""
    step, b = 10**6, math.exp(-epsilon)
    magnitude = math.exp(epsilon / 2) / math.expm1(epsilon)
    square = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2
    number = StaircaseNumber(step, Fraction(str(epsilon)))
    assert number.expected_magnitude / step == pytest.approx(magnitude, rel=1e-6)
    assert number.plateau / step == pytest.approx(1 / (1 + math.exp(epsilon / 2)), abs=2e-6)
    squares = replace(number, squares=True)
    assert squares.expected_square / step**2 == pytest.approx(square, rel=1e-6)


@pytest.mark.parametrize(("level", "gain"), [("1/10", 1.0004), ("1", 1.04), ("4", 1.8), ("8", 6.7)])
def test_drawn_noise_is_smaller_than_discrete_laplace_noise(level, gain):
    epsilon = Fraction(level)
    number, rival = StaircaseNumber(1000, epsilon), LaplaceCounts(1000, epsilon)
    q = math.exp(-1 / float(rival.scale))
    expected = 2 * q / (1 - q * q)
    assert expected / number.expected_magnitude > gain
    noise = seeded_noise(5)
    drawn = np.abs(noise.staircase(1000, number.plateau, epsilon=epsilon, size=MILLION))
    spread = math.sqrt(number.expected_square / MILLION)
    assert abs(drawn.mean() - number.expected_magnitude) < 5 * spread


# --- the battery ----------------------------------------------------------------------------------

NUMBER = StaircaseNumber(REACH, Fraction(1), STEP)


def subject(number, *, query=bounded_sum):
    """Return a bounded sum with the noise of a number."""
    return replace(
        SUM,
        release=lambda data, noise: number.release(query(data), noise) * float(STEP),
        release_often=lambda data, noise, runs: (
            (
                query(data).sum()
                + noise.staircase(number.sensitivity, number.plateau, epsilon=number.epsilon, size=runs)
            )
            * float(STEP)
        ),
        query=query,
        law=staircase_law(NUMBER.sensitivity, NUMBER.plateau, NUMBER.epsilon),
    )


def test_battery():
    assert failing(subject(NUMBER)) == {}


MUTANTS = {
    "ε doubled": (StaircaseNumber(REACH, Fraction(2), STEP), {"noise", "audit"}),
    "sensitivity halved": (StaircaseNumber(REACH // 2, Fraction(1), STEP), {"noise", "audit"}),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_battery_kills(name):
    mutant, expected = MUTANTS[name]
    assert set(failing(subject(mutant), only=expected)) == expected


def test_battery_kills_a_plateau_that_is_one_off():
    shorter = seeded_noise(6).staircase(REACH, NUMBER.plateau - 1, epsilon=1, size=MILLION)
    with pytest.raises(CheckFailed):
        check_all(shorter, staircase_law(REACH, NUMBER.plateau, 1))


def test_one_stair_shared_by_two_numbers_is_found():
    """Two sums that both move get one number's noise each: ε would have to be paid twice."""

    def two(data, noise):
        sums = np.repeat(bounded_sum(data), 2)
        return np.concatenate([NUMBER.release(sums[:1], noise), NUMBER.release(sums[1:], noise)]) * float(
            STEP
        )

    shared = replace(
        SUM,
        release=two,
        release_often=lambda data, noise, runs: np.minimum(
            *(
                bounded_sum(data)[0]
                + noise.staircase(REACH, NUMBER.plateau, epsilon=Fraction(1), size=runs).astype(float)
                for _ in range(2)
            )
        ),
        query=None,
        law=None,
    )
    assert set(failing(shared, only={"replay", "audit"})) == {"replay", "audit"}
    with pytest.raises(ValueError, match="one number"):
        NUMBER.release(np.array([1, 2]), seeded_noise(1))


def test_what_is_drawn_is_what_was_declared():
    noise = seeded_noise(7)
    NUMBER.release(np.array([5]), noise)
    assert noise.counted == NUMBER.event.drawn()


def test_every_number_that_is_drawn_is_counted():
    """Two numbers in one call are two events: one that is declared would hide the other."""
    noise = seeded_noise(8)
    noise.staircase(NUMBER.sensitivity, NUMBER.plateau, epsilon=NUMBER.epsilon, size=2)
    assert noise.counted == replace(NUMBER.event, count=2).drawn() != NUMBER.event.drawn()
