"""What a declared number of people can fill at most: from declarations alone, before anything is spent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor

from engine.views import TableView, Text, View

USELESS = 0.5
"""A release is useless when less than this share of its cells can say anything."""


@dataclass(frozen=True)
class Counted:
    """Into how many cells a release counts, and how exact one count is.

    Parameters
    ----------
    cells
        Declared cells (or groups) that share the rows between them: a row is in one of them at most. Cells
        for what is missing or was not declared are none: they are expected to be empty.
    limit
        The error that 95 of 100 counts stay within, in rows.
    rows_per_person
        Cap on the rows of one person.
    is_listed
        Whether tables that leave have a line for each of these cells: else lines that say nothing say
        nothing of them. Most moves between places, say, are made by nobody.
    """

    cells: int
    limit: float
    rows_per_person: int
    is_listed: bool = True

    def filled_by(self, people: int) -> Filling:
        """Return what so many people can fill.

        Examples
        --------
        >>> found = Counted(cells=80, limit=4.0, rows_per_person=2).filled_by(50)
        >>> found.per_cell, found.above, found.below, found.is_useless
        (1.25, 20, 60, True)
        """
        return Filling(people, people * self.rows_per_person, self.cells, self.limit)


@dataclass(frozen=True)
class Filling:
    """How many cells of a release can say something at all.

    Parameters
    ----------
    people
        As declared.
    rows
        What they have at most.
    cells, limit
        As in `Counted`.
    silent_tried
        Cells without information, empty ones too, where the method ran on as many people whom nobody has and
        who are spread unevenly; None where it was not tried.

    Notes
    -----
    A cell says something when it holds more rows than the margin of its count; with no more, zero would be as
    good a guess. So many rows fill at most rows / (margin + 1) cells beyond it, whatever the rows hold.
    """

    people: int
    rows: int
    cells: int
    limit: float
    silent_tried: int | None = None

    @property
    def margin(self) -> int:
        """Rows that a cell may hold and say nothing."""
        return floor(self.limit)

    @property
    def above(self) -> int:
        """How many cells can say something, at most."""
        return min(self.cells, self.rows // (self.margin + 1))

    @property
    def below(self) -> int:
        """How many cells say nothing, at least."""
        return self.cells - self.above

    @property
    def share(self) -> float:
        """Share of the cells that can say something: at most, or of those of the people it was tried on."""
        return min(self.above, self.cells - (self.silent_tried or 0)) / self.cells

    @property
    def per_cell(self) -> float:
        """Rows for each cell, were they spread evenly."""
        return self.rows / self.cells

    @property
    def is_useless(self) -> bool:
        """Whether most cells cannot say anything."""
        return self.share < USELESS


EFFECTS = ".views.effects.title"


def effects_told(views: Sequence[View]) -> tuple[int, int] | None:
    """Return how many effects of a model are told from nothing, and of how many; None where it lists none.

    Parameters
    ----------
    views
        That left.

    Notes
    -----
    Told is an effect whose limits leave zero, of a value that somebody has: the others have a mark in the
    last column, those without limits too, which the noise and values beside it made. See
    `engine.methods.models.linear_model.effects_table`.

    Examples
    --------
    >>> marks = (None, Text("m.views.nothing"), Text("models.effects.empty"))
    >>> rows = tuple(("ward", 1.0, mark) for mark in marks)
    >>> effects_told([TableView(Text("m.views.effects.title"), ("value", "adds", "note"), rows)])
    (1, 3)
    """
    marks = [
        row[-1]
        for view in views
        if isinstance(view, TableView) and isinstance(view.title, Text) and view.title.id.endswith(EFFECTS)
        for row in view.rows
    ]
    return (sum(mark is None for mark in marks), len(marks)) if marks else None


@dataclass(frozen=True)
class Judged:
    """How much a release can say that counts nothing in cells.

    Parameters
    ----------
    share
        Of what it would say without noise, in [0, 1]; what that means is the method's own, and in ``said``.
    said
        The sentence with its numbers.
    care
        What is to be chosen with open eyes, however exact the release is; None where there is nothing.
    """

    share: float
    said: Text
    care: Text | None = None

    @property
    def is_useless(self) -> bool:
        """Whether most of it is noise."""
        return self.share < USELESS


def judged_by_need(needed: float, sizes: Iterable[int], rows: int, text_id: str) -> Judged:
    """Return the judgement of effects that each need so many rows with their value.

    Parameters
    ----------
    needed
        Rows below which an effect is more noise than chance among people.
    sizes
        Effects of every predictor: a row has one value of each.
    rows
        As declared.
    text_id
        Of the sentences, ``.some`` and ``.all``: given ``rows``, ``needed``, ``effects`` and ``below``.

    Examples
    --------
    >>> found = judged_by_need(70.2, [2, 4], 200, "methods.models.additive.judged")
    >>> round(found.share, 2), found.said.values["below"]
    (0.67, 2)
    """
    least, every = max(ceil(needed), 1), tuple(sizes)
    above = sum(min(size, rows // least) for size in every)
    told = {"rows": rows, "needed": least, "effects": sum(every), "below": sum(every) - above}
    said = f"{text_id}.{'some' if told['below'] else 'all'}"
    return Judged(above / sum(every), Text(said, told))


def judged_by_margin(
    limit: float, rows: int, text_id: str, *, groups: int | None = None, **values: float
) -> Judged:
    """Return the judgement of counts that are off by up to a limit, in groups of the same size.

    Parameters
    ----------
    limit
        The error that 95 of 100 counts, or sums of what is 1 at most, stay within.
    rows
        Of all groups together, or people.
    text_id
        Of the sentence; it is given ``people``, ``limit``, ``groups`` where it is stated, and ``values``.
    groups
        Two where it is not stated: half of all people stand for a group.

    Examples
    --------
    >>> found = judged_by_margin(20.0, 100, "methods.services.private_queries.judged")
    >>> found.share, found.is_useless
    (0.6, False)
    >>> judged_by_margin(20.0, 100, "methods.models.tree.judged", groups=8).is_useless
    True
    """
    share = max(0.0, 1 - limit / (rows / (groups or 2)))
    stated = {} if groups is None else {"groups": groups}
    return Judged(share, Text(text_id, {"people": rows, "limit": limit, **stated, **values}))
