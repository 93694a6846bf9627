"""Id + named values → a sentence, in the chosen language. The one module that makes words for people.

Texts are TOML below ``resources/texts/LANG/``. An id is the path of the file and of the key, joined by
dots: ``errors.table.empty_file.what`` is the key ``what`` of ``[empty_file]`` in
``resources/texts/en/errors/table.toml``. A method or measure keeps all its texts in one file named after
its own id (dots and all): ``resources/texts/en/methods/statistics.counts.toml``.

``{name}`` is a value that whoever asks for the text gives. ``{@person}``, ``{@people}`` and ``{@a person}``
are the custodian's words for who is protected (`engine.protected`): `speaking` says which for the time of a
call, `speak` for the whole process.

A number and what it counts agree: ``{count:row|rows}`` is "1 row" or "2 rows", and ``{count:|is|are}`` the
word alone, for what stands elsewhere in the sentence; a language with more plurals names more forms, in the
order of its rule (`engine.languages`). ``{values:quoted}`` is a list of values that somebody declared or
wrote, each in the quotation marks of the language. What a language does not say yet is said in English, and
`untold` says which.
"""

from __future__ import annotations

import math
import re
import string
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from fractions import Fraction
from functools import cache
from importlib.resources.abc import Traversable
from typing import Any

from engine import languages as manners
from engine.errors import EngineError
from engine.protected import Protected
from engine.views import Label, Text

FALLBACK = manners.ENGLISH
SMALLEST_WRITTEN = 1e-12  # below, a number is written with its power of ten
CHOICE = "|"  # between the word for one and the word for several
QUOTED = "quoted"
DAY = "day"
APART = "apart"  # a list of what may hold commas itself
_EITHER = re.compile(r"\[\[([^|\]]*)\|(.*?)\]\]")  # what the window says, and what the command line says
MOST_QUOTED = 8
"""Values that a sentence names: more are cut, with a sign that says so."""
PROTECTED = "@"  # begins the places of the words for who is protected

_spoken: ContextVar[Protected | None] = ContextVar("spoken", default=None)
_always = Protected()


def speak(protected: Protected) -> None:
    """Use these words for who is protected from now on, in every thread that does not say others."""
    global _always
    _always = protected


@contextmanager
def speaking(protected: Protected) -> Iterator[None]:
    """Use these words for who is protected while this lasts, in this thread."""
    token = _spoken.set(protected)
    try:
        yield
    finally:
        _spoken.reset(token)


def spoken() -> Protected:
    """Return the words for who is protected that are in use."""
    return _spoken.get() or _always


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}.")
        elif entry.name.endswith(".toml") and entry.name != manners.MANNERS:
            yield prefix + entry.name.removesuffix(".toml"), entry


