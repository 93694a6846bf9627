"""What settings give on the custodian's rows before anything is released: seen inside, and nothing leaves.

Only a method of which nothing bounds the loss may show this: what is chosen by looking at rows is told by the
choice. How many settings were looked at is in the evidence of the release. A window draws each kind of answer
in its own way and knows no method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from engine.once import once
from engine.progress import SILENT, Progress
from engine.views import Cell, Label, TableView, Text

if TYPE_CHECKING:
    import numpy as np

    from engine.table.table import Table


@dataclass(frozen=True)
class Candidate:
    """One combination of steps.

    Parameters
    ----------
    steps
        One per ladder of the map, 0 for the values as they are.
    changes
        The parameters that take it.
    lost
        The loss that is to be least.
    left_out, alone
        People who would be left out, and who would stand alone if nobody were.
    holds
        Whether it may leave.
    """

    steps: tuple[int, ...]
    changes: Mapping[str, Any]
    lost: float
    left_out: int
    alone: int
    holds: bool


@dataclass(frozen=True)
class MapLadder:
    """The steps of one column, the finest first.

    Parameters
    ----------
    column
        Its name.
    sizes
        How many different values stand on each step.
    reads
        How the column reads on each: its values where they are few, else one of them; empty for no word.
    weight
        How much its detail counts beside that of the others.
    rows
        The cells of some rows as they are, and as they read on each step; the same rows for every column,
        for the custodian's eyes.
    """

    column: str
    sizes: tuple[int, ...]
    reads: tuple[str, ...] = ()
    weight: float = 1.0
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class SolutionMap:
    """Every combination of steps with what it loses and whom it leaves out.

    Parameters
    ----------
    ladders
        What steps can be taken.
    candidates
        Each combination once; where there are too many, the front and what lies beside the best.
    best, taken
        Places of the one that loses least of those that hold, and of the one that the settings take.
    most_left_out, people
        How many people may be left out, of how many.
    alone
        Who stands alone in the table as it is.
    is_share
        Whether the loss is a share of the detail, from 0 to 1; otherwise a number of its own.
    possible
        How many combinations there are.
    proven
        Whether no combination loses less than the best one.
    weighs
        The parameter that says how much the detail of each column counts; empty where none does.
    """

    ladders: tuple[MapLadder, ...]
    candidates: tuple[Candidate, ...]
    best: int
    taken: int
    most_left_out: int
    people: int
    alone: int
    is_share: bool
    possible: int
    proven: bool = True
    weighs: str = ""


@dataclass(frozen=True)
class Standing:
    """How many people stand alone, after each step so far.

    Parameters
    ----------
    columns
        By which they would be known.
    people
        Of how many.
    before
        Who stands alone in the table as it is.
    after
        Each step in words, and who stands alone after it.
    """

    columns: tuple[str, ...]
    people: int
    before: int
    after: tuple[tuple[Text, int], ...] = ()


@dataclass(frozen=True)
class CountCell:
    """A cell of a table of counts, as the custodian sees it.

    Parameters
    ----------
    value
        The real number.
    state
        ``"printed"``, ``"small"`` (hidden because of itself) or ``"protects"`` (hidden because of another).
    low, high
        What an attacker works out of it; None for no end.
    """

    value: float
    state: str = "printed"
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class CountTable:
    """A table of counts with what an attacker works out of every hidden cell.

    Parameters
    ----------
    name
        What it is a table of, such as the value of a third column; empty where it is the only one.
    down, across
        The columns that name its rows and its columns; ``across`` is empty for a table of one column.
    rows, columns
        Their values.
    cells
        One tuple a row; None where there is no cell.
    """

    name: Label
    down: str
    across: str
    rows: tuple[Label, ...]
    columns: tuple[Label, ...]
    cells: tuple[tuple[CountCell | None, ...], ...]


@dataclass(frozen=True)
class CountTables:
    """Tables that belong together, and how well the pattern of hidden cells is known.

    ``threshold`` is what counts below are hidden; ``gap`` how much cheaper another pattern could be at most,
    as a share of its cost; ``whole`` whether intervals are those of whole numbers.
    """

    tables: tuple[CountTable, ...]
    threshold: float
    gap: float
    whole: bool


@dataclass(frozen=True)
class Choices:
    """Lines of which some can be ticked: a ticked one is a record of a parameter.

    Parameters
    ----------
    parameter
        Its name.
    headings, rows
        What was found, the first column in words; there were ``found`` lines in all.
    records
        The record that each line is.
    taken
        For each line its place among the records that are filled in, None for one that is not.
    """

    parameter: str
    headings: tuple[Label, ...]
    rows: tuple[tuple[Cell, ...], ...]
    records: tuple[Mapping[str, Any], ...]
    taken: tuple[int | None, ...]
    found: int


@dataclass(frozen=True)
class Attacked:
    """What an attack on what would leave reads, which was run on the rows.

    Parameters
    ----------
    said
        Its worst figure in a sentence.
    views
        All of it.
    """

    said: Text
    views: tuple[TableView, ...]


Tried = SolutionMap | Standing | CountTables | Choices | Attacked


class Triable:
    """What a method declares whose settings can be tried on the rows; every method is one that cannot."""

    tries: ClassVar[tuple[str, ...]] = ()
    """Parameters that are needed before settings can be tried; empty where they never are.

    Only for methods of which nothing bounds the loss."""
    tries_for_long: ClassVar[bool] = False
    """Whether that takes so long that it is done when somebody asks for it, and not at each change."""

    @once
    def pairs_named(self) -> frozenset[frozenset[str]]:
        """Return pairs of columns whose relation a plan asks for, where rows are invented; none for all."""
        return frozenset()

    def tried(
        self,
        tables: Mapping[str, Table],
        *,
        chance: np.random.Generator,
        progress: Progress = SILENT,
    ) -> tuple[Tried, ...]:
        """Return what settings give on the rows, for the custodian alone.

        Tables and request are those of `engine.methods.protocol.Method.run`; only parameters that are not
        needed may be absent from the values.
        """
        raise NotImplementedError
