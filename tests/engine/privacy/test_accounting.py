"""Several releases together: exact sums, refusals, and composed bounds against known answers."""

import math
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from engine.errors import InputRefused
from engine.privacy.accounting import as_neighbours, to_replace_one, total
from engine.privacy.events import Parallel, Sequential
from engine.privacy.gaussian import continuous_delta
from engine.privacy.mechanisms import (
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianCounts,
    Laplace,
    LaplaceCounts,
    RandomisedResponse,
    Stated,
)
from engine.privacy.mechanisms.permute_and_flip import FlipChoice
from engine.privacy.promise import Loss, Neighbours, Promise, Unit

ADD_REMOVE, REPLACE_ONE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
DELTA = Fraction(1, 10**6)


def promised(event, epsilon, *, delta=Fraction(0), neighbours=ADD_REMOVE, unit=Unit.ROW):
    kind = "approximate_dp" if delta else "pure_dp"
    return Promise(kind, Loss(Fraction(epsilon), delta, neighbours, event), unit, 1)


def laplace(epsilon, **options):
    return promised(LaplaceCounts(1, Fraction(epsilon)).event, epsilon, **options)


def gaussian(epsilon, *, square=1, **options):
    event = GaussianCounts(square, Fraction(epsilon), DELTA).event
    return promised(event, epsilon, delta=DELTA, **options)


def claiming(promise, epsilon):
    return replace(promise, loss=replace(promise.loss, epsilon=epsilon))


def continuous(scale, epsilon, delta):
    event = Gaussian(Fraction(scale), Fraction(1))
    return promised(event, epsilon, delta=delta)


# --- events --------------------------------------------------------------------------------------


def test_every_pure_mechanism_by_hand():
    by_hand = [
        (Laplace(Fraction(4), Fraction(2)), Fraction(1, 2)),
        (DiscreteLaplace(Fraction(1, 3), Fraction(1), count=5), Fraction(15)),
        (Exponential(Fraction(4), Fraction(1)), Fraction(1, 2)),
        (FlipChoice(Fraction(3, 2), Fraction(1, 7)).event, Fraction(1, 7)),
        (Exponential(Fraction(4), Fraction(1), monotone=True), Fraction(1, 4)),
    ]
    for event, epsilon in by_hand:
        assert event.epsilon() == epsilon


def test_randomised_response_is_rounded_up():
    event = RandomisedResponse(Fraction(3, 4), 2)
    found = event.epsilon()
    assert 0 <= float(found) - math.log(3) < 1e-11


def test_sequences_add_and_disjoint_parts_take_the_largest():
    one, two = (Laplace(Fraction(b), Fraction(1)) for b in (1, 2))
    assert Sequential((one, two)).epsilon() == Fraction(3, 2)
    assert Parallel((one, two)).epsilon() == 1
    assert Sequential(()).epsilon() == 0


def test_disjoint_parts_cover_each_part_however_often_they_are_asked():
    small, large = Stated("test", Fraction(99, 100)), Laplace(Fraction(1), Fraction(1))
    one, both = (
        total([promised(event, 2) for _ in range(40)], delta=Fraction(1, 10**6)).epsilon
        for event in (small, Parallel((small, large)))
    )
    assert both >= one


def test_disjoint_parts_are_refused_under_replace_one():
    one = Laplace(Fraction(1), Fraction(1))
    tree = Sequential((Parallel((one, one)),))
    with pytest.raises(InputRefused, match=r"accounting\.parallel_replace_one"):
        total([promised(tree, 1, neighbours=REPLACE_ONE)], delta=Fraction(0))


@pytest.mark.parametrize(
    "event",
    [
        lambda: promised("laplace", 1),
        lambda: Laplace(Fraction(0), Fraction(1)),
        lambda: Laplace(Fraction(1), Fraction(-1)),
        lambda: Laplace(Fraction(1), Fraction(1), count=-1),
        lambda: RandomisedResponse(Fraction(1), 2),
        lambda: Sequential((None,)),
        lambda: Stated("theorem", Fraction(1), Fraction(1)),
    ],
)
def test_what_is_unknown_is_refused(event):
    with pytest.raises(InputRefused, match=r"accounting\.unknown_event"):
        event()


