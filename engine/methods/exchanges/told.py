"""What a survey says: how answers are changed, what to expect, and what came out, as tables and pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pandas as pd

from engine import texts
from engine.methods.exchanges.asking import largest_error
from engine.methods.exchanges.classifying import LEAST_REPORTS, Classifier, classifier, crossed_pairs
from engine.methods.exchanges.collected import Collection
from engine.methods.exchanges.estimating import (
    Estimate,
    Mean,
    distribution,
    estimates,
    half_width,
    margins,
    mean_of,
    people_needed,
)
from engine.methods.exchanges.kit import ALL, DATE, MEASURED, PAIR, Kit, Question, rounded_up
from engine.methods.exchanges.reading import Received
from engine.methods.exchanges.recipients import counts, programs
from engine.methods.protocol import Artefact, DictionaryEntry, Inside, TableArtefact
from engine.methods.shared.tables import marked_weak, with_weak
from engine.once import once
from engine.pricing.posterior import posterior
from engine.privacy.channels import Wave
from engine.privacy.channels.choosing import ROBUST
from engine.privacy.channels.urn import SLACK, urn_epsilon
from engine.texts import plainly
from engine.views import BarsView, Cell, HeatmapView, IntervalsView, NumberView, TableView, Text, View

ID = "exchanges.survey"
WORDS = f"methods.{ID}"
NUMBERS = ("reports", "given", "share", "standard_error", "within_95", "low", "high", "shown")
COUNTED = ("reports", "given", "zero", "slope")
TOO_MANY = 5
"""Standard deviations: lots alone reach them once in 3.5 million questions."""
MOST_BARS = 30
"""Bars of a distribution on the screen and in the report; the file has every value."""
MEANS = ("reports", "mean", "standard_error", "within_95", "low", "high")


def label(name: str) -> Text:
    """Return what a number is called."""
    return Text(f"{WORDS}.numbers.{name}.label")


def describe_forgery(kit: Kit, name: str) -> Text:
    """Say what made-up reports can do, of the question that they move the most, and why they may, if far."""
    values: dict[str, object] = {"points": _up(kit.moved)}
    if kit.moved > ROBUST and kit.reason:
        name, values = f"{name}_far", values | {"reason": kit.reason}
    return Text(f"{WORDS}.notes.{name}", values)


def describe_series(kit: Kit) -> tuple[Text, ...]:
    """Declare the sum of ε over all times that a survey is made; nothing of one that is made once."""
    if kit.waves == 1:
        return ()
    total = texts.significant_up(float(kit.total))
    values = {"waves": kit.waves, "epsilon": total, "sure": kit.sure_of_all}
    return (Text(f"{WORDS}.notes.series", values),)


def describe_times(kit: Kit, earlier: Sequence[Collection], collection: Collection) -> tuple[Text, ...]:
    """Say that a collection holds the reports of more times than were declared; nothing where it does not."""
    if collection.time <= kit.waves:
        return ()
    last = earlier[-1]
    epsilon = texts.significant_up(float(collection.time * kit.epsilon))
    values = {"waves": kit.waves, "time": collection.time, "reports": last.reports, "epsilon": epsilon}
    values["sure"] = rounded_up(100 * posterior(0.5, float(collection.time * kit.epsilon)))
    return (Text(f"{WORDS}.notes.{'collected_strips' if kit.device else 'collected'}", values),)


def _up(points: Fraction) -> float:
    return math.ceil(10 * points) / 10


def kit_views(kit: Kit) -> tuple[View, ...]:
    """Return what one report can tell, how each answer is changed, and why so."""
    rows: list[tuple[Cell, ...]] = []
    for one in kit.questions:
        reason = Text(f"{WORDS}.reasons.{one.reason}")
        chance = math.floor(10**6 * one.channel.hit / one.channel.tickets) / 10**6
        rows.append(
            (one.text, len(one.answers), float(one.epsilon), chance, _up(kit.moved_by_forged(one)), reason)
        )
    names = ("answers", "epsilon", "truth", "forged")
    headings = (
        Text(f"{WORDS}.views.question"),
        *(label(name) for name in names),
        Text(f"{WORDS}.views.reason"),
    )
    drawn = f"{kit.asked}_paper" if kit.device else kit.asked
    note = Text(f"{WORDS}.views.kit.{drawn}", {"questions": len(kit.questions)})
    views: list[View] = [NumberView(label("sure"), kit.sure, Text(f"{WORDS}.numbers.sure"), "%")]
    if kit.waves > 1:
        views.append(
            NumberView(label("sure_of_all"), kit.sure_of_all, Text(f"{WORDS}.numbers.sure_of_all"), "%")
        )
    return (*views, TableView(Text(f"{WORDS}.views.kit.title"), headings, tuple(rows), note))


def describe_care(kit: Kit, ways: Sequence[tuple[str, Kit]]) -> Text | None:
    """Say how far made-up reports move a kit, and the way that they move least; None where not far."""
    if kit.moved <= ROBUST:
        return None
    values: dict[str, object] = {"points": _up(kit.moved)}
    if not ways:
        return Text(f"{WORDS}.care.none", values)
    name, least = min(ways, key=lambda way: way[1].moved)
    values |= {"less": _up(least.moved), "epsilon": texts.significant_up(float(least.epsilon))}
    values |= {"now": 100 * largest_error(kit), "limit": 100 * largest_error(least)}
    return Text(f"{WORDS}.care.{name}", values)


def ways_views(kit: Kit, ways: Sequence[tuple[str, Kit]]) -> tuple[TableView, ...]:
    """Return what made-up reports move, and how exact the least exact question is, by way of asking."""
    if kit.moved <= ROBUST:
        return ()
    rows = tuple(
        (Text(f"{WORDS}.views.ways.{name}"), float(one.epsilon), _up(one.moved), largest_error(one))
        for name, one in (("chosen", kit), *ways)
    )
    names = ("whole", "forged", "expected")
    headings = (Text(f"{WORDS}.views.ways.way"), *(label(name) for name in names))
    note = Text(f"{WORDS}.views.ways.note", {"reports": kit.respondents, "most": ROBUST})
    return (TableView(Text(f"{WORDS}.views.ways.title"), headings, rows, note),)


def expected_view(kit: Kit, more_exact: Kit | None = None) -> TableView:
    """Return the margin of every question with as many reports as expected, and how many people it takes.

    ``more_exact`` is the kit that was not taken since made-up reports move it too far; the note says so.
    """
    people, each = kit.people_for(kit.respondents), 1 if kit.asked == ALL else len(kit.questions)
    rows = tuple((one.text, half_width(one, people), people_needed(one, each)) for one in kit.questions)
    headings = (Text(f"{WORDS}.views.question"), label("expected"), label("needed"))
    note = Text(f"{WORDS}.views.expected.{kit.asked}", {"reports": kit.respondents})
    if more_exact is not None and kit.asked == ALL:
        values = {"reports": kit.respondents, "limit": 100 * largest_error(more_exact)}
        values |= {"now": 100 * largest_error(kit), "points": _up(more_exact.moved), "most": ROBUST}
        note = Text(f"{WORDS}.views.expected.robust", values)
    return TableView(Text(f"{WORDS}.views.expected.title"), headings, rows, note)


class Results:
    """What the reports of a kit say: tables that leave, and how they are shown."""

    def __init__(self, kit: Kit, found: Received) -> None:
        self.kit, self.found = kit, found
        pairs = list(zip(kit.questions, found.outcomes, strict=True))
        self.shares = [(one, estimates(one, y)) for one, y in pairs if one.kind not in MEASURED]
        self.means = [(one, mean_of(one, y)) for one, y in pairs if one.kind in MEASURED]
        self.spread = [
            (one, distribution(one, y))
            for one, y in pairs
            if isinstance(one.channel, Wave) and len(y) and one.kind in MEASURED
        ]

    @property
    def says_something(self) -> bool:
        """Whether a single share or mean is told to less than 25 points."""
        return any(one.says_something for _, found in self.shares for one in found) or any(
            mean is not None and mean.says_something for _, mean in self.means
        )

    @property
    def is_too_small(self) -> bool:
        """Whether a classifier could be made of pairs, but would gain nothing with so few reports."""
        return bool(crossed_pairs(self.kit.questions)) and self.found.reports < LEAST_REPORTS

    @property
    def urn(self) -> float:
        """What the published counts tell of one person who stays among the others: ε, with a slack of δ.

        Of several questions to one person they add up, and so do their slacks.
        """
        asked = [
            (one.channel, len(found))
            for one, found in zip(self.kit.questions, self.found.outcomes, strict=True)
            if len(found)
        ]
        if self.kit.asked != ALL:
            return max(urn_epsilon(channel, people) for channel, people in asked)
        return sum(urn_epsilon(channel, people, SLACK / len(asked)) for channel, people in asked)

    @once
    def classifier(self) -> Classifier | None:
        """What pairs with one question say about it; None without such pairs, or with too few reports."""
        pairs = [(one, found) for one, found in self.shares if one in crossed_pairs(self.kit.questions)]
        if not pairs or self.is_too_small or not all(found[0].reports for _, found in pairs):
            return None
        return classifier(pairs)

    @property
    def artefacts(self) -> tuple[Artefact, ...]:
        """The tables that leave, and what recipients need to estimate for themselves."""
        found: list[Artefact] = []
        if self.shares:
            rows = [(question.text, *_row(one)) for question, answers in self.shares for one in answers]
            frame = pd.DataFrame(rows, columns=["question", "answer", *NUMBERS])
            found.append(TableArtefact("estimates", (frame,), self._dictionary(("answer",), NUMBERS)))
        if self.means:
            rows = [(question.text, *_mean_row(mean)) for question, mean in self.means]
            frame = pd.DataFrame(rows, columns=["question", *MEANS])
            found.append(TableArtefact("means", (frame,), self._dictionary((), MEANS)))
        if self.spread:
            rows = [
                (question.text, level, share)
                for question, shares in self.spread
                for level, share in zip(question.levels, shares.tolist(), strict=True)
            ]
            frame = pd.DataFrame(rows, columns=["question", "answer", "likely"])
            found.append(TableArtefact("distributions", (frame,), self._dictionary(("answer",), ("likely",))))
        if self.classifier is not None:
            frame = pd.DataFrame(
                self.classifier.rows(), columns=["question", "answer", "class", "probability"]
            )
            words = self._dictionary(("answer", "class"), ("probability",))
            found.append(TableArtefact("classifier", (frame,), words))
        told = counts(list(zip(self.kit.questions, self.found.outcomes, strict=True)))
        found.append(TableArtefact("counts", (told,), self._dictionary(("estimates", "answer"), COUNTED)))
        return (*found, *programs(told))

    def _dictionary(self, words: tuple[str, ...], numbers: tuple[str, ...]) -> tuple[DictionaryEntry, ...]:
        questions = tuple(one.text for one in self.kit.questions)
        named = [DictionaryEntry("question", Text(f"{WORDS}.columns.question"), "category", values=questions)]
        named += [DictionaryEntry(name, Text(f"{WORDS}.columns.{name}"), "category") for name in words]
        kinds = dict.fromkeys(numbers, "number") | {
            name: "integer" for name in ("reports", "given") if name in numbers
        }
        counted = [
            DictionaryEntry(name, Text(f"{WORDS}.numbers.{name}.what"), kind) for name, kind in kinds.items()
        ]
        return (*named, *counted)

    @property
    def views(self) -> tuple[View, ...]:
        """How they are shown."""
        return (
            NumberView(label("reports"), self.found.reports, Text(f"{WORDS}.numbers.reports")),
            *self._tables(),
            *self._pictures(),
            *self._classifier(),
            NumberView(label("urn"), plainly(self.urn, digits=3, up=True), Text(f"{WORDS}.numbers.urn")),
        )

    def _tables(self) -> Iterator[View]:
        if self.shares:
            each = [one.reports for _, answers in self.shares for one in answers]
            reports = {"reports": self.found.reports, "least": min(each), "most": max(each)}
            some = (
                "_of_some" if min(each) < self.found.reports else ""
            )  # who answers one question, drawn by lot
            rows = [(question.text, *_show(one)) for question, answers in self.shares for one in answers]
            frame = pd.DataFrame(rows, columns=["question", "answer", "shown", "within_95", "low", "high"])
            marked = marked_weak(frame, value="shown", taken=())
            cells = tuple(
                tuple(None if isinstance(cell, float) and math.isnan(cell) else cell for cell in row)
                for row in marked.itertuples(index=False, name=None)
            )
            names = ("question", "answer")
            headings = (
                *(Text(f"{WORDS}.views.{name}") for name in names),
                *(label(name) for name in ("shown", "within_95", "low", "high")),
            )
            note = with_weak(Text(f"{WORDS}.views.estimates.note{some}", reports), cells)
            yield TableView(Text(f"{WORDS}.views.estimates.title"), headings, cells, note)
        if self.means:
            cells = tuple(_mean_cells(question, mean) for question, mean in self.means)
            shown = (
                "reports",
                "mean",
                "within_95",
                "standard_error",
                "low",
                "high",
            )  # a margin beside its number
            headings = (Text(f"{WORDS}.views.question"), *(label(name) for name in shown))
            note = Text(f"{WORDS}.views.means.note")
            yield TableView(Text(f"{WORDS}.views.means.title"), headings, cells, note)

    def _classifier(self) -> Iterator[View]:
        made = self.classifier
        if made is None:
            return
        rows: list[tuple[Cell, ...]] = [(Text(f"{WORDS}.views.classifier.majority"), made.majority)]
        rows += [(question, made.alone(place)) for place, (question, _, _) in enumerate(made.tables)]
        rows.append((Text(f"{WORDS}.views.classifier.together"), made.together))
        headings = (Text(f"{WORDS}.views.classifier.by"), label("right"))
        note = Text(f"{WORDS}.views.classifier.note", {"target": made.target})
        yield TableView(Text(f"{WORDS}.views.classifier.title"), headings, tuple(rows), note)

    def _pictures(self) -> Iterator[View]:
        for question, answers in self.shares:
            said = [one for one in answers if one.says_something]
            if question.kind == PAIR and len(said) == len(answers):
                wide = len(question.second_levels)
                cells = [one.shown for one in answers]
                rows = tuple(tuple(cells[at : at + wide]) for at in range(0, len(cells), wide))
                title = f"{question.text} · {question.second_text}"
                note = Text(f"{WORDS}.views.pair.note")
                yield HeatmapView(title, question.levels, question.second_levels, rows, note)
                parts = margins(question, answers)
                note = Text(f"{WORDS}.views.margins.note")
                headings = (Text(f"{WORDS}.views.answer"), label("share"))
                yield TableView(Text(f"{WORDS}.views.margins.title"), headings, tuple(parts), note)
            elif said:
                yield _drawing(question.text, said)
        for question, shares in self.spread:
            note = Text(f"{WORDS}.views.spread.note")
            names, values = _grouped(question, shares.tolist())
            yield BarsView(question.text, names, values, label("likely"), note=note)


def _grouped(question: Question, shares: list[float]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return values and their shares; of many values groups of neighbours."""
    together = math.ceil(len(shares) / MOST_BARS)
    groups = [question.levels[at : at + together] for at in range(0, len(shares), together)]
    parts = tuple(math.fsum(shares[at : at + together]) for at in range(0, len(shares), together))
    return tuple(one[0] if len(one) == 1 else f"{one[0]} … {one[-1]}" for one in groups), parts


