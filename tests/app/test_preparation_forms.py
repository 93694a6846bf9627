"""Every kind of preparation step has its form and its words, from its declaration alone."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QComboBox, QPlainTextEdit

from app import words
from app.screens.load.preparation import StepForm, step_words, text_of
from engine.table.preparation.declarations import STEPS, Holds
from engine.table.preparation.steps import check
from engine.table.schema import Schema

WRITTEN = {
    Holds.HEADING: "number",
    Holds.NAME: "made",
    Holds.FILE: "list.csv",
    Holds.DAY: "2020-12-31",
    Holds.NUMBER: "4",
    Holds.END: "4",
    Holds.CELLS: "a",
    Holds.EDGES: "0, 5",
    Holds.MAP: "1 = emergency",
}


def fill(form: StepForm, name: str, written: str) -> None:
    field = form.fields[name]
    if isinstance(field, QComboBox):
        field.setCurrentText(written)
    elif isinstance(field, QPlainTextEdit):
        field.setPlainText(written)
    else:
        field.setText(written)


@pytest.mark.parametrize("kind", STEPS)
def test_every_member_is_asked_for_in_words(kind: str, qtbot: Any) -> None:
    form = StepForm(kind, ("age", "sex"))
    qtbot.addWidget(form)
    assert words.has(f"app.preparation.{kind}.button")
    asked = [member for member in STEPS[kind] if member.shown]
    assert list(form.fields) == [member.name for member in asked]
    for member in asked:
        assert words.has(text_of("field", kind, member.name))
        assert form.fields[member.name].accessibleName()
        assert all(words.has(f"app.preparation.choice.{member.name}.{one}") for one in member.choices)


@pytest.mark.parametrize("kind", STEPS)
def test_a_form_that_is_filled_in_makes_a_step_that_passes_the_check(kind: str, qtbot: Any) -> None:
    form = StepForm(kind, ("age", "sex"))
    qtbot.addWidget(form)
    alternatives = {member.instead for member in STEPS[kind]}
    for member in STEPS[kind]:
        if member.holds in WRITTEN and member.shown and member.name not in {*alternatives, "maximum"}:
            fill(form, member.name, WRITTEN[member.holds])
    (choice,) = [member for member in STEPS[kind] if member.holds is Holds.CHOICE] or [None]
    for name in choice.choices if choice else ("",):
        if choice:
            field = form.fields[choice.name]
            field.setCurrentIndex(field.findData(name))
        if name == "between":
            fill(form, "maximum", "9")
        step = form.step()
        check([step], Schema())
        assert step_words(step)
        shown = {member.name for member in STEPS[kind] if member.shown and member.applies(step)}
        assert {each for each, field in form.fields.items() if not field.isHidden()} == shown


def test_what_stands_in_a_file_takes_the_place_of_a_list_of_values(qtbot: Any) -> None:
    form = StepForm("recode", ("age", "sex"))
    qtbot.addWidget(form)
    fill(form, "column", "sex")
    fill(form, "file", "/somewhere/codes.csv")
    step = form.step()
    assert step["file"] == "/somewhere/codes.csv" and step["to"] == "sex_recoded" and "map" not in step
    check([step], Schema())
    assert "codes.csv" in step_words(step) and "somewhere" not in step_words(step)


def test_an_age_is_asked_at_a_day_or_at_a_column_and_never_at_both(qtbot: Any) -> None:
    form = StepForm("age_at", ("born", "seen"))
    qtbot.addWidget(form)
    made: list[dict[str, Any]] = []
    form.made.connect(made.append)
    fill(form, "column", "born")
    fill(form, "date_column", "seen")
    form._make()
    assert made == [{"step": "age_at", "column": "born", "date_column": "seen", "to": "age"}]
    fill(form, "date", "2020-12-31")
    form._make()
    assert len(made) == 1 and not form.wrong.isHidden()