def test_gaussian_noise_is_not_pure():
    assert gaussian(1).loss.events.epsilon() is None
    with pytest.raises(InputRefused, match=r"accounting\.delta_needed"):
        total([gaussian(1)], delta=Fraction(0))


# --- neighbours ----------------------------------------------------------------------------------


def test_exchanging_doubles_epsilon_and_never_the_other_way():
    doubled = to_replace_one(laplace(Fraction(1, 3)))
    assert doubled.loss.epsilon == Fraction(2, 3)
    assert doubled.loss.events.epsilon() == Fraction(2, 3)
    assert to_replace_one(doubled) == doubled
    with pytest.raises(InputRefused, match=r"accounting\.neighbours"):
        as_neighbours(doubled, ADD_REMOVE)
    with pytest.raises(InputRefused, match=r"accounting\.neighbours"):
        total([laplace(1), doubled], delta=Fraction(0), neighbours=ADD_REMOVE)


def test_exchanging_with_delta():
    found = to_replace_one(gaussian(1))
    assert found.loss.epsilon == 2
    assert 0 <= float(found.loss.delta) / (1e-6 * (1 + math.e)) - 1 < 1e-8
    assert to_replace_one(promised(gaussian(1).loss.events, 800, delta=DELTA)).loss.delta == 1


def test_exchanging_monotone_choices_and_disjoint_parts():
    choice = Exponential(Fraction(4), Fraction(1), monotone=True)
    parts = Parallel((LaplaceCounts(1, Fraction(1)).event, LaplaceCounts(1, Fraction(3)).event))
    assert to_replace_one(promised(choice, Fraction(1, 4))).loss.events.epsilon() == Fraction(1, 2)
    # Laplace noise at 3 has no worse curve than that at 1, but nobody proves it here: all parts count
    assert to_replace_one(promised(parts, Fraction(3))).loss.events.epsilon() == 2 * (1 + 3)


def test_mixed_relations_are_answered_for_replace_one():
    found = total([laplace(1), laplace(1, neighbours=REPLACE_ONE)], delta=Fraction(0))
    assert (found.epsilon, found.neighbours, found.method) == (3, REPLACE_ONE, "sum")


# --- totals --------------------------------------------------------------------------------------


def test_pure_releases_add_exactly():
    found = total([laplace(Fraction(1, 10))] * 10, delta=Fraction(0))
    assert (found.epsilon, found.delta, found.method) == (1, 0, "sum")
    assert total([], delta=DELTA).epsilon == 0


def test_one_gaussian_release_costs_what_it_says():
    for square in (1, 2, 4):
        found = total([gaussian(1, square=square)], delta=DELTA)
        assert (found.epsilon, found.delta) == (1, DELTA)


def test_many_pure_releases_against_the_binomial():
    """100 releases at 0.1: the exact answer of randomised response, which dominates them."""
    runs, epsilon, delta = 100, 0.1, 1e-4
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    k = np.arange(runs + 1)
    chance = np.array([math.comb(runs, int(i)) * p**i * (1 - p) ** (runs - i) for i in k])

    def loss_beyond(level):
        return float(np.sum(chance * np.maximum(0, -np.expm1(level - epsilon * (2 * k - runs)))))

    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if loss_beyond(middle) > delta else (low, middle)
    found = total([laplace(Fraction(1, 10))] * runs, delta=Fraction(1, 10**4))
    assert found.method == "loss_distribution"
    assert high <= float(found.epsilon) <= high * 1.012


@pytest.mark.parametrize("runs", [2, 10, 200])
def test_gaussian_releases_against_the_closed_form(runs):
    """k runs at σ are one run at σ/√k."""
    scale, delta = 20.0, 1e-6
    low, high = 1e-6, 50.0
    for _ in range(80):
        middle = (low + high) / 2
        above = continuous_delta(scale=scale / math.sqrt(runs), epsilon=middle, sensitivity=1) > delta
        low, high = (middle, high) if above else (low, middle)
    single = continuous(20, 1, Fraction(1, 10**6))
    found = total([single] * runs, delta=Fraction(1, 10**6))
    assert high <= float(found.epsilon) <= high * 1.012


