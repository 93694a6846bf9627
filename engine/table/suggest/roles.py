"""Which role a column probably has, by its name and by what its cells look like, with the reason."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

from engine.table.code_lists import code_lists
from engine.table.schema import Kind, Role
from engine.table.suggest.column_words import (
    DRUG,
    counted_in_each,
    derive_meaning,
    found_in,
    says,
    short_or_compound,
    unit_of_time,
    words,
)
from engine.table.suggest.identifiers import recognise
from engine.table.suggest.people_named import PARTICLES, form_of_people, may_be_surnames
from engine.table.suggest.profile import Profile
from engine.table.table import INTEGER

BAND = re.compile(
    r"[\[(]?\s*-?\d+(\.\d+)?\s*(-|–|,|to|bis)\s*-?\d+(\.\d+)?\s*[\])]?|[<>≤≥]=?\s*\d+(\.\d+)?|\d+\s*\+"
)
_BOTH = ("poids", "wgt")  # the weight of a body, and that of a row in a survey
_HEAVIEST = 400
FREE_TEXT = 40
_CODES = ("cod", "kod")
"""Words for a number that says what something is, not who."""
_DIGITS = 5
"""Digits of numbers that are given to people and cases; wards and floors have fewer."""
_FEW_CODES, _HARDLY, _LONG_CODE = 3, 0.1, 8
"""Different codes at least, the share of filled cells that they are, and the signs of one with few digits."""
_DAY_OR_HOUR = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b|\d{1,2}[:.]\d\d")
_LONG_NUMBER = 6
"""Digits of numbers that are one's own where all are as long as each other."""
_CALENDAR = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])?")
_BEHIND_WORD = re.compile(r"([^\W\d_]+[-_/. ]?)\d{4,}")
_USER = re.compile(r"([^\W\d_][^\W\d_'’]+)[._-]?\d{1,4}")
_GROUPED = re.compile(r"\d{1,4}( \d{1,6}){1,6}")
_THOUSANDS = re.compile(r"\d{1,3}( \d{3})+")
_OF_PLACES = re.compile(r"zip|post|plz|[ck]od|geo|fips|insee|nuts|iris|tract|puma|kreis|gem")
"""What a name says that promises codes of places: those of post and offices."""
_NEARLY = 0.9
_PLATE = re.compile(r"[A-Z]{1,3}[ -]?[A-Z]{0,2}[ -]?\d{3,6}")
_FEW_NAMES = 5
FEW, MANY = 20, 100
MOST_WORDS = 50

Found = tuple[Role, str, dict[str, Any]]
"""A role, the id of its reason below ``suggestions.role``, and the values of that text."""

# What cells look like, whatever the column is called. Source of each form: the classification itself.
_FORMS = (
    ("icd10_shape", re.compile(r"[A-Z]\d[0-9AB](\.?[0-9A-Z]{1,4})?[+*!†]?")),
    ("atc_shape", re.compile(r"[A-V]\d{2}[A-Z]([A-Z](\d{2})?)?")),
    ("ops_shape", re.compile(r"[135689]-\d{2}[0-9a-z](\.[0-9a-z]{1,2})?")),
    ("ccam_shape", re.compile(r"[A-Z]{4}\d{3}")),
    ("loinc_shape", re.compile(r"\d{3,5}-\d")),
)
_MOMENT = re.compile(r"\d[-/.:T]\d|^\d{4}(\d{2,10})?\b")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_YEAR_FLAG = re.compile(r"(y|yr|year)_?(19|20)?\d\d")
_FEW_WORDS = ("age", "sex", "family")
"""What needs few words: a column "mother" with a hundred different texts holds names, not kinship."""
_NUMBERED = ("national_number", "record_number", "account", "phone", "licence", "device", "vehicle")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")
_STRONG = ("age", "sex", "birth", "origin")
"""What others know of a person before anything else; family, work and body give way to what is sensitive."""

_ROLES = {
    "identifying": Role.IDENTIFYING,
    "place": Role.PLACE,
    "place_alone": Role.PLACE,
    "sensitive": Role.SENSITIVE,
    "other": Role.OTHER,
    "unit": Role.OTHER,
}


