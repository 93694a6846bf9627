"""Curves over the number of features: what is read, by whom, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from engine.analyses.catalogue import analysis, ask
from engine.errors import InputRefused
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table

HALF = Domain(values=("no", "yes"))
NAMES = ("a", "b", "c")


def asked(frame, **values):
    schema = Schema(
        (
            *(Column(name, Role.OTHER, Kind.NUMBER, Domain(-4, 4), Origin.DECLARED) for name in NAMES),
            *(Column(name, Role.OTHER, Kind.CATEGORY, HALF, Origin.DECLARED) for name in ("ill", "sex")),
        )
    )
    schema = Schema.from_json(schema.to_json())
    given = {"columns": list(NAMES), "utility": "ill", "hidden": "sex", "most": 3, **values}
    return ask(analysis("features"), given, tables={"people": Table(frame)}, schemas={"people": schema})


@pytest.fixture(scope="module")
def people():
    """The sex bends the second column, where no straight line sees it; the illness moves the first."""
    chance = np.random.default_rng(1)
    ill, sex = chance.random(1500) < 0.5, chance.random(1500) < 0.5
    rows = chance.normal(size=(1500, 3)) * 0.4
    rows[:, 0] += ill * 2.0
    rows[:, 1] += np.where(sex, 0.0, np.where(chance.random(1500) < 0.5, 1.5, -1.5)) + 0.8 * ill
    frame = pd.DataFrame(rows, columns=NAMES).assign(ill=np.where(ill, "yes", "no"))
    return frame.assign(sex=np.where(sex, "yes", "no"))


def test_what_straight_lines_do_not_read_trees_do(people):
    found = asked(people)
    curves = found.figures["curves"]
    last = curves["mdr"][-1]
    assert abs(last["hidden_linear_area"] - 0.5) < 0.1 and last["hidden_boosted_area"] > 0.9
    assert curves["dca"][0]["utility_linear_right"] > 95  # one direction is enough for two values
    assert [one["features"] for one in curves["pca"]] == [1, 2, 3]
    assert curves["pca"][-1]["rebuilt"] == pytest.approx(100) and curves["pca"][-1]["error"] < 1e-9
    errors = [one["error"] for one in curves["pca"]]
    assert errors == sorted(errors, reverse=True)
    assert found.stays and len(found.views) == 6


def test_waves_bend_and_have_no_error_of_the_source(people):
    curves = asked(people, form="waves", most=2).figures["curves"]
    assert "error" not in curves["pca"][0]
    assert curves["dca"][0]["utility_linear_right"] > 90


@pytest.mark.parametrize(
    ("given", "code"),
    [({"hidden": "ill"}, "features_twice"), ({}, "features_few")],
)
def test_what_cannot_be_asked_is_said(people, given, code):
    with pytest.raises(InputRefused, match=rf"analyses\.{code}"):
        asked(people.head(99), **given)
