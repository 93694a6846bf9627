"""What is put through the battery: a mechanism or a method, its declarations, and neighbouring data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.privacy.noise import Noise
from tests.engine.battery.distributions import Law
from tests.engine.battery.neighbours import Neighbours

Data = Any  # whatever the thing under test takes: an array, a frame, a tuple of columns


def _each_row(data: Data) -> list[NDArray]:
    return [np.array([row]) for row in range(len(data))]


def _without(data: Data, rows: NDArray) -> Data:
    return np.delete(data, rows, axis=0)


def _sum(released: NDArray) -> float:
    return float(np.sum(released))


@dataclass(frozen=True)
class Subject:
    """A thing under test. Leave out what does not apply: its checks are then not run, and `checks` says so.

    Parameters
    ----------
    release
        Data and a noise door in, what leaves out: an array of any shape.
    epsilon
        Privacy level that it claims; None where the claim is not pure differential privacy (no audit).
    pair
        Two neighbouring data sets, as far apart in their answers as the claim allows.
    query
        The answer before noise: integers, in whole steps.
    sensitivity
        Declared largest L1 change of ``query`` between neighbours, in whole steps.
    step
        Value of one step in what leaves.
    neighbours
        Pairs of neighbouring data sets: see `neighbours.py`.
    law
        What the noise must follow, in whole steps; needs ``query``.
    rows_of_units
        The places of the rows of each unit of protection, for record-and-replay; default one row each.
    rows_removed
        The data set without the rows at these places; None where neighbours are never smaller.
    statistic
        A number made from one release, on which the audit looks; default the sum.
    release_often
        The same release, many at a time: data, noise, how many → statistics; default one after the other.
    audit_runs
        How many releases of each neighbour the audit may draw.
    """

    release: Callable[[Data, Noise], NDArray]
    epsilon: Fraction | None
    pair: tuple[Data, Data]
    query: Callable[[Data], NDArray] | None = None
    sensitivity: int | None = None
    step: Fraction | None = None
    neighbours: Neighbours | None = None
    law: Law | None = None
    rows_of_units: Callable[[Data], list[NDArray]] = _each_row
    rows_removed: Callable[[Data, NDArray], Data] | None = _without
    statistic: Callable[[NDArray], float] = _sum
    release_often: Callable[[Data, Noise, int], NDArray] | None = None
    audit_runs: int = 100_000
