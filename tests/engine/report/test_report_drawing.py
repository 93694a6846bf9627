"""Drawings: every kind, in both themes, the same from run to run, readable in grey."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import xml.etree.ElementTree as tree
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.report import drawing
from engine.report.drawing import canvas
from engine.report.drawing.grids import FULLEST
from engine.report.drawing.names import distance
from engine.report.drawing.scale import ticks
from engine.report.fonts import width_of
from engine.report.theme import DARK, LIGHT, VARIABLES, Theme
from engine.views import BarsView, CurveView, HeatmapView, IntervalsView, Mark, Series, Text

SVG = "{http://www.w3.org/2000/svg}"


def plotted(sample):
    return [view for view in sample.every_kind if view.kind in drawing.PLOTTED]


def elements(view, name, **options):
    return list(tree.fromstring(drawing.draw(view, **options).svg()).iter(f"{SVG}{name}"))


def test_every_plotted_kind_is_drawn_in_both_themes(sample):
    drawn = plotted(sample)
    assert {view.kind for view in drawn} == set(drawing.PLOTTED)
    for view in drawn:
        for theme in (LIGHT, DARK):
            parts = tree.fromstring(drawing.draw(view, theme=theme).svg())
            assert len(parts) > 6, view.kind
            assert theme.accent in tree.tostring(parts, encoding="unicode")


def test_colours_can_be_left_to_the_page(sample):
    for view in plotted(sample):
        text = drawing.draw(view, theme=VARIABLES).svg()
        assert "var(--accent" in text
        assert not re.search(r"#[0-9a-fA-F]{6}", text)


def test_views_that_are_no_drawings_are_refused(sample):
    others = [view for view in sample.every_kind if view.kind not in drawing.PLOTTED]
    assert {view.kind for view in others} == {"number", "table", "text"}
    for view in others:
        with pytest.raises(ValueError, match="not drawn"):
            drawing.draw(view)


def test_the_same_view_gives_the_same_file(sample):
    for view in plotted(sample):
        assert drawing.draw(view).svg() == drawing.draw(view).svg()


def test_words_stay_words():
    hostile = '<script>$a$ & "b"</script>'
    view = BarsView("t", (hostile,), (1.0,), hostile)
    words = [element.text for element in elements(view, "text", width=20)]
    assert words.count(hostile) == 2
    assert not elements(view, "script")


def test_every_word_and_shape_lies_on_the_sheet(sample):
    long = "Krankenhauswiederaufnahmewahrscheinlichkeit " * 3
    more = BarsView(long, (long, "b", ""), (1e12, -2.0, 0.5), long, (9e11, -3.0, 0.0), (1.1e12, -1.0, 1.0))
    for view in (*plotted(sample), more):
        sheet = drawing.draw(view)
        for text in tree.fromstring(sheet.svg()).iter(f"{SVG}text"):
            wide = width_of(text.text or "", 8.5, bold="font-weight" in text.attrib)
            part = {"start": 0, "middle": 0.5, "end": 1}[text.attrib["text-anchor"]]
            if "transform" in text.attrib:
                continue
            left = float(text.attrib["x"]) - part * wide
            assert left >= -1, (view.kind, text.text)
            assert left + wide <= sheet.width + 1, (view.kind, text.text)
            assert 0 < float(text.attrib["y"]) <= sheet.height, (view.kind, text.text)


def test_every_value_stands_beside_its_bar_with_its_margin():
    view = BarsView("t", ("a", "b"), (10.0, -3.0), "n", (4.0, -4.5), (16.0, -1.5))
    words = {element.text for element in elements(view, "text")}
    assert {"10 ± 6", "−3.0 ± 1.5"} <= words


def test_margins_of_one_drawing_are_written_alike():
    view = BarsView("t", ("a", "b"), (10.0, -3.0), "n", (4.0, -4.5), (16.0, 2.0))
    words = {element.text for element in elements(view, "text")}
    assert {"10 (4 … 16)", "−3.0 (−4.5 … 2.0)"} <= words  # all with two digits of the half width
    # Even, but for the digits that evidence keeps of both ends
    view = BarsView("t", ("a", "b"), (0.1033, 1.0), "n", (0.06412, 0.5), (0.1424, 1.5))
    assert {"0.103 ± 0.039", "1.000 ± 0.500"} <= {element.text for element in elements(view, "text")}


def test_a_bar_is_as_long_as_its_value():
    view = BarsView("t", ("a", "b", "c"), (10.0, 5.0, 0.0), "n")
    wide = [float(box.attrib["width"]) for box in elements(view, "rect")]
    assert wide[0] == pytest.approx(2 * wide[1], abs=0.02)
    assert wide[2] == 0


def test_long_rows_of_bars_continue_on_one_common_axis():
    values = tuple(float(number) for number in range(95))
    view = BarsView("t", tuple(str(number) for number in range(95)), values, "n", values, values)
    pieces = drawing.split(view)
    assert [len(piece.labels) for piece in pieces] == [32, 32, 31]
    assert sum((piece.values for piece in pieces), ()) == values
    axis = drawing.limits(view)
    shown = set()
    for piece in pieces:
        last = elements(piece, "rect", axis_limits=axis)[-1]
        shown.add(round(float(last.attrib["width"]) / piece.values[-1], 1))
    assert len(shown) == 1
    assert axis[1] > 94


@pytest.mark.parametrize(
    "values", [(), (0.0,), (float("nan"), 1.0), (float("inf"), -1.0), (5.0, 5.0), (1e15, 1e-9)]
)
def test_odd_numbers_still_give_a_drawing(values):
    view = BarsView("t", tuple("x" for _ in values), values, "n")
    assert tree.fromstring(drawing.draw(view).svg()) is not None
    assert "nan" not in drawing.draw(view).svg()


def test_empty_curves_and_grids_still_give_a_drawing():
    odd = float("nan")
    for view in (
        CurveView("t", "x", "y", (Series("none", (), ()),)),
        CurveView("t", "x", "y", (Series("none", (1.0, 2.0), (odd, odd)),)),
        HeatmapView("t", (), (), ()),
        HeatmapView("t", ("a",), ("b",), ((None,),)),
    ):
        assert "nan" not in drawing.draw(view).svg()


def test_lines_differ_by_more_than_colour(sample):
    view = next(view for view in sample.every_kind if view.kind == "curve")
    lines = [line for line in elements(view, "polyline") if line.attrib["points"].count(" ") > 2]
    looks = {(line.get("stroke-dasharray"), line.attrib["stroke-width"]) for line in lines}
    assert len(looks) == len(view.series) == 3


@pytest.mark.parametrize("last", [2, 4, 5, 13])
def test_between_counted_things_stands_no_value(last):
    """Curves over one to four features had 1.5 of them on their axis; measured ones keep such values."""

    def below(x):
        canvas = drawing.draw(CurveView("t", "things", "y", (Series("a", x, (0.0,) * len(x)),)), width=400)
        return [float(one) for one in re.findall(r">(\d+(?:\.\d+)?)</text>", canvas.svg())]

    assert all(one == int(one) for one in below(tuple(range(1, last + 1))) if one >= 1)
    assert any(one != int(one) for one in below((1.0, 1.3, 2.0)) if one >= 1)


def test_axes_carry_round_values():
    assert ticks(0.0, 1.04) == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    assert ticks(-3.1, 3.1) == (-2.0, 0.0, 2.0)
    assert ticks(0.0, 250_000.0, most=5) == (0.0, 50_000.0, 100_000.0, 150_000.0, 200_000.0, 250_000.0)


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


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


def test_neither_importing_nor_drawing_brings_what_is_slow():
    code = (
        "import sys\n"
        "import engine.report\n"
        "from engine.report import drawing\n"
        "from engine.views import BarsView\n"
        "assert 'typst' not in sys.modules and 'fontTools' not in sys.modules\n"
        "drawing.draw(BarsView('t', ('a',), (1.0,), 'n')).svg()\n"
        "slow = {'pandas', 'numpy', 'scipy', 'matplotlib', 'typst', 'PySide6', 'tkinter'}\n"
        "assert not slow & set(sys.modules), slow & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_theme_of_the_caller_is_used():
    odd = replace(LIGHT, accent="#123456")
    view = BarsView("t", ("a",), (1.0,), "n")
    assert "#123456" in drawing.draw(view, theme=odd).svg()


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_numbers_in_shades_can_be_read(theme: Theme):
    for hundredth in range(101):
        share = FULLEST * hundredth / 100
        shade = [
            round(low + share * (high - low))
            for low, high in zip(rgb(theme.accent_soft), rgb(theme.accent), strict=True)
        ]
        assert contrast("#" + "".join(f"{part:02x}" for part in shade), theme.text) >= 4.2, share


def boxes(view, width, size=13.0):
    """Return each text of a drawing with the rectangle that it fills: left, top, right, bottom."""
    found = []
    sheet = drawing.draw(view, width=width / drawing.POINTS, size=size)
    for text in tree.fromstring(sheet.svg()).iter(f"{SVG}text"):
        wide = width_of(text.text or "", size, bold="font-weight" in text.attrib)
        part = {"start": 0, "middle": 0.5, "end": 1}[text.attrib["text-anchor"]]
        left, base = float(text.attrib["x"]) - part * wide, float(text.attrib["y"])
        found.append((text.text, left, base - 0.75 * size, left + wide, base + 0.1 * size))
    return found, sheet


def meet(one, other):
    return one[1] < other[3] and other[1] < one[3] and one[2] < other[4] and other[2] < one[4]


@pytest.mark.parametrize("height", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("count", [2, 4, 6])
def test_names_of_lines_that_end_together_stay_on_the_sheet(height, count):
    x = (0.0, 1.0)
    lines = tuple(Series(f"A line with number {place}", x, (0.5, height), "plain") for place in range(count))
    full = Series("From the bottom to the top", x, (0.0, 1.0), "accent")
    found, sheet = boxes(CurveView("t", "x", "y", (*lines, full)), 800)
    names = [one for one in found if one[0].startswith(("A line", "From", "number"))]
    for name in names:
        assert name[2] >= 0 and name[4] <= sheet.height, name
    assert not [1 for place, one in enumerate(names) for other in names[:place] if meet(one, other)]


def test_a_narrow_drawing_keeps_names_of_points_off_those_of_lines():
    """Found on a small window: the name of a point covered the names beside the ends of the lines."""
    x = tuple(place / 20 for place in range(21))
    lines = tuple(
        Series(f"Read at ε, exact in direction {place}", x, tuple(1 - value * (0.1 * place) for value in x))
        for place in range(1, 4)
    )
    marks = (Mark(0.55, 0.94, "Cheapest, exact in either direction"), Mark(0.3, 0.9, "Cheapest, exact"))
    found, sheet = boxes(CurveView("t", "x", "y", lines, marks, (0.0, 1.0), "allowed"), 440)
    points = [one for one in found if one[0].startswith("Cheapest")]
    others = [one for one in found if one[0].startswith(("Read", "exact", "direction", "allowed"))]
    assert len(points) == 2 and len(others) >= 4
    assert not [(one, other) for one in points for other in others if meet(one, other)]
    assert all(one[1] >= 0 and one[3] <= sheet.width for one in points)


def test_names_of_points_that_lie_close_do_not_cover_one_another():
    x = tuple(place / 20 for place in range(21))
    line = Series("line", x, tuple(abs(value - 0.5) for value in x), "accent")
    marks = (
        Mark(0.40, 0.10, "Cheapest of all, exact"),
        Mark(0.60, 0.10, "Cheapest, published"),
        Mark(0.55, 0.05, "Cheapest, exact in either direction"),
        Mark(0.50, 0.49, "Cheapest at the top of all"),
    )
    view = CurveView("t", "x", "y", (line,), marks, (0.1, 0.9), "allowed")
    found, sheet = boxes(view, 800)
    names = [one for one in found if one[0].startswith("Cheapest") or one[0] == "allowed"]
    assert len(names) == 5
    assert not [1 for place, one in enumerate(names) for other in names[:place] if meet(one, other)]
    assert all(one[1] >= 0 and one[3] <= sheet.width and one[2] >= 0 for one in names)


def circles(sheet):
    return [
        (float(one.attrib["cx"]), float(one.attrib["cy"]))
        for one in tree.fromstring(sheet.svg()).iter(f"{SVG}circle")
    ]


def test_a_count_below_zero_is_hollow_as_what_could_be_zero_is():
    """Below zero is nobody; an effect there is one."""
    axis = Text("methods.statistics.counts.numbers.count.label")
    view = IntervalsView("t", ("a", "b", "c"), (9.0, 1.0, -9.0), (5.0, -3.0, -13.0), (13.0, 5.0, -5.0), axis)
    for one, hollow in ((view, [False, True, True]), (replace(view, axis="effect"), [False, True, False])):
        sheet = drawing.draw(one, theme=LIGHT)
        fills = [mark.attrib["fill"] for mark in tree.fromstring(sheet.svg()).iter(f"{SVG}circle")]
        assert [fill == LIGHT.surface for fill in fills] == hollow


def lines_of(sheet):
    """Return both ends of every straight line."""
    found = []
    for one in tree.fromstring(sheet.svg()).iter(f"{SVG}polyline"):
        points = [tuple(map(float, pair.split(","))) for pair in one.attrib["points"].split()]
        found += [points] if len(points) == 2 else []
    return found


def assert_names_are_clear(view, width, size):
    """Demand that each name is nearer to its own point than to any other, or led to it by a line."""
    found, sheet = boxes(view, width, size)
    marks, led = circles(sheet), lines_of(sheet)
    assert len(marks) == len(view.marks)
    for place, mark in enumerate(view.marks):
        (text,) = (one for one in found if one[0] == mark.label)
        assert (
            text[1] >= -0.1 and text[2] >= 0 and text[3] <= sheet.width + 0.1 and text[4] <= sheet.height
        ), text
        box = text[1:]
        far = [distance(box, one) for one in marks]
        ends = [
            start
            for start, end in led
            if math.dist(end, marks[place]) < 0.02 and distance(box, start) < 0.6 * size
        ]
        nearest = min((one for at, one in enumerate(far) if at != place), default=math.inf)
        assert ends or far[place] < nearest, (mark, far)
        assert ends or far[place] < 3 * size, "what stands far away is led to its point"
        assert not [one for one in found if one[0] != text[0] and meet(one, text)], text


@given(
    points=st.lists(st.tuples(st.integers(1, 40), st.integers(0, 40)), min_size=1, max_size=6),
    shape=st.sampled_from([-1.0, -0.2, 1.0, 3.0]),
    long=st.lists(st.integers(0, 22), min_size=6, max_size=6),
    width=st.sampled_from([340, 480, 620, 900]),
    size=st.sampled_from([8.5, 13.0]),
)
@settings(deadline=None, max_examples=40, derandomize=True)
def test_each_name_of_a_point_is_seen_to_be_its_own(points, shape, long, width, size):
    x = tuple(place / 20 for place in range(41))
    lines = (Series("price", x, tuple(40 * (one / 2) ** abs(shape) for one in x), "plain"),)
    marks = tuple(
        Mark(across / 20, float(up), f"M{place}" + "n" * long[place])
        for place, (across, up) in enumerate(points)
    )
    view = CurveView("t", "x", "y", lines, marks, (0.4, 1.1) if shape > 0 else None, "allowed")
    assert_names_are_clear(view, width, size)


def test_points_of_one_level_keep_their_names():
    """Found on Budget: “chosen”, of the point at 288, stood beside the one at 58."""
    x = tuple(place / 40 for place in range(1, 41))
    line = Series("price", x, tuple(2130 * math.exp(-1 / one) for one in x), "plain")
    marks = tuple(
        Mark(0.5, amount, name)
        for amount, name in ((288.0, "ε 0.5, chosen"), (58.0, "AT 2020, 100 each"), (144.0, "NL 2021, 250"))
    )
    view = CurveView("t", "ε", "thousand €", (line,), marks, (0.0, 0.56), "what was decided")
    for width in (340, 480, 700):
        assert_names_are_clear(view, width, 13.0)


def test_a_cell_of_very_many_letters_is_cut_in_one_pass(monkeypatch):
    """Before, a release whose cells had 20,000 letters did not end: each cut measured all of them."""
    measured = []

    def counted(words, size, *, bold=False):
        measured.append(len(words))
        return width_of(words, size, bold=bold)

    monkeypatch.setattr(canvas, "width_of", counted)
    style = canvas.Style(LIGHT, "en", 9.0, ("Inter",))
    for words in ("x" * 20_000, "two words " * 2_000, "ä"):
        measured.clear()
        lines = style.lines(words, 60.0)
        assert len(lines) <= 2 and all(style.width(line) <= 60 for line in lines)
        assert lines[0] and words.startswith(lines[0])
        assert sum(measured) < 10 * len(words) + 200
