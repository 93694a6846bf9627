"""Counts without small cells, from the plan to the bundle: what is hidden, told, refused and kept inside."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from engine import texts
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.earlier import NOTHING, Earlier, EarlierRelease
from engine.methods.protocol import Context
from engine.methods.shared.suppression.audit import Published
from engine.methods.shared.suppression.differencing import NotComparable, Told, exposed_cells
from engine.privacy.noise import Noise
from engine.release.plan import Plan
from engine.release.run import run
from engine.release.verify import verify
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.texts import explain
from tests.engine.methods.statistics.builders import COLUMNS, PERSON

ID = "statistics.protected_table"
EXAMPLE = Path(__file__).parents[4] / "resources" / "examples" / f"{ID}.json"
GIVEN = {"columns": ["sex", "ward"], "extra_cells": "left_out", "threshold": 5, "seconds": 5}


def rows_of(counts):
    """Return one row for each of so many people in these cells."""
    return [cell for cell, count in counts.items() for _ in range(count)]


def table(counts, people=None):
    cells = rows_of(counts)
    frame = pd.DataFrame(cells, columns=["sex", "ward"], dtype="str")
    if people is not None:
        frame["person"] = people
    return Table(frame)


PEOPLE = {("f", "a"): 3, ("f", "b"): 20, ("f", "c"): 30, ("m", "a"): 40, ("m", "b"): 25, ("m", "c"): 0}


def released(given, rows, cap=None, earlier=NOTHING):
    schema = Schema(COLUMNS) if cap is None else Schema((*COLUMNS, PERSON), cap)
    found = method(ID)
    request = found.make_request({"people": schema}, GIVEN | given)
    assert not found(request).problems, found(request).problems
    context = Context(Noise(), np.random.default_rng(), Path(), earlier=earlier)
    release = found(request).run({"people": rows}, context)
    assert release.promise == found(request).cost
    return release


def numbers(release):
    frame = release.artefacts[0].frame
    return {
        tuple(row[:-1]): None if pd.isna(row[-1]) else int(row[-1])
        for row in frame.itertuples(index=False, name=None)
    }


def test_by_hand():
    """3 is hidden; 40 in its column and 20 in its row, not 30 beside a zero; 25 closes the rectangle."""
    found = numbers(released({}, table(PEOPLE)))
    hidden = {("f", "a"), ("f", "b"), ("m", "a"), ("m", "b")}
    assert {cell for cell, number in found.items() if number is None} == hidden
    assert found[("f", "c")] == 30 and found[("m", "c")] == 0
    assert found[("f", "(all)")] == 53 and found[("(all)", "a")] == 43 and found[("(all)", "(all)")] == 118


def test_without_totals_nothing_else_is_hidden():
    found = numbers(released({"totals": False}, table(PEOPLE)))
    assert len(found) == 6 and [cell for cell, number in found.items() if number is None] == [("f", "a")]


def test_rows_of_few_people_are_hidden_however_many_they_are():
    """Nine rows of three people are no nine people."""
    people = np.arange(118).astype(str)
    people[23:32] = ["x", "y", "z"] * 3  # nine rows of "f", "c"
    counts = PEOPLE | {("f", "c"): 9, ("f", "a"): 23, ("f", "b"): 0}
    rows = table(counts, people[: sum(counts.values())])
    assert numbers(released({}, rows))[("f", "c")] == 9
    assert numbers(released({}, rows, cap=3))[("f", "c")] is None


def test_outside_all_hidden_cells_look_alike_and_inside_they_are_told_apart():
    release = released({}, table(PEOPLE))
    assert "too small" not in str(release.views) and "small" not in str(release.views)
    view = next(view for view in release.inside.views if view.title.id.endswith("hidden.title"))
    whys = [row[1].id.rsplit(".", 1)[1] for row in view.rows]
    assert sorted(whys) == ["protects", "protects", "protects", "small"]
    low, high = view.rows[0][3:]
    assert view.rows[0][0] == "f · a" and low == 1 and high >= 5
    assert release.inside.figures["gap"] == 0 and release.inside.figures["secondary_people"] == 85


def test_two_tables_in_one_are_audited_together():
    given = {"columns": ["sex", "ward", "age"], "tables": "pairs", "threshold": 4}
    chance = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "sex": chance.choice(["f", "m"], 70, p=[0.2, 0.8]),
            "ward": chance.choice(["a", "b", "c"], 70),
            "age": chance.integers(0, 4, 70),
        }
    )
    release = released(given, Table(frame))
    published = release.artefacts[0].frame
    assert len(published) == 6 + 8 + 12 + 2 + 3 + 4 + 1 and published["count"].isna().any()
    words = dict.fromkeys(["sex", "ward", "age"], "(all)")
    ends = Published(published, totals=words, value="count", least=1).intervals()
    real = pd.Series(
        [
            (frame[[c for c in words if row[c] != "(all)"]].astype(str)
             == row[[c for c in words if row[c] != "(all)"]].to_numpy()).all(axis=1).sum()
            for _, row in published.iterrows()
        ]
    )  # fmt: skip
    small = (real > 0) & (real < 4)
    assert published.loc[small, "count"].isna().all() and (ends.high[small] >= 4 - 1e-6).all()
    assert (published["count"].dropna() == real[published["count"].notna()]).all()


def test_sums_by_hand():
    """One stay of nine days tells of one person; a rectangle with the smallest groups hides it."""
    rows = table(PEOPLE).rows().assign(stay=2.5)
    rows.loc[0, "stay"] = 14.0
    release = released({"of": "stay", "rule": "p_percent", "p": 20, "threshold": 3}, Table(rows))
    found = {cell[:-1]: cell[-1] for cell in release.artefacts[0].frame.itertuples(index=False, name=None)}
    hidden = {cell for cell, number in found.items() if pd.isna(number)}
    assert hidden == {("f", "a"), ("f", "b"), ("m", "a"), ("m", "b")}
    assert found[("f", "c")] == 75.0 and found[("m", "c")] == 0 and found[("(all)", "(all)")] == 306.5
    assert release.promise.kind == "small_sums" and release.promise.terms["rule"] == "p = 20 %"
    view = next(view for view in release.inside.views if view.title.id.endswith("hidden.title"))
    assert view.rows[0][2] == 19 and view.rows[0][4] >= 19 + 0.2 * 14 - 2.5


@pytest.mark.parametrize("form", ["controlled_rounding", "random_rounding"])
def test_rounded_tables(form):
    release = released({"form": form, "base": 5, "threshold": None}, table(PEOPLE))
    found = numbers(release)
    assert None not in found.values() and not {number % 5 for number in found.values()} - {0}
    assert abs(found[("f", "a")] - 3) < 5 and found[("m", "c")] == 0
    adds_up = found[("f", "a")] + found[("f", "b")] + found[("f", "c")] == found[("f", "(all)")]
    assert adds_up or form == "random_rounding"
    assert release.promise.kind == "rounded" and release.promise.terms == {"base": 5}
    assert release.inside.figures["largest_change"] < 5


def test_what_is_said_of_a_table_inside_fits_its_form():
    """Sums are never whole and a table of two columns is not large; keys round to no base."""
    rows = pd.DataFrame({"sex": ["f"] * 14 + ["m"] * 12, "ward": ["a", "b"] * 13, "stay": [2] * 26})
    rows["person"] = range(26)
    rows.loc[0, "ward"] = "c"
    given = {"of": "stay", "rule": "threshold", "threshold": 3}
    notes = [view.note.id for view in released(given, Table(rows.astype("str")), 1).inside.views if view.note]
    assert any(one.endswith("note_sums") for one in notes) and not any("fractions" in one for one in notes)
    changed = released({"form": "cell_keys"}, table(PEOPLE, range(118)), 1).inside
    rounded = released({"form": "random_rounding", "base": 5}, table(PEOPLE)).inside
    assert "beyond" not in changed.figures and "beyond" in rounded.figures


def test_a_time_to_search_is_told_where_there_is_a_search():
    found = method(ID)
    for form, searches in (("hidden", True), ("controlled_rounding", True), ("random_rounding", False)):
        given = {"columns": ["sex", "ward"], "form": form, "threshold": 5, "base": 5, "seconds": 7}
        asked = found.make_request({"people": Schema(COLUMNS)}, given).values.get("seconds")
        assert (asked is not None) == searches, form


def test_a_table_without_a_pattern_is_one_sentence_and_a_remedy():
    counts = {("f", "a"): 2, ("f", "b"): 3}
    with pytest.raises(InputRefused) as caught:
        released({"columns": ["ward"]}, table(counts))
    what, do = explain(caught.value)
    assert caught.value.code == f"{ID}.impossible" and "5" in what and do
    assert not {"2", "3"} & set(str(caught.value.values))  # the threshold alone is named


KEYED = {"form": "cell_keys", "seed": "S"}
BAD = [
    ({"threshold": 1}, "parameters.too_small"),
    ({"threshold": None}, "parameters.unfilled"),
    ({"tables": "pairs"}, f"{ID}.no_pairs"),
    ({"columns": ["person"]}, "parameters.no_such_column"),
    ({"rule": "dominance"}, f"{ID}.no_sum"),
    ({"of": "stay", "columns": ["stay"]}, f"{ID}.column_twice"),
    ({"form": "cell_keys"}, f"{ID}.no_person_key"),
    ({"of": "stay", "zeros": "hidden"}, f"{ID}.sums_of_nobody"),
    ({"of": "temperature"}, f"{ID}.no_amounts"),
    ({"columns": ["ward", "wide"]}, f"{ID}.too_many_cells"),
    ({"form": "cell_keys", "largest": 3, "none_to": 3}, f"{ID}.none_to"),
    ({"form": "cell_keys", "largest": 3, "none_to": 2, "variance": 99}, f"{ID}.variance"),
]
# Each has a test of its own in this file.
FROM_ROWS = {
    *(f"{ID}.{name}" for name in ("impossible", "again", "differs", "resembles", "not_compared")),
    *(f"{ID}.{name}" for name in ("several", "several_unknown")),
}


@pytest.mark.parametrize(("given", "code"), BAD)
def test_what_is_refused_from_declarations(given, code):
    found = method(ID)
    cold = Column("temperature", Role.OTHER, Kind.INTEGER, Domain(Fraction(-9), Fraction(9)), Origin.DECLARED)
    wide = Column("wide", Role.OTHER, Kind.INTEGER, Domain(Fraction(1), Fraction(40_000)), Origin.DECLARED)
    keyed = (PERSON,) if given.get("largest") else ()
    asked = found.make_request(
        {"people": Schema((*COLUMNS, cold, wide, *keyed), 3 if keyed else None)}, GIVEN | given
    )
    assert found(asked).problems[0].code == code


def test_every_refusal_has_a_test():
    begin, end = f"methods.{ID}.problems.", ".what"
    written = {
        f"{ID}.{name.removeprefix(begin).removesuffix(end)}"
        for name in texts.catalogue()
        if name.startswith(begin) and name.endswith(end)
    }
    assert written == {code for _, code in BAD if code.startswith(ID)} | FROM_ROWS


def test_the_example_is_made_verified_and_true(tmp_path):
    plan = Plan.loads(EXAMPLE.read_text())
    ledger = Ledger(tmp_path / "ledger.sqlite")
    run(plan, out=tmp_path / "out", ledger=ledger, base=EXAMPLE.parent)
    assert verify(tmp_path / "out", ledger=ledger).passed
    frame = pd.read_csv(tmp_path / "out" / "release" / "counts.csv", keep_default_na=False, dtype=str)
    printed = frame["count"][frame["count"] != ""].astype(int)
    assert len(frame) == 44 and (printed[printed > 0] >= 11).all()
    evidence = json.loads((tmp_path / "out" / "release" / "evidence.json").read_text())
    assert evidence["promise"]["kind"] == "small_cells" and evidence["promise"]["terms"] == {"threshold": 11}
    inside = json.loads((tmp_path / "out" / "internal" / "evidence.json").read_text())["internal"]
    figures = inside["inside"]  # which of a person's stays is counted is drawn, so that it differs
    assert figures["primary"] >= 3 and figures["gap"] == 0
    assert (frame["count"] == "").sum() == figures["primary"] + figures["secondary"]


# --- earlier tables of the same register --------------------------------------------------------------


def people_table(frame, tmp_path, name="people.csv"):
    frame.to_csv(tmp_path / name, index=False)
    return tmp_path / name


def plan_for(path, given, title):
    """Return the example's plan over another file of the same columns."""
    tree = json.loads(EXAMPLE.read_text())
    tree["files"]["people"]["path"] = path.name
    tree["parameters"] |= given
    tree["purpose"]["title"] = title
    return Plan.loads(json.dumps(tree))


