"""Which relations between columns the noisy tables of a model carry: of released numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from engine.methods.datasets.marginal_model.agreement import GAUSSIAN, LAPLACE, Moments, limits
from engine.methods.datasets.marginal_model.fitting import Measured, Model
from engine.methods.datasets.marginal_model.junction_tree import Attributes
from engine.methods.datasets.synthesis.related import CHANCE, Relations


def relations(model: Model, measured: Sequence[Measured], *, is_gaussian: bool) -> Relations:
    """Say of every set of columns that was measured together whether more than noise and chance is in it.

    Notes
    -----
    Were the columns independent, the noisy table would differ from the product m of their shares by its noise
    and by chance among people alone, of variance σ² + m as for counts of a Poisson distribution, and
    Σ (noisy count − m)² / (σ² + m) pass the limit of K cells of noise in at most `CHANCE` of all cases. That
    the product follows the rows makes it smaller still: what is not told may be there. A set that was
    measured several times is told where one of its tables tells it, each at its share.
    """
    moments = GAUSSIAN if is_gaussian else LAPLACE
    found: dict[Attributes, list[Measured]] = {}
    for one in measured:
        if len(one.attributes) > 1:
            found.setdefault(one.attributes, []).append(one)
    told = {
        name
        for name, tables in found.items()
        if any(_is_told(model, one, moments, len(tables)) for one in tables)
    }
    return Relations.of([(name, name in told) for name in found])


def _is_told(model: Model, one: Measured, moments: Moments, times: int) -> bool:
    shares = [model.table((place,)) / model.total for place in one.attributes]
    alone = model.total * reduce(np.multiply.outer, shares)
    expected = one.coarse(alone)
    off = (expected - one.counts) / np.sqrt(one.deviation**2 + expected)
    limit = limits(np.array([float(one.counts.size)]), moments, CHANCE / times)[0]
    return bool(np.vdot(off, off) > limit)
