"""Vector noise: its law point by point, its draws, its cost, the battery, and mutants."""

import itertools
import math
import tracemalloc
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from engine.privacy import exact_vector
from engine.privacy import exact_vector as exact_shells
from engine.privacy.accounting import total
from engine.privacy.event_json import event_from_json, event_to_json
from engine.privacy.exact_vector import coordinate_weights, floor_of, scaled_bracket, shells_of
from engine.privacy.mechanisms import LaplaceCounts, Vector, VectorNoise
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from tests.engine.battery.checks import failing
from tests.engine.battery.distributions import (
    ALPHA,
    CheckFailed,
    check_all,
    check_pmf,
    laplace_law,
    listed_law,
)
from tests.engine.battery.neighbours import coded_rows
from tests.engine.battery.subject import Subject
from tests.noise_source import seeded_noise

MANY = 200_000
LAWS = [
    (Fraction(1, 400), 2),
    (Fraction(1, 9), 3),
    (Fraction(1), 1),
    (Fraction(1), 3),
    (Fraction(5), 2),
    (Fraction(40), 2),
    (Fraction(300), 1),
    (Fraction(1, 2), 4),
]
"""Squared scale and dimension: without fine digits, with them, nearly without noise."""


def box(squared_scale, dimension, reach=None):
    """Return all points with coordinates up to a limit, and their lengths in scales."""
    reach = reach or math.ceil(math.sqrt(squared_scale) * 3) + 2
    axis = np.arange(-reach, reach + 1)
    points = np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    return points, np.sqrt((points**2).sum(axis=1) / float(squared_scale))


def chi_square(counts, shares):
    """Return nothing where draws follow probabilities that add up to one; false alarms: ALPHA."""
    from scipy.stats import chi2

    expected = shares * counts.sum()
    rare = expected < 20
    if expected[rare].sum() > 5:
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    else:
        assert counts[rare].sum() < 60
        counts, expected = counts[~rare], expected[~rare]
    statistic = float(((counts - expected) ** 2 / expected).sum())
    if counts.size > 1 and chi2.sf(statistic, counts.size - 1) < ALPHA:
        raise CheckFailed(f"χ² {statistic:.1f} at {counts.size - 1} degrees of freedom")


def check_points(draws, squared_scale):
    """χ² test of every point near 0, all others together."""
    dimension = draws.shape[1]
    reach = max(1, min(4, math.ceil(math.sqrt(squared_scale))))
    wide = math.ceil(math.sqrt(squared_scale) * (30 if dimension < 3 else 22)) + 2
    _, lengths = box(squared_scale, dimension, wide)
    sums = np.exp(-lengths).sum()
    points, near = box(squared_scale, dimension, reach)
    shares = np.exp(-near) / sums
    inside = (np.abs(draws) <= reach).all(axis=1)
    sides = 2 * reach + 1
    places = (draws[inside] + reach) @ sides ** np.arange(dimension)[::-1]
    counts = np.bincount(places.astype(np.int64), minlength=len(points))
    chi_square(np.append(counts, (~inside).sum()), np.append(shares, max(0.0, 1 - shares.sum())))


