"""Plans, schemas and bundles from somebody who wants to mislead, to hang or to crash the program."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import engine.__main__ as command_line
from engine.errors import EngineError, InputRefused
from engine.ledger import Ledger
from engine.numbers import exact
from engine.progress import SILENT
from engine.release.check import check
from engine.release.plan import Plan
from engine.release.run import run_through
from engine.release.verify import verify
from engine.table.schema import Schema
from tests.engine.adversarial.requests import ROWS, plan_for, table
from tests.noise_source import seeded_noise

PLAN = plan_for("counts", cap=1).to_json()
pytestmark = pytest.mark.with_reports  # verifying writes each report again


def changed(*path: object, value: object) -> str:
    tree = json.loads(json.dumps(PLAN))
    place = tree
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(tree)


COLUMN = ("schemas", "people", "columns", 3)
BAD_PLANS = {
    "deep": "[" * 100_000,
    "deep inside": json.dumps(PLAN)[:-1] + ', "measures": ' + "[" * 50_000 + "]" * 50_000 + "}",
    "two budgets": json.dumps(PLAN).replace('"epsilon": 1,', '"epsilon": 0.1, "epsilon": 1,', 1),
    "half a character": changed("holding", value="\ud800"),
    "a budget that fills the memory": changed("budget", "epsilon", value="1e999999999"),
    "a budget of a billionth of a billionth": changed("budget", "epsilon", value="1e-999999999"),
    "a bound that fills the memory": changed(*COLUMN, "domain", "maximum", value="1e999999999"),
    "a step that fills the memory": changed(*COLUMN, "domain", "step", value="1E-99999"),
    "a hundred thousand group sizes": changed("declared_sizes", value=[5] * 100_000),
    "labels in a list": changed(*COLUMN, "labels", value=["x"]),
    "a number as missing codes": changed(*COLUMN, "missing", value=5),
    "an unknown origin": changed(*COLUMN, "domain_origin", value="me"),
    "a number as domain": changed(*COLUMN, "domain", value=5),
    "columns in columns": changed("parameters", "columns", value=[["sex"]]),
    "objects as columns": changed("parameters", "columns", value=[{"sex": 1}]),
    "a list as choice": changed("parameters", "extra_cells", value=["separate"]),
    "an object as noise": changed("parameters", "noise", value={}),
    "not a number": json.dumps(PLAN).replace('"epsilon": 1,', '"epsilon": NaN,', 1),
}


@pytest.mark.parametrize("name", BAD_PLANS)
def test_a_plan_from_anywhere_is_refused_in_words(name: str) -> None:
    with pytest.raises(InputRefused):
        check(Plan.loads(BAD_PLANS[name]))


@pytest.mark.parametrize(
    "tree", [{"domain": 5}, {"labels": []}, {"missing": 5}, {"domain_origin": 1}, {"role": []}]
)
def test_a_schema_from_anywhere_is_refused_in_words(tree: dict[str, object]) -> None:
    entry = {"name": "a", "domain": {"values": ["x"]}} | tree
    with pytest.raises(InputRefused, match=r"schema\.|document\."):
        Schema.loads(json.dumps({"columns": [entry]}))


def test_numbers_that_no_memory_holds_are_no_numbers() -> None:
    for written in ("1e1000", "1e-1000", "1E+999999999", "9" * 5000, "1_0e9_9_9_9"):
        with pytest.raises(ValueError, match=r"digits|as it is written"):
            exact(written)
    assert exact("1e-0300") * 10**300 == 1


def test_an_unknown_failure_says_where_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        try:
            int("Mrs Smith")
        except ValueError as error:
            raise KeyError("Mrs Smith") from error

    monkeypatch.setattr("engine.table.reading.readers.read_table", fail)
    assert command_line.main(["inspect", "people.csv"]) == command_line.REFUSED
    said = capsys.readouterr()
    assert "Smith" not in said.err + said.out and "KeyError" in said.err and "Traceback" not in said.err


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    (folder / "people.csv").write_bytes(table(ROWS))
    ledger = Ledger(folder / "ledger.sqlite")
    door = lambda spend: seeded_noise(1, on_first_draw=spend)  # noqa: E731
    run_through(plan_for("counts", cap=1), folder / "bundle", ledger, folder, "en", SILENT, door)
    return folder


def summed(part: Path) -> None:
    """Write sums that fit, as whoever changes a bundle would."""
    names = sorted(path.name for path in part.iterdir() if path.name != "SHA256SUMS" and path.is_file())
    lines = [f"{hashlib.sha256((part / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (part / "SHA256SUMS").write_text("".join(lines))


def evidence(**changes: object) -> Callable[[Path], object]:
    def change(release: Path) -> None:
        path = release / "evidence.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def twice(release: Path) -> None:
    path = release / "evidence.json"
    path.write_text(path.read_text().replace('"title":', '"title": "x", "title":', 1))


def exchanged(release: Path) -> None:
    shutil.rmtree(release)
    shutil.copytree(release.parent / "internal", release)


def linked(release: Path) -> None:
    (release / "counts.csv").rename(release.parent / "outside.csv")
    (release / "counts.csv").symlink_to(release.parent / "outside.csv")


ATTACKS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a file that no evidence names": ("not_in_evidence", lambda part: (part / "rows.csv").write_text("7")),
    "inside handed out": ("wrong_audience", exchanged),
    "audience exchanged": ("wrong_audience", evidence(audience="internal", artefacts=[])),
    "artefacts not named": ("not_in_evidence", evidence(artefacts=[])),
    "another folder": ("missing", evidence(artefacts=[{"file": "../../people.csv", "sha256": ""}])),
    "a name that cannot be": ("missing", evidence(artefacts=[{"file": "a\0b", "sha256": ""}])),
    "a name twice": ("bad_evidence", twice),
    "deep": ("bad_evidence", lambda part: (part / "evidence.json").write_text("[" * 100_000)),
    "a folder": ("not_a_file", lambda part: (part / "x.pdf").mkdir()),
    "a pipe": ("not_a_file", lambda part: os.mkfifo(part / "x.pdf")),
    "a link": ("not_a_file", linked),
    "no report": ("missing", lambda part: (part / "report-external.pdf").unlink()),
    "a head that is none": ("other_ledger", evidence(ledger={"head": 7, "entry": "here"})),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_fitting_sums_do_not_hide_a_changed_bundle(name: str, good: Path, tmp_path: Path) -> None:
    code, change = ATTACKS[name]
    shutil.copytree(good / "bundle", tmp_path / "bundle")
    release = tmp_path / "bundle" / "release"
    if name == "a head that is none":
        entry = json.loads((release / "evidence.json").read_text())["ledger"]["entry"]
        change = evidence(ledger={"head": 7, "entry": entry})
    change(release)
    summed(release)
    found = verify(tmp_path / "bundle", ledger=Ledger(good / "ledger.sqlite", read_only=True))
    assert f"bundle.{code}" in {problem.code for problem in found.problems}


@pytest.mark.parametrize("change", [b"\r\n", b"\n\n"])
def test_sums_are_read_one_way_only(change: bytes, good: Path, tmp_path: Path) -> None:
    shutil.copytree(good / "bundle", tmp_path / "bundle")
    sums = tmp_path / "bundle" / "release" / "SHA256SUMS"
    sums.write_bytes(sums.read_bytes().replace(b"\n", change))
    assert "bundle.bad_sums" in {problem.code for problem in verify(tmp_path / "bundle").problems}
    sums.write_bytes(
        b"0" * 64 + b"  counts.csv\n" + (good / "bundle" / "release" / "SHA256SUMS").read_bytes()
    )
    assert "bundle.bad_sums" in {problem.code for problem in verify(tmp_path / "bundle").problems}


def test_a_name_cannot_steer_the_terminal(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(good / "bundle", tmp_path / "bundle")
    for name in (b"\x1b[2Jpassed", b"\xff.csv"):
        (tmp_path / "bundle" / "release" / os.fsdecode(name)).touch()
    assert command_line.main(["verify", str(tmp_path / "bundle")]) == command_line.FAILED
    said = capsys.readouterr().out
    assert "\x1b" not in said and "passed" in said
    said.encode()


@pytest.mark.guarantee
def test_every_refusal_of_a_bundle_has_words(good: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError):
        verify(tmp_path)
