"""A survey in which every answer is changed before it is given: the page to answer on, then the estimates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pandas as pd

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.exchanges.kit_page import page
from engine.methods.exchanges.responses import (
    NORMAL_50,
    Kit,
    Question,
    Received,
    question_at,
    question_with,
    received,
    share,
)
from engine.methods.filling import Judged
from engine.methods.once import once
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    Context,
    DictionaryEntry,
    Expected,
    Family,
    FileArtefact,
    Forecast,
    Inside,
    Reference,
    Release,
    Service,
    Shape,
    Source,
    Spends,
    Step,
    TableArtefact,
)
from engine.methods.shared.tables import marked_weak, with_weak
from engine.privacy.events import Sequential
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from engine.table.schema import Kind
from engine.table.table import Table
from engine.views import IntervalsView, NumberView, TableView, Text, View

ID = "exchanges.survey"
WORDS = f"methods.{ID}"
COLLECT, REPORTS = "collect", "reports"
LONGEST = 1000
NUMBERS = ("reports", "given", "share", "standard_error", "within_95")
HALF = 0.5  # a share that is off by so much says nothing


class Survey(Service):
    """Randomised response: a page that gives out changed answers, and unbiased shares from its reports.

    Notes
    -----
    With k answers the true one is reported with probability e^ε / (e^ε + k − 1), each other one with
    1 / (e^ε + k − 1): S. L. Warner (1965) for k = 2; Kairouz, Oh and Viswanath (2016), equation 13. The lots
    are drawn by the browser of each respondent, so no register pays, and collecting is post-processing:
    it spends nothing further. ε adds up over the questions; that somebody took part is not hidden. Nobody
    can tell whether a report was made by the page as it is; each moves a share by at most 1/(n(p − q)).
    """

    id = ID
    family = Family.EXCHANGE
    usual = True
    promises = ("local_dp",)
    spends = Spends.FOLLOWS
    published = Reference(
        "Warner: Randomized response (1965); Kairouz, Oh, Viswanath: Extremal mechanisms (2016)",
        "section 2; equation 13",
        "doi:10.1080/01621459.1965.10480775",
    )
    sources = ()

    class Options(option.Options):
        title: str = option.text()
        intro: str | None = option.text(optional=True)
        questions: option.Records = option.records(
            option.text(name="text"),
            option.texts(name="levels", minimum=2, maximum=100),
            option.number(name="epsilon", optional=True, minimum=Fraction(1, 100), maximum=10),
            option.number(name="truth", optional=True, minimum=0, maximum=1),
            minimum=1,
            maximum=50,
        )
        respondents: int = option.integer(minimum=1, maximum=10**9)

    options: Options
    steps = (
        Step(
            COLLECT,
            (Source(REPORTS, Shape.RECEIVED, many=True),),
            (option.column(name="report", column_kinds=(Kind.TEXT, Kind.CATEGORY), source=REPORTS),),
        ),
    )

    @once
    def further_problems(self) -> list[Problem]:
        if self.request.step:
            return [] if Kit.loads(self.request.state or b"") else [Problem(f"{ID}.no_kit")]
        return list(_problems(self.values))

    @once
    def cost(self) -> Promise:
        """Promise the same for a kit and for what is made of its reports."""
        questions = _kit(self).questions
        loss = Loss(
            sum((one.epsilon for one in questions), Fraction(0)),
            Fraction(0),
            Neighbours.REPLACE_ONE,
            Sequential(tuple(one.event for one in questions)),
        )
        return Promise("local_dp", loss, Unit.PERSON, 1, assumptions=("respondents_draw", "one_report"))

    @once
    def forecast(self) -> Forecast:
        """Say how exact the shares will be with as many reports as expected, not with those that came."""
        if self.request.step:
            return Forecast()
        kit = _kit(self)
        errors = [(one.widest_error(kit.respondents), one) for one in kit.questions]
        median = max(NORMAL_50 * error for error, _ in errors)
        limit = max(one.margin(error, kit.respondents) for error, one in errors)
        expected = Expected(_label("share"), "survey", None, median, limit)
        return Forecast((expected,), views=(_expected_view(kit),))

    def judged(self, people: int | None) -> Judged | None:
        """Judge by the answers that are expected, whoever is in a table."""
        if self.request.step:
            return None
        limit, respondents = self.forecast.errors[0].limit, _kit(self).respondents
        values = {"respondents": respondents, "limit": 100 * limit}
        return Judged(max(0.0, 1 - limit / HALF), Text(f"{WORDS}.judged", values))

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        kit = _kit(self)
        artefact = FileArtefact("survey.html", "text/html", page(kit), Text(f"{WORDS}.files.kit"))
        notes = (
            *(Text(f"{WORDS}.notes.{name}") for name in ("send_page", "collect_later")),
            _forged(kit, "forged"),
        )
        return Release((artefact,), self.cost, (_kit_view(kit),), notes, state=kit.dumps())

    def step(self, step: str, tables: Mapping[str, Table], state: bytes, context: Context) -> Release:
        kit, column = _kit(self), self.values["report"]
        found = received(tables[REPORTS].rows()[column].tolist(), kit, heading=column)
        if not found.reports:
            raise InputRefused(f"{ID}.no_reports")
        frame = _estimates(kit, found)
        artefact = TableArtefact("estimates", (frame,), _dictionary(kit))
        notes = (*(Text(f"{WORDS}.notes.{name}") for name in ("unbiased", "margin")), _forged(kit, "honest"))
        views = tuple(_result_views(kit, found, frame))
        return Release((artefact,), self.cost, views, notes, inside=_inside(found), state=state)


def _problems(values: Mapping[str, Any]) -> Iterator[Problem]:
    for number, record in enumerate(values["questions"], start=1):
        levels = [level.strip() for level in record["levels"]]
        named = {"number": number}
        if max(len(text) for text in (values["title"], record["text"], *levels)) > LONGEST:
            yield Problem(f"{ID}.too_long", named | {"most": LONGEST}, "questions")
        elif not record["text"].strip() or not all(levels) or len(set(levels)) < len(levels):
            yield Problem(f"{ID}.levels", named, "questions")
        elif (record["epsilon"] is None) == (record["truth"] is None):
            yield Problem(f"{ID}.level_open", named, "questions")
        elif record["truth"] is not None and _question(record) is None:
            yield Problem(f"{ID}.truth", named | {"answers": len(levels)}, "questions")


def _question(record: Mapping[str, Any]) -> Question | None:
    text, levels = record["text"].strip(), tuple(level.strip() for level in record["levels"])
    if record["truth"] is not None:
        return question_with(text, levels, record["truth"])
    return question_at(text, levels, record["epsilon"])


def _kit(design: Survey) -> Kit:
    """Return the kit that the parameters describe; in a step, the one that was given out."""
    if design.request.step:
        kit = Kit.loads(design.request.state or b"")
        assert kit is not None  # `further_problems` looked
        return kit
    options = design.options
    questions = (_question(record) for record in options.questions)
    return Kit(
        options.title.strip(),
        options.intro or "",
        tuple(one for one in questions if one),
        options.respondents,
    )


def _points(question: Question) -> float:
    return math.ceil(10 * question.moved_by_forged) / 10


def _forged(kit: Kit, name: str) -> Text:
    """Say what made-up reports can do, of the question that they move the most."""
    return Text(f"{WORDS}.notes.{name}", {"points": max(map(_points, kit.questions))})


def _label(name: str) -> Text:
    return Text(f"{WORDS}.numbers.{name}.label")


def _kit_view(kit: Kit) -> TableView:
    """Return how each answer is changed."""
    rows = tuple(
        (one.text, len(one.levels), float(one.epsilon), round(float(one.truth), 6), _points(one))
        for one in kit.questions
    )
    names = ("answers", "epsilon", "truth", "forged")
    headings = (Text(f"{WORDS}.views.question"), *(_label(name) for name in names))
    return TableView(Text(f"{WORDS}.views.kit.title"), headings, rows, Text(f"{WORDS}.views.kit.note"))


def _expected_view(kit: Kit) -> TableView:
    """Return the margin of every question with as many reports as expected."""
    n = kit.respondents
    rows = tuple((one.text, one.margin(one.widest_error(n), n)) for one in kit.questions)
    headings = (Text(f"{WORDS}.views.question"), _label("expected"))
    note = Text(f"{WORDS}.views.expected.note", {"reports": n})
    return TableView(Text(f"{WORDS}.views.expected.title"), headings, rows, note)


def _estimates(kit: Kit, found: Received) -> pd.DataFrame:
    rows = []
    for question, counts in zip(kit.questions, found.given, strict=True):
        for level, given in zip(question.levels, counts, strict=True):
            estimate = share(question, given, found.reports)
            error = question.standard_error(estimate, found.reports)
            margin = question.margin(error, found.reports)
            rows.append((question.text, level, found.reports, given, float(estimate), error, margin))
    return pd.DataFrame(rows, columns=["question", "answer", *NUMBERS])


def _dictionary(kit: Kit) -> tuple[DictionaryEntry, ...]:
    questions = tuple(one.text for one in kit.questions)
    names = [
        DictionaryEntry("question", Text(f"{WORDS}.columns.question"), "category", values=questions),
        DictionaryEntry("answer", Text(f"{WORDS}.columns.answer"), "category"),
    ]
    kinds = dict.fromkeys(NUMBERS, "number") | {"reports": "integer", "given": "integer"}
    numbers = [
        DictionaryEntry(name, Text(f"{WORDS}.numbers.{name}.what"), kind) for name, kind in kinds.items()
    ]
    return (*names, *numbers)


def _result_views(kit: Kit, found: Received, frame: pd.DataFrame) -> Iterator[View]:
    yield NumberView(_label("reports"), found.reports, Text(f"{WORDS}.numbers.reports"))
    shown = frame[["question", "answer", "share", "within_95"]]
    headings = (
        Text(f"{WORDS}.views.question"),
        Text(f"{WORDS}.views.answer"),
        _label("share"),
        _label("within_95"),
    )
    marked = marked_weak(shown, value="share", taken=())
    rows = tuple(tuple(row) for row in marked.itertuples(index=False, name=None))
    note = with_weak(Text(f"{WORDS}.views.estimates.note", {"reports": found.reports}), rows)
    yield TableView(Text(f"{WORDS}.views.estimates.title"), headings, rows, note)
    start = 0
    for question in kit.questions:
        part = frame.iloc[start : start + len(question.levels)]
        start += len(question.levels)
        yield _drawing(question, part["share"].tolist(), part["within_95"].tolist())


def _drawing(question: Question, shares: Sequence[float], margins: Sequence[float]) -> IntervalsView:
    low = tuple(value - margin for value, margin in zip(shares, margins, strict=True))
    high = tuple(value + margin for value, margin in zip(shares, margins, strict=True))
    note = Text(f"{WORDS}.views.drawing.note")
    return IntervalsView(question.text, question.levels, tuple(shares), low, high, _label("share"), note)


def _inside(found: Received) -> Inside:
    """Say to the custodian alone what was left out."""
    figures = {"reports": found.reports, "left_out": dict(found.left_out)}
    headings = (Text(f"{WORDS}.views.left_out.reason"), Text(f"{WORDS}.views.left_out.count"))
    rows = tuple((Text(f"{WORDS}.views.left_out.{name}"), count) for name, count in found.left_out.items())
    title, note = (Text(f"{WORDS}.views.left_out.{name}") for name in ("title", "note"))
    return Inside((TableView(title, headings, rows, note),), figures)
