"""A folder of files is opened like a table; a table that memory does not hold is looked at by a sample."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

from app.frame.window import Window
from app.screens.preview.asks import look_ahead
from app.work import marking
from engine.ledger import Ledger
from engine.methods.protocol import MAIN, Budget
from engine.release import looking, served
from engine.release.plan import FileReference
from engine.release.reading import Sample
from engine.release.verify import verify
from engine.table.schema import Domain, Kind, Origin, Role
from tests.app.hands import Hands
from tests.app.walking import HEADER, fill_purpose, settle, walk_to, write, write_people

PARTS = 3


def people_folder(path: Path, kind: str = "csv", people: int = 400) -> Path:
    """Write the table of the walks as three files; the rows of a person lie in several."""
    folder = path / "stays"
    folder.mkdir()
    head, *lines = write_people(path / "all.csv", people=people).read_text().splitlines()
    for place in range(PARTS):
        part = folder / f"part-{place}.csv"
        part.write_text("\n".join([head, *lines[place::PARTS]]) + "\n")
        if kind == "parquet":
            pd.read_csv(part).to_parquet(part.with_suffix(".parquet"), index=False)
            part.unlink()
    (folder / "_SUCCESS").write_text("")
    return folder


def drop(window: Window, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    none = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, *none))


@pytest.fixture
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let 600 rows of six columns be more than memory holds, and a sample have about 200."""
    for module in (looking, served):
        monkeypatch.setattr(module, "most_memory", lambda: 20_000)
    monkeypatch.setattr(looking, "ROWS", 200)
    monkeypatch.setattr(Sample, "drawn", lambda share: Sample(share, b"lots of the tests"))


def decide_columns(qtbot: Any, window: Window) -> None:
    window.go("columns")
    settle(qtbot, window)
    page = window.page("columns")
    page.accept.click()
    settle(qtbot, window)
    page._editor.cap.setText("1")
    page._editor.cap.editingFinished.emit()
    settle(qtbot, window)


def said(window: Window, step: str) -> str:
    part = window.page(step).part
    return "" if part.isHidden() else part.plain()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_dropped_folder_is_one_table(kind: str, window: Window, qtbot: Any, tmp_path: Path) -> None:
    folder = people_folder(tmp_path, kind)
    window.go("start")
    drop(window, folder)
    settle(qtbot, window)
    assert window.step == "load", window.notice.words()
    table = window.study.table
    assert table.n_rows == 600 and list(table.names) == HEADER.split(",")
    assert window.study.part is None and not said(window, "load")
    whole = looking.look(FileReference(str(tmp_path / "all.csv"))).table
    assert dict(table.storage) == dict(whole.storage)
    assert set(map(tuple, table.rows().astype(str).to_numpy())) == set(
        map(tuple, whole.rows().astype(str).to_numpy())
    )


def test_the_sample_follows_the_column_that_says_whose_a_row_is(
    window: Window, qtbot: Any, tmp_path: Path, small_memory: None
) -> None:
    window.open_file(str(people_folder(tmp_path)))
    settle(qtbot, window)
    before = window.study.table
    assert window.study.part.column == "patient_nbr"
    window.go("columns")
    page = window.page("columns")
    page.select("ward")
    settle(qtbot, window)
    schema = marking.with_roles(window.study.plan.schema, ["ward"], Role.PERSON_KEY)
    window.study.decide(schemas={MAIN: schema})
    settle(qtbot, window)
    assert window.study.part.column == "ward" and window.study.table is not before
    assert "“ward”" in said(window, "columns")


