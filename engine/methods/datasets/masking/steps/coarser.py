"""Steps that make values coarser: no chance, and every value that is left is true."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np

from engine.methods import option
from engine.methods.datasets.masking.step import COLUMN, Before, MaskingStep, Options, Told, Values, Wrong
from engine.methods.datasets.masking.working import Floats, Form, Texts, Working, form_of
from engine.methods.shared.rows import hierarchy_of
from engine.methods.values import edge_of
from engine.table.schema import Column

NEAREST, RANDOM = "nearest", "random"
REMOVED, FLAGGED = "removed", "flagged"
PRESENT = "text"
HUNDRED = 100


class Drop(MaskingStep):
    """The column does not leave; steps before this one may still have used it."""

    id = "drop"

    def apply(self, working: Working, options: Options) -> Told:
        working.leave_out(options["column"])
        return Told()


class Generalise(MaskingStep):
    """Every value becomes its group on one step of the column's hierarchy."""

    id = "generalise"
    fields = (COLUMN, option.integer(name="level", minimum=1, maximum=13))
    leaves = Form.TEXTS

    def wrong(self, options: Options, before: Before) -> Wrong | None:
        column = before.columns[options["column"]]
        height = hierarchy_of(column).height
        if options["level"] > height:
            return Wrong("level", {"column": column.name, "height": height})
        return None

    def declared(self, values: Values | None, options: Options, column: Column) -> Values | None:
        if values is None:
            return None
        return tuple(dict.fromkeys(hierarchy_of(column).at(values, options["level"])))

    def apply(self, working: Working, options: Options) -> Told:
        name = options["column"]
        hierarchy, level = hierarchy_of(working.columns[name]), options["level"]
        found = working.texts(name)
        if level == hierarchy.height:  # a missing cell reads like all others there
            working.set(name, Texts(("*",), np.zeros(len(working), dtype=np.int64)))
        else:
            working.set(name, found.mapped(lambda values: hierarchy.at(values, level)))
        return Told()


class Truncate(MaskingStep):
    """Only the first signs of a code stay."""

    id = "truncate"
    fields = (COLUMN, option.integer(name="keep", minimum=1, maximum=50))
    leaves = Form.TEXTS

    def declared(self, values: Values | None, options: Options, column: Column) -> Values | None:
        return None if values is None else tuple(dict.fromkeys(value[: options["keep"]] for value in values))

    def apply(self, working: Working, options: Options) -> Told:
        name, keep = options["column"], options["keep"]
        working.set(name, working.texts(name).mapped(lambda values: [value[:keep] for value in values]))
        return Told()


class FreeText(MaskingStep):
    """What somebody wrote freely does not leave: nothing of it, or only whether there was something."""

    id = "free_text"
    fields = (
        COLUMN,
        option.choice(REMOVED, FLAGGED, name="treatment", default=REMOVED),
    )
    leaves = Form.TEXTS

    def declared(self, values: Values | None, options: Options, column: Column) -> Values | None:
        return (PRESENT,)

    def apply(self, working: Working, options: Options) -> Told:
        name = options["column"]
        there = (
            np.zeros(len(working), dtype=bool)
            if options["treatment"] == REMOVED
            else ~working.is_missing(name)
        )
        working.set(name, Texts((PRESENT,), there.astype(np.int64) - 1))
        return Told()


class RoundTo(MaskingStep):
    """Numbers become multiples of a base: the nearest one, or at random one of both without bias.

    Notes
    -----
    At random, x = b·(m + r) with 0 <= r < 1 becomes b·(m + 1) with probability r, so that means and sums
    stay right on average (unbiased random rounding: Hundepool et al. 2012, section 5.4).
    """

    id = "round_to"
    fields = (
        COLUMN,
        option.number(name="base", minimum=Fraction(1, 10**9), maximum=10**12),
        option.choice(NEAREST, RANDOM, name="way", default=NEAREST),
    )
    reads = (Form.NUMBERS,)

    def declared(self, values: Values | None, options: Options, column: Column) -> Values | None:
        return None

    def apply(self, working: Working, options: Options) -> Told:
        name, base = options["column"], float(options["base"])
        steps = working.numbers(name) / base
        if options["way"] == NEAREST:
            whole = np.floor(steps + 0.5)
        else:
            places, count = working.alike(name)
            drawn = working.chance.random(count)
            whole = np.floor(steps + (drawn if places is None else drawn[places]))
        working.set(name, multiples(whole, options["base"]))
        return Told()


