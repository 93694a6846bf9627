"""The ridge query of the worked example, answered on many pairs of neighbours at once."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused
from engine.privacy.sampled_sensitivity.draws import Answers, Positions, position_chunks, record_chunks
from engine.privacy.sampled_sensitivity.populations import AREA, Population, TablePopulation, finite_numbers

PRODUCTS_AT_MOST = 1 << 28  # bytes of the table of products that counting drawn rows may take
COUNTED_AT_ONCE = 16  # pairs whose counts are multiplied with it together, where memory allows
COUNTS_AT_ONCE = 1 << 22  # numbers that these counts, or the draws behind them, may take
GATHERED_AT_ONCE = 16_384  # rows that are gathered by one call: they stay in the cache of a core
BLOCK = 512  # rows of the table per product with counts: below what BLAS gives to threads of its own


def unit_rows(predictors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
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

    def __call__(self, records: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
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
        work: Callable[[Positions], Answers]
        # Counting how often each row was drawn pays when that is often: drawing a row costs about four
        # times what a row of the table costs in the product with the counts.
        numbers = layout.width * (layout.width + 3) // 2
        if 4 * records >= len(rows) and len(rows) * numbers * 8 <= PRODUCTS_AT_MOST:
            work = partial(_by_counts, layout, design, _Products(layout, design))
        else:
            work = partial(_by_rows, layout, design)
        yield from _in_threads(work, _group(chunks, _counted_at_once(records)))

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

    def __init__(self, query: RidgeQuery, rows: npt.NDArray[np.float64]) -> None:
        columns = rows.shape[1]
        if columns < 2 or not -columns <= query.target < columns:
            raise InputRefused(f"{AREA}.too_few_columns", found=columns, expected=2)
        self.query = query
        self.target = query.target % columns
        self.predictors = np.delete(np.arange(columns), self.target)
        self.width = len(self.predictors) + query.intercept
        # With an intercept a shift of the columns changes nothing but rounding, and rounding it improves.
        self.shift = rows.mean(axis=0) if query.intercept else np.zeros(columns)

    def design(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        columns = self.width + 1
        design = np.zeros((len(rows), columns + columns % 2))
        design[:, : len(self.predictors)] = rows[:, self.predictors] - self.shift[self.predictors]
        if self.query.intercept:
            design[:, self.width - 1] = 1.0
        design[:, self.width] = rows[:, self.target] - self.shift[self.target]
        return design

    def penalised(self, grams: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        penalties = np.full(self.width, self.query.penalty)
        if self.query.intercept:
            penalties[-1] = 0.0
        return grams[:, : self.width, : self.width] + np.diag(penalties)

    def update(
        self, grams: npt.NDArray[np.float64], first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]
    ) -> Answers:
        """Return the answers with one more record each, from the Gram matrices of the common records."""
        width = self.width
        right = np.stack([grams[:, :width, width], first[:, :width], second[:, :width]], axis=2)
        solved = _solve(self.penalised(grams), right)  # A⁻¹b, A⁻¹u, A⁻¹v
        common = solved[:, :, 0]

        def with_one_more(
            record: npt.NDArray[np.float64], moved: npt.NDArray[np.float64]
        ) -> npt.NDArray[np.float64]:
            predictors = record[:, :width]
            residual = record[:, width] - np.sum(predictors * common, axis=1)
            leverage = np.sum(predictors * moved, axis=1)
            # Sherman-Morrison: β(+u) = β + A⁻¹u (t − u'β)/(1 + u'A⁻¹u)
            return common + moved * (residual / (1.0 + leverage))[:, None]

        return (
            self.answer(with_one_more(first, solved[:, :, 1])),
            self.answer(with_one_more(second, solved[:, :, 2])),
        )

    def answer(self, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if not self.query.intercept:
            return coefficients
        slopes = coefficients[:, :-1]
        if not self.query.release_intercept:
            return slopes
        moved_back = coefficients[:, -1] + self.shift[self.target] - slopes @ self.shift[self.predictors]
        return np.column_stack([slopes, moved_back])


def _solve(left: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(np.linalg.solve(left, right), dtype=np.float64)


def _by_rows(layout: _Layout, design: npt.NDArray[np.float64], positions: Positions) -> Answers:
    """Answer pairs by gathering the drawn rows: for data sets much smaller than the table."""
    common, ends = positions
    (pairs, records), lanes = common.shape, design.shape[1]
    # BLAS is slow on odd widths: two rows side by side make 12 columns out of 6 (measured: 7.6 for 11.2 µs).
    side_by_side = 2 if lanes % 4 else 1
    even = records - records % side_by_side
    grams = np.empty((pairs, lanes, lanes))
    at_once = min(pairs, max(1, GATHERED_AT_ONCE // records))
    gathered = np.empty((at_once, records, lanes))
    for start in range(0, pairs, at_once):
        some = slice(start, min(start + at_once, pairs))
        drawn = gathered[: some.stop - start]
        # mode="clip" skips a second buffer; the positions are in range by construction.
        design.take(common[some], axis=0, out=drawn, mode="clip")
        folded = drawn[:, :even].reshape(len(drawn), even // side_by_side, side_by_side * lanes)
        products = np.matmul(folded.transpose(0, 2, 1), folded)
        grams[some] = sum(
            products[:, at : at + lanes, at : at + lanes] for at in range(0, side_by_side * lanes, lanes)
        )
    if even < records:
        last = design[common[:, -1]]
        grams += last[:, :, None] * last[:, None, :]
    return layout.update(grams, design[ends[:, 0]], design[ends[:, 1]])


class _Products:
    """Products of every two columns of the design, all but y'y: one line of them per row of the table."""

    def __init__(self, layout: _Layout, design: npt.NDArray[np.float64]) -> None:
        rows, columns = np.triu_indices(layout.width + 1)
        keep = rows < layout.width
        self.rows, self.columns = rows[keep], columns[keep]
        blocks = math.ceil(len(design) / BLOCK)
        lines = np.zeros((blocks * BLOCK, len(self.rows)))
        np.multiply(design[:, self.rows], design[:, self.columns], out=lines[: len(design)])
        self.blocks = lines.reshape(blocks, BLOCK, len(self.rows))

    def weighted(self, counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the sum of all lines, each taken as often as counted; shape (pairs, products)."""
        by_block = counts.reshape(len(counts), len(self.blocks), BLOCK).transpose(1, 0, 2)
        return np.asarray(np.matmul(by_block, self.blocks).sum(axis=0))


def _by_counts(
    layout: _Layout, design: npt.NDArray[np.float64], products: _Products, positions: Positions
) -> Answers:
    """Answer pairs by weighting the table's rows with how often each was drawn: for large data sets."""
    common, ends = positions
    pairs, size = len(common), layout.width + 1
    grams = np.zeros((pairs, size, size))
    length = len(products.blocks) * BLOCK
    at_once = min(pairs, _counted_at_once(length))
    counts = np.empty((at_once, length))
    for start in range(0, pairs, at_once):
        some = slice(start, min(start + at_once, pairs))
        for pair, drawn in enumerate(common[some]):
            counts[pair] = np.bincount(drawn, minlength=length)
        summed = products.weighted(counts[: some.stop - start])  # weighted Gram matrices, X'WX
        grams[some, products.rows, products.columns] = summed
        grams[some, products.columns, products.rows] = summed
    return layout.update(grams, design[ends[:, 0]], design[ends[:, 1]])


def _counted_at_once(length: int) -> int:
    return max(1, min(COUNTED_AT_ONCE, COUNTS_AT_ONCE // length))


def _group(chunks: Iterator[Positions], at_least: int) -> Iterator[Positions]:
    """Join chunks of very few pairs, so that each piece of work holds enough of them."""
    waiting: list[Positions] = []
    for chunk in chunks:
        waiting.append(chunk)
        if sum(len(ends) for _, ends in waiting) >= at_least:
            yield _join(waiting)
            waiting = []
    if waiting:
        yield _join(waiting)


def _join(chunks: list[Positions]) -> Positions:
    if len(chunks) == 1:
        return chunks[0]
    return np.concatenate([common for common, _ in chunks]), np.concatenate([ends for _, ends in chunks])


def _in_threads(work: Callable[[Positions], Answers], pieces: Iterator[Positions]) -> Iterator[Answers]:
    """Yield the work on every piece, in order, while the next pieces are drawn.

    Gathering and multiplying leave the interpreter lock, so that threads use every core; all draws are made
    by this thread, so that the result does not depend on how many there are.
    """
    threads = max(1, os.cpu_count() or 1)
    with ThreadPoolExecutor(threads) as pool:
        running: deque[Future[Answers]] = deque()
        for piece in pieces:
            running.append(pool.submit(work, piece))
            if len(running) > threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
