"""What every chapter uses: ids of texts, exact numbers, dates, words for who is protected."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from engine import texts
from engine.evidence import PublicEvidence
from engine.privacy.promise import WHOLE, Promise, Unit, promise_kind
from engine.protected import Protected
from engine.views import Cell, Label, Text


def say(name: str, /, **values: Any) -> Text:
    """Return a text of the report by its short id."""
    return Text(f"report.{name}", values)


def three(name: str, /, **values: Any) -> Text:
    """Return the id of the three texts of a number."""
    return say(f"numbers.{name}", **values)


def of_method(evidence: PublicEvidence, name: str) -> Text | None:
    """Return a text of the method by its short id, or None where the method has no such text."""
    text_id = f"methods.{evidence.method['id']}.{name}"
    return Text(text_id) if texts.has(text_id) else None


def of_form(evidence: PublicEvidence, name: str) -> Text | None:
    """Return what a method says of the form that was chosen: of this promise or choice, else of all.

    A method that can promise several things, or whose choices or steps change what leaves, has texts
    ``NAME_STEP``, ``NAME_KIND``, ``NAME_CHOICE`` or ``NAME_row`` beside ``NAME``; ``NAME_SETTING`` where a
    setting is switched on, and ``NAME_without_SETTING`` where a number of something is 0.
    """
    chosen = evidence.decided.get("parameters", {})
    choices = [
        one for name, one in chosen.items() if isinstance(one, str) and _is_choice(evidence, name, one)
    ]
    choices += [name for name, one in chosen.items() if one is True]
    choices += [f"without_{name}" for name, one in chosen.items() if one == 0 and not isinstance(one, bool)]
    row = ["row"] if evidence.promise.unit is Unit.ROW else []
    step = [evidence.decided["step"]] if evidence.decided.get("step") else []
    forms = (*step, evidence.promise.kind, *row, *choices)
    found = (of_method(evidence, f"{name}_{form}") for form in forms)
    return next((text for text in found if text is not None), None) or of_method(evidence, name)


def _is_choice(evidence: PublicEvidence, name: str, value: str) -> bool:
    """Whether a setting is one of some choices: a column or a name that reads like one is none."""
    step = evidence.decided.get("step")
    places = (f"steps.{step}.parameters.{name}", f"parameters.{name}")
    return any(of_method(evidence, f"{place}.choices.{value}") for place in places)


def method_name(evidence: PublicEvidence) -> Label:
    """Return what the method is called, in the form that was chosen."""
    return of_form(evidence, "title") or str(evidence.method["id"])


def place_of(evidence: PublicEvidence, place: str) -> Label:
    """Return the place in a publication in the words of a language, by fit or promise where these count."""
    base = f"places.methods.{evidence.method['id']}"
    for form in (evidence.decided.get("parameters", {}).get("fit", ""), evidence.promise.kind):
        found = texts.say_known(f"{base}.{form}", place) if form else place
        if not isinstance(found, str):
            return found
    return texts.say_known(base, place)


def of_promise(promise: Promise, name: str) -> Text | None:
    """Return a text of the kind of promise by its short id, or None where the kind has no such text."""
    text_id = f"promises.{promise.kind}.{name}"
    return Text(text_id, dict(promise.terms)) if texts.has(text_id) else None


def stated_or_not(values: Mapping[str, Any], name: str) -> Cell:
    """Return what the custodian said, or that nothing was said."""
    return str(values.get(name, "")).strip() or say("words.not_stated")


def side(promise: Promise) -> str:
    """Return which sentences hold: ``bounded``, ``unbounded``, or ``local`` where people changed answers."""
    if promise.loss is None:
        return "unbounded"
    return "local" if promise_kind(promise.kind).local else "bounded"


def unit_word(evidence: PublicEvidence) -> Label:
    """Return the word for who is protected: the custodian's own, else person or row."""
    said = str(evidence.decided.get("protected", ""))
    said = "" if said == Protected().one else said  # every language has its own word for it
    is_person = evidence.promise.unit is Unit.PERSON or bool(evidence.decided.get("one_row_each"))
    return said or say("words.person" if is_person else "words.row")


def of_rows(evidence: PublicEvidence) -> str:
    """Return the ending of texts about what was counted: rows where nobody said that each is another one."""
    is_person = evidence.promise.unit is Unit.PERSON or bool(evidence.decided.get("one_row_each"))
    return "" if is_person else "_row"


def unit_of(evidence: PublicEvidence) -> Text:
    """Say who is protected, and up to how many rows."""
    promise, word = evidence.promise, unit_word(evidence)
    if side(promise) == "local":
        return say("units.local")
    if promise.weighs:
        return say("units.person_all" if WHOLE in promise.assumptions else "units.person_whole", word=word)
    if promise.unit is Unit.PERSON and promise.rows_per_person == 1:
        return say("units.person_one", word=word)
    if promise.unit is Unit.PERSON:
        return say("units.person", word=word, count=promise.rows_per_person)
    return say("units.row_each", word=word) if evidence.decided.get("one_row_each") else say("units.row")


def declared_meaning(column: Mapping[str, Any]) -> str:
    """Return what the custodian says that a column means, with its unit; nothing where nothing was said.

    Examples
    --------
    >>> declared_meaning({"meaning": "Sugar in the blood", "unit": "mg/dl"}), declared_meaning({"unit": "kg"})
    ('Sugar in the blood (mg/dl)', 'kg')
    """
    meaning, unit = str(column.get("meaning", "")), str(column.get("unit", ""))
    return f"{meaning} ({unit})" if meaning and unit else meaning or unit


def named_with_meaning(column: Mapping[str, Any]) -> Cell:
    """Return a column with what the custodian says that it means; a unit alone stands in brackets.

    Examples
    --------
    >>> named_with_meaning({"name": "hba1c", "meaning": "Sugar in the blood", "unit": "mg/dl"}).values
    {'name': 'hba1c', 'level': 'Sugar in the blood (mg/dl)'}
    >>> named_with_meaning({"name": "age", "unit": "years"}), named_with_meaning({"name": "ward"})
    ('age (years)', 'ward')
    """
    name, said = str(column["name"]), declared_meaning(column)
    if said and not column.get("meaning"):
        return f"{name} ({said})"
    return say("words.named", name=name, level=said) if said else name


def whom_about(purpose: Mapping[str, Any]) -> Text:
    """Return whom a release is about, when, and who was taken in, or that none of it was stated."""
    about = [str(purpose[name]) for name in ("population", "period", "inclusion") if purpose.get(name)]
    return say("words.apart", all=about) if about else say("words.not_stated")


def day(written: str) -> Cell:
    """Return an ISO date as people write it; anything else as it stands."""
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return written
    return say("words.day", **_day(found))


def moment(written: str) -> Cell:
    """Return an ISO date and time as people write it, with its zone."""
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return written
    zone = found.tzname() or "UTC"
    return say("words.moment", **_day(found), hour=f"{found:%H}", minute=f"{found:%M}", zone=zone)


def _day(found: datetime) -> dict[str, Any]:
    return {"day": str(found.day), "month": say(f"months.m{found.month}"), "year": str(found.year)}
