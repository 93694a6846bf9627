"""Papers in another language: nothing of English is left in the numbers, marks and words that code writes."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from engine import texts
from engine.evidence import read_public, words_of
from engine.methods.catalogue import methods
from engine.release.papers import read_evidence
from engine.release.readme import readme
from engine.report import external_document, internal_document
from engine.report import html as pages
from engine.report.content import papers as officers_papers
from tests.engine.languages import trial
from tests.engine.methods import examples_run

FEW = (
    *("datasets.k_anonymity", "datasets.marginals", "datasets.pseudonyms", "models.additive"),
    *("services.private_queries", "statistics.flows", "statistics.means", "statistics.protected_table"),
)
NUMBER = re.compile(r"(?<![\w.,·'/-])\d+[.,]\d+(?![\w./-])")
DAY = re.compile(r"(?<![\w-])(?!1970-01-01)\d{4}-\d\d-\d\d(?!\d)")
"""A day as files have it, but for the one that days are counted from."""
WORD = re.compile(r"(?<![\w./:@-])[A-Za-z]{2,}(?![\w/@-]|\.\w)")
NAMES = {"Custos", "GDPR", "HTML", "PROV", "README", "SHA256SUMS", "Python", "UTC"}


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with trial.spoken(tmp_path_factory.mktemp("texts")) as code:
        yield code


def papers(folder: Path, language: str) -> Iterator[str]:
    """Give the lines of both reports and README, but for what is a source or made of letters at random."""
    for part, document in (("release", external_document), ("internal", internal_document)):
        written = (folder / part / "evidence.json").read_bytes()
        tree = json.loads(written)
        with texts.speaking(words_of(tree["decided"])):
            page = pages.render(document(written), evidence=b"{}", language=language).decode()
            if part == "release":
                page += readme(read_public(tree), language=language)
        plain = re.sub(r"<(script|style|code)[^>]*>.*?</\1>", " ", page, flags=re.DOTALL)
        for line in html.unescape(re.sub(r"<[^>]+>", "\n", plain)).splitlines():
            if not re.search(r"doi:|arXiv:|hdl:|isbn:", line):
                yield line.strip()


def custodians(folder: Path, *cited: str) -> list[str]:
    """Return what the custodian wrote or has in the table and what names the program, the longest first.

    Whole: a word of a title of theirs excuses no word of ours.
    """
    tree = json.loads((folder / "internal" / "evidence.json").read_text(encoding="utf-8"))
    named = [tree[name] for name in ("method", "program", "artefacts", "decided", "purpose")]
    named += [tree["internal"].get(name) for name in ("plan", "price")]
    found = {*written(named), *NAMES, *cited} - {"missing", "other", "all"}
    for path in (*folder.parent.glob("*/release/*.csv"), *folder.parent.glob("*.csv")):
        found |= {cell for line in csv.reader(io.StringIO(path.read_text("utf-8"))) for cell in line}
    found = {line for one in found for line in one.splitlines() if WORD.search(line)}
    found -= {f"({name})" for name in ("missing", "other", "other or missing", "all")}
    return sorted(found | {one[0].upper() + one[1:] for one in found}, key=len, reverse=True)


def written(tree: object) -> Iterator[str]:
    """Give every name and every string of a tree."""
    if isinstance(tree, dict):
        for name, part in tree.items():
            yield str(name)
            yield from written(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from written(part)
    elif isinstance(tree, str):
        yield tree


def left_english(line: str, own: list[str]) -> list[str]:
    """Return the words of a line that no language says and nobody wrote."""
    line = line.replace("\u00a0", " ")
    for one in own if WORD.search(line) else ():
        if one in line:
            line = re.sub(rf"(?<!\w){re.escape(one)}(?!\w)", " ", line)
    return WORD.findall(line)


def labels(tree: object, *, in_view: bool = False) -> Iterator[str]:
    """Give what views show that is no text of a language: it must be what the custodian wrote."""
    if isinstance(tree, dict):
        if tree.keys() != {"id", "values"}:
            for name, part in tree.items():
                if name not in ("kind", "style", "unit"):
                    yield from labels(part, in_view=in_view or {"kind", "title"} <= tree.keys())
    elif isinstance(tree, list):
        for part in tree:
            yield from labels(part, in_view=in_view)
    elif isinstance(tree, str) and in_view:
        yield tree


def meanings(folder: Path) -> set[str]:
    """Return what the dictionary says: it is English where papers were wished for in no other language."""
    tree = json.loads((folder / "release" / "evidence.json").read_text(encoding="utf-8"))
    lines = [line for entry in tree["dictionary"] for line in (entry, *entry.get("columns", ()))]
    return {str(line["meaning"]) for line in lines if "meaning" in line}


def officers(folder: Path, language: str) -> Iterator[str]:
    """Give the lines of every officers' paper that a release has."""
    evidence, kept = read_evidence(folder)
    for _, sheet in officers_papers.papers_of(evidence, kept, {}, language=language):
        if sheet is not None:
            yield from (sheet.title, *sheet.notes)
            for heading, lines in sheet.sections:
                yield heading
                for line in lines:
                    yield from (line.label, *line.answer.splitlines())


