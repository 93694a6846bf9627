"""What was released: tables made compact, bars where they can be taken in at a glance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from engine import texts
from engine.evidence import PublicEvidence
from engine.languages import Written
from engine.methods.kinds import Family
from engine.report.content.facts import has_margins, rows_used
from engine.report.content.shared import say, side
from engine.report.document import Bullets, Part
from engine.report.words import (
    common_digits,
    end_columns,
    is_number,
    margin_columns,
    with_margin,
    word,
    write_digits,
    write_in_brackets,
)
from engine.views import (
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
)

MOST_BARS = 40
MOST_ACROSS = 8
MOST_PRINTED = 60
FEWEST_ROWS = 7
LONG_LABEL = 25  # letters of a label that is not said again in the next row
LONG_NAME = 10  # letters
LINE = 0.015  # of the height of a figure: about the thickness of a line that is drawn


def results(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return what was released. Key numbers stand on the first page and are not repeated."""
    parts: list[Part] = [say(f"results.{_intro(evidence)}")]
    said = tuple(rows_used(evidence))
    parts += [Bullets(said)] if said else []
    first = len(parts)
    for view in evidence.views:
        parts += print_view(view)
    if len(parts) == first and side(evidence.promise) == "unbounded" and (files := _files(evidence)):
        parts.append(Bullets(files))  # rows alone: which, at least
    return tuple(parts)


def _intro(evidence: PublicEvidence) -> str:
    """Return the end of the id of what is said first: how the numbers are to be read."""
    kind = side(evidence.promise)
    if kind == "local":
        return "intro_local" if any(map(has_margins, evidence.views)) else "intro_local_kit"
    if kind == "unbounded":
        return "intro_plain"
    if not evidence.views:
        return "intro_nothing"
    kinds = [one["of"] for one in evidence.expected]
    if "moment" in kinds or "invented" in kinds:
        return "intro_invented_moments" if "moment" in kinds else "intro_invented"
    if "rank" in kinds:
        return "intro_rank"
    if evidence.method["family"] == "dataset":
        return "intro_invented_rows" if evidence.expected else "intro_invented_untold"
    if evidence.method["family"] == "model":
        return "intro_model"
    if all(isinstance(view, CurveView | HeatmapView) for view in evidence.views):
        return "intro_curve"
    if any(map(has_margins, evidence.views)):
        return "intro"
    return "intro_yes_no" if evidence.method["family"] == Family.SERVICE else "intro_apart"


def _files(evidence: PublicEvidence) -> tuple[Text, ...]:
    return tuple(
        say("results.file", file=one["file"], rows=one["rows"], columns=list(one["columns"]))
        for one in evidence.artefacts
        if one.get("rows") and one.get("columns")
    )


def print_view(view: View, shortened: str = "words.shortened") -> tuple[Part, ...]:
    """Return a view as the report prints it; nothing for what stands elsewhere or would take pages.

    ``shortened`` says of a long table where all of it is.
    """
    if isinstance(view, NumberView):
        return ()
    if isinstance(view, BarsView | IntervalsView) and len(view.labels) > MOST_BARS:
        return ()
    if isinstance(view, TableView):
        return (_first_rows(compact(view), shortened),)
    if isinstance(view, CurveView):
        return (with_thin_band(view),)
    return (as_shown(view) if isinstance(view, BarsView | IntervalsView) else view,)


def _first_rows(table: TableView, shortened: str) -> TableView:
    """Return what of a long table a report prints."""
    if len(table.rows) <= MOST_PRINTED:
        return table
    said = say(shortened, shown=MOST_PRINTED, rows=len(table.rows))
    return replace(table, rows=table.rows[:MOST_PRINTED], note=_join(table.note, [said]))


def as_shown(view: BarsView | IntervalsView) -> BarsView | IntervalsView:
    """Return bars with margins as points with theirs: what could be zero stands out."""
    if isinstance(view, IntervalsView) or not view.low:
        return view
    return IntervalsView(view.title, view.labels, view.values, view.low, view.high, view.axis, view.note)


def with_thin_band(view: CurveView) -> CurveView:
    """Return a curve; where its band is thinner than the drawn line, its note says how far it reaches."""
    if view.band is None:
        return view
    low, high = (one.y for one in view.band)
    wide = [after - before for before, after in zip(low, high, strict=True) if math.isfinite(after - before)]
    heights = [y for one in view.series for y in one.y if math.isfinite(y)]
    if not wide or not heights or not 0 < max(wide) <= LINE * (max(heights) - min(heights)):
        return view
    limit = texts.number(texts.plainly(max(wide) / 2, digits=3, up=True))
    thin = say("words.thin_band", limit=limit)
    return replace(view, note=thin if view.note is None else _join(thin, [view.note]))


def compact(table: TableView) -> TableView:
    """Return a table with less ink and the same numbers.

    A column without any cell is named and taken out; a margin stands with its number; a column that says
    the same in every row becomes one sentence; the last of several label columns goes across; a long label
    that the row above has too is not said again. Short tables keep their rows.
    """
    table = _without_empty(table)
    if len(table.rows) < FEWEST_ROWS:
        return _said_once(put_margins_beside(table))
    table, same = _without_same(put_margins_beside(table))
    found = _said_once(_across(table) or table)
    return found if not same else replace(found, note=_join(found.note, same))


def _said_once(table: TableView) -> TableView:
    """Refer to the row above where a row begins with the same long label."""
    before = [None, *(row[0] for row in table.rows)]
    rows = tuple(
        (say("words.as_above"), *row[1:])
        if isinstance(row[0], str) and row[0] == above and len(row[0]) >= LONG_LABEL
        else row
        for row, above in zip(table.rows, before, strict=False)
    )
    return replace(table, rows=rows)