def stays(counts, first=1):
    """Return people with an age, a gender and a readmission, so many of each."""
    rows = [cell for cell, count in counts.items() for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["age", "gender", "readmitted"])
    frame.insert(0, "patient_nbr", range(first, first + len(frame)))
    frame.insert(1, "encounter_id", range(10_000, 10_000 + len(frame)))
    return frame


COUNTS = {
    (age, gender, stay): size
    for (age, gender, stay), size in zip(
        ((a, g, r) for a in ("[40-50)", "[50-60)") for g in ("Female", "Male") for r in ("NO", "<30", ">30")),
        (40, 30, 25, 60, 28, 33, 52, 47, 35, 61, 44, 29),
        strict=True,
    )
}


def both(tmp_path, first, second, given=(), again=()):
    """Release two tables of one register, the second beside the first."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for frame, more, name in ((first, given, "one"), (second, again, "two")):
        path = people_table(frame, tmp_path, f"{name}.csv")
        plan = plan_for(path, {"seconds": 2} | dict(more), f"Table {name}")
        made = run(plan, out=tmp_path / name, ledger=ledger, base=tmp_path)
    return made


def test_a_table_that_differs_by_few_people_is_refused_with_the_cells(tmp_path):
    more = COUNTS | {("[40-50)", "Male", "<30"): 28 + 3}
    with pytest.raises(InputRefused) as caught:
        both(tmp_path, stays(COUNTS), stays(more))
    assert caught.value.code == f"{ID}.differs" and caught.value.values["title"] == "Table one"
    what, do = explain(caught.value)
    assert "[40-50) · <30" in what and do and not (tmp_path / "two").exists()
    assert "[40-50)" not in str(caught.value)  # a log names the kinds of values only


def test_many_more_people_and_the_same_table_are_released(tmp_path):
    more = {cell: size + 20 for cell, size in COUNTS.items()}
    both(tmp_path, stays(COUNTS), stays(more))
    (tmp_path / "again").mkdir()
    made = both(tmp_path / "again", stays(COUNTS), stays(COUNTS))
    inside = json.loads((made.folder / "internal" / "evidence.json").read_text())["internal"]["inside"]
    assert inside["earlier_compared"] == 1 and inside["earlier_not_found"] == 0


def test_a_cell_that_was_hidden_may_not_be_printed_beside_another_pattern(tmp_path):
    """A small cell of the first table is the difference of two cells that a lower threshold prints."""
    counts = COUNTS | {("[40-50)", "Female", "<30"): 3, ("[40-50)", "Male", "<30"): 4}
    with pytest.raises(InputRefused, match=rf"{ID}\.differs"):
        both(tmp_path, stays(counts), stays(counts), {"threshold": 11}, {"threshold": 5})


def test_a_table_over_other_columns_is_joined_to_the_earlier_one(tmp_path):
    """Age by gender leaves nothing to hide; beside age by readmission it is audited as one table."""
    counts = COUNTS | {("[40-50)", "Male", ">30"): 2}
    made = both(tmp_path, stays(counts), stays(counts), {}, {"columns": ["age", "gender"]})
    assert made.folder.name == "two"


def test_tables_that_are_too_large_to_be_compared_need_a_reason(monkeypatch):
    monkeypatch.setattr("engine.methods.shared.suppression.differencing.MOST_JOINED", 1)
    frame = released({}, table(PEOPLE)).artefacts[0].frame.astype("str").replace("<NA>", "")
    given = GIVEN | {"totals": True, "tables": "whole", "zeros": "printed"}
    old = EarlierRelease("Before", ID, given, {"counts.csv": frame})
    with pytest.raises(InputRefused, match=rf"{ID}\.not_compared") as caught:
        released({}, table(PEOPLE), earlier=Earlier((old,)))
    explain(caught.value)
    released({}, table(PEOPLE), earlier=Earlier((old,), excused=True))


def test_an_earlier_table_in_unknown_words_needs_a_reason():
    old = EarlierRelease("Before", ID, {}, {"c.csv": pd.DataFrame({"x": ["1"]})})
    with pytest.raises(InputRefused, match=rf"{ID}\.not_compared"):
        released({}, table(PEOPLE), earlier=Earlier((old,)))
    release = released({}, table(PEOPLE), earlier=Earlier((old,), excused=True))
    assert release.inside.figures["earlier_compared"] == 0


def relabelled(frame):
    """The same table with other names for its values, and one person more in it."""
    other = frame.assign(ward=frame["ward"].replace({"a": "A", "b": "B", "c": "C", "(all)": "(whole)"}))
    other["sex"] = other["sex"].replace({"f": "F", "m": "M", "(all)": "(whole)"})
    return other


def test_what_nothing_printed_compares_needs_a_reason():
    """Other names in the earlier table do not take the comparison away in silence."""
    more = PEOPLE | {("m", "b"): 26}
    frame = relabelled(released({}, table(more)).artefacts[0].frame.astype("str").replace("<NA>", ""))
    told = GIVEN | {"totals": True, "tables": "whole", "zeros": "printed"}
    old = EarlierRelease("Before", ID, told, {"counts.csv": frame})
    with pytest.raises(InputRefused, match=rf"{ID}\.not_compared"):
        released({}, table(PEOPLE), earlier=Earlier((old,)))
    released({}, table(PEOPLE), earlier=Earlier((old,), excused=True))


def test_sums_that_differ_are_of_other_people_and_are_not_comparable():
    """One person more in a table of sums: the difference is that person's amount, in the totals too."""
    lines = pd.DataFrame({"ward": ["a", "b", "(all)"], "sum": [32_961.0, 500.0, 33_461.0]})
    old = Told(lines, {"ward": "(all)"}, 0, 0)
    new = Told(lines.assign(sum=[33_948.0, 500.0, 34_448.0]), {"ward": "(all)"}, 0, 0)
    with pytest.raises(NotComparable):
        exposed_cells(new, old)
    assert exposed_cells(old, old) == []


