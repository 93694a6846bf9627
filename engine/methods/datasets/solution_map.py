"""The map of a search for the coarseness of whole columns: every combination, what it costs and whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from engine.methods.datasets.full_domain import Found, Lattice
from engine.methods.datasets.rollup import Steps
from engine.methods.trying import Candidate, MapLadder, SolutionMap
from engine.progress import SILENT, Progress

MOST_DRAWN = 10_000  # combinations up to which all are looked at
MOST_BESIDE = 2_000  # of more, so many around the best one


def exactly(lattice: Lattice, steps: Steps) -> Found | None:
    """Return one combination of steps as the one that was found; None where it does not hold."""
    looked = lattice.look(steps)
    if not looked.holds:
        return None
    return Found(steps, looked.loss, looked.left_out, 1, 1, looked.loss)


def solution_map(
    lattice: Lattice,
    found: Found,
    names: Sequence[str],
    *,
    least: Steps,
    taken: Steps | None = None,
    share: bool = True,
    progress: Progress = SILENT,
) -> SolutionMap:
    """Look at every combination of steps, or at those around the best one where there are very many.

    Parameters
    ----------
    lattice, found
        The combinations, and the best of them.
    names
        Of the columns.
    least
        The step below which each column may not go.
    taken
        The combination that is taken; the best one where none is.
    share
        Whether the loss is a share of the detail.

    Examples
    --------
    >>> import numpy as np
    >>> from engine.methods.datasets.full_domain import search
    >>> from engine.methods.datasets.recoding import Ladder, Members
    >>> from engine.table.hierarchies import Hierarchy
    >>> age = Ladder.of(["41", "43", "57"], Hierarchy(bands=(10,)))
    >>> members = Members(np.array([0, 1, 2, 2]), np.arange(4))
    >>> lattice = Lattice(np.array([[0], [1], [2]]), members, [age], k=2)
    >>> made = solution_map(lattice, search(lattice), ["age"], least=(0,))
    >>> [(one.steps, one.left_out, one.holds) for one in made.candidates], made.best
    ([((0,), 2, False), ((1,), 0, True), ((2,), 0, True)], 1)
    """
    # Steps below the least one read like it: each combination stands in the map once.
    best = tuple(max(step, low) for step, low in zip(found.steps, least, strict=True))
    wanted = best if taken is None else taken
    possible = 1
    for low, size in zip(least, lattice.shape, strict=True):
        possible *= size - low
    chosen = list(_drawn(lattice.shape, least, possible, (best, wanted)))
    candidates = []
    for place, steps in enumerate(chosen):
        if not place % 16:
            progress.step(place / len(chosen), "datasets.search")
        candidates.append(_candidate(lattice, steps, names))
    ladders = tuple(
        MapLadder(name, tuple(int(groups.max()) + 1 for groups in ladder.groups))
        for name, ladder in zip(names, lattice.ladders, strict=True)
    )
    return SolutionMap(
        ladders,
        tuple(candidates),
        chosen.index(best),
        chosen.index(wanted),
        lattice.most_left_out,
        lattice.members.people,
        lattice.alone((0,) * len(names)),
        share,
        possible,
        found.least >= found.loss,
    )


def _drawn(shape: Steps, least: Steps, possible: int, always: tuple[Steps, ...]) -> Iterable[Steps]:
    """Return the combinations that are looked at, in the order of the lattice."""
    if possible <= MOST_DRAWN:
        return product(*(range(low, size) for low, size in zip(least, shape, strict=True)))
    reached, edge = set(always), set(always)
    while edge and len(reached) < MOST_BESIDE:
        edge = {one for steps in edge for one in _beside(steps, shape, least)} - reached
        reached |= edge
    return sorted(reached)


def _beside(steps: Steps, shape: Steps, least: Steps) -> Iterable[Steps]:
    for place, step in enumerate(steps):
        for other in (step - 1, step + 1):
            if least[place] <= other < shape[place]:
                yield (*steps[:place], other, *steps[place + 1 :])


def _candidate(lattice: Lattice, steps: Steps, names: Sequence[str]) -> Candidate:
    looked = lattice.look(steps)
    return Candidate(
        steps,
        {"steps": dict(zip(names, steps, strict=True))},
        lattice.lost(steps, looked),
        looked.left_out,
        lattice.alone(steps),
        looked.holds,
    )
