"""Invented tables that hang together, each column by a tree given the rows above. No guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods import option
from engine.methods.datasets.linked_tables import ID, LATER, LinkedTables, rising
from engine.methods.datasets.synthesis.chain import Chain, Values, few_levels_first, fit
from engine.methods.datasets.synthesis.models import Learn, Synthesiser, learning
from engine.methods.datasets.synthesis.variables import (
    Amounts,
    Levels,
    Variable,
    check_variety,
    variable,
    write_drawn,
)
from engine.methods.protocol import MAIN, Context, Reference, Release, Spends
from engine.methods.shared.promise import promise_without_bound
from engine.methods.shared.rows import entry
from engine.once import once
from engine.privacy.promise import WHOLE, Promise
from engine.progress import Progress
from engine.table.schema import DETAILS, RECORDS
from engine.views import Text

if TYPE_CHECKING:
    from engine.methods.shared.linked_rows import LinkedRows
    from engine.table.table import Table

Integers = arrays.Integers
Above = list[tuple[str, str, Integers]]
"""What rows hang on, as `LinkedTables.parents` says it."""
CHILDREN = "children"
"""How many rows of the next table a row has, beside its columns, whose names have a word in front."""
OWN = "own"


class LinkedImputation(LinkedTables):
    """Invented people, their records and the details of these, each column drawn by a tree.

    Notes
    -----
    Table after table: people with the number of their records, given nothing; first records given their
    person; further ones given person and the record before; details given person and record. So that a
    relation between tables is kept, the columns of the parent are among what a tree divides rows by: with
    parents left out, tables that were invented one by one are about as far from the own ones as by chance.
    Every row is drawn below one that is there, so that no key leads nowhere. Nothing bounds what the tables
    tell about one person.
    """

    id = "datasets.linked_imputation"
    promises = ("none",)
    spends = Spends.NOTHING  # and not `invented`: where a leaf is small, rows repeat real ones
    libraries = ("scikit-learn", "threadpoolctl")
    published = Reference(
        "Reiter: Using CART to generate partially synthetic public use microdata (2005)",
        "section 3, once for each table, given the rows above",
        "Journal of Official Statistics 21",
    )

    class Options(LinkedTables.Options):
        smallest_leaf: int = option.integer(default=20, minimum=2, maximum=10_000, presets=(20, 50))
        least_people: int = option.integer(default=5, minimum=1, maximum=1_000)

    options: Options

    @once
    def cost(self) -> Promise:
        return promise_without_bound(self.request, "none", assumptions=(WHOLE,))

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        chance = context.chance
        assert chance is not None  # nothing bounds the loss
        context.progress.step(0.0, "run.reading")
        frames = {name: one.rows() for name, one in (context.whole or tables).items() if name != MAIN}
        frames[MAIN] = tables[MAIN].rows()
        rows = self.read(frames)
        own = self._variables(frames, rows)
        for columns in own.values():
            check_variety(columns, self.options.least_people)
        learn = learning(Synthesiser.TREE, smallest=self.options.smallest_leaf, chance=chance)
        there = [part for part in self.model_sizes if part != LATER or (rows.before >= 0).any()]
        chains = {
            part: self._fitted(part, rows, own, learn, context.progress.part(start, start + 0.2))
            for part, start in zip(there, (0.1, 0.3, 0.5, 0.7), strict=False)
        }
        context.progress.step(0.9, "run.writing")
        values, count = _split(chains[MAIN].draw(len(frames[MAIN]), chance))
        drawn, person = {MAIN: values}, np.zeros(0, dtype=np.int64)
        drawn[RECORDS], person, below = self._records(chains, values, count, chance)
        record = None
        if DETAILS in self.tables:
            record = np.repeat(np.arange(len(person)), below)
            above: Above = [("of_person", MAIN, person[record]), ("of_record", RECORDS, record)]
            drawn[DETAILS], _ = _split(_below(chains[DETAILS], drawn, above, chance))
        artefacts = []
        for name in self.tables:
            frame = pd.DataFrame(
                {column: write_drawn(own[name][column], one, chance) for column, one in drawn[name].items()}
            )[list(own[name])]
            if name == RECORDS and self.options.order in frame:
                frame = rising(frame, str(self.options.order), person)
            entries = {column.name: entry(column, "invented") for column in self.columns_of(name)}
            artefacts.append(
                self.keyed(name, frame, entries, people=len(count), person=person, record=record)
            )
        order = "ordered" if self.has_order else "not_ordered"
        notes = tuple(Text(f"methods.{ID}.notes.{name}") for name in (order, "whole"))
        return Release(tuple(artefacts), self.cost, notes=notes)

    def _variables(
        self, frames: Mapping[str, pd.DataFrame], rows: LinkedRows
    ) -> dict[str, dict[str, Variable]]:
        """Return the columns of every table, of the rows that hang together."""
        whose = {MAIN: rows.places[MAIN], RECORDS: rows.person, DETAILS: rows.person[rows.record]}
        return {
            name: {
                column.name: variable(
                    frames[name][column.name].iloc[rows.places[name]],
                    column,
                    people=whose[name],
                    least_people=self.options.least_people,
                )
                for column in self.columns_of(name)
            }
            for name in self.tables
        }

    def _fitted(
        self,
        part: str,
        rows: LinkedRows,
        own: Mapping[str, Mapping[str, Variable]],
        learn: Learn,
        progress: Progress,
    ) -> Chain:
        """Fit the columns of a table, and the number of rows below, given what its rows hang on."""
        smallest = self.options.smallest_leaf
        kept, above = (rows.places[MAIN], []) if part == MAIN else self.parents(part, rows)
        if len(kept) < 2 * smallest and part == LATER:
            raise InputRefused("datasets.linked_imputation.too_few_later", rows=2 * smallest)
        if len(kept) < 2 * smallest:
            raise InputRefused("datasets.linked_imputation.too_few", rows=2 * smallest)
        variables = {
            f"{kind}.{name}": _taken(one, places)
            for kind, table, places in above
            for name, one in own[table].items()
        }
        given = tuple(variables)
        table = RECORDS if part == LATER else part
        mine = {f"{OWN}.{name}": _taken(one, kept) for name, one in own[table].items()}
        order = few_levels_first(mine)
        if part == MAIN:
            mine[CHILDREN] = self._number(rows.records, self.options.most_records, kept)
        elif part != DETAILS and DETAILS in self.tables:
            mine[CHILDREN] = self._number(rows.details[kept], self.options.most_details, above[0][2])
        order += (CHILDREN,) if CHILDREN in mine else ()
        return fit(variables | mine, order, smallest=smallest, learn=learn, given=given, progress=progress)

    def _number(self, rows: Integers, most: int, people: Integers) -> Amounts:
        """Return how many rows there are below each row: one that few people have moves."""
        values = np.minimum(rows, most).astype(np.float64)
        least = self.options.least_people
        return Amounts(values, Fraction(1), low=0.0, high=float(most), people=people, least_people=least)

    def _records(
        self, chains: Mapping[str, Chain], people: Values, count: Integers, chance: np.random.Generator
    ) -> tuple[Values, Integers, Integers]:
        """Draw the records of people: their columns, whose they are, and how many rows each has below."""
        first = np.minimum(count, 1) if self.has_order else count
        persons = [np.repeat(np.arange(len(count)), first)]
        rows = [_below(chains[RECORDS], {MAIN: people}, [("of_person", MAIN, persons[0])], chance)]
        for number in range(1, int(count.max(initial=0)) if self.has_order else 0):
            still = np.flatnonzero(count[persons[-1]] > number)
            persons.append(persons[-1][still])
            above: Above = [("of_person", MAIN, persons[-1]), ("before", RECORDS, still)]
            rows.append(_below(chains[LATER], {MAIN: people, RECORDS: _split(rows[-1])[0]}, above, chance))
        person = np.concatenate(persons)
        order = np.argsort(person, kind="stable")
        together = {name: np.concatenate([one[name] for one in rows])[order] for name in rows[0]}
        values, below = _split(together)
        return values, person[order], below


def _taken(one: Variable, places: Integers) -> Variable:
    """Return a column at some of its rows, also twice."""
    if isinstance(one, Levels):
        return replace(one, codes=one.codes[places])
    return replace(one, values=one.values[places], people=None if one.people is None else one.people[places])


def _below(chain: Chain, drawn: Mapping[str, Values], above: Above, chance: np.random.Generator) -> Values:
    """Draw a row below each of the rows that are named, and return what was drawn."""
    known = {
        f"{kind}.{name}": one[places] for kind, table, places in above for name, one in drawn[table].items()
    }
    n = len(above[0][2])
    if not n:
        return {link.name: np.zeros(0) for link in chain.links}
    found = chain.draw(n, chance, known=known)
    return {link.name: found[link.name] for link in chain.links}


def _split(found: Values) -> tuple[Values, Integers]:
    """Return the columns that were drawn by their names, and how many rows there are below each row."""
    own = {name.removeprefix(f"{OWN}."): one for name, one in found.items() if name != CHILDREN}
    return own, found.get(CHILDREN, np.zeros(0)).astype(np.int64)
