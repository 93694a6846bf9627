"""Curves: exact sums by hand, sensitivities attained and never exceeded, bands that cover, waves that pay."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Budget, Context
from engine.methods.statistics.density import FINE, waves
from engine.privacy.accuracy import NORMAL_WITHIN
from engine.privacy.promise import Neighbours
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

DENSITY = method("statistics.density")
STAY = Column("stay", Role.OTHER, Kind.INTEGER, Domain(Fraction(0), Fraction(10)), Origin.DECLARED)
DOSE = Column(
    "dose", Role.OTHER, Kind.NUMBER, Domain(Fraction(-1), Fraction(1), Fraction(1, 4)), Origin.DECLARED
)
PERSON = Column("person", Role.PERSON_KEY, Kind.TEXT)
ODD = [np.nan, np.inf, -np.inf, -99.0, 99.0]


def design(columns=("stay",), *, cap=None, epsilon=1, delta=0, neighbours="add_remove", **given):
    schema = Schema((STAY, DOSE)) if cap is None else Schema((PERSON, STAY, DOSE), cap)
    budget = Budget(Fraction(epsilon), Fraction(delta), Neighbours(neighbours))
    request = DENSITY.make_request({MAIN: schema}, {"columns": list(columns), **given}, budget=budget)
    made = DENSITY(request)
    assert not made.problems, made.problems
    return made


def cosines(columns=("stay",), **given):
    return design(columns, way="cosines", delta="1/1000000", **given)


def frame(stay, dose=None):
    return pd.DataFrame(
        {"stay": np.asarray(stay, float), "dose": np.asarray(stay if dose is None else dose, float)}
    )


def test_intervals_by_hand():
    made = design(parts=3)  # 0–3, 4–7, 8–10 of the eleven steps
    assert made.exact(Table(frame([0, 3, 4, 7, 8, 10, *ODD]))).tolist() == [3, 2, 3]
    both = design(("stay", "dose"), parts=2)
    rows = frame([0, 0, 10, 5, np.nan], [-1, 1, 1, -9, 0])
    assert both.exact(Table(rows)).reshape(2, 2).tolist() == [[2, 1], [0, 1]]


def test_waves_by_hand():
    found = cosines(waves=2).exact(Table(frame([0, 10, 5, np.nan])))
    one = round(FINE * 2**0.5)
    assert found.tolist() == [3 * FINE, one - one + 0, one + one - one]


@pytest.mark.guarantee
@pytest.mark.parametrize("columns", [("stay",), ("stay", "dose")])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("cap", [None, 3])
def test_what_a_person_moves_is_within_the_sensitivity_and_reaches_it(columns, neighbours, cap):
    """Every value of the grid, odd ones too, and several rows that differ."""
    made = cosines(columns, waves=3, neighbours=neighbours, cap=cap)
    rows, draw = cap or 1, np.random.default_rng(2)
    values = list(product([0, 1, 4, 9, 10, *ODD], [-1, -0.3, 0.5, 1, *ODD]))
    several = [[value] * rows for value in values]
    several += [[values[place] for place in draw.integers(len(values), size=rows)] for _ in range(100)]
    found = [made.exact(Table(frame(*zip(*some, strict=True)))).astype(float) for some in several]
    moved = found if neighbours == "add_remove" else [one - other for one in found for other in found]
    longest = max(float((one**2).sum()) for one in moved)
    assert longest <= made.squared_sensitivity
    assert longest > (0.98 if neighbours == "add_remove" else 0.4) * made.squared_sensitivity
    plain = design(columns, parts=4, neighbours=neighbours, cap=cap)
    counts = [plain.exact(Table(frame(*zip(*some, strict=True)))) for some in several]
    most = max(np.abs(one - other).sum() for one in counts for other in counts)
    assert plain.mechanism.sensitivity == rows * (2 if neighbours == "replace_one" else 1) >= most / 2


def test_the_cost_is_what_is_drawn():
    for made in (design(parts=5), cosines(("stay", "dose"), waves=2)):
        noise = seeded_noise(1)
        release = made.run({MAIN: Table(frame([1, 2, 3]))}, Context(noise, None, Path("unused")))
        assert noise.counted == made.cost.drawn() and release.promise == made.cost
        assert made.cost.kind == ("pure_dp" if made.way == "histogram" else "approximate_dp")


# --- curves -----------------------------------------------------------------------------------------


def smooth(draw, count):
    return np.clip(np.rint(draw.normal(4, 1.8, count)), 0, 10)


def even(draw, count):
    return np.arange(count) % 11 + 0 * draw.normal()


def of_two_humps(draw, count):
    return np.clip(np.rint(draw.normal(np.where(draw.random(count) < 0.5, 2, 8), 0.7)), 0, 10)


@pytest.mark.parametrize("shape", [smooth, even, of_two_humps])
@pytest.mark.parametrize("count", [150, 3000])
@pytest.mark.parametrize(
    "made",
    [design(parts=11, epsilon="1/5"), cosines(waves=6, epsilon="2/5"), cosines(waves=10)],
    ids=["intervals", "waves", "many waves"],
)
def test_the_band_covers_the_curve_of_all_waves(made, count, shape):
    """At every place, of the curve of all waves without noise, in 95 of 100 draws, whatever was left out.

    Of few people few waves stay: the noise of those alone held an even spread at 44 of 100 places.
    """
    rows = frame(shape(np.random.default_rng(3), count))
    exact = made.exact(Table(rows))
    places, noise, inside, runs = np.linspace(0, 1, 21), seeded_noise(4), 0, 400
    perfect = made.curve(exact.reshape(made.shape)).coefficients
    true = waves(places, len(perfect) - 1) @ perfect
    for _ in range(runs):
        noisy = made.curve(made.mechanism.release(exact, noise).reshape(made.shape))
        value, within = noisy.at(places)
        inside += np.abs(value - true) <= within + 1e-9
    assert (inside / runs).mean() > 0.94 and (inside / runs).min() > 0.95 - 4 * (0.95 * 0.05 / runs) ** 0.5


def test_the_band_of_all_waves_is_that_of_their_noise_alone():
    """Where every wave stays there is nothing to add: as narrow as a sum of noise allows."""
    made = cosines(waves=6, epsilon=20)
    curve = made.curve(made.exact(Table(frame(of_two_humps(np.random.default_rng(1), 4000)))))
    places = np.linspace(0, 1, 5)
    value, within = curve.at(places)
    assert curve.kept == 6
    squares = (waves(places, 6)[:, 1:] ** 2).sum(axis=1) + (value - 1) ** 2
    assert within == pytest.approx(NORMAL_WITHIN * curve.spread * np.sqrt(squares))


def test_few_waves_are_kept_where_there_is_much_noise():
    draw = np.random.default_rng(1)
    rows, large, small = frame(smooth(draw, 4000)), seeded_noise(1), seeded_noise(1)
    exact = design(parts=11, epsilon=1).exact(Table(rows))
    loud, quiet = design(parts=11, epsilon="1/100"), design(parts=11, epsilon=100)
    kept = [
        np.mean([one.curve(one.mechanism.release(exact, noise)).kept for _ in range(40)])
        for one, noise in ((loud, large), (quiet, small))
    ]
    assert kept[0] + 2 < kept[1]


def test_smoothing_takes_away_more_noise_than_shape():
    """Mean squared error of the smoothed curve beside that of all waves, against the exact counts."""
    draw, noise = np.random.default_rng(1), seeded_noise(2)
    made = design(parts=11, epsilon="1/20", waves=10)
    exact = made.exact(Table(frame(smooth(draw, 1000))))
    places = (np.arange(11) + 0.5) / 11
    truth = exact / exact.sum() * 11
    errors = []
    for _ in range(200):
        noisy = made.curve(made.mechanism.release(exact, noise))
        whole = waves(places, 10) @ noisy.coefficients
        errors.append([np.mean((noisy.at(places)[0] - truth) ** 2), np.mean((whole - truth) ** 2)])
    smoothed, rough = np.mean(errors, axis=0)
    assert smoothed < 0.85 * rough


def test_any_number_of_places_is_read_from_the_coefficients_alone():
    made = cosines(("stay", "dose"), waves=3, epsilon=20)
    draw = np.random.default_rng(5)
    rows = frame(smooth(draw, 500), draw.uniform(-1, 1, 500))
    release = made.run({MAIN: Table(rows)}, Context(seeded_noise(2), None, Path("unused")))
    density, coefficients = (one.frame for one in release.artefacts)
    kept = next(note.values["kept"] for note in release.notes if ".notes.kept" in note.id)
    found = np.zeros(len(density))
    u, v = density["stay"] / 10, (density["dose"] + 1) / 2
    for i, j, number in coefficients.itertuples(index=False):
        if max(i, j) <= kept:
            sides = [1.0 if k == 0 else 2**0.5 * np.cos(np.pi * k * place) for k, place in ((i, u), (j, v))]
            found += number * sides[0] * sides[1]
    assert density["density"].to_numpy() == pytest.approx(found / (10 * 2))


def test_a_table_of_nobody_gives_a_curve_too():
    for made in (design(), cosines(("stay", "dose"))):
        release = made.run({MAIN: Table(frame([]))}, Context(seeded_noise(1), None, Path("unused")))
        assert np.isfinite(release.artefacts[0].frame["density"]).all()


def test_a_forecast_is_that_of_all_waves():
    made = design(parts=8, waves=7)
    size = made.forecast.errors[-1].size
    rows, noise = frame(np.arange(size) % 11), seeded_noise(9)
    exact = made.exact(Table(rows))
    places = np.linspace(0.05, 0.95, 19)
    off = []
    for _ in range(300):
        found, true = (made.curve(one).coefficients for one in (made.mechanism.release(exact, noise), exact))
        off.append(100 * np.abs(waves(places, 7) @ (found - true)))
    assert np.mean(np.concatenate(off) <= made.forecast.errors[-1].limit) == pytest.approx(0.95, abs=0.025)


def test_what_cannot_be_drawn_is_refused():
    schema = Schema((replace(STAY, domain=Domain(values=("1", "2"))),))
    budget = Budget(Fraction(1))
    request = DENSITY.make_request({MAIN: schema}, {"columns": ["stay"]}, budget=budget)
    assert [one.code for one in DENSITY(request).problems] == ["statistics.density.no_bounds"]
    request = DENSITY.make_request(
        {MAIN: Schema((STAY,))}, {"columns": ["stay"], "way": "cosines"}, budget=budget
    )
    assert [one.code for one in DENSITY(request).problems] == ["budget.delta_needed"]


@pytest.mark.parametrize("columns", [("stay",), ("stay", "dose")])
@pytest.mark.parametrize("most", [1, 2, 4, 8])
@pytest.mark.parametrize("epsilon", ["1/10", 1, 4])
def test_what_is_left_open_is_what_the_forecast_favours_and_no_delta_is_spent_in_vain(columns, most, epsilon):
    given = {"waves": most, "parts": 11, "epsilon": epsilon}
    plain = design(columns, way="histogram", **given)
    by_waves = cosines(columns, **given)
    chosen = design(columns, delta="1/1000000", **given)

    def error(made):
        return [one.median for one in made.forecast.errors]

    less = min(plain, by_waves, key=error)
    assert error(chosen) == error(less)
    assert chosen.way == less.way == chosen.taken["way"] and chosen.cost == less.cost
    assert (chosen.cost.loss.delta == 0) == (less is plain)
    rows = {MAIN: Table(frame([1, 2, 3, 9]))}
    found, other = (
        made.run(rows, Context(seeded_noise(1), None, Path("unused"))).artefacts[1].frame
        for made in (chosen, less)
    )
    assert found.equals(other)
    assert design(columns, **given).taken == {"way": "histogram"}  # nothing is chosen that needs a δ


def test_each_way_is_favoured_somewhere():
    """Few waves where a δ is there and two columns make many intervals; intervals for one column."""
    few = {"delta": "1/1000000", "waves": 1, "parts": 11}
    assert design(("stay", "dose"), **few).way == "cosines"
    assert design(waves=8, parts=11, delta="1/1000000").way == "histogram"
