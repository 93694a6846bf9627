"""Making a release and asking about releases that were made. Orders engine calls; computes nothing itself."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.bounded import EVIDENCE, SUMS, read_bytes, read_text
from engine.errors import Cancelled, EngineError, InputRefused
from engine.ledger import Ledger, default_path, is_there
from engine.ledger.fields import write_at_most
from engine.progress import SILENT, Progress
from engine.release.plan import FileReference, Plan

FIRST = 7  # lines of a table that leaves
NOTHING, RESERVED, SPENT = "", "reserved", "spent"

PROGRAM = Path(__file__).resolve().parents[2]


class Watch:
    """What the interface may look at while a release runs: whether budget is reserved, or spent for good.

    ``is_there`` says whether the bundle has got its name, whether or not its entry could be closed.
    """

    def __init__(self) -> None:
        self.entry = ""
        self.state = NOTHING
        self.is_there = False


class WatchedLedger(Ledger):
    """The ledger, which also tells the watch at the very moment when an entry is reserved or spent.

    ``said_left`` is what stood on the screen as left of the register when somebody agreed to spend of it.
    """

    watch: Watch
    said_left: Fraction | None = None

    def reserve(self, *args: Any, **kwargs: Any) -> str:
        """Reserve, and tell; not where less is left by now than whoever agreed to it was told.

        Raises
        ------
        InputRefused
            ``run.less_left``.
        """
        if self.said_left is not None and kwargs.get("epsilon") is not None:
            status = self.status(args[0], kwargs["compose"])
            left = status.epsilon_left
            if left is not None and left < self.said_left:
                told = {"left": write_at_most(left), "said": write_at_most(self.said_left)}
                raise InputRefused("run.less_left", holding=status.holding.name, **told)
        entry = super().reserve(*args, **kwargs)
        self.watch.entry, self.watch.state = entry, RESERVED
        return entry

    def approve(self, entry: str, *args: Any, **kwargs: Any) -> None:
        """Go on with what was prepared, and tell."""
        super().approve(entry, *args, **kwargs)
        self.watch.entry, self.watch.state = entry, RESERVED

    def spend(self, entry: str) -> None:
        """Spend, and tell, before the first noise is drawn."""
        super().spend(entry)
        self.watch.state = SPENT

    def free(self, entry: str, reason: str = "") -> None:
        """Give back, and tell."""
        super().free(entry, reason)
        self._ends(entry, "freed")

    def fail(self, entry: str, reason: str = "") -> None:
        """Close what came to no bundle, and tell."""
        super().fail(entry, reason)
        self._ends(entry, "failed")

    def complete(self, entry: str, **sums: Any) -> None:
        """Close an entry, and tell: whoever does it has put the bundle in its place before."""
        if entry == self.watch.entry:
            self.watch.is_there = True
        super().complete(entry, **sums)
        self._ends(entry, "complete")

    def _ends(self, entry: str, state: str) -> None:
        if entry == self.watch.entry:  # not one that a process which is gone has left
            self.watch.state = state


@dataclass(frozen=True)
class Outcome:
    """How a release ended. ``state`` is what the ledger says of its entry, "" where there is none.

    An ``error`` beside a ``bundle`` says why what stays of it is not encrypted yet, as was asked for.
    ``is_there`` says that there is a bundle although none is told of: its entry could not be closed.
    ``came`` says how many of its numbers say nothing, by the rule that judged the plan; ``foreseen`` is what
    that rule said of the plan itself.
    """

    bundle: Any = None
    state: str = NOTHING
    error: EngineError | None = None
    stopped: bool = False
    is_there: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)
    came: tuple[Any, ...] = ()
    foreseen: Any = None

    @property
    def ending(self) -> str:
        """How it ended without a release to show: ``"not_entered"``, ``"stopped"`` or ``"failed"``."""
        return "not_entered" if self.is_there else "stopped" if self.stopped else "failed"

    @property
    def kept(self) -> str:
        """What it leaves: ``"is_there"``, ``"stays_spent"``, ``"stays_reserved"`` or ``"freed"``."""
        if self.is_there or self.state == RESERVED:  # reserved still: its entry could not be closed
            return "is_there" if self.is_there else "stays_reserved"
        return "stays_spent" if self.state in (SPENT, "failed", "complete") else "freed"


def release(
    plan: Plan,
    out: Path,
    *,
    watch: Watch,
    ledger_path: Path | None = None,
    language: str = "en",
    passphrase: str = "",
    earlier_key: Path | None = None,
    known: tuple[Path, ...] = (),
    signing: str = "",
    approval: Path | None = None,
    sealing: str = "",
    seen: Mapping[str, str] | None = None,
    password: str | None = None,
    asked: Sequence[Mapping[str, Any]] = (),
    said_left: Fraction | None = None,
    progress: Progress = SILENT,
) -> Outcome:
    """Make a release; whatever happens, say what the ledger has kept of it.

    The passphrase locks the key of a method that keeps one; it is handed on and kept nowhere. ``known`` are
    folders of earlier releases, for a method whose releases could be subtracted from each other. ``signing``
    opens a locked signing key, ``approval`` is the file by which a second person approved the release, and
    ``sealing`` opens the key that encrypts what stays, once it has been looked at here. ``seen`` are digests
    of files when they were looked at, by path. ``password`` and ``asked``: of a server, as for `run`.
    ``said_left``: see `WatchedLedger`.
    """
    from engine.release import sealing as seals
    from engine.release.run import run

    ledger = WatchedLedger(ledger_path)
    ledger.watch, ledger.said_left = watch, said_left
    moved, base = beside_its_table(plan)
    try:
        more: dict[str, Any] = {"passphrase": passphrase} if passphrase else {}
        more |= {"known": known} if known else {}
        more |= {"signing_passphrase": signing} if signing else {}
        if approval is not None:
            from engine.release.seconded import read_carried

            more["approval"] = read_carried(approval)
        looked = {name: (seen or {}).get(file.path) for name, file in plan.files.items()}
        more["seen"] = {moved.files[name].path: digest for name, digest in looked.items() if digest}
        if earlier_key is not None:
            more["earlier_key"] = key_file(earlier_key)
        sealer = seals.opened(ledger, sealing) if sealing else None
        more |= {"seals": True} if sealer is not None else {}
        more |= {"password": password, "asked": asked} if password is not None else {}
        made = run(moved, out=out, ledger=ledger, base=base, language=language, progress=progress, **more)
    except Cancelled:
        return Outcome(state=_state(ledger, watch), stopped=True)
    except EngineError as error:
        return Outcome(state=_state(ledger, watch), error=error, is_there=watch.is_there)
    outcome = _judge(Outcome(made, _state(ledger, watch), facts=facts(made.folder)), plan)
    try:
        if sealer is not None:
            seals.seal(made.folder, sealer)
    except EngineError as error:  # made and counted all the same
        return replace(outcome, error=error)
    return outcome


def _judge(outcome: Outcome, plan: Plan) -> Outcome:
    """Return how a release ended with what can be read in it, and what was foreseen of that."""
    from engine.release.verdict import came, verdict_on_release

    return replace(outcome, came=came(plan, outcome.bundle.views), foreseen=verdict_on_release(plan))


def key_file(path: Path) -> bytes:
    """Return the content of the key file of an earlier release."""
    try:
        return read_bytes(path, SUMS)
    except OSError as error:
        raise InputRefused("keys.damaged", file=path.name) from error


def beside_its_table(plan: Plan) -> tuple[Plan, Path]:
    """Return the plan with paths relative to the folder of its first table, and that folder."""
    base = _home(plan)
    files = {}
    for name, file in plan.files.items():
        place = Path(file.path).absolute()
        inside = place.is_relative_to(base)
        files[name] = FileReference(
            place.relative_to(base).as_posix() if inside else str(place), file.options
        )
    return replace(plan, files=files), base


def _home(plan: Plan) -> Path:
    """Return the folder of the first table; the person's own where none is read."""
    first = next(iter(plan.files.values()), None)
    return Path.home() if first is None else Path(first.path).absolute().parent


