"""Four wishes from a file to a bundle, on tables that nobody tuned on: at most 15 clicks and 40 keys each.

Ten columns made coarser, counts, five columns invented, a model of five columns. Nobody in the tables exists.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PySide6.QtCore import Qt

from engine.ledger import Ledger
from engine.release.verify import verify
from tests.app.hands import Hands
from tests.app.test_three_tables import hands as hands
from tests.app.walking import settle

pytestmark = pytest.mark.before_release
MOST_CLICKS, MOST_KEYS = 15, 40


def stays(folder: Path, rows: int = 1_500) -> Path:
    """Write a table of hospital stays: several a person, a case number for each."""
    chance, people = np.random.default_rng(21), 950
    person = chance.integers(0, people, rows)
    sex, age, town = (
        chance.integers(0, 2, people),
        chance.integers(18, 95, people),
        chance.integers(0, 12, people),
    )
    admitted = pd.Timestamp("2024-01-01") + pd.to_timedelta(chance.integers(0, 366, rows), "D")
    days = chance.integers(1, 22, rows)
    table = {
        "patient_no": 40_000 + 17 * person,
        "case_no": [f"F{number * 7919 % 1_000_003:07d}" for number in range(rows)],
        "sex": np.array(["f", "m"])[sex[person]],
        "age": age[person],
        "town": np.array([f"Town {letter}" for letter in "ABCDEFGHIJKL"])[town[person]],
        "ward": chance.choice(["1", "2 A", "2 B", "3"], rows),
        "admitted": admitted.strftime("%Y-%m-%d"),
        "days_in_hospital": days,
        "diagnosis": chance.choice(["I63", "I61", "S72", "M16", "M17", "G35"], rows),
        "insurance": chance.choice(["public", "private"], rows),
        "discharged_to": chance.choice(["home", "care", "other"], rows),
        "falls": chance.integers(0, 4, rows),
        "readmitted": chance.choice(["yes", "no"], rows, p=[0.2, 0.8]),
    }
    pd.DataFrame(table).to_csv(folder / "stays.csv", index=False)
    return folder / "stays.csv"


def to_method(hands: Hands, path: Path) -> None:
    """Load, say that one row of each counts, take what is proposed, name the request and its register."""
    hands.window.open_file(str(path))
    hands.clicks += 1
    settle(hands.qtbot, hands.window)
    hands.next("columns")
    page = hands.window.page("columns")
    for name in page._unknown():
        page.point_to(f"column:{name}")
        hands.key(Qt.Key.Key_O, page.table)
    hands.click("cap_1")
    hands.next("risk")
    hands.next("purpose")
    for name, text in (("purpose_title", "A"), ("purpose_recipient", "B"), ("holding_name", "C")):
        hands.type(name, text)
    hands.type("holding_epsilon", "2")
    hands.next("method")


def declare(hands: Hands) -> None:
    """Start from what is in the table where nothing is proposed, say that it is known, and go on."""
    page = hands.window.page("method")
    assert page.declare.columns
    if any(cell.fields.is_empty for cell in page.declare.cells.values()):
        hands.click("domain_take")
    hands.click("domain_known")
    names = page.declare.columns
    hands.next("budget")
    assert all(hands.window.study.plan.schema.column(name).is_declared for name in names)


def release(hands: Hands, folder: Path) -> None:
    """Press what leads on until there is a bundle, and verify it."""
    window = hands.window
    if window.step == "budget":
        page = window.page("budget")
        for field, text in ((page.owed.compensation, "500"), (page.money.field, "200000")):
            field.setFocus()
            field.selectAll()
            hands.qtbot.keyClicks(field, text)
            hands.qtbot.keyClick(field, Qt.Key.Key_Return)
            hands.keys += len(text) + 2
            settle(hands.qtbot, window)
    hands.next("preview")
    hands.click("next")
    hands.qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=120_000)
    outcome = window.study.result("bundle")
    assert outcome is not None and outcome.state == "complete", window.notice.words()
    assert verify(Path(outcome.bundle.folder), ledger=Ledger(folder / "ledger.sqlite")).passed
    print(f"{hands.clicks} clicks, {hands.keys} keys")
    assert hands.clicks <= MOST_CLICKS and hands.keys <= MOST_KEYS, (hands.clicks, hands.keys)


def test_real_rows_made_coarser(hands: Hands, tmp_path: Path) -> None:
    to_method(hands, stays(tmp_path))
    hands.click("use-coarser")
    hands.click("all-columns")
    assert len(hands.window.study.plan.parameters["columns"]) >= 10
    hands.next("terms")
    hands.type("k", "11")
    release(hands, tmp_path)


def test_counts_of_two_columns(hands: Hands, tmp_path: Path) -> None:
    to_method(hands, stays(tmp_path))
    hands.click("use-counts")
    hands.tick("columns", "sex", "readmitted")
    declare(hands)
    release(hands, tmp_path)


def test_five_columns_invented(hands: Hands, tmp_path: Path) -> None:
    to_method(hands, stays(tmp_path))
    hands.click("use-invented")
    hands.tick_range("columns", "days_in_hospital", "falls")
    hands.type("about_rows", "1000")
    declare(hands)
    assert len(hands.window.study.plan.parameters["columns"]) == 5
    release(hands, tmp_path)


def test_a_model_of_five_columns(hands: Hands, tmp_path: Path) -> None:
    to_method(hands, stays(tmp_path))
    hands.click("use-model")
    hands.pick_by_keys("target", "rea")
    hands.tick_range("predictors", "days_in_hospital", "falls")
    hands.type("about_rows", "1000")
    declare(hands)
    assert len(hands.window.study.plan.parameters["predictors"]) == 5
    release(hands, tmp_path)
