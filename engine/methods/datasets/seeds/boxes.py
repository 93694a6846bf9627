"""Points that were moved by lot within a box: whoever stands in the box around one could have led to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.methods.datasets.seeds.crowds import Crowd
from engine.methods.datasets.seeds.models import SeedModel
from engine.methods.datasets.synthesis.related import NOT_ASKED
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Codes = arrays.Integers

_MOST_PAIRS = 1 << 22


@dataclass(frozen=True)
class Boxes(SeedModel):
    """Moves every coordinate of a seed by a whole number of steps, each of −reach … reach equally likely.

    Parameters
    ----------
    sizes
        Steps of every coordinate, the last of which stands for a missing value and is never moved.
    reach
        How far, in steps.

    Notes
    -----
    A point y has from a seed d the same likelihood as from any other within ``reach`` of y in every
    coordinate, and none from all others: the crowd is whoever stands in the box around y, and r = 1 exactly.
    Noise in latent space as in V. Bindschaedler (2018), section 6.3.2, by lots in place of normal numbers. A
    point may land beyond the first and the last step: it is tested there, and moved to the edge afterwards.
    """

    sizes: tuple[int, ...]
    reach: int
    relations = NOT_ASKED  # none was looked for: it reads nobody

    @property
    def order(self) -> tuple[int, ...]:
        """Coordinates stay in their order."""
        return tuple(range(len(self.sizes)))

    def model(self, *, fewest: int, most: int) -> Boxes:
        """Return itself: every coordinate is moved."""
        return self

    def batch(self, seeds: Codes) -> int:
        return max(16, _MOST_PAIRS // max(1, len(seeds)))

    def made(self, seeds: Codes, noise: Noise) -> Codes:
        by = noise.uniform_below(2 * self.reach + 1, seeds.size).reshape(seeds.shape) - self.reach
        return np.asarray(np.where(self._missing(seeds), self._far(seeds), seeds + by), dtype=np.int64)

    def alone(self, n: int, noise: Noise) -> Codes:
        places = [noise.uniform_below(size - 1, n) for size in self.sizes]
        return np.column_stack(places)

    def crowds(self, seeds: Codes) -> Callable[[Codes, Codes], Crowd]:
        stand = self._far(seeds)
        log = -len(self.sizes) * float(np.log(2 * self.reach + 1))

        def crowd(rows: Codes, of: Codes) -> Crowd:
            inside = np.ones((len(rows), len(stand)), dtype=bool)
            for one, other in zip(rows.T, stand.T, strict=True):
                inside &= np.abs(one[:, None] - other) <= self.reach
            within = inside.sum(axis=1)
            logs = np.tile([-np.inf, log], (len(rows), 1))
            own = np.ones(len(rows), dtype=np.int64)
            return Crowd(np.column_stack([len(stand) - within, within]), logs, own)

        return crowd

    def finished(self, rows: Codes) -> Codes:
        last = np.array(self.sizes) - 1
        return np.asarray(np.where(rows > last + self.reach, last, np.clip(rows, 0, last - 1)))

    def _missing(self, seeds: Codes) -> npt.NDArray[np.bool_]:
        return np.asarray(seeds == np.array(self.sizes) - 1)

    def _far(self, seeds: Codes) -> Codes:
        """Put missing values so far away that only other missing ones are near."""
        return np.asarray(seeds + self._missing(seeds) * (2 * self.reach + 2), dtype=np.int64)


@dataclass(frozen=True)
class Declared:
    """A model that nobody taught: it stands in the declarations."""

    boxes: Boxes

    event = None
    deviation = 0.0
    about_rows = 1

    def learnt(self, codes: Codes, noise: Noise, *, progress: Progress = SILENT) -> Boxes:
        """Return it as it was declared."""
        return self.boxes
