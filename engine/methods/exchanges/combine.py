"""The result of a study of several sites: their noisy sums added up, and put where one site's would stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pandas as pd

from engine.methods import option
from engine.methods.exchanges.studies import design_of, promise_of, study_problems, trust_view
from engine.methods.kinds import Held
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    Family,
    Forecast,
    Inside,
    Method,
    Reference,
    Release,
    Shape,
    Source,
    Spends,
)
from engine.methods.shared import site_files
from engine.methods.shared.site_files import MASK, OWN, SHARE, VERSION, SiteFile, Study, read_study
from engine.methods.shared.sums import add_up, put_in_place
from engine.once import once
from engine.privacy.accuracy import noise_of
from engine.privacy.mechanisms import Stated
from engine.privacy.promise import Promise
from engine.table.declared import as_declared
from engine.table.schema import Role, Schema
from engine.table.table import Table as Rows
from engine.views import TableView, Text

if TYPE_CHECKING:
    from engine.table.table import Table

SHARES, MASKS = "shares", "masks"
LINES, MASK_LINES = f"custos-{SHARE}-{VERSION}", f"custos-{MASK}-{VERSION}"
"""The first line of a share, which is the heading of its lines where it is read as a table."""
WORDS = "methods.exchanges.combine"


class Combine(Method):
    """One release from the shares of several sites, none of which showed a row or an exact number.

    Notes
    -----
    The method of the study runs on no rows, with the sums of all sites in place of its own: what leaves is
    what it would have released from all rows together, but for the noise: every site added its own, or a
    share of one noise, which masks hide until all are added up.
    Nothing is paid here: it has been, by the register of every site.
    """

    id = "exchanges.combine"
    family = Family.EXCHANGE
    held = Held.COUNTS
    promises = ("pure_dp", "approximate_dp")
    spends = Spends.FOLLOWS
    sources = (
        Source(SHARES, Shape.RECEIVED, many=True),
        Source(MASKS, Shape.RECEIVED, required=False, many=True),
    )
    published = Reference(
        "Dwork, Kenthapadi, McSherry, Mironov, Naor: Our data, ourselves: privacy via distributed noise "
        "generation (2006)",
        "section 1, noise of every participant",
        "doi:10.1007/11761679_29",
    )

    class Options(option.Options):
        study: str = option.text(inside=True)
        without: tuple[str, ...] = option.texts(optional=True)

    options: Options

    @once
    def study(self) -> Study:
        """What all sites did."""
        return read_study(self.options.study.encode())

    @once
    def sites(self) -> int:
        """How many sites take part."""
        return len([one for one in self.study.roster if one.name not in self.options.without])

    @once
    def inner(self) -> Method:
        """The design of the release of the study."""
        return self._design()

    def _design(self) -> Method:
        """Return it anew, for whatever noise is in force, with the words that are in use here."""
        return design_of(self.study, self.request.schemas.get(MAIN, Schema()))

    @once
    def further_problems(self) -> list[Problem]:
        found = study_problems(self.options.study)
        if found:
            return found
        if not self.study.is_last:
            told = {"round": self.study.round, "rounds": self.study.rounds}
            return [Problem("sites.more_rounds", told, "study")]
        for name in self.options.without:
            if self.study.member(name) is None:
                return [Problem("sites.unknown", {"name": name[:100]}, "without")]
        if LINES not in self.request.schemas.get(SHARES, Schema()):
            return [Problem(f"{self.id}.no_shares", {"heading": LINES})]
        if self.sites < site_files.LEAST_SITES:
            return [Problem("sites.too_few", {"least": site_files.LEAST_SITES}, "without")]
        return []

    @once
    def cost(self) -> Promise:
        """Promise what every site promised to its people: nothing further is drawn or paid."""
        paid = self.inner.cost
        assert paid.loss is not None  # `design_of` looked: its noise has a level
        proved = Stated("noise_of_sites", paid.loss.epsilon, paid.loss.delta)
        found = promise_of(
            self.study, replace(paid, loss=replace(paid.loss, events=proved)), "noise_of_sites"
        )
        drawn_here = ("exact_integer_noise",)
        return replace(found, assumptions=tuple(one for one in found.assumptions if one not in drawn_here))

    @once
    def uses(self) -> Mapping[str, tuple[str, ...]]:
        masks = {MASKS: (MASK_LINES,)} if MASKS in self.request.schemas else {}
        return {SHARES: (LINES,), **masks}

    @once
    def forecast(self) -> Forecast:
        with noise_of(self._noise(self.sites)):
            return self._design().forecast

    def _noise(self, sites: int) -> Fraction:
        """Return how much noise so many sites make; in several rounds, what all of them went by."""
        return self.study.noise_in(sites if self.study.rounds == 1 else len(self.study.roster))

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        shares = apart(tables, SHARES)
        told = site_files.accept(self.study, shares, self.options.without)
        if self.study.way == OWN:
            totals = add_up(list(told.values()))
        else:
            totals = tuple(site_files.unmask(self.study, shares, apart(tables, MASKS)))
        with noise_of(self._noise(len(told))):
            released = put_in_place(self._design(), self._nobody, (*self.study.heard, *totals), context)
        rounds = self.study.rounds
        taken = (Text(f"{WORDS}.notes.rounds", {"rounds": rounds}),) if rounds > 1 else ()
        invented = (Text(f"{WORDS}.notes.rehearsal"),) if self.study.rehearsal else ()
        return replace(
            released,
            promise=self.cost,
            views=(*released.views, self._who(told), trust_view(self.study, whole=True)),
            notes=(
                *invented,
                *released.notes,
                Text(f"{WORDS}.notes.{self.study.way}", {"sites": len(told)}),
                *taken,
            ),
            inside=Inside(),
        )

    @property
    def _nobody(self) -> dict[str, Table]:
        """The columns of the study without a row."""
        found = {}
        for name, schema in self.study.schemas.items():
            kept = [one.name for one in schema.columns if one.role is not Role.DROPPED]
            found[name] = as_declared(Rows(pd.DataFrame(columns=kept, dtype="str"), source=name), schema)
        return found

    def _who(self, told: Mapping[str, object]) -> TableView:
        """Say who took part, with the fingerprints that were compared."""
        headings = (Text(f"{WORDS}.views.sites.name"), Text(f"{WORDS}.views.sites.fingerprint"))
        rows = tuple((one.name, one.fingerprint) for one in self.study.roster if one.name in told)
        values = {"title": self.study.called, "study": self.study.short}
        return TableView(
            Text(f"{WORDS}.views.sites.title"), headings, rows, Text(f"{WORDS}.views.sites.note", values)
        )


def apart(tables: Mapping[str, Table], source: str) -> list[SiteFile]:
    """Return the files whose lines, without the first of each, were read one after the other.

    The signature is the third line of a file. One that is taken apart wrongly is not what was signed.
    """
    kind, heading = (SHARE, LINES) if source == SHARES else (MASK, MASK_LINES)
    lines = [str(line) for line in tables[source].rows()[heading]] if source in tables else []
    signatures = [at for at, line in enumerate(lines) if site_files.is_signature(line)]
    if not lines or (signatures and signatures[0] != 1):
        signatures = []
    found = []
    for place, at in enumerate(signatures):
        end = signatures[place + 1] - 1 if place + 1 < len(signatures) else len(lines)
        content = "\n".join((heading, *lines[at - 1 : end])) + "\n"
        found.append(site_files.read(content.encode(), kind, f"{source} {place + 1}"))
    return found
