"""Whether a private model spends what it claims, measured on this machine before anything is spent."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import INTEGER, NUMBER
from engine.errors import InputRefused
from engine.methods import protocol
from engine.methods.budget import is_replace_one
from engine.methods.catalogue import method as find_method
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Budget, Method, Reference, Request
from engine.privacy.at_risk.inputs import positive
from engine.privacy.draw import Draw
from engine.privacy.gaussian import gaussian_level
from engine.privacy.mechanisms.integers import Integers, listening, noisy
from engine.privacy.noise import Noise
from engine.privacy.promise import Neighbours
from engine.progress import SILENT, Progress
from engine.table import coding
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
    "models.directions": {"columns": ("first", "second", "level"), "utility": "class"},
    "models.k_means": {"columns": ("away", "second"), "groups": 2},
    "models.kernel_classes": {"target": "class", **_REGRESSED},
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
    `engine.analyses.noise_audit`). Of one row for another, not every sum can be moved that far at once:
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
        symbol = "μ" if _is_gaussian(design) else "ε"
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


def _is_gaussian(design: Method) -> bool:
    """Whether the noise is Gaussian: then a δ is spent."""
    return design.cost.loss is not None and design.cost.loss.delta > 0


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

    gaussian = _is_gaussian(design)
    epsilon = float(budget.epsilon)
    claimed = gaussian_level(epsilon, float(budget.delta)) if gaussian else epsilon
    table, neighbour = on(rows[0]), on(rows[1])
    first = runs or FIRST_RUNS
    found = heard(table, neighbour, door=Noise, runs=first, told=lambda done: told(done * first / MOST_RUNS))
    level, error = found.gaussian() if gaussian else found.laplace()
    more = 0 if runs else min(ceil(first * (error / (PRECISE * claimed)) ** 2), MOST_RUNS) - first
    if more > 0:
        found = hear_longer(found, table, door=Noise, runs=more, told=told)
        level, error = found.gaussian() if gaussian else found.laplace()
    return Audited(claimed, level, error, _sums(found), found.alike, first + max(more, 0))


def _sums(found: Heard) -> int:
    return sum(one.size for one in found.moved[0]) if found.moved else 0


def _declare(name: str, kind: Kind, **domain: Any) -> Column:
    return Column(name, Role.OTHER, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


_ENDS = {"minimum": Fraction(-1), "maximum": Fraction(1)}
SCHEMA = Schema(
    (
        *(_declare(name, Kind.NUMBER, **_ENDS) for name in ("first", "second", "away", "number")),
        _declare("level", Kind.CATEGORY, values=tuple(f"v{place}" for place in range(LEVELS))),
        _declare("class", Kind.CATEGORY, values=("no", "yes")),
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


# --- transcripts: what noisy sums tell about one row -----------------------------------------------------
# A model that was trained many times tells too little about its noise: halved noise would pass. Here
# every noisy sum is heard beside what it is of: the method runs on invented rows, the same answers are
# given to it on the neighbour, and each pair of exact sums says how far the row moved that sum. Answers
# that no noise drew are given too, because a level of privacy holds for all of them.


Floats = arrays.Floats
Run = Callable[[Noise], object]

FAR = 2**30
"""Far beyond what any of a few hundred rows adds up to."""
ANSWERS: tuple[Callable[[Integers, Integers], Integers], ...] = (
    noisy,
    lambda exact, draws: np.zeros_like(exact),
    lambda exact, draws: np.full_like(exact, -FAR),
)
"""What a method is told in place of its sums. A level of privacy holds whatever the answers are; drawn ones
can please the row that is looked for, so that it moves less than it may. Told that all sums are 0, a model
learns nothing; told that they are far below, it learns the contrary of that row."""


@dataclass(frozen=True)
class Heard:
    """The sums of runs on a table, and how far the row that its neighbour lacks moved each.

    Parameters
    ----------
    moved
        By transcript of answers, and by sum.
    scales
        By sum, what its noise was asked for by.
    draws
        All noise that was asked for by the same scale.
    alike
        Whether the neighbour was asked for the same sums: that depends on answers alone.
    sums
        How many sums a run asks for.
    """

    moved: tuple[tuple[Floats, ...], ...]
    scales: tuple[Hashable, ...]
    draws: Mapping[Hashable, Floats]
    alike: bool
    sums: int

    def gaussian(self) -> tuple[float, float]:
        """Return μ of everything together and its standard error, of the transcript that tells most.

        Notes
        -----
        μ² = Σ |moved|² / σ² for any number of sums, each of which may depend on earlier answers (Dong, Roth
        and Su 2022, corollary 3.3).
        """

        def level(moved: tuple[Floats, ...]) -> tuple[float, float]:
            ratios, counts = self._pool(
                moved, lambda one, _: float(one @ one), lambda own, _: float(np.mean(own**2))
            )
            square = float(ratios.sum())
            off = sqrt(float((ratios**2 * 2 / counts).sum()))  # a mean of n squares is off by √(2/n)
            return sqrt(square), off / (2 * sqrt(square)) if square else 0.0

        return max(map(level, self.moved), default=(0.0, 0.0))

    def laplace(self) -> tuple[float, float]:
        """Return ε of everything together and its standard error; see `gaussian`.

        Notes
        -----
        Σ |moved| / b of Laplace noise on every number, ‖moved‖ / s of vector noise.
        """

        def level(moved: tuple[Floats, ...]) -> tuple[float, float]:
            ratios, counts = self._pool(moved, _moved_far, _pure_scale)
            return float(ratios.sum()), sqrt(float((ratios**2 / counts).sum()))

        return max(map(level, self.moved), default=(0.0, 0.0))

    def _pool(
        self,
        moved: tuple[Floats, ...],
        size_of: Callable[[Floats, Hashable], float],
        scale_of: Callable[[Floats, Hashable], float],
    ) -> tuple[Floats, Floats]:
        """Return by scale of noise how far the row moved in it, and how many draws told the scale."""
        by_scale: dict[Hashable, float] = {}
        for one, scale in zip(moved, self.scales, strict=True):
            by_scale[scale] = by_scale.get(scale, 0.0) + size_of(one, scale)
        found = [
            (total / scale_of(self.draws[scale], scale), self.draws[scale].size)
            for scale, total in by_scale.items()
            if total
        ]
        return np.array([one for one, _ in found]), np.array([count for _, count in found], dtype=float)


def _dimension(asked: Hashable) -> int | None:
    """Return how many numbers a vector of noise has; None where every number has noise of its own."""
    return asked.shape[0] if isinstance(asked, Draw) and asked.sampler == "vector" else None


def _moved_far(moved: Floats, asked: Hashable) -> float:
    return float(np.linalg.norm(moved, ord=2 if _dimension(asked) else 1))


def _pure_scale(draws: Floats, asked: Hashable) -> float:
    """Return b of the discrete Laplace distribution: its mean length is 1 / sinh(1/b).

    Of vector noise return s, its mean length over d, but for a hair where s is small.
    """
    if dimension := _dimension(asked):
        return float(np.linalg.norm(draws.reshape(-1, dimension), axis=1).mean()) / dimension
    return 1 / float(np.arcsinh(1 / max(float(np.mean(np.abs(draws))), 1e-9)))


def heard(
    run: Run, neighbour: Run, *, door: Callable[[], Noise], runs: int, told: Callable[[float], None]
) -> Heard:
    """Run a method on a table and on its neighbour, and listen.

    Parameters
    ----------
    run, neighbour
        The method on either.
    door
        Makes the noise of every run.
    runs
        How often the noise is drawn.
    told
        How much is done, from 0 to 1.
    """
    moved, alike = [], True
    for answer in ANSWERS:
        first = _record(run, door(), answer)
        other = _replay(neighbour, door(), [one.answer for one in first])
        shapes = [(one.exact.shape, one.exact.dtype) for one in first]
        alike = alike and shapes == [(exact.shape, exact.dtype) for exact in other]
        pairs = list(zip(first, other, strict=False)) if alike else []
        moved.append(tuple((one.exact - own).astype(float).ravel() for one, own in pairs))
    alike = alike and len({len(one) for one in moved}) == 1
    found = Heard(tuple(moved) if alike else (), (), {}, alike, len(first))
    return hear_longer(found, run, door=door, runs=runs, told=told)


def hear_longer(
    found: Heard, run: Run, *, door: Callable[[], Noise], runs: int, told: Callable[[float], None]
) -> Heard:
    """Draw the noise of some runs more."""
    pools = {scale: [own] for scale, own in found.draws.items()}
    scales = found.scales
    for place in range(runs):
        told(place / runs)
        sums = _record(run, door(), noisy, only=found.sums)
        scales = tuple(one.scale for one in sums)
        for one in sums:
            pools.setdefault(one.scale, []).append(one.draws.astype(float))
    draws = {scale: np.concatenate(own) for scale, own in pools.items()}
    return replace(found, scales=scales, draws=draws)


@dataclass(frozen=True)
class _Sum:
    exact: Integers
    answer: Integers
    draws: Integers
    scale: Hashable


class _EnoughError(Exception):
    """The last sum of a run was heard: what it writes is not needed."""


def _record(
    run: Run, noise: Noise, answer: Callable[[Integers, Integers], Integers], only: int = 0
) -> list[_Sum]:
    """Return the exact sums, what was answered and the noise of a run, in order; up to ``only`` of them."""
    seen: list[_Sum] = []
    before = noise.counted

    def record(values: Integers, draws: Integers) -> Integers:
        nonlocal before
        asked, before = noise.counted - before, noise.counted
        told = answer(values, draws)
        seen.append(_Sum(values.copy(), told, draws.ravel(), next(iter(asked), None)))
        if len(seen) == only:
            raise _EnoughError
        return told

    with listening(record), suppress(_EnoughError):
        run(noise)
    return seen


def _replay(run: Run, noise: Noise, answers: list[Integers]) -> list[Integers]:
    """Return the exact sums of a run that is given the answers of another."""
    seen: list[Integers] = []

    def replay(values: Integers, draws: Integers) -> Integers:
        seen.append(values.copy())
        known = len(seen) <= len(answers) and answers[len(seen) - 1].shape == values.shape
        return answers[len(seen) - 1] if known else noisy(values, draws)

    with listening(replay):
        run(noise)
    return seen


# --- rows of which one fits worst ------------------------------------------------------------------------


ROWS = 300


def worst_rows(request: Request, *, replaced: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return rows that are alike but for the last person, and the neighbour: without, or with another.

    Parameters
    ----------
    request
        Its schema and its values say the columns; no row is looked at.
    replaced
        Whether neighbours exchange a person.

    Notes
    -----
    Everybody has the upper end of every declared range, or the first declared value, and a target that the
    last person contradicts: then what a fit leaves of the last one is as large as it can be. Without a target
    the last one is at the other end of the first column. The last person has as many rows as may count.
    """
    target = request.values.get("target")
    names = [*request.values.get("predictors", request.values.get("columns", ())), *filter(None, [target])]
    columns = [request.schema.column(name) for name in names]
    ends = {column.name: _ends(column) for column in columns}
    others: dict[str, Any] = {name: high for name, (_, high) in ends.items()}
    last = dict(others)
    apart = target or (names[0] if "groups" in request.values else None)
    if apart is not None:
        low, high = ends[apart]
        last[apart] = high
        others[apart] = _contrary(
            request.schema.column(apart), low, high, is_target=bool(target), both=replaced
        )
    changed = [target] if target else names[:1] + names[2::2]  # what stays the same takes nothing away
    opposite = last | {name: ends[name][0] for name in changed}
    alike = pd.DataFrame(others, index=range(ROWS))
    own = [last] * request.rows_per_person
    table = pd.concat([alike, pd.DataFrame(own)], ignore_index=True)
    if not replaced:
        return table, alike
    return table, pd.concat([alike, pd.DataFrame([opposite] * request.rows_per_person)], ignore_index=True)


def _contrary(column: Column, low: Any, high: Any, *, is_target: bool, both: bool) -> Any:
    """Return what the others have in the column that the last person contradicts.

    Of a number, and of classes where a person is exchanged, both ends in turn, so that neither is learnt.
    """
    if is_target and (both or column.kind in (Kind.INTEGER, Kind.NUMBER)):
        return [low if place % 2 else high for place in range(ROWS)]
    return low


def _ends(column: Column) -> tuple[Any, Any]:
    """Return the lowest and the highest value that a column may have."""
    domain = column.domain
    if domain is None or domain.minimum is None or domain.maximum is None:
        levels = coding.levels(column)
        return levels[-1], levels[0]
    low, high = domain.minimum, domain.maximum
    return (
        (float(low), float(high)) if isinstance(low, Fraction) and isinstance(high, Fraction) else (low, high)
    )
