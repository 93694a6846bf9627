"""The ridge query of the worked example: many pairs at once, and bounds on its sensitivity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputRefused
from engine.privacy.sampled_sensitivity.draws import Answers, position_chunks, record_chunks
from engine.privacy.sampled_sensitivity.populations import (
    AREA,
    Population,
    TablePopulation,
    finite_numbers,
)

PRODUCTS_AT_MOST = 1 << 28  # bytes of the table of products that counting drawn rows may take
COUNTED_AT_ONCE = 16  # pairs whose counts are multiplied with it together
LANES = 8  # widths that are a multiple of 8 make the product of a data set with itself about 1.4 times faster


def unit_rows(predictors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return predictors with every row scaled to unit L2 norm; a row of zeros stays.

    Parameters
    ----------
    predictors
        Shape (rows, attributes).

    Returns
    -------
    ndarray
        Same shape. One person's row is scaled by that row alone, so that neighbours stay neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(predictors, axis=1, keepdims=True)
    return np.divide(predictors, lengths, out=np.zeros_like(predictors), where=lengths > 0.0)


@dataclass(frozen=True)
class RidgeQuery:
    """Coefficients of a ridge regression: min ‖y − Xβ‖² + a‖β‖².

    Parameters
    ----------
    penalty
        a > 0, the total penalty (``alpha`` of scikit-learn's Ridge). A penalty λ per record, as in the
        sensitivity bounds, is a = pλ for p records.
    target
        Position of the response among the columns of a data set; all others are predictors.
    intercept
        Fit an intercept that is not penalised.
    release_intercept
        With an intercept: the answer ends with its value. Without it the answer is the coefficients
        alone, and then the intercept must not leave.

    Raises
    ------
    InputRefused
        ``sampled_sensitivity.penalty`` unless the penalty is positive.

    Notes
    -----
    As a function it answers one data set of shape (records, columns). `answer_pairs` answers both data
    sets of many pairs from the Gram matrix of their common records by one rank-one update each
    (Sherman and Morrison), on the same draws as two calls would see.

    Examples
    --------
    >>> import numpy as np
    >>> RidgeQuery(1.0)(np.array([[1.0, 1.0], [1.0, 3.0]])).round(4).tolist()  # (1 + 3)/(2 + 1)
    [1.3333]
    """

    penalty: float
    target: int = -1
    intercept: bool = False
    release_intercept: bool = True

    def __post_init__(self) -> None:
        if not 0.0 < self.penalty < math.inf:
            raise InputRefused(f"{AREA}.penalty", found=self.penalty)

    def __call__(self, records: NDArray[Any]) -> NDArray[np.float64]:
        """Return the answer on one data set: coefficients, then the intercept where it is released."""
        rows = finite_numbers(records)
        layout = _Layout(self, rows)
        design = layout.design(rows)
        gram = (design.T @ design)[None, :, :]
        width = layout.width
        solved = _solve(layout.penalised(gram), gram[:, :width, width : width + 1])
        return layout.answer(solved[:, :, 0])[0]

    def answer_pairs(
        self,
        population: Population,
        *,
        pairs: int,
        records: int,
        generator: np.random.Generator,
    ) -> Iterator[Answers]:
        """Yield the answers on both data sets of some pairs at a time, each of shape (some pairs, k).

        Parameters
        ----------
        population
            Rows of numbers.
        pairs, records
            How many pairs, of how many records each (at least 2).
        generator
            Randomness of the draw.

        Raises
        ------
        InputRefused
            ``sampled_sensitivity.too_few_records``, ``.not_numbers`` or ``.too_few_columns``.
        """
        if records < 2:
            raise InputRefused(f"{AREA}.too_few_records", found=records, expected=2)
        if not isinstance(population, TablePopulation):
            yield from self._from_records(population, pairs, records, generator)
            return
        rows = finite_numbers(population.rows)
        layout = _Layout(self, rows)
        design = layout.design(rows)
        chunks = position_chunks(population, pairs=pairs, records=records, generator=generator)
        products = layout.width * (layout.width + 3) // 2
        # Counting how often each row was drawn pays when that is often: drawing a row costs about four
        # times what a row of the table costs in the product with the counts.
        if 4 * records >= len(rows) and len(rows) * products * 8 <= PRODUCTS_AT_MOST:
            yield from _by_counts(layout, design, chunks)
        else:
            yield from _by_rows(layout, design, chunks)

    def _from_records(
        self, population: Population, pairs: int, records: int, generator: np.random.Generator
    ) -> Iterator[Answers]:
        layout = None
        for chunk in record_chunks(population, pairs=pairs, records=records, generator=generator):
            rows = finite_numbers(chunk.reshape(-1, chunk.shape[-1]))
            layout = layout or _Layout(self, rows)
            design = layout.design(rows).reshape(len(chunk), records + 1, -1)
            common = design[:, :-2]
            yield layout.update(np.matmul(common.transpose(0, 2, 1), common), design[:, -2], design[:, -1])


class _Layout:
    """The columns of the design: predictors, then 1 for an intercept, then the response, then zeros."""

    def __init__(self, query: RidgeQuery, rows: NDArray[np.float64]) -> None:
        columns = rows.shape[1]
        if columns < 2 or not -columns <= query.target < columns:
            raise InputRefused(f"{AREA}.too_few_columns", found=columns, expected=2)
        self.query = query
        self.target = query.target % columns
        self.predictors = np.delete(np.arange(columns), self.target)
        self.width = len(self.predictors) + query.intercept
        # With an intercept a shift of the columns changes nothing but rounding, and rounding it improves.
        self.shift = rows.mean(axis=0) if query.intercept else np.zeros(columns)

    def design(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        padded = LANES * math.ceil((self.width + 1) / LANES)
        design = np.zeros((len(rows), padded))
        design[:, : len(self.predictors)] = rows[:, self.predictors] - self.shift[self.predictors]
        if self.query.intercept:
            design[:, self.width - 1] = 1.0
        design[:, self.width] = rows[:, self.target] - self.shift[self.target]
        return design

    def penalised(self, grams: NDArray[np.float64]) -> NDArray[np.float64]:
        penalties = np.full(self.width, self.query.penalty)
        if self.query.intercept:
            penalties[-1] = 0.0
        return grams[:, : self.width, : self.width] + np.diag(penalties)

    def update(
        self, grams: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]
    ) -> Answers:
        """Return the answers with one more record each, from the Gram matrices of the common records."""
        width = self.width
        right = np.stack([grams[:, :width, width], first[:, :width], second[:, :width]], axis=2)
        solved = _solve(self.penalised(grams), right)  # A⁻¹b, A⁻¹u, A⁻¹v
        common = solved[:, :, 0]

        def with_one_more(record: NDArray[np.float64], moved: NDArray[np.float64]) -> NDArray[np.float64]:
            predictors = record[:, :width]
            residual = record[:, width] - np.sum(predictors * common, axis=1)
            leverage = np.sum(predictors * moved, axis=1)
            # Sherman-Morrison: β(+u) = β + A⁻¹u (t − u'β)/(1 + u'A⁻¹u)
            return common + moved * (residual / (1.0 + leverage))[:, None]

        return (
            self.answer(with_one_more(first, solved[:, :, 1])),
            self.answer(with_one_more(second, solved[:, :, 2])),
        )

    def answer(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.query.intercept:
            return coefficients
        slopes = coefficients[:, :-1]
        if not self.query.release_intercept:
            return slopes
        moved_back = coefficients[:, -1] + self.shift[self.target] - slopes @ self.shift[self.predictors]
        return np.column_stack([slopes, moved_back])


def _solve(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.solve(left, right), dtype=np.float64)


def _by_rows(
    layout: _Layout, design: NDArray[np.float64], chunks: Iterator[NDArray[np.int64]]
) -> Iterator[Answers]:
    """Answer pairs by gathering the drawn rows: for data sets much smaller than the table."""
    drawn: NDArray[np.float64] | None = None
    for positions in chunks:
        count, records = len(positions), positions.shape[1] - 2
        if drawn is None:
            drawn = np.empty((records, design.shape[1]))
        grams = np.empty((count, design.shape[1], design.shape[1]))
        for pair in range(count):
            # mode="clip" skips a second buffer; the positions are in range by construction.
            design.take(positions[pair, :-2], axis=0, out=drawn, mode="clip")
            np.matmul(drawn.T, drawn, out=grams[pair])
        yield layout.update(grams, design[positions[:, -2]], design[positions[:, -1]])


def _by_counts(
    layout: _Layout, design: NDArray[np.float64], chunks: Iterator[NDArray[np.int64]]
) -> Iterator[Answers]:
    """Answer pairs by weighting the table's rows with how often each was drawn: for large data sets."""
    total, width = len(design), layout.width
    rows, columns = np.triu_indices(width + 1)
    keep = rows < width  # all but y'y
    rows, columns = rows[keep], columns[keep]
    products = design[:, rows] * design[:, columns]
    counts = np.empty((COUNTED_AT_ONCE, total))
    ends: list[tuple[int, int]] = []

    def finish() -> Answers:
        summed = counts[: len(ends)] @ products  # weighted Gram matrices, X'WX
        grams = np.zeros((len(ends), width + 1, width + 1))
        grams[:, rows, columns] = summed
        grams[:, columns, rows] = summed
        last = np.array(ends)
        ends.clear()
        return layout.update(grams, design[last[:, 0]], design[last[:, 1]])

    for positions in chunks:
        for drawn in positions:
            counts[len(ends)] = np.bincount(drawn[:-2], minlength=total)
            ends.append((int(drawn[-2]), int(drawn[-1])))
            if len(ends) == COUNTED_AT_ONCE:
                yield finish()
    if ends:
        yield finish()


@dataclass(frozen=True)
class RidgeSensitivityBounds:
    """Bounds on the L1 replace-one sensitivity of ridge coefficients (see `ridge_sensitivity_bounds`).

    Parameters
    ----------
    thesis
        d (1/√λ + 1)/(pλ): what the thesis' authors compute for five attributes.
    loss_values
        (1/√λ + 1) √(d/(pλ)): from strong convexity and the change of the loss.
    gradients
        2√d (1/√λ + 1)/(pλ): from strong convexity and the change of the gradient.
    update
        2√d g (1 + √(p−1)/(2√(pλ))), g = 1/(pλ + 1) for pλ ≥ 1, else 1/(2√(pλ)): from the rank-one update.
    """

    thesis: float
    loss_values: float
    gradients: float
    update: float


def ridge_sensitivity_bounds(
    records: int, attributes: int, *, penalty: float, response_bound: float = 1.0
) -> RidgeSensitivityBounds:
    """Return bounds on how far ridge coefficients can move when one record is exchanged.

    Parameters
    ----------
    records
        Number p ≥ 1 of records; public.
    attributes
        Number d ≥ 1 of predictors, each row of L2 norm at most 1; no intercept.
    penalty
        λ > 0 *per record*: min (1/2p) Σ (y − xβ)² + (λ/2)‖β‖², which is `RidgeQuery` with penalty pλ.
    response_bound
        |y| ≤ this. The coefficients are linear in y, so every bound is a multiple of it.

    Returns
    -------
    RidgeSensitivityBounds
        Four forms; `update` is the one to use.

    Raises
    ------
    InputRefused
        ``sampled_sensitivity.too_few_records``, ``.too_few_columns``, ``.penalty`` or ``.response_bound``.

    Notes
    -----
    *Loss values*: J(β̂) ≤ J(0) gives ‖β̂‖₂ ≤ 1/√λ, so that a record's loss is at most (1/√λ + 1)²/2; the
    two minima differ by λ‖β̂ − β̂'‖² ≤ (1/√λ + 1)²/p; the L1 norm is at most √d times the L2 norm. This is
    the constant that the program published with Ligett et al. (2017) computes.
    *Gradients*: a record's gradient is at most 1/√λ + 1, and pλ‖β̂ − β̂'‖₂ is at most twice that.
    *Update*: β̂ and β̂' each differ from the fit of the p − 1 common records by A⁻¹u (t − u'β)/(1 + u'A⁻¹u),
    where A ≥ pλ, and that fit is at most √(p−1)/(2√(pλ)) long.
    *Thesis*: the factor 5 in the program of the thesis' authors is read as the number of attributes. For
    d ≥ 4 it is at least the bound by gradients and so holds; for fewer it is not proved. It speaks of a
    penalty λ per record, while that program fits ``Ridge(alpha=2λ)`` with an intercept that it leaves
    without noise: no bound of this family covers that fit.

    References
    ----------
    K. Ligett, S. Neel, A. Roth, B. Waggoner, Z. S. Wu, "Accuracy first: selecting a differential privacy
    level for accuracy-constrained ERM", NeurIPS 2017. Thesis, § 8.4.1.

    Examples
    --------
    >>> bounds = ridge_sensitivity_bounds(16_000, 5, penalty=0.01)
    >>> round(bounds.thesis, 5), round(bounds.loss_values, 5), round(bounds.update, 5)
    (0.34375, 1.94454, 0.16666)
    """
    if records < 1:
        raise InputRefused(f"{AREA}.too_few_records", found=records, expected=1)
    if attributes < 1:
        raise InputRefused(f"{AREA}.too_few_columns", found=attributes, expected=1)
    if not 0.0 < penalty < math.inf:
        raise InputRefused(f"{AREA}.penalty", found=penalty)
    if not 0.0 < response_bound < math.inf:
        raise InputRefused(f"{AREA}.response_bound", found=response_bound)
    total = records * penalty
    gradient = 1.0 / math.sqrt(penalty) + 1.0  # (1/√λ + 1)
    step = 1.0 / (total + 1.0) if total >= 1.0 else 1.0 / (2.0 * math.sqrt(total))  # g
    longest = math.sqrt(records - 1) / (2.0 * math.sqrt(total))
    return RidgeSensitivityBounds(
        thesis=response_bound * attributes * gradient / total,
        loss_values=response_bound * gradient * math.sqrt(attributes / total),
        gradients=response_bound * 2.0 * math.sqrt(attributes) * gradient / total,
        update=response_bound * 2.0 * math.sqrt(attributes) * step * (1.0 + longest),
    )
