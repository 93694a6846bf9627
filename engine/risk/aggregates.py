"""What published sums give away together: by subtracting them, and by solving for what lies behind them.

Each published figure is about a set of rows. Rows that no set tells apart form a *piece*; what can be worked
out exactly about a piece follows from linear algebra over the pieces, however many figures are combined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine import arrays
from engine.errors import InputRefused
from engine.risk.combinations import Numbers, dense, number_combinations

Masks = arrays.Bools
Floats = arrays.Floats

FEWEST = 10
_EXACT = 1e-7


@dataclass(frozen=True)
class Difference:
    """Two published sets that differ in few people.

    Parameters
    ----------
    first, second
        Places of the two among the published figures.
    people
        How many people are in one of them only.
    nested
        Whether one holds the other, so that the difference of the two sums is the sum of these very people.
    """

    first: int
    second: int
    people: int
    nested: bool


@dataclass(frozen=True)
class Piece:
    """Few people whose sum can be worked out exactly from several figures.

    Parameters
    ----------
    people
        How many.
    row
        One of them, for looking at; internal.
    weights
        By what the figures are multiplied to get the sum of the piece.
    doubt
        Half the width of what the sum is known to, from rounding.
    """

    people: int
    row: int
    weights: tuple[float, ...]
    doubt: float

    def sum_from(self, published: Sequence[float]) -> float:
        """Return the sum of the piece that somebody works out from the published sums."""
        return float(np.dot(self.weights, published))


@dataclass(frozen=True)
class Differencing:
    """What a set of published sums gives away by adding and subtracting. Internal: from private rows.

    Parameters
    ----------
    sets
        Number of published sets.
    pairs
        Pairs that differ in fewer people than allowed.
    pieces
        Pieces of fewer people than allowed whose sum follows from all figures together.
    """

    sets: int
    pairs: tuple[Difference, ...]
    pieces: tuple[Piece, ...]

    @property
    def people_alone(self) -> int:
        """People whose own value can be worked out."""
        return sum(piece.people == 1 for piece in self.pieces)


def differencing(masks: Masks, *, fewest: int = FEWEST, rounding: float = 0.0) -> Differencing:
    """Find what subtraction gives away of published sums or counts over sets of rows.

    Parameters
    ----------
    masks
        Shape (figures, rows): whom each figure is about. The number of all rows is published too if a line of
        it is True throughout.
    fewest
        The sum of so many people may be known.
    rounding
        The unit to which the figures are rounded, 0 for none.

    Returns
    -------
    Differencing

    Notes
    -----
    Sets A and B differ in |A| + |B| − 2 |A ∩ B| people. A piece is determined if its unit vector is in the
    row space of the figures × pieces matrix Q, that is if (Q⁺ Q) is 1 on its diagonal; the weights are its
    line of Q⁺. Means are sums if the number of people is published too. Weights are not unique: rounding may
    leave less doubt with others, so the doubt is an upper estimate of what is hidden.

    Source: D. E. Denning, P. J. Denning and M. D. Schwartz, The tracker, 1979; F. Y. Chin and G. Özsoyoğlu,
    Auditing and inference control in statistical databases, 1982.

    Examples
    --------
    >>> salaries = np.array([40_000, 52_000, 156_000])
    >>> everybody = np.ones(3, dtype=bool)
    >>> found = differencing(np.array([everybody, [True, True, False]]))
    >>> found.pairs[0].people, found.pieces[0].sum_from([salaries.sum(), salaries[:2].sum()])
    (1, 156000.0)
    """
    figures, rows = masks.shape
    number, count = dense(*number_combinations(list(masks.astype(np.int8)), [2] * figures, rows))
    sizes = np.bincount(number, minlength=count)
    first = np.zeros(count, dtype=np.int64)
    first[number[::-1]] = np.arange(rows)[::-1]
    q = masks[:, first].astype(np.float64)
    met = q.any(axis=0)  # nobody publishes anything about the other rows
    pieces = _determined(q[:, met], sizes[met], first[met], fewest, rounding)
    return Differencing(figures, _pairs(q, sizes, fewest), pieces)


def _pairs(q: Floats, sizes: Numbers, fewest: int) -> tuple[Difference, ...]:
    both = (q * sizes) @ q.T
    alone = np.diag(both)
    differ = alone[:, None] + alone[None, :] - 2 * both
    found = []
    for first, second in zip(*np.nonzero(np.triu((differ > 0) & (differ < fewest), 1)), strict=True):
        nested = both[first, second] == min(alone[first], alone[second])
        found.append(Difference(int(first), int(second), round(differ[first, second]), bool(nested)))
    return tuple(sorted(found, key=lambda one: one.people))


def _determined(q: Floats, sizes: Numbers, first: Numbers, fewest: int, rounding: float) -> tuple[Piece, ...]:
    inverse = np.linalg.pinv(q)
    known = np.abs(np.einsum("ij,ji->i", inverse, q) - 1.0) < _EXACT
    return tuple(
        Piece(
            people=int(sizes[place]),
            row=int(first[place]),
            weights=tuple(float(weight) for weight in np.round(inverse[place], 12)),
            doubt=float(np.abs(inverse[place]).sum() * rounding / 2),
        )
        for place in np.flatnonzero(known & (sizes < fewest))
    )


@dataclass(frozen=True)
class Reconstruction:
    """How well a yes-or-no secret is guessed from published counts. Internal: from private rows.

    Parameters
    ----------
    accuracy
        Share of people whose secret is guessed rightly.
    baseline
        Share that is right who guesses the more frequent answer for everybody.
    guesses
        The guess for every row.
    """

    accuracy: float
    baseline: float
    guesses: Masks = field(repr=False)

    @property
    def advantage(self) -> float:
        """What the published counts add, at least 0."""
        return max(self.accuracy - self.baseline, 0.0)


def reconstruct(masks: Masks, secret: Masks, published: Sequence[float]) -> Reconstruction:
    """Solve for a secret that fits published counts of it, and compare with the truth.

    Parameters
    ----------
    masks
        Shape (figures, rows): whom each figure is about.
    secret
        The truth, shape (rows,); only the comparison reads it.
    published
        How many of each set have the secret, as published: exact, rounded or with noise.

    Returns
    -------
    Reconstruction

    Notes
    -----
    Least squares with every person between 0 and 1, then rounded: about as many counts as people with errors
    well below the root of their number give most secrets away. Source: I. Dinur and K. Nissim, Revealing
    information while preserving privacy, 2003; C. Dwork, F. McSherry and K. Talwar, The price of privacy and
    the limits of LP decoding, 2007. One attack: that it fails proves nothing.
    """
    figures, rows = masks.shape
    if len(published) != figures or len(secret) != rows:
        raise InputRefused("risk.figures_and_sets")
    number, count = dense(*number_combinations(list(masks.astype(np.int8)), [2] * figures, rows))
    sizes = np.bincount(number, minlength=count)
    first = np.zeros(count, dtype=np.int64)
    first[number] = np.arange(rows)
    from scipy.optimize import lsq_linear  # on first use: the list of analyses is made without scipy
    from scipy.sparse import csr_matrix

    q = csr_matrix(masks[:, first].astype(np.float64) * sizes)
    shares = lsq_linear(q, np.asarray(published, dtype=np.float64), bounds=(0.0, 1.0)).x
    guesses = np.asarray((shares > 0.5)[number])
    often = float(secret.mean()) if rows else 0.0
    accuracy = float((guesses == secret).mean()) if rows else 0.0
    return Reconstruction(accuracy, max(often, 1.0 - often), guesses)
