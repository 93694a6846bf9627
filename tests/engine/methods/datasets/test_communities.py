"""Invented traces by communities: nobody's numbers leave, the copies are counted and stay."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Context
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

DECLARED = {"domain_origin": Origin.DECLARED}
WARDS = ("A", "B", "C", "D")
SCHEMA = Schema(
    (
        Column("who", Role.PERSON_KEY),
        Column("ward", Role.PLACE, Kind.CATEGORY, Domain(values=WARDS), **DECLARED),
        Column("at", Role.TIME, Kind.MOMENT, Domain("2026-01-05T00:00", "2026-01-31T23:59"), **DECLARED),
    )
)
VALUES = {"place": "ward", "moment": "at", "communities": 2, "sweeps": 60}


def log() -> Table:
    """Return mornings from A to B and evenings from C to D, and one person with a place of nobody."""
    rows = [
        (f"key-{one}", ("AB", "CD")[one % 2][step], f"2026-01-{6 + step:02d}T{8 + 10 * (one % 2):02d}:30")
        for one in range(40)
        for step in range(2)
    ]
    rows += [("key-40", "elsewhere", "2026-01-06T03:00"), ("key-40", "A", "2026-01-07T03:00")]
    rows.reverse()  # in no order
    return Table(pd.DataFrame(rows, columns=["who", "ward", "at"], dtype="str"))


def made(table: Table, tmp_path, **changes):
    communities = method("datasets.communities")
    design = communities(communities.make_request({MAIN: SCHEMA}, VALUES | changes))
    assert design.problems == []
    return design.run({MAIN: table}, Context(seeded_noise(1), np.random.default_rng(1), tmp_path))


@pytest.mark.parametrize("form", ["place", "time", "place_time"])
def test_walks_go_where_members_went_and_stand_for_nobody(tmp_path, form: str) -> None:
    release = made(log(), tmp_path, form=form)
    frame = release.artefacts[0].frame
    assert list(frame.columns) == ["trace", "visit", "ward", "hour"]
    assert not frame.astype(str).apply(lambda cells: cells.str.contains("key")).any(axis=None)
    assert set(frame.ward) <= {*WARDS, ""}, "what was not declared leaves as nothing"
    assert frame.trace.value_counts().tolist() == [2] * 41
    assert set(frame.hour.astype(int)) <= set(range(24))
    pairs = {tuple(own.ward) for _, own in frame.groupby("trace")}
    assert ("A", "B") in pairs and ("C", "D") in pairs
    assert {pair for pair in pairs if pair[0] in ("A", "C")} == {("A", "B"), ("C", "D")}


def test_the_copies_are_counted_and_stay(tmp_path) -> None:
    release = made(log(), tmp_path)
    figures = release.inside.figures
    assert figures["traces"] == 41 and 30 <= figures["copies"] <= 41
    assert figures["alone"] <= 1, "one person alone has their places"
    said = [line.id for line in release.inside.views[0].paragraphs]
    assert said[:2] == ["analyses.communities.unlike", "analyses.communities.blind"], "never said alone"
    leaving = release.leaving
    assert leaving.inside.figures == {} and [note.values for note in leaving.notes] == [{}]


def test_columns_and_sizes_that_cannot_be(tmp_path) -> None:
    communities = method("datasets.communities")
    hour = Column("hour", Role.PLACE, Kind.CATEGORY, Domain(values=WARDS), **DECLARED)
    taken = Schema((SCHEMA.column("who"), hour, SCHEMA.column("at")))
    (problem,) = communities(communities.make_request({MAIN: taken}, VALUES | {"place": "hour"})).problems
    assert problem.code == "datasets.communities.name_taken"
    assert all(texts.sentences(problem.code, problem.values))
    nobody = Schema(SCHEMA.columns[1:])
    (problem,) = communities(communities.make_request({MAIN: nobody}, VALUES)).problems
    assert problem.code == "datasets.communities.no_person_key"
    half = Column("at", Role.TIME, Kind.MOMENT, Domain("2026-01-05T00:00"), **DECLARED)
    open_end = Schema((*SCHEMA.columns[:2], half))
    found = communities(communities.make_request({MAIN: open_end}, VALUES)).problems
    assert "datasets.communities.no_bounds" in [problem.code for problem in found]
    with pytest.raises(InputRefused, match=r"datasets\.communities\.size"):
        made(Table(log().rows().iloc[:0]), tmp_path)
