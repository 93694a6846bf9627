"""The programs that recipients get: run as they are on the copies, they give what the engine says."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from engine.methods.datasets.imputation import programs
from engine.methods.datasets.synthesis.combined import Rule, combine_estimates, estimates_view
from engine.methods.protocol import TableArtefact
from engine.release.bundle import write_artefact
from engine.table.schema import Column, Kind

RULES = (Rule.PARTIAL, Rule.FULL, Rule.FULL_REDRAWN)
COLUMNS = (Column("cost", kind=Kind.NUMBER), Column("ward, or place", kind=Kind.CATEGORY))


def copies(number, rows=60):
    chance = np.random.default_rng(number)
    found = []
    for _ in range(number):
        cost = chance.normal(0, 50, rows).round(2).astype(str)
        cost[::7] = ""
        ward = chance.choice(["north", "=south", ""], rows, p=[0.6, 0.3, 0.1])
        found.append(pd.DataFrame({"cost": cost, "ward, or place": ward}, dtype="str"))
    return found


def written(folder, frames, rule):
    """Write copies and programs as a release has them."""
    table = TableArtefact("table", tuple(frames), ())
    for artefact in (table, *programs(table.files, rule)):
        write_artefact(folder, artefact, "en")


def printed(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("rule", "number"), [(Rule.PARTIAL, 3), (Rule.FULL, 1), (Rule.FULL_REDRAWN, 5)])
def test_the_python_program_gives_what_the_engine_gives(tmp_path, rule, number):
    frames = copies(number)
    written(tmp_path, frames, rule)
    lines = printed([sys.executable, "combine.py", "cost", "ward, or place"], tmp_path).splitlines()
    found = {name: list(map(float, numbers)) for name, *numbers in (line.split("\t") for line in lines)}
    view = estimates_view(frames, COLUMNS, rows=60, rule=rule)
    rows = {str(row[0]) if isinstance(row[0], str) else row[0].values["value"]: row[1:] for row in view.rows}
    assert set(rows) == {"cost", "north", "=south"}
    for name, numbers in found.items():  # a cell that a spreadsheet could run has an apostrophe before it
        key = "cost" if name == "mean of cost" else name.rsplit(" is ", 1)[1].removeprefix("'")
        assert numbers == pytest.approx(rows.pop(key), rel=1e-4, abs=1e-9)
    assert not rows


@pytest.mark.parametrize("rule", RULES)
def test_own_analyses_are_combined_as_the_engine_does(tmp_path, rule):
    """To ten digits, Student's quantile too: by the functions that the program offers."""
    written(tmp_path, copies(4), rule)
    script = (
        "import combine\n"
        "print(*combine.combined([1.0, 1.5, 0.8, 1.1], [0.04, 0.05, 0.03, 0.06]))\n"
        "print(*map(combine.t_quantile, (1.0, 3.0, 7.5, 120.0, 1e7)))\n"
        "print(len(list(combine.copies())))\n"
    )
    first, second, third = printed([sys.executable, "-c", script], tmp_path).splitlines()
    expected = combine_estimates(
        np.array([1.0, 1.5, 0.8, 1.1]), np.array([0.04, 0.05, 0.03, 0.06]), rule=rule, rows=60
    )
    numbers = [expected.estimate, expected.variance, expected.low, expected.high]
    assert list(map(float, first.split())) == pytest.approx(numbers, rel=1e-7)
    quantiles = [stats.t.ppf(0.975, degrees) for degrees in (1.0, 3.0, 7.5, 120.0, 1e7)]
    assert list(map(float, second.split())) == pytest.approx(quantiles, rel=1e-6)
    assert int(third) == 4


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not on this machine")
@pytest.mark.parametrize("rule", RULES)
def test_the_r_program_gives_what_the_engine_gives(tmp_path, rule):
    frames = copies(3)
    written(tmp_path, frames, rule)
    ask = 'source("combine.R"); cat(of_column("cost"), sep = "\\n")'
    numbers = list(map(float, printed(["Rscript", "-e", ask], tmp_path).split()))
    row = estimates_view(frames, COLUMNS[:1], rows=60, rule=rule).rows[0]
    assert [numbers[0], *numbers[2:]] == pytest.approx(row[1:], rel=1e-4)


@pytest.mark.parametrize("rule", RULES)
def test_the_r_program_says_the_same_formulas(rule):
    """Read where no R can run it: the rule, the files, closed brackets, and the formulas of the other one."""
    python, r = (one.content.decode() for one in programs(("table-1.csv", "table-2.csv"), rule))
    assert f'rule <- "{rule}"' in r and 'files <- c("table-1.csv", "table-2.csv")' in r
    assert all(r.count(left) == r.count(right) for left, right in ("()", "{}", "[]"))
    for formula in ("own + between / m", "own * (1 + 1 / m)", "own * (1 + 2 / m)"):
        assert formula in python and formula in r
    assert "(m - 1) * (1 + own * m / between)" in r
    compile(python, "combine.py", "exec")


def test_a_sentence_names_what_each_program_holds():
    from engine import texts

    for one in programs(("table.csv",), Rule.FULL):
        assert texts.has(one.meaning.id)
        assert b"table.csv" in one.content and one.name in ("combine.py", "combine.R")