def _flatten(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


@cache
def _places(language: str) -> Mapping[str, Traversable]:
    """Return the file of every beginning of an id."""
    return dict(_files(manners.texts_folder() / language, ""))


@cache
def _of_file(language: str, beginning: str) -> Mapping[str, str]:
    """Return the texts of one file by their full ids: a command reads the few files of which it speaks."""
    tree = tomllib.loads(_places(language)[beginning].read_text(encoding="utf-8"))
    return dict(_flatten(tree, f"{beginning}."))


@cache
def _first_of_file(language: str, beginning: str) -> Mapping[str, str]:
    """Return the texts of one file that stand before its first heading: titles are listed of every file."""
    whole = _places(language)[beginning].read_text(encoding="utf-8")
    first = tomllib.loads(f"\n{whole}".partition("\n[")[0])
    return {f"{beginning}.{key}": value for key, value in first.items() if isinstance(value, str)}


def _find(text_id: str, language: str) -> str | None:
    beginning = text_id
    while "." in beginning:  # names of files have dots too: the longest that is one
        beginning, _, name = beginning.rpartition(".")
        if beginning in _places(language):
            is_first = text_id == f"{beginning}.{name}"
            read = _first_of_file if is_first else _of_file
            if text_id in read(language, beginning):
                return read(language, beginning)[text_id]
    return None


@cache
def catalogue(language: str = FALLBACK) -> Mapping[str, str]:
    """Return every text of a language by its full id.

    Examples
    --------
    >>> "errors.plan.newer_version.what" in catalogue("en")
    True
    """
    every = (_of_file(language, beginning).items() for beginning in _places(language))
    return {text_id: sentence for texts_of_file in every for text_id, sentence in texts_of_file}


@cache
def untold(language: str) -> tuple[str, ...]:
    """Return the ids of what a language does not say itself, so that it is said in English.

    Examples
    --------
    >>> untold("en")
    ()
    """
    return tuple(sorted(catalogue(FALLBACK).keys() - catalogue(language).keys()))


@cache
def languages() -> tuple[str, ...]:
    """Return the languages in which everything is said, the fallback first.

    A folder may also hold single files alone, as those of what people who answer a survey read.
    """
    folders = manners.texts_folder().iterdir()
    found = {entry.name for entry in folders if entry.is_dir() and (entry / "errors").is_dir()}
    return (FALLBACK, *sorted(found - {FALLBACK}))


def has(text_id: str, *, language: str = FALLBACK) -> bool:
    """Say whether a text exists."""
    return _find(text_id, language) is not None


def pattern(text_id: str) -> str | None:
    """Return an English text before anything is filled in, None where there is none; only its file is read.

    Examples
    --------
    >>> pattern("errors.no_such_thing.what") is None
    True
    """
    return _find(text_id, FALLBACK)


def of_file(name: str, *, language: str = FALLBACK) -> Mapping[str, str]:
    """Return every text of one file before anything is filled in, by its full id; no other file is read.

    Examples
    --------
    >>> "verify_page.title" in of_file("verify_page")
    True
    """
    return _of_file(language, name)


def text(text_id: str, *, language: str = FALLBACK, **values: Any) -> str:
    """Return the sentence of an id with its named values filled in.

    Parameters
    ----------
    text_id
        Full id, for instance ``"errors.table.empty_file.what"``.
    language
        Two-letter code; a missing text falls back to English.
    **values
        Named values. Numbers are formatted by `number`, a `Text` by its own sentence, a list by each of its
        items; anything else by `str`.

    Raises
    ------
    KeyError
        The id or one of the placeholders does not exist: a mistake of the developer, found by the tests.
    """
    return _fill(*_pattern(text_id, language), values)


def _fill(pattern: str, language: str, values: Mapping[str, Any]) -> str:
    return _Filler(manners.find(language)).vformat(pattern, (), values)


def say_unit(unit: str, language: str) -> str:
    """Return a unit, which evidence names in English, in the words of a language; an unknown one as it is.

    Examples
    --------
    >>> say_unit(" rows", "en"), say_unit("mmol/l", "en"), say_unit("/ 4259", "en")
    (' rows', 'mmol/l', '/ 4,259')
    """
    plain, blank = unit.strip(), unit[: len(unit) - len(unit.lstrip())]
    if not plain or (language == FALLBACK and plain.isalpha()):
        return unit
    for name, pattern in _of_file(FALLBACK, "units").items():
        values = {place: f"(?P<{place}>[0-9]+)" for place in placeholders(pattern)}
        found = re.fullmatch(_fill(pattern, FALLBACK, values), plain)
        if found:
            numbers = {place: int(digits) for place, digits in found.groupdict().items()}
            return blank + text(name, language=language, **numbers)
    return unit


def say_known(text_id: str, written: str) -> Label:
    """Return what a file of the program says in English as a text of every language.

    Where evidence or a file that somebody edited says something else, that stays as it is written.

    Examples
    --------
    >>> text(say_known("places.methods.statistics.counts", "example 3, histograms").id, language="de")
    'Beispiel 3, Histogramme'
    >>> say_known("places.methods.statistics.counts", "example 9")
    'example 9'
    """
    return Text(text_id) if has(text_id) and text(text_id) == written else written


def say_cells(label: str, language: str) -> str:
    """Return a label with the cells that a table has beside its declared values in the words of a language.

    Files name them in English, whatever the language: ``(missing)``, ``(other)``, ``(all)``. Behind the name
    of their column, too, and among the places of a way.

    Examples
    --------
    >>> say_cells("f · (missing)", "en"), say_cells("f · (missing)", "de"), say_cells("((other))", "de")
    ('f · (missing)', 'f · (fehlt)', '((other))')
    >>> say_cells("sex: f · ward: (missing)", "de")
    'sex: f · ward: (fehlt)'
    >>> say_cells("ward A → (other or missing) → ward B", "de")
    'ward A → (sonstige oder fehlt) → ward B'
    """
    if language == FALLBACK or "(" not in label:
        return label
    said = []
    for part in re.split("( · | → )", label):
        column, colon, cell = part.rpartition(": ")
        known = _CELLS.get(cell)
        said.append(part if known is None else f"{column}{colon}{text(known.id, language=language)}")
    return "".join(said)


_CELLS = {
    f"({name.replace('_', ' ')})": Text(f"views.cells.{name}")
    for name in ("missing", "other", "other_or_missing", "all")
}


def _pattern(text_id: str, language: str, *, in_window: bool = False) -> tuple[str, str]:
    """Return a sentence and the language that it is in, by whose manners it is filled in."""
    for spoken_in in (language, FALLBACK):
        sentence = _find(text_id, spoken_in)
        if sentence is not None:
            if "[[" in sentence:
                sentence = _EITHER.sub(lambda found: found[1 if in_window else 2], sentence)
            return sentence, spoken_in
    raise KeyError(text_id)


def placeholders(pattern: str) -> frozenset[str]:
    """Return the names in braces of a text, without the places of the words for who is protected.

    Examples
    --------
    >>> sorted(placeholders("Row {row}, column {column}"))
    ['column', 'row']
    """
    named = (name for _, name, _, _ in string.Formatter().parse(pattern) if name)
    return frozenset(name for name in named if not name.startswith(PROTECTED))


def explain(error: EngineError, *, language: str = FALLBACK) -> tuple[str, str]:
    """Return what happened and what to do, both as sentences.

    Errors and `Problem`s of methods both have a ``code`` and ``values``; a code of a method
    (``statistics.counts.too_many_cells``) finds its text in the method's own file.
    """
    return sentences(error.code, error.values, language=language)


def explain_in_one(error: EngineError, *, language: str = FALLBACK) -> str:
    """Return what happened and what to do as one sentence, for a line of a terminal.

    In English: no capital is lowered where another language would write one.

    Examples
    --------
    >>> from engine.errors import InputRefused
    >>> explain_in_one(InputRefused("schema.not_json", file="Dr. No.json"))[:52]
    'Dr. No.json is not a schema in JSON; check that the '
    """
    base = _base(error.code)
    parts = [_pattern(f"{base}.{part}", language) for part in ("what", "do")]
    if any(spoken_in != FALLBACK for _, spoken_in in parts):
        return " ".join(_fill(*part, error.values) for part in parts)
    whole = " ".join(pattern for pattern, _ in parts)
    joined = re.sub(r"[.?!] (?=[A-Z“{])(.)(?=(.))", _joint, whole)
    return _fill(joined, FALLBACK, error.values)


def _joint(found: re.Match[str]) -> str:
    begins = found[1].lower() if found[2].islower() else found[1]  # “JSON” stays as it is
    return f"; {begins}"


def sentences(
    code: str, values: Mapping[str, Any], *, language: str = FALLBACK, in_window: bool = False
) -> tuple[str, str]:
    """Return the pair (what, do) of an error or problem code.

    ``in_window`` where nobody types commands: of ``[[this|--that]]`` in a text the first part is said then.

    Examples
    --------
    >>> [sentences("price.no_error", {"mechanism": "m"}, in_window=one)[1] for one in (True, False)]
    ['Leave “largest error” out.', 'Leave --max-error out.']
    """
    base = _base(code)
    what, do = (
        _fill(*_pattern(f"{base}.{part}", language, in_window=in_window), values) for part in ("what", "do")
    )
    return what, do


def _base(code: str) -> str:
    if has(f"errors.{code}.what", language=FALLBACK):
        return f"errors.{code}"
    area, _, name = code.rpartition(".")
    return f"methods.{area}.problems.{name}"


def number(value: float | int | Fraction, *, digits: int = 6, language: str = FALLBACK) -> str:
    """Write a number for people: thousands separated, no more digits than it carries.

    Examples
    --------
    >>> number(74434.41), number(4259), number(0.5), number(0.0001234)
    ('74,434.41', '4,259', '0.5', '0.0001234')
    >>> number(74434.41, language="de"), number(-187.9)
    ('74.434,41', '−187.9')
    """
    if isinstance(value, float) and math.isnan(value):
        return text("report.words.not_a_number", language=language)
    written = _number(value, digits)
    return manners.find(language).sign_number(written.replace("-", "−", 1) if value < 0 else written)


def _number(value: float | int | Fraction, digits: int) -> str:
    if isinstance(value, Fraction):
        value = int(value) if value.denominator == 1 else float(value)
    if isinstance(value, int):
        return f"{value:,}"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1000:
        written = f"{value:,.2f}"
        return written.rstrip("0").rstrip(".")
    if abs(value) >= 1e-4 or value == 0:
        return f"{value:.{digits}g}"
    if abs(value) < SMALLEST_WRITTEN:
        return f"{value:.3g}"
    places = 2 - math.floor(math.log10(abs(value)))
    return f"{value:.{places}f}".rstrip("0")


def percent_up(share: float, *, language: str = FALLBACK) -> str:
    """Return a share as a percentage with one decimal, rounded up: an upper bound stays one.

    What is less than all is not said to be all: it gets as many decimals as that takes, up to six.

    Examples
    --------
    >>> percent_up(0.6224593312018546), percent_up(0.5), percent_up(0.99966), percent_up(1.0)
    ('62.3\u00a0%', '50.0\u00a0%', '99.97\u00a0%', '100.0\u00a0%')
    """
    digits = next((n for n in range(1, 6) if math.ceil(share * 10 ** (n + 2) - 1e-9) < 10 ** (n + 2)), 1)
    written = f"{math.ceil(share * 10 ** (digits + 2) - 1e-9) / 10**digits:.{digits}f}"
    return manners.find(language).sign_number(f"{written}\u00a0%")


def significant_up(value: float, *, language: str = FALLBACK) -> str:
    """Return a number with three significant digits, rounded up.

    Examples
    --------
    >>> significant_up(1.6487212707), significant_up(8103.08)
    ('1.65', '8,110')
    """
    if not math.isfinite(value) or value <= 0:
        return number(value, language=language)
    return number(plainly(value, digits=3, up=True), language=language)


def plainly(value: float, *, digits: int = 4, up: bool = False, down: bool = False) -> float:
    """Return a number with few significant digits: what a reader compares.

    ``up`` rounds an upper bound up, so that it stays one; ``down`` what must not be exceeded.

    Examples
    --------
    >>> plainly(0.22119921), plainly(8103.08, digits=3, up=True)
    (0.2212, 8110.0)
    """
    if not (up or down) or value <= 0:
        return float(f"{value:.{digits}g}")
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    steps = math.ceil(value / step - 1e-9) if up else math.floor(value / step + 1e-9)
    return float(f"{steps * step:.12g}")


def in_one_line(words: str) -> str:
    """Return somebody's words without lines, directions, and signs that nobody sees: they could say more.

    Examples
    --------
    >>> in_one_line("Stays\\n\\nε = 0")
    'Stays ε = 0'
    """
    return " ".join("".join(sign if sign.isprintable() else " " for sign in words).split())


def inverse(probability: float, *, language: str = FALLBACK) -> str:
    """Return how many times one chance falls into one, rounded down: "at most 1 in ...".

    Examples
    --------
    >>> inverse(0.000004)
    '250,000'
    """
    return "∞" if probability <= 0 else number(math.floor(1 / probability + 1e-9), language=language)


def level_up(epsilon: float, *, language: str = FALLBACK) -> str:
    """Return a privacy level with four significant digits, rounded up: what was lost is never told smaller.

    Examples
    --------
    >>> level_up(415738 / 415743), level_up(0.5), level_up(0.12341)
    ('1', '0.5', '0.1235')
    """
    known = epsilon if epsilon <= 0 or math.isinf(epsilon) else plainly(epsilon, up=True)
    return number(known, language=language)


FORMATS: dict[str, Callable[..., str]] = {
    "up%": percent_up,
    "up3": significant_up,
    "level": level_up,
    "inverse": inverse,
}


def say_day(written: str, *, language: str = FALLBACK) -> str:
    """Return a day, or a day with its time, as people write it; anything else as it stands.

    Examples
    --------
    >>> say_day("2026-02-01"), say_day("2026-02-01T08:30", language="de"), say_day("soon")
    ('1 February 2026', '1. Februar 2026, 08:30', 'soon')
    >>> say_day("2026-02-01T08:30:59+00:00")
    '1 February 2026, 08:30 (UTC)'
    """
    if _ISO_DAY.fullmatch(written) is None:
        return written
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return written
    month = text(f"report.months.m{found.month}", language=language)
    day = text("report.words.day", language=language, day=str(found.day), month=month, year=str(found.year))
    if len(written) == len("2026-02-01"):
        return day
    zone = f" ({found.tzname()})" if found.tzinfo else ""
    return text("report.words.at", language=language, day=day, time=f"{found:%H:%M}{zone}")


_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d([+-]\d\d:\d\d)?)?)?")


