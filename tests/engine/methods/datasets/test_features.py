"""Rows as features: what leaves, what the attack reads, where it stands, and that a contract is needed."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.datasets.features import Coordinates
from engine.methods.protocol import Context
from engine.privacy.noise import Noise, ordinary_generator
from engine.release.examples import plans
from engine.release.preview import preview
from engine.release.run import run
from engine.release.trial import trial
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.methods.examples_run import ran

METHOD = method("datasets.features")
EXAMPLES = Path(__file__).parents[4] / "resources" / "examples"
YES = Domain(values=("no", "yes"))
SCHEMA = Schema(
    (
        Column("stay", Role.OTHER, Kind.INTEGER, Domain(Fraction(0), Fraction(20)), Origin.DECLARED),
        Column("dose", Role.OTHER, Kind.NUMBER, Domain(Fraction(0), Fraction(1)), Origin.DECLARED),
        *(Column(name, Role.OTHER, Kind.CATEGORY, YES, Origin.DECLARED) for name in ("drug", "back", "sex")),
    )
)


def people(count=400, seed=2):
    chance = np.random.default_rng(seed)
    stay, dose = chance.integers(0, 21, count), chance.uniform(size=count)
    drug, sex = chance.random(count) < 0.2, chance.random(count) < 0.5
    back = stay + 8 * drug + chance.normal(size=count) * 4 > 14
    words = {name: np.where(one, "yes", "no") for name, one in (("drug", drug), ("back", back), ("sex", sex))}
    return pd.DataFrame({"stay": stay, "dose": dose, **words})


def released(frame, tmp_path, **given):
    asked = {"columns": ["stay", "dose", "drug"], "utility": "back", "hidden": "sex", **given}
    design = METHOD(METHOD.make_request({"people": SCHEMA}, asked))
    assert design.problems == []
    return design, design.run({"people": Table(frame)}, Context(Noise(), ordinary_generator(), tmp_path))


def test_numbers_give_a_hidden_yes_or_no_away_and_groups_do_less_so(tmp_path):
    frame = people()
    _, exact = released(frame, tmp_path, written="numbers")
    _, tenths = released(frame, tmp_path)
    _, halves = released(frame, tmp_path, groups=2)
    read = [one.inside.figures["attributes"]["drug"] for one in (exact, tenths, halves)]
    assert read[0]["known"] == read[0]["searched"] == 1.0
    assert exact.inside.figures["alone"] > 0.9 and tenths.inside.figures["alone"] == 0
    assert read[0]["known"] > read[2]["known"] and read[1]["known"] >= read[2]["known"]
    assert all(one["blind"] == read[0]["blind"] for one in read)
    for one in (exact, tenths):
        worst = one.inside.figures["worst"]
        said = one.inside.figures["sentence"]["values"]
        assert said["column"] == worst
        assert said["known"] == pytest.approx(100 * one.inside.figures["attributes"][worst]["known"], abs=0.5)


def test_what_leaves_are_features_and_the_label_of_the_same_row_in_another_order(tmp_path):
    frame = people()
    design, release = released(frame, tmp_path, written="numbers")
    (table,) = release.artefacts
    assert list(table.frame) == ["feature_1", "back"] and design.keeps == ("back",)
    of = design.read(frame)
    origins = table.origins
    assert (origins != np.arange(len(frame))).any() and sorted(origins) == list(range(len(frame)))
    assert table.frame["feature_1"].astype(float).to_numpy() == pytest.approx(of.made[origins, 0])
    assert (table.frame["back"].to_numpy() == frame["back"].to_numpy()[origins]).all()
    _, without = released(frame, tmp_path, label=False)
    assert list(without.artefacts[0].frame) == ["feature_1"]
    counts = without.artefacts[0].frame["feature_1"].value_counts()
    assert len(counts) == 10 and counts.between(30, 50).all()


def test_the_attack_knows_the_label_that_leaves_beside_the_features(tmp_path):
    """A hidden label that goes with the told one, rows that both tell apart, and a row that both find."""
    chance, frame = np.random.default_rng(4), people()
    frame["sex"] = np.where(chance.random(len(frame)) < 0.1, "no", frame["back"])
    known = {"columns": ["dose", "drug"], "groups": 10}
    _, beside = released(frame, tmp_path, **known)
    _, alone = released(frame, tmp_path, **known, label=False)
    read = {name: one.inside.figures for name, one in (("beside", beside), ("alone", alone))}
    assert alone.inside.figures["labels"]["hidden"]["linear_area"] < 0.75
    for who in ("linear", "boosted"):
        assert read["beside"]["labels"]["hidden"][f"{who}_area"] > 0.85
        assert read["beside"]["labels"]["utility"] == read["alone"]["labels"]["utility"]
    assert read["beside"]["rebuilt"] > read["alone"]["rebuilt"]

    few = people(150)
    few.loc[few.index[few["back"] == "yes"][2:], "back"] = "no"
    few.loc[few.index[0], "back"] = ""
    (table,) = (found := released(few, tmp_path, groups=10)[1]).artefacts
    only_one = (table.frame.value_counts() == 1).sum()
    assert only_one and found.inside.figures["alone"] == pytest.approx(only_one / len(few), abs=1e-6)


def test_missing_and_undeclared_cells_have_coordinates_of_their_own():
    frame = pd.DataFrame({"stay": [0, 20, None, 99], "drug": ["no", "yes", "x", None]})
    columns = (SCHEMA.column("stay"), SCHEMA.column("drug"))
    assert Coordinates(columns).of(frame).tolist() == [
        [-1, 1, 0, 0, 0],
        [1, 0, 1, 0, 0],
        [0, 0, 0, 1, 0],
        [1, 0, 0, 0, 1],
    ]


def test_a_table_that_is_too_small_is_refused(tmp_path):
    with pytest.raises(InputRefused, match=r"datasets\.features\.too_few"):
        released(people(90), tmp_path)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"hidden": "drug"}, "label_twice"),
        ({"hidden": "back"}, "label_twice"),
        ({"features": 2}, "too_many_features"),
    ],
)
def test_what_cannot_be_made_is_said_before_a_row_is_read(given, code):
    asked = {"columns": ["stay", "dose", "drug"], "utility": "back", "hidden": "sex", **given}
    (problem,) = METHOD(METHOD.make_request({"people": SCHEMA}, asked)).problems
    assert problem.code == f"datasets.features.{code}"


@pytest.mark.parametrize("purpose", [{"agreement": " "}, {"control": "published"}])
def test_it_leaves_under_a_contract_alone(tmp_path, purpose):
    (plan,) = plans(METHOD)
    wrong = replace(plan, purpose=replace(plan.purpose, **purpose))
    assert preview(plan, None, base=EXAMPLES).problems == ()
    assert [one.code for one in preview(wrong, None, base=EXAMPLES).problems] == ["run.no_contract"]
    with pytest.raises(InputRefused, match=r"run\.no_contract"):
        run(wrong, out=tmp_path / "out", ledger=Ledger(tmp_path / "ledger.sqlite"), base=EXAMPLES)


def test_the_attack_stands_on_the_first_page_that_stays_and_nowhere_outside():
    ((_, folder),) = ran(METHOD)
    page = (folder / "internal" / "report-internal.html").read_text(encoding="utf-8")
    said = page.index("Who knows all other values of a person and which row is theirs")
    assert said < page.index("This is what leaves.")
    for file in (folder / "release").iterdir():
        assert b"which row is theirs" not in file.read_bytes() and b"attributes" not in file.read_bytes()


def test_columns_that_left_as_features_are_changed_throughout():
    """All that left under its own name was the label, so that no cell was said to have changed."""
    ((plan, folder),) = ran(METHOD)
    evidence = json.loads((folder / "internal" / "evidence.json").read_text(encoding="utf-8"))
    columns = len(plan.parameters["columns"])
    assert evidence["internal"]["measures"]["utility.rows_kept"]["changed"] == pytest.approx(
        columns / (columns + 1), abs=1e-6
    )


def test_settings_are_attacked_before_a_release():
    (plan,) = plans(METHOD)
    own = {"columns": ["stay", "dose", "drug"], "utility": "back", "hidden": "sex"}
    found = trial(replace(plan, schemas={"people": SCHEMA}, parameters=own), Table(people()))
    assert found is not None
    (answer,) = found.answers
    assert answer.said.id == "methods.datasets.features.attack" and len(answer.views) == 2
