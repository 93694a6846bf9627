"""Invented rows: each column drawn from a model of the original given the columns before it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.errors import InputRefused
from engine.methods import option
from engine.methods.datasets.synthesis.chain import Chain, few_levels_first, fit
from engine.methods.datasets.synthesis.combined import Rule, estimates_view
from engine.methods.datasets.synthesis.models import Learn, Synthesiser, learning
from engine.methods.datasets.synthesis.partition import Tree
from engine.methods.datasets.synthesis.variables import (
    AMOUNTS,
    Amounts,
    Levels,
    Variable,
    check_variety,
    values_of,
    variable,
    write_drawn,
)
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    Context,
    DictionaryEntry,
    Family,
    FileArtefact,
    Inside,
    Method,
    Reference,
    Release,
    Rows,
    Spends,
    TableArtefact,
)
from engine.methods.shared.plausibility import (
    IN_ORDER,
    NEVER,
    SUMS,
    Rules,
    rule_columns,
    rule_problems,
    rules_of,
)
from engine.methods.shared.promise import promise_without_bound
from engine.methods.shared.rows import entry, written_cells
from engine.once import once
from engine.privacy.promise import Promise
from engine.table.declared import numbered_people
from engine.table.schema import Column, Kind
from engine.table.table import Table
from engine.views import TableView, Text

ID = "datasets.imputation"
WORDS = f"methods.{ID}"
FULL, PARTIAL = "full", "partial"
INSIDE, EVERY_ROW, OUTSIDE = "inside", "every_row", "outside"
NUMBERED = "synthetic_row"
DRAWABLE = (Kind.CATEGORY, Kind.ORDINAL, *AMOUNTS)
MOST_LEVELS = 2_000
MOST_CLASSES = 200
"""Levels of a column for regressions and networks, which have coefficients of their own for each."""
CLASSIFYING = (Synthesiser.LINEAR, Synthesiser.RANKS, Synthesiser.NETWORK)
MOST_ROUNDS = 50
MOST_BROKEN = 0.05
"""Share of original rows above which a rule does not describe the table."""
MOST_NOT_MENDED = 0.1
"""Share of drawn rows that break a rule for good above which the others would no longer stand for them."""


class Imputation(Method):
    """Synthetic rows, each column by a model of those before it, in full or only where a condition holds.

    Notes
    -----
    D. Rubin, Journal of Official Statistics 9 (1993); trees: J. Reiter, JOS 21 (2005); partly synthetic
    data: J. Reiter, Survey Methodology 29 (2003). No row is anybody's, but nothing bounds what the table
    tells about one person: with small leaves drawn rows copy original ones, and a table that is nearer to
    the people it was made from than to others tells who they are.
    """

    id = ID
    family = Family.DATASET
    promises = ("none",)
    spends = Spends.NOTHING
    rows = Rows.SYNTHETIC
    held_out = True
    libraries = ("scikit-learn", "threadpoolctl")
    variants = (
        {"smallest_leaf": 20},
        {"smallest_leaf": 50},
        {"synthesiser": Synthesiser.LINEAR.value},
        {"synthesiser": Synthesiser.RANKS.value},
        {"synthesiser": Synthesiser.FOREST.value},
        {"synthesiser": Synthesiser.NETWORK.value},
        {"synthesis": FULL},
        {"synthesis": PARTIAL},
    )
    published = Reference(
        "Reiter: Using CART to generate partially synthetic public use microdata (2005)",
        "section 3",
        "Journal of Official Statistics 21",
    )

    class Options(option.Options):
        columns: option.Names = option.columns(minimum=2, maximum=200, column_kinds=DRAWABLE)
        synthesis: str = option.choice(FULL, PARTIAL, default=FULL)
        replaced: option.Names = option.columns(
            optional=True, when=("synthesis", (PARTIAL,)), column_kinds=DRAWABLE
        )
        masks: Mapping[str, Mapping[str, Any]] = option.condition(
            optional=True, each=True, when=("synthesis", (PARTIAL,))
        )
        training: str = option.choice(
            INSIDE, EVERY_ROW, OUTSIDE, default=INSIDE, when=("synthesis", (PARTIAL,))
        )
        synthesiser: str = option.choice(
            *Synthesiser, default=Synthesiser.TREE.value, withdrawn=(("kernel", f"{ID}.kernel"),)
        )
        trees: int = option.integer(
            default=10, minimum=2, maximum=500, when=("synthesiser", (Synthesiser.FOREST.value,))
        )
        smallest_leaf: int = option.integer(default=20, minimum=2, maximum=10_000, presets=(20, 50))
        copies: int = option.integer(default=5, minimum=1, maximum=50)
        least_people: int = option.integer(default=5, minimum=1, maximum=1_000)
        order: option.Names = option.columns(optional=True, column_kinds=DRAWABLE)
        in_order: option.Records = IN_ORDER
        never: option.Records = NEVER
        sums: option.Records = SUMS
        estimates: option.Names = option.columns(
            optional=True, column_kinds=(Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER, Kind.NUMBER)
        )

    options: Options

    @once
    def keeps(self) -> tuple[str, ...]:
        if self.options.synthesis == FULL:
            return ()
        replaced = self.options.replaced or ()  # of a column under a mask some cells stay
        return tuple(name for name in self.options.columns if name not in replaced)

    @once
    def further_problems(self) -> list[Problem]:
        options = self.options
        released = set(options.columns)
        drawn = set(_drawn(self))
        problems = [
            Problem(f"{ID}.not_released", {"column": name}, parameter)
            for parameter, names in _mention(self)
            for name in names
            if name not in released
        ]
        if NUMBERED in released:
            problems.append(Problem(f"{ID}.name_taken", {"column": NUMBERED}, "columns"))
        if not drawn:
            problems.append(Problem(f"{ID}.nothing_replaced", {}, "replaced"))
        if options.order and set(options.order) != drawn:
            problems.append(Problem(f"{ID}.order", {"columns": ", ".join(sorted(drawn))}, "order"))
        if options.training == EVERY_ROW and _read_by_masks(self) & drawn:
            problems.append(Problem(f"{ID}.every_row", {}, "training"))
        problems += rule_problems(self.request, method=ID)
        return problems

    @once
    def cost(self) -> Promise:
        return promise_without_bound(self.request, "none")

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        table = next(iter(tables.values()))
        assert context.chance is not None  # nothing bounds the loss
        work = _prepare(table, self)
        chain = fit(
            work.variables,
            work.order,
            smallest=self.options.smallest_leaf,
            learn=_learning(self, context.chance),
            given=work.given,
            inside=work.training,
            progress=context.progress.part(0.0, 0.5),
        )
        copies, origins, counts = [], list[npt.NDArray[np.int64] | None](), []
        for place in range(self.options.copies):
            context.progress.step(0.5 + 0.5 * place / self.options.copies, "synthesis.draw")
            frame, origin, count = _copy(work, chain.redrawn(context.chance), context.chance)
            copies.append(_number(frame))
            origins.append(origin)
            counts.append(count)
        names = self.options.estimates or ()
        columns = [self.schema.column(name) for name in names]
        rule = _rule(self)
        note = "partial_alone" if rule is Rule.PARTIAL and len(copies) < 2 else rule.name.lower()
        views = (estimates_view(copies, columns, rows=work.rows, rule=rule),) if columns else ()
        first, *further = origins
        table_made = TableArtefact(
            "table",
            tuple(copies),
            _dictionary(work, self),
            first,
            tuple(o for o in further if o is not None),
            redrawn=rule is Rule.FULL_REDRAWN,
        )
        return Release(
            (table_made, *programs(table_made.files, rule)),
            self.cost,
            views,
            (Text(f"{WORDS}.notes.{note}"), Text(f"{WORDS}.notes.totals"), *self._alike_notes),
            inside=_inside(work, chain, counts),
        )

    @property
    def _alike_notes(self) -> tuple[Text, ...]:
        """Say that intervals are too narrow where rows of a person are alike; nothing where each has one."""
        cap = self.request.rows_per_person
        return (Text(f"{WORDS}.notes.several_rows", {"most": cap}),) if cap > 1 else ()


@dataclass(frozen=True)
class Work:
    """A table made ready.

    Parameters
    ----------
    cells
        The original rows as they would be written.
    variables
        By column: what can be fitted.
    order
        The columns that are drawn, in their order.
    given
        Columns of which no cell is drawn.
    replaced
        By drawn column, the rows in which it is replaced.
    training
        By drawn column, the rows that its model is fitted on.
    """

    cells: pd.DataFrame
    variables: Mapping[str, Variable]
    order: tuple[str, ...]
    given: tuple[str, ...]
    replaced: Mapping[str, npt.NDArray[np.bool_]]
    training: Mapping[str, npt.NDArray[np.bool_]]
    rules: Rules
    is_full: bool

    @property
    def rows(self) -> int:
        """How many original rows there are."""
        return len(self.cells)


def _prepare(table: Table, design: Imputation) -> Work:
    options, schema = design.options, design.schema
    if table.n_rows < 2 * options.smallest_leaf:
        raise InputRefused(f"{ID}.too_few", rows=2 * options.smallest_leaf)
    columns = {name: schema.column(name) for name in options.columns}
    cells = pd.DataFrame(
        {name: written_cells(table.rows()[name], column) for name, column in columns.items()}, dtype="str"
    )
    rules = rules_of(design.request)
    people = numbered_people(table, schema.person_key)
    drawn = _drawn(design)
    variables = {
        name: variable(table.rows()[name], column, people=people, least_people=options.least_people)
        for name, column in columns.items()
        if name not in rules.totals
    }
    for name, one in variables.items():
        most = MOST_CLASSES if name in drawn and options.synthesiser in CLASSIFYING else MOST_LEVELS
        if isinstance(one, Levels) and one.size > most:
            raise InputRefused(f"{ID}.too_many_levels", column=name, most=most)
    check_variety({name: variables[name] for name in drawn}, options.least_people)
    replaced = {name: _where(table, design, name) for name in drawn}
    if rules.broken(cells).mean() > MOST_BROKEN:
        raise InputRefused(f"{ID}.contradicted")
    given = tuple(name for name in variables if name not in drawn)
    order = options.order or few_levels_first({name: variables[name] for name in drawn})
    training = {name: _training(rows, options.training) for name, rows in replaced.items()}
    for name, learnt in training.items():
        if learnt.sum() < options.smallest_leaf:  # a value would be drawn from itself and few others
            raise InputRefused(f"{ID}.mask_few", column=name, rows=options.smallest_leaf)
    is_full = options.synthesis == FULL
    return Work(cells, variables, tuple(order), given, replaced, training, rules, is_full)


def _learning(design: Imputation, chance: np.random.Generator) -> Learn:
    options = design.options
    kind, smallest = Synthesiser(options.synthesiser), options.smallest_leaf
    return learning(kind, smallest=smallest, chance=chance, trees=options.trees)


def _copy(
    work: Work, chain: Chain, chance: np.random.Generator
) -> tuple[pd.DataFrame, npt.NDArray[np.int64] | None, dict[str, int]]:
    """Draw one table that keeps all rules, in a random order, with the original row of each of its rows.

    Also returns how many were drawn again, and left out. Rows that are drawn as a whole have no original.
    """
    made = _draw(work, chain, np.arange(work.rows), chance)
    again = 0
    broken = np.flatnonzero(work.rules.broken(made))
    for _ in range(MOST_ROUNDS):
        if not len(broken):
            break
        again += len(broken)
        anew = _draw(work, chain, broken, chance)
        made.iloc[broken] = anew.to_numpy()
        broken = broken[work.rules.broken(anew)]
    if len(broken) > MOST_NOT_MENDED * work.rows:
        raise InputRefused(f"{ID}.not_mended")
    kept = np.setdiff1d(np.arange(work.rows), broken)
    if work.is_full and len(broken):  # invented rows are nobody's: another one may stand twice
        kept = np.concatenate([kept, chance.choice(kept, size=len(broken))])
    kept = chance.permutation(kept)
    frame = made.iloc[kept].reset_index(drop=True)
    return frame, None if work.is_full else kept, {"drawn_again": again, "not_mended": len(broken)}


def _draw(work: Work, chain: Chain, rows: npt.NDArray[np.int64], chance: np.random.Generator) -> pd.DataFrame:
    """Draw the cells of some rows."""
    if work.is_full:
        drawn = chain.draw(len(rows), chance)
    else:
        original = {name: values_of(variable)[rows] for name, variable in work.variables.items()}
        drawn = chain.replace(original, {name: own[rows] for name, own in work.replaced.items()}, chance)
    cells = {}
    for name, cell in work.cells.items():
        kept = cell.iloc[rows].reset_index(drop=True)
        if str(name) in work.replaced:
            made = write_drawn(work.variables[str(name)], drawn[str(name)], chance)
            kept = made if work.is_full else made.where(work.replaced[str(name)][rows], kept)
        cells[name] = kept
    return work.rules.complete(pd.DataFrame(cells, dtype="str"))


def _number(frame: pd.DataFrame) -> pd.DataFrame:
    """Say in every row that it is synthetic."""
    frame.insert(0, NUMBERED, pd.Series([f"S{place}" for place in range(1, len(frame) + 1)], dtype="str"))
    return frame


def _rule(design: Imputation) -> Rule:
    """Return the rule that the recipient combines by."""
    if design.options.synthesis == PARTIAL:
        return Rule.PARTIAL
    return Rule.FULL_REDRAWN if Synthesiser(design.options.synthesiser).is_proper else Rule.FULL


def _drawn(design: Imputation) -> tuple[str, ...]:
    """Return the columns of which cells are drawn."""
    options = design.options
    totals = {rule["total"] for rule in options.sums or ()}
    if options.synthesis == FULL:
        return tuple(name for name in options.columns if name not in totals)
    named = (*(options.replaced or ()), *(options.masks or {}))
    return tuple(dict.fromkeys(name for name in named if name not in totals))


def _mention(design: Imputation) -> list[tuple[str, tuple[str, ...]]]:
    """Return the columns that must be among those that leave, by the parameter that names them."""
    asked = ("replaced", "masks", "order", "estimates")
    found = [(name, tuple(design.values[name] or ())) for name in asked]
    found += rule_columns(design.request)
    found.append(("masks", tuple(_read_by_masks(design))))
    return found


def _read_by_masks(design: Imputation) -> set[str]:
    return {str(condition["column"]) for condition in (design.options.masks or {}).values()}


def _where(table: Table, design: Imputation, name: str) -> npt.NDArray[np.bool_]:
    """Return the rows in which a column is replaced."""
    from engine.table.preparation.prepare import mask  # on first use: it brings the readers of files along

    condition = (design.options.masks or {}).get(name)
    if condition is None:
        return np.ones(table.n_rows, dtype=bool)
    rows = mask(table, [condition], design.schema)
    if rows.all() or not rows.any():
        raise InputRefused(f"{ID}.mask", column=name)
    return rows


def _training(replaced: npt.NDArray[np.bool_], training: str | None) -> npt.NDArray[np.bool_]:
    if training == OUTSIDE and not replaced.all():
        return ~replaced
    return np.ones_like(replaced) if training == EVERY_ROW else replaced


def _dictionary(work: Work, design: Imputation) -> tuple[DictionaryEntry, ...]:
    def of(column: Column) -> DictionaryEntry:
        if column.name in work.rules.totals:
            return entry(column, "computed")
        if column.name not in work.replaced:
            return entry(column, "as_it_is")
        whole = work.is_full or work.replaced[column.name].all()
        return entry(column, "invented" if whole else "partly_invented")

    kind = "" if work.is_full else "partly_"
    numbered = DictionaryEntry(NUMBERED, Text(f"datasets.{kind}synthetic_row"), "text")
    return (numbered, *(of(design.schema.column(name)) for name in design.options.columns))


def _inside(work: Work, chain: Chain, counts: list[dict[str, int]]) -> Inside:
    figures = {
        "original_rows": work.rows,
        "original_rows_broken": int(work.rules.broken(work.cells).sum()),
        "drawn_again": sum(count["drawn_again"] for count in counts),
        "not_mended": sum(count["not_mended"] for count in counts),
        "pooled_columns": sum(isinstance(one, Levels) and one.rare >= 0 for one in work.variables.values()),
    }
    headings = (Text(f"{WORDS}.views.inside.figure"), Text(f"{WORDS}.views.inside.value"))
    rows = tuple((Text(f"{WORDS}.views.inside.{name}"), value) for name, value in figures.items())
    order = TableView(
        Text(f"{WORDS}.views.order.title"),
        tuple(Text(f"{WORDS}.views.order.{name}") for name in ("column", "leaves", "missing", "beyond")),
        tuple(
            (
                link.name,
                int((link.value.leaves.count > 0).sum()) if isinstance(link.value, Tree) else None,
                round(float(np.isnan(link.variable.values).mean()), 3)
                if isinstance(link.variable, Amounts)
                else None,
                round(link.value.beyond, 4) if link.value is not None else None,
            )
            for link in chain.links
        ),
    )
    title, note = Text(f"{WORDS}.views.inside.title"), Text(f"{WORDS}.views.inside.note")
    return Inside((TableView(title, headings, rows, note), order), figures)


# --- programs for recipients of several copies -----------------------------------------------------------


FOLDER = "recipients"
PROGRAMS = {"python": ("combine.py", "text/x-python"), "r": ("combine.R", "text/x-r")}


def programs(copies: tuple[str, ...], rule: Rule) -> tuple[FileArtefact, ...]:
    """Return the programs for copies: made from the names of their files and the rule, from no row.

    Parameters
    ----------
    copies
        The names of the files.
    rule
        How their estimates are combined.

    Examples
    --------
    >>> [one.name for one in programs(("table-1.csv", "table-2.csv"), Rule.FULL)]
    ['combine.py', 'combine.R']
    """
    return tuple(
        FileArtefact(name, kind, _fill(name, copies, rule), Text(f"datasets.recipients.{language}"))
        for language, (name, kind) in PROGRAMS.items()
    )


def _fill(name: str, copies: tuple[str, ...], rule: Rule) -> bytes:
    template = files("resources").joinpath(FOLDER, f"{name}.txt").read_text(encoding="utf-8")
    listed = ", ".join(map(json.dumps, copies))
    if name.endswith(".py"):
        listed = f"[{listed}]"
    return template.format(files=listed, rule=json.dumps(str(rule))).encode()
