"""How each column should probably be marked, with the reason: proposals that a person confirms or changes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from engine.progress import SILENT, Progress
from engine.table.code_lists import CodeList, code_list, code_lists
from engine.table.schema import MOST_LETTERS, Column, Domain, Kind, Origin, Role, Schema
from engine.table.suggest.column_words import found_in, says, stem_of_series, words
from engine.table.suggest.keys import key_candidates
from engine.table.suggest.profile import MOST_VALUES, Profile, looks_like_dates, profile
from engine.table.suggest.roles import BAND, role_of
from engine.table.table import DATE, Table

_SCALES = (
    ("low", "medium", "high"),
    ("none", "mild", "moderate", "severe"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("i", "ii", "iii", "iv", "v"),
)
_TELLING_LISTS = {
    "dose_change": Role.SENSITIVE,
    "blood_groups": Role.SENSITIVE,
    "readmission_within_30_days": Role.SENSITIVE,
    "age_bands_of_ten": Role.IDENTIFYING,
    "eu_countries": Role.PLACE,
}
"""Code lists whose values say what a column is about, whatever its name."""

_ENOUGH, _NEARLY_ALL = 20, 0.975
"""Filled cells from which on a column may tell people apart, and the share of them with a value of its own.

So many that at least 95 of 100 values are one row's alone (`engine.release.naming.NEARLY_ALL`)."""
CONFIRMED = (
    Role.NOT_RECOGNISED,
    Role.DIRECT_IDENTIFIER,
    Role.IDENTIFYING,
    Role.PERSON_KEY,
    Role.PLACE,
    Role.TIME,
    Role.WEIGHT,
    Role.DROPPED,
)
"""What is never taken silently: nobody knows it, or it decides who can be recognised and what is left out."""


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
        ``copied`` from the rows; never a code list, which somebody has to confirm.
    missing
        Codes that probably stand for missing values.
    labels
        Value labels that came with the file.
    missing_origin
        ``copied`` where the missing codes were seen in the rows.
    proposals
        Code lists that hold all values, with the count of each meaning.
    differs_everywhere
        Whether every filled cell has a value of its own.
    alike
        The same text for columns that look alike, empty where none does.
    meaning
        The longer name that the file gives the column.
    differs_nearly
        Whether so many filled cells have a value of their own that the column leaves no rows as it stands
        without a reason, whoever they are of.
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
    proposals: tuple[Proposal, ...] = ()
    differs_everywhere: bool = False
    alike: str = ""
    meaning: str = ""
    differs_nearly: bool = False

    @property
    def asked(self) -> bool:
        """Whether a person has to answer or confirm it before anything is released."""
        return self.role in CONFIRMED or self.differs_everywhere

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
            meaning=self.meaning,
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
    looked: list[Profile] = []
    for place, name in enumerate(table.names):
        progress.step(place / len(table.names), "table.suggest")
        looked.append(profile(table, name, frame[name]))
    found = suggest_from(looked, labels=table.labels, declared_missing=table.missing)
    found = _with_counted_key(table, found)
    titles = {name: " ".join(title.split())[:MOST_LETTERS] for name, title in table.titles.items()}
    return tuple(replace(one, meaning=titles.get(one.column, "")) for one in found)


