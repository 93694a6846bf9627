"""Rows from seeds, one after the other, until there are as many as were asked for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.methods.datasets.seeds.crowds import Crowd, in_same_bin, weigh_crowd
from engine.methods.datasets.seeds.filtering import smallest_crowd
from engine.methods.datasets.seeds.models import SeedModel
from engine.privacy.mechanisms.seeded_rows import SeededRows
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Codes = arrays.Integers

SMALLEST_BATCH = 256
MOST_LEVELS = 200


@dataclass(frozen=True)
class Made:
    """Rows that passed, shape (rows, columns), and what nobody outside may know.

    ``tried`` rows were made from seeds, of which ``unsure`` would not have passed as good as surely from
    every seed, and ``sharp`` have a crowd of at least the threshold (privacy test 4.1, which bounds no loss);
    ``alone`` of those that leave are from the model alone; ``untested`` are the first that were made from
    seeds, as many as leave, whether they passed or not.
    """

    rows: Codes
    tried: int
    unsure: int
    sharp: int
    alone: int
    untested: Codes


def make_rows(
    model: SeedModel, seeds: Codes, test: SeededRows, noise: Noise, *, progress: Progress = SILENT
) -> Made:
    """Return as many rows as the test was planned for.

    Parameters
    ----------
    model
        Learnt from nobody among the seeds.
    seeds
        Shape (n, columns); there may be none.
    test
        The declared test; its ``count`` says how many rows leave.
    noise
        The noise door.

    Notes
    -----
    Bindschaedler (2018), mechanism 3.1, until a row passes. What did not pass is never told: see
    `SeededRows` for what that costs. Every twentieth or so row is from the model alone, so that it ends.
    """
    crowds, batch = model.crowds(seeds), model.batch(seeds)
    kept: list[Codes] = []
    before: list[Codes] = []
    missing, tried, unsure, sharp, alone = test.count, 0, 0, 0, 0
    while missing:
        progress.step(1 - missing / test.count, "synthesis.seeds")
        n = min(batch, max(SMALLEST_BATCH, 2 * missing))
        source = _sources(len(seeds), test, n, noise)
        from_seed = np.flatnonzero(source >= 0)
        of = seeds[source[from_seed]]
        rows = np.empty((n, seeds.shape[1]), dtype=np.int64)
        rows[from_seed] = model.made(of, noise)
        rows[source < 0] = model.alone(n - len(from_seed), noise)
        passing = np.ones(n, dtype=bool)
        if len(from_seed):
            crowd = crowds(rows[from_seed], of)
            scores = score(crowd, test)
            passing[from_seed] = passes(scores, test, noise)
            sharp += int((scores >= test.threshold).sum())
            if crowd.logs.shape[1] <= MOST_LEVELS:
                unsure += int((smallest_crowd(crowd, test) < test.nearly_sure).sum())
            else:  # as many levels as seeds: it would take longer than the test
                unsure += len(from_seed)
        places = np.flatnonzero(passing)[:missing]
        kept.append(rows[places])
        before.append(rows[from_seed][: max(0, test.count - tried)])
        alone += int((source[places] < 0).sum())
        missing -= len(places)
        tried += len(from_seed)
    return Made(np.concatenate(kept), tried, unsure, sharp, alone, np.concatenate(before))


def score(crowd: Crowd, test: SeededRows) -> Codes:
    """Return the size of the crowd of every row, as the test counts it."""
    return weigh_crowd(crowd) if test.ratio == 1 else in_same_bin(crowd, ratio=float(test.ratio))


def passes(scores: Codes, test: SeededRows, noise: Noise) -> npt.NDArray[np.bool_]:
    """Draw which rows pass, by the sizes of their crowds."""
    return test.passed(scores, noise)


def _sources(seeds: int, test: SeededRows, n: int, noise: Noise) -> Codes:
    """Return the seed of every try, −1 for the model alone, which weighs q · max(seeds, t)."""
    share = Fraction(test.alone)
    weight, each = share.numerator * max(seeds, test.least), share.denominator
    drawn = noise.uniform_below(seeds * each + weight, n)
    return np.where(drawn < seeds * each, drawn // each, -1)
