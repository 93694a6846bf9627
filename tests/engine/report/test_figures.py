"""Views as figures of matplotlib: every kind, every format, what is shown, and what stays."""

from __future__ import annotations

import csv
import io
import math
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.text import Text as Words
from PIL import Image

from engine.formulas import escape_formula
from engine.report import figures
from engine.report.drawing.names import distance, meet
from engine.views import (
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
    weak,
)

ROOT = Path(__file__).resolve().parents[3]
ODD = "_$a_{b}$ <&> =1+1 Ж"
LINE = Series(ODD, (0.1, 0.5, float("inf")), (1.0, 4.0, 9.0), "accent")
VIEWS = (
    NumberView(ODD, 4259, Text("methods.statistics.counts.numbers.count"), "people"),
    TableView(ODD, (ODD, "count"), ((ODD, 12), ("m", None), ("x", weak(3)))),
    BarsView(ODD, (ODD, "m"), (12.0, 8.0), "people", (10.0, 6.0), (14.0, 10.0), Text("views.value")),
    IntervalsView(ODD, (ODD, "m"), (1.0, 2.0), (0.5, -float("inf")), (1.5, float("inf")), "years"),
    CurveView(
        *(ODD, "ε", "€", (LINE, Series("b", (0.1, 1.0), (2.0, 3.0), "dotted"))),
        *((Mark(0.5, 4.0, ODD),), (0.2, 0.4), ODD, (LINE, LINE)),
    ),
    ScatterView(ODD, "lost", "left out", (LINE, Series("two", (0.2,), (2.0,), "dashed"))),
    HeatmapView(ODD, (ODD, "b"), ("c", "d"), ((1.0, None), (3.0, 4.0))),
    MatrixView(ODD, (ODD, "b"), ((1.0, 0.5), (0.5, 1.0))),
    GraphView(ODD, (ODD, "b"), ((0, 1, 0.5), (1, 0, -1.0))),
    TextView(ODD, (Text("views.value"),)),
)
EMPTY = (
    TableView("T", (), ()),
    BarsView("B", (), (), "people"),
    IntervalsView("I", (), (), (), (), "people"),
    CurveView("C", "x", "y", ()),
    ScatterView("S", "x", "y", ()),
    HeatmapView("H", (), (), ()),
    MatrixView("M", (), ()),
    GraphView("G", (), ()),
    TextView("W", ()),
)


def kind(view: object) -> str:
    return view.kind  # type: ignore[attr-defined]


def test_every_kind_is_tried() -> None:
    assert {type(view) for view in VIEWS} == set(KINDS)


@pytest.mark.parametrize(
    ("view", "stays"),
    [*((view, True) for view in (*VIEWS, *EMPTY)), *((view, False) for view in VIEWS)],
    ids=lambda given: given if isinstance(given, bool) else kind(given),
)
def test_every_kind_is_saved_in_every_format_and_says_what_stays(
    tmp_path: Path, view: object, stays: bool
) -> None:
    for ending in figures.FORMATS:
        path = view.save(tmp_path / f"a.{ending}", stays=stays)
        if ending == "pdf":
            import pypdf

            found = pypdf.PdfReader(path)
            written = "".join(page.extract_text() for page in found.pages) + str(
                found.metadata.get("/Keywords")
            )
        elif ending == "png":
            written = str(Image.open(path).text)
        else:
            written = path.read_text(encoding="utf-8")
        assert ("stays here" in written) == stays, ending
    for ending in ("svg", "pdf") if stays else ():  # the same bytes each time; without the mark no others
        view.save(tmp_path / f"b.{ending}", stays=stays)
        assert (tmp_path / f"b.{ending}").read_bytes() == (tmp_path / f"a.{ending}").read_bytes()


def test_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pdf, png, svg, csv"):
        VIEWS[2].save(tmp_path / "a.exe")


