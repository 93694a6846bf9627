"""Lets matplotlib draw straight onto paper: lines as lines, words as words in the embedded fonts.

The detour over SVG would turn words into outlines, which nobody can search, copy or have read out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fpdf.drawing import PaintedPath
from matplotlib.backend_bases import RendererBase
from matplotlib.path import Path as Outline
from matplotlib.transforms import Affine2D

from engine.release.report.paper import Paper, Type

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class PaperRenderer(RendererBase):
    """Draws one figure into a box of a page; one unit is one point."""

    def __init__(self, paper: Paper, x: float, y: float, width: float, height: float) -> None:
        super().__init__()
        self._paper, self._x, self._y = paper, x, y
        self._width, self._height = width, height

    def get_canvas_width_height(self) -> tuple[float, float]:
        """Return the size of the figure in points."""
        return self._width, self._height

    def flipy(self) -> bool:
        """Say that heights grow downwards, as on paper."""
        return True

    def points_to_pixels(self, points: Any) -> Any:
        """Return points: the unit of the page."""
        return points

    def draw_path(self, gc: Any, path: Any, transform: Any, rgbFace: Any = None) -> None:
        """Draw a line or an area."""
        flip = transform + Affine2D().scale(1, -1).translate(self._x, self._y + self._height)
        stroke = gc.get_linewidth() > 0 and gc.get_rgb()[3] > 0
        filled = rgbFace is not None and (len(rgbFace) < 4 or rgbFace[3] > 0)
        if not stroke and not filled:
            return
        painted = PaintedPath()
        painted.style.auto_close = False
        painted.style.fill_color = _colour(rgbFace) if filled else None
        painted.style.stroke_color = _colour(gc.get_rgb()) if stroke else None
        if stroke:
            painted.style.stroke_width = float(gc.get_linewidth())
            painted.style.stroke_cap_style = str(gc.get_capstyle()).replace("projecting", "square")
            painted.style.stroke_join_style = str(gc.get_joinstyle())
            offset, dashes = gc.get_dashes()
            painted.style.stroke_dash_pattern = None if dashes is None else tuple(float(d) for d in dashes)
            painted.style.stroke_dash_phase = float(offset or 0)
        _trace(painted, path.transformed(flip))
        self._clipped(gc, painted)

    def _clipped(self, gc: Any, painted: Any) -> None:
        box = gc.get_clip_rectangle()
        if box is None:
            self._paper.draw_path(painted, copy=False)
            return
        x, y = self._x + box.x0, self._y + self._height - box.y1
        with self._paper.rect_clip(x=x, y=y, w=box.width, h=box.height):
            self._paper.draw_path(painted, copy=False)

    def draw_image(self, gc: Any, x: float, y: float, im: Any, transform: Any = None) -> None:
        """Refuse pictures: every drawing of a report is made of lines, areas and words."""
        raise NotImplementedError("drawings of a report hold no pixels")

    def draw_text(
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        """Write words with their baseline at a point, turned anticlockwise by an angle in degrees."""
        kind = _type(prop, gc)
        left, baseline = self._x + float(x), self._y + float(y)
        if angle:
            with self._paper.rotation(angle, left, baseline):
                self._paper.place(left, baseline, s, kind)
        else:
            self._paper.place(left, baseline, s, kind)

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        """Measure words as the page will set them."""
        size = prop.get_size_in_points()
        return self._paper.width_of(s, _type(prop, None)), size * 0.95, size * 0.21


def _type(prop: Any, gc: Any) -> Type:
    from matplotlib.colors import to_hex

    weight = prop.get_weight()
    bold = weight in ("bold", "semibold") or (isinstance(weight, int) and weight >= 600)
    colour = "#000000" if gc is None else to_hex(gc.get_rgb())
    return Type("bold" if bold else "plain", float(prop.get_size_in_points()), colour)


def _colour(values: Any) -> Any:
    from fpdf.drawing_primitives import DeviceRGB

    return DeviceRGB(float(values[0]), float(values[1]), float(values[2]))


def _trace(painted: PaintedPath, path: Any) -> None:
    """Copy an outline; a quadratic curve is written as the cubic one with the same shape."""
    x0 = y0 = 0.0
    for points, code in path.iter_segments(curves=True, simplify=False):
        ends = [float(value) for value in points]
        if code == Outline.MOVETO:
            painted.move_to(*ends)
        elif code == Outline.LINETO:
            painted.line_to(*ends)
        elif code == Outline.CURVE3:
            x1, y1, x2, y2 = ends
            painted.curve_to(
                x0 + 2 / 3 * (x1 - x0),
                y0 + 2 / 3 * (y1 - y0),
                x2 + 2 / 3 * (x1 - x2),
                y2 + 2 / 3 * (y1 - y2),
                x2,
                y2,
            )
        elif code == Outline.CURVE4:
            painted.curve_to(*ends)
        elif code == Outline.CLOSEPOLY:
            painted.close()
            continue
        x0, y0 = ends[-2:]


def paint(paper: Paper, figure: Figure, x: float, y: float) -> None:
    """Draw a figure with its upper left corner at a point of the page, one inch of it as 72 points."""
    figure.set_dpi(72)
    figure.patch.set_visible(False)
    width, height = (float(side) * 72 for side in figure.get_size_inches())
    figure.draw(PaperRenderer(paper, x, y, width, height))
