"""The first page: the one sentence, how exact, who, what, why, until when."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from engine import texts
from engine.evidence import InternalEvidence, PublicEvidence, words_of
from engine.methods.protocol import Family, unit_parts
from engine.numbers import exactly
from engine.privacy.promise import Status, promise_kind
from engine.protected import Protected, agreeing
from engine.report.content import private
from engine.report.content.facts import facts_of
from engine.report.content.shared import (
    day,
    method_name,
    moment,
    say,
    side,
    stated_or_not,
    unit_of,
    whom_about,
)
from engine.report.document import Callout, KeyValues, Part, Row, Signatures
from engine.report.words import FIRM_SPACE, margin_columns
from engine.texts import plainly
from engine.views import (
    CurveView,
    HeatmapView,
    IntervalsView,
    Label,
    TableView,
    Text,
    View,
    amount,
    from_json,
)


def cover(evidence: PublicEvidence, kept: InternalEvidence) -> tuple[Part, ...]:
    """Return the first page of the report that stays."""
    parts: list[Part] = [sentence(evidence)]
    facts = facts_of(evidence)
    if facts.opened and facts.bounded and not facts.local:
        parts.append(say("cover.opened"))
    parts += exactness(evidence)
    parts.append(KeyValues("", (*_who(evidence), *_check(evidence, kept), *_what(evidence, kept))))
    parts += private.warnings(kept)
    signed = ("custodian", "checker", "protection_officer")
    return (*parts, Signatures(tuple(say(f"cover.signature_{who}") for who in signed)))


def exactness(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return how exact the released numbers are, as named values."""
    exact = accuracy(evidence)
    rows = tuple(Row(say("cover.accuracy") if n == 0 else "", text) for n, text in enumerate(exact))
    return (KeyValues("", rows),) if rows else ()


def label(evidence: PublicEvidence) -> tuple[Part, ...]:
    """Return what leaves and of which kind its promise is, where page one has said the rest."""
    return (KeyValues("", tuple(_what(evidence, None))),)


def approved() -> Signatures:
    """Return the lines that the report which leaves is signed on."""
    return Signatures(tuple(say(f"cover.signature_{who}") for who in ("custodian", "approver")))


def sentence(evidence: PublicEvidence) -> Callout:
    """Return the one sentence about what is promised."""
    found = evidence.statement["sentence"]
    care = evidence.promise.loss is None
    return Callout(Text(found["id"], found["values"]), care=care, large=True)


def accuracy(evidence: PublicEvidence) -> tuple[Text, ...]:
    """Say how exact the released numbers are: by the margins beside them, else as the method forecast it."""
    said = [*(_open(evidence) or _beside(evidence) or _drawn(evidence) or _foreseen(evidence))]
    told = unit_parts(str(evidence.expected[0].get("unit", "")))[1] if evidence.expected else ""
    people = words_of(evidence.decided).several
    if said and told and all(str(one.get("unit", "")) != people for one in evidence.expected):
        said.append(Text("preview.unit", {"unit": told}))
    counted = guesses(evidence)
    if counted is not None:
        several = len(evidence.measures["utility.small_groups"]) > 1
        name = "cover.guesses_worst" if several else "cover.guesses"
        said.append(say(name, n=counted[0], all=counted[1]))
    return tuple(said)


def _open(evidence: PublicEvidence) -> list[Text]:
    """Say how exact the answers of a service will be, where none has been given yet."""
    loss, questions = evidence.promise.loss, evidence.decided.get("parameters", {}).get("questions")
    if loss is None or not questions or not evidence.expected:
        return []
    facts = facts_of(evidence)
    if not facts.opened or facts.local:
        return []
    values = _values(evidence.expected[0], words_of(evidence.decided))
    if loss.delta:  # squares of levels add up: of equal shares none is the ε of all by their number
        return [say("cover.exact_opened_delta", **values, questions=int(questions))]
    return [say("cover.exact_opened", **values, epsilon=loss.epsilon / int(questions))]


def _beside(evidence: PublicEvidence) -> list[Text]:
    """Say within which margins the numbers lie that have one each beside them: of every kind, its own."""
    if not evidence.expected or evidence.expected[0]["of"] not in ("group", "whole"):
        return []
    units = {str(one["quantity"]): str(one.get("unit", "")) for one in evidence.expected}
    found, order = [], list(units)
    # Answers of a desk stand in one column, whatever was asked: days beside people have no unit together.
    # Nor is it known which unit a number has that was not foreseen, where those that were have several.
    several = evidence.method["family"] == Family.SERVICE or len(set(units.values())) > 1
    own = "" if several else next(iter(units.values()))
    shown = margins_beside(evidence.views)
    for quantity, margins in sorted(
        shown, key=lambda one: order.index(one[0].id) if one[0].id in order else len(order)
    ):
        least, most = min(margins), max(margins)
        unit = units.get(quantity.id, own)
        last = _three_digits(most)
        shown_unit = agreeing(unit_parts(unit)[0], last, words_of(evidence.decided))
        values = {"quantity": quantity, "limit": _three_digits(least), "unit": shown_unit}
        same = values["limit"] == last
        found.append(say(f"cover.exact_beside{'' if same else '_range'}", **values, last=last))
    return found


