"""The share of one site: what a method would have added up, with noise, for a study of several sites."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.exchanges.studies import (
    WORDS,
    design_of,
    level_of_share,
    paid_in,
    promise_of,
    study_problems,
    sums_in,
    trust_view,
)
from engine.methods.kinds import Held
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
    SlotOf,
    Spends,
    TableArtefact,
)
from engine.methods.shared.site_files import OWN, Study, read_study
from engine.methods.shared.sums import SharedDoor, tell_sums
from engine.once import once
from engine.privacy import masks
from engine.privacy.accuracy import noise_of
from engine.privacy.mechanisms.integers import Integers
from engine.privacy.mechanisms.laplace_share import shared
from engine.privacy.promise import Promise
from engine.table.schema import Role
from engine.views import NumberView, Text, View

if TYPE_CHECKING:
    from engine.table.table import Table

SUMS, STUDY_FILE, KEY_FILE = "sums", "study.txt", "key-of-masks.txt"
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
        return design_of(self.study, self.schema)

    @once
    def further_problems(self) -> list[Problem]:
        found = study_problems(self.options.study)
        if found:
            return found
        if any(self.study.are_both) and not masks.has_ml_kem():
            return [Problem("sites.no_ml_kem", {}, "study")]
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

    @property
    def slot_of(self) -> SlotOf | None:
        """As the method of the study has it: its noise is for rows that were drawn so."""
        return self.inner.slot_of

    @property
    def counts_people(self) -> bool:  # type: ignore[override]  # of the method of the study
        return self.inner.counts_people

    @once
    def cost(self) -> Promise:
        found = promise_of(self.study, paid_in(self.study, self.inner), "share_of_a_site")
        if self.study.way == OWN or found.loss is None:
            return found
        events = shared(found.loss.events, self.study.least)
        assert events is not None  # `design_of` looked
        return replace(found, loss=replace(found.loss, events=events))

    @once
    def alone(self) -> float:
        """The level of this site's share, should coordinator and all holders work together."""
        loss = paid_in(self.study, self.inner).loss
        assert loss is not None
        return level_of_share(self.study, loss.events)

    @once
    def uses(self) -> Mapping[str, tuple[str, ...]]:
        return {} if study_problems(self.request.values.get("study", "")) else self.inner.uses

    @once
    def forecast(self) -> Forecast:
        """State the errors of the share alone; those of the whole study are larger."""
        return replace(self.inner.forecast, notes=(Text(f"{WORDS}.notes.alone"),))

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        study = self.study
        door = context.noise if study.way == OWN else SharedDoor(context.noise, study.least)
        told_by = nullcontext() if study.round == 1 else noise_of(study.noise_in(len(study.roster)))
        with told_by:  # what was heard before has the noise of all sites
            asked = sums_in(study, self.inner)
            sums, _ = tell_sums(self.inner, tables, replace(context, noise=door), study.heard, asked)
        if tuple(one.size for one in sums) != study.cells:
            raise InputRefused(f"{self.id}.other_cells")
        told = [
            FileArtefact(STUDY_FILE, "text/plain", self.options.study.encode(), Text(f"{WORDS}.files.study"))
        ]
        if study.way != OWN:
            sums, ephemeral = self._masked(sums, context.noise.random_keys(4).tobytes())
            told.append(
                FileArtefact(KEY_FILE, "text/plain", ephemeral.encode(), Text(f"{WORDS}.files.ephemeral"))
            )
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
        notes = [
            Text(f"{WORDS}.notes.study", {"title": self.study.called, "study": self.study.short}),
            Text(f"{WORDS}.notes.signed"),
        ]
        if study.rehearsal:
            notes.insert(0, Text(f"{WORDS}.notes.rehearsal"))
        if study.rounds > 1:
            notes.append(Text(f"{WORDS}.notes.round", {"round": study.round, "rounds": study.rounds}))
        views: list[View] = [view, trust_view(study)]
        if study.way != OWN:
            number = Text("methods.exchanges.share.numbers.alone")
            views.insert(
                1, NumberView(Text("methods.exchanges.share.numbers.alone.label"), self.alone, number)
            )
        return Release((TableArtefact(SUMS, (frame,), entries), *told), self.cost, tuple(views), tuple(notes))

    def _masked(self, sums: tuple[Integers, ...], private: bytes) -> tuple[tuple[Integers, ...], str]:
        """Return the sums with the masks of all holders, and what is said so that these find theirs."""
        study, holders = self.study, [one.exchange for one in self.study.holders]
        said, secrets = masks.agree(private, holders)
        hiding = [
            masks.mask(secret, study=study.id, said=said, holder=holder, size=sum(study.cells))
            for secret, holder in zip(secrets, holders, strict=True)
        ]
        hidden = masks.masked(np.concatenate(sums), hiding)
        return tuple(np.split(hidden, np.cumsum(study.cells)[:-1])), said


def _declared(column: object) -> tuple[object, ...]:
    return tuple(getattr(column, name) for name in ("kind", "domain", "domain_origin", "missing"))
