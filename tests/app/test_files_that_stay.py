"""Everything that stays is readable by its owner alone, file by file; what leaves is open as other files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app import log
from app.state import draft, files, purposes, settings
from app.work import marking
from engine.ledger import Ledger, default_path
from engine.release.examples import plans
from engine.release.plan import Plan, Purpose
from engine.release.run import run
from engine.views import BarsView

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
EXAMPLES = Path(__file__).parents[2] / "resources" / "examples"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Folders of the program as an earlier version left them, under a usual umask."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    before = os.umask(0o022)
    try:
        for folder in (settings.data_folder(), settings.config_folder()):
            folder.mkdir(parents=True, mode=0o755)
        yield tmp_path
    finally:
        os.umask(before)


def modes(folder):
    """Return by path the mode of everything below a folder, and of the folder."""
    found = [folder, *folder.rglob("*")]
    return {path.relative_to(folder).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in found}


def released(own, method_id, passphrase=None):
    from engine.methods.catalogue import method

    made = run(
        plans(method(method_id))[0],
        out=own / "out",
        ledger=Ledger(),
        base=EXAMPLES,
        passphrase=passphrase,
    )
    return made.folder


@pytest.mark.parametrize(
    "method_id", ["datasets.pseudonyms", "statistics.counts", "services.private_queries"]
)
@pytest.mark.parametrize("mask", [0o022, 0])
def test_of_a_bundle_only_the_release_is_open_to_others_and_nobody_else_writes(own, method_id, mask):
    os.umask(mask)
    folder = released(own, method_id)
    assert not {name: mode for name, mode in modes(folder).items() if mode & 0o022}
    stays = [part for part in ("internal", "key") if (folder / part).exists()]
    assert "internal" in stays and ("key" in stays) == (method_id == "datasets.pseudonyms")
    for part in stays:
        found = modes(folder / part)
        assert found.pop(".") == 0o700 and found and set(found.values()) == {0o600}, found
    assert {path.name for path in folder.iterdir()} == {"release", *stays}
    assert set(modes(folder / "release").values()) == {0o755, 0o644}
    assert modes(default_path().parent)["ledger.sqlite"] == 0o600
    assert modes(default_path().parent)["."] == 0o700


def test_of_what_the_window_keeps_nothing_is_open_to_others(own):
    plan = Plan.read(EXAMPLES.parent / "sample" / "plan.json")
    for one in (plan, plan.with_schema(plan.schema)):
        draft.save(one, frozenset())
    settings.Settings().set(theme="dark")
    marking.keep_last_schema(plan.schema)
    purposes.remember(Purpose(organisation="Hospital"))
    old = settings.data_folder() / "problems.log"
    old.write_text("left open by an earlier version\n")
    old.chmod(0o644)
    log.keep(KeyError("a cell"))
    for folder in (settings.data_folder(), settings.config_folder()):
        found = modes(folder)
        assert found.pop(".") == 0o700
        assert found and set(found.values()) == {0o600}, found
    assert {"draft.json", "last-schema.json", "problems.log"} <= set(modes(settings.data_folder()))


def test_a_plan_that_is_saved_may_be_passed_on(own):
    plan = Plan.read(EXAMPLES.parent / "sample" / "plan.json")
    files.save_plan(plan, own / "plan.json")
    assert stat.S_IMODE((own / "plan.json").stat().st_mode) == 0o644


@pytest.mark.parametrize("ending", ["csv", "svg"])
def test_a_picture_that_stays_is_its_owner_s_alone_also_over_an_older_file(own, ending):
    view = BarsView("Stays", ("a", "b"), (1.0, 2.0), "people")
    old = own / f"old.{ending}"
    old.write_text("")
    for path, stays, mode in (
        (own / f"in.{ending}", True, 0o600),
        (old, True, 0o600),
        (own / f"out.{ending}", False, 0o644),
    ):
        view.save(path, stays=stays)
        assert stat.S_IMODE(path.stat().st_mode) == mode and path.stat().st_size, path.name


def test_after_a_run_of_the_command_line_everything_but_the_release_is_its_owner_s_alone(own, monkeypatch):
    """Walks whatever there is, so that a new file that stays has to be closed too."""
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(own / name))
    (own / "TMPDIR").mkdir(mode=0o700)
    ledger = own / "registers" / "ledger.sqlite"
    plan = EXAMPLES.parent / "sample" / "plan.json"
    command = [
        sys.executable,
        "-m",
        "engine",
        "run",
        str(plan),
        "--out",
        str(own / "out"),
        "--without-reason",
    ]
    place = EXAMPLES.parents[1]
    subprocess.run([*command, "--ledger", str(ledger)], cwd=place, check=True, capture_output=True)
    out = own / "out"
    passed_on = {out, out / "release", *(out / "release").iterdir()}
    # folders of the user, which every program shares, and those that stood there before
    passed_on |= {own, *own.iterdir(), *(own / "data").iterdir(), *(own / "config").iterdir()}
    found = {path: stat.S_IMODE(path.stat().st_mode) for path in own.rglob("*") if path not in passed_on}
    assert {ledger, out / "internal" / "evidence.json"} <= set(found)
    assert {path.name: oct(mode) for path, mode in found.items() if mode & 0o077} == {}
