"""What models from sums of products share: their noise, their sums, and how large that noise is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.methods import option
from engine.methods.budget import is_replace_one
from engine.methods.models.design import Design
from engine.methods.models.held_out import ScoredModel, fit_budget
from engine.methods.models.monomials import Floats, Monomials, largest_change, largest_squared_change
from engine.once import once
from engine.privacy.accuracy import spread_of_sites
from engine.privacy.mechanisms import CountNoise, GaussianCounts, LaplaceCounts

if TYPE_CHECKING:
    from engine.privacy.mechanisms.integers import Integers
    from engine.table.table import Table

FINEST, COARSEST = 12, 6  # the grid has 2^this steps on either side of the middle
ROOM = 52  # squared sensitivities stay below two to this power, so that they are exact in doubles
STEPS, SUMS = "steps", "sums"


class ProductSums(ScoredModel):
    """A model of a target that is fitted in noisy steps, or from the products of all coordinates, asked once.

    Notes
    -----
    Sums: the coefficients of the squared loss get integer noise, each once. Sensitivities:
    `engine.methods.models.monomials`.
    """

    class Options(ScoredModel.Options):
        target: str
        predictors: option.Names
        fit: str

    options: Options

    @property
    def asks_once(self) -> bool:
        """Every step, and a score of the model, hangs on noisy numbers of the site itself."""
        return not self.takes_steps and not self.scores

    @once
    def takes_steps(self) -> bool:
        """Whether noisy gradients are asked for, else the sums of all products once."""
        return bool(self.options.fit == STEPS)

    @once
    def design(self) -> Design:
        """Return what the coordinates of a row are."""
        schema, options = self.request.schema, self.options
        return Design(schema.column(options.target), tuple(map(schema.column, options.predictors)))

    @once
    def per_side(self) -> int:
        """Return the steps of the grid on either side of the middle, a power of two."""
        squared = self.request.rows_per_person**2 * largest_squared_change(**self._shape)
        return int(2 ** min(FINEST, max(COARSEST, (ROOM - squared.bit_length()) // 4)))

    @once
    def mechanism(self) -> CountNoise:
        """Return the noise that the budget buys, in whole steps of a product."""
        budget, rows, square = fit_budget(self.paid), self.request.rows_per_person, self.per_side**2
        if budget.delta:
            squared = largest_squared_change(**self._shape) * (rows * square) ** 2
            return GaussianCounts(squared, budget.epsilon, budget.delta)
        return LaplaceCounts(largest_change(**self._shape) * rows * square, budget.epsilon)

    @once
    def _shape(self) -> dict[str, Any]:
        widths = self.design.widths
        blocks = sum(width > 0 for width in widths)
        return {
            "numbers": len(widths) - blocks,
            "blocks": blocks,
            "replace_one": is_replace_one(self.request),
        }

    @once
    def spread(self) -> float:
        """Return the standard deviation of the noise of a product of coordinates between −1 and 1.

        Of all sites that add some, where there are several.
        """
        mechanism = self.mechanism
        scale = float(mechanism.scale) * (1.0 if isinstance(mechanism, GaussianCounts) else np.sqrt(2))
        return float(scale / self.per_side**2) * spread_of_sites()

    def coefficients(self, table: Table) -> Integers:
        """Return the exact coefficients in whole steps: the only part that sees rows."""
        design = self.design
        chunks = design.chunks(table.rows(), per_side=self.per_side)
        return Monomials(design.widths).sums(chunks)

    def products(self, noisy: Integers) -> tuple[Floats, Floats]:
        """Return X'X and X'y from noisy coefficients."""
        return Monomials(self.design.widths).matrix(noisy / self.per_side**2)
