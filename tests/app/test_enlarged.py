"""A picture opened large: by click and Enter, read out, zoomed, moved, saved, copied; what stays says so."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.frame.window import Window
from app.parts.enlarged import Enlarged
from app.parts.trial.solution import step_words
from app.parts.trial.solution_view import SolutionPlot
from app.parts.views import ViewCard, make_view
from app.theme import theme
from app.work.jobs import JobRunner
from engine.methods.trying import Candidate, MapLadder, SolutionMap
from engine.views import BarsView, CurveView, HeatmapView, Mark, ScatterView, Series, View
from tests.app.fitting import faults

LINE = Series("price", (0.1, 0.5, 1.0), (1.0, 4.0, 9.0), "accent")
BARS = BarsView("Counts", ("women", "men"), (2310.0, 1949.0), "people", (2304.0, 1943.0), (2316.0, 1955.0))
CURVE = CurveView("Cost", "ε", "money", (LINE,), (Mark(0.5, 4.0, "chosen"),))
PLOTTED = (BARS, CURVE, ScatterView("Cloud", "x", "y", (LINE,)), HeatmapView("G", ("a",), ("c",), ((1.0,),)))


@pytest.fixture
def opened(qtbot: Any, runner: JobRunner) -> Any:
    theme.choose("light")
    host = QWidget()
    host.resize(1366, 768)
    qtbot.addWidget(host)
    made: list[Enlarged] = []

    def open_large(view: View, stays: bool = True) -> Enlarged:
        large = Enlarged(view, runner, host, stays=stays)
        large.open()
        made.append(large)
        qtbot.waitUntil(lambda: large.sheet.pixels is not None and not runner.busy(), timeout=30000)
        return large

    host.show()
    yield open_large
    for large in made:
        large.close()


@pytest.mark.parametrize("how", ["click", "Enter"])
def test_a_figure_on_screen_is_opened(qtbot: Any, runner: JobRunner, how: str) -> None:
    figure = make_view(BARS, runner, stays=False)
    figure.resize(640, 300)
    qtbot.addWidget(figure)
    figure.show()
    qtbot.waitUntil(lambda: bool(figure.canvas.pieces), timeout=10000)
    if how == "click":
        qtbot.mouseClick(figure.canvas, Qt.MouseButton.LeftButton)
    else:
        qtbot.keyClick(figure.canvas, Qt.Key.Key_Return)
    (large,) = figure.window().findChildren(Enlarged)
    qtbot.waitUntil(lambda: large.sheet.pixels is not None and not runner.busy(), timeout=30000)
    assert large.isModal() and large.stays is False and large.table.model().rowCount() == 2
    qtbot.keyClick(large, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not figure.window().findChildren(Enlarged), timeout=5000)


def test_what_is_not_said_to_leave_stays(qtbot: Any, runner: JobRunner) -> None:
    card = ViewCard(BARS, runner)
    qtbot.addWidget(card)
    assert card.content.stays is True


@pytest.mark.parametrize("view", PLOTTED, ids=lambda view: view.kind)
def test_every_value_is_read_out_where_it_lies(opened: Any, qtbot: Any, view: View) -> None:
    large = opened(view)
    sheet = large.sheet
    assert sheet.values
    for x, y, said in sheet.values:
        place = sheet.place_of(x, y)
        assert sheet.rect().contains(place.toPoint())
        assert sheet.value_at(place) == pytest.approx((x, y))
        move = QMouseEvent(
            QEvent.Type.MouseMove,
            place,
            sheet.mapToGlobal(place),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
        )
        sheet.mouseMoveEvent(move)
        assert said in large.said.plain() and sheet.accessibleDescription() == said
    sheet.at = -1
    qtbot.keyClick(sheet, Qt.Key.Key_Right)
    assert sheet.at == 0 and sheet.values[0][2] in large.said.plain()


def limits(large: Enlarged) -> Any:
    assert large.sheet.pixels is not None
    return large.sheet.pixels.limits


@pytest.mark.parametrize("view", (BARS, CURVE), ids=lambda view: view.kind)
def test_keys_buttons_and_dragging_zoom_and_move(
    opened: Any, qtbot: Any, runner: JobRunner, view: View
) -> None:
    large = opened(view)
    sheet, whole = large.sheet, limits(large)

    def after(act: Any) -> Any:
        act()
        qtbot.waitUntil(lambda: not runner.busy(), timeout=30000)
        return limits(large)

    def width(found: Any) -> float:
        return abs(found[0][1] - found[0][0])

    closer = after(lambda: qtbot.keyClick(sheet, Qt.Key.Key_Plus))
    assert width(closer) == pytest.approx(0.7 * width(whole))
    assert (closer[1][0] > closer[1][1]) == (whole[1][0] > whole[1][1])  # bars run downwards still
    assert after(lambda: qtbot.keyClick(sheet, Qt.Key.Key_0)) == whole

    def drag(start: QPointF, end: QPointF) -> None:
        qtbot.mousePress(sheet, Qt.MouseButton.LeftButton, pos=start.toPoint())
        qtbot.mouseMove(sheet, end.toPoint())
        qtbot.mouseRelease(sheet, Qt.MouseButton.LeftButton, pos=end.toPoint())

    middle = QPointF(sheet.rect().center())
    wanted = sheet.value_at(middle - QPointF(80, 50)), sheet.value_at(middle + QPointF(80, 50))
    found = after(lambda: drag(middle - QPointF(80, 50), middle + QPointF(80, 50)))
    assert sorted(found[0]) == pytest.approx(sorted((wanted[0][0], wanted[1][0])))
    assert sorted(found[1]) == pytest.approx(sorted((wanted[0][1], wanted[1][1])))
    large.buttons["move"].click()
    held = sheet.value_at(middle)
    after(lambda: drag(middle, middle + QPointF(60, -40)))
    there = sheet.place_of(*held) - (middle + QPointF(60, -40))
    assert there.manhattanLength() <= 3  # points: names of the axis may take other room now
    assert after(large.buttons["whole"].click) == whole


@pytest.mark.parametrize("stays", [True, False])
def test_files_and_clipboard_carry_that_it_stays(
    opened: Any, qtbot: Any, runner: JobRunner, tmp_path: Path, stays: bool
) -> None:
    large = opened(BARS, stays)
    for ending, beginning in (("pdf", b"%PDF"), ("png", b"\x89PNG"), ("svg", b"<?xml"), ("csv", b"")):
        path = tmp_path / f"picture.{ending}"
        large.save(str(path))
        qtbot.waitUntil(lambda: not runner.busy(), timeout=30000)
        written = path.read_bytes()
        assert written.startswith(beginning) and path.name in large.said.text()
        assert (b"stays here" in written) == stays or ending == "pdf"
    import pypdf

    page = pypdf.PdfReader(tmp_path / "picture.pdf").pages[0].extract_text()
    assert "Counts" in page and ("stays here" in page) == stays
    large.copy_data()
    qtbot.waitUntil(lambda: "women\t2310" in QGuiApplication.clipboard().text(), timeout=10000)
    assert ("stays here" in QGuiApplication.clipboard().text()) == stays
    large.copy_picture()
    assert QGuiApplication.clipboard().image().size() == large.sheet.image.size()


def test_a_file_that_cannot_be_written_is_said(
    opened: Any, qtbot: Any, runner: JobRunner, tmp_path: Path
) -> None:
    large = opened(CURVE)
    large.save(str(tmp_path / "nowhere" / "picture.pdf"))
    qtbot.waitUntil(lambda: "could not be written" in large.said.text(), timeout=30000)


def test_where_to_save_is_asked_without_holding_the_window(opened: Any, qtbot: Any) -> None:
    from PySide6.QtWidgets import QFileDialog

    large = opened(CURVE)
    large.buttons["png"].click()
    (dialog,) = large.findChildren(QFileDialog)
    assert dialog.defaultSuffix() == "png" and dialog.acceptMode() == QFileDialog.AcceptMode.AcceptSave
    dialog.close()


def test_every_button_has_a_name_and_is_reached_by_keys(opened: Any) -> None:
    large = opened(BARS)
    for button in large.buttons.values():
        assert button.accessibleName() or len(button.text()) > 1
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert large.sheet.hasFocus() or large.focusWidget() is large.sheet
    assert large.sheet.accessibleName().endswith("Counts")


def ladders(columns: int) -> tuple[SolutionMap, list[str]]:
    """Return a map of some columns, each with three steps, and their names."""
    names = [f"column {at}" for at in range(columns)]
    own = [MapLadder(one, (40, 4, 1), ("", "10", ""), 1.0, (("40",), ("[40-50)",), ("*",))) for one in names]
    steps = [tuple((at + turn) % 3 for at in range(columns)) for turn in range(3)]
    points = tuple(
        Candidate(one, {"steps": dict(zip(names, one, strict=True))}, lost, left, left, left < 5)
        for one, lost, left in zip(steps, (0.1, 0.5, 0.9), (9, 3, 1), strict=True)
    )
    return SolutionMap(tuple(own), points, 1, 1, 4, 10, 7, True, 3, True, "weights"), names


@pytest.fixture
def opened_map(qtbot: Any, runner: JobRunner) -> Any:
    theme.choose("light")
    host = QWidget()
    host.runner = runner
    host.open_large = partial(Window.open_large, host)
    host.setObjectName("host")
    qtbot.addWidget(host)
    made: list[Enlarged] = []

    def open_large(columns: int, size: tuple[int, int] = (1366, 768)) -> tuple[Any, Enlarged, list[str]]:
        host.resize(*size)
        plot = SolutionPlot(host)
        shown, names = ladders(columns)
        plot.show_map(shown, shown.taken)
        large = plot.enlarge()
        made.append(large)
        qtbot.waitUntil(
            lambda: large.sheet.pixels is not None and large.sheet.rows and not runner.busy(), timeout=30000
        )
        return plot, large, names

    host.show()
    yield open_large
    for large in made:
        if isValid(large):
            large.close()


def move(sheet: Any, place: QPointF, kind: Any = QEvent.Type.MouseMove) -> None:
    none, left = Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton
    button = none if kind == QEvent.Type.MouseMove else left
    event = QMouseEvent(kind, place, sheet.mapToGlobal(place), button, button, Qt.KeyboardModifier.NoModifier)
    QCoreApplication.sendEvent(sheet, event)


def click_at(sheet: Any, place: QPointF) -> None:
    move(sheet, place, QEvent.Type.MouseButtonPress)
    move(sheet, place, QEvent.Type.MouseButtonRelease)


def told(large: Enlarged) -> dict[str, str]:
    return {name.text(): value.plain() for name, value in large.point.values}


def row_of(large: Enlarged, lost: float) -> int:
    return next(at for at, (x, _, _) in enumerate(large.sheet.values) if x == pytest.approx(100 * lost))


@pytest.mark.parametrize("size", [(1366, 768), (911, 512), (1920, 1080)])
@pytest.mark.parametrize("columns", [1, 6, 12])
def test_a_point_is_read_by_column_and_what_takes_it_is_in_view(
    opened_map: Any, qtbot: Any, columns: int, size: tuple[int, int]
) -> None:
    plot, large, names = opened_map(columns, size)
    sheet, taken = large.sheet, []
    assert sorted(sheet.rows) == [0, 1, 2], "each combination once"
    plot.chosen.connect(taken.append)
    assert not large.point.take.isVisible() and not large.point.values
    move(sheet, sheet.place_of(*sheet.values[row_of(large, 0.9)][:2]))
    read = told(large)
    steps = plot.shown.candidates[2].steps
    assert [read[name] for name in names] == [step_words(plot.shown, at, one) for at, one in enumerate(steps)]
    assert read["Left out"] == "1 person" and read["Detail lost"] == "90.0\u00a0%"
    assert "differs" in large.point.note.plain()
    now = plot.shown.candidates[1].steps
    bold = [value.text() != value.plain() for name, value in large.point.values if name.text() in names]
    assert bold == [one != other for one, other in zip(steps, now, strict=True)]
    qtbot.wait(20)
    take = large.point.take
    assert take.isVisible() and take.isEnabled()
    assert large.rect().contains(QRect(take.mapTo(large, QPoint(0, 0)), take.size()))
    assert not faults(large), faults(large)
    qtbot.mouseClick(take, Qt.MouseButton.LeftButton)
    assert taken == [2]


def test_a_click_keeps_a_point_while_the_pointer_goes_to_the_button(opened_map: Any, qtbot: Any) -> None:
    _, large, _ = opened_map(3)
    sheet = large.sheet
    kept, other = (sheet.place_of(*sheet.values[row_of(large, lost)][:2]) for lost in (0.9, 0.5))
    click_at(sheet, kept)
    move(sheet, other)
    assert told(large)["Detail lost"] == "90.0\u00a0%"
    click_at(sheet, other)
    assert told(large)["Detail lost"] == "50.0\u00a0%" and not large.point.take.isEnabled()
    assert "taken now" in large.point.note.plain()
    nowhere = QPointF(sheet.rect().center()) + QPointF(0, -60)
    click_at(sheet, nowhere)
    move(sheet, kept)
    assert told(large)["Detail lost"] == "90.0\u00a0%", "a click beside lets it go"


def test_enter_takes_a_point_but_none_that_cannot_leave(opened_map: Any, qtbot: Any) -> None:
    plot, large, _ = opened_map(2)
    sheet, taken = large.sheet, []
    plot.chosen.connect(taken.append)
    qtbot.keyClick(sheet, Qt.Key.Key_Return)
    assert large.isVisible() and not taken, "none is read yet"
    for _ in range(row_of(large, 0.1) + 1):
        qtbot.keyClick(sheet, Qt.Key.Key_Right)
    assert "cannot leave" in large.point.note.plain() and not large.point.take.isEnabled()
    qtbot.keyClick(sheet, Qt.Key.Key_Return)
    assert large.isVisible() and not taken
    for _ in range(row_of(large, 0.1) - row_of(large, 0.9)):
        qtbot.keyClick(sheet, Qt.Key.Key_Left)
    shown = plot.shown  # counted again meanwhile, in another order
    plot.show_map(replace(shown, candidates=shown.candidates[::-1], best=1, taken=1), 1)
    qtbot.keyClick(sheet, Qt.Key.Key_Return)
    assert taken == [0], "the same steps, wherever they stand now"
    assert not isValid(large) or not large.isVisible()


def lies_in(x: float, y: float, part: Any) -> bool:
    across, up = part
    return min(across) <= x <= max(across) and min(up) <= y <= max(up)


@pytest.mark.parametrize("view", PLOTTED[:3], ids=lambda view: view.kind)
def test_a_part_says_where_it_lies_and_how_much_is_in_view(
    opened: Any, qtbot: Any, runner: JobRunner, view: View
) -> None:
    large = opened(view)
    sheet = large.sheet
    assert sheet.overview() is None and not large.part.plain()
    (x0, x1), (y0, y1) = limits(large)
    x, y, _ = sheet.values[0]
    part = ((x - 0.1 * (x1 - x0), x + 0.1 * (x1 - x0)), (y - 0.1 * (y1 - y0), y + 0.1 * (y1 - y0)))
    large.show_part(part)
    qtbot.waitUntil(lambda: not runner.busy(), timeout=30000)
    frame, seen = sheet.overview()
    assert QRectF(sheet.rect()).contains(frame) and frame.contains(seen.center())
    assert seen.width() == pytest.approx(frame.width() * 0.2, rel=0.55) and seen.width() < frame.width()
    inside = sum(lies_in(a, b, part) for a, b, _ in sheet.values)
    assert f"{inside} of {len(sheet.values)} point" in large.part.plain() and inside < len(sheet.values)
    hidden = {at for at, (a, b, _) in enumerate(sheet.values) if not lies_in(a, b, part)}
    for at in range(len(sheet.values)):
        sheet.at = at
        assert (sheet.ring() is None) == (at in hidden), "no ring beside the axes"
    middle = frame.left() + frame.width() * (x - x0) / (x1 - x0)
    assert seen.left() - 1 <= middle <= seen.right() + 1
    before = sheet._small.toImage()
    theme.choose("dark")
    qtbot.waitUntil(lambda: sheet._small.toImage() != before, timeout=30000)
    large.show_part(None)
    qtbot.waitUntil(lambda: not runner.busy(), timeout=30000)
    assert sheet.overview() is None and not large.part.plain()
    theme.choose("light")