def role_of(looked: Profile, kind: Kind) -> Found:
    """Return the role that a column probably has, and why.

    Parameters
    ----------
    looked
        The column in figures.
    kind
        How its values are to be read.

    Returns
    -------
    role
        `Role.NOT_RECOGNISED` where neither name nor cells say enough: a person has to answer.
    reason
        Its id below ``suggestions.role``.
    values
        Named values of the reason: words of the name, counts.

    Notes
    -----
    Texts and whole numbers that differ on every row are recognised as identifiers or asked, never taken for
    something else by their name alone. So are texts and long whole numbers that differ on most rows, unless
    they have the form of a classification: what hardly repeats may name somebody, whatever it is called.
    """
    kind = Kind.DATE if looked.all_match(_TIMESTAMP) else kind
    found = _direct(looked, kind) or _differing(looked, kind) or _by_name(looked, kind)
    found = found or _by_cells(looked, kind)
    named = _names_somebody(looked, kind, found) if found[0] in (*_STAYS, Role.NOT_RECOGNISED) else None
    # what is asked anyway is asked for its own reason, unless the cells say whom they name
    is_new = found[0] in _STAYS or found[1] == "nothing_known"
    if named and (is_new or named[0] is Role.DIRECT_IDENTIFIER):
        return named
    told = found[2].get("meaning") in _FEW_WORDS and not looked.numeric and looked.distinct > MOST_WORDS
    if told and kind is not Kind.DATE and not all(_MOMENT.search(value) for value in looked.sample):
        return Role.NOT_RECOGNISED, "too_many_words", {"word": found[2]["word"]}
    if found[0] in _STAYS and _nearly_all_differ(looked, kind):
        return Role.NOT_RECOGNISED, "nearly_all_differ", {}
    return found


_STAYS = (Role.SENSITIVE, Role.IDENTIFYING, Role.PLACE, Role.OTHER)


def _names_somebody(looked: Profile, kind: Kind, found: Found) -> Found | None:
    """Return what is said of cells that name people or may number them, where the name says else."""
    if kind is Kind.DATE or not looked.sample or _classified(looked):
        return None
    form = "" if looked.numeric else form_of_people(looked.sample)
    if form == "surnames" and found[0] is Role.PLACE:
        form = ""  # counties are called after people
    if form:
        return Role.DIRECT_IDENTIFIER, form, {}
    if not looked.numeric and may_be_surnames(looked.sample):
        return Role.NOT_RECOGNISED, "perhaps_surnames", {}
    parts = words(looked.name)
    joint = "".join(parts)
    if (says(joint, "somebody") or says(joint, "person")) and _are_proper_names(looked):
        return Role.NOT_RECOGNISED, "perhaps_named", {"word": joint}
    if found[0] is Role.PLACE:
        is_code = not _OF_PLACES.search(joint) and _coded(looked)
        return (Role.NOT_RECOGNISED, "coded", {}) if is_code else None
    shortest = min(_letters(value, digits=True) for value in looked.sample)
    is_long = shortest >= _DIGITS and (looked.whole or not looked.numeric)
    word = next((part for part in parts if says(part, "number")), "")
    if not word and len({len(value.removesuffix(".0")) for value in looked.sample}) == 1:
        # a name that says somebody, or what happened to them, and nothing else: "participant", "stay"
        word = next((joint for meaning in ("person", "event", "somebody") if says(joint, meaning)), "")
        is_long = looked.distinct >= _FEW_CODES and (is_long or (not looked.numeric and shortest >= 3))
    if word and not word.startswith(_CODES) and is_long:
        return Role.NOT_RECOGNISED, "perhaps_numbered", {"word": word}
    return (Role.NOT_RECOGNISED, "coded", {}) if _coded(looked) else None


def _are_proper_names(looked: Profile) -> bool:
    """Say whether cells are written as surnames are: words with a capital, and more than a few of them."""
    parts = [part for value in looked.sample for part in value.split() if part not in PARTICLES]
    named = (part.replace("'", "").isalpha() and part.lstrip("d'")[:1].isupper() for part in parts)
    return looked.distinct >= _FEW_NAMES and not looked.numeric and all(named)


def _classified(looked: Profile) -> bool:
    """Say whether cells have the form of a classification.

    One letter, the same everywhere, and nothing but digits behind it numbers people as well.
    """
    cells = [value.strip() for value in looked.sample]
    numbered = len({cell[:1] for cell in cells}) == 1 and all(cell[1:].isdigit() for cell in cells)
    return not numbered and any(looked.all_match(form) for _, form in _FORMS)


def _coded(looked: Profile) -> bool:
    """Say whether cells are long codes with digits that hardly repeat, as samples, keys and plates have."""
    if looked.distinct < max(_FEW_CODES, looked.filled * _HARDLY):
        return False
    cells = [value.strip() for value in looked.sample]
    if looked.numeric:
        return looked.whole and _are_long_numbers(cells)
    if _numbered_behind_one_word(cells) or _are_user_names(cells):
        return True
    return not _are_bands(looked, cells) and sum(map(_is_code, cells)) >= _NEARLY * len(cells)


