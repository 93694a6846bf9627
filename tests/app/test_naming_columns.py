"""A column that names people stands in red wherever it could leave, until a reason is given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from app import words
from app.frame.window import Window
from app.screens.preview.asks import look_ahead
from engine.methods.protocol import MAIN
from engine.release.decisions import decision_about
from engine.table.schema import Role
from tests.app.walking import open_table, settle, write_people

NAME = "case_no"


def with_case_numbers(path: Path) -> Path:
    lines = write_people(path).read_text(encoding="utf-8").splitlines()
    rows = [f"{line},F{place * 7919 % 100_003:06d}" for place, line in enumerate(lines[1:])]
    path.write_text("\n".join([f"{lines[0]},{NAME}", *rows]) + "\n", encoding="utf-8")
    return path


def marked(window: Window, role: Role) -> None:
    schema = window.study.plan.schema
    columns = tuple(replace(one, role=role) if one.name == NAME else one for one in schema.columns)
    window.study.decide(schemas={MAIN: replace(schema, columns=columns)})


def test_it_is_red_on_columns_and_method_and_preview_asks_why(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    open_table(qtbot, window, with_case_numbers(tmp_path / "people.csv"))
    window.go("columns")
    settle(qtbot, window)
    page = window.page("columns")
    page.every.click()
    page.select(NAME)
    editor, warning = page._editor, words.say("app.columns.why.names_people")
    assert window.study.plan.schema.column(NAME).role is Role.DIRECT_IDENTIFIER
    assert warning not in editor.why.said() and editor.why.property("tone") == "quiet"
    editor.role_chosen.emit(Role.OTHER)
    QApplication.processEvents()
    assert warning in editor.why.said() and editor.why.property("tone") == "wrong"
    window.study.decide(method="datasets.pseudonyms", parameters={"columns": ["age", NAME]})
    page = window.page("method")
    page.choosing = False
    page.enter()
    assert not page.naming.isHidden() and NAME in page.naming.said() and "age" not in page.naming.said()
    asked = look_ahead(window.study.plan, None, (), window.study.table).named
    assert asked == {decision_about(NAME): {"column": NAME, "why": "recognised"}}
    preview = window.page("preview")
    preview.reasons.show_decisions(asked, {}, "EUR")
    assert preview.reasons.missing() is preview.reasons.fields[decision_about(NAME)]
    preview._give_reason(decision_about(NAME), "asked for")
    entry = {"decision": "names_people", "column": NAME, "reason": "asked for"}
    assert entry in window.study.plan.decisions
    marked(window, Role.DIRECT_IDENTIFIER)
    window.study.decide(parameters={"columns": ["age"]})
    page.enter()
    assert page.naming.isHidden()


def test_it_is_red_on_terms_too(window: Window, qtbot: Any, tmp_path: Path) -> None:
    open_table(qtbot, window, with_case_numbers(tmp_path / "people.csv"))
    marked(window, Role.SENSITIVE)
    window.study.decide(method="datasets.k_anonymity", parameters={"columns": ["age", NAME]})
    page = window.page("terms")
    page.enter()
    assert not page.naming.isHidden() and NAME in page.naming.said() and "age" not in page.naming.said()
    assert page.naming.property("tone") == "wrong"
    window.study.decide_parameters(columns=["age"])
    page.enter()
    assert page.naming.isHidden()