@pytest.mark.parametrize("view", VIEWS[1:-1], ids=kind)
def test_numbers_are_written_in_full_and_no_cell_is_a_formula(view: object) -> None:
    hidden = ("\u200b=1+1", "\u00a0=1+1", "\uff1d1+1", "a;=1+1", "-1+1")
    said = figures.as_csv(TableView("T", ("name",), tuple((one,) for one in hidden)))
    for one, (told,) in zip(hidden, list(csv.reader(io.StringIO(said)))[1:], strict=True):
        assert told == escape_formula(one) != one
    odd = figures.as_csv(TableView("T", ("=1+1", "@x"), (("-a", -1.5), ("+b", weak(0.1 + 0.2)))))
    rows = list(csv.reader(io.StringIO(odd)))
    assert rows == [["'=1+1", "'@x"], ["'-a", "-1.5"], ["'+b", repr(0.1 + 0.2)]]
    table = as_table(view)
    found = list(csv.reader(io.StringIO(figures.as_csv(view))))
    assert len(found) == len(table.rows) + 1
    for row, cells in zip(table.rows, found[1:], strict=True):
        for value, cell in zip(row, cells, strict=True):
            if isinstance(value, float | int):
                assert float(cell) == value


@pytest.mark.parametrize("view", VIEWS, ids=kind)
def test_every_value_lies_where_it_is_read_out(view: object) -> None:
    pixels = figures.paint(view, 800, 500, ratio=1.5)
    assert (pixels.width, pixels.height) == (1200, 750) and len(pixels.rgba) == 4 * 1200 * 750
    assert all(type(number) is float for pair in (pixels.box, *pixels.limits) for number in pair)
    for x, y, row in figures.places(view):
        across, down = pixels.place_of(x, y)
        assert pixels.box[0] - 1 <= across <= pixels.box[2] + 1
        assert pixels.box[1] - 1 <= down <= pixels.box[3] + 1
        assert pixels.value_at(across, down) == pytest.approx((x, y))
        assert 0 <= row < len(as_table(view).rows)
    part = figures.paint(view, 800, 500, limits=((0.0, 0.5), (1.0, 2.0)))
    assert part.limits == ((0.0, 0.5), (1.0, 2.0))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("view", VIEWS[2:-1], ids=kind)
def test_a_part_leaves_nothing_beside_the_axes(view: object) -> None:
    """Words that lie outside of what is shown are not written over the edge, and take no room."""
    whole = figures.paint(view, 800, 500)
    (left, right), (low, high) = whole.limits
    part = figures.paint(
        view, 800, 500, limits=((left, left + (right - left) / 50), (low, low + (high - low) / 50))
    )
    assert part.box[2] - part.box[0] > 400 and part.box[3] - part.box[1] > 250


def test_bars_and_points_are_painted_where_they_are_said_to_be() -> None:
    """Look at the dots: a wrong reading of the axes would show here alone."""
    bars = BarsView("B", ("a", "b"), (10.0, 5.0), "people")
    pixels = figures.paint(bars, 800, 300)
    image = Image.frombytes("RGBA", (pixels.width, pixels.height), pixels.rgba).convert("RGB")

    def at(x: float, y: float) -> tuple[int, ...]:
        across, down = pixels.place_of(x, y)
        return image.getpixel((round(across), round(down)))

    accent = tuple(int(figures.LIGHT.accent[place : place + 2], 16) for place in (1, 3, 5))
    assert at(9.5, 0) == at(4.5, 1) == accent
    assert at(5.3, 1) != accent


@pytest.mark.parametrize("dark", [True, False])
def test_colours_follow_the_surface_and_settings_of_a_notebook_stay(dark: bool) -> None:
    before = dict(mpl.rcParams)
    made = VIEWS[2].figure(dark=dark)
    assert (
        mpl.colors.to_hex(made.get_facecolor()).upper() == (figures.DARK if dark else figures.LIGHT).surface
    )
    assert dict(mpl.rcParams) == before


