"""Invented rows with a guarantee: drawn from a model of noisy tables of one and two columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import ceil, prod
from typing import Any

import numpy as np
import pandas as pd

from engine.methods import option
from engine.methods.budget import (
    NOISE,
    ManySums,
    budget_problems,
    is_replace_one,
    noise_notes,
    noise_taken,
    required_budget,
    takes_gaussian,
)
from engine.methods.datasets.marginal_model.codes import MOST_GROUPS, SEEN, Coded, as_coded, with_shares
from engine.methods.datasets.marginal_model.frequent import (
    MOST_FREQUENT,
    Crowded,
    FrequentApart,
    as_apart,
    as_crowded,
    most_sizes,
    with_frequent,
)
from engine.methods.datasets.marginal_model.junction_tree import Attributes, junction_tree
from engine.methods.datasets.marginal_model.possible import Mask, impossible_pairs, is_possible, kept_rows
from engine.methods.datasets.marginal_model.rounds import Learnt, code_table, learn, value_table
from engine.methods.datasets.marginal_model.sampling import CODE, rows_of
from engine.methods.datasets.marginal_model.schedule import FREQUENT, MOST_FOR_FREQUENT, Schedule
from engine.methods.datasets.marginal_model.shown import measured_views
from engine.methods.datasets.synthesis.invented import entry_with_values, invented_rows
from engine.methods.datasets.synthesis.misplaced import forecast_misplaced, share_misplaced
from engine.methods.filling import USELESS, Judged
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    Expected,
    Family,
    Forecast,
    Reads,
    Reference,
    Release,
    Request,
    Rows,
    TableArtefact,
)
from engine.methods.shared.cell_search import CELLS, SEARCHED, STEPS, certainly_shows, each_value
from engine.methods.shared.cells import LEVEL_KINDS, Codes, level_problems
from engine.methods.shared.column_cells import (
    BINS,
    CELL_KINDS,
    OWN_EDGES,
    ColumnCells,
    Named,
    bins_taken,
    columns_as_cells,
    edge_problems,
    is_listed,
)
from engine.methods.shared.derived import DERIVED, derived_problems
from engine.methods.shared.division import Division
from engine.methods.shared.plausibility import IN_ORDER, NEVER, SUMS, rule_columns, rule_problems, rules_of
from engine.methods.shared.promise import cap_notes, counted_unit, promise
from engine.methods.shared.rows import entry
from engine.methods.shared.slots import Slotted
from engine.methods.shared.view import View, view_of
from engine.once import once
from engine.privacy.noise import Noise
from engine.privacy.promise import Promise
from engine.table.table import Table
from engine.views import TableView, Text

# --- named tables ----------------------------------------------------------------------------------------
# Tables that the custodian names beside the single columns, and whether they can be modelled.


CHOSEN, SINGLE, NAMED = "chosen", "single", "named"
TABLES = option.choice(CHOSEN, SINGLE, NAMED, name="tables", default=CHOSEN)
NAMED_TABLES = option.records(
    option.columns(name="columns", minimum=2, maximum=4, column_kinds=CELL_KINDS),
    name="named",
    minimum=1,
    maximum=100,
    when=("tables", (NAMED,)),
)
MOST_TOGETHER = 200_000
"""Cells of a table that is named, or that the model needs to make several agree."""
MOST_IN_MODEL = 1_000_000
MOSTLY_NOISE = 0.5
"""Share of the rows in a wrong cell from which on a named table is said to be mostly noise."""


def named_columns(request: Request) -> tuple[tuple[str, ...], ...]:
    """Return the columns of every table that was named."""
    return tuple(tuple(one["columns"]) for one in request.values[NAMED_TABLES.name] or ())


def named_tables(request: Request, columns: Sequence[ColumnCells]) -> tuple[Attributes, ...] | None:
    """Return the tables that are measured beside single columns; None where they are chosen by the rows."""
    if request.values[TABLES.name] == CHOSEN:
        return None
    places = {cells.column.name: place for place, cells in enumerate(columns)}
    return tuple(tuple(sorted(places[name] for name in table)) for table in named_columns(request))


def pairs_of(tables: Sequence[Attributes] | None) -> list[Attributes]:
    """Return the pairs that tables hold.

    Examples
    --------
    >>> pairs_of([(0, 1, 3), (1, 3)])
    [(0, 1), (0, 3), (1, 3)]
    """
    return list(dict.fromkeys(pair for table in tables or () for pair in combinations(table, 2)))


def named_problems(request: Request, columns: Sequence[ColumnCells], *, method: str) -> list[Problem]:
    """Say which named tables are there twice or too large, or that the model of all of them would be.

    Parameters
    ----------
    columns
        Those that are drawn; every named table is of them.
    method
        Below whose problems the sentences stand.
    """
    names, sizes = [cells.column.name for cells in columns], [cells.size for cells in columns]
    found: list[Problem] = []
    seen: set[Attributes] = set()
    for table in named_tables(request, columns) or ():
        cells = prod(sizes[one] for one in table)
        told = {"table": _tell(names, table), "cells": cells, "most": MOST_TOGETHER}
        if table in seen:
            found.append(Problem(f"{method}.named_twice", told, NAMED_TABLES.name))
        elif cells > MOST_TOGETHER:
            found.append(Problem(f"{method}.named_too_large", told, NAMED_TABLES.name))
        seen.add(table)
    return found or _too_large_together(seen, names, sizes, method)


def _too_large_together(
    tables: set[Attributes], names: Sequence[str], sizes: Sequence[int], method: str
) -> list[Problem]:
    tree = junction_tree(sizes, sorted(pairs_of(sorted(tables))))
    largest = max(tree.cliques, key=lambda clique: prod(tree.shape(clique)))
    cells = prod(tree.shape(largest))
    if cells <= MOST_TOGETHER and tree.cells <= MOST_IN_MODEL:
        return []
    inside = [_tell(names, table) for table in sorted(tables) if len(set(table) & set(largest)) > 1]
    told = {"table": _tell(names, largest), "named": inside, "cells": cells, "all": tree.cells}
    code = "named_need_too_large" if cells > MOST_TOGETHER else "named_too_many"
    most = MOST_TOGETHER if cells > MOST_TOGETHER else MOST_IN_MODEL
    return [Problem(f"{method}.{code}", told | {"most": most}, NAMED_TABLES.name)]


def _tell(names: Sequence[str], table: Attributes) -> str:
    return " × ".join(names[one] for one in table)


# --- forecast -------------------------------------------------------------------------------------


def off_together(schedule: Schedule) -> tuple[float, ...]:
    """Return for every named table the share of rows that its noise puts into a wrong cell."""
    cells = schedule.cells[len(schedule.sizes) :]
    return tuple(
        share_misplaced([size], [schedule.deviation(scale)], schedule.about_rows)[0]
        for size, scale in zip(cells, schedule.together, strict=True)
    )


def mostly_noise(schedule: Schedule, names: Sequence[str]) -> list[str]:
    """Return the named tables that are mostly noise; nothing where none is."""
    off = zip(schedule.named or (), off_together(schedule), strict=True)
    return [_tell(names, table) for table, share in off if share > MOSTLY_NOISE]


def named_view(schedule: Schedule, names: Sequence[str], *, words: str) -> TableView:
    """Return what the noise of every named table does to it.

    Parameters
    ----------
    names
        Of the columns that are drawn.
    words
        Below which the texts stand.
    """
    cells = schedule.cells[len(schedule.sizes) :]
    rows = tuple(
        (
            _tell(names, table),
            size,
            schedule.within(schedule.deviation(scale)),
            float(f"{100 * off:.2g}"),
        )
        for table, size, scale, off in zip(
            schedule.named or (), cells, schedule.together, off_together(schedule), strict=True
        )
    )
    headings = tuple(Text(f"{words}.views.named.{name}") for name in ("table", "cells", "within", "off"))
    return TableView(Text(f"{words}.views.named.title"), headings, rows, Text(f"{words}.views.named.note"))


# --- the method ------------------------------------------------------------------------------------------


ID = "datasets.marginals"
WORDS = f"methods.{ID}"
MOST_CELLS = 5_000
MOST_IN_RULES = 50_000
"""Cells of two columns up to which a rule is part of the model; else it is kept by drawing again."""
MOST_ROWS = 10_000_000
MOST_TIMES = 10
"""A table has at most so many times the rows that were stated, unless a number was asked for."""


class Marginals(Slotted, ManySums):
    """A synthetic table from noisy tables of single columns and of the pairs that matter most.

    Notes
    -----
    Single columns are counted with noise. In a few rounds the pairs that the model so far describes worst are
    chosen by the exponential mechanism and counted with noise; the model of least assumptions that agrees
    with all of them is a junction tree, from which rows are drawn. Everything after the counts is
    post-processing. R. McKenna, B. Mullins, D. Sheldon, G. Miklau, AIM (2022), several pairs a round.

    What two columns have to do with each other beyond the measured pairs is not in the table. Noise in small
    tables drowns pairs: below 30 rows for each standard deviation of their noise only single columns are
    measured, which is said before anything is spent.
    """

    id = ID
    family = Family.DATASET
    promises = ("approximate_dp", "pure_dp")
    version = 4  # tables of a target are as coarse as its rarer classes need
    usual = True
    rows = Rows.SYNTHETIC
    invented = True
    libraries = ()
    published = Reference(
        "McKenna, Mullins, Sheldon, Miklau: AIM: an adaptive and iterative mechanism for differentially "
        "private synthetic data (2022)",
        "algorithm 2",
        "arXiv:2201.12677",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(
            minimum=1, maximum=100, column_kinds=CELL_KINDS, needs_domain=True
        )
        about_rows: int = option.integer(minimum=10, maximum=10**9)
        noise: str = NOISE
        bins: int = BINS
        edges: Mapping[str, option.Edges] = OWN_EDGES
        tables: str = TABLES
        named: option.Records = NAMED_TABLES
        slot: str | None = option.column(optional=True, column_kinds=LEVEL_KINDS, needs_domain=True)
        cells: str = replace(CELLS, when=("tables", (CHOSEN, SINGLE)))
        frequent: bool = option.boolean(default=True, when=("tables", (CHOSEN, SINGLE)))
        target: str | None = option.column(optional=True, column_kinds=CELL_KINDS, when=("tables", (CHOSEN,)))
        in_order: option.Records = IN_ORDER
        never: option.Records = NEVER
        sums: option.Records = SUMS
        derived: option.Records = DERIVED
        rows: int | None = option.integer(optional=True, minimum=1, maximum=MOST_ROWS)

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        columns = [self.schema.column(name) for name in self.options.columns]
        found = _not_released(self) + rule_problems(self.request, method=ID)
        found += derived_problems(self.request, totals=rules_of(self.request).totals, method=ID)
        found += level_problems([one for one in columns if is_listed(one)], parameter="columns")
        found += edge_problems(self.request, columns, method=ID, parameter="columns")
        if not found:
            for cells in self.cells:
                if cells.size > MOST_CELLS:
                    values = {"column": cells.column.name, "cells": cells.size, "most": MOST_CELLS}
                    values["groups"] = MOST_GROUPS
                    found.append(Problem(f"{ID}.too_many_cells", values, "columns"))
        if not found:
            found += named_problems(self.request, self.cells, method=ID)
        if not found and self.slot is not None and self._slot_place is None:
            found.append(Problem(f"{ID}.slot_not_listed", {"column": self.slot}, "slot"))
        if not found and not self._leaves_rows:
            found.append(Problem(f"{ID}.rules_leave_nothing", {}, "never"))
        return found + budget_problems(self.request, uses_delta=takes_gaussian(self.request))

    @property
    def _slot_place(self) -> int | None:
        """The place of the slot among the drawn columns; None unless every value has a cell of its own."""
        names = [cells.column.name for cells in self.cells if isinstance(cells, Named)]
        own = [cells.column.name for cells in self.cells]
        return own.index(self.slot) if self.slot in names else None

    @once
    def taken(self) -> Mapping[str, Any]:
        return {**bins_taken(self.cells), **noise_taken(self.request, self.sums)}

    @property
    def sums(self) -> float:
        """How many tables a row is in: of single columns, and of several."""
        columns, tables = len(self.options.columns), self.options.tables
        if tables == CHOSEN:
            return columns + 3 * (columns - 1)
        return columns + len(named_columns(self.request))

    @once
    def cells(self) -> tuple[ColumnCells, ...]:
        """Return the cells of every column that is drawn: from declarations alone."""
        computed = rules_of(self.request).computed
        names = [name for name in self.options.columns if name not in computed]
        own = self.options.edges or {}
        searched = [name for name in names if self.options.frequent and name not in own]
        is_cut = self.options.cells == SEARCHED
        found = [
            as_apart(cells, is_cut=is_cut) if cells.column.name in searched else cells
            for cells in map(as_coded, columns_as_cells(self.request, names))
            for cells in [each_value(cells) if is_cut and cells.column.name not in own else cells]
        ]
        if not is_cut:
            return tuple(found)
        crowded = [as_crowded(cells) if cells.column.name in searched else cells for cells in found]
        return tuple(crowded if self._shows(crowded) else found)

    def _shows(self, columns: Sequence[ColumnCells]) -> bool:
        """Whether a quarter of the rows in one interval would certainly show in a count of equal parts."""
        if not any(isinstance(one, Crowded) for one in columns):
            return False
        if budget_problems(self.request, uses_delta=takes_gaussian(self.request)):
            return False
        budget, counted = required_budget(self.paid), sum(isinstance(one, FrequentApart) for one in columns)
        whole = Division((), budget.epsilon, budget.delta, is_replace_one(self.request))
        return certainly_shows(
            counted,
            float(min(FREQUENT * counted, MOST_FOR_FREQUENT)),
            whole.level / (self.request.rows_per_person * (2 if whole.replace_one else 1)),
            gaussian=whole.is_gaussian,
            rows=self.options.about_rows,
            width=ceil(STEPS / self.options.bins),
        )

    @once
    def _leaves_rows(self) -> bool:
        columns, rules = self.cells, rules_of(self.request)
        return not rules.any or is_possible(columns, rules, _impossible(self, columns))

    @once
    def schedule(self) -> Schedule:
        """Return which noise everything gets."""
        return self._division.borne_out()

    @once
    def _division(self) -> Schedule:
        budget, columns = required_budget(self.paid), self.cells
        cap, factor = self.request.rows_per_person, 2 if is_replace_one(self.request) else 1
        slots = None if self._slot_place is None else factor * min(cap, len(self.slots.labels))
        return Schedule(
            most_sizes(columns),
            budget.epsilon,
            budget.delta,
            self.request.units_moved,
            cap**2 * factor,
            self.options.about_rows,
            named_tables(self.request, columns),
            sum(isinstance(cells, Coded) for cells in columns),
            frequent=sum(isinstance(cells, FrequentApart) for cells in columns),
            has_target=self.options.target not in (None, self.slot),  # pairs with the slot come first anyway
            slot=self._slot_place,
            slots=slots or 0,
        )

    @once
    def cost(self) -> Promise:
        schedule = self.schedule
        kind = "approximate_dp" if schedule.is_gaussian else "pure_dp"
        further = () if self.slot is None else ("one_row_a_slot",)
        return promise(self.paid, schedule.events, kind=kind, further=further)

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        schedule, unit = self._division.expected(), counted_unit(self.request)
        accuracy = schedule.accuracy(max(schedule.single))
        single = Text(f"{WORDS}.numbers.count.label")
        errors = [Expected(single, "invented", None, accuracy.median, accuracy.limit, unit)]
        if schedule.pairs:
            pair = schedule.accuracy(schedule.pair)
            label = Text(f"{WORDS}.numbers.count.pair")
            errors.append(Expected(label, "invented", None, pair.median, pair.limit, unit))
        if schedule.pairs and schedule.of_slot:
            pair = schedule.accuracy(schedule.pair_of_slot)
            label = Text(f"{WORDS}.numbers.count.slot", {"column": self.slot})
            errors.append(Expected(label, "invented", None, pair.median, pair.limit, unit))
        if schedule.together:
            worst = schedule.accuracy(max(schedule.together))
            label = Text(f"{WORDS}.numbers.count.named")
            errors.append(Expected(label, "invented", None, worst.median, worst.limit, unit))
        coded = [cells for cells in self.cells if isinstance(cells, Coded)]
        if coded:
            code = schedule.accuracy(schedule.code)
            label = Text(f"{WORDS}.numbers.count.code")
            errors.append(Expected(label, "invented", None, code.median, code.limit, unit))
        errors.append(forecast_misplaced(Text(f"{WORDS}.numbers.share.label"), _off_alone(schedule)))
        if off := _off_in_pairs(schedule):
            errors.append(forecast_misplaced(Text(f"{WORDS}.numbers.share.pair"), off))
        names = [cells.column.name for cells in self.cells]
        views = (named_view(schedule, names, words=WORDS),) if schedule.together else ()
        told = {
            "rows": round(schedule.rows_per_deviation, 1),
            "pairs": schedule.pairs,
            "tables": len(schedule.together),
            "noise": mostly_noise(schedule, names),
        }
        note = Text(f"{WORDS}.notes.{_verdict(schedule)}", told)
        drawn = _notes(self.cells, schedule)
        first = (*cap_notes(self.request), *noise_notes(self.request, self.sums))
        if self.slot is not None:
            first += (Text("statistics.notes.one_row_a_slot", {"column": self.slot}),)
        if (target := self.options.target) is not None:
            said = "no_target" if schedule.only_single else "target"
            first += (Text(f"{WORDS}.notes.{said}", {"target": target}),)
        return Forecast(tuple(errors), views=views, notes=(*first, note, *drawn))

    def judged(self, people: int | None) -> Judged:
        schedule, epsilon = self._division.expected(), float(required_budget(self.paid).epsilon)
        off = _off_alone(schedule)[0]
        told: dict[str, Any] = {"rows": schedule.about_rows, "epsilon": epsilon, "off": 100 * off}
        verdict = "nothing" if 1 - off < USELESS else _verdict(schedule)
        if schedule.together:
            names = [cells.column.name for cells in self.cells]
            each = off_together(schedule)
            off = max(off, sum(each) / len(each))
            told |= {"noise": mostly_noise(schedule, names), "together": 100 * sum(each) / len(each)}
        return Judged(1 - off, Text(f"{WORDS}.judged.{verdict}", told))

    @once
    def pairs_named(self) -> frozenset[frozenset[str]]:
        tables = named_columns(self.request)
        return frozenset(frozenset(pair) for table in tables for pair in combinations(table, 2))

    # --- release -----------------------------------------------------------------------------------

    @once
    def needs(self) -> Reads:
        return Reads.CODED

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        schedule, columns = self.schedule, self.cells
        context.progress.step(0.0, "run.reading")
        view = view_of(tables[MAIN])
        columns = _search(view, columns, schedule, context.noise)
        schedule = schedule.found(tuple(cells.size for cells in columns))
        codes = np.array(view.codes(columns), dtype=CODE)
        names = [cells.column.name for cells in columns]
        target = self.options.target
        learnt = learn(
            codes,
            schedule,
            ordered=[cells.ordered for cells in columns],
            noise=context.noise,
            impossible=_impossible(self, columns),
            target=names.index(target) if target in names else None,
            progress=context.progress.part(0.1, 0.9),
        )
        every = {
            place: code_table(_fine_codes(view, cells), cells.fine, schedule, context.noise)
            for place, cells in enumerate(columns)
            if isinstance(cells, Coded)
        }
        return self._released(learnt, with_shares(columns, every, learnt.model), schedule, context)

    def _released(
        self,
        learnt: Learnt,
        columns: tuple[ColumnCells, ...],
        schedule: Schedule,
        context: Context,
    ) -> Release:
        """Make the artefact from the model: nothing after this line has seen a row."""
        about = self.options.about_rows  # much noise could make any number of rows out of none
        most = min(MOST_ROWS, MOST_TIMES * about)
        n = self.options.rows or min(most, max(1, round(learnt.model.total)))
        rules = rules_of(self.request)

        def draw(count: int) -> pd.DataFrame:
            codes = rows_of(learnt.model, count, context.noise)[:, context.noise.shuffled(count)]
            return invented_rows(columns, codes, context.noise)

        frame = kept_rows(draw, n, rules) if rules.any else draw(n)
        frame = frame[list(self.options.columns)]
        entries = {
            cells.column.name: entry_with_values(
                cells.column, "invented_in_group" if isinstance(cells, Coded) else "invented"
            )
            for cells in columns
        }
        entries |= {name: entry(self.schema.column(name), "computed") for name in rules.totals}
        for one in rules.derived:
            entries[one.column.name] = entry_with_values(one.column, "derived", source=one.source.name)
        artefact = TableArtefact("table", (frame,), tuple(entries[name] for name in frame.columns))
        views, light = measured_views(
            learnt, schedule, columns, words=WORDS, each=self.request.rows_per_person
        )
        drawn = _notes(columns, schedule, is_found=True)
        return Release((artefact,), self.cost, views, (*light, *drawn))


def _not_released(design: Marginals) -> list[Problem]:
    """Find columns that a rule or the target names, and that do not leave or are computed."""
    released, rules = set(design.options.columns), rules_of(design.request)
    target = tuple(name for name in [design.options.target] if name is not None)
    named = tuple(name for table in named_columns(design.request) for name in table)
    slot = tuple(name for name in [design.slot] if name is not None)
    drawn = [("target", target), (NAMED_TABLES.name, named), ("slot", slot)]
    found = [
        Problem(f"{ID}.not_released", {"column": name}, parameter)
        for parameter, names in [
            *rule_columns(design.request),
            *[(DERIVED.name, (one.column.name, one.source.name)) for one in rules.derived],
            *drawn,
        ]
        for name in dict.fromkeys(names)
        if name not in released or (parameter in dict(drawn) and name in rules.computed)
    ]
    if not found and released <= set(rules.totals):
        found.append(Problem(f"{ID}.rules_leave_nothing", {}, "sums"))
    return found


def _impossible(design: Marginals, columns: tuple[ColumnCells, ...]) -> dict[Attributes, Mask]:
    pairs = pairs_of(named_tables(design.request, columns))
    most = MOST_TOGETHER if pairs else MOST_IN_RULES
    return impossible_pairs(columns, rules_of(design.request), most_cells=most, beside=pairs)


def _search(
    view: View, columns: tuple[ColumnCells, ...], schedule: Schedule, noise: Noise
) -> tuple[ColumnCells, ...]:
    """Return the columns with the values that are frequent by a noisy table of all of them."""
    searched = {place: cells for place, cells in enumerate(columns) if isinstance(cells, FrequentApart)}
    tables = {
        place: value_table(_fine_codes(view, cells), cells.fine, schedule, noise)
        for place, cells in searched.items()
    }
    least = {place: schedule.standing_out(cells.fine) for place, cells in searched.items()}
    return with_frequent(columns, tables, least, rows=schedule.about_rows)


def _fine_codes(view: View, cells: Coded | FrequentApart) -> Codes:
    """Return the cell of every row in the table of all values of a column."""
    return view.coded(cells.column.name, np.int64, cells.fine_codes).astype(np.int64)


def _notes(
    columns: tuple[ColumnCells, ...], schedule: Schedule, *, is_found: bool = False
) -> tuple[Text, ...]:
    """Say of every column of codes, and of every searched one, what the model knows of it."""
    return tuple(
        _coded_note(cells, schedule)
        if isinstance(cells, Coded)
        else _frequent_note(cells, schedule, is_found=is_found)
        for cells in columns
        if isinstance(cells, Coded | FrequentApart)
    )


def _frequent_note(cells: FrequentApart, schedule: Schedule, *, is_found: bool) -> Text:
    told = {
        "column": cells.column.name,
        "values": cells.fine - 1,
        "most": MOST_FREQUENT,
        "found": len(cells.found),
        "least": ceil(schedule.standing_out(cells.fine)),
        "intervals": len(cells.spans) if is_found else cells.most_size - 1,
        "alone": sum(first == last for first, last, _ in cells.spans),
    }
    name = "parts" if isinstance(cells, Crowded) else "crowded" if cells.is_cut else "frequent"
    return Text(f"{WORDS}.notes.{name}{'_found' if is_found else ''}", told)


def _coded_note(cells: Coded, schedule: Schedule) -> Text:
    """Say of a column of codes what the model knows of it."""
    told = {
        "column": cells.column.name,
        "codes": len(cells.groups),
        "groups": cells.count,
        "step": cells.step,
        "least": ceil(SEEN * schedule.deviation(schedule.code)),
    }
    return Text(f"{WORDS}.notes.codes", told)


def _verdict(schedule: Schedule) -> str:
    if schedule.named is not None:
        is_noise = any(off > MOSTLY_NOISE for off in off_together(schedule))
        return "named_noise" if is_noise else "named" if schedule.named else "single"
    return "only_single" if schedule.only_single else "little" if schedule.is_thin else "pairs"


def _off_alone(schedule: Schedule) -> tuple[float, float]:
    """Return the share of rows that the noise puts into a wrong cell of a column."""
    deviations = [schedule.deviation(scale) for scale in schedule.single]
    return share_misplaced(schedule.sizes, deviations, schedule.about_rows)


def _off_in_pairs(schedule: Schedule) -> tuple[float, float] | None:
    """Return the same of a pair that is measured, the mean of all that could be; None where none is."""
    cells = [one * other for one, other in combinations(schedule.sizes, 2)]
    cells = [size for size in cells if size <= schedule.most_cells]
    if not schedule.pairs or not cells:
        return None
    return share_misplaced(cells, [schedule.deviation(schedule.pair)] * len(cells), schedule.about_rows)