WARDS = {("a", "x"): 20, ("a", "y"): 30, ("a", "z"): 25, ("b", "x"): 3, ("b", "y"): 14, ("b", "z"): 15,
         ("c", "x"): 40, ("c", "y"): 33, ("c", "z"): 28}  # fmt: skip


def of_wards(counts, hidden, *, names=("ward", "arm"), totals=True):
    """Return a table of wards and arms as it is printed, with these cells hidden."""
    at = {"ward": [*"abc", "(all)"], "arm": [*"xyz", "(all)"]} if totals else {"ward": "abc", "arm": "xyz"}
    lines = [
        (
            ward,
            arm,
            sum(size for (w, r), size in counts.items() if ward in (w, "(all)") and arm in (r, "(all)")),
        )
        for ward in at["ward"]
        for arm in at["arm"]
    ]
    frame = pd.DataFrame(lines, columns=[*names, "count"]).astype({"count": "Int64"})
    frame.loc[[(ward + arm) in hidden for ward, arm, _ in lines], "count"] = pd.NA
    return Told(frame, dict.fromkeys(names, "(all)"), 1, 5)


@pytest.mark.parametrize(
    ("moved", "second"),
    [
        (("a", "y", -15), ("ax", "ay", "bx", "by")),  # another pattern where nothing has changed
        (("b", "y", -5), ("ax", "ay", "bx", "by")),  # by way of the first ward, that has not changed
        (("a", "z", 12), ()),  # a lower threshold, that hides nothing
    ],
)
def test_a_group_that_has_grown_hides_no_other_one_from_the_comparison(moved, second):
    first = of_wards(WARDS, ("ax", "az", "bx", "bz"))
    more = WARDS | {moved[:2]: WARDS[moved[:2]] + moved[2]}
    again_ = of_wards(more, second)
    assert "x · b" in exposed_cells(again_, first) and "x · b" in exposed_cells(first, again_)