def _state(ledger: Ledger, watch: Watch) -> str:
    """Return what the ledger says of the entry; what it said last where it cannot be asked any more."""
    if not watch.entry:
        return NOTHING
    try:
        return ledger.entry(watch.entry).state
    except EngineError:
        return watch.state


def proposed_folder(plan: Plan, today: date) -> Path:
    """Return a folder for the bundle that does not exist yet: beside the table, named by title and day.

    A table that lies inside a release is left with it: the folder goes beside that release. The sample lies
    inside the program, and the file that names a server in the program's own folder; no folder of a person
    belongs there: it goes to their home folder.
    """
    from engine.release.bundle import bundle_around

    base = _home(plan)
    if (around := bundle_around(base / "release")) is not None:
        base = around.parent
    on_server = any(one.names_server for one in plan.files.values())
    if not os.access(base, os.W_OK) or base.is_relative_to(PROGRAM) or on_server:
        base = Path.home()
    name = re.sub(r"[^\w]+", "-", plan.purpose.title.strip().lower()).strip("-")[:60] or "release"
    for number in range(1, 1000):
        end = "" if number == 1 else f"-{number}"
        place = base / f"{name}-{today.isoformat()}{end}"
        if not place.exists():
            return place
    return base / f"{name}-{today.isoformat()}"


