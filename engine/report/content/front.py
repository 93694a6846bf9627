"""Page one of what leaves is the report: a sentence, a status, a figure, four facts, who, how to check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from engine.evidence import PublicEvidence
from engine.languages import Written
from engine.methods.filling import effects_told
from engine.methods.kinds import Family
from engine.numbers import exactly
from engine.privacy.promise import promise_kind
from engine.report.content import cover
from engine.report.content.facts import CONDITIONS, facts_of, has_margins, own_words, released_others
from engine.report.content.promise import can_do
from engine.report.content.results import as_shown, with_thin_band
from engine.report.content.shared import day, moment, say, side, stated_or_not, unit_word, whom_about
from engine.report.document import Callout, Fact, Facts, Headline, KeyValues, Part, Row, SideBySide
from engine.report.findings import find_sentence, is_of_counts
from engine.report.words import FIRM_SPACE, is_number, margin_columns, with_interval, word
from engine.texts import percent_up, plainly
from engine.views import (
    HIDDEN,
    BarsView,
    Cell,
    CurveView,
    HeatmapView,
    IntervalsView,
    Label,
    NumberView,
    TableView,
    Text,
    View,
    amount,
    is_aside,
    labelled,
    percent,
)

ROWS = "utility.released_rows"
SHARE = "exchanges.share"
MOST_BARS = 12
FACTS = 4
EVERYONE = "statistics.labels.everyone"
ALL = "(all)"
HELD_OUT = "held_out"


def front(evidence: PublicEvidence, sum_of_evidence: str = "") -> tuple[Part, ...]:
    """Return page one. ``sum_of_evidence`` is the SHA-256 of the evidence that the report is made from."""
    status = promise_kind(evidence.promise.kind).status
    facts = facts_of(evidence)
    parts: list[Part] = [
        cover.sentence(evidence),
        Callout(own_words(evidence, "status"), care=facts.personal, head=say(f"front.status_{status}")),
    ]
    if facts.opened and facts.bounded and not facts.local:
        parts.append(say("cover.opened"))
    if evidence.method["id"] == SHARE:
        parts.append(say("cover.share"))
    drawn = headline(evidence)
    if drawn is not None:
        parts.append(drawn)
    found = [one for _, one in zip(range(FACTS), key_facts(evidence), strict=False)]
    parts += [Facts(tuple(found)), _uses(evidence)]
    parts.append(KeyValues(say("front.who"), tuple(_who(evidence)), across=True))
    check = [Row(say("front.check"), say("front.check_how"))]
    if sum_of_evidence:
        groups = " ".join(sum_of_evidence[at : at + 4] for at in range(0, 32, 4))
        check.append(Row(say("front.evidence"), groups, code=True))
    return (*parts, KeyValues("", tuple(check), across=True))


# --- the figure -------------------------------------------------------------------------------------------


def headline(evidence: PublicEvidence) -> Headline | None:
    """Return the one figure of page one, headed by its finding."""
    for view, found in (*_drawings(evidence), *_belief(evidence)):
        said = found or find_sentence(view)
        if said is not None:
            return Headline(view, said)
    return None


Drawn = tuple[View, Text | None]
"""What can be drawn, and what it shows where its own numbers do not say it best."""


def _drawings(evidence: PublicEvidence) -> Iterator[Drawn]:
    """Give what can be drawn of a release, what says most first."""
    rows = [view for view in evidence.views if isinstance(view, BarsView) and _is_measured(view, ROWS)]
    if rows:
        yield rows[0], _found_in_rows(evidence)
        return
    views = evidence.views
    if facts_of(evidence).local and not any(map(has_margins, views)):
        return  # nobody has answered yet
    short = [one for one in views if isinstance(one, BarsView | IntervalsView)]
    tables = [one for one in views if isinstance(one, TableView)]
    yield from ((as_shown(one), None) for one in short if len(one.labels) <= MOST_BARS)
    yield from ((bars, None) for one in tables for bars in _of_totals(one))
    yield from ((with_thin_band(one), None) for one in views if isinstance(one, CurveView))
    yield from ((_foremost(one), find_sentence(one)) for one in short if one.low)
    # Answers of a desk have several units; beside a shade stands no margin
    measured = [] if evidence.method["family"] == Family.SERVICE else tables
    yield from ((_foremost(bars), find_sentence(bars)) for one in measured for bars in _of_margins(one))
    yield from ((one, None) for one in views if isinstance(one, HeatmapView))
    yield from ((_foremost(one), find_sentence(one)) for one in short)
    bare = ((one, bars) for one in tables for bars in _of_table(one))
    yield from ((_foremost(bars), find_sentence(one) or find_sentence(bars)) for one, bars in bare)


def _found_in_rows(evidence: PublicEvidence) -> Text | None:
    """Say how large groups of released rows are, or which value of each column is most frequent."""
    found = evidence.measures.get(ROWS, {})
    if "groups" in found:
        return say("front.groups_found", **found)
    if not found.get("most"):
        return None
    written = [one if isinstance(one, str) else labelled(*one) for one in found["most"]]
    return say("front.most_found", names=written)


def _is_measured(view: View, measure: str) -> bool:
    return isinstance(view.title, Text) and view.title.id.startswith(f"measures.{measure}.")


def _of_totals(table: TableView) -> Iterator[BarsView]:
    """Give the totals over the values of one column: of the column with most values that fit."""
    at = next(iter(margin_columns(table)), None)
    if at is None or at < 2 or not table.rows:  # nothing may have left
        return
    if not isinstance(table.rows[0][at - 2 if at == 2 else 0], str | Text):
        return
    groups: dict[str, list[tuple[Label, float, float]]] = {}
    for row in table.rows:
        value, margin = amount(row[at - 1]), amount(row[at])
        name, label = _total_of(table, row[: at - 1])
        if name and value is not None and margin is not None:
            groups.setdefault(name, []).append((label, float(value), float(margin)))
    fitting = [(len(one), name) for name, one in groups.items() if 2 <= len(one) <= MOST_BARS]
    if not fitting:
        return
    rows = groups[max(fitting)[1]]
    labels, values, margins = zip(*rows, strict=True)
    low, high = (tuple(v + sign * m for v, m in zip(values, margins, strict=True)) for sign in (-1, 1))
    yield BarsView(table.title, labels, values, table.headings[at - 1], low, high)


def _of_margins(table: TableView) -> Iterator[IntervalsView]:
    """Give the numbers of a table that stand beside a margin, each named by the words before it."""
    at = next(iter(margin_columns(table)), 0)
    if at < 2:
        return
    fewest = min((row[: at - 1].count(ALL) for row in table.rows), default=0)  # what is counted most finely
    rows = [row for row in table.rows if row[: at - 1].count(ALL) == fewest]
    if any(not _is_name(cell) for row in rows for cell in row[: at - 1]):
        return
    heads = table.headings
    found = [(_join_but_all(heads, row[: at - 1]), amount(row[at - 1]), amount(row[at])) for row in rows]
    known = [(label, float(n), float(off)) for label, n, off in found if n is not None and off is not None]
    if len(known) > 1:
        labels, values, margins = zip(*known, strict=True)
        low, high = (tuple(v + sign * m for v, m in zip(values, margins, strict=True)) for sign in (-1, 1))
        yield IntervalsView(table.title, labels, values, low, high, heads[at - 1])


def _join_but_all(headings: Sequence[Label], labels: Sequence[Cell]) -> Label:
    own = [at for at, label in enumerate(labels) if label != ALL]
    return _join([headings[at] for at in own], [labels[at] for at in own]) if own else ALL


def _total_of(table: TableView, labels: Sequence[Cell]) -> tuple[str, Label]:
    """Return the column over whose values a row is a total, and the value; nothing for another row."""
    if len(labels) == 1 and isinstance(labels[0], str):
        name, colon, _ = labels[0].partition(": ")
        return (name, labels[0]) if colon else ("", "")
    own = [at for at, label in enumerate(labels) if label != ALL]
    if len(labels) < 2 or len(own) != 1 or not isinstance(label := labels[own[0]], str | Text):
        return "", ""
    return str(table.headings[own[0]]), label


def _foremost(view: BarsView | IntervalsView) -> BarsView | IntervalsView:
    """Return the bars that are largest, in their order: of effects either way, of counts those of most."""
    values = view.values if isinstance(view, BarsView) else view.centres
    either_way = any(value < 0 for value in values) and not is_of_counts(view.axis)
    sizes = [abs(value) if either_way else value for value in values]
    places = sorted(sorted(range(len(values)), key=lambda at: -sizes[at])[:MOST_BARS])
    centre = "values" if isinstance(view, BarsView) else "centres"
    names = ("labels", centre, *(("low", "high") if view.low else ()))
    picked: dict[str, Any] = {name: tuple(getattr(view, name)[at] for at in places) for name in names}
    cut = len(places) < len(values)
    said = "front.foremost_either_way" if either_way else "front.foremost"
    note = say(said, shown=len(places), all=len(values)) if cut else view.note
    return replace(view, **picked, note=note)


def _of_table(table: TableView) -> Iterator[BarsView]:
    """Give a table as bars where every row has a name and, after it, numbers alone."""
    columns = range(1, len(table.headings))
    named = [row for row in table.rows if ALL not in row and _is_name(row[0])]
    rows = [row for row in named if not any(map(is_aside, row))]
    numeric = [at for at in columns if rows and any(is_number(row[at]) for row in rows)]
    if len(rows) < 2 or not numeric:
        return
    names = numeric[0]
    if any(not _is_name(cell) for row in rows for cell in row[:names] if cell is not None):
        return
    if any(_is_word(cell) for row in rows for cell in row[names:]):
        return  # properties of one thing, and nothing to compare
    by_first = {word(_join(table.headings, row[:1]), "en") for row in rows}
    names = 1 if len(by_first) == len(rows) else names  # the first names tell the rows apart by themselves
    last = numeric[-1] if table.headings[-1] == ALL else numeric[0]
    found = [(_join(table.headings, row[:names]), amount(row[last])) for row in rows]
    known = [(label, float(value)) for label, value in found if value is not None]
    if len({value for _, value in known}) > 1:  # of what is the same for all nothing is largest
        labels, values = zip(*known, strict=True)
        axis = say("front.total_axis") if table.headings[last] == ALL else table.headings[last]
        note = say("front.without_asides") if len(rows) < len(named) else None
        yield BarsView(table.title, labels, values, axis if isinstance(axis, Text) else str(axis), note=note)


def _is_word(cell: Cell) -> bool:
    """Say whether a cell holds words: neither a number nor the sign of a hidden one."""
    return isinstance(cell, str) or (isinstance(cell, Text) and cell.id != HIDDEN and not is_number(cell))


def _is_name(cell: Cell) -> bool:
    return isinstance(cell, str | Text | int) and not (isinstance(cell, Text) and is_number(cell))


def _join(headings: Sequence[Label], labels: Sequence[Cell]) -> Label:
    named = [
        label if isinstance(label, str | Text) else say("words.numbered", name=heading, number=label)
        for heading, label in zip(headings, labels, strict=False)
        if label is not None  # a number has no level beside its column
    ]
    return named[0] if len(named) == 1 else say("words.list", all=named)


def _belief(evidence: PublicEvidence) -> Iterator[Drawn]:
    """Draw what the promise bounds, where nothing else can be drawn.

    Of a desk that was opened no number has left, and the sums of one site are no result: page one says so.
    """
    loss, found = evidence.promise.loss, evidence.statement.get("posterior")
    if loss is None or not found:
        return
    local = side(evidence.promise) == "local"
    known = ("presence", "value") if loss.neighbours.value == "add_remove" and not local else ("value",)
    labels: list[Label] = [say("front.belief_before")]
    labels += [say(f"front.belief_{'answer' if local else name}", unit=unit_word(evidence)) for name in known]
    values = (50.0, *(_percent(found[name]) for name in known))
    most = say("front.belief_found", most=Written(f"{max(values):g}"))
    yield BarsView(say("front.belief"), tuple(labels), values, say("front.belief_axis")), most


def _percent(share: float) -> float:
    return float(percent_up(share).removesuffix("%").strip())


# --- four facts -------------------------------------------------------------------------------------------


def key_facts(evidence: PublicEvidence) -> Iterator[Fact]:
    """Give what a reader has to know, most needed first: four of these stand on page one."""
    yield from _size(evidence)
    yield from _left_out(evidence)
    yield from _exactness(evidence)
    yield from _told_apart(evidence)
    yield from _score(evidence)
    yield from _terms(evidence)
    yield from _untouch(evidence)
    yield from _spend(evidence)
    yield from _rest(evidence)


def _size(evidence: PublicEvidence) -> Iterator[Fact]:
    facts = facts_of(evidence)
    if facts.opened:
        yield Fact(say("front.answers"), say("front.answers_none"), say("front.answers_what"))
        return
    tables = [one for one in evidence.artefacts if one.get("rows")]
    if facts.rows and tables:
        kind = "real" if facts.personal else "invented"
        if evidence.promise.kind == "none":
            kind = "none"  # some or all values invented, or made alike: the dictionary says which
        names, sizes = [str(one["file"]) for one in tables], [int(one["rows"]) for one in tables]
        name, count = ("several", sizes[0]) if sizes[1:] and len(set(sizes)) == 1 else ("rows", sum(sizes))
        yield Fact(say(f"front.{name}"), count, say(f"front.rows_{kind}", files=names))
        return
    for view in evidence.views:
        if isinstance(view, TableView):
            total = next(
                (one for one in view.rows if isinstance(one[0], Text) and one[0].id == EVERYONE), None
            )
            if total is not None and len(total) > 2:
                value, margin = amount(total[1]), amount(total[2])
                if value is not None and margin is not None:
                    said = Written(with_interval(float(value), value - margin, value + margin, "en"))
                    yield Fact(say("front.total"), said, say("front.total_what"))
                    return
    number = next((one for one in evidence.views if isinstance(one, NumberView) and _counts(one)), None)
    if number is not None:
        yield Fact(number.title, number.value, Text(f"{number.three.id}.what", number.three.values))
    elif tables and evidence.method["family"] == Family.SERVICE:
        what = say("front.given_what", files=[str(tables[0]["file"])])
        yield Fact(say("front.given"), int(tables[0]["rows"]), what)
    elif tables and any(isinstance(view, TableView) for view in evidence.views):  # a curve has no groups
        files, count = [str(one["file"]) for one in tables], sum(int(one["rows"]) for one in tables)
        hidden, shown = _count_hidden(evidence)
        form = "hidden_" if hidden else "above_" if evidence.promise.clears else ""
        what = say(f"front.numbers_{form}what", files=files, hidden=hidden)
        if not hidden or hidden + shown == count:  # of a long table the views show the beginning alone
            yield Fact(say("front.numbers"), count - hidden, what)


def _count_hidden(evidence: PublicEvidence) -> tuple[int, int]:
    """Return how many cells of the released tables are hidden, and how many show a number."""
    tables = [view for view in evidence.views if isinstance(view, TableView)]
    cells = [cell for view in tables for row in view.rows for cell in row]
    hidden = sum(isinstance(cell, Text) and cell.id == HIDDEN for cell in cells)
    return hidden, sum(amount(cell) is not None for cell in cells)


def _counts(number: NumberView) -> bool:
    return number.three.id.endswith((".rows", ".reports"))


def _left_out(evidence: PublicEvidence) -> Iterator[Fact]:
    counted, least = evidence.counted, int(str(evidence.promise.terms.get("k", 1)))
    left = counted.get("left_out", 0)
    if counted and left >= max(least, 1):
        share = max(round(100 * left / counted["used"], 1), 0.1)
        yield Fact(say("front.left"), percent(share / 100), say("front.left_what"), care=True)


def _exactness(evidence: PublicEvidence) -> Iterator[Fact]:
    if evidence.promise.loss is None:
        return
    for said in cover.accuracy(evidence)[:1]:
        limit, last = said.values.get("limit"), said.values.get("last")
        if limit is not None:
            unit = FIRM_SPACE + "%" if str(said.values.get("unit", "")).strip() == "%" else ""
            if last is not None and _number(last) < _number(limit):
                limit, last = last, limit
            one = "" if last in (None, limit) else "_range"
            value = say(f"front.exact{one}_value", limit=limit, last=last, per_cent=unit)
            yield Fact(say("front.exact"), value, said)


def _number(written: Any) -> float:
    return float(str(written).replace(",", ""))


def _told_apart(evidence: PublicEvidence) -> Iterator[Fact]:
    counted = cover.guesses(evidence)
    if counted is not None:
        told = cover.accuracy(evidence)[-1]
        yield Fact(say("front.apart"), say("front.of", n=counted[0], all=counted[1]), told)
        return
    if evidence.method["family"] != Family.MODEL:
        return
    found = effects_told(evidence.views)
    if found is not None:
        yield Fact(say("front.effects"), say("front.of", n=found[0], all=found[1]), say("front.effects_what"))


def _score(evidence: PublicEvidence) -> Iterator[Fact]:
    """Say whether it is told how well a model predicts, or how near invented rows are to the truth."""
    facts = facts_of(evidence)
    if evidence.method["family"] == Family.MODEL:
        titles = [getattr(getattr(view, "title", None), "id", "") for view in evidence.views]
        told = "told" if any(HELD_OUT in title for title in titles) else "silent"
        what = say(f"front.score_{told}_what")
        yield Fact(say("front.score"), say(f"front.score_{told}"), what, care=told == "silent")
    elif facts.rows and facts.bounded and not facts.opened:
        yield Fact(say("front.likeness"), say("front.score_silent"), say("front.likeness_what"), care=True)


def _terms(evidence: PublicEvidence) -> Iterator[Fact]:
    for name, value in list(evidence.promise.terms.items())[:2]:
        words = f"promises.{evidence.promise.kind}.terms.{name}"
        term = value if isinstance(value, str) else exactly(value)
        if len(str(term)) <= 12:
            yield Fact(Text(f"{words}.label"), term, Text(f"{words}.what"))


def _untouch(evidence: PublicEvidence) -> Iterator[Fact]:
    others = released_others(evidence)
    if "columns" in evidence.promise.terms and others:
        under = evidence.promise.terms.get("sensitive", "")
        bound = any(name in evidence.promise.terms for name in CONDITIONS)
        name = "untouched_bound_what" if bound and under else "untouched_what"
        what = say(f"front.{name}", names=others, under=under)
        yield Fact(say("front.untouched"), say("front.untouched_value", count=len(others)), what, care=True)


def _spend(evidence: PublicEvidence) -> Iterator[Fact]:
    register, loss = evidence.register, evidence.promise.loss
    if side(evidence.promise) == "bounded" and register.get("epsilon") is not None:
        total = cover.total(register, evidence.statement.get("epsilon"))
        values = {name: total.values[name] for name in ("spent", "total")}
        form = next((f"_{one}" for one in ("less", "some") if total.id.endswith(f"_{one}")), "")
        what = say(f"front.spent{form}_what", delta=total.values["delta"])
        yield Fact(say("front.spent"), say("front.spent_value", **values), what)
    found = evidence.statement.get("posterior", {})
    if loss is not None and found:
        what = say("front.level_what", sure=percent_up(found.get("presence", found["value"])))
        yield Fact(say("front.level"), plainly(float(exactly(loss.epsilon) or 0), up=True), what)


def _rest(evidence: PublicEvidence) -> Iterator[Fact]:
    names = [str(one["file"]) for one in evidence.artefacts]
    columns = dict.fromkeys(name for one in evidence.artefacts for name in one.get("columns", ()))
    if columns:
        yield Fact(say("front.columns"), len(columns), say("words.list", all=list(columns)))
    yield Fact(say("front.files"), len(names), say("words.list", all=names))
    counted = evidence.counted
    if "used" in counted:
        yield Fact(say("table.rows_used"), counted["used"], say("rows.used", used=counted["used"]))
    if ends := str(evidence.purpose.get("expires", "")):
        stated = filter(None, [str(evidence.purpose.get("agreement", "")).strip()])
        yield Fact(say("cover.expires"), day(ends), say("words.list", all=list(stated)))


# --- what it is for, and who ------------------------------------------------------------------------------


def _uses(evidence: PublicEvidence) -> SideBySide:
    found = {name: can_do(evidence, name) for name in ("can", "cannot")}
    can = tuple(text for text in (found["can"],) if text is not None)
    cannot = tuple(text for text in (found["cannot"], say("limits.not_for")) if text is not None)
    return SideBySide(((say("front.can"), can), (say("front.cannot"), cannot)))


def _who(evidence: PublicEvidence) -> Iterator[Row]:
    """Give who, for whom and until when, in the order of a page with two columns."""
    purpose = evidence.purpose
    for name in ("organisation", "recipient", "use"):
        yield Row(say(f"cover.{name}"), stated_or_not(purpose, name))
    agreement, expires = stated_or_not(purpose, "agreement"), str(purpose.get("expires", ""))
    until = say("front.until", agreement=agreement, day=day(expires)) if expires else agreement
    yield Row(say("cover.agreement"), until)
    yield Row(say("cover.about"), whom_about(purpose))
    yield Row(say("cover.approver"), stated_or_not(purpose, "approver"))
    for name in ("setting", "contact", "request_number", "checker"):
        if purpose.get(name):
            yield Row(say(f"cover.{name}"), stated_or_not(purpose, name))
    if purpose.get("review"):
        yield Row(say("cover.review"), day(str(purpose["review"])))
    yield Row(say("cover.made"), moment(evidence.made_at))
