"""A report as data: what stands on it, in which order. No HTML, no page, no sentence.

The writers (`html`, `pdf`) turn the same document into a file; they know no method and no evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.views import Cell, Label, NumberView, Text, View


@dataclass(frozen=True)
class Row:
    """A named value. ``three`` is the id below which ``what``, ``how`` and ``change`` of a number stand.

    ``code`` sets the value in the type of codes and column names, with every character distinct.
    """

    label: Label
    value: Cell
    three: Text | None = None
    code: bool = False
    note: Text | None = None


@dataclass(frozen=True)
class KeyValues:
    """Named values, one under the other; ``title`` may be empty. ``across`` sets two of them on a line."""

    title: Label
    rows: tuple[Row, ...]
    across: bool = False


@dataclass(frozen=True)
class Numbers:
    """Key numbers side by side, each with the text that says what it is."""

    numbers: tuple[NumberView, ...]


@dataclass(frozen=True)
class Callout:
    """A sentence that must not be overlooked. ``care`` marks an assumption or a warning.

    ``large`` sets it as the first thing on the first page; ``head`` stands before it in bold.
    """

    text: Text
    care: bool = False
    large: bool = False
    head: Label = ""


@dataclass(frozen=True)
class Fact:
    """A short value with its name, and in a sentence what it is. ``care`` marks one that limits the use."""

    name: Label
    value: Cell
    what: Text
    care: bool = False


@dataclass(frozen=True)
class Facts:
    """A few facts, side by side."""

    items: tuple[Fact, ...]


@dataclass(frozen=True)
class Headline:
    """The one figure of a page, headed by what it shows."""

    view: View
    finding: Text


@dataclass(frozen=True)
class SideBySide:
    """Lists of sentences beside each other, each under its heading."""

    lists: tuple[tuple[Label, tuple[Text, ...]], ...]


@dataclass(frozen=True)
class Bullets:
    """Short sentences as a list."""

    items: tuple[Text, ...]


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: Label


@dataclass(frozen=True)
class Signatures:
    """Lines to sign on, each with the role of who signs."""

    lines: tuple[Label, ...]


@dataclass(frozen=True)
class Explanation:
    """A number with what it is, how it was computed and what would change it.

    ``told`` says that what it is stands beside it already.
    """

    label: Label
    value: Cell
    three: Text
    unit: str = ""
    told: bool = False


@dataclass(frozen=True)
class Explanations:
    """The three texts of every number that the document shows."""

    items: tuple[Explanation, ...]


@dataclass(frozen=True)
class Folded:
    """What the HTML file has in any case, and the PDF as long as it stays short; else the one sentence.

    ``always`` leaves it to the HTML file, which folds it up there.
    """

    heading: Label
    parts: tuple[Part, ...]
    instead: Text
    always: bool = False


Part = (
    Text
    | View
    | KeyValues
    | Numbers
    | Facts
    | Headline
    | SideBySide
    | Callout
    | Bullets
    | Heading
    | Signatures
    | Explanations
    | Folded
)


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it; ``fresh`` begins a page, ``small`` sets it in smaller letters."""

    heading: Label
    parts: tuple[Part, ...]
    fresh: bool = False
    small: bool = False


@dataclass(frozen=True)
class Document:
    """A whole report.

    Parameters
    ----------
    title, subtitle
        What the release is called, and what kind of document this is.
    audience
        One or two words for every page: whether the document stays or may leave.
    stays
        Whether the document holds anything that may not leave.
    bundle_id, made_at
        Random name of the bundle; ISO date and time with offset. Both are printed on every page or file.
    cover
        What stands on the first page, alone.
    is_front
        Whether that page is the report in short: it is fitted into one page, and no contents stand on it.
    sections
        Everything else, numbered by the writers.
    footer
        What stands below every page in the place of the bundle's name.
    """

    title: Label
    subtitle: Label
    audience: Label
    stays: bool
    bundle_id: str
    made_at: str
    cover: tuple[Part, ...]
    sections: tuple[Section, ...]
    footer: Label = ""
    is_front: bool = False

    def parts(self) -> Iterator[Part]:
        """Give every part in reading order."""
        yield from unfold(self.cover)
        for section in self.sections:
            yield from unfold(section.parts)


def unfold(parts: Iterable[Part]) -> Iterator[Part]:
    """Give parts, those that may be left to the HTML file among them."""
    for part in parts:
        if isinstance(part, Folded):
            yield from unfold(part.parts)
        else:
            yield part


def explanations(parts: Iterator[Part] | tuple[Part, ...]) -> tuple[Explanation, ...]:
    """Return what must be explained: every number with three texts, once, in reading order."""
    found: dict[str, Explanation] = {}
    for part in parts:
        for item in _numbers(part):
            found.setdefault(item.three.id, item)
    return tuple(found.values())


def _numbers(part: Part) -> Iterator[Explanation]:
    if isinstance(part, NumberView):
        yield Explanation(part.title, part.value, part.three, part.unit, told=True)
    elif isinstance(part, Numbers):
        for number in part.numbers:
            yield Explanation(number.title, number.value, number.three, number.unit, told=True)
    elif isinstance(part, KeyValues):
        for row in part.rows:
            if row.three is not None:
                yield Explanation(row.label, row.value, row.three)
