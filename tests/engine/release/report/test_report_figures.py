"""Drawings: every kind, in both themes, the same from run to run, readable in grey."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from engine.release.report import figures
from engine.release.report.theme import DARK, LIGHT, Theme, rgb
from engine.views import BarsView, CurveView, HeatmapView, Series


def plotted(sample):
    return [view for view in sample.every_kind if view.kind in figures.PLOTTED]


def test_every_plotted_kind_is_drawn_in_both_themes(sample):
    drawn = plotted(sample)
    assert {view.kind for view in drawn} == set(figures.PLOTTED)
    for view in drawn:
        for theme in (LIGHT, DARK):
            text = figures.svg(figures.draw(view, theme=theme)).lower()
            assert theme.surface.lower() in text
            assert text.count("<path") > 3, view.kind


def test_views_that_are_no_drawings_are_refused(sample):
    others = [view for view in sample.every_kind if view.kind not in figures.PLOTTED]
    assert {view.kind for view in others} == {"number", "table", "text"}
    for view in others:
        with pytest.raises(ValueError, match="not drawn"):
            figures.draw(view)


def test_the_same_view_gives_the_same_file(sample):
    for view in plotted(sample):
        assert figures.svg(figures.draw(view)) == figures.svg(figures.draw(view))


def test_a_drawing_names_no_program_no_date_and_no_address(sample):
    for view in plotted(sample):
        text = figures.svg(figures.draw(view))
        body = text.split(">", 1)[1]
        assert "Matplotlib v" not in body
        assert "<dc:date" not in body
        assert "<image" not in body


def test_dollar_signs_are_dollars():
    view = BarsView("t", ("$a$ and \\frac", "b_1^2$"), (1.0, 2.0), "$")
    words = [text.get_text() for text in figures.draw(view).findobj() if hasattr(text, "get_parse_math")]
    assert "$a$ and \\frac" in words
    assert figures.svg(figures.draw(view))


def test_every_value_stands_beside_its_bar_with_its_margin():
    view = BarsView("t", ("a", "b"), (10.0, -3.0), "n", (4.0, -4.5), (16.0, 2.0))
    words = {text.get_text() for text in figures.draw(view).findobj() if hasattr(text, "get_parse_math")}
    assert "10 ± 6" in words
    assert "−3 (−4.5 … 2)" in words


def test_long_rows_of_bars_continue_on_one_common_axis():
    values = tuple(float(number) for number in range(95))
    view = BarsView("t", tuple(str(number) for number in range(95)), values, "n", values, values)
    pieces = figures.split(view)
    assert [len(piece.labels) for piece in pieces] == [32, 32, 31]
    assert sum((piece.values for piece in pieces), ()) == values
    axis = figures.limits(view)
    shown = {figures.draw(piece, axis_limits=axis).axes[0].get_xlim() for piece in pieces}
    assert shown == {axis}
    assert axis[1] > 94


@pytest.mark.parametrize(
    "values", [(), (0.0,), (float("nan"), 1.0), (float("inf"), -1.0), (5.0, 5.0), (1e15, 1e-9)]
)
def test_odd_numbers_still_give_a_drawing(values):
    view = BarsView("t", tuple("x" for _ in values), values, "n")
    assert figures.svg(figures.draw(view))


def test_empty_curves_and_grids_still_give_a_drawing():
    assert figures.svg(figures.draw(CurveView("t", "x", "y", (Series("none", (), ()),))))
    assert figures.svg(figures.draw(HeatmapView("t", (), (), ())))
    assert figures.svg(figures.draw(HeatmapView("t", ("a",), ("b",), ((None,),))))


def test_lines_differ_by_more_than_colour(sample):
    view = next(view for view in sample.every_kind if view.kind == "curve")
    lines = [line for line in figures.draw(view).axes[0].lines if len(line.get_xdata()) > 2]
    looks = {(str(line._unscaled_dash_pattern), line.get_linewidth()) for line in lines}
    assert len(looks) == len(view.series) == 3


def test_clouds_differ_by_marker(sample):
    view = next(view for view in sample.every_kind if view.kind == "scatter")
    assert len({line.get_marker() for line in figures.draw(view).axes[0].lines}) == len(view.series)


def luminance(colour: str) -> float:
    parts = [value / 255 for value in rgb(colour)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_words_and_data_stand_out_in_grey(theme: Theme):
    for name in ("text", "quiet", "accent", "wrong"):
        assert contrast(getattr(theme, name), theme.surface) >= 4.5, name
        assert contrast(getattr(theme, name), theme.background) >= 4.5, name
    assert contrast(theme.care, theme.care_soft) >= 4.5
    assert contrast(theme.accent, theme.accent_soft) >= 4.5


def test_neither_importing_nor_drawing_brings_pyplot_or_a_screen():
    code = (
        "import sys\n"
        "import engine.release.report\n"
        "from engine.release.report import figures\n"
        "assert 'matplotlib' not in sys.modules and 'fpdf' not in sys.modules\n"
        "from engine.views import BarsView\n"
        "figures.svg(figures.draw(BarsView('t', ('a',), (1.0,), 'n')))\n"
        "names = list(sys.modules)\n"
        "found = [n for n in names if 'pyplot' in n or n.startswith(('PySide', 'tkinter'))]\n"
        "assert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_theme_of_the_caller_is_used():
    odd = replace(LIGHT, accent="#123456")
    view = BarsView("t", ("a",), (1.0,), "n")
    assert "#123456" in figures.svg(figures.draw(view, theme=odd))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_numbers_in_shades_can_be_read(theme: Theme):
    from matplotlib.colors import to_hex

    view = HeatmapView("t", ("a",), tuple(str(n) for n in range(11)), (tuple(float(n) for n in range(11)),))
    axes = figures.draw(view, theme=theme).axes[0]
    shades = [to_hex(patch.get_facecolor()) for patch in axes.patches]
    colours = [to_hex(text.get_color()) for text in axes.texts]
    assert len(shades) == len(colours) == 11
    assert min(contrast(shade, words) for shade, words in zip(shades, colours, strict=True)) >= 3.9
