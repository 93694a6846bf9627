"""Distributions of real columns from changed answers: `answers_of_numbers.md` holds the whole tables."""

from pathlib import Path

import numpy as np
import pytest

from tests.published.answers_of_numbers import COLUMNS, averaged, distances, distribution, likeliest

TOLD = (Path(__file__).parent / "answers_of_numbers.md").read_text(encoding="utf-8").splitlines()
NEAR = (
    "time_in_hospital",
    "num_lab_procedures",
    "num_medications",
    "number_inpatient",
    "age",
    "hours_per_week",
)
SPIKED = "number_inpatient"


def cells(first):
    """Return the numbers of the row that begins so."""
    line = next(line for line in TOLD if line.startswith(f"| {first} |"))
    return [float(one) for one in line.split("|")[2:-1]]


@pytest.mark.parametrize("name", COLUMNS)
def test_distances_are_those_of_the_table(name):
    """As written, at most 4 hundredths where that is the goal."""
    found = 100 * np.mean(distances(name))
    assert found == pytest.approx(cells(name)[0], abs=0.051)
    assert found <= (4 if name in NEAR else 4.5)


def test_one_common_value_is_not_spread_over_its_neighbours():
    ours, likely, spread = (
        100 * np.mean(distances(SPIKED, way=way)) for way in (distribution, likeliest, averaged)
    )
    assert [ours, likely, spread] == pytest.approx(cells(SPIKED), abs=0.051)
    assert ours < spread / 2


@pytest.mark.slow
def test_of_all_columns_it_is_nearest_in_the_middle():
    means = [
        np.mean([distances(name, way=way) for name in COLUMNS]) for way in (distribution, likeliest, averaged)
    ]
    assert 100 * np.array(means) == pytest.approx(cells("1")[:3], abs=0.051)
    assert means[0] == min(means)
