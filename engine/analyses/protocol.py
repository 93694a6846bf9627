"""What an analysis is: a question about a mechanism, a price or a table that makes no release. One file each.

It has the form of a method (an id, parameters, words, views); the command line and the screen are made from
that. Whether the answer may leave is its type: an `InternalAnswer` was computed from the own rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from engine.methods.parameters import Parameter
from engine.methods.protocol import MAIN, Reference, Source
from engine.progress import SILENT, Progress
from engine.table.schema import Schema
from engine.views import TableView, Text, TextView, View

if TYPE_CHECKING:
    import numpy as np

    from engine.evaluation.released_estimates import ReleasedBundle
    from engine.table.table import Table

PEOPLE = Source(MAIN, required=False)
"""The table of an analysis that reads one, unless the population is simulated."""


@dataclass(frozen=True)
class Context:
    """What an analysis gets besides its values and tables.

    Parameters
    ----------
    schemas
        What is declared about each source.
    chance
        For simulations: figures about a mechanism, never the output of one.
    progress
        Told about long work.
    bundles
        Releases of any sites, verified, for an analysis that reads some.
    """

    schemas: Mapping[str, Schema]
    chance: np.random.Generator
    progress: Progress = SILENT
    bundles: tuple[ReleasedBundle, ...] = ()


@dataclass(frozen=True)
class Answer:
    """``views`` to show, sentences first, ``figures`` as JSON values, a ``table`` for other programs."""

    views: tuple[View, ...]
    figures: Mapping[str, Any] = field(default_factory=dict)
    table: TableView | None = None

    @property
    def stays(self) -> bool:
        """Say whether it may never leave."""
        return isinstance(self, InternalAnswer)


@dataclass(frozen=True)
class InternalAnswer(Answer):
    """Computed from the custodian's own rows: stays inside."""


class Analysis(ABC):
    """An analysis declares itself and answers.

    Its words stand in ``resources/texts/LANG/analyses/ID.toml``: ``title``, ``summary``, ``parameters`` as
    for a method, and the sentences and labels of its answer. An example that can be asked at once stands in
    ``resources/examples/analyses/ID.json``: ``values``, and ``table`` and ``schema`` where it reads one.
    """

    id: ClassVar[str]
    version: ClassVar[int] = 1
    parameters: ClassVar[tuple[Parameter, ...]]
    sources: ClassVar[tuple[Source, ...]] = ()
    published: ClassVar[Reference]
    reads_bundles: ClassVar[bool] = False

    @abstractmethod
    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        """Return the answer.

        Parameters
        ----------
        values
            By name, checked and converted as `engine.methods.values.resolve` does.
        tables
            By source; empty where none was given.
        context
            Schemas, chance and progress.

        Raises
        ------
        InputRefused
            What only the numbers together can tell.
        """

    def asked(self, given: Mapping[str, Any]) -> tuple[Parameter, ...]:
        """Return the parameters that a form asks for, given what was filled in: usually all of them."""
        return self.parameters

    def word(self, name: str, **values: Any) -> Text:
        """Return one of the analysis' own texts."""
        return Text(f"analyses.{self.id}.{name}", values)

    def sentences(self, paragraphs: list[Text]) -> TextView:
        """Return the answer in sentences, under the title of the analysis."""
        return TextView(self.word("title"), tuple(paragraphs))
