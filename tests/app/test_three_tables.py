"""Three shapes of table, from the file to a verified bundle, with every click and key counted.

One row a person without a key (public census rows), several rows a person (hospital encounters), and a trial
with short technical names. Nobody of the trial exists.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton

from app.frame.window import Window
from engine.ledger import Ledger
from engine.release.verify import verify
from engine.table.schema import Role
from tests.app.hands import Hands
from tests.app.walking import SAMPLE, settle

pytestmark = pytest.mark.before_release
CENSUS = Path(__file__).parents[1] / "data" / "adult.csv.gz"
MOST_CLICKS, MOST_KEYS = 15, 40


def census(folder: Path) -> Path:
    """Write one row a person, with no key."""
    pd.read_csv(CENSUS, dtype=str, nrows=3_000).to_csv(folder / "census.csv", index=False)
    return folder / "census.csv"


def encounters(folder: Path) -> Path:
    """Write several rows a person."""
    return Path(shutil.copy(SAMPLE / "diabetes_encounters.csv", folder))


def trial(folder: Path) -> Path:
    """Write a trial: names as its programmers wrote them, one measurement at three times."""
    chance, people = np.random.default_rng(5), 900
    start = pd.Timestamp("2024-01-01") + pd.to_timedelta(chance.integers(0, 300, people), "D")
    pressure = {f"bp{visit}": chance.normal(142 - 4 * visit, 15, people).astype(int) for visit in (1, 2, 3)}
    rows = {
        "usubjid": [f"CU-{number:04d}" for number in range(people)],
        "armcd": chance.choice(["PBO", "TRT"], people),
        "sex": chance.choice(["M", "F"], people),
        "age": chance.integers(18, 85, people),
        **pressure,
        "aesev": chance.choice(["MILD", "MODERATE", "SEVERE"], people),
        "rfstdtc": start.strftime("%Y-%m-%d"),
    }
    pd.DataFrame(rows).to_csv(folder / "trial.csv", index=False)
    return folder / "trial.csv"


def open_file(hands: Hands, path: Path) -> None:
    """Drop a file on the window."""
    hands.window.open_file(str(path))
    hands.clicks += 1
    settle(hands.qtbot, hands.window)
    hands.next("columns")


def counted_columns(hands: Hands, names: tuple[str, ...], values: dict[str, tuple[str, ...]]) -> None:
    """Choose counts of columns; where allowed values are missing, type them beside, and declare them."""
    hands.click("use-counts")
    hands.tick("columns", *names)
    page = hands.window.page("method")
    missed = page.declare.columns
    for name in missed:
        fields = page.declare.cells[name].fields
        if fields.is_empty:  # no list that goes with the column is proposed
            hands.qtbot.keyClicks(fields.values, ", ".join(values[name]))
            hands.keys += len(", ".join(values[name])) + 1
    if missed:
        hands.click("domain_known")
        hands.click("domain_declare")
    assert hands.window.study.plan.parameters["columns"] == list(names)
    assert all(hands.window.study.plan.schema.column(name).is_declared for name in names)


def purpose(hands: Hands, *, budget: str = "2") -> None:
    """Say who asked and which register pays."""
    hands.next("purpose")
    for name, text in (("purpose_title", "A"), ("purpose_recipient", "B"), ("holding_name", "C")):
        hands.type(name, text)
    hands.type("holding_epsilon", budget)
    hands.next("method")


def money(hands: Hands) -> None:
    """Say what a person is owed and what can be paid."""
    hands.next("budget")
    page = hands.window.page("budget")
    asked = ((page.owed.compensation, "500"), (page.money.field, "90000"))
    for field, text in asked:
        if not field.isVisible():  # said for an earlier release of the same people
            continue
        field.setFocus()
        field.selectAll()
        hands.qtbot.keyClicks(field, text)
        hands.qtbot.keyClick(field, Qt.Key.Key_Return)
        hands.keys += len(text) + 2
        settle(hands.qtbot, hands.window)


def released(hands: Hands, ledger: Path) -> Path:
    """Release into the folder that is proposed, and verify it."""
    hands.next("preview")
    hands.click(hands.window.footer.findChild(QAbstractButton, "next"))
    if hands.window.footer.asks:  # more than a quarter of what is left goes
        hands.click("commit")
    hands.qtbot.waitUntil(lambda: not hands.window.runner.busy("release"), timeout=120_000)
    outcome = hands.window.study.result("bundle")
    assert outcome is not None and outcome.state == "complete", hands.window.notice.words()
    print(f"{hands.clicks} clicks, {hands.keys} keys")
    out = Path(outcome.bundle.folder)
    assert verify(out, ledger=Ledger(ledger)).passed
    return out


def outside(out: Path) -> tuple[dict[str, Any], str]:
    """Return the public evidence and the words that a recipient reads, on one line."""
    evidence = json.loads((out / "release" / "evidence.json").read_text(encoding="utf-8"))
    page = (out / "release" / "report-external.html").read_text(encoding="utf-8")
    readme = (out / "release" / "README.txt").read_text(encoding="utf-8")
    return evidence, re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", readme + page))


@pytest.fixture
def hands(make_window: Callable[[], Window], qtbot: Any, tmp_path: Path) -> Hands:
    window = make_window()
    window.resize(1366, 768)
    window.study.ledger_path = tmp_path / "ledger.sqlite"
    return Hands(qtbot, window)


def test_one_row_a_person_without_a_key(hands: Hands, tmp_path: Path) -> None:
    open_file(hands, census(tmp_path))
    hands.click("accept")
    hands.click("unit_each")
    hands.next("risk")
    purpose(hands)
    counted_columns(hands, ("sex", "income"), {"sex": ("Female", "Male"), "income": ("<=50K", ">50K")})
    money(hands)
    evidence, text = outside(released(hands, tmp_path / "ledger.sqlite"))
    assert evidence["promise"]["unit"] == "row" and "every row" in text.lower()


def test_several_rows_a_person(hands: Hands, tmp_path: Path) -> None:
    open_file(hands, encounters(tmp_path))
    schema = hands.window.study.plan.schema
    page = hands.window.page("columns")
    unknown = [column.name for column in schema.columns if column.role is Role.NOT_RECOGNISED]
    for name in unknown:
        page.select(name)
        hands.key(Qt.Key.Key_O, page.table)
    hands.click("filter_all")
    hands.click("accept")
    assert hands.window.study.plan.schema.person_key.name == "patient_nbr"
    hands.type("rows_per_person", "1")
    hands.next("risk")
    purpose(hands)
    lists = {"gender": ("Female", "Male"), "readmitted": ("NO", ">30", "<30")}
    counted_columns(hands, ("gender", "readmitted"), lists)
    money(hands)
    evidence, text = outside(released(hands, tmp_path / "ledger.sqlite"))
    assert evidence["promise"]["unit"] == "person" and evidence["promise"]["rows_per_person"] == 1
    assert "patient_nbr" not in json.dumps(evidence["artefacts"])
    assert "protected less" not in text


def test_a_trial_with_short_technical_names(hands: Hands, tmp_path: Path) -> None:
    open_file(hands, trial(tmp_path))
    hands.click("accept")
    hands.click("unit_each")
    hands.next("risk")
    purpose(hands)
    counted_columns(hands, ("sex", "armcd"), {"sex": ("F", "M"), "armcd": ("PBO", "TRT")})
    money(hands)
    evidence, text = outside(released(hands, tmp_path / "ledger.sqlite"))
    assert "usubjid" not in text and evidence["promise"]["unit"] == "row"


def test_a_table_that_is_known_takes_fifteen_clicks(
    hands: Hands, make_window: Callable[[], Window], qtbot: Any, tmp_path: Path
) -> None:
    test_one_row_a_person_without_a_key(hands, tmp_path)
    window = make_window()
    window.resize(1366, 768)
    window.study.ledger_path = tmp_path / "ledger.sqlite"
    again = Hands(qtbot, window)
    window.open_file(str(tmp_path / "census.csv"))
    again.clicks += 1
    settle(qtbot, window)
    again.next("columns")
    again.click(window.page("columns").last)
    again.next("risk")
    again.next("purpose")
    again.click("same_people")
    again.type("purpose_title", "Sex by income")
    again.type("purpose_recipient", "B")
    again.next("method")
    again.click("use-counts")
    again.tick("columns", "sex", "income")
    assert window.study.plan.parameters["columns"] == ["sex", "income"]
    money(again)
    released(again, tmp_path / "ledger.sqlite")
    assert again.clicks <= MOST_CLICKS and again.keys <= MOST_KEYS, (again.clicks, again.keys)
