"""A study of several sites, as one of those who take part. Orders engine calls; computes nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.work.releasing import beside_its_table
from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.release.plan import FileReference, Plan

if TYPE_CHECKING:
    from engine.release.site_folder import Files, Next

COORDINATOR, SITE, HOLDER = "coordinator", "site", "holder"
PARTS = (COORDINATOR, SITE, HOLDER)
TRAINING = {
    "Centre": COORDINATOR,
    "North": SITE,
    "South": SITE,
    "Town": SITE,
    "Archive": HOLDER,
}
"""Who takes part in training, all on one computer; each has a ledger of its own."""
PEOPLE = 300
"""Invented people of each site in training."""
BUDGET = 5  # ε of a register in training


@dataclass(frozen=True)
class Desk:
    """Where somebody sits: their part, the folder of the study, their ledger; ``who`` in training alone."""

    part: str = SITE
    folder: Path | None = None
    ledger_path: Path | None = None
    who: str = ""


@dataclass(frozen=True)
class Line:
    """Somebody who takes part, as the table shows them.

    ``state`` is an id; ``is_own`` and ``is_compared`` say whose key it is, and whether its fingerprint was
    compared.
    """

    name: str
    fingerprint: str
    key: str
    part: str
    state: str
    is_own: bool = False
    is_compared: bool = False


@dataclass(frozen=True)
class Standing:
    """How a study stands at a desk."""

    files: Files
    next: Next
    lines: tuple[Line, ...] = ()
    own_name: str = ""
    register: str = ""
    views: tuple[Any, ...] = ()
    epsilon: Fraction | None = None


def train(data: Path) -> Path:
    """Return a new folder in which all parts are played."""
    for number in range(1, 10_000):
        place = data / f"training-{number}"
        if not place.exists():
            (place / "files").mkdir(parents=True)
            return place
    raise InputRefused("commands.not_writable", file=data.name, reason="")


def training_desk(folder: Path, who: str) -> Desk:
    """Return where somebody sits in training."""
    return Desk(TRAINING[who], folder / "files", folder / f"{who}.sqlite", who)


def _ledger(desk: Desk) -> Any:
    from engine.ledger import Ledger, default_path

    place = desk.ledger_path if desk.ledger_path is not None else default_path()
    place.parent.mkdir(parents=True, exist_ok=True)
    return Ledger(place)


def _register(ledger: Any, register: str, epsilon: str = "", unit: str = "person") -> Any:
    """Return a register, made where it is not there; without ε where nothing is paid from it."""
    from engine.ledger.holdings import called

    found = called(ledger.holdings(), register)
    return found or ledger.create_holding(
        register.strip(), unit=unit, neighbours="add_remove", epsilon=epsilon.strip() or None
    )


def look(desk: Desk, without: Sequence[str] = (), holders: Sequence[str] = ()) -> Standing:
    """Return how the study in the folder of a desk stands, and what comes next for whoever sits there."""
    from engine.release import signing, site_folder

    assert desk.folder is not None
    ledger = _ledger(desk)
    files = site_folder.look(desk.folder)
    known = site_folder.compared(ledger)
    keys = {signing.public_key(ledger, one): one.name for one in ledger.holdings()}
    keys.pop("", None)
    own = next((key for key in _keys_of(files, desk.part) if key in keys), "")
    lines = _lines(files, own, known, without, holders)
    views: tuple[Any, ...] = ()
    epsilon = None
    if files.study is not None:
        from engine.release.studies import level_of_round, who_learns

        views, epsilon = (who_learns(files.study),), level_of_round(files.study)
    return Standing(
        files,
        site_folder.next_of(desk.part, files, own, tuple(known), without),
        lines,
        next((one.name for one in lines if one.key == own), ""),
        keys.get(own, ""),
        views,
        epsilon,
    )


def _keys_of(files: Files, part: str) -> list[str]:
    """Return the keys of those who have a part in a study; before it is made, of all cards."""
    study = files.study
    if study is None:
        return [one.member.key for one in files.cards]
    members = {COORDINATOR: (study.coordinator,), SITE: study.roster, HOLDER: study.holders}
    return [one.key for one in members[part]]


def _lines(
    files: Files, own: str, known: Mapping[str, str], without: Sequence[str], holders: Sequence[str]
) -> tuple[Line, ...]:
    study = files.study
    if study is None:
        found = [(one.member, HOLDER if one.member.key in holders else SITE, "card") for one in files.cards]
    else:
        found = [(study.coordinator, COORDINATOR, "")]
        for one in study.roster:
            state = "share" if one.name in files.shares else "left_out" if one.name in without else "asked"
            found.append((one, SITE, state))
        for one in study.holders:
            waits = "asked" if files.roster is not None else "later"
            found.append((one, HOLDER, "mask" if one.name in files.masks else waits))
    return tuple(
        Line(one.name, one.fingerprint, one.key, part, state, one.key == own, one.key in known)
        for one, part, state in found
    )


def take_file(desk: Desk, path: Path) -> Path:
    """Copy a file that came into the folder of its study."""
    from engine.release import site_folder

    assert desk.folder is not None
    return site_folder.take(desk.folder, path)


def note_compared(desk: Desk, key: str, name: str, is_so: bool) -> None:
    """Keep that the fingerprint of somebody was compared, or that it was not after all."""
    from engine.release import site_folder

    site_folder.note_compared(_ledger(desk), key, name, is_so)


def write_card(
    desk: Desk, name: str, register: str, *, epsilon: str = "", unit: str = "person", passphrase: str = ""
) -> Path:
    """Write the card with which somebody introduces themselves."""
    from engine.release import site_folder, studies

    assert desk.folder is not None
    ledger = _ledger(desk)
    holding = _register(ledger, register, epsilon, unit)
    content = studies.write_card(ledger, holding, name, passphrase or None)
    fingerprint = site_folder.fingerprint_of_card(content)
    return site_folder.put(desk.folder, site_folder.plain_name("card", name, fingerprint[:4]), content)


def write_study(
    desk: Desk,
    plan: Plan,
    name: str,
    register: str,
    holders: Sequence[str],
    *,
    rehearsal: bool = False,
    passphrase: str = "",
) -> Path:
    """Write the study of a plan and of the cards that lie in the folder.

    ``holders`` are the keys of those who add up masks; everybody else is a site.
    """
    from engine.release import signing, site_folder, studies

    assert desk.folder is not None
    ledger = _ledger(desk)
    cards = [one.member for one in site_folder.look(desk.folder).cards]
    key = signing.open_key(ledger, _register(ledger, register), passphrase or None)
    content = studies.make_study(
        plan,
        [one for one in cards if one.key not in holders],
        name,
        key,
        rehearsal=rehearsal,
        holders=[one for one in cards if one.key in holders],
    )
    return site_folder.put(
        desk.folder, site_folder.plain_name("study", site_folder.short_of(content)), content
    )


def compare_ways(desk: Desk, plan: Plan, holders: Sequence[str]) -> Any:
    """Return in a sentence which way to add noise pays among the sites whose cards are here."""
    from engine.release import site_folder, studies

    assert desk.folder is not None
    cards = site_folder.look(desk.folder).cards
    return studies.forecast_ways(plan, sum(one.member.key not in holders for one in cards)).note


def _plan_of_site(desk: Desk, standing: Standing, table: Path | None, plan: Plan | None) -> tuple[Plan, Path]:
    """Return the plan of a share: the open table with its steps, or a file that is as the study has it."""
    from engine.release import studies

    if plan is None:
        from engine.table.reading.readers import detect, read_table

        assert table is not None
        read = read_table(table, options=detect(table).options).options
        options = replace(read, date_order=read.date_order or "ymd")
        plan = Plan(files={"people": FileReference(str(table), options.to_json())})
    moved, base = beside_its_table(plan)
    whole = studies.plan_of_site(standing.files.content, standing.own_name, moved)
    return replace(whole, holding=standing.register, holding_budget=None), base


def try_share(desk: Desk, standing: Standing, table: Path | None, plan: Plan | None) -> int:
    """Return how many numbers a share has, tried on the site's own columns with invented rows."""
    from engine.release import studies

    return studies.rehearse(*_plan_of_site(desk, standing, table, plan))


