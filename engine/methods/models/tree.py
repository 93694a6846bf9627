"""A decision tree of a few questions, from noisy counts: to be read, more than to predict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.methods import option
from engine.methods.budget import (
    NOISE,
    budget_problems,
    is_replace_one,
    noise_notes,
    noise_taken,
    takes_gaussian,
)
from engine.methods.filling import Judged, judged_by_margin
from engine.methods.models.class_tables import shares
from engine.methods.models.held_out import PERCENT, ScoredModel, fit_budget
from engine.methods.models.leaving import make_artefacts, number_views, privacy_text
from engine.methods.models.targets import CLASSES, class_problems, privacy_told, share_errors
from engine.methods.models.written_cells import cell_labels, declared_cells, read_cells, written_cells
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    MOST_ROUNDS,
    Context,
    Family,
    Forecast,
    Reads,
    Reference,
    Release,
)
from engine.methods.shared.blocks import blocks, smallest_type
from engine.methods.shared.cell_search import (
    CELLS,
    SEARCH_SHARE,
    SEARCHED,
    Grids,
    search_cells,
    search_notes,
    search_query,
    searched,
)
from engine.methods.shared.column_cells import (
    BINS,
    CELL_KINDS,
    OWN_EDGES,
    ColumnCells,
    bins_taken,
    columns_as_cells,
)
from engine.methods.shared.division import Division, Query, join_groups
from engine.methods.shared.promise import cap_notes
from engine.methods.shared.view import view_of
from engine.once import once
from engine.privacy.accuracy import NORMAL_WITHIN
from engine.privacy.events import Event
from engine.privacy.noise import Noise
from engine.table import coding
from engine.table.schema import Kind
from engine.views import BarsView, Cell, TableView, Text, TextView, View, several

if TYPE_CHECKING:
    import pandas as pd

    from engine.table.table import Table

ID = "models.tree"
WORDS = f"methods.{ID}"
FORMAT = "custos.decision_tree"
MOST_COUNTS = 100_000


class DecisionTree(ScoredModel):
    """A decision tree from noisy counts.

    Notes
    -----
    See `engine.methods.models.tree`. Every question costs noise for all: on tables of up to 50,000 rows
    naive Bayes and the additive model predict better. Where a question was asked tells about noise as much as
    about rows; another release may ask others.
    """

    id = ID
    version = 2  # cells are searched where a rough number of rows is said
    family = Family.MODEL
    promises = ("pure_dp", "approximate_dp")
    summable = True
    held_out = True
    published = Reference(
        "Friedman, Schuster: Data mining with differential privacy (2010)",
        "section 3, with all tables of a level asked for at once",
        "doi:10.1145/1835804.1835868",
    )

    class Options(ScoredModel.Options):
        target: str = option.column(column_kinds=(Kind.CATEGORY, Kind.ORDINAL), needs_domain=True)
        predictors: option.Names = option.columns(
            minimum=1, maximum=50, column_kinds=CELL_KINDS, needs_domain=True
        )
        depth: int = option.integer(default=3, minimum=1, maximum=4)
        noise: str = NOISE
        bins: int = BINS
        cells: str = CELLS
        about_rows: int | None = option.integer(
            optional=True, minimum=10, maximum=10**9, when=("cells", (SEARCHED,))
        )
        edges: Mapping[str, option.Edges] = OWN_EDGES
        held_out_percent: int = PERCENT

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        found = class_problems(self.request, method=ID)
        if found:
            return found
        classes = len(coding.levels(self.schema.column(self.options.target)))
        cells = sum(one.size for one in self.cells)
        counts = classes * cells * 2 ** (self.options.depth - 1)
        if counts > MOST_COUNTS:
            values = {"counts": counts, "most": MOST_COUNTS}
            return [Problem(f"{ID}.too_many_counts", values, "predictors")]
        return budget_problems(self.request, uses_delta=takes_gaussian(self.request))

    @once
    def taken(self) -> Mapping[str, Any]:
        return {**bins_taken(self.cells), **noise_taken(self.request, self.sums)}

    @property
    def sums(self) -> float:
        return 1 + self.options.depth * len(self.options.predictors)

    @once
    def cells(self) -> tuple[ColumnCells, ...]:
        """Return the cells of every predictor: from declarations alone."""
        return columns_as_cells(self.request, self.options.predictors)

    @once
    def plan(self) -> TreePlan:
        """Return what is counted, and with how much noise."""
        return replace(self._unsearched, searched=len(self.grids))

    @once
    def _unsearched(self) -> TreePlan:
        budget, cells = fit_budget(self.paid), self.cells
        return TreePlan(
            len(coding.levels(self.schema.column(self.options.target))),
            tuple(one.size for one in cells),
            tuple(one.ordered for one in cells),
            self.options.depth,
            budget.epsilon,
            budget.delta,
            self.request.rows_per_person,
            is_replace_one(self.request),
        )

    @property
    def asks_once(self) -> bool:
        """Every level hangs on the questions of the one before."""
        return False

    @property
    def rounds(self) -> tuple[Event, ...]:
        """A round for each level, and one for the leaves; a score and a search of cells are one site's."""
        division, depth = self.plan.division, self.options.depth
        if depth >= MOST_ROUNDS or division.is_gaussian or self.scores or self.grids:
            return ()
        return (*(division.asked(LEVELS) for _ in range(depth)), division.asked(LEAVES))

    @once
    def grids(self) -> Grids:
        """Return the fine grids of the predictors whose cells are searched."""
        budget = fit_budget(self.paid)
        # In pure noise nothing is left for questions
        rows = self.options.about_rows if budget.delta else None
        return searched(self.request, self.cells, budget=budget, rows=rows)

    @once
    def fit_events(self) -> Event:
        return self.plan.division.events

    @once
    def forecast(self) -> Forecast:
        label, noise = Text(f"{WORDS}.numbers.leaf.label"), self.plan.division.deviation(LEAVES)
        errors = share_errors(label, "group", self.request.sizes, deviation=noise) + self.score_errors
        return Forecast(
            errors,
            notes=(
                *cap_notes(self.request),
                *noise_notes(self.request, self.sums),
                *search_notes(self.grids),
            ),
        )

    def judged(self, people: int | None) -> Judged | None:
        leaves = 2**self.options.depth
        if people is None:
            return None
        limit = NORMAL_WITHIN * self.plan.division.deviation(LEAVES)
        return judged_by_margin(limit, people, f"{WORDS}.judged", groups=leaves)

    @once
    def needs(self) -> Reads:
        return Reads.ROWS if self.scores else Reads.CODED

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        context.progress.step(0.0, "run.reading")
        view = view_of(tables[MAIN])
        cells = search_cells(
            view,
            self.cells,
            self.grids,
            self.plan.division,
            context.noise,
            rows=self.options.about_rows,
            bins=self.options.bins,
        )
        sizes, ordered = tuple(one.size for one in cells), tuple(one.ordered for one in cells)
        plan = replace(self.plan, sizes=sizes, ordered=ordered)
        target = self.schema.column(self.options.target)
        classes = view.coded(
            target.name, smallest_type(len(coding.cells(target))), lambda values: coding.codes(values, target)
        )
        found = fit(classes, view.codes(cells), plan, noise=context.noise)
        context.progress.step(0.9, "run.writing")
        model = self.with_score(self.content(found, cells), predict, context)
        return self._released(model)

    def content(self, found: Tree, cells: Sequence[ColumnCells] | None = None) -> dict[str, Any]:
        """Return the tree as JSON values."""
        target, division = self.schema.column(self.options.target), self.plan.division
        questions = [
            [None if one is None else {"predictor": one.predictor, "first": list(one.first)} for one in level]
            for level in found.questions
        ]
        return {
            "format": FORMAT,
            "version": 1,
            "target": {"name": target.name, "kind": CLASSES, "values": list(coding.levels(target))},
            "predictors": [written_cells(one) for one in cells or self.cells],
            "questions": questions,
            "leaves": [
                {"rows": round(float(np.maximum(own, 0).sum())), "shares": share.tolist()}
                for own, share in zip(found.leaves, shares(found.leaves), strict=True)
            ],
            "noise": {
                "distribution": "discrete_gaussian" if division.delta else "discrete_laplace",
                "deviation_of_leaves": f"{division.deviation(LEAVES):.6g}",
            },
            "privacy": privacy_told(self.paid),
            "method": {"id": self.id, "version": self.version},
        }

    def _released(self, model: dict[str, Any]) -> Release:
        """Make the artefacts from the model: nothing after this line has seen a row."""
        asked = _questions_table(model)
        views: tuple[View, ...] = (
            asked if asked.rows else TextView(asked.title, (Text(f"{WORDS}.views.questions.none"),)),
            _leaves_table(model),
            *_only_leaf(model),
            *number_views({"rows": sum(model["leaves"][place]["rows"] for place in reached(model))}, WORDS),
        )
        card = (
            Text(f"{WORDS}.card.predicts", {"target": model["target"]["name"]}),
            Text(f"{WORDS}.card.not_for"),
            privacy_text(self.paid, WORDS),
            Text(f"{WORDS}.card.use"),
        )
        return make_artefacts(
            model, self.request, words=WORDS, predict=predict, promise=self.cost, card=card, views=views
        )


