"""Cells and rows that rules of plausibility leave: decided from declarations, before a row is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods.datasets.marginal_model.codes import Coded
from engine.methods.datasets.marginal_model.fitting import Model
from engine.methods.datasets.marginal_model.junction_tree import Attributes, cells_with
from engine.methods.datasets.synthesis.invented import written_rows
from engine.methods.shared.column_cells import ColumnCells
from engine.methods.shared.plausibility import Rules

Codes = arrays.Integers
Mask = arrays.Bools
PLACES = ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (0.5, 0.5))
"""Where in two intervals values are tried: a pair of cells is impossible if none may stand together."""
LAST = 1 - 2.0**-53
SPREAD, TRIES = 2_000, 20


def impossible_pairs(
    columns: Sequence[ColumnCells], rules: Rules, *, most_cells: int, beside: Sequence[Attributes] = ()
) -> dict[Attributes, Mask]:
    """Return which cells of two columns no row may be in, by the places of the columns.

    Parameters
    ----------
    columns
        Of the model.
    rules
        Those about two columns of the model are looked at; the others are kept by drawing again, and so are
        those about codes, of which the model knows groups alone.
    most_cells
        Pairs and cliques with more cells stay out of the model.
    beside
        Pairs that will be in the model whatever the rules are.
    """
    places = {
        column.column.name: place for place, column in enumerate(columns) if not isinstance(column, Coded)
    }
    found: dict[Attributes, Mask] = {}
    for names, rule in _of_two(rules):
        if len(set(names)) < 2 or not set(names) <= set(places):
            continue
        one, other = sorted(places[name] for name in names)
        pairs = [*beside, *found, (one, other)]
        if not cells_with([column.size for column in columns], pairs, most=most_cells):
            continue
        mask = _never_together(columns[one], columns[other], rule)
        if mask.any():
            found[one, other] = found.get((one, other), False) | mask
    return found


def _of_two(rules: Rules) -> list[tuple[tuple[str, str], Rules]]:
    found = [
        ((str(one["column"]), str(other["column"])), Rules(rules.schema, never=[(one, other)]))
        for one, other in rules.never
    ]
    return found + [(pair, Rules(rules.schema, in_order=[pair])) for pair in rules.in_order]


def _never_together(one: ColumnCells, other: ColumnCells, rule: Rules) -> Mask:
    shape = (one.size, other.size)
    codes = np.array(np.divmod(np.arange(one.size * other.size), other.size))
    broken = np.ones(codes.shape[1], dtype=bool)
    for first, second in PLACES:
        uniform = [np.full(codes.shape[1], min(place, LAST)) for place in (first, second)]
        broken &= rule.broken(written_rows((one, other), codes, uniform))
    return broken.reshape(shape)


def start_model(sizes: tuple[int, ...], total: float, impossible: Mapping[Attributes, Mask]) -> Model:
    """Return a model in which everything is equally likely but what is impossible.

    Notes
    -----
    A logarithm of −∞ moves by no step, so that these cells stay empty in every later model.
    """
    potentials = {pair: np.where(mask, -np.inf, 0.0) for pair, mask in impossible.items()}
    return Model(sizes, total, potentials)


def is_possible(columns: Sequence[ColumnCells], rules: Rules, impossible: Mapping[Attributes, Mask]) -> bool:
    """Whether rules leave any row: of the model's cells, and of rows spread over all that is declared.

    Notes
    -----
    Spread rows lie at the multiples of roots of prime numbers, the same ones each time: no lot decides what
    is refused.
    """
    sizes = tuple(column.size for column in columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = start_model(sizes, 1.0, impossible).shares
    if not all(np.isfinite(share).all() for share in shares):
        return False
    roots = [sqrt(n) for n in _primes(2 * len(columns))]
    places = np.outer(roots, np.arange(1, SPREAD + 1)) % 1.0
    codes = np.array([np.floor(place * size) for place, size in zip(places, sizes, strict=False)]).astype(int)
    rows = rules.complete(written_rows(columns, codes, list(places[len(columns) :])))
    return not bool(rules.broken(rows).all())


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


def kept_rows(draw: Callable[[int], pd.DataFrame], n: int, rules: Rules) -> pd.DataFrame:
    """Return n drawn rows that keep all rules; what breaks one is drawn again.

    Parameters
    ----------
    draw
        Returns so many rows of a model.
    n
        How many are wanted.

    Notes
    -----
    Drawing again until a rule is kept draws from the model given that it is kept. Rows that break one every
    time are replaced by others, so that how many leave says nothing of the rules; if none keeps them, fewer
    rows leave.
    """
    made = rules.complete(draw(n))
    broken = np.flatnonzero(rules.broken(made))
    for _ in range(TRIES):
        if not len(broken):
            return made
        anew = rules.complete(draw(len(broken)))
        made.iloc[broken] = anew.to_numpy()
        broken = broken[rules.broken(anew)]
    kept = np.setdiff1d(np.arange(n), broken)
    repeated = kept[np.arange(len(broken)) % len(kept)] if len(kept) else kept
    return made.iloc[np.concatenate([kept, repeated])].reset_index(drop=True)
