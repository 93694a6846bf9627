"""What the noisy sums behind bell curves tell about one person, beside what is claimed and promised."""

from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.datasets.gaussian_cells import counted, learning
from engine.methods.datasets.gaussian_cells.plan import CELLS
from engine.methods.protocol import Budget, Context
from engine.methods.shared.division import Division
from engine.privacy.promise import Neighbours
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.battery.distributions import CheckFailed
from tests.engine.battery.loss import claimed, loss
from tests.engine.methods.datasets.test_seedbased import declared

ID = "datasets.gaussians"
ROWS = 1500
NAMES = ("age", "bmi", "dose", "pain")
SCHEMA = Schema(
    (
        *(declared(name, Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(100)) for name in NAMES),
        declared("ill", Kind.CATEGORY, values=("yes", "no")),
    )
)
LAPLACE, NORMAL = Budget(Fraction(2)), Budget(Fraction(2), Fraction(1, 10**6))
TWO = {"sets": [{"together": ["age", "bmi"]}, {"together": ["dose", "pain"]}]}
ALONE = {"sets": [{"together": [name]} for name in NAMES]}
MANY = {"about_rows": 200_000}
SUBJECTS = {
    "Laplace": (TWO, LAPLACE),
    "normal noise": (TWO | {"noise": "gaussian"}, NORMAL),
    "groups": (TWO | MANY, LAPLACE),
    "groups, normal noise": (TWO | MANY | {"noise": "gaussian"}, NORMAL),
    "all together": ({}, LAPLACE),
    "one vector of noise": ({"label": None}, LAPLACE),
    "all together, in groups": (MANY, LAPLACE),
    "all together, normal noise": (MANY, NORMAL),
    "each alone": (ALONE, LAPLACE),
}


def people():
    """Rows of which the first is at the ends of all ranges, far from the others."""
    rows = pd.DataFrame(np.random.default_rng(2).integers(20, 60, (ROWS, 4)), columns=list(NAMES))
    rows["ill"] = "no"
    rows.loc[0] = [100, 100, 100, 100, "yes"]
    return rows


def request_for(given, budget, schema=SCHEMA, **more):
    values = {"columns": list(NAMES), "label": "ill", "about_rows": 1500} | given | more
    found = method(ID).make_request({"people": schema}, values, budget=budget)
    assert not method(ID)(found).problems, method(ID)(found).problems
    return found


def releasing(request_of):
    def run(frame, noise):
        release = method(ID)(request_of(frame)).run({"people": Table(frame)}, Context(noise, None, Path()))
        return [one.frame.to_csv() for one in release.artefacts], release.views

    return run


def shares(request, *, run=None, frame=None, fewer=None, without=(0,)):
    """Return by kind of answer which part of its claim a person's rows use up."""
    frame = people() if frame is None else frame
    fewer = frame.iloc[1:].reset_index(drop=True) if fewer is None else fewer
    told = loss(
        run or releasing(lambda _: request), frame, fewer, rows=len(frame), without=np.array(without, int)
    )
    return told.shares_of(claimed(method(ID)(request).cost.loss.events))


@pytest.mark.parametrize("name", SUBJECTS)
def test_one_person_tells_no_more_than_is_claimed_and_all_of_it(name):
    found = shares(request_for(*SUBJECTS[name]))
    (kind,) = found
    assert found[kind] <= 1 + 1e-9
    assert found[kind] > 1 - 1e-5


@pytest.mark.guarantee
@pytest.mark.parametrize("name", ["Laplace", "groups, normal noise", "all together, in groups"])
def test_a_person_exchanged_for_another_tells_no_more_than_is_claimed_and_all_of_it(name):
    given, budget = SUBJECTS[name]
    frame = people()
    other = frame.copy()
    other.loc[0] = [0, 0, 0, 0, "no"]
    request = request_for(given, replace(budget, neighbours=Neighbours.REPLACE_ONE))
    (found,) = shares(request, frame=frame, fewer=other, without=()).values()
    assert found <= 1 + 1e-9
    assert found > 1 - 1e-5