def facts(folder: Path) -> dict[str, Any]:
    """Return what the evidence of a bundle says: statement, group sizes before, files with their hashes."""
    import json

    public = json.loads(read_text(folder / "release" / "evidence.json", EVIDENCE))
    place = folder / "internal" / "evidence.json"
    internal = json.loads(read_text(place, EVIDENCE)).get("internal", {}) if place.is_file() else {}
    return {
        "public": public,
        "internal": internal,
        "files": files(folder),
        "first": first_lines(folder, public),
    }


def first_lines(folder: Path, public: Mapping[str, Any]) -> tuple[tuple[str, list[list[str]], int], ...]:
    """Return name, first lines with the headings, and number of lines of the tables that leave row by row."""
    if public["method"]["family"] not in ("dataset", "service"):
        return ()
    import csv
    from itertools import islice

    found = []
    for artefact in public["artefacts"]:
        place = folder / "release" / artefact["file"]
        if place.suffix == ".csv":
            with place.open(encoding="utf-8", newline="") as lines:
                found.append(
                    (place.name, list(islice(csv.reader(lines), FIRST + 1)), artefact.get("rows", 0))
                )
    return tuple(found)


def files(folder: Path) -> dict[str, list[tuple[str, int, str]]]:
    """Return name, size in bytes and SHA-256 of the files of each folder, as its sums say."""
    found: dict[str, list[tuple[str, int, str]]] = {}
    for part in ("release", "internal"):
        sums = folder / part / "SHA256SUMS"
        if not sums.is_file():
            continue
        lines = [line.split("  ", 1) for line in read_text(sums, SUMS).splitlines()]
        found[part] = [
            (name, (folder / part / name).stat().st_size if (folder / part / name).is_file() else 0, digest)
            for digest, name in lines
        ]
    return found


def example(
    method_id: str, out: Path, *, language: str = "en", progress: Progress = SILENT
) -> tuple[Path, list[tuple[str, int, str]]]:
    """Make the first worked example of a method and return its bundle and what is in it for a recipient.

    Over a table that comes with the program, with a ledger of its own: nothing is charged.
    """
    from engine.methods.catalogue import method
    from engine.release.examples import run_examples

    ran = run_examples(method(method_id), out=out, language=language, progress=progress)
    folder = ran[0].bundle.folder
    return folder, files(folder)["release"]


def is_sealed(folder: Path) -> bool:
    """Say whether what stays of a bundle is encrypted."""
    from engine.release import sealing

    return sealing.is_sealed(folder)