def _drawn(evidence: PublicEvidence) -> list[Text]:
    """Say within which margins the noise moves numbers that are drawn with them: truer than a forecast.

    Of a curve or a grid, whose numbers are densities for instance, as a part of the highest one.
    """
    if not evidence.expected or evidence.expected[0]["of"] not in ("group", "cell"):
        return []
    for view in evidence.views:
        quantity, margins, highest = _margins_drawn(view)
        if not margins:
            continue
        whole = 100 / highest if highest > 0 else 1.0
        least, most = (_three_digits(whole * end) for end in (min(margins), max(margins)))
        name = f"exact_drawn{'_share' if highest > 0 else ''}{'' if least == most else '_range'}"
        unit = FIRM_SPACE + "%" if highest > 0 else ""
        return [say(f"cover.{name}", quantity=quantity, limit=least, last=most, unit=unit)]
    return []


def _margins_drawn(view: View) -> tuple[Label, list[float], float]:
    """Return what is drawn, its margins, and the highest value where they are a part of it, else 0."""
    if isinstance(view, HeatmapView) and (view.margins or view.margin is not None):
        highest = max((one for row in view.values for one in row if one is not None), default=0.0)
        every = [one for row in view.margins for one in row]
        return view.title, every or [view.margin or 0.0], highest
    if isinstance(view, CurveView) and view.band is not None:
        low, high = (one.y for one in view.band)
        margins = [(b - a) / 2 for a, b in zip(low, high, strict=True) if math.isfinite(b - a)]
        return view.y_axis, margins, max((y for one in view.series for y in one.y), default=0.0)
    if isinstance(view, IntervalsView):
        ends = zip(view.low, view.high, strict=True)
        return view.axis, [(b - a) / 2 for a, b in ends if math.isfinite(b - a)], 0.0
    return "", [], 0.0


def _three_digits(value: float) -> str:
    """Write a margin with three digits, rounded up, as people write it: 1,170 and not 1.17e+03."""
    return texts.number(texts.plainly(value, digits=3, up=True))


def _values(one: Mapping[str, Any], words: Protected) -> dict[str, Any]:
    quantity = Text(str(one["quantity"]), dict(from_json(one.get("named", {}))))
    if "named" not in one and "{" in (texts.pattern(quantity.id) or ""):
        quantity = say("cover.exact_numbers")  # evidence of earlier versions does not say of which
    limit = _three_digits(one["limit"])
    return {
        "quantity": quantity,
        "limit": limit,
        "unit": agreeing(unit_parts(str(one.get("unit", "")))[0], limit, words),
        "size": one.get("size") or 0,
    }


def _foreseen(evidence: PublicEvidence) -> list[Text]:
    """Say how far off the first kind of number is, as it was foreseen."""
    groups = list(by_quantity(evidence.expected).values())
    for expected in sorted(groups, key=lambda group: group[0]["of"] != "rank")[:1]:
        first, last = expected[0], expected[-1]
        values = _values(first, words_of(evidence.decided))
        if len(expected) > 1 and first["limit"] != last["limit"] and first.get("size"):
            ends = {"largest": last["size"], "last": _three_digits(last["limit"])}
            own = f"cover.exact_range_{first['of']}"
            return [say(own if texts.has(f"report.{own}") else "cover.exact_range", **values, **ends)]
        own = f"cover.exact_{first['of']}"
        return [say(own if texts.has(f"report.{own}") else "cover.exact_one", **values)]
    return []


def margins_beside(views: Iterable[View]) -> list[tuple[Text, list[float]]]:
    """Return the margins that stand beside released numbers, by what the numbers are."""
    found: dict[str, tuple[Text, list[float]]] = {}
    for table in (view for view in views if isinstance(view, TableView)):
        for at in margin_columns(table):
            heading = table.headings[at - 1]
            if isinstance(heading, Text):
                margins = (amount(row[at]) for row in table.rows)
                found.setdefault(heading.id, (heading, []))[1].extend(
                    float(one) for one in margins if one is not None
                )
    return [(heading, margins) for heading, margins in found.values() if margins]


