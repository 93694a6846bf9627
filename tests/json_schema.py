"""The part of JSON Schema (2020-12) that the program's own schemas use: says where a value does not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TYPES = {
    "string": str,
    "object": dict,
    "array": list,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
KNOWN = {
    *("$schema", "title", "description", "$defs", "$ref", "type", "enum", "const", "pattern", "minLength"),
    *("minimum", "maximum", "minItems", "items", "properties", "required", "additionalProperties", "anyOf"),
}


def is_of(value: Any, name: str) -> bool:
    """Say whether a value is of a type; true and false are no numbers."""
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def misfits(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str = "") -> Iterator[str]:
    """Give what does not fit, as paths with the word that fails."""
    assert schema.keys() <= KNOWN, schema.keys() - KNOWN  # a word that is not read would refuse nothing
    if "$ref" in schema:
        named = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            named = named[part]
        yield from misfits(value, named, root, path)
        return
    if "anyOf" in schema and all(list(misfits(value, one, root, path)) for one in schema["anyOf"]):
        yield f"{path}: anyOf"
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_of(value, name) for name in names):
        yield f"{path}: type"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: enum"
    if "const" in schema and (value != schema["const"] or isinstance(value, bool)):
        yield f"{path}: const"
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{path}: pattern"
        if len(value) < schema.get("minLength", 0):
            yield f"{path}: minLength"
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    if is_of(value, "number") and not low <= value <= high:
        yield f"{path}: range"
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{path}: minItems"
        for at, item in enumerate(value):
            yield from misfits(item, schema.get("items", {}), root, f"{path}/{at}")
    if isinstance(value, dict):
        named = schema.get("properties", {})
        yield from (f"{path}/{name}: required" for name in schema.get("required", ()) if name not in value)
        more = schema.get("additionalProperties", True)
        for name, item in value.items():
            if name in named:
                yield from misfits(item, named[name], root, f"{path}/{name}")
            elif more is False:
                yield f"{path}/{name}: additional"
            elif isinstance(more, dict):
                yield from misfits(item, more, root, f"{path}/{name}")
