"""The share of one site: what a method would have added up, with noise, for a study of several sites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.exchanges.studies import WORDS, design_of, noise_promise, study_problems
from engine.methods.kinds import Held
from engine.methods.once import once
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    DictionaryEntry,
    Family,
    FileArtefact,
    Forecast,
    Method,
    Reference,
    Release,
    Spends,
    TableArtefact,
)
from engine.methods.shared.site_files import Study, read_study
from engine.methods.shared.sums import tell_sums
from engine.privacy.promise import Promise
from engine.table.schema import Role
from engine.views import NumberView, Text

if TYPE_CHECKING:
    from engine.table.table import Table

SUMS, STUDY_FILE = "sums", "study.txt"
PART, CELL, VALUE = "part", "cell", "value"


class Share(Method):
    """Noisy sums of one site, for an answer that is made of the sums of several.

    Notes
    -----
    The method of the study runs here as it is, with its own noise: what it would have released can be worked
    out from the share. So a site needs to trust nobody, and its register pays what the method costs. Whoever
    adds up the shares of N sites has N times the variance of one.
    """

    id = "exchanges.share"
    family = Family.EXCHANGE
    held = Held.COUNTS
    promises = ("pure_dp", "approximate_dp")
    spends = Spends.FOLLOWS
    published = Reference(
        "Dwork, Kenthapadi, McSherry, Mironov, Naor: Our data, ourselves: privacy via distributed noise "
        "generation (2006)",
        "section 1, noise of every participant",
        "doi:10.1007/11761679_29",
    )

    class Options(option.Options):
        study: str = option.text(inside=True)
        site: str = option.text()

    options: Options

    @once
    def study(self) -> Study:
        """What all sites do."""
        return read_study(self.options.study.encode())

    @once
    def inner(self) -> Method:
        """The design of the release of the study, on the columns that it declares."""
        return design_of(self.study)

    @once
    def further_problems(self) -> list[Problem]:
        found = study_problems(self.options.study)
        if found:
            return found
        if self.study.member(self.options.site) is None:
            known = ", ".join(one.name for one in self.study.roster)
            return [
                Problem(f"{self.id}.no_such_site", {"site": self.options.site[:100], "known": known}, "site")
            ]
        return self._other_columns

    @once
    def _other_columns(self) -> list[Problem]:
        """Name the first column that is declared in another way than the study has it."""
        wanted, own = self.study.schemas[MAIN], self.schema
        if own.rows_per_person != wanted.rows_per_person:
            values = {"found": own.rows_per_person, "expected": wanted.rows_per_person}
            return [Problem(f"{self.id}.other_cap", values)]
        key = wanted.person_key
        found = own.person_key
        if (key is None) != (found is None) or (
            key is not None and found is not None and key.name != found.name
        ):
            return [Problem(f"{self.id}.other_key", {"column": "—" if key is None else key.name})]
        for name in self.inner.uses.get(MAIN, ()):
            column = wanted.column(name)
            if name not in own or (
                column.role is not Role.PERSON_KEY and _declared(own.column(name)) != _declared(column)
            ):
                return [Problem(f"{self.id}.other_column", {"column": name})]
        return []

    @once
    def cost(self) -> Promise:
        return noise_promise(self.inner.cost, "share_of_a_site")

    @once
    def uses(self) -> Mapping[str, tuple[str, ...]]:
        return self.inner.uses

    @once
    def forecast(self) -> Forecast:
        """State the errors of the share alone; those of the whole study are larger."""
        return replace(self.inner.forecast, notes=(Text(f"{WORDS}.notes.alone"),))

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        sums, _ = tell_sums(self.inner, tables, context)
        if tuple(one.size for one in sums) != self.study.cells:
            raise InputRefused(f"{self.id}.other_cells")
        frame = pd.DataFrame(
            {
                PART: np.repeat(np.arange(1, len(sums) + 1), self.study.cells),
                CELL: np.concatenate([np.arange(1, one.size + 1) for one in sums]),
                VALUE: np.concatenate(sums),
            }
        )
        entries = tuple(
            DictionaryEntry(name, Text(f"{WORDS}.columns.{name}"), "integer") for name in (PART, CELL, VALUE)
        )
        view = NumberView(
            Text("methods.exchanges.share.numbers.cells.label"),
            len(frame),
            Text("methods.exchanges.share.numbers.cells"),
        )
        notes = (
            Text(f"{WORDS}.notes.study", {"title": self.study.title, "study": self.study.short}),
            Text(f"{WORDS}.notes.signed"),
        )
        told = FileArtefact(
            STUDY_FILE, "text/plain", self.options.study.encode(), Text(f"{WORDS}.files.study")
        )
        return Release((TableArtefact(SUMS, (frame,), entries), told), self.cost, (view,), notes)


def _declared(column: object) -> tuple[object, ...]:
    return tuple(getattr(column, name) for name in ("kind", "domain", "domain_origin", "missing"))
