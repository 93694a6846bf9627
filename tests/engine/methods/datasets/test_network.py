"""Invented rows from a network: declared cells only, whatever the rows hold; refused without a row."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.protocol import Budget, Context
from engine.privacy.mechanisms import LaplaceCounts
from engine.privacy.promise import Neighbours
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.test_seedbased import COLUMNS, HARD, declared, some_rows
from tests.noise_source import seeded_noise

ID = "datasets.network"
ALL = ["sex", "ward", "age", "bmi"]
BUDGET = Budget(Fraction(2))
GIVEN = {"columns": ALL, "about_rows": 2000}


def request_for(given=None, budget=BUDGET, schema=None):
    return method(ID).make_request(
        {"people": schema or Schema(COLUMNS)}, GIVEN | (given or {}), budget=budget
    )


def made(frame, given=None, **options):
    request = request_for(given, **options)
    assert not method(ID)(request).problems, method(ID)(request).problems
    noise = seeded_noise(5)
    release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
    assert noise.counted == release.promise.drawn()
    return release


STRUCTURES = pytest.mark.parametrize("structure", ["chosen", "correlation"])


@STRUCTURES
def test_values_are_declared_and_what_belongs_together_stays_together(structure):
    release = made(some_rows(2000), {"structure": structure}, budget=Budget(Fraction(10)))
    frame = release.artefacts[0].frame
    assert set(frame["sex"]) <= {"f", "m", "other", ""} and set(frame["ward"]) <= {"a", "b", "c", "other", ""}
    assert pd.to_numeric(frame["age"][frame["age"] != ""]).between(0, 99).all()
    assert (frame["ward"][frame["sex"] == "m"] == "a").mean() > 0.9
    view, *related = release.views
    assert {row[0] for row in view.rows} == set(ALL)
    assert len(related) == 1


@STRUCTURES
@pytest.mark.parametrize("n", [0, 1, 7])
def test_whatever_the_rows_hold_a_table_comes_out(n, structure):
    frame = pd.DataFrame(
        {
            "sex": pd.Series(["x", "", None, "f", "1", "F ", "nan"][:n], dtype="object"),
            "ward": pd.Series(["a", "a", None, "f", "1", "F ", "nan"][:n], dtype="object"),
            "age": pd.Series(HARD[:n], dtype=float),
            "bmi": pd.Series(HARD[:n][::-1], dtype=float),
        }
    )
    assert 1 <= len(made(frame, {"structure": structure}).artefacts[0].frame) <= 20_000


def test_the_number_of_rows_is_not_the_true_one_unless_declared():
    assert len(made(some_rows(500), {"rows": 321}).artefacts[0].frame) == 321
    lengths = {len(made(some_rows(n)).artefacts[0].frame) for n in (2000, 2001)}
    assert lengths != {2000, 2001}


def test_noise_alone_makes_no_millions_of_rows():
    given = {"columns": ["sex"], "about_rows": 20}
    assert len(made(some_rows(20), given, budget=Budget(Fraction(1, 10**6))).artefacts[0].frame) <= 200


@STRUCTURES
@pytest.mark.parametrize("relation", Neighbours)
def test_people_with_several_rows_and_both_relations_are_paid_for(relation, structure):
    schema = Schema((Column("pid", Role.PERSON_KEY), *COLUMNS), rows_per_person=3)
    given = {"structure": structure}
    request = request_for(given, budget=Budget(Fraction(3), Fraction(0), relation), schema=schema)
    assert not method(ID)(request).problems
    assert method(ID)(request).shares.moved == (6 if relation is Neighbours.REPLACE_ONE else 3)
    assert method(ID)(request).cost.loss.events.epsilon() == 3


@pytest.mark.parametrize(
    ("given", "budget", "code"),
    [
        ({"columns": None}, BUDGET, "parameters.unfilled"),
        ({}, None, "budget.missing"),
        ({}, Budget(Fraction(1), Fraction(1, 10**6)), "budget.delta_unused"),
        ({"columns": ["bare"]}, BUDGET, "parameters.domain_missing"),
        ({"columns": ["flat"]}, BUDGET, f"{ID}.no_edges"),
        ({"columns": ["many"]}, BUDGET, f"{ID}.too_many_cells"),
        ({"columns": ["empty"]}, BUDGET, "table.no_levels"),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given, budget, code):
    further = (
        Column("bare", kind=Kind.CATEGORY),
        declared("flat", Kind.NUMBER, minimum=Fraction(1), maximum=Fraction(1)),
        declared("many", Kind.CATEGORY, values=tuple(f"v{place}" for place in range(6000))),
        declared("empty", Kind.CATEGORY, values=()),
    )
    request = request_for(given, budget=budget, schema=Schema((*COLUMNS, *further)))
    assert code in [problem.code for problem in method(ID)(request).problems]


def test_the_forecast_says_beforehand_when_there_is_no_room_for_parents():
    def note(epsilon, rows):
        request = request_for({"about_rows": rows}, budget=Budget(Fraction(epsilon)))
        return method(ID)(request).forecast.notes[-1].id.rsplit(".", 1)[1]

    assert note("1/100", 500) == "alone" and note(2, 10_000) == "together"


def test_single_columns_are_as_exact_as_the_forecast_says():
    """One column: each count is off by the noise alone, of which the limit holds 95 of 100."""
    forecast = method(ID)(request_for({"columns": ["ward"]}, budget=Budget(Fraction(1, 2)))).forecast
    frame, off = some_rows(2000), []
    exact = frame["ward"].value_counts()
    for seed in range(40):
        request = request_for({"columns": ["ward"]}, budget=Budget(Fraction(1, 2)))
        context = Context(seeded_noise(seed), None, Path())
        released = method(ID)(request).run({"people": Table(frame)}, context).artefacts[0].frame["ward"]
        off += [abs(int((released == name).sum()) - exact[name]) for name in exact.index]
    assert np.mean(np.array(off) <= 2 * forecast.errors[0].limit) > 0.9


class Replayed:
    """A noise door whose paid numbers are always the same, whatever the rows are."""

    def __init__(self, monkeypatch, seed=3):
        self.noise = seeded_noise(seed)
        monkeypatch.setattr(LaplaceCounts, "release", lambda _, values, __: np.arange(values.size) % 17 + 5)
        monkeypatch.setattr(self.noise, "exponential_choice", lambda scores, rate: scores.size // 2)


@STRUCTURES
def test_nothing_but_paid_numbers_steers_what_leaves(monkeypatch, structure):
    """Neither cells nor parents nor the number of rows come from the table on another way."""
    odd = pd.DataFrame({"sex": ["x", None], "ward": ["z", ""], "age": [1e9, np.nan], "bmi": [-5.0, np.inf]})
    found = []
    for frame in (some_rows(300), some_rows(299), pd.concat([some_rows(300), odd]), odd, odd[:0]):
        noise = Replayed(monkeypatch).noise
        request = request_for({"structure": structure})
        release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
        found.append((release.artefacts[0].frame.to_csv(), release.views))
    assert all(one == found[0] for one in found[1:])


def test_a_table_as_long_as_the_rows_would_be_found(monkeypatch):
    """The comparison sees what it should."""
    from engine.methods.datasets.bayes_network import learning

    lengths = []
    for n in (300, 301):
        monkeypatch.setattr(learning, "_total", lambda single, n=n: float(n))
        noise = Replayed(monkeypatch).noise
        context = Context(noise, None, Path())
        release = method(ID)(request_for()).run({"people": Table(some_rows(n))}, context)
        lengths.append(len(release.artefacts[0].frame))
    assert lengths == [300, 301]