def _row(one: Estimate) -> tuple[Any, ...]:
    """Return a row of the file: what can say nothing is left empty."""
    if not one.says_something:
        return one.answer, one.reports, one.named, *[math.nan] * 6
    return (
        one.answer,
        one.reports,
        one.named,
        one.share,
        one.error,
        one.margin,
        min(1.0, max(0.0, one.low)),
        max(0.0, min(1.0, one.high)),
        one.shown,
    )


def _show(one: Estimate) -> tuple[object, ...]:
    cells = _row(one)
    low, high = (round(cells[at], 3) for at in (6, 7))  # no more digits than beside the margin
    return cells[0], cells[8], cells[5], low, high


def _mean_row(mean: Mean | None) -> tuple[object, ...]:
    if mean is None or not mean.says_something:
        return mean.reports if mean else 0, *[math.nan] * 5
    return mean.reports, mean.value, mean.error, mean.margin, mean.low, mean.high


def _mean_cells(question: Question, mean: Mean | None) -> tuple[Cell, ...]:
    if mean is None or not mean.says_something:
        return question.text, mean.reports if mean else 0, *[None] * 5
    if question.kind != DATE:
        return question.text, mean.reports, mean.value, mean.margin, mean.error, mean.low, mean.high

    def day(value: float) -> str:
        return question.written_value((value - float(question.lowest)) / float(question.step))

    return (
        question.text,
        mean.reports,
        day(mean.value),
        mean.margin,
        mean.error,
        day(mean.low),
        day(mean.high),
    )


