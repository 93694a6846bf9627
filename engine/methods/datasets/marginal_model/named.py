"""Tables that the custodian names beside the single columns: parameters, and whether they can be modelled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

from engine.methods import option
from engine.methods.datasets.marginal_model.junction_tree import Attributes, junction_tree
from engine.methods.datasets.marginal_model.schedule import Schedule
from engine.methods.datasets.synthesis.misplaced import misplaced
from engine.methods.parameters import Problem
from engine.methods.protocol import Request
from engine.methods.shared.column_cells import CELL_KINDS, ColumnCells
from engine.views import TableView, Text

CHOSEN, SINGLE, NAMED = "chosen", "single", "named"
TABLES = option.choice(CHOSEN, SINGLE, NAMED, name="tables", default=CHOSEN)
NAMED_TABLES = option.records(
    option.columns(name="columns", minimum=2, maximum=4, column_kinds=CELL_KINDS),
    name="named",
    minimum=1,
    maximum=100,
    when=("tables", (NAMED,)),
)
MOST_TOGETHER = 200_000
"""Cells of a table that is named, or that the model needs to make several agree."""
MOST_IN_MODEL = 1_000_000
MOSTLY_NOISE = 0.5
"""Share of the rows in a wrong cell from which on a named table is said to be mostly noise."""


def named_columns(request: Request) -> tuple[tuple[str, ...], ...]:
    """Return the columns of every table that was named."""
    return tuple(tuple(one["columns"]) for one in request.values[NAMED_TABLES.name] or ())


def named_tables(request: Request, columns: Sequence[ColumnCells]) -> tuple[Attributes, ...] | None:
    """Return the tables that are measured beside single columns; None where they are chosen by the rows."""
    if request.values[TABLES.name] == CHOSEN:
        return None
    places = {cells.column.name: place for place, cells in enumerate(columns)}
    return tuple(tuple(sorted(places[name] for name in table)) for table in named_columns(request))


def pairs_of(tables: Sequence[Attributes] | None) -> list[Attributes]:
    """Return the pairs that tables hold.

    Examples
    --------
    >>> pairs_of([(0, 1, 3), (1, 3)])
    [(0, 1), (0, 3), (1, 3)]
    """
    return list(dict.fromkeys(pair for table in tables or () for pair in combinations(table, 2)))


def named_problems(request: Request, columns: Sequence[ColumnCells], *, method: str) -> list[Problem]:
    """Say which named tables are there twice or too large, or that the model of all of them would be.

    Parameters
    ----------
    columns
        Those that are drawn; every named table is of them.
    method
        Below whose problems the sentences stand.
    """
    names, sizes = [cells.column.name for cells in columns], [cells.size for cells in columns]
    found: list[Problem] = []
    seen: set[Attributes] = set()
    for table in named_tables(request, columns) or ():
        cells = prod(sizes[one] for one in table)
        told = {"table": _told(names, table), "cells": cells, "most": MOST_TOGETHER}
        if table in seen:
            found.append(Problem(f"{method}.named_twice", told, NAMED_TABLES.name))
        elif cells > MOST_TOGETHER:
            found.append(Problem(f"{method}.named_too_large", told, NAMED_TABLES.name))
        seen.add(table)
    return found or _too_large_together(seen, names, sizes, method)


def _too_large_together(
    tables: set[Attributes], names: Sequence[str], sizes: Sequence[int], method: str
) -> list[Problem]:
    tree = junction_tree(sizes, sorted(pairs_of(sorted(tables))))
    largest = max(tree.cliques, key=lambda clique: prod(tree.shape(clique)))
    cells = prod(tree.shape(largest))
    if cells <= MOST_TOGETHER and tree.cells <= MOST_IN_MODEL:
        return []
    inside = "; ".join(_told(names, table) for table in sorted(tables) if len(set(table) & set(largest)) > 1)
    told = {"table": _told(names, largest), "named": inside, "cells": cells, "all": tree.cells}
    code = "named_need_too_large" if cells > MOST_TOGETHER else "named_too_many"
    most = MOST_TOGETHER if cells > MOST_TOGETHER else MOST_IN_MODEL
    return [Problem(f"{method}.{code}", told | {"most": most}, NAMED_TABLES.name)]


def _told(names: Sequence[str], table: Attributes) -> str:
    return " × ".join(names[one] for one in table)


# --- forecast -------------------------------------------------------------------------------------


def off_together(schedule: Schedule) -> tuple[float, ...]:
    """Return for every named table the share of rows that its noise puts into a wrong cell."""
    cells = schedule.cells[len(schedule.sizes) :]
    return tuple(
        misplaced([size], [schedule.deviation(scale)], schedule.about_rows)[0]
        for size, scale in zip(cells, schedule.together, strict=True)
    )


def mostly_noise(schedule: Schedule, names: Sequence[str]) -> str:
    """Return the named tables that are mostly noise; nothing where none is."""
    off = zip(schedule.named or (), off_together(schedule), strict=True)
    return "; ".join(_told(names, table) for table, share in off if share > MOSTLY_NOISE)


def named_view(schedule: Schedule, names: Sequence[str], *, words: str) -> TableView:
    """Return what the noise of every named table does to it.

    Parameters
    ----------
    names
        Of the columns that are drawn.
    words
        Below which the texts stand.
    """
    cells = schedule.cells[len(schedule.sizes) :]
    rows = tuple(
        (
            _told(names, table),
            size,
            schedule.within(schedule.deviation(scale)),
            float(f"{100 * off:.2g}"),
        )
        for table, size, scale, off in zip(
            schedule.named or (), cells, schedule.together, off_together(schedule), strict=True
        )
    )
    headings = tuple(Text(f"{words}.views.named.{name}") for name in ("table", "cells", "within", "off"))
    return TableView(Text(f"{words}.views.named.title"), headings, rows, Text(f"{words}.views.named.note"))
