"""Where the model of seeds comes from: noisy tables of other people, or nobody at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.methods.datasets.bayes_network.correlation import CorrelationShares
from engine.methods.datasets.bayes_network.learning import Network
from engine.methods.datasets.bayes_network.learning import learn as network_of
from engine.methods.datasets.bayes_network.shares import Shares
from engine.methods.datasets.marginal_model.fitting import Model
from engine.methods.datasets.marginal_model.rounds import learn
from engine.methods.datasets.marginal_model.sampling import conditional
from engine.methods.datasets.marginal_model.schedule import Schedule
from engine.methods.datasets.marginal_model.shown import relations
from engine.methods.datasets.seeds.models import ColumnModel, Conditional
from engine.methods.datasets.synthesis.related import NOT_ASKED, Relations
from engine.privacy.events import Event
from engine.privacy.mechanisms import LaplaceCounts
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Codes = arrays.Integers
Floats = arrays.Floats

PAIRS, NETWORK, CORRELATION, COLUMNS, NOBODY = "pairs", "network", "correlation", "columns", "nobody"
KINDS = (PAIRS, NETWORK, CORRELATION, COLUMNS, NOBODY)
NETWORKS = (NETWORK, CORRELATION)


@dataclass(frozen=True)
class Learning:
    """How a model is learnt, from declarations alone.

    Parameters
    ----------
    kind
        One of `KINDS`: noisy tables of pairs, a noisy network, one whose parents follow from noisy
        correlations, noisy columns that have nothing to do with each other, or every declared cell equally
        likely.
    sizes, ordered
        Cells of every column, and how many of the first of them have an order.
    epsilon, delta
        What it may cost; only the noise of pairs spends δ.
    about_rows
        Roughly how many rows it is learnt from.
    anew
        How often rows are drawn from the model alone, whatever their seed is.
    """

    kind: str
    sizes: tuple[int, ...]
    ordered: tuple[int, ...]
    epsilon: Fraction
    delta: Fraction
    about_rows: int
    anew: Fraction = Fraction(0)

    @property
    def schedule(self) -> Schedule:
        """Which noise the tables of pairs get."""
        return Schedule(self.sizes, self.epsilon, self.delta, 1, 1, self.about_rows)

    @property
    def network(self) -> Shares:
        """Which noise a network gets."""
        if self.kind == CORRELATION:
            return CorrelationShares(self.sizes, self.epsilon, 1, self.about_rows)
        return Shares(self.sizes, self.epsilon, 1)

    @property
    def counts(self) -> LaplaceCounts:
        """The noise of all columns together: every row is counted once in each."""
        return LaplaceCounts(len(self.sizes), self.epsilon)

    @property
    def event(self) -> Event | None:
        """What learning costs; None where it reads nobody."""
        if self.kind == NOBODY:
            return None
        if self.kind in NETWORKS:
            return self.network.event
        return self.schedule.events if self.kind == PAIRS else self.counts.event

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise of a count of one column, the largest."""
        if self.kind == NOBODY:
            return 0.0
        if self.kind == PAIRS:
            return self.schedule.deviation(max(self.schedule.single))
        if self.kind in NETWORKS:
            return self.network.deviation
        return sqrt(2) * float(self.counts.scale)

    def learnt(self, codes: Codes, noise: Noise, *, progress: Progress = SILENT) -> Learnt:
        """Return the model of rows, shape (columns, n)."""
        return replace(self._learnt(codes, noise, progress), anew=self.anew)

    def _learnt(self, codes: Codes, noise: Noise, progress: Progress) -> Learnt:
        if self.kind == PAIRS:
            found = learn(codes, self.schedule, ordered=self.ordered, noise=noise, progress=progress)
            shown = relations(found.model, found.measured, is_gaussian=self.schedule.is_gaussian)
            return replace(_of_tree(found.model), relations=shown)
        if self.kind in NETWORKS:
            network = network_of(codes, self.network, ordered=self.ordered, noise=noise, progress=progress)
            return replace(_of_network(network), relations=network.relations)
        if self.kind == NOBODY:
            return _separate([np.ones(size) for size in self.sizes])
        exact = [np.bincount(one, minlength=size) for one, size in zip(codes, self.sizes, strict=True)]
        noisy = self.counts.release(np.concatenate(exact).astype(np.int64), noise)
        return _separate(np.split(noisy, np.cumsum(self.sizes)[:-1]))


@dataclass(frozen=True)
class Learnt:
    """Shares of every column given those drawn before; ``order`` says which column is drawn when."""

    order: tuple[int, ...]
    conditionals: tuple[Conditional, ...]
    anew: Fraction = Fraction(0)
    relations: Relations = NOT_ASKED

    def model(self, *, fewest: int, most: int) -> ColumnModel:
        """Return the model that draws so many of the last columns anew."""
        return ColumnModel(self.conditionals, fewest, most, self.anew)


def _separate(counts: Sequence[npt.NDArray]) -> Learnt:
    conditionals = []
    for one in counts:
        positive = np.maximum(one.astype(np.float64), 0)
        shares = positive / positive.sum() if positive.sum() > 0 else np.full(len(one), 1 / len(one))
        conditionals.append(Conditional.of(shares[None, :]))
    return Learnt(tuple(range(len(counts))), tuple(conditionals))


def _of_network(network: Network) -> Learnt:
    order = [node.column for node in network.nodes]
    conditionals = [
        Conditional.of(
            shares,
            [order.index(parent) for parent in node.parents],
            [network.groups[parent] for parent in node.parents],
        )
        for node, shares in zip(network.nodes, network.shares, strict=True)
    ]
    return Learnt(tuple(order), tuple(conditionals))


def _of_tree(model: Model) -> Learnt:
    """Walk the cliques from the first outwards, as rows are drawn from the model."""
    order: list[int] = []
    conditionals = []
    for place, clique in enumerate(model.tree.cliques):
        for one in clique:
            if one not in order:
                known = tuple(other for other in clique if other in order)
                shares = conditional(model, place, known, one)
                places = [order.index(other) for other in known]
                conditionals.append(
                    Conditional.of(shares, places, [np.arange(model.sizes[o]) for o in known])
                )
                order.append(one)
    return Learnt(tuple(order), tuple(conditionals))
