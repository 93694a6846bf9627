"""Papers in several languages from one evidence, and a further language that is a folder and no code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engine.release.bundle import Bundle, write_sums
from engine.release.verify import verify
from tests.engine.languages import trial

OWN = {"Custos", "Python", "UTC", "GDPR", "ISO", "IEC", "HTML", "PDF", "SHA256SUMS", "SHA", "README"}
OWN |= {"missing"}  # a label in the files that leave: papers name it as the file has it
WORD = re.compile(r"(?<![\w./:-])[A-Za-z]{3,}(?![\w/-]|\.\w)")


@pytest.fixture
def spoken(tmp_path: Path):
    (tmp_path / "texts").mkdir()
    with trial.spoken(tmp_path / "texts") as code:
        yield code


def english(text: str, known: set[str]) -> set[str]:
    text = re.sub(r"<(script|style|code)[^>]*>.*?</\1>", " ", text, flags=re.DOTALL)
    return set(WORD.findall(re.sub(r"<[^>]+>|&\w+;", "\n", text))) - known - OWN


@pytest.mark.with_reports
def test_every_paper_is_also_there_in_a_further_language_and_is_checked(spoken, run, folder):
    made: Bundle = run(also=(spoken,))
    release, internal = made.folder / "release", made.folder / "internal"
    further = ("README.xx.txt", "verify.xx.html", "report-external.xx.html", "report-external.xx.pdf")
    assert {one.name for one in release.iterdir()}.issuperset(further)
    assert (internal / "report-internal.xx.html").exists()
    assert not verify(made.folder).problems
    paper = release / "README.xx.txt"
    paper.write_text(paper.read_text("utf-8") + "!", "utf-8")
    write_sums(release)
    found = {(one.code, one.values.get("file")) for one in verify(made.folder).problems}
    assert ("bundle.words_differ", "release/README.xx.txt") in found


@pytest.mark.with_reports
def test_a_paper_in_a_language_that_was_not_wished_for_is_noticed(spoken, run):
    made: Bundle = run()
    release = made.folder / "release"
    (release / "README.xx.txt").write_bytes((release / "README.txt").read_bytes())
    write_sums(release)
    found = {(one.code, one.values.get("file")) for one in verify(made.folder).problems}
    assert ("bundle.not_in_evidence", "release/README.xx.txt") in found


@pytest.mark.with_reports
def test_nothing_english_is_left_in_a_paper_of_another_language(spoken, run, plan):
    made: Bundle = run(also=(spoken,))
    tree = json.loads((made.folder / "release" / "evidence.json").read_text("utf-8"))
    said = [plan.dumps(), (made.folder.parent / "stays.csv").read_text()]
    said += [json.dumps(tree[name]) for name in ("method", "program", "artefacts")]
    known = set(re.findall(r"[A-Za-z]{3,}", " ".join(said)))
    for paper in (*made.folder.rglob("*.xx.html"), *made.folder.rglob("*.xx.txt")):
        if not paper.name.startswith("verify"):
            assert not english(paper.read_text("utf-8"), known), paper.name
