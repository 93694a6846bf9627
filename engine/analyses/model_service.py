"""A model that is asked instead of handed over: what a table of it loses, and what its answers give away."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np

from engine import arrays
from engine.analyses.functional_forms import similarity
from engine.analyses.functional_perturbation import released_votes
from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import INTEGER, NUMBER
from engine.methods.parameters import Parameter
from engine.methods.protocol import Budget, Reference
from engine.privacy.at_risk.inputs import positive
from engine.privacy.promise import Neighbours
from engine.table.table import Table
from engine.views import TableView

Floats = arrays.Floats

COLUMNS, ENDS = 4, ((-1.0, 1.0),) * 4
FLIPPED = 0.3
"""Share of people whose answer has nothing to do with their columns."""
CLOSE = 0.5
"""Width of the kernel of the model that is fitted too closely, half of a range being 1."""
DELTA = Fraction(1, 10**6)
STEPS = (1 / 8, 1 / 4, 1 / 2, 1.0)
"""Between places of a table, in widths of the kernel."""
WAYS = ("scores", "decimal", "labels", "private")


class ModelService(Analysis):
    """A kernel model behind a service: tables of it, and who was in it by its scores or by its labels alone.

    Notes
    -----
    Between places that are g apart, straight lines miss a kernel exp(−d²/2h²) by (g/h)²/8 of its peak at
    most, which is attained at its top; a cubic spline by 5/384 of the largest fourth derivative, which is
    (5/128)(g/h)⁴. A table has what the model has: it may leave where the model may.

    The model that is asked without noise is fitted to every answer of its people (least squares with next to
    no penalty). An attacker knows columns and answers of people and says who of them was in it: those whom
    the model is surer of, or, given labels alone, those whom it says rightly.
    """

    id = "model_service"
    published = Reference(
        "S. Yeom, I. Giacomelli, M. Fredrikson, S. Jha: Privacy risk in machine learning (2018)",
        "the attack by right labels; labels alone: Choquette-Choo and others (2021)",
    )
    parameters = (
        Parameter("people", INTEGER, default=200, minimum=30, maximum=2000),
        Parameter("epsilon", NUMBER, default=1),
        Parameter("runs", INTEGER, default=20, minimum=3, maximum=500),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        epsilon = positive(values["epsilon"], name="epsilon")
        drawn = []
        for run in range(values["runs"]):
            drawn.append(audit(values["people"], Fraction(str(epsilon)), context.chance))
            context.progress.step((run + 1) / values["runs"], "sampled_sensitivity.pairs")
        told = {way: float(np.mean([one[way] for one in drawn])) for way in drawn[0]}
        bound = largest_area(float(epsilon), float(DELTA))
        tabled = [(step, *table_errors(step)) for step in STEPS]
        figures = {
            "audience": "public",
            "membership": {way: told[way] for way in WAYS},
            "right": {name: told[name] for name in ("right_close", "right_private")},
            "bound": bound,
            "table": [
                {"step": step, "linear": linear, "linear_bound": step**2 / 8, "cubic": cubic}
                | {"cubic_bound": 5 / 128 * step**4}
                for step, linear, cubic in tabled
            ],
        }
        return Answer(self._views(figures, values), figures)

    def _views(self, figures: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
        told, right = figures["membership"], figures["right"]
        lines = [
            self.word("said", people=values["people"], runs=values["runs"]),
            self.word("labels", labels=round(told["labels"], 3), scores=round(told["scores"], 3)),
            self.word(
                "private",
                area=round(told["private"], 3),
                bound=round(figures["bound"], 3),
                right=round(100 * right["right_private"]),
                close=round(100 * right["right_close"]),
            ),
            self.word("tabulated"),
            self.word("numbers"),
        ]
        attacks = tuple((self.word(f"membership.{way}"), round(told[way], 3)) for way in WAYS)
        percent = [
            tuple(
                float(f"{100 * one[name]:.2g}") for name in ("linear", "linear_bound", "cubic", "cubic_bound")
            )
            for one in figures["table"]
        ]
        rows = tuple((one["step"], *found) for one, found in zip(figures["table"], percent, strict=True))
        names = ("step", "linear", "linear_bound", "cubic", "cubic_bound")
        return (
            self.sentences(lines),
            TableView(
                self.word("membership.title"),
                (self.word("membership.what"), self.word("membership.area")),
                attacks,
                self.word("membership.note"),
            ),
            TableView(
                self.word("table.title"),
                tuple(self.word(f"table.{name}") for name in names),
                rows,
                self.word("table.note"),
            ),
        )


def audit(people: int, epsilon: Fraction, chance: np.random.Generator) -> dict[str, float]:
    """Return the area under the curve of each attack, and how often either model is right."""
    rows = chance.uniform(-1, 1, (2 * people, COLUMNS))
    plain = np.where(rows[:, 0] + rows[:, 1] > 0, 1.0, -1.0)
    signs = np.where(chance.random(2 * people) < FLIPPED, chance.choice([-1.0, 1.0], 2 * people), plain)
    inside = np.arange(2 * people) < people
    gram = similarity(rows[inside], rows[inside], CLOSE)
    weights = np.linalg.solve(gram + 1e-3 * np.eye(people), signs[inside])
    sure = signs * (similarity(rows, rows[inside], CLOSE) @ weights)
    budget = Budget(epsilon, DELTA, Neighbours.REPLACE_ONE)
    private = signs * released_votes(
        rows[inside], signs[inside], rows, ends=ENDS, budget=budget, chance=chance, similar="wide"
    )
    return {
        "scores": area(sure[inside], sure[~inside]),
        "decimal": area(sure[inside].round(1), sure[~inside].round(1)),
        "labels": area(sure[inside] > 0, sure[~inside] > 0),
        "private": max(
            area(private[inside], private[~inside]), area(private[inside] > 0, private[~inside] > 0)
        ),
        "right_close": float((sure[~inside] > 0).mean()),
        "right_private": float((private[~inside] > 0).mean()),
    }


def area(members: Floats | arrays.Bools, others: Floats | arrays.Bools) -> float:
    """Return how often a member has more than another, a tie being half: the area under the curve.

    Examples
    --------
    >>> area(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    0.875
    """
    apart = members.astype(float)[:, None] - others.astype(float)[None, :]
    return float((apart > 0).mean() + (apart == 0).mean() / 2)


def largest_area(epsilon: float, delta: float) -> float:
    """Return the area that no attack exceeds where one person is exchanged for another, by (ε, δ).

    Notes
    -----
    Above the curve of Kairouz, Oh and Viswanath (2015): right alarms are e^ε times false ones plus δ at most,
    and the other way round.

    Examples
    --------
    >>> round(largest_area(1.0, 0.0), 3), largest_area(0.0, 0.0)
    (0.731, 0.5)
    """
    corner = (1 - delta) / (1 + exp(epsilon))  # false alarms where both limits meet
    before = corner * (delta + 1 - corner) / 2
    behind = (1 - delta - corner) * (2 - corner) / 2
    return before + behind + delta


def table_errors(step: float) -> tuple[float, float]:
    """Return the largest error of a table of a kernel of width 1, by straight lines and by cubic splines."""
    from scipy.interpolate import CubicSpline

    lines = cubics = 0.0
    for shift in np.linspace(0, 1, 21):
        places = (np.arange(-8 / step, 8 / step + 1) + shift) * step
        value, asked = np.exp(-(places**2) / 2), np.linspace(-5, 5, 4001)
        truth = np.exp(-(asked**2) / 2)
        lines = max(lines, float(np.abs(np.interp(asked, places, value) - truth).max()))
        cubics = max(cubics, float(np.abs(CubicSpline(places, value)(asked) - truth).max()))
    return lines, cubics
