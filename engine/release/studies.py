"""A study of several sites, from the cards of its sites to the result: files that people carry or send.

Every file is signed with the key of the register that it is about; see `engine.methods.shared.site_files`.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from engine import bounded, strict_json
from engine.errors import InputRefused
from engine.ledger import Holding, Ledger
from engine.methods.exchanges.combine import LINES, MASK_LINES, MASKS, SHARES
from engine.methods.exchanges.share import KEY_FILE, STUDY_FILE, SUMS, VALUE
from engine.methods.exchanges.studies import compare_ways, design_of, paid_in, sums_in, trust_view
from engine.methods.protocol import MAIN, Budget, Context, TableArtefact
from engine.methods.shared import site_files
from engine.methods.shared.site_files import CARD, MASK, ROSTER, SHARE, STUDY, Member, SiteFile, Study
from engine.methods.shared.sums import add_up, is_summable, tell_sums
from engine.privacy import masks
from engine.privacy.accuracy import noise_of
from engine.privacy.keys import new_key
from engine.privacy.noise import Noise
from engine.release import signing
from engine.release.bundle import RELEASE
from engine.release.bundle import SUMS as DIGESTS
from engine.release.check import check
from engine.release.foreseen import worked_out
from engine.release.mock import invented_people
from engine.release.plan import FileReference, Plan
from engine.release.signing import SigningKey
from engine.table.reading.options import OWN_TEXT
from engine.table.schema import Column, Kind, Schema
from engine.views import TableView

DRY_ROWS = 200
"""How many people are invented to find out which sums a method asks for."""
LARGEST = 1 << 28
"""Bytes of a share that is read: ten million numbers and more."""
NONE: Mapping[str, Path] = {}
READING = replace(OWN_TEXT, delimiter=";", quote="", multiline=False, date_order="ymd", width=1)
"""How the lines of a share are read as a table of one column."""


def write_card(ledger: Ledger, holding: Holding, name: str, passphrase: str | None = None) -> bytes:
    """Return the card with which a site introduces itself, signed with the key of its register."""
    key = signing.open_key(ledger, holding, passphrase)
    content = site_files.written(
        CARD, site_files.card(name.strip(), key.public, _exchange_key(key)[1]), key.sign
    )
    site_files.read_card(content, "card")  # a name that nobody would take is refused here
    return content


def _exchange_key(key: SigningKey) -> tuple[bytes, str]:
    """Return the private and the public key by which the register of a signing key agrees on masks."""
    private = masks.exchange_private(key.private)
    return private, masks.exchange_public(private)


def make_study(
    plan: Plan,
    roster: Sequence[Member],
    coordinator: str,
    key: SigningKey,
    *,
    before: Study | None = None,
    rehearsal: bool = False,
    holders: Sequence[Member] = (),
    least: int | None = None,
) -> bytes:
    """Return the file of a study that is made from a plan, signed by its coordinator.

    Parameters
    ----------
    plan
        What every site does; its files, its preparation and its register have no part in it.
    roster
        The sites, in their order.
    coordinator, key
        Who puts the sums together.
    before
        An attempt at the same study that broke off: this one is another study, which every site pays anew.
    rehearsal
        Whether rows are invented everywhere.
    holders
        Who adds up masks, each with their card: then every site adds a share of one noise. None: every site
        adds noise of its own.
    least
        How many shares are one noise; one less than there are sites where nothing is said, as each site
        knows its own.

    Raises
    ------
    InputRefused
        The first problem of the plan. ``sites.method``: sums of several sites cannot take the place of one's.
        ``sites.roster``, ``sites.holders``, ``sites.no_shares``.
    """
    budget = _summable(plan)
    site_files.refuse_roster(roster, "study")
    study = Study(
        plan.purpose.title,
        Member(coordinator.strip(), key.public),
        tuple(roster),
        plan.method,
        plan.method_version,
        plan.parameters,
        budget,
        {MAIN: plan.prepared(MAIN)},
        plan.declared_sizes,
        (1,),
        new_key()[:8].hex() if before is None else before.series,
        1 if before is None else before.attempt + 1,
        rehearsal,
        site_files.ONE if holders else site_files.OWN,
        (least or len(roster) - 1) if holders else 1,
        tuple(holders),
        max(len(plan.design.rounds), 1),
    )
    site_files.refuse_holders(study, "study")
    study = replace(study, cells=try_out(study, len(roster)))
    content = site_files.written(STUDY, study.head, key.sign)
    site_files.read_study(content)
    return content


def next_round(
    study: bytes,
    shares: Sequence[SiteFile],
    key: SigningKey,
    without: Sequence[str] = (),
    answers: Sequence[SiteFile] = (),
) -> bytes:
    """Return the study of the next round, signed by its coordinator: with the totals of those before.

    Whoever sent no share has no part in it any more.

    Raises
    ------
    InputRefused
        As `site_files.accept` and `site_files.unmask`, naming the file; ``sites.own_key``: the study is
        another coordinator's. ``sites.last_round``: no other follows.
    """
    found = site_files.read_study(study)
    _refuse_other_coordinator(found, key)
    if found.is_last:
        raise InputRefused("sites.last_round", rounds=found.rounds)
    told = site_files.accept(found, shares, without)
    totals = add_up(list(told.values()))
    if found.way == site_files.ONE:
        totals = tuple(site_files.unmask(found, shares, answers))
    roster = tuple(one for one in found.roster if one.name in told)
    later = replace(found, roster=roster, round=found.round + 1, heard=(*found.heard, *totals))
    later = replace(later, cells=try_out(later, len(roster)))
    content = site_files.written(STUDY, later.head, key.sign, later.numbers)
    site_files.read_study(content)
    return content


def _refuse_other_coordinator(study: Study, key: SigningKey) -> None:
    if key.public != study.coordinator.key:
        own = site_files.fingerprint_of(key.public)
        raise InputRefused("sites.own_key", site=study.coordinator.name, fingerprint=own)


def _summable(plan: Plan) -> Budget:
    """Return the budget of a plan, if sums of several sites can take the place of one's."""
    design = plan.design
    for problem in design.problems:
        raise InputRefused(problem.code, **problem.values)
    if set(plan.schemas) != {MAIN} or plan.step or plan.budget is None or not is_summable(design):
        raise InputRefused("sites.method", method=plan.method)
    return plan.budget


