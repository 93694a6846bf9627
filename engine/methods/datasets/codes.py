"""Codes of a model from outside, moved by lot, of which those leave that many people could have led to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.methods import option
from engine.methods.datasets.seeds.boxes import Boxes, Declared
from engine.methods.datasets.seeds.foreseeing import passing_boxes
from engine.methods.datasets.seeds.method import COLUMNS, SeedMethod
from engine.methods.parameters import Problem
from engine.methods.protocol import Reference
from engine.methods.shared.column_cells import BINS, NUMBERS, OWN_EDGES
from engine.once import once
from engine.views import Text

ID = "datasets.codes"
WORDS = f"methods.{ID}"
MOST_CODES = 50
WIDEST = 16


class Codes(SeedMethod):
    """Latent codes of people in, codes out of which each could have come from many of them.

    Notes
    -----
    Somebody encodes each person's record (an image, a text, a long row) as a few numbers with a model that
    was learnt elsewhere; whoever has its other half reads released codes back. Here a code is a point on a
    grid of declared steps. It is moved by lot within a box and leaves if enough other people stand in the box
    around where it landed: V. Bindschaedler (2018), chapter 10 and section 6.3.2, with a crowd that is
    exactly as likely (r = 1) and the guarantee of the whole table, not of one code.

    What the model itself gives away about the people whom it was learnt from is not bounded here.
    """

    id = ID
    promises = ("approximate_dp",)
    published = Reference(
        "Bindschaedler: Privacy-preserving seedbased data synthesis (2018)",
        "chapter 10, mechanism 3.1, corollary 4.1",
        "hdl:2142/101478",
    )

    class Options(SeedMethod.Options):
        columns: option.Names = replace(COLUMNS, maximum=MOST_CODES, column_kinds=NUMBERS)
        reach: int = option.integer(default=2, minimum=1, maximum=WIDEST)
        bins: int = BINS
        edges: Mapping[str, option.Edges] = OWN_EDGES

    options: Options

    @once
    def own_problems(self) -> list[Problem]:
        return []

    @once
    def learning(self) -> Declared:
        sizes = tuple(one.size for one in self.cells)
        return Declared(Boxes(sizes, self.options.reach))

    def passing(self, crowd: float) -> tuple[float, float]:
        boxes = self.learning.boxes
        return passing_boxes(boxes.sizes, boxes.reach, crowd)

    @once
    def note(self) -> Text:
        return Text(f"{WORDS}.notes.reach", {"reach": self.options.reach})
