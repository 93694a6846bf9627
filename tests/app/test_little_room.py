"""What a screen of 1366 × 768 leaves at 150 %: ways are in view, no card overhangs, words stay together."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint

from app.frame.window import Window
from app.parts.cards import Card, NumberCard
from app.parts.figures import Figures
from app.parts.prose import Heading
from app.screens.method.things import ThingCard
from app.screens.method.ways import WayRow
from app.theme import mono_font, theme
from engine.methods.kinds import Held
from engine.pricing.price import Price
from engine.release.plan import FileReference, Plan
from tests.app.walking import settle


@pytest.mark.parametrize("width", [1366, 1024, 911, 860, 760])
@pytest.mark.parametrize("price", [None, Price()], ids=["said", "not said"])
def test_no_card_of_budget_overhangs(
    at: Any, window: Window, qtbot: Any, width: int, price: Price | None
) -> None:
    window.resize(width, 512)
    page = at("budget", **({} if price is None else {"price": price}))
    qtbot.wait(50)
    room = page.viewport().width()
    assert page.widget().width() == room, "nothing to scroll sideways to"
    cards = [one for one in page.widget().findChildren(Card) if one.isVisible()]
    assert len(cards) > 4
    right = max(one.mapTo(page.widget(), QPoint(one.width(), 0)).x() for one in cards)
    left = min(one.mapTo(page.widget(), QPoint(0, 0)).x() for one in cards)
    assert room - right >= left - page.verticalScrollBar().sizeHint().width(), (left, right, room)


def test_things_and_ways_are_in_view_and_nothing_overhangs(at: Any, window: Window, qtbot: Any) -> None:
    window.resize(911, 512)
    page = at("method", method="", parameters={}, budget=None)
    settle(qtbot, window)

    def in_view(kind: type) -> int:
        page.verticalScrollBar().setValue(0)
        qtbot.wait(50)
        assert page.horizontalScrollBar().maximum() == 0 and page.widget().width() == page.viewport().width()
        parts = [one for one in page.findChildren(kind) if one.isVisible()]
        high = page.viewport().height()
        return sum(0 <= one.mapTo(page.viewport(), QPoint(0, one.height() - 1)).y() < high for one in parts)

    assert in_view(ThingCard) >= 3
    page.things.cards[Held.INVENTED].others.click()
    settle(qtbot, window)
    assert in_view(WayRow) >= 2


def test_while_a_file_is_read_title_words_and_bar_stand_together(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    window.study.open_plan(Plan(files={"people": FileReference(str(tmp_path / "gone.csv"))}))
    page = window.page("load")
    page.opened = lambda: None
    window.go("load")
    page.busy.begin("Reading", lambda: None)
    page.busy.show()
    qtbot.wait(50)
    parts = (page.title, page.subtitle, page.busy)
    ends = [(one.y(), one.y() + one.height()) for one in parts]
    assert ends[0][0] <= 32
    for above, below in pairwise(ends):
        assert 0 <= below[0] - above[1] <= 24, ends
    assert page.busy.height() <= page.busy.sizeHint().height() + 4


def test_steps_are_one_line_whose_menu_opens_what_the_column_does(
    at: Any, window: Window, qtbot: Any
) -> None:
    window.resize(911, 512)
    page = at("method", method="", parameters={}, budget=None)
    settle(qtbot, window)
    line = window.side.line
    assert line.isVisible() and not window.side.tall.isVisible()
    assert page.viewport().width() > 880, "the page has the whole width"
    assert "5" in line.open.text() and line.marks.at == 5
    actions = [one for one in line.menu.actions() if not one.isSeparator()]
    columns = next(one for one in actions if "Columns" in one.text())
    later = next(one for one in actions if "Report" in one.text())
    assert columns.isEnabled() and not later.isEnabled()
    look = next(one for one in actions if one.text() == window.side.look.text())
    look.trigger()
    line.menu.aboutToShow.emit()
    assert look.text() == window.side.look.text(), "the look that is chosen by now"
    columns.trigger()
    settle(qtbot, window)
    assert window.step == "columns"
    window.resize(1366, 768)
    qtbot.wait(30)
    assert window.side.tall.isVisible() and not line.isVisible()


def test_a_figure_of_words_is_set_as_words_however_it_is_put_in_place(qtbot: Any) -> None:
    """Styled again when it is put into its row, it had the size of a number again."""
    figures, card = Figures(), NumberCard("Identifying")
    qtbot.addWidget(figures)
    card.show_number("ward, year of birth, admission, discharge", "The columns.")
    figures.add(card)
    figures.show()
    theme.choose("dark")
    theme.choose("light")
    assert card.number.font().pixelSize() == Heading.SIZES["side"][0]
    card.heading.setFont(mono_font(16))
    card.setProperty("card", "true")
    for look in ("dark", "light"):
        theme.choose(look)
        face = card.heading.font()
        assert (face.family(), face.pixelSize()) == (mono_font().family(), 16), "what others set stays"
