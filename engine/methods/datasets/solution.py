"""What the custodian is told about groups that were made: why these, what they lose, whom they cost most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from engine.methods.datasets.full_domain import Found, Lattice, Looked
from engine.methods.datasets.grouping import Grouping
from engine.methods.datasets.losses import Floats
from engine.methods.datasets.recoding import Codes
from engine.methods.shared.rows import hierarchy_of
from engine.numbers import brief, of_hundred
from engine.table import coding
from engine.table.cells import reading_alike
from engine.views import BANDS, Cell, Label, TableView, Text, TextView, band_of

WORDS = "grouping.views"
FEW_VALUES = 12  # a column with more is looked at on the last step before all
MOST_LINES = 15
LARGE_GROUP = 3
"""Times k: how many people a value has at least whose band is told outside."""


def figures_view(figures: Mapping[str, float], name: str = "inside") -> TableView:
    """Show figures one below the other: what was made, or what an attack finds."""
    rows: list[tuple[Cell, ...]] = [
        (Text(f"{WORDS}.{name}.{one}"), brief(value)) for one, value in figures.items()
    ]
    return _table(name, ("figure", "value"), rows)


def alike_figure(columns: Iterable[Iterable[str]]) -> dict[str, int]:
    """Return how many values of sensitive columns, as written, read like another; nothing where none do."""
    found = sum(reading_alike(dict.fromkeys(one)) for one in columns)
    return {"alike_values": found} if found else {}


def losses_view(grouping: Grouping, lost: Floats) -> TableView:
    """Say what each identifying column lost: the mean over its cells.

    Parameters
    ----------
    grouping
        The table.
    lost
        Shape (columns, combinations): the certainty penalty of every cell, 1 where it is left out.
    """
    means = lost[:, grouping.number].mean(axis=1)
    rows: list[tuple[Cell, ...]] = [
        (column.name, round(float(mean), 4)) for column, mean in zip(grouping.identifying, means, strict=True)
    ]
    return _table("losses", ("column", "lost"), rows)


def finer_view(lattice: Lattice, found: Found, grouping: Grouping) -> TableView:
    """Say for each column why it was not left one step finer: whom that leaves out, or what it loses."""
    rows: list[tuple[Cell, ...]] = []
    for place, (column, step) in enumerate(zip(grouping.identifying, found.steps, strict=True)):
        if not step:
            rows.append((column.name, step, None, None, Text(f"{WORDS}.finer.finest")))
            continue
        looked = lattice.look((*found.steps[:place], step - 1, *found.steps[place + 1 :]))
        why = _why_not(lattice, looked, found.loss)
        loss = brief(looked.loss) if looked.holds else None
        rows.append((column.name, step, looked.left_out, loss, Text(f"{WORDS}.finer.{why}")))
    return _table("finer", ("column", "step", "left_out", "loss", "why"), rows)


def _why_not(lattice: Lattice, finer: Looked, loss: float) -> str:
    if finer.holds:
        return "loses_more" if finer.loss > loss else "loses_as_much" if finer.loss == loss else "loses_less"
    return "leaves_out" if finer.left_out > lattice.most_left_out else "fails"


def left_out_view(grouping: Grouping, group: Codes) -> TableView | None:
    """Say which subgroups lost most rows; None where nobody was left out."""
    gone = group[grouping.number] < 0
    if not gone.any():
        return None
    found: list[tuple[float, tuple[Cell, ...]]] = []
    for place, (column, ladder) in enumerate(zip(grouping.identifying, grouping.ladders, strict=True)):
        hierarchy = hierarchy_of(column)
        step = 0 if len(ladder.values) <= FEW_VALUES else max(0, len(ladder.groups) - 2)
        number = ladder.groups[step][grouping.codes[grouping.number, place]]
        reads = hierarchy.at(ladder.values, step)
        rows, out = np.bincount(number), np.bincount(number, gone)
        for one in np.flatnonzero(rows):  # values that a hierarchy knows and no row has say nothing
            share = float(out[one] / rows[one])
            value = reads[int(np.flatnonzero(ladder.groups[step] == one)[0])]
            words = (column.name, value or f"({coding.MISSING})")
            found.append((share, (*words, int(rows[one]), int(out[one]), of_hundred(share))))
    found.sort(key=lambda line: (-line[0], -int(str(line[1][2]))))
    return _table(
        "left_out", ("column", "value", "rows", "out", "share"), [line for _, line in found[:MOST_LINES]]
    )


def left_out_bands(
    grouping: Grouping, group: Codes, steps: Codes, *, k: int, unit: Text
) -> TableView | TextView | None:
    """Say outside, in wide bands, of which values more people were left out; None where nobody was.

    Notes
    -----
    Of identifying columns only, in words that released rows have: what was left out of a sensitive value
    would say something about those who are missing. Values of fewer than `LARGE_GROUP` · k people and values
    that no released row has count together; losses of fewer than k people read as none.
    """
    kept, every = group >= 0, np.ones(len(group), dtype=bool)
    if grouping.members.left_out(kept) < k:
        return None
    found: list[tuple[int, tuple[Cell, ...]]] = []
    for place, (column, ladder) in enumerate(zip(grouping.identifying, grouping.ladders, strict=True)):
        step = int(steps[place].max())
        number = ladder.groups[step][grouping.codes[:, place]]
        others = int(number.max()) + 1
        stays = _people(grouping, number, kept, others)
        rare = (_people(grouping, number, every, others) < LARGE_GROUP * k) | (stays == 0)
        number = np.where(rare[number], others, number)
        people = _people(grouping, number, every, others + 1)
        gone = people - _people(grouping, number, kept, others + 1)
        reads = hierarchy_of(column).at(ladder.values, step)
        for one in np.flatnonzero(people >= LARGE_GROUP * k):
            band, share = band_of(int(gone[one]), int(people[one]))
            if not band or gone[one] < k:
                continue
            value: Label = Text(f"{WORDS}.bands.others")
            if one != others:
                value = reads[int(np.flatnonzero(ladder.groups[step] == one)[0])] or f"({coding.MISSING})"
            found.append((band, (column.name, value, share)))
    found.sort(key=lambda line: -line[0])  # within a band by column and value: their order says nothing
    lines = [line for _, line in found]
    title = Text(f"{WORDS}.bands.title")
    least = {"least": k, "people": LARGE_GROUP * k, "low": BANDS[0], "unit": unit}
    if not lines:
        return TextView(title, (Text(f"{WORDS}.bands.evenly", least),))
    headings = tuple(Text(f"{WORDS}.bands.{name}") for name in ("column", "value", "share"))
    return TableView(title, headings, tuple(lines), Text(f"{WORDS}.bands.note", least))


def _people(grouping: Grouping, number: Codes, which: npt.NDArray[np.bool_], size: int) -> Codes:
    """Return how many people have each number, of some combinations."""
    found = grouping.members.sizes(np.where(which, number, size))
    return np.pad(found, (0, max(0, size - len(found))))[:size]


def _table(name: str, columns: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> TableView:
    headings = tuple(Text(f"{WORDS}.{name}.{column}") for column in columns)
    return TableView(Text(f"{WORDS}.{name}.title"), headings, tuple(rows), Text(f"{WORDS}.{name}.note"))
