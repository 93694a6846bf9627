"""A picture opened large: by click and Enter, read out, zoomed, moved, saved, copied; what stays says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.parts.enlarged import Enlarged
from app.parts.views import ViewCard, make_view
from app.theme import theme
from app.work.jobs import JobRunner
from engine.views import BarsView, CurveView, HeatmapView, Mark, ScatterView, Series, View

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
