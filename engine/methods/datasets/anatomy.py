"""Two tables: the rows without their sensitive value, and the values of every bucket of rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.datasets.buckets import buckets, guessed
from engine.methods.datasets.solution import figures_view
from engine.methods.kinds import Changes
from engine.methods.once import once
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
from engine.methods.shared.promise import unbounded
from engine.methods.shared.rows import entry, leaving, written_cells
from engine.privacy.promise import Promise
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
        return unbounded(
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
        encoded = encode_column(rows[sensitive.name], sensitive)
        value = encoded.codes.astype(np.int64)
        if encoded.size == 1:
            raise InputRefused("grouping.one_value", column=sensitive.name)
        found = buckets(value, l_values=options.l, chance=context.chance, progress=context.progress)
        if found is None:
            raise InputRefused(f"{ID}.too_frequent", column=sensitive.name, l=options.l)
        number = context.chance.permutation(int(found.max()) + 1)[found]
        name = options.bucket
        cells = {column.name: written_cells(rows[column.name], column) for column in columns}
        labels = [str(one + 1) for one in number.tolist()]
        own = pd.DataFrame({**cells, name: labels}, dtype="str")
        told = pd.DataFrame({name: number, sensitive.name: written_cells(rows[sensitive.name], sensitive)})
        told = told.sort_values([name, sensitive.name], ignore_index=True)
        told[name] = [str(one + 1) for one in told[name].tolist()]
        others = [encode_column(rows[column.name], column) for column in columns]
        right, blind = guessed(found, value, [one.ranks[one.codes] for one in others])
        numbered = DictionaryEntry(name, Text("datasets.bucket"), "text")
        artefacts = (
            leaving(
                "rows", own, (*(entry(column, "as_it_is") for column in columns), numbered), context.chance
            ),
            TableArtefact("values", (told.astype("str"),), (numbered, entry(sensitive, "of_the_bucket"))),
        )
        return Release(artefacts, self.cost, inside=_inside(found, right, blind))


def _inside(found: np.ndarray, right: float, blind: float) -> Inside:
    sizes = np.bincount(found)
    figures = {
        "people": len(found),
        "left_out": 0,
        "smallest_group": int(sizes.min()),
        "groups": len(sizes),
    }
    attack = {"blind": round(blind, 4), "right": round(right, 4)}
    views = (figures_view(figures), figures_view(attack, "definetti"))
    return Inside(views, {**figures, **{f"guessed_{name}": value for name, value in attack.items()}})
