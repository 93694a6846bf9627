"""Headings of tables are drawn whole where a table gives them the room that they need.

What is compared is what Qt draws: it cuts by other letters than it draws, so that a width that is reckoned
from the letters of the style sheet cuts a heading that would fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QTableView

from app import words
from app.parts.table import DataTable
from app.screens.releases.page import COLUMNS, NARROW, SPENT_COLUMN, ReleasesTable
from app.theme import theme
from engine import texts

WIDE = 700  # pixels at which no heading is cut
FRAMES = ("time_in_hospital", "Margin (95 of 100)", "Agreement", "admission_type_id", "WWWWMMMM", "ε")


def drawn_across(table: QTableView, column: int) -> int:
    """Return how many pixels of its section the letters of a heading take, from the first to the last."""
    header = table.horizontalHeader()
    image = header.viewport().grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    left, ratio = header.sectionViewportPosition(column), image.devicePixelRatio()
    ends = (left + 1) * ratio, (left + header.sectionSize(column) - 1) * ratio
    part = pixels[4:-4, round(ends[0]) : round(ends[1])].astype(int)
    inked = np.flatnonzero((abs(part - part[0, 0]) > 30).any(axis=0))
    return int(inked[-1] - inked[0] + 1) if len(inked) else 0


def cut_headings(table: QTableView, headings: tuple[str, ...], qtbot: Any) -> list[str]:
    """Return the headings that are drawn otherwise where they have all the room that there can be."""
    header = table.horizontalHeader()
    as_is = [drawn_across(table, column) for column in range(len(headings))]
    found = []
    for column, heading in enumerate(headings):
        size = header.sectionSize(column)
        header.resizeSection(column, WIDE)
        qtbot.wait(1)
        header.setOffset(max(header.sectionPosition(column) - 4, 0))
        if abs(drawn_across(table, column) - as_is[column]) > 1:
            found.append(f"{heading} at {size}")
        header.setOffset(0)
        header.resizeSection(column, size)
    return found


@pytest.fixture
def styled(qtbot: Any) -> Any:
    theme.choose("light")
    yield qtbot
    words.choose_language(texts.FALLBACK)


def show(table: DataTable, qtbot: Any, width: int) -> None:
    table.resize(width, 160)
    qtbot.addWidget(table)
    table.show()
    qtbot.waitExposed(table)
    qtbot.wait(5)


def test_a_heading_that_is_cut_is_found(styled: Any) -> None:
    table = DataTable("Rows")
    table.show_rows(FRAMES, [["1"] * len(FRAMES)])
    show(table, styled, 1200)
    table.horizontalHeader().resizeSection(1, 90)
    assert cut_headings(table, FRAMES, styled) == [f"{FRAMES[1]} at 90"]


def test_headings_are_whole_where_columns_are_as_wide_as_they_need(styled: Any) -> None:
    table = DataTable("Rows")
    table.show_rows(FRAMES, [["1"] * len(FRAMES)], numeric={1, 2})
    show(table, styled, 1200)
    assert cut_headings(table, FRAMES, styled) == []


@pytest.mark.parametrize("language", texts.languages())
def test_headings_of_the_releases_are_whole(styled: Any, language: str) -> None:
    words.choose_language(language)
    headings = tuple(words.say(f"app.releases.column.{name}") for name in COLUMNS)
    row = [
        "Readmission by age",
        "University of Sample",
        "Agreement 12/2026",
        "31.12.2027",
        "0.50",
        "released",
    ]
    table = ReleasesTable("Releases")
    narrow = {COLUMNS.index(name): limit for name, limit in NARROW.items()}
    table.show_releases(headings, [row], numeric=frozenset({SPENT_COLUMN}), narrow=narrow)
    show(table, styled, 834)
    assert cut_headings(table, headings, styled) == []