def test_a_table_that_has_changed_in_all_groups_exposes_nothing():
    more = {cell: size + 20 for cell, size in WARDS.items()}
    hidden = ("ax", "az", "bx", "bz")
    assert exposed_cells(of_wards(more, ("ax", "ay", "bx", "by")), of_wards(WARDS, hidden)) == []
    grown = WARDS | {("c", "y"): 60}
    assert exposed_cells(of_wards(grown, hidden), of_wards(WARDS, hidden)) == []


@pytest.mark.parametrize("totals", [True, False])
@pytest.mark.parametrize("moved", [-1, 8])
@pytest.mark.parametrize("names", [("region", "group"), ("ward", "group")])
def test_other_names_never_pass_in_silence(names, moved, totals):
    """One person fewer, or some more, under other names and other labels."""
    hidden = ("ax", "az", "bx", "bz")
    more = WARDS | {("a", "y"): 30 + moved}
    other = of_wards(more, hidden, names=names, totals=totals)
    words = {**dict(zip("abc", "klm", strict=True)), **dict(zip("xyz", "uvw", strict=True))}
    for name in names:
        other.frame[name] = other.frame[name].replace(words)
    try:
        assert exposed_cells(other, of_wards(WARDS, hidden, totals=totals))
    except NotComparable:
        pass
    else:
        assert moved == -1 and totals