def _are_long_numbers(cells: list[str]) -> bool:
    """Say whether whole numbers are as long as each other, not rounded and no days: measured ones differ."""
    plain = [cell.removesuffix(".0") for cell in cells]
    lengths = {len(cell) for cell in plain}
    if len(plain) < FEW or len(lengths) != 1 or min(lengths) < _LONG_NUMBER:
        return False
    is_day = all(_CALENDAR.fullmatch(cell) for cell in plain)
    return not is_day and sum(cell.endswith("0") for cell in plain) < len(plain) / 2


def _numbered_behind_one_word(cells: list[str]) -> bool:
    """Say whether all cells are the same letters before a number of four digits or more, as PAT-0815."""
    found = [_BEHIND_WORD.fullmatch(cell) for cell in cells]
    return len(cells) >= FEW and len({one and one[1] for one in found}) == 1 and found[0] is not None


def _are_user_names(cells: list[str]) -> bool:
    """Say whether cells begin with @, or are many words each with a number of its own behind it."""
    if all(cell.startswith("@") for cell in cells):
        return True
    found = [_USER.fullmatch(cell) for cell in cells]
    words_before = {one[1] for one in found if one}
    return len(cells) >= FEW and sum(map(bool, found)) >= _NEARLY * len(cells) < 2 * len(words_before)


def _are_bands(looked: Profile, cells: list[str]) -> bool:
    """Say whether cells are from and to, each band from elsewhere; 2023-00815 is the number of a case."""
    if not looked.all_match(BAND):
        return False
    begins = [re.split(r"\D", cell.lstrip("[(<>≤≥= "))[0] for cell in cells]
    return len(cells) < FEW or len(set(begins)) > len(begins) / 2


def _is_code(value: str) -> bool:
    if _GROUPED.fullmatch(value):
        return sum(map(str.isdigit, value)) > _LONG_CODE and not _THOUSANDS.fullmatch(value)
    if _DAY_OR_HOUR.match(value) or (" " in value and not _PLATE.fullmatch(value)):
        return False
    digits, letters = _letters(value, digits=True), _letters(value, digits=False)
    is_long = digits + letters >= _LONG_CODE or digits >= 4
    return digits >= _DIGITS or (digits >= 2 and letters >= 2 and is_long)


