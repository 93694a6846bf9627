"""What a recipient reads first, and the page that checks the folder: from public evidence and texts alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.resources import files
from textwrap import wrap
from typing import Any

from engine import languages, texts
from engine.evidence import PublicEvidence, dumps, read_public, words_of
from engine.methods.kinds import Family
from engine.release import package
from engine.report.content.facts import own_words
from engine.report.content.shared import day, moment, named_with_meaning
from engine.report.document import Document
from engine.report.words import cell, word
from engine.views import Cell, Text, to_json

PAGE = ("report", "verify.html")
GROUPS, LETTERS = 8, 4
WIDTH = 110
OWN = ("recipient", "must_know", "status")
"""What the kind of promise says to whoever opens the folder."""


def readme(evidence: PublicEvidence, *, language: str = "en") -> str:
    """Return README.txt: what is in the folder, for whom, what it promises, how to check it."""
    sentence = partial(texts.text, language=language)
    unsaid = sentence("bundle.not_stated")

    def said(name: str) -> str:
        return " ".join(str(evidence.purpose.get(name, "")).split()) or unsaid

    def plain(value: Cell) -> str:
        return word(value, language) if isinstance(value, str | Text) else str(value)

    expires = said("expires")
    lines = [
        evidence.title or sentence("bundle.untitled"),
        "",
        sentence("bundle.made", made_at=plain(moment(evidence.made_at)), program=evidence.program["name"]),
        sentence("bundle.by", organisation=said("organisation")),
        sentence("bundle.for_recipient", recipient=said("recipient")),
        sentence("bundle.use", use=said("use")),
        sentence("bundle.until", expires=plain(day(expires))),
        "",
        sentence("bundle.files"),
        *(f"  {artefact['file']}" for artefact in evidence.artefacts),
        *_other_files(evidence, sentence),
        "",
        *_columns(evidence, language),
        *_mistaken(evidence, sentence),
        *_own(evidence, language),
        sentence("bundle.verify"),
        *(word(one, language) for one in _reviewed(language)),
    ]
    return "\n".join(lines) + "\n"


def _other_files(evidence: PublicEvidence, sentence: Callable[..., str]) -> Iterator[str]:
    """Give one line a file that is not an artefact, of those that are in the folder."""
    from engine.release.bundle import MODEL_CARD, READ_PYTHON  # on first use: it brings pandas along

    resources = package.data_package(evidence).get("resources", ())
    there = {
        MODEL_CARD: evidence.method["family"] == Family.MODEL,
        READ_PYTHON: any("schema" in one for one in resources),
    }
    for line in sentence("bundle.other_files").splitlines():
        if there.get(line.split()[0].rstrip(","), True):
            yield line


def _own(evidence: PublicEvidence, language: str) -> list[str]:
    """Return what the kind of promise says, a paragraph each, in lines that a screen holds."""
    said = (word(own_words(evidence, name), language) for name in OWN)
    return [line for text in said for line in (*wrap(text, WIDTH), "")]


def _columns(evidence: PublicEvidence, language: str) -> list[str]:
    """Return what the custodian says that the columns mean, those that have such words."""
    said = [line for line in evidence.decided.get("columns", ()) if line.get("meaning") or line.get("unit")]
    if not said:
        return []
    lines = [f"  {cell(named_with_meaning(line), language)}" for line in said]
    return [texts.text("bundle.columns", language=language), *lines, ""]


def _mistaken(evidence: PublicEvidence, sentence: Callable[..., str]) -> list[str]:
    """Warn of values that a recipient's program would read as missing; nothing where there are none."""
    found = {
        (str(line["name"]), tuple(line["not_missing"]))
        for entry in evidence.dictionary
        for line in entry.get("columns", ())
        if line.get("not_missing")
    }
    if not found:
        return []
    lines = [
        sentence("bundle.mistaken_line", column=column, values=values) for column, values in sorted(found)
    ]
    return [sentence("bundle.mistaken"), *lines, sentence("bundle.load"), ""]