class CodeEnds(MaskingStep):
    """Values beyond declared bounds become the bound (top and bottom coding); numbers or days."""

    id = "code_ends"
    keeps_values = True
    fields = (
        COLUMN,
        option.text(name="lowest", optional=True),
        option.text(name="highest", optional=True),
    )
    reads = (Form.NUMBERS, Form.DAYS)

    def wrong(self, options: Options, before: Before) -> Wrong | None:
        column = before.columns[options["column"]]
        ends = [options["lowest"], options["highest"]]
        if ends == [None, None]:
            return Wrong("no_end", {"column": column.name})
        found = [_end(end, column) for end in ends if end is not None]
        if None in found or (len(found) == 2 and not found[0] < found[1]):
            return Wrong("bad_end", {"column": column.name})
        return None

    def declared(self, values: Values | None, options: Options, column: Column) -> Values | None:
        return None

    def apply(self, working: Working, options: Options) -> Told:
        name = options["column"]
        column = working.columns[name]
        low, high = (
            None if end is None else _end(end, column) for end in (options["lowest"], options["highest"])
        )
        return _code(working, name, low, high)


class CodeEndsAtPercentiles(MaskingStep):
    """Values beyond percentiles of the rows become the value there (top and bottom coding)."""

    id = "code_ends_at_percentiles"
    keeps_values = True
    fields = (
        COLUMN,
        option.number(name="below", default=0, minimum=0, maximum=HUNDRED),
        option.number(name="above", default=HUNDRED, minimum=0, maximum=HUNDRED),
    )
    reads = (Form.NUMBERS, Form.DAYS)

    def wrong(self, options: Options, before: Before) -> Wrong | None:
        low, high = options["below"], options["above"]
        if low >= high or (low, high) == (0, HUNDRED):
            return Wrong("bad_percentiles", {"column": options["column"]})
        return None

    def declared(self, values: Values | None, options: Options, column: Column) -> Values | None:
        return None

    def apply(self, working: Working, options: Options) -> Told:
        name = options["column"]
        held = working.ranked_or_places(name)
        there = np.sort(held[~working.is_missing(name)])
        ends: list[Any] = [None, None]
        if len(there):
            for place, percent in enumerate((options["below"], options["above"])):
                if percent not in (0, HUNDRED):
                    ends[place] = there[int(percent * (len(there) - 1) / HUNDRED)]
        return _code(working, name, *ends)


def multiples(whole: Floats, base: Fraction) -> Floats:
    """Return multiples of an exact base, each the double nearest to it: 3 · 1/10 is 0.3."""
    return np.asarray(whole * float(base.numerator) / float(base.denominator))


def _end(written: str, column: Column) -> Any:
    """Return a bound as the column holds its values; None where it is neither."""
    edge = edge_of(written)
    if form_of(column) is Form.DAYS:
        return np.datetime64(edge, "D") if isinstance(edge, date) else None
    return float(edge) if isinstance(edge, Fraction) else None


def _code(working: Working, name: str, low: Any, high: Any) -> Told:
    held: Any = working.ranked_or_places(name)
    # What is missing compares with nothing and stays
    beyond = np.zeros(len(working), dtype=bool)
    for end, outside in ((low, np.less), (high, np.greater)):
        if end is not None:
            there = outside(held, end)
            beyond |= there
            held = np.where(there, end, held)
    working.set(name, held)
    ends = {"lowest": low, "highest": high}
    public = {key: str(end) for key, end in ends.items() if end is not None}
    return Told(public=public, inside={"beyond": round(float(beyond.mean()), 6) if len(beyond) else 0.0})
