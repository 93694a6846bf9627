"""The law and the guidance that sentences rest on: one dated file, and what of it was read in the source."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

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
    """A text of law or guidance.

    Parameters
    ----------
    id, name
        Its name in the file and for people.
    cited
        How sentences name it, as a regular expression.
    says
        What of it is relied on.
    source
        Where it is published.
    copy
        Where its text, or a summary, was read; empty where nothing was.
    checked
        The ISO date on which the text itself was read; empty where it was not.
    open
        What is not known of it, or may change.
    """

    id: str
    name: str
    cited: str
    says: str
    source: str
    copy: str = ""
    checked: str = ""
    open: str = ""

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
    """Return the sources that sentences name, and those that some of the three questions rest on.

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