def verify_page(*, language: str = "en") -> bytes:
    """Return verify.html: it checks a folder in any browser, offline, and is the same in every release."""
    page = files("resources").joinpath(*PAGE).read_text(encoding="utf-8")
    told = texts.of_file("verify_page", language=language)
    words = {name.removeprefix("verify_page."): sentence for name, sentence in told.items()}
    inside = json.dumps(words, ensure_ascii=False).replace("<", "\\u003c")
    return page.replace("LANGUAGE", language).replace("{/*words*/}", inside).encode()


def describe_files(written: bytes, *, language: str = "en") -> dict[str, bytes]:
    """Return every file of a folder that is made from its evidence alone, by its name.

    Parameters
    ----------
    written
        The bytes of ``evidence.json``.
    language
        Of the words.

    Raises
    ------
    KeyError, TypeError, ValueError, InputRefused
        The evidence is none that this version wrote.
    """
    from engine import strict_json

    tree = strict_json.loads(written)
    with texts.speaking(words_of(tree["decided"])):
        return _describe(tree, written, language)


def _describe(tree: dict[str, Any], written: bytes, language: str) -> dict[str, bytes]:
    from engine.release.bundle import further_languages, name_in  # on first use: it brings pandas along

    found = _papers(tree, written, language)
    if tree["audience"] == "public":
        evidence = read_public(tree)
        found["data-dictionary.json"] = dumps(to_json(list(evidence.dictionary)))
        found |= package.package_files(evidence)
    for further in further_languages(tree):
        for name, content in _papers(tree, written, further).items():
            found[name_in(name, further)] = content
    return found


def _papers(tree: dict[str, Any], written: bytes, language: str) -> dict[str, bytes]:
    """Return everything that people read, in one language."""
    from engine.report import content, external_document, html, internal_document, pdf

    public = tree["audience"] == "public"
    name = f"report-{'external' if public else 'internal'}"
    found = {}
    whole = None
    for ending, render in (("pdf", pdf.render), ("html", html.render)):
        try:
            made = external_document if public else internal_document
            whole = whole or _with_reviewer(made(written), language)
            found[f"{name}.{ending}"] = render(whole, evidence=written, language=language)
        except Exception as error:  # the release has been paid for, and is not lost over its report
            document = content.bare(tree, type(error).__name__)
            found[f"{name}.{ending}"] = render(document, evidence=written, language=language)
    if public:
        evidence = read_public(tree)
        found |= {
            "README.txt": readme(evidence, language=language).encode(),
            "verify.html": verify_page(language=language),
        }
        if evidence.method["family"] == Family.MODEL:
            from engine.release.bundle import MODEL_CARD, MODEL_CARD_PDF
            from engine.report.content.papers import model_card, model_card_document

            found[MODEL_CARD] = model_card(evidence, language=language)
            card = model_card_document(evidence, language=language)
            found[MODEL_CARD_PDF] = pdf.render(card, evidence=written, language=language)
    return found


def _reviewed(language: str) -> tuple[Text, ...]:
    """Return who has read a translation, and that the English binds; nothing in English."""
    if language == texts.FALLBACK:
        return ()
    by = languages.find(language).reviewed_by or texts.text(
        "app.window.reviewed_by_nobody", language=language
    )
    return (Text("report.words.translated", {"by": by}),)


def _with_reviewer(document: Document, language: str) -> Document:
    if not document.sections:
        return document
    last = document.sections[-1]
    told = replace(last, parts=(*last.parts, *_reviewed(language)))
    return replace(document, sections=(*document.sections[:-1], told))


def fingerprint(sums: bytes) -> str:
    """Return a short form of the hash of SHA256SUMS, for reading out over another way.

    Examples
    --------
    >>> fingerprint(b"")
    'e3b0 c442 98fc 1c14 9afb f4c8 996f b924'
    """
    found = hashlib.sha256(sums).hexdigest()
    return " ".join(found[at : at + LETTERS] for at in range(0, GROUPS * LETTERS, LETTERS))
