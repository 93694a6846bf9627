"""Conditions as people write them: ``sex is f and (age at least 60 or ward in (a, b))``.

A condition is a tree of comparisons of one column each. Words are columns, values or the words below; what
has blanks or signs in it, or is one of the words itself, stands between quotation marks.

- ``C is V``, ``C is not V``, ``C in (V, W)``, ``C not in (V, W)``; also ``=``, ``!=``
- ``C at least V``, ``C above V``, ``C at most V``, ``C below V``; also ``>=``, ``>``, ``<=``, ``<``
- ``C between V and W``, both included
- ``C is missing``, ``C is other`` (a value that was not declared), and both with ``not``
- ``and``, ``or``, ``not`` and brackets; ``and`` binds closer than ``or``

Nothing here knows a table; a service gives the words their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from engine.errors import InputRefused
from engine.views import Label, Text

LONGEST, MOST_COMPARISONS, DEEPEST = 4000, 20, 20
GAP = "…"
"""Stands in a text for what has still to be chosen; as a value of a column it is between quotation marks."""
_UNFINISHED = "services.private_queries.unfinished"
_TOKEN = re.compile(r'\s*(?:"((?:[^"]|"")*)"|“([^”]*)”|(<=|>=|!=|<>|[≤≥≠=<>(),])|([^\s"“”<>=!≤≥≠(),]+))')
_SIGNS = {
    "=": "is", "!=": "is not", "<>": "is not", "≠": "is not",
    ">=": "at least", "≥": "at least", ">": "above", "<=": "at most", "≤": "at most", "<": "below",
}  # fmt: skip
_OWN = {*"and or not in is at least most above below between missing other".split()}  # noqa: SIM905
_BARE = re.compile(r'[^\s"“”<>=!≤≥≠(),;…]+')


@dataclass(frozen=True)
class Comparison:
    """One column compared.

    ``operator`` is ``in``, ``between``, ``missing``, ``other``, ``at least``, ``above``, ``at most`` or
    ``below``.
    """

    column: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Not:
    """What does not hold. Rows without a value are in it, too: it is everybody else."""

    part: Condition


@dataclass(frozen=True)
class All:
    """All parts hold; without parts it always holds."""

    parts: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class AnyOf:
    """At least one part holds; without parts it never holds."""

    parts: tuple[Condition, ...] = ()


Condition = Comparison | Not | All | AnyOf
EVERYBODY, NOBODY = All(), AnyOf()


@dataclass(frozen=True)
class _Word:
    text: str
    quoted: bool = False
    sign: bool = False

    @property
    def word(self) -> str:
        """What it says as a word of the language; nothing between quotation marks."""
        return "" if self.quoted else self.text.casefold()


def parse(text: str) -> Condition:
    """Return a condition as a tree.

    Raises
    ------
    InputRefused
        ``services.private_queries.condition``: it cannot be understood; says from where on. No value of a
        table is in the message, only what was written. ``services.private_queries.unfinished``: it ends too
        early, or `GAP` stands where something has still to be chosen.

    Examples
    --------
    >>> parse("sex = f and not age at least 60")
    All(parts=(Comparison(column='sex', operator='in', values=('f',)), Not(part=Comparison(...
    >>> parse("") == EVERYBODY
    True
    """
    if len(text) > LONGEST:
        raise InputRefused("services.private_queries.too_long", most=LONGEST)
    words = list(_words(text))
    if not words:
        return EVERYBODY
    if any(word.word == GAP for word in words):
        raise InputRefused(_UNFINISHED)
    reader = _Reader(words)
    found = reader.either(0)
    if reader.place < len(words):
        reader.refuse()
    if len(list(comparisons(found))) > MOST_COMPARISONS:
        raise InputRefused("services.private_queries.too_many_comparisons", most=MOST_COMPARISONS)
    return found


def write_condition(condition: Condition) -> str:
    """Return a condition as a text that `parse` reads as the same tree.

    Examples
    --------
    >>> write_condition(parse("sex = f and not (age >= 60 or ward not in (a, b))"))
    'sex is f and not (age at least 60 or ward not in (a, b))'
    >>> write_condition(Comparison("unit name", "in", ("a", "is")))
    '"unit name" in (a, "is")'
    """
    if isinstance(condition, Comparison):
        return _compare(condition, "")
    if isinstance(condition, Not):
        part = condition.part
        if isinstance(part, Comparison) and part.operator in ("in", "missing", "other"):
            return _compare(part, "not ")
        return f"not ({write_condition(part)})"
    if isinstance(condition, All):
        return " and ".join(_inside(part, (All, AnyOf)) for part in condition.parts)
    return " or ".join(_inside(part, (AnyOf,)) for part in condition.parts)


def _inside(part: Condition, bracketed: tuple[type, ...]) -> str:
    return f"({write_condition(part)})" if isinstance(part, bracketed) else write_condition(part)


def _compare(one: Comparison, no: str) -> str:
    column, values = quote_name(one.column), [quote_name(value) for value in one.values]
    if one.operator == "between":
        return f"{column} between {values[0]} and {values[1]}"
    if one.operator == "in":
        several = f"{column} {no}in ({', '.join(values)})"
        return several if len(values) > 1 else f"{column} is {no}{values[0]}"
    return f"{column} {one.operator} {values[0]}" if values else f"{column} is {no}{one.operator}"


def say_condition(condition: Condition) -> Label:
    """Return a condition as a text of every language; in English it is what `write_condition` writes.

    Examples
    --------
    >>> from engine import texts
    >>> said = say_condition(parse("sex = f and not (age >= 60 or ward not in (a, b))"))
    >>> texts.text(said.id, **said.values)
    'sex is f and not (age at least 60 or ward not in (a, b))'
    >>> texts.text(said.id, language="de", **said.values)
    'sex ist f und nicht (age mindestens 60 oder ward nicht in (a, b))'
    """
    if isinstance(condition, Comparison):
        return _say_comparison(condition, "")
    if isinstance(condition, Not):
        part = condition.part
        if isinstance(part, Comparison) and part.operator in ("in", "missing", "other"):
            return _say_comparison(part, "not_")
        return Text("conditions.not", {"part": say_condition(part)})
    name, bracketed = ("and", (All, AnyOf)) if isinstance(condition, All) else ("or", (AnyOf,))
    labels = [_say_inside(part, bracketed) for part in condition.parts]
    said = labels[0] if labels else ""
    for label in labels[1:]:
        said = Text(f"conditions.{name}", {"first": said, "second": label})
    return said


def _say_inside(part: Condition, bracketed: tuple[type, ...]) -> Label:
    said = say_condition(part)
    return Text("conditions.inside", {"part": said}) if isinstance(part, bracketed) else said


def _say_comparison(one: Comparison, no: str) -> Text:
    values = [quote_name(value) for value in one.values]
    said: dict[str, Any] = {"column": quote_name(one.column)}
    name = one.operator.replace(" ", "_")
    if name == "between":
        said |= {"low": values[0], "high": values[1]}
    elif name == "in":
        name = "is" if len(values) == 1 else name
        said |= {"value": values[0]} if len(values) == 1 else {"values": values}
    elif values:
        said |= {"value": values[0]}
    return Text(f"conditions.{no}{name}", said)


def quote_name(word: str) -> str:
    """Return a name or a value as it stands in a condition: between quotation marks where it has to."""
    plain = _BARE.fullmatch(word) is not None and word.casefold() not in _OWN
    return word if plain else '"' + word.replace('"', '""') + '"'


def comparisons(condition: Condition) -> Iterator[Comparison]:
    """Give every comparison of a condition, in their order."""
    if isinstance(condition, Comparison):
        yield condition
    else:
        parts = (condition.part,) if isinstance(condition, Not) else condition.parts
        for part in parts:
            yield from comparisons(part)


def _words(text: str) -> Iterator[_Word]:
    place = 0
    while text[place:].strip():
        found = _TOKEN.match(text, place)
        if found is None:
            raise InputRefused("services.private_queries.condition", found=text[place : place + 40].strip())
        straight, curly, sign, bare = found.groups()
        if straight is not None or curly is not None:
            yield _Word(curly if straight is None else straight.replace('""', '"'), quoted=True)
        else:
            yield _Word(sign or bare, sign=sign is not None)
        place = found.end()


class _Reader:
    """Reads from left to right, one word ahead."""

    def __init__(self, words: list[_Word]) -> None:
        self.words, self.place = words, 0

    def refuse(self) -> NoReturn:
        rest = " ".join(word.text for word in self.words[self.place :])
        if not rest:
            raise InputRefused(_UNFINISHED)
        raise InputRefused("services.private_queries.condition", found=rest[:40])

    def next_is(self, *wanted: str) -> bool:
        """Take words if they come next."""
        ahead = self.words[self.place : self.place + len(wanted)]
        if tuple(word.word for word in ahead) != wanted:
            return False
        self.place += len(wanted)
        return True

    def name(self) -> str:
        """Take a column or a value."""
        if self.place >= len(self.words) or self.words[self.place].sign:
            self.refuse()
        self.place += 1
        return self.words[self.place - 1].text

    def either(self, depth: int) -> Condition:
        parts = [self.both(depth)]
        while self.next_is("or"):
            parts.append(self.both(depth))
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def both(self, depth: int) -> Condition:
        parts = [self.one(depth)]
        while self.next_is("and"):
            parts.append(self.one(depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def one(self, depth: int) -> Condition:
        if depth > DEEPEST:
            self.refuse()
        if self.next_is("not"):
            return Not(self.one(depth + 1))
        if self.next_is("("):
            found = self.either(depth + 1)
            if not self.next_is(")"):
                self.refuse()
            return found
        return self.comparison(self.name())

    def comparison(self, column: str) -> Condition:
        if self.next_is("between"):
            low = self.name()
            if not self.next_is("and"):
                self.refuse()
            return Comparison(column, "between", (low, self.name()))
        if self.next_is("in"):
            return self.listed(column)
        if self.next_is("not", "in"):
            return Not(self.listed(column))
        operator = self.operator()
        if operator not in ("is", "is not"):
            return Comparison(column, operator, (self.name(),))
        special = next((name for name in ("missing", "other") if self.next_is(name)), None)
        found = Comparison(column, special) if special else Comparison(column, "in", (self.name(),))
        return Not(found) if operator == "is not" else found

    def operator(self) -> str:
        for words in (("is", "not"), ("is",), ("at", "least"), ("at", "most"), ("above",), ("below",)):
            if self.next_is(*words):
                return " ".join(words)
        ahead = self.words[self.place] if self.place < len(self.words) else _Word("")
        if not ahead.sign or ahead.text not in _SIGNS:
            self.refuse()
        self.place += 1
        return _SIGNS[ahead.text]

    def listed(self, column: str) -> Comparison:
        if not self.next_is("("):
            self.refuse()
        values = [self.name()]
        while self.next_is(","):
            values.append(self.name())
        if not self.next_is(")"):
            self.refuse()
        return Comparison(column, "in", tuple(values))