def by_age(counts, groups):
    """Return people of some years in groups as printed: a small one is hidden with the next smallest."""
    sizes = {name: sum(counts[year] for year in years) for name, years in groups.items()}
    small = sorted(size for size in sizes.values() if size > 0)
    hidden = small[:2] if small[0] < 5 else []
    lines = pd.DataFrame([*sizes.items(), ("(all)", sum(counts))], columns=["age", "count"])
    lines["count"] = lines["count"].astype("Int64").mask(lines["count"].isin(hidden))
    return Told(lines, {"age": "(all)"}, 1, 5)


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ((6, 12, 9, 14, 2, 20, 11, 13), {"0-3": range(4), "4-7": range(4, 8)}),  # both hidden years are told
        ((10, 10, 1, 20), {"0-2": range(3), "3": [3]}),  # the one of age 2, by a group that ends elsewhere
    ],
)
def test_groups_of_the_same_values_in_another_way_never_pass_in_silence(counts, groups):
    years = {str(year): [year] for year in range(len(counts))}
    pairs = {"0-1": [0, 1], "2-3": [2, 3]} if len(counts) == 4 else years
    fine, coarse = by_age(counts, pairs), by_age(counts, groups)
    for pair in ((fine, coarse), (coarse, fine)):
        with pytest.raises(NotComparable):
            exposed_cells(*pair)


def test_a_value_more_hides_nothing_from_the_comparison():
    """One table has a ward that nobody lies in: the others are compared all the same."""
    first = of_wards(WARDS, ("ax", "az", "bx", "bz"))
    second = of_wards(WARDS, ("ax", "ay", "bx", "by"))
    empty = pd.DataFrame([("d", arm, 0) for arm in (*"xyz", "(all)")], columns=["ward", "arm", "count"])
    wider = replace(second, frame=pd.concat([second.frame, empty], ignore_index=True))
    assert "x · b" in exposed_cells(wider, first) and "x · b" in exposed_cells(first, wider)


def test_one_person_may_not_move_a_sum_beyond_its_printed_parts():
    """Of eight people who left seven were in a printed ward: the one in a hidden ward is alone."""
    words = {"ward": "(all)"}
    lines = pd.DataFrame({"ward": [*"abc", "(all)"], "count": pd.array([20, None, None, 33], "Int64")})
    more = Told(lines, words, 1, 5)
    fewer = replace(more, frame=lines.assign(count=pd.array([13, None, None, 25], "Int64")))
    assert exposed_cells(fewer, more) == exposed_cells(more, fewer) == ["b", "c"]
    many = replace(more, frame=lines.assign(count=pd.array([13, None, None, 20], "Int64")))
    assert exposed_cells(many, more) == []


@pytest.mark.parametrize("names", [("half", "part"), ("half", "half")])
def test_groups_of_one_column_made_twice_need_a_reason(names, tmp_path):
    """Under whatever names: what the second groups have in common with the first is not in the tables."""
    path, ledger = people_table(stays(COUNTS), tmp_path), Ledger(tmp_path / "ledger.sqlite")
    plans = []
    for name, last in zip(names, (4, 5), strict=True):
        young = {f"[{10 * place}-{10 * place + 10})": "young" for place in range(last + 1)}
        groups = {"map": young, "others": "label", "label": f"over {last}0", "to": name}
        plan = plan_for(path, {"columns": [name, "gender"], "seconds": 2}, f"Table {last}")
        plans.append(replace(plan, preparation=({"step": "recode", "column": "age", **groups},)))
    run(plans[0], out=tmp_path / "one", ledger=ledger, base=tmp_path)
    with pytest.raises(InputRefused, match=rf"{ID}\.not_compared"):
        run(plans[1], out=tmp_path / "two", ledger=ledger, base=tmp_path)


@pytest.mark.parametrize("columns", [("sex", "ward"), ("ward", "sex")])
def test_regions_beside_their_districts_need_a_reason(columns):
    """No sum over the region is in the table of districts, but everybody knows which lie in it."""
    fine, coarse = columns
    inside = (
        {("f", "a"): 20, ("m", "b"): 25, ("m", "c"): 30} if fine == "ward" else {("f", "a"): 9, ("m", "b"): 9}
    )
    frame = released({"columns": [fine]}, table(inside)).artefacts[0].frame.astype("str").replace("<NA>", "")
    told = GIVEN | {"columns": [fine], "totals": True, "tables": "whole", "zeros": "printed"}
    earlier = Earlier((EarlierRelease("Before", ID, told, {"counts.csv": frame}),))
    with pytest.raises(InputRefused, match=rf"{ID}\.not_compared"):
        released({"columns": [coarse]}, table(inside), earlier=earlier)
    apart = inside | {("f", "b"): 12, ("m", "a"): 20}
    frame = released({"columns": [fine]}, table(apart)).artefacts[0].frame.astype("str").replace("<NA>", "")
    earlier = Earlier((EarlierRelease("Before", ID, told, {"counts.csv": frame}),))
    released({"columns": [coarse]}, table(apart), earlier=earlier)


