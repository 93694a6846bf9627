"""What the budget screen says: every number with its sentence and its three texts for the right side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from app import words
from app.parts.panel import Explanation, Part, three
from app.screens.budget.at_risk_card import AtRisk
from app.words.money import level, money, percent, size
from app.work.deciding import Prepared, Standing, Worked
from engine.methods.protocol import unit_parts
from engine.privacy.promise import Neighbours
from engine.release.plan import Plan
from engine.views import Text

NOTHING = "–"
FIELDS = ("curvature", "minimum", "bound", "delta", "relation", "fine", "incident")
RANGE_ENDS = ("_low", "_high")


@dataclass(frozen=True)
class Said:
    """The words for one state of the screen. Every method copes with what is not known yet."""

    plan: Plan
    worked: Worked | None
    standing: Standing | None
    prepared: Prepared | None

    @property
    def choice(self) -> Any:
        """The views of the level, or None."""
        return self.worked.choice if self.worked is not None else None

    def verdict(self) -> Any:
        """Return how much the release can say at this level, or None where nobody can tell."""
        return self.worked.verdict if self.worked is not None else None

    def _amount(self, value: float | Fraction) -> str:
        return money(value, self.plan.price.currency)

    def _c(self) -> float:
        """The constant of the curve, written or from a defended point, in three digits."""
        from engine.pricing.statement import cost_of

        cost = cost_of(self.plan.price)
        return float(f"{float(cost.c if cost is not None else self.plan.price.curvature):.3g}")

    def money(self) -> tuple[str, str]:
        """Return the number and the sentence of the money card."""
        price = self.plan.price
        if price.people is None or price.compensation is None:
            return NOTHING, words.say("app.budget.money.unsaid")
        if self.choice is None or not self.choice.price:
            return NOTHING, words.say("app.budget.money.empty")
        sentence = words.say(
            "app.budget.money.sentence",
            people=price.people,
            amount=self._amount(price.compensation),
        )
        return self._amount(self.choice.price["budget"]), sentence

    def learnt(self) -> tuple[str, str]:
        """Return the number and the sentence of what could be learnt: presence first, the value beside it."""
        if self.choice is None or "posterior" not in self.choice.statement:
            return NOTHING, words.say("app.budget.learnt.empty")
        found = self.choice.statement["posterior"]
        relation = self.choice.statement["neighbours"]
        shown = found["presence" if relation == Neighbours.ADD_REMOVE else "value"]
        sentence = words.say(
            f"app.budget.learnt.sentence_{relation}",
            presence=percent(found["presence"]),
            value=percent(found["value"]),
        )
        return f"50\u00a0% → {percent(shown)}", sentence

    def sure(self) -> Fraction | None:
        """Return how sure somebody becomes at most, in percent, for the field."""
        if self.choice is None or "posterior" not in self.choice.statement:
            return None
        found = self.choice.statement["posterior"]
        add_remove = self.choice.statement["neighbours"] == Neighbours.ADD_REMOVE
        # Rounded up as beside it: what is written is an upper bound.
        return Fraction(math.ceil(1000 * found["presence" if add_remove else "value"]), 10)

    def accuracy(self) -> tuple[str, str]:
        """Return the number and the sentence of the accuracy card."""
        error = self.choice.error if self.choice is not None else None
        if error is None:
            return NOTHING, words.say("app.budget.accuracy.empty")
        values = {
            "quantity": words.label(error.quantity),
            "limit": size(error.limit),
            "median": size(error.median),
            "unit": unit_parts(error.unit)[0],
            "size": self.choice.size,
        }
        if error.is_count:
            part = (
                percent(min(error.limit / self.choice.size, 0.999)) if error.limit < self.choice.size else ""
            )
            name = "sentence_share" if part else "sentence_lost"
            return f"±\u00a0{size(error.limit)}", words.say(
                f"app.budget.accuracy.{name}", part=part, **values
            )
        return f"±\u00a0{size(error.limit)}", words.say("app.budget.accuracy.sentence", **values)

    def at_risk(self) -> AtRisk:
        """Return the figures of privacy at risk."""
        found = self.choice.statement.get("at_risk") if self.choice is not None else None
        if found is None:
            is_worked_out = self.choice is not None and "at_risk" in self.choice.statement
            name = "empty" if self.choice is None else "untold" if is_worked_out else ""
            empty = words.say(f"app.budget.at_risk.{name}") if name else ""
            heading = words.say("app.budget.at_risk.heading_empty")
            return AtRisk(heading, (NOTHING,) * 4, sentence=empty, is_told=name != "untold")
        published = found["published"]
        written = (
            words.say("app.budget.at_risk.no_source")
            if published is None
            else _share(published["confidence"]),
            _share(found["exact"]["confidence"]),
            _share(found["exact"]["confidence_two_sided"]),
            _delta(found["certified"]["delta"]),
        )
        warning = words.say("app.budget.at_risk.warning") if found["above_ln3"] else ""
        heading = words.say("app.budget.at_risk.heading_empty")
        share = percent(1 - found["exact"]["confidence"])
        read_at = level(Fraction(found["epsilon"]))
        sentence = words.say("app.budget.at_risk.sentence", share=share, epsilon=read_at)
        return AtRisk(heading, written, warning, share, sentence)

    def window(self) -> tuple[str, str]:
        """Return what the window says, and its tone."""
        if self.choice is None:
            return "", ""
        found, price = self.choice.allowed, self.plan.price
        values = {
            "budget": self._amount(price.budget) if price.budget is not None else "",
            "error": size(float(price.largest_error)) if price.largest_error is not None else "",
            "lower": level(found.lower) if found.lower is not None else "",
            "upper": level(found.upper) if found.upper is not None else "",
        }
        if found.reason is not None:
            return self._empty_window(found.reason, values), "care"
        if found.lower is None and found.upper is None:
            return words.say("app.budget.window.none"), ""
        name = "both" if values["lower"] and values["upper"] else "lower" if values["lower"] else "upper"
        outside = (found.lower is not None and self.choice.epsilon < found.lower) or (
            found.upper is not None and self.choice.epsilon > found.upper
        )
        sentence = words.say(f"app.budget.window.{name}", **values)
        if outside:
            sentence += " " + words.say("app.budget.window.outside", epsilon=level(self.choice.epsilon))
        return sentence, "care" if outside else ""

    def _empty_window(self, reason: str, values: dict[str, str]) -> str:
        if reason != "both":
            return words.say(f"app.budget.window.empty_{reason}", **values)
        from engine.release.choice import ways_out

        ways = ways_out(self.plan)
        return words.say(
            "app.budget.window.empty_both",
            money=self._amount(ways.money) if ways.money is not None else NOTHING,
            other_error=size(ways.error) if ways.error is not None else NOTHING,
            **values,
        )

    def second(self) -> tuple[str, str, str]:
        """Return what the second model of the price says, whether it decides otherwise, and its tone."""
        found = self.choice.price.get("posterior") if self.choice is not None else None
        if found is None:  # NOTHING while its readings are on their way
            return (NOTHING if self.choice is not None and self.choice.price else ""), "", ""
        prices = words.say(
            f"app.budget.second.prices_{found['neighbours']}",
            prior=percent(found["prior"]),
            presence=self._amount(found["price_presence"]),
            value=self._amount(found["price_value"]),
            first=self._amount(self.choice.price["budget"]),
        )
        end = found.get("conclusion")
        if end is None:
            return prices, "", ""
        ends = [end["epsilon"], end["epsilon_by_posterior"]]
        first, second = (_largest(one) for one in ends)
        said = words.say(
            f"app.budget.second.{'changes' if end['changes'] else 'stays'}",
            budget=self._amount(end["budget"]),
            first=first,
            second=second,
            epsilon=level(self.choice.epsilon),
        )
        return prices, said, "care" if end["changes"] else ""

    # --- the right-hand side -----------------------------------------------------------------------

    def page(self, calibrate: Callable[[], None]) -> Explanation | None:
        """Return what the page means: the promise, what is left, what would change it, the assumption."""
        if self.choice is None or "sentence" not in self.choice.statement:
            return None
        sentence = self.choice.statement["sentence"]
        parts = [Part(body=words.label(Text(sentence["id"], sentence["values"])))]
        left = self._left()
        if left:
            parts.append(Part(words.say("app.budget.left_heading"), left))
        parts.append(Part(words.say("app.budget.change_heading"), words.say("app.budget.what_changes")))
        price = self.choice.price
        if price:
            body = words.say(
                "app.budget.assumption",
                halved=self._amount(price["c_halved"]),
                doubled=self._amount(price["c_doubled"]),
                half=self._c() / 2,
                double=self._c() * 2,
            )
            heading = words.say("app.budget.assumption_heading", c=self._c())
            link = words.say("app.budget.calibrate")
            parts.append(Part(heading, body, tone="care", link=link, follow=calibrate))
        return Explanation(words.say("app.window.what_this_means"), tuple(parts))

    def _left(self) -> str:
        found = self.standing
        if found is None or found.plan != self.plan:
            return ""
        ledger, together = found.preview.ledger, found.together
        cost = words.say("app.budget.together", amount=self._amount(together)) if together is not None else ""
        if ledger is not None:
            after, whole = ledger.epsilon_after, ledger.before.holding.epsilon
            if ledger.refusal is not None:
                return " ".join(words.explain(ledger.refusal))
            if after is None or whole is None:
                return cost
            return words.say("app.budget.left", left=level(after, down=True), all=level(whole)) + cost
        budget = self.plan.holding_budget
        if budget is None or self.plan.budget is None:
            return ""
        after = budget.epsilon - self.plan.budget.epsilon
        if after < 0:
            return words.say("app.budget.too_much", all=level(budget.epsilon))
        return words.say("app.budget.left", left=level(after, down=True), all=level(budget.epsilon)) + cost

    def topic(self, topic: str) -> Explanation | None:
        """Return the three texts of a number, with the custodian's own values."""
        kind, _, name = topic.partition(".")
        if kind == "field" and name.endswith(RANGE_ENDS):
            return Explanation(
                words.say("app.budget.show_band"), (Part(body=words.say("app.budget.field_help.range")),)
            )
        if kind == "field" and name in FIELDS:
            title = words.say(f"app.budget.field.{name}")
            return Explanation(title, (Part(body=words.say(f"app.budget.field_help.{name}")),))
        if topic == "second" and self.choice is not None:
            return three("app.budget.three.second", words.say("app.budget.second.heading"), **self._values())
        if topic in ("money", "learnt", "accuracy", "at_risk", "curve") and self.choice is not None:
            return three(f"app.budget.three.{topic}", self._title(topic), **self._values())
        return None

    def _title(self, topic: str) -> str:
        if topic == "at_risk":
            return words.say("app.budget.at_risk.heading_empty")
        return words.say(f"app.budget.{topic}.heading" if topic != "curve" else "choice.curve.title")

    def _values(self) -> dict[str, Any]:
        price, statement = self.plan.price, self.choice.statement
        found = statement.get("at_risk") or {"epsilon": "0"}
        return {
            "people": price.people or 0,
            "compensation": self._amount(price.compensation or 0),
            "liability": self._amount(self.choice.price.get("liability", 0)),
            "c": self._c(),
            "epsilon": level(self.choice.epsilon),
            "value_epsilon": level(
                self.choice.epsilon * (2 if statement.get("neighbours") == Neighbours.ADD_REMOVE else 1)
            ),
            "read_at": level(Fraction(found["epsilon"])),
            "relation": words.say(f"app.budget.relation.{statement.get('neighbours', 'add_remove')}"),
            "presence": percent(statement["posterior"]["presence"]) if "posterior" in statement else "",
            "value": percent(statement["posterior"]["value"]) if "posterior" in statement else "",
            "limit": self.accuracy()[0],
            "size": self.choice.size,
        }


def _largest(epsilon: float | None) -> str:
    return words.say("app.budget.second.any") if epsilon is None else level(float(f"{epsilon:.3g}"))


def _share(confidence: float) -> str:
    return words.signed(f"{confidence:.{2 if confidence < 0.995 or confidence == 1 else 4}f}")


def _delta(delta: float) -> str:
    return words.signed(f"{delta:.3f}" if delta >= 0.001 or delta == 0 else f"{delta:.1e}")
