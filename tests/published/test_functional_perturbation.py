"""Rows of `functional_perturbation.md` that need no table from elsewhere, and what it says of them."""

import re
from pathlib import Path

import pytest

from engine.analyses.functional_perturbation import WAYS, Setting, density
from tests.published.functional_perturbation import iris, measured

TABLE = Path(__file__).with_name("functional_perturbation.md").read_text(encoding="utf-8")
LINES = [
    re.split(r"\s*\|\s*", line.strip("| ")) for line in TABLE.splitlines() if re.match(r"\| [hki!]", line)
]
ROWS = {
    (one[0], int(one[1]), float(one[2])): dict(zip(WAYS, map(float, one[3:]), strict=True)) for one in LINES
}


@pytest.mark.parametrize(
    ("name", "rows", "asked", "level"),
    [("kernel density, N(2, 1.3)", 500, 100, 0.4), ("iris, share wrong", 75, 25, 1.0)],
)
def test_a_row_of_the_table_can_be_made_again(name, rows, asked, level):
    """Means of 15 runs: within .03 of those of 60 for shares, and a quarter for densities."""
    experiment = iris if name.startswith("iris") else density
    found = measured(experiment, Setting(level, 0.001, asked, rows), 15, seed=2)
    wanted = ROWS[name, rows, level]
    for way in WAYS:
        assert found[way] == pytest.approx(wanted[way], abs=0.06 if experiment is iris else wanted[way] / 4)


def test_the_table_says_what_stands_below_it():
    assert len(ROWS) == 9
    for found in ROWS.values():
        assert min(found["output_gaussian"], found["output_laplace"]) > 1.5 * found["exact"]
    for (name, _, _), found in ROWS.items():
        if name.startswith("!Kung"):
            assert found["printed"] < found["exact"] and found["released"] < found["exact"]
        else:
            assert found["exact"] < 1.05 * found["printed"]
    assert all(
        found["released"] <= found["exact"] + 0.02 for (name, _, _), found in ROWS.items() if "iris" in name
    )