def by_quantity(expected: tuple[Mapping[str, Any], ...]) -> dict[str, list[Mapping[str, Any]]]:
    """Return forecast errors by what they are of, in their order."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in expected:
        found.setdefault(str(one["quantity"]), []).append(one)
    return found


def guesses(evidence: PublicEvidence) -> tuple[int, int] | None:
    """Return how many of how many numbers are no better than a guess, of the kind that fares worst."""
    figures = evidence.measures.get("utility.small_groups", {}).values()
    counted = [(int(one["guesses"]), int(one["cells"])) for one in figures]
    return max(counted, key=lambda pair: pair[0] / max(pair[1], 1)) if counted else None


def _who(evidence: PublicEvidence) -> list[Row]:
    purpose = evidence.purpose
    rows = [
        Row(say(f"cover.{name}"), stated_or_not(purpose, name))
        for name in ("organisation", "recipient", "use")
    ]
    rows.append(Row(say("cover.about"), whom_about(purpose)))
    rows.append(Row(say("cover.agreement"), stated_or_not(purpose, "agreement")))
    expires = str(purpose.get("expires", ""))
    rows.append(Row(say("cover.expires"), day(expires) if expires else say("words.not_stated")))
    rows.append(Row(say("cover.approver"), stated_or_not(purpose, "approver")))
    further = (("setting", stated_or_not), ("contact", stated_or_not), ("request_number", stated_or_not))
    rows += [Row(say(f"cover.{name}"), read(purpose, name)) for name, read in further if purpose.get(name)]
    if purpose.get("review"):
        rows.append(Row(say("cover.review"), day(str(purpose["review"]))))
    return rows


def _check(evidence: PublicEvidence, kept: InternalEvidence) -> list[Row]:
    """Say who else looked at the release, also where nobody did, and whether the officer was heard."""
    checked = Row(say("cover.checker"), stated_or_not(evidence.purpose, "checker"))
    return [checked, Row(say("cover.officer"), stated_or_not(kept.plan.get("purpose", {}), "officer"))]


def _what(evidence: PublicEvidence, kept: InternalEvidence | None) -> list[Row]:
    files = ", ".join(str(artefact["file"]) for artefact in evidence.artefacts)
    rows = [
        Row(say("cover.release_kind"), method_name(evidence), note=say("cover.files", files=files)),
        Row(say("cover.guarantee"), _kind(evidence)),
    ]
    status = promise_kind(evidence.promise.kind).status
    if (
        kept is not None and status is not Status.BOUNDED
    ):  # elsewhere the first sentence of the page says what is bounded
        rows.append(Row(say("cover.status"), say(f"cover.status_{status}")))
    bounded = evidence.promise.loss is not None
    if bounded:
        rows.append(Row(say("cover.unit"), unit_of(evidence)))
    paid = side(evidence.promise) == "bounded"
    if kept is None and paid:
        rows.append(Row(say("cover.total"), total(evidence.register, evidence.statement.get("epsilon"))))
    elif kept is not None:
        rows += private.register_rows(kept, paid=paid)
        rows += [*private.threshold(kept, evidence.promise), *private.assumption(kept)]
    if kept is not None:
        rows.append(Row(say("cover.made"), moment(evidence.made_at)))
        rows.append(Row(say("cover.bundle"), evidence.bundle_id, code=True))
    return rows


def _kind(evidence: PublicEvidence) -> Label:
    return Text(f"promises.{evidence.promise.kind}.name")


def total(register: Mapping[str, Any], stated: Any = None) -> Text:
    """Say what all releases about these people have spent, where the custodian lets it be said.

    What was spent is at most the level that is ``stated`` of a first release: not a second number beside it.
    Where the slack δ of the register makes all releases cost less than this one by itself, it is said; where
    one of them had no level, that nothing bounds them all.
    """
    if "epsilon_spent" not in register:
        return say("cover.total_silent")
    if register.get("epsilon") is None:
        name = "counted" if register.get("bounds_all", True) else "unbounded"
        return say(f"cover.total_{name}", releases=int(register["releases"]))
    spent = plainly(float(exactly(register["epsilon_spent"]) or 0), up=True)
    level = float(exactly(stated) or 0) if stated is not None else 0.0
    if spent < level <= spent * (1 + 1 / 1000):
        spent = plainly(level, up=True)
    values = {
        "spent": spent,
        "total": exactly(register["epsilon"]),
        "delta": exactly(register["delta"]),
        "releases": int(register["releases"]),
    }
    if not register.get("bounds_all", True):
        return say("cover.total_some", **values)
    form = ("less" if spent < level else "delta") if values["delta"] else "value"
    return say(f"cover.total_{form}", **values)
