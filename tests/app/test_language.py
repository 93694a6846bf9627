"""Another language at once, everywhere, at the same place; and nothing English left on any page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QAbstractButton, QComboBox, QDateEdit, QLabel, QLineEdit

from app import words
from app.frame.window import Window
from app.parts.form.domain_editor import DomainFields
from app.parts.language import use_language
from app.parts.table import DataTable
from app.parts.trial.solution import write_loss
from app.screens.method import said as sayings
from app.screens.purpose.purpose_form import DateField
from app.state import flow
from app.state.settings import Settings
from app.words.money import written_day
from engine import policy, texts
from engine.analyses.catalogue import analyses
from engine.methods.catalogue import methods
from engine.table.schema import Column, Domain, Kind
from tests.app.test_nothing_is_cut import _release as put_released
from tests.app.test_nothing_is_cut import walked
from tests.app.walking import open_table, sample_plan, settle
from tests.app.walking import said as heard
from tests.engine.languages import trial

WORD = re.compile(r"(?<![\w./])[A-Za-z]{3,}(?![\w/]|\.\w)")
FINGERPRINT = re.compile(r"(?<!\w)[0-9a-f]{4}(?: [0-9a-f]{4}){7,}(?!\w)")
"""In groups of four, one of which may be letters alone."""
OWN = {
    "Custos",
    "English",
    "Deutsch",
    "Français",
    "Trial",
    "Ctrl",
    "Alt",
    "Enter",
    "Shift",
    "Esc",
    "CSV",
    "GDPR",
}


@pytest.fixture
def spoken(tmp_path: Path):
    (tmp_path / "texts").mkdir()
    with trial.spoken(tmp_path / "texts") as code:
        yield code
    words.choose_language(texts.FALLBACK)


def said(window: Window) -> str:
    parts = [
        one.text()
        for kind in (QLabel, QAbstractButton)
        for one in window.findChildren(kind)
        if one.isVisible()
    ]
    parts += [one.placeholderText() for one in window.findChildren(QLineEdit) if one.isVisible()]
    parts += [one.currentText() for one in window.findChildren(QComboBox) if one.isVisible()]
    return re.sub(r"<[^>]+>", " ", "\n".join(parts))


def test_another_language_is_spoken_at_once_at_the_same_place(spoken, qtbot, tmp_path):
    window = Window(settings=Settings(tmp_path), data=tmp_path)
    qtbot.addWidget(window)
    window.resize(1366, 768)
    window.show()
    window.go("explore")
    before = said(window)
    assert WORD.search(before)
    window.use_language(spoken)
    assert window.step == "explore" and Settings(tmp_path).get("language") == spoken
    assert window.isVisible() and window.side.isVisible() and window.panel is not None
    assert not set(WORD.findall(said(window))) - OWN
    window.use_language("en")
    assert said(window) == before


def test_a_language_that_is_set_for_everybody_is_spoken_and_shown_as_locked(qtbot, tmp_path, monkeypatch):
    rules = tmp_path / "custos.toml"
    rules.write_text('language = "fr"\n')
    monkeypatch.setattr(policy, "place", lambda: rules)
    use_language("de")  # what somebody chose before
    try:
        assert words.language() == "fr"
        window = Window(settings=Settings(tmp_path), data=tmp_path)
        qtbot.addWidget(window)
        window.show()
        assert not window.side.language.isEnabled() and "informatique" in window.side.language.toolTip()
        assert "language" not in window.page("start").first.cards
        window.use_language("de")
        assert words.language() == "fr"
    finally:
        rules.unlink()
        use_language("en")


def test_days_and_numbers_are_written_in_the_language_that_is_chosen(make_window, qtbot, tmp_path):
    window = make_window()
    window.use_language("fr")
    try:
        (tmp_path / "people.csv").write_text("n;imc\n" + "".join(f"{row};2{row},5\n" for row in range(9)))
        open_table(qtbot, window, tmp_path / "people.csv")
        cells = window.page("load").findChild(DataTable).model()
        assert [cells.index(0, place).data() for place in (0, 1)] == ["0", "20,5"]
        day = window.page("purpose").findChild(QDateEdit, "purpose_expires")
        assert day.text() == QLocale("fr").toString(day.date(), "d MMMM yyyy")
        assert write_loss(SimpleNamespace(is_share=True), 0.4207) == "42,1\u00a0%"
    finally:
        window.use_language("en")


@pytest.mark.parametrize(
    ("language", "typed"), [("de", "31.01.2020"), ("fr", "31/01/2020"), ("en", "2020-01-31")]
)
def test_days_are_typed_and_shown_as_the_language_writes_them(qtbot, language, typed):
    words.choose_language(language)
    try:
        editor = DomainFields(Column("seen", kind=Kind.DATE), {})
        qtbot.addWidget(editor)
        assert editor.bounds["minimum"].placeholderText() == typed
        editor.bounds["minimum"].setText(typed)
        editor.bounds["maximum"].setText("2021-01-31")  # as files have it, in every language
        domain = editor.domain()
        assert domain == Domain("2020-01-31", "2021-01-31")
        editor.fill(domain)
        assert editor.bounds["minimum"].text() == typed
        QLocale.setDefault(QLocale(language))
        field = DateField("expires")
        qtbot.addWidget(field)
        field.show_day("2027-11-05")
        assert field.day.text() == written_day("2027-11-05", time=False)
    finally:
        QLocale.setDefault(QLocale(texts.FALLBACK))
        words.choose_language(texts.FALLBACK)


def test_no_noun_loses_its_capital_behind_a_colon():
    """German nouns keep it: of Rows leave, what is said behind *Does not fit* begins with one."""
    words.choose_language("de")
    try:
        begins = [
            sayings._small(words.say(f"app.method.ask.rows.against.{name}")) for name in ("none", "coarser")
        ]
        assert [one[:6] for one in begins] == ["Zeilen", "Zeilen"]
    finally:
        words.choose_language(texts.FALLBACK)


UNSIGNED = {
    "money.level",  # signed once it is whole
    "money.money",
    "people._write",  # a field to write in
}


def unsigned(tree: ast.Module) -> Iterator[str]:
    """Yield the functions that format a number with a point or commas and neither sign nor read it."""
    for function in [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]:
        signed = {
            inner
            for call in ast.walk(function)
            if isinstance(call, ast.Call)
            and getattr(call.func, "attr", getattr(call.func, "id", "")) in ("signed", "float", "exact")
            for inner in ast.walk(call)
        }
        for one in ast.walk(function):
            if isinstance(one, ast.FormattedValue) and one.format_spec is not None and one not in signed:
                form = ast.unparse(one.format_spec)
                if "," in form or ("." in form and ".0f" not in form):
                    yield function.name


def test_no_number_of_the_window_is_left_in_english_signs():
    """Whatever is formatted with a point or commas gets the signs of the language where it is made."""
    left = []
    for path in sorted((Path(__file__).parents[2] / "app").rglob("*.py")):
        for name in unsigned(ast.parse(path.read_text(encoding="utf-8"))):
            left.append(f"{path.stem}.{name}")
    assert sorted(set(left)) == sorted(UNSIGNED)


@pytest.mark.parametrize("step", [flow.START, *flow.BESIDE, "load", "sites"])
def test_pages_that_need_no_table_hold_nothing_english(spoken, qtbot, tmp_path, step):
    words.choose_language(spoken)
    window = Window(settings=Settings(tmp_path), data=tmp_path)
    qtbot.addWidget(window)
    window.resize(1366, 768)
    window.show()
    window.go(step)
    assert not set(WORD.findall(said(window))) - OWN


def test_the_way_to_a_release_holds_nothing_english(spoken, window, qtbot, tmp_path):
    words.choose_language(spoken)
    window.use_language("en")
    window.use_language(spoken)
    plan = sample_plan(tmp_path)
    cited = [str(asdict(one.published)) for one in (*methods(), *analyses())]
    own = [plan.dumps(), str(tmp_path), Path(plan.files["people"].path).read_text(), *cited]
    known = set(re.findall("[A-Za-z]{3,}", " ".join(own)))
    window.study.open_plan(plan)
    found: dict[str, set[str]] = {}
    for step in (*flow.path(window.study.state), *flow.BESIDE):
        if step == "release":
            put_released(window, tmp_path)
        window.go(step)
        settle(qtbot, window, timeout=60_000)
        assert window.step == step, window.notice.words()
        text = FINGERPRINT.sub(" ", re.sub(r"<[^>]+>|&\w+;", " ", "\n".join(heard(window))))
        found[step] = set(WORD.findall(text)) - known - OWN
    assert not {step: few for step, few in found.items() if few}


@pytest.mark.slow
@pytest.mark.parametrize("language", [one for one in texts.languages() if one != texts.FALLBACK])
def test_nothing_is_cut_in_another_language(language, window, qtbot, tmp_path):
    window.use_language(language)
    plan = replace(sample_plan(tmp_path), parameters={"columns": ["gender"], "extra_cells": "left_out"})
    found = walked(window, qtbot, plan, tmp_path)
    words.choose_language(texts.FALLBACK)
    assert not found, "\n".join(found)


def test_no_name_and_value_are_joined_by_a_colon_in_code():
    """French has a space before it: `words.pair` says both."""
    joined = []
    for path in sorted((Path(__file__).parents[2] / "app").rglob("*.py")):
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            parts = one.values if isinstance(one, ast.JoinedStr) else ()
            if any(isinstance(part, ast.Constant) and str(part.value).startswith(": ") for part in parts):
                joined.append(f"{path.name}:{one.lineno}")
    assert joined == []
    words.choose_language("fr")
    try:
        assert words.pair("Codage", "utf-8") == "Codage\u00a0: utf-8"
    finally:
        words.choose_language(texts.FALLBACK)
