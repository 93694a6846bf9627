"""Rows on the integer grid, a column in one go: the same whole numbers as each cell by itself gives."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.methods.models.design import Design
from engine.methods.models.monomials import Monomials
from engine.methods.shared import blocks
from engine.methods.shared.bounds import bounds_of
from engine.privacy.fixed_point import to_grid
from engine.table import coding
from engine.table.schema import Column, Domain, Kind

LARGEST = np.finfo(float).max
ODD = [0.0, -0.0, 1.5, -2.25, 3.0, 7.0, 1e308, -LARGEST, LARGEST, np.nan, np.inf, -np.inf, 5e-324, 2.0**53]
BOUNDS = [("-3", "7"), ("0.1", "0.3"), ("-4e299", "4e299"), ("9007199254740990", "9007199254740996")]
BOUNDS += [("-1e-299", "1e-299"), ("0", "3")]


def columns(n):
    chance = np.random.default_rng(0)
    odd = np.concatenate([ODD, chance.normal(scale=4, size=n - len(ODD))])
    whole = chance.integers(-9, 10, n)
    far = chance.choice([0, 2**53 + 1, 2**63 - 1, -(2**63)], n)
    yield "floats", odd
    yield "strided", np.stack([odd, odd], axis=1)[:, 1]
    yield "halves", odd.astype("f4")
    yield "quarters", chance.normal(size=n).astype("f2")
    yield "integers", far
    yield "bytes", whole.astype("i1")
    yield "unsigned", far.astype("u8")
    yield "truths", whole > 0
    yield "text", np.where(whole == 3, "three", whole.astype(str))
    yield (
        "objects",
        pd.Series([None, "x", "2.5", "3", np.nan, " 1 "] * (n // 6 + 1), dtype=object).iloc[:n].array,
    )
    yield "nullable", pd.array(np.where(whole == 2, None, whole), dtype="Int64")
    yield "nullable floats", pd.array(odd, dtype="Float64")
    yield "arrow", pd.array(whole.astype(float), dtype="float64[pyarrow]")
    yield "days", pd.date_range("2020-01-01", periods=n, freq="min")


def cell_by_cell(frame, design, per_side):
    found = np.zeros((len(frame), design.size + 1), dtype=np.int64)
    found[:, 0] = per_side
    for column, start in zip((*design.predictors, design.target), (*design.starts, design.size), strict=True):
        bounds = bounds_of(column)
        if bounds is None:
            found[np.arange(len(frame)), start + coding.codes(frame[column.name], column)] = per_side
            continue
        scaled = bounds.scaled(coding.numbers(frame[column.name], column))
        step = Fraction(1, per_side)
        found[:, start], missing = to_grid(scaled, minimum=-1, maximum=1, step=step)
    found[missing] = 0
    return found


@pytest.mark.filterwarnings("ignore:overflow")  # of the way cell by cell, in the cast to 16 and 32 bits
@pytest.mark.parametrize("low, high", BOUNDS)
@pytest.mark.parametrize("missing", [(), ("3", "-2.25", "none")])
@pytest.mark.parametrize("target", ["floats", "nullable", "text"])
def test_odd_tables_give_the_whole_numbers_of_each_cell_by_itself(low, high, missing, target, monkeypatch):
    frame = pd.DataFrame(dict(columns(1000)))
    domain = Domain(Fraction(low), Fraction(high))
    numbers = [Column(name, kind=Kind.NUMBER, domain=domain, missing=missing) for name in frame.columns]
    levels = Column("text", kind=Kind.CATEGORY, domain=Domain(values=("1", "2", "three")), missing=missing)
    own = next(one for one in numbers if one.name == target)
    design = Design(own, (*numbers[:5], levels, *(one for one in numbers[5:] if one.name != "text")))
    for per_side in (64, 4096):
        wanted = cell_by_cell(frame, design, per_side)
        for rows in (97, 10**7):
            monkeypatch.setattr(blocks, "ROWS", rows)
            found = np.concatenate([one.copy() for one in design.chunks(frame, per_side=per_side)])
            assert (found == wanted).all()
            monomials = Monomials(design.widths)
            sums = monomials.sums(design.chunks(frame, per_side=per_side))
            assert (sums == (wanted.T @ wanted)[monomials.places] * monomials.weights).all()


def test_a_table_without_rows_adds_nothing():
    number = Column("x", kind=Kind.NUMBER, domain=Domain(Fraction(0), Fraction(1)))
    design = Design(Column("y", kind=Kind.NUMBER, domain=Domain(Fraction(0), Fraction(1))), (number,))
    frame = pd.DataFrame({"x": [0.5], "y": [1.0]}).iloc[:0]
    assert not Monomials(design.widths).sums(design.chunks(frame, per_side=64)).any()