def leaf_of(model: Mapping[str, Any], frame: pd.DataFrame) -> np.ndarray:
    """Return the leaf of every row, from 0: every row has one, whatever it holds."""
    codes = [read_cells(one).codes(frame[one["name"]]) for one in model["predictors"]]
    nodes: arrays.Whole = np.zeros(len(frame), dtype=np.int64)
    for level in model["questions"]:
        asked = [None if one is None else Question(one["predictor"], tuple(one["first"])) for one in level]
        nodes = follow(nodes, asked, codes)
    return nodes


def reached(model: Mapping[str, Any]) -> list[int]:
    """Return the leaves, from 0, that some row can come to: a node that asks nothing leads on to one alone.

    Of the others nothing but noise is known.
    """
    return _reached(model["questions"])


def _reached(levels: Sequence[Sequence[Any]]) -> list[int]:
    """Return the nodes below some levels of questions, from 0, that some row can come to."""
    nodes = [0]
    for level in levels:
        nodes = [2 * node + side for node in nodes for side in ((0,) if level[node] is None else (0, 1))]
    return nodes


def predict(model: Mapping[str, Any], frame: pd.DataFrame) -> np.ndarray:
    """Return the most frequent class of every row's leaf, as text."""
    likely = np.array([int(np.argmax(one["shares"])) for one in model["leaves"]])
    return np.array(model["target"]["values"], dtype=object)[likely[leaf_of(model, frame)]]