class _Filler(string.Formatter):
    """Writes numbers for people unless the text asks for a format of its own (``{share:.0%}``).

    Formats of our own are those of `FORMATS`; ``plain`` is a number as always, `DAY` a day as in files (or
    anything else), `QUOTED` a list of values, `APART` a list of what may hold commas; words with a `CHOICE`
    agree with the number as it is written.
    """

    def __init__(self, language: manners.Language) -> None:
        self.language = language

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if isinstance(key, str) and key.startswith(PROTECTED):
            return spoken().said(key.removeprefix(PROTECTED), self.language)
        found = super().get_value(key, args, kwargs)
        is_unit = isinstance(found, str) and isinstance(key, str) and key.endswith("unit")
        return say_unit(found, self.language.code) if is_unit else found

    def _comma(self, listed: Sequence[Any]) -> str:
        """Return what parts a list: numbers with a decimal comma are not parted by one."""
        has_numbers = any(
            isinstance(one, int | float | Fraction | manners.Written) and not isinstance(one, bool)
            for one in listed
        )
        return self.language.between if has_numbers and self.language.decimal == "," else ", "

    def format_field(self, value: Any, format_spec: str) -> str:
        code = self.language.code
        if isinstance(value, Text):
            return text(value.id, language=code, **value.values)
        if isinstance(value, list | tuple):
            quoted = format_spec == QUOTED
            named = [self.format_field(one, "") for one in (value[:MOST_QUOTED] if quoted else value)]
            comma = self.language.between if format_spec == APART else self._comma(value)
            said = comma.join(map(self.language.quote, named) if quoted else named)
            return f"{said} …" if quoted and len(value) > MOST_QUOTED else said
        if CHOICE in format_spec:
            written = self.format_field(value, "")
            first, *forms = format_spec.split(CHOICE)
            alone = first == ""
            said = (forms if alone else [first, *forms])[self.language.plural_form(written)]
            return said if alone else f"{written} {said}"
        is_number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
        if format_spec == DAY and isinstance(value, str) and not isinstance(value, manners.Written):
            return say_day(value, language=code)
        if is_number and format_spec in ("", "plain", DAY, QUOTED, APART):
            return number(value, language=code)
        if is_number and format_spec in FORMATS:
            return FORMATS[format_spec](float(value), language=code)
        if is_number:
            written = format(float(value) if isinstance(value, Fraction) else value, format_spec)
            return self.language.sign_number(written)
        if isinstance(value, manners.Written):
            return self.language.sign_number(value)
        return say_cells(value, code) if isinstance(value, str) else str(value)
