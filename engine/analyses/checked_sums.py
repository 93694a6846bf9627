"""Exact sums over sets of people that anybody could list, checked before they are told: inside the house."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engine.analyses.disclosure import own_table
from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.errors import InputRefused
from engine.methods.conditions import parse
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Reference, Source
from engine.methods.services.questions import Coded, Line, Question, axis_of
from engine.methods.shared.cells import LEFT_OUT
from engine.methods.shared.quantity import grid_of
from engine.privacy.fixed_point import grouped_sum
from engine.risk.sum_audit import SumAudit, Verdict
from engine.table.schema import Kind, Schema
from engine.views import TableView, Text

if TYPE_CHECKING:
    from engine.table.table import Table

MOST_CLASSES, MOST_ASKED = 20_000, 1_000
SHARE = 10
"""Of so many classes one sum is told, at most: more would be most of what there is to know."""
PREVALENCE = 0.2


class CheckedSums(Analysis):
    """Sums of one sensitive number over sets that are public, none of which gives one person away exactly.

    Notes
    -----
    Conditions use only columns that are known elsewhere, so that whoever asks can list the people of every
    set, and foretell every refusal. There is no promise: two people who are told together, knowledge of some
    of the numbers, and people who put theirs together are beyond what can be checked.
    """

    id = "checked_sums"
    published = Reference(
        "Chin and Özsoyoğlu: auditing and inference control in statistical databases (1982)",
        "sums; simulatable: Kenthapadi, Mishra and Nissim (2005)",
    )
    sources = (Source(MAIN),)
    parameters = (
        Parameter("known", ParameterKind.COLUMNS, minimum=1, maximum=10, needs_domain=True),
        Parameter("value", ParameterKind.COLUMN, column_kinds=(Kind.INTEGER, Kind.NUMBER), needs_domain=True),
        Parameter("sets", ParameterKind.TEXTS),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        table, schema = own_table(tables, context)
        known, asked = tuple(values["known"]), tuple(values["sets"])
        if len(asked) > MOST_ASKED:
            raise InputRefused("risk.too_many_figures", figures=len(asked), most=MOST_ASKED)
        key = schema.person_key
        if key is not None and (
            schema.rows_per_person > 1 or _repeats(table.rows()[key.name])
        ):  # rows of one person are told by a sum over them
            raise InputRefused("risk.several_rows")
        grid = grid_of(schema.column(values["value"]))
        if grid is None or values["value"] in known:
            raise InputRefused("risk.known_value", column=values["value"])
        questions = [Question(parse(text), schema) for text in asked]
        for name in dict.fromkeys(name for one in questions for name in one.columns):
            if name not in known:
                raise InputRefused("risk.not_known_elsewhere", column=name)
        rows = Coded(table.rows())
        masks = [one.mask(rows) for one in questions]
        classes = _classes(known, schema, rows)
        steps, missing = grid.steps(rows.frame)
        steps = np.where(missing, 0, steps)
        sizes = np.bincount(classes)
        first = np.unique(classes, return_index=True)[1]
        audit = SumAudit(sizes, most=max(1, len(sizes) // SHARE))
        told = []
        for text, mask in zip(asked, masks, strict=True):
            verdict = audit.ask(mask[first])
            shown = verdict in (Verdict.ANSWERED, Verdict.FOLLOWS)
            total = int(grouped_sum(steps, np.where(mask, 0, LEFT_OUT), 1)[0]) * grid.step if shown else None
            told.append((text, int(mask.sum()), None if total is None else float(total), verdict))
        return self._answer(told, sizes, audit)

    def _answer(self, told: list[tuple[Any, ...]], sizes: Any, audit: SumAudit) -> Answer:
        refused = sum(one[3] is Verdict.REFUSED for one in told)
        both = (1 - PREVALENCE) ** 2 + PREVALENCE**2
        lines = [
            self.word("said", sets=len(told), refused=refused),
            self.word("room", rank=audit.rank, most=max(1, len(sizes) // SHARE), classes=len(sizes)),
            self.word("foretold"),
            self.word("no_promise"),
            self.word("bounds", prevalence=PREVALENCE, share=both),
            self.word("outside"),
            self.word("together"),
            self.word("before"),
            Text("risk.lines.stays"),
        ]
        headings = tuple(self.word(f"sums.{name}") for name in ("set", "people", "sum", "verdict"))
        rows = tuple(
            (text or "*", people, "" if total is None else total, self.word(f"verdicts.{verdict}"))
            for text, people, total, verdict in told
        )
        figures = {
            "audience": "internal",
            "promise": "none",
            "classes": len(sizes),
            "alone": int((sizes == 1).sum()),
            "rank": audit.rank,
            "sums": [
                {"set": text, "people": people, "sum": total, "verdict": str(verdict)}
                for text, people, total, verdict in told
            ],
        }
        return InternalAnswer(
            (self.sentences(lines), TableView(self.word("sums.title"), headings, rows)), figures
        )


def _repeats(keys: pd.Series) -> bool:
    """Say whether somebody has several rows."""
    return bool(keys.dropna().astype(str).str.strip().duplicated().any())


def _classes(known: tuple[str, ...], schema: Schema, rows: Coded) -> Any:
    """Return the class of every row: equal where all that conditions may ever ask of it is the same."""
    columns = []
    for name in known:
        axis = axis_of(schema, name)
        read = rows.read(name, axis.read)
        if isinstance(axis, Line):
            numbers, absent = read
            read = numbers.astype(np.float64)
            read[absent] = np.inf
        columns.append(read)
    classes: Any = pd.MultiIndex.from_arrays(columns).factorize()[0]
    if len(np.unique(classes)) > MOST_CLASSES:
        raise InputRefused("risk.too_many_figures", figures=len(np.unique(classes)), most=MOST_CLASSES)
    return classes