def forecast_ways(plan: Plan, sites: int) -> TableView:
    """Return what errors so many sites would have by either way to add noise, before a study is written.

    Raises
    ------
    InputRefused
        The first problem of the plan; ``sites.method``; ``sites.roster``: too few or too many sites.
    """
    if not site_files.LEAST_SITES <= sites <= site_files.MOST_SITES:
        limits = {"least": site_files.LEAST_SITES, "most": site_files.MOST_SITES}
        raise InputRefused("sites.roster", file=plan.method, **limits)
    _summable(plan)
    return compare_ways(plan.design, sites)


@worked_out("study")
def try_out(study: Study, sites: int) -> tuple[int, ...]:
    """Return how many numbers each sum has that the method of a study asks for, tried on invented rows.

    Raises
    ------
    InputRefused
        The first problem of its method. ``sites.method``: which sums it asks for hangs on its rows or on its
        noise. ``run.not_computable``: whoever wrote it chose numbers with which nothing can be worked out.
    """
    with noise_of(study.noise_in(sites)), tempfile.TemporaryDirectory(prefix="custos-") as folder:
        design = design_of(study)
        for problem in design.problems:
            raise InputRefused(problem.code, **problem.values)
        source = next(one for one in design.sources_read if one.name == MAIN)
        found = []
        for people in (DRY_ROWS, 0):
            rows = invented_people(source, study.schemas[MAIN], people).table
            context, asked = Context(Noise(), None, Path(folder)), sums_in(study, design)
            sums, _ = tell_sums(design, {MAIN: rows}, context, study.heard, asked)
            found.append(tuple(one.size for one in sums))
    if not found[0] or found[0] != found[1]:
        raise InputRefused("sites.method", method=study.method)
    return found[0]


@worked_out("study")
def rehearse(plan: Plan, base: Path) -> int:
    """Return how many numbers the share of a site has, made on the plan's own columns with invented rows.

    Raises
    ------
    InputRefused
        Whatever stands against the plan; ``exchanges.share.other_cells``.
    """
    design = check(plan, base=base)
    source = next(one for one in design.sources_read if one.name == MAIN)
    rows = invented_people(source, plan.prepared(MAIN), DRY_ROWS).table
    with tempfile.TemporaryDirectory(prefix="custos-") as folder:
        release = design.run({MAIN: rows}, Context(Noise(), None, Path(folder)))
    return next(len(one.frame) for one in release.artefacts if isinstance(one, TableArtefact))