def _nearly_all_differ(looked: Profile, kind: Kind) -> bool:
    if kind is Kind.DATE or looked.distinct <= max(MANY, looked.filled // 2):
        return False
    if looked.numeric:
        return looked.whole and min(map(len, looked.sample)) >= 6
    return not all(_MOMENT.search(value) for value in looked.sample) and not _classified(looked)


def _direct(looked: Profile, kind: Kind) -> Found | None:
    name, parts = looked.name, words(looked.name)
    identifier = recognise(looked.sample) if kind is not Kind.DATE and looked.longest >= 7 else None
    if identifier is not None and (looked.storage != INTEGER or looked.distinct > FEW):
        return Role.DIRECT_IDENTIFIER, "identifier", {"identifier": identifier.id}
    direct = found_in(name, "direct") if kind is not Kind.DATE else None
    if direct is not None and direct[0] in _NUMBERED and looked.numeric and looked.longest < 4:
        direct = None  # counts, not numbers of people: "dni" is a document in Spanish and days in Polish
    if direct is not None and _tells_apart(looked, direct[0]) and not looked.all_match(BAND):
        return Role.DIRECT_IDENTIFIER, "direct_name", {"word": direct[1]}
    if looked.unique and looked.row_number:
        return Role.DIRECT_IDENTIFIER, "row_number", {}
    if (looked.longest > FREE_TEXT and kind is Kind.TEXT) or _is_written(looked, kind, parts):
        return Role.DROPPED, "free_text", {"length": looked.longest}
    return None if kind is Kind.DATE or (looked.numeric and not looked.whole) else _number(looked, parts)


def _tells_apart(looked: Profile, meaning: str) -> bool:
    """Say whether the cells may be what the name says, not only whether it is known: two are a yes and a no.

    Unless these are words or long numbers, as in a table about two people.
    """
    if looked.distinct > 2 or not looked.filled:
        return True
    shortest = min((_letters(value, digits=meaning != "name") for value in looked.sample), default=0)
    return shortest > 3 if meaning == "name" else shortest >= _DIGITS


def _letters(value: str, *, digits: bool) -> int:
    return sum(map(str.isdigit if digits else str.isalpha, value))


def _is_written(looked: Profile, kind: Kind, parts: tuple[str, ...]) -> bool:
    """Say whether cells that repeat are notes all the same: people write many of them in the same words."""
    is_named = any(says(part, "text") for part in (*parts, "".join(parts)))
    is_long = looked.longest > FREE_TEXT // 2 and looked.distinct > FEW
    return is_named and is_long and kind in (Kind.TEXT, Kind.CATEGORY) and not looked.numeric


def _number(looked: Profile, parts: tuple[str, ...]) -> Found | None:
    """Return what is said of numbers that somebody gave to people, cases or documents."""
    word = next((part for part in parts if says(part, "number")), "")
    person = next((part for part in parts if says(part, "person")), "")
    event = next((part for part in parts if says(part, "event")), "")
    code = word.startswith(_CODES)
    if word and not code and "".join(parts) == word and looked.distinct > FEW:
        return Role.DIRECT_IDENTIFIER, "numbered", {"word": word}
    if word and looked.unique:
        return Role.DIRECT_IDENTIFIER, "unique_number", {"word": word}
    if looked.longest < 3 or looked.distinct <= FEW:
        return None
    if word and looked.distinct > looked.filled // 2:
        return Role.DIRECT_IDENTIFIER, "many_numbers", {"word": word}
    if looked.distinct > MANY and ((word and (person or event)) or "".join(parts) in (person, event)):
        return Role.DIRECT_IDENTIFIER, "numbered", {"word": person or event}
    if (
        looked.all_match(_UUID)
        and not found_in(looked.name, "place_alone")
        and not found_in(looked.name, "sensitive")
    ):
        return Role.DIRECT_IDENTIFIER, "universal_number", {}
    return None


def _differing(looked: Profile, kind: Kind) -> Found | None:
    """Return what is said of texts and whole numbers that differ on every row."""
    if not looked.unique or kind is Kind.DATE or (looked.numeric and not looked.whole):
        return None
    if kind is Kind.TEXT:
        return Role.DIRECT_IDENTIFIER, "unique_text", {}
    shortest = min(map(len, looked.sample))
    if looked.whole and looked.filled >= 100 and shortest >= 6:
        return Role.DIRECT_IDENTIFIER, "unique_long_number", {}
    return Role.NOT_RECOGNISED, "differs_everywhere", {}


def _by_name(looked: Profile, kind: Kind) -> Found | None:
    if looked.numeric and kind is not Kind.DATE:
        # What is counted each week says what it is; the week says nothing about when.
        looked = replace(looked, name=counted_in_each(looked.name))
    name, parts = looked.name, words(looked.name)
    weight = next((part for part in (*parts, "".join(parts)) if says(part, "weight")), "")
    if weight and looked.numeric and _weighs(looked, parts):
        told = found_in(name, "identifying")
        meaning = "birth" if told and told[0] == "birth" else "body"
        return Role.IDENTIFYING, "name", {"word": weight, "meaning": meaning}
    if weight and looked.numeric:
        return Role.WEIGHT, "name", {"word": weight, "meaning": "weight"}
    birth = found_in(name, "identifying")
    if kind is Kind.DATE:
        return _say("identifying", birth) if birth and birth[0] == "birth" else (Role.TIME, "dates", {})
    if looked.distinct <= 2 and _YEAR_FLAG.fullmatch(name.lower()):
        return Role.TIME, "year_flag", {}
    if unit := (not looked.numeric and found_in(name, "unit")):
        return _say("unit", unit)
    return (
        _known(looked, "whole")
        or _strong(name)
        or _moment(looked)
        or _institution(looked, parts)
        or _known(looked, "word")
        or _known(looked, "stem")
        or ((Role.SENSITIVE, "drug_stem", {}) if any(DRUG.fullmatch(part) for part in parts) else None)
        or _perhaps(looked)
        or _length(looked)
    )


def _weighs(looked: Profile, parts: tuple[str, ...]) -> bool:
    """Say whether a word that means both is the weight of a body, not how many people a row stands for.

    The name says a unit or a birth, or the cells are whole numbers as a scale shows them.
    """
    if not any(part.startswith(_BOTH) for part in parts):
        return False
    if any(part in ("kg", "lb", "lbs", "pounds", "kilo", "kilos") for part in parts) or _says_birth(parts):
        return True
    return len(parts) == 1 and looked.whole and looked.low >= 1 and looked.high <= _HEAVIEST


def _says_birth(parts: tuple[str, ...]) -> bool:
    """Say whether a word of a name is about a birth."""
    found = (found_in(part, "identifying") for part in parts)
    return any(one is not None and one[0] == "birth" for one in found)


def _length(looked: Profile) -> Found | None:
    """Return what is said of a number of hours, days or months: how long something took."""
    word = unit_of_time(looked.name) if looked.numeric else ""
    return (Role.SENSITIVE, "name", {"word": word, "meaning": "duration"}) if word else None


def _known(looked: Profile, how: str) -> Found | None:
    for group in ("sensitive", "identifying", "place", "place_alone", "other"):
        found = found_in(looked.name, group, how)
        # A count of stays, or whether there was one, is no hospital.
        counted = (looked.numeric and looked.low == 0) or (looked.distinct <= 2 and looked.longest <= 3)
        if found and not (group == "place_alone" and looked.filled and counted):
            return _say(group, found)
    return None


def _strong(name: str) -> Found | None:
    for how in ("word", "stem"):
        found = found_in(name, "identifying", how)
        if found and found[0] in _STRONG:
            return _say("identifying", found)
    return None


def _moment(looked: Profile) -> Found | None:
    found = found_in(looked.name, "time")
    if found and looked.filled and _like_times(looked, found[0]):
        return Role.TIME, "name", {"word": found[1], "meaning": "time"}
    return None


def _institution(looked: Profile, parts: tuple[str, ...]) -> Found | None:
    """Return place for the number, name or area of an institution or of a professional."""
    found = found_in(looked.name, "place_alone", "word")
    named = any(part in ("name", "nom", "area") or says(part, "number") for part in parts)
    if found and (named or found_in(looked.name, "place", "word")):
        return _say("place_alone", found)
    return None


def _perhaps(looked: Profile) -> Found | None:
    """Return what a part of the name says: a compound, an abbreviation, a column made from another."""
    for group in ("sensitive", "identifying", "place"):
        if known := derive_meaning(looked.name, group):
            return _ROLES[group], "name_part", {"word": known[1], "meaning": known[0]}
    found = short_or_compound(looked.name, ("direct", "sensitive", "identifying", "place"))
    if found is None or (found[0] == "direct" and looked.distinct <= 2):
        return None
    if found[0] == "direct":
        return Role.DIRECT_IDENTIFIER, "direct_name", {"word": found[2]}
    return _ROLES[found[0]], "name_part", {"word": found[2], "meaning": found[1]}


def _say(group: str, known: tuple[str, str]) -> Found:
    return _ROLES[group], "name", {"word": known[1], "meaning": known[0]}


def _by_cells(looked: Profile, kind: Kind) -> Found:
    if not looked.filled:
        return Role.NOT_RECOGNISED, "nothing_filled", {}
    if kind is Kind.DATE:
        return Role.TIME, "dates", {}
    values = {value.casefold() for value in looked.values or ("",)}
    if looked.distinct > 1 and (values <= _sex_words() or values - {"d", "x"} in _SEX_LETTERS):
        return Role.IDENTIFYING, "sex_words", {}
    if _years(looked):
        return Role.TIME, "years", {}
    if (
        kind in (Kind.CATEGORY, Kind.TEXT)
        and not looked.numeric
        and looked.distinct > 5
        and _classified(looked)
    ):
        for reason, form in _FORMS:
            if looked.all_match(form):
                return Role.SENSITIVE, reason, {}
    return Role.NOT_RECOGNISED, "nothing_known", {}


_SEX_LETTERS = ({"f", "m"}, {"w", "m"})
"""Letters of the sexes whatever the name; beside them a third may stand, for those who are neither."""


@cache
def _sex_words() -> frozenset[str]:
    lists = (entry for name, entry in code_lists().items() if name.startswith("sex_"))
    return frozenset(code.casefold() for entry in lists for code in entry.codes if len(code) > 1)


def _like_times(looked: Profile, meaning: str) -> bool:
    """Say whether cells may be moments: years, days written out, or months and weeks of a calendar."""
    calendar = meaning == "calendar" and not (looked.numeric and unit_of_time(looked.name))
    if not looked.numeric:
        return calendar or all(_MOMENT.search(value) for value in looked.sample)
    if not looked.whole:
        return False
    low, high = looked.low, looked.high
    spans = [(1900, 2035), (19_000_000, 20_360_000), (190_000_000_000, 203_600_000_000)]
    spans += [(0, 99), (1800, 2300), (190_000, 203_600)] if calendar else []
    return any(least <= low <= high <= most for least, most in spans)


def _years(looked: Profile) -> bool:
    return looked.whole and looked.filled > 1 and looked.low >= 1900 and looked.high <= 2035
