"""A model that adds up points, as a workbook: what every value is worth, and rows to fill in.

Formulas name cells alone and take the place of no text, and text is never a formula, so that a declared name
such as ``=1+1`` stays a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from engine import texts
from engine.methods.shared.workbook_file import write_text, write_workbook

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

FORMATS = ("custos.linear_model", "custos.additive_model")
MOST_PREDICTORS, MOST_POINTS = 100, 5_000
MOST_ROWS, MOST_FORMULAS = 100, 4_000
DAYS_BEFORE_1970 = 25_569  # of a spreadsheet, which counts from the end of 1899
FIRST = 2  # below the headings
WORDS = "models.sheet"


def as_sheet(model: Mapping[str, Any]) -> bytes | None:
    """Return a workbook that predicts, or None for a model that adds no points up, or too many for a table.

    Notes
    -----
    The first sheet has a column for every predictor, one for the points of each and of each pair, then the
    score and what is predicted; the second sheet has the points. For a pair it says at every value which row
    or column of a table below is meant. Names of values are compared with their capitals; what has no
    points counts as other, an empty cell or a declared code as missing.
    """
    sizes = [len(one.get("effects", (0,))) + len(one["missing"]) for one in model.get("predictors", ())]
    sizes += [sum(map(len, (*pair["effects"], *pair["groups"]))) for pair in model.get("pairs", ())]
    if model["format"] not in FORMATS or len(sizes) > MOST_PREDICTORS or sum(sizes) > MOST_POINTS:
        return None
    from openpyxl import Workbook

    book = Workbook()
    rows, points = book.active, book.create_sheet(texts.text(f"{WORDS}.points"))
    rows.title = texts.text(f"{WORDS}.rows")
    _fill(rows, model, _Points(points, f"'{points.title}'!", model))
    return write_workbook(book)


@dataclass(frozen=True)
class _Block:
    """Where the points of a predictor are: as references to cells."""

    cells: str = ""  # of the names, or of the edges between intervals
    points: str = ""
    other: str = ""
    missing: str = ""
    codes: str = ""  # that count as missing
    number: tuple[str, str, str, str] = ("", "", "", "")  # minimum, maximum, middle, coefficient
    first: int = 0  # line of the points, of which the last is for missing values


@dataclass(frozen=True)
class _Table:
    """Where the points of a pair are, and for both predictors where its rows and columns are said."""

    points: str
    sides: tuple[tuple[Mapping[str, Any], _Block], ...]


class _Points:
    """The sheet of points, written from the top."""

    def __init__(self, sheet: Worksheet, prefix: str, model: Mapping[str, Any]) -> None:
        self._sheet, self._prefix, self._row = sheet, prefix, 1
        for name in ("predictor", "what", "value", "points"):
            write_text(sheet.cell(1, sheet.max_column + (name != "predictor")), texts.text(f"{WORDS}.{name}"))
        target = model["target"]
        self.intercept = self._line("", "fixed", None, model["intercept"])
        if target["kind"] == "classes":
            self.values = tuple(
                self._line(target["name"], "class", one, None, "C") for one in target["values"]
            )
        else:
            self.values = tuple(
                self._line(target["name"], name, None, target[name]) for name in ("minimum", "maximum")
            )
        self.blocks = {one["name"]: self._block(one) for one in model["predictors"]}
        by_name = {one["name"]: one for one in model["predictors"]}
        self.tables = [
            self._table(pair, [by_name[name] for name in pair["predictors"]], place)
            for place, pair in enumerate(model.get("pairs", ()), start=5)
        ]
        for letter, width in zip("ABCD", (24, 18, 24, 14), strict=True):
            sheet.column_dimensions[letter].width = width

    def _line(self, name: str, what: str, value: Any, points: float | None, at: str = "D") -> str:
        """Write a line and return where its points, or its value, are."""
        self._row += 1
        write_text(self._sheet.cell(self._row, 1), name)
        write_text(self._sheet.cell(self._row, 2), texts.text(f"{WORDS}.{what}"))
        if isinstance(value, str):
            write_text(self._sheet.cell(self._row, 3), value)
        elif value is not None:
            self._sheet.cell(self._row, 3, value)
        if points is not None:
            self._sheet.cell(self._row, 4, points)
        return f"{self._prefix}${at}${self._row}"

    def _range(self, letter: str, first: int) -> str:
        return f"{self._prefix}${letter}${first}:${letter}${self._row}"

    def _block(self, one: Mapping[str, Any]) -> _Block:
        name, first, codes = one["name"], self._row + 1, ""
        for code in one["missing"]:
            self._line(name, "code", code, None)
            codes = self._range("C", first)
        if one["kind"] == "number":
            told = ("minimum", "maximum", "middle", "coefficient")
            number = tuple(self._line(name, word, None, one[word]) for word in told)
            return _Block(codes=codes, number=number)  # type: ignore[arg-type]
        *listed, last = one["effects"]
        first = self._row + 1
        if one["kind"] == "levels":
            for level, effect in zip(one["levels"], listed, strict=False):
                self._line(name, "value", level, effect)
            cells, points = self._range("C", first), self._range("D", first)
            other = self._line(name, "other", None, listed[-1])
            return _Block(cells, points, other, self._line(name, "absent", None, last), codes, first=first)
        for place, effect in enumerate(listed):
            edge = one["edges"][place] + (DAYS_BEFORE_1970 if one["of"] == "date" else 0)
            self._line(name, "from" if place else "below", edge if place else None, effect)
            if one["of"] == "date" and place:
                self._sheet.cell(self._row, 3).number_format = "yyyy-mm-dd"
        cells = self._range("C", first + 1) if len(listed) > 1 else ""
        points = self._range("D", first)
        return _Block(cells, points, "", self._line(name, "absent", None, last), codes, first=first)

    def _table(self, pair: Mapping[str, Any], both: list[Mapping[str, Any]], place: int) -> _Table:
        """Write the table of a pair, and beside the lines of both predictors its rows and columns."""
        from openpyxl.utils import get_column_letter as letter

        name, width = " × ".join(pair["predictors"]), len(pair["effects"][0])
        write_text(self._sheet.cell(1, place), texts.text(f"{WORDS}.place_in", pair=name))
        sides = []
        for one, groups in zip(both, pair["groups"], strict=True):
            block = self.blocks[one["name"]]
            for line, group in enumerate(groups, start=block.first):
                self._sheet.cell(line, place, group + 1)
            at = [f"{self._prefix}${letter(place)}${block.first + line}" for line in range(len(groups))]
            listed = at[:-2] if block.other else at[:-1]
            found = f"{listed[0]}:{listed[-1].removeprefix(self._prefix)}"
            other = at[-2] if block.other else ""
            sides.append((one, replace(block, points=found, other=other, missing=at[-1])))
        self._line(name, "table", None, None)
        for column in range(width):
            self._sheet.cell(self._row, 4 + column, column + 1)
        for row, effects in enumerate(pair["effects"], start=1):
            self._line(name, "row", row, None)
            for column, effect in enumerate(effects):
                self._sheet.cell(self._row, 4 + column, effect)
        top = self._row - len(pair["effects"]) + 1
        points = f"{self._prefix}$D${top}:${letter(3 + width)}${self._row}"
        return _Table(points, tuple(sides))


def _fill(rows: Worksheet, model: Mapping[str, Any], points: _Points) -> None:
    from openpyxl.utils import get_column_letter as letter

    names, count = [one["name"] for one in model["predictors"]], len(points.blocks)
    pairs = [" × ".join(pair["predictors"]) for pair in model.get("pairs", ())]
    classes = model["target"]["kind"] == "classes"
    headings = [*names, *(texts.text(f"{WORDS}.points_of", column=name) for name in (*names, *pairs))]
    headings += [texts.text(f"{WORDS}.score")] + ([texts.text(f"{WORDS}.probability")] if classes else [])
    for place, heading in enumerate([*headings, model["target"]["name"]], start=1):
        write_text(rows.cell(1, place), heading)
        rows.column_dimensions[letter(place)].width = max(12, min(30, len(heading) + 2))
    rows.freeze_panes = "A2"
    end = 2 * count + len(pairs)
    last, score = letter(count), letter(end + 1)
    for row in range(FIRST, FIRST + max(1, min(MOST_ROWS, MOST_FORMULAS // (count + len(pairs) + 3)))):
        given = {name: f"${letter(place)}{row}" for place, name in enumerate(names, start=1)}
        for place, one in enumerate(model["predictors"], start=count + 1):
            rows.cell(row, place, f"={_points(one, points.blocks[one['name']], given[one['name']])}")
        for place, table in enumerate(points.tables, start=2 * count + 1):
            asked = ",".join(_points(one, block, given[one["name"]]) for one, block in table.sides)
            rows.cell(row, place, f"=INDEX({table.points},{asked})")
        added = f"SUM({letter(count + 1)}{row}:{letter(end)}{row})"
        said = [f"={points.intercept}+{added}"]
        low, high = points.values
        if classes:
            said.append(f"={_probability(model, f'{score}{row}')}")
            found = f"IF({score}{row}>0,{high},{low})"
        else:
            found = f"MIN(MAX({score}{row},{low}),{high})"
        said.append(f'=IF(COUNTA($A{row}:${last}{row})=0,"",{found})')
        for place, formula in enumerate(said, start=end + 1):
            rows.cell(row, place, formula)


def _probability(model: Mapping[str, Any], score: str) -> str:
    """Return what a formula says of a score: of an additive model `additive_model.unclipped`."""
    fitted = f"1/(1+EXP(-{score}))"
    if model["format"] != "custos.additive_model":
        return fitted
    clipping = float(Fraction(model["clipping"]))
    rare = f"{fitted}/({clipping}+{fitted})"
    frequent = f"{clipping}/({clipping}+1-{fitted})"
    return f"IF({1 - clipping}>{fitted},{rare},IF({fitted}>{clipping},{frequent},{fitted}))"


def _points(one: Mapping[str, Any], block: _Block, cell: str) -> str:
    """Return what a formula says of one predictor for one cell: its points."""
    coded = f",SUMPRODUCT(--EXACT({block.codes},{cell}))>0" if block.codes else ""
    if one["kind"] == "levels":
        alike = f"SUMPRODUCT(--EXACT({block.cells},{cell}))"
        known = f"SUMPRODUCT(--EXACT({block.cells},{cell}),{block.points})"
        found = f"IF({alike}=0,{block.other},{known})"
        return f'IF(OR(TRIM({cell})=""{coded}),{block.missing},{found})'
    unknown = f"OR(NOT(ISNUMBER({cell})){coded})"
    if one["kind"] == "number":
        low, high, middle, coefficient = block.number
        return f"IF({unknown},0,(MIN(MAX({cell},{low}),{high})-{middle})*{coefficient})"
    place = f"1+SUMPRODUCT(--({cell}>={block.cells}))" if block.cells else "1"
    return f"IF({unknown},{block.missing},INDEX({block.points},{place}))"
