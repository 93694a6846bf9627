"""What a breach would cost at a privacy level, where the bound is cheapest, and which levels are left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import (
    INTEGER,
    MECHANISM,
    TEXTS,
    levels,
    line,
    mechanism_of,
    number,
    reach,
    shown,
    thesis,
)
from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind
from engine.pricing import statement
from engine.pricing.cost import LARGEST_AMOUNT, Cost, Liability
from engine.pricing.reading import price
from engine.pricing.releases import divide, together
from engine.pricing.trees import band_to_json, liability_to_json, posterior_to_json, without_infinities
from engine.privacy.at_risk.inputs import positive, whole
from engine.privacy.at_risk.several import read_releases
from engine.views import CurveView, Mark, Text

if TYPE_CHECKING:
    from engine.table.table import Table

RANGED = ("c", "people", "compensation")
READINGS = ("published", "exact", "exact_two_sided")


class Price(Analysis):
    """Published, exact and expected prices of one release, or the joint price of several."""

    id = "price"
    published = thesis("section 8.4.2")
    parameters = (
        Parameter("people", INTEGER),
        Parameter("compensation", ParameterKind.NUMBER),
        *MECHANISM,
        Parameter("releases", TEXTS, optional=True),
        number("c"),
        number("calibrate_epsilon"),
        number("calibrate_share"),
        number("minimum"),
        Parameter("printed_minimum", ParameterKind.BOOLEAN, default=False),
        number("budget"),
        number("max_error"),
        *(number(f"{name}_{end}") for name in RANGED for end in ("low", "high")),
        number("prior"),
        Parameter(
            "neighbours", ParameterKind.CHOICE, default="add_remove", choices=("add_remove", "replace_one")
        ),
        Parameter("division", INTEGER, optional=True, minimum=1, maximum=10_000),
        Parameter("delta", ParameterKind.NUMBER, default="1e-6"),
        number("fine"),
        number("incident"),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        cost = cost_of(values)
        liability = Liability(
            cost.compensation, *(_amount(values[name], name) for name in ("fine", "incident"))
        )
        other = {"liabilities": liability_to_json(liability)}
        if values["releases"]:
            return self._together(cost, values, other)
        found = statement.priced(
            cost, **mechanism_of(values), budget=values["budget"], max_error=values["max_error"]
        )
        figures = found.to_json() | _further(cost, found.epsilon0, values) | other
        lines = self._sentences(figures) + self._further(figures)
        return Answer((self.sentences(lines), self._curve(cost, found, values)), figures)

    def _together(self, cost: Cost, values: Mapping[str, Any], other: Mapping[str, Any]) -> Answer:
        if values["epsilon0"] is not None or values["scale"] is not None:
            raise InputRefused("at_risk.release_or_level")
        read = [read_releases(written) for written in values["releases"]]
        joint = together(
            cost, [(one.loss, one.count) for one in read], delta=values["delta"], budget=values["budget"]
        )
        lines = [
            self.word("together", epsilon=joint.epsilon, amount=joint.price),
            self.word(
                "together_certified",
                epsilon=joint.epsilon_certified,
                delta=joint.delta,
                amount=joint.price_certified,
            ),
            self.word("expected", amount=joint.expected),
        ]
        if joint.left is not None:
            lines.append(self.word("left" if joint.left >= 0 else "exceeded", amount=abs(joint.left)))
        figures = {"together": without_infinities(asdict(joint)), **other}
        return Answer((self.sentences(lines + self._other(figures)),), figures)

    def _sentences(self, figures: Mapping[str, Any]) -> list[Text]:
        lines = [
            self.word("liability", amount=figures["liability"], c=figures["c"]),
            self.word("budget", amount=figures["exact"]["budget"]),
        ]
        for name in READINGS:
            if figures[name] is not None:
                found = figures[name]["at_risk"]
                lines.append(self.word(name, **found | {"epsilon": shown(found["epsilon"])}))
        halved, doubled = (shown(figures[name]["epsilon"]) for name in ("c_halved", "c_doubled"))
        lines += [
            self.word("expected", amount=figures["expected"]),
            self.word("no_gain"),
            self.word("c_moves", halved=halved, doubled=doubled),
        ]
        window = figures["window"]
        if window is not None and window["empty"]:
            lines.append(
                self.word(
                    f"window_{window['reason']}", cheapest=window["cheapest"], needed=self._needed(window)
                )
            )
        elif window is not None:
            lines.append(self.word("window", lower=window["lower"], upper=shown(window["upper"])))
        return lines

    def _needed(self, window: Mapping[str, Any]) -> Text | str:
        for name in ("epsilon0_needed", "scale_needed"):
            if window[name] is not None:
                return self.word(name, value=window[name])
        return ""

    def _further(self, figures: Mapping[str, Any]) -> list[Text]:
        lines = []
        if "band" in figures:
            lines.append(self.word("band", **figures["band"]))
        if "posterior" in figures:
            found = figures["posterior"]
            lines += [
                self.word(f"posterior_{found['neighbours']}", **found),
                self.word("second_model", **found),
            ]
            if "conclusion" in found:
                end = found["conclusion"]
                first, second = shown(end["epsilon"]), shown(end["epsilon_by_posterior"])
                name = "conclusion_changes" if end["changes"] else "conclusion_stays"
                lines.append(self.word(name, budget=end["budget"], first=first, second=second))
        if "division" in figures:
            lines.append(
                self.word("division", **{name: shown(value) for name, value in figures["division"].items()})
            )
        return lines + self._other(figures)

    def _other(self, figures: Mapping[str, Any]) -> list[Text]:
        """Fines and incident cost are named beside the price, never added to it."""
        amounts = figures["liabilities"]
        return [self.word(name, amount=amounts[name]) for name in ("fine", "incident") if amounts[name]]

    def _curve(self, cost: Cost, found: statement.Priced, values: Mapping[str, Any]) -> CurveView:
        top = reach(found.loss)
        xs = levels(top)
        series = [line(self.word("curve.price"), xs, cost.curve(xs))]
        styles = {"published": "dashed", "exact": "accent", "exact_two_sided": "dotted"}
        marks = []
        for name, curve in found.curves.items():
            series.append(line(self.word(f"curve.{name}"), xs, price(cost, curve, xs), styles[name]))
            reading = getattr(found, name)
            if reading.saving > 0:
                at = max(reading.epsilon, float(xs[0]))
                marks.append(Mark(at, reading.budget, self.word(f"curve.cheapest_{name}")))
        first = next(iter(found.windows.values()), None)
        shade = None
        if first is not None and first.lower is not None and first.upper is not None:
            shade = (first.lower, min(first.upper, top))
        return CurveView(
            self.word("curve.title"),
            self.word("curve.epsilon"),
            self.word("curve.amount"),
            tuple(series),
            tuple(marks),
            shade,
            self.word("curve.window"),
        )


def cost_of(values: Mapping[str, Any]) -> Cost:
    """Return the cost curve of what was filled in.

    Raises
    ------
    InputRefused
        ``price.calibrate_both``, or a number that cannot be used.
    """
    at, accepted = values["calibrate_epsilon"], values["calibrate_share"]
    calibrate = at is not None or accepted is not None
    if calibrate and (at is None or accepted is None or values["c"] is not None):
        raise InputRefused("price.calibrate_both")
    cost = Cost(
        people=whole(values["people"], name="people", largest=10**11),
        compensation=positive(values["compensation"], name="compensation", largest=LARGEST_AMOUNT),
        c=Fraction(1) if values["c"] is None else positive(values["c"], name="c"),
        minimum=values["minimum"] or Fraction(0),
        printed_minimum=values["printed_minimum"],
    )
    return cost.calibrated(epsilon=at, share_of_liability=accepted) if calibrate else cost


def _amount(value: Fraction | None, name: str) -> Fraction | None:
    return None if value is None else positive(value, name=name, largest=LARGEST_AMOUNT)


def _further(cost: Cost, epsilon0: float, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked for beyond the price of one release: band, second model, division."""
    tree: dict[str, Any] = {}
    ranges = [(values[f"{name}_low"], values[f"{name}_high"]) for name in RANGED]
    if any(end is not None for ends in ranges for end in ends):
        central = (cost.c, Fraction(cost.people), cost.compensation)
        stated = [
            (middle if low is None else low, middle if high is None else high)
            for (low, high), middle in zip(ranges, central, strict=True)
        ]
        tree["band"] = band_to_json(cost, epsilon0, *stated)
    if values["prior"] is not None:
        tree["posterior"] = posterior_to_json(
            cost, epsilon0, values["prior"], neighbours=values["neighbours"], budget=values["budget"]
        )
    if values["division"] is not None:
        if values["budget"] is None:
            raise InputRefused("price.releases_need_budget")
        shares = divide(cost, budget=values["budget"], releases=values["division"], delta=values["delta"])
        tree["division"] = without_infinities(asdict(shares))
    return tree