@pytest.mark.parametrize("name", ["Laplace", "groups"])
def test_a_person_with_several_rows_tells_no_more_than_is_claimed_and_all_of_it(name):
    schema = Schema((Column("pid", Role.PERSON_KEY), *SCHEMA.columns), rows_per_person=3)
    frame = pd.concat([people().iloc[[0, 0]], people()], ignore_index=True)
    request = request_for(*SUBJECTS[name], schema)
    fewer = frame.iloc[3:].reset_index(drop=True)
    (found,) = shares(request, frame=frame, fewer=fewer, without=(0, 1, 2)).values()
    assert 1 - 1e-5 < found <= 1 + 1e-9


# --- mutants ----------------------------------------------------------------------------------------------


@contextmanager
def smaller_noise(name, factor):
    """Give a question less noise than it claims."""
    honest = Division.scale

    def scale(one, asked):
        return honest(one, asked) / (factor(one) if asked == name else 1)

    with patch.object(Division, "scale", scale):
        yield


def columns_of_two(_):
    return 2


MUTANTS = {
    "the scale of the book, smaller by the number of rows": ("Laplace", CELLS, lambda _: ROWS),
    "products that lack their factor 2": ("groups", CELLS, columns_of_two),
    "sums and products are not counted": ("groups", CELLS, lambda _: 12 / Fraction(2)),
    "normal noise halved": ("groups, normal noise", CELLS, columns_of_two),
    "vector noise of half its length": ("one vector of noise", CELLS, columns_of_two),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_what_costs_more_than_it_claims_is_found(name):
    subject, asked, factor = MUTANTS[name]
    honest = releasing(lambda _: request_for(*SUBJECTS[subject]))

    def run(frame, noise):
        with smaller_noise(asked, factor):
            return honest(frame, noise)

    (found,) = shares(request_for(*SUBJECTS[subject]), run=run).values()
    assert found > 1.05


def test_a_table_as_long_as_the_original_is_found():
    run = releasing(lambda frame: request_for(*SUBJECTS["Laplace"], rows=len(frame)))
    with pytest.raises(CheckFailed):
        shares(request_for(*SUBJECTS["Laplace"]), run=run)


def test_bounds_of_the_rows_are_found():
    def narrow(frame):
        columns = tuple(
            declared(name, Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(int(frame[name].max())))
            for name in NAMES
        )
        return request_for(*SUBJECTS["Laplace"], Schema((*columns, SCHEMA.column("ill"))))

    with pytest.raises(CheckFailed):
        shares(request_for(*SUBJECTS["Laplace"]), run=releasing(narrow))


def test_groups_about_rows_are_found():
    """Centres that are rows of people, as with groups of k rows, change what leaves with one row."""
    honest = learning.middles

    def about_rows(rows, plan, noise):
        found = honest(rows, plan, noise)
        return [rows.steps[: len(own), columns] for own, columns in zip(found, plan.sets, strict=True)]

    subject = SUBJECTS["groups"]
    with patch.object(learning, "middles", about_rows):
        run = releasing(lambda _: request_for(*subject))
        try:
            (found,) = shares(request_for(*subject), run=run).values()
        except CheckFailed:
            return
    assert found > 1.05


def test_sets_that_rows_decide_are_found():
    """With the first row columns go together, without it each is alone."""

    def decided(frame):
        return request_for(
            *SUBJECTS["all together" if frame[list(NAMES)].to_numpy().max() == 100 else "each alone"]
        )

    with pytest.raises(CheckFailed):
        shares(request_for(*SUBJECTS["all together"]), run=releasing(decided))


@pytest.mark.guarantee
def test_missing_numbers_that_are_sums_as_well_are_found():
    """A missing number adds to the count of missing ones only: if it counted at the end of its range too, one
    row would move more than is claimed."""
    honest = counted.Rows.of.__func__

    def at_the_end(cls, frame, columns, label):
        rows = honest(cls, frame, columns, label)
        return counted.Rows(np.where(rows.missing, counted.PER_SIDE, rows.steps), rows.missing, rows.classes)

    frame = people().astype(dict.fromkeys(NAMES, float))
    frame.loc[0, list(NAMES)] = np.nan
    (found,) = shares(request_for(*SUBJECTS["groups"]), frame=frame).values()
    assert found < 0.7
    with patch.object(counted.Rows, "of", classmethod(at_the_end)):
        (found,) = shares(request_for(*SUBJECTS["groups"]), frame=frame).values()
    assert found > 1.05
