"""Who stands alone by rows of several tables, and whether a whole person is found again. Inside."""

from __future__ import annotations

from typing import cast

import numpy as np

from engine import arrays
from engine.evaluation.linked_kept import Linking, is_linked, tables_of
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import MAIN, Method
from engine.methods.shared.linked_rows import LinkedRows
from engine.risk.copies import Rate
from engine.utility import scattered
from engine.views import NumberView, TableView, Text

ID = "risk.linked_people"
WORDS = f"measures.{ID}"
Words = arrays.Words


class LinkedPeople(InternalMeasure):
    """People whom their own row, one of their records, or all of their rows single out, before and after.

    Notes
    -----
    By the cells of the columns that leave, numbers and days in intervals: to the digit hardly anybody would
    be found. Persons are matched with all rows of all tables, never row by row: an invented person is a copy
    where all of it equals all of one person who is alone with it. How often one half of the people is found
    so by invented ones stands beside how often it is by the other half: that much is chance.
    """

    id = ID
    needs = frozenset({Need.USED, Need.OTHERS, Need.RELEASE})
    less_is_better = ("copies",)

    def further_applies(self, subject: Method) -> bool:
        return is_linked(subject)

    def evaluate(self, context: Private) -> InternalMeasured:
        design = cast(Linking, context.subject)
        used, made = tables_of(context)
        if len(used[MAIN]) < 2:
            return InternalMeasured()
        own, invented = design.read(used), design.read(made)
        row, one_record, whole = people_of(own)
        several = own.records > 0  # whoever has a row in one table only is not found across tables
        order = scattered.order(len(several))
        halves = [part[several[part]] for part in np.array_split(order, 2)]
        theirs = people_of(invented)[2][invented.records > 0]
        found = copied(theirs, whole[several])
        rates = {
            "row": share_alone(row),
            "record": share_alone(one_record[several]),
            "all": share_alone(whole[several]),
            "copies": copied(theirs, whole[halves[0]]),
            "chance": copied(whole[halves[1]], whole[halves[0]]),
        }
        lines = tuple(
            (
                Text(f"{WORDS}.views.alone.{name}"),
                rate.attacks,
                rate.successes,
                _percent(rate.share),
                Text(
                    f"{WORDS}.views.alone.interval",
                    {"low": _percent(rate.interval[0]), "high": _percent(rate.interval[1])},
                ),
            )
            for name, rate in rates.items()
        )
        headings = tuple(
            Text(f"{WORDS}.views.alone.{name}") for name in ("what", "of", "people", "share", "within")
        )
        number = Text(f"{WORDS}.numbers.copies")
        note = Text(f"{WORDS}.views.alone.note", {"most": design.intervals})
        views = (
            NumberView(Text(f"{WORDS}.numbers.copies.label"), found.successes, number),
            TableView(Text(f"{WORDS}.views.alone.title"), headings, lines, note),
        )
        figures = {name: rate.share for name, rate in rates.items()} | {
            "people": len(row),
            "copied": found.share,
        }
        return InternalMeasured(views, figures)


def people_of(rows: LinkedRows) -> tuple[Words, Words, Words]:
    """Return a word for every person: of their row, of it and one of their records, of all rows together.

    Equal rows give equal words, in whatever table they are read; others differ but for one case in 2⁶⁴.
    """
    row = mix_words(rows.cells[MAIN], 1)
    records = mix_words(rows.cells["records"], 2) if "records" in rows.cells else np.zeros(0, dtype=np.uint64)
    first, whole = row.copy(), row.copy()
    lots = scattered.order(len(rows.person))
    first[rows.person[lots]] = _joined(row[rows.person[lots]], records[lots])
    if "details" in rows.cells:
        below = np.zeros(len(records), dtype=np.uint64)
        np.add.at(below, rows.record, mix_words(rows.cells["details"], 3))
        records = _joined(records, below)
    together = np.zeros(len(row), dtype=np.uint64)
    np.add.at(together, rows.person, records)
    return row, first, _joined(whole, together)


def mix_words(cells: arrays.Whole, table: int) -> Words:
    """Return a word for every row of cells, shape (columns, rows)."""
    found = np.full(cells.shape[1], table, dtype=np.uint64)
    for column in cells:
        found = _joined(found, column.astype(np.uint64))
    return found


def _joined(one: Words, other: Words) -> Words:
    """Return words that follow from two each: SplitMix64 (Steele, Lea, Flood 2014)."""
    z = one * np.uint64(0x9E3779B97F4A7C15) + other + np.uint64(0x632BE59BD9B4E019)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def share_alone(words: Words) -> Rate:
    """Return how many words nobody else has.

    Examples
    --------
    >>> share_alone(np.array([1, 1, 2], dtype=np.uint64))
    Rate(successes=1, attacks=3)
    """
    _, counts = np.unique(words, return_counts=True)
    return Rate(int((counts == 1).sum()), len(words))


def copied(made: Words, originals: Words) -> Rate:
    """Return how many words equal one that exactly one original has.

    Examples
    --------
    >>> copied(np.array([1, 2, 3], dtype=np.uint64), np.array([1, 1, 2], dtype=np.uint64))
    Rate(successes=1, attacks=3)
    """
    different, counts = np.unique(originals, return_counts=True)
    return Rate(int(np.isin(made, different[counts == 1]).sum()), len(made))


def _percent(share: float) -> float:
    return float(f"{100 * share:.3g}")
