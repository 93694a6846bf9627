"""Every attack is tried against releases known to be open, and against rows that have to do with nobody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.evaluation.catalogue import measure, measures
from engine.evaluation.protocol import Private
from engine.methods.catalogue import method
from engine.methods.protocol import Release, TableArtefact
from engine.report.words import word
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from engine.views import TableView

MATCHING, COPIED, FOUND = "risk.synthetic_matching", "risk.synthetic_copied", "risk.rows_found"
SCHEMA = Schema(
    (
        Column("age", Role.IDENTIFYING, Kind.INTEGER),
        Column("sex", Role.IDENTIFYING, Kind.CATEGORY),
        Column("admitted", Role.TIME, Kind.INTEGER),
        Column("weight", Role.IDENTIFYING, Kind.NUMBER),
        Column("ward", Role.PLACE, Kind.CATEGORY),
        Column("seen", Role.OTHER, Kind.INTEGER),
        Column("ill", Role.SENSITIVE, Kind.CATEGORY),
    )
)
NAMES = [column.name for column in SCHEMA.columns]
ROWS = 600


def people(seed, rows=ROWS):
    """Return people of whom age, sex and day of admission tell nearly everybody apart."""
    chance = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": chance.integers(20, 90, rows).astype(float),
            "sex": chance.choice(["f", "m"], rows),
            "admitted": chance.integers(0, 365, rows).astype(float),
            "weight": chance.normal(75, 15, rows).round(1),
            "ward": chance.choice(["a", "b", "c", "d", "e"], rows),
            "seen": chance.integers(0, 4, rows).astype(float),
            "ill": chance.choice(["no", "flu", "gout", "asthma"], rows),
        }
    )


def replaced(*columns, share=1.0):
    """Return the table with cells of some columns from other people, in another order, and the order."""
    chance = np.random.default_rng(7)
    table, order = people(1), chance.permutation(ROWS)
    for name in columns:
        other = table[name].to_numpy()[chance.permutation(ROWS)]
        table[name] = np.where(chance.random(ROWS) < share, other, table[name])
    return table.iloc[order].reset_index(drop=True), order


def measured(name, made, origins, *, way="datasets.imputation"):
    used, found = Table(people(1)), method(way)
    request = found.make_request({"people": SCHEMA}, {"columns": NAMES})
    release = Release((TableArtefact("table", (made,), (), origins),), found(request).cost)
    subject = found(request)
    private = Private(subject, used, SCHEMA, used, release, held_out=Table(people(2, 400)))
    answer = measure(name).evaluate(private)
    assert answer.views
    for view in answer.views:
        if isinstance(view, TableView) and view.note is not None:
            assert texts.has(view.note.id)
    return answer.figures


OPEN = {
    "a copy": replaced(),
    "one column": replaced("weight"),
    "two columns": replaced("weight", "ward"),
    "names and numbers": replaced("weight", "ward", "ill"),
    "most cells of two": replaced("weight", "ward", share=0.8),
}
INVENTED = people(3), np.random.default_rng(3).permutation(ROWS)


@pytest.mark.parametrize("case", OPEN)
def test_people_are_found_by_what_was_kept(case):
    made, origins = OPEN[case]
    assert measured(MATCHING, made, origins)["expected"] >= 90


@pytest.mark.parametrize("case", OPEN)
@pytest.mark.parametrize("kind", ["told", "told_all"])
def test_what_was_kept_tells_the_rest(case, kind):
    """Where the illness itself was left as it is, whoever is found by what was kept is told it."""
    made, origins = OPEN[case]
    used, others, _ = measured(COPIED, made, origins)["attacks"][f"{kind}.ill"]
    if case == "names and numbers":
        assert used < 0.45  # the illness is another's, of four
    else:
        assert used >= 0.9 and others < 0.45


@pytest.mark.parametrize("case", OPEN)
def test_who_was_used_is_told_by_what_was_kept(case):
    figures = measured(COPIED, *OPEN[case])
    assert figures["membership"] >= 0.9
    if case != "a copy" and case != "most cells of two":
        assert figures["attacks"]["kept"][0] >= 0.9 and figures["attacks"]["kept"][1] < 0.1


@pytest.mark.parametrize("case", OPEN)
def test_real_rows_are_found_again_by_what_was_kept(case):
    made, origins = OPEN[case]
    written = made.astype(str).replace(r"\.0$", "", regex=True)
    assert measured(FOUND, written, origins, way="datasets.masking")["right"] >= 0.9


def test_rows_that_have_to_do_with_nobody_give_nobody_away():
    """Three standard errors: .03 of areas, and 400 and 600 guesses of one in four."""
    made, origins = INVENTED
    assert measured(MATCHING, made, origins)["expected"] < 1
    assert measured(MATCHING, made, None)["expected"] == 0
    found = measured(COPIED, made, None)
    for name in ("told.ill", "told_all.ill"):
        used, others, _ = found["attacks"][name]
        assert abs(used - others) < 0.09
    assert abs(found["membership"] - 0.5) < 0.07
    written = made.astype(str).replace(r"\.0$", "", regex=True)
    assert measured(FOUND, written, origins, way="datasets.masking")["right"] < 0.01


def test_a_column_that_was_kept_counts_whatever_its_role():
    """Two columns that identify were replaced, and a number of the visit, which does not, was kept."""
    schema_names = ["age", "sex", "admitted", "weight", "ward"]
    made, origins = replaced(*schema_names)
    own = people(1).assign(seen=np.arange(ROWS, dtype=float))
    made["seen"] = origins.astype(float)
    used, way = Table(own), method("datasets.imputation")
    request = way.make_request({"people": SCHEMA}, {"columns": NAMES})
    release = Release((TableArtefact("table", (made,), (), origins),), way(request).cost)
    subject = way(request)
    figures = measure(MATCHING).evaluate(Private(subject, used, SCHEMA, used, release)).figures
    assert figures["cases"]["kept_made"]["expected"] >= 0.9 > figures["cases"]["in_made"]["expected"]


@pytest.mark.parametrize("role", [Role.OTHER, Role.SENSITIVE])
def test_where_nothing_is_marked_as_identifying_people_are_sought_by_what_was_kept(role):
    schema = Schema(tuple(replace(column, role=role) for column in SCHEMA.columns))
    way, used = method("datasets.imputation"), Table(people(1))

    def sought(made, origins):
        request = way.make_request({"people": schema}, {"columns": NAMES})
        release = Release((TableArtefact("table", (made,), (), origins),), way(request).cost)
        subject = way(request)
        return measure(MATCHING).evaluate(Private(subject, used, schema, used, release))

    for case in ("a copy", "one column", "two columns"):
        answer = sought(*OPEN[case])
        assert answer.figures["expected"] >= 90
        (note,) = [view.note for view in answer.views if isinstance(view, TableView)]
        assert word(note, "en").startswith("No column is marked as identifying")
        assert ("weight" in word(note, "en")) == (case == "a copy")
    assert not sought(INVENTED[0], None).views


# --- the whole catalogue --------------------------------------------------------------------------------

NO_ATTACK = {
    "risk.group_sizes": "counts rows of a group before the noise: it seeks nobody",
    "risk.linked_people": "counts whole people of several tables, in its own tests beside an open one",
    "risk.after": "shows the groups of both tables, counted by hand in its own tests",
}
"""Measures of risk that are no attacks, and why."""


def shadows(made):
    """Return how often shadows tell a member, of 300 people beside 150 others."""
    used, way = Table(people(1, 300)), method("datasets.imputation")
    request = way.make_request({"people": SCHEMA}, {"columns": NAMES, "copies": 1})
    release = Release((TableArtefact("table", (made,), ()),), way(request).cost)
    subject = way(request)
    private = Private(subject, used, SCHEMA, used, release, held_out=Table(people(2, 150)))
    return measure("risk.synthetic_shadows").evaluate(private).figures["shadows"]


def written(made):
    return made.astype(str).replace(r"\.0$", "", regex=True)


def found_again(made, origins):
    return measured(FOUND, written(made), origins, way="datasets.masking")["right"]


ATTACKS = {
    MATCHING: (lambda: measured(MATCHING, *OPEN["a copy"])["expected"], 90),
    COPIED: (lambda: measured(COPIED, *OPEN["a copy"])["membership"], 0.9),
    FOUND: (lambda: found_again(*OPEN["a copy"]), 0.9),
    "risk.synthetic_shadows": (lambda: shadows(people(1, 300)), 0.65),
}
"""By measure: what it finds in a copy of the table, and how much that must be."""


@pytest.mark.guarantee
@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_every_attack_finds_a_copy(name):
    attack, least = ATTACKS[name]
    assert attack() >= least


def test_no_attack_is_left_untried():
    """A new measure of risk fails here until it is tried against a release that is known to be open."""
    assert {one.id for one in measures() if one.id.startswith("risk.")} == {*ATTACKS, *NO_ATTACK}
    assert not set(ATTACKS) & set(NO_ATTACK)
