"""What all tests share: which of them run, how many examples hypothesis makes, what they took.

``--tier`` chooses among all tests (``tests/tiers.py``); without it, everything that is asked for runs.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from importlib import import_module
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings

from tests import tiers
from tests.noise_source import same_noise
from tests.paper import empty_page

RUN = pytest.StashKey[str]()
NOW = pytest.StashKey[dict[str, str]]()
FOUND_OUT = ("changed", "costs")  # options that are found out where workers are started, and told to them
_COMPUTERS = count()
LEFT_OUT = "left_out"  # what a worker tells of the tests that it did not choose: their number and seconds

# Examples are the same in every run: what fails, fails again. Tests say how many with `tests.examples.many`.
settings.register_profile("custos", derandomize=True, database=None, deadline=None)
settings.load_profile("custos")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what chooses and measures tests."""
    group = parser.getgroup("custos")
    group.addoption("--tier", choices=tiers.TIERS, help="which tests run (tests/tiers.py)")
    group.addoption(
        "--changed", default=None, help="parts that count as changed, with commas; else found out"
    )
    group.addoption("--costs", default=None, help="file to which the seconds of each test are added")


def pytest_configure(config: pytest.Config) -> None:
    """Find out once, before workers start, what has changed since it last passed.

    No test remembers a ledger in the folder of whoever runs the tests, or reads or writes one there.
    """
    home = TemporaryDirectory(prefix="custos-state-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    os.environ["XDG_STATE_HOME"] = home.name
    # Below a file no folder can be made: a test that enters anything in the ledger of whoever runs it fails.
    nowhere = Path(home.name) / "no_folder"
    nowhere.touch()
    os.environ["XDG_DATA_HOME"] = str(nowhere)
    if hasattr(config, "workerinput"):  # workers get the words of the command line, not what became of them
        for name in FOUND_OUT:
            setattr(config.option, name, config.workerinput[name])
        return
    if config.option.tier and config.option.changed is None:
        config.stash[NOW] = {part: tiers.digest_of(part) for part in tiers.PARTS}
        config.option.changed = ",".join(tiers.changed_parts(config.stash[NOW]))
    # A commit makes fewer examples: what its tests take is not what they take elsewhere.
    if config.option.tier in ("all", "release") and config.option.costs is None and is_whole(config):
        tiers.TOOK.parent.mkdir(exist_ok=True)
        tiers.TOOK.write_text("", encoding="utf-8")
        config.option.costs = str(tiers.TOOK)


def is_whole(config: pytest.Config) -> bool:
    """Say whether all tests are asked for, of which a tier chooses, and not some by name."""
    return config.args == [str(path) for path in config.getini("testpaths")]


@pytest.fixture(autouse=True)
def _computer_of_its_own() -> Iterator[None]:
    """Let no test remember ledgers of another one: a copy would be older than the next one."""
    before = os.environ["XDG_STATE_HOME"]
    os.environ["XDG_STATE_HOME"] = f"{before}/{next(_COMPUTERS)}"
    yield
    os.environ["XDG_STATE_HOME"] = before


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have each worker compile another share of the tests first, so that none compiles all of them.

    Listing the tests compiles their files with what explains a failed ``assert``, which takes longer than
    all imports; what one worker has written down is there for the others when they come to it.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or not is_whole(session.config) or sys.dont_write_bytecode:
        return
    files = sorted((tiers.ROOT / "tests").rglob("test_*.py"))
    first = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    last = first + len(files) // worker["workercount"]
    for file in files[first:last]:
        with suppress(Exception):  # what cannot be imported is said when it is listed
            import_module(".".join(file.relative_to(tiers.ROOT).with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """List the tests without looking for garbage, and never look through what was listed again.

    Fourteen thousand tests and all modules stay to the end; looking takes a third of the listing.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the tier leaves out; refuse a whole set in which a class of guarantees is missing."""
    tier = config.option.tier
    if not tier:
        return
    changed = [part for part in (config.option.changed or "").split(",") if part]
    kept, left = [], []
    for item in items:
        marked = [marker.name for marker in item.iter_markers()]
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            marked.append("hypothesis")
        (kept if tiers.chosen(item.nodeid, marked, tier, changed) else left).append(item)
    if (
        is_whole(config)
        and tier != "commit"
        and (missing := tiers.missing_classes(item.nodeid for item in kept))
    ):
        raise pytest.UsageError(f"no test is chosen of: {', '.join(missing)} (tests/tiers.py)")
    items[:] = kept
    config.hook.pytest_deselected(items=left)
    counted = [item.nodeid for item in left if item.get_closest_marker("benchmark") is None]
    told = [len(counted), round(sum(map(tiers.cost, counted)))]
    getattr(config, "workeroutput", config.stash.setdefault(TOLD, {}))[LEFT_OUT] = told


TOLD = pytest.StashKey[dict[str, Any]]()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear from a worker what it left out; all leave out the same."""
    told = getattr(node, "workeroutput", {})
    if LEFT_OUT in told:
        node.config.stash.setdefault(TOLD, {})[LEFT_OUT] = told[LEFT_OUT]


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """Say what was left out, and keep what passed."""
    tier = config.option.tier
    if not tier:
        return
    count, seconds = config.stash.get(TOLD, {}).get(LEFT_OUT, (0, 0))
    changed = (config.option.changed or "").replace(",", ", ")
    if tier == "commit":
        terminalreporter.write_line(f"changed since it last passed, so tried longer: {changed or 'nothing'}")
    if count:
        more = {"commit": ".ci/run runs more of them, packaging/check.py --before-release all"}
        hint = more.get(tier, "packaging/check.py --before-release runs them")
        terminalreporter.write_line(f"left out: {count} tests that take {seconds} s in all; {hint}")
    passed = [one for one in terminalreporter.getreports("passed") if one.when == "call"]
    for line in tiers.never_measured((one.nodeid, one.duration) for one in passed):
        terminalreporter.write_line(line)
    if (
        is_whole(config)
        and NOW in config.stash
        and exitstatus == pytest.ExitCode.OK
        and not config.option.keyword
    ):
        tiers.keep(config.stash[NOW])


# --- each test ------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Typeset reports where a test looks at one, and write down what it took, with what it started.

    What a report says stands in the HTML as well, which is always written; only for tests that are marked
    ``with_reports``, and for what is first made for them, it is made a PDF.
    """
    from engine.report import pdf

    before, looked_at = (
        tiers.spent(),
        {"with_reports", "benchmark"} & {mark.name for mark in item.iter_markers()},
    )
    with nullcontext() if looked_at else patch.object(pdf, "render", empty_page), same_noise(item.nodeid):
        done = yield
    if item.config.option.costs:
        with open(item.config.option.costs, "a", encoding="utf-8") as file:
            file.write(f"{item.nodeid}\t{tiers.spent() - before:.3f}\n")
    return done


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Make what several tests share from its own draws, whichever of them asks for it first."""
    shared = fixturedef.scope != "function"
    with same_noise(f"{fixturedef.baseid} {fixturedef.argname}") if shared else nullcontext():
        return (yield)


# --- worked examples ------------------------------------------------------------------------------


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Remember the name of a run that has workers, and tell each what was found out where it is started."""
    node.config.stash[RUN] = node.workerinput["testrunuid"]
    node.workerinput.update({name: getattr(node.config.option, name) for name in FOUND_OUT})


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take the examples away when all workers are done."""
    if RUN in config.stash:
        shutil.rmtree(Path(gettempdir()) / f"custos-examples-{config.stash[RUN]}", ignore_errors=True)
