"""Record every call of the noise door on one data set, play the answers back on a neighbour.

With the noise frozen the two releases differ by their answers alone, so the difference must stay within the
declared sensitivity, and the calls must be the same ones in the same order: whatever else would change
between neighbours (how often noise is drawn, with which scale, how many values) tells them apart.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.privacy.draw import Draw
from engine.privacy.noise import Noise
from tests.engine.battery.distributions import CheckFailed
from tests.noise_source import seeded_bytes

CALLS = (
    "discrete_laplace",
    "laplace_share",
    "discrete_gaussian",
    "gaussian_share",
    "staircase",
    "vector",
    "bernoulli",
    "bernoulli_exp_minus",
    "bernoulli_exp_minus_each",
    "uniform_below",
    "random_keys",
    "shuffled",
    "exponential_choice",
    "permute_and_flip",
    "sparse_vector",
    "clear_counts",
)
BY_ROW = ("random_keys", "bernoulli", "uniform_below")  # may be called once for each row of the table


@dataclass(frozen=True)
class Call:
    """One call of the door: what was asked, which arrays it was shown, what it answered and counted."""

    name: str
    asked: tuple[Any, ...]
    shown: tuple[NDArray, ...]
    answer: Any
    counted: Counter[Draw] = field(default_factory=Counter)


class Recorder(Noise):
    """A seeded noise door that keeps a record of its calls."""

    def __init__(self, seed: int) -> None:
        super().__init__(seeded_bytes(seed))
        self.calls: list[Call] = []
        self._inside = False
        for name in CALLS:
            setattr(self, name, self._recording(name))

    def _recording(self, name: str) -> Any:
        method = getattr(Noise, name)

        def record(*arguments: Any, **named: Any) -> Any:
            if self._inside:  # exponential_choice calls uniform_below: the outer call is the record
                return method(self, *arguments, **named)
            self._inside, before = True, self.counted
            try:
                answer = method(self, *arguments, **named)
            finally:
                self._inside = False
            self.calls.append(Call(name, *_sorted_out(arguments, named), answer, self.counted - before))
            return answer

        return record


class Player(Noise):
    """A noise door that answers from a record and fails where the calls differ from it.

    Parameters
    ----------
    calls
        The record.
    rows_before
        How many rows the recorded data set had.
    removed
        Places of the rows that the neighbour lacks; calls by row get the recorded answers of the others.
    sensitivity
        Largest change allowed in any array shown to the door (scores of the exponential mechanism).
    """

    def __init__(
        self, calls: list[Call], *, rows_before: int, removed: NDArray, sensitivity: float | None
    ) -> None:
        super().__init__(_shut)
        self._left = list(calls)
        self._before, self._removed, self._sensitivity = rows_before, removed, sensitivity
        for name in CALLS:
            setattr(self, name, self._playing(name))

    def _playing(self, name: str) -> Any:
        def play(*arguments: Any, **named: Any) -> Any:
            if not self._left:
                raise CheckFailed(f"{name}: noise drawn once more than on the neighbour")
            call = self._left.pop(0)
            asked, shown = _sorted_out(arguments, named)
            if call.name != name:
                raise CheckFailed(f"{name} was called where the neighbour called {call.name}")
            self._compare_shown(call.shown, shown)
            self._counted.update(call.counted)
            if asked == call.asked:
                return call.answer
            if name in BY_ROW and asked == _fewer(call.asked, self._before, self._removed.size):
                return np.delete(call.answer, self._removed)
            raise CheckFailed(f"{name} was asked for {asked}, on the neighbour for {call.asked}")

        return play

    def _compare_shown(self, before: tuple[NDArray, ...], now: tuple[NDArray, ...]) -> None:
        for first, second in zip(before, now, strict=True):
            if first.shape != second.shape:
                raise CheckFailed("the number of candidates depends on the data")
            moved = int(np.abs(first - second).max(initial=0))
            if self._sensitivity is not None and moved > self._sensitivity:
                raise CheckFailed(f"a score moved by {moved}, declared {self._sensitivity}")

    def finish(self) -> None:
        """Fail where the neighbour drew noise that this data set did not draw."""
        if self._left:
            raise CheckFailed(f"{len(self._left)} calls of the noise door fewer than on the neighbour")


def _sorted_out(arguments: tuple, named: dict[str, Any]) -> tuple[tuple, tuple[NDArray, ...]]:
    flat = [*arguments, *(value for _, value in sorted(named.items()))]
    arrays = tuple(np.asarray(value) for value in flat if isinstance(value, np.ndarray | list))
    return tuple(value for value in flat if not isinstance(value, np.ndarray | list)), arrays


def _fewer(asked: tuple, rows_before: int, removed: int) -> tuple | None:
    """Return the call with the number of rows, its last argument, lessened by the rows removed."""
    if not asked or asked[-1] != rows_before:
        return None
    return (*asked[:-1], rows_before - removed)


def _shut(count: int) -> bytes:
    raise CheckFailed("bytes were drawn past the recorded calls")
