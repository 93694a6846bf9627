"""Several tables of one register, dropped at once: how they hang together is proposed, changed by a click."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QComboBox

from app.frame.window import Window
from app.parts.prose import Prose
from app.work.together import plan_of, read_together, with_person
from engine.ledger import Ledger
from engine.methods.protocol import MAIN
from engine.release.plan import FileReference, Plan
from engine.release.verify import verify
from engine.table.schema import Column, Role, Schema
from tests.app.hands import Hands
from tests.app.walking import SAMPLE, settle

NAMES = ("people", "stays", "diagnoses")


@pytest.fixture
def hands(window: Window, qtbot: Any) -> Hands:
    return Hands(qtbot, window)


@pytest.fixture
def register(tmp_path: Path) -> list[Path]:
    """Write the three tables of the sample under names that tell nothing."""
    places = zip(("a.csv", "b.csv", "c.csv"), ("diagnoses", "people", "stays"), strict=True)
    return [Path(shutil.copy(SAMPLE / f"register_{name}.csv", tmp_path / place)) for place, name in places]


def drop(hands: Hands, paths: list[Path]) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    none = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    hands.window.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, *none))
    hands.clicks += 1
    settle(hands.qtbot, hands.window)
    assert hands.window.step == "load", hands.window.notice.words()


def pick(hands: Hands, name: str, place: int) -> None:
    field = hands.part(QComboBox, name)
    field.setCurrentIndex(place)
    field.activated.emit(place)
    hands.clicks += 2
    settle(hands.qtbot, hands.window)


def files(window: Window) -> dict[str, str]:
    return {name: Path(file.path).name for name, file in window.study.plan.files.items()}


def keys(window: Window) -> dict[str, str]:
    found = {name: schema.person_key for name, schema in window.study.plan.schemas.items()}
    return {name: key.name for name, key in found.items() if key is not None}


def orphans(window: Window, part: str) -> str:
    found = list(window.page("load").together.findChildren(Prose, f"orphans-{part}"))
    return str(found[-1].plain())


def test_what_was_dropped_is_put_in_order_and_changed_by_a_click(hands: Hands, register: list[Path]) -> None:
    window = hands.window
    window.go("start")
    drop(hands, register)
    assert files(window) == {"people": "b.csv", "records": "c.csv", "details": "a.csv"}
    assert keys(window) == dict.fromkeys(("people", "records", "details"), "patient_nbr")
    assert window.study.linked.parameters == {"record": "stay_nbr", "record_of": "stay_nbr"}
    stays, people = (pd.read_csv(SAMPLE / f"register_{name}.csv") for name in ("stays", "people"))
    missing = int((~stays["patient_nbr"].isin(people["patient_nbr"])).sum())
    assert f"{missing} of 3,093 rows" in orphans(window, "records")
    hands.part(QComboBox, "person-c.csv").setFocus()
    # a wrong column: everything hangs in the air, and the screen says so
    pick(hands, "person-c.csv", 1 + list(stays.columns).index("days"))
    assert keys(window)["records"] == "days" and "3,093 of 3,093" in orphans(window, "records")
    assert hands.part(QComboBox, "person-c.csv").hasFocus()  # it was made anew
    window.study.undo()
    settle(hands.qtbot, window)
    assert keys(window)["records"] == "patient_nbr" and f"{missing} of 3,093" in orphans(window, "records")
    # other tables of people: they change places
    pick(hands, "part-c.csv", 3)
    assert files(window) == {"people": "b.csv", "records": "a.csv", "details": "c.csv"}
    pick(hands, "part-c.csv", 0)
    assert files(window) == {"people": "b.csv", "records": "a.csv"}
    pick(hands, "part-a.csv", 1)
    assert files(window) == {"people": "a.csv", "records": "b.csv"}
    assert window.study.table is not None and window.study.table.n_rows == 7315
    hands.click("together-alone")
    assert files(window) == {"people": "a.csv"} and not window.page("load").together.isVisible()


def test_the_sheets_of_a_workbook_are_taken_together(hands: Hands, tmp_path: Path) -> None:
    people = pd.DataFrame({"pid": range(1, 61), "sex": ["f", "m"] * 30})
    stays = pd.DataFrame(
        {"nr": range(100, 200), "pid": [1 + n % 61 for n in range(100)], "ward": ["a", "b"] * 50}
    )
    with pd.ExcelWriter(tmp_path / "register.xlsx") as book:
        stays.to_excel(book, sheet_name="Stays", index=False)
        people.to_excel(book, sheet_name="People", index=False)
    hands.window.open_file(str(tmp_path / "register.xlsx"))
    settle(hands.qtbot, hands.window)
    hands.click("all_sheets")
    plan = hands.window.study.plan
    assert {name: one.options["sheet"] for name, one in plan.files.items()} == {
        "people": "People",
        "records": "Stays",
    }
    assert keys(hands.window) == {"people": "pid", "records": "pid"}
    assert "1 of 100 rows" in orphans(hands.window, "records") and hands.window.study.table.n_rows == 60


@pytest.mark.guarantee
def test_from_three_files_to_a_verified_bundle(hands: Hands, register: list[Path], tmp_path: Path) -> None:
    """People, stays and diagnoses, every click and key counted; nobody opens the other tables."""
    window = hands.window
    window.go("start")
    drop(hands, register)
    hands.type("cap-records", "2")
    hands.type("cap-details", "4")
    hands.click("most-details")
    assert window.study.plan.schemas["details"].rows_per_person == 51
    window.study.undo()
    assert [window.study.plan.schemas[one].rows_per_person for one in ("records", "details")] == [2, 4]
    hands.next("columns")
    hands.click("accept")
    hands.type("rows_per_person", "1")
    hands.next("risk")
    hands.next("purpose")
    for name, text in (("purpose_title", "A"), ("purpose_recipient", "B"), ("holding_name", "C")):
        hands.type(name, text)
    hands.type("holding_epsilon", "8")
    hands.next("method")
    page = window.page("method")
    hands.type("search", "hang together")
    assert window.study.plan.method == "datasets.linked", window.notice.words()
    assert {"record", "record_of"} <= window.study.plan.parameters.keys()
    for name, ticked in (
        ("columns", ("sex", "insured")),
        ("record_columns", ("ward",)),
        ("detail_columns", ("diagnosis", "main")),
    ):
        hands.tick(name, *ticked)
    for cell in page.declare.cells.values():
        cell.take_rows()
        hands.clicks += 1
    hands.click("domain_known")
    hands.click("domain_declare")
    for name, about in (("about_people", "2000"), ("about_records", "3000"), ("about_details", "7000")):
        hands.type(name, about)
    assert {one.parameter for one in window.study.problems()} <= {"budget"}, window.study.problems()
    seen = []
    for _ in range(8):
        if window.study.result("bundle") is not None:
            break
        if window.step == "budget":
            hands.type("sharing-many", "2")
        hands.click("next")
        seen.append(window.step)
        if window.footer.asks:
            hands.click("commit")
        hands.qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=120_000)
        settle(hands.qtbot, window)
    outcome = window.study.result("bundle")
    assert outcome is not None and outcome.state == "complete", (seen, window.notice.words())
    assert "tables" not in seen
    made = Path(outcome.bundle.folder)
    assert verify(made, ledger=Ledger(tmp_path / "ledger.sqlite")).passed
    evidence = json.loads((made / "release" / "evidence.json").read_text())
    assert len([one for one in evidence["artefacts"] if one["file"].endswith(".csv")]) == 3
    print(f"{hands.clicks} clicks, {hands.keys} keys")
    window.go("tables")  # it is there for changing
    assert window.step == "tables"


def test_who_said_whose_a_row_is_goes_on_naming_people(register: list[Path]) -> None:
    together = read_together([FileReference(str(path)) for path in register])
    named = together.hanging.named(MAIN)
    key, *others = together.tables[named].table.names
    assert together.hanging.person[named] == key
    columns = (Column(key, Role.PERSON_KEY), *(Column(one) for one in others))
    before = Plan(files={MAIN: together.tables[named].given}, schemas={MAIN: Schema(columns)})
    schema = plan_of(before, with_person(together, named, others[0])).schemas[MAIN]
    assert schema.person_key is not None and schema.person_key.name == others[0]
    assert schema.column(key).role is Role.DIRECT_IDENTIFIER
