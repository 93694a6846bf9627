"""The first page: the one sentence, how exact, who, what, why, until when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine import texts
from engine.evidence import InternalEvidence, PublicEvidence
from engine.numbers import exactly
from engine.privacy.promise import Status, promise_kind
from engine.report.content import private
from engine.report.content.shared import day, method_name, moment, say, side, stated, unit_of
from engine.report.document import Callout, KeyValues, Part, Row, Signatures
from engine.texts import plainly
from engine.views import Label, Text

NAMED = ("invented", "moment", "tested")
"""Errors whose sentence says what they are of."""


def cover(evidence: PublicEvidence, kept: InternalEvidence | None) -> tuple[Part, ...]:
    """Return the first page of a report."""
    parts: list[Part] = [sentence(evidence)]
    exact = accuracy(evidence)
    if exact:
        parts.append(
            KeyValues(
                "", tuple(Row(say("cover.accuracy") if n == 0 else "", text) for n, text in enumerate(exact))
            )
        )
    parts.append(KeyValues("", (*_who(evidence), *_checked(evidence, kept), *_what(evidence, kept))))
    if kept is not None:
        parts += private.warnings(kept)
    signed = ("custodian", "checker", "protection_officer") if kept is not None else ("custodian", "approver")
    return (*parts, Signatures(tuple(say(f"cover.signature_{who}") for who in signed)))


def sentence(evidence: PublicEvidence) -> Callout:
    """Return the one sentence about what is promised."""
    found = evidence.statement["sentence"]
    care = evidence.promise.loss is None
    return Callout(Text(found["id"], found["values"]), care=care, large=True)


def accuracy(evidence: PublicEvidence) -> tuple[Text, ...]:
    """Say how exact the released numbers are, as far as the method forecast it and a measure counted it."""
    said = []
    for expected in by_quantity(evidence.expected).values():
        first, last = expected[0], expected[-1]
        unit = f" {first['unit'].strip()}" if first.get("unit") else ""
        size = first.get("size") or 0
        values: dict[str, Any] = {"limit": f"{first['limit']:.3g}", "unit": unit, "size": size}
        if len(expected) > 1 and first["limit"] != last["limit"] and size:
            ends = {"largest": last["size"], "last": f"{last['limit']:.3g}"}
            own = f"cover.exact_range_{first['of']}"
            said.append(say(own if texts.has(f"report.{own}") else "cover.exact_range", **values, **ends))
        else:
            own = f"cover.exact_{first['of']}"
            if first["of"] in NAMED:
                values["quantity"] = Text(str(first["quantity"]))
            said.append(say(own if texts.has(f"report.{own}") else "cover.exact_one", **values))
        break
    counted = guesses(evidence)
    if counted is not None:
        said.append(say("cover.guesses", n=counted[0], all=counted[1]))
    return tuple(said)


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
    rows = [Row(say(f"cover.{name}"), stated(purpose, name)) for name in ("organisation", "recipient", "use")]
    about = [str(purpose.get(name, "")) for name in ("population", "period", "inclusion")]
    rows.append(Row(say("cover.about"), "; ".join(filter(None, about)) or say("words.not_stated")))
    rows.append(Row(say("cover.agreement"), stated(purpose, "agreement")))
    expires = str(purpose.get("expires", ""))
    rows.append(Row(say("cover.expires"), day(expires) if expires else say("words.not_stated")))
    rows.append(Row(say("cover.approver"), stated(purpose, "approver")))
    further = (("setting", stated), ("contact", stated), ("request_number", stated))
    rows += [Row(say(f"cover.{name}"), read(purpose, name)) for name, read in further if purpose.get(name)]
    if purpose.get("review"):
        rows.append(Row(say("cover.review"), day(str(purpose["review"]))))
    return rows


def _checked(evidence: PublicEvidence, kept: InternalEvidence | None) -> list[Row]:
    """Say who else looked at the release; inside also where nobody did, and whether the officer was heard."""
    checked = Row(say("cover.checker"), stated(evidence.purpose, "checker"))
    if kept is None:
        return [checked] if evidence.purpose.get("checker") else []
    return [checked, Row(say("cover.officer"), stated(kept.plan.get("purpose", {}), "officer"))]


def _what(evidence: PublicEvidence, kept: InternalEvidence | None) -> list[Row]:
    files = ", ".join(str(artefact["file"]) for artefact in evidence.artefacts)
    rows = [
        Row(say("cover.release_kind"), method_name(evidence), note=say("cover.files", files=files)),
        Row(say("cover.guarantee"), _kind(evidence)),
    ]
    status = promise_kind(evidence.promise.kind).status
    if status is not Status.BOUNDED:  # elsewhere the first sentence of the page says what is bounded
        rows.append(Row(say("cover.status"), say(f"cover.status_{status}")))
    bounded = evidence.promise.loss is not None
    if bounded:
        rows.append(Row(say("cover.unit"), unit_of(evidence)))
    paid = side(evidence.promise) == "bounded"
    if kept is None and paid:
        rows.append(Row(say("cover.total"), total(evidence.register)))
    elif kept is not None:
        rows += private.left(kept, paid=paid)
        rows += [*private.threshold(kept, evidence.promise), *private.assumption(kept)]
    made = Row(say("cover.made"), moment(evidence.made_at))
    return [*rows, made, Row(say("cover.bundle"), evidence.bundle_id, code=True)]


def _kind(evidence: PublicEvidence) -> Label:
    return Text(f"promises.{evidence.promise.kind}.name")


def total(register: Mapping[str, Any]) -> Text:
    """Say what all releases about these people have spent, where the custodian lets it be said."""
    if "epsilon_spent" not in register:
        return say("cover.total_silent")
    values = {
        "spent": plainly(float(exactly(register["epsilon_spent"]) or 0), up=True),
        "total": exactly(register["epsilon"]),
        "delta": exactly(register["delta"]),
        "releases": int(register["releases"]),
    }
    return say("cover.total_delta" if values["delta"] else "cover.total_value", **values)
