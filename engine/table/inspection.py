"""What a file looks like, as plain values: kinds, suggested roles and problems, for the command line."""

from __future__ import annotations

from typing import Any

from engine import texts
from engine.progress import SILENT, Progress
from engine.table.reading.options import Finding
from engine.table.suggest.suggest import Suggestion, suggest, suggested_schema
from engine.table.table import Table

__all__ = ["inspect_table", "sentence", "suggested_schema"]


def inspect_table(
    table: Table, *, language: str = texts.FALLBACK, progress: Progress = SILENT
) -> dict[str, Any]:
    """Return what the reader found and what the columns probably are. Internal: computed from private rows.

    Parameters
    ----------
    table
        The table as it was read.
    language
        Of the sentences.

    Returns
    -------
    dict
        ``file``, ``rows``, ``options``, ``columns`` (name, storage, suggested role and kind with reasons,
        origin of the suggested domain, proposed code lists with counts, missing codes) and
        ``problems``. No cell but codes of the fixed lists.

    Examples
    --------
    >>> import pandas as pd
    >>> inspect_table(Table(pd.DataFrame({"age": [41, 50]})))["columns"][0]["role"]
    'identifying'
    """
    columns = [
        {
            "name": item.column,
            "storage": table.storage[item.column],
            "role": item.role.value,
            "reason": sentence(item, language=language),
            "kind": item.kind.value,
            "kind_reason": texts.text(
                f"suggestions.kind.{item.kind_reason}", language=language, **item.values
            ),
            "domain": "none" if item.domain_origin is None else item.domain_origin.value,
            "code_lists": [
                {
                    "code_list": one.code_list,
                    "meanings": [
                        {"code": code, "meaning": meaning, "rows": rows}
                        for code, meaning, rows in one.meanings
                    ],
                }
                for one in item.proposals
            ],
            "missing": list(item.missing),
        }
        for item in suggest(table, progress=progress)
    ]
    return {
        "audience": "internal",
        "file": table.source,
        "rows": table.n_rows,
        "options": table.options.to_json(),
        "columns": columns,
        "problems": [_problem(finding, language) for finding in table.findings],
    }


def sentence(item: Suggestion, *, language: str = texts.FALLBACK) -> str:
    """Return the reason for a suggested role as a sentence."""
    values = dict(item.values)
    if "meaning" in values:
        values["meaning"] = texts.text(f"suggestions.meaning.{values['meaning']}", language=language)
    said = texts.text(f"suggestions.role.{item.reason}", language=language, **values)
    if "identifier" in values:
        known = texts.text(f"suggestions.identifier.{values['identifier']}", language=language)
        said = texts.text("suggestions.named", language=language, said=said.removesuffix("."), known=known)
    return said


def _problem(finding: Finding, language: str) -> dict[str, Any]:
    what, do = texts.sentences(finding.code, finding.values, language=language)
    return {**finding.to_json(), "what": what, "do": do}
