"""Pseudonyms: stable within a release, different in the next, the key inside and locked where wanted."""

import json
from pathlib import Path

import pandas as pd
import pytest

from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.datasets.pseudonyms import KEY_FILE
from engine.privacy.keys import pseudonyms, unlocked
from engine.release.examples import plans
from engine.release.run import run
from engine.table.schema import Column, Kind, Role, Schema

ID = "datasets.pseudonyms"
EXAMPLES = Path(__file__).parents[4] / "resources" / "examples"
SAMPLE = EXAMPLES.parent / "sample" / "diabetes_encounters.csv"


def release(tmp_path, name, passphrase=None):
    plan = plans(method(ID))[0]
    ledger = Ledger(tmp_path / "ledger.sqlite")
    run(plan, out=tmp_path / name, ledger=ledger, base=EXAMPLES, passphrase=passphrase)
    frame = pd.read_csv(tmp_path / name / "release" / "table.csv", dtype=str, keep_default_na=False)
    return frame, tmp_path / name


@pytest.mark.parametrize("passphrase", [None, "a long passphrase"])
def test_a_person_has_one_pseudonym_that_the_key_inside_gives(tmp_path, passphrase):
    frame, folder = release(tmp_path, "one", passphrase)
    original = pd.read_csv(SAMPLE, dtype=str, keep_default_na=False)
    assert len(frame) == len(original) and frame["pseudonym"].nunique() == original["patient_nbr"].nunique()
    key = unlocked((folder / "internal" / KEY_FILE).read_bytes(), passphrase)
    people = original["patient_nbr"].unique()
    stands_for = dict(zip(pseudonyms(list(people), key=key), people, strict=True))
    columns = ["age", "gender", "time_in_hospital", "diag_1", "readmitted"]
    back = frame.assign(patient_nbr=frame["pseudonym"].map(stands_for))[["patient_nbr", *columns]]
    assert sorted(map(tuple, back.to_numpy())) == sorted(
        map(tuple, original[["patient_nbr", *columns]].to_numpy())
    )
    assert back["patient_nbr"].tolist() != original["patient_nbr"].tolist()  # in another order


def test_nothing_joins_two_releases_and_no_key_leaves(tmp_path):
    first, one = release(tmp_path, "one", "secret words")
    second, two = release(tmp_path, "two")
    assert not set(first["pseudonym"]) & set(second["pseudonym"])
    for folder, passphrase in ((one, "secret words"), (two, None)):
        key = unlocked((folder / "internal" / KEY_FILE).read_bytes(), passphrase)
        inside = json.loads((folder / "internal" / KEY_FILE).read_text())
        assert inside["locked"] is (passphrase is not None)
        for path in folder.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            assert b"secret words" not in content
            if path.name != KEY_FILE:
                assert key not in content and key.hex().encode() not in content, path.name


def test_the_name_of_the_pseudonym_is_its_own():
    schema = Schema((Column("pid", Role.PERSON_KEY), Column("age", Role.IDENTIFYING, Kind.INTEGER)))
    found = method(ID)
    given = {"columns": ["age"], "pseudonym": "age"}
    problems = found.problems(found.request({"people": schema}, given))
    assert [problem.code for problem in problems] == [f"{ID}.name_taken"]