def seal_what_stays(
    folder: Path, secret: str, *, code: Path | None = None, ledger_path: Path | None = None
) -> None:
    """Encrypt what stays of a bundle; the first time write the recovery code where it is to be printed."""
    from engine.release import sealing

    ledger = Ledger(ledger_path)
    if code is None:
        sealer = sealing.opened(ledger, secret)
    else:
        sealer = sealing.set_up(ledger, secret, lambda found: sealing.write_code(code, found))
    sealing.seal(folder, sealer)


def open_what_stays(
    folder: Path, secret: str, *, code: Path | None = None, ledger_path: Path | None = None
) -> None:
    """Open what stays of a bundle with the passphrase or the recovery code."""
    from engine.release import sealing

    place = ledger_path if ledger_path is not None else default_path()
    sealing.unseal(folder, secret, ledger=Ledger(place, read_only=True) if place.is_file() else None)


def check_bundle(
    folder: Path, *, ledger_path: Path | None = None, fingerprints: Mapping[str, str] | None = None
) -> Any:
    """Verify a bundle, with the ledger where there is one, and with keys that somebody knows."""
    from engine.release.verify import verify

    place = ledger_path if ledger_path is not None else default_path()
    ledger = Ledger(place, read_only=True) if place.exists() else None
    return verify(folder, ledger=ledger, fingerprints=fingerprints)


def answer_register(
    holding: str, answers: Mapping[str, str], *, ledger_path: Path | None = None
) -> dict[str, Any]:
    """Keep answers for the officers' papers of a register, and return the listing."""
    Ledger(ledger_path).answer(holding, answers)
    return listing(ledger_path)


def pack(folder: Path, file: Path) -> str:
    """Write what leaves of a bundle as one file and return its name."""
    from engine.release.one_file import pack_release

    return pack_release(folder, file).name


def write_beside(
    what: str, folder: Path, place: Path, *, ledger_path: Path | None = None, language: str = "en"
) -> tuple[Path, int]:
    """Write the ``papers`` of a bundle, or the bundle for an ``auditor``, into a new folder at a place.

    Returns
    -------
    tuple
        The folder, and how many files are in it.
    """
    from engine.release.auditor import write_auditor
    from engine.release.papers import write_papers

    path = ledger_path if ledger_path is not None else default_path()
    ledger = Ledger(path, read_only=True) if path.exists() else None
    names = (f"{folder.name}-{what}{end}" for end in ("", *(f"-{n}" for n in range(2, 1000))))
    out = next(place / name for name in names if not (place / name).exists())
    write = write_papers if what == "papers" else write_auditor
    write(folder, out, ledger=ledger, language=language)
    return out, sum(one.is_file() for one in out.rglob("*"))


def work_on_key(
    holding: str, what: str, said: Mapping[str, Any], folder: Path, *, ledger_path: Path | None = None
) -> dict[str, Any]:
    """Write the sheets of a signing key, lock it or make another one, and return the listing."""
    from engine.release import sheets, signing

    ledger = Ledger(ledger_path)
    register = next(one for one in ledger.holdings() if one.id == holding)
    opens = said["opens"] or None
    if what == "sheets":
        key = signing.open_key(ledger, register, opens)
        sheets.write_sheets(key, register.name, folder)
    elif what == "lock":
        signing.lock(ledger, register, passphrase=opens, new=said["locks"] or None)
    else:
        signing.renew(
            ledger, register, reason=said["reason"], passphrase=opens, is_lost=bool(said["is_lost"])
        )
    return listing(ledger_path)


def _with_keys(tree: dict[str, Any], ledger: Ledger) -> dict[str, Any]:
    """Add to every register what is known of its signing key; a damaged file counts as none."""
    from engine.release import seconded, signing
    from engine.release.signature import in_groups

    for register in ledger.holdings():
        known: dict[str, Any] = {"fingerprint": "", "there": False, "locked": False}
        with suppress(EngineError):
            known = signing.state(ledger, register)
        for one in tree["holdings"]:
            if one["id"] == register.id:
                one["signing"] = known | {"grouped": in_groups(known["fingerprint"])}
                one["staff"] = seconded.staff_json(ledger, register)
                one["answers"] = ledger.answers(register.id)
    return tree