@pytest.mark.parametrize("method_id", FEW)
def test_no_english_number_mark_or_word_is_left_in_papers_of_another_language(spoken: str, method_id: str):
    (method,) = (one for one in methods() if one.id == method_id)
    english = "\n".join(texts.catalogue().values())
    for _, folder in examples_run.ran(method):
        own, said = custodians(folder, *map(str, asdict(method.published).values())), meanings(folder)
        known = json.dumps(own)
        for line in (*papers(folder, spoken), *officers(folder, spoken)):
            if line in said or re.search(r"doi:|hdl:|isbn:", line):
                continue
            assert not set("“”") & set(line), line
            assert not DAY.search(line), line
            left = [one for one in NUMBER.findall(line) if one not in known and one not in english]
            assert not left, (left, line)
            assert not left_english(line, own), (left_english(line, own), line)


def test_a_word_of_ours_is_found_beside_what_the_custodian_wrote():
    own = ["Stays of patients", "gender is Female"]
    assert left_english("ое Stays of patients", own) == []
    assert left_english("Stays ое patients; gender is Male", own) == [
        "Stays",
        "patients",
        "gender",
        "is",
        "Male",
    ]


@pytest.mark.parametrize("method_id", [one for one in FEW if one != "exchanges.survey"])
def test_a_label_of_a_view_is_a_text_or_what_the_custodian_wrote(method_id: str):
    (method,) = (one for one in methods() if one.id == method_id)
    for _, folder in examples_run.ran(method):
        tree = json.loads((folder / "internal" / "evidence.json").read_text(encoding="utf-8"))
        own = [tree["internal"].get("plan"), tree["decided"], tree["purpose"]]
        sources = [one for one in folder.parent.glob("*.csv") if one.is_file()]
        wrote = json.dumps(own, ensure_ascii=False) + "".join(one.read_text("utf-8") for one in sources)
        known = {
            *re.findall(r"[a-z]{3,}", wrote.casefold()),
            *map(str.casefold, NAMES),
            "missing",
            "other",
            "all",
        }
        said = (label for label in labels(tree) if not label.endswith(".csv"))
        shown = {word for label in said for word in re.findall(r"[a-z]{3,}", label.casefold())}
        assert shown <= known, shown - known


@pytest.mark.parametrize("method_id", FEW)
def test_every_colon_and_semicolon_of_french_papers_stands_apart(method_id: str):
    (method,) = (one for one in methods() if one.id == method_id)
    for _, folder in examples_run.ran(method):
        own, said = custodians(folder, *map(str, asdict(method.published).values())), meanings(folder)
        for line in (*papers(folder, "fr"), *officers(folder, "fr")):
            if line not in said and not re.search(r"doi:|hdl:|isbn:", line):
                assert not close_to_a_mark(line, own), (close_to_a_mark(line, own), line)


def close_to_a_mark(line: str, own: list[str]) -> list[str]:
    """Return what stands right before a colon or semicolon, where the custodian did not write it so."""
    for one in own if re.search(r"[;:]", line) else ():
        if re.search(r"[;:]", one):
            line = line.replace(one, " ")
    return re.findall(r"[^\s\u00a0]+[;:](?=\s|$)", line)


def test_a_mark_that_stands_too_close_is_found():
    assert close_to_a_mark("unité: CARD", ["unité"]) == ["unité:"]
    assert close_to_a_mark("unité\u00a0: CARD\u00a0; a: b", ["a: b"]) == []