# --- the law --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("squared", "dimension"), LAWS, ids=str)
def test_every_way_to_a_point_makes_the_law(squared, dimension):
    """What a shell, its Gaussian, the fine digits and the last trial give a point, multiplied out.

    For every point of the box: the same multiple of e^(−‖z‖/s), and no trial that would need more than one.
    """
    shells = shells_of(squared, dimension)
    reach = 3 if dimension > 3 else 6 if dimension == 3 else 40
    points = box(squared, dimension, reach)[0]
    step, half = 1 << shells.digits, (1 << shells.digits) >> 1
    ratios = []
    with mpmath.workdps(60):
        for z in points.tolist()[:: max(1, len(points) // 300)]:
            y = [(value + half) // step for value in z]
            square = sum(value**2 for value in y)
            found = [one for one in shells.inner if one.first <= square < one.end]
            assert len(found) == 1 or (not found and square >= shells.inner[-1].end)
            shell = found[0] if found else far_of(shells, square)
            rate, lift = exactly(shell.rate), exactly(shell.lift)
            length = mpmath.sqrt(exactly(Fraction(sum(value**2 for value in z)) / squared))
            gamma = length - rate * square + lift
            assert gamma >= 0
            proposed = exactly(shells.factor(shell)) * mpmath.exp(lift - exactly(shells.top))
            for value in y:
                proposed *= mpmath.mpf(2) ** 32 * mpmath.exp(-rate * value**2) / shell.weight
            ratios.append(proposed * mpmath.exp(-gamma) * mpmath.exp(length))
        assert max(ratios) / min(ratios) - 1 < mpmath.mpf(10) ** -40


def far_of(shells, square):
    return next(shell for shell in map(shells.far, itertools.count()) if shell.first <= square < shell.end)


def exactly(value):
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize(
    ("squared", "dimension"),
    [*LAWS, (Fraction(900), 30), (Fraction(1, 4), 40), (Fraction(10**9), 8)],
    ids=str,
)
def test_shells_cover_everything_once_and_weigh_no_more_than_they_may_take(squared, dimension):
    shells = shells_of(squared, dimension)
    assert shells.inner[0].first == 0
    assert all(one.end == two.first for one, two in itertools.pairwise(shells.inner))
    assert shells.far(0).first == shells.inner[-1].end
    assert all(shells.far(k).end == shells.far(k + 1).first for k in range(3))
    for shell, units in zip(shells.inner, shells.units, strict=False):
        low, high = scaled_bracket(shells.factor(shell), shells.top - shell.lift, 64)
        assert (units - 1) << 64 <= high and low < units << 64
    for doublings in range(6):
        shell = shells.far(doublings)
        high = scaled_bracket(shells.factor(shell, doublings), shells.top - shell.lift, 64)[1]
        assert high <= 1 << 64
    assert shells.units[-1] == 1 and 2**57 < sum(shells.units) < 2**61


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 50), Fraction(4, 3)])
def test_coordinates_are_weighed_between_bounds(rate):
    reach = 30
    lower, ends = coordinate_weights(rate, reach)
    upper = np.diff(np.concatenate(([0], ends)))
    with mpmath.workdps(40):
        for y in range(-reach, reach + 1):
            exact = mpmath.exp(-exactly(rate) * y**2) * 2**32
            assert lower[y + reach] <= exact <= upper[y + reach] and upper[y + reach] >= 1


def test_brackets_and_floors_are_right():
    with mpmath.workdps(80):
        for factor, gamma in itertools.product(
            [Fraction(1, 10**9), Fraction(7, 3), Fraction(10**30)],
            [Fraction(0), Fraction(1, 7), Fraction(90)],
        ):
            exact = exactly(factor) * mpmath.exp(-exactly(gamma))
            assert floor_of(factor, gamma) == int(mpmath.floor(exact))
            low, high = scaled_bracket(factor, gamma, 50)
            assert low <= exact * 2**50 <= high <= low + 3


# --- the draws ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("squared", "dimension"), LAWS, ids=str)
def test_draws_follow_the_law_point_by_point(squared, dimension):
    draws = seeded_noise(1).vector(squared, dimension, size=MANY)
    assert draws.dtype == np.int64 and draws.shape == (MANY, dimension)
    check_points(draws, squared)


@pytest.mark.parametrize("scale", [Fraction(1, 2), 1, Fraction(355, 113), 1000, 2**40], ids=str)
def test_in_one_dimension_it_is_discrete_laplace(scale):
    draws = seeded_noise(2).vector(Fraction(scale) ** 2, 1, size=MANY)[:, 0]
    check_all(draws, laplace_law(scale))


@pytest.mark.parametrize(("scale", "dimension"), [(3, 2), (50, 2), (2, 3)])
def test_a_coordinate_and_a_sum_follow_the_law(scale, dimension):
    """The whole tail, which a test of points near 0 does not see."""
    reach = 30 * scale
    points, lengths = box(Fraction(scale**2), dimension, min(reach, 900 if dimension == 2 else 60))
    weights = np.exp(-lengths)
    draws = seeded_noise(3).vector(scale**2, dimension, size=MANY)
    far = points[:, 0].max()
    assert np.abs(draws).max() <= far
    check_pmf(draws[:, -1], listed_law(np.bincount(points[:, 0] + far, weights=weights)))
    sums = points.sum(axis=1)
    check_pmf(draws.sum(axis=1), listed_law(np.bincount(sums - sums.min(), weights=weights)))


