"""What the methods of rows from seeds share: what they ask, refuse, promise and release."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, isfinite, sqrt
from typing import Any

import numpy as np

from engine.methods import option
from engine.methods.budget import budget_problems, is_replace_one, required_budget
from engine.methods.datasets.latent_model.moments import Moments
from engine.methods.datasets.latent_model.teaching import Teaching
from engine.methods.datasets.seeds.boxes import Declared
from engine.methods.datasets.seeds.filtering import distance_at_most
from engine.methods.datasets.seeds.foreseeing import TOO_HIGH, TOO_LOW, alone_of, share_alone
from engine.methods.datasets.seeds.learning import NOBODY, Learning
from engine.methods.datasets.seeds.making import Made, make_rows
from engine.methods.datasets.seeds.plan import MOST_ROWS, by_other_ways, level_needed, most_rows, plan_test
from engine.methods.datasets.synthesis.invented import invented_rows, invented_table
from engine.methods.datasets.synthesis.related import describe_relations, draw_relations
from engine.methods.filling import Judged
from engine.methods.parameters import Problem
from engine.methods.protocol import (
    MAIN,
    Context,
    Expected,
    Family,
    Forecast,
    Inside,
    Method,
    Reads,
    Release,
    Rows,
)
from engine.methods.shared.cells import level_problems
from engine.methods.shared.column_cells import (
    CELL_KINDS,
    ColumnCells,
    bins_taken,
    columns_as_cells,
    edge_problems,
    is_listed,
)
from engine.methods.shared.promise import cap_notes, promise
from engine.methods.shared.view import view_of
from engine.numbers import brief
from engine.once import once
from engine.privacy.accuracy import NORMAL_MEDIAN, NORMAL_WITHIN, share_interval
from engine.privacy.events import Event, Parallel
from engine.privacy.mechanisms import GeometricThreshold, LaplaceThreshold, SeededRows
from engine.privacy.promise import Promise
from engine.table.table import Table
from engine.views import Cell, TableView, Text, View

ID = "datasets.seedbased"
WORDS = f"methods.{ID}"
WEIGHTED, BINNED = "weighted", "bins"
LOT, LAPLACE, GEOMETRIC = "lot", "laplace", "geometric"
TESTS: dict[str, type[SeededRows]] = {
    LOT: SeededRows,
    LAPLACE: LaplaceThreshold,
    GEOMETRIC: GeometricThreshold,
}
MOST_CELLS = 5_000
SURE = Fraction(9, 10)
"""The crowd may need so much of the seeds that are expected; the lot may give fewer."""

MOST_ALONE = 0.5
"""Share of the rows from the model alone above which the recipient is told that seeds hardly matter."""
ALL_ALONE = 0.75
"""Where at best this share of the rows would be from the model alone, no seeds are taken."""

COLUMNS = option.columns(minimum=1, maximum=100, column_kinds=CELL_KINDS, needs_domain=True)
MODEL_SHARE = option.number(
    name="model_share", default="1/2", minimum=Fraction(1, 20), maximum=Fraction(19, 20)
)
RATIO = option.number(name="ratio", default=2, minimum=Fraction(101, 100), maximum=100)


class SeedMethod(Method):
    """A synthetic table whose rows were made from people's rows and passed a test of their crowd.

    Notes
    -----
    Its words are those of ``datasets.seedbased``; a method below says how a row is made from a seed.
    """

    family = Family.DATASET
    rows = Rows.SYNTHETIC
    libraries = ()

    class Options(option.Options):
        columns: option.Names = COLUMNS
        about_rows: int = option.integer(minimum=10, maximum=10**9)
        rows: int = option.integer(minimum=1, maximum=MOST_ROWS)

    options: Options
    refuses_idle_seeds = False
    """Whether what is foreseen is sure enough to take no seeds where hardly a row would have one: it is not
    where it hangs on how many people are alike in what is kept."""

    # --- declarations ------------------------------------------------------------------------------

    @once
    def further_problems(self) -> list[Problem]:
        options = self.options
        columns = [self.schema.column(name) for name in options.columns]
        found = level_problems([one for one in columns if is_listed(one)], parameter="columns")
        found += edge_problems(self.request, columns, method=ID, parameter="columns")
        if not found:
            for column, cells in zip(columns, self.cells, strict=True):
                if cells.size > MOST_CELLS:
                    told = {"column": column.name, "cells": cells.size, "most": MOST_CELLS}
                    found.append(Problem(f"{ID}.too_many_cells", told, "columns"))
        found += self.own_problems
        if self.request.rows_per_person > 1:
            found.append(Problem(f"{ID}.several_rows", {}))
        if is_replace_one(self.request):
            found.append(Problem(f"{ID}.replace_one", {}, "budget"))
        found += budget_problems(self.request, uses_delta=True)
        return found or _crowd_problems(self) or self._alone_problems

    @once
    def _alone_problems(self) -> list[Problem]:
        """Refuse to take seeds of which next to nothing would come."""
        fewest, _ = self.foreseen
        if not self.refuses_idle_seeds or fewest <= ALL_ALONE:
            return []
        return [Problem(f"{ID}.all_alone", {"percent": floor(100 * fewest)}, "rows")]

    @abstractmethod
    def passing(self, crowd: float) -> tuple[float, float]:
        """Return between which shares of the tries from seeds pass: from declarations, as far as they tell.

        Parameters
        ----------
        request
            Checked but for this.
        crowd
            Which share of the seeds that are expected has to be the crowd of a row.
        """

    @once
    def foreseen(self) -> tuple[float, float]:
        """Return between which shares of the rows are from the model alone, before anything is read."""
        test = _test(self)
        low, high = self.passing(test.threshold / max(1, _seeds(self)))
        return alone_of(high, float(test.alone)), alone_of(low, float(test.alone))

    @once
    @abstractmethod
    def own_problems(self) -> list[Problem]:
        """Say what is wrong with what only this method asks."""

    @once
    def taken(self) -> Mapping[str, Any]:
        return bins_taken(self.cells)

    @once
    def cells(self) -> tuple[ColumnCells, ...]:
        """Return the cells of every column: from declarations alone."""
        return columns_as_cells(self.request, self.options.columns)

    @once
    @abstractmethod
    def learning(self) -> Learning | Moments | Teaching | Declared:
        """Return how the model is learnt."""

    @once
    def cost(self) -> Promise:
        test = _test(self)
        learnt = self.learning.event
        events: Event = test if learnt is None else Parallel((test, learnt))
        if _ratio(self) == 1 or _kind(self) is not SeededRows:  # no crowd is certain
            return promise(self.request, events, kind="approximate_dp", further=("parts_by_lot",))
        found = promise(self.request, events, kind="plausible_deniability", further=("parts_by_lot",))
        return replace(found, terms={"k": test.least, "gamma": test.ratio})

    # --- forecast ----------------------------------------------------------------------------------

    @once
    def forecast(self) -> Forecast:
        """State the error of a share under the model: noise of its counts, and the lot of the rows."""
        test, learning = _plan(self), self.learning
        noise = learning.deviation / learning.about_rows
        deviation = 100 * sqrt(noise**2 + 0.25 / self.options.rows)
        label = Text(f"{WORDS}.numbers.share.label")
        error = Expected(label, "tested", None, NORMAL_MEDIAN * deviation, NORMAL_WITHIN * deviation)
        known = (error,) if learning.deviation else ()
        foreseen = () if test is None else (self._foreseen,)
        capped = cap_notes(self.request) if known else []  # they speak of margins
        notes = (*capped, *foreseen, self.note)
        views = () if test is None else (_plan_view(test, self),)
        return Forecast(known, views=views, notes=notes)

    @once
    def _foreseen(self) -> Text:
        low, high = self.foreseen
        name = "foreseen_mostly" if low + high > 2 * MOST_ALONE else "foreseen"
        return Text(f"{WORDS}.notes.{name}", {"low": round(100 * low), "high": round(100 * high)})

    def judged(self, people: int | None) -> Judged | None:
        """Say how many rows will have a seed at all: half of what is foreseen at best and at worst."""
        if _plan(self) is None:
            return None
        low, high = self.foreseen
        verdict = "mostly_alone" if low + high > 2 * MOST_ALONE else "seeds"
        told = {"low": round(100 * low), "high": round(100 * high)}
        return Judged(1 - (low + high) / 2, Text(f"{WORDS}.judged.{verdict}", told))

    @once
    @abstractmethod
    def note(self) -> Text:
        """Say what the model carries of what belongs together."""

    # --- release -----------------------------------------------------------------------------------

    @once
    def needs(self) -> Reads:
        return Reads.CODED

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        columns, learning, test = self.cells, self.learning, _test(self)
        context.progress.step(0.0, "run.reading")
        codes = np.array(view_of(tables[MAIN]).codes(columns), dtype=np.int64)
        share = _model_share(self)
        apart = context.noise.bernoulli(share, codes.shape[1])  # one coin for each person
        learnt = learning.learnt(codes[:, apart], context.noise, progress=context.progress.part(0.1, 0.7))
        fewest, most = drawn_anew(self)
        model = learnt.model(fewest=fewest, most=most)
        found = make_rows(
            model,
            np.ascontiguousarray(codes[list(learnt.order)][:, ~apart].T),
            test,
            context.noise,
            progress=context.progress.part(0.7, 1.0),
        )
        order = np.argsort(learnt.order)
        artefact = invented_table(columns, model.finished(found.rows).T[order], context.noise)
        untested = invented_rows(columns, model.finished(found.untested).T[order], context.noise)
        inside = replace(_inside(found, test, codes, apart), untested=untested)
        alone = share_alone(model, found.rows, _seeds(self), test, context.noise)
        notes = (_alone_note(alone), *describe_relations(learnt.relations, self.options.columns))
        drawn = draw_relations(learnt.relations, self.options.columns)
        views: tuple[View, ...] = (_plan_view(test, self), *drawn)
        return Release((artefact,), self.cost, views, notes, inside=inside)


def _alone_note(share: float) -> Text:
    """Say which share of the rows is from the model alone, as far as that can be told outside."""
    highest = min(1.0, share + TOO_LOW)
    name = "mostly_alone" if (share + highest) / 2 > MOST_ALONE else "alone"
    lowest = share * (1 - TOO_HIGH * share)  # the more rows are from the model, the more they mislead
    return Text(f"{WORDS}.notes.{name}", {"percent": round(100 * lowest), "highest": round(100 * highest)})


def _model_share(design: SeedMethod) -> Fraction:
    """Return the share of the people that the model is learnt from: of none where nobody is asked for one."""
    share = design.values.get("model_share")
    return Fraction(0) if share is None or design.values.get("model") == NOBODY else Fraction(share)


def model_rows(design: SeedMethod) -> int:
    """Return roughly how many rows the model is learnt from."""
    return max(10, round(design.options.about_rows * _model_share(design)))


def level_of(design: SeedMethod) -> tuple[Fraction, Fraction]:
    """Return (ε, δ) that learning may cost: no more than the seeds pay, who are other people."""
    test, budget = _plan(design), required_budget(design.request)
    if test is None:
        return budget.epsilon, budget.delta
    level, failure = test.stated()
    return level * (1 - Fraction(1, 2**20)), failure * (1 - Fraction(1, 2**20))


def drawn_anew(design: SeedMethod) -> tuple[int, int]:
    """Return how many columns are drawn anew: by default all, or up to a third fewer."""
    columns = len(design.options.columns)
    fewest, most = design.values.get("fewest_drawn"), design.values.get("most_drawn")
    most = columns if most is None else most
    return min(most, ceil(2 * columns / 3)) if fewest is None else fewest, most


def _ratio(design: SeedMethod) -> Fraction:
    ratio = design.values.get("ratio")
    return Fraction(1) if ratio is None or design.values.get("crowd") == WEIGHTED else Fraction(ratio)


def _kind(design: SeedMethod) -> type[SeededRows]:
    """Return how crowds near the threshold pass."""
    return TESTS[design.values.get("test") or LOT]


def _test(design: SeedMethod) -> SeededRows:
    """Return the test of a design.request that has been checked."""
    found = _plan(design)
    assert found is not None, "problems() reports a crowd that is impossible"
    return found


def _plan(design: SeedMethod) -> SeededRows | None:
    budget = required_budget(design.request)
    return plan_test(
        design.options.rows,
        epsilon=budget.epsilon,
        delta=budget.delta,
        ratio=_ratio(design),
        kind=_kind(design),
    )


def _seeds(design: SeedMethod) -> int:
    """Return how many seeds there may be counted on, from the number of rows that was stated."""
    return floor(SURE * design.options.about_rows * (1 - _model_share(design)))


def _crowd_problems(design: SeedMethod) -> list[Problem]:
    """Refuse what hardly a row could pass, with the ways out: fewer rows, a larger ε, the model alone."""
    test, seeds, budget, rows = (
        _plan(design),
        _seeds(design),
        required_budget(design.request),
        design.options.rows,
    )
    if test is not None and test.threshold <= seeds:
        return []
    ratio, kind = _ratio(design), _kind(design)
    most = most_rows(seeds, epsilon=budget.epsilon, delta=budget.delta, ratio=ratio, kind=kind)
    level = level_needed(rows, seeds, delta=budget.delta, ratio=ratio, kind=kind)
    told = {"rows": rows, "seeds": seeds, "most": most, "epsilon": "" if level is None else float(level)}
    return [Problem(f"{ID}.{'crowd' if most and level is not None else 'no_crowd'}", told, "rows")]


def _plan_view(test: SeededRows, design: SeedMethod) -> TableView:
    """Show what was planned: the guarantee of the table first, that of one row beside it, never alone."""
    budget, (level, failure) = required_budget(design.request), test.each()
    table = {"epsilon": float(budget.epsilon), "delta": float(budget.delta), "rows": test.count}
    each = {"epsilon": float(level), "delta": float(f"{float(failure):.2g}")}
    others = by_other_ways(test) if test.count > 1 else {}
    form = "" if _kind(design) is SeededRows else "_noisy"
    rows: tuple[tuple[str, Cell], ...] = (
        ("table", Text(f"{WORDS}.views.plan.level", table)),
        ("each", Text(f"{WORDS}.views.plan.level", each)),
        *(
            (name, Text(f"{WORDS}.views.plan.other", {"epsilon": epsilon}))
            for name, epsilon in others.items()
            if isfinite(epsilon)
        ),
        ("expected", _seeds(design)),
        (f"threshold{form}", test.threshold),
        (f"least{form}", test.least),
        (f"blur{form}", brief(float(test.rate))),
        ("alone", Text(f"{WORDS}.views.plan.in_twenty")),
    )
    return TableView(
        Text(f"{WORDS}.views.plan.title"),
        (Text(f"{WORDS}.views.plan.what"), Text(f"{WORDS}.views.plan.value")),
        tuple((Text(f"{WORDS}.views.plan.{name}"), value) for name, value in rows),
        Text(f"{WORDS}.views.plan.note{form}"),
    )


def _filter(found: Made, test: SeededRows) -> float:
    """Return how far rows from seeds may lie from what they would be without a test."""
    small, passing = share_interval(found.unsure, found.tried)[1], test.chance(test.nearly_sure)
    return distance_at_most(small=small, passing=passing)


def _inside(found: Made, test: SeededRows, codes: np.ndarray, apart: np.ndarray) -> Inside:
    """Say to the custodian alone how often the test was passed: outside it would tell of the rows."""
    figures = {
        "seeds": int((~apart).sum()),
        "model_rows": int(apart.sum()),
        "tried": found.tried,
        "sharp": found.sharp,
        "from_model_alone": found.alone,
        "filtered": round(_filter(found, test), 4),
    }
    rows = tuple((Text(f"{WORDS}.views.inside.{name}"), value) for name, value in figures.items())
    headings = (Text(f"{WORDS}.views.plan.what"), Text(f"{WORDS}.views.plan.value"))
    view = TableView(Text(f"{WORDS}.views.inside.title"), headings, rows, Text(f"{WORDS}.views.inside.note"))
    return Inside((view,), figures)
