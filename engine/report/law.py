"""The law and the guidance that sentences rest on: one dated file, and what of it was read in the source."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from engine import texts
from engine.report.content.shared import day
from engine.report.theme import resource
from engine.views import Cell, Text

CITATION = re.compile(
    r"\bArt(?:icles?|\.) \d+|[Rr]ecital \d+|\bC-\d+/\d+|\bWP ?\d+|Working Party|\bEDPB\b|\bISO/IEC \d+"
    r"|\bSP 800-\d+|\bEHDS\b|\bCFR\b|\bHIPAA\b"
)
"""What in a sentence names a law, a judgment or guidance."""


@dataclass(frozen=True)
class Source:
    """A text of law or guidance; what it is called and says are texts of every language.

    Parameters
    ----------
    id
        Its name in the file, and its texts in ``texts/LANG/law.toml``.
    cited
        How English sentences name it, as a regular expression.
    copy
        Where its text, or a summary, was read; empty where nothing was.
    checked
        The ISO date on which the text itself was read; empty where it was not.
    """

    id: str
    cited: str
    copy: str = ""
    checked: str = ""

    @property
    def name(self) -> Text:
        """What people call it."""
        return Text(f"law.{self.id}.name")

    @property
    def says(self) -> Text:
        """What of it is relied on."""
        return Text(f"law.{self.id}.says")

    @property
    def source(self) -> Text:
        """Where it is published."""
        return Text(f"law.{self.id}.source")

    @property
    def open(self) -> Text | None:
        """What is not known of it, or may change."""
        name = f"law.{self.id}.open"
        return Text(name) if texts.has(name) else None

    def told(self) -> Text:
        """Say that the text was read, and when, or that it was not."""
        name = "checked" if self.checked else "summary" if self.copy else "not_checked"
        return Text(f"papers.law.{name}", {"day": day(self.checked)})


@cache
def _tree() -> dict[str, Any]:
    return tomllib.loads(resource("law.toml").read_text(encoding="utf-8"))


def as_of() -> Cell:
    """Return the day on which the whole file was looked through last."""
    return day(str(_tree()["as_of"]))


@cache
def sources() -> dict[str, Source]:
    """Return every source by its id, in the order of the file."""
    return {
        name: Source(name, **{field: str(value) for field, value in line.items()})
        for name, line in _tree()["sources"].items()
    }


def rests_on(sentences: Iterable[str], questions: Iterable[str] = ()) -> tuple[Source, ...]:
    """Return the sources that English sentences name, and those that some of the three questions rest on.

    Examples
    --------
    >>> [source.id for source in rests_on(["Aggregate data (GDPR, recital 162)."], ["linking"])]
    ['gdpr_recital_162', 'wp216']
    """
    written = list(sentences)
    known = {name for question in questions for name in _tree()["questions"].get(question, ())}
    return tuple(
        source
        for name, source in sources().items()
        if name in known or any(re.search(source.cited, sentence) for sentence in written)
    )