@worked_out("study")
def level_of_round(study: Study) -> Fraction:
    """Return the ε that each site pays for the round of a study."""
    loss = paid_in(study, design_of(study)).loss
    assert loss is not None  # `design_of` looked
    return loss.epsilon


@worked_out("study")
def who_learns(study: Study) -> TableView:
    """Return who learns what of all rounds of a study, and what if they work together."""
    return trust_view(study, whole=True)


@worked_out("study")
def write_invented(study: bytes, path: Path, people: int) -> None:
    """Write a table of invented people with the columns that a study declares.

    Raises
    ------
    InputRefused
        ``commands.not_writable``.
    """
    found = site_files.read_study(study)
    source = next(one for one in design_of(found).sources_read if one.name == MAIN)
    rows = invented_people(source, found.schemas[MAIN], people).table.rows()
    try:
        path.write_text(rows.to_csv(index=False, lineterminator="\n"), encoding="utf-8")
    except OSError as error:
        raise InputRefused("commands.not_writable", file=path.name, reason=error.strerror or "") from error


def plan_of_site(study: bytes, site: str, plan: Plan) -> Plan:
    """Return the plan with which a site makes its share.

    Parameters
    ----------
    study
        The file of the study.
    site
        Its name in the roster.
    plan
        Says which file is read and how it is prepared, and which register pays: nothing else of it is taken.
        Without a schema the study's own is, and without a word for who is protected the study's. Where its
        purpose does not say who releases and who receives, the site does, and the coordinator.

    Raises
    ------
    InputRefused
        As `try_out`; ``sums.other_totals``, ``exchanges.share.other_cells``: the coordinator wrote totals or
        sums into the study that are not those of the method. A site would pay for a share that nobody takes.
    """
    found = site_files.read_study(study)
    if try_out(found, len(found.roster)) != found.cells:
        raise InputRefused("exchanges.share.other_cells")
    schema = plan.schemas.get(MAIN, found.schemas[MAIN])
    if not schema.protected:
        schema = schema.called_as(found.schemas[MAIN])
    return replace(
        plan,
        method="exchanges.share",
        method_version=1,
        schemas={MAIN: schema},
        parameters={"study": study.decode(), "site": site},
        declared_sizes=found.sizes,
        budget=None,
        purpose=replace(
            plan.purpose,
            title=plan.purpose.title or found.title,
            organisation=plan.purpose.organisation or site,
            recipient=plan.purpose.recipient or found.coordinator.name,
        ),
    )


def refuse_other_key(study: bytes, site: str, key: SigningKey) -> None:
    """Refuse before anything is spent that a register makes a share which it could not sign.

    Raises
    ------
    InputRefused
        ``sites.own_key``.
    """
    _signer(site_files.read_study(study), site, key)


def _signer(study: Study, site: str, key: SigningKey) -> Member:
    member = study.member(site)
    if member is None or member.key != key.public:
        own = site_files.fingerprint_of(key.public)
        raise InputRefused("sites.own_key", site=site[:100], fingerprint=own)
    return member


def sign_share(study: bytes, site: str, folder: Path, key: SigningKey) -> bytes:
    """Return the share of a site as it is sent: the sums of its bundle, signed with the key of its register.

    Notes
    -----
    The same bundle always gives the very same file, so that one that was lost is made again and nothing is
    paid twice.

    Raises
    ------
    InputRefused
        ``sites.own_key``: the roster has another key for the site. ``sites.bundle``: no share lies there.
    """
    found = site_files.read_study(study)
    member = _signer(found, site, key)
    try:
        digests = bounded.read_text(folder / RELEASE / DIGESTS)
        hides = found.way == site_files.ONE
        names = (f"{SUMS}.csv", STUDY_FILE, *((KEY_FILE,) if hides else ()))
        table, own, *key_of_masks = (bounded.read_bytes(folder / RELEASE / name, LARGEST) for name in names)
        numbers = pd.read_csv(BytesIO(table))[VALUE].to_numpy(dtype="int64")
    except (OSError, KeyError, ValueError, OverflowError) as error:
        raise InputRefused("sites.bundle", folder=folder.name) from error
    # the noise of one study must never stand in another, where other sites would be subtracted
    is_whole = own == study and numbers.size == sum(found.cells)
    if not is_whole or any(
        hashlib.sha256(one).hexdigest() not in digests for one in (table, own, *key_of_masks)
    ):
        raise InputRefused("sites.bundle", folder=folder.name)
    ephemeral = key_of_masks[0].decode("ascii", "replace") if hides else ""
    head, told = found.share_of(member, [numbers], ephemeral)
    return site_files.written(SHARE, head, key.sign, told)