def suggest_from(
    looked: Sequence[Profile],
    *,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    declared_missing: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[Suggestion, ...]:
    """Suggest how columns should be marked from their figures alone.

    Parameters
    ----------
    looked
        The columns of one table in figures.
    labels
        Value labels that came with the file, by column.
    declared_missing
        Missing codes that the file itself declares, by column.

    Returns
    -------
    tuple of Suggestion
        In the order of the columns.
    """
    found = [
        _one(one, (labels or {}).get(one.name, {}), (declared_missing or {}).get(one.name, ()))
        for one in looked
    ]
    return _alike(_with_person_key(found, looked), looked)


def suggested_schema(table: Table, *, progress: Progress = SILENT) -> Schema:
    """Return the suggestions as a schema, to be looked through."""
    return Schema(tuple(item.to_column() for item in suggest(table, progress=progress)))


def _one(looked: Profile, labels: Mapping[str, str], declared_missing: tuple[str, ...]) -> Suggestion:
    kind, kind_reason = _kind(looked)
    listed = proposals(looked) if kind is not Kind.DATE else ()
    role, reason, values = role_of(looked, kind)
    values = {
        "rows": looked.n_rows,
        "filled": looked.filled,
        "different": looked.distinct,
        "odd": looked.odd,
        **values,
    }
    if role in (Role.DIRECT_IDENTIFIER, Role.DROPPED):
        kind, kind_reason, listed = Kind.TEXT, "identifier", ()
    if labels and kind in (Kind.INTEGER, Kind.NUMBER) and looked.distinct <= len(labels) + 2:
        kind, kind_reason = Kind.CATEGORY, "value_labels"
    if listed:
        values["code_list"] = code_list(listed[0].code_list).named()
        if kind in (Kind.INTEGER, Kind.TEXT, Kind.NUMBER):
            kind, kind_reason = Kind.CATEGORY, "code_list"
        if role is Role.NOT_RECOGNISED and listed[0].code_list in _TELLING_LISTS:
            role, reason = _TELLING_LISTS[listed[0].code_list], "code_list"
    domain = _domain(looked, kind)
    return Suggestion(
        looked.name,
        role,
        kind,
        reason,
        kind_reason,
        values,
        domain,
        Origin.COPIED if domain is not None else None,
        looked.missing,
        dict(labels),
        Origin.COPIED if set(looked.missing) - set(declared_missing) else None,  # not said by the file itself
        listed,
        looked.unique,
        differs_nearly=looked.filled >= _ENOUGH and looked.distinct >= _NEARLY_ALL * looked.filled,
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
    if looked.distinct <= MOST_VALUES and (looked.distinct <= 50 or looked.distinct * 5 <= looked.filled):
        return Kind.CATEGORY, "few_values"
    return Kind.TEXT, "many_values"


def _domain(looked: Profile, kind: Kind) -> Domain | None:
    if kind is Kind.DATE and looked.storage == DATE and looked.low is not None:
        return Domain(looked.low.date().isoformat(), looked.high.date().isoformat())
    if kind in (Kind.INTEGER, Kind.NUMBER) and looked.low is not None and looked.low < looked.high:
        return Domain(Fraction(str(looked.low)), Fraction(str(looked.high)))
    if kind in (Kind.CATEGORY, Kind.ORDINAL) and looked.values:
        return Domain(values=_order(looked, kind))
    return None


def _scale(looked: Profile) -> tuple[str, ...] | None:
    present = {value.lower() for value in looked.values or ()}
    return next((scale for scale in _SCALES if len(present) > 1 and present <= set(scale)), None)


def _order(looked: Profile, kind: Kind) -> tuple[str, ...]:
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


def _with_counted_key(table: Table, found: tuple[Suggestion, ...]) -> tuple[Suggestion, ...]:
    """Mark the number of a person that no name gives away, where the rows of each say who people are."""
    if any(one.role is Role.PERSON_KEY for one in found):
        return found
    told = {one.column for one in found if one.role is Role.IDENTIFYING}
    counted = [one for one in key_candidates(table, found) if one.repeats and told & set(one.constant)]
    if not counted:
        return found
    best = counted[0]
    return tuple(
        _as_key(one, "counted", people=best.people, others=len(best.constant))
        if one.column == best.column
        else one
        for one in found
    )


def _as_key(chosen: Suggestion, reason: str, **values: Any) -> Suggestion:
    """Return a suggestion that the column tells whose a row is."""
    return replace(
        chosen,
        role=Role.PERSON_KEY,
        kind=Kind.TEXT,
        reason=reason,
        kind_reason="identifier",
        values={**chosen.values, **values},
        domain=None,
        domain_origin=None,
        labels={},
        proposals=(),
        alike="",
    )


def _with_person_key(found: list[Suggestion], looked: Sequence[Profile]) -> list[Suggestion]:
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
        word = (words(item.name) or ("",))[-1]
        found[best] = _as_key(chosen, reason, people=item.distinct, word=word)
    return found


def _alike(found: list[Suggestion], looked: Sequence[Profile]) -> tuple[Suggestion, ...]:
    """Say which columns look alike: numbered names of one measurement, or the same values.

    Notes
    -----
    A member of a series that nobody recognises alone, because it is empty for instance, follows the others.
    """
    series = [(stem_of_series(item.column), item.kind) for item in found]
    texts = [one.values if one.values and not one.numeric and one.distinct > 1 else None for one in looked]
    groups: dict[str, list[int]] = {}
    for place, item in enumerate(found):
        if item.role in (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER):
            continue
        if series[place][0] and series.count(series[place]) > 1:
            key = "series:" + series[place][0]
        elif item.proposals:
            key = "list:" + item.proposals[0].code_list
        elif texts[place] is not None and texts.count(texts[place]) > 1:
            key = f"values:{texts.index(texts[place])}"
        else:
            continue
        groups.setdefault(f"{key}:{item.kind}", []).append(place)
    for key, places in groups.items():
        if len(places) < 2:
            continue
        first = next((found[place] for place in places if found[place].role is not Role.NOT_RECOGNISED), None)
        for place in places:
            found[place] = replace(found[place], alike=key)
            if first is not None and key.startswith("series:") and found[place].role is Role.NOT_RECOGNISED:
                values = {**found[place].values, "other": first.column}
                found[place] = replace(found[place], role=first.role, reason="series", values=values)
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
    # Numbers that a hospital gives a patient for good: IPP in France, MRN in English, NHC in Spanish.
    lasting = joined in ("ipp", "mrn", "nhc") and looked.whole and looked.distinct < looked.filled
    if (person and numbered) or short or lasting:
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


# --- code lists that a column may follow -----------------------------------------------------------------
# With the count of each meaning: to be confirmed, not taken.


_NO_YES_OR_NO = ("sex", "origin", "age", "birth", "place")
"""What such a column says is never a yes or a no: 1 may be one sex or one origin as well as the other."""

_FEWEST = {"eu_countries": 3, "icd9_chapters": 3, "icd10_chapters": 3}


@dataclass(frozen=True)
class Proposal:
    """A code list that holds every value of a column.

    Parameters
    ----------
    code_list, title
        Id and title of the list.
    meanings
        Code, meaning and number of rows, for every code that the column has. Internal: counts of rows.
    plain
        Whether every code that occurs is its own meaning, as "Female": then the list asserts nothing new.
    """

    code_list: str
    title: str
    meanings: tuple[tuple[str, str, int], ...]
    plain: bool


def proposals(looked: Profile) -> tuple[Proposal, ...]:
    """Return the code lists that a column may follow, the likeliest first.

    Notes
    -----
    All values of the column must be in the list. A column of 0 and 1 fits ISO/IEC 5218 ("not known", "male")
    by accident and is never proposed as such; one that tells sex or origin is never a yes or a no.

    Examples
    --------
    >>> from engine.table.suggest.profile import Profile
    >>> looked = Profile("smokes", "text", 9, 9, 2, values=("no", "yes"), counts=(("no", 5), ("yes", 4)))
    >>> proposals(looked)[0].meanings
    (('yes', 'yes', 4), ('no', 'no', 5))
    """
    if not looked.values or len(looked.values) < 2:
        return ()
    about = (found_in(looked.name, "identifying") or ("",))[0]
    fitting = [entry for entry in code_lists().values() if _fits(entry, looked, about)]
    fitting.sort(key=lambda entry: (about == "sex" and not entry.id.startswith("sex_"), len(entry.codes)))
    return tuple(_proposal(entry, dict(looked.counts)) for entry in fitting)


def _fits(entry: CodeList, looked: Profile, about: str) -> bool:
    present = set(looked.values or ())
    if not present <= set(entry.codes) or len(present) < _FEWEST.get(entry.id, 2):
        return False
    if entry.id == "months":
        return any(says(part, "month") for part in words(looked.name))
    if entry.id == "zero_one":
        return about not in _NO_YES_OR_NO
    if entry.id == "sex_iso_5218":
        return about == "sex" and "2" in present
    if entry.id.startswith("sex_") and max(map(len, present)) == 1:
        return about == "sex"
    return True


def _proposal(entry: CodeList, counts: dict[str, int]) -> Proposal:
    meanings = tuple(
        (code, entry.labels[code], counts.get(code, 0)) for code in entry.codes if code in counts
    )
    plain = all(code.casefold() == meaning.casefold() for code, meaning, _ in meanings)
    return Proposal(entry.id, entry.title, meanings, plain)
