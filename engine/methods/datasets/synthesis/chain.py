"""Column after column: every model is fitted once on the original rows, and drawn from as often as asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from engine.methods.datasets.synthesis.models import Learn, Model
from engine.methods.datasets.synthesis.variables import Codes, Floats, Levels, Variable, values_of
from engine.progress import SILENT, Progress

Values = dict[str, Floats]
OTHER, MISSING, USUAL = range(3)


@dataclass(frozen=True)
class Link:
    """The model of one column.

    Parameters
    ----------
    predictors
        Names of the columns it is drawn from.
    pattern
        Decides first which amounts are missing and which are the usual one; None where there is nothing to
        decide.
    value
        Fitted on all other rows; None where these are fewer than one leaf needs, so that it is drawn as
        missing.
    usual
        The amount that most rows have; NaN where there is none.
    """

    name: str
    variable: Variable
    predictors: tuple[str, ...]
    pattern: Model | None
    value: Model | None
    usual: float = math.nan

    def redrawn(self, chance: np.random.Generator) -> Link:
        """Return the models of one copy."""
        pattern, value = (None if one is None else one.redrawn(chance) for one in (self.pattern, self.value))
        return replace(self, pattern=pattern, value=value)

    def draw(self, known: Values, n: int, chance: np.random.Generator) -> Floats:
        """Draw the column for n rows whose earlier columns are known."""
        before = [known[name] for name in self.predictors]
        if self.value is None:
            return np.full(n, np.nan)
        values = self.value.draw(before, n, chance)
        if self.pattern is None:
            return values
        pattern = self.pattern.draw(before, n, chance)
        return np.select([pattern == MISSING, pattern == USUAL], [np.nan, self.usual], values)


@dataclass(frozen=True)
class Chain:
    """The models of all synthesised columns, in their order."""

    links: tuple[Link, ...]

    def redrawn(self, chance: np.random.Generator) -> Chain:
        """Return the models of one copy: with parameters drawn from their posterior where there is one."""
        return Chain(tuple(link.redrawn(chance) for link in self.links))

    def draw(self, n: int, chance: np.random.Generator, *, known: Values | None = None) -> Values:
        """Draw n rows.

        Parameters
        ----------
        n
            How many.
        chance
            An ordinary generator.
        known
            Columns that are not drawn, shape (n,) each.
        """
        values = dict(known or {})
        for link in self.links:
            values[link.name] = link.draw(values, n, chance)
        return values

    def replace(
        self, original: Values, replaced: Mapping[str, npt.NDArray[np.bool_]], chance: np.random.Generator
    ) -> Values:
        """Draw each column in the rows of its mask; elsewhere its value stays, also for what follows.

        Parameters
        ----------
        original
            All columns, shape (n,) each.
        replaced
            By drawn column, the rows in which it is drawn.
        """
        values = dict(original)
        for link in self.links:
            drawn = link.draw(values, len(original[link.name]), chance)
            values[link.name] = np.where(replaced[link.name], drawn, original[link.name])
        return values


def fit(
    variables: Mapping[str, Variable],
    order: Sequence[str],
    *,
    smallest: int,
    learn: Learn,
    given: Sequence[str] = (),
    inside: Mapping[str, npt.NDArray[np.bool_]] | None = None,
    progress: Progress = SILENT,
) -> Chain:
    """Fit a model for each column of an order, from the columns given and those before it.

    Parameters
    ----------
    variables
        By name, all of n rows.
    order
        The columns to be drawn.
    smallest
        An amount known in fewer rows is drawn as missing.
    learn
        Fits one column.
    given
        Columns that are kept as they are.
    inside
        By column, the rows on which its model is fitted; all where it is not named.

    Notes
    -----
    Every model is fitted on original rows alone, so that they do not depend on each other and are fitted
    once for any number of copies. Where only some rows are replaced, the law that is needed is the one among
    just these rows (J. Reiter, Survey Methodology 29, 2003): fitted on others, means move.
    """
    links = []
    for place, name in enumerate(order):
        progress.step(place / max(len(order), 1), "synthesis.fit")
        before = [*given, *order[:place]]
        rows = np.arange(len(values_of(variables[name])))
        if inside is not None and name in inside:
            rows = rows[inside[name]]
        links.append(_link(name, variables, before, rows, smallest, learn))
    return Chain(tuple(links))


def few_levels_first(variables: Mapping[str, Variable]) -> tuple[str, ...]:
    """Return the order in which columns with few different values come first.

    Notes
    -----
    Outcomes have few levels; drawn early they keep their relations with all that follows.
    """
    return tuple(sorted(variables, key=lambda name: variables[name].size))


def _link(
    name: str,
    variables: Mapping[str, Variable],
    before: list[str],
    rows: Codes,
    smallest: int,
    learn: Learn,
) -> Link:
    variable, predictors = variables[name], [variables[one] for one in before]
    if isinstance(variable, Levels):
        return Link(name, variable, tuple(before), None, learn(variable, predictors, rows))
    absent = np.isnan(variable.values)
    known = rows[~absent[rows]]
    usual = _usual(variable.values[known], smallest)
    others = known[variable.values[known] != usual]
    value = learn(variable, predictors, others) if others.size >= smallest else None
    if value is None or others.size == len(rows):
        return Link(name, variable, tuple(before), None, value)
    codes = np.select([absent, variable.values == usual], [MISSING, USUAL], OTHER)
    pattern = learn(Levels(codes, ("other", "missing", "usual")), predictors, rows)
    return Link(name, variable, tuple(before), pattern, value, usual)


def _usual(values: Floats, smallest: int) -> float:
    """Return the amount that most rows have, where enough others remain to be fitted; else NaN.

    Notes
    -----
    Where most amounts are 0 (a gain, a dose, a cost), few rows of a leaf have another one: drawn in one step,
    these few would be copied, or moved towards 0. Whether it is the usual one is drawn first, so that the
    leaves of the others hold others alone.
    """
    found, counts = np.unique(values, return_counts=True)
    place = int(counts.argmax()) if len(counts) else 0
    has_one = len(counts) > 1 and 2 * counts[place] > len(values) and len(values) - counts[place] >= smallest
    return float(found[place]) if has_one else float("nan")
