"""Invented rows with amounts of which single values are frequent: found without edges, whatever rows hold."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.protocol import Budget, Context
from engine.privacy.promise import Neighbours
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.views import Text
from tests.noise_source import seeded_noise

ID = "datasets.marginals"


def declared(name, kind, **domain):
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


def amount(name, most):
    return declared(name, Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(most))


SCHEMA = Schema((amount("owed", 9_999), amount("paid", 9_999), declared("ill", Kind.CATEGORY, values="ny")))
BUDGET = Budget(Fraction(2), Fraction(1, 10**6))
ALL = ["owed", "paid", "ill"]
USUAL = {"columns": ALL, "about_rows": 20_000, "noise": "gaussian"}


def request_for(budget=BUDGET, schema=SCHEMA, **given):
    return method(ID).make_request({"people": schema}, USUAL | given, budget=budget)


def made(frame, *, seed=5, **options):
    request = request_for(**options)
    assert not method(ID)(request).problems, method(ID)(request).problems
    noise = seeded_noise(seed)
    release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
    assert noise.counted == release.promise.drawn()
    return release


def some_rows(n=20_000, seed=1):
    """Amounts of which most are 0, and of which 750 is typical of the ill."""
    chance = np.random.default_rng(seed)
    ill = chance.random(n) < 0.2
    kind = chance.random(n)
    anything = chance.integers(0, 10_000, n)
    owed = np.where(kind < 0.7, 0, np.where(ill & (kind < 0.9), 750, np.where(kind < 0.85, 4000, anything)))
    return pd.DataFrame({"owed": owed, "paid": chance.permutation(owed), "ill": np.where(ill, "y", "n")})


@pytest.mark.parametrize("cells", ["equal", "searched"])
def test_frequent_values_come_out_as_often_as_they_are_there_and_with_what_goes_with_them(cells):
    rows = some_rows()
    release = made(rows, cells=cells)
    frame = release.artefacts[0].frame
    frame = frame.assign(owed=pd.to_numeric(frame["owed"]))
    for value in (0, 750, 4000):
        shares = [(table["owed"] == value).mean() for table in (rows, frame)]
        assert shares[1] == pytest.approx(shares[0], abs=0.01)
    assert (frame["ill"][frame["owed"] == 750] == "y").mean() > 0.9
    assert (frame["ill"][frame["owed"] == 4000] == "y").mean() < 0.1
    others = frame["owed"][~frame["owed"].isin([0, 750, 4000])].dropna()
    assert others.between(0, 9_999).all() and others.nunique() > 1000
    noted = [note.values for note in release.notes if note.id.endswith(("frequent_found", "crowded_found"))]
    assert [note["column"] for note in noted] == ["owed", "paid"]
    if cells == "equal":
        assert all(3 <= note["found"] <= 5 for note in noted)  # noise lifts half a value more
    else:
        assert all(3 <= note["alone"] <= note["intervals"] <= 40 for note in noted)
    beside = [row for row in release.views[0].rows if not isinstance(row[0], str)]
    assert [(row[0].values["column"], row[1]) for row in beside] == [("owed", 10_001), ("paid", 10_001)]
    without = made(rows, frequent=False).artefacts[0].frame
    assert (without["owed"] == "0").mean() < 0.01 and (frame["owed"] == 0).mean() > 0.69


DECIMALS = Schema(
    (
        declared("dose", Kind.NUMBER, minimum=Fraction(0), maximum=Fraction(100)),
        declared("ill", Kind.CATEGORY, values="ny"),
    )
)
OF_DECIMALS = {"schema": DECIMALS, "columns": ["dose", "ill"], "target": "ill"}


def test_numbers_with_decimals_follow_where_they_crowd():
    """Nearly all doses are in the first of sixteen declared intervals; small ones are of the ill."""
    chance = np.random.default_rng(4)
    dose = np.clip(chance.gamma(2, 1, 20_000), 0, 100)
    rows = pd.DataFrame({"dose": dose, "ill": np.where(dose < 1.5, "y", "n")})
    release = made(rows, **OF_DECIMALS)
    frame = release.artefacts[0].frame
    invented = pd.to_numeric(frame["dose"])
    for end in (1, 2, 3, 4):
        assert (invented < end).mean() == pytest.approx((dose < end).mean(), abs=0.02)
    assert (frame["ill"][invented < 1] == "y").mean() > 0.9 > 0.1 > (frame["ill"][invented > 2] == "y").mean()
    assert invented.nunique() > 1000
    (note,) = (note.values for note in release.notes if note.id.endswith("parts_found"))
    assert note["column"] == "dose" and note["values"] == 1024 and note["intervals"] > 16
    (beside,) = (row for row in release.views[0].rows if not isinstance(row[0], str))
    assert beside[:2] == (Text(f"methods.{ID}.views.parts", {"column": "dose"}), 1025)
    equal = pd.to_numeric(made(rows, cells="equal", **OF_DECIMALS).artefacts[0].frame["dose"])
    assert abs((equal < 1).mean() - (dose < 1).mean()) > 0.05


def test_nothing_is_counted_by_equal_parts_where_it_could_show_nothing():
    little = Budget(Fraction(1, 10), Fraction(1, 10**6))
    asked = {**OF_DECIMALS, "about_rows": 500}
    searched, equal = (
        method(ID)(request_for(little, **asked, cells=cells)).schedule for cells in ("searched", "equal")
    )
    assert searched == equal and searched.frequent == 0
    assert method(ID)(request_for(**asked | {"about_rows": 5_000})).schedule.frequent == 1


@pytest.mark.parametrize("value", ["", "-5", "1e300", "nan", "dose"])
def test_whatever_cells_of_decimals_hold_a_table_comes_out(value):
    rows = pd.DataFrame({"dose": [value] * 300, "ill": ["y"] * 300})
    frame = made(rows, **OF_DECIMALS).artefacts[0].frame
    numbers = pd.to_numeric(frame["dose"]).dropna()
    assert numbers.between(0, 100).all()


def test_how_often_single_values_come_is_nearer_than_without_finding_them():
    """The distance of all values of a column, as a release without edges of one's own gives them."""
    rows = some_rows()

    def off(frame):
        shares = [table["owed"].astype(float).value_counts(normalize=True) for table in (rows, frame)]
        return shares[0].sub(shares[1], fill_value=0).abs().sum() / 2

    def known(given):
        frame = made(rows, **given).artefacts[0].frame
        return frame[frame["owed"] != ""]

    assert off(known({})) < 0.15 < 0.8 < off(known({"frequent": False}))


