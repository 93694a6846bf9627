"""What recipients of a survey estimate by themselves: counts, programs in Python and R, a workbook."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods.exchanges.estimating import shares_of
from engine.methods.exchanges.kit import SEVERAL, Question
from engine.methods.protocol import FileArtefact
from engine.methods.shared.workbook_file import MEDIA_TYPE, write_text, write_workbook
from engine.privacy.accuracy import NORMAL_WITHIN
from engine.privacy.channels import Bit, Geometry, Option, Sets, Signs, Wave
from engine.views import Text

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

COLUMNS = ("question", "estimates", "answer", "reports", "given", "zero", "slope")
ONE, EACH, MEAN = "one", "each", "mean"
PROGRAMS = (("estimate.py", "text/x-python", "python"), ("estimate.R", "text/x-r", "r"))
WORDS = "methods.exchanges.survey.files"
MOST_ROWS = 2000
"""A workbook with more answers would open too slowly."""

Array = arrays.Anything


def counts(pairs: list[tuple[Question, Array]]) -> pd.DataFrame:
    """Return how many reports name each answer, or say each value, and what turns that into an estimate.

    An estimate is (part of reports, or their mean − zero)/slope. Counts are of reports that were changed
    before anybody saw them.
    """
    rows: list[tuple[object, ...]] = []
    for question, outcomes in pairs:
        channel = question.channel
        if isinstance(channel, Wave | Bit):
            y0, slope = channel.line()
            told = np.bincount(outcomes[:, 0], minlength=channel.layout[1]).tolist()
            zero, each = y0 - question.lowest * slope / question.step, slope / question.step
            rows += [
                (question.text, MEAN, str(place), len(outcomes), count, float(zero), float(each))
                for place, count in enumerate(told)
            ]
            continue
        assert isinstance(channel, Sets | Geometry | Option | Signs)
        shares = shares_of(question)
        named = channel.named(outcomes)[: len(question.answers)].tolist()
        asked = (
            channel.asked(outcomes).tolist() if isinstance(channel, Option) else [len(outcomes)] * len(named)
        )
        kind = EACH if question.kind == SEVERAL else ONE
        rows += [
            (question.text, kind, answer, n, c, float(shares.other), float(shares.gap))
            for answer, n, c in zip(question.answers, asked, named, strict=True)
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def programs(frame: pd.DataFrame) -> tuple[FileArtefact, ...]:
    """Return the programs, which read the counts, and a workbook with formulas over them."""
    folder = files("resources").joinpath("recipients")
    made = [
        FileArtefact(name, kind, folder.joinpath(f"{name}.txt").read_bytes(), Text(f"{WORDS}.{word}"))
        for name, kind, word in PROGRAMS
    ]
    if len(frame) <= MOST_ROWS:
        made.append(FileArtefact("estimate.xlsx", MEDIA_TYPE, _workbook(frame), Text(f"{WORDS}.workbook")))
    return tuple(made)


def _workbook(frame: pd.DataFrame) -> bytes:
    """Return a workbook: counts, and beside them the estimates as formulas."""
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "estimates"
    for place, name in enumerate((*COLUMNS, "estimate", "low", "high"), start=1):
        sheet.cell(1, place, name)
    z, row = NORMAL_WITHIN**2, 2
    for _, part in frame.groupby("question", sort=False):
        first, last = row, row + len(part) - 1
        for line in part.itertuples(index=False):
            _fill(sheet, row, tuple(line))
            if line.estimates != MEAN:
                c, n = f"E{row}/D{row}", f"D{row}"
                middle = f"({c}+{z!r}/(2*{n}))"
                reach = f"{NORMAL_WITHIN!r}*SQRT(E{row}*(D{row}-E{row})/({n}*{n}*{n})+{z!r}/(4*{n}*{n}))"
                _formula(sheet, row, 8, f"({c}-F{row})/G{row}")
                _formula(sheet, row, 9, f"(({middle}-{reach})/(1+{z!r}/{n})-F{row})/G{row}")
                _formula(sheet, row, 10, f"(({middle}+{reach})/(1+{z!r}/{n})-F{row})/G{row}")
            row += 1
        if part["estimates"].iloc[0] == MEAN:
            _mean(sheet, first, last)
    sheet.freeze_panes = "A2"
    return write_workbook(book)


def _mean(sheet: Worksheet, first: int, last: int) -> None:
    """Write the mean of a question beside its first value."""
    said, count = f"C{first}:C{last}", f"E{first}:E{last}"
    n, total, squares = f"SUM({count})", f"SUMPRODUCT({said},{count})", f"SUMPRODUCT({said},{said},{count})"
    spread = f"({squares}-{total}*{total}/{n}+MAX({said})*MAX({said})/2)"
    reach = f"{NORMAL_WITHIN!r}*SQRT({spread})/{n}/G{first}"
    value = f"({total}/{n}-F{first})/G{first}"
    for place, formula in ((8, value), (9, f"{value}-{reach}"), (10, f"{value}+{reach}")):
        sheet.cell(first, place, f'=IF({n}=0,"",{formula})')


def _formula(sheet: Worksheet, row: int, place: int, formula: str) -> None:
    sheet.cell(row, place, f'=IF(D{row}=0,"",{formula})')


def _fill(sheet: Worksheet, row: int, line: tuple[object, ...]) -> None:
    for place, value in enumerate(line, start=1):
        cell = sheet.cell(row, place)
        if place <= 2 or (place == 3 and line[1] != MEAN):
            write_text(cell, str(value))
        else:
            cell.value = int(str(value)) if place == 3 else value
