"""Invented rows from seeds that became points of few dimensions, and were read back by lot."""

from __future__ import annotations

from dataclasses import replace

from engine.methods.datasets.latent_model.moments import Moments
from engine.methods.datasets.seeds.method import FIRST, MODEL_SHARE, RATIO, SeedMethod, level_of, model_rows
from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import Reference, Request
from engine.methods.shared.column_cells import BINS, OWN_EDGES
from engine.views import Text

ID = "datasets.latent"
WORDS = f"methods.{ID}"
LARGEST_TABLE = 1_500
"""Cells of all columns together: every pair of them is counted."""
MOST_COLUMNS = 60


class Latent(SeedMethod):
    """A synthetic table by principal components with probabilistic projection, under the test of bins.

    Notes
    -----
    From one part of the people the counts of all pairs of cells are taken with normal noise, and principal
    components made of them. A seed of the other part becomes a point along these components, and is read back
    as shares from which every column is drawn. A row leaves only if enough other seeds could have led to it
    about as likely: V. Bindschaedler (2018), sections 6.3.2 and 6.3.4 with privacy test 4.2. There the
    components were learnt without protection; here they are paid for.

    The fewer dimensions, the larger the crowds, and the less a row tells of its seed.
    """

    id = ID
    promises = ("plausible_deniability",)
    published = Reference(
        "Bindschaedler: Privacy-preserving seedbased data synthesis (2018)",
        "sections 6.3.2 and 6.3.4, privacy test 4.2",
        "hdl:2142/101478",
    )
    parameters = (
        replace(FIRST[0], maximum=MOST_COLUMNS),
        *FIRST[1:],
        Parameter("dimensions", ParameterKind.INTEGER, default=3, minimum=1, maximum=50),
        MODEL_SHARE,
        RATIO,
        BINS,
        OWN_EDGES,
    )

    def own_problems(self, request: Request) -> list[Problem]:
        cells = sum(one.size for one in self.cells(request))
        if cells <= LARGEST_TABLE:
            return []
        return [Problem(f"{ID}.too_many_cells", {"cells": cells, "most": LARGEST_TABLE}, "columns")]

    def learning(self, request: Request) -> Moments:
        sizes = tuple(one.size for one in self.cells(request))
        return Moments(sizes, *level_of(request), request.values["dimensions"], model_rows(request))

    def note(self, request: Request) -> Text:
        return Text(f"{WORDS}.notes.dimensions", {"dimensions": request.values["dimensions"]})
