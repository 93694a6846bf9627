"""What a measure is: something that says what a release gives away or keeps, one file each.

Two kinds decide by their types who may read the answer. A `PublicMeasure` is given the released artefacts and
declarations, nothing else, so that its answer may leave. An `InternalMeasure` is given private rows too; its
answer never leaves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from engine.methods.protocol import Family, Method, Release
from engine.progress import SILENT, Progress
from engine.table.schema import Schema
from engine.table.table import Table
from engine.views import View

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Audience(StrEnum):
    """Who may read what a measure answers."""

    INTERNAL = "internal"
    PUBLIC = "public"


class Need(StrEnum):
    """What a measure reads: the table before the release, rows used, kept out, of others, and released."""

    TABLE = "table"
    USED = "used"
    HELD_OUT = "held_out"
    OTHERS = "others"
    RELEASE = "release"


@dataclass(frozen=True)
class Released:
    """What a public measure gets: declarations and what was released. Holds no private row."""

    subject: Method
    release: Release
    progress: Progress = SILENT

    def __post_init__(self) -> None:
        object.__setattr__(self, "release", self.release.leaving)


@dataclass(frozen=True)
class Private:
    """What an internal measure gets.

    Parameters
    ----------
    table, schema
        The prepared table before the cap and the conditions, and what is declared about it.
    used
        The very rows that the release was made from.
    release
        What was released.
    work_folder
        An empty folder that goes with the run; None where there is none, then a temporary one is made.
    held_out
        Rows of people who were kept from the method; None where nobody was.
    people
        A number for each row's person in ``table``, −1 without one; None where it was not worked out.
    others
        By source, the rows of the further private tables that the release was made from.
    """

    subject: Method
    table: Table
    schema: Schema
    used: Table
    release: Release
    progress: Progress = SILENT
    work_folder: Path | None = None
    held_out: Table | None = None
    people: npt.NDArray[np.integer] | None = field(default=None, repr=False)
    others: Mapping[str, Table] = field(default_factory=dict)

    def only(self, needs: frozenset[Need]) -> Private:
        """Return what a measure with these needs gets: whoever reads anything else fails."""
        withheld: dict[str, Any] = {need.value: _Withheld() for need in Need if need not in needs}
        return replace(self, **withheld, people=self.people if Need.TABLE in needs else None)


class _Withheld:
    def __getattr__(self, name: str) -> Any:
        raise AttributeError("a measure read what it did not declare")


@dataclass(frozen=True)
class Measured:
    """An answer: ``views`` to draw, ``figures`` as JSON values for the evidence."""

    views: tuple[View, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PublicMeasured(Measured):
    """An answer that may leave."""


@dataclass(frozen=True)
class InternalMeasured(Measured):
    """An answer that stays."""


class Measure(ABC):
    """What both kinds declare. A new measure derives from `PublicMeasure` or `InternalMeasure`.

    Its words stand in ``resources/texts/LANG/measures/ID.toml``: title, summary, and below ``numbers`` for
    every number that it shows ``label``, ``what``, ``how`` and ``change``.
    """

    id: ClassVar[str]
    version: ClassVar[int] = 1
    audience: ClassVar[Audience]
    families: ClassVar[frozenset[Family]] = frozenset(Family)
    needs: ClassVar[frozenset[Need]]
    less_is_better: ClassVar[tuple[str, ...]] = ()
    more_is_better: ClassVar[tuple[str, ...]] = ()
    """Figures that candidates are compared by, the one to look at first in front."""
    on_demand: ClassVar[bool] = False
    """Whether it is asked only where a plan names it, for it takes long; never of candidates."""
    answered: ClassVar[bool] = False
    """Whether it asks the rows for no more than the method does, see `Method.needs`."""

    @property
    def asks_rows(self) -> bool:
        """Whether it needs all rows of a table in memory at once."""
        return bool(self.needs & {Need.TABLE, Need.USED, Need.HELD_OUT, Need.OTHERS}) and not self.answered

    def applies(self, subject: Method) -> bool:
        """Say whether the measure has something to say, from declarations only."""
        return subject.family in self.families and self.further_applies(subject)

    def further_applies(self, subject: Method) -> bool:
        """Say whether it applies beyond the family."""
        return True


class PublicMeasure(Measure):
    """Computed from the released artefacts and declarations alone."""

    audience = Audience.PUBLIC
    needs = frozenset({Need.RELEASE})

    @abstractmethod
    def evaluate(self, context: Released) -> PublicMeasured:
        """Return the answer."""


class InternalMeasure(Measure):
    """Computed from private rows, so the answer stays."""

    audience = Audience.INTERNAL

    @abstractmethod
    def evaluate(self, context: Private) -> InternalMeasured:
        """Return the answer."""
