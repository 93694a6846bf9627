"""How many pairs of neighbours a sampled figure needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import INTEGER, number, thesis
from engine.methods.parameters import Parameter, ParameterKind
from engine.privacy.at_risk.inputs import share, whole
from engine.privacy.sampled_sensitivity import Sides, plan_pairs

if TYPE_CHECKING:
    from engine.table.table import Table


class Pairs(Analysis):
    """The third of pairs, tolerance and probability, by the inequality of Dvoretzky, Kiefer and Wolfowitz."""

    id = "pairs"
    published = thesis("chapter 8, theorem 4")
    parameters = (
        Parameter("pairs", INTEGER, optional=True),
        number("tolerance"),
        number("probability"),
        Parameter("one_sided", ParameterKind.BOOLEAN, default=False),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        given: dict[str, Any] = {
            name: None if values[name] is None else float(share(values[name], name=name))
            for name in ("tolerance", "probability")
        }
        pairs = values["pairs"]
        given["pairs"] = None if pairs is None else whole(pairs, name="pairs", largest=10**15)
        sides = Sides.ONE if values["one_sided"] else Sides.TWO
        found = plan_pairs(**given, sides=sides)
        figures = {
            "planned": next(name for name in ("pairs", "tolerance", "probability") if given[name] is None),
            "pairs": found.pairs,
            "tolerance": found.tolerance,
            "probability": found.probability,
            "sides": int(sides),
        }
        name = "planned_one_sided" if values["one_sided"] else "planned"
        numbers = {key: figures[key] for key in ("pairs", "tolerance", "probability")}
        return Answer((self.sentences([self.word(name, **numbers)]),), figures)
