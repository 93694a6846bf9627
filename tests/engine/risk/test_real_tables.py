"""The whole answer against plain pandas: fixed and random schemas on tables of all forms."""

import gzip
import json
import math
import random
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.risk.disclosure import disclosure
from engine.risk.encoding import encode
from engine.table.reading.readers import read_table
from engine.table.schema import Column, Kind, Role, Schema
from tests.peers.risk_tables import SEEDS, adult, schema

DATA = Path(__file__).resolve().parents[2] / "data"
MOST_VALUES = 200  # of a column that is drawn to be sensitive
COMPLETE = ["sex", "age", "race", "marital_status", "education", "native_country", "workclass", "occupation"]


def unpacked(name, folder):
    made = folder / name
    made.write_bytes(gzip.decompress((DATA / f"{name}.gz").read_bytes()))
    return made, {}


def encounters(folder):
    return Path(str(files("resources") / "sample" / "diabetes_encounters.csv")), {}


def readmissions(folder):
    names = [f"column {place}" for place in (1, 2, 3, 4)]
    return DATA / "readmissions_cr_line_ends.csv", {"header": None, "names": names}


def complete_rows(folder):
    """Rows of Adult in which nothing is missing, with semicolons: the form in which ARX publishes them."""
    frame = adult()[[*COMPLETE, "income"]].astype("str")
    whole = frame[(frame != "?").all(axis=1)].head(30162)
    whole.to_csv(folder / "complete.csv", sep=";", index=False)
    return folder / "complete.csv", {"sep": ";"}


def measurements(folder):
    """544 invented people with measurements of many digits, names in quotation marks, semicolons."""
    made = np.random.default_rng(11)
    frame = pd.DataFrame(
        {
            "height": made.normal(150, 12, 544).round(3),
            "weight": made.normal(45, 8, 544).round(7),
            "age": made.integers(0, 89, 544),
            "male": made.integers(0, 2, 544),
        }
    )
    frame.to_csv(folder / "measurements.csv", sep=";", index=False, quoting=1)
    return folder / "measurements.csv", {"sep": ";"}


TABLES = {
    "adult": lambda folder: unpacked("adult.csv", folder),
    "complete rows": complete_rows,
    "encounters": encounters,
    "measurements": measurements,
    "readmissions": readmissions,
    "wine": lambda folder: unpacked("wine_white.csv", folder),
}
FIXED = {
    "adult": (["age", "sex", "race", "education", "marital_status"], "occupation"),
    "complete rows": (COMPLETE, "income"),
    "encounters": (["race", "gender", "age", "medical_specialty"], "diag_1"),
    "measurements": (["age", "male"], "height"),
    "readmissions": (["column 1", "column 2"], "column 3"),
    "wine": (["fixed_acidity", "citric_acid", "alcohol"], "quality"),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Every table once: its path, and as pandas reads it, as text and with what it takes for missing."""
    folder, found = tmp_path_factory.mktemp("tables"), {}
    for name, make in TABLES.items():
        path, options = make(folder)
        options = {"dtype": str, "keep_default_na": False, "skipinitialspace": True, **options}
        found[name] = (path, pd.read_csv(str(path), **options))
    return found


def kind_of(values):
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any():
        return Kind.CATEGORY
    return Kind.INTEGER if (numbers % 1 == 0).all() else Kind.NUMBER


def plain(frame, identifying, sensitive, ordered):
    """The figures by pandas alone."""
    frame = frame.apply(lambda values: values if kind_of(values) is Kind.CATEGORY else pd.to_numeric(values))
    groups = frame.groupby(identifying, dropna=False, sort=False)
    sizes, values = groups.size(), groups[sensitive]
    each = groups[sensitive].transform("size")
    counts = pd.crosstab(groups.ngroup(), frame[sensitive], dropna=False)
    q, p = counts.div(counts.sum(axis=1), axis=0), counts.sum() / len(frame)
    apart = q - p
    steps = apart.cumsum(axis=1).abs().sum(axis=1) / max(len(p) - 1, 1)
    falling = -np.sort(-counts.to_numpy(), axis=1)
    tail = falling[:, 1:].sum(axis=1)
    return {
        "rows": len(frame),
        "groups": len(sizes),
        "smallest_group": sizes.min(),
        "alone": (sizes == 1).sum(),
        "prosecutor_highest": 1 / sizes.min(),
        "prosecutor_average": (1 / each).mean(),
        "marketer": len(sizes) / len(frame),
        "above": (1 / each > 0.09).mean(),
        "under 11": sizes[sizes < 11].sum(),
        "distinct": values.nunique(dropna=False).min(),
        "homogeneous_people": sizes[values.nunique(dropna=False) == 1].sum(),
        "worst_share": q.to_numpy().max(),
        "t": (steps if ordered else 0.5 * apart.abs().sum(axis=1)).max(),
        "beta": (apart / p).to_numpy().max(),
        "recursive 2": math.inf if (tail == 0).any() else (falling[:, 0] / tail).max(),
    }


def engine(path, frame, identifying, sensitive):
    """The same figures by the engine, from the file."""
    columns = [Column(name, Role.IDENTIFYING, kind_of(frame[name])) for name in identifying]
    columns.append(Column(sensitive, Role.SENSITIVE, kind_of(frame[sensitive])))
    marked = Schema(tuple(columns))
    found = disclosure(encode(read_table(path, schema=marked), marked)).to_json()
    json.dumps(found, allow_nan=False)
    about = found["sensitive"][sensitive]
    alone = (
        "rows",
        "groups",
        "smallest_group",
        "alone",
        "prosecutor_highest",
        "prosecutor_average",
        "marketer",
    )
    of_values = ("distinct", "homogeneous_people", "worst_share", "t", "beta")
    said = {name: found[name] for name in alone} | {name: about[name] for name in of_values}
    said["above"], said["under 11"] = found["prosecutor_above"]["0.09"], found["under"]["11"]
    said["recursive 2"] = math.inf if about["recursive"]["2"] is None else about["recursive"]["2"]
    return said, about["distance"] == "ordered"


def assert_agrees(path, frame, identifying, sensitive):
    said, ordered = engine(path, frame, identifying, sensitive)
    expected = plain(frame, identifying, sensitive, ordered)
    assert said.keys() == expected.keys()
    for name, value in expected.items():
        assert said[name] == pytest.approx(value, rel=1e-9, abs=1e-12), (name, identifying, sensitive)


@pytest.mark.parametrize("name", TABLES)
def test_a_fixed_schema(opened, name):
    assert_agrees(*opened[name], *FIXED[name])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", TABLES)
def test_random_schemas(opened, name, seed):
    path, frame = opened[name]
    drawn = random.Random(f"{name} {seed}")
    few = [one for one in frame if frame[one].nunique() <= MOST_VALUES]
    sensitive = drawn.choice(few)
    others = [one for one in frame if one != sensitive]
    assert_agrees(path, frame, drawn.sample(others, drawn.randint(1, min(5, len(others)))), sensitive)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_schemas_that_another_library_measured(seed, tmp_path):
    columns, sensitive, rows = schema(seed)
    adult().iloc[rows].to_csv(tmp_path / "rows.csv", index=False)
    frame = pd.read_csv(tmp_path / "rows.csv", dtype=str, keep_default_na=False)
    assert_agrees(tmp_path / "rows.csv", frame, columns, sensitive)
