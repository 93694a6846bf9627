"""One answer from several tables: what a method would have added up is told, and put in place elsewhere.

A method that asks its rows for nothing but sums needs no line for this. A site runs it as it is and tells
its sums; whoever has the sums of all sites runs the same method on no rows, with the totals in their place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import InputRefused
from engine.privacy.mechanisms.integers import Integers, listening, overhearing
from engine.privacy.noise import Noise

if TYPE_CHECKING:
    from fractions import Fraction

    from engine.methods.protocol import Context, Method, Release
    from engine.table.table import Table

SAMPLERS = frozenset(("discrete_laplace", "discrete_gaussian", "staircase", "vector"))
"""What noise for sums is drawn by; whatever else is drawn chooses by rows, and cannot be added up."""
MOST = 2**62
"""No total is larger: what is beyond is cut off, which loses no privacy."""


class _AllTold(Exception):
    """All sums of a round were heard."""


def tell_sums(
    design: Method,
    tables: Mapping[str, Table],
    context: Context,
    known: Sequence[Integers] = (),
    most: int | None = None,
) -> tuple[tuple[Integers, ...], Release | None]:
    """Run a method on the rows of one site and return its noisy sums in their order, and its release.

    Parameters
    ----------
    design, tables, context
        As for `Method.run`.
    known
        Totals of all sites for the sums of earlier rounds: they stand in their place, and no noise is drawn.
    most
        How many sums a round has: with the last of them the run ends, and releases nothing. None: all sums.

    Notes
    -----
    The sums are heard after their noise: exact ones are kept nowhere.
    """
    heard: list[Integers] = []
    left = list(known)

    def tell(answer: Integers) -> None:
        heard.append(np.array(answer).ravel())
        if len(heard) == most:
            raise _AllTold

    door = LaterRound(context.noise, left) if known else context.noise
    try:
        with overhearing(tell, left):
            release = design.run(tables, replace(context, noise=door))
    except _AllTold:
        release = None
    return tuple(heard), release


def put_in_place(
    design: Method,
    tables: Mapping[str, Table],
    totals: Sequence[Integers],
    context: Context,
) -> Release:
    """Run a method on no rows, with the totals of all sites where it adds noise to its sums.

    Raises
    ------
    InputRefused
        ``sums.other_totals``: it asks for other sums than these.
    """
    left = list(totals)

    def answer(values: Integers, draws: Integers) -> Integers:
        if not left or left[0].size != values.size:
            raise InputRefused("sums.other_totals")
        return left.pop(0).reshape(values.shape)

    none = {name: table.with_rows(table.rows()[:0]) for name, table in tables.items()}
    with listening(answer):
        release = design.run(none, replace(context, noise=Unnoised(context.noise)))
    if left:
        raise InputRefused("sums.other_totals")
    return release


def is_summable(design: Method) -> bool:
    """Say whether the sums of several sites can take the place of one's, as far as declarations say it."""
    once = design.asks_once or bool(design.rounds)
    return design.summable and once and {draw.sampler for draw in design.cost.drawn()} <= SAMPLERS


def add_up(parts: Sequence[Sequence[Integers]]) -> tuple[Integers, ...]:
    """Return the totals of sums of all sites, in Python integers where 64 bits would not do."""
    added = (sum(one.astype(object) for one in same) for same in zip(*parts, strict=True))
    return tuple(np.clip(one, -MOST, MOST).astype(np.int64) for one in added)


class SharedDoor(Noise):
    """The noise door of a site that adds a share of one noise: so many shares are the noise of one.

    Whatever is no discrete Laplace or Gaussian noise has no shares here and is refused.
    """

    def __init__(self, door: Noise, parts: int) -> None:
        super().__init__(door._bytes)
        self._door, self._parts = door, parts

    def discrete_laplace(self, scale: Fraction | int, size: int) -> Integers:
        return self._door.laplace_share(scale, self._parts, size)

    def discrete_gaussian(self, variance: Fraction | int, size: int) -> Integers:
        return self._door.gaussian_share(variance, self._parts, size)

    def staircase(self, sensitivity: int, plateau: int, *, epsilon: Fraction | int, size: int) -> Integers:
        raise InputRefused("sites.no_shares")

    def vector(self, squared_scale: Fraction | int, dimension: int, *, size: int) -> Integers:
        raise InputRefused("sites.no_shares")


class LaterRound(SharedDoor):
    """The noise door of a site in a later round: while totals are known of sums, these get no noise."""

    def __init__(self, door: Noise, known: list[Integers]) -> None:
        super().__init__(door, 1)
        self._known = known

    def discrete_laplace(self, scale: Fraction | int, size: int) -> Integers:
        return np.zeros(size, dtype=np.int64) if self._known else self._door.discrete_laplace(scale, size)


class Unnoised(Noise):
    """The noise door for whoever puts totals in place, which have their noise: it draws none for sums.

    What a method draws beyond it, such as rows from a noisy model, it draws as ever.
    """

    def __init__(self, door: Noise) -> None:
        super().__init__(door._bytes)

    def discrete_laplace(self, scale: Fraction | int, size: int) -> Integers:
        return np.zeros(size, dtype=np.int64)

    def discrete_gaussian(self, variance: Fraction | int, size: int) -> Integers:
        return np.zeros(size, dtype=np.int64)

    def staircase(self, sensitivity: int, plateau: int, *, epsilon: Fraction | int, size: int) -> Integers:
        return np.zeros(size, dtype=np.int64)

    def vector(self, squared_scale: Fraction | int, dimension: int, *, size: int) -> Integers:
        return np.zeros((size, dimension), dtype=np.int64)