SUMS = {"of": "stay", "rule": "p_percent", "p": 20, "threshold": 3}
ROUNDED = {"form": "random_rounding", "base": 5, "threshold": None}


@pytest.mark.parametrize("renamed", [{"ward": "station"}, {"ward": "station", "sex": "gender"}], ids=len)
@pytest.mark.parametrize("labels", [{}, {"a": "k", "b": "l", "c": "m"}], ids=["same", "others"])
@pytest.mark.parametrize("given", [{}, SUMS, ROUNDED], ids=["hidden", "sums", "rounded"])
def test_the_same_people_under_other_names_of_columns_need_a_reason(given, labels, renamed):
    """One person is in another ward since, so that all totals agree: that one is the difference."""
    rows = table(PEOPLE | {("f", "b"): 22}).rows().assign(stay=2.5)  # no total has to be rounded
    rows["stay"] += rows.index % 7 / 2
    frame = released(given, Table(rows)).artefacts[0].frame.astype("str").replace("<NA>", "")
    frame = frame.assign(ward=frame["ward"].replace(labels)).rename(columns=renamed)
    told = GIVEN | given | {"totals": True, "tables": "whole", "zeros": "printed", "columns": [*frame][:2]}
    earlier = Earlier((EarlierRelease("Before", ID, told, {"counts.csv": frame}),))
    rows.loc[100, "ward"] = "a"  # from ward b
    with pytest.raises(InputRefused, match=rf"{ID}\.not_compared"):
        released(given, Table(rows), earlier=earlier)
    released(given, Table(rows), earlier=replace(earlier, excused=True))
    same = replace(earlier.releases[0], made={new: old for old, new in renamed.items()})
    with pytest.raises(InputRefused, match=rf"{ID}\.not_compared"):  # groups of a column that is there
        released(given, Table(rows), earlier=Earlier((same,)))


def test_columns_of_the_same_rows_that_are_there_are_compared():
    frame = released({"columns": ["sex"]}, table(PEOPLE)).artefacts[0].frame.astype("str")
    told = GIVEN | {"columns": ["sex"], "totals": True, "tables": "whole", "zeros": "printed"}
    earlier = Earlier((EarlierRelease("Before", ID, told, {"counts.csv": frame}),))
    release = released({"columns": ["ward"]}, table(PEOPLE), earlier=earlier)
    assert release.inside.figures["earlier_compared"] == 1


def test_amounts_under_another_name_need_a_reason():
    """One person fewer, and the amount under another name: the difference is that person's amount."""
    given = {"of": "stay", "rule": "p_percent", "p": 20, "threshold": 3}
    rows = table(PEOPLE).rows().assign(stay=2.5)
    rows["stay"] += rows.index % 7 / 2
    frame = released(given, Table(rows)).artefacts[0].frame.astype("str").replace("<NA>", "")
    told = GIVEN | given | {"totals": True, "tables": "whole", "zeros": "printed"}
    old = EarlierRelease("Before", ID, told | {"of": "days"}, {"sums.csv": frame})
    fewer = Table(rows.drop(index=rows.index[40]).reset_index(drop=True))
    with pytest.raises(InputRefused, match=rf"{ID}\.not_compared"):
        released(given, fewer, earlier=Earlier((old,)))
    other = Table(rows.assign(stay=13.5 - rows["stay"] / 2))
    assert released(given, other, earlier=Earlier((old,))).inside.figures["earlier_compared"] == 0


@pytest.mark.parametrize("form", ["controlled_rounding", "random_rounding"])
@pytest.mark.parametrize(("moved", "is_refused"), [(5, True), (0, False), (60, False)])
def test_the_same_rows_are_not_rounded_twice(form, moved, is_refused):
    """Beside an earlier table that is nowhere further than two roundings away, and not the same."""
    given = {"form": form, "base": 5, "threshold": None}
    exact = {cell: size - size % 5 for cell, size in PEOPLE.items()}  # these are rounded to themselves
    first = released(given, table(exact)).artefacts[0].frame
    first["count"] = first["count"] + moved
    before = EarlierRelease("Table one", ID, GIVEN | given | {"tables": "whole", "totals": True},
                            {"counts.csv": first.astype(str)})  # fmt: skip
    earlier = Earlier((before,))
    if is_refused:
        with pytest.raises(InputRefused, match=rf"{ID}\.again"):
            released(given, table(exact), earlier=earlier)
    else:
        assert released(given, table(exact), earlier=earlier).inside.figures["earlier_compared"] == 1


def test_another_population_may_be_rounded_too(tmp_path):
    given = {"form": "controlled_rounding", "base": 5, "threshold": None}
    more = {cell: size + 40 for cell, size in COUNTS.items()}
    assert both(tmp_path, stays(COUNTS), stays(more), given, given).folder.name == "two"