HARD = [np.nan, np.inf, -np.inf, -1e300, 1e300, 5e-324, 0.0]


@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_whatever_the_rows_hold_a_table_comes_out(n, noise):
    columns = {name: pd.Series(HARD[:n], dtype=float) for name in ("owed", "paid")}
    frame = pd.DataFrame(columns | {"ill": pd.Series(["x"] * n, dtype="object")})
    found = made(
        frame, about_rows=50, noise=noise, budget=replace(BUDGET, delta=Fraction(noise == "gaussian", 10**6))
    )
    assert len(found.artefacts[0].frame) >= 1


def test_edges_of_ones_own_and_named_tables_are_not_searched_and_cost_what_they_did():
    edges = {name: [0, 1, 1000, 10_000] for name in ("owed", "paid")}
    plain = request_for(frequent=False)
    assert method(ID)(plain).schedule.frequent == 0
    assert method(ID)(request_for()).schedule.frequent == 2
    assert method(ID)(request_for(edges={"owed": edges["owed"]})).schedule.frequent == 1
    assert (
        method(ID)(request_for(edges=edges)).cost == method(ID)(request_for(edges=edges, frequent=False)).cost
    )
    named = {"tables": "named", "named": [{"columns": ["owed", "ill"]}]}
    assert method(ID)(request_for(**named)).schedule.frequent == 0
    assert method(ID)(request_for(tables="single")).schedule.frequent == 2
    assert method(ID)(request_for()).cost != method(ID)(plain).cost


