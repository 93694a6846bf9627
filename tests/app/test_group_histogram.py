"""The bars of the group sizes are as high as their numbers say: looked at as drawn."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtGui import QImage

from app.screens.risk.cards import BOTTOM, TOP, GroupHistogram
from app.theme import theme

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
    histogram.show_bars(BARS, below=below, words="")
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
    histogram.show_bars((*BARS, ("50+", 34_670)), below=2, words="", then=(0, 0, 0, 0, 0, 1_042_590))
    histogram.grab()
    assert histogram._written.left() > 0 and histogram._written.right() <= histogram.width()
