"""Small universes in which everything about seeds is enumerated: by the definitions, not by the program."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from engine.methods.datasets.seeds.crowds import Crowd
from engine.methods.datasets.seeds.models import ColumnModel, Conditional, SeedModel


def column_model(sizes, fewest, most, seed, *, parents=True, anew=Fraction(0)):
    """Return a model with invented shares, some of them 0."""
    chance = np.random.default_rng(seed)
    conditionals = []
    for place, size in enumerate(sizes):
        known = tuple(range(place)) if parents else ()
        shares = chance.dirichlet(np.full(size, 0.7), int(np.prod([sizes[one] for one in known])))
        shares[chance.random(shares.shape) < 0.1] = 0
        shares[:, -1] += shares.sum(axis=1) == 0
        groups = [np.arange(sizes[one]) for one in known]
        conditionals.append(Conditional.of(shares / shares.sum(axis=1, keepdims=True), known, groups))
    return ColumnModel(tuple(conditionals), fewest, most, anew)


def everything(sizes):
    """Return every row there can be."""
    return np.array(list(product(*map(range, sizes))))


def share(model, row, place):
    """Return the share of one cell given those before it, from the declaration."""
    one = model.conditionals[place]
    combination = 0
    for parent in one.parents:
        combination = combination * model.conditionals[parent].size + row[parent]
    edges = [0, *one.edges[combination].tolist()]
    return (edges[row[place] + 1] - edges[row[place]]) / edges[-1]


def likelihood(model, seed, row):
    """P(row ← seed): for every number of columns drawn anew, the product of shares where the others agree.

    With the probability ``anew`` the row is of the model alone.
    """
    columns, total = len(row), 0.0
    for redrawn in range(model.fewest, model.most + 1):
        kept = columns - redrawn
        if (row[:kept] == seed[:kept]).all():
            total += math.prod(share(model, row, place) for place in range(kept, columns))
    by_model = float(model.anew) * of_model_alone(model, row)
    return float(1 - model.anew) * total / (model.most - model.fewest + 1) + by_model


def of_model_alone(model, row):
    return math.prod(share(model, row, place) for place in range(len(row)))


@dataclass(frozen=True)
class WeightModel(SeedModel):
    """Rows of zeros and ones with as many ones as the seed; or, with probability 1 − b, any row at all.

    Bindschaedler (2018), examples 3.2 (b = 1) and 3.6.
    """

    columns: int
    b: Fraction = Fraction(1)

    def made(self, seeds, noise):
        order = np.argsort(noise.random_keys(seeds.size).reshape(seeds.shape), axis=1)
        kept = noise.bernoulli(self.b, len(seeds))
        moved = np.take_along_axis(seeds, order, axis=1)
        return np.where(kept[:, None], moved, self.alone(len(seeds), noise))

    def alone(self, n, noise):
        return noise.uniform_below(2, n * self.columns).reshape(n, self.columns)

    def crowds(self, seeds):
        weights = np.bincount(seeds.sum(axis=1), minlength=self.columns + 1)

        def crowd(rows, of):
            own = rows.sum(axis=1)
            alike = weights[own]
            counts = np.column_stack([len(seeds) - alike, alike])
            p = [[hybrid(self, w + 1, w) for w in own], [hybrid(self, w, w) for w in own]]
            with np.errstate(divide="ignore"):
                return Crowd(counts, np.log(np.array(p).T), (of.sum(axis=1) == own).astype(np.int64))

        return crowd


def hybrid(model, weight_of_seed, weight):
    """b · p_Hamming + (1 − b) / 2^l."""
    same = Fraction(int(weight_of_seed == weight), math.comb(model.columns, int(weight)))
    return float(model.b * same + (1 - model.b) * Fraction(1, 2**model.columns))


def sizes_by_definition(test, p, own, *, grid=1e-6):
    """Return the crowd of the seed at place ``own`` from the likelihoods of all seeds, by the definition.

    A sum that is a whole number but for ``grid`` is one.
    """
    if p[own] == 0:
        return 0
    if test.ratio > 1:
        bins = [math.floor(-math.log(one) / math.log(test.ratio)) if one > 0 else None for one in p]
        return bins.count(bins[own])
    scores = [
        sum(other for s, other in enumerate(p) if s != d and other <= one) / one
        for d, one in enumerate(p)
        if one >= p[own]
    ]
    return math.floor(max(scores) + grid)


def released(seeds, p, alone, test):
    """Return the probability of every row to be the one that leaves, shape (rows,).

    ``p`` has the likelihood of every row (second axis) from every seed, ``alone`` that of the model alone.
    """
    mass = np.zeros(len(alone))
    for row in range(len(alone)):
        for d in range(len(seeds)):
            size = sizes_by_definition(test, p[:, row].tolist(), d)
            mass[row] += p[d, row] * test.chance(size)
    mass += float(test.alone) * max(len(seeds), test.least) * alone
    return mass / mass.sum()


def beyond(one, other, epsilon):
    """Return the largest excess of P(S) over e^ε P'(S), over all sets S."""
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum())


def is_of_definition(size, test, p, own):
    """Say whether a crowd is that of the definition; weights may have been rounded down by 2^-20 each."""
    grid = len(p) * 2.0**-19
    return sizes_by_definition(test, p, own, grid=-grid) <= size <= sizes_by_definition(test, p, own)
