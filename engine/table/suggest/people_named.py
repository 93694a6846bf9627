"""What cells look like that name people or where they live, whatever their column is called."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

FEWEST = 2
"""Different cells that have to look so: one may be a ward that is called after somebody."""
PARTICLES = ("von", "van", "de", "den", "der", "di", "du", "da", "del", "la", "le")
"""What stands in small letters within a surname."""
_SHARE = 1 / 3
"""Of the different cells: lists of given names hold a half of those that occur."""
_FEW_SURNAMES, _SOME_SURNAMES = 3, 1 / 8
"""Frequent surnames at least, and the share of the different cells from which on they may be surnames."""

_SAINT = re.compile(r"\b(st|ste|sankt|saint|sainte|san|santa|santo|sint|sao|heilig\w*|hl)\b")
_WORD = re.compile(r"[^\W\d_]+")
_TITLE = re.compile(
    r"(dr|prof|frau|herrn?|fr|hr|mme|mlle|monsieur|madame|mr|mrs|ms|miss|dhr|mevr|mevrouw|mw|sra?|don|dona"
    r"|docteur|doctor|sig|signora?)\b\.? ?([^\W\d_]{1,2}\. ?)*[^\W\d_]{2}"
)
_INITIALS = re.compile(r"([^\W\d_]\. ?)+[^\W\d_][^\W\d_'’. -]+([ '’-][^\W\d_]+)*")
_BEFORE_INITIAL = re.compile(r"[^\W\d_][^\W\d_'’]+([ '’-][^\W\d_]+)*,? ([^\W\d_]\. ?){1,2}")
_BARE_INITIALS = re.compile(r"([^\W\d_]\. ?){2,4}")
_BORN = re.compile(r"[ ,(*]+\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\)?$")
_COORDINATES = re.compile(r"[-+]?\d{1,3}\.\d{3,}°? ?[,;/ ] ?[-+]?\d{1,3}\.\d{3,}°?")
_STREET = (
    r"\w*(strasse|stra?t|str|weg|gasse|platz|allee|ring|damm|ufer|laan|plein|gracht|kade|dijk|steeg)\b\.?"
)
_RUE = (
    r"(rue|avenue|av|ave|boulevard|bd|place|chemin|route|rte|ruelle|sentier|impasse|quai|calle|c/|avenida"
    r"|avda|plaza|paseo|via|viale)"
)
_ROAD = r"(street|st|road|rd|avenue|ave|lane|drive|close|court|gardens|square)"
_ADDRESS = re.compile(
    rf"(.*\b)?{_STREET} ?\d+ ?[a-z]?\b.*|\d+ ?(bis|ter)?,? {_RUE}\b\.? .*|{_RUE}\b\.? .*\d.*"
    rf"|\d+ (\w+ ){{1,3}}{_ROAD}\b\.?.*|(\w+ ){{1,3}}{_ROAD}\b\.? \d+.*"
)


def form_of_people(sample: Iterable[str]) -> str:
    """Return what cells look like, or nothing where they look like none of these.

    That is ``titles``, ``initials``, ``addresses``, ``coordinates``, ``given_names`` or ``surnames``.

    Parameters
    ----------
    sample
        Different cells of a column of texts.

    Notes
    -----
    A third of the cells has to look so, and two at least. Initials are capitals before a capital: "E. coli"
    is nobody. Given names are those that are frequent in twelve languages and are no month, town or plain
    word; a saint's is the name of a house. So are surnames, which are no trade either; a column of others is
    not known by its cells alone.

    Examples
    --------
    >>> form_of_people(["Müller, Anna", "Weber, Peter", "Xu, Li"]), form_of_people(["Dr. Xu", "Dr. Wang"])
    ('given_names', 'titles')
    >>> form_of_people(["Lindenweg 4", "12 rue de la Paix"]), form_of_people(["St. Anna", "Chirurgie"])
    ('addresses', '')
    """
    written = list(sample)
    cells = [_plain(cell) for cell in written]
    tests = {
        "titles": lambda cell: _TITLE.match(cell) is not None,
        "coordinates": lambda cell: _COORDINATES.fullmatch(cell) is not None,
        "addresses": lambda cell: _ADDRESS.fullmatch(cell) is not None,
        "given_names": _has_given_name,
    }
    for form, looks_so in tests.items():
        count = sum(map(looks_so, cells))
        if count >= FEWEST and count >= _SHARE * len(cells):
            return form
    count = sum(map(_has_initials, written))
    if count >= FEWEST and count >= _SHARE * len(cells):
        return "initials"
    count = sum(map(_is_surname, cells))
    return "surnames" if count >= _FEW_SURNAMES and count >= _SHARE * len(cells) else ""


def may_be_surnames(sample: Iterable[str]) -> bool:
    """Say whether so many cells are frequent surnames that all may be surnames."""
    cells = [_plain(cell) for cell in sample]
    count = sum(map(_is_surname, cells))
    return count >= _FEW_SURNAMES and count >= _SOME_SURNAMES * len(cells)


def _has_initials(cell: str) -> bool:
    """Say whether a name stands behind or before initials, or these alone, all with capitals."""
    cell = cell[:200].strip()
    found = any(form.fullmatch(cell) for form in (_INITIALS, _BEFORE_INITIAL, _BARE_INITIALS))
    words = (word for word in _WORD.findall(cell) if word not in PARTICLES)
    return found and all(word[:1].isupper() for word in words)


def _plain(cell: str) -> str:
    parts = unicodedata.normalize("NFKD", cell[:200].strip().replace("ß", "ss").casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def _has_given_name(cell: str) -> bool:
    words = _WORD.findall(cell)
    is_short = len(words) <= 5 and not any(sign.isdigit() for sign in cell)
    return is_short and not _SAINT.search(cell) and any(word in _listed("given_names") for word in words)


def _is_surname(cell: str) -> bool:
    """Say whether a cell is a surname that is frequent, or two of them, or one with a day of birth."""
    words = _WORD.findall(_BORN.sub("", cell).replace("'", "").replace("’", ""))
    if not 1 <= len(words) <= 3 or any(sign.isdigit() for sign in _BORN.sub("", cell)):
        return False
    known = [word for word in words if word in _listed("surnames") or word in _listed("given_names")]
    return len(words) - len(known) <= (len(words) > 1) and bool(known) and not _SAINT.search(cell)


@cache
def _listed(name: str) -> frozenset[str]:
    path = files("resources") / "code_lists" / "names" / f"{name}.toml"
    tree = tomllib.loads(path.read_text("utf-8"))
    return frozenset(name for listed in tree.values() for name in listed.split())
