"""Invented tables that hang together: people, records of each, details of each record, and no row alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from engine import arrays
from engine.methods import option
from engine.methods.budget import (
    NOISE,
    ManySums,
    budget_problems,
    is_replace_one,
    noise_notes,
    required_budget,
    takes_gaussian,
)
from engine.methods.datasets.linked_tables import (
    DETAIL_COLUMNS,
    ID,
    LATER,
    MOST_DETAILS,
    MOST_RECORDS,
    ORDER,
    PEOPLE_COLUMNS,
    RECORD,
    RECORD_COLUMNS,
    RECORD_OF,
    LinkedTables,
    rising,
)
from engine.methods.datasets.marginal_model.given import draw_given
from engine.methods.datasets.marginal_model.junction_tree import Attributes, cells_with
from engine.methods.datasets.marginal_model.rounds import Learnt, count_cells, learn
from engine.methods.datasets.marginal_model.sampling import CODE, rows_of
from engine.methods.datasets.marginal_model.schedule import Schedule
from engine.methods.datasets.synthesis.invented import entry_with_values, invented_rows
from engine.methods.datasets.synthesis.misplaced import forecast_misplaced, share_misplaced
from engine.methods.filling import USELESS, Judged
from engine.methods.parameters import Problem
from engine.methods.protocol import MAIN, Context, Expected, Forecast, Reference, Release
from engine.methods.shared.column_cells import BINS, ColumnCells
from engine.methods.shared.histories import GRID, Weighing
from engine.methods.shared.linked_rows import LinkedRows
from engine.methods.shared.margins import MARGINS, smallest_margin
from engine.methods.shared.promise import promise
from engine.once import once
from engine.privacy.events import Sequential
from engine.privacy.promise import WEIGHED, Promise
from engine.table.schema import DETAILS, RECORDS
from engine.views import TableView, Text

if TYPE_CHECKING:
    from engine.privacy.noise import Noise
    from engine.table.table import Table

Integers = arrays.Integers

ABOUT = {MAIN: "about_people", RECORDS: "about_records", DETAILS: "about_details"}
LEAST_SHARE = Fraction(1, 2)
"""Of an equal share of the budget: no model gets less, however few cells it has or many rows."""
FINE = 1000
"""Parts that shares of the budget are told in."""
EVERYWHERE = 1e-6
"""Rows in each cell of what is given, so that none is thought impossible."""
MOST_ALL, MOST_ALL_CELLS = 6, 50_000
"""Columns of people, with the number of records, and their cells together, of which every pair is counted."""
PARENTS = 2
"""How much more a row of the people in a wrong cell counts: everything below hangs on it."""
MOST_ROWS = 1_000_000
MOST_TIMES = 3
"""So many times the stated people are invented at most, whatever the noise says."""


@dataclass(frozen=True)
class Part:
    """What one model is of.

    Parameters
    ----------
    source
        The table whose rows it draws.
    given, given_ordered
        Sizes of the columns that are known when a row is drawn, and how many of their first cells have an
        order; they stand before all others.
    cells
        Of the columns that are drawn and leave.
    children
        How many rows of the next table a row can have, which is drawn too; None where there is none.
    step
        What a row counts in tables where it counts whole: 1, or `GRID` where rows of a person share a weight.
    schedule
        Which noise everything gets.
    """

    source: str
    given: tuple[int, ...]
    given_ordered: tuple[int, ...]
    cells: tuple[ColumnCells, ...]
    children: int | None
    step: int
    schedule: Schedule

    @property
    def known(self) -> tuple[int, ...]:
        """Places of what is known."""
        return tuple(range(len(self.given)))

    @property
    def own(self) -> slice:
        """Places of the columns that leave."""
        return slice(len(self.given), len(self.given) + len(self.cells))

    @property
    def ordered(self) -> list[int]:
        """Of every column, how many of its first cells have an order; it matters where cells are joined."""
        drawn = [one.ordered for one in self.cells]
        return [*self.given_ordered, *drawn] + ([] if self.children is None else [self.children + 1])

    def draw(self, learnt: Learnt, given: arrays.Whole, noise: Noise) -> arrays.Whole:
        """Draw a row for each of the given ones, shape (columns, n), the given ones in front."""
        rows = np.zeros((len(self.schedule.sizes), given.shape[1]), dtype=CODE)
        rows[: len(self.given)] = given
        draw_given(learnt.model, self.known, rows, noise)
        return rows

    def shares(
        self, given: arrays.Whole, weights: Integers | None, pairs: Sequence[Attributes]
    ) -> dict[Attributes, arrays.Floats]:
        """Return the shares of given columns, and of pairs of them that the model has room for."""
        kept: list[Attributes] = []
        for pair in dict.fromkeys(pairs):
            if cells_with(self.schedule.sizes, [*kept, pair], most=self.schedule.most_cells):
                kept.append(pair)
        found = {}
        for name in [*((one,) for one in self.known), *kept]:
            shape = tuple(self.given[one] for one in name)
            counts = count_cells(given, name, shape, weights).reshape(shape)
            found[name] = (counts + EVERYWHERE) / (counts + EVERYWHERE).sum()
        return found


class Linked(LinkedTables, ManySums):
    """Invented people, their records and the details of these, from noisy tables over all of them together.

    Notes
    -----
    Table after table. People are modelled with the number of their records; records with what is known of
    their person, of the record before, and with the number of their details; details with what is known of
    person and record. Each model is that of `datasets.marginals`: noisy counts of single columns and of the
    pairs that matter most, and the distribution of least assumptions that agrees with them. Of people with
    few columns every pair is counted, by the cells that hold more rows than noise. Neighbours differ
    by a person with all rows of all tables. A person counts once among people; among records and details
    every row of somebody with ``n`` of them counts ``1 / max(n, cap)``, on a grid of whole steps, so that all
    of them together move a table by 1 at most, and none is torn from its person. Everything after the counts
    is post-processing: rows are drawn from the top, each below one that is there, so that no key leads
    nowhere.

    Source: R. McKenna, B. Mullins, D. Sheldon, G. Miklau, AIM (2022), for each model; N. Patki, R. Wedge,
    K. Veeramachaneni, The Synthetic Data Vault (2016), for going from parents to children. Weights in place
    of a cut, and the common budget, are this program's.
    """

    id = ID
    promises = ("approximate_dp", "pure_dp")
    version = 3  # of people with few columns every pair is counted, and none chosen
    invented = True
    of_details = ("record", "record_of", "about_details")
    published = Reference(
        "McKenna, Mullins, Sheldon, Miklau: AIM: an adaptive and iterative mechanism for differentially "
        "private synthetic data (2022)",
        "algorithm 2, once for each table, given the rows above",
        "arXiv:2201.12677",
    )

    class Options(LinkedTables.Options, own_first=True):
        columns: option.Names = PEOPLE_COLUMNS
        about_people: int = option.integer(minimum=10, maximum=10**9)
        record_columns: option.Names = RECORD_COLUMNS
        about_records: int = option.integer(minimum=10, maximum=10**9)
        order: str | None = ORDER
        most_records: int = MOST_RECORDS
        detail_columns: option.Names = DETAIL_COLUMNS
        about_details: int | None = option.integer(optional=True, minimum=10, maximum=10**9)
        record: str | None = RECORD
        record_of: str | None = RECORD_OF
        most_details: int = MOST_DETAILS
        noise: str = NOISE
        bins: int = BINS

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        found = [
            *self.table_problems,
            *budget_problems(self.request, uses_delta=takes_gaussian(self.request)),
        ]
        if not found and self.parts[RECORDS].schedule.only_single:
            found.append(Problem(f"{ID}.too_few", {"people": self.options.about_people}, "about_people"))
        return found

    @property
    def intervals(self) -> int:
        return self.options.bins

    @property
    def sums(self) -> float:
        """How many tables a person is in: of single columns, and of several, of all models."""
        return sum(4 * len(drawn) for _, drawn in self.model_sizes.values())

    @once
    def parts(self) -> Mapping[str, Part]:
        """Return what every model is of, with the noise that the accountant accepts for all together."""
        parts = self._parts(None)
        budget = required_budget(self.paid)
        if not parts[MAIN].schedule.is_gaussian:
            return parts
        margin = smallest_margin(
            lambda margin: _events(self._parts(margin)),
            budget.epsilon,
            budget.delta,
            budget.neighbours,
            MARGINS[:-1],  # the last would leave less than ρ does
        )
        return parts if margin is None else self._parts(margin)

    def _parts(self, margin: float | None) -> dict[str, Part]:
        budget, factor = required_budget(self.paid), 2 if is_replace_one(self.request) else 1
        shares, found = self.shares, {}
        for name, (given, drawn) in self.model_sizes.items():
            source = RECORDS if name == LATER else name
            step = 1 if name == MAIN or (name == RECORDS and self.has_order) else GRID
            cells = self.cells[source]
            schedule = Schedule(
                (*given, *drawn),
                budget.epsilon,
                budget.delta,
                factor * step,
                factor * step**2,  # of two people, no count below zero: their squares add up
                max(1, round(self._stated(name) * step)),
                margin=margin,
                share=shares[name],
                given=len(given),
                each_once=True,
                firsts=self._firsts(name, drawn),
            )
            children = drawn[-1] - 1 if len(drawn) > len(cells) else None
            above = [*self.cells[MAIN], *self.cells[RECORDS]][: len(given)]
            ordered = tuple(one.ordered for one in above)
            found[name] = Part(source, given, ordered, cells, children, step, schedule)
        return found

    @once
    def shares(self) -> Mapping[str, Fraction]:
        """Return how the budget is divided between the models: from declared sizes and numbers of rows.

        Noise puts a share of the rows into wrong cells that grows with the cells of a pair, with the number
        of pairs that share a budget, and with 1 / rows; of people it counts `PARENTS` times. With Laplace
        noise the sum over the models is least where the budget goes by the square root of that product, with
        Gaussian noise by another power.
        """
        power, off = (2 / 3 if takes_gaussian(self.request) else 1 / 2), {}
        for name, (given, drawn) in self.model_sizes.items():
            plain = Schedule((*given, *drawn), Fraction(1), Fraction(0), 1, 1, 1, given=len(given))
            pairs = sqrt(len(drawn) + 1) if takes_gaussian(self.request) else len(drawn) + 1
            weight = PARENTS if name == MAIN else 1
            off[name] = (weight * plain.usual_cells * pairs / self._stated(name)) ** power
        least = float(LEAST_SHARE) / len(off)
        raised = {name: max(least, one / sum(off.values())) for name, one in off.items()}
        parts = {name: round(FINE * one / sum(raised.values())) for name, one in raised.items()}
        return {name: Fraction(one, sum(parts.values())) for name, one in parts.items()}

    def _firsts(self, name: str, drawn: Sequence[int]) -> tuple[Attributes, ...]:
        """Return the pairs of a model that are counted first, by declarations alone."""
        if name == LATER:
            return self._always
        if name == MAIN and len(drawn) <= MOST_ALL and prod(drawn) <= MOST_ALL_CELLS:
            return tuple(combinations(range(len(drawn)), 2))
        return ()

    @property
    def _always(self) -> tuple[Attributes, ...]:
        """The order of a record beside that of the one before: it rises, which nobody needs to find out."""
        names = [cells.column.name for cells in self.cells[RECORDS]]
        if self.options.order not in names:
            return ()
        before = len(self.cells[MAIN]) + names.index(self.options.order)
        return ((before, before + len(names)),)

    def _stated(self, part: str) -> float:
        """Return about how much all rows that a model is of weigh, in people."""
        people = self.options.about_people
        if part == MAIN or (part == RECORDS and self.has_order):
            return people
        each = (self.values[ABOUT[DETAILS if part == DETAILS else RECORDS]] or people) / people
        first = 1 if part == LATER else 0
        return people * min(1.0, max(each - first, 0.1) / self._cap(part))

    def _cap(self, part: str) -> int:
        """Return how many rows of a person count whole in a model."""
        if part == LATER:  # without the first
            return max(1, self.schema_of(RECORDS).rows_per_person - 1)
        return self.schema_of(part).rows_per_person

    def weights(self, part: str, rows: Integers) -> Integers | None:
        """Return what a row counts, by how many its person has: 1 together at most; None: one row each."""
        return None if self.parts[part].step == 1 else Weighing(self._cap(part), 1).weights(rows)

    @once
    def cost(self) -> Promise:
        kind = "approximate_dp" if self.parts[MAIN].schedule.is_gaussian else "pure_dp"
        return promise(self.paid, _events(self.parts), kind=kind, bounded=WEIGHED)

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        errors = []
        for name, part in self.parts.items():
            schedule, step = part.schedule, part.step
            one = schedule.accuracy(max(schedule.single))
            unit = self.schema.words.several
            label = Text(f"methods.{ID}.numbers.{name}.label")
            errors.append(Expected(label, "invented", None, one.median / step, one.limit / step, unit))
            errors.append(forecast_misplaced(Text(f"methods.{ID}.numbers.{name}.share"), _off(schedule)))
        caps = {name: self.schema_of(name).rows_per_person for name in self.tables}
        first = Text(
            f"methods.{ID}.notes.{'weighed' if DETAILS in caps else 'weighed_alone'}",
            {"records": caps[RECORDS], "details": caps.get(DETAILS, 0)},
        )
        order = Text(f"methods.{ID}.notes.{'ordered' if self.has_order else 'not_ordered'}")
        notes = (first, *noise_notes(self.request, self.sums), order, Text(f"methods.{ID}.notes.whole"))
        return Forecast(tuple(errors), notes=notes)

    def judged(self, people: int | None) -> Judged:
        off = max(_off(part.schedule)[0] for part in self.parts.values())
        thin = any(part.schedule.only_single for part in self.parts.values())
        verdict = "nothing" if 1 - off < USELESS else "little" if thin else "pairs"
        epsilon = float(required_budget(self.paid).epsilon)
        told = {"off": 100 * off, "epsilon": epsilon, "people": self.options.about_people}
        return Judged(1 - off, Text(f"methods.{ID}.judged.{verdict}", told))

    # --- release -----------------------------------------------------------------------------------

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        frames = {name: one.rows() for name, one in (context.whole or tables).items() if name != MAIN}
        rows = self.read({MAIN: tables[MAIN].rows(), **frames})
        learnt: dict[str, Learnt] = {}
        drawn = Drawn()
        for place, (name, part) in enumerate(self.parts.items()):
            codes, weights = self.coded(name, rows)
            known, theirs, pairs = self._given(name, learnt, drawn)
            start = 0.1 + 0.8 * place / len(self.parts)
            learnt[name] = learn(
                codes,
                part.schedule,
                ordered=part.ordered,
                noise=context.noise,
                weights=weights,
                known=part.shares(known, theirs, pairs),
                progress=context.progress.part(start, start + 0.8 / len(self.parts)),
            )
            # what is drawn has seen noisy tables alone
            self._draw(name, learnt, drawn, context.noise)
        del rows
        context.progress.step(0.9, "run.writing")
        return self._released(learnt, drawn, context.noise)

    def coded(self, part: str, rows: LinkedRows) -> tuple[Integers, Integers | None]:
        """Return the rows that a model is of, with what is known of their parents, and what they weigh."""
        codes, each = self.rows_of(part, rows)
        return codes, None if each is None else self.weights(part, each)

    # --- what is drawn: everything below reads noisy tables alone -------------------------------------

    def _given(
        self, part: str, learnt: Mapping[str, Learnt], drawn: Drawn
    ) -> tuple[arrays.Whole, Integers | None, list[Attributes]]:
        """Return what was drawn for the columns that a model is given, what it weighs, and pairs of these."""
        people = len(self.cells[MAIN])
        pairs = [] if part == MAIN else _inside(learnt[MAIN], people)
        if part == MAIN:
            return np.zeros((0, 1), dtype=CODE), None, []
        if part == RECORDS:
            there = np.flatnonzero(drawn.count)
            weights = self.weights(part, drawn.count[there])
            if weights is not None:
                weights = weights * drawn.count[there]
            return drawn.people[:, there], weights, pairs
        above = people + len(self.cells[RECORDS])
        pairs += _inside(learnt[RECORDS], above)
        if part == LATER:  # only first records are drawn by now: those that another one follows stand for all
            more = np.flatnonzero(drawn.count[drawn.person] > 1)
            each = drawn.count[drawn.person[more]] - 1
            weights = self.weights(part, each)
            assert weights is not None
            return drawn.records[:above, more], weights * each, pairs
        if self.has_order:
            moved = {place: place for place in range(people)}
            moved |= {above + place: people + place for place in range(above - people)}
            found = learnt[LATER].model.pairs
            pairs += [(moved[one], moved[other]) for one, other in found if one in moved and other in moved]
        person = drawn.person[drawn.record]
        each = np.bincount(person, minlength=len(drawn.count))[person]
        return drawn.records[:above, drawn.record], self.weights(part, each), pairs

    def _draw(self, part: str, learnt: Mapping[str, Learnt], drawn: Drawn, noise: Noise) -> None:
        """Draw what a model has been learnt for, below what is there."""
        if part == MAIN:
            model = learnt[MAIN].model
            people = min(max(1, round(model.total)), MOST_TIMES * self.options.about_people, MOST_ROWS)
            codes = rows_of(model, people, noise)[:, noise.shuffled(people)]
            drawn.people, drawn.count = codes[:-1], codes[-1].astype(np.int64)
        elif part == RECORDS:
            each = np.minimum(drawn.count, 1) if self.has_order else drawn.count
            drawn.person = np.repeat(np.arange(len(each)), each)
            drawn.records = self.parts[part].draw(learnt[part], drawn.people[:, drawn.person], noise)
        elif part == LATER:
            self._draw_later(learnt[part], drawn, noise)
        else:
            above = self.parts[part].known
            drawn.details = self.parts[part].draw(
                learnt[part], drawn.records[: len(above), drawn.record], noise
            )
        if part in (RECORDS, LATER) and DETAILS in self.tables:
            drawn.record = np.repeat(np.arange(len(drawn.person)), drawn.records[-1])[:MOST_ROWS]

    def _draw_later(self, learnt: Learnt, drawn: Drawn, noise: Noise) -> None:
        """Draw the second record of everybody who has two, then the third …, and put them by person."""
        part, people = self.parts[LATER], len(self.cells[MAIN])
        persons, rows = [drawn.person], [drawn.records]
        for number in range(1, int(drawn.count.max(initial=0))):
            still = drawn.count[persons[-1]] > number
            persons.append(persons[-1][still])
            found = part.draw(learnt, rows[-1][: len(part.given), still], noise)
            rows.append(np.vstack([found[:people], found[len(part.given) :]]))
        person = np.concatenate(persons)
        order = np.argsort(person, kind="stable")[:MOST_ROWS]
        drawn.person, drawn.records = person[order], np.concatenate(rows, axis=1)[:, order]

    def _released(self, learnt: Mapping[str, Learnt], drawn: Drawn, noise: Noise) -> Release:
        """Write what was drawn, with keys that nobody had."""
        people = len(self.cells[MAIN])
        codes = {MAIN: drawn.people, RECORDS: drawn.records[people : people + len(self.cells[RECORDS])]}
        if DETAILS in self.tables:
            codes[DETAILS] = drawn.details[self.parts[DETAILS].own]
        artefacts = []
        for name in self.tables:
            frame = invented_rows(self.cells[name], codes[name], noise)
            if name == RECORDS and self.options.order in frame:
                frame = rising(frame, str(self.options.order), drawn.person)
            entries = {one.column.name: entry_with_values(one.column, "invented") for one in self.cells[name]}
            record = drawn.record if DETAILS in self.tables else None
            artefacts.append(
                self.keyed(name, frame, entries, people=len(drawn.count), person=drawn.person, record=record)
            )
        return Release(tuple(artefacts), self.cost, (self._pairs_view(learnt),), self.forecast.notes)

    def _pairs_view(self, learnt: Mapping[str, Learnt]) -> TableView:
        """Say which pairs of columns were counted together, by table: what the invented rows know of."""
        rows: list[tuple[Text, Text, Text]] = []
        for name, found in learnt.items():
            titles = self.titles(name)
            pairs = dict.fromkeys(one.attributes for one in found.measured if len(one.attributes) > 1)
            rows += [
                (Text(f"methods.{ID}.tables.{name}"), titles[one], titles[other]) for one, other in pairs
            ]
        words = f"methods.{ID}.views.pairs"
        headings = tuple(Text(f"{words}.{name}") for name in ("table", "one", "other"))
        return TableView(Text(f"{words}.title"), headings, tuple(rows), Text(f"{words}.note"))


class Drawn:
    """Invented rows, as far as they are drawn.

    ``people`` and ``count`` (of records) by person; ``person`` and ``records`` (cells of the person, of the
    record, number of details) by record, those of a person together; ``record`` and ``details`` by detail.
    """

    people: arrays.Whole
    count: Integers
    person: Integers
    records: arrays.Whole
    record: Integers
    details: arrays.Whole


def _inside(learnt: Learnt, columns: int) -> list[Attributes]:
    """Return the pairs of the first columns that a model has together."""
    return [pair for pair in learnt.model.pairs if max(pair) < columns]


def _events(parts: Mapping[str, Part]) -> Sequential:
    return Sequential(tuple(part.schedule.events for part in parts.values()))


def _off(schedule: Schedule) -> tuple[float, float]:
    """Return the share of rows that the noise puts into a wrong cell of a column."""
    deviations = [schedule.deviation(scale) for scale in schedule.single]
    return share_misplaced(schedule.cells[: schedule.drawn], deviations, schedule.about_rows)
