"""Every kind of view on screen: drawn, named, spoken, with its numbers as a table."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QColor, QFontMetrics
from PySide6.QtWidgets import QTableView

from app import theme as themes
from app import words
from app.parts.cards import NumberCard
from app.parts.exact_field import ExactField
from app.parts.figures import Figures
from app.parts.prose import Heading
from app.parts.table import LinesDelegate
from app.parts.views import ViewCard, explain, make_view
from app.parts.views.figure import FigureView
from app.parts.views.table import TableBody
from app.screens.releases.page import Bar, BarList
from app.theme import text_font, theme
from app.work.jobs import JobRunner
from engine.views import (
    HIDDEN,
    KINDS,
    BarsView,
    CurveView,
    GraphView,
    HeatmapView,
    IntervalsView,
    Mark,
    MatrixView,
    NumberView,
    ScatterView,
    Series,
    TableView,
    Text,
    TextView,
    as_table,
)

LINE = Series("price", (0.1, 0.5, 1.0), (1.0, 4.0, 9.0), "accent")
OTHER = Series("at risk", (0.1, 0.5, 1.0), (2.0, 3.0, 9.0), "dashed")
COUNT = Text("methods.statistics.counts.numbers.count.label")
WITHIN = Text("methods.statistics.counts.numbers.within_95.label")
EXAMPLES = (
    NumberView("People", 4259, Text("methods.statistics.counts.numbers.count"), "people"),
    TableView("Counts", ("sex", COUNT, WITHIN), (("women", 2310, 6), ("men", None, 6))),
    BarsView("Counts", ("women", "men"), (2310.0, 1949.0), COUNT, (2304.0, 1943.0), (2316.0, 1955.0)),
    IntervalsView("Errors", ("five", "twenty"), (5.0, 20.0), (-1.0, 14.0), (11.0, 26.0), "people"),
    CurveView("Cost", "ε", "money", (LINE, OTHER), (Mark(0.5, 4.0, "chosen"),), (0.3, 0.6), "window"),
    ScatterView("Cloud", "x", "y", (LINE, OTHER)),
    HeatmapView("Grid", ("a", "b"), ("c", "d"), ((1.0, None), (3.0, 4.0))),
    MatrixView("Square", ("a", "b"), ((1.0, 0.5), (0.5, 1.0))),
    GraphView("Net", ("a", "b", "c"), ((0, 1, 1.0), (1, 2, 0.5))),
    TextView("Words", (Text("views.value"), Text("views.low"))),
)


def test_there_is_an_example_of_every_kind() -> None:
    assert {type(view) for view in EXAMPLES} == set(KINDS)


@pytest.mark.parametrize("view", EXAMPLES, ids=lambda view: view.kind)
@pytest.mark.parametrize("look", ["light", "dark"])
def test_every_kind_is_drawn_on_screen(qtbot: Any, runner: JobRunner, view: Any, look: str) -> None:
    theme.choose(look)
    card = ViewCard(view, runner)
    qtbot.addWidget(card)
    card.resize(640, 420)
    card.show()
    if isinstance(card.content, FigureView):
        qtbot.waitUntil(lambda: bool(card.content.canvas.pieces), timeout=20_000)
        qtbot.waitUntil(lambda: not runner.busy(), timeout=20_000)
    shot = card.grab().toImage()
    colours = {
        shot.pixelColor(x, y).rgb() for x in range(0, shot.width(), 3) for y in range(0, shot.height(), 3)
    }
    assert len(colours) > 8, "nothing but the background was painted"
    background = theme.tokens().colour("surface").rgb()
    assert background in colours
    theme.choose("light")


@pytest.mark.parametrize("view", EXAMPLES, ids=lambda view: view.kind)
def test_drawings_are_spoken_and_have_their_numbers_as_a_table(
    qtbot: Any, runner: JobRunner, view: Any
) -> None:
    widget = make_view(view, runner)
    qtbot.addWidget(widget)
    widget.resize(500, 300)
    widget.show()
    if not isinstance(widget, FigureView):
        return
    qtbot.waitUntil(lambda: bool(widget.canvas.pieces), timeout=20_000)
    spoken = QAccessible.queryAccessibleInterface(widget.canvas)
    assert spoken.text(QAccessible.Text.Name) == words.label(view.title)
    assert len(spoken.text(QAccessible.Text.Description)) > 20
    widget.switch.click()
    table = widget.findChild(QTableView)
    assert table.isVisible() and not widget.canvas.isVisible()
    wanted = as_table(view)
    assert table.model().rowCount() == len(wanted.rows)
    assert table.model().columnCount() == len(wanted.headings)


def test_a_drawing_is_drawn_again_when_theme_or_width_change(qtbot: Any, runner: JobRunner) -> None:
    widget = make_view(EXAMPLES[2], runner)
    qtbot.addWidget(widget)
    widget.resize(500, 300)
    widget.show()
    qtbot.waitUntil(lambda: bool(widget.canvas.pieces), timeout=20_000)
    (drawn, across, _) = widget.canvas.pieces[0]
    first = widget.canvas.grab().toImage()
    theme.choose("dark")
    qtbot.waitUntil(lambda: widget.canvas.pieces[0][0] is not drawn, timeout=20_000)
    dark = widget.canvas.grab().toImage()
    accents = tuple(QColor(tokens.accent).rgb() for tokens in (themes.LIGHT, themes.DARK))
    assert _has(first, accents[0]) and not _has(first, accents[1])
    assert _has(dark, accents[1])
    theme.choose("light")
    widget.resize(700, 300)
    qtbot.waitUntil(lambda: widget.canvas.pieces[0][1] > across + 100, timeout=20_000)


def _has(image: Any, colour: int) -> bool:
    return any(image.pixel(x, y) == colour for x in range(image.width()) for y in range(image.height()))


def test_numbers_of_a_view_have_their_three_texts() -> None:
    for view in EXAMPLES[:3]:
        shown = explain(view)
        assert shown is not None
        headings = [part.heading for part in shown.parts]
        for name in ("what", "how", "change"):
            assert words.say(f"app.window.three_{name}") in headings
    table = explain(EXAMPLES[1])
    assert table is not None
    assert words.label(WITHIN) in [part.heading for part in table.parts]
    assert explain(EXAMPLES[-1]) is None


def test_a_missing_number_is_a_dash(qtbot: Any, runner: JobRunner) -> None:
    widget = make_view(EXAMPLES[1], runner)
    qtbot.addWidget(widget)
    model = widget.findChild(QTableView).model()
    assert [model.index(row, 1).data() for row in (0, 1)] == ["2,310", "–"]


def test_a_long_text_in_a_table_goes_on_in_a_second_line(qtbot: Any, runner: JobRunner) -> None:
    long = (
        "A1Cresult guessed from all other columns of somebody whose row is known, and by who knows none of it"
    )
    widget = make_view(TableView("Attacks", ("attack", "share"), ((long, 0.8), ("by name", 0.1))), runner)
    qtbot.addWidget(widget)
    table = widget.findChild(QTableView)
    across = table.columnWidth(0) - 2 * LinesDelegate.padding
    lines = table.rowHeight(0) // QFontMetrics(text_font()).height()
    assert QFontMetrics(text_font()).horizontalAdvance(long) > across and lines >= 2
    assert table.itemDelegate().wraps and table.rowHeight(1) == 34
    assert table.height() >= table.rowHeight(0) + table.rowHeight(1) + table.horizontalHeader().height()


def test_a_table_is_narrowed_by_its_texts_before_it_scrolls(qtbot: Any, runner: JobRunner) -> None:
    rows = tuple(("a long name of a thing", value, "cannot be told from nothing at all") for value in (1, 2))
    widget = make_view(TableView("Effects", ("what it is", "number", "note"), rows), runner)
    qtbot.addWidget(widget)
    widget.resize(900, 300)
    widget.show()
    table = widget.findChild(QTableView)
    qtbot.wait(1)
    natural, bar = [table.columnWidth(column) for column in range(3)], table.horizontalScrollBar()
    assert table.rowHeight(0) == 34 and not bar.maximum()
    widget.resize(430, 300)
    qtbot.wait(1)
    assert not bar.maximum() and table.columnWidth(1) == natural[1] and table.rowHeight(0) > 34
    widget.resize(900, 300)
    qtbot.wait(1)
    assert [table.columnWidth(column) for column in range(3)] == natural and table.rowHeight(0) == 34


def test_a_long_heading_goes_on_in_a_second_line_before_the_table_scrolls(qtbot: Any) -> None:
    headings, row = ("age", "gender", "Fehlerspanne (95 von 100)"), ("[0-10)", "Female", 6)
    body = TableBody(TableView("Counts", headings, (row, row)))
    qtbot.addWidget(body)
    body.resize(600, 200)
    body.show()
    qtbot.wait(1)
    whole = body.columnWidth(2)
    body.resize(sum(body.columnWidth(column) for column in range(3)) - 50, 200)
    qtbot.wait(1)
    line = QFontMetrics(text_font(12, 600)).horizontalAdvance("(95 von 100)")
    assert not body.horizontalScrollBar().maximum() and line < body.columnWidth(2) <= whole - 40
    flags = int(body.model().headerData(2, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole))
    assert flags & int(Qt.TextFlag.TextWordWrap)


def test_no_line_ends_within_a_french_number(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_language", "fr")
    number = words.number(1_234_567)
    rows = tuple((number, f"{number} lignes {place}", "rien de plus à en dire") for place in range(3))
    body = TableBody(TableView("Effets", ("a", "b", "c"), tuple((f"x {one[0]}", *one[1:]) for one in rows)))
    qtbot.addWidget(body)
    body.resize(200, 200)
    body.show()
    whole = QFontMetrics(text_font()).horizontalAdvance(number)
    room = [body.columnWidth(column) - 2 * LinesDelegate.padding for column in (0, 1)]
    assert "\u202f" in number and min(room) >= whole, (room, whole)


def test_a_note_beside_a_bar_is_whole_in_a_narrow_window(qtbot: Any) -> None:
    """The bar gives way: 568 pixels are what a window of 911 leaves."""
    bars = BarList("Left", mono=False)
    qtbot.addWidget(bars)
    note = "left of 2.00; entries: 1, spent: 0.50"
    bars.show_bars([Bar("Diabetes register (sample)", 0.75, "ε 1.50", note)])
    metrics = QFontMetrics(text_font())
    for width in (568, 834, 1388):
        name, bar = bars.widths(width)
        assert name >= metrics.horizontalAdvance("Diabetes register (sample)")
        assert bar >= 60 and width - (name + 0.02 * width + bar + 88) >= metrics.horizontalAdvance(note)


def test_figures_that_come_later_stand_in_line_with_the_others(qtbot: Any) -> None:
    figures = Figures()
    qtbot.addWidget(figures)
    figures.resize(834, 200)
    figures.show()
    first, hidden = (figures.add(NumberCard(f"Figure {place}")) for place in range(2))
    for card in (first, hidden):
        card.number.setWordWrap(True)
        card.show_number("422", "of 4,259 people, by the columns that identify")
    hidden.hide()
    figures.arrange()
    qtbot.wait(1)
    later = [figures.add(NumberCard(f"A later figure {place}")) for place in range(3)]
    for card in later:
        card.show_number("11", "Every released row agrees with at least k − 1 others in the columns.")
    figures.arrange()
    qtbot.wait(1)
    widths = {card.width() for card in (first, *later)}
    assert max(widths) - min(widths) <= 1 and min(widths) >= 172


def test_numbers_among_hidden_cells_stand_to_the_right(qtbot: Any, runner: JobRunner) -> None:
    hidden = Text(HIDDEN)
    rows = (("a", hidden, 42), ("b", 64, 91), ("c", hidden, "many"))
    widget = make_view(TableView("Released", ("age", "no", "all"), rows), runner)
    qtbot.addWidget(widget)
    model = widget.findChild(QTableView).model()
    assert model.numeric == {1}
    assert [model.index(row, 1).data() for row in range(3)] == ["hidden", "64", "hidden"]


def test_a_field_is_as_wide_as_the_number_that_it_shows(qtbot: Any) -> None:
    """The first digit of 0.0005 was cut."""
    field = ExactField("ε", width=58)
    qtbot.addWidget(field)
    for number in (Fraction(1, 2), Fraction(5, 10_000), Fraction(1_234_567), Fraction(1, 2)):
        field.show_number(number)
        assert field.width() >= field.fontMetrics().horizontalAdvance(field.text()) + 22
    assert field.width() == 58


@pytest.mark.parametrize(
    ("written", "is_large"),
    [
        *((one, True) for one in ("4,259", "ε 0.913", "€ 1,250,000.50", "≤ 12 of 1,000 people", "sex", "–")),
        *(
            (one, False)
            for one in (
                "discharge_disposition_id",
                "age, race, gender, readmitted",
                "2015_age_group",
                "10, 20, 30, 40, 50, 60, 70",
            )
        ),
    ],
)
def test_only_figures_are_set_as_large_as_figures(qtbot: Any, written: str, is_large: bool) -> None:
    card = NumberCard("What it is")
    qtbot.addWidget(card)
    card.show_number(written)
    assert (card.number.font().pixelSize() == Heading.SIZES["key"][0]) is is_large
    assert card.number.wordWrap() is not is_large
    card.show_number("7")
    assert card.number.font().pixelSize() == Heading.SIZES["key"][0], "the next figure is one again"


def test_a_number_has_no_more_digits_than_its_margin_allows(qtbot: Any) -> None:
    rows = (("age", -0.0051532, 0.0374912), ("stay", 12.34567, 0.5), ("weight", 8, 6), ("sex", None, 0.2))
    body = TableBody(TableView("Effects", ("column", "effect", WITHIN), rows))
    qtbot.addWidget(body)
    model = body.model()
    shown = [[model.index(row, at).data() for at in range(3)] for row in range(4)]
    assert shown == [
        ["age", "−0.005", "0.037"],
        ["stay", "12.35", "0.50"],
        ["weight", "8", "6"],
        ["sex", "–", "0.2"],
    ]