@pytest.mark.parametrize(("scale", "dimension"), [(40, 4), (10**6, 3), (300, 12), (1000, 30), (2**45, 100)])
def test_wide_noise_has_the_length_and_direction_of_continuous_noise(scale, dimension):
    """Length Gamma(d, s), direction uniform: Kolmogorov's test at the rate of false alarms of all others.

    The sum over whole vectors differs from the integral by a share below e^(−2π s), nothing here; a length
    by less than √d of s d.
    """
    from scipy.stats import beta, gamma, kstest

    draws = seeded_noise(4).vector(scale**2, dimension, size=20_000).astype(np.float64)
    lengths = np.sqrt((draws**2).sum(axis=1))
    assert kstest(lengths / scale, gamma(dimension).cdf).pvalue > ALPHA
    for place in (0, dimension - 1):  # the square of a coordinate of a direction is Beta(½, (d − 1)/2)
        squares = (draws[:, place] / lengths) ** 2
        assert kstest(squares, beta(0.5, (dimension - 1) / 2).cdf).pvalue > ALPHA
    assert abs((draws > 0).mean() - 0.5) < 5 / math.sqrt(draws.size) + 0.02 / scale
    whole = draws.astype(np.int64)
    assert abs((whole % 2).mean() - 0.5) < 5 / math.sqrt(2 * draws.size) * math.sqrt(dimension)


def test_far_shells_are_drawn_as_they_should(monkeypatch):
    """With far shells that take a share of 2^-4 and more, draws follow the same law."""
    monkeypatch.setattr(exact_shells, "SHELL_BITS", 3)
    shells_of.cache_clear()
    seen = []
    monkeypatch.setattr(exact_shells.Shells, "far", watched(exact_shells.Shells.far, seen))
    draws = seeded_noise(5).vector(1, 2, size=6_000)
    shells_of.cache_clear()
    assert len(seen) > 100 and {0, 1, 2} <= set(seen)
    check_points(draws, Fraction(1))


def watched(far, seen):
    def watching(shells, doublings):
        if shells.units:
            seen.append(doublings)
        return far(shells, doublings)

    return watching


def test_a_far_shell_gives_far_points():
    """What far shells give, were they drawn: all beyond the others, with the weights of the law."""
    shells = shells_of(Fraction(1), 1)
    first = shells.inner[-1].end
    points, whole = seeded_noise(6)._points(shells.far(0), 20_000, 1)
    assert whole.all()
    assert (points**2 >= first).any() and (points**2 < 4 * first).all()


def test_floats_never_decide(monkeypatch):
    """Every trial by exact arithmetic gives the same draws as floats with their margin."""
    quick = seeded_noise(7).vector(Fraction(7, 2), 3, size=300)
    exact_trials = []
    original = exact_vector._is_below_root

    def counted(prefix, bits, square, more):
        exact_trials.append(bits)
        return original(prefix, bits, square, more)

    monkeypatch.setattr(exact_vector, "_is_below_root", counted)
    monkeypatch.setattr(
        exact_vector, "compare_words", lambda words, gammas: (words < 0, np.ones(words.size, dtype=bool))
    )
    slow = seeded_noise(7).vector(Fraction(7, 2), 3, size=300)
    assert len(exact_trials) > 300 and (quick == slow).all()


def test_beyond_62_bits_draws_are_python_integers():
    draws = seeded_noise(8).vector(2**180, 3, size=200)
    assert draws.dtype == object and all(type(value) is int for value in draws.ravel().tolist())
    lengths = [math.sqrt(float(sum(value**2 for value in row)) / 2.0**180) for row in draws.tolist()]
    assert abs(sum(lengths) / 200 - 3) < 5 * math.sqrt(3 / 200)
    assert not seeded_noise(8).vector(Fraction(1, 2**900), 5, size=50).any()
    assert seeded_noise(8).vector(1, 4, size=0).shape == (0, 4)


@pytest.mark.parametrize(("digits", "dimension"), [(41, 1), (44, 3), (46, 1000), (55, 200), (58, 1000)])
def test_wide_noise_of_many_numbers_fits_what_it_is_kept_in(digits, dimension):
    """A coordinate is about s √d: of 1,000 dimensions far beyond the scale."""
    draws = seeded_noise(13).vector(4**digits, dimension, size=20)
    lengths = [math.sqrt(sum((value / 2**digits) ** 2 for value in row)) for row in draws.tolist()]
    assert abs(sum(lengths) / 20 - dimension) < 5 * math.sqrt(dimension / 20)


def test_the_shells_of_1000_dimensions_take_little_memory():
    shells_of.cache_clear()
    coordinate_weights.cache_clear()
    tracemalloc.start()
    try:
        seeded_noise(14).vector(10**12, 1000, size=2)
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 80 * 2**20 and most < 150 * 2**20


