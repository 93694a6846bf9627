"""Officers' papers: what is filled in, what is marked, what may leave, and that every number is known."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pikepdf
import pytest
from pypdf import PdfReader

from engine import strict_json, texts
from engine.commands.parser import make_parser
from engine.errors import InputRefused, VerificationFailed
from engine.evidence import dumps, public_json
from engine.ledger import Ledger
from engine.ledger.register import QUESTIONS, TOLD_OUTSIDE
from engine.methods.protocol import DocumentArtefact
from engine.privacy.promise import Status, promise_kinds
from engine.release.bundle import Bundle, document_html
from engine.release.papers import read_evidence, write_papers
from engine.release.readme import describe_files
from engine.report import docx, law
from engine.report.content import papers
from engine.views import TableView, Text
from tests.engine.release.conftest import SECRETS

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
ANSWERS = {name: f"said of {name}" for name in QUESTIONS}
NUMBER = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w)")


def words_in(content: bytes) -> str:
    """Return the words of a paper; every part of it has to be XML."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        trees = {name: ElementTree.fromstring(file.read(name)) for name in file.namelist()}
        assert file.testzip() is None
    body = trees["word/document.xml"]
    return "\n".join(
        "".join(part.text or "" for part in one.iter(f"{WORD}t")) for one in body.iter(f"{WORD}p")
    )


def numbers_in(tree: Any) -> Iterator[str]:
    """Give every number of a tree as people may read it: as it is, per cent, rounded to a safe side."""
    if isinstance(tree, dict | list | tuple):
        for one in tree.values() if isinstance(tree, dict) else tree:
            yield from numbers_in(one)
    elif isinstance(tree, str):
        yield from (*NUMBER.findall(tree), *re.findall(r"\d+", tree))
        if re.fullmatch(r"\d+/\d+", tree):
            yield from numbers_in(float(Fraction(tree)))
    elif isinstance(tree, int | float) and not isinstance(tree, bool):
        for value in (tree, 100 * tree):
            for digits in range(6):
                for shift in (-0.4999, 0, 0.4999):
                    yield f"{round(value + shift / 10**digits, digits):,.{digits}f}".lstrip("-")
            yield f"{value:,}"


def fixed_numbers() -> set[str]:
    """Return the numbers that stand in sentences whatever the release."""
    sentences = (re.sub(r"\{[^}]*\}", " ", one) for one in texts.catalogue().values())
    return {number for sentence in sentences for number in NUMBER.findall(sentence)}


def sheets(folder: Path, answers: dict[str, str]) -> dict[str, bytes]:
    evidence, kept = read_evidence(folder)
    found = papers.papers_of(evidence, kept, answers)
    return {paper.id: docx.render(sheet) for paper, sheet in found if sheet is not None}


def test_every_number_of_every_paper_stands_in_the_evidence(made: Bundle) -> None:
    tree = strict_json.loads((made.folder / "internal" / "evidence.json").read_bytes())
    known = fixed_numbers() | set(numbers_in(tree))
    for name, content in sheets(made.folder, ANSWERS).items():
        strange = set(NUMBER.findall(words_in(content))) - known
        assert not strange, (name, strange)


def test_a_number_from_elsewhere_would_be_found(made: Bundle) -> None:
    tree = strict_json.loads((made.folder / "internal" / "evidence.json").read_bytes())
    assert not {"8,417", "63.9"} & (fixed_numbers() | set(numbers_in(tree)))


def test_papers_are_the_same_bytes_and_hold_no_cell(made: Bundle) -> None:
    first = sheets(made.folder, ANSWERS)
    assert first == sheets(made.folder, ANSWERS)
    assert len(first) == 6
    for content in first.values():
        assert 2000 < len(content) < 8000
        assert not [key for key in SECRETS if re.search(rf"\b{key}\b", words_in(content))]


def test_what_is_not_known_is_marked_and_nine_answers_fill_it_in(made: Bundle) -> None:
    mark = texts.text("papers.open")
    for name, content in sheets(made.folder, {}).items():
        filled = words_in(sheets(made.folder, ANSWERS)[name])
        more = words_in(content).count(mark) - filled.count(mark)
        assert more == len(set(re.findall(r"said of \w+", filled)))
    said = "\n".join(map(words_in, sheets(made.folder, ANSWERS).values()))
    asked = set(QUESTIONS) - {"keyholder"}  # of a release with a key alone
    assert all(f"said of {name}" in said for name in asked)
    assert "said of keyholder" not in said


