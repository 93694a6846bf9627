"""What everything that a run answers tells about the rows of one person: its privacy loss, beside its claim.

A run is recorded on a table and played back on a neighbour with the same answers: noisy sums, choices, lots.
Then every exact sum is seen beside that of the neighbour, and every score of a choice, so that the loss of
each answer follows from the noise that was really asked for. Whatever else differs, be it how often noise is
drawn, how many candidates there are or what leaves, tells neighbours apart and fails.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from engine.privacy.events import Event
from engine.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Vector
from engine.privacy.mechanisms.integers import add_noise
from engine.privacy.noise import Noise
from tests.engine.battery.distributions import CheckFailed
from tests.engine.battery.replay import Call, Player, Recorder

NOISES = ("discrete_laplace", "discrete_gaussian", "vector")
CHOICES = ("exponential_choice", "permute_and_flip")
NOBODY = np.array([], dtype=int)

Run = Callable[[Any, Noise], Any]


@dataclass(frozen=True)
class Loss:
    """What answers tell, added up by kind.

    Parameters
    ----------
    laplace
        ε of sums with Laplace noise, Σ |moved| / b, and with vector noise, ‖moved‖ / s.
    gaussian
        ρ of sums with Gaussian noise: Σ moved² / 2σ².
    choices
        How many choices by scores there are.
    widest
        ε of the choice that tells most: the range of ln P/P' over its candidates, which bounds its ρ too.
    """

    laplace: float = 0.0
    gaussian: float = 0.0
    choices: int = 0
    widest: float = 0.0

    def __add__(self, other: Loss) -> Loss:
        return Loss(
            self.laplace + other.laplace,
            self.gaussian + other.gaussian,
            self.choices + other.choices,
            max(self.widest, other.widest),
        )

    def shares_of(self, claim: Loss) -> dict[str, float]:
        """Return which part of the claim each kind is; only those that are claimed or found."""
        return {
            name: getattr(self, name) / getattr(claim, name) if getattr(claim, name) else np.inf
            for name in KINDS
            if getattr(claim, name) or getattr(self, name)
        }


KINDS = tuple(Loss.__dataclass_fields__)


def claimed(event: Event) -> Loss:
    """Return what is claimed of the sums and choices of an event, part by part."""
    found = Loss()
    for leaf, _ in event.leaves():
        if isinstance(leaf, DiscreteLaplace | Vector):
            found += Loss(laplace=float(leaf.epsilon()))
        elif isinstance(leaf, DiscreteGaussian):
            found += Loss(gaussian=leaf.count * float(leaf.sensitivity / leaf.scale) ** 2 / 2)
        elif isinstance(leaf, Exponential):
            found += Loss(choices=leaf.count, widest=float(leaf.epsilon()) / leaf.count)
    return found


def loss(
    run: Run, table: Any, neighbour: Any, *, rows: int, without: NDArray = NOBODY, seed: int = 0
) -> Loss:
    """Record a run, play it back on the neighbour and return what its answers tell.

    Parameters
    ----------
    run
        Takes a table and a noise door, returns what leaves, as something that can be compared.
    rows, without
        How many rows the table has, and the places of those that the neighbour lacks; lots that are drawn by
        row are then those of the others.

    Raises
    ------
    CheckFailed
        Where the neighbour asks for something else, or something else leaves.
    """
    recorder = Recorder(seed)
    with _sums() as before:
        leaves = run(table, recorder)
    player = _Watching(recorder.calls, rows_before=rows, removed=without, sensitivity=None)
    with _sums([noisy for _, noisy in before]) as after:
        again = run(neighbour, player)
    player.finish()
    if leaves != again:
        raise CheckFailed("with the same answers something else leaves")
    drawn = [call for call in recorder.calls if call.name in NOISES]
    if not len(drawn) == len(before) == len(after):
        raise CheckFailed("noise was drawn that no sum got, or a sum got none")
    found = Loss()
    for call, (exact, _), (other, _) in zip(drawn, before, after, strict=True):
        if exact.shape != other.shape:
            raise CheckFailed("the number of sums depends on the data")
        if np.size(call.answer) != exact.size:
            raise CheckFailed("several sums share one draw of noise, or a draw got no sum")
        moved = (exact.astype(object) - other.astype(object)).ravel()
        scale = float(call.asked[0])
        if call.name == "discrete_laplace":
            found += Loss(laplace=float(np.abs(moved).sum()) / scale)
        elif call.name == "vector":
            found += Loss(laplace=float((moved**2).sum() / scale) ** 0.5)
        else:
            found += Loss(gaussian=float((moved**2).sum()) / (2 * scale))
    for rate, scores, others in player.choices:
        found += Loss(choices=1, widest=float(np.ptp(rate * (scores - others))))
    return found


class _Watching(Player):
    """A player that keeps the scores of both runs, and lets nothing else be shown that differs."""

    def __init__(self, calls: list[Call], **options: Any) -> None:
        super().__init__(calls, **options)
        self.choices: list[tuple[float, NDArray, NDArray]] = []
        self._called: tuple[str, Any] = ("", None)

    def _playing(self, name: str) -> Any:
        play = super()._playing(name)

        def called(*arguments: Any, **named: Any) -> Any:
            self._called = name, named.get("rate")
            return play(*arguments, **named)

        return called

    def _compare_shown(self, before: tuple[NDArray, ...], now: tuple[NDArray, ...]) -> None:
        super()._compare_shown(before, now)
        name, rate = self._called
        if name in CHOICES:
            self.choices.append((float(rate), before[0].astype(float), now[0].astype(float)))
        elif any((one != other).any() for one, other in zip(before, now, strict=True)):
            raise CheckFailed(f"{name} was shown rows")


@contextmanager
def _sums(answers: list[NDArray] | None = None) -> Iterator[list[tuple[NDArray, NDArray]]]:
    """Keep every exact sum with its noisy one, wherever noise is added; answer as before where asked to."""
    seen: list[tuple[NDArray, NDArray]] = []

    def keep(values: NDArray, draws: NDArray) -> NDArray:
        if answers is not None and len(seen) >= len(answers):
            raise CheckFailed("one more sum than on the neighbour")
        noisy = add_noise(values, draws) if answers is None else answers[len(seen)]
        seen.append((np.array(values), noisy))
        return np.array(noisy)

    places = [one for one in list(sys.modules.values()) if getattr(one, "add_noise", None) is add_noise]
    patches = [patch.object(place, "add_noise", keep) for place in places if place.__name__ != __name__]
    for one in patches:
        one.start()
    try:
        yield seen
    finally:
        for one in patches:
            one.stop()