def test_small_budgets_are_not_drowned_in_rounding():
    found = total([gaussian(Fraction(1, 10_000))] * 20, delta=DELTA)
    alone = total([gaussian(Fraction(1, 10_000))], delta=DELTA)
    assert float(found.epsilon) < 0.0045
    assert Fraction(1, 20_000) < alone.epsilon <= Fraction(1, 10_000)


def test_mixed_noise_is_bounded_by_what_is_known():
    found = total([gaussian(1), laplace(1)], delta=DELTA)
    assert 1 < found.epsilon <= 2
    assert total([gaussian(1)] * 10 + [laplace(1)], delta=DELTA).epsilon < 11


def test_long_shifts_are_composed_as_a_little_less_of_continuous_noise():
    for square in (4, 100):
        long = gaussian(1, square=square)
        found = total([long] * 10, delta=DELTA)
        assert found.method == "loss_distribution"
        scale = long.loss.events.scale / Fraction(math.isqrt(square))
        exact = total([continuous(scale, 1, DELTA)] * 10, delta=DELTA)
        assert exact.epsilon <= found.epsilon <= exact.epsilon * Fraction(102, 100)
    narrow = replace(gaussian(1, square=4).loss.events, scale=Fraction(1), count=2)
    promise = promised(narrow, 100, delta=DELTA)
    assert total([promise], delta=DELTA).method == "concentrated"


def test_order_does_not_matter():
    releases = [laplace(1), gaussian(1), laplace(Fraction(1, 2))]
    assert total(releases, delta=DELTA) == total(releases[::-1], delta=DELTA)


def test_who_claims_less_than_the_events_cost_is_refused():
    for release in (
        claiming(laplace(1), Fraction(999, 1000)),
        claiming(gaussian(1), Fraction(1, 2)),
    ):
        with pytest.raises(InputRefused, match=r"accounting\.declared"):
            total([release], delta=DELTA)
    assert total([claiming(laplace(1), Fraction(2))], delta=Fraction(0)).epsilon == 1


def test_levels_and_failures_that_are_stated_add_up():
    """Dwork and Roth, theorem 3.16: of two releases that fail with δ, one or the other does with 2δ."""
    once = Stated("test", Fraction(1, 2), DELTA)
    one = promised(once, Fraction(1, 2), delta=DELTA * (1 + Fraction(1, 2**50)))  # a float, rounded up
    found = total([one, one], delta=2 * DELTA)
    assert (found.epsilon, found.delta, found.method) == (1, 2 * DELTA, "sum")
    with pytest.raises(InputRefused, match=r"accounting\.delta_needed"):
        total([one, one], delta=2 * DELTA - Fraction(1, 10**20))
    twice = Sequential((once, once))
    assert total([promised(twice, 1, delta=2 * DELTA)], delta=2 * DELTA).epsilon == 1
    with pytest.raises(InputRefused, match=r"accounting\.declared"):
        total([promised(twice, 1, delta=DELTA)], delta=2 * DELTA)


def test_no_total_without_a_formal_guarantee():
    for one in (Promise(kind, None, Unit.ROW, 1) for kind in ("none", "k_anonymity")):
        with pytest.raises(InputRefused, match=r"accounting\.unbounded"):
            total([laplace(1), one], delta=DELTA)


def test_rows_and_people_do_not_add():
    with pytest.raises(InputRefused, match=r"accounting\.units"):
        total([laplace(1), laplace(1, unit=Unit.PERSON)], delta=DELTA)


def test_no_import_of_dp_accounting_for_exact_sums():
    import subprocess
    import sys

    code = "import sys, engine.privacy.accounting; sys.exit('dp_accounting' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- never below the exact composition ------------------------------------------------------------


