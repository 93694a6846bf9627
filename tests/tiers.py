"""Which tests run when: on a commit, on every change that is handed in, before a release.

``costs.json`` holds what each test took, in seconds of the processor with its own processes, where that is
more than ``NOTED``. A test that is not in it is quick, or new, and always runs. Three sets follow from it:

commit
    ``packaging/check.py``: what takes up to ``COMMIT`` seconds, and what stands for a class of guarantees at
    once. The rest of a part runs too when the part has changed since it last passed here.
all
    ``.ci/run``: what takes up to ``ALL`` seconds, and whatever stands for a class of guarantees (marked
    ``guarantee``). ``CLASSES`` are looked for in what was chosen: a set without one of them stops the run.
release
    ``packaging/check.py --before-release``: everything.

Whole runs of ``all`` and ``release`` write down what each test took; ``python tests/tiers.py`` notes it, best
after a run on a quiet computer. Of some tests ``python -m pytest --costs FILE`` does, then ``python
tests/tiers.py FILE``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where it is run as a script

from tests.examples import SCALES

ROOT = Path(__file__).resolve().parents[1]
COSTS = ROOT / "tests" / "costs.json"
STATE = ROOT / ".pytest_cache" / "parts.json"  # not committed: what passed in this checkout
TOOK = ROOT / ".pytest_cache" / "took.tsv"  # not committed: what the tests of the last whole run took
TIERS = ("commit", "all", "release")
NOTED = 0.05
COMMIT = 0.05
ALL = 0.2
INHERITED = ("runTest",)  # of a base class
UNSEEN = {"__pycache__", ".hypothesis"}

# Folders of tests -> what they are about; the folder of the tests themselves always counts. The longest
# beginning that fits is taken.
METHODS = ("engine/methods", "engine/privacy")
FAMILIES = ("datasets", "exchanges", "models", "services", "shared", "statistics")
PARTS: dict[str, tuple[str, ...]] = {
    "tests/app": ("app", "engine", "resources/texts"),
    "tests/closed_forms": ("engine/privacy", "engine/pricing"),
    "tests/engine": ("engine",),
    "tests/engine/analyses": ("engine/analyses", *METHODS),
    "tests/engine/battery": ("engine/privacy",),
    "tests/engine/evaluation": ("engine/evaluation", "engine/utility"),
    "tests/engine/ledger": ("engine/ledger",),
    "tests/engine/methods": (*METHODS, "engine/release", "resources/texts"),
    "tests/engine/methods/audit": METHODS,
    **{
        f"tests/engine/methods/{family}": (
            f"engine/methods/{family}",
            "engine/methods/shared",
            "engine/privacy",
        )
        for family in FAMILIES
    },
    "tests/engine/pricing": ("engine/pricing", "engine/privacy"),
    "tests/engine/privacy": ("engine/privacy",),
    "tests/engine/release": ("engine/release", "engine/ledger", "engine/privacy"),
    "tests/engine/report": ("engine/report", "resources/texts"),
    "tests/engine/risk": ("engine/risk",),
    "tests/engine/table": ("engine/table",),
    "tests/engine/utility": ("engine/utility",),
    "tests/packaging": ("packaging",),
    "tests/peers": (*METHODS, "engine/pricing", "engine/risk"),
    "tests/published": (*METHODS, "engine/pricing"),
}

# What every run of ``.ci/run`` has to try, by the beginnings of names of tests: one of each at least.
CONTRACT, AUDIT = "tests/engine/methods/test_contract.py", "tests/engine/methods/audit/test_audit.py"
CLASSES: dict[str, tuple[str, ...]] = {
    "contract of every method": (f"{CONTRACT}::test_examples_are_verified_bundles",),
    "true sentences": ("tests/engine/methods/test_true_sentences.py::test_nothing_is_said",),
    "audit over the catalogue": (f"{AUDIT}::test_a_method_keeps_its_promise[",),
    "sabotaged methods": (f"{AUDIT}::test_a_sabotaged_method_does_not",),
    "battery and its mutants": (
        "tests/engine/battery/test_battery.py",
        "tests/engine/battery/test_mutants.py",
    ),
    "laws of the noise": ("tests/engine/battery/test_mechanisms.py",),
    "noise audits": ("tests/engine/analyses/test_noise_audit.py",),
    "published figures": ("tests/published/test_privacy_risk_thesis",),
    "peers": ("tests/peers/",),
    "budgets kept": (
        "tests/engine/release/test_run.py::test_the_ledger_refuses_what_is_over_budget",
        "tests/engine/methods/services/test_private_queries.py::test_more_than_was_reserved_is_refused",
        "tests/engine/methods/services/test_private_queries.py::test_a_desk_with_a_delta_gives_all",
        "tests/engine/ledger/test_ledger_services.py::test_six_visitors_at_once_draw_no_more",
    ),
    "rows stay inside": ("tests/engine/release/test_run.py::test_nothing_private_is_in_the_release_folder",),
    "approvals and studies": (
        "tests/engine/release/test_seconded.py::test_an_approval_of_a_forged_request",
        "tests/engine/release/test_studies.py::test_noise_of_one_attempt",
        "tests/engine/release/test_studies.py::test_a_roster_that_isolates_a_site",
    ),
    "ledger killed": ("tests/engine/release/test_kills.py", "tests/engine/ledger/"),
    "verify": ("tests/engine/release/test_verify.py",),
    "any bytes": ("tests/engine/table/reading/test_any_bytes.py",),
    "screens through hands": ("tests/app/",),
    "rules of the tree": ("tests/test_layout.py",),
}


@cache
def costs() -> Mapping[str, float]:
    """Return what tests took that take more than ``NOTED``, by their ids."""
    tree = json.loads(COSTS.read_text(encoding="utf-8"))
    return {f"{file}::{name}": cost for file, tests in tree.items() for name, cost in tests.items()}


def cost(test: str) -> float:
    """Return what a test takes, 0 where it is quick or has never been measured."""
    return costs().get(test, 0.0)


def chosen(test: str, markers: Iterable[str], tier: str, changed: Iterable[str] = ()) -> bool:
    """Say whether a test runs.

    Parameters
    ----------
    test
        Its id.
    markers
        Names of its markers.
    tier
        One of ``TIERS``.
    changed
        Parts (of ``PARTS``) of which a commit runs all that ``all`` runs.
    """
    marked = set(markers)
    if "benchmark" in marked:
        return False
    if tier == "release":
        return True
    in_all = "before_release" not in marked and ("guarantee" in marked or cost(test) <= ALL)
    if tier == "all":
        return in_all
    if part_of(test) in changed and in_all:
        return True
    takes = cost(test) * (SCALES["commit"] if "hypothesis" in marked else 1)  # it makes fewer examples then
    return in_all and "slow" not in marked and ("at_once" in marked or takes <= COMMIT)


def never_measured(took: Iterable[tuple[str, float]]) -> list[str]:
    """Return a line about tests that run in every set, as if they were quick, and took long; often none."""
    long = [seconds for test, seconds in took if seconds > ALL and not cost(test)]
    said = f"never measured: {len(long)} tests that took {sum(long):.0f} s; python tests/tiers.py notes it"
    return [said] if long else []


def part_of(test: str) -> str:
    """Return the folder of ``PARTS`` that a test belongs to; empty where it belongs to all."""
    return max((part for part in PARTS if test.startswith(f"{part}/")), key=len, default="")


def missing_classes(tests: Iterable[str]) -> list[str]:
    """Return the classes of guarantees of which a set of tests tries nothing, or not each of its places."""
    names = list(tests)
    return [
        title
        for title, places in CLASSES.items()
        if not all(any(name.startswith(place) for name in names) for place in places)
    ]


# --- what changed ---------------------------------------------------------------------------------


def files_of(part: str) -> list[Path]:
    """Return the files that a part is made of: of the program, and its tests."""
    found = [path for folder in (*PARTS[part], part) for path in (ROOT / folder).rglob("*")]
    return sorted(path for path in set(found) if path.is_file() and not UNSEEN & set(path.parts))


def digest_of(part: str) -> str:
    """Return a digest of the content of all files of a part."""
    found = hashlib.sha256()
    for path in files_of(part):
        found.update(f"{path.relative_to(ROOT).as_posix()}\0{digest_of_file(path)}\n".encode())
    return found.hexdigest()


@cache
def digest_of_file(path: Path) -> str:
    """Return the digest of a file's content, read once a run."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def uncommitted() -> list[str]:
    """Return the files that differ from the last commit; empty where there is no git."""
    command = ["git", "-c", f"safe.directory={ROOT}", "status", "--porcelain", "--untracked-files=all", "-z"]
    try:
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    return [line[3:] if re.match(r"^[ A-Z?!]{2} ", line) else line for line in said.split("\0") if line]


