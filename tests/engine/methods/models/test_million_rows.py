"""A million rows in bounded memory: small numbers for each, worked out in blocks, and always the same."""

import json
import subprocess
import sys
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.models import additive_steps
from engine.methods.models.additive_schedule import Schedule
from engine.methods.protocol import Budget, Context
from engine.methods.shared import blocks
from engine.privacy.mechanisms.integers import listening, noisy
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise
from tests.peers import private_models_here

NUMBERS = [f"x{place}" for place in range(6)]
SCHEMA = Schema(
    tuple(
        Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)
        for name, kind, domain in (
            *((name, Kind.NUMBER, {"minimum": Fraction(-1), "maximum": Fraction(1)}) for name in NUMBERS),
            ("level", Kind.CATEGORY, {"values": ("a", "b", "c")}),
            ("number", Kind.NUMBER, {"minimum": Fraction(-1), "maximum": Fraction(1)}),
            ("class", Kind.CATEGORY, {"values": ("no", "yes")}),
        )
    )
)
PREDICTORS = [*NUMBERS, "level"]
ASKED = {
    "additive": {"target": "number", "predictors": PREDICTORS},
    "additive, classes": {"target": "class", "predictors": PREDICTORS},
    "linear, steps": {"target": "number", "predictors": PREDICTORS, "fit": "steps"},
    "linear, sums": {"target": "number", "predictors": PREDICTORS, "fit": "sums"},
    "logistic": {"target": "class", "predictors": PREDICTORS},
    "naive_bayes": {"target": "class", "predictors": PREDICTORS, "numbers": "normal"},
    "tree": {"target": "class", "predictors": PREDICTORS},
    "k_means": {"columns": NUMBERS[:3], "groups": 3},
    "pca": {"columns": PREDICTORS},
}


def drawn(n, seed=0):
    chance = np.random.default_rng(seed)
    frame = pd.DataFrame(np.clip(chance.normal(scale=0.4, size=(n, len(NUMBERS))), -1, 1), columns=NUMBERS)
    frame["level"] = chance.choice(["a", "b", "c", "other"], n)
    frame["number"] = np.clip(frame[NUMBERS].sum(axis=1) / 4 + chance.normal(scale=0.2, size=n), -1, 1)
    frame["class"] = np.where(frame["number"] > 0, "yes", "no")
    return frame


def with_gaps(frame):
    """Return rows of which some lack a number, a level or what is predicted."""
    frame = frame.copy()
    for place, name in enumerate(frame.columns):
        frame.loc[frame.index[place::31], name] = np.nan
    return frame


def ran(name, frame, about=None):
    """Run a model with noise that is always the same; return what it writes and its exact sums."""
    way = method(f"models.{name.partition(',')[0]}")
    given = ASKED[name] | {"noise": "laplace"}
    if any(one.name == "about_rows" for one in way.parameters):
        given["about_rows"] = about or len(frame)
    request = way.make_request({"people": SCHEMA}, given, budget=Budget(Fraction(8)))
    assert not way(request).problems
    exact = []

    def record(values, draws):
        exact.append(values.copy())
        return noisy(values, draws)

    with listening(record):
        release = way(request).run({"people": Table(frame)}, Context(seeded_noise(3), None, Path()))
    content = next(one for one in release.artefacts if one.files[0] == "model.json").content
    return json.loads(content) if isinstance(content, bytes) else content, exact


@pytest.mark.parametrize("name", ASKED)
def test_neither_the_size_of_blocks_nor_the_order_of_rows_changes_a_bit(name, monkeypatch):
    frame = with_gaps(drawn(3000))
    wanted, sums = ran(name, frame)
    shuffled = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    for size, rows in ((97, frame), (1024, shuffled), (10**7, shuffled)):
        monkeypatch.setattr(blocks, "ROWS", size)
        found, own = ran(name, rows)
        assert found == wanted
        assert len(own) == len(sums) and all((a == b).all() for a, b in zip(own, sums, strict=True))


BYTES_A_ROW = {
    "additive": 24,
    "additive, classes": 24,
    "linear, steps": 32,
    "linear, sums": 4,
    "logistic": 32,
    "naive_bayes": 4,
    "tree": 16,
    "k_means": 16,
    "pca": 4,
}
"""At most, for seven predictors; as numbers of 64 bits they and the target would be 64, before any work."""


@pytest.mark.parametrize("name", ASKED)
def test_what_is_held_beside_a_row_is_small(name, monkeypatch):
    """What two sizes of a table differ by, so that what is held for no row or for a block does not count."""
    monkeypatch.setattr(blocks, "ROWS", 2**12)
    sizes, peaks = (30_000, 90_000), []
    for size in sizes:
        frame = drawn(size)
        ran(name, frame.iloc[:1000], about=2000)
        tracemalloc.start()
        ran(name, frame, about=2000)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / (sizes[1] - sizes[0]) < BYTES_A_ROW[name]


def test_no_curve_is_too_steep_for_scores_of_32_bits():
    places = range(200)
    codes = [np.array([0, 1], dtype=np.uint8) for _ in places]
    plan = Schedule((2,) * 200, Fraction(1), Fraction(0), 1, False, 1000, is_classes=True)
    state = additive_steps._State.of(codes, np.zeros(2, np.int64), plan)
    for place in places:
        state.move(place, np.array([-1e30, 1e30]), 1e30 if place == 0 else 0.0)
        state.sums(place, plan, additive_steps.WHOLE)
    assert state.scores.tolist() == [-199 * 2**23, 201 * 2**23]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("additive", 60), ("steps", 100), ("naive Bayes", 50)])
def test_mebibytes_beyond_a_million_rows_of_twenty_columns(name, most):
    """In a process of its own, which draws the table and says the most memory that it had beside it."""
    command = [sys.executable, private_models_here.__file__, "one", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["mebibytes_beyond_the_rows"] < most
