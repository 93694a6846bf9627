"""What a scan of notes finds, what it misses and says so, and that it shows no cell."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from engine.analyses.catalogue import analysis, ask
from engine.methods.protocol import MAIN
from engine.risk import free_text
from engine.risk.free_text import LANGUAGES, PLANTED, OwnWords, find, recall, scan
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.suggest.suggest import suggest
from engine.table.table import Table
from engine.views import TableView, to_json
from tests.ratios import TIMED, slack

NOTES = (
    "Frau Zumstein angerufen",
    "né le 3 mars 1949",
    "call 020 7946 0018",
    "wohnt Rosenweg 5",
    "48 Harbour Road",
    "12 bis avenue Foch",
    "AHV 756.1234.5678.97",
    "an k.muster@spital.example",
    "see Mrs O’Hara",
    "on April 4th",
    "wohnt Am Markt 21",
    "lives at 13 The Crescent",
    "laut756.7361.7375.71bittet",
)


@pytest.mark.parametrize("note", NOTES)
def test_what_names_somebody_is_found(note: str) -> None:
    assert find(note)


@pytest.mark.parametrize(
    "note",
    [
        "Wunde reizlos",
        "RR 130/80, Puls 72",
        "repos 3 jours",
        "drei Tage Fieber",
        "Am Tag 3 nach OP",
        "NaCl 0,9 % 1000 ml über 12 h",
    ],
)
def test_what_names_nobody_is_not(note: str) -> None:
    assert not find(note)


def test_names_of_the_register_are_found_however_they_are_written() -> None:
    own = OwnWords.of(["Lefèvre, Zoé", "O'Connor", "4711-0815"])
    for note in ("LEFEVRE zu Hause", "zoe kam", "mit oconnor's O'CONNOR", "Fall 47110815"):
        assert "own" in {name for name, _, _ in find(note, own)} or find(note, own), note
    assert not find("zoe kam")
    assert find("oconnor", own) == []  # written otherwise: missed, as recall says such are


def test_recall_stands_beside_every_use_and_admits_what_is_missed() -> None:
    found = scan(["nothing here"], OwnWords())
    rates = {(one.kind, one.language): one for one in found.recall}
    assert set(rates) == {(kind, language) for kind in PLANTED for language in LANGUAGES}
    for language in LANGUAGES:
        # as measured: tidy forms are found, bare names never, and haste takes half of the names
        for kind in ("date", "phone", "number", "mail", "titled", "own"):
            assert rates[kind, language].tidy.share >= 0.9, (kind, language)
        assert rates["bare", language].tidy.share <= 0.1
        assert rates["titled", language].messy.share <= 0.6
        assert rates["address", language].messy.share <= 0.6
    assert found.alarms.share <= 0.1


def test_recall_measures_the_patterns_that_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a pattern nothing of its kind is found: the table is no constant."""
    few = {name: one for name, one in free_text.patterns().items() if name != "mail"}
    monkeypatch.setattr(free_text, "patterns", lambda: few)
    recall.cache_clear()
    try:
        assert all(one.tidy.share < 0.5 for one in recall() if one.kind == "mail")
    finally:
        recall.cache_clear()


@TIMED
def test_long_cells_take_little_time(timed: bool) -> None:
    """No pattern reads a long cell again from each of its signs."""
    import time

    for sign in ("a", "0", "1 ", "a.", "-1", "rue de la "):
        begun = time.process_time()
        find(sign * 20_000)
        assert not timed or time.process_time() - begun < slack(), sign


def test_the_analysis_counts_and_shows_no_cell() -> None:
    frame = pd.DataFrame(
        {"who": ["Zoé Lefèvre", "Kim Ott"], "note": ["LEFEVRE called", "slept well"], "empty": [None, None]},
        dtype="str",
    )
    schema = Schema(
        (
            Column("who", Role.DIRECT_IDENTIFIER),
            Column("note", Role.DROPPED, Kind.TEXT),
            Column("empty", Role.DROPPED, Kind.TEXT),
        )
    )
    values = {"columns": ["note", "empty"]}
    answer = ask(analysis("free_text"), values, tables={MAIN: Table(frame)}, schemas={MAIN: schema})
    assert answer.figures["columns"]["note"] == {
        "notes": 2,
        "marked": 1,
        "by_mark": {**dict.fromkeys(free_text.MARKS, 0), "own": 1},
    }
    assert answer.figures["columns"]["empty"]["notes"] == 0
    tables = [view for view in answer.views if isinstance(view, TableView)]
    assert len(tables) == 2 and len(tables[1].rows) == len(PLANTED) * len(LANGUAGES)
    said = json.dumps([to_json(view) for view in answer.views], default=str)
    assert "LEFEVRE" not in said and "Kim" not in said and answer.stays


def test_free_text_is_left_out_unless_somebody_decides_otherwise() -> None:
    notes = [f"Patient {place} was seen and felt much better than on the day before" for place in range(90)]
    frame = pd.DataFrame({"of_day": notes[:60] + notes[:30] + notes}, dtype="str")
    (found,) = suggest(Table(frame))
    assert (found.role, found.reason) == (Role.DROPPED, "free_text")


@pytest.mark.parametrize("name", ["note", "Bemerkungen", "commentaire", "nursing_notes", "Freitext"])
def test_notes_that_repeat_are_left_out_too(name: str) -> None:
    """Many write the same: few different cells are no categories, and none becomes a declared value."""
    notes = [f"Wound {place % 30} clean, dressing new" for place in range(300)]
    (found,) = suggest(Table(pd.DataFrame({name: notes}, dtype="str")))
    assert (found.role, found.kind, found.domain) == (Role.DROPPED, Kind.TEXT, None)


def test_grades_are_no_notes() -> None:
    (found,) = suggest(Table(pd.DataFrame({"note": [str(place % 6) for place in range(300)]}, dtype="str")))
    assert found.role is not Role.DROPPED
