"""What left of the same register before: for methods whose releases could be subtracted from each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa

    from engine.arrays import Bools, Integers


@dataclass(frozen=True)
class EarlierRelease:
    """An earlier release of the register by the same method, as its recipient has it.

    Parameters
    ----------
    title
        Of the release.
    method
        Its id.
    parameters
        As they were decided, JSON values.
    frames
        Its tables by file name, all cells as text.
    made
        Its columns that were made from another one, with that.
    alike
        Share of the parts of rows of the new table that one of its tables has too. It stays inside.
    strangers
        The people of the new table who surely were in none of its tables, as keys; None where nobody can say
        who was. They stay inside.
    chosen
        Whether conditions chose among the rows of its tables; so it is where nobody can say it.
    conditions
        By which rows were kept, as steps of preparation; the column alone where no more is known of one.
    """

    title: str
    method: str
    parameters: Mapping[str, Any]
    frames: Mapping[str, pandas.DataFrame]
    made: Mapping[str, str] = field(default_factory=dict)
    alike: float = 1.0
    strangers: pa.Array | None = field(default=None, repr=False)
    chosen: bool = True
    conditions: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Shared:
    """Who is in which of several tables: people (or parts of rows) by the tables that have them.

    Parameters
    ----------
    tables
        Of each group, which tables have it, shape (groups, 1 + earlier releases); the new table comes first.
    sizes
        How many are in each group.
    places, people
        The group of each of the new table's people, and their keys; None where parts of rows are meant.
    """

    tables: Bools
    sizes: Integers
    places: Integers | None = field(default=None, repr=False)
    people: pa.Array | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Earlier:
    """What a method knows of the register besides its rows.

    Parameters
    ----------
    releases
        The earlier releases that were found.
    not_found
        About how many nothing is known any more; then there is a reason.
    secret
        The same for all releases of the register; it stays inside.
    excused
        Whether the custodian gave a reason to release without a comparison that cannot be made.
    other_people
        Whether the custodian gave a reason why a table that looks nearly the same is about other people.
    shared
        Who is in which of the releases, as far as it is known: by people, by rows, by both or not at all.
        It stays inside.
    """

    releases: tuple[EarlierRelease, ...] = ()
    not_found: int = 0
    secret: bytes = field(default=b"", repr=False)
    excused: bool = False
    other_people: bool = False
    shared: tuple[Shared, ...] = field(default=(), repr=False)


NOTHING = Earlier()