def make_share(
    desk: Desk,
    standing: Standing,
    table: Path | None,
    plan: Plan | None,
    *,
    passphrase: str = "",
    language: str = "en",
    progress: Progress = SILENT,
) -> Path:
    """Pay for a share, make it, and write the file that is sent; a bundle that is there is signed again."""
    from engine.release import signing, site_folder, studies
    from engine.release.run import run

    assert desk.folder is not None and standing.files.study is not None
    ledger, opens = _ledger(desk), passphrase or None
    holding = ledger.holding(standing.register)
    key = signing.open_key(ledger, holding, opens)
    study, content = standing.files.study, standing.files.content
    site_folder.refuse_uncompared(study, SITE, key.public, site_folder.compared(ledger))
    out = standing.files.bundle(SITE, standing.own_name)
    if not standing.files.is_made(SITE, standing.own_name):
        whole, base = _plan_of_site(desk, standing, table, plan)
        made = run(
            whole,
            out=out,
            ledger=ledger,
            base=base,
            language=language,
            progress=progress,
            wants_reasons=True,  # the page asks for none: they stand in the plan
            signing_passphrase=opens,
        )
        out = made.folder  # another one where somebody else was first
    share = studies.sign_share(content, standing.own_name, out, key)
    return site_folder.put(
        desk.folder, site_folder.plain_name("share", study.short, standing.own_name), share
    )