def test_a_folder_becomes_a_verified_bundle(
    window: Window, qtbot: Any, tmp_path: Path, small_memory: None
) -> None:
    """Every page with figures says that they are of a sample; the release is about its own, of all rows."""
    folder = people_folder(tmp_path)
    window.go("start")
    drop(window, folder)
    settle(qtbot, window)
    study = window.study
    part, rows = study.part, study.table.rows()
    assert part.rows == 600 and 100 < len(rows) < 350 and part.column == "patient_nbr"
    write(qtbot, window.page("load").sample, "50")
    assert study.plan.sample == Fraction(1, 2)
    decide_columns(qtbot, window)
    gender = replace(study.plan.schema.column("gender"), role=Role.IDENTIFYING, kind=Kind.CATEGORY)
    gender = replace(gender, domain=Domain(values=("Female", "Male")), domain_origin=Origin.DECLARED)
    study.decide(schemas={MAIN: study.plan.schema.with_column(gender)})
    window.go("risk")
    settle(qtbot, window)
    assert study.result("group_sizes").people == rows["patient_nbr"].nunique()
    fill_purpose(qtbot, window)
    assert study.plan.price.people is None  # how many a sample has says nothing of the table
    ways = {"method": "statistics.counts", "parameters": {"columns": ["gender"], "extra_cells": "left_out"}}
    study.decide(**ways, budget=Budget(Fraction(1)))
    shown = ("load", "columns", "risk", "purpose", "method")
    for step in shown:
        window.go(step)
        settle(qtbot, window)
        assert window.step == step, (step, window.step, window.notice.words())
        if step == "columns":  # a folder is read as a whole to draw the sample
            assert window.page(step).all_values.said.plain() == "The values of all rows are known."
        assert "From a sample of" in said(window, step) and "600 rows" in said(window, step)
    window.go("preview")
    settle(qtbot, window)
    page = window.page("preview")
    assert not said(window, "preview")  # there is no figure of a row on it
    assert "coded on this disk" in page.rows_words.plain() and "50 % of the" in page.rows_words.plain()
    study.decide(sample=None)
    window.go("preview")
    settle(qtbot, window)
    assert "sample" not in page.rows_words.plain()
    study.decide(sample=Fraction(1, 2))
    settle(qtbot, window)
    window.show()
    hands = Hands(qtbot, window)
    for _ in range(8):
        if study.result("bundle") is not None:
            break
        hands.click("next")
        if window.footer.asks:
            hands.click("commit")
        qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=120_000)
        settle(qtbot, window)
    outcome = study.result("bundle")
    assert outcome is not None and outcome.state == "complete", (window.step, window.notice.words())
    made = Path(outcome.bundle.folder)
    assert verify(made, ledger=Ledger(study.ledger_path)).passed
    read = json.loads((made / "internal" / "evidence.json").read_text())
    assert read["decided"]["sample"] == "1/2" and read["internal"]["input"]["rows"] == 600
    assert 120 < read["internal"]["input"]["people"] < 280


def test_a_table_that_is_all_there_says_nothing_of_a_sample(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "purpose")
    assert not said(window, "purpose") and window.study.plan.price.people == 40


def test_what_needs_all_rows_is_refused_on_the_preview_with_the_share_that_fits(
    window: Window, qtbot: Any, tmp_path: Path, small_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "is_answered", lambda design: False)
    monkeypatch.setattr(served, "most_memory", lambda: 10_000)
    window.open_file(str(people_folder(tmp_path)))
    settle(qtbot, window)
    decide_columns(qtbot, window)
    window.go("risk")
    settle(qtbot, window)
    fill_purpose(qtbot, window)
    plan = window.study.plan
    gender = replace(plan.schema.column("gender"), role=Role.IDENTIFYING, kind=Kind.CATEGORY)
    gender = replace(gender, domain=Domain(values=("Female", "Male")), domain_origin=Origin.DECLARED)
    ways = {"method": "statistics.counts", "parameters": {"columns": ["gender"], "extra_cells": "left_out"}}
    window.study.decide(**ways, budget=Budget(Fraction(1)), schemas={MAIN: plan.schema.with_column(gender)})
    refusals = []
    for share in (None, Fraction(1, 10)):
        window.study.decide(sample=share)
        ahead = look_ahead(window.study.plan_as_read, window.study.ledger_path)
        refusals.append([one.code for one in ahead.preview.problems])
    assert refusals == [["reading.needs_all_rows_or_sample"], []]
