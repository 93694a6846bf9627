"""What the methods share that put people into groups: reading a table as combinations, writing it coarser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods import option
from engine.methods.datasets.conditions import (
    Condition,
    Demand,
    Holds,
    alike,
    cells_of,
    close,
    distinct,
    entropy,
    recursive,
)
from engine.methods.datasets.recoding import Codes, Ladder, Members, combine_places
from engine.methods.datasets.rollup import Cells
from engine.methods.datasets.row_sets import group_entries, one_entry_each
from engine.methods.parameters import Problem
from engine.methods.protocol import DictionaryEntry, Request
from engine.methods.shared.promise import promise_without_bound
from engine.methods.shared.rows import coarser_entry, entry, hierarchy_of, read_as, written_cells
from engine.numbers import of_hundred
from engine.privacy.promise import Promise, Term
from engine.risk.encoding import EncodedColumn, encode_column
from engine.table import coding
from engine.table.declared import numbered_people
from engine.table.hierarchies import ALL, MISSING
from engine.table.schema import Column, Kind, Role
from engine.table.table import Table
from engine.views import TableView, Text

WORDS = "grouping"
Written = dict[str, arrays.Objects]  # column → what every combination reads
IDENTIFYING = (Role.IDENTIFYING, Role.TIME, Role.PLACE)
MOST_UNKNOWN = 20  # values of a column that its hierarchy does not know, listed inside

ONCE, AS_A_SET = "once", "as_a_set"
SEVERAL_ROWS = option.choice(ONCE, AS_A_SET, name="several_rows", default=ONCE)
"""Whether a group counts everybody who has a row in it, or only those who share the set of all their rows."""
AGAINST_POPULATION = frozenset({"most_presence", "population_k", "population_risk"})
"""Terms that are counted in the population table."""
_ABOVE_0 = Fraction(1, 10_000)


class Grouped(option.Options):
    """What every method asks first that lets rows leave in groups of people who look alike."""

    columns: option.Names = option.columns(minimum=1, maximum=200)
    k: int = option.integer(minimum=2, maximum=100_000, presets=(5, 11, 20))


class Conditions(option.Options):
    """What the sensitive values of every group have to fulfil; nothing where nothing is filled in."""

    sensitive: option.Names = option.columns(optional=True, column_roles=(Role.SENSITIVE,))
    distinct_l: int | None = option.integer(optional=True, minimum=2, maximum=1000)
    entropy_l: Fraction | None = option.number(optional=True, minimum=Fraction(101, 100), maximum=1000)
    recursive_l: int | None = option.integer(optional=True, minimum=2, maximum=1000)
    recursive_c: Fraction = option.number(
        default=Fraction(3), minimum=_ABOVE_0, maximum=1000, beside="recursive_l"
    )
    t: Fraction | None = option.number(optional=True, minimum=_ABOVE_0, maximum=1)
    distance: str = option.choice("declared", "equal", default="declared", beside="t")
    beta: Fraction | None = option.number(optional=True, minimum=_ABOVE_0, maximum=1000)


WEIGHTS = option.number(
    name="weights", optional=True, each=True, minimum=Fraction(1, 100), maximum=100, column_roles=IDENTIFYING
)
"""How much the detail of each column counts; 1 where nothing is said."""
LEAST_STEPS = option.integer(
    name="least_steps", optional=True, each=True, minimum=1, column_roles=IDENTIFYING
)
"""The step of its hierarchy below which no value of a column leaves; 0 where nothing is said."""
STEPS = option.integer(name="steps", optional=True, each=True, minimum=0, column_roles=IDENTIFYING)
"""The very step that each column takes, 0 where it is not named; the best ones where nothing is said."""
_ASKED: Mapping[str, Callable[[EncodedColumn, Request], Demand]] = {
    "distinct_l": lambda column, request: distinct(request.values["distinct_l"]),
    "entropy_l": lambda column, request: entropy(float(request.values["entropy_l"])),
    "recursive_l": lambda column, request: recursive(
        float(request.values["recursive_c"]), request.values["recursive_l"]
    ),
    "t": lambda column, request: close(
        column, float(request.values["t"]), equal=request.values["distance"] == "equal"
    ),
    "beta": lambda column, request: alike(column, float(request.values["beta"])),
}
_DIVERSE = ("distinct_l", "entropy_l", "recursive_l")
"""What asks for several different values."""


def identifying_columns(request: Request) -> list[Column]:
    """Return the released columns by which somebody could be known."""
    columns = (request.schema.column(name) for name in request.values["columns"])
    return [column for column in columns if column.role in IDENTIFYING]


def sensitive_columns(request: Request) -> list[Column]:
    """Return the columns that conditions are about: those named, else all released sensitive ones."""
    columns = [request.schema.column(name) for name in request.values["columns"]]
    named = request.values["sensitive"]
    return [one for one in columns if one.role is Role.SENSITIVE and (not named or one.name in named)]


def least_steps(request: Request) -> Codes:
    """Return for every identifying column the step below which no value of it leaves."""
    said = request.values.get("least_steps") or {}
    return np.array([said.get(column.name, 0) for column in identifying_columns(request)], dtype=np.int64)


def taken_steps(request: Request) -> tuple[int, ...] | None:
    """Return the very step that every identifying column takes; None where the best ones are looked for."""
    said = request.values.get("steps")
    return tuple(said.get(column.name, 0) for column in identifying_columns(request)) if said else None


def grouping_problems(request: Request) -> list[Problem]:
    """Say what is wrong with columns and conditions, from declarations only."""
    values = request.values
    if not identifying_columns(request):
        return [Problem("grouping.nothing_identifying", {}, "columns")]
    for name in ("sensitive", "weights", "least_steps", "steps"):
        for column in values[name] or () if name in values else ():
            if column not in values["columns"]:
                return [Problem("grouping.not_released", {"column": column}, name)]
    for name in ("least_steps", "steps"):
        for column, step in (values.get(name) or {}).items():
            if step > (height := hierarchy_of(request.schema.column(column)).height):
                return [Problem("grouping.no_such_step", {"column": column, "height": height}, name)]
    if values.get("steps"):
        for column, least in (values.get("least_steps") or {}).items():
            if values["steps"].get(column, 0) < least:
                return [Problem("grouping.below_least", {"column": column, "least": least}, "steps")]
    asked = [name for name in _ASKED if values.get(name) is not None]
    if asked and not sensitive_columns(request):
        return [Problem("grouping.nothing_sensitive", {}, asked[0])]
    return []


def promise(request: Request, **further: Term) -> Promise:
    """Return what groups of at least k promise, with the conditions that were asked for."""
    values = request.values
    terms: dict[str, Term] = {
        "k": values["k"],
        "columns": ", ".join(column.name for column in identifying_columns(request)),
    }
    asked = [name for name in _ASKED if values.get(name) is not None]
    if values.get("several_rows") == AS_A_SET:
        terms["set_k"] = values["k"]
    if asked:
        terms["sensitive"] = ", ".join(column.name for column in sensitive_columns(request))
    for name in asked:
        terms[name] = values[name]
        if name == "recursive_l":
            terms["recursive_c"] = values["recursive_c"]
    known = ["marked_columns_known"]
    if "set_k" in terms:
        known.append("sets_of_rows_known")
    elif request.rows_per_person > 1:
        known.append("one_row_known")
    known += ["population_known"] if AGAINST_POPULATION & set(further) else []
    return promise_without_bound(request, "k_anonymity", assumptions=tuple(known), **{**terms, **further})


@dataclass(frozen=True, eq=False)
class Grouping:
    """A table as combinations of identifying values. From private rows.

    Parameters
    ----------
    rows
        The released columns as text, in the order of the table.
    columns, identifying
        Their declarations, and of those by which somebody could be known.
    ladders
        One for each identifying column.
    codes
        The distinct combinations, shape (combinations, identifying columns): places in `Ladder.values`.
    number
        The combination of every row.
    members
        Who has which combination.
    ranged
        The identifying columns that stand in their order, without steps.
    """

    rows: pd.DataFrame
    columns: tuple[Column, ...]
    identifying: tuple[Column, ...]
    ladders: tuple[Ladder, ...]
    codes: Codes
    number: Codes
    members: Members
    ranged: frozenset[str] = frozenset()

    def coarser(self, read: Written, kept: Holds) -> pd.DataFrame:
        """Return the rows of the combinations that are kept, as these are written."""
        cells = {name: texts[self.number] for name, texts in read.items()}
        return self.rows.assign(**cells)[kept[self.number]]

    def as_written(self, asked: Sequence[Condition]) -> list[pd.Series]:
        """Return the cells of every column that conditions are about, each once."""
        return [self.rows[name] for name in dict.fromkeys(one.column.column.name for one in asked)]

    def alike(self, read: Written, kept: Holds) -> Codes:
        """Number the combinations by what they read in the release, -1 for those that are left out.

        Where people are compared by all their rows, those of different sets have different numbers. It does
        not look at how the groups were made, so that what is promised can be counted once more.
        """
        number = np.full(len(kept), -1, dtype=np.int64)
        shown = pd.DataFrame(read)[kept]
        number[kept] = shown.groupby(list(shown.columns), sort=False).ngroup()
        if self.members.sets:
            number[kept] = group_entries(number[kept], self.members.person[kept]).group
        return number

    def on_steps(self, group: Codes, steps: Codes) -> Written:
        """Return what every combination reads in each identifying column.

        Parameters
        ----------
        group
            Of every combination, -1 for none.
        steps
            Shape (identifying columns, groups).
        """
        read = {}
        for place, (column, ladder) in enumerate(zip(self.identifying, self.ladders, strict=True)):
            hierarchy = hierarchy_of(column)
            texts = [hierarchy.at(ladder.values, step) for step in range(hierarchy.height + 1)]
            read[column.name] = np.array(texts, dtype=object)[steps[place][group], self.codes[:, place]]
        return read

    def entries(self, steps: Codes, released: pd.DataFrame) -> tuple[DictionaryEntry, ...]:
        """Return the dictionary of rows that leave, given the steps of their groups."""
        return tuple(self._entry(column, steps, released[column.name]) for column in self.columns)

    def _entry(self, column: Column, steps: Codes, cells: pd.Series) -> DictionaryEntry:
        if column not in self.identifying:
            return entry(column, "as_it_is")
        shown, any_value = {"values": read_as(cells)}, "_any" if ALL in set(cells) else ""
        if column.name in self.ranged:
            return coarser_entry(column, f"range{any_value}", **shown)
        own = steps[self.identifying.index(column)]
        low, high = int(own.min()), int(own.max())
        if high == 0:
            return entry(column, "as_it_is")
        if not set(cells) - {ALL}:
            return coarser_entry(column, "nothing_left")
        return coarser_entry(column, f"coarser{'' if low == high else '_by_group'}{any_value}", **shown)

    def steps_view(self, group: Codes, steps: Codes) -> TableView:
        """Say how coarse the released rows are: a line for a column and step, with its share of the rows."""
        of_row = group[self.number]
        rows = []
        for column, own in zip(self.identifying, steps[:, of_row[of_row >= 0]], strict=True):
            if column.name in self.ranged:
                continue
            shares = np.bincount(own) / len(own)
            height = hierarchy_of(column).height
            rows += [
                (column.name, step, height, of_hundred(share)) for step, share in enumerate(shares) if share
            ]
        headings = tuple(Text(f"{WORDS}.views.steps.{name}") for name in ("column", "step", "of", "share"))
        note = "note_last" if any(row[1] == row[2] for row in rows) else "note"
        return TableView(
            Text(f"{WORDS}.views.steps.title"), headings, tuple(rows), Text(f"{WORDS}.views.steps.{note}")
        )

    def unknown_view(self) -> TableView | None:
        """Name the values that hierarchies do not know, for inside; None where they know all."""
        rows = []
        for column in self.identifying:
            hierarchy = hierarchy_of(column)
            if hierarchy.height == 1 or column.name in self.ranged:
                continue
            values, counts = np.unique(self.rows[column.name].to_numpy(dtype=str), return_counts=True)
            reads = hierarchy.at(values.tolist(), 1)
            found = [place for place, read in enumerate(reads) if read == ALL and values[place] != MISSING]
            rows += [(column.name, str(values[place]), int(counts[place])) for place in found[:MOST_UNKNOWN]]
        if not rows:
            return None
        headings = tuple(Text(f"{WORDS}.views.unknown.{name}") for name in ("column", "value", "rows"))
        return TableView(
            Text(f"{WORDS}.views.unknown.title"), headings, tuple(rows), Text(f"{WORDS}.views.unknown.note")
        )


def read_grouping(
    table: Table,
    request: Request,
    *,
    in_order: bool = False,
    further: Mapping[str, Sequence[str]] | None = None,
    sets: bool = False,
) -> Grouping:
    """Read the released columns of a table as combinations.

    Parameters
    ----------
    table, request
        The rows, and which columns leave.
    in_order
        Place columns that have an order in it, with no steps of a hierarchy.
    further
        Values that columns have elsewhere, for which a place is kept too.
    sets
        Compare people by the set of all their rows.
    """
    columns = [request.schema.column(name) for name in request.values["columns"]]
    cells = {column.name: written_cells(table.rows()[column.name], column) for column in columns}
    rows = pd.DataFrame(cells, dtype="str")
    identifying, weights = identifying_columns(request), request.values.get("weights") or {}
    ladders, codes, ranged = [], [], []
    for column, least in zip(identifying, least_steps(request), strict=True):
        found, uniques = pd.factorize(rows[column.name].to_numpy(dtype=object))
        values = [str(value) for value in uniques]
        weight = float(weights.get(column.name, 1))
        order = _in_order(rows, column, values) if in_order else None
        if order is None:
            every = list(dict.fromkeys([*values, *(further or {}).get(column.name, ())]))
            ladders.append(Ladder.of(every, hierarchy_of(column), weight=weight).from_step(least))
        else:
            ladders.append(Ladder.in_order(order, weight=weight, numbers=_numbers(column, order)))
            ranged.append(column.name)
        codes.append(ladders[-1].place(values)[found])
    distinct_codes, number = combine_places(np.column_stack(codes).astype(np.int64), ladders)
    members = members_of(number, table, request.schema.person_key)
    person = numbered_people(table, request.schema.person_key)
    if sets and person is not None and not members.each_once:
        own, number, members = one_entry_each(number, person)
        distinct_codes = distinct_codes[own]
    return Grouping(
        rows,
        tuple(columns),
        tuple(identifying),
        tuple(ladders),
        distinct_codes,
        number,
        members,
        frozenset(ranged),
    )


def conditions(grouping: Grouping, table: Table, request: Request) -> list[Condition]:
    """Return what the sensitive values of every group have to fulfil.

    Of each such column there is one entry, or two where a value is spelt in several ways: how many values
    there are is asked of what they say, how frequent they are of what is written, which is stricter.
    """
    asked = [name for name in _ASKED if request.values.get(name) is not None]
    found = []
    for column in sensitive_columns(request) if asked else ():
        written = encode_column(_as_they_leave(grouping, table, column), column)
        said = written.as_read
        is_spelt = said is not written
        parts = [(written, [name for name in asked if not is_spelt or name not in _DIVERSE])]
        parts += [(said, [name for name in asked if name in _DIVERSE])] if is_spelt else []
        for encoded, names in parts:
            if names:
                demands = [_ASKED[name](encoded, request) for name in names]
                found.append(Condition.of(grouping.number, encoded, demands))
    return found


def target_of(grouping: Grouping, table: Table, request: Request) -> Condition | None:
    """Return the column of which groups are to say something, where one is named."""
    name = request.values.get("target")
    if name is None:
        return None
    column = request.schema.column(name)
    return Condition.of(grouping.number, encode_column(_as_they_leave(grouping, table, column), column), ())


def _as_they_leave(grouping: Grouping, table: Table, column: Column) -> pd.Series:
    """Return the cells of a column as a recipient gets them: those alone count for what groups fulfil."""
    return grouping.rows[column.name] if column.name in grouping.rows else table.rows()[column.name]


def sensitive_cells(grouping: Grouping) -> list[EncodedColumn]:
    """Return the released sensitive columns as they leave."""
    released = [column for column in grouping.columns if column.role is Role.SENSITIVE]
    return [encode_column(grouping.rows[column.name], column) for column in released]


def refuse(grouping: Grouping, asked: Sequence[Condition], *, k: int) -> InputRefused:
    """Say why no group can be made, where even all people together are none."""
    if grouping.members.people < k:
        return InputRefused("grouping.too_few", k=k)
    for one in asked:
        everybody = Cells.counted(
            np.zeros(len(one.value), dtype=np.int64), one.value, one.count, values=len(one.overall), groups=1
        )
        if not one.holds(everybody).all():
            code = "one_value" if one.column.size == 1 else "not_fulfilled"
            return InputRefused(f"grouping.{code}", column=one.column.column.name)
    return InputRefused("grouping.too_many_left_out")


def refuse_broken(
    grouping: Grouping, asked: Sequence[Condition], number: Codes, *, k: int, method: str
) -> None:
    """Refuse a release in which fewer than k people read alike, or whose values do not fulfil what was asked.

    Raises
    ------
    InputRefused
        ``run.promise_differs``.
    """
    left_out = np.where(number < 0, number.max() + 1, number)
    sizes = grouping.members.sizes(left_out)[: number.max() + 1]
    if sizes.min() < k or not all(one.holds(cells_of(number, one)).all() for one in asked):
        raise InputRefused("run.promise_differs", method=method, part="promise")


def _in_order(rows: pd.DataFrame, column: Column, values: Sequence[str]) -> list[str] | None:
    """Return the values of a column as text in their order, a missing one last; None where they have none."""
    encoded = encode_column(rows[column.name], column)
    if not encoded.ordered:
        return None
    known = [encoded.texts[code] for code in np.argsort(encoded.ranks)]
    return list(dict.fromkeys([*known, *values]))


def _numbers(column: Column, order: Sequence[str]) -> arrays.Floats | None:
    """Return values in their order as numbers or days, missing ones NaN; None of what has an order only."""
    values = pd.Series(order, dtype=object)
    if column.kind in (Kind.INTEGER, Kind.NUMBER):
        found = coding.numbers(values, column)
    elif column.kind is Kind.DATE:
        days = coding.dates(values, column)
        found = np.where(np.isnat(days), np.nan, days.astype("int64").astype(np.float64))
    else:
        return None
    known = found[~np.isnan(found)]
    # What cannot be read stands last as the missing do; anything else has no place between numbers
    is_line = np.isnan(found[len(known) :]).all() and (np.diff(known) >= 0).all() and np.isfinite(known).all()
    return found if is_line and len(known) else None


def members_of(number: Codes, table: Table, key: Column | None) -> Members:
    """Say who has which combination; every row is a person of its own where there is no key."""
    person = numbered_people(table, key)
    if person is None:
        return Members(number, np.arange(len(number)))
    # Sorted: groups that do not fit into one number are numbered by where they first stand
    pairs = pd.DataFrame({"number": number, "person": person}).drop_duplicates().sort_values("number")
    return Members(pairs["number"].to_numpy(), pairs["person"].to_numpy())
