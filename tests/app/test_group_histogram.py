"""The bars of the group sizes are as high as their numbers say: looked at as drawn."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtGui import QImage

from app.screens.risk.cards import BOTTOM, TOP, GroupHistogram
from app.screens.risk.page import TryTable, picked_words
from app.theme import theme
from engine.risk.trying import Cause, Tried

BARS = (("1", 10), ("2", 40), ("3–4", 20), ("5–9", 0), ("10+", 5))


def heights(image: QImage, scale: float, bars: int) -> list[int]:
    """Return how many pixels of a bar's colour stand above the floor in the middle of each slot."""
    colours = {theme.tokens().colour(name).rgb() for name in ("care", "accent")}
    floor = round(image.height() - BOTTOM * scale)
    found = []
    for place in range(bars):
        x = round((place + 0.5) * image.width() / bars)
        found.append(sum(image.pixelColor(x, y).rgb() in colours for y in range(floor)))
    return found


@pytest.mark.parametrize("below", [0, 2])
def test_bars_are_as_high_as_their_numbers_say(qtbot: Any, below: int) -> None:
    histogram = GroupHistogram("People by group size")
    qtbot.addWidget(histogram)
    histogram.resize(400, 190)
    histogram.show_bars(BARS, below=below, said="")
    picture = histogram.grab()
    scale = picture.devicePixelRatio()
    found = heights(picture.toImage(), scale, len(BARS))
    room, top = (190 - TOP - BOTTOM) * scale, max(count for _, count in BARS)
    for height, (_, count) in zip(found, BARS, strict=True):
        assert abs(height - room * count / top) <= 2 * scale, (found, BARS)


def test_the_number_of_the_last_bar_has_room(qtbot: Any) -> None:
    histogram = GroupHistogram("People by group size")
    qtbot.addWidget(histogram)
    histogram.resize(190, 190)
    histogram.show_bars((*BARS, ("50+", 34_670)), below=2, said="", then=(0, 0, 0, 0, 0, 1_042_590))
    histogram.grab()
    assert histogram._written.left() > 0 and histogram._written.right() <= histogram.width()


@pytest.mark.parametrize(
    "average, said", [(1.0, "100 of 100"), (0.6, "60 of 100"), (0.04, "1 time in 25"), (0.0, "")]
)
def test_the_chance_to_be_picked_is_never_one_time_in_one(average: float, said: str) -> None:
    found = picked_words(average)
    assert said in found and "in 1," not in found and bool(found) == bool(said)


def test_a_button_stands_near_the_column_that_it_is_about_however_wide_the_window(qtbot: Any) -> None:
    table = TryTable()
    qtbot.addWidget(table)
    table.show_causes([Cause("age", (), Tried(3, 9))])
    for wide in (600, 1400):
        table.resize(wide, 80)
        table.layout().activate()
        assert table.left_out["age"].geometry().right() < 420, wide