def _join(note: Text | None, same: list[Text]) -> Text | None:
    """Return the sentences that stand below a table as one text."""
    sentences = [*same, *([note] if note is not None else [])]
    joined = sentences[0]
    for sentence in sentences[1:]:
        joined = say("words.both", first=joined, second=sentence)
    return joined


def put_margins_beside(table: TableView) -> TableView:
    """Put each margin that differs from row to row beside its number, both with two digits of the margin."""
    beside: list[Label] = []
    for at in reversed(margin_columns(table)):
        if not all(is_number(row[at]) and is_number(row[at - 1]) for row in table.rows):
            continue
        if len({row[at] for row in table.rows}) < 2:
            continue
        digits = common_digits(row[at] for row in table.rows)
        ends = [] if digits is None else end_columns(table, at)
        rows = tuple(
            (
                *row[: at - 1],
                _pair(row[at - 1], row[at], digits),
                *(
                    _end(one, digits) if place in ends else one
                    for place, one in enumerate(row[at + 1 :], at + 1)
                ),
            )
            for row in table.rows
        )
        beside.insert(0, table.headings[at])
        headings = (*table.headings[:at], *table.headings[at + 1 :])
        table = replace(table, headings=headings, rows=rows)
    if not beside:
        return table
    label = beside[0] if len(beside) == 1 else say("words.list", all=beside)
    return replace(table, note=_join(table.note, [say("words.beside", label=label)]))


def _end(value: Cell, digits: int | None) -> Cell:
    """Return an end of an interval with as many decimals as the numbers beside it."""
    return (
        value
        if digits is None or not isinstance(value, float)
        else Written(write_digits(value, digits, "en"))
    )


def _pair(value: Cell, margin: Cell, digits: int | None) -> str:
    number, limit = amount(value), amount(margin)
    assert number is not None and limit is not None
    pair = Written(" ± ".join(with_margin(float(number), float(limit), "en", digits=digits)))
    return Written(write_in_brackets(pair)) if isinstance(value, Text) else pair


def _without_empty(table: TableView) -> TableView:
    """Take out the columns in which no row has anything, and name them below the table."""
    nothing = [at for at in range(1, len(table.headings)) if all(row[at] is None for row in table.rows)]
    if not nothing or not table.rows:
        return table
    keep = [at for at in range(len(table.headings)) if at not in nothing]
    names = [table.headings[at] for at in nothing]
    return replace(
        table,
        headings=tuple(table.headings[at] for at in keep),
        rows=tuple(tuple(row[at] for at in keep) for row in table.rows),
        note=_join(table.note, [say("words.nothing_under", names=names)]),
    )


def _without_same(table: TableView) -> tuple[TableView, list[Text]]:
    """Take out the columns of numbers that say the same in every row; return them as sentences."""
    same = [
        at
        for at in range(1, len(table.headings))
        if is_number(table.rows[0][at]) and all(row[at] == table.rows[0][at] for row in table.rows)
    ]
    if not same or len(same) + 1 >= len(table.headings):
        return table, []
    said = []
    for at in same:
        before, value = table.headings[at - 1], table.rows[0][at]
        margin = at in margin_columns(table)
        values = {"name": before, "margin": value, "label": table.headings[at]}
        values = values if margin else {"name": table.headings[at], "value": value}
        said.append(Text("report.words.margin" if margin else "report.words.same", values))
    keep = [at for at in range(len(table.headings)) if at not in same]
    rows = tuple(tuple(row[at] for at in keep) for row in table.rows)
    return replace(table, headings=tuple(table.headings[at] for at in keep), rows=rows), said


def _across(table: TableView) -> TableView | None:
    """Set the last label column with few values across; None where there is none, or cells are missing."""
    labels = len(table.headings) - 1
    named = [
        [
            word(cell, "en") if isinstance(cell, str | Text) and amount(cell) is None else ""
            for cell in row[:labels]
        ]
        for row in table.rows
    ]
    if labels < 2 or not all(all(row) for row in named):
        return None
    few = [at for at in range(labels) if 2 <= len(_levels(row[at] for row in named)) <= MOST_ACROSS]
    if not few:
        return None
    at = few[-1]
    across = _levels(row[at] for row in named)
    down = _levels((*row[:at], *row[at + 1 :]) for row in named)
    cells = {
        ((*names[:at], *names[at + 1 :]), names[at]): row[labels]
        for names, row in zip(named, table.rows, strict=True)
    }
    if not len(cells) == len(table.rows) == len(across) * len(down):
        return None
    labels_of = {
        name: cell
        for names, row in zip(named, table.rows, strict=True)
        for name, cell in zip(names, row, strict=False)
    }
    heads = _heads(table.headings[at], [labels_of[level] for level in across])
    rows = tuple(
        (*(labels_of[name] for name in group), *(cells[group, level] for level in across)) for group in down
    )
    kept = (*table.headings[:at], *table.headings[at + 1 : labels])
    return replace(table, headings=(*kept, *heads), rows=rows)


def _levels(values: Iterable[Any]) -> list[Any]:
    """Return different values in the order of their first appearance."""
    return list(dict.fromkeys(values))


def _heads(name: Label, across: Sequence[Cell]) -> tuple[Label, ...]:
    """Name the columns of a table that goes across: a long name once, or it would break within words."""
    once = len(word(name, "en")) > LONG_NAME and len(across) > 3
    return tuple(
        _write(level) if place and once else _named(name, level) for place, level in enumerate(across)
    )


def _write(level: Cell) -> Label:
    return level if isinstance(level, str | Text) else str(level)


def _named(name: Label, level: Cell) -> Text:
    return say("words.named", name=name, level=_write(level))