def write_roster(desk: Desk, standing: Standing, without: Sequence[str], *, passphrase: str = "") -> Path:
    """Write what the holders are asked about: who sent a share."""
    from engine.release import signing, site_folder, studies

    assert desk.folder is not None and standing.files.study is not None
    ledger = _ledger(desk)
    key = signing.open_key(ledger, ledger.holding(standing.register), passphrase or None)
    shares = [studies.read_share(path) for path in standing.files.shares.values()]
    content = studies.write_roster(standing.files.content, shares, key, without)
    name = site_folder.plain_name("roster", standing.files.study.short)
    return site_folder.put(desk.folder, name, content)


def write_mask(desk: Desk, standing: Standing, *, passphrase: str = "") -> Path:
    """Answer a roster as a holder, once for each study."""
    from engine.release import signing, site_folder, studies

    files = standing.files
    assert desk.folder is not None and files.study is not None and files.roster is not None
    ledger = _ledger(desk)
    holding = ledger.holding(standing.register)
    own = signing.public_key(ledger, holding)
    site_folder.refuse_uncompared(files.study, HOLDER, own, site_folder.compared(ledger))
    roster = studies.content_of(files.roster)
    content = studies.write_mask(
        files.content, roster, files.roster.name, ledger, holding, passphrase or None
    )
    name = site_folder.plain_name("mask", files.study.short, standing.own_name)
    return site_folder.put(desk.folder, name, content)


def write_round(desk: Desk, standing: Standing, without: Sequence[str], *, passphrase: str = "") -> Path:
    """Write the study of the next round, with the totals of those before."""
    from engine.release import signing, site_folder, studies

    files = standing.files
    assert desk.folder is not None and files.study is not None
    ledger = _ledger(desk)
    key = signing.open_key(ledger, ledger.holding(standing.register), passphrase or None)
    shares = [studies.read_share(path) for path in files.shares.values()]
    answers = [studies.read_mask(path) for path in files.masks.values()]
    content = studies.next_round(files.content, shares, key, without, answers)
    name = site_folder.plain_name("study", site_folder.short_of(content))
    return site_folder.put(desk.folder, name, content)


def put_together(
    desk: Desk,
    standing: Standing,
    without: Sequence[str],
    *,
    passphrase: str = "",
    language: str = "en",
    progress: Progress = SILENT,
) -> Path:
    """Put the shares together to one release, and return its bundle."""
    from engine.release import studies
    from engine.release.run import run

    files = standing.files
    shares = {str(path.absolute()): path for path in files.shares.values()}
    answers = {str(path.absolute()): path for path in files.masks.values()}
    plan = studies.plan_of_result(files.content, shares, without, answers)
    bundle = run(
        replace(plan, holding=standing.register),
        out=files.bundle(COORDINATOR, ""),
        ledger=_ledger(desk),
        language=language,
        progress=progress,
        signing_passphrase=passphrase or None,
    )
    return bundle.folder


def invented_table(desk: Desk, standing: Standing) -> Path:
    """Return a table of invented people as the study declares its columns, for training."""
    from engine.release.studies import write_invented

    assert desk.ledger_path is not None
    place = desk.ledger_path.with_suffix(".csv")
    if not place.exists():
        write_invented(standing.files.content, place, PEOPLE)
    return place


def sample_study() -> Plan:
    """Return a plan that several sites can answer together, of the table that comes with the program."""
    from importlib.resources import as_file, files

    with as_file(files("resources") / "sample" / "plan.json") as path:
        plan = Plan.read(path)
    return replace(plan, parameters={"columns": ["gender"]}, candidates=())