def write_roster(
    study: bytes, shares: Sequence[SiteFile], key: SigningKey, without: Sequence[str] = ()
) -> bytes:
    """Return what the coordinator sends to the holders: who sent a share, signed by each, and no number.

    Raises
    ------
    InputRefused
        As `site_files.accept`. ``sites.own_key``: the study is another coordinator's.
    """
    found = site_files.read_study(study)
    _refuse_other_coordinator(found, key)
    site_files.accept(found, shares, without)
    return site_files.written(ROSTER, site_files.roster_of(found, shares), key.sign)


def write_mask(
    study: bytes, roster: bytes, file: str, ledger: Ledger, holding: Holding, passphrase: str | None = None
) -> bytes:
    """Return a holder's answer to a roster: the sum of its masks with the sites of the roster.

    Notes
    -----
    A holder answers one roster of a study, ever: the answers to two that differ by a site would show what
    that site sent. Which one it was is kept beside the signing key before the answer exists.

    Raises
    ------
    InputRefused
        As `site_files.add_masks`; ``sites.opened``: another roster of the study was answered before.
    """
    found, key = site_files.read_study(study), signing.open_key(ledger, holding, passphrase)
    read = site_files.read(roster, ROSTER, file)
    private, public = _exchange_key(key)
    named = next((one for one in found.holders if one.key == key.public), None)
    holder = named or Member(holding.name, key.public, public)
    total = site_files.add_masks(found, read, holder, private)
    place = signing.place(ledger, holding).with_name(f"{holding.id}-opened-{found.id}.json")
    signing.write_key(place, json.dumps({"roster": read.id}).encode(), replaces=False)
    try:  # of two that are answered at once one is there, and both see which
        opened = strict_json.loads(bounded.read_bytes(place))["roster"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputRefused("sites.opened_damaged", file=place.name, folder=str(place.parent)) from error
    if opened != read.id:
        raise InputRefused("sites.opened", file=file)
    head, numbers = site_files.mask_of(found, read.id, holder, total)
    return site_files.written(MASK, head, key.sign, numbers)


def read_share(path: Path) -> SiteFile:
    """Return a share; see `site_files.read`."""
    return site_files.read(content_of(path), SHARE, path.name)


def read_mask(path: Path) -> SiteFile:
    """Return a holder's answer; see `site_files.read`."""
    return site_files.read(content_of(path), MASK, path.name)


def content_of(path: Path) -> bytes:
    """Return the content of a file between sites, or refuse in words."""
    try:
        return bounded.read_bytes(path, LARGEST)
    except OSError as error:
        raise InputRefused("commands.not_readable", file=path.name) from error


def plan_of_result(
    study: bytes, shares: Mapping[str, Path], without: Sequence[str] = (), answers: Mapping[str, Path] = NONE
) -> Plan:
    """Return the plan that puts shares together, once all of them are known to belong to the study.

    Parameters
    ----------
    shares
        By the path as the plan should name it.
    without
        Sites that do not take part after all.
    answers
        Of the holders, where the study has some.

    Raises
    ------
    InputRefused
        As `site_files.accept` and `site_files.unmask`, naming the file.
    """
    found = site_files.read_study(study)
    read = [read_share(path) for path in shares.values()]
    site_files.accept(found, read, without)
    if found.way == site_files.ONE or answers:
        site_files.unmask(found, read, [read_mask(path) for path in answers.values()])
    options: dict[str, Any] = READING.to_json()
    files, schemas = {}, {}
    for source, heading, paths in ((SHARES, LINES, shares), (MASKS, MASK_LINES, answers)):
        for place, path in enumerate(paths, start=1):
            files[source if place == 1 else f"{source}.{place}"] = FileReference(path, options)
            schemas[source] = Schema((Column(heading, kind=Kind.TEXT),))
    if found.schemas[MAIN].protected:
        schemas[MAIN] = Schema().called_as(found.schemas[MAIN])
    parameters: dict[str, Any] = {"study": study.decode()}
    if without:
        parameters["without"] = list(without)
    plan = Plan(
        "exchanges.combine",
        files=files,
        schemas=schemas,
        parameters=parameters,
        declared_sizes=found.sizes,
    )
    # What a coordinator puts together, the coordinator releases: the name stands signed in the study
    purpose = replace(plan.purpose, title=found.title, organisation=found.coordinator.name)
    return replace(plan, purpose=purpose)