def exact_beyond(runs, epsilon, level):
    """The δ of randomised response at a level, in forty digits: the exact composition of equal releases."""
    import mpmath

    with mpmath.workdps(40):
        e = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        p, level = mpmath.exp(e) / (1 + mpmath.exp(e)), mpmath.mpf(level)
        losses = [(e * (2 * k - runs), k) for k in range(runs + 1)]
        return sum(
            mpmath.binomial(runs, k) * p**k * (1 - p) ** (runs - k) * (1 - mpmath.exp(level - loss))
            for loss, k in losses
            if loss > level
        )


@pytest.mark.parametrize("delta", [Fraction(1, 10**4), Fraction(1, 10**9), Fraction(1, 10**13)])
@pytest.mark.parametrize(("runs", "epsilon"), [(300, Fraction(1, 1000)), (100, Fraction(1, 10))])
def test_small_budgets_never_below_the_exact_composition(runs, epsilon, delta):
    """300 releases at 0.001: the discretisation costs less than one part in a thousand of the result."""
    found = total([laplace(epsilon)] * runs, delta=delta)
    assert found.method == "loss_distribution"
    assert exact_beyond(runs, epsilon, float(found.epsilon)) <= delta
    assert exact_beyond(runs, epsilon, float(found.epsilon) * 0.999) > delta or delta < Fraction(1, 10**12)


def test_a_rounded_grid_costs_little_at_small_budgets():
    """300 different releases of continuous Laplace noise, 0.0007 to 0.0013 each: no common lattice."""
    from engine.privacy.at_risk.composition import compose_losses

    scales = [1 / Fraction(700 + 2 * i, 10**6) for i in range(300)]
    events = [Laplace(scale, Fraction(1)) for scale in scales]
    found = total([promised(event, 1 / event.scale) for event in events], delta=DELTA)
    together = compose_losses(events)
    assert together.rounded == 300 and found.method == "loss_distribution"
    # The lower end of the interval that holds the true δ is already reached 2 % below the result.
    assert together.delta_bounds(float(found.epsilon) * 0.98)[0] > DELTA
    # The grid itself: all roundings together move the sum by less than the levels of three releases.
    assert together.interval * 300 < 3 * 0.001


@pytest.mark.parametrize("runs", [3, 300])
def test_gaussian_releases_never_below_the_closed_form(runs):
    for delta in (Fraction(1, 10**5), Fraction(1, 10**10)):
        found = total([continuous(60, 1, Fraction(1, 10**5))] * runs, delta=delta)
        reached = continuous_delta(scale=60 / math.sqrt(runs), epsilon=float(found.epsilon), sensitivity=1)
        assert delta * Fraction(99, 100) < reached <= delta


def test_noise_on_a_vector_is_never_worse_than_in_one_coordinate():
    """What lets Laplace noise enter as one number: a shift by parts is dominated by the whole shift."""
    from engine.privacy.at_risk.composition import compose
    from engine.privacy.at_risk.mechanisms import laplace as loss

    whole = loss(epsilon0=1)
    for part in (0.1, 0.3, 0.5):
        parts = compose([(loss(epsilon0=part), 1), (loss(epsilon0=1 - part), 1)])
        for epsilon in (0.05, 0.3, 0.6, 0.9):
            assert parts.delta_bounds(epsilon)[0] <= whole.delta(epsilon)


def test_three_hundred_releases_of_every_mechanism(capsys):
    releases = []
    for i in range(50):
        level = Fraction(10 + i, 1000)
        releases += [
            laplace(level),
            promised(Laplace(3 / level, Fraction(3)), level),
            promised(LaplaceCounts(7, level).event, level),
            promised(Exponential(6 / level, Fraction(3)), level),
            promised(RandomisedResponse(Fraction(51 + i % 7, 100), 2), 1),
            promised(GaussianCounts(1 + i % 3, 10 * level, DELTA).event, 10 * level, delta=DELTA),
        ]
    start = time.perf_counter()
    found = total(releases, delta=DELTA)
    with capsys.disabled():
        print(f"\n300 releases of six mechanisms: {time.perf_counter() - start:.2f} s")
    assert found.method == "loss_distribution"
    gaussians = total([one for one in releases if one.loss.delta], delta=DELTA)
    apart = sum(one.loss.epsilon for one in releases if not one.loss.delta)
    assert gaussians.epsilon < found.epsilon < gaussians.epsilon + apart