def test_cell_keys_change_the_same_cell_alike_in_every_table(tmp_path):
    given = {"form": "cell_keys", "threshold": None}
    made = both(tmp_path, stays(COUNTS), stays(COUNTS), given, given | {"columns": ["gender", "age"]})
    tables = {}
    for name, other in (("one", "readmitted"), ("two", "gender")):
        frame = pd.read_csv(tmp_path / name / "release" / "counts.csv")
        rows = frame[frame[other] == "(all)"]
        tables[name] = dict(zip(rows["age"], rows["count"], strict=True))
    ages, again = tables.values()
    assert ages == again and len(ages) == 11
    exact = sum(size for (age, _, _), size in COUNTS.items() if age == "[40-50)")
    assert abs(ages["[40-50)"] - exact) <= 5 and ages["[0-10)"] == 0
    assert made.internal_views


# --- exact numbers beside rounded or changed ones ------------------------------------------------------

SMALL = COUNTS | {("[40-50)", "Female", "<30"): 3, ("[50-60)", "Male", ">30"): 2}
ROUNDED = [
    {"form": "controlled_rounding", "base": 5, "threshold": None},
    {"form": "random_rounding", "base": 5, "threshold": None},
    {"form": "cell_keys", "largest": 3, "variance": 2, "threshold": None},
]
FINE = {"columns": ["age", "gender", "readmitted"]}


@pytest.mark.parametrize("hidden_first", [True, False])
@pytest.mark.parametrize("form", ROUNDED, ids=lambda given: given["form"])
def test_a_rounded_table_may_not_narrow_what_the_other_hides(tmp_path, form, hidden_first):
    """A rounded 5 where a cell is hidden says fewer than ten, though eleven had to be possible."""
    pair = [FINE, FINE | form]
    with pytest.raises(InputRefused, match=rf"{ID}\.differs"):
        both(tmp_path, stays(SMALL), stays(SMALL), *(pair if hidden_first else pair[::-1]))


@pytest.mark.parametrize("form", ROUNDED, ids=lambda given: given["form"])
def test_a_rounded_table_that_tells_nothing_of_hidden_cells_is_compared_and_released(tmp_path, form):
    made = both(tmp_path, stays(SMALL), stays(SMALL), FINE, form | {"columns": ["gender"]})
    inside = json.loads((made.folder / "internal" / "evidence.json").read_text())["internal"]["inside"]
    assert inside["earlier_compared"] == 1


def test_exact_numbers_may_not_settle_a_small_rounded_one():
    """Twenty exactly, of whom at most nineteen are in one ward: the other holds one, and not none or one."""
    lines = [("f", "a", 18), ("f", "b", 0), ("m", "a", 30), ("m", "b", 0)]
    words = {"sex": "(all)", "ward": "(all)"}
    near = Told(pd.DataFrame(lines, columns=["sex", "ward", "count"]), words, 0.0, 0.0, 2)
    sums = pd.DataFrame({"sex": ["f", "m", "(all)"], "count": pd.array([20, 31, 51], "Int64")})
    exact = Told(sums, {"sex": "(all)"}, 1.0, 11.0)
    assert exposed_cells(exact, near) == exposed_cells(near, exact) == ["f · b"]
    assert exposed_cells(replace(exact, frame=sums.assign(count=[19, 31, 50])), near) == []


@pytest.mark.parametrize(("moved", "is_small"), [(8, True), (13, None), (40, False)])
def test_exact_numbers_beside_rounded_ones_of_other_rows(moved, is_small):
    """Few people more are refused, what may be few asks for a reason, many are other people."""
    words = {"ward": "(all)"}
    lines = pd.DataFrame({"ward": ["a", "b", "(all)"], "count": pd.array([100, 50, 150], "Int64")})
    exact = Told(lines, words, 1.0, 13.0)
    rounded = Told(lines.assign(count=lines["count"] + moved), words, 0.0, 0.0, 5)
    for pair in ((exact, rounded), (rounded, exact)):
        if is_small is None:
            with pytest.raises(NotComparable):
                exposed_cells(*pair)
        else:
            assert bool(exposed_cells(*pair)) == is_small


def test_the_same_rows_are_not_rounded_beside_changed_ones(tmp_path):
    with pytest.raises(InputRefused, match=rf"{ID}\.again"):
        both(tmp_path, stays(COUNTS), stays(COUNTS), FINE | ROUNDED[0], FINE | ROUNDED[2])


@settings(max_examples=40, deadline=None)
@drawn(st.lists(st.integers(0, 12), min_size=6, max_size=6), st.integers(2, 6), st.data())
def test_intervals_of_two_tables_hold_the_truth_and_no_table_that_is_possible_is_left_out(cells, base, data):
    """By trying every table: the ends that are worked out are those of whole tables that fit both."""
    truth = np.array(cells).reshape(2, 3)
    rounded = np.array([data.draw(st.sampled_from([one - one % base, one + -one % base])) for one in cells])
    total = int(truth.sum())
    names = [(a, b) for a in "xy" for b in "pqr"]
    frame = pd.DataFrame([*names, ("(all)", "(all)")], columns=["one", "two"])
    exact = Told(
        frame.assign(count=pd.array([None] * 6 + [total], "Int64")), dict.fromkeys(["one", "two"], "(all)"),
        0.0, 5.0,
    )  # fmt: skip
    near = Told(
        frame.iloc[:6].assign(count=pd.array(rounded, "Int64")), exact.totals, 0.0, 0.0, base
    )  # fmt: skip
    low, high = np.maximum(rounded - base + 1, 0), rounded + base - 1
    most = np.minimum(high, total - (low.sum() - low))
    expected = {"·".join(name) for name, top in zip(names, most, strict=True) if top < 5}
    told = {one.replace(" ", "") for one in exposed_cells(exact, near)}
    assert expected <= told
    least = np.maximum(low, total - (high.sum() - high))
    exact_small = {
        "·".join(name) for name, a, b in zip(names, least, most, strict=True) if a == b and 0 < b < 5
    }
    assert told <= expected | exact_small