def _questions_table(model: Mapping[str, Any]) -> TableView:
    """Return the questions by level; node k leads to 2 k − 1 where the answer is yes, else to 2 k."""
    rows: list[tuple[Cell, ...]] = []
    for level, asked in enumerate(model["questions"]):
        for node in _reached(model["questions"][:level]):
            one = asked[node]
            if one is None:
                continue
            predictor = model["predictors"][one["predictor"]]
            labels = cell_labels(predictor, f"{WORDS}.views")
            told = [labels[place] for place in one["first"] if place < declared_cells(predictor)]
            said = several(told) if told else None
            rows.append((level + 1, node + 1, predictor["name"], said, 2 * node + 1, 2 * node + 2))
    headings = tuple(
        Text(f"{WORDS}.views.headings.{name}") for name in ("level", "node", "column", "among", "yes", "no")
    )
    title, note = Text(f"{WORDS}.views.questions.title"), Text(f"{WORDS}.views.questions.note")
    return TableView(title, headings, tuple(rows), note)


def _leaves_table(model: Mapping[str, Any]) -> TableView:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            place + 1,
            model["leaves"][place]["rows"],
            *(float(f"{100 * share:.3g}") for share in model["leaves"][place]["shares"]),
        )
        for place in reached(model)
    )
    headings = (
        *(Text(f"{WORDS}.views.headings.{name}") for name in ("leaf", "rows")),
        *(Text(f"{WORDS}.views.headings.share", {"class": one}) for one in model["target"]["values"]),
    )
    return TableView(Text(f"{WORDS}.views.leaves.title"), headings, rows, Text(f"{WORDS}.views.leaves.note"))


