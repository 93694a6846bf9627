"""Invented rows from seeds that became points of few dimensions, and were read back by lot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from engine.methods import option
from engine.methods.datasets.latent_model.moments import Moments
from engine.methods.datasets.latent_model.teaching import Teaching
from engine.methods.datasets.seeds.foreseeing import passing_points
from engine.methods.datasets.seeds.learning import PAIRS, Learning
from engine.methods.datasets.seeds.method import COLUMNS, MODEL_SHARE, RATIO, SeedMethod, level_of, model_rows
from engine.methods.parameters import Problem
from engine.methods.protocol import Reference
from engine.methods.shared.column_cells import BINS, OWN_EDGES
from engine.once import once
from engine.views import Text

ID = "datasets.latent"
WORDS = f"methods.{ID}"
LARGEST_TABLE = 1_500
"""Cells of all columns together: every pair of them is counted."""
MOST_COLUMNS = 60
AUTOENCODER, COMPONENTS = "autoencoder", "components"
FLATTER = 0.6
"""What a network reads back of a seed is nearer to what it reads back of others than by components."""


class Latent(SeedMethod):
    """A synthetic table by a small autoencoder or principal components, under the test of bins.

    Notes
    -----
    From one part of the people it is learnt with noise which points of few dimensions stand for rows. A seed
    of the other part becomes such a point, and is read back as shares from which every column is drawn. A row
    leaves only if enough other seeds could have led to it about as likely: V. Bindschaedler (2018), sections
    6.3.2 and 6.3.4 with privacy test 4.2. There the models were learnt without protection; here they are paid
    for: see `Teaching` for the autoencoder, `Moments` for principal components.

    The fewer dimensions, the larger the crowds, and the less a row tells of its seed. Mean distance of pairs
    of columns of rows drawn from seeds, by 3 dimensions, on Adult at ε = 1 (14 columns, half of the people
    are seeds): autoencoder .057, components .080; of 10,000 people .080 and .142, of 4,000 .122 and .209.
    """

    id = ID
    refuses_idle_seeds = True
    promises = ("plausible_deniability",)
    published = Reference(
        "Bindschaedler: Privacy-preserving seedbased data synthesis (2018)",
        "sections 6.3.2 and 6.3.4, privacy test 4.2",
        "hdl:2142/101478",
    )

    class Options(SeedMethod.Options):
        columns: option.Names = replace(COLUMNS, maximum=MOST_COLUMNS)
        model: str = option.choice(AUTOENCODER, COMPONENTS, default=AUTOENCODER)
        dimensions: int = option.integer(default=3, minimum=1, maximum=50)
        model_share: Fraction = MODEL_SHARE
        ratio: Fraction = RATIO
        bins: int = BINS
        edges: Mapping[str, option.Edges] = OWN_EDGES

    options: Options

    @once
    def own_problems(self) -> list[Problem]:
        cells = sum(one.size for one in self.cells)
        if cells <= LARGEST_TABLE:
            return []
        return [Problem(f"{ID}.too_many_cells", {"cells": cells, "most": LARGEST_TABLE}, "columns")]

    @once
    def learning(self) -> Moments | Teaching:
        cells = self.cells
        sizes, level, people = (
            tuple(one.size for one in cells),
            level_of(self),
            model_rows(self),
        )
        dimensions = self.options.dimensions
        if self.options.model == COMPONENTS:
            return Moments(sizes, *level, dimensions, people)
        source = Learning(PAIRS, sizes, tuple(one.ordered for one in cells), *level, people)
        return Teaching(source, dimensions)

    def passing(self, crowd: float) -> tuple[float, float]:
        flatter = 1.0 if self.options.model == COMPONENTS else FLATTER
        return passing_points(len(self.options.columns), self.options.dimensions, crowd, flatter=flatter)

    @once
    def note(self) -> Text:
        return Text(f"{WORDS}.notes.dimensions", {"dimensions": self.options.dimensions})
