"""Life tables: exact counts by hand, published tables, order, and margins that cover among what is shown."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Budget, Context
from engine.methods.statistics.life_table import life_table
from engine.privacy.accuracy import LAPLACE_WITHIN, noise_of
from engine.privacy.promise import Neighbours
from engine.report.findings import find_sentence
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

LIFE_TABLE = method("statistics.life_table")
WEEKS = Column("weeks", Role.OTHER, Kind.NUMBER)
ENDED = Column(
    "ended", Role.SENSITIVE, Kind.CATEGORY, Domain(values=("relapse", "study over", "moved")), Origin.DECLARED
)
ARM = Column("arm", Role.OTHER, Kind.CATEGORY, Domain(values=("6-MP", "placebo")), Origin.DECLARED)
PERSON = Column("person", Role.PERSON_KEY, Kind.TEXT)
RELAPSE = [{"value": "relapse"}]
CHOSEN = {"time": "weeks", "edges": [0, 10, 20], "event": "ended", "happened": RELAPSE}


def design(*, cap=None, epsilon=1, delta=0, sound=True, **given):
    schema = Schema((WEEKS, ENDED, ARM)) if cap is None else Schema((PERSON, WEEKS, ENDED, ARM), cap)
    budget = Budget(Fraction(epsilon), Fraction(delta), Neighbours.ADD_REMOVE)
    request = LIFE_TABLE.make_request({MAIN: schema}, {**CHOSEN, **given}, budget=budget)
    made = LIFE_TABLE(request)
    assert bool(made.problems) is not sound, made.problems
    return made


def rows(*lines):
    return Table(pd.DataFrame(list(lines), columns=["weeks", "ended", "arm"]))


def counted(made, table):
    """Return the exact life tables of some rows."""
    return made.survival(made.cells.count(made.cells.codes(table.rows())))


def released(made, table, seed=1):
    release = made.run({MAIN: table}, Context(seeded_noise(seed), None, Path()))
    (artefact,) = release.artefacts
    return artefact.frames[0], release


def test_intervals_by_hand():
    """Edges, beyond the last, before the first, missing and undeclared: the first week is 0, the last 20."""
    found = counted(
        design(),
        rows(
            (0, "relapse", "6-MP"),
            (9.5, "study over", "6-MP"),
            (10, "moved", "placebo"),
            (20, "relapse", "placebo"),
            (20.5, "relapse", "placebo"),
            (-1, "relapse", "placebo"),
            (np.nan, "relapse", "placebo"),
            (3, None, "placebo"),
            (3, "lost", "placebo"),
        ),
    )
    assert found.at_risk.tolist() == [[5, 3]]
    assert found.events.tolist() == [[1, 1]]
    assert found.share[0].tolist() == pytest.approx([1 - 1 / 4.5, (1 - 1 / 4.5) * (1 - 1 / 2.5)])
    assert found.within.tolist() == [[0, 0]]


def test_groups_are_apart_and_a_row_of_none_is_left_out():
    table = rows(
        (1, "relapse", "6-MP"), (1, "moved", "placebo"), (30, "moved", "placebo"), (1, "relapse", "?")
    )
    found = counted(design(by=["arm"]), table)
    assert found.at_risk.tolist() == [[1, 0], [2, 1]] and found.events.tolist() == [[1, 0], [0, 0]]


def test_everybody_or_nobody_leaves_a_finite_table():
    for table in (rows(), rows((1, "relapse", "6-MP")), rows(*[(1, "moved", "6-MP")] * 3)):
        found = counted(design(by=["arm"]), table)
        assert np.isfinite(found.share).all() and (found.share >= 0).all() and (found.share <= 1).all()
        frame, release = released(design(by=["arm"]), table)
        assert frame.notna().all(axis=None) and len(frame) == 4 and len(release.views) == 3


def test_the_share_never_rises_whatever_the_noise():
    draw = np.random.default_rng(3)
    counts = draw.integers(-20, 60, (400, 12, 2))
    found = life_table(counts, draw.integers(-10, 30, 400), leaving=0.5, spread=3.0)
    assert (np.diff(found.share, axis=1) <= 1e-12).all()
    assert found.share.min() >= 0 and found.share.max() <= 1 and found.within.max() == 1
    assert 0 < (found.within < 1).mean() < 1


@pytest.mark.guarantee
@pytest.mark.parametrize(("people", "scale"), [(60, 1), (200, 2), (4000, 2)])
def test_margins_cover_also_among_the_shares_of_which_something_is_known(people, scale):
    """A number at risk that noise made large is no better known: by 3,000 tables of 12 intervals each.

    An honest margin fails by chance once in 100,000: five standard errors below 95 of 100.
    """
    draw = np.random.default_rng(people)
    times, left = draw.exponential(8, people), draw.uniform(0, 18, people)
    place, came = np.minimum(np.minimum(times, left).astype(int), 12), times <= left
    counts = np.array(
        [[[(came & (place == one)).sum(), (~came & (place == one)).sum()] for one in range(12)]]
    )
    after = np.array([(place == 12).sum()])
    exact = life_table(counts, after, leaving=0.5)
    noise = seeded_noise(people).discrete_laplace(Fraction(scale), 3000 * 26).reshape(3000, 13, 2)
    noisy = life_table(
        counts + noise[:, :12],
        after + noise[:, 12].sum(axis=1),
        leaving=0.5,
        spread=np.sqrt(2) * scale,
        times=LAPLACE_WITHIN,
    )
    covered, known = np.abs(noisy.share - exact.share) <= noisy.within, noisy.within < 1
    for interval in range(12):
        count = int(known[:, interval].sum())
        if count >= 200:
            slack = 5 * np.sqrt(0.95 * 0.05 / count)
            assert covered[known[:, interval], interval].mean() >= 0.95 - slack, interval
    assert known[:, 0].any()


def test_margins_grow_with_the_sites_that_add_noise():
    made = design(epsilon=1)
    counts = np.array([200, 100, 150, 50, 100, 100])
    alone = made.survival(counts, made.mechanism).within
    with noise_of(4):
        several = made.survival(counts, made.mechanism).within
    assert (several > 1.9 * alone).all()


def test_a_curve_ends_where_nothing_more_is_known_of_the_share():
    made = design(epsilon=1)
    found = made.survival(np.array([2000, 0, 3, 0, 0, 0]), made.mechanism)
    assert found.within[0].tolist()[0] < 1 == found.within[0].tolist()[1]
    (curve,) = made._curves(found)
    assert curve.series[0].x == (0.0, 10.0) and len(curve.band[0].y) == len(curve.band[1].y) == 2
    sentence = find_sentence(curve)
    assert sentence.values["last"] == "10", "what it falls to is said of a place where it is known"


def test_a_person_is_in_one_cell_and_the_noise_is_that_of_counts():
    assert float(design(epsilon=2).cost.loss.epsilon) == 2
    made = design(noise="gaussian", delta="1/1000000", cap=3)
    assert made.cost.kind == "approximate_dp"
    for weeks, ended in product([-1, 0, 5, 20, 99, np.nan], ["relapse", "moved", None]):
        assert made.cells.count(made.cells.codes(rows((weeks, ended, "6-MP")).rows())).sum() <= 1


def test_what_is_released_is_worked_out_from_the_noisy_counts():
    frame, release = released(design(by=["arm"]), rows(*[(weeks, "relapse", "6-MP") for weeks in range(30)]))
    assert list(frame.columns)[:2] == ["arm", "weeks"] and frame["weeks"].tolist()[:2] == [
        "0 to <10",
        "10 to 20",
    ]
    assert frame["at_risk_within_95"].tolist()[0] > frame["at_risk_within_95"].tolist()[1]
    assert (frame["survival"].between(0, 1)).all()
    assert [type(view).__name__ for view in release.views] == ["CurveView", "CurveView", "TableView"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"by": ["ended"]}, "column_twice"),
        ({"happened": [{"value": "cured"}]}, "not_a_level"),
        ({"edges": ["2021-01-01", "2021-02-01"]}, "edges_not_numbers"),
    ],
)
def test_what_cannot_be_made_is_said(given, code):
    (found,) = design(sound=False, **given).problems
    assert found.code == f"statistics.life_table.{code}"
    assert len(texts.sentences(found.code, found.values)) == 2


def test_too_many_cells_are_said():
    many = replace(ARM, domain=Domain(values=tuple(f"{one}" for one in range(600))))
    schema = Schema((WEEKS, ENDED, many))
    given = {**CHOSEN, "by": ["arm"], "edges": list(range(120))}
    budget = Budget(Fraction(1), Fraction(0), Neighbours.ADD_REMOVE)
    found = LIFE_TABLE(LIFE_TABLE.make_request({MAIN: schema}, given, budget=budget)).problems
    assert [one.code for one in found] == ["statistics.life_table.too_many_cells"]
    assert len(texts.sentences(found[0].code, found[0].values)) == 2


def test_the_forecast_is_of_declarations_and_falls_with_the_size():
    made = design()
    shares = [one.limit for one in made.forecast.errors if one.size is not None]
    assert shares == sorted(shares, reverse=True) and shares[-1] < 1