def test_every_vector_that_is_drawn_is_counted():
    drawn = seeded_noise(15)
    drawn.vector(9, 2, size=3)
    drawn.vector(9, 2, size=0)
    event = VectorNoise(9, Fraction(1), 2).event
    assert drawn.counted == replace(event, count=3).drawn() != event.drawn()


def test_the_tests_see_what_is_wrong():
    """Scale halved, laplace noise on every number, another dimension's length, one point too often."""
    noise = seeded_noise(9)
    with pytest.raises(CheckFailed):
        check_points(noise.vector(Fraction(5, 4), 2, size=MANY), Fraction(5))
    with pytest.raises(CheckFailed):
        check_points(noise.discrete_laplace(2, 2 * MANY).reshape(MANY, 2), Fraction(4))
    with pytest.raises(CheckFailed):
        check_points(noise.vector(4, 3, size=MANY)[:, :2], Fraction(4))
    draws = noise.vector(4, 2, size=MANY)
    with pytest.raises(CheckFailed):
        check_points(np.concatenate([draws, draws[(draws == 0).all(axis=1)]]), Fraction(4))
    with pytest.raises(CheckFailed):
        check_points(np.abs(draws), Fraction(4))
    with pytest.raises(CheckFailed):
        check_points(noise.vector(Fraction(21, 5), 2, size=MANY), Fraction(4))


