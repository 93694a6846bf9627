"""Cells of columns: a value is written for every interval, whatever part of the bounds was declared."""

from datetime import date
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from engine.methods.datasets.marginal_model.codes import Coded
from engine.methods.datasets.synthesis.invented import entry_with_values
from engine.methods.shared.column_cells import Named, cells_of, edge_number
from engine.table.schema import Column, Domain, Kind, Origin, Role

LOW = {Kind.INTEGER: Fraction(1), Kind.NUMBER: Fraction(1, 2), Kind.DATE: "2000-01-01"}
HIGH = {Kind.INTEGER: Fraction(45), Kind.NUMBER: Fraction(45), Kind.DATE: "2010-12-31"}
EDGES = {kind: (Fraction(-5), Fraction(7), Fraction(100)) for kind in (Kind.INTEGER, Kind.NUMBER)} | {
    Kind.DATE: (date(1999, 12, 31), date(2005, 6, 1), date(2011, 1, 1))
}


@pytest.mark.parametrize(
    ("kind", "low", "high", "step"), [*product(LOW, (True, False), (True, False), (None, Fraction(2)))]
)
def test_every_interval_of_declared_edges_has_values(kind, low, high, step):
    """Edges of the plan stand for bounds that were not declared: a release that was paid for is written."""
    domain = Domain(LOW[kind] if low else None, HIGH[kind] if high else None, step)
    edges = tuple(map(edge_number, EDGES[kind]))
    cells = cells_of(Column("a", kind=kind, domain=domain), bins=4, edges=edges)
    codes = np.repeat(np.arange(cells.size), 50)
    uniform = np.tile(np.arange(50) / 50, cells.size)
    written = cells.written(codes, uniform)
    assert np.array_equal(cells.codes(pd.Series(written)), codes)
    if step is not None and kind is Kind.INTEGER:
        odd = {int(text) % 2 for text in written if text and text != "100"}
        assert odd == {1 if low else 0}  # counted from the declared lower bound, else from 0


@pytest.mark.parametrize("declared", [("back", "hip"), ("back", "other"), ("other", "(other)")])
def test_what_was_not_declared_reads_like_no_declared_value(declared):
    """Else invented rows mix both up, and a list of categories has a value twice, which no program takes."""
    cause = Column("cause", Role.SENSITIVE, Kind.CATEGORY, Domain(values=declared), Origin.DECLARED)
    told = entry_with_values(cause, "invented").values
    assert len(set(told)) == len(told) == len(declared) + 1
    assert Named(cause).written(np.arange(4), np.full(4, 0.5)) == [*declared, told[-1], ""]
    coded = Coded(cause, 0, np.arange(2))
    assert coded.written(np.arange(4), np.full(4, 0.5)) == [*declared, told[-1], ""]
