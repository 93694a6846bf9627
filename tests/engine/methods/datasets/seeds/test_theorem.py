"""The guarantee of rows from seeds, by enumeration: every row, every set of rows, both directions."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.datasets.seeds import making
from engine.methods.datasets.seeds.making import make_rows, passes, score
from engine.methods.datasets.seeds.plan import plan_test
from engine.privacy.mechanisms import GeometricThreshold, LaplaceThreshold, SeededRows
from tests.engine.methods.datasets.seeds.universe import (
    WeightModel,
    beyond,
    column_model,
    everything,
    hybrid,
    is_of_definition,
    likelihood,
    of_model_alone,
    released,
    sizes_by_definition,
)
from tests.noise_source import seeded_noise

NOISY = [LaplaceThreshold, GeometricThreshold]
KINDS = [SeededRows, *NOISY]
TESTS = [
    SeededRows(threshold, least, rate, ratio, alone, Fraction(0))
    for threshold, least in ((3, 1), (6, 2), (9, 3))
    for rate in (Fraction(1, 2), Fraction(2))
    for ratio in (Fraction(1), Fraction(2))
    for alone in (Fraction(1), Fraction(1, 4))
]
BLURRED = [
    kind(threshold, least, rate, ratio, Fraction(1, 4), Fraction(0))
    for kind in NOISY
    for threshold, least in ((3, 1), (4, 3), (8, 2))
    for rate in (Fraction(1, 2), Fraction(2))
    for ratio in (Fraction(1), Fraction(2))
]


def tables(universe, seeds, model):
    p = np.array([[likelihood(model, seed, row) for row in universe] for seed in seeds])
    return p.reshape(len(seeds), len(universe))


def instances(count, *, sizes=(2, 2, 2), seed=0, anew=Fraction(0)):
    """Yield models with small sets of seeds, the last of which is the one more."""
    chance = np.random.default_rng(seed)
    universe = everything(sizes)
    for place in range(count):
        most = int(chance.integers(1, len(sizes) + 1))
        model = column_model(sizes, int(chance.integers(0, most + 1)), most, place, anew=anew)
        # few different rows, so that crowds form
        some = universe[chance.integers(0, len(universe), 3)]
        yield model, universe, some[chance.integers(0, 3, int(chance.integers(1, 9)))]


def worst(test, cases):
    """Return the largest excess over the claimed (ε, δ) of one row, over all cases and both directions."""
    epsilon, delta = map(float, test.each())
    found = -1.0
    for model, universe, seeds in cases:
        p, alone = tables(universe, seeds, model), np.array([of_model_alone(model, y) for y in universe])
        more, fewer = released(seeds, p, alone, test), released(seeds[:-1], p[:-1], alone, test)
        found = max(found, beyond(more, fewer, epsilon) - delta, beyond(fewer, more, epsilon) - delta)
    return found


@pytest.fixture(scope="module")
def cases():
    return list(instances(25))


@pytest.mark.parametrize("test", TESTS + BLURRED, ids=str)
def test_one_more_seed_moves_no_set_of_rows_beyond_the_claim(test, cases):
    assert worst(test, cases) <= 1e-12


@pytest.mark.parametrize("test", TESTS[::5] + BLURRED[::7], ids=str)
def test_nor_where_everybody_could_have_led_to_every_row(test):
    assert worst(test, list(instances(15, seed=3, anew=Fraction(1, 3)))) <= 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_a_claim_that_is_too_small_is_found(cases, kind):
    """The bound is worth something: a quarter of its ε does not hold of a steep test."""

    def claim(test):
        level, failure = kind.each(test)
        return level / 4, failure

    mutant = type("Claims", (kind,), {"each": claim})
    parameters = 4, 2, Fraction(3), Fraction(1), Fraction(1), Fraction(0)
    assert worst(kind(*parameters), cases) <= 1e-12 and worst(mutant(*parameters), cases) > 1e-3


def test_failures_that_are_seen_would_break_it():
    """60 alike and one more who is alone: that nothing was released tells of that one."""
    test = SeededRows(40, 5, Fraction(4, 5), Fraction(1), Fraction(1, 20), Fraction(0))
    epsilon, delta = map(float, test.each())
    p = np.zeros((61, 2))
    p[:60, 0], p[60, 1] = 1, 1  # every seed is copied

    def outcomes(p):
        sizes = [[sizes_by_definition(test, p[:, row].tolist(), d) for d in range(len(p))] for row in (0, 1)]
        passing = [
            sum(p[d, row] * test.chance(sizes[row][d]) for d in range(len(p))) / len(p) for row in (0, 1)
        ]
        return np.array([*passing, 1 - sum(passing)])

    with_failure, without = outcomes(p), outcomes(p[:-1])
    assert beyond(with_failure, without, epsilon) > 0.015 > delta
    assert beyond(with_failure[:2], without[:2], epsilon) <= delta
    alone = np.array([0.5, 0.5])
    hidden = [released(p[:n], p[:n], alone, test) for n in (61, 60)]
    assert max(beyond(*hidden, epsilon), beyond(*hidden[::-1], epsilon)) <= delta


@pytest.mark.parametrize("kind", NOISY)
def test_rows_given_that_they_passed_are_not_what_the_theorems_speak_of(kind):
    """60 people who are all different: each row that leaves is somebody's, and that of one more is new.

    Theorem 4.1 and corollary 4.1 hold of one try, which may release nothing. A table that is filled by
    trying until enough rows passed has rows given that they passed, and no (ε, δ) below 1 in so many people.
    """
    test = kind(40, 5, Fraction(4, 5), Fraction(2), Fraction(1), Fraction(0))
    epsilon, p = float(test.each()[0]), np.eye(61)
    delta = test.chance(test.least)  # as published for one try

    def passing(n):
        return np.array([p[d, d] * test.chance(1) / n for d in range(n)] + [0.0] * (61 - n))

    tried = [passing(n) for n in (61, 60)]
    assert max(beyond(*tried, epsilon), beyond(*tried[::-1], epsilon)) <= delta < 1e-11
    filled = [one / one.sum() for one in tried]
    assert beyond(*filled, epsilon) == pytest.approx(1 / 61)
    alone = np.full(61, 1 / 61)
    mended = [released(p[:n], p[:n], alone, test) for n in (61, 60)]
    assert max(beyond(*mended, epsilon), beyond(*mended[::-1], epsilon)) <= delta


def test_a_sharp_threshold_bounds_no_loss(monkeypatch):
    """The last of a crowd of 30 decides whether its row leaves: next to never, or most of the time."""
    monkeypatch.setattr(SeededRows, "chance", lambda test, size: float(size >= test.threshold))
    test = SeededRows(30, 5, Fraction(4, 5), Fraction(2), Fraction(1, 20), Fraction(0))
    p = np.tile([1.0, 0.0], (30, 1))
    alone = np.array([0.001, 0.999])
    crowd, fewer = (released(p[:n], p[:n], alone, test) for n in (30, 29))
    assert crowd[0] > 0.9 and fewer[0] == pytest.approx(0.001)
    assert beyond(crowd, fewer, 5.0) > 0.7


# --- crowds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("anew", [Fraction(0), Fraction(1, 4)])
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(2), Fraction(4)])
def test_crowds_are_those_of_the_definition(ratio, anew):
    test = replace(TESTS[0], ratio=ratio)
    for place, (model, _, seeds) in enumerate(instances(60, sizes=(2, 3, 2, 2), seed=9, anew=anew)):
        noise = seeded_noise(place)
        of = seeds[noise.uniform_below(len(seeds), 6)]
        rows = model.made(of, noise)
        found = score(model.crowds(seeds)(rows, of), test)
        for row, seed, size in zip(rows, of, found, strict=True):
            p = [likelihood(model, one, row) for one in seeds]
            own = next(d for d, one in enumerate(seeds) if (one == seed).all())
            assert is_of_definition(size, test, p, own)


def test_one_more_seed_adds_at_most_one_and_takes_nothing():
    test = replace(TESTS[0], ratio=Fraction(1))
    for model, universe, seeds in instances(60, sizes=(2, 2, 3), seed=4):
        of = np.repeat(seeds[:1], 8, axis=0)
        rows = model.made(of, seeded_noise(1))
        before = score(model.crowds(seeds)(rows, of), test)
        for more in universe:
            after = score(model.crowds(np.vstack([seeds, more]))(rows, of), test)
            assert ((after - before >= 0) & (after - before <= 1)).all()


@pytest.mark.parametrize("b", [Fraction(1), Fraction(1, 3)])
def test_other_models_take_part(b):
    """The Hamming model and the hybrid one."""
    model, universe = WeightModel(3, b), everything((2, 2, 2))
    seeds = universe[[0, 1, 1, 3, 5, 6]]
    for ratio in (Fraction(1), Fraction(2)):
        test = replace(TESTS[0], ratio=ratio)
        of = np.repeat(seeds, 4, axis=0)
        rows = model.made(of, seeded_noise(3))
        found = score(model.crowds(seeds)(rows, of), test)
        for row, seed, size in zip(rows, of, found, strict=True):
            p = [hybrid(model, one.sum(), row.sum()) for one in seeds]
            own = next(d for d, one in enumerate(seeds) if (one == seed).all())
            assert is_of_definition(size, test, p, own)


# --- drawing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "anew"), [(3, Fraction(0)), (1, Fraction(2, 5)), (0, Fraction(0))])
def test_rows_are_drawn_with_the_likelihood_that_is_computed(most, anew):
    model, universe = column_model((2, 3, 2), min(1, most), most, 5, anew=anew), everything((2, 3, 2))
    seed, n = universe[7], 40_000
    rows = model.made(np.repeat(seed[None, :], n, axis=0), seeded_noise(2))
    exact = np.array([likelihood(model, seed, row) for row in universe])
    counts = np.bincount(rows @ [6, 2, 1], minlength=len(universe))
    assert exact.sum() == pytest.approx(1) and counts[exact == 0].sum() == 0
    deviation = np.sqrt(n * exact * (1 - exact))
    assert (np.abs(counts - n * exact) <= 5 * deviation + 1e-9).all()


def furthest(ratio, kind=SeededRows):
    """Return by how many standard deviations the rows that leave are off what was enumerated, the worst."""
    model, universe = column_model((2, 2, 2), 1, 2, 3), everything((2, 2, 2))
    seeds = universe[[0, 0, 1, 5, 5, 5, 6]]
    test = kind(4, 1, Fraction(1, 2), ratio, Fraction(1, 4), Fraction(0), count=40_000)
    rows = make_rows(model, seeds, test, seeded_noise(8)).rows
    alone = np.array([of_model_alone(model, y) for y in universe])
    exact = released(seeds, tables(universe, seeds, model), alone, test)
    counts = np.bincount(rows @ [4, 2, 1], minlength=8)
    return (np.abs(counts - test.count * exact) / np.sqrt(test.count * exact * (1 - exact))).max()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(2)])
def test_what_leaves_has_the_probability_that_was_enumerated(ratio, kind):
    assert furthest(ratio, kind) <= 5


def steeper(scores, test, noise):
    return passes(scores, replace(test, rate=4 * test.rate), noise)


def sharp(scores, test, noise):
    return scores >= test.threshold


def lower(scores, test, noise):
    return passes(scores, replace(test, threshold=2), noise)


def all_of_them(scores, test, noise):
    return np.ones(len(scores), dtype=bool)


def never_alone(seeds, test, n, noise):
    return noise.uniform_below(seeds, n)


MUTANTS = [
    ("passes", steeper),
    ("passes", sharp),
    ("passes", lower),
    ("passes", all_of_them),
    ("_sources", never_alone),
    ("score", lambda crowd, test: crowd.counts.sum(axis=1)),
]


@pytest.mark.parametrize(("name", "mutant"), MUTANTS)
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(2)])
def test_another_test_than_the_one_that_is_paid_for_is_found(name, mutant, ratio, monkeypatch):
    monkeypatch.setattr(making, name, mutant)
    assert furthest(ratio) > 6


def never_turned(one, n, noise):
    return np.ones(n, dtype=bool)


@pytest.mark.parametrize("kind", NOISY)
@pytest.mark.parametrize(
    ("owner", "name", "mutant"),
    [
        (making, "passes", steeper),
        (making, "passes", sharp),
        (making, "passes", lower),
        (making, "passes", lambda scores, test, noise: SeededRows.passed(test, scores, noise)),
        (None, "_on_one_side", never_turned),
    ],
)
def test_other_noise_than_the_one_that_is_paid_for_is_found(kind, owner, name, mutant, monkeypatch):
    monkeypatch.setattr(owner or kind, name, mutant)
    assert furthest(Fraction(1), kind) > 6


def test_the_threshold_is_not_sharp_and_has_a_floor():
    test = SeededRows(12, 4, Fraction(1, 3), Fraction(1), Fraction(1, 20), Fraction(0))
    for size in (0, 3, 4, 8, 11, 12, 50):
        passed = passes(np.full(20_000, size), test, seeded_noise(size)).mean()
        exact = test.chance(size)
        assert abs(passed - exact) <= 5 * math.sqrt(exact * (1 - exact) / 20_000)
    assert test.chance(3) == 0 and test.chance(12) == 1


@pytest.mark.parametrize("kind", NOISY)
@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(2)])
def test_noisy_thresholds_pass_as_often_as_their_noise_says(kind, rate):
    """P(x >= k + Z), Z added up from its distribution."""
    test, beta = kind(12, 4, rate, Fraction(1), Fraction(1, 20), Fraction(0)), float(rate)
    alpha = math.exp(-beta)

    def at_least(j):  # P(−Z >= j)
        if kind is LaplaceThreshold:
            return math.exp(-beta * j) / 2 if j >= 0 else 1 - math.exp(beta * j) / 2
        return sum((1 - alpha) / (1 + alpha) * alpha ** abs(z) for z in range(j, 400))

    for size in (0, 3, 8, 11, 12, 13, 20):
        assert test.chance(size) == pytest.approx(at_least(12 - size), rel=1e-9)
        passed = passes(np.full(20_000, size), test, seeded_noise(size)).mean()
        exact = test.chance(size)
        assert abs(passed - exact) <= 5 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-9
    assert test.chance(test.nearly_sure) > 0.99


@pytest.mark.parametrize("kind", NOISY)
@pytest.mark.parametrize("rows", [1, 100, 10_000])
def test_the_lot_lets_every_crowd_through_that_noise_does_at_the_same_level(kind, rows):
    limits = {"epsilon": Fraction(1), "delta": Fraction(1, 2**40), "ratio": Fraction(1)}
    lot, noisy = plan_test(rows, **limits), plan_test(rows, kind=kind, **limits)
    assert (lot.least, lot.rate) == (noisy.least, noisy.rate) and noisy.threshold <= lot.threshold
    assert noisy.stated()[0] <= 1 and noisy.stated()[1] <= limits["delta"]
    step = math.exp(float(lot.rate))  # thresholds are whole numbers
    for size in range(lot.least, 2 * lot.threshold, max(1, lot.threshold // 50)):
        assert noisy.chance(size) <= lot.chance(size) * step
    assert noisy.chance(lot.threshold) < 1 == lot.chance(lot.threshold)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_it_ends_with_as_many_rows_whoever_the_seeds_are(n):
    """Nobody passes: all rows come from the model alone."""
    model, universe = column_model((2, 2, 2), 0, 0, 1), everything((2, 2, 2))
    test = SeededRows(500, 100, Fraction(1, 10), Fraction(1), Fraction(1, 20), Fraction(0), count=30)
    found = make_rows(model, universe[:n], test, seeded_noise(n))
    assert found.rows.shape == (30, 3) and found.alone == 30


def test_sources_are_drawn_in_the_stated_proportion():
    test = replace(TESTS[0], alone=Fraction(1, 20))
    drawn = making._sources(100, test, 50_000, seeded_noise(1))
    assert drawn.max() == 99 and abs((drawn < 0).mean() - 1 / 21) < 5 * math.sqrt(1 / 21 / 50_000)