def test_a_mark_is_words_and_colour(made: Bundle) -> None:
    content = sheets(made.folder, {})["dpia_annex"]
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        body = ElementTree.fromstring(file.read("word/document.xml"))
    marked = [run for run in body.iter(f"{WORD}r") if run.find(f"{WORD}rPr/{WORD}highlight") is not None]
    assert marked
    assert {run.findtext(f"{WORD}t") for run in marked} == {texts.text("papers.open")}


# --- what may be handed over ------------------------------------------------------------------------------


def test_what_may_be_handed_over_is_made_of_the_release_alone(made: Bundle, tmp_path: Path) -> None:
    alone = tmp_path / "given"
    shutil.copytree(made.folder / "release", alone)
    outside = {name: said for name, said in ANSWERS.items() if name in TOLD_OUTSIDE}
    whole, given = sheets(made.folder, ANSWERS), sheets(alone, outside)
    assert given == {name: whole[name] for name in given}
    assert set(given) == {paper.id for paper in papers.PAPERS if paper.leaves}
    kept = set(ANSWERS) - set(TOLD_OUTSIDE)
    assert not [name for name in kept for one in given.values() if f"said of {name}" in words_in(one)]


def test_types_keep_what_stays_from_what_leaves(made: Bundle) -> None:
    evidence, kept = read_evidence(made.folder)
    assert kept is not None
    by_id = {paper.id: paper for paper in papers.PAPERS}
    with pytest.raises(TypeError):
        papers.write_outside(by_id["dpia_annex"], evidence, {})
    with pytest.raises(TypeError):
        papers.write_outside(by_id["ehds_description"], evidence, {"security": "two locks"})
    with pytest.raises(TypeError):
        papers.write_outside(by_id["ehds_description"], kept, {})  # type: ignore[arg-type]
    leaving = [paper for paper in papers.PAPERS if paper.leaves]
    inside = {name for paper in leaving for _, names in paper.sections for name in names.split()}
    assert inside <= papers._OUTSIDE.keys()


def test_every_field_and_section_has_words() -> None:
    fields = {
        name
        for paper in (*papers.PAPERS, papers.MODEL_CARD)
        for _, names in paper.sections
        for name in names.split()
    }
    assert fields <= papers._OUTSIDE.keys() | papers._INSIDE.keys()
    assert all(texts.has(f"papers.fields.{name}") for name in fields)
    assert all(
        texts.has(f"papers.sections.{name}")
        for paper in (*papers.PAPERS, papers.MODEL_CARD)
        for name, _ in paper.sections
    )
    named = {
        f"{paper.id}.{part}" for paper in (*papers.PAPERS, papers.MODEL_CARD) for part in ("title", "intro")
    }
    named |= {f"questions.{name}.{part}" for name in QUESTIONS for part in ("label", "help")}
    assert all(texts.has(f"papers.{name}") for name in named)


# --- writing ----------------------------------------------------------------------------------------------


def test_papers_are_written_apart_and_never_over_others(made: Bundle, ledger: Ledger, tmp_path: Path) -> None:
    ledger.answer("Register of stays", {"security": "Two locks", "roles": "Controller alone"})
    found = write_papers(made.folder, tmp_path / "papers", ledger=ledger)
    assert {one.paper: one.why_not for one in found if one.why_not} == {
        "pseudonymisation_record": "pseudonyms"
    }
    for one in found:
        if one.file:
            place = tmp_path / "papers" / one.file
            assert place.parent.name == ("to-hand-over" if one.leaves else "internal")
            assert 0 < one.filled < one.fields or one.paper == "record_of_processing"
            assert ("Two locks" in words_in(place.read_bytes())) <= (not one.leaves)
    assert "Two locks" in words_in((tmp_path / "papers/internal/dpia-annex.docx").read_bytes())
    with pytest.raises(InputRefused, match=r"bundle\.exists"):
        write_papers(made.folder, tmp_path / "papers", ledger=ledger)
    with pytest.raises(InputRefused, match=r"bundle\.inside"):
        write_papers(made.folder, made.folder / "internal" / "papers", ledger=ledger)


def test_a_bundle_that_was_changed_has_no_papers(made: Bundle, tmp_path: Path) -> None:
    with (made.folder / "internal" / "evidence.json").open("a") as file:
        file.write(" ")
    with pytest.raises(VerificationFailed):
        write_papers(made.folder, tmp_path / "papers")
    assert not (tmp_path / "papers").exists()


