"""What a method answers when nothing is added: for looking back at a release inside the house, only.

The answer is exact and private. Nothing here can become a release: `WithoutNoise` is no
`engine.privacy.noise.Noise`, which `engine.release.run` insists on, and `exact_tables` returns bare tables
instead of a `Release`.

A choice can have several best candidates: the first and the last are both exact answers, and whatever lies
between them is as good.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from engine.methods.protocol import MAIN, Artefact, Context, Method, ModelArtefact, TableArtefact
from engine.privacy.promise import Promise
from engine.progress import SILENT, Progress

if TYPE_CHECKING:
    import pandas

    from engine.privacy.noise import Noise
    from engine.privacy.trials import Integers
    from engine.table.table import Table

ANSWERED = frozenset(
    {"discrete_laplace", "discrete_gaussian", "staircase", "vector", "exponential_choice", "permute_and_flip"}
)

NEXT_TO_NOTHING = Fraction(10**6)
"""A privacy level at which a model holds back next to nothing."""

CHOICES = frozenset({"exponential_choice", "permute_and_flip"})


class WithoutNoise:
    """Stands where a method expects its noise, and adds none. Internal only.

    Parameters
    ----------
    last
        Whether the last of several best candidates is chosen instead of the first.

    Notes
    -----
    It has the additive mechanisms and the choice of `engine.privacy.noise.Noise` and nothing else: there is
    no exact answer behind lots, coins and randomised responses, so that they fail here.

    Examples
    --------
    >>> WithoutNoise().discrete_laplace(Fraction(4), 3).tolist()
    [0, 0, 0]
    >>> scores = np.array([-2, 0, 0, 0, -1])
    >>> [WithoutNoise(last=last).exponential_choice(scores, rate=Fraction(1)) for last in (False, True)]
    [1, 3]
    """

    def __init__(self, *, last: bool = False) -> None:
        self._last = last

    def discrete_laplace(self, scale: Fraction | int, size: int) -> Integers:
        """Return zeros, shape (size,)."""
        return np.zeros(size, dtype=np.int64)

    def discrete_gaussian(self, variance: Fraction | int, size: int) -> Integers:
        """Return zeros, shape (size,)."""
        return np.zeros(size, dtype=np.int64)

    def staircase(self, sensitivity: int, plateau: int, *, epsilon: Fraction | int, size: int) -> Integers:
        """Return zeros, shape (size,)."""
        return np.zeros(size, dtype=np.int64)

    def vector(self, squared_scale: Fraction | int, dimension: int, *, size: int) -> Integers:
        """Return zeros, shape (size, dimension)."""
        return np.zeros((size, dimension), dtype=np.int64)

    def exponential_choice(self, scores: Integers, *, rate: Fraction | int) -> int:
        """Return the place of the best candidate: among equals the first, or the last."""
        best = np.flatnonzero(scores == scores.max())
        return int(best[-1 if self._last else 0])

    def permute_and_flip(self, scores: Integers, *, rate: Fraction | int) -> int:
        """Return the place of the best candidate, as `exponential_choice` does."""
        return self.exponential_choice(scores, rate=rate)

    def sparse_vector(
        self, scores: Integers, *, threshold: Fraction | int, each: Fraction | int, most: int
    ) -> np.ndarray:
        """Return which scores are at least 0, without end."""
        return np.asarray(scores >= 0, dtype=np.int8)

    def clear_counts(
        self, cells: np.ndarray, counts: Integers, *, scale: Fraction, threshold: int, size: int = 0
    ) -> tuple[np.ndarray, Integers]:
        """Return the cells that reach the threshold, with their counts, ordered by cell."""
        kept = np.flatnonzero(counts >= threshold)
        kept = kept[np.argsort(cells[kept], kind="stable")]
        return cells[kept], counts[kept]


def has_exact_answer(promise: Promise) -> bool:
    """Say whether every mechanism of a promise adds noise to an exact answer, or chooses the best.

    Examples
    --------
    >>> from engine.privacy.mechanisms import RandomisedResponse
    >>> from engine.privacy.promise import Loss, Neighbours, Unit
    >>> answer = RandomisedResponse(Fraction(3, 4), 2)
    >>> loss = Loss(Fraction(2), Fraction(0), Neighbours.REPLACE_ONE, answer)
    >>> has_exact_answer(Promise("local_dp", loss, Unit.PERSON, 1))
    False
    """
    return (
        promise.loss is not None
        and {draw.sampler for draw in promise.drawn()} <= ANSWERED
        and all(leaf.drawn() for leaf, _ in promise.loss.events.leaves() if leaf.count)
    )


def is_choice(promise: Promise) -> bool:
    """Say whether a promise has a choice among candidates in it: then several answers can be exact."""
    return any(draw.sampler in CHOICES for draw in promise.drawn())


def exact_tables(
    subject: Method,
    used: Table,
    *,
    last: bool = False,
    work_folder: Path | None = None,
    progress: Progress = SILENT,
) -> dict[str, pandas.DataFrame]:
    """Return what the same method gives on the same rows without noise: private tables, by artefact.

    Parameters
    ----------
    subject
        The method and the request of the release.
    used
        The rows that the release was made from, capped already: no lot is drawn again.
    last
        As in `WithoutNoise`.
    work_folder
        Where the method may leave what it needs meanwhile: that of the run, so that it goes with the run.

    Returns
    -------
    dict of DataFrame
        By the name of the artefact. The columns are those of the release.

    Notes
    -----
    What a method does after the noise (clamping, setting negatives to zero, ordering) happens here too, so
    that only the noise makes the difference.
    """
    artefacts = _exact(subject, used, last, work_folder, progress)
    return {artefact.name: artefact.frame for artefact in artefacts if isinstance(artefact, TableArtefact)}


def exact_models(
    subject: Method, used: Table, *, work_folder: Path | None = None, progress: Progress = SILENT
) -> dict[str, ModelArtefact]:
    """Return the models that the same method gives on the same rows without noise: private, by artefact.

    Notes
    -----
    A model may hold back as much as its declared noise would cover (a floor, a penalty). The privacy level is
    therefore set to a million, so that next to nothing is held back. Parameters as in `exact_tables`.
    """
    budget = subject.request.budget
    if budget is not None:
        subject = subject.but(budget=replace(budget, epsilon=NEXT_TO_NOTHING))
    artefacts = _exact(subject, used, False, work_folder, progress)
    return {artefact.name: artefact for artefact in artefacts if isinstance(artefact, ModelArtefact)}


def _exact(
    design: Method, used: Table, last: bool, work_folder: Path | None, progress: Progress
) -> tuple[Artefact, ...]:
    with tempfile.TemporaryDirectory(prefix="custos-", dir=work_folder) as folder:
        # The cast is the only place where the stand-in passes as the door, and the door is not left open:
        # what the method returns is taken apart by those who ask.
        context = Context(cast("Noise", WithoutNoise(last=last)), None, Path(folder), progress)
        return design.run({MAIN: used}, context).artefacts
