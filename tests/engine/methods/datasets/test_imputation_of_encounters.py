"""The sample of encounters invented anew: seven rules hold, and no column comes back as it was."""

from math import lgamma, log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.protocol import Context
from engine.privacy.noise import Noise
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

FILE = Path(__file__).parents[4] / "resources" / "sample" / "diabetes_encounters.csv"
COUNTS = ("num_procedures", "num_medications", "number_outpatient", "number_emergency", "number_inpatient")
NAMES = ("gender", "age", "medical_specialty", "diabetesMed", "insulin", "metformin", "change", "readmitted")
COLUMNS = (*NAMES, *COUNTS, "visits")


def never(one, values, other, others):
    """Return a rule: who has the ones never has the others."""
    first, second = ({"column": c, "is": "in", "values": v} for c, v in ((one, values), (other, others)))
    return {"one": first, "other": second}


@pytest.fixture(scope="module")
def rows():
    found = pd.read_csv(FILE, dtype=dict.fromkeys(NAMES, str), keep_default_na=False)
    found["visits"] = found[["number_outpatient", "number_emergency", "number_inpatient"]].sum(axis=1)
    return found[["patient_nbr", *COLUMNS]]


@pytest.fixture(scope="module")
def rules(rows):
    births = sorted(name for name in set(rows["medical_specialty"]) if name.startswith("Obstetrics"))
    given = ["Steady", "Up", "Down"]
    return {
        "never": [
            never("gender", ["Male"], "medical_specialty", births),
            never("diabetesMed", ["No"], "insulin", given),
            never("diabetesMed", ["No"], "metformin", given),
            never("diabetesMed", ["No"], "change", ["Ch"]),
            never("change", ["No"], "insulin", ["Up", "Down"]),
        ],
        "in_order": [{"first": "num_procedures", "second": "num_medications"}],
        "sums": [
            {"total": "visits", "parts": ["number_outpatient", "number_emergency", "number_inpatient"]},
        ],
    }


@pytest.fixture(scope="module", params=["tree", "linear"])
def release(request, rows, rules):
    found = method("datasets.imputation")
    kinds = dict.fromkeys(NAMES, Kind.CATEGORY)
    columns = [Column(name, kind=kinds.get(name, Kind.INTEGER)) for name in COLUMNS]
    schema = Schema((Column("patient_nbr", Role.PERSON_KEY), *columns), rows_per_person=40)
    given = {"columns": list(COLUMNS), "copies": 2, "synthesiser": request.param, **rules}
    asked = found.make_request({"people": schema}, given)
    assert not found(asked).problems
    return found(asked).run({"people": Table(rows)}, Context(Noise(), np.random.default_rng(1), Path()))


def test_no_invented_row_breaks_one_of_the_seven_rules(release, rules):
    for frame in release.artefacts[0].frames:
        for rule in rules["never"]:
            one, other = (frame[side["column"]].isin(side["values"]) for side in (rule["one"], rule["other"]))
            assert one.any() and other.any() and not (one & other).any()
        counts = frame[[*COUNTS, "visits"]].astype(float)
        assert (counts["num_procedures"] <= counts["num_medications"]).all()
        assert (
            counts["visits"] == counts[[name for name in COUNTS if name.startswith("number_")]].sum(axis=1)
        ).all()


def test_no_column_equals_the_original_one(release, rows):
    """Rows come in a random order: a column of n rows, k of them not of its most frequent value, equals the
    original with a probability of at most 1 / (n choose k), below 10⁻⁶ for every column here."""
    n = len(rows)
    for name in COLUMNS:
        k = n - rows[name].value_counts().iloc[0]
        assert lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) > log(1e6)
        for frame in release.artefacts[0].frames:
            assert frame[name].tolist() != rows[name].astype(str).tolist()
