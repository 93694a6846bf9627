"""What the methods share that make rows coarser by hierarchies: search, groups, what is told inside."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from engine.methods import option
from engine.methods.datasets.ascending import make_ascending_groups
from engine.methods.datasets.attacks import attack_by_downcoding, given_away, refinement
from engine.methods.datasets.conditions import Condition
from engine.methods.datasets.full_domain import Found, Lattice, search
from engine.methods.datasets.grouping import (
    AS_A_SET,
    LEAST_STEPS,
    STEPS,
    WEIGHTS,
    Conditions,
    Grouped,
    Grouping,
    conditions,
    grouping_problems,
    identifying_columns,
    least_steps,
    read_grouping,
    refuse,
    refuse_broken,
    sensitive_cells,
    taken_steps,
    target_of,
)
from engine.methods.datasets.losses import Loss
from engine.methods.datasets.population import AgainstPopulation
from engine.methods.datasets.recoding import Codes
from engine.methods.datasets.rollup import Steps
from engine.methods.datasets.solution import (
    alike_figure,
    figures_view,
    finer_view,
    left_out_bands,
    left_out_view,
    losses_view,
)
from engine.methods.kinds import Changes
from engine.methods.parameters import Problem
from engine.methods.protocol import Context, Family, Inside, Method, Release, Rows, Spends
from engine.methods.shared.rows import hierarchy_of, leaving
from engine.methods.trying import Candidate, MapLadder, SolutionMap, Tried
from engine.once import once
from engine.privacy.promise import Unit
from engine.progress import SILENT, Progress
from engine.table.table import Table
from engine.views import TableView, Text

MOST_COMBINATIONS = 1_000_000
MOST_SECONDS = 600.0
COLUMNS, GROUPS = "whole_columns", "groups"
ELSEWHERE = ("given_away", "population", "refinement", "downcoding")  # figures with a view of their own


MOST_LEFT_OUT = option.number(default=0.05, minimum=Fraction(0), maximum=Fraction(1, 2))
LOSS = option.choice(*Loss, default=Loss.CERTAINTY.value)


class WholeColumns(option.Options):
    """What the search for the coarseness of whole columns asks."""

    most_left_out: Fraction = MOST_LEFT_OUT
    loss: str = LOSS
    target: str | None = option.column(when=("loss", (Loss.TARGET.value,)))
    weights: Mapping[str, Fraction] = WEIGHTS
    least_steps: Mapping[str, int] = LEAST_STEPS
    steps: Mapping[str, int] = STEPS


class CoarserRows(Method):
    """Rows made coarser by hierarchies until every group holds: the work of k-anonymity and of presence."""

    family = Family.DATASET
    spends = Spends.NOTHING
    rows = Rows.COARSER
    changes = (Changes.COARSER,)

    class Options(Grouped, WholeColumns, Conditions):
        pass

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        if wrong := grouping_problems(self.request):
            return wrong
        if self.options.target is not None and self.options.target not in self.options.columns:
            return [Problem("grouping.not_released", {"column": self.options.target}, "target")]
        combinations = 1
        for column in identifying_columns(self.request):
            combinations *= hierarchy_of(column).height + 1
        if combinations > MOST_COMBINATIONS:
            found = {"combinations": combinations, "most": MOST_COMBINATIONS}
            return [Problem(f"{self.id}.too_many", found, "columns")]
        return []

    @once
    def taken(self) -> Mapping[str, Any]:
        return {"several_rows": None} if self.request.rows_per_person == 1 else {}

    def read(self, tables: Mapping[str, Table]) -> tuple[Grouping, AgainstPopulation | None]:
        """Return the table as combinations, and the population that it is compared with."""
        sets = self.values.get("several_rows") == AS_A_SET
        return read_grouping(next(iter(tables.values())), self.request, sets=sets), None

    def run(self, tables: Mapping[str, Table], context: Context) -> Release:
        table = next(iter(tables.values()))
        grouping, population = self.read(tables)
        asked = conditions(grouping, table, self.request)
        progress = context.progress.part(0.1, 0.9)
        enough = grouping.members.people >= self.options.k
        target = target_of(grouping, table, self.request)
        made = _made(grouping, asked, target, population, self, progress) if enough else None
        if made is None:
            wrong = population.refuse(grouping) if enough and population is not None else None
            raise wrong or refuse(grouping, asked, k=self.options.k)
        made = replace(made, steps=np.maximum(made.steps, least_steps(self.request)[:, None]))
        written, kept = grouping.on_steps(made.group, made.steps), made.group >= 0
        alike = grouping.alike(written, kept)
        refuse_broken(grouping, asked, alike, k=self.options.k, method=self.id)
        if population is not None:
            population.refuse_broken(grouping, written, alike, made.steps[:, 0], method=self.id)
        coarse = grouping.coarser(written, kept)
        assert context.chance is not None  # nothing bounds the loss
        artefact = leaving("table", coarse, grouping.entries(made.steps, coarse), context.chance)
        told = None
        if population is None:  # beside one it would say who else is in the table: just what is bounded there
            unit = Text(f"grouping.views.bands.{'people' if self.request.unit is Unit.PERSON else 'rows'}")
            told = left_out_bands(grouping, made.group, made.steps, k=self.options.k, unit=unit)
        return Release(
            (artefact,),
            self.cost,
            (grouping.steps_view(made.group, made.steps), *([told] if told else [])),
            inside=_inside(made, grouping, asked),
        )

    def tried(
        self,
        tables: Mapping[str, Table],
        *,
        chance: np.random.Generator,
        progress: Progress = SILENT,
    ) -> tuple[Tried, ...]:
        if self.values.get("recoding") == GROUPS:
            return ()
        table = next(iter(tables.values()))
        grouping, population = self.read(tables)
        asked = conditions(grouping, table, self.request)
        lattice = _lattice(grouping, asked, target_of(grouping, table, self.request), population, self)
        found = search(lattice, seconds=MOST_SECONDS, progress=progress.part(0.05, 0.3))
        if found is None:
            wrong = None if population is None else population.refuse(grouping)
            raise wrong or refuse(grouping, asked, k=self.options.k)
        least = tuple(int(one) for one in least_steps(self.request))
        names = [column.name for column in grouping.identifying]
        share = Loss(self.options.loss) is Loss.CERTAINTY
        taken = taken_steps(self.request)
        return (
            solution_map(
                lattice, found, names, least=least, taken=taken, share=share, progress=progress.part(0.3, 1.0)
            ),
        )


@dataclass(frozen=True)
class Made:
    """What one form of recoding made.

    Parameters
    ----------
    group
        For every combination of values its group, -1 where it is left out.
    steps
        Shape (columns, groups).
    figures
        Computed from the rows, for inside.
    views
        What else is told about it inside.
    """

    group: Codes
    steps: Codes
    figures: Mapping[str, float]
    views: tuple[TableView, ...] = ()


def _lattice(
    grouping: Grouping,
    asked: Sequence[Condition],
    target: Condition | None,
    population: AgainstPopulation | None,
    design: CoarserRows,
) -> Lattice:
    return Lattice(
        grouping.codes,
        grouping.members,
        grouping.ladders,
        k=design.options.k,
        most_left_out=int(grouping.members.people * design.options.most_left_out),
        loss=Loss(design.options.loss),
        conditions=asked,
        target=target,
        population=None if population is None else population.people,
        most_average_risk=design.values.get("average_risk") or Fraction(1),
    )


def _made(
    grouping: Grouping,
    asked: Sequence[Condition],
    target: Condition | None,
    population: AgainstPopulation | None,
    design: CoarserRows,
    progress: Progress,
) -> Made | None:
    if design.values.get("recoding") == GROUPS:
        return _of_groups(grouping, asked, design, progress)
    lattice, taken = _lattice(grouping, asked, target, population, design), taken_steps(design.request)
    found = (
        search(lattice, seconds=MOST_SECONDS, progress=progress)
        if taken is None
        else take_steps(lattice, taken)
    )
    if found is None:
        return None
    figures = {
        "loss": round(found.loss, 6),
        # Of steps that somebody took themselves nothing was searched: nothing is known about the others.
        **({"least_loss": round(found.least, 6)} if taken is None else {}),
        "combinations_possible": found.possible,
        "combinations_tried": found.tried,
    }
    views = [finer_view(lattice, found, grouping)]
    if population is not None:
        looked = lattice.look(found.steps)
        told = population.figures(lattice.people.sizes(found.steps), looked.kept, found.steps)
        figures |= told
        views.append(figures_view(told, "population"))
    if asked:
        figures["given_away"] = given_away(lattice, found.steps)
        views.append(figures_view({"given_away": figures["given_away"]}, "minimality"))
    group = lattice.groups(found.steps)
    steps = np.repeat(np.array(found.steps)[:, None], int(group.max()) + 1, axis=1)
    return Made(group, steps, figures, tuple(views))


def _of_groups(
    grouping: Grouping, asked: Sequence[Condition], design: CoarserRows, progress: Progress
) -> Made | None:
    found = make_ascending_groups(
        grouping.codes,
        grouping.members,
        grouping.ladders,
        k=design.options.k,
        conditions=asked,
        progress=progress,
    )
    if found is None:
        return None
    attack = refinement(grouping, found.group, found.steps, sensitive_cells(grouping))
    told = {name: round(value, 4) for name, value in asdict(attack).items()}
    least = least_steps(design.request)
    read = grouping.on_steps(found.group, np.maximum(found.steps, least[:, None]))
    finer = attack_by_downcoding(grouping, read, least)
    figures = {
        "loss": round(found.loss, 6),
        **{f"refinement_{name}": value for name, value in told.items()},
        **{f"downcoding_{name}": value for name, value in finer.items()},
    }
    views = (figures_view(told, "refinement"), figures_view(finer, "downcoding"))
    return Made(found.group, found.steps, figures, views)


def _inside(made: Made, grouping: Grouping, asked: Sequence[Condition]) -> Inside:
    members, kept = grouping.members, made.group >= 0
    sizes = members.sizes(np.where(kept, made.group, made.steps.shape[1]))[: made.steps.shape[1]]
    figures = {
        "people": members.people,
        "left_out": members.left_out(kept),
        "smallest_group": int(sizes.min()),
        "groups": len(sizes),
        **made.figures,
        **alike_figure(grouping.as_written(asked)),
    }
    shown = {name: value for name, value in figures.items() if not name.startswith(ELSEWHERE)}
    lost = [
        ladder.losses[made.steps[place][made.group], grouping.codes[:, place]]
        for place, ladder in enumerate(grouping.ladders)
    ]
    further = (
        *made.views,
        losses_view(grouping, np.where(kept, lost, 1.0)),
        left_out_view(grouping, made.group),
        grouping.unknown_view(),
    )
    return Inside((figures_view(shown), *(one for one in further if one is not None)), figures)


# --- the map of the search -------------------------------------------------------------------------------
# Every combination, what it costs and whom it leaves out.


MOST_DRAWN = 10_000  # combinations up to which all are looked at
MOST_SHOWN = 10  # rows beside it, as they read on each step
MOST_BESIDE = 2_000  # of more, so many around the best one
SECONDS_DRAWN = 15.0  # from then on only what is one step from the best and the taken one is looked at


def take_steps(lattice: Lattice, steps: Steps) -> Found | None:
    """Return one combination of steps as the one that was found; None where it does not hold."""
    looked = lattice.look(steps)
    if not looked.holds:
        return None
    return Found(steps, looked.loss, looked.left_out, 1, 1, looked.loss)


def solution_map(
    lattice: Lattice,
    found: Found,
    names: Sequence[str],
    *,
    least: Steps,
    taken: Steps | None = None,
    share: bool = True,
    progress: Progress = SILENT,
) -> SolutionMap:
    """Look at every combination of steps, or at those around the best one where there are very many.

    Parameters
    ----------
    lattice, found
        The combinations, and the best of them.
    names
        Of the columns.
    least
        The step below which each column may not go.
    taken
        The combination that is taken; the best one where none is.
    share
        Whether the loss is a share of the detail.

    Examples
    --------
    >>> import numpy as np
    >>> from engine.methods.datasets.full_domain import search
    >>> from engine.methods.datasets.recoding import Ladder, Members
    >>> from engine.table.hierarchies import Hierarchy
    >>> age = Ladder.of(["41", "43", "57"], Hierarchy(bands=(10,)))
    >>> members = Members(np.array([0, 1, 2, 2]), np.arange(4))
    >>> lattice = Lattice(np.array([[0], [1], [2]]), members, [age], k=2)
    >>> made = solution_map(lattice, search(lattice), ["age"], least=(0,))
    >>> [(one.steps, one.left_out, one.holds) for one in made.candidates], made.best
    ([((0,), 2, False), ((1,), 0, True), ((2,), 0, True)], 1)
    """
    # Steps below the least one read like it: each combination stands in the map once.
    best = tuple(max(step, low) for step, low in zip(found.steps, least, strict=True))
    wanted = best if taken is None else taken
    possible = 1
    for low, size in zip(least, lattice.shape, strict=True):
        possible *= size - low
    looked = _look_around(lattice, least, possible, (best, wanted), names, progress)
    candidates = sorted(looked, key=lambda one: one.steps)
    chosen = [one.steps for one in candidates]
    shown = np.unique(np.linspace(0, len(lattice.codes) - 1, MOST_SHOWN).astype(np.int64))
    ladders = tuple(
        MapLadder(
            name,
            tuple(int(groups.max()) + 1 for groups in ladder.groups),
            ladder.reads,
            float(ladder.weight),
            tuple(tuple(read[code] for code in codes) for read in (ladder.values, *ladder.texts)),
        )
        for name, ladder, codes in zip(names, lattice.ladders, lattice.codes[shown].T, strict=True)
    )
    return SolutionMap(
        ladders,
        tuple(candidates),
        chosen.index(best),
        chosen.index(wanted),
        lattice.most_left_out,
        lattice.members.people,
        lattice.alone((0,) * len(names)),
        share,
        possible,
        found.least >= found.loss,
        "weights",
    )


def _look_around(
    lattice: Lattice,
    least: Steps,
    possible: int,
    always: tuple[Steps, ...],
    names: Sequence[str],
    progress: Progress,
) -> list[Candidate]:
    """Look at combinations, those nearest to some first: at all, or at as many as there is room and time for.

    Those and what is one step away are looked at in any case: they are what is told in words.
    """
    most = possible if possible <= MOST_DRAWN else MOST_BESIDE
    seen, edge, found = set(always), sorted(set(always)), list[Candidate]()
    ends = time.monotonic() + SECONDS_DRAWN
    for ring in count():
        for steps in edge:
            if ring > 1 and time.monotonic() > ends:
                return found
            progress.step(min(1.0, len(found) / most), "datasets.search")
            found.append(_candidate(lattice, steps, names))
        if len(found) >= most:
            break
        edge = sorted({one for steps in edge for one in _beside(steps, lattice.shape, least)} - seen)
        seen.update(edge)
        if not edge:
            break
    return found


def _beside(steps: Steps, shape: Steps, least: Steps) -> Iterable[Steps]:
    for place, step in enumerate(steps):
        for other in (step - 1, step + 1):
            if least[place] <= other < shape[place]:
                yield (*steps[:place], other, *steps[place + 1 :])


def _candidate(lattice: Lattice, steps: Steps, names: Sequence[str]) -> Candidate:
    looked = lattice.look(steps)
    return Candidate(
        steps,
        {"steps": dict(zip(names, steps, strict=True))},
        lattice.lost(steps, looked),
        looked.left_out,
        lattice.alone(steps),
        looked.holds,
    )