@pytest.mark.parametrize(("cells", "said"), [("equal", "notes.frequent"), ("searched", "notes.crowded")])
def test_the_forecast_says_from_how_many_rows_a_value_is_found(cells, said):
    request = request_for(cells=cells)
    notes = {
        note.values["column"]: note for note in method(ID)(request).forecast.notes if "column" in note.values
    }
    assert set(notes) == {"owed", "paid"} and notes["owed"].id.endswith(said)
    assert notes["owed"].values["values"] == 10_000
    scale = float(method(ID)(request).schedule.value)
    assert 3.7 * scale < notes["owed"].values["least"] < 4.1 * scale  # 1 in 20,000, one-sided: 3.9 deviations
    without = method(ID)(request_for(cells=cells, frequent=False)).forecast.notes
    assert not any(said in note.id for note in without)


@pytest.mark.parametrize("relation", Neighbours)
def test_people_with_several_rows_and_both_relations_are_paid_for(relation):
    schema = Schema((Column("pid", Role.PERSON_KEY), *SCHEMA.columns), rows_per_person=3)
    budget = Budget(Fraction(2), Fraction(0), relation)
    one, several = (
        method(ID)(request_for(schema=own, budget=own_budget, noise="laplace")).schedule
        for own, own_budget in ((SCHEMA, replace(budget, neighbours=Neighbours.ADD_REMOVE)), (schema, budget))
    )
    times = 3 * (2 if relation is Neighbours.REPLACE_ONE else 1)
    assert float(several.value) == pytest.approx(times * float(one.value), rel=1e-5)


def test_rules_totals_and_what_never_comes_together_hold_in_every_row():
    schema = Schema((*SCHEMA.columns, amount("total", 19_998)))
    never = [
        {
            "one": {"column": "ill", "is": "in", "values": ["n"]},
            "other": {"column": "owed", "is": "between", "minimum": 700, "maximum": 800},
        }
    ]
    given = {
        "columns": [*ALL, "total"],
        "rows": 5000,
        "in_order": [{"first": "paid", "second": "owed"}],
        "sums": [{"total": "total", "parts": ["owed", "paid"]}],
        "never": never,
    }
    rows = some_rows()
    rows["paid"] = np.minimum(rows["paid"], rows["owed"])
    rows["total"] = 0
    frame = made(rows, schema=schema, **given).artefacts[0].frame
    assert len(frame) == 5000
    both = frame[(frame["owed"] != "") & (frame["paid"] != "")].astype({"owed": float, "paid": float})
    assert (both["paid"] <= both["owed"]).all() and (both["owed"] == 750).mean() > 0.01
    assert (pd.to_numeric(both["total"]) == both["owed"] + both["paid"]).all()
    assert not (both["owed"].between(700, 800) & (both["ill"] == "n")).any()


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_tables_of_a_declared_target_come_first_and_no_choice_is_paid_for_them(noise, monkeypatch):
    """Whatever the rows are: which tables are counted first follows from the declaration."""
    from engine.methods.datasets.marginal_model import rounds

    budget = BUDGET if noise == "gaussian" else replace(BUDGET, delta=Fraction(0))
    plain = method(ID)(request_for(budget, noise=noise))
    aimed = method(ID)(request_for(budget, noise=noise, target="ill"))
    columns = len(aimed.cells)
    assert aimed.schedule.pairs == plain.schedule.pairs > 0
    assert plain.schedule.choices - aimed.schedule.choices == columns - 1 > 0
    assert aimed.schedule.pair < plain.schedule.pair  # what choices would have cost is given to the tables
    measured, real = [], rounds._measure

    def noted(candidate, *given):
        measured.append(candidate.attributes)
        return real(candidate, *given)

    monkeypatch.setattr(rounds, "_measure", noted)
    place = [cells.column.name for cells in aimed.cells].index("ill")
    for rows in (some_rows(), some_rows().head(3)):
        measured.clear()
        made(rows, noise=noise, target="ill", budget=budget)
        pairs = [one for one in measured if len(one) == 2]
        assert {*pairs[: columns - 1]} == {tuple(sorted((place, k))) for k in range(columns) if k != place}
