"""A network from rows: single columns first, then the structure, then its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.methods.datasets.bayes_network.correlation import CorrelationShares, by_correlation
from engine.methods.datasets.bayes_network.shares import MOST_GROUPS, Shares
from engine.methods.datasets.bayes_network.structure import Node, Rows, structure
from engine.methods.datasets.marginal_model.agreement import LAPLACE
from engine.methods.datasets.marginal_model.coarse import groups
from engine.methods.datasets.marginal_model.sampling import even_column
from engine.methods.datasets.synthesis.related import CHANCE, NOT_ASKED, Relations, above_noise
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Codes = arrays.Integers
Floats = arrays.Floats


@dataclass(frozen=True)
class Network:
    """A learnt network: all of it is released information.

    Parameters
    ----------
    nodes
        Columns with their parents, parents first.
    shares
        Of every node, the shares of its cells for every combination of its parents' groups.
    groups
        Of every column, the group of each cell when it is a parent.
    total
        Noisy number of rows.
    relations
        Of columns with their parents.
    """

    nodes: tuple[Node, ...]
    shares: tuple[Floats, ...]
    groups: tuple[Codes, ...]
    total: float
    relations: Relations = NOT_ASKED

    def rows(self, n: int, noise: Noise) -> Codes:
        """Return n rows of cells, shape (columns, n), as even as their number allows."""
        drawn = np.zeros((len(self.nodes), n), dtype=np.int64)
        for node, shares in zip(self.nodes, self.shares, strict=True):
            combination = np.zeros(n, dtype=np.int64)
            for parent in node.parents:
                group = self.groups[parent]
                combination = combination * (int(group.max()) + 1) + group[drawn[parent]]
            drawn[node.column] = even_column(shares, combination, noise)
        return drawn


def learn(
    codes: Codes,
    shares: Shares,
    *,
    ordered: tuple[int, ...],
    noise: Noise,
    progress: Progress = SILENT,
    each: int = 1,
) -> Network:
    """Return a network of columns.

    Parameters
    ----------
    codes
        Cells of every row, shape (columns, rows).
    shares
        Which noise everything gets.
    ordered
        Of every column, how many of its first cells have an order.
    noise
        The noise door.
    each
        How many rows a person has at most: see `above_noise`.

    Notes
    -----
    Rows are read by counts that get noise and by scores of choices, and by nothing else. After J. Zhang,
    G. Cormode, C. Procopiuc, D. Srivastava, X. Xiao, PrivBayes (2017), with parents made coarser by the noisy
    single columns.
    """
    sizes = shares.sizes
    exact = [np.bincount(one, minlength=size) for one, size in zip(codes, sizes, strict=True)]
    noisy = shares.single.release(np.concatenate(exact).astype(np.int64), noise).astype(np.float64)
    single = np.split(noisy, np.cumsum(sizes)[:-1])
    total = max(1.0, _total(single))
    own = [project_counts(one, total) / total for one in single]
    coarse = tuple(
        groups(one, MOST_GROUPS, ordered=order) for one, order in zip(single, ordered, strict=True)
    )
    if not shares.choices:
        return Network((Node(0, ()),), (own[0][None, :],), coarse, total)
    taken = np.array([group[cells] for group, cells in zip(coarse, codes, strict=True)])
    rows = Rows(codes, taken, sizes, tuple(int(group.max()) + 1 for group in coarse))
    if isinstance(shares, CorrelationShares):
        nodes = by_correlation(rows, shares, total=total, noise=noise)
    else:
        nodes = structure(rows, shares, total=total, noise=noise, progress=progress)
    tables = [rows.table(node) for node in nodes]
    released = shares.tables.release(np.concatenate([table.ravel() for table in tables]), noise)
    parts = np.split(released, np.cumsum([table.size for table in tables])[:-1])
    found = [
        _conditional(project_counts(part.astype(np.float64), total).reshape(table.shape), own[node.column])
        for part, table, node in zip(parts, tables, nodes, strict=True)
    ]
    shown = _relations(nodes, parts, tables, deviation=shares.deviation, each=each)
    return Network(tuple(nodes), tuple(found), coarse, total, shown)


def _relations(
    nodes: Sequence[Node], parts: Sequence[Codes], tables: Sequence[Codes], *, deviation: float, each: int
) -> Relations:
    """Say of every column with parents whether it is related to them: each was chosen among other columns."""
    share = CHANCE / len(nodes)
    return Relations.of(
        [
            (
                (node.column, *node.parents),
                above_noise(
                    part.reshape(table.shape), deviation=deviation, moments=LAPLACE, share=share, each=each
                ),
            )
            for node, part, table in zip(nodes, parts, tables, strict=True)
            if node.parents
        ]
    )


def project_counts(counts: Floats, total: float) -> Floats:
    """Return the nearest counts that are not negative and have a sum.

    Examples
    --------
    >>> project_counts(np.array([5.0, -2.0, 4.0]), 7.0).tolist()
    [4.0, 0.0, 3.0]
    """
    falling = -np.sort(-counts)
    over = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(falling > over)[-1])
    return np.asarray(np.maximum(counts - over[last], 0.0))


def _total(single: list[Floats]) -> float:
    """Return the number of rows by all single columns, those of few cells weighing more."""
    weights = np.array([1 / len(one) for one in single])
    return float((weights * [one.sum() for one in single]).sum() / weights.sum())


def _conditional(table: Floats, own: Floats) -> Floats:
    """Return the shares along each line; those of the column itself where a line is empty."""
    sums = table.sum(axis=1, keepdims=True)
    return np.where(sums > 0, table / np.where(sums > 0, sums, 1), own)
