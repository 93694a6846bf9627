"""A bundle with one byte changed is found out, file by file."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from engine import texts
from engine.__main__ import main
from engine.errors import InputRefused
from engine.evidence import dumps
from engine.ledger import Ledger, journal
from engine.ledger.fields import write_canonical
from engine.release.bundle import Bundle
from engine.release.charge import make_composer
from engine.release.readme import describe_files, fingerprint
from engine.release.verify import verify
from engine.report.embedded import embedded_evidence
from tests.engine.release.conftest import Runner, forge_sums
from tests.ratios import TIMED, slack

FILES = (
    "release/counts.csv",
    "release/data-dictionary.json",
    "release/datapackage.json",
    "release/read.R",
    "release/read.py",
    "release/evidence.json",
    "release/report-external.pdf",
    "release/report-external.html",
    "release/README.txt",
    "release/verify.html",
    "release/SHA256SUMS",
    "internal/evidence.json",
    "internal/report-internal.pdf",
    "internal/report-internal.html",
    "internal/SHA256SUMS",
)


pytestmark = pytest.mark.with_reports  # verifying writes each report again


@pytest.fixture
def ledger(made: Bundle, folder: Path) -> Ledger:
    return Ledger(folder / "ledger.sqlite")


def test_an_untouched_bundle_passes(made: Bundle, ledger: Ledger) -> None:
    found = verify(made.folder, ledger=ledger)
    assert found.passed, found.problems
    assert found.chain_checked
    assert not verify(made.folder).chain_checked


@pytest.mark.guarantee
def test_the_recipient_can_verify_the_release_alone(made: Bundle, ledger: Ledger, tmp_path: Path) -> None:
    alone = tmp_path / "received"
    shutil.copytree(made.folder / "release", alone)
    assert verify(alone).passed
    assert verify(alone, ledger=ledger).passed


@pytest.mark.parametrize(
    "shares",
    [
        pytest.param(((0, 1, 2),), id="one each", marks=pytest.mark.guarantee),
        pytest.param(((0,), (1,), (2,)), id="all", marks=pytest.mark.before_release),
    ],
)
def test_one_changed_byte_names_the_file_and_exits_1(
    shares: tuple[tuple[int, ...], ...], made: Bundle, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its first, middle or last byte, in turn; all three of every file before a release."""
    for number, file in enumerate(FILES):
        content = (made.folder / file).read_bytes()
        for share in shares:
            place = (0, len(content) // 2, len(content) - 1)[share[number % len(share)]]
            changed = bytearray(content)
            changed[place] ^= 1
            (made.folder / file).write_bytes(bytes(changed))
            assert main(["verify", str(made.folder)]) == 1, (file, place)
            written = capsys.readouterr().out
            assert Path(file).name in written, (file, place, written)
        (made.folder / file).write_bytes(content)
    assert main(["verify", str(made.folder)]) == 0


@pytest.mark.guarantee
def test_a_file_added_or_taken_away_is_named(made: Bundle) -> None:
    extra = made.folder / "release" / "patients.csv"
    extra.write_text("a,b\n")

    def named() -> list[tuple[str, str]]:
        return [(problem.code, problem.values["file"]) for problem in verify(made.folder).problems]

    assert named() == [("bundle.not_recorded", "release/patients.csv")]
    forge_sums(made.folder / "release")  # the sums fit then; the evidence does not know it
    assert named() == [("bundle.not_in_evidence", "release/patients.csv")]
    extra.unlink()
    forge_sums(made.folder / "release")
    (made.folder / "release" / "README.txt").unlink()
    assert named() == [("bundle.missing", "release/README.txt")]


@pytest.mark.guarantee
def test_what_stays_has_no_signature_of_the_register(made: Bundle, ledger: Ledger) -> None:
    """Nothing looks at one there: under its name anything could be laid beside what was recorded."""
    (made.folder / "internal" / "signature.json").write_text('{"risk": "none"}\n')
    problems = verify(made.folder, ledger=ledger).problems
    assert [(one.code, one.values["file"]) for one in problems] == [
        ("bundle.not_in_evidence", "internal/signature.json")
    ]


@pytest.mark.guarantee
@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": "1/1000"},
        {"epsilon": None, "delta": None, "loss": "none"},
        {"epsilon": None, "delta": None, "loss": "unbounded"},
    ],
)
def test_a_release_that_says_a_larger_loss_than_its_entry_spent_is_named(
    made: Bundle, ledger: Ledger, changes: dict[str, str | None]
) -> None:
    """Whoever enters a small release and hands over a large one has the sums of the large one recorded."""
    assert verify(made.folder, ledger=ledger).passed
    with ledger._transaction(write=True) as db:
        journal.change(db, "note", "entry", made.entry, changes)
    found = [(one.code, one.values["file"]) for one in verify(made.folder, ledger=ledger).problems]
    assert ("bundle.entry_differs", "release/evidence.json") in found


