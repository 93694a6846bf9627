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


def tell_sums(
    design: Method, tables: Mapping[str, Table], context: Context
) -> tuple[tuple[Integers, ...], Release]:
    """Run a method on the rows of one site and return its noisy sums in their order, and its release.

    Notes
    -----
    The sums are heard after their noise: exact ones are kept nowhere.
    """
    heard: list[Integers] = []
    with overhearing(lambda answer: heard.append(np.array(answer).ravel())):
        release = design.run(tables, context)
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
    return design.summable and design.asks_once and {draw.sampler for draw in design.cost.drawn()} <= SAMPLERS


def add_up(parts: Sequence[Sequence[Integers]]) -> tuple[Integers, ...]:
    """Return the totals of sums of all sites, in Python integers where 64 bits would not do."""
    added = (sum(one.astype(object) for one in same) for same in zip(*parts, strict=True))
    return tuple(np.clip(one, -MOST, MOST).astype(np.int64) for one in added)


class SharedDoor(Noise):
    """The noise door of a site that adds a share of one noise: so many shares are the noise of one.

    Whatever is no discrete Laplace noise has no shares here and is refused.
    """

    def __init__(self, door: Noise, parts: int) -> None:
        super().__init__(door._bytes)
        self._door, self._parts = door, parts

    def discrete_laplace(self, scale: Fraction | int, size: int) -> Integers:
        return self._door.laplace_share(scale, self._parts, size)

    def discrete_gaussian(self, variance: Fraction | int, size: int) -> Integers:
        raise InputRefused("sites.no_shares")

    def staircase(self, sensitivity: int, plateau: int, *, epsilon: Fraction | int, size: int) -> Integers:
        raise InputRefused("sites.no_shares")

    def vector(self, squared_scale: Fraction | int, dimension: int, *, size: int) -> Integers:
        raise InputRefused("sites.no_shares")


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
