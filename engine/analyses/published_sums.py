"""What several published tables of counts or sums give away together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from engine.analyses.disclosure import own_table
from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.analyses.shared import number
from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Reference, Source
from engine.risk.aggregates import FEWEST, Differencing, Reconstruction, differencing, reconstruct
from engine.risk.encoding import EncodedTable, encode
from engine.risk.groups import group_rows
from engine.views import TableView, Text

if TYPE_CHECKING:
    from engine.table.table import Table

MOST_FIGURES = 2000
MOST_CELLS = 200_000_000
SHOWN = 20


class PublishedSums(Analysis):
    """Subtraction of pairs, of all figures together, and the reconstruction of a yes-or-no secret."""

    id = "published_sums"
    published = Reference(
        "Dinur and Nissim: revealing information while preserving privacy (2003)", "section 3"
    )
    sources = (Source(MAIN),)
    parameters = (
        Parameter("tables", ParameterKind.TEXTS),
        Parameter("fewest", ParameterKind.INTEGER, default=FEWEST, minimum=1, maximum=1000),
        number("rounding"),
        Parameter("secret", ParameterKind.TEXT, optional=True),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        table, schema = own_table(tables, context)
        asked = [_items(one) for one in values["tables"]]
        secret = None if not values["secret"] else _items(values["secret"])
        names = dict.fromkeys(name for one in (*asked, secret or ()) for name, _ in one)
        encoded = encode(table, schema, columns=names)
        labels, masks = _masks(encoded, asked)
        rounding = float(values["rounding"] or 0)
        found = differencing(masks, fewest=values["fewest"], rounding=rounding)
        solved = None
        if secret is not None:
            truth = _where(encoded, secret)
            counts = [_round(int((mask & truth).sum()), rounding) for mask in masks]
            solved = reconstruct(masks, truth, counts)
        return InternalAnswer(
            (self.sentences(self._sentences(found, solved)), self._pairs(found, labels)),
            _figures(found, solved),
        )

    def _sentences(self, found: Differencing, solved: Reconstruction | None) -> list[Text]:
        people = sum(piece.people for piece in found.pieces)
        lines = [
            self.word("said", figures=found.sets, pairs=len(found.pairs)),
            self.word("together", pieces=len(found.pieces), rows=people, alone=found.people_alone),
        ]
        if solved is not None:
            values = {"accuracy": solved.accuracy, "baseline": solved.baseline}
            lines.append(self.word("reconstructed", **values))
        return [*lines, Text("risk.lines.stays")]

    def _pairs(self, found: Differencing, labels: list[str]) -> TableView:
        rows = tuple(
            (
                labels[one.first],
                labels[one.second],
                one.people,
                self.word(f"pairs.nested_{one.nested}".lower()),
            )
            for one in found.pairs[:SHOWN]
        )
        headings = tuple(self.word(f"pairs.{name}") for name in ("first", "second", "people", "nested"))
        return TableView(self.word("pairs.title"), headings, rows, self.word("pairs.note"))


def _figures(found: Differencing, solved: Reconstruction | None) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "audience": "internal",
        "figures": found.sets,
        "pairs": len(found.pairs),
        "pairs_of_one": sum(one.people == 1 for one in found.pairs),
        "pieces": len(found.pieces),
        "rows_in_pieces": sum(one.people for one in found.pieces),
        "people_alone": found.people_alone,
    }
    if solved is not None:
        figures["reconstruction"] = {
            "accuracy": solved.accuracy,
            "baseline": solved.baseline,
            "advantage": solved.advantage,
        }
    return figures


def _items(written: str) -> list[tuple[str, str | None]]:
    """Read ``race, gender=Female``: columns that are grouped by, and values that the rows are restricted to.

    Examples
    --------
    >>> _items("race, gender=Female")
    [('race', None), ('gender', 'Female')]
    """
    found = []
    for item in written.split(","):
        name, equals, value = item.partition("=")
        if not name.strip():
            raise InputRefused("risk.published_table")
        found.append((name.strip(), value.strip() if equals else None))
    return found


def _round(count: int, unit: float) -> float:
    return round(count / unit) * unit if unit else float(count)


def _where(table: EncodedTable, items: list[tuple[str, str | None]]) -> npt.NDArray[np.bool_]:
    kept = np.ones(table.n_rows, dtype=bool)
    for name, value in items:
        if value is not None:
            column = table.columns[name]
            kept &= np.array([text == value for text in column.texts], dtype=bool)[column.codes]
    return kept


def _masks(
    table: EncodedTable, asked: list[list[tuple[str, str | None]]]
) -> tuple[list[str], npt.NDArray[np.bool_]]:
    """Return a name and a set of rows for every cell of every published table."""
    labels: list[str] = []
    masks: list[npt.NDArray[np.bool_]] = []
    for items in asked:
        kept = _where(table, items)
        by = [name for name, value in items if value is None]
        fixed = ", ".join(f"{name}={value}" for name, value in items if value is not None)
        groups = group_rows(replace(table, people=None), by)  # of rows, as what is published counts them
        cells = np.flatnonzero(np.bincount(groups.number[kept], minlength=groups.count))
        if len(masks) + len(cells) > MOST_FIGURES or (len(masks) + len(cells)) * table.n_rows > MOST_CELLS:
            raise InputRefused("risk.too_many_figures", figures=len(masks) + len(cells), most=MOST_FIGURES)
        for cell in cells:
            mask = kept & (groups.number == cell)
            row = int(np.flatnonzero(mask)[0])
            here = [f"{name}={table.columns[name].texts[table.columns[name].codes[row]]}" for name in by]
            labels.append(", ".join([*here, fixed] if fixed else here) or "*")
            masks.append(mask)
    return labels, np.array(masks, dtype=bool).reshape(len(masks), table.n_rows)