@pytest.mark.parametrize(
    "events",
    [
        {"sequential": []},
        {"parallel": []},
        {"mechanism": "stated", "theorem": "x", "level": "1/1000", "failure": "0", "count": 1},
        {"mechanism": "discrete_laplace", "scale": "200", "sensitivity": "1", "grid": "1", "count": 1},
        {"mechanism": "discrete_gaussian", "scale": "900", "sensitivity": "1", "grid": "1", "count": 1},
    ],
)
def test_an_entry_costs_what_it_states_and_is_named_where_its_events_are_not_those_of_the_release(
    made: Bundle, ledger: Ledger, events: dict[str, object]
) -> None:
    """Totals are composed of events: an entry of the right ε whose events cost nothing spent nothing."""
    is_pure = events.get("mechanism") != "discrete_gaussian"
    guarantee = {**ledger.entry(made.entry).guarantee, "events": events}
    guarantee |= {} if is_pure else {"kind": "approximate_dp", "delta": "1/1000000"}
    accountant = make_composer(replace(ledger.holdings()[0], delta=Fraction(0 if is_pure else "3/1000000")))
    for several in (1, 3):
        assert accountant([guarantee] * several)[0] == several * Fraction(1, 2)
    with ledger._transaction(write=True) as db:
        journal.change(db, "note", "entry", made.entry, {"guarantee": write_canonical(guarantee)})
    found = [(one.code, one.values["file"]) for one in verify(made.folder, ledger=ledger).problems]
    assert ("bundle.entry_differs", "release/evidence.json") in found


def forged(bundle: Bundle, file: str, old: str, new: str) -> None:
    """Change a file on purpose, and the sums with it."""
    path = bundle.folder / "release" / file
    content = path.read_text(encoding="utf-8")
    assert old in content
    path.write_text(content.replace(old, new), encoding="utf-8")
    forge_sums(bundle.folder / "release")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("README.txt", "University", "Somebody else"),
        ("report-external.html", "62.3", "51.2"),
        ("data-dictionary.json", "with noise added once", "exactly"),
        ("verify.html", "as recorded", "fine"),
        ("datapackage.json", '"unit": "people"', '"unit": "rows"'),
        ("read.py", "keep_default_na=False,", ""),
        ("read.R", 'na.strings = ""', 'na.strings = "NA"'),
    ],
)
def test_words_that_differ_from_the_evidence_are_found_without_the_ledger(
    made: Bundle, file: str, old: str, new: str
) -> None:
    forged(made, file, old, new)
    problems = verify(made.folder).problems
    assert [(one.code, one.values["file"]) for one in problems] == [
        ("bundle.words_differ", f"release/{file}")
    ]


@pytest.mark.parametrize("file", ["datapackage.json", "read.py", "read.R"])
def test_a_file_for_programs_that_was_taken_out_is_missed(made: Bundle, file: str) -> None:
    (made.folder / "release" / file).unlink()
    forge_sums(made.folder / "release")
    problems = verify(made.folder).problems
    assert [(one.code, one.values["file"]) for one in problems] == [("bundle.missing", f"release/{file}")]


def test_fitting_sums_do_not_help_against_the_ledger(made: Bundle, ledger: Ledger) -> None:
    evidence = made.folder / "release" / "evidence.json"
    tree = json.loads(evidence.read_bytes())
    tree["purpose"]["recipient"] = "Somebody else"
    evidence.write_bytes(dumps(tree))
    for name, content in describe_files(evidence.read_bytes()).items():
        (made.folder / "release" / name).write_bytes(content)
    forge_sums(made.folder / "release")
    found = verify(made.folder / "release")
    assert found.passed and not found.chain_checked
    problems = verify(made.folder / "release", ledger=ledger).problems
    assert [problem.code for problem in problems] == ["bundle.entry_differs"]


