"""The rows of people, made coarser until each agrees with k − 1 others in its identifying attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction

import numpy as np

from engine.methods.datasets.ascending import ascending
from engine.methods.datasets.attacks import downcoded, given_away, refinement
from engine.methods.datasets.conditions import Condition
from engine.methods.datasets.full_domain import Lattice, search
from engine.methods.datasets.grouping import (
    ALL_COLUMNS,
    CONDITIONS,
    LEAST_STEPS,
    SMALLEST,
    STEPS,
    WEIGHTS,
    Grouping,
    conditions,
    grouping_problems,
    identifying_columns,
    least_steps,
    promise,
    read,
    refuse,
    refuse_broken,
    sensitive_cells,
    taken_steps,
    target_of,
)
from engine.methods.datasets.losses import Loss
from engine.methods.datasets.recoding import Codes
from engine.methods.datasets.solution import figures_view, finer_view, left_out_view, losses_view
from engine.methods.datasets.solution_map import exactly, solution_map
from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import (
    Context,
    Family,
    Inside,
    Method,
    Reference,
    Release,
    Request,
    Rows,
    Spends,
    TableArtefact,
)
from engine.methods.shared.rows import hierarchy_of, shuffled
from engine.methods.trying import Tried
from engine.privacy.promise import Promise
from engine.progress import SILENT, Progress
from engine.table.table import Table
from engine.views import TableView

ID = "datasets.k_anonymity"
MOST_COMBINATIONS = 1_000_000
MOST_SECONDS = 600.0
COLUMNS, GROUPS = "whole_columns", "groups"
ATTACKS = ("given_away", "refinement", "downcoding")  # figures with a view of their own


class KAnonymity(Method):
    """Recoding by hierarchies with little loss: of whole columns, or of each group as far as it needs.

    Notes
    -----
    Definition: L. Sweeney, k-anonymity (2002), definition 3; recoding of whole columns by hierarchies: P.
    Samarati (2001). Whole columns: the combination of steps with the least loss, exactly; people whose groups
    stay small are left out. Groups: nobody is left out and far less detail is lost, but a value then stands
    on several steps, and which groups were made depends on the rows (downcoding: A. Cohen, 2022). Sizes of
    groups count people. It does not bound what somebody learns who knows more about a person than the
    identifying attributes; a sensitive value that a whole group shares is told about each of them; two such
    tables of the same people, or the knowledge that the least coarse one was chosen, can undo it.
    """

    id = ID
    version = 3
    family = Family.DATASET
    promises = ("k_anonymity",)
    spends = Spends.NOTHING
    rows = Rows.COARSER
    tries = ("columns", "k")
    published = Reference(
        "Sweeney: k-anonymity: a model for protecting privacy (2002)",
        "definition 3",
        "doi:10.1142/S0218488502001648",
    )
    parameters = (
        ALL_COLUMNS,
        SMALLEST,
        Parameter("recoding", ParameterKind.CHOICE, default=COLUMNS, choices=(COLUMNS, GROUPS)),
        Parameter(
            "most_left_out",
            ParameterKind.NUMBER,
            default=0.05,
            minimum=Fraction(0),
            maximum=Fraction(1, 2),
            when=("recoding", (COLUMNS,)),
        ),
        Parameter(
            "loss",
            ParameterKind.CHOICE,
            default=Loss.CERTAINTY.value,
            choices=tuple(Loss),
            when=("recoding", (COLUMNS,)),
        ),
        Parameter("target", ParameterKind.COLUMN, when=("loss", (Loss.TARGET.value,))),
        WEIGHTS,
        LEAST_STEPS,
        replace(STEPS, when=("recoding", (COLUMNS,))),
        *CONDITIONS,
        Parameter(
            "average_risk",
            ParameterKind.NUMBER,
            optional=True,
            minimum=Fraction(1, 10_000),
            maximum=1,
            when=("recoding", (COLUMNS,)),
        ),
    )

    def further_problems(self, request: Request) -> list[Problem]:
        if wrong := grouping_problems(request):
            return wrong
        if request.values["target"] is not None and request.values["target"] not in request.values["columns"]:
            return [Problem("grouping.not_released", {"column": request.values["target"]}, "target")]
        combinations = 1
        for column in identifying_columns(request):
            combinations *= hierarchy_of(column).height + 1
        if combinations > MOST_COMBINATIONS:
            return [
                Problem(
                    f"{ID}.too_many", {"combinations": combinations, "most": MOST_COMBINATIONS}, "columns"
                )
            ]
        return []

    def cost(self, request: Request) -> Promise:
        risk = request.values["average_risk"]
        return promise(request) if risk is None else promise(request, average_risk=risk)

    def run(self, tables: Mapping[str, Table], request: Request, context: Context) -> Release:
        table = next(iter(tables.values()))
        grouping = read(table, request)
        asked = conditions(grouping, table, request)
        progress = context.progress.part(0.1, 0.9)
        enough = grouping.members.people >= request.values["k"]
        made = (
            _made(grouping, asked, target_of(grouping, table, request), request, progress) if enough else None
        )
        if made is None:
            raise refuse(grouping, asked, k=request.values["k"])
        made = replace(made, steps=np.maximum(made.steps, least_steps(request)[:, None]))
        written, kept = grouping.on_steps(made.group, made.steps), made.group >= 0
        refuse_broken(grouping, asked, grouping.alike(written, kept), k=request.values["k"], method=ID)
        coarse = grouping.coarser(written, kept)
        assert context.chance is not None  # nothing bounds the loss
        artefact = TableArtefact("table", (shuffled(coarse, context.chance),), grouping.entries(made.steps))
        return Release(
            (artefact,),
            self.cost(request),
            (grouping.steps_view(made.group, made.steps),),
            inside=_inside(made, grouping),
        )

    def tried(
        self,
        tables: Mapping[str, Table],
        request: Request,
        *,
        chance: np.random.Generator,
        progress: Progress = SILENT,
    ) -> tuple[Tried, ...]:
        if request.values["recoding"] == GROUPS:
            return ()
        table = next(iter(tables.values()))
        grouping = read(table, request)
        asked = conditions(grouping, table, request)
        lattice = _lattice(grouping, asked, target_of(grouping, table, request), request)
        found = search(lattice, seconds=MOST_SECONDS, progress=progress.part(0.05, 0.3))
        if found is None:
            raise refuse(grouping, asked, k=request.values["k"])
        least = tuple(int(one) for one in least_steps(request))
        names = [column.name for column in grouping.identifying]
        share = Loss(request.values["loss"]) is Loss.CERTAINTY
        taken = taken_steps(request)
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
    grouping: Grouping, asked: Sequence[Condition], target: Condition | None, request: Request
) -> Lattice:
    return Lattice(
        grouping.codes,
        grouping.members,
        grouping.ladders,
        k=request.values["k"],
        most_left_out=int(grouping.members.people * request.values["most_left_out"]),
        loss=Loss(request.values["loss"]),
        conditions=asked,
        target=target,
        most_average_risk=request.values["average_risk"] or Fraction(1),
    )


def _made(
    grouping: Grouping,
    asked: Sequence[Condition],
    target: Condition | None,
    request: Request,
    progress: Progress,
) -> Made | None:
    if request.values["recoding"] == GROUPS:
        return _of_groups(grouping, asked, request, progress)
    lattice, taken = _lattice(grouping, asked, target, request), taken_steps(request)
    found = (
        search(lattice, seconds=MOST_SECONDS, progress=progress) if taken is None else exactly(lattice, taken)
    )
    if found is None:
        return None
    figures = {
        "loss": round(found.loss, 6),
        "least_loss": round(found.least, 6),
        "combinations_possible": found.possible,
        "combinations_tried": found.tried,
    }
    views = [finer_view(lattice, found, grouping)]
    if asked:
        figures["given_away"] = given_away(lattice, found.steps)
        views.append(figures_view({"given_away": figures["given_away"]}, "minimality"))
    group = lattice.groups(found.steps)
    steps = np.repeat(np.array(found.steps)[:, None], int(group.max()) + 1, axis=1)
    return Made(group, steps, figures, tuple(views))


def _of_groups(
    grouping: Grouping, asked: Sequence[Condition], request: Request, progress: Progress
) -> Made | None:
    found = ascending(
        grouping.codes,
        grouping.members,
        grouping.ladders,
        k=request.values["k"],
        conditions=asked,
        progress=progress,
    )
    if found is None:
        return None
    attack = refinement(grouping, found.group, found.steps, sensitive_cells(grouping))
    told = {name: round(value, 4) for name, value in asdict(attack).items()}
    least = least_steps(request)
    read = grouping.on_steps(found.group, np.maximum(found.steps, least[:, None]))
    finer = downcoded(grouping, read, least)
    figures = {
        "loss": round(found.loss, 6),
        **{f"refinement_{name}": value for name, value in told.items()},
        **{f"downcoding_{name}": value for name, value in finer.items()},
    }
    views = (figures_view(told, "refinement"), figures_view(finer, "downcoding"))
    return Made(found.group, found.steps, figures, views)


def _inside(made: Made, grouping: Grouping) -> Inside:
    members, kept = grouping.members, made.group >= 0
    sizes = members.sizes(np.where(kept, made.group, made.steps.shape[1]))[: made.steps.shape[1]]
    figures = {
        "people": members.people,
        "left_out": members.left_out(kept),
        "smallest_group": int(sizes.min()),
        "groups": len(sizes),
        **made.figures,
    }
    shown = {name: value for name, value in figures.items() if not name.startswith(ATTACKS)}
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
