"""Papers that officers write, as drafts from plan and evidence; what could not be filled in is marked.

Two kinds, by type. What may be handed over is made of public evidence and of the answers that may be told,
and is given nothing else. What stays knows the internal evidence too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine import texts
from engine.evidence import InternalEvidence, PublicEvidence, words_of
from engine.ledger.register import TOLD_OUTSIDE
from engine.methods.kinds import Family
from engine.numbers import exactly
from engine.privacy.promises.pseudonymous import Pseudonymous
from engine.report import docx, law
from engine.report.content import private
from engine.report.content import promise as promised
from engine.report.content.cover import accuracy, sentence, total
from engine.report.content.facts import facts_of, own_words, released_columns, rows_used, true_ones
from engine.report.content.shared import (
    day,
    declared_meaning,
    method_name,
    moment,
    named_with_meaning,
    place_of,
    say,
    side,
    unit_word,
)
from engine.report.document import Document, KeyValues, Numbers, Row, Section
from engine.report.words import cell, word
from engine.risk.thresholds import CONTROLS, MOTIVES
from engine.table.schema import Role
from engine.texts import plainly
from engine.views import NumberView, TableView, Text

_MARKS = re.compile(r"[\\`*_{}\[\]<>#|~]")
NOT_SCORED = "models.not_scored"
STAYS, LEAVES = "stays", "leaves"
Answer = object  # a Text, words, several of them, or None for nothing
Answers = Mapping[str, str]

PURPOSE = (
    *("organisation", "contact", "recipient", "use", "setting", "agreement", "approver", "checker"),
    *("population", "period", "inclusion", "request_number", "assessment", "attackers", "withdrawal"),
)
"""What stands in the purpose under the same name, and may be told."""
OPEN = (
    *("necessity", "proportionality", "rights", "views", "opinion", "expert", "qualification", "conclusion"),
    *("incident", "theme", "geography", "frequency", "access", "signature", "signature_recipient"),
)
"""What nobody but a person can write."""


@dataclass(frozen=True)
class Paper:
    """A kind of paper: its sections, each with the fields that stand in it."""

    id: str
    leaves: bool
    sections: tuple[tuple[str, str], ...]
    needs: str = ""

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.id.replace('_', '-')}.docx"


_PROMISED = "promise sentence levels terms iso wp216 nist assumptions"
PAPERS = (
    Paper(
        "dpia_annex",
        False,
        (
            (
                "description",
                "title organisation contact roles recipient use reason method source population period"
                " inclusion people columns files place agreement expires retention",
            ),
            (
                "necessity",
                "register_basis basis necessity proportionality exactness rows information rights assessment",
            ),
            ("context", "setting countries attackers motive control threshold"),
            ("risks", "before after singling_out linking inferring status price total others"),
            ("measures", f"{_PROMISED} security keys keyholder decisions checker approver withdrawal review"),
            ("heard", "dpo advice views opinion signature"),
        ),
    ),
    Paper(
        "record_of_processing",
        False,
        (
            ("controller", "organisation contact roles dpo"),
            ("purposes", "title use reason register_basis basis"),
            ("categories", "population period columns"),
            ("recipients", "recipient agreement request_number made"),
            ("transfers", "countries"),
            ("limits", "expires retention review"),
            ("security", "security promise method record"),
        ),
    ),
    Paper(
        "data_sharing_annex",
        True,
        (
            ("parties", "organisation contact recipient roles dpo"),
            ("what", "title request_number files columns codings method made program verify"),
            ("conditions", "use register_basis basis agreement expires setting countries"),
            ("protection", "promise sentence levels terms status exactness rows"),
            ("duties", "must_know can cannot incident withdrawal"),
            ("signatures", "approver signature signature_recipient"),
        ),
    ),
    Paper(
        "expert_letter",
        False,
        (
            ("expert", "expert qualification"),
            ("data", "title organisation people columns population period recipient use setting agreement"),
            ("context", "attackers motive control threshold"),
            ("methods", f"method source {_PROMISED} before after singling_out linking inferring others"),
            ("signatures", "conclusion review signature"),
        ),
    ),
    Paper(
        "pseudonymisation_record",
        False,
        (
            ("domain", "title organisation roles use domain recipient agreement expires"),
            ("transformation", "method source columns iso wp216 terms files people"),
            ("additional", "keys keyholder place reversal security retention"),
            ("remaining", "singling_out linking inferring after status information withdrawal review"),
            ("signatures", "dpo advice signature"),
        ),
        needs="pseudonyms",
    ),
    Paper(
        "ehds_description",
        True,
        (
            ("dataset", "title organisation contact use method files columns codings made"),
            ("coverage", "population period inclusion geography frequency theme"),
            ("quality", "promise sentence exactness rows must_know"),
            ("conditions", "status setting register_basis basis agreement countries access"),
        ),
    ),
    Paper(
        "small_cell_statement",
        True,
        (
            ("what", "title organisation files method source"),
            ("cells", "promise sentence terms must_know exactness singling_out linking inferring others"),
            ("signatures", "checker approver signature"),
        ),
        needs="cells",
    ),
)

MODEL_CARD = Paper(
    "model_card",
    True,
    (
        ("what", "title organisation contact method source files made program"),
        ("use", "use can cannot must_know status"),
        ("data", "population period inclusion columns rows"),
        ("quality", "score exactness"),
        ("protection", "promise sentence levels terms singling_out linking inferring assumptions"),
        ("conditions", "recipient agreement expires setting withdrawal verify"),
    ),
)
"""Made of public evidence alone, as a file that leaves with each model."""


# --- what may be handed over ------------------------------------------------------------------------------

Outside = Callable[[PublicEvidence, Answers], Answer]


def _purpose(name: str) -> Outside:
    return lambda evidence, told: str(evidence.purpose.get(name, "")).strip()


def _day(name: str) -> Outside:
    return lambda evidence, told: day(str(evidence.purpose.get(name, ""))) or None


def _told(name: str) -> Outside:
    return lambda evidence, told: told.get(name, "")


def _own(name: str) -> Outside:
    return lambda evidence, told: own_words(evidence, name)


def _name(name: str) -> Outside:
    return lambda evidence, told: Text(f"papers.names.{evidence.promise.kind}.{name}")


def _pair(name: Any, value: Any) -> Text:
    return Text("papers.listed", {"name": name, "value": value})


def _files(evidence: PublicEvidence, told: Answers) -> Answer:
    return [
        Text("papers.file_rows", {"file": one["file"], "rows": one["rows"]}) if "rows" in one else one["file"]
        for one in evidence.artefacts
    ]


def _columns(evidence: PublicEvidence, told: Answers) -> Answer:
    """Return the columns that the result is about; a key of people is none of them."""
    return _named(one for one in evidence.decided.get("columns", ()) if one["role"] != Role.PERSON_KEY)


def _named(columns: Iterable[Mapping[str, Any]]) -> Answer:
    found = {str(one["name"]): one for one in columns}
    return [
        _pair(name, declared_meaning(one)) if one.get("meaning") else named_with_meaning(one)
        for name, one in found.items()
    ]


def _source(evidence: PublicEvidence, told: Answers) -> Answer:
    found = evidence.method["published"]
    place = place_of(evidence, str(found["place"]))
    line = Text("papers.source", {"document": found["document"], "place": place})
    return [line, *filter(None, [found.get("identifier")])]


def _sentence(evidence: PublicEvidence, told: Answers) -> Answer:
    return sentence(evidence).text


def _levels(evidence: PublicEvidence, told: Answers) -> Answer:
    numbers = (part.numbers for part in promised.key_numbers(evidence) if isinstance(part, Numbers))
    return [_pair(one.title, one.value) for found in numbers for one in found]


def _terms(evidence: PublicEvidence, told: Answers) -> Answer:
    base = f"promises.{evidence.promise.kind}.terms"
    return [
        _pair(Text(f"{base}.{name}.label"), promised.write_term(term))
        for name, term in evidence.promise.terms.items()
    ]


def _nist(evidence: PublicEvidence, told: Answers) -> Answer:
    loss = evidence.promise.loss
    if loss is None:
        return None
    local = side(evidence.promise) == "local"
    return Text(
        "papers.nist",
        {
            "unit": unit_word(evidence),
            "epsilon": plainly(float(loss.epsilon), up=True),
            "delta": exactly(loss.delta),
            "trust": Text(f"papers.trust_{'local' if local else 'central'}"),
        },
    )


def _assumptions(evidence: PublicEvidence, told: Answers) -> Answer:
    return [Text(f"assumptions.{name}") for name in evidence.promise.assumptions]


def _total(evidence: PublicEvidence, told: Answers) -> Answer:
    return total(evidence.register, evidence.statement.get("epsilon")) if evidence.register else None


def _score(evidence: PublicEvidence, told: Answers) -> Answer:
    """Say whether it is told how well a model predicts; nothing of a release that predicts nothing."""
    found = [note for note in evidence.notes if note.id == NOT_SCORED]
    scored = evidence.decided.get("parameters", {}).get("held_out_percent")
    return found or (Text("papers.scored") if scored else None)


def _others(evidence: PublicEvidence, told: Answers) -> Answer:
    return list(true_ones(("limits.other_releases",), facts_of(evidence)))


_OUTSIDE: Mapping[str, Outside] = {
    **{name: _purpose(name) for name in PURPOSE},
    **{name: _day(name) for name in ("expires", "review")},
    **{name: _told(name) for name in ("roles", "countries", "codings")},
    **{name: _own(name) for name in ("status", "must_know")},
    **{name: _own(f"criteria.{name}") for name in ("singling_out", "linking", "inferring")},
    **{name: _name(name) for name in ("iso", "wp216")},
    **dict.fromkeys(OPEN, lambda evidence, told: None),
    "dpo": _told("officer"),
    "title": lambda evidence, told: evidence.title,
    "basis": _purpose("legal_basis"),
    "register_basis": _told("basis"),
    "files": _files,
    "columns": _columns,
    "method": lambda evidence, told: method_name(evidence),
    "source": _source,
    "promise": lambda evidence, told: Text(f"promises.{evidence.promise.kind}.name"),
    "sentence": _sentence,
    "levels": _levels,
    "terms": _terms,
    "nist": _nist,
    "assumptions": _assumptions,
    "can": lambda evidence, told: promised.can_do(evidence, "can"),
    "cannot": lambda evidence, told: promised.can_do(evidence, "cannot"),
    "exactness": lambda evidence, told: accuracy(evidence),
    "rows": lambda evidence, told: rows_used(evidence, beside_notes=False),
    "others": _others,
    "score": _score,
    "verify": lambda evidence, told: Text("papers.check"),
    "made": lambda evidence, told: moment(evidence.made_at),
    "program": lambda evidence, told: f"{evidence.program['name']} {evidence.program['version']}",
    "total": _total,
    "record": lambda evidence, told: Text("papers.record"),
    "reversal": lambda evidence, told: Text("papers.reversal"),
    "domain": lambda evidence, told: [
        value for name in ("recipient", "setting") if (value := str(evidence.purpose.get(name, "")).strip())
    ],
}
NOT_FOR_ALL = (
    *("levels", "terms", "nist", "assumptions", "exactness", "rows", "total", "others"),
    *("score", "people", "before", "after", "price", "keys", "keyholder"),
)
"""Fields of some releases alone: where nothing holds they are left out, and nobody has to write there."""


# --- what stays -------------------------------------------------------------------------------------------

Inside = Callable[[PublicEvidence, InternalEvidence, Answers], Answer]


def _answer(name: str) -> Inside:
    return lambda evidence, kept, answers: answers.get(name, "")


def _planned(name: str, known: Iterable[str] = ()) -> Inside:
    def found(evidence: PublicEvidence, kept: InternalEvidence, answers: Answers) -> Answer:
        value = str(kept.plan.get("purpose", {}).get(name, "")).strip()
        return say(f"groups.{name}_{value}") if value in known else value

    return found


def _people(evidence: PublicEvidence, kept: InternalEvidence, answers: Answers) -> Answer:
    """Say how large the original table was; nothing where none was read."""
    found = {"rows": kept.input.get("rows"), "used": kept.input.get("rows_used")}
    if found["rows"] is None:
        return None
    if "people" in kept.input:
        return Text("papers.people", found | {"people": kept.input["people"]})
    return Text("papers.rows", found)


def _before(evidence: PublicEvidence, kept: InternalEvidence, answers: Answers) -> Answer:
    return [_pair(row.label, row.value) for row in private.threshold(kept, evidence.promise)]


def _after(evidence: PublicEvidence, kept: InternalEvidence, answers: Answers) -> Answer:
    """Return the numbers of every test of the released rows or model for people that was made."""
    numbers = (view for view in kept.views if isinstance(view, NumberView))
    return [
        _pair(view.title, Text("papers.measured", {"value": view.value, "unit": view.unit}))
        for view in numbers
        if isinstance(view.title, Text) and view.title.id.startswith("measures.risk.")
    ]


def _decisions(evidence: PublicEvidence, kept: InternalEvidence, answers: Answers) -> Answer:
    tables = (
        part for part in private.decisions(kept, released_columns(evidence)) if isinstance(part, TableView)
    )
    found = [_reasoned(row[0], row[1]) for table in tables for row in table.rows]
    return found or say("decisions.none")


def _reasoned(decision: Any, reason: Any) -> Text:
    return Text("papers.reasoned", {"decision": decision, "reason": reason or say("decisions.no_reason")})


def _price(evidence: PublicEvidence, kept: InternalEvidence, answers: Answers) -> Answer:
    return [row.value for row in private.assumption(kept)]


def _keys(evidence: PublicEvidence, kept: InternalEvidence, answers: Answers) -> Answer:
    return [
        say(f"verify.key_{'locked' if one.get('locked') else 'open'}", file=one["file"]) for one in kept.keys
    ]


def _keyholder(evidence: PublicEvidence, kept: InternalEvidence, answers: Answers) -> Answer:
    held = bool(kept.keys) or evidence.promise.kind == Pseudonymous.id
    return answers.get("keyholder", "") if held else None


_INSIDE: Mapping[str, Inside] = {
    **{name: _answer(name) for name in ("security", "information", "place")},
    **{name: _planned(name) for name in ("reason", "threshold", "retention")},
    "motive": _planned("motive", MOTIVES),
    "control": _planned("control", CONTROLS),
    "advice": _planned("officer"),
    "people": _people,
    "columns": lambda evidence, kept, answers: _named(evidence.decided.get("columns", ())),
    "before": _before,
    "after": _after,
    "decisions": _decisions,
    "price": _price,
    "keys": _keys,
    "keyholder": _keyholder,
}


# --- papers -----------------------------------------------------------------------------------------------


def write_outside(
    paper: Paper, evidence: PublicEvidence, told: Answers, *, language: str = "en"
) -> docx.Sheet:
    """Return a paper that may be handed over, from what may be told alone.

    Raises
    ------
    TypeError
        Anything but public evidence was given, the paper stays, or an answer that is not told outside.
    """
    if not isinstance(evidence, PublicEvidence) or not paper.leaves or set(told) - set(TOLD_OUTSIDE):
        raise TypeError("only what may be told stands in a paper that is handed over")
    return _sheet(paper, evidence, lambda name: _OUTSIDE[name](evidence, told), language)


def write_inside(
    paper: Paper,
    evidence: PublicEvidence,
    kept: InternalEvidence,
    answers: Answers,
    *,
    language: str = "en",
) -> docx.Sheet:
    """Return a paper that stays."""

    def ask(name: str) -> Answer:
        inside = _INSIDE.get(name)
        return _OUTSIDE[name](evidence, answers) if inside is None else inside(evidence, kept, answers)

    return _sheet(paper, evidence, ask, language)


def _sheet(paper: Paper, evidence: PublicEvidence, ask: Callable[[str], Answer], language: str) -> docx.Sheet:
    asked = {name: ask(name) for _, names in paper.sections for name in names.split()}
    notes, sections = _words_of(paper, evidence, asked, language)
    # Each language names an article in its own way; what a source is cited by is English
    binding = (
        _words_of(paper, evidence, asked, texts.FALLBACK) if language != texts.FALLBACK else (notes, sections)
    )
    written = [*binding[0], *(f"{line.label} {line.answer}" for _, lines in binding[1] for line in lines)]
    rests = _law(written, asked, language)
    return docx.Sheet(
        word(Text(f"papers.{paper.id}.title"), language),
        notes,
        (*sections, (word(Text("papers.law.heading"), language), tuple(rests))),
        word(Text("papers.open"), language),
        language,
    )


def _words_of(
    paper: Paper, evidence: PublicEvidence, asked: Mapping[str, Answer], language: str
) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[docx.Line, ...]], ...]]:
    """Return the notes and the sections of a paper in a language, without the law that it rests on."""

    def paper_word(name: str, /, **values: Any) -> str:
        return word(Text(f"papers.{name}", values), language)

    sections = []
    for heading, names in paper.sections:
        found = {name: _write(asked[name], language) for name in names.split()}
        lines = [
            docx.Line(paper_word(f"fields.{name}"), answer)
            for name, answer in found.items()
            if answer or asked[name] == "" or name not in NOT_FOR_ALL
        ]
        sections.append((paper_word(f"sections.{heading}"), tuple(lines)))
    draft = paper_word(
        "draft",
        title=evidence.title or say("cover.untitled"),
        bundle=evidence.bundle_id,
        entry=str(evidence.ledger["entry"]),
        made_at=moment(evidence.made_at),
    )
    notes = [paper_word(f"{paper.id}.intro"), draft, paper_word("missing", open=paper_word("open"))]
    notes.append(paper_word(LEAVES if paper.leaves else STAYS))
    notes.append(paper_word("law.intro", day=law.as_of()))
    return tuple(notes), tuple(sections)


def _law(written: Iterable[str], fields: Iterable[str], language: str) -> Iterator[docx.Line]:
    """Give every source that a paper rests on, whether it was read, and what of it is not known."""
    before = {""}
    for one in law.rests_on(written, fields):
        said = {"says": one.says, "source": one.source, "told": one.told()}
        line = word(Text("papers.law.line", said), language)
        unknown = word(one.open, language) if one.open else ""
        yield docx.Line(word(one.name, language), line if unknown in before else f"{line} {unknown}")
        before.add(unknown)


def _write(answer: Answer, language: str) -> str:
    """Return an answer in words, several of them in lines; nothing for none."""
    if answer is None:
        return ""
    if isinstance(answer, Iterable) and not isinstance(answer, str | Text):
        return "\n".join(filter(None, (_write(one, language) for one in answer)))
    return cell(answer, language).strip() if answer != "" else ""


def model_card(evidence: PublicEvidence, *, language: str = "en") -> bytes:
    """Return the model card as Markdown, below the few fields that catalogues of models read.

    What was not stated is left out: a card that leaves has nothing to fill in.
    """
    sheet, sections = _card(evidence, language)
    kind = evidence.promise.kind.replace("_", "-")
    lines = ["---", "license: other", "library_name: custos", "tags:", "- tabular", f"- {kind}"]
    lines += ["---", "", f"# {_plain(evidence.title) or sheet.title}", "", sheet.notes[0]]
    for heading, said in sections:
        lines += ["", f"## {heading}", ""]
        for line in said:
            answers = [_plain(one) for one in line.answer.splitlines()]
            named = cell(say("words.named", name=f"**{line.label}**", level=answers[0]), language)
            lines += [f"- {named}", *(f"  - {one}" for one in answers[1:])]
    return ("\n".join(lines) + "\n").encode(errors="replace")


def model_card_document(evidence: PublicEvidence, *, language: str = "en") -> Document:
    """Return the model card as a document to print, with the same words."""
    sheet, found = _card(evidence, language)
    sections = []
    for heading, said in found:
        rows = []
        for line in said:
            first, *more = line.answer.splitlines()
            rows += [Row(line.label, first), *(Row("", one) for one in more)]
        sections.append(Section(heading, (KeyValues("", tuple(rows)),)))
    return Document(
        title=evidence.title or sheet.title,
        subtitle=sheet.title,
        audience=say("cover.audience_external"),
        stays=False,
        bundle_id=evidence.bundle_id,
        made_at=evidence.made_at,
        cover=(say("words.list", all=[sheet.notes[0]]),),
        sections=tuple(sections),
    )


def _card(evidence: PublicEvidence, language: str) -> tuple[docx.Sheet, list[tuple[str, list[docx.Line]]]]:
    """Return the paper, and its sections with the lines that say something, without the law."""
    sheet = write_outside(MODEL_CARD, evidence, {}, language=language)
    told = [(heading, [line for line in found if line.answer]) for heading, found in sheet.sections[:-1]]
    return sheet, [(heading, said) for heading, said in told if said]


def _plain(words: str) -> str:
    """Return words as Markdown shows them: no sign of theirs begins anything."""
    return _MARKS.sub(r"\\\g<0>", " ".join(words.split()))


# --- a bundle's papers ------------------------------------------------------------------------------------


def why_not(paper: Paper, evidence: PublicEvidence, *, has_internal: bool) -> str:
    """Return why a paper makes no sense for a release, by the id of a text; nothing where it does."""
    if not paper.leaves and not has_internal:
        return "internal"
    if paper.needs == "pseudonyms" and evidence.promise.kind != Pseudonymous.id:
        return paper.needs
    if paper.needs == "cells" and evidence.method["family"] not in (Family.STATISTICS, Family.SERVICE):
        return paper.needs
    return ""


def papers_of(
    evidence: PublicEvidence, kept: InternalEvidence | None, answers: Answers, *, language: str = "en"
) -> list[tuple[Paper, docx.Sheet | None]]:
    """Return every paper of a release, None for one that makes no sense for it."""
    told = {name: value for name, value in answers.items() if name in TOLD_OUTSIDE}

    def sheet(paper: Paper) -> docx.Sheet | None:
        if why_not(paper, evidence, has_internal=kept is not None):
            return None
        if paper.leaves or kept is None:
            return write_outside(paper, evidence, told, language=language)
        return write_inside(paper, evidence, kept, answers, language=language)

    with texts.speaking(words_of(evidence.decided)):
        return [(paper, sheet(paper)) for paper in PAPERS]
