"""A method's declaration as JSON, with its words: for the command line, and for forms made elsewhere."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from engine import texts
from engine.methods.parameters import Parameter
from engine.methods.protocol import Method
from engine.numbers import plain


def declaration(method: type[Method], *, language: str = "en") -> dict[str, Any]:
    """Return everything that a method declares about itself.

    Examples
    --------
    >>> from engine.methods.catalogue import method
    >>> declaration(method("statistics.counts"))["promises"]
    ['pure_dp', 'approximate_dp']
    """
    base = f"methods.{method.id}"
    return {
        "id": method.id,
        "version": method.version,
        "family": method.family.value,
        "promises": list(method.promises),
        "spends": method.spends.value,
        "rows": method.rows.value,
        "title": texts.text(f"{base}.title", language=language),
        "summary": texts.text(f"{base}.summary", language=language),
        "published": asdict(method.published),
        "sources": [asdict(source) for source in method.sources],
        "parameters": [
            parameter_json(f"{base}.parameters.{parameter.name}", parameter, language)
            for parameter in method.parameters
        ],
        "steps": [
            {
                "name": step.name,
                "sources": [asdict(source) for source in step.sources],
                "parameters": [
                    parameter_json(
                        f"{base}.steps.{step.name}.parameters.{parameter.name}", parameter, language
                    )
                    for parameter in step.parameters
                ],
            }
            for step in method.steps
        ],
        "held_out": method.held_out,
    }


def parameter_json(words: str, parameter: Parameter, language: str) -> dict[str, Any]:
    """Return one parameter with its words (found below ``words``); what does not apply is left out."""
    tree: dict[str, Any] = {
        "name": parameter.name,
        "kind": parameter.kind.value,
        "label": texts.text(f"{words}.label", language=language),
        "help": texts.text(f"{words}.help", language=language) if texts.has(f"{words}.help") else "",
        "optional": parameter.optional,
        "default": parameter.default,
        "minimum": plain(parameter.minimum),
        "maximum": plain(parameter.maximum),
        "unit": parameter.unit,
        "column_kinds": [kind.value for kind in parameter.column_kinds],
        "column_roles": [role.value for role in parameter.column_roles],
        "needs_domain": parameter.needs_domain,
        "source": parameter.source,
        "each": parameter.each or None,
        "choices": {
            choice: texts.text(f"{words}.choices.{choice}", language=language) for choice in parameter.choices
        },
    }
    if parameter.when is not None:
        tree["when"] = {"parameter": parameter.when[0], "is": list(parameter.when[1])}
    if parameter.fields:
        tree["fields"] = [
            parameter_json(f"{words}.fields.{field.name}", field, language) for field in parameter.fields
        ]
    empty: tuple[Any, ...] = ("", [], {}, None)
    return {name: value for name, value in tree.items() if value not in empty}
