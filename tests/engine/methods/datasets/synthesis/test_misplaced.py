"""The error that a formula foresees, beside the one that is made."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.datasets.synthesis.misplaced import share_misplaced
from engine.methods.protocol import Budget, Context
from engine.table.schema import Kind, Schema
from engine.table.table import Table
from tests.engine.methods.datasets.test_seedbased import declared
from tests.noise_source import seeded_noise

WARDS, TOWNS = (tuple(map(str, range(size))) for size in (8, 20))
SCHEMA = Schema(
    (declared("ward", Kind.CATEGORY, values=WARDS), declared("town", Kind.CATEGORY, values=TOWNS))
)


def request_for(name, rows, epsilon, **given):
    found = method(name).make_request(
        {"people": SCHEMA},
        {"columns": ["ward", "town"], "about_rows": rows, **given},
        budget=Budget(
            Fraction(epsilon), Fraction(1, 10**9) if given.get("noise") == "gaussian" else Fraction(0)
        ),
    )
    assert not method(name)(found).problems
    return found


def made(request, name, seed, rows):
    chance = np.random.default_rng(seed)
    frame = pd.DataFrame({"ward": chance.choice(WARDS, rows), "town": chance.choice(TOWNS, rows)})
    context = Context(seeded_noise(seed), None, Path())
    released = method(name)(request).run({"people": Table(frame)}, context).artefacts[0].frame
    shares = [
        frame[column]
        .value_counts(normalize=True)
        .sub(released[column].value_counts(normalize=True), fill_value=0)
        for column in frame
    ]
    return np.mean([one.abs().sum() / 2 for one in shares])


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("rows", [2000, 20_000])
def test_single_columns_are_off_by_about_what_was_said(noise, rows):
    """Too few rows for pairs; median and limit are kept, and are not twice what comes out."""
    request = request_for("datasets.marginals", rows, Fraction(40, rows), noise=noise)
    name = "datasets.marginals"
    foreseen = next(
        one for one in method(name)(request).forecast.errors if one.unit.strip() == "percentage points"
    )
    off = [100 * made(request, name, seed, rows) for seed in range(30)]
    assert np.mean(np.array(off) <= foreseen.limit) >= 0.9
    assert 0.5 < np.median(off) / foreseen.median <= 1.05


def test_it_is_never_more_than_everything():
    assert share_misplaced([10_000], [1000.0], 10) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("name", "rows", "epsilon", "verdict"),
    [
        ("datasets.marginals", 2139, "1/50", "only_single"),
        ("datasets.marginals", 2139, "1/5", "little"),
        ("datasets.marginals", 200_000, 1, "pairs"),
        ("datasets.marginals", 50, "1/50", "nothing"),
        ("datasets.network", 2139, "1/20", "alone"),
        ("datasets.network", 200_000, 1, "together"),
        ("datasets.network", 50, "1/50", "nothing"),
    ],
)
def test_the_verdict_is_a_plain_sentence(name, rows, epsilon, verdict):
    found = method(name)(request_for(name, rows, epsilon)).judged(None)
    assert found.said.id == f"methods.{name}.judged.{verdict}"
    assert found.is_useless == (verdict == "nothing")
    said = texts.text(found.said.id, **found.said.values)
    assert said.startswith(f"With about {rows:,} rows and ε = {float(Fraction(epsilon)):.3g}, ")