def listing(ledger_path: Path | None = None) -> dict[str, Any]:
    """Return every register with its releases as the ledger tells them; empty where there is no ledger.

    What a killed run left is taken away by the way: whoever looks at the releases sees how it ended.
    """
    place = ledger_path if ledger_path is not None else default_path()
    if not is_there(place):
        return {"holdings": []}
    from engine.release.charge import make_composer
    from engine.release.working import sweep

    with suppress(EngineError):  # a ledger that cannot be written can still be looked at
        sweep(Ledger(place))
    ledger = Ledger(place, read_only=True)
    return _with_keys(ledger.to_json({one.id: make_composer(one) for one in ledger.holdings()}), ledger)


def withdraw(entry: str, reason: str, *, ledger_path: Path | None = None) -> dict[str, Any]:
    """Mark a release as withdrawn and return the listing; nothing is refunded."""
    Ledger(ledger_path).withdraw(entry, reason)
    return listing(ledger_path)


def resolve(entry: str, reason: str, *, ledger_path: Path | None = None) -> dict[str, Any]:
    """Say what became of an abandoned entry and return the listing."""
    Ledger(ledger_path).resolve(entry, reason)
    return listing(ledger_path)


def behind(
    folder: Path,
    *,
    table: Path,
    pseudonym: str,
    reason: str,
    passphrase: str = "",
    ledger_path: Path | None = None,
    progress: Progress = SILENT,
) -> str:
    """Return the number of the person behind a pseudonym; that it was asked stays in the ledger."""
    from engine.release.pseudonyms import reidentify_person

    return reidentify_person(
        folder,
        table=table,
        pseudonym=pseudonym,
        reason=reason,
        ledger=Ledger(ledger_path),
        passphrase=passphrase or None,
        progress=progress,
    )


def change_budget(
    holding: str, amounts: Mapping[str, Any], reason: str, *, ledger_path: Path | None = None
) -> dict[str, Any]:
    """Change the budget of a register, journalled with its reason, and return the listing."""
    from engine.release.charge import make_composer

    Ledger(ledger_path).change_budget(holding, reason, accountant=make_composer, **amounts)
    return listing(ledger_path)


def plan_of(folder: Path) -> Plan:
    """Return the plan of a bundle, for another release from a new export: without its file.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``: the internal evidence is not there.
    """
    plan, _ = _read_kept(folder)
    return replace(plan, decisions=())


def reopen(folder: Path) -> tuple[Plan, Outcome]:
    """Return a release of an earlier day as it ended, with the plan that made it, from its bundle alone.

    Raises
    ------
    InputRefused
        ``bundle.no_bundle``: the folder holds no bundle of this version.
    """
    from engine.errors import InputRefused
    from engine.evidence import read_internal, read_public
    from engine.release.bundle import Bundle

    plan, tree = _read_kept(folder)
    try:
        public, inside = read_public(tree), read_internal(tree)
        made = Bundle(folder, str(public.ledger["entry"]), "", "", public.views, inside.views)
        return plan, _judge(Outcome(made, "complete", facts=facts(folder)), plan)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputRefused("bundle.no_bundle", folder=folder.name, file="release/evidence.json") from error


def _read_kept(folder: Path) -> tuple[Plan, dict[str, Any]]:
    """Return the plan of a bundle without its file, and the internal evidence that holds it."""
    import json

    from engine.errors import InputRefused

    place = folder / "internal" / "evidence.json"
    if is_sealed(folder):
        raise InputRefused("sealing.is_sealed", folder=folder.name)
    try:
        tree = strict_json.loads(read_text(place, EVIDENCE))
        plan = Plan.loads(json.dumps(tree["internal"]["plan"]), file=place.name)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputRefused("bundle.no_bundle", folder=folder.name, file="internal/evidence.json") from error
    return replace(plan, files={}), tree
