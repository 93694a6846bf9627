"""Schemas, requests and tables for the tests of the statistics."""

from fractions import Fraction
from pathlib import Path

import pandas as pd

from engine.methods.catalogue import method
from engine.methods.protocol import Budget, Context
from engine.privacy.promise import Neighbours
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

ADD_REMOVE, REPLACE_ONE = Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE
LARGE = Fraction(10**12)

SEX = Column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m")), Origin.DECLARED)
WARD = Column("ward", Role.OTHER, Kind.CATEGORY, Domain(values=("a", "b", "c")), Origin.DECLARED)
AGE = Column("age", Role.IDENTIFYING, Kind.INTEGER, Domain(Fraction(0), Fraction(3)), Origin.DECLARED)
STAY = Column(
    "stay", Role.OTHER, Kind.NUMBER, Domain(Fraction(0), Fraction(14), Fraction(1, 2)), Origin.DECLARED
)
WEIGHT = Column(
    "w", Role.WEIGHT, Kind.NUMBER, Domain(Fraction(0), Fraction(5), Fraction(1, 2)), Origin.DECLARED
)
WHEN = Column("when", Role.TIME, Kind.DATE)
PERSON = Column("person", Role.PERSON_KEY, Kind.TEXT)
COLUMNS = (SEX, WARD, AGE, STAY, WEIGHT, WHEN)

PARAMETERS = {
    "statistics.counts": {"columns": ["sex", "ward"]},
    "statistics.histogram": {"column": "stay", "edges": [0, 5, 10], "by": ["sex"]},
    "statistics.means": {"statistic": "mean", "value": "stay", "by": ["sex"]},
    "statistics.quantiles": {"value": "stay", "by": ["sex"]},
}


def request(
    parameters, *, epsilon=Fraction(1), delta=Fraction(0), neighbours=ADD_REMOVE, cap=None, columns=COLUMNS
):
    """Return a request; with a cap every person may have that many rows."""
    schema = Schema(columns) if cap is None else Schema((*columns, PERSON), cap)
    budget = None if epsilon is None else Budget(epsilon, delta, neighbours)
    return method(method_of(parameters)).make_request({"people": schema}, parameters, budget=budget)


def method_of(parameters):
    """Return the method that has these parameters."""
    for name, way in (
        ("tables", "margins"),
        ("edges", "histogram"),
        ("statistic", "means"),
        ("columns", "counts"),
    ):
        if name in parameters:
            return f"statistics.{way}"
    return "statistics.quantiles"


def table(**columns):
    """Return a table of these columns."""
    return Table(pd.DataFrame(columns))


def released(method_id, asked, rows, *, seed=1):
    """Run a method once with seeded noise."""
    context = Context(seeded_noise(seed), None, Path("unused"))
    return method(method_id)(asked).run({"people": rows}, context)


def first(release):
    """Return the frame of the first artefact."""
    return release.artefacts[0].frame