def test_without_the_ledger_it_says_no_more_than_it_can_know(
    made: Bundle, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(made.folder)]) == 0
    said = capsys.readouterr().out
    assert texts.text("commands.verify_agrees") in said
    assert texts.text("commands.verify_passed") not in said
    assert fingerprint((made.folder / "release" / "SHA256SUMS").read_bytes()) in said
    assert main(["verify", str(made.folder), "--ledger", str(ledger.path)]) == 0
    assert texts.text("commands.verify_passed") in capsys.readouterr().out


def test_of_words_that_another_version_made_it_is_said_that_they_were_not_checked(
    made: Bundle, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No false alarm; and what is made the same here is compared, whoever made it."""
    monkeypatch.setattr("engine.release.verify.words_digest", lambda: "another")
    assert verify(made.folder).compared
    forged(made, "README.txt", "University", "Somebody else")
    found = verify(made.folder)
    assert found.passed and not found.compared
    assert found.unchecked == ("release/README.txt",)
    assert main(["verify", str(made.folder)]) == 0
    said = texts.text("commands.verify_not_compared", files="release/README.txt")
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("named", ["", None, "0" * 64, 3])
def test_who_takes_the_digest_away_gets_no_word_checked(made: Bundle, ledger: Ledger, named: object) -> None:
    evidence = made.folder / "release" / "evidence.json"
    tree = json.loads(evidence.read_bytes())
    tree["program"]["words"] = named
    evidence.write_bytes(dumps(tree))
    for name, content in describe_files(evidence.read_bytes()).items():
        (made.folder / "release" / name).write_bytes(content)
    forged(made, "report-external.html", "62.3", "51.2")
    found = verify(made.folder / "release")
    assert found.unchecked == ("release/report-external.html",) and not found.compared
    problems = verify(made.folder / "release", ledger=ledger).problems
    assert [problem.code for problem in problems] == ["bundle.entry_differs"]


def test_evidence_that_makes_no_report_is_named(made: Bundle) -> None:
    evidence = made.folder / "release" / "evidence.json"
    tree = json.loads(evidence.read_bytes())
    tree["views"] = [{"kind": "nonsense"}]
    evidence.write_bytes(dumps(tree))
    forge_sums(made.folder / "release")
    assert "bundle.bad_evidence" in {problem.code for problem in verify(made.folder).problems}


def test_another_ledger_does_not_know_it(made: Bundle, tmp_path: Path) -> None:
    other = Ledger(tmp_path / "other.sqlite")
    assert [problem.code for problem in verify(made.folder, ledger=other).problems] == [
        "bundle.entry_unknown"
    ]


def test_a_folder_without_a_bundle_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputRefused) as refusal:
        verify(tmp_path)
    what, do = texts.explain(refusal.value)
    assert tmp_path.name in what
    assert do


@pytest.mark.guarantee
def test_two_folders_of_different_releases_are_found_out(run: Runner, made: Bundle, tmp_path: Path) -> None:
    """Each passes for itself; without a ledger only what both say of the release can tell."""
    other = run("other", seed=2)
    shutil.rmtree(made.folder / "internal")
    shutil.copytree(other.folder / "internal", made.folder / "internal")
    (problem,) = verify(made.folder).problems
    assert (problem.code, problem.values["file"]) == ("bundle.parts_differ", "internal/evidence.json")
    assert all(texts.explain(problem))


@pytest.mark.guarantee
@pytest.mark.parametrize("name", ["release", "internal", "auditor", "key", "from the hospital"])
def test_a_release_alone_is_checked_alike_under_any_name(made: Bundle, tmp_path: Path, name: str) -> None:
    alone = tmp_path / "alone" / name
    shutil.copytree(made.folder / "release", alone)
    assert verify(alone).passed
    (alone / "README.txt").write_text("other")
    assert [problem.code for problem in verify(alone).problems] == ["bundle.changed"]
    (alone / "report-external.pdf").unlink()
    assert "bundle.missing" in [problem.code for problem in verify(alone).problems]


@pytest.mark.guarantee
@pytest.mark.parametrize("name", ["patients.csv", ".hidden", "release2", "internal.sealed", "key"])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_stands_beside_the_two_folders_is_named(made: Bundle, name: str, kind: str) -> None:
    (made.folder / name).mkdir() if kind == "folder" else (made.folder / name).write_text("a,b\n")
    assert [problem.values["file"] for problem in verify(made.folder).problems] == [name]


@pytest.mark.guarantee
@pytest.mark.parametrize("part", ["release", "internal"])
def test_a_folder_that_is_a_link_does_not_pass(made: Bundle, tmp_path: Path, part: str) -> None:
    (made.folder / part).rename(tmp_path / "elsewhere")
    (made.folder / part).symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert "bundle.not_a_file" in [problem.code for problem in verify(made.folder).problems]


@pytest.mark.parametrize(
    "change",
    [
        '{"audience": []}',
        '{"audience": {}}',
        '{"artefacts": {}}',
        '{"artefacts": [1]}',
        '{"artefacts": [null]}',
        '{"artefacts": ["file sha256"]}',
        '{"artefacts": [["file", "sha256"]]}',
        '{"artefacts": [{"file": 1, "sha256": []}]}',
        '{"artefacts": [{"file": [], "sha256": "a"}]}',
        '{"artefacts": [{"file": {}, "sha256": {}}]}',
        '{"ledger": []}',
        '{"ledger": {"entry": [], "head": 3}}',
        '{"ledger": {"entry": {}, "head": {"sequence": "1", "hash": []}}}',
        '{"ledger": {"entry": "a", "head": {"sequence": 1e300}}}',
    ],
)
def test_evidence_of_any_form_gets_an_answer(made: Bundle, ledger: Ledger, change: str) -> None:

    for part in ("release", "internal"):
        file = made.folder / part / "evidence.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | json.loads(change)))
        forge_sums(made.folder / part)
    for found in (verify(made.folder), verify(made.folder, ledger=ledger)):
        assert found.problems and all(all(texts.explain(problem)) for problem in found.problems)


@pytest.mark.parametrize("part", ["release", "internal"])
@pytest.mark.parametrize("name", ["SHA256SUMS", "evidence.json", "report", "README.txt", "other.pdf"])
def test_what_is_larger_than_it_ever_is_is_said_unread(
    made: Bundle, ledger: Ledger, part: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "report":
        name = f"report-{'external' if part == 'release' else 'internal'}.pdf"
    if name == "README.txt" and part == "internal":
        pytest.skip("there is none")
    with (made.folder / part / name).open("ab") as file:
        file.truncate(6 * 10**9)  # a hole: it takes no room on the disk
    if name in ("SHA256SUMS", "evidence.json"):  # whatever is verified, not one byte is read of it
        opened = os.open
        monkeypatch.setattr(
            os, "open", lambda path, *more, **named: _not(path, part, name) or opened(path, *more, **named)
        )
    found = verify(made.folder, ledger=ledger)
    assert "bundle.too_large" in {problem.code for problem in found.problems}
    (problem,) = (one for one in found.problems if one.code == "bundle.too_large")
    assert problem.values["file"] == f"{part}/{name}" and problem.values["size"] == 6000
    assert all(texts.explain(problem))


def _not(path: object, part: str, name: str) -> None:
    assert not str(path).endswith(f"{part}/{name}".replace("/", os.sep))


@pytest.mark.parametrize(
    "forged",
    [
        b"%PDF-1.7\n" + bytes(20_000_000),
        b"%PDF-1.7\n" + b"0 " * 10_000_000 + b"\nstartxref\n9\n%%EOF",
        b"%PDF-1.7\n" + b"1 0 obj << /A 1 >> endobj\n" * 800_000,
        b"%PDF-1.7\n" + b"%%EOF\n" * 4_000_000,
    ],
    ids=["zeros", "numbers", "objects", "ends"],
)
@TIMED
def test_a_forged_report_holds_the_verification_up_for_no_time(forged: bytes, timed: bool) -> None:
    begun = time.process_time()
    assert embedded_evidence(forged) == b""
    assert not timed or time.process_time() - begun < 1 * slack()