def _only_leaf(model: Mapping[str, Any]) -> Iterator[BarsView]:
    """Give the shares of the classes as bars where a tree asks nothing: they are all that it says."""
    places = reached(model)
    if len(places) > 1:
        return
    shares = tuple(float(f"{100 * share:.3g}") for share in model["leaves"][places[0]]["shares"])
    words = f"{WORDS}.views.only_leaf"
    yield BarsView(
        Text(f"{words}.title"), tuple(map(str, model["target"]["values"])), shares, Text(f"{words}.axis")
    )


# --- growing the tree ------------------------------------------------------------------------------------
# From noisy counts: one table of classes by cells for every node and predictor.


Codes = arrays.Whole
Floats = arrays.Floats

LEVELS, LEAVES = "levels", "leaves"
LEAF_SHARE = 0.3


@dataclass(frozen=True)
class TreePlan:
    """What is counted, and with how much noise: from declarations alone.

    Parameters
    ----------
    classes
        How many classes there are.
    sizes
        Cells of every predictor.
    ordered
        How many of the first cells of every predictor have an order.
    depth
        How many questions lead to a leaf.
    epsilon, delta
        Of everything together; δ = 0 for noise of the Laplace kind.
    rows_per_person
        The cap.
    replace_one
        Whether neighbouring tables exchange a person.
    searched
        How many predictors are counted by their fine grids first; see `cell_search`.

    Notes
    -----
    On every level a row is in one node, and in one cell of each predictor's table of that node; at the end it
    is in one leaf. Nodes that ask nothing are counted too, so that what is drawn follows from the plan alone.
    """

    classes: int
    sizes: tuple[int, ...]
    ordered: tuple[int, ...]
    depth: int
    epsilon: Fraction
    delta: Fraction
    rows_per_person: int
    replace_one: bool
    searched: int = 0

    @once
    def division(self) -> Division:
        """How the budget is divided."""
        rows, times, tables = self.rows_per_person, 2 if self.replace_one else 1, len(self.sizes)
        ones, squared = times * rows, times * rows**2
        left = 1 - (SEARCH_SHARE if self.searched else 0)
        queries = [
            Query(LEVELS, ones * tables, squared * tables, left * (1 - LEAF_SHARE), self.depth),
            Query(LEAVES, ones, squared, left * LEAF_SHARE),
        ]
        if self.searched:
            queries.append(search_query(self.searched, rows=rows, replace_one=self.replace_one))
        return Division(tuple(queries), self.epsilon, self.delta, self.replace_one).borne_out()


@dataclass(frozen=True)
class Question:
    """Which cells of which predictor lead to the first of two nodes; None where nothing is asked."""

    predictor: int
    first: tuple[int, ...]


@dataclass(frozen=True)
class Tree:
    """A complete binary tree.

    Parameters
    ----------
    questions
        By level and node; a node without one leads all rows to its first child.
    leaves
        Noisy number of rows of every class in every leaf, shape (leaves, classes).
    """

    questions: tuple[tuple[Question | None, ...], ...]
    leaves: Floats


