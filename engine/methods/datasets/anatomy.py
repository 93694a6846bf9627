"""Two tables: the rows without their sensitive value, and the values of every bucket of rows."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods import option
from engine.methods.datasets.recoding import Codes
from engine.methods.datasets.rollup import starts
from engine.methods.datasets.solution import alike_figure, figures_view
from engine.methods.kinds import Changes
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    Context,
    DictionaryEntry,
    Family,
    Inside,
    Method,
    Reference,
    Release,
    Rows,
    Spends,
    TableArtefact,
)
from engine.methods.shared.promise import promise_without_bound
from engine.methods.shared.rows import entry, leaving, written_cells
from engine.once import once
from engine.privacy.promise import Promise
from engine.progress import SILENT, Progress
from engine.risk.encoding import encode_column
from engine.table.schema import Role
from engine.table.table import Table
from engine.views import Text

ID = "datasets.anatomy"


class Anatomy(Method):
    """Anatomy: which sensitive value of a bucket belongs to which of its rows does not leave.

    Notes
    -----
    Definition: X. Xiao and Y. Tao (2006), section 3. All other values leave as they are, so that who is in
    the table can be seen, and rows can be linked to other tables. No value stands twice in a bucket of at
    least l rows: who knows nothing else is right about a person's value with a chance of at most 1 in l. How
    values go with other columns in all buckets tells more (deFinetti attack: D. Kifer, 2009); it is run
    against every release and its result shown inside.
    """

    id = ID
    family = Family.DATASET
    promises = ("l_diversity",)
    spends = Spends.NOTHING
    rows = Rows.REAL
    changes = (Changes.GROUPED,)
    published = Reference(
        "Xiao, Tao: Anatomy: simple and effective privacy preservation (2006)",
        "section 3",
        "https://www.vldb.org/conf/2006/p139-xiao.pdf",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(minimum=1, maximum=200)
        sensitive: str = option.column(column_roles=(Role.SENSITIVE,))
        l: int = option.integer(minimum=2, maximum=1000)  # noqa: E741 - the privacy level's name
        bucket: str = option.text(default="bucket")

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        options, schema = self.options, self.request.schema
        if options.bucket in (*options.columns, options.sensitive):
            return [Problem(f"{ID}.name_taken", {"column": options.bucket}, "bucket")]
        if options.sensitive in options.columns:
            return [Problem(f"{ID}.in_both", {"column": options.sensitive}, "columns")]
        for name in options.columns:
            if schema.column(name).role is Role.SENSITIVE:
                return [Problem(f"{ID}.another_sensitive", {"column": name}, "columns")]
        return [Problem(f"{ID}.several_rows", {})] if self.request.rows_per_person > 1 else []

    @once
    def cost(self) -> Promise:
        return promise_without_bound(
            self.request,
            "l_diversity",
            assumptions=("buckets_alone_known",),
            l=self.options.l,
            sensitive=self.options.sensitive,
        )

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        rows, options = next(iter(tables.values())).rows(), self.options
        columns = [self.schema.column(name) for name in options.columns]
        sensitive = self.schema.column(options.sensitive)
        if len(rows) < options.l:
            raise InputRefused("grouping.too_few", k=options.l)
        assert context.chance is not None  # nothing bounds the loss
        sensitive_cells = written_cells(rows[sensitive.name], sensitive)
        encoded = encode_column(pd.Series(sensitive_cells, dtype="str"), sensitive).as_read
        value = encoded.codes.astype(np.int64)
        if encoded.size == 1:
            raise InputRefused("grouping.one_value", column=sensitive.name)
        found = put_in_buckets(value, l_values=options.l, chance=context.chance, progress=context.progress)
        if found is None:
            raise InputRefused(f"{ID}.too_frequent", column=sensitive.name, l=options.l)
        number = context.chance.permutation(int(found.max()) + 1)[found]
        name = options.bucket
        cells = {column.name: written_cells(rows[column.name], column) for column in columns}
        labels = [str(one + 1) for one in number.tolist()]
        own = pd.DataFrame({**cells, name: labels}, dtype="str")
        told = pd.DataFrame({name: number, sensitive.name: sensitive_cells})
        told = told.sort_values([name, sensitive.name], ignore_index=True)
        told[name] = [str(one + 1) for one in told[name].tolist()]
        others = [encode_column(rows[column.name], column) for column in columns]
        right, blind = attack_by_definetti(found, value, [one.ranks[one.codes] for one in others])
        numbered = DictionaryEntry(name, Text("datasets.bucket"), "text")
        artefacts = (
            leaving(
                "rows", own, (*(entry(column, "as_it_is") for column in columns), numbered), context.chance
            ),
            TableArtefact("values", (told.astype("str"),), (numbered, entry(sensitive, "of_the_bucket"))),
        )
        return Release(artefacts, self.cost, inside=_inside(found, right, blind, sensitive_cells))


def _inside(found: np.ndarray, right: float, blind: float, sensitive: Sequence[str]) -> Inside:
    sizes = np.bincount(found)
    figures = {
        "people": len(found),
        "left_out": 0,
        "smallest_group": int(sizes.min()),
        "groups": len(sizes),
        **alike_figure([sensitive]),
    }
    attack = {"blind": round(blind, 4), "right": round(right, 4)}
    views = (figures_view(figures), figures_view(attack, "definetti"))
    return Inside(views, {**figures, **{f"guessed_{name}": value for name, value in attack.items()}})


# --- buckets, and what can still be guessed in them ------------------------------------------------------


Floats = arrays.Floats
MOST_ROWS = 20_000  # of whole buckets, for which values are guessed
MOST_VALUES = 50  # of a column: more are put together by their order
ROUNDS = 12
_BETWEEN = 1 << 10  # buckets between two words on progress


def put_in_buckets(
    value: Codes, *, l_values: int, chance: np.random.Generator, progress: Progress = SILENT
) -> Codes | None:
    """Put rows into buckets of at least l, no value twice in one.

    Parameters
    ----------
    value
        The sensitive value of each row, a number from 0.
    l_values
        l, at least 2.
    chance
        Which rows of a value are taken.

    Returns
    -------
    array of int64, shape (rows,), or None
        The bucket of each row, from 0; None where more than one in l rows have the same value.

    Notes
    -----
    X. Xiao and Y. Tao, Anatomy: simple and effective privacy preservation, 2006, figure 3: one row each of
    the l most frequent values left, again and again. What stays over, at most one row of fewer than l values,
    joins buckets without its value. Every bucket has different values only, so each is one's own with a
    chance of at most 1 in l.

    Examples
    --------
    >>> found = put_in_buckets(np.array([0, 0, 1, 2]), l_values=2, chance=np.random.default_rng(1))
    >>> sorted(np.bincount(found).tolist()), bool(found[0] != found[1])
    ([2, 2], True)
    """
    count = np.bincount(value)
    if not len(value) or count.max() * l_values > len(value):
        return None
    order = np.lexsort((chance.random(len(value)), value))
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    taken = np.zeros(len(count), dtype=np.int64)
    found, made = np.full(len(value), -1, dtype=np.int64), 0
    heap = [(-int(size), one) for one, size in enumerate(count) if size]
    heapq.heapify(heap)
    while len(heap) >= l_values:
        if not made % _BETWEEN:
            progress.step(made * l_values / len(value), "datasets.groups")
        largest = [heapq.heappop(heap) for _ in range(l_values)]
        for size, one in largest:
            found[order[first[one] + taken[one]]] = made
            taken[one] += 1
            if size + 1:
                heapq.heappush(heap, (size + 1, one))
        made += 1
    for row in np.flatnonzero(found < 0).tolist():
        has_it = np.zeros(made, dtype=bool)
        same = found[value == value[row]]
        has_it[same[same >= 0]] = True
        found[row] = chance.choice(np.flatnonzero(~has_it))
    return found


def attack_by_definetti(bucket: Codes, value: Codes, columns: Sequence[Codes]) -> tuple[float, float]:
    """Return the share of values that the deFinetti attack guesses right, and what guessing blindly would.

    Parameters
    ----------
    bucket, value
        Of each row; the attack reads of a bucket only which values it has.
    columns
        The other released columns, numbers from 0 in the order of their values.

    Notes
    -----
    D. Kifer, Attacks on privacy and deFinetti's theorem, 2009: rows of other buckets tell how values go with
    other columns. Here a naive Bayes model is fitted to all ways in which a bucket's values may belong to its
    rows (expectation maximisation), and each row is given its likeliest value. On at most 20,000 rows.
    """
    kept = bucket < np.searchsorted(np.cumsum(np.bincount(bucket)), MOST_ROWS, side="right") + 1
    bucket, value = bucket[kept], value[kept]
    grouped = [_few(column)[kept] for column in columns]
    row, candidate = _candidates(bucket, value)
    values = int(value.max()) + 1
    size = np.bincount(row)
    weight = 1.0 / size[row]
    for _ in range(ROUNDS):
        score = np.log(np.bincount(candidate, weight, values) + 1.0)[candidate]
        for own in grouped:
            levels = int(own.max()) + 1
            pairs = candidate * levels + own[row]
            both = np.bincount(pairs, weight, values * levels).reshape(values, levels) + 1.0
            score += np.log(both / both.sum(axis=1, keepdims=True)).reshape(-1)[pairs]
        weight = _shares(score, row, candidate, bucket)
    best = np.full(len(value), -1.0)
    np.maximum.at(best, row, weight)
    at = np.flatnonzero(weight == best[row])
    at = at[starts(row[at])]
    return float((candidate[at] == value).mean()), float((1.0 / size).mean())


def _candidates(bucket: Codes, value: Codes) -> tuple[Codes, Codes]:
    """Return every pair of a row and a value of its bucket, by row."""
    order = np.lexsort((value, bucket))
    sizes = np.bincount(bucket)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    size = sizes[bucket]
    row = np.repeat(np.arange(len(bucket)), size)
    within = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
    return row, value[order[first[bucket[row]] + within]]


def _shares(score: Floats, row: Codes, candidate: Codes, bucket: Codes) -> Floats:
    """Return how likely each value is each row's, a row having one value and a value of a bucket one row."""
    top = np.full(int(row.max()) + 1, -np.inf)
    np.maximum.at(top, row, score)
    weight = np.exp(score - top[row])
    of_value = np.unique(bucket[row] * (int(candidate.max()) + 1) + candidate, return_inverse=True)[1]
    of_value = of_value.reshape(-1)
    for _ in range(5):
        weight = weight / np.bincount(row, weight)[row]
        weight = weight / np.bincount(of_value, weight)[of_value]
    return np.asarray(weight / np.bincount(row, weight)[row])


def _few(column: Codes) -> Codes:
    """Put the values of a column together, neighbours in its order, until they are few."""
    counts = np.bincount(column)
    if len(counts) <= MOST_VALUES:
        return column
    below = np.cumsum(counts) - counts
    return np.asarray((below * MOST_VALUES // max(1, len(column)))[column], dtype=np.int64)
