"""Where neighbouring data sets are drawn from, and what that origin forbids later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused

AREA = "sampled_sensitivity"


class RecordOrigin(StrEnum):
    """Where the rows of a population come from, as the custodian declares it."""

    PUBLIC = "public"
    SIMULATED = "simulated"
    FITTED = "fitted"  # a model fitted to public rows
    PRIVATE = "private"  # the custodian's own rows, or anything fitted to them

    @property
    def internal(self) -> bool:
        """True when whatever is computed from the population has to stay inside."""
        return self is RecordOrigin.PRIVATE


@runtime_checkable
class Population(Protocol):
    """Anything that independent records can be drawn from."""

    @property
    def origin(self) -> RecordOrigin:
        """Return where the rows come from."""
        ...

    def draw(self, count: int, *, generator: np.random.Generator) -> npt.NDArray[Any]:
        """Return ``count`` independent records, shape (count, columns)."""
        ...


def _two_dimensional(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    table = np.asarray(rows)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] == 0:
        raise InputRefused(f"{AREA}.empty_population")
    return table


@dataclass(frozen=True, eq=False)
class TablePopulation:
    """The population is the empirical distribution of a table: records are drawn *with replacement*.

    Parameters
    ----------
    rows
        Shape (rows, columns), or (rows,) for a single column; any type that the query understands.
    origin
        `RecordOrigin.PUBLIC`, ``SIMULATED``, or ``PRIVATE`` for the custodian's own rows.

    Raises
    ------
    InputRefused
        ``sampled_sensitivity.empty_population`` for a table without rows or columns.

    Notes
    -----
    Drawing with replacement makes the pairs independent and lets a data set be as large as the table
    itself, which the bounds of `engine.privacy.sampled_sensitivity.bounds` need. It says nothing about
    records that the table does not contain.

    Examples
    --------
    >>> import numpy as np
    >>> people = TablePopulation(np.array([0.0, 1.0]), origin=RecordOrigin.PUBLIC)
    >>> people.draw(3, generator=np.random.Generator(np.random.PCG64(1))).shape
    (3, 1)
    """

    rows: npt.NDArray[Any]
    origin: RecordOrigin

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", _two_dimensional(self.rows))

    def positions(self, shape: tuple[int, int], *, generator: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return independent uniform row numbers; `draw` and the fast queries share this one draw."""
        return generator.integers(0, self.rows.shape[0], size=shape, dtype=np.int64)

    def draw(self, count: int, *, generator: np.random.Generator) -> npt.NDArray[Any]:
        """Return ``count`` records of the table, shape (count, columns), drawn with replacement."""
        return self.rows.take(self.positions((1, count), generator=generator)[0], axis=0)


@dataclass(frozen=True, eq=False)
class SimulatedPopulation:
    """The population is a program that makes records and has never seen a private one.

    Parameters
    ----------
    make
        ``make(generator, count)`` returns an array of shape (count, columns) of independent records.

    Examples
    --------
    >>> import numpy as np
    >>> coins = SimulatedPopulation(lambda generator, count: generator.integers(0, 2, size=(count, 1)))
    >>> coins.origin.value
    'simulated'
    """

    make: Callable[[np.random.Generator, int], npt.NDArray[Any]]

    @property
    def origin(self) -> RecordOrigin:
        """Return `RecordOrigin.SIMULATED`."""
        return RecordOrigin.SIMULATED

    def draw(self, count: int, *, generator: np.random.Generator) -> npt.NDArray[Any]:
        """Return ``count`` simulated records, shape (count, columns)."""
        rows = _two_dimensional(self.make(generator, count))
        if rows.shape[0] != count:
            raise InputRefused(f"{AREA}.wrong_count", expected=count, found=int(rows.shape[0]))
        return rows


@dataclass(frozen=True, eq=False)
class FittedPopulation:
    """The population is a Gaussian copula with the observed margins. Made by `fit_gaussian_copula`.

    Parameters
    ----------
    margins
        Sorted values of each column, shape (rows, columns).
    factor
        Lower triangular square root of the correlation of the normal scores, shape (columns, columns).
    origin
        `RecordOrigin.FITTED`, or `RecordOrigin.PRIVATE` when it was fitted to private rows.
    """

    margins: npt.NDArray[np.float64]
    factor: npt.NDArray[np.float64]
    origin: RecordOrigin

    def draw(self, count: int, *, generator: np.random.Generator) -> npt.NDArray[np.float64]:
        """Return ``count`` records, shape (count, columns): normal scores, then the observed margins."""
        from scipy.special import ndtr

        rows, columns = self.margins.shape
        scores = generator.standard_normal((count, columns)) @ self.factor.T
        ranks = np.minimum((ndtr(scores) * rows).astype(np.int64), rows - 1)
        return np.take_along_axis(self.margins, ranks, axis=0)


def fit_gaussian_copula(rows: npt.NDArray[Any], *, origin: RecordOrigin) -> FittedPopulation:
    """Fit a population to numeric rows: their margins, joined by the correlation of their normal scores.

    Parameters
    ----------
    rows
        Shape (rows, columns), finite numbers, at least 2 rows.
    origin
        Where the rows come from. A fit to private rows is itself private.

    Returns
    -------
    FittedPopulation
        With origin `RecordOrigin.PRIVATE` when ``origin`` is, else `RecordOrigin.FITTED`.

    Raises
    ------
    InputRefused
        ``sampled_sensitivity.not_numbers`` for anything that is not a finite number,
        ``sampled_sensitivity.too_few_rows`` for fewer than 2 rows.

    Notes
    -----
    The copula keeps each column's distribution and the correlation of each pair of normal scores. It keeps
    no other dependence, so a sensitivity sampled from it can be too small where extremes come together.
    The fit carries no privacy of its own.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]])
    >>> fitted = fit_gaussian_copula(rows, origin=RecordOrigin.PRIVATE)
    >>> fitted.origin.value
    'private'
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    table = finite_numbers(rows)
    count = len(table)
    if count < 2:
        raise InputRefused(f"{AREA}.too_few_rows", found=count, expected=2)
    scores = ndtri((rankdata(table, axis=0) - 0.5) / count)
    spread = scores.std(axis=0)
    # A constant column has no correlation with any other: its score is 0 and its margin gives the constant.
    scaled = np.divide(scores - scores.mean(axis=0), spread, out=np.zeros_like(scores), where=spread > 0)
    correlation = scaled.T @ scaled / count
    np.fill_diagonal(correlation, 1.0)
    lengths, directions = np.linalg.eigh(correlation)
    factor = directions * np.sqrt(np.clip(lengths, 0.0, None))
    return FittedPopulation(
        np.sort(table, axis=0), factor, RecordOrigin.PRIVATE if origin.internal else RecordOrigin.FITTED
    )


def finite_numbers(rows: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return rows as finite floating point numbers of shape (rows, columns), or refuse them."""
    try:
        table = np.ascontiguousarray(_two_dimensional(rows), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputRefused(f"{AREA}.not_numbers") from None
    if not np.isfinite(table).all():
        raise InputRefused(f"{AREA}.not_numbers")
    return table