# --- conditions on rows: everybody knows which values of a column are in a table ------------------------


def of_some(told, counts, wards, *conditions):
    """Return the table of some wards alone, which says nothing of the others but zeros."""
    frame = told.frame.copy()
    for place, (ward, arm, _) in enumerate(frame.itertuples(index=False, name=None)):
        size = sum(
            counts[one, other]
            for one in wards
            for other in "xyz"
            if ward in (one, "(all)") and arm in (other, "(all)")
        )
        if size == 0 or not pd.isna(frame["count"][place]):
            frame.loc[place, "count"] = size
    return replace(told, frame=frame, conditions=conditions)


@pytest.mark.parametrize(
    "condition",
    [
        {"column": "ward", "is": "in", "values": ["a", "b", "never"]},
        {"column": "ward", "is": "not_in", "values": ["c"]},
        {"column": "ward"},
        None,
    ],
)
def test_totals_of_some_values_give_away_no_cell_beside_a_table_without_totals(condition):
    """3 = 17 - 14: the total of two wards less the other one, which a table without totals need not hide."""
    hidden = ("ax", "ay", "bx", "by")
    some = of_some(of_wards(WARDS, hidden), WARDS, "ab", *([condition] if condition else []))
    every = of_wards(WARDS, ("bx",), totals=False)
    for new, old in ((some, every), (every, some)):
        assert "x · b" in exposed_cells(new, old)
    assert exposed_cells(of_wards(WARDS, hidden), some) == []


@pytest.mark.parametrize(
    "condition",
    [
        {"column": "arm", "is": "in", "values": ["x"]},
        {"column": "arm", "is": "not_in", "values": ["y", "z"]},
    ],
)
def test_a_table_of_one_value_is_a_part_of_a_table_over_its_column(condition):
    counts = {**WARDS, ("b", "x"): 4, ("a", "x"): 9}
    every = of_wards(counts, ("ax", "ay", "bx", "by"))
    lines = pd.DataFrame({"ward": [*"abc", "(all)"], "count": [9, 4, 40, 53]}).astype({"count": "Int64"})
    one = Told(lines, {"ward": "(all)"}, 1, 3, conditions=(condition,))
    assert "x · b" in exposed_cells(one, every) and "x · b" in exposed_cells(every, one)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"is": "at_least", "value": 18}, {"is": "at_least", "value": 21}),
        (
            {"is": "between", "minimum": 18, "maximum": 64},
            {"is": "between", "minimum": "20.5", "maximum": 64},
        ),
        ({"is": "at_most", "value": "2020-02-29"}, {"is": "at_most", "value": "2020-01-31"}),
        ({"is": "not_missing"}, {"is": "in", "values": ["x"]}),
    ],
)
def test_few_people_between_two_conditions_are_given_away_by_no_sum(first, second):
    """Nothing is printed in both: what the one counts and the other does not is the rest of its parts."""
    lines = pd.DataFrame({"ward": ["(all)"], "count": [50]}).astype({"count": "Int64"})
    whole = Told(lines, {"ward": "(all)"}, 1, 5, conditions=({"column": "age", **first},))
    parts = pd.DataFrame({"ward": ["a", "b"], "count": [30, 17]}).astype({"count": "Int64"})
    for size, is_few in ((17, True), (14, False)):
        less = replace(whole, frame=parts.assign(count=pd.array([30, size], "Int64")))
        less = replace(less, conditions=({"column": "age", **second},))
        for new, old in ((whole, less), (less, whole)):
            try:
                assert bool(exposed_cells(new, old)) == is_few
            except NotComparable:
                assert not is_few


@pytest.mark.parametrize("turned", [False, True])
def test_what_a_release_was_conditioned_on_is_kept_for_the_next_one(tmp_path, turned):
    ages = [*dict.fromkeys(age for age, _, _ in COUNTS), "[60-70)"]
    counts = {
        (age, sex, "NO"): 40 + 7 * place for place, age in enumerate(ages) for sex in ("Female", "Male")
    }
    counts["[50-60)", "Male", "NO"] = 3
    path = people_table(stays(counts), tmp_path)
    some = [{"step": "keep_rows_where", "column": "age", "is": "in", "values": ages[:2]}]
    given = {"columns": ["age", "gender"], "threshold": 5, "seconds": 1}
    plans = [
        replace(plan_for(path, given, "Two ages"), preparation=tuple(some)),
        plan_for(path, given | {"totals": False}, "All ages"),
    ]
    ledger = Ledger(tmp_path / "ledger.sqlite")
    first, second = plans[::-1] if turned else plans
    run(first, out=tmp_path / "one", ledger=ledger, base=tmp_path)
    with pytest.raises(InputRefused, match=rf"{ID}\.differs"):
        run(second, out=tmp_path / "two", ledger=ledger, base=tmp_path)
    kept = json.loads(ledger.told(ledger.entries()[0].id))["conditions"]
    assert kept == ([] if turned else some)
