"""Invented rows of Adult, 45,000 × 14: the cost beside that of the trees alone, of copies, of more rows.

Limits in seconds are of a quiet machine on which the trees' own fits on Adult take .6 s of processor time;
here they hold as multiples of these fits in the same run.
"""

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

from engine.evaluation.catalogue import measure
from engine.evaluation.protocol import Private
from engine.methods.catalogue import method
from engine.methods.datasets.synthesis import chain
from engine.methods.datasets.synthesis.models import Synthesiser, learning
from engine.methods.datasets.synthesis.variables import variable
from engine.methods.protocol import MAIN, Context
from engine.privacy.noise import Noise
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.adult import DATA
from tests.ratios import slack

pytestmark = pytest.mark.benchmark

NUMBERS = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
ROUNDS = 3
FITS = 0.6  # seconds of the trees' own fits on a quiet machine
CHEAP = ("risk.synthetic_copied", "risk.synthetic_matching")
IDENTIFYING = ("age", "sex", "race", "native_country")


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
    assert min(ratios) <= 1.9 * slack(), ratios


def test_five_copies_are_fitted_once(columns):
    one, five = (min(seconds(columns, copies=copies) for _ in range(ROUNDS)) for copies in (1, 5))
    assert five <= 1.6 * one * slack(), (one, five)


def test_twice_the_rows_take_little_more_than_twice_the_time(columns):
    half, whole = (min(seconds(columns, rows=rows) for _ in range(ROUNDS)) for rows in (22_500, 45_000))
    assert whole <= 2.3 * half * slack(), (half, whole)


def test_all_cheap_attacks_take_five_seconds(columns, monkeypatch):
    """Copies, guesses from known cells, nearest rows and matches on 45,000 rows: 5 s."""
    seconds(columns, rows=2_000)
    with fits_timed(monkeypatch) as spent:
        seconds(columns)
    used = pd.DataFrame({name: values for name, (values, _) in columns.items()})
    others = pd.read_csv(DATA / "adult.csv.gz").drop(columns="fnlwgt").tail(3_800).reset_index(drop=True)
    roles = dict.fromkeys(IDENTIFYING, Role.IDENTIFYING) | {"income": Role.SENSITIVE}
    schema = Schema(
        tuple(Column(name, roles.get(name, Role.OTHER), column.kind) for name, (_, column) in columns.items())
    )
    way, rows = method("datasets.imputation"), Table(used)
    request = way.make_request({MAIN: schema}, {"columns": list(used), "copies": 1})
    made = way(request).run({MAIN: rows}, Context(Noise(), np.random.default_rng(1), Path()))
    subject = way(request)
    context = Private(subject, rows, schema, rows, made, held_out=Table(others))
    began = time.process_time()
    answers = [measure(name).evaluate(context) for name in CHEAP]
    took = time.process_time() - began
    print(f"attacks: {took:.2f} s, trees: {sum(spent):.2f} s")
    assert all(answer.figures for answer in answers)
    assert took <= slack() * 5 / FITS * sum(spent), (took, sum(spent))


MANY = """
import json, resource, sys, time
from pathlib import Path
import numpy as np, pandas as pd, sklearn.tree
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Context
from engine.privacy.noise import Noise
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
chance = np.random.default_rng(0)
read = pd.read_csv(sys.argv[1], na_values="?")
table = read.iloc[chance.integers(0, len(read), 100_000)].reset_index(drop=True)
for place in range(5):
    measured = np.round(table["age"] * 0.3 + chance.normal(size=len(table)) * 5, 1)
    table[f"measured {place}"] = measured.where(chance.random(len(table)) >= 0.1 * place)
kinds = {name: Kind.CATEGORY if table[name].dtype.kind not in "if" else Kind.NUMBER for name in table}
schema = Schema(tuple(Column(name, Role.OTHER, kind) for name, kind in kinds.items()))
way = method("datasets.imputation")
request = way.request({MAIN: schema}, {"columns": list(table), "copies": 1})
began = time.process_time()
way.run({MAIN: Table(table)}, request, Context(Noise(), chance, Path()))
took = time.process_time() - began
status = Path("/proc/self/status")
if status.exists():  # what Linux says of children counts their parent too
    most = next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if "VmHWM" in line)
else:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([table.shape, took, most]))
"""


def test_a_hundred_thousand_rows_take_seconds_and_600_megabytes(columns, monkeypatch):
    """20 columns, half of them amounts, some missing, beside the trees of Adult in the same run.

    The aim is 10 s. 10.1 to 10.5 s were measured where the trees of Adult took .59 s, 7 s of them for the own
    fits of the trees, and 477 MB; the limit leaves room for a busy machine.
    """
    seconds(columns, rows=2_000)
    with fits_timed(monkeypatch) as spent:
        seconds(columns)
    command = [sys.executable, "-c", MANY, str(DATA / "adult.csv.gz")]
    done = subprocess.run(
        command, cwd=Path(__file__).resolve().parents[2], capture_output=True, text=True, check=True
    )
    shape, took, most = json.loads(done.stdout.splitlines()[-1])
    print(f"{shape}: {took:.2f} s, {most:.0f} MB, trees of Adult: {sum(spent):.2f} s")
    assert shape == [100_000, 20] and most <= 600
    assert took <= slack() * 12 / FITS * sum(spent), (took, sum(spent))
