"""Whether a private model spends what it claims, measured on this machine before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import INTEGER, NUMBER
from engine.analyses.transcripts import Heard, Run, heard, longer
from engine.analyses.worst_rows import ROWS, worst_rows
from engine.errors import InputRefused
from engine.methods import protocol
from engine.methods.budget import is_replace_one
from engine.methods.catalogue import method as find_method
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Budget, Method, Reference
from engine.privacy.at_risk.inputs import positive
from engine.privacy.gaussian import gaussian_level
from engine.privacy.noise import Noise
from engine.privacy.promise import Neighbours
from engine.progress import SILENT, Progress
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from engine.views import Text

if TYPE_CHECKING:
    from collections.abc import Callable

LEVELS = 60
SURE = 4.0
"""Standard errors above the claim at which noise counts as too small: by chance once in 30,000 audits."""
FIRST_RUNS, MOST_RUNS = 10, 400
PRECISE = 0.01
"""Of what is claimed: the standard error that is enough to see noise divided by 1.1."""
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000, 10_000_000, 100_000_000)

_REGRESSED = {"predictors": ("first", "second", "level")}
MODELS: dict[str, dict[str, Any]] = {
    "models.additive": {"target": "class", **_REGRESSED},
    "models.k_means": {"columns": ("away", "second"), "groups": 2},
    "models.linear": {"target": "number", **_REGRESSED},
    "models.logistic": {"target": "class", **_REGRESSED},
    "models.naive_bayes": {"target": "class", **_REGRESSED},
    "models.pca": {"columns": ("first", "second", "level")},
    "models.tree": {"target": "class", "predictors": ("level", "first"), "depth": 2},
}
"""What each is asked on the built-in rows."""


@dataclass(frozen=True)
class Audited:
    """What an audit found: ``level`` is ε, of Gaussian noise μ."""

    claimed: float
    level: float
    error: float
    sums: int
    alike: bool
    runs: int

    @property
    def unseen(self) -> float:
        """By which part more than was measured noise that is too small may spend and hardly be seen."""
        return (self.claimed + (SURE + 2) * self.error) / max(self.level, 1e-12) - 1

    @property
    def is_caught(self) -> bool:
        """Whether the noise is too small, or what is asked for depends on rows."""
        return not self.alike or self.level - SURE * self.error > self.claimed


class NoiseAudit(Analysis):
    """All noisy sums of a model on built-in worst rows, beside what they are of.

    Notes
    -----
    Everybody is alike but one row that no model can please; its neighbour is the table without it, or with
    one that is as different as can be. A plan is audited on rows of its own declared columns, with its own
    options and level: `of_plan`. The level that all sums spend together is computed from how far that
    row moves each, and from the noise as it was drawn on this machine. No own row is read, nothing is spent.
    Told answers that no noise drew too, a row that comes or goes moves every sum as far as it may (see
    `engine.analyses.transcripts`). Of one row for another, not every sum can be moved that far at once:
    less than what is claimed is measured there, and the answer says how much more would hardly be seen. None
    sees a row that moves a sum further than these do. Unless a number of runs is asked for, there are as many
    as make the standard error 1 % of what is claimed: where all of the claim is measured, noise divided by
    1.1 is then seen nearly always. Right noise is said to be too little once in 30,000 audits.
    """

    id = "noise_audit"
    published = Reference(
        "J. Dong, A. Roth, W. Su: Gaussian differential privacy (2022)", "corollary 3.3, on transcripts"
    )
    parameters = (
        Parameter("model", ParameterKind.CHOICE, default="models.additive", choices=tuple(MODELS)),
        Parameter("noise", ParameterKind.CHOICE, default="gaussian", choices=("gaussian", "laplace")),
        Parameter("epsilon", NUMBER, default=1),
        Parameter("delta", NUMBER, default="0.000001", when=("noise", ("gaussian",))),
        Parameter(
            "neighbours", ParameterKind.CHOICE, default="add_remove", choices=tuple(map(str, Neighbours))
        ),
        Parameter("runs", INTEGER, optional=True, minimum=3, maximum=1000),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        design = self._design(values)
        rows = worst(replaced=is_replace_one(design.request))
        return self.answer(design, rows, "built_in", runs=values["runs"], progress=context.progress)

    def of_plan(self, design: Method, *, runs: int | None = None, progress: Progress = SILENT) -> Answer:
        """Audit what a plan asks for: its columns, options and privacy level, on worst rows of that shape.

        Parameters
        ----------
        design
            Of the plan; only declarations are read.
        runs
            How often the noise is drawn; as often as a certain answer needs where nothing is said.

        Raises
        ------
        InputRefused
            ``analyses.not_audited``: the plan makes no model. The first problem of the plan.
        """
        if design.id not in MODELS:
            raise InputRefused("analyses.not_audited", method=design.id)
        for problem in design.problems:
            raise InputRefused(problem.code, **problem.values)
        rows = worst_rows(design.request, replaced=is_replace_one(design.request))
        return self.answer(design, rows, "plan", runs=runs, progress=progress)

    def answer(
        self,
        design: Method,
        rows: tuple[pd.DataFrame, pd.DataFrame],
        shape: str,
        *,
        runs: int | None,
        progress: Progress,
    ) -> Answer:
        """Return the answer about rows and their neighbour."""
        found = audit(design, rows, runs=runs, told=lambda done: progress.step(done, STEP))
        figures = {
            "model": design.id,
            "rows": shape,
            "claimed": found.claimed,
            "measured": found.level,
            "standard_error": found.error,
            "sums": found.sums,
            "same_questions": found.alike,
            "too_little_noise": found.is_caught,
        }
        symbol = "μ" if design.values["noise"] == "gaussian" else "ε"
        said = {"symbol": symbol, "claimed": found.claimed, "measured": found.level, "error": found.error}
        sentences = [
            self.word(
                f"heard_{shape}", sums=found.sums, model=Text(f"methods.{design.id}.title"), runs=found.runs
            ),
            self.word("caught" if found.is_caught else "holds", **said),
            *([] if found.alike else [self.word("differs")]),
            self.word("limits", share=100 * found.unseen),
        ]
        return Answer((self.sentences(sentences),), figures)

    def _design(self, values: Mapping[str, Any]) -> Method:
        """Return a design that its method accepts, for as few rows as it accepts."""
        way = find_method(values["model"])
        gaussian = values["noise"] == "gaussian"
        delta = Fraction(str(values["delta"])) if gaussian else Fraction(0)
        level = Fraction(positive(values["epsilon"], name="epsilon"))
        budget = Budget(level, delta, Neighbours(values["neighbours"]))
        asked = MODELS[way.id] | {"noise": values["noise"]}
        counted = any(one.name == "about_rows" for one in way.parameters)
        for size in SIZES if counted else SIZES[:1]:
            given = asked | ({"about_rows": size} if counted else {})
            design = way(way.make_request({MAIN: SCHEMA}, given, budget=budget))
            if not design.problems:
                return design
        raise InputRefused(design.problems[0].code, **design.problems[0].values)


STEP = "sampled_sensitivity.pairs"


def audit(
    design: Method,
    rows: tuple[pd.DataFrame, pd.DataFrame],
    *,
    runs: int | None,
    told: Callable[[float], None],
) -> Audited:
    """Return what all noisy sums of a model spend together on rows that are no person's.

    Parameters
    ----------
    design
        Of a model.
    rows
        A table of the columns that it reads, and a neighbouring one. Who is held out is among them too, so
        that a score that leaves is heard with the fit.
    runs
        How often the noise is drawn; as often as a certain answer needs where nothing is said.
    told
        How much is done.
    """
    budget = design.request.budget
    assert budget is not None, "a model has a budget"

    def on(frame: pd.DataFrame) -> Run:
        tables = {MAIN: Table(frame)}
        return lambda noise: design.run(tables, protocol.Context(noise, None, Path(), held_out=tables))

    gaussian = design.values["noise"] == "gaussian"
    epsilon = float(budget.epsilon)
    claimed = gaussian_level(epsilon, float(budget.delta)) if gaussian else epsilon
    table, neighbour = on(rows[0]), on(rows[1])
    first = runs or FIRST_RUNS
    found = heard(table, neighbour, door=Noise, runs=first, told=lambda done: told(done * first / MOST_RUNS))
    level, error = found.gaussian() if gaussian else found.laplace()
    more = 0 if runs else min(ceil(first * (error / (PRECISE * claimed)) ** 2), MOST_RUNS) - first
    if more > 0:
        found = longer(found, table, door=Noise, runs=more, told=told)
        level, error = found.gaussian() if gaussian else found.laplace()
    return Audited(claimed, level, error, _sums(found), found.alike, first + max(more, 0))


def _sums(found: Heard) -> int:
    return sum(one.size for one in found.moved[0]) if found.moved else 0


def _declared(name: str, kind: Kind, **domain: Any) -> Column:
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


_ENDS = {"minimum": Fraction(-1), "maximum": Fraction(1)}
SCHEMA = Schema(
    (
        *(_declared(name, Kind.NUMBER, **_ENDS) for name in ("first", "second", "away", "number")),
        _declared("level", Kind.CATEGORY, values=tuple(f"v{place}" for place in range(LEVELS))),
        _declared("class", Kind.CATEGORY, values=("no", "yes")),
    )
)
"""The columns of the built-in rows."""


def worst(*, replaced: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return rows that are alike but for the last, and the neighbour: without that, or with its opposite."""
    swing = [float((-1) ** place) for place in range(ROWS - 1)]
    classes = ["no" if one < 0 or not replaced else "yes" for one in swing]
    last = {"first": 1.0, "second": 1.0, "away": 1.0, "number": 1.0, "level": "v0", "class": "yes"}
    opposite = last | {"away": -1.0, "number": -1.0, "level": "v1", "class": "no"}
    rest = {"first": 1.0, "second": 1.0, "away": -1.0, "number": swing, "level": "v0", "class": classes}
    alike = pd.DataFrame(rest)
    table = pd.concat([alike, pd.DataFrame([last])], ignore_index=True)
    return table, pd.concat([alike, pd.DataFrame([opposite])], ignore_index=True) if replaced else alike
