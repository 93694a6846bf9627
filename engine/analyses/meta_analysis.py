"""One estimate from the releases of several sites, with the noise of each in its error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import NUMBER
from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import Reference
from engine.views import IntervalsView, TableView

if TYPE_CHECKING:
    from engine.table.table import Table

Floats = arrays.Floats
FEWEST = 3
"""Two sites cannot tell how far sites differ: an interval over them is wider than anybody can use."""
LEVEL = 0.95


@dataclass(frozen=True)
class Pooled:
    """An estimate over sites: its interval at 95 %, and how far the sites differ.

    Parameters
    ----------
    estimate, error, low, high
        With the standard error that the interval is made of.
    spread
        τ, the standard deviation of the sites' own values; 0 where they are taken to be the same.
    """

    estimate: float
    error: float
    low: float
    high: float
    spread: float = 0.0


@dataclass(frozen=True)
class Heterogeneity:
    """Cochran's Q with its degrees of freedom and its probability by chance, and I² in percent."""

    q: float
    degrees: int
    chance: float
    share: float


def fixed_effect(estimates: Sequence[float], variances: Sequence[float]) -> Pooled:
    """Return the mean weighted by inverse variances: of sites that all have the same value.

    Examples
    --------
    >>> fixed_effect([10, 12], [1, 1]).estimate
    11.0
    """
    from scipy.special import ndtri

    weights = 1 / np.asarray(variances, dtype=np.float64)
    mean, error = float(weights @ np.asarray(estimates) / weights.sum()), float(weights.sum() ** -0.5)
    reach = float(ndtri((1 + LEVEL) / 2)) * error
    return Pooled(mean, error, mean - reach, mean + reach)


def heterogeneity(estimates: Sequence[float], variances: Sequence[float]) -> Heterogeneity:
    """Return how much more the estimates differ than their variances explain."""
    from scipy.special import chdtrc

    values, weights = np.asarray(estimates, dtype=np.float64), 1 / np.asarray(variances, dtype=np.float64)
    q = float(weights @ (values - fixed_effect(estimates, variances).estimate) ** 2)
    degrees = len(values) - 1
    share = max(0.0, 1 - degrees / q) if q > 0 else 0.0
    return Heterogeneity(q, degrees, float(chdtrc(degrees, q)), 100 * share)


def random_effects(estimates: Sequence[float], variances: Sequence[float]) -> Pooled:
    """Return the mean over sites that differ: DerSimonian and Laird's, with Hartung and Knapp's interval.

    Raises
    ------
    InputRefused
        ``analyses.few_sites``.
    """
    from scipy.special import stdtrit

    values = np.asarray(estimates, dtype=np.float64)
    if len(values) < FEWEST:
        raise InputRefused("analyses.few_sites", sites=len(values), fewest=FEWEST)
    first = 1 / np.asarray(variances, dtype=np.float64)
    found = heterogeneity(estimates, variances)
    between = max(0.0, (found.q - found.degrees) / float(first.sum() - (first**2).sum() / first.sum()))
    weights = 1 / (np.asarray(variances, dtype=np.float64) + between)
    mean = float(weights @ values / weights.sum())
    error = float((weights @ (values - mean) ** 2 / (found.degrees * weights.sum())) ** 0.5)
    reach = float(stdtrit(found.degrees, (1 + LEVEL) / 2)) * error
    return Pooled(mean, error, mean - reach, mean + reach, between**0.5)


class MetaAnalysis(Analysis):
    """Fixed and random effects of what sites released, each with the noise of its release in its variance.

    Notes
    -----
    The noise of a release is known and is no sampling error: left out of the variances, it looks as if sites
    differed, and intervals are too narrow. The fixed effect is about the people of these sites together, the
    random effects about sites like these. Hartung and Knapp (2001), formula 7; DerSimonian and Laird (1986).
    """

    id = "meta_analysis"
    published = Reference(
        "J. Hartung, G. Knapp: A refined method for the meta-analysis of controlled clinical trials (2001)",
        "formula 7",
        "doi:10.1002/sim.1009",
    )
    parameters = (
        Parameter(
            "sites",
            ParameterKind.RECORDS,
            minimum=1,
            maximum=1000,
            fields=(
                Parameter("name", ParameterKind.TEXT),
                Parameter("estimate", NUMBER),
                Parameter("error", NUMBER, minimum=0),
                Parameter("noise", NUMBER, minimum=0, default=0),
            ),
        ),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        sites = values["sites"]
        estimates = [float(one["estimate"]) for one in sites]
        variances = [float(one["error"]) ** 2 + float(one["noise"]) ** 2 for one in sites]
        for one, variance in zip(sites, variances, strict=True):
            if not variance > 0:
                raise InputRefused("analyses.no_error", site=one["name"][:100])
        mixed, same = random_effects(estimates, variances), fixed_effect(estimates, variances)
        found = heterogeneity(estimates, variances)
        part = 100 * sum(float(one["noise"]) ** 2 for one in sites) / sum(variances)
        lines = [
            self.word("said", sites=len(sites), estimate=mixed.estimate, low=mixed.low, high=mixed.high),
            self.word("same", estimate=same.estimate, low=same.low, high=same.high),
            self.word("differ", spread=mixed.spread, share=found.share, chance=found.chance),
            self.word("noise", part=part),
        ]
        both = (("random", mixed), ("fixed", same))
        rows = tuple((self.word(name), one.estimate, one.error, one.low, one.high) for name, one in both)
        headings = tuple(self.word(f"table.{name}") for name in ("kind", "estimate", "error", "low", "high"))
        reach = [1.959963984540054 * variance**0.5 for variance in variances]
        drawn = IntervalsView(
            self.word("drawing.title"),
            tuple(one["name"] for one in sites),
            tuple(estimates),
            tuple(one - wide for one, wide in zip(estimates, reach, strict=True)),
            tuple(one + wide for one, wide in zip(estimates, reach, strict=True)),
            self.word("table.estimate"),
            self.word("drawing.note"),
        )
        table = TableView(self.word("table.title"), headings, rows, self.word("table.note"))
        figures = {
            "random": vars(mixed),
            "fixed": vars(same),
            "heterogeneity": vars(found),
            "noise_percent": part,
        }
        return Answer((self.sentences(lines), table, drawn), figures)