def test_the_tests_see_a_sampler_that_leaves_something_out(monkeypatch):
    """No last trial; the last fine digit always 0."""
    with monkeypatch.context() as patched:
        everything = lambda door, floats, slack, decided: np.ones(floats.size, dtype=bool)  # noqa: E731
        patched.setattr(exact_vector.ExactVector, "_below_roots", everything)
        with pytest.raises(CheckFailed):
            check_points(seeded_noise(12).vector(Fraction(5), 2, size=MANY), Fraction(5))
    assert shells_of(Fraction(40), 2).digits > 0
    fine = exact_vector.ExactVector._fine
    monkeypatch.setattr(exact_vector.ExactVector, "_fine", lambda *given: fine(*given) // 2 * 2)
    with pytest.raises(CheckFailed):
        check_points(seeded_noise(12).vector(Fraction(40), 2, size=MANY), Fraction(40))


# --- what it costs --------------------------------------------------------------------------------


@pytest.mark.parametrize(("shift", "length"), [((3, 4), 5), ((5, 0), 5), ((3, 3), math.sqrt(18))])
def test_epsilon_is_kept_at_every_point_and_reached_at_zero(shift, length):
    """ln P(z)/P(z − a) = (‖z − a‖ − ‖z‖)/s for whole a: at most ‖a‖/s, and that much at z = 0."""
    noise = VectorNoise(25, Fraction(3, 2), 2)
    points, lengths = box(noise.squared_scale, 2, 60)
    moved = np.sqrt(((points - np.array(shift)) ** 2).sum(axis=1) / float(noise.squared_scale))
    worst = float(np.abs(lengths - moved).max())
    assert worst == pytest.approx(1.5 * length / 5, rel=1e-12) and worst < 1.5 + 1e-12


def test_sensitivity_in_the_wrong_norm_breaks_it():
    """A vector that moves by 1 in every one of four numbers: its length is 2, not 1."""
    wrong, right = VectorNoise(1, Fraction(1), 4), VectorNoise(4, Fraction(1), 4)
    shift = np.ones(4)
    for noise, kept in ((wrong, False), (right, True)):
        assert (math.sqrt(shift @ shift / float(noise.squared_scale)) <= 1 + 1e-12) is kept


def test_the_event_says_what_was_spent():
    noise = VectorNoise(Fraction(10), Fraction(1, 3), 6)
    event = noise.event
    assert event == event_from_json(event_to_json(event))
    assert event.epsilon() == Fraction(1, 3)
    assert event.exchanged().epsilon() == Fraction(2, 3)
    assert event.exchanged().drawn() == event.drawn()
    assert event.sensitivity**2 >= 10 and float(event.sensitivity) == pytest.approx(math.sqrt(10), rel=1e-11)
    assert VectorNoise(9, Fraction(1, 2), 4).event.scale == 6
    assert VectorNoise(9, Fraction(1, 2), 4).event.sensitivity == 3
    rounded = Vector(Fraction(3), Fraction(10), 6).epsilon()
    assert 0 < float(rounded) - math.sqrt(10 / 3) < 1e-11 and rounded**2 > Fraction(10, 3)
    drawn = seeded_noise(10)
    noise.release(np.arange(6), drawn)
    assert drawn.counted == event.drawn()
    with pytest.raises(ValueError, match="dimension"):
        noise.release(np.arange(5), drawn)


def test_the_accountant_takes_it_as_any_pure_mechanism():
    event = replace(VectorNoise(10, Fraction(1, 10), 6).event, count=50)
    promise = Promise(
        "differential_privacy", Loss(Fraction(5), Fraction(0), Neighbours.ADD_REMOVE, event), Unit.PERSON, 1
    )
    assert total([promise], delta=Fraction(0)).epsilon == 5
    assert 2 < total([promise], delta=Fraction(1, 10**6)).epsilon < 5


@pytest.mark.parametrize(
    "wrong", [{"squared_scale": Fraction(0)}, {"squared_sensitivity": Fraction(-1)}, {"dimension": 0}]
)
def test_an_event_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(Exception, match="unknown_event"):
        replace(Vector(Fraction(1), Fraction(1), 1), **wrong)


# --- how good it is -------------------------------------------------------------------------------


@pytest.mark.parametrize(("squared", "dimension"), LAWS[1:], ids=str)
def test_the_deviation_is_never_understated(squared, dimension):
    reach = math.ceil(math.sqrt(squared) * (40 if dimension < 3 else 22)) + 2
    points, lengths = box(squared, dimension, reach)
    weights = np.exp(-lengths)
    found = math.sqrt(float(weights @ points[:, 0] ** 2 / weights.sum()))
    stated = VectorNoise(squared, Fraction(1), dimension).deviation
    assert found <= stated * (1 + 1e-9)
    if squared >= 1:
        assert found > 0.9 * stated


@pytest.mark.parametrize(("dimension", "gain"), [(2, 1.33), (10, 1.8), (30, 1.9)])
def test_it_beats_laplace_noise_where_a_person_moves_every_number(dimension, gain):
    """Every number moves by 20 steps: lengths 20 d and 20 √d. Squared errors, drawn."""
    noise = seeded_noise(11)
    vector, laplace = (
        VectorNoise(400 * dimension, Fraction(1), dimension),
        LaplaceCounts(20 * dimension, Fraction(1)),
    )
    drawn = noise.vector(vector.squared_scale, dimension, size=4_000).astype(float)
    rival = noise.discrete_laplace(laplace.scale, 4_000 * dimension).astype(float)
    spread = 5 * math.sqrt(20 / 4_000)
    assert (rival**2).mean() / (drawn**2).mean() > gain * (1 - spread)
    assert 2 * float(laplace.scale) ** 2 / vector.deviation**2 > gain


# --- the battery ----------------------------------------------------------------------------------

CELLS = 4
PEOPLE = np.array([1, 3, 3, 0, 2, 3])


def moved_together(data):
    """A row adds its place to every cell: L2 sensitivity √(0 + 1 + 4 + 9) for the last one."""
    return np.array([(data * place).sum() for place in range(CELLS)])


SQUARED = 9 * (1 + 4 + 9)
HONEST = VectorNoise(SQUARED, Fraction(1), CELLS)


def subject(noise):
    """Sums that move along one line, and the projection of the release on it: the worst question."""
    way = np.arange(CELLS) / math.sqrt(14)

    def often(data, door, runs):
        return (moved_together(data) + door.vector(noise.squared_scale, CELLS, size=runs)) @ way

    return Subject(
        release=lambda data, door: noise.release(moved_together(data), door),
        epsilon=Fraction(1),
        pair=(PEOPLE, PEOPLE[:-1]),
        query=moved_together,
        sensitivity=3 * (1 + 2 + 3),
        step=Fraction(1),
        neighbours=coded_rows(CELLS),
        statistic=lambda released: float(released @ way),
        release_often=often,
        audit_runs=60_000,
    )


def test_battery():
    assert failing(subject(HONEST)) == {}


MUTANTS = {
    "scale an eighth": replace(HONEST, epsilon=Fraction(8)),
    "sensitivity of the largest number": replace(HONEST, squared_sensitivity=1),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_battery_kills(name):
    assert set(failing(subject(MUTANTS[name]), only={"audit"})) == {"audit"}
