"""The custodian's word for who is protected is the word of every screen and of every file that is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QWidget

from app import words
from app.frame.window import Window
from engine import texts
from engine.ledger import Ledger
from engine.methods.catalogue import methods
from engine.pricing.anchors import read_anchors
from engine.protected import Protected
from engine.release.plan import Plan, Purpose
from engine.release.run import run
from engine.release.verify import verify
from tests.app.hands import Hands
from tests.app.test_three_tables import counted_columns, money, purpose
from tests.app.walking import example_plan, explained, said, settle

OTHERS = re.compile(r"\b(persons?|people|patients?)\b(?!\.csv)", re.IGNORECASE)  # a file may be called so
LISTS_THE_WORDS = ("unit_word",)


def households(folder: Path) -> Path:
    """Write 300 rows of 200 invented households."""
    lines = ["hh_id,region,tenure,income"]
    for row in range(300):
        one = row % 200
        region, tenure = ("north", "south", "east")[one % 3], ("owns", "rents")[one % 7 > 2]
        lines.append(f"H{one:04d},{region},{tenure},{20_000 + 137 * one}")
    path = folder / "households.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def about_households(method_id: str, folder: Path) -> Plan:
    """Return the example of a method, about households and without a word of its author."""
    plan = example_plan(method_id, folder)
    plan = replace(plan, purpose=Purpose(title="A", recipient="B", agreement="D"), holding="C")
    return plan.with_schema(replace(plan.schema, protected="household"))


def other_words(found: list[str]) -> list[str]:
    """Return the texts that call those who are protected by another word.

    Those who answer a survey, those of whom a court spoke, and who works with a register, are called so.
    """
    prefixes = (
        *("methods.exchanges.survey", "promises.local_dp", "analyses.price.anchors"),
        *("app.releases.help.people", "app.staff."),
    )
    of_others = [text for name, text in texts.catalogue().items() if name.startswith(prefixes)]
    courts = [anchor.case for anchor in read_anchors().anchors]
    return sorted(
        {
            text
            for text in found
            if OTHERS.search(text)
            and not any(text in one for one in of_others)
            and not any(one in text for one in courts)
        }
    )


def all_texts(window: Window) -> list[str]:
    """Return what the page in view says, explains and offers, and what the frame around it says."""
    page = window.page(window.step)
    found = said(window)
    for topic in set(page._topics.values()):
        found += explained(page, topic)
    for field in page.findChildren(QComboBox):
        if field.objectName() not in LISTS_THE_WORDS:
            found += [field.itemText(at) for at in range(field.count())]
    for line in page.findChildren(QLineEdit):
        found.append(line.placeholderText())
    for frame in (window.side, window.footer, window.money, window.notice):
        for part in frame.findChildren(QWidget):
            found += [part.text()] if isinstance(part, QLabel) else []
            found += [part.toolTip(), part.accessibleName()]
    return [text for text in found if text]


def test_a_walk_about_households_speaks_of_households(
    make_window: Callable[[], Window], qtbot: Any, tmp_path: Path
) -> None:
    window = make_window()
    window.resize(1366, 768)
    window.study.ledger_path = tmp_path / "ledger.sqlite"
    hands = Hands(qtbot, window)
    wrong: dict[str, list[str]] = {}

    def read() -> None:
        settle(qtbot, window)
        wrong.setdefault(window.step, []).extend(other_words(all_texts(window)))

    window.open_file(str(households(tmp_path)))
    settle(qtbot, window)
    hands.next("columns")
    page = window.page("columns")
    for name in window.study.table.names:
        page.select(name)
    hands.click("accept")
    page.unit.card.word.setCurrentText("household")
    page.unit.card.word.lineEdit().editingFinished.emit()
    settle(qtbot, window)
    assert page.unit.card.many.text() == "households"
    page.unit.choose_key("hh_id")
    page.unit.choose_cap(1)
    settle(qtbot, window)
    read()
    for step in ("load", "columns", "risk", "purpose"):
        window.go(step)
        read()
    purpose(hands, budget="20")
    read()
    counted_columns(
        hands, ("region", "tenure"), {"region": ("north", "south", "east"), "tenure": ("owns", "rents")}
    )
    read()
    money(hands)
    read()
    hands.next("preview")
    read()
    hands.click(window.footer.findChild(QWidget, "next"))
    if window.footer.asks:  # more than a quarter of what is left
        read()
        hands.click("commit")
    qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=120_000)
    settle(qtbot, window)
    for step in ("release", "report", "releases"):
        window.go(step)
        read()
    assert not {step: found for step, found in wrong.items() if found}
    found = window.study.result("bundle")
    assert found is not None and found.state == "complete"
    assert_files_say(Path(found.bundle.folder), tmp_path / "ledger.sqlite")


@pytest.mark.parametrize("method_id", [one.id for one in methods() if one.id != "exchanges.survey"])
def test_forms_budget_and_preview_of_every_method_speak_of_households(
    method_id: str, make_window: Callable[[], Window], qtbot: Any, tmp_path: Path
) -> None:
    window = make_window()
    window.resize(1366, 768)
    window.study.ledger_path = tmp_path / "ledger.sqlite"
    window.study.open_plan(about_households(method_id, tmp_path))
    window.go("load")
    settle(qtbot, window)
    wrong = {}
    for step in ("method", "tables", "budget", "terms", "preview"):
        window.go(step)
        settle(qtbot, window)
        wrong[window.step] = other_words(all_texts(window))
    assert not {step: found for step, found in wrong.items() if found}
    assert len(wrong) > 2


@pytest.mark.slow
@pytest.mark.parametrize("method_id", [one.id for one in methods() if one.id != "exchanges.survey"])
def test_reports_of_every_method_speak_of_households(method_id: str, tmp_path: Path) -> None:
    plan = about_households(method_id, tmp_path)
    made = run(
        plan, out=tmp_path / "out", ledger=Ledger(tmp_path / "ledger.sqlite"), passphrase="long enough it is"
    )
    assert_files_say(Path(made.folder), tmp_path / "ledger.sqlite")


def test_another_word_for_several_is_kept_and_undone(
    make_window: Callable[[], Window], qtbot: Any, tmp_path: Path
) -> None:
    window = make_window()
    window.open_file(str(households(tmp_path)))
    settle(qtbot, window)
    window.go("columns")
    settle(qtbot, window)
    card = window.page("columns").unit.card
    for field, word in ((card.word.lineEdit(), "foyer fiscal"), (card.many, "foyers fiscaux")):
        field.setText(word)
        field.editingFinished.emit()
        settle(qtbot, window)
    assert window.study.plan.schema.words == Protected("foyer fiscal", "foyers fiscaux")
    card.word.lineEdit().setText("family")
    card.word.lineEdit().editingFinished.emit()
    assert window.study.plan.schema.words.several == "families"
    window.undoing.undo()
    assert window.study.plan.schema.words.several == "foyers fiscaux"


@pytest.mark.parametrize(
    ("code", "one", "many"), [("de", "Person", "Personen"), ("fr", "personne", "personnes")]
)
def test_whoever_nobody_named_is_called_as_in_the_language_of_the_window(
    code: str, one: str, many: str, make_window: Callable[[], Window], qtbot: Any, tmp_path: Path
) -> None:
    window = make_window()
    window.use_language(code)
    try:
        window.open_file(str(households(tmp_path)))
        settle(qtbot, window)
        window.go("columns")
        settle(qtbot, window)
        card = window.page("columns").unit.card
        assert (card.word.currentText(), card.many.text()) == (one, many)
        for field in (card.word.lineEdit(), card.many):
            assert field.fontMetrics().horizontalAdvance(field.text()) + 24 <= field.width(), field.text()
            field.editingFinished.emit()
        settle(qtbot, window)
        assert window.study.plan.schema.words == Protected(), "to pass by names nobody"
        card.word.lineEdit().setText("Haushalt")
        card.word.lineEdit().editingFinished.emit()
        assert window.study.plan.schema.words.one == "Haushalt"
    finally:
        words.choose_language("en")


def assert_files_say(out: Path, ledger: Path) -> None:
    """Read every file of both folders that has words."""
    wrong = {}
    for name in ("README.txt", "report-external.html", "data-dictionary.json", "report-internal.html"):
        for file in out.rglob(name):
            text = re.sub(
                r"\s+", " ", re.sub(r"<style.*?</style>|<[^>]+>", " ", file.read_text("utf-8"), flags=re.S)
            )
            wrong[name] = [text[max(0, one.start() - 60) : one.end() + 60] for one in OTHERS.finditer(text)]
    assert not {name: found for name, found in wrong.items() if found}
    assert verify(out, ledger=Ledger(ledger)).passed


def test_a_long_word_leaves_the_columns_page_inside_its_window(
    make_window: Callable[[], Window], qtbot: Any, tmp_path: Path
) -> None:
    """At 1280 dots the figures by cap go below the question; they came to stand outside the window."""
    window = make_window()
    window.resize(1280, 720)
    window.open_file(str(households(tmp_path)))
    settle(qtbot, window)
    window.go("columns")
    settle(qtbot, window)
    page = window.page("columns")
    for word in ("person", "beneficiary of a housing allowance (all)"):
        page.unit.choose_word(word)
        settle(qtbot, window)
        assert page.widget().minimumSizeHint().width() <= page.viewport().width(), word
