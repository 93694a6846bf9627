"""Another language at once, everywhere, at the same place; and nothing English left on any page."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QDateEdit, QLabel, QLineEdit

from app import words
from app.frame.window import Window
from app.state import flow
from app.state.settings import Settings
from engine import texts
from engine.analyses.catalogue import analyses
from engine.methods.catalogue import methods
from tests.app.test_nothing_is_cut import _release as put_released
from tests.app.test_nothing_is_cut import walked
from tests.app.walking import said as heard
from tests.app.walking import sample_plan, settle
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


def test_days_are_written_in_a_language_that_was_chosen_later(qtbot, tmp_path):
    window = Window(settings=Settings(tmp_path), data=tmp_path)
    qtbot.addWidget(window)
    for code, month in (("de", "Dezember"), ("fr", "décembre"), ("en", "December")):
        window.use_language(code)
        days = window.page("purpose").findChildren(QDateEdit)
        assert {one.locale().monthName(12) for one in days} == {month}


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
