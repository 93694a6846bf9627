"""What several releases about the same people lose together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import TEXTS, finite_or_null, number
from engine.methods.parameters import Parameter
from engine.methods.protocol import Reference
from engine.privacy.at_risk.releases import ReleasesStatement, read_releases, state_together
from engine.views import TableView, Text

if TYPE_CHECKING:
    from engine.table.table import Table


class Composition(Analysis):
    """By formula, as published at risk, and by composing the privacy losses."""

    id = "composition"
    published = Reference(
        "A. Dandekar, D. Basu and S. Bressan, Differential privacy at risk, PoPETs 2021", "composition"
    )
    parameters = (
        Parameter("releases", TEXTS, minimum=1),
        Parameter("delta", number("delta").kind, default="1e-6"),
        number("epsilon"),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        read = [read_releases(written) for written in values["releases"]]
        found = state_together(
            read, delta=values["delta"], epsilon=values["epsilon"], progress=context.progress
        )
        figures = {"releases": list(values["releases"])} | found.to_json()
        views = self.sentences(self._sentences(found, values["releases"])), self._table(found)
        return Answer(views, figures)

    def _sentences(self, found: ReleasesStatement, releases: tuple[str, ...]) -> list[Text]:
        lines = [self.word("together", releases=", ".join(releases), delta=found.delta)]
        for name in ("basic", "advanced", "published"):
            value = getattr(found, name)
            if value is not None:
                lines.append(self.word(name, epsilon=value))
        lines.append(self.word("certified", epsilon=finite_or_null(found.certified)))
        if found.confidence is not None and found.delta_at is not None:
            lines.append(
                self.word(
                    "at",
                    epsilon=found.epsilon,
                    confidence=found.confidence[0],
                    two_sided=found.confidence_two_sided,
                    delta=found.delta_at[1],
                )
            )
        return lines if found.exact else [*lines, self.word("rounded")]

    def _table(self, found: ReleasesStatement) -> TableView:
        rows = tuple(
            (self.word(f"table.{name}"), getattr(found, name))
            for name in ("basic", "advanced", "published", "certified")
        )
        return TableView(self.word("table.title"), (self.word("table.way"), self.word("table.epsilon")), rows)