def _drawing(title: str, said: list[Estimate]) -> IntervalsView:
    note = Text(f"{WORDS}.views.drawing.note")
    return IntervalsView(
        title,
        tuple(one.answer for one in said),
        tuple(one.shown for one in said),
        tuple(min(1.0, max(0.0, one.low)) for one in said),
        tuple(max(0.0, min(1.0, one.high)) for one in said),
        label("shown"),
        note,
    )


def uneven(kit: Kit, found: Received) -> tuple[float, ...]:
    """Return for each question by how many standard deviations its reports are more than lots explain.

    Where one question is drawn for each person, every question gets its part: who makes reports up to move
    one question cannot hide that there are more of them. Empty where all are asked.
    """
    if kit.asked == ALL:
        return ()
    part = 1 / len(kit.questions)
    spread = math.sqrt(found.reports * part * (1 - part))
    return tuple((len(one) - found.reports * part) / spread if spread else 0.0 for one in found.outcomes)


def believed_view(kit: Kit, results: Results) -> TableView:
    """Return how sure whoever sees a report can become of each answer of one person, at most.

    Before the report they hold it for as common as it may be, the upper end of its interval: what was
    estimated as none may be rare. Then the odds change by e^ε of the whole report at most, whatever is
    known of how answers go together.
    """
    told = [(kit.epsilon, "believed"), *([(kit.total, "believed_of_all")] if kit.waves > 1 else [])]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (question.text, one.answer, most, *(_believed(most, epsilon) for epsilon, _ in told))
        for question, answers in results.shares
        for one in answers
        if one.says_something and (most := min(1.0, max(0, math.ceil(1000 * one.high)) / 1000))
    )
    headings = (
        *(Text(f"{WORDS}.views.{name}") for name in ("question", "answer")),
        *(label(name) for name in ("high", *(name for _, name in told))),
    )
    title, note = (Text(f"{WORDS}.views.believed.{name}") for name in ("title", "note"))
    return TableView(title, headings, rows, note)