@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed")
def test_libreoffice_opens_every_paper(made: Bundle, tmp_path: Path) -> None:
    for name, content in sheets(made.folder, {}).items():
        (tmp_path / f"{name}.docx").write_bytes(content)
    command = ["soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to"]
    files = sorted(map(str, tmp_path.glob("*.docx")))
    command += ["txt:Text (encoded):UTF8", "--outdir", str(tmp_path), *files]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    for paper in tmp_path.glob("*.docx"):
        read = paper.with_suffix(".txt").read_text(encoding="utf-8-sig")
        assert texts.text(f"papers.{paper.stem}.title") in read


def test_words_that_no_xml_may_hold_become_blanks() -> None:
    odd = 'a\x00b\x0bc\ud800d<&>"e\u2028f'
    content = docx.render(
        docx.Sheet(odd, (odd,), ((odd, (docx.Line(odd, odd), docx.Line(odd, ""))),), "open")
    )
    assert "<&>" in words_in(content)


# --- the model card ---------------------------------------------------------------------------------------


def of_model(made: Bundle, **changes: Any) -> Any:
    """Return public evidence as a model would have it."""
    evidence, _ = read_evidence(made.folder)
    return replace(evidence, method=dict(evidence.method) | {"family": "model"}, **changes)


def test_a_model_has_its_card_from_public_evidence_alone(made: Bundle) -> None:
    evidence = of_model(made, title="Stays <b> _of_ [all](x)")
    files = describe_files(dumps(public_json(evidence)))
    card = files["MODEL_CARD.md"].decode()
    assert card == papers.model_card(evidence).decode()
    head, body = card.removeprefix("---\n").split("---\n", 1)
    assert set(head.splitlines()) >= {"license: other", "library_name: custos", "- pure-dp"}
    assert r"# Stays \<b\> \_of\_ \[all\](x)" in body
    assert texts.text("papers.open") not in card
    assert "predicts" not in card  # nothing is told of a score, and none is missing
    known = fixed_numbers() | set(numbers_in(strict_json.loads(dumps(public_json(evidence)))))
    assert not set(NUMBER.findall(card.replace("\\", ""))) - known
    tables, _ = read_evidence(made.folder)
    assert not {"MODEL_CARD.md", "MODEL_CARD.pdf"} & describe_files(dumps(public_json(tables))).keys()


@pytest.mark.with_reports
def test_the_card_to_print_says_the_same(made: Bundle) -> None:
    evidence = of_model(made)
    written = describe_files(dumps(public_json(evidence)))["MODEL_CARD.pdf"]
    with pikepdf.open(io.BytesIO(written)) as opened, opened.open_metadata() as metadata:
        assert (metadata["pdfaid:part"], metadata["pdfuaid:part"]) == ("3", "1")
    pages = [page.extract_text() for page in PdfReader(io.BytesIO(written)).pages]
    printed = re.sub(r"\s", "", "".join(pages))
    for line in papers.model_card(evidence).decode().split("---\n", 2)[2].splitlines():
        said = re.sub(r"\s", "", line.lstrip(" -#").replace("**: ", "").replace("*", "").replace("\\", ""))
        assert said[-40:] in printed, line


def test_a_card_says_whether_a_score_is_told(made: Bundle) -> None:
    unscored = of_model(made, notes=(Text(papers.NOT_SCORED),))
    assert texts.text("models.not_scored") in papers.model_card(unscored).decode()
    decided = dict(unscored.decided) | {"parameters": {"held_out_percent": 10}}
    scored = papers.model_card(replace(unscored, notes=(), decided=decided)).decode()
    assert texts.text("papers.scored") in scored.replace("\\", "")


def test_a_document_follows_light_and_dark_and_fits_a_phone() -> None:
    table = TableView("Effects", ("column", "effect"), (("age", 1.5), ("<i>", None)), None)
    page = document_html(
        DocumentArtefact("card", (Text("models.not_scored"), table), Text("models.not_scored"))
    )
    assert '<div class="scroll"><table>' in page.decode()
    assert '<th scope="row">age</th><td class="number">1.5</td>' in page.decode()
    assert '<th scope="row">&lt;i&gt;</th><td>–</td>' in page.decode()
    assert "prefers-color-scheme:dark" in page.decode() and "max-width: 640px" in page.decode()
    assert "width=device-width" in page.decode()


# --- answers of a register --------------------------------------------------------------------------------