def fit(target: Codes, codes: Sequence[Codes], plan: TreePlan, *, noise: Noise) -> Tree:
    """Grow a tree level by level.

    Parameters
    ----------
    target
        The class of every row; at least ``plan.classes`` where it has none, and so no part.
    codes
        By predictor, the cell of every row.
    """
    seen = (target >= 0) & (target < plan.classes)
    own, inside = target, codes
    if not seen.all():
        own, inside = target[seen], [one[seen] for one in codes]
    nodes, questions = np.zeros(len(own), dtype=smallest_type(2**plan.depth)), []
    for level in range(plan.depth):
        exact = _count(nodes, own, inside, plan.sizes, (2**level, plan.classes))
        noisy = plan.division.noisy(LEVELS, join_groups(exact), noise).astype(np.float64)
        parts = np.split(noisy, np.cumsum([one.size for one in exact])[:-1])
        tables = [part.reshape(2**level, plan.classes, -1) for part in parts]
        asked = tuple(_best([table[node] for table in tables], plan) for node in range(2**level))
        questions.append(asked)
        for rows in blocks(len(nodes)):
            nodes[rows] = follow(nodes[rows], asked, [one[rows] for one in inside])
    leaves = 2**plan.depth
    (counts,) = _count(nodes, own, [np.zeros_like(nodes)], (1,), (leaves, plan.classes))
    noisy = plan.division.noisy(LEAVES, counts, noise).astype(np.float64)
    return Tree(tuple(questions), noisy.reshape(leaves, plan.classes))


def _count(
    nodes: Codes, target: Codes, codes: Sequence[Codes], sizes: Sequence[int], shape: tuple[int, int]
) -> list[arrays.Integers]:
    """Return by predictor how many rows there are of every node, class and cell, in that order."""
    found = [np.zeros(shape[0] * shape[1] * size, dtype=np.int64) for size in sizes]
    for rows in blocks(len(nodes)):
        kinds = nodes[rows].astype(np.int64) * shape[1] + target[rows]
        for counts, own, size in zip(found, codes, sizes, strict=True):
            counts += np.bincount(kinds * size + own[rows], minlength=counts.size)
    return found


def follow(nodes: Codes, asked: Sequence[Question | None], codes: Sequence[Codes]) -> Codes:
    """Return the node of every row one level further down."""
    second = np.zeros(len(nodes), dtype=np.uint8)
    for node, question in enumerate(asked):
        if question is not None:
            here = nodes == node
            second[here] = ~np.isin(codes[question.predictor][here], question.first)
    return 2 * nodes + second


def _best(tables: list[Floats], plan: TreePlan) -> Question | None:
    """Return the question that parts the classes of a node best, from its noisy tables; None where none does.

    A side must have more rows than four standard deviations of the noise of its sum.
    """
    scale, best, found = plan.division.deviation(LEVELS), 0.0, None
    for place, table in enumerate(tables):
        whole = _impurity(table.sum(axis=1))
        for first in _sides(table, plan.ordered[place]):
            inside = np.isin(np.arange(table.shape[1]), first)
            left, right = table[:, inside].sum(axis=1), table[:, ~inside].sum(axis=1)
            certain = [
                side.sum() > 4 * scale * sqrt(plan.classes * cells)
                for side, cells in ((left, inside.sum()), (right, (~inside).sum()))
            ]
            gain = whole - _impurity(left) - _impurity(right)
            # The gain of sums of noise alone grows with their deviation
            if all(certain) and gain - scale * sqrt(table.size) > best:
                best, found = gain - scale * sqrt(table.size), Question(place, first)
    return found


def _impurity(counts: Floats) -> float:
    """Return rows × Gini impurity of noisy class counts."""
    kept = np.maximum(counts, 0.0)
    total = float(kept.sum())
    return total - float((kept**2).sum()) / total if total > 0 else 0.0


def _sides(table: Floats, ordered: int) -> list[tuple[int, ...]]:
    """Return the cells of the first side of every question: the start of an order.

    The order is the declared one; without one, that of the share of the first class. Cells outside a declared
    order, for other and for missing values, are on the second side.
    """
    if ordered < 2:
        kept = np.maximum(table, 0.0)
        order = np.argsort(kept[0] / np.maximum(kept.sum(axis=0), 1e-9), kind="stable")
        return [tuple(sorted(map(int, order[:end]))) for end in range(1, len(order))]
    return [tuple(range(end)) for end in range(1, ordered + (ordered < table.shape[1]))]
