"""How a test walks: a small table with known people, and steps as a person takes them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QPlainTextEdit, QWidget

from app import words
from app.frame.window import Window
from app.parts.prose import Prose
from engine.methods.catalogue import method
from engine.release.examples import plans
from engine.release.plan import FileReference, Plan

SAMPLE = Path(__file__).parents[2] / "resources" / "sample"

# 60 rows of 40 people: the first 20 have two rows. Nobody of them exists.
HEADER = "patient_nbr,age,gender,ward,stay,diagnosis"


def write_people(path: Path, *, people: int = 40, delimiter: str = ",", decimal: str = ".") -> Path:
    """Write a table of invented people and return its path."""
    lines = [HEADER.replace(",", delimiter)]
    for row in range(people + people // 2):
        person = row % people
        band = f"[{10 * (person % 9)}-{10 * (person % 9) + 10})"
        cells = (
            str(500_000 + person * 7),
            band,
            "Female" if person % 2 else "Male",
            f"ward {person % 3}",
            f"{1 + person % 14}{decimal}5",
            "?" if person % 10 == 0 else f"E{10 + person % 5}",
        )
        lines.append(delimiter.join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def settle(qtbot: Any, window: Window, timeout: int = 20_000) -> None:
    """Wait until nothing runs any more."""
    qtbot.waitUntil(lambda: not window.runner.busy(), timeout=timeout)
    qtbot.wait(10)


def open_table(qtbot: Any, window: Window, path: Path) -> None:
    """Open a table and wait until it is read."""
    window.open_file(str(path))
    settle(qtbot, window)
    assert window.study.table is not None, window.notice.words()


def decide_columns(qtbot: Any, window: Window, *, rows_per_person: int = 1) -> None:
    """Accept every suggestion and decide the cap."""
    window.go("columns")
    settle(qtbot, window)
    page = window.page("columns")
    page.accept.click()
    settle(qtbot, window)
    editor = page._editor
    assert editor is not None
    editor.cap.setText(str(rows_per_person))
    editor.cap.editingFinished.emit()
    settle(qtbot, window)


def fill_purpose(qtbot: Any, window: Window) -> None:
    """Name the request and a new register with a budget."""
    window.go("purpose")
    settle(qtbot, window)
    page = window.page("purpose")
    for name, text in (("title", "Stays by age"), ("recipient", "University of Example")):
        page.fields[name].setText(text)
        page.fields[name].editingFinished.emit()
    page.name.setText("Diabetes register")
    page.name.editingFinished.emit()
    page.epsilon.setText("2")
    page.epsilon.editingFinished.emit()
    settle(qtbot, window)


def walk_to(qtbot: Any, window: Window, path: Path, step: str) -> None:
    """Walk to one of the first six steps, deciding everything before it."""
    if step == "start":
        return
    open_table(qtbot, window, path)
    if step == "load":
        return
    decide_columns(qtbot, window)
    if step == "columns":
        return
    window.go("risk")
    settle(qtbot, window)
    if step == "risk":
        return
    fill_purpose(qtbot, window)
    if step != "purpose":
        window.go(step)
        settle(qtbot, window)


def sample_plan(folder: Path) -> Plan:
    """Return the plan of the sample over a copy of its table."""
    table = folder / "diabetes_encounters.csv"
    if not table.exists():
        shutil.copy(SAMPLE / table.name, table)
    plan = Plan.read(SAMPLE / "plan.json")
    return replace(plan, files={"people": FileReference(str(table), plan.files["people"].options)})


def write(qtbot: Any, field: QLineEdit, text: str) -> None:
    """Type into a field and press Enter."""
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.wait(1)


def missing_texts(page: Any, numbers: list[QWidget]) -> list[str]:
    """Return the numbers without what they are, how they were computed and what would change them."""
    wanted = {words.say(f"app.window.three_{name}") for name in ("what", "how", "change")}
    missing = []
    for card in numbers:
        topic = page._topics.get(card)
        headings = set() if topic is None else {part.heading for part in page.explain(topic).parts}
        bodies = (
            []
            if topic is None
            else [part.body for part in page.explain(topic).parts if part.heading in wanted]
        )
        if not wanted <= headings or not all(bodies):
            missing.append(card.objectName() or type(card).__name__)
    return missing


def example_plan(method_id: str, folder: Path) -> Plan:
    """Return the first worked example of a method over copies of its tables."""
    found = plans(method(method_id))[0]
    files = {}
    for name, reference in found.files.items():
        source = SAMPLE.parent / "examples" / reference.path
        place = folder / source.name
        if not place.exists():
            shutil.copy(source, place)
        files[name] = FileReference(str(place), reference.options)
    return replace(found, files=files)


def said(window: Window) -> list[str]:
    """Return every text that the page in view shows or explains, and what is said of its parts aloud."""
    page = window.page(window.step)
    found = [page.title.text(), page.accessibleName(), window.footer.next.text()]
    for widget in page.widget().findChildren(QWidget):
        if not widget.isVisible() or any(one.objectName() == "ways" for one in above(widget)):
            continue
        if isinstance(widget, Prose):
            found.append(widget.plain())
        elif isinstance(widget, QLabel | QAbstractButton):
            found.append(widget.text())
        elif isinstance(widget, QPlainTextEdit):
            found.append(widget.toPlainText())
        found += [widget.accessibleName(), widget.accessibleDescription(), widget.toolTip()]
        topic = page._topics.get(widget)
        if topic is not None:
            found += explained(page, topic)
    return [text for text in (*found, *explained(page, "")) if text]


def above(widget: QWidget) -> list[QWidget]:
    """Return a widget and all that it lies in."""
    found: list[QWidget] = []
    now: QWidget | None = widget
    while now is not None:
        found.append(now)
        now = now.parentWidget()
    return found


def explained(page: Any, topic: str) -> list[str]:
    """Return what the right-hand side says about a topic."""
    explanation = page.explain(topic)
    return [explanation.title, *(text for part in explanation.parts for text in (part.heading, part.body))]
