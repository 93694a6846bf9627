"""Counts of people as they are, without small cells: these are hidden, and others to keep them so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.earlier import Earlier, EarlierRelease, Shared
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    DictionaryEntry,
    Family,
    Inside,
    Method,
    Reference,
    Release,
    Spends,
    TableArtefact,
)
from engine.methods.shared.cells import (
    EXTRA_CELLS,
    LEFT_OUT,
    LEVEL_KINDS,
    Cells,
    free_name,
    level_axes,
    level_problems,
    unused_name,
)
from engine.methods.shared.promise import counted_unit
from engine.methods.shared.quantity import WIDEST, Grid, grid_of
from engine.methods.shared.suppression.additive import Additive, Integers, Mask
from engine.methods.shared.suppression.contributions import (
    Contributions,
    count_contributions,
    sum_contributions,
)
from engine.methods.shared.suppression.small_cells import Rules, count_task
from engine.methods.shared.suppression.sums import SumRules, sum_task
from engine.methods.trying import Tried
from engine.numbers import exact
from engine.once import once
from engine.privacy.promise import Promise, Term
from engine.progress import SILENT, Progress
from engine.table.declared import people_of, people_of_rows
from engine.table.preparation.steps import made_name
from engine.table.schema import Kind
from engine.views import Text

if TYPE_CHECKING:
    from engine.methods.shared.suppression.audited import Audited
    from engine.methods.shared.suppression.differencing import Told
    from engine.methods.shared.suppression.task import Task
    from engine.table.table import Table

ID = "statistics.protected_table"
ALL = "(all)"
NAMED = 5  # cells that a refusal names
HARDLY, MOSTLY = 0.1, 0.5
"""Share of the parts of rows of an earlier table, below which rows are others, and from which on the same."""
MOST_CELLS = 20_000
HIDDEN, CONTROLLED_ROUNDING, RANDOM_ROUNDING = "hidden", "controlled_rounding", "random_rounding"
CELL_KEYS = "cell_keys"
WHOLE, PAIRS = "whole", "pairs"
THRESHOLD, DOMINANCE, P_PERCENT = "threshold", "dominance", "p_percent"


class ProtectedTable(Method):
    """Tables of counts in which no small cell can be worked out from the printed ones.

    Notes
    -----
    Cells below the threshold are hidden (primary), and others (secondary) until an attacker who knows every
    printed number, the equations between cells and totals, and that counts are whole and not negative, is
    left with an interval for every primary cell that reaches from below the value to the threshold. The
    secondary cells are the cheapest that do this, or the best found in the time, with a proven bound
    (Fischetti and Salazar-González, 2001). Several tables of the same rows are protected together: the
    attacker is taken to know that they come from one table over all their columns. Before anything is
    written, an audit works the intervals out again from the published numbers alone.

    It bounds nothing that depends on other knowledge: an earlier table of the same people, or one that
    differs by a few of them, can be subtracted; several people of one cell who share what they know find the
    rest of it; and zeros and large cells say what they say about everybody in them.
    """

    id = ID
    family = Family.STATISTICS
    promises = ("small_cells", "small_sums", "rounded", "cell_keys")
    spends = Spends.NOTHING
    tries = ("columns", "threshold")
    tries_for_long = True
    compares = True
    libraries = ("highspy", "scipy")
    published = Reference(
        "Fischetti, Salazar-González: Solving the cell suppression problem on tabular data with linear "
        "constraints (2001)",
        "sections 3 and 4, for hidden cells; rounding: Cox (1987), and Hundepool and others (2012), section "
        "5.4.3; changes by keys: Marley and Leaver (2011)",
        "doi:10.1287/mnsc.47.7.1008.9805",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(
            minimum=1, maximum=4, column_kinds=LEVEL_KINDS, needs_domain=True
        )
        form: str = option.choice(HIDDEN, CONTROLLED_ROUNDING, RANDOM_ROUNDING, CELL_KEYS, default=HIDDEN)
        of: str | None = option.column(
            optional=True,
            column_kinds=(Kind.INTEGER, Kind.NUMBER),
            needs_domain=True,
            when=("form", (HIDDEN,)),
        )
        tables: str = option.choice(WHOLE, PAIRS, default=WHOLE)
        extra_cells: str = EXTRA_CELLS
        base: int = option.integer(
            default=5, minimum=2, maximum=100, when=("form", (CONTROLLED_ROUNDING, RANDOM_ROUNDING))
        )
        largest: int = option.integer(default=5, minimum=1, maximum=100, when=("form", (CELL_KEYS,)))
        variance: Fraction = option.number(
            default=4, minimum=Fraction(1, 10), maximum=2_500, when=("form", (CELL_KEYS,))
        )
        none_to: int = option.integer(default=2, minimum=0, maximum=99, when=("form", (CELL_KEYS,)))
        threshold: int = option.integer(minimum=2, maximum=10_000, when=("form", (HIDDEN,)))
        rule: str = option.choice(
            THRESHOLD, DOMINANCE, P_PERCENT, default=THRESHOLD, when=("form", (HIDDEN,))
        )
        n: int = option.integer(default=1, minimum=1, maximum=20, when=("rule", (DOMINANCE,)))
        k: Fraction = option.number(default=75, minimum=1, maximum=99, when=("rule", (DOMINANCE,)))
        p: Fraction = option.number(default=10, minimum=1, maximum=100, when=("rule", (P_PERCENT,)))
        zeros: str = option.choice("printed", "hidden", default="printed", when=("form", (HIDDEN,)))
        alone: bool = option.boolean(default=True, when=("form", (HIDDEN,)))
        few: str = option.choice("people", "cells", default="people", when=("form", (HIDDEN,)))
        totals: bool = option.boolean(default=True)
        seconds: int = option.integer(
            default=10, minimum=1, maximum=3600, unit="s", when=("form", (HIDDEN, CONTROLLED_ROUNDING))
        )

    options: Options

    @once
    def taken(self) -> Mapping[str, Any]:
        return {"rule": None} if self.options.of is None else {}  # the rule is about sums

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        columns = [self.schema.column(name) for name in self.options.columns]
        found = level_problems(columns, parameter="columns")
        if found:
            return found
        size = self.additive.size
        if size > MOST_CELLS:
            return [Problem(f"{ID}.too_many_cells", {"cells": size, "most": MOST_CELLS}, "columns")]
        if self.options.tables == PAIRS and len(columns) < 3:
            return [Problem(f"{ID}.no_pairs", {}, "tables")]
        return self.sum_problems + self.key_problems

    @once
    def key_problems(self) -> list[Problem]:
        """Say what cell keys need and do not have."""
        options = self.options
        if options.form != CELL_KEYS:
            return []
        if self.schema.person_key is None:
            return [Problem(f"{ID}.no_person_key", {}, "form")]
        if options.none_to >= options.largest:
            return [Problem(f"{ID}.none_to", {"largest": options.largest}, "none_to")]
        if options.variance > options.largest**2:
            return [Problem(f"{ID}.variance", {"most": options.largest**2}, "variance")]
        return []

    @once
    def sum_problems(self) -> list[Problem]:
        """Say what a sum needs and does not have."""
        of, rule = self.options.of, self.options.rule
        if of is None:
            return [] if rule in (THRESHOLD, None) else [Problem(f"{ID}.no_sum", {}, "rule")]
        if of in self.options.columns:
            return [Problem(f"{ID}.column_twice", {"column": of}, "of")]
        grid = self.grid
        if grid is None or grid.low < 0 or grid.high > WIDEST:
            return [Problem(f"{ID}.no_amounts", {"column": of}, "of")]
        if self.options.zeros == "hidden":
            return [Problem(f"{ID}.sums_of_nobody", {}, "zeros")]
        return []

    @once
    def grid(self) -> Grid | None:
        """Return the declared steps of the column that is added up; None where people are counted."""
        of = self.options.of
        return None if of is None else grid_of(self.schema.column(of))

    @once
    def quantity(self) -> str:
        """Return what the table shows: ``count`` or ``sum``."""
        return "count" if self.options.of is None else "sum"

    @once
    def cells(self) -> Cells:
        """Return the table over all columns, without totals."""
        return Cells(level_axes(self.request, self.options.columns))

    @once
    def additive(self) -> Additive:
        """Return its cells with all totals."""
        return Additive(self.cells.shape)

    @once
    def rules(self) -> Rules:
        """Return what was declared about small cells."""
        options = self.options
        return Rules(options.threshold, options.zeros == "hidden", options.alone, options.few == "people")

    @once
    def sum_rules(self) -> SumRules:
        """Return what was declared about sums."""
        options = self.options
        rule = options.rule
        return SumRules(
            options.threshold,
            dominance=(options.n, options.k) if rule == DOMINANCE else None,
            p_percent=options.p if rule == P_PERCENT else None,
            alone=options.alone,
            by_people=options.few == "people",
        )

    @once
    def printed(self) -> Mask:
        """Say which cells with totals the tables have."""
        places = range(len(self.options.columns))
        asked = tuple(combinations(places, 2)) if self.options.tables == PAIRS else (tuple(places),)
        return self.additive.tables(asked, totals=self.options.totals)

    @once
    def cost(self) -> Promise:
        options = self.options
        terms: dict[str, Term] = {"threshold": options.threshold}
        kind = "small_cells" if options.of is None else "small_sums"
        if options.form != HIDDEN:
            kind, terms = "rounded", {"base": options.base}
        if options.form == CELL_KEYS:
            kind, terms = "cell_keys", {"largest": options.largest}
        if options.of is not None:
            told = {
                THRESHOLD: "",
                DOMINANCE: f"(n, k) = ({options.n}, {options.k})",
                P_PERCENT: f"p = {options.p} %",
            }
            terms["rule"] = told[options.rule] or f"≥ {options.threshold}"
        return Promise(
            kind,
            None,
            self.request.unit,
            self.request.rows_per_person,
            terms=terms,
            assumptions=("trusted_machine",),
        )

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        from engine.methods.shared.suppression import shown  # on first use: it brings solvers along

        context.progress.step(0.0, "run.reading")
        found = self._contributions(tables[MAIN])
        printed = self.printed
        if self.options.form != HIDDEN:
            return self._changed(found.values, printed, tables[MAIN], context)
        done = self._audited(found, printed, context.progress)
        compared = self._refuse_differences(done.frame, tables[MAIN], context)
        inside = shown.inside(ID, done, self._totals, found.people[printed], earlier=compared)
        return self._release(done.frame, inside)

    def tried(
        self,
        tables: Mapping[str, Table],
        *,
        chance: np.random.Generator,
        progress: Progress = SILENT,
    ) -> tuple[Tried, ...]:
        from engine.methods.shared.suppression import shown

        if self.options.form != HIDDEN:
            return ()
        found = self._contributions(tables[MAIN])
        done = self._audited(found, self.printed, progress)
        return (shown.tables(done, self._totals, self.options.threshold),)

    def _audited(self, found: Contributions, printed: Mask, progress: Progress) -> Audited:
        """Return the table with its pattern, tried from outside."""
        from engine.methods.shared.suppression.audited import find_audited_pattern

        task, scale = self._task(found, printed)
        search = progress.part(0.1, 0.9)
        try:
            return find_audited_pattern(
                task,
                lambda hidden: self._frame(found.values, printed, hidden),
                self._totals,
                seconds=float(self.options.seconds),
                scale=scale,
                tell=lambda share: search.step(share, "statistics.cells"),
            )
        except InputRefused as refused:
            if refused.code != "suppression.impossible":
                raise
            raise InputRefused(f"{ID}.impossible", threshold=self.options.threshold) from refused

    def _changed(self, values: Integers, printed: Mask, table: Table, context: Context) -> Release:
        """Return the table with every cell rounded, or changed by its key."""
        from engine.methods.shared.suppression import shown
        from engine.methods.shared.suppression.rounding import Rounded, controlled_rounding, random_rounding

        assert context.chance is not None  # nothing bounds the loss
        base, chance = self.options.base, context.chance
        if self.options.form == CELL_KEYS:
            made = Rounded(self._by_keys(values, table, context.earlier.secret or chance.bytes(32)), 0)
        elif self.options.form == RANDOM_ROUNDING:
            made = random_rounding(values, base=base, chance=chance)
        else:
            seconds = float(self.options.seconds)
            made = controlled_rounding(self.additive, values, base=base, chance=chance, seconds=seconds)
        frame = self._frame(made.values, printed, np.zeros(len(values), dtype=bool))
        compared = self._refuse_differences(frame, table, context)
        change = (made.values - values)[printed]
        beyond = None if self.options.form == CELL_KEYS else made.beyond
        return self._release(frame, shown.describe_rounded(ID, change, beyond, compared))

    def _by_keys(self, values: Integers, table: Table, secret: bytes) -> Integers:
        """Return the counts with the changes that the keys of their people make."""
        from engine.methods.shared.suppression.cell_keys import cell_keys, change_counts, person_keys

        key = self.schema.person_key
        assert key is not None  # asked for
        frame, cells = table.rows(), self.cells
        person, names = pd.factorize(frame[key.name], use_na_sentinel=False)
        keys = person_keys([str(name) for name in names], secret=secret)[person]
        return change_counts(
            values,
            cell_keys(self.additive, cells.codes(frame), keys),
            largest=self.options.largest,
            variance=float(self.options.variance),
            none_to=self.options.none_to,
        )

    def _refuse_differences(self, frame: pd.DataFrame, table: Table, context: Context) -> Earlier:
        """Refuse a table that gives away small cells beside one that was released of the register before.

        What cannot be compared is refused too, unless the custodian gave a reason. Returned are the releases
        that were compared; those of another quantity are none of them.
        """
        from engine.methods.shared.suppression.differencing import Told

        earlier = context.earlier
        conditions = [one for one in self.request.preparation if one["step"] == "keep_rows_where"]
        new, compared = Told(frame, self._totals, *self._told(self.values), conditions), []
        for one in earlier.releases:
            try:
                if self._refuse_beside(new, table, one):
                    compared.append(one)
            except (InputRefused, KeyError, ValueError, TypeError, StopIteration) as error:
                if (
                    isinstance(error, InputRefused)
                    and error.code == f"{ID}.resembles"
                    and earlier.other_people
                ):
                    continue
                if isinstance(error, InputRefused) and error.code != "suppression.not_joined":
                    raise
                if not earlier.excused:
                    raise InputRefused(f"{ID}.not_compared", title=one.title) from error
        self._refuse_together(new, table, earlier)
        return replace(earlier, releases=tuple(compared))

    def _refuse_together(self, new: Told, table: Table, earlier: Earlier) -> None:
        """Refuse a table that gives away small cells beside two that were released before, or more."""
        from engine.methods.shared.suppression.several import derived_cells

        tables, places = [new], [0]
        for place, one in enumerate(earlier.releases, start=1):
            with suppress(KeyError, ValueError, TypeError, StopIteration):  # then there was a reason
                told = self._told_by(one)
                if one.parameters.get("of") == self.options.of and told.lines.keys() & new.lines:
                    tables, places = [*tables, told], [*places, place]
        if len(places) < 3:
            return
        titles = [earlier.releases[place - 1].title for place in places[1:][-NAMED:]]
        if not earlier.shared and not earlier.excused:
            raise InputRefused(f"{ID}.several_unknown", count=len(places) - 1, titles=titles)
        for known in earlier.shared:
            members = known.tables[:, places]
            cells = derived_cells(tables, members, known.sizes, self._groups_in(table, known))
            if cells:
                raise InputRefused(f"{ID}.several", titles=titles, count=len(cells), cells=cells[:NAMED])

    def _told_by(self, one: EarlierRelease) -> Told:
        """Return what an earlier release told; raise where that cannot be read."""
        from engine.methods.shared.suppression.differencing import Told, hidden_numbers

        other = next(iter(one.frames.values()))
        value = str(other.columns[-1])
        totals = {name: _word(other[name], one.parameters) for name in one.parameters["columns"]}
        told = other[[*totals, value]].assign(**{value: hidden_numbers(other[value])})
        return Told(told, totals, *self._told(one.parameters), one.conditions)

    def _groups_in(self, table: Table, known: Shared) -> Callable[[Iterable[tuple[str, str]]], Mask]:
        """Return which groups of people have a row in a cell of the table; all where nobody knows whose."""
        key, count, cells = self.schema.person_key, len(known.tables), self.cells
        if known.places is None or known.people is None or key is None:
            return lambda _: np.ones(count, dtype=bool)
        people = people_of(table, key)
        at = pc.index_in(people.distinct, value_set=known.people.cast(people.distinct.type))
        groups = known.places[at.to_numpy(zero_copy_only=False).astype(np.int64)]
        codes = cells.codes(table.rows())
        counted = (codes >= 0) & (people.places >= 0)
        is_there = np.zeros((count, cells.size), dtype=bool)
        is_there[groups[people.places[counted]], codes[counted]] = True
        is_there = is_there.reshape(count, *cells.shape)

        def groups_in(cell: Iterable[tuple[str, str]]) -> Mask:
            here = is_there[(slice(None), *self._part_of(cell))]
            return np.asarray(here.reshape(count, -1).any(axis=1))

        return groups_in

    def _refuse_beside(self, new: Told, table: Table, one: EarlierRelease) -> bool:
        """Refuse a table beside one other; False where both are of quantities that are not compared."""
        from engine.methods.shared.suppression.differencing import (
            NotComparable,
            count_nobody,
            exposed_cells,
            is_explained,
            is_moved_by_few,
            is_regrouped,
            look_alike,
            resembles,
            show_same_rows,
        )

        form, before = self.options.form, one.parameters.get("form", HIDDEN)
        settings = ("largest", "variance", "none_to")
        strangers = self._strangers(table, one)
        has_same_keys = one.strangers is not None and strangers.sum() <= HARDLY * strangers.size
        if form == before == CELL_KEYS and all(
            has_same_keys and exact(one.parameters[name]) == self.values[name] for name in settings
        ):
            return False  # the same cell has the same change, so that nothing can be averaged
        of, amount = one.parameters.get("of"), self.options.of
        if (of is None) != (amount is None):
            return False
        old = self._told_by(one)
        if of != amount:
            if look_alike(new, old):
                raise NotComparable  # perhaps the same amounts under another name
            return False
        few = max(new.threshold, old.threshold, new.off, old.off)
        is_close = amount is not None or resembles(new, old, few)
        if strangers.all() and not is_close and one.alike < HARDLY:
            return True  # about nobody who is in the other one
        is_known = amount is None and one.strangers is not None and strangers.sum() < few
        is_same = one.alike >= MOSTLY or (is_known and is_moved_by_few(new, old, few))
        is_whole = one.alike == 1.0  # no row is new before conditions choose
        is_chosen_alike = is_whole and bool(new.conditions) and [*new.conditions] == [*old.conditions]
        if before != HIDDEN and form != HIDDEN:
            if show_same_rows(new, old):
                raise InputRefused(f"{ID}.{'again' if is_same else 'resembles'}", title=one.title)
            is_other = self._is_grouped_otherwise(table, one) or is_regrouped(new, old)
            if (is_close or is_same) and is_other:
                raise NotComparable
        else:
            is_believed = not is_close and one.alike < HARDLY
            counted = self._counted(table, strangers) if is_believed else count_nobody
            cells = exposed_cells(new, old, counted, same_rows=is_whole)
            if not cells and self._is_grouped_otherwise(table, one):
                raise NotComparable
            if cells:
                if not is_same:
                    raise InputRefused(f"{ID}.resembles", title=one.title)
                raise InputRefused(f"{ID}.differs", title=one.title, count=len(cells), cells=cells[:NAMED])
        is_counted = is_chosen_alike or (not one.chosen and (is_whole or one.strangers is not None))
        if amount is None and is_counted and not is_explained(new, old, int(strangers.sum()), few):
            raise NotComparable  # values were exchanged, or put together anew under the names of before
        return True

    def _strangers(self, table: Table, one: EarlierRelease) -> Mask:
        """Say of every row whether it is of somebody who surely was in no table of an earlier release."""
        key = self.schema.person_key
        if one.strangers is None or key is None:
            return np.zeros(table.n_rows, dtype=bool)
        people = people_of(table, key)
        is_stranger = pc.is_in(people.distinct, value_set=one.strangers.cast(people.distinct.type))
        return np.append(is_stranger.to_numpy(zero_copy_only=False), False).astype(bool)[people.places]

    def _counted(self, table: Table, rows: Mask) -> Callable[[Iterable[tuple[str, str]]], int]:
        """Return how many people with these rows are in a cell at least, by columns and their values."""
        frame, cells = table.rows(), self.cells
        counts = cells.count(cells.codes(frame)[rows]).reshape(cells.shape)
        cap = self.request.rows_per_person or 1

        def people_in(cell: Iterable[tuple[str, str]]) -> int:
            try:
                return int(counts[self._part_of(cell)].sum()) // cap
            except KeyError:
                return 0  # a value or a column of the other table alone

        return people_in

    def _part_of(self, cell: Iterable[tuple[str, str]]) -> tuple[int | slice, ...]:
        """Return where a cell, of columns and their values, is among all; `KeyError` where it is none."""
        part: list[int | slice] = [slice(None)] * len(self.cells.axes)
        for pair in cell:
            axis, place = self._label_places[pair]
            part[axis] = place
        return tuple(part)

    @once
    def _label_places(self) -> dict[tuple[str, str], tuple[int, int]]:
        return {
            (axis.name, text): (number, place)
            for number, axis in enumerate(self.cells.axes)
            for place, text in enumerate(axis.labels)
        }

    def _is_grouped_otherwise(self, table: Table, one: EarlierRelease) -> bool:
        """Say whether columns of two tables group the same values, or one groups those of the other.

        What such columns have in common is known to everybody and not in the tables: bands of an age made
        twice, districts and their regions. So it may be with a column that the new table does not have: it
        could be the same one under another name.
        """
        made = {made_name(step): str(step["column"]) for step in self.request.preparation if "to" in step}
        theirs = one.parameters["columns"]
        for mine in (name for name in self.options.columns if name not in theirs):
            for other in (name for name in theirs if name not in self.options.columns):
                if (source := _first(other, one.made)) == _first(mine, made) or source not in table.names:
                    return True
                if other in table.names:
                    pairs = table.rows()[[mine, other]].dropna().drop_duplicates()
                    fewer, more = sorted((pairs[mine].nunique(), pairs[other].nunique()))
                    if fewer > 1 and len(pairs) == more:
                        return True
        return False

    def _told(self, values: Mapping[str, Any]) -> tuple[float, float, int]:
        """Return what a hidden cell is at least, below what one is small, how far no number is off."""
        form = values.get("form", HIDDEN)
        if form != HIDDEN:
            return 0.0, 0.0, int(values["largest"]) + 1 if form == CELL_KEYS else int(values["base"])
        if values.get("of") is not None:
            return 0.0, 0.0, 0
        return (1.0 if values["zeros"] == "printed" else 0.0), float(values["threshold"]), 0

    def _contributions(self, table: Table) -> Contributions:
        """Return what people contribute to every cell, totals included."""
        cells, additive = self.cells, self.additive
        frame = table.rows()
        codes = cells.codes(frame)
        key, grid = self.schema.person_key, self.grid
        if grid is None and (key is None or self.request.rows_per_person == 1):
            return count_contributions(additive, cells.count(codes))
        amounts = np.ones(len(frame), dtype=np.int64)
        if grid is not None:
            amounts, missing = grid.steps(frame)
            codes[missing] = LEFT_OUT
        return sum_contributions(
            additive, codes, people_of_rows(table, key), amounts, most=self.sum_rules.most
        )

    def _task(self, found: Contributions, printed: Mask) -> tuple[Task, float]:
        """Return what has to be hidden, and what 1 of it is in the published numbers."""
        grid = self.grid
        if grid is None:
            return count_task(self.additive, found, printed, self.rules), 1.0
        task, unit = sum_task(self.additive, found, printed, self.sum_rules)
        return task, unit * float(grid.step)

    @once
    def _totals(self) -> dict[str, str]:
        return {axis.name: unused_name(ALL, axis.labels) for axis in self.cells.axes}

    def _frame(self, values: Integers, printed: Mask, hidden: Mask) -> pd.DataFrame:
        """Return the table as it is published: nothing stands where a cell is hidden."""
        axes, grid = self.cells.axes, self.grid
        words = self._totals
        labels = [np.array([*axis.labels, words[axis.name]], dtype=object) for axis in axes]
        places = np.unravel_index(np.flatnonzero(printed), self.additive.shape)
        columns = zip(axes, labels, places, strict=True)
        frame = pd.DataFrame({axis.name: pd.array(own[at], dtype="str") for axis, own, at in columns})
        step = Fraction(1) if grid is None else grid.step
        name, is_whole = free_name(self.quantity, tuple(words)), step.denominator == 1
        exact = [step * int(one) for one in np.where(hidden, 0, values)[printed]]
        numbers = np.array(exact, dtype=np.int64 if is_whole else np.float64)
        frame[name] = pd.Series(numbers).astype("Int64" if is_whole else "Float64")
        frame.loc[hidden[printed], name] = pd.NA
        return frame

    def _release(self, frame: pd.DataFrame, inside: Inside) -> Release:
        from engine.methods.shared.suppression import shown

        cells, words, quantity = self.cells, self._totals, self.quantity
        grid = self.grid
        unit = counted_unit(self.request) if grid is None else grid.column.unit
        shows = {HIDDEN: quantity, CELL_KEYS: "changed"}.get(self.options.form, "rounded")
        meaning = Text(
            f"methods.{ID}.numbers.{shows}.what",
            {"base": self.options.base, "largest": self.options.largest},
        )
        kind = "integer" if grid is None or grid.step.denominator == 1 else "number"
        dictionary = (
            *(replace(axis.entry, values=(*axis.entry.values, words[axis.name])) for axis in cells.axes),
            DictionaryEntry(free_name(quantity, cells.names), meaning, kind, unit),
        )
        form = self.options.form
        note = "zeros_sum" if grid is not None else f"zeros_{self.options.zeros}"
        notes = (
            Text(f"statistics.notes.extra_{self.options.extra_cells}"),
            Text(f"methods.{ID}.notes.{note if form == HIDDEN else form}"),
            *shown.cap_notes(ID, self.request),
        )
        return Release(
            (TableArtefact(f"{quantity}s", (frame,), dictionary),),
            self.cost,
            shown.outside(ID, frame, words, replace(meaning, id=f"methods.{ID}.numbers.{shows}.label")),
            notes,
            inside=inside,
        )


def _first(name: str, made: Mapping[str, str]) -> str:
    """Return the column that a column was made from, over all steps."""
    for _ in made:
        name = made.get(name, name)
    return name


def _word(labels: pd.Series, parameters: Mapping[str, Any]) -> str:
    """Return the word for all values of a column of an earlier table."""
    present, word = set(labels), ALL
    if not parameters["totals"] and parameters["tables"] == WHOLE:
        return unused_name(ALL, tuple(present))
    while f"({word})" in present:  # where a value is called like it, the word has more brackets
        word = f"({word})"
    return word
