"""Which columns of a released table are numbers, and which state how far these are off: from its dictionary.

A method calls its numbers ``methods.ID.numbers.NAME`` in the data dictionary. ``within_95``, or the name
of the number before it with ``_within_95``, is the 95 % limit of that number. Other names with ``within_95``
state a limit on another scale (ranks) and belong to no number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.methods.protocol import DictionaryEntry, Release, TableArtefact
from engine.views import Text

Floats = arrays.Floats

LIMIT = "within_95"
COUNTS = ("count", "weight_total")
_NUMBER = re.compile(r"^(methods\..+\.numbers\.([^.]+))\.what$")
_KINDS = ("integer", "number")


@dataclass(frozen=True)
class ReleasedNumber:
    """One released number, cell by cell.

    Parameters
    ----------
    artefact
        The table that it stands in.
    column
        Its heading there.
    name
        Its own id within the method, ``"count"`` for instance.
    label
        What it is called.
    keys
        Headings of the columns that name a cell.
    limit
        Heading of its 95 % limit; None where the table states none on the same scale.
    count
        Heading of the count (or total weight) that another number is divided by; None where there is none.
    """

    artefact: TableArtefact
    column: str
    name: str
    label: Text
    keys: tuple[str, ...]
    limit: str | None
    count: str | None = None

    @property
    def id(self) -> str:
        """Artefact and heading, for the evidence."""
        return f"{self.artefact.name}.{self.column}"

    @property
    def values(self) -> Floats:
        """The released numbers, shape (cells,)."""
        return self.artefact.frame[self.column].to_numpy(dtype=np.float64)

    @property
    def limits(self) -> Floats | None:
        """Their 95 % limits, shape (cells,)."""
        return None if self.limit is None else self.artefact.frame[self.limit].to_numpy(dtype=np.float64)

    def cell(self, place: int) -> tuple[str, ...]:
        """Name a cell by the values of its key columns."""
        return tuple(str(self.artefact.frame[key].iloc[place]) for key in self.keys)


def released_numbers(release: Release) -> tuple[ReleasedNumber, ...]:
    """Return the numbers of all released tables, in the order of their columns."""
    return tuple(
        number
        for artefact in release.artefacts
        if isinstance(artefact, TableArtefact)
        for number in _numbers_of(artefact)
    )


def _numbers_of(artefact: TableArtefact) -> tuple[ReleasedNumber, ...]:
    keys = tuple(entry.name for entry in artefact.dictionary if _name(entry) is None)
    counted = next((entry.name for entry in artefact.dictionary if _name(entry) in COUNTS), None)
    following = (*artefact.dictionary[1:], None)
    found = []
    for entry, after in zip(artefact.dictionary, following, strict=True):
        name = _name(entry)
        if name is None or LIMIT in name:
            continue
        label = Text(entry.meaning.id.removesuffix(".what") + ".label")
        limit = after.name if after is not None and _name(after) in (LIMIT, f"{name}_{LIMIT}") else None
        count = None if name in COUNTS else counted
        found.append(ReleasedNumber(artefact, entry.name, name, label, keys, limit, count))
    return tuple(found)


def _name(entry: DictionaryEntry) -> str | None:
    """Return a released number's own id; None for a column that names cells."""
    found = _NUMBER.match(entry.meaning.id)
    return found.group(2) if found is not None and entry.kind in _KINDS else None
