"""No small cell can be worked out from the printed ones: a property of the table, no bound on the loss."""

from __future__ import annotations

from engine.privacy.promise import PromiseKind


class SmallCells(PromiseKind):
    """Every hidden cell below the threshold keeps an interval up to it. Fischetti and Salazar 2001."""

    id = "small_cells"
    bounded = False
    terms = ("threshold",)
