"""Every check of this computer, one after the other: what was found, never a cell."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.bounded import SUMS, read_text, sha256
from engine.computer import noise_battery
from engine.computer.silence import silent
from engine.errors import EngineError, InputRefused
from engine.ledger import Ledger, cipher, default_path
from engine.memory import physical
from engine.policy import keys_folder, without_rules
from engine.progress import SILENT, Progress
from engine.release.program import program

RIGHT, WRONG, UNKNOWN = "right", "wrong", "unknown"
FIGURES = ("sample", "figures.json")
LEAST_DISK, LEAST_MEMORY = 500 * 10**6, 2 * 10**9
SLOWEST_WRITE = 5.0  # seconds for 8 MB that have to be on the disk
WRITTEN = 8 << 20
EARLIEST = datetime(2026, 1, 1, tzinfo=UTC)
AHEAD = timedelta(hours=1)


@dataclass(frozen=True)
class Checked:
    """One check: ``id`` and ``state`` name its sentence, ``values`` fill it in."""

    id: str
    state: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text_id(self) -> str:
        """The id of its sentence; a check that finds several things says which first (``lost.wrong``)."""
        kind = self.values.get("kind", self.state)
        return f"computer.{self.id}.{kind}"


@dataclass(frozen=True)
class Report:
    """What all checks found, when and with which program."""

    made_at: str
    program: Mapping[str, Any]
    system: str
    checks: tuple[Checked, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong; what could not be told is not wrong."""
        return all(one.state != WRONG for one in self.checks)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "made_at": self.made_at,
            "program": dict(self.program),
            "system": self.system,
            "passed": self.passed,
            "checks": [{"id": one.id, "state": one.state, **one.values} for one in self.checks],
        }


def check_computer(*, ledger: Path | None = None, progress: Progress = SILENT) -> Report:
    """Check the program and this computer; nothing is charged and nothing stays.

    Parameters
    ----------
    ledger
        The ledger that is used here; without it the one of this computer's user. It need not exist yet.
    """
    place = ledger if ledger is not None else default_path()
    work: dict[str, Callable[[], Checked]] = {
        "sums": own_sums,
        "noise": noise,
        "sample": sample,
        "disk": lambda: disk(place.parent),
        "locks": lambda: locks(place.parent),
        "clock": lambda: clock(place),
        "permissions": lambda: permissions(place),
        "memory": memory,
        "fonts": fonts,
    }
    found: list[Checked] = []
    for number, (name, check) in enumerate(work.items()):
        progress.step(number / len(work), f"computer.{name}")
        found += _done(name, check)
    return Report(
        datetime.now().astimezone().isoformat(timespec="seconds"),
        program(),
        f"{platform.system()} {platform.release()} {platform.machine()}",
        tuple(found),
    )


def _done(name: str, check: Callable[[], Checked]) -> list[Checked]:
    """Do a check: one that breaks off is wrong, and names only the kind of what happened."""
    try:
        found = check()
    except EngineError as error:
        return [Checked(name, WRONG, {"kind": "refused", "code": error.code})]
    except Exception as error:
        return [Checked(name, WRONG, {"kind": "refused", "code": type(error).__name__})]
    more = found.values.get("also")
    values = {key: value for key, value in found.values.items() if key != "also"}
    return [Checked(found.id, found.state, values), *(more or ())]


# --- the program ----------------------------------------------------------------------------------------


def own_sums() -> Checked:
    """Compare the program's files with its sums: those of the packed folder, or of the installed package."""
    listed = _pack() if hasattr(sys, "frozen") else _install()
    if not listed:
        return Checked("sums", UNKNOWN)
    differ = [name for name, path, digest in listed if not path.is_file() or sha256(path) != digest]
    if differ:
        return Checked("sums", WRONG, {"count": len(differ), "first": differ[0]})
    return Checked("sums", RIGHT, {"count": len(listed)})


def _pack() -> list[tuple[str, Path, str]]:
    folder = Path(sys.executable).parent
    lines = (line.split("  ", 1) for line in read_text(folder / "SHA256SUMS", SUMS).splitlines())
    return [(name, folder / name, digest) for digest, name in lines]


def _install() -> list[tuple[str, Path, str]]:
    try:
        kept = distribution("custos").files or []
    except PackageNotFoundError:
        return []
    return [
        (str(file), Path(str(file.locate())), base64.urlsafe_b64decode(file.hash.value + "=").hex())
        for file in kept
        if file.hash is not None and file.hash.mode == "sha256"
    ]


def noise() -> Checked:
    """Draw from every law and compare with it, see `engine.computer.noise_battery`."""
    wrong = noise_battery.wrong()
    if wrong:
        return Checked("noise", WRONG, {"laws": ", ".join(wrong)})
    laws = len(noise_battery.laws())
    return Checked("noise", RIGHT, {"laws": laws, "draws": laws * noise_battery.DRAWS})


def sample() -> Checked:
    """Release the sample in a thread without a network, verify it, and compare what noise has no part in."""
    watched = silent(_figures_now)
    recorded = strict_json.loads(files("resources").joinpath(*FIGURES).read_bytes())
    differ = sorted(name for name in recorded if recorded[name] != watched.value.get(name))
    sockets = Checked("sockets", WRONG if watched.seen else RIGHT, {"count": watched.seen, "by": watched.by})
    if not watched.seen:
        sockets = Checked("sockets", RIGHT, {"kind": f"right_{watched.by}"})
    if differ:
        return Checked("sample", WRONG, {"figures": ", ".join(differ), "also": (sockets,)})
    return Checked("sample", RIGHT, {"figures": len(recorded), "also": (sockets,)})


