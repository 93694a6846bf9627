"""Three questions of a ward manager, with margins; what is refused; how much each table is off by."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Budget, Context
from engine.methods.shared.histories import name_in_files
from engine.privacy.promise import Neighbours
from engine.report.words import word
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.views import GraphView, HeatmapView, Text, is_aside
from tests.noise_source import seeded_noise
from tests.ratios import TIMED, slack

FLOWS = "statistics.flows"
ENDS = Domain("2026-01-05T00:00", "2026-02-01T23:59")
DECLARED = {"domain_origin": Origin.DECLARED}
SCHEMA = Schema(
    (
        Column("who", Role.PERSON_KEY),
        Column("ward", Role.PLACE, Kind.CATEGORY, Domain(values=("A", "B", "C")), **DECLARED),
        Column("at", Role.TIME, Kind.MOMENT, ENDS, **DECLARED),
        Column("left", Role.TIME, Kind.MOMENT, ENDS, **DECLARED),
        Column("day", Role.TIME, Kind.DATE, Domain("2026-01-05", "2026-02-01"), **DECLARED),
    ),
    rows_per_person=3,
)
ASKED = {"place": "ward", "moment": "at", "left": "left"}
KEPT = ["2026-01-05", "2026-02-01"]


def design(schema: Schema = SCHEMA, *, budget: Budget | None = None, **further: object):
    flows = method(FLOWS)
    request = flows.make_request({MAIN: schema}, ASKED | further, budget=budget or Budget(Fraction(1)))
    return flows(request)


def log() -> pd.DataFrame:
    """Return 800 people who go from A to B, 400 of them on to C: 10 hours at A, 30 at B, 100 at C."""
    rows = []
    for person in range(800):
        now = np.datetime64("2026-01-05T08:00") + np.timedelta64(person % 20, "D")
        for ward, hours in (("A", 10), ("B", 30), ("C", 100))[: 2 + person % 2]:
            left = now + np.timedelta64(hours, "h")
            rows.append((str(person), ward, str(now), str(left)))
            now = left
    return pd.DataFrame(rows, columns=["who", "ward", "at", "left"], dtype="str")


@pytest.mark.parametrize("cap", ["declared", "lengths"])
def test_the_three_questions_are_answered_with_margins(tmp_path: Path, cap: str) -> None:
    own = design(cap=cap, whole=3)
    release = own.run({}, Context(seeded_noise(3), None, tmp_path, whole={MAIN: Table(log())}))
    views = {str(getattr(view.title, "id", "")).split(".")[-2]: view for view in release.views}
    # how many move from A to B a week: 800 in four weeks
    moves = {tuple(map(name_in_files, row[:2])): row[2:] for row in views["moves"].rows}
    for pair, exact in {("A", "B"): 200, ("B", "C"): 100, ("C", "(end)"): 100, ("B", "(end)"): 100}.items():
        value, margin = moves[pair]
        assert abs(value - exact) <= 2.5 * margin and margin < 40
    # how long do they stay
    bands = {name_in_files(row[0]): row[1:] for row in views["stays"].rows}
    assert [name_in_files(bands[ward][0]) for ward in "ABC"] == ["6 to <24 h", "24 to <72 h", "72 to <168 h"]
    assert [word(one, "de") for one in bands["A"][1:]] == ["6 bis <24 h", "6 bis <24 h"]
    assert isinstance(bands["(other or missing)"][0], Text)
    # which order is usual
    assert {row[0] for row in views["sequences"].rows[:2]} == {"A → B", "A → B → C"}
    assert all(abs(row[1] - 400) <= 2.5 * row[2] for row in views["sequences"].rows[:2])
    drawn = views["map"]
    assert isinstance(drawn, GraphView)
    edges = {tuple(name_in_files(drawn.nodes[at]) for at in edge[:2]) for edge in drawn.edges}
    assert edges >= {
        ("A", "B"),
        ("B", "C"),
    }
    assert release.promise == own.cost
    # the place of everything else is said in the language, and no line that counts as silent
    last = views["stays"].rows[-1][0]
    assert is_aside(last) and [word(last, one) for one in ("en", "de")] == [
        "(other or missing)",
        "(sonstige oder fehlt)",
    ]


def test_with_next_to_no_noise_tables_are_the_counts(tmp_path: Path) -> None:
    own = design(budget=Budget(Fraction(10**6)), slots_counted=28, one_place=True)
    frames = {
        one.name: one.frame
        for one in own.run({}, Context(seeded_noise(3), None, tmp_path, whole={MAIN: Table(log())})).artefacts
    }
    moves = frames["moves"].set_index(["from", "to"])["moves"]
    assert moves[moves > 0.5].to_dict() == {
        ("A", "B"): 800,
        ("B", "C"): 400,
        ("B", "(end)"): 400,
        ("C", "(end)"): 400,
    }
    stays = frames["stays"].set_index(["place", "stay"])["stays"]
    assert stays[("A", "6 to <24 h")] == 800 and stays[("C", "72 to <168 h")] == 400
    arrivals = frames["arrivals"].set_index(["place", "part"])["arrivals"]
    assert arrivals[("A", "08:00")] == 800 and arrivals[("B", "18:00")] == 800 and arrivals.sum() == 2000
    present = frames["present"].set_index(["place", "slot"])["present"]
    assert present[("A", "2026-01-05T00:00")] == 0  # on the first day everybody is at B later
    assert present[("B", "2026-01-05T00:00")] == 40
    assert frames["lengths"]["lengths"].tolist()[:4] == [0, 400, 400, 0]


@pytest.mark.parametrize("kind", [Kind.DATE, Kind.MOMENT])
def test_round_bounds_make_no_week_emptier(tmp_path: Path, kind: Kind) -> None:
    """Of a log of four weeks, whose bounds are a whole year, each week has its moves."""
    year, frame = Domain("2026-01-01", "2026-12-31"), log()
    frame["day"] = frame["at"].str[:10]
    name, left = ("day", None) if kind is Kind.DATE else ("at", "left")
    column = Column(name, Role.TIME, kind, year, **DECLARED)
    further = {"moment": name, "left": left, "arrivals": "weekday", "slots_counted": 0}
    own = design(SCHEMA.with_column(column), budget=Budget(Fraction(10**6)), observed=KEPT, **further)
    assert own.problems == [] and own.weeks == 4
    release = own.run({}, Context(seeded_noise(3), None, tmp_path, whole={MAIN: Table(frame)}))
    moves = release.artefacts[1].frame.set_index(["from", "to"])
    assert moves["a_week"][("A", "B")] == pytest.approx(200, abs=0.01)
    (note,) = (one for one in release.notes if one.id.endswith(".weeks"))
    assert note.values == {"weeks": 4.0, "first": KEPT[0], "last": KEPT[1]}
    # events outside the two days have no part, and nothing of the other weeks is divided by two of them
    half = design(budget=Budget(Fraction(10**6)), observed=["2026-01-05", "2026-01-18"], slots_counted=0)
    release = half.run({}, Context(seeded_noise(3), None, tmp_path, whole={MAIN: Table(frame)}))
    moves = release.artefacts[1].frame.set_index(["from", "to"])
    began = frame["at"] < "2026-01-19"
    pairs = (frame["ward"].eq("A") & began & began.shift(-1)).sum()
    assert moves["a_week"][("A", "B")] == pytest.approx(pairs / 2, abs=0.01)


def test_days_of_the_week_are_said_in_a_language_and_the_same_in_every_file(tmp_path: Path) -> None:
    own = design(budget=Budget(Fraction(10**6)), arrivals="weekday", slots_counted=0)
    release = own.run({}, Context(seeded_noise(3), None, tmp_path, whole={MAIN: Table(log())}))
    (file,) = (one.frame for one in release.artefacts if one.name == "arrivals")
    assert set(file["part"]) >= {"Monday", "Sunday"}
    (view,) = (one for one in release.views if isinstance(one, HeatmapView))
    assert [word(one, "fr") for one in view.column_labels][::6] == ["lundi", "dimanche"]


def test_every_problem_is_met_and_said() -> None:
    bare = Schema(tuple(one for one in SCHEMA.columns if one.name != "who"))
    open_ended = SCHEMA.with_column(
        Column("at", Role.TIME, Kind.MOMENT, Domain("2026-01-05"), Origin.DECLARED)
    )
    wards = Domain(values=tuple("ABCDEFGH"))
    many = SCHEMA.with_column(Column("ward", Role.PLACE, Kind.CATEGORY, wards, **DECLARED))
    met = {
        "no_person_key": design(bare),
        "no_bounds": design(open_ended),
        "no_hours": design(moment="day", left=None, observed=KEPT),
        "window_open": design(moment="day", left=None, arrivals="weekday"),
        "window_not_days": design(observed=[1, 2]),
        "window_outside": design(observed=["2026-01-05", "2026-02-02"]),
        "not_hours": design(stays=["2026-01-05", "2026-01-06"]),
        "too_many_cells": design(many, whole=8),
        "too_few": design(people=20, budget=Budget(Fraction(1, 10))),
    }
    for code, one in met.items():
        found = [problem for problem in one.problems if problem.code == f"{FLOWS}.{code}"]
        assert found, code
        assert all(texts.sentences(problem.code, problem.values) for problem in found)
    assert design(moment="day", left=None, arrivals="weekday", observed=KEPT).problems == []
    assert design(people=2000).problems == []


def test_presence_has_the_noise_of_different_cells() -> None:
    """√h in place of h: with many slots Gaussian noise is far less, and no more than there are count."""
    budget = Budget(Fraction(1), Fraction(1, 10**6))
    gauss = design(budget=budget, noise="gaussian", slots_counted=200, slot=1)
    plain = design(slots_counted=200, slot=1)
    assert gauss.limit("present") < plain.limit("present") / 2
    assert design(slots_counted=200, one_place=True).kept == 28
    exchanged = design(budget=Budget(Fraction(1), neighbours=Neighbours.REPLACE_ONE))
    assert exchanged.limit("moves") == pytest.approx(2 * design().limit("moves"), rel=0.01)
    assert "present" not in design(slots_counted=0).mechanisms
    assert design(slots_counted=0).limit("moves") < design().limit("moves")


def many(people: int, events: int, places: int, seed: int = 5) -> tuple[pd.DataFrame, Schema]:
    """Return a log in which most moves go along few ways, and what is declared of it."""
    chance = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), events)
    step = np.tile(np.arange(events), people)
    way = chance.integers(40, size=people).repeat(events)  # so many people go the same way
    place = np.where(
        chance.random(len(who)) < 0.9, (way * events + step) % places, chance.integers(places, size=len(who))
    )
    at = np.datetime64("2026-01-05T00:00") + (step * 300 + chance.integers(240, size=len(who))).astype(
        "m8[m]"
    )
    labels = np.array([f"P{one}" for one in range(places)], dtype=object)
    moments = np.datetime_as_string(np.unique(at), unit="m")
    frame = pd.DataFrame(
        {
            "who": pd.array(who.astype("str"), dtype="str"),
            "ward": pd.array(labels[place], dtype="str"),
            "at": pd.array(moments[np.searchsorted(np.unique(at), at)], dtype="str"),
        }
    )
    ward = Column("ward", Role.PLACE, Kind.CATEGORY, Domain(values=tuple(labels)), **DECLARED)
    return frame, Schema((SCHEMA.columns[0], ward, SCHEMA.columns[2]), rows_per_person=5)


def test_of_very_many_moves_those_leave_that_stand_out(tmp_path: Path) -> None:
    """No more are invented than is said, and the true ones are within their margins."""
    frame, schema = many(16_000, 5, 1000)
    further = {"left": None, "whole": 2, "slots_counted": 0, "listed": "clear", "by_noise": 4}
    own = design(schema, **further)
    release = own.run({}, Context(seeded_noise(3), None, tmp_path, whole={MAIN: Table(frame)}))
    moves = next(one for one in release.artefacts if one.name == "moves").frame
    following = frame["ward"].shift(-1).where(frame["who"].eq(frame["who"].shift(-1)), "(end)")
    exact = frame.groupby([frame["ward"], following]).size()
    true = [exact.get(pair, 0) for pair in zip(moves["from"], moves["to"], strict=True)]
    assert 190 <= len(moves) <= 230 and sum(one == 0 for one in true) <= 14  # Poisson of 4: beyond 14 in 1e-5
    off = np.abs(moves["moves"] - true)[np.array(true) > 0]
    assert (off <= moves["within_95"][0]).mean() > 0.85
    note = next(one for one in release.notes if one.id.endswith(".clear"))
    assert note.values["invented"] == 4 and note.values["cells"] == 1001 * 1002
    assert not own.asks_once and release.promise == own.cost
    assert {draw.sampler for draw in own.cost.drawn()} == {"discrete_laplace", "clear_counts"}
    for view in release.views:
        assert len(getattr(view, "nodes", ())) <= 80 and len(getattr(view, "rows", ())) <= 200


def test_with_next_to_no_noise_moves_that_stand_out_are_those_that_were_made(tmp_path: Path) -> None:
    own = design(budget=Budget(Fraction(10**6)), listed="clear", whole=3)
    release = own.run({}, Context(seeded_noise(3), None, tmp_path, whole={MAIN: Table(log())}))
    frames = {one.name: one.frame for one in release.artefacts}
    assert frames["moves"].set_index(["from", "to"])["moves"].to_dict() == {
        ("A", "B"): 800,
        ("B", "C"): 400,
        ("B", "(end)"): 400,
        ("C", "(end)"): 400,
    }
    assert frames["sequences"].set_index("sequence")["whole"].to_dict() == {"A → B": 400, "A → B → C": 400}


def test_too_many_moves_to_list_are_refused_before_anything_is_read() -> None:
    _, schema = many(1, 1, 1200)
    found = design(schema, left=None, whole=0, slots_counted=0).problems
    assert [(one.code, one.parameter) for one in found] == [(f"{FLOWS}.too_many_cells", "listed")]
    assert not design(schema, left=None, whole=2, slots_counted=0, listed="clear").problems


@pytest.mark.slow
@TIMED
@pytest.mark.parametrize(("places", "most"), [(40, 6.0), (10_000, 2.0)])
def test_a_million_events_take_little_time(tmp_path: Path, places: int, most: float, timed: bool) -> None:
    """The work on histories that are read: counts, noise and what leaves."""
    import time

    from engine.methods.shared.histories import Histories

    frame, schema = many(200_000, 5, places)
    further = {
        "left": None,
        "whole": 2,
        "slots_counted": 0 if places > 40 else 3,
        "listed": "clear" if places > 40 else "every",
    }
    own = design(schema, **further)
    key, moment = schema.person_key, schema.column("at")
    read = Histories.of(frame, key, own.axis, moment, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.methods.statistics.flows.read_histories", lambda *_, **__: read)
        begun = time.process_time()
        own.run({}, Context(seeded_noise(3), None, tmp_path))
        took = time.process_time() - begun
    assert not timed or took <= most * slack(), took
