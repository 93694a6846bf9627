"""Two printed claims about the functional mechanism, measured: medians over 50 runs of 80/20, as found.

Two theses say that it is below DPME and objective perturbation in median error, and that it varies more. The
table is made by `functional_mechanism_rivals.py`; one of its rows is made again here.
"""

import json
from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest

from tests.published.functional_mechanism_rivals import LEVELS, STAYS, WAYS, measured, scaled

TABLE = json.loads((Path(__file__).parent / "functional_mechanism_rivals.json").read_text())
CELLS = [(name, str(level)) for name in TABLE for level in LEVELS]
LOW, MEDIAN, HIGH = 0, 1, 2


def wins(way, other):
    """In how many of the table's cells the median error of one is below that of another."""
    return sum(TABLE[name][way][level][MEDIAN] < TABLE[name][other][level][MEDIAN] for name, level in CELLS)


def spread(way, name, level):
    found = TABLE[name][way][level]
    return found[HIGH] - found[LOW]


def test_a_row_of_the_table_can_be_made_again():
    sample = pd.read_csv(str(files("resources") / "sample" / "diabetes_encounters.csv"), dtype=str)
    rows = scaled(sample.drop_duplicates("patient_nbr"), STAYS)
    for way in WAYS:
        assert measured(rows, 0.8, way) == pytest.approx(TABLE["days in hospital"][way]["0.8"], abs=2e-3)


def test_it_is_below_the_histogram_almost_everywhere_once_it_has_a_floor():
    assert (wins("functional", "histogram"), wins("functional as printed", "histogram")) == (17, 10)


def test_it_is_not_below_objective_perturbation():
    """The printed claim does not hold on these tables, with the tight forms of both."""
    assert wins("functional", "objective") == wins("functional as printed", "objective") == 2


def test_it_varies_more_than_objective_perturbation():
    wider = [spread("functional as printed", *cell) > spread("objective", *cell) for cell in CELLS]
    assert (sum(wider), len(CELLS)) == (16, 20)


def test_a_floor_under_the_eigenvalues_narrows_the_band():
    assert all(spread("functional", *cell) <= spread("functional as printed", *cell) for cell in CELLS)
