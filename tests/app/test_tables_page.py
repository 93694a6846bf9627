"""Tables besides that of the people: chosen, added to, taken away again, and whose rows they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QAbstractButton, QComboBox

from app import words
from app.frame.window import Window
from app.parts.prose import Prose
from app.parts.source_card import SourceCard
from app.state import flow
from engine.methods.catalogue import method, methods
from engine.methods.protocol import Shape, Source
from engine.table.schema import Role
from tests.app.test_flow import Second
from tests.app.walking import example_plan, settle, walk_to, write_people


class Several(Second):
    """Reads a public table in several files, events of people, and a hint that may be absent."""

    sources = (
        Source(),
        Source("regions", Shape.PUBLIC, many=True),
        Source("visits", Shape.EVENTS),
        Source("hint", Shape.PUBLIC, required=False),
    )


@pytest.fixture
def page(window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "method")
    monkeypatch.setattr("app.state.study._method", lambda name: Several)
    monkeypatch.setattr(type(window.study), "problems", lambda study: ())
    window.study.decide(method="a.test")
    window.go("tables")
    settle(qtbot, window)
    assert window.step == "tables", window.notice.words()
    return window.page("tables")


def give(page: Any, qtbot: Any, window: Window, name: str, path: Path, text: str) -> SourceCard:
    path.write_text(text)
    card = page.findChild(SourceCard, f"source-{name}")
    card.chosen.emit(str(path))
    settle(qtbot, window)
    return card


def test_every_table_is_asked_for_and_may_come_in_several_files(
    page: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    assert list(page.cards) == ["regions", "visits", "hint"]
    assert flow.why_not("tables", window.study.state).values == {"source": "regions"}
    table = window.study.table
    card = give(page, qtbot, window, "regions", tmp_path / "north.csv", "region,people\na,10\nb,20\n")
    # What was read of the people holds, whatever else is read.
    assert window.study.table is table and flow.reachable("method", window.study.state)
    assert card.mapTo(page, QPoint(0, 0)).x() == page.title.mapTo(page, QPoint(0, 0)).x()  # one margin
    assert "region" in card.columns.plain() and not card.key.isVisible()
    give(page, qtbot, window, "regions", tmp_path / "south.csv", "region,people\nc,10\n")
    assert [Path(window.study.plan.files[name].path).name for name in ("regions", "regions.2")] == [
        "north.csv",
        "south.csv",
    ]
    give(page, qtbot, window, "regions", tmp_path / "odd.csv", "place,people\nc,10\nd,3\n")
    assert "odd.csv" in window.notice.words() and "regions.3" not in window.study.plan.files
    card.findChild(QAbstractButton, "remove-regions").click()
    settle(qtbot, window)
    assert Path(window.study.plan.files["regions"].path).name == "south.csv"
    assert "regions.2" not in window.study.plan.files
    card.findChild(QAbstractButton, "remove-regions").click()
    assert "regions" not in window.study.plan.schemas and card.told.isVisible()


@pytest.mark.guarantee
def test_who_is_a_person_in_a_private_table_is_decided(
    page: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    card = give(page, qtbot, window, "visits", tmp_path / "visits.csv", "who,ward\n7,a\n9,b\n12,a\n")
    key = page.findChild(QComboBox, "key-visits")
    assert key.isVisible() and card.source.name == "visits"
    for name in ("ward", "who"):
        key.setCurrentIndex(key.findText(name))
        key.activated.emit(key.currentIndex())
        schema = window.study.plan.schemas["visits"]
        assert [one.name for one in schema.with_role(Role.PERSON_KEY)] == [name]
    other = give(page, qtbot, window, "visits", tmp_path / "later.csv", "who,ward\n7,a\n")
    assert Path(window.study.plan.files["visits"].path).name == "later.csv"  # another file, not one more
    assert "later.csv" in other.findChild(QAbstractButton, "remove-visits").accessibleName()


def test_a_file_that_is_dropped_is_the_first_that_is_missing(
    page: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    place = tmp_path / "north.csv"
    place.write_text("region,people\na,10\nb,20\n")
    take = page.take_file()
    assert take is not None
    take(str(place))
    settle(qtbot, window)
    assert "regions" in window.study.plan.files


# --- tables that hang together ---------------------------------------------------------------------


@pytest.fixture
def linked(window: Window, qtbot: Any, tmp_path: Path) -> Any:
    """The page of the tables of a register, its people loaded, the two others still to be chosen."""
    plan = example_plan("datasets.linked", tmp_path)
    given = {
        "columns": ["sex", "age", "insured"],
        "about_people": 2000,
        "about_records": 3000,
        "about_details": 7000,
    }
    own = {"files": {"people": plan.files["people"]}, "schemas": {"people": plan.schemas["people"]}}
    window.study.open_plan(replace(plan, parameters=given, **own))
    for step in ("load", "risk", "tables"):
        window.go(step)
        settle(qtbot, window)
    assert window.step == "tables", window.notice.words()
    return window.page("tables"), plan


def test_tables_that_hang_together_are_shown_and_their_columns_asked_for(
    linked: Any, window: Window, qtbot: Any
) -> None:
    page, plan = linked
    assert not page.together.isVisible() and not page.asked.isVisible()
    for name in ("records", "details"):
        page.findChild(SourceCard, f"source-{name}").chosen.emit(plan.files[name].path)
        settle(qtbot, window)
        key = page.findChild(QComboBox, f"key-{name}")
        key.setCurrentIndex(key.findText("patient_nbr"))
        key.activated.emit(key.currentIndex())
        settle(qtbot, window)
    assert page.together.isVisible() and page.asked.isVisible()
    assert set(page.form.lines) == {"record_columns", "order", "detail_columns", "record", "record_of"}
    method_page = window.page("method")
    assert not set(page.form.lines) & set(method_page.form.lines)
    page.look.click()
    settle(qtbot, window)
    (view,) = page.found.views
    assert [row[:4] for row in view.rows] == [("records", "people", 3093, 2), ("details", "people", 7315, 0)]
    # by the numbers of stays, diagnoses hang below stays too; what was counted before is gone
    window.study.decide_parameters(record="stay_nbr", record_of="stay_nbr")
    settle(qtbot, window)
    page.enter()
    assert page.found.views == ()
    page.look.click()
    settle(qtbot, window)
    assert [row[:2] for row in page.found.views[0].rows][-1] == ("details", "records")


def test_what_is_missing_of_further_tables_is_said_there_and_not_with_the_method(
    linked: Any, window: Window
) -> None:
    _, plan = linked
    method_missing = flow.why_not("method", window.study.state)
    assert method_missing is None, method_missing
    assert flow.why_not("tables", window.study.state).values == {"source": "records"}
    window.study.decide(files=plan.files, schemas=plan.schemas)
    missing = flow.why_not("tables", window.study.state)
    assert missing is not None and missing.id.endswith("parameter_unfilled")
    window.study.decide(parameters=plan.parameters)
    assert flow.why_not("tables", window.study.state) is None and not window.study.problems()


def test_a_column_of_a_further_table_is_declared_where_it_is_chosen(
    linked: Any, window: Window, qtbot: Any
) -> None:
    page, plan = linked
    page.findChild(SourceCard, "source-records").chosen.emit(plan.files["records"].path)
    settle(qtbot, window)
    page.form.declare_wanted.emit("record_columns", "ward", ["ward"])
    assert page.declare.columns == ["ward"] or tuple(page.declare.columns) == ("ward",)
    ward = plan.schemas["records"].column("ward")
    page.declare.declared.emit([("ward", ward.domain, False)])
    settle(qtbot, window)
    declared = window.study.plan.schemas["records"].column("ward")
    assert declared.is_declared and declared.domain == ward.domain
    assert list(window.study.plan.parameters["record_columns"]) == ["ward"]


def test_rows_that_were_not_counted_are_not_spoken_of(qtbot: Any) -> None:
    """A plan that was opened says which columns a table has, and no more."""
    said = []
    for rows in (None, 0, 3093):
        card = SourceCard("datasets.linked", method("datasets.linked").sources[1])
        qtbot.addWidget(card)
        card.show_files([("records", "stays.csv", rows)], None)
        said.append(" ".join(one.plain() for one in card.findChildren(Prose)))
    assert "rows" not in said[0].split("·", 1)[1] and "–" not in said[0]
    assert "rows: 0" in said[1] and "rows: 3,093" in said[2]


def test_every_table_that_is_asked_for_is_called_in_words(qtbot: Any) -> None:
    for one in methods():
        for source in (*one.sources, *(each for step in one.steps for each in step.sources)):
            card = SourceCard(one.id, source)
            qtbot.addWidget(card)
            assert card.button.accessibleName() not in (
                "",
                words.say("app.tables.choose_name", source=source.name),
            )
