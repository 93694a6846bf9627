"""Invented rows of Adult, 45,000 × 14: the cost beside that of the trees alone, of copies, of more rows."""

import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

from engine.methods.datasets.synthesis import chain
from engine.methods.datasets.synthesis.models import Synthesiser, learning
from engine.methods.datasets.synthesis.variables import variable
from engine.table.schema import Column, Kind
from tests.engine.methods.datasets.adult import DATA

pytestmark = pytest.mark.benchmark

NUMBERS = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
ROUNDS = 3


@pytest.fixture(scope="module")
def columns():
    rows = pd.read_csv(DATA / "adult.csv.gz").drop(columns="fnlwgt").head(45_000)
    return {
        name: (rows[name], Column(name, kind=Kind.INTEGER if name in NUMBERS else Kind.CATEGORY))
        for name in rows
    }


@contextmanager
def fits_timed(monkeypatch):
    """Add up the processor time of the trees' own fits."""
    spent, own = [], DecisionTreeRegressor.fit

    def fit(self, *given, **more):
        began = time.process_time()
        found = own(self, *given, **more)
        spent.append(time.process_time() - began)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(DecisionTreeRegressor, "fit", fit)
        yield spent


def seconds(columns, *, rows=45_000, copies=1):
    """Return the processor time of fitting the chain and drawing copies."""
    people = np.arange(rows)
    found = {
        name: variable(values.head(rows), column, people=people, least_people=5)
        for name, (values, column) in columns.items()
    }
    chance = np.random.default_rng(1)
    began = time.process_time()
    learn = learning(Synthesiser.TREE, smallest=20, chance=chance)
    fitted = chain.fit(found, chain.few_levels_first(found), smallest=20, learn=learn)
    for _ in range(copies):
        fitted.redrawn(chance).draw(rows, chance)
    return time.process_time() - began


def test_inventing_a_copy_costs_little_beside_the_trees_themselves(columns, monkeypatch):
    seconds(columns, rows=2_000)  # what is loaded once
    ratios = []
    for _ in range(ROUNDS):
        with fits_timed(monkeypatch) as spent:
            ratios.append(seconds(columns) / sum(spent))
    assert min(ratios) <= 1.9, ratios


def test_five_copies_are_fitted_once(columns):
    one, five = (min(seconds(columns, copies=copies) for _ in range(ROUNDS)) for copies in (1, 5))
    assert five <= 1.6 * one, (one, five)


def test_twice_the_rows_take_little_more_than_twice_the_time(columns):
    half, whole = (min(seconds(columns, rows=rows) for _ in range(ROUNDS)) for rows in (22_500, 45_000))
    assert whole <= 2.3 * half, (half, whole)