def passed_before() -> dict[str, str]:
    """Return the digests of the parts at which they last passed in this checkout."""
    try:
        tree = json.loads(STATE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}


def changed_parts(now: Mapping[str, str]) -> list[str]:
    """Return the parts that are not as they last passed; of those never run here, what is not committed."""
    before, files = passed_before(), uncommitted()

    def is_touched(part: str) -> bool:
        return any(file.startswith(f"{folder}/") for file in files for folder in (*PARTS[part], part))

    return [part for part in PARTS if (before[part] != now[part] if part in before else is_touched(part))]


def keep(now: Mapping[str, str]) -> None:
    """Keep the digests of parts that passed."""
    STATE.parent.mkdir(exist_ok=True)
    aside = STATE.with_suffix(".aside")
    aside.write_text(json.dumps(passed_before() | dict(now), indent=1), encoding="utf-8")
    aside.replace(STATE)


# --- measuring ------------------------------------------------------------------------------------

_of_all = [0.0]  # seconds of the processor that no single test took


def spent() -> float:
    """Return the seconds of the processor that tests took in this process, with what they started."""
    return sum(os.times()[:4]) - _of_all[0]


@contextmanager
def made_for_all() -> Iterator[None]:
    """Count what is made here for no test: every set of tests needs it, whichever test asks for it first."""
    before = spent()
    try:
        yield
    finally:
        _of_all[0] += spent() - before


