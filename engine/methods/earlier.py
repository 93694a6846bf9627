"""What left of the same register before: for methods whose releases could be subtracted from each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa


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
    """

    title: str
    method: str
    parameters: Mapping[str, Any]
    frames: Mapping[str, pandas.DataFrame]
    made: Mapping[str, str] = field(default_factory=dict)
    alike: float = 1.0
    strangers: pa.Array | None = field(default=None, repr=False)


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
    """

    releases: tuple[EarlierRelease, ...] = ()
    not_found: int = 0
    secret: bytes = field(default=b"", repr=False)
    excused: bool = False
    other_people: bool = False


NOTHING = Earlier()
