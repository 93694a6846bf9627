"""The rows of people, made coarser until each reads like enough people of a whole population."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.datasets.coarser_rows import CoarserRows
from engine.methods.datasets.grouping import Grouping, identifying_columns, members_of, promise, read_grouping
from engine.methods.datasets.population import AgainstPopulation, Asked, Population
from engine.methods.datasets.recoding import combine_places
from engine.methods.kinds import Shape
from engine.methods.parameters import Problem
from engine.methods.protocol import MAIN, Reference, Source
from engine.methods.shared.rows import written_cells
from engine.once import once
from engine.privacy.promise import Promise
from engine.table.declared import people_of_rows
from engine.table.table import Table

ID = "datasets.presence"
POPULATION = "population"
ASKED = ("most_presence", "population_k", "population_risk")


class Presence(CoarserRows):
    """k-anonymity with conditions against a population: presence, size of the group there, average chance.

    Notes
    -----
    Definition: M. Nergiz, M. Atzori, C. Clifton, Hiding the presence of individuals from shared databases
    (2007), definition 3; of δ only the upper end: that somebody is in the table is never surer than δ to who
    holds the population table and this release. Groups of the population: L. Sweeney's k-map. Somebody who
    holds a better table, or knows more than the identifying attributes, is not bounded by it; nor is what a
    sensitive value that a whole group shares tells. With a k of at least two nobody who stays is alone in the
    population, whatever its size: who is alone there is alone in every table drawn from it.
    """

    id = ID
    promises = ("k_anonymity",)
    published = Reference(
        "Nergiz, Atzori, Clifton: Hiding the presence of individuals from shared databases (2007)",
        "definition 3",
        "doi:10.1145/1247480.1247554",
    )
    sources = (Source(), Source(POPULATION, Shape.PUBLIC))

    class Options(CoarserRows.Options):
        most_presence: Fraction | None = option.number(optional=True, minimum=Fraction(1, 10_000), maximum=1)
        population_k: int | None = option.integer(optional=True, minimum=2, maximum=1_000_000)
        population_risk: Fraction | None = option.number(
            optional=True, minimum=Fraction(1, 1_000_000), maximum=1
        )

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        if wrong := super().further_problems:
            return wrong
        if all(self.values[name] is None for name in ASKED):
            return [Problem(f"{ID}.nothing_asked", {}, ASKED[0])]
        return []

    @once
    def uses(self) -> Mapping[str, tuple[str, ...]]:
        schema = self.request.schemas.get(POPULATION)
        key = None if schema is None else schema.person_key
        named = "columns" in self.values  # not while what was filled in cannot be used
        names = [column.name for column in identifying_columns(self.request)] if named else []
        return {**super().uses, POPULATION: tuple(names if key is None else [*names, key.name])}

    @once
    def cost(self) -> Promise:
        asked = {name: self.values[name] for name in ASKED if self.values[name] is not None}
        return promise(self.request, **asked)

    def read(self, tables: Mapping[str, Table]) -> tuple[Grouping, AgainstPopulation]:
        others = tables[POPULATION]
        identifying = identifying_columns(self.request)
        for name in tables[MAIN].rows()[[column.name for column in identifying]]:
            if name not in others:
                raise InputRefused("grouping.population_column", column=name)
        cells = {column.name: written_cells(others.rows()[column.name], column) for column in identifying}
        grouping = read_grouping(tables[MAIN], self.request, further=cells)
        codes = [
            ladder.place(cells[column.name])
            for column, ladder in zip(identifying, grouping.ladders, strict=True)
        ]
        theirs, number = combine_places(np.column_stack(codes), grouping.ladders)
        schema = self.request.schemas.get(POPULATION)
        key = None if schema is None else schema.person_key
        options = self.options
        asked = Asked(
            options.most_presence or Fraction(1),
            options.population_k or 1,
            options.population_risk or Fraction(1),
        )
        people = Population(grouping.codes, theirs, members_of(number, others, key), grouping.ladders, asked)
        return grouping, AgainstPopulation(people, cells, people_of_rows(others, key))
