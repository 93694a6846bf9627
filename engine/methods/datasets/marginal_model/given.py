"""Rows of a model some of whose columns are known: the others are drawn as the model says, given these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from engine import arrays
from engine.methods.datasets.marginal_model.fitting import Model
from engine.methods.datasets.marginal_model.junction_tree import Attributes, Floats
from engine.methods.datasets.marginal_model.sampling import uniform
from engine.methods.shared.blocks import blocks
from engine.privacy.noise import Noise

Codes = arrays.Whole
MOST_AT_ONCE = 2**22
"""Numbers held at once for a block of rows."""
NEVER = 1e-9
"""Weight of what a clique says of everybody, for combinations of known cells that it gives no share."""


def draw_given(model: Model, known: Attributes, rows: Codes, noise: Noise) -> None:
    """Fill in the columns of rows that are not known, shape (columns, n), by lot.

    Notes
    -----
    Exact, but for `NEVER`. Towards the root every clique passes on, for each combination of known cells, how
    likely what is known below it is; from the root outwards its other columns are drawn (Koller and Friedman
    2009, section 10.3). Only cells of columns that are not known are gone through.
    """
    parts = [_Part.of(model, place, known) for place in range(len(model.tree.cliques))]
    at_once = max(1, MOST_AT_ONCE // max(1, sum(part.cells for part in parts)))
    for block in blocks(rows.shape[1], at_most=at_once):
        own = rows[:, block]
        different, which = np.unique(own[list(known)], axis=1, return_inverse=True)
        cells = np.zeros((len(model.sizes), different.shape[1]), dtype=np.int64)
        cells[list(known)] = different
        beliefs = _beliefs(model, parts, cells)
        for part, belief in zip(parts, beliefs, strict=True):
            if part.rest:
                _draw(part, belief, which.reshape(-1), own, noise)


@dataclass(frozen=True)
class _Part:
    """A clique, its known columns in front: then those that its parent has too, then its own.

    Parameters
    ----------
    fixed, joint, rest
        Columns, see above; ``both`` are those of ``fixed`` that its parent has.
    table, apart
        Its shares, shape (cells of fixed, of joint, of rest), and those of what it shares with its parent,
        shape (cells of both, of joint).
    """

    model: Model
    fixed: Attributes
    both: Attributes
    joint: Attributes
    rest: Attributes
    table: Floats
    apart: Floats

    @staticmethod
    def of(model: Model, place: int, known: Attributes) -> _Part:
        """Return a clique of a model, given which columns are known."""
        tree = model.tree
        clique, shared = tree.cliques[place], tree.joint(place)
        fixed = tuple(one for one in clique if one in known)
        joint = tuple(one for one in shared if one not in known)
        rest = tuple(one for one in clique if one not in known and one not in joint)
        both = tuple(one for one in shared if one in known)
        order = [clique.index(one) for one in (*fixed, *joint, *rest)]
        shape = [prod(tree.shape(part)) for part in (fixed, joint, rest)]
        own = np.transpose(model.shares[place], order)
        away = tuple(axis for axis, one in enumerate((*fixed, *joint, *rest)) if one not in (*both, *joint))
        apart = own.sum(axis=away).reshape(prod(tree.shape(both)), shape[1])
        return _Part(model, fixed, both, joint, rest, own.reshape(shape), apart)

    @property
    def cells(self) -> int:
        """Cells of the columns that are not known."""
        return prod(self.table.shape[1:])

    @property
    def axes(self) -> Attributes:
        """The columns that are not known, in the order of the table."""
        return (*self.joint, *self.rest)

    def at(self, columns: Attributes, cells: Codes) -> arrays.Integers:
        """Return the place of some columns' cells among all of their combinations, shape (n,)."""
        found = np.zeros(cells.shape[1], dtype=np.int64)
        for one in columns:
            found = found * self.model.sizes[one] + cells[one]
        return found


def _beliefs(model: Model, parts: Sequence[_Part], cells: Codes) -> list[Floats]:
    """Return for every clique how likely its other cells are by what is known in it and below it.

    Shapes (combinations, cells of joint, of rest).
    """
    beliefs: list[Floats] = [np.zeros(0)] * len(parts)
    passed: dict[int, Floats] = {}
    for place in reversed(range(len(parts))):
        part = parts[place]
        everybody = part.table.mean(axis=0)
        belief = part.table[part.at(part.fixed, cells)] + NEVER * everybody
        for child, message in _from_children(model, parts, passed, place):
            belief = belief.reshape(-1, *model.tree.shape(part.axes)) * _spread(model, message, child, part)
        belief = belief.reshape(-1, *part.table.shape[1:])
        beliefs[place] = belief
        apart = part.apart[part.at(part.both, cells)]
        sent = belief.sum(axis=2) / np.where(apart > 0, apart, 1.0)
        passed[place] = sent / sent.max(axis=1, keepdims=True)
    return beliefs


def _from_children(
    model: Model, parts: Sequence[_Part], passed: dict[int, Floats], place: int
) -> Iterator[tuple[_Part, Floats]]:
    for child, parent in enumerate(model.tree.parents):
        if parent == place:
            yield parts[child], passed.pop(child)


def _spread(model: Model, message: Floats, child: _Part, part: _Part) -> Floats:
    """Give what a child passes on the axes of its parent."""
    order = sorted(range(len(child.joint)), key=lambda at: part.axes.index(child.joint[at]))
    table = message.reshape(-1, *model.tree.shape(child.joint))
    table = np.transpose(table, [0, *(1 + at for at in order)])
    sizes = [model.sizes[one] if one in child.joint else 1 for one in part.axes]
    return np.asarray(table.reshape(-1, *sizes))


def _draw(part: _Part, belief: Floats, which: arrays.Whole, rows: Codes, noise: Noise) -> None:
    """Draw the columns of a clique that no clique before it had, given all others."""
    weights = belief[which, part.at(part.joint, rows)]
    edges = np.cumsum(weights, axis=1)
    lots = uniform(noise, len(which)) * edges[:, -1]
    drawn = np.minimum((edges <= lots[:, None]).sum(axis=1), edges.shape[1] - 1)
    for one in reversed(part.rest):
        drawn, rows[one] = np.divmod(drawn, part.model.sizes[one])
