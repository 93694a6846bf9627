"""How each column should probably be marked, with the reason: proposals that a person confirms or changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from engine.progress import SILENT, Progress
from engine.table.code_lists import code_lists
from engine.table.column_words import DRUG, found_in, says, words
from engine.table.identifiers import recognise
from engine.table.profile import Profile, looks_like_dates, profile
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import DATE, INTEGER, Table

BAND = re.compile(
    r"[\[(]?\s*-?\d+(\.\d+)?\s*(-|–|,|to|bis)\s*-?\d+(\.\d+)?\s*[\])]?|[<>≤≥]=?\s*\d+(\.\d+)?|\d+\s*\+"
)
ICD10 = re.compile(r"[A-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?", re.IGNORECASE)
_SCALES = (
    ("low", "medium", "high"),
    ("none", "mild", "moderate", "severe"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("i", "ii", "iii", "iv", "v"),
)
FREE_TEXT = 40
_IDENTIFYING_LISTS = ("sex_", "age_", "eu_countries", "blood_groups")


@dataclass(frozen=True)
class Suggestion:
    """How one column should probably be marked.

    Parameters
    ----------
    column
        Its name.
    role, kind
        The proposal.
    reason, kind_reason
        Ids below ``suggestions.role`` and ``suggestions.kind`` in the texts.
    values
        The named values of both texts: counts, words of the name, names of code lists. No cell.
    domain, domain_origin
        ``copied`` from the rows, or a ``code_list``.
    missing
        Codes that probably stand for missing values.
    labels
        Value labels that came with the file or the code list.
    """

    column: str
    role: Role
    kind: Kind
    reason: str
    kind_reason: str
    values: Mapping[str, Any] = field(default_factory=dict)
    domain: Domain | None = None
    domain_origin: Origin | None = None
    missing: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    missing_origin: Origin | None = None

    def to_column(self) -> Column:
        """Return the column as a schema has it."""
        return Column(
            self.column,
            self.role,
            self.kind,
            self.domain,
            self.domain_origin,
            self.missing,
            dict(self.labels),
            self.missing_origin,
        )


def suggest(table: Table, *, progress: Progress = SILENT) -> tuple[Suggestion, ...]:
    """Suggest role, kind, domain and missing codes of every column.

    Parameters
    ----------
    table
        The table; its rows are read. The suggestions are internal.
    progress
        Told after every column.

    Returns
    -------
    tuple of Suggestion
        In the order of the columns. At most one is the person key.

    Notes
    -----
    Domains taken from the rows are marked ``copied``; no differentially private method accepts them. Missing
    codes seen in the rows are marked so too; they stay out of what leaves with a release.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"sex": ["F", "M", "F"], "age": [41, 50, 33]}))
    >>> [(item.column, item.role.value, item.kind.value, item.reason) for item in suggest(table)]
    [('sex', 'identifying', 'category', 'name'), ('age', 'identifying', 'integer', 'name')]
    """
    frame = table.rows()
    found: list[Suggestion] = []
    looked: list[Profile] = []
    for place, name in enumerate(table.names):
        progress.step(place / len(table.names), "table.suggest")
        looked.append(profile(table, name, frame[name]))
        found.append(_one(looked[-1], table))
    return _with_person_key(found, looked)


def suggested_schema(table: Table, *, progress: Progress = SILENT) -> Schema:
    """Return the suggestions as a schema, to be looked through."""
    return Schema(tuple(item.to_column() for item in suggest(table, progress=progress)))


def _one(looked: Profile, table: Table) -> Suggestion:
    kind, kind_reason = _kind(looked)
    role, reason, values = _role(looked, kind)
    values = {
        "rows": looked.n_rows,
        "filled": looked.filled,
        "different": looked.distinct,
        "odd": looked.odd,
        **values,
    }
    if role in (Role.DIRECT_IDENTIFIER, Role.DROPPED):
        kind, kind_reason = Kind.TEXT, "identifier"
    labels = dict(table.labels.get(looked.name, {}))
    if labels and kind in (Kind.INTEGER, Kind.NUMBER) and looked.distinct <= len(labels) + 2:
        kind, kind_reason = Kind.CATEGORY, "value_labels"
    domain, origin, listed = _domain(looked, kind)
    if listed:
        values["code_list"] = code_lists()[listed].title
        if kind in (Kind.INTEGER, Kind.TEXT, Kind.NUMBER):
            kind, kind_reason = Kind.CATEGORY, "code_list"
        labels = labels or dict(code_lists()[listed].labels)
        if role is Role.OTHER and listed == "dose_change":
            role, reason = Role.SENSITIVE, "code_list"
        elif role is Role.OTHER and listed.startswith(_IDENTIFYING_LISTS):
            role, reason = Role.IDENTIFYING, "code_list"
    said = set(table.missing.get(looked.name, ()))  # by the file itself, whatever its rows hold
    seen = Origin.COPIED if set(looked.missing) - said else None
    return Suggestion(
        looked.name, role, kind, reason, kind_reason, values, domain, origin, looked.missing, labels, seen
    )


def _kind(looked: Profile) -> tuple[Kind, str]:
    parts = words(looked.name)
    if looked.storage == DATE or looks_like_dates(looked):
        return Kind.DATE, "dates"
    if not looked.filled:
        return Kind.TEXT, "nothing_filled"
    if looked.numeric:
        code = bool(parts) and (parts[-1] in ("id", "code", "typ", "type", "cd") or "icd" in parts)
        if looked.whole and code and looked.distinct <= 200:
            return Kind.CATEGORY, "code_by_name"
        if looked.whole and looked.distinct <= 2:
            return Kind.CATEGORY, "two_values"
        if looked.odd:
            return Kind.INTEGER if looked.whole else Kind.NUMBER, "mostly_numbers"
        return (Kind.INTEGER, "whole_numbers") if looked.whole else (Kind.NUMBER, "numbers")
    if looked.all_match(BAND):
        return Kind.ORDINAL, "bands"
    if _scale(looked) is not None:
        return Kind.ORDINAL, "scale"
    if looked.values is not None and (looked.distinct <= 50 or looked.distinct * 5 <= looked.filled):
        return Kind.CATEGORY, "few_values"
    return Kind.TEXT, "many_values"


def _role(looked: Profile, kind: Kind) -> tuple[Role, str, dict[str, Any]]:
    name, parts = looked.name, words(looked.name)
    if not looked.filled:
        return Role.OTHER, "nothing_filled", {}
    identifier = recognise(looked.sample) if kind is not Kind.DATE and looked.longest >= 7 else None
    if identifier is not None and (looked.storage != INTEGER or looked.distinct > 20):
        return Role.DIRECT_IDENTIFIER, "identifier", {"identifier": identifier.id}
    if (direct := found_in(name, "direct")) and looked.distinct > 2 and not looked.all_match(BAND):
        return Role.DIRECT_IDENTIFIER, "direct_name", {"word": direct[1]}
    number = bool(parts) and (says(parts[-1], "number") or any(part in ("id", "nbr", "nr") for part in parts))
    if number and looked.unique:
        return Role.DIRECT_IDENTIFIER, "unique_number", {"word": parts[-1]}
    if looked.longest > FREE_TEXT and kind is Kind.TEXT:
        return Role.DROPPED, "free_text", {"length": looked.longest}
    if any(says(part, "weight") for part in (*parts, "".join(parts))) and looked.numeric:
        return Role.WEIGHT, "name", {"word": next(p for p in (*parts, "".join(parts)) if says(p, "weight"))}
    for group, role in (
        ("identifying", Role.IDENTIFYING),
        ("place", Role.PLACE),
        ("place_alone", Role.PLACE),
        ("sensitive", Role.SENSITIVE),
    ):
        if known := found_in(name, group):
            return role, "name", {"word": known[1], "meaning": known[0]}
    if any(DRUG.fullmatch(part) for part in parts):
        return Role.SENSITIVE, "drug_stem", {}
    if kind is Kind.DATE:
        return Role.TIME, "dates", {}
    if looked.unique and kind is Kind.TEXT:
        return Role.DIRECT_IDENTIFIER, "unique_text", {}
    if looked.unique and looked.whole and looked.filled >= 100 and min(map(len, looked.sample)) >= 6:
        return Role.DIRECT_IDENTIFIER, "unique_long_number", {}
    if (
        kind in (Kind.CATEGORY, Kind.TEXT)
        and not looked.numeric
        and looked.distinct > 5
        and looked.all_match(ICD10)
    ):
        return Role.SENSITIVE, "icd10_shape", {}
    return Role.OTHER, "nothing_known", {}


def _domain(looked: Profile, kind: Kind) -> tuple[Domain | None, Origin | None, str]:
    """Return the domain, where it comes from, and the code list if there is one."""
    listed = _code_list(looked)
    if listed and kind is not Kind.DATE:
        return Domain(code_list=listed), Origin.CODE_LIST, listed
    if kind is Kind.DATE and looked.storage == DATE and looked.low is not None:
        return Domain(looked.low.date().isoformat(), looked.high.date().isoformat()), Origin.COPIED, ""
    if kind in (Kind.INTEGER, Kind.NUMBER) and looked.low is not None and looked.low < looked.high:
        return Domain(Fraction(str(looked.low)), Fraction(str(looked.high))), Origin.COPIED, ""
    if kind in (Kind.CATEGORY, Kind.ORDINAL) and looked.values:
        return Domain(values=_ordered(looked, kind)), Origin.COPIED, ""
    return None, None, ""


def _code_list(looked: Profile) -> str:
    """Return the smallest code list that holds all values, where the list is clear or the name says so."""
    if not looked.values or len(looked.values) < 2:
        return ""
    parts = words(looked.name)
    about_sex = (found_in(looked.name, "identifying") or ("",))[0] == "sex"
    present = set(looked.values)
    fitting = []
    for name, entry in code_lists().items():
        if not present <= set(entry.codes):
            continue
        if name == "months" and not any(says(part, "month") for part in parts):
            continue
        if name.startswith("sex_") and len(next(iter(present))) == 1 and not about_sex:
            continue
        if name in ("eu_countries", "icd9_chapters", "icd10_chapters") and len(present) < 3:
            continue
        fitting.append((about_sex and not name.startswith("sex_"), len(entry.codes), name))
    return min(fitting)[2] if fitting else ""


def _scale(looked: Profile) -> tuple[str, ...] | None:
    present = {value.lower() for value in looked.values or ()}
    return next((scale for scale in _SCALES if len(present) > 1 and present <= set(scale)), None)


def _ordered(looked: Profile, kind: Kind) -> tuple[str, ...]:
    listed = list(looked.values or ())
    scale = _scale(looked)
    if scale is not None:
        return tuple(sorted(listed, key=lambda value: scale.index(value.lower())))
    if kind is Kind.ORDINAL or looked.numeric:
        return tuple(sorted(listed, key=_lower_bound))
    return tuple(listed)


def _lower_bound(value: str) -> tuple[float, int]:
    number = re.search(r"-?\d+(\.\d+)?", value)
    return float(number.group()) if number else 0.0, {"<": -1, "≤": -1, ">": 1, "≥": 1}.get(
        value.strip()[:1], 0
    )


def _with_person_key(found: list[Suggestion], looked: list[Profile]) -> tuple[Suggestion, ...]:
    """Mark the best candidate for the number of a person."""
    best, best_score = -1, 0.0
    for place, item in enumerate(looked):
        score = _person_score(item, found[place])
        if score > best_score:
            best, best_score = place, score
    if best >= 0:
        item, chosen = looked[best], found[best]
        repeats = item.distinct < item.filled
        person = any(says(part, "person") for part in words(item.name)) or best_score >= 3
        reason = ("person_key_repeats" if person else "repeats") if repeats else "person_key_unique"
        values = {**chosen.values, "people": item.distinct, "word": (words(item.name) or ("",))[-1]}
        found[best] = replace(
            chosen,
            role=Role.PERSON_KEY,
            kind=Kind.TEXT,
            reason=reason,
            kind_reason="identifier",
            values=values,
            domain=None,
            domain_origin=None,
            labels={},
        )
    return tuple(found)


def _person_score(looked: Profile, chosen: Suggestion) -> float:
    """Return how much a column looks like the number of a person; 0 for not at all."""
    parts = words(looked.name)
    if not looked.filled or looked.distinct < 2 or chosen.kind in (Kind.DATE, Kind.NUMBER):
        return 0.0
    numbered = any(says(part, "number") for part in parts)
    person = any(says(part, "person") for part in parts)
    joined = "".join(parts)
    short = re.fullmatch(r"(pat(ient)?|subj(ect)?|person|participant|p)_?(id|nr|no|nbr|num|key|code)", joined)
    if (person and numbered) or short:
        return 3.0 + looked.distinct / looked.filled * 0.5
    many = looked.distinct > 0.2 * looked.filled and looked.distinct > 10
    if chosen.reason == "identifier" and chosen.values.get("identifier") not in (
        "email",
        "phone",
        "web_address",
    ):
        return 2.0 if many else 0.0
    event = any(says(part, "event") for part in parts)
    if numbered and many and looked.distinct < looked.filled and not event and looked.longest >= 3:
        return 1.0
    return 0.0