def write_costs(measured: Iterable[tuple[str, float]]) -> None:
    """Write ``costs.json`` from what was measured; what was not measured again stays, while its file does."""
    tree: dict[str, dict[str, float]] = {}
    for test, seconds in (costs() if COSTS.exists() else {}).items():
        file, _, name = test.partition("::")
        tree.setdefault(file, {})[name] = seconds
    for test, seconds in measured:
        file, _, name = test.partition("::")
        tree.setdefault(file, {}).pop(name, None)
        if seconds > NOTED:
            tree[file][name] = round(seconds, 2)
    kept = {file: still_there(file, tests) for file, tests in sorted(tree.items())}
    kept = {file: tests for file, tests in kept.items() if tests}
    COSTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def still_there(file: str, tests: Mapping[str, float]) -> dict[str, float]:
    """Return what was measured of tests that their file still has, in the order of their names."""
    source = (ROOT / file).read_text(encoding="utf-8") if (ROOT / file).exists() else ""
    named = {name: name.partition("[")[0].rpartition("::")[2] for name in tests}
    return {name: tests[name] for name in sorted(tests) if named[name] in INHERITED or named[name] in source}


def read_measured(path: Path) -> list[tuple[str, float]]:
    """Return what ``--costs`` wrote: an id and seconds a line."""
    lines: list[Any] = [line.rsplit("\t", 1) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(test, float(seconds)) for test, seconds in lines]


if __name__ == "__main__":
    write_costs(pair for name in sys.argv[1:] or [TOOK] for pair in read_measured(Path(name)))