@pytest.mark.guarantee
def test_nothing_of_it_is_loaded_before_a_figure_is_asked_for(tmp_path: Path) -> None:
    code = (
        "import sys, engine, engine.views, engine.report.drawing, engine.warm_up\n"
        "engine.warm_up.warm_up()\n"
        "print('matplotlib' in sys.modules)\n"
        "engine.views.BarsView('B', ('a',), (1.0,), 'people').save(sys.argv[1])\n"
        "print('matplotlib.pyplot' in sys.modules)"  # no state of its own, no window
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.pdf")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def extent(figure, said):
    """Return the box of words alone, upwards from below."""
    return np.array(Words.get_window_extent(said).extents)


def assert_names_are_clear(figure):
    axes = figure.axes[0]
    figure.draw_without_rendering()
    marks = [one for one in axes.texts if one.get_gid() == figures.MARK and one.get_visible()]
    names = [one for one in axes.texts if one.get_text() and one.get_visible()]
    boxes = {id(one): extent(figure, one) for one in names}
    whole = figure.bbox.extents
    points = [axes.transData.transform(one.xy) for one in marks]
    for place, one in enumerate(marks):
        box = boxes[id(one)]
        assert (box[:2] >= whole[:2]).all() and (box[2:] <= whole[2:]).all(), one.get_text()
        far = [distance(tuple(box), tuple(point)) for point in points]
        other = min((far[at] for at in range(len(far)) if at != place), default=math.inf)
        assert one.arrow_patch.get_visible() or far[place] < other, (one.get_text(), far)
    for place, one in enumerate(names):
        for other in names[:place]:
            assert not meet(tuple(boxes[id(one)]), tuple(boxes[id(other)])), (
                one.get_text(),
                other.get_text(),
            )
    return marks


@pytest.mark.parametrize("seed", range(3))
def test_each_name_of_a_point_is_seen_to_be_its_own(seed):
    chosen = np.random.default_rng(seed)
    x = tuple(map(float, np.linspace(0.05, 1, 20)))
    lines = tuple(Series(f"line {place}", x, tuple(40 * one**place for one in x)) for place in (1, 2, 3))
    places = chosen.integers(1, 20, (5, 2)) / (20, 0.5)
    places[1, 0] = places[0, 0]
    marks = tuple(
        Mark(float(a), float(b), f"point {place}" + "n" * (8 * place)) for place, (a, b) in enumerate(places)
    )
    view = CurveView("t", "x", "y", lines, marks, (0.3, 0.7), "allowed")
    made = figures.figure(view, width=9, height=4.5)
    assert len(assert_names_are_clear(made)) == 5
    left, right = sorted(places[:2, 1])  # a closer look: names of what is outside are not shown
    made.axes[0].set_ylim(left - 1, right + 1)
    figures._set_names(made)
    assert_names_are_clear(made)


@pytest.mark.parametrize("kind", [ScatterView, CurveView])
def test_names_beside_a_picture_are_whole_and_within_it(kind: type) -> None:
    names = [f"{first} lines with a name that goes on and on, well beyond forty letters" for first in "AB"]
    series = tuple(Series(name, (0.0, 1.0), (at, at + 1.0), "plain") for at, name in enumerate(names))
    made = figures.figure(kind("Title", "x", "y", series), width=13.0, height=6.0)
    made.draw_without_rendering()
    axes = made.axes[0]
    said = list(axes.texts) if kind is CurveView else list(axes.get_legend().get_texts())
    whole = [one for one in said if one.get_text().replace("\n", " ") in names]
    assert len(whole) == 2
    for one in whole:
        assert max(map(len, one.get_text().split("\n"))) <= 40
        box = Words.get_window_extent(one)
        assert box.x0 >= 0 and box.x1 <= made.bbox.x1 + 1 and box.y1 <= made.bbox.y1 + 1
