"""Which relations between columns invented rows can show: of noisy tables alone, one test and one wording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from engine import arrays
from engine.methods.datasets.marginal_model.agreement import Moments, limits
from engine.views import BarsView, Label, Text, View

Floats = arrays.Floats
Integers = arrays.Integers
Sets = tuple[tuple[int, ...], ...]

WORDS = "datasets.relations"
CHANCE = 0.05
"""Share of columns without any relation of which noise and chance make one that counts as told."""
MOST_NAMED = 12
_ROUNDS = 30


@dataclass(frozen=True)
class Relations:
    """Sets of columns that were measured together: those with a relation, and those that noise drowns.

    ``above`` says of each, in that order, how many times what noise and chance alone show it has.
    """

    told: Sets = ()
    drowned: Sets = ()
    above: tuple[float, ...] = ()

    @staticmethod
    def of(found: Sequence[tuple[tuple[int, ...], float]]) -> Relations:
        """Return them from sets of columns, each with how far above noise and chance it is; 1 is at them."""
        told, drowned = ([one for one in found if (one[1] > 1) is which] for which in (True, False))
        above = tuple(times for _, times in (*told, *drowned))
        return Relations(tuple(one for one, _ in told), tuple(one for one, _ in drowned), above)


NOT_ASKED = Relations()
"""Of a model whose columns have nothing to do with each other, or that reads nobody."""


def above_noise(
    table: Floats | Integers, *, deviation: float, moments: Moments, share: float = CHANCE, each: int = 1
) -> float:
    """Return how many times what noise and chance make lines and cells of a noisy table are related.

    Parameters
    ----------
    table
        Noisy counts, shape (lines, cells).
    deviation
        Standard deviation of the noise of each.
    moments
        Of (noise / deviation)²: see `agreement`.
    share
        How often more than 1 may be said of columns that have nothing to do with each other.
    each
        How many rows a person has at most.

    Notes
    -----
    Were there no relation, the counts would differ from some product of lines and cells, m, by noise and by
    chance among people, of variance σ² + m as for counts of a Poisson distribution; σ² + k m at most where a
    person has up to k = ``each`` rows, which may all be alike. The product that makes
    Σ (count − m)² / (σ² + k m) least makes it less than the true one does, which passes the limit of as many
    cells of noise in at most ``share`` of all cases.
    """
    counts = np.asarray(table, dtype=np.float64)
    lines, cells = counts.sum(axis=1), counts.sum(axis=0) / max(1.0, float(counts.sum()))
    for _ in range(_ROUNDS):
        weights = 1 / (deviation**2 + each * np.maximum(np.outer(lines, cells), 0.0))
        lines = (weights * counts) @ cells / np.maximum(weights @ cells**2, 1e-300)
        cells = (weights * counts).T @ lines / np.maximum(weights.T @ lines**2, 1e-300)
    product = np.outer(lines, cells)
    off = (counts - product) / np.sqrt(deviation**2 + each * np.maximum(product, 0.0))
    return sqrt(float(np.vdot(off, off)) / limits(np.array([float(counts.size)]), moments, share)[0])


def draw_relations(relations: Relations, names: Sequence[str]) -> tuple[View, ...]:
    """Return the relations as bars beside that of noise and chance alone; nothing where none was measured."""
    found = sorted(
        zip(relations.above, (*relations.told, *relations.drowned), strict=True), key=lambda one: -one[0]
    )[:MOST_NAMED]
    if not found:
        return ()
    bars = [(" × ".join(names[place] for place in one), times) for times, one in found]
    labels: list[Label] = [label for label, _ in bars]
    values = [float(f"{times:.3g}") for _, times in bars]
    at = sum(times > 1 for times in values)  # the limit stands between what is told and what is not
    labels.insert(at, Text(f"{WORDS}.views.floor"))
    values.insert(at, 1.0)
    title, axis, note = (Text(f"{WORDS}.views.{name}") for name in ("title", "axis", "note"))
    return (BarsView(title, tuple(labels), tuple(values), axis, note=note),)


def describe_relations(relations: Relations, names: Sequence[str]) -> tuple[Text, ...]:
    """Say which relations are larger than the noise, and that rows may show others as well.

    Nothing where no columns were measured together: what a method says of that stands elsewhere.
    """

    def listed(sets: Sets) -> Text:
        all_names = [" × ".join(names[place] for place in one) for one in sets]
        more = len(sets) - MOST_NAMED
        told = {"names": all_names[:MOST_NAMED], "more": more}
        return Text(f"{WORDS}.{'listed_more' if more > 0 else 'listed'}", told)

    told, drowned = relations.told, relations.drowned
    if not told and not drowned:
        return ()
    which = "some" if told and drowned else "all" if told else "none"
    return (Text(f"{WORDS}.{which}", {"told": listed(told), "drowned": listed(drowned)}),)