def test_answers_belong_to_a_register_and_stay_in_its_chain(ledger: Ledger) -> None:
    for name in ("one", "two"):
        ledger.create_holding(name, unit="person", neighbours="add_remove", epsilon="1")
    ledger.answer("one", {"roles": " controller ", "place": "archive"})
    ledger.answer("one", {"place": "vault"})
    ledger.answer("two", {"roles": "joint"})
    rows = ledger.head().sequence
    ledger.answer("one", {"place": "vault"})
    assert ledger.head().sequence == rows  # the same is not written twice
    assert ledger.answers("one") == {"roles": "controller", "place": "vault"}
    ledger.answer("one", {"place": ""})
    assert ledger.answers("one") == {"roles": "controller"}
    ledger.verify_chain()
    with pytest.raises(InputRefused, match="unknown_question"):
        ledger.answer("one", {"colour": "red"})


def test_the_command_line_answers_and_writes(made: Bundle, ledger: Ledger, tmp_path: Path) -> None:
    def run(*words: str) -> dict[str, Any]:
        options = make_parser().parse_args([*words, "--ledger", str(ledger.path)])
        answer, status = options.command(options)
        assert status == 0
        assert list(options.lines(answer, "en"))
        return dict(answer)

    said = run("describe", "register of stays", "--set", "basis=Article 6(1)(e)", "--set", "place=Vault")
    assert {name: one for name, one in said["answers"].items() if one} == {
        "basis": "Article 6(1)(e)",
        "place": "Vault",
    }
    run("papers", str(made.folder), "--out", str(tmp_path / "out"))
    annex = (tmp_path / "out" / "to-hand-over" / "data-sharing-annex.docx").read_bytes()
    assert "Article 6(1)(e)" in words_in(annex)
    assert "Vault" not in words_in(annex)


# --- kinds of promises, and law ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", promise_kinds(), ids=lambda kind: kind.id)
def test_each_kind_answers_five_questions_and_names_its_law(kind: Any) -> None:
    base = f"promises.{kind.id}"
    asked = ("criteria.singling_out", "criteria.linking", "criteria.inferring", "must_know", "status")
    for name in asked:
        assert any(one == f"{base}.{name}" for one in texts.catalogue()), name
    assert all(texts.has(f"papers.names.{kind.id}.{name}") for name in ("iso", "wp216"))
    rests = {one.id for one in law.rests_on([texts.catalogue()[f"{base}.status"]])}
    wanted = {
        Status.BOUNDED: {"gdpr_4_1"} if kind.local else {"gdpr_recital_26"},
        Status.STATISTICAL: {"gdpr_recital_162"},
    }.get(kind.status)
    assert rests == wanted if wanted else rests & {"gdpr_4_1", "gdpr_4_5", "gdpr_recital_26"}
    questions = law.rests_on([], ("singling_out", "linking", "inferring"))
    assert {one.id for one in questions} == {"wp216", "gdpr_recital_26"}


def uncovered(sentence: str) -> str:
    """Return what of a sentence names law that no source of the file covers."""
    plain = re.sub(r"\{[^}]*\}", " ", sentence)
    for one in law.sources().values():
        plain = re.sub(one.cited, " ", plain)
    found = law.CITATION.search(plain)
    return found.group() if found else ""


def test_each_sentence_that_names_law_has_its_source() -> None:
    own = ("law.", "anchors.", "code_lists.")  # the sources themselves, precedents, names of lists
    said = {name: text for name, text in texts.catalogue().items() if not name.startswith(own)}
    named = [name for name, text in said.items() if law.CITATION.search(text)]
    assert len(named) > 40
    assert not {name: gap for name in named if (gap := uncovered(said[name]))}
    assert uncovered("See GDPR, Article 99.") == "Article 99"


def test_the_file_of_law_is_dated_and_says_what_was_read() -> None:
    found = law.sources().values()
    assert {one.checked for one in found} - {""} == {"2026-11-26"}
    assert all(one.copy for one in found if one.checked)
    told = {one.told().id for one in found}
    assert told == {f"papers.law.{name}" for name in ("checked", "summary", "not_checked")}
    for language in texts.languages():
        for one in found:
            assert all(texts.has(part.id, language=language) for part in (one.name, one.says, one.source)), (
                one.id
            )


def test_a_paper_rests_on_the_same_law_in_every_language(made: Bundle) -> None:
    """Sentences of each language cite articles in its own way, or leave out what the English names."""
    evidence, kept = read_evidence(made.folder)
    rests = {
        language: [
            len(sheet.sections[-1][1])
            for _, sheet in papers.papers_of(evidence, kept, ANSWERS, language=language)
            if sheet is not None
        ]
        for language in texts.languages()
    }
    assert set(map(tuple, rests.values())) == {tuple(rests["en"])}
    assert min(rests["en"]) > 0