def _believed(share: float, epsilon: Fraction) -> float:
    """Return how likely an answer is after a report that speaks for it as loudly as any can: rounded up."""
    return rounded_up(100 * posterior(share, float(epsilon))) / 100 if 0 < share < 1 else share


def inside(kit: Kit, found: Received, results: Results) -> Inside:
    """Say to the custodian alone what was left out, what a report tells, and where more came than lots do."""
    figures = {"reports": found.reports, "left_out": dict(found.left_out)}
    views: list[View] = []
    off = uneven(kit, found)
    if off:
        figures["uneven"] = [round(one, 3) for one in off]
        said = [Text(f"{WORDS}.views.asked.{'more' if one > TOO_MANY else 'even'}") for one in off]
        asked = tuple(
            (question.text, len(outcomes), word)
            for question, outcomes, word in zip(kit.questions, found.outcomes, said, strict=True)
        )
        names = tuple(Text(f"{WORDS}.views.{name}") for name in ("question", "asked.reports", "asked.said"))
        views.append(
            TableView(Text(f"{WORDS}.views.asked.title"), names, asked, Text(f"{WORDS}.views.asked.note"))
        )
    headings = (Text(f"{WORDS}.views.left_out.reason"), Text(f"{WORDS}.views.left_out.count"))
    rows = tuple((Text(f"{WORDS}.views.left_out.{name}"), count) for name, count in found.left_out.items())
    title, note = (Text(f"{WORDS}.views.left_out.{name}") for name in ("title", "note"))
    if results.shares:
        views.append(believed_view(kit, results))
    return Inside((TableView(title, headings, rows, note), *views), figures)
