"""What a breach would cost at a privacy level, where the bound is cheapest, and which levels are left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import (
    INTEGER,
    MECHANISM,
    TEXTS,
    finite_or_null,
    levels,
    line,
    mechanism_of,
    number,
    reach,
    thesis,
)
from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind
from engine.numbers import finite
from engine.pricing import statement
from engine.pricing.cost import LARGEST_AMOUNT, Cost
from engine.pricing.reading import Curve, expected_price, price
from engine.pricing.releases import divide, together
from engine.pricing.window import accuracy_of, window
from engine.privacy.at_risk.inputs import positive, whole
from engine.privacy.at_risk.loss import PrivacyLoss
from engine.privacy.at_risk.releases import read_releases
from engine.privacy.at_risk.statement import PUBLISHED_FOR, loss_by_level
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
        # Side by side; there is no sum on purpose.
        amounts = {name: _amount(values[name], name) for name in ("fine", "incident")}
        other = {"liabilities": {"compensation_per_person": float(cost.compensation)} | amounts}
        if values["releases"]:
            return self._together(cost, values, other)
        given = mechanism_of(values)
        dimensions = whole(given.pop("dimensions"), name="dimensions")
        loss, own = loss_by_level(**given)
        level = own if loss.mechanism in PUBLISHED_FOR else None
        found = Priced(cost, loss, own, statement.curves_of(loss, level, dimensions=dimensions))
        windows = found.windows(values)
        figures = found.figures(windows) | _further(cost, loss.largest, values) | other
        lines = self._sentences(figures) + self._further(figures)
        return Answer((self.sentences(lines), self._curve(found, figures)), figures)

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
        figures = {"together": _finite(asdict(joint)), **other}
        return Answer((self.sentences(lines + self._other(figures)),), figures)

    def _sentences(self, figures: Mapping[str, Any]) -> list[Text]:
        lines = [
            self.word("liability", amount=figures["liability"], c=figures["c"]),
            self.word("budget", amount=figures["exact"]["budget"]),
        ]
        for name in READINGS:
            if figures[name] is not None:
                found = figures[name]["at_risk"]
                lines.append(self.word(name, **found | {"epsilon": finite_or_null(found["epsilon"])}))
        halved, doubled = (finite_or_null(figures[name]["epsilon"]) for name in ("c_halved", "c_doubled"))
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
            lines.append(self.word("window", lower=window["lower"], upper=finite_or_null(window["upper"])))
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
                first, second = finite_or_null(end["epsilon"]), finite_or_null(end["epsilon_by_posterior"])
                name = "conclusion_changes" if end["changes"] else "conclusion_stays"
                lines.append(self.word(name, budget=end["budget"], first=first, second=second))
        if "division" in figures:
            lines.append(
                self.word(
                    "division", **{name: finite_or_null(value) for name, value in figures["division"].items()}
                )
            )
        return lines + self._other(figures)

    def _other(self, figures: Mapping[str, Any]) -> list[Text]:
        """Fines and incident cost are named beside the price, never added to it."""
        amounts = figures["liabilities"]
        return [self.word(name, amount=amounts[name]) for name in ("fine", "incident") if amounts[name]]

    def _curve(self, found: Priced, figures: Mapping[str, Any]) -> CurveView:
        top = reach(found.loss)
        xs = levels(top)
        series = [line(self.word("curve.price"), xs, found.cost.curve(xs))]
        styles = {"published": "dashed", "exact": "accent", "exact_two_sided": "dotted"}
        marks = []
        for name, curve in found.curves.items():
            series.append(line(self.word(f"curve.{name}"), xs, price(found.cost, curve, xs), styles[name]))
            reading = figures[name]["at_risk"]
            if reading["saving"] > 0:
                at = max(reading["epsilon"], float(xs[0]))
                marks.append(Mark(at, reading["budget"], self.word(f"curve.cheapest_{name}")))
        window, shade = figures["window"], None
        if window is not None and window["lower"] is not None:
            shade = (window["lower"], min(finite_or_null(window["upper"]), top))
        return CurveView(
            self.word("curve.title"),
            self.word("curve.epsilon"),
            self.word("curve.amount"),
            tuple(series),
            tuple(marks),
            shade,
            self.word("curve.window"),
        )


@dataclass(frozen=True)
class Priced:
    """One release by one mechanism, and the confidences that its price can be read by."""

    cost: Cost
    loss: PrivacyLoss
    own: Fraction
    curves: Mapping[str, Curve]

    def windows(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return which levels a budget and an accuracy allow, by confidence; empty where neither was said."""
        budget, most = values["budget"], values["max_error"]
        if budget is None and most is None:
            return {}
        accuracy = None
        if most is not None:
            accuracy = accuracy_of(self.loss, self.own, max_error=most, sensitivity=values["sensitivity"])
        found = {
            name: window(self.cost, curve, budget=budget, accuracy=accuracy)
            for name, curve in self.curves.items()
        }
        return {
            name: asdict(one) | {"upper": finite(one.upper), "empty": one.empty}
            for name, one in found.items()
        }

    def figures(self, windows: Mapping[str, Any]) -> dict[str, Any]:
        """Return the price in every form as JSON values."""
        read = statement.readings(self.cost, self.curves)
        tree: dict[str, Any] = {
            name: None if read[name] is None else {"at_risk": read[name]} for name in READINGS
        }
        for name in ("published", "exact"):
            tree[name] = tree[name] and {"budget": self.cost.at(self.loss.largest)} | tree[name]
        leading = next(iter(self.curves.values()))
        for name, factor in (("c_halved", Fraction(1, 2)), ("c_doubled", Fraction(2))):
            moved = replace(self.cost, c=self.cost.c * factor)
            tree[name] = statement.readings(moved, {leading.name: leading})[leading.name]
        # The first window is the published one where a source gives it, else the exact one.
        first = next(iter(windows.values()), None)
        return tree | {
            "expected": expected_price(self.cost, self.loss),
            "window": None if first is None else first | dict(list(windows.items())[1:]),
            "epsilon0": finite(self.loss.largest),
            "c": float(self.cost.c),
            "form": "printed" if self.cost.printed_minimum else "corrected",
            "liability": self.cost.liability,
        }


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


def _amount(value: Fraction | None, name: str) -> float | None:
    return None if value is None else float(positive(value, name=name, largest=LARGEST_AMOUNT))


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
        tree["band"] = statement.band_at(cost, epsilon0, **dict(zip(RANGED, stated, strict=True)))
    if values["prior"] is not None:
        tree["posterior"] = statement.posterior_to_json(
            cost, epsilon0, values["prior"], neighbours=values["neighbours"], budget=values["budget"]
        )
    if values["division"] is not None:
        if values["budget"] is None:
            raise InputRefused("price.releases_need_budget")
        shares = divide(cost, budget=values["budget"], releases=values["division"], delta=values["delta"])
        tree["division"] = _finite(asdict(shares))
    return tree


def _finite(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {name: finite(value) for name, value in tree.items()}