def _figures_now() -> dict[str, Any]:
    """Return what the evidence of a fresh release of the sample says that no noise changes."""
    from engine.release.plan import Plan
    from engine.release.run import run
    from engine.release.verify import verify

    with without_rules(), _folder() as folder, as_file(files("resources") / "sample") as place:
        ledger = Ledger(folder / "ledger.sqlite")
        bundle = run(Plan.read(place / "plan.json"), out=folder / "out", ledger=ledger, base=place)
        if not verify(bundle.folder, ledger=ledger).passed:
            raise InputRefused("computer.not_verified")
        tree = json.loads((bundle.folder / "internal" / "evidence.json").read_bytes())
        return figures(tree)


def figures(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of internal evidence that are the same in every release of one plan and table."""
    inside = tree["internal"]
    expected = [[one["quantity"], one["size"], one["median"], one["limit"]] for one in tree["expected"]]
    return {
        "table": inside["input"]["sha256"],
        "rows": inside["input"]["rows"],
        "rows_used": inside["input"]["rows_used"],
        "people": inside["input"]["people"],
        "alone": inside["group_sizes"].get("alone"),
        "spent": inside["holding"]["epsilon_spent"],
        "promise": hashlib.sha256(json.dumps(tree["promise"], sort_keys=True).encode()).hexdigest(),
        "expected": json.loads(json.dumps(expected)),
    }


@contextmanager
def _folder(beside: Path | None = None) -> Iterator[Path]:
    import tempfile

    with tempfile.TemporaryDirectory(prefix=".custos-check-", dir=beside) as name:
        yield Path(name)


def fonts() -> Checked:
    """Set a line of every font of the reports."""
    from engine.report.fonts import FOLDERS, settable
    from engine.report.pdf import fonts as found
    from engine.report.theme import resource

    found()
    missing = [names[-1] for names in FOLDERS if not any(resource(*names).glob("*.[ot]tf"))]
    if missing or settable("ε δ ≤ é") != "ε δ ≤ é":
        return Checked("fonts", WRONG)
    return Checked("fonts", RIGHT)


# --- the computer ---------------------------------------------------------------------------------------


def disk(folder: Path) -> Checked:
    """Write eight megabytes to where the ledger lies, have them on the disk, and read them back."""
    place = _existing(folder)
    free = shutil.disk_usage(place).free
    content = hashlib.shake_256(b"custos").digest(1 << 16) * (WRITTEN >> 16)
    begun = time.monotonic()
    with _folder(place) as inside:
        with open(inside / secrets.token_hex(4), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        took = time.monotonic() - begun
        same = Path(file.name).read_bytes() == content
    values = {"free": round(free / 1e9, 1), "seconds": round(took, 2)}
    if not same:
        return Checked("disk", WRONG, {"kind": "differs"})
    is_right = free >= LEAST_DISK and took <= SLOWEST_WRITE
    return Checked("disk", RIGHT if is_right else WRONG, values)


def locks(folder: Path) -> Checked:
    """Take the lock of a ledger in the folder of the registers, and try to take it a second time."""
    with _folder(_existing(folder)) as inside:
        Ledger(inside / "ledger.sqlite").refuse_without_locks()
    return Checked("locks", RIGHT, {"folder": folder.name})


def clock(ledger: Path, now: datetime | None = None) -> Checked:
    """Compare the clock with the last row of the ledger."""
    moment = now or datetime.now(UTC)
    last, closed = EARLIEST, cipher.is_closed(ledger)
    if ledger.exists() and not closed:
        times = [str(event["time"]) for event in Ledger(ledger, read_only=True).journal() if "time" in event]
        last = max([EARLIEST, *(datetime.fromisoformat(one) for one in times)])
    values = {"now": moment.isoformat(timespec="seconds"), "last": last.isoformat(timespec="seconds")}
    state = WRONG if moment + AHEAD < last else UNKNOWN if closed else RIGHT
    return Checked("clock", state, values)


def permissions(ledger: Path) -> Checked:
    """Say whether others on this computer can read the ledger, its keys or their folder."""
    if sys.platform == "win32":
        return Checked("permissions", UNKNOWN)
    keys = keys_folder(ledger)
    looked = [ledger, keys, *(keys.iterdir() if keys.is_dir() else ())]
    if ledger == default_path():
        looked.append(ledger.parent)
    there = [path for path in looked if path.exists()]
    is_open = [path.name for path in there if stat.S_IMODE(path.stat().st_mode) & 0o077]
    if is_open:
        return Checked("permissions", WRONG, {"names": ", ".join(is_open)})
    return Checked("permissions", RIGHT, {"count": len(there)})


def memory() -> Checked:
    """Say how much memory there is."""
    found = physical()
    if found >= 1 << 62:
        return Checked("memory", UNKNOWN)
    return Checked("memory", RIGHT if found >= LEAST_MEMORY else WRONG, {"size": round(found / 1e9, 1)})


def _existing(folder: Path) -> Path:
    """Return a folder, or the nearest above it that there is."""
    return next((one for one in (folder.absolute(), *folder.absolute().parents) if one.is_dir()), Path())
