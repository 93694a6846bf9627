"""Precedents for an amount per person: what courts awarded, where and when. Data, not advice."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from engine import texts
from engine.errors import InputRefused
from engine.views import Label

QUANTITIES = ("compensation", "incident", "breach", "principle")
CHECK = "have a lawyer check this"


@dataclass(frozen=True)
class Anchor:
    """One precedent.

    Parameters
    ----------
    name
        Its id, for instance ``"bgh_2024"``.
    jurisdiction
        Two-letter country code, ``"EU"``, or ``"US"``.
    case
        Court, reference and what happened, in words.
    year
        Of the decision or the report, None where the source does not say.
    quantity
        ``"compensation"`` (per person, Article 82), ``"incident"`` (cost per record of handling),
        ``"breach"`` (cost per whole breach) or ``"principle"`` (no amount). Different things, never added.
    amount, currency
        None for a principle.
    health
        Whether health data were concerned.
    source
        Where it is reported.
    read
        When that was read.
    check
        What has to happen before anybody relies on it.
    """

    name: str
    jurisdiction: str
    case: str
    year: int | None
    quantity: str
    amount: Fraction | None
    currency: str | None
    health: bool
    source: str
    read: date
    check: str

    def say(self, part: str) -> Label:
        """Return its ``case`` or ``source`` in every language; as it is written where the file was edited."""
        return texts.say_known(f"anchors.{self.name}.{part}", getattr(self, part))


@dataclass(frozen=True)
class Preset:
    """A starting value per person for one kind of disclosure, by jurisdiction."""

    name: str
    jurisdiction: str
    lowest: Fraction
    highest: Fraction
    currency: str
    anchors: tuple[str, ...]


@dataclass(frozen=True)
class Anchors:
    """All precedents and presets of one file."""

    anchors: tuple[Anchor, ...]
    presets: tuple[Preset, ...]

    def named(self, name: str) -> Anchor:
        """Return an anchor by its id.

        Raises
        ------
        InputRefused
            ``price.anchor_unknown``.
        """
        for anchor in self.anchors:
            if anchor.name == name:
                return anchor
        known = ", ".join(anchor.name for anchor in self.anchors)
        raise InputRefused("price.anchor_unknown", found=name, expected=known)

    def of(self, jurisdiction: str) -> tuple[Anchor, ...]:
        """Return the anchors of a jurisdiction."""
        return tuple(anchor for anchor in self.anchors if anchor.jurisdiction == jurisdiction)


def read_anchors(path: Path | None = None) -> Anchors:
    """Read the precedents that come with the program, or an edited copy of them.

    Parameters
    ----------
    path
        An edited copy; None, or a path where no file is, for those of the program.

    Raises
    ------
    InputRefused
        ``price.anchors_unreadable`` or ``price.anchor_incomplete``, naming the file and the entry.

    Examples
    --------
    >>> found = read_anchors()
    >>> int(found.named("bgh_2024").amount), found.named("bgh_2024").check
    (100, 'have a lawyer check this')
    """
    source: Path | Traversable = files("resources") / "price_anchors.toml"
    if path is not None and path.exists():
        source = path
    try:
        tree = tomllib.loads(source.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InputRefused("price.anchors_unreadable", file=source.name) from error
    entries, presets = tree.get("anchor"), tree.get("preset", [])
    if not isinstance(entries, list) or not isinstance(presets, list):
        raise InputRefused("price.anchors_unreadable", file=source.name)
    anchors = tuple(_anchor(entry, row, source.name) for row, entry in enumerate(entries, 1))
    return Anchors(anchors, tuple(_preset(entry, row, source.name) for row, entry in enumerate(presets, 1)))


def _anchor(entry: Any, row: int, file: str) -> Anchor:
    get = _Reader(entry, row, file)
    quantity = get.text("quantity")
    if quantity not in QUANTITIES:
        raise InputRefused("price.anchor_incomplete", file=file, row=row, field="quantity")
    principle = quantity == "principle"
    return Anchor(
        get.text("name"),
        get.text("jurisdiction"),
        get.text("case"),
        get.whole("year") if get.has("year") else None,
        quantity,
        None if principle else get.amount("amount"),
        None if principle else get.text("currency"),
        get.yes("health"),
        get.text("source"),
        get.date("read"),
        get.text("check"),
    )


def _preset(entry: Any, row: int, file: str) -> Preset:
    get = _Reader(entry, row, file)
    names = get.value("anchors", list)
    if not all(isinstance(name, str) for name in names):
        raise InputRefused("price.anchor_incomplete", file=file, row=row, field="anchors")
    return Preset(
        get.text("name"),
        get.text("jurisdiction"),
        get.amount("lowest"),
        get.amount("highest"),
        get.text("currency"),
        tuple(names),
    )


@dataclass(frozen=True)
class _Reader:
    """Reads fields of one entry and refuses with their name."""

    entry: Any
    row: int
    file: str

    def value(self, field: str, kind: type | tuple[type, ...]) -> Any:
        found = self.entry.get(field) if isinstance(self.entry, dict) else None
        # A bool is an int to Python, never to a reader of the file.
        if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
            raise InputRefused("price.anchor_incomplete", file=self.file, row=self.row, field=field)
        return found

    def has(self, field: str) -> bool:
        return isinstance(self.entry, dict) and field in self.entry

    def text(self, field: str) -> str:
        return str(self.value(field, str))

    def whole(self, field: str) -> int:
        return int(self.value(field, int))

    def yes(self, field: str) -> bool:
        return bool(self.value(field, bool))

    def date(self, field: str) -> date:
        found: date = self.value(field, date)
        return found

    def amount(self, field: str) -> Fraction:
        found = self.value(field, (int, float))
        if not 0 < found < 1e15:
            raise InputRefused("price.anchor_incomplete", file=self.file, row=self.row, field=field)
        return Fraction(str(found))
