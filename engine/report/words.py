"""Labels and cells as words of a language: the one place where the writers get their strings from."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

from engine import languages, texts
from engine.report.document import Explanation, Explanations
from engine.views import HIDDEN, WEAK, Cell, Label, TableView, Text, View, amount, as_table

DASH = "–"
FIRM_SPACE = "\u00a0"
DIGITS = 4
"""Of a number that is none of whole things: as many as a reader compares."""
NEARLY_ALL = 99.9
"""What lies above it and below 100 is not rounded to 100: no bound on a belief is written as certainty."""
KEPT_APART = 0.005
"""How much of a margin may be lost to rounding its ends to four digits: less than two printed digits show."""
MOST_APART = 2
"""Decimals by which numbers of one drawing may differ and still get as many as those in the middle."""
MOST_ROWS = 1000
MOST_DESCRIBED = 40
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def word(label: Label, language: str) -> str:
    """Return a label as people read it; control characters become spaces."""
    if isinstance(label, Text):
        label = _together(texts.text(label.id, language=language, **label.values))
    elif isinstance(label, languages.Written):
        label = languages.find(language).sign_number(label)
    else:
        label = texts.say_cells(label, language)
    return _UNPRINTABLE.sub(" ", label)


def _together(sentence: str) -> str:
    """Keep a number and its per cent sign, and both sides of an equation, on one line."""
    return re.sub(r"(?<=\d) (?=%)", FIRM_SPACE, sentence).replace(" = ", f"{FIRM_SPACE}={FIRM_SPACE}")


def cell(value: Any, language: str) -> str:
    """Return a cell as people read it: a dash for nothing, numbers with few digits; the files have all.

    Examples
    --------
    >>> cell(0.7310585, "en"), cell(74434.414, "en"), cell(None, "en"), cell(99.9994, "en")
    ('0.7311', '74,434.41', '–', '99.9994')
    """
    if value is None:
        return DASH
    if isinstance(value, Text) and value.id == WEAK:
        return write_in_brackets(cell(value.values["value"], language))
    if isinstance(value, bool):
        return word(Text("report.words.yes" if value else "report.words.no"), language)
    if isinstance(value, Real):
        plain = int(value) if isinstance(value, Integral) else float(value) + 0.0  # not −0
        return texts.number(plain, digits=6 if NEARLY_ALL < plain < 100 else DIGITS, language=language)
    return word(value, language)


def write_in_brackets(written: str) -> str:
    """Write a number as one that carries no information."""
    return f"({written})"


def is_number(value: Cell) -> bool:
    """Say whether a cell is set as a number, to the right."""
    return amount(value) is not None


def is_place(label: Label) -> bool:
    """Say whether a label is a place along a scale: a number and nothing else."""
    return isinstance(label, Text) and label.id == "views.number"


def axis_value(value: float, language: str) -> str:
    """Return a value as it stands on an axis: few digits, whole numbers without a point.

    Examples
    --------
    >>> axis_value(1234.0, "en"), axis_value(0.1 + 0.2, "en"), axis_value(99.9994, "en")
    ('1,234', '0.3', '99.9994')
    """
    few = f"{value:.6g}" if NEARLY_ALL < value < 100 else f"{value:.4g}"
    rounded = float(few) if abs(value) < 1000 else round(value)
    whole = float(rounded).is_integer() and abs(rounded) < 1e15
    return cell(int(rounded) if whole else rounded, language)


def common_digits(margins: Iterable[Cell]) -> int | None:
    """Return how many decimals a column of numbers with these margins has; None where they are too different.

    Examples
    --------
    >>> common_digits([0.26, 0.095]), common_digits([310.0, 0.095]), common_digits([3, 12])
    (3, None, None)
    """
    found = [amount(one) for one in margins]
    limits = [float(one) for one in found if one is not None and one > 0 and math.isfinite(one)]
    if not limits or all(one.is_integer() for one in limits):
        return None
    wanted = [_digits_of(one) for one in limits]
    return max(wanted) if max(wanted) - min(wanted) <= 1 else None


def _digits_of(margin: float) -> int:
    """Return how many decimals two digits of a margin take."""
    return max(1 - math.floor(math.log10(margin)), 0)


def with_margin(value: float, margin: float, language: str, *, digits: int | None = None) -> tuple[str, str]:
    """Return a value and its margin with two digits of the margin; whole numbers stay as they are.

    With ``digits``, those of the whole column, the numbers of one column have as many decimals.

    Examples
    --------
    >>> with_margin(2.53488, 2.7833, "en"), with_margin(19.0, 6.0, "en"), with_margin(-0.04, 1.3, "en")
    (('2.5', '2.8'), ('19', '6'), ('0.0', '1.3'))
    """
    if float(value).is_integer() and float(margin).is_integer():
        return cell(int(value), language), cell(int(margin), language)
    if digits is None:
        digits = _digits_of(margin) if margin > 0 else 6
    return write_digits(value, digits, language), write_digits(margin, digits, language)


def write_digits(value: float, digits: int, language: str) -> str:
    """Return a number with so many decimals."""
    # Adding zero takes the sign of a rounded nothing: not −0.0.
    written = f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")
    return languages.find(language).sign_number(written)


def end_columns(table: TableView, margin: int) -> list[int]:
    """Return the places of the ends of intervals that stand after a column of margins."""
    ends = ("low.label", "high.label")
    headings = list(enumerate(table.headings))[margin + 1 : margin + 4]
    return [at for at, heading in headings if isinstance(heading, Text) and heading.id.endswith(ends)]


def margin_columns(table: TableView) -> list[int]:
    """Return the places of the columns that say how far the number before them may be off."""
    return [
        at
        for at, heading in enumerate(table.headings)
        if at and isinstance(heading, Text) and heading.id.endswith(("within_95.label", "headings.within_95"))
    ]


def written_rows(table: TableView, language: str) -> list[list[str]]:
    """Return the cells of a table as people read them: a number has no more digits than its margin allows.

    Examples
    --------
    >>> from engine.views import TableView, Text
    >>> headings = ("column", "effect", Text("models.numbers.within_95.label"))
    >>> written_rows(TableView("Effects", headings, (("age", -0.0051532, 0.0374912),)), "en")
    [['age', '−0.005', '0.037']]
    """
    rows = [[cell(value, language) for value in row] for row in table.rows]
    for at in margin_columns(table):
        digits = common_digits(row[at] for row in table.rows)
        for row, said in zip(table.rows, rows, strict=True):
            number, limit = amount(row[at - 1]), amount(row[at])
            if number is None or not limit or not math.isfinite(number) or not math.isfinite(limit):
                continue
            pair = with_margin(float(number), float(limit), language, digits=digits)
            weak = isinstance(row[at - 1], Text)
            said[at - 1], said[at] = write_in_brackets(pair[0]) if weak else pair[0], pair[1]
    return rows


def with_intervals(
    values: Sequence[float], low: Sequence[float], high: Sequence[float], language: str
) -> list[str]:
    """Return values with what they can be off by: all as ± where all may be, otherwise all with their ends.

    Examples
    --------
    >>> with_intervals([6.0, 4.0], [1.0, 1.0], [11.0, 26.0], "en")
    ['6 (1 … 11)', '4 (1 … 26)']
    """
    if not low:
        return _with_as_many_decimals(values, language)
    rows = list(zip(values, low, high, strict=True))
    even = all(_is_even(*row) for row in rows if math.isfinite(sum(row)))
    halves = [(row[2] - row[1]) / 2 for row in rows if row[2] > row[1] and math.isfinite(sum(row))]
    wanted = sorted(map(_digits_of, halves))
    alike = bool(wanted) and wanted[-1] - wanted[0] <= MOST_APART
    digits = wanted[len(wanted) // 2] if alike else None  # all stand on one axis
    return [with_interval(*row, language, even=even, digits=digits) for row in rows]


def _with_as_many_decimals(values: Sequence[float], language: str) -> list[str]:
    """Return values of one axis with as many decimals each: so many that the largest has three digits.

    As each is written by itself where all are whole, or where a small one would read as nothing.
    """
    alone = [with_interval(value, None, None, language) for value in values]
    known = [abs(value) for value in values if math.isfinite(value) and value]
    if not known or all(float(one).is_integer() for one in known):
        return alone
    three = max(2 - math.floor(math.log10(max(known))), 0)
    wanted = max(len(f"{float(f'{one:.4g}'):.9f}".rstrip("0").partition(".")[2]) for one in known)
    digits = min(three, wanted)
    if round(min(known), digits) == 0:
        return alone
    written = zip(values, alone, strict=True)
    return [write_digits(value, digits, language) if math.isfinite(value) else one for value, one in written]


def _is_even(value: float, low: float, high: float) -> bool:
    """Whether both ends are equally far away, but for the digits that were kept of them."""
    return math.isclose(high - value, value - low, rel_tol=KEPT_APART, abs_tol=1e-9)


def with_interval(
    value: float,
    low: float | None,
    high: float | None,
    language: str,
    *,
    even: bool = True,
    digits: int | None = None,
) -> str:
    """Return a value with what it can be off by, or with its interval where that is not ``even``.

    Examples
    --------
    >>> with_interval(-2.835, -6.357, 0.6872, "en"), with_interval(1.0, 1.0, 12.0, "en")
    ('−2.8 ± 3.5', '1 (1 … 12)')
    """
    if not math.isfinite(value):
        return cell(None, language)
    if low is None or high is None or not math.isfinite(high - low):
        return axis_value(value, language)
    if even and _is_even(value, low, high):
        return " ± ".join(with_margin(value, max(high - value, value - low), language, digits=digits))
    if all(float(part).is_integer() for part in (value, low, high)):
        shown = [cell(int(part), language) for part in (value, low, high)]
        return f"{shown[0]} ({shown[1]} … {shown[2]})"
    if digits is None:
        digits = _digits_of((high - low) / 2) if high > low else 6
    shown = [write_digits(part, digits, language) for part in (value, low, high)]
    return f"{shown[0]} ({shown[1]} … {shown[2]})"


def number_columns(table: TableView) -> tuple[bool, ...]:
    """Say of each column whether it holds numbers and nothing else but signs for hidden ones."""
    found = []
    for column in range(len(table.headings)):
        cells = [row[column] for row in table.rows if column < len(row) and row[column] is not None]
        cells = [one for one in cells if not (isinstance(one, Text) and one.id == HIDDEN)]
        found.append(bool(cells) and all(is_number(cell) for cell in cells))
    return tuple(found)


def explain_number(text: Text, language: str) -> tuple[str, str, str]:
    """Return what a number is, how it was computed and what would change it."""
    what, how, change = (
        word(Text(f"{text.id}.{name}", text.values), language) for name in ("what", "how", "change")
    )
    return what, how, change


def note(view: View) -> tuple[Text, ...]:
    """Return the note of a view, if it has one."""
    found = getattr(view, "note", None)
    return () if found is None else (found,)


def shorten_table(table: TableView) -> tuple[TableView, tuple[Text, ...]]:
    """Return at most `MOST_ROWS` rows of a table, and a sentence where some were left out."""
    if len(table.rows) <= MOST_ROWS:
        return table, ()
    cut = Text("report.words.shortened", {"shown": MOST_ROWS, "rows": len(table.rows)})
    return replace(table, rows=table.rows[:MOST_ROWS]), (cut,)


def description(view: View, language: str) -> str:
    """Return what a drawing shows, in words and numbers, for those who cannot see it."""
    table = as_table(view)
    heads = [word(heading, language) for heading in table.headings]
    rows = []
    for row in table.rows[:MOST_DESCRIBED]:
        rows.append(
            ", ".join(
                f"{head} {cell(value, language)}".strip() for head, value in zip(heads, row, strict=True)
            )
        )
    more = Text("report.words.more_numbers", {"rows": len(table.rows)})
    told = [*rows, word(more, language)] if len(table.rows) > MOST_DESCRIBED else rows
    numbers = texts.text("report.words.apart", language=language, all=told)
    return f"{word(Text(f'report.kinds.{view.kind}', {'title': view.title}), language)} {numbers}".strip()


def explain_numbers(part: Explanations, language: str) -> tuple[tuple[str, str], ...]:
    """Return every number with what it is, how it was computed and what would change it, as sentences."""
    found = []
    for item in part.items:
        what, how, change = explain_number(item.three, language)
        name = "told" if item.told else "line"
        line = Text(f"report.explained.{name}", {"what": what, "how": how, "change": change})
        found.append((_named(item, language), word(line, language)))
    return tuple(found)


def _named(item: Explanation, language: str) -> str:
    label = word(item.label, language)
    if item.value is None:
        return label
    value = write_with_unit(item.value, item.unit, language)
    return word(Text("report.explained.named", {"label": label, "value": value}), language)


def write_with_unit(value: Cell, unit: str, language: str) -> str:
    """Return a value with its unit."""
    said = texts.say_unit(unit, language)
    return f"{cell(value, language)}{FIRM_SPACE}{said}" if unit else cell(value, language)
