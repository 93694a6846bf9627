"""What several synthetic copies say together: one estimate with an interval that counts the synthesis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from engine.methods.datasets.synthesis.variables import Floats
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import Cell, TableView, Text

WORDS = "methods.datasets.imputation.views.estimates"
MOST_SHARES = 10


class Rule(StrEnum):
    """How estimates of several copies are combined."""

    PARTIAL = "T_p"  # Reiter, Survey Methodology 29 (2003)
    FULL = "T_s"  # Raab, Nowok, Dibben, J. Privacy and Confidentiality 7 (2016)
    FULL_REDRAWN = "T_s, parameters redrawn"  # the same, where every copy has parameters of its own
    POSTERIOR = "T_f"  # Raghunathan, Reiter, Rubin, JOS 19 (2003)
    POSTERIOR_POSITIVE = "T_f*"  # Reiter, JOS 18 (2002)


@dataclass(frozen=True)
class Combined:
    """An estimate of several copies together.

    Parameters
    ----------
    estimate
        Mean over the copies.
    variance
        Of the estimate; below 0 is possible for `Rule.POSTERIOR` alone, which then has no interval.
    low, high
        Of the 95 % interval; NaN without one.
    """

    estimate: float
    variance: float
    low: float
    high: float


def combine_estimates(
    estimates: Floats, variances: Floats, *, rule: Rule, rows: int, released_rows: int | None = None
) -> Combined:
    """Combine the estimates of m copies.

    Parameters
    ----------
    estimates, variances
        Shape (m,): of each copy, as if its rows were real.
    rule
        For full synthesis `Rule.FULL` (by regression `Rule.FULL_REDRAWN`), where only some
        values were replaced `Rule.PARTIAL`.
    rows
        n, of the original.
    released_rows
        n_syn, of each copy; ``rows`` where it is not given.

    Notes
    -----
    With q̄ and ū the means, b the variance of the estimates:
    T_p = ū + b/m, with (m − 1)(1 + ū m / b)² degrees of freedom; T_s = ū (n_syn / n + 1/m), normal, also for
    m = 1, and ū (n_syn / n + (1 + n_syn / n)/m) where the parameters of each copy were drawn from their
    posterior; T_f = (1 + 1/m) b − ū, which is often below 0 unless m is large; T_f* = T_f where it is
    above 0, else ū n_syn / n. T_f needs draws from a posterior: with trees it covers too seldom as m grows.

    Examples
    --------
    >>> found = combine_estimates(np.array([1.0, 3.0]), np.array([0.5, 0.5]), rule=Rule.PARTIAL, rows=10)
    >>> found.estimate, found.variance
    (2.0, 1.5)
    """
    m, size = len(estimates), released_rows or rows
    middle, own = float(np.mean(estimates)), float(np.mean(variances))
    between = float(np.var(estimates, ddof=1)) if m > 1 else 0.0
    variance = {
        Rule.PARTIAL: own + between / m,  # Reiter 2003, equation 6
        Rule.FULL: own * (size / rows + 1 / m),  # Raab, Nowok, Dibben 2016, table 2
        # each copy has V/n more, the variance of its parameters: V/n + (V/n + V/n_syn)/m with V = ū n_syn
        Rule.FULL_REDRAWN: own * (size / rows + (1 + size / rows) / m),
        Rule.POSTERIOR: (1 + 1 / m) * between - own,  # Raghunathan, Reiter, Rubin 2003, equation 4
        Rule.POSTERIOR_POSITIVE: (1 + 1 / m) * between - own,
    }[rule]
    if rule is Rule.POSTERIOR_POSITIVE and variance <= 0:
        variance = own * size / rows
    if variance < 0:
        return Combined(middle, variance, float("nan"), float("nan"))
    from scipy.special import ndtri, stdtrit  # on first use: the list of methods is made without it

    quantile = ndtri(0.975)
    if rule is Rule.PARTIAL and between > 0:
        quantile = stdtrit((m - 1) * (1 + own * m / between) ** 2, 0.975)
    half = float(quantile * np.sqrt(variance))
    return Combined(middle, variance, middle - half, middle + half)


def estimates_view(
    copies: Sequence[pd.DataFrame], columns: Sequence[Column], *, rows: int, rule: Rule
) -> TableView:
    """Return the combined means of amounts and shares of names: computed from the released copies alone."""
    lines: list[tuple[Cell, ...]] = []
    alone = rule is Rule.PARTIAL and len(copies) < 2  # what replacing values adds is not known from one copy
    for column in columns:
        for name, outcomes in _outcomes(copies, column):
            known = [own[~np.isnan(own)] for own in outcomes]
            if any(len(own) < 2 for own in known):
                lines.append((name, None, None, None))
                continue
            means = np.array([own.mean() for own in known])
            variances = np.array([own.var(ddof=1) / len(own) for own in known])
            found = combine_estimates(means, variances, rule=rule, rows=rows, released_rows=len(copies[0]))
            told = [float(f"{v:.5g}") for v in (found.estimate, found.low, found.high)]
            lines.append((name, told[0], None, None) if alone else (name, *told))
    headings = tuple(Text(f"{WORDS}.{name}") for name in ("column", "mean", "low", "high"))
    note = Text(f"{WORDS}.note_{'partial_alone' if alone else rule.name.lower()}")
    return TableView(Text(f"{WORDS}.title"), headings, tuple(lines), note)


def _outcomes(copies: Sequence[pd.DataFrame], column: Column) -> Iterator[tuple[Cell, list[Floats]]]:
    """Return what is averaged: an amount, or for each of the frequent names whether it is the one."""
    if column.kind in (Kind.INTEGER, Kind.NUMBER):
        yield column.name, [coding.numbers(copy[column.name], column) for copy in copies]
        return
    cells = [copy[column.name].to_numpy(dtype=object) for copy in copies]
    known = pd.Series(np.concatenate(cells))
    for value in known[known != ""].value_counts().index[:MOST_SHARES]:
        share = [np.where(own == "", np.nan, own == value).astype(np.float64) for own in cells]
        yield Text(f"{WORDS}.share", {"column": column.name, "value": value}), share
