"""As much of a spreadsheet as the formulas of a released workbook need: a second reading of them."""

import math
import operator
from collections.abc import Callable

import numpy as np
from openpyxl.formula import Tokenizer
from openpyxl.utils import range_boundaries

BINARY = [
    {"=": operator.eq, ">=": lambda a, b: _order(a) >= _order(b), ">": lambda a, b: _order(a) > _order(b)},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": operator.truediv},
]


def _order(value):
    """Return what is compared: an empty cell is zero."""
    return 0.0 if value is None else value


def _text(value):
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float | int) and value == int(value) else str(value)


def _exact(one, other):
    return np.vectorize(lambda cell: _text(cell) == _text(other))(one)


def _numbers(*values):
    flat = [cell for value in values for cell in np.ravel(np.array(value, dtype=object))]
    return [cell for cell in flat if isinstance(cell, int | float | np.number)]


FUNCTIONS: dict[str, Callable] = {
    "OR": lambda *values: any(values),
    "NOT": lambda value: not value,
    "TRIM": lambda value: " ".join(_text(value).split(" ")).strip(),
    "ISNUMBER": lambda value: isinstance(value, int | float),
    "EXACT": _exact,
    "SUMPRODUCT": lambda *values: float(np.sum(np.prod([np.asarray(v, float) for v in values], axis=0))),
    "SUM": lambda *values: math.fsum(_numbers(*values)),
    "MIN": min,
    "MAX": max,
    "EXP": math.exp,
    "SQRT": math.sqrt,
    "INDEX": lambda cells, row, column=1: np.atleast_2d(cells.T).T[int(row) - 1, int(column) - 1],
    "COUNTA": lambda cells: sum(cell is not None for cell in np.ravel(np.array(cells, dtype=object))),
}


class Spreadsheet:
    """Computes the cells of a workbook that openpyxl has read."""

    def __init__(self, book):
        self.book = book

    def value(self, sheet, row, column):
        """Return what a cell says."""
        cell = self.book[sheet].cell(row, column)
        if cell.data_type != "f":
            return cell.value
        tokens = [one for one in Tokenizer(cell.value).items if one.type != "WHITE-SPACE"]
        found, rest = self._compared(sheet, tokens, 0)
        assert not rest
        return found()

    def _range(self, sheet, name):
        if "!" in name:
            sheet, name = name.rsplit("!", 1)
            sheet = sheet.strip("'")
        left, top, right, bottom = range_boundaries(name.replace("$", ""))
        cells = [
            self.value(sheet, row, col) for row in range(top, bottom + 1) for col in range(left, right + 1)
        ]
        if ":" not in name:
            return cells[0]
        table = np.array(cells, dtype=object).reshape(bottom - top + 1, right - left + 1)
        return table if min(table.shape) > 1 else table.ravel()

    def _compared(self, sheet, tokens, level):
        if level == len(BINARY):
            return self._single(sheet, tokens)
        left, tokens = self._compared(sheet, tokens, level + 1)
        while tokens and tokens[0].type == "OPERATOR-INFIX" and tokens[0].value in BINARY[level]:
            apply = BINARY[level][tokens[0].value]
            right, tokens = self._compared(sheet, tokens[1:], level + 1)
            left = lambda one=left, other=right, apply=apply: apply(one(), other())  # noqa: E731
        return left, tokens

    def _single(self, sheet, tokens):
        head, tokens = tokens[0], tokens[1:]
        if head.type == "OPERATOR-PREFIX":
            inner, tokens = self._single(sheet, tokens)
            return lambda: -np.asarray(inner(), float), tokens
        if head.type == "PAREN":
            inner, tokens = self._compared(sheet, tokens, 0)
            return inner, tokens[1:]
        if head.type == "FUNC":
            asked = []
            while True:
                one, tokens = self._compared(sheet, tokens, 0)
                asked.append(one)
                end, tokens = tokens[0], tokens[1:]
                if end.type == "FUNC":
                    break
            name = head.value.rstrip("(")
            if name == "IF":
                return lambda: asked[1]() if asked[0]() else asked[2](), tokens
            return lambda: FUNCTIONS[name](*(one() for one in asked)), tokens
        if head.subtype == "RANGE":
            return lambda: self._range(sheet, head.value), tokens
        said = head.value.strip('"') if head.subtype == "TEXT" else float(head.value)
        return lambda: said, tokens
