"""What programs read beside the tables: a data package, and scripts of Python and R that load them by it.

Made from public evidence alone. A data package (datapackage.org, version 2) is plain JSON that says of every
column its type, its values in their order, what a missing cell looks like, its unit and where its margin
stands: what a CSV file cannot say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from math import isfinite
from pathlib import PurePosixPath
from typing import Any

from engine.evidence import PublicEvidence
from engine.formulas import escape_formula
from engine.release import catalogue_descriptions
from engine.release.bundle import (
    CRATE,
    CROISSANT,
    HEALTH,
    PACKAGE,
    READ_PYTHON,
    READ_R,
    files_of,
)
from engine.release.copies import READ

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
MARGIN, OWN = "within_95", "custos"
TYPES = {"integer": "integer", "number": "number", "date": "date"}
"""Of kinds of columns; every other is text."""
TO_R = {"string": "character", "integer": "numeric", "number": "numeric", "date": "Date"}


def package_files(evidence: PublicEvidence) -> dict[str, bytes]:
    """Return the files by their names; the scripts only where there are tables to load."""
    package = data_package(evidence)
    tables = [one for one in package.get("resources", ()) if "schema" in one]
    wished = evidence.decided.get("also", ())
    trees = {PACKAGE: package, CRATE: catalogue_descriptions.ro_crate(evidence)}
    if "healthdcat" in wished:
        trees[HEALTH] = catalogue_descriptions.health_dcat(evidence)
    if "croissant" in wished:
        trees[CROISSANT] = catalogue_descriptions.croissant(evidence, tables)
    found = {
        name: (json.dumps(tree, indent=2, ensure_ascii=False) + "\n").encode() for name, tree in trees.items()
    }
    if not tables:
        return found
    script = files("resources").joinpath("readers", "read.R.txt").read_text(encoding="utf-8")
    listed = ",\n".join(_table_in_r(one) for one in tables)
    return found | {
        READ_PYTHON: files("resources").joinpath("readers", "read.py.txt").read_bytes(),
        READ_R: script.replace("{tables}", listed).encode(),
    }


def data_package(evidence: PublicEvidence) -> dict[str, Any]:
    """Return the data package as JSON values."""
    purpose = evidence.purpose
    entries = {
        str(name): entry for entry in evidence.dictionary if "columns" in entry for name in files_of(entry)
    }
    tree = {
        "$schema": PROFILE,
        "name": f"custos-{evidence.bundle_id}",
        "title": evidence.title,
        "created": evidence.made_at,
        "contributors": _contributors(purpose),
        f"{OWN}:promise": evidence.promise.kind,
        f"{OWN}:agreement": str(purpose.get("agreement", "")),
        f"{OWN}:evidence": "evidence.json",
        "resources": [
            _resource(line, entries.get(str(line["file"])))
            for line in evidence.artefacts
            if not _is_again(line)
        ],
    }
    return {name: value for name, value in tree.items() if value}


def _is_again(line: Mapping[str, Any]) -> bool:
    """Whether a file says again what another says: a copy, or a workbook, which readers take for a table."""
    return "copy_of" in line or str(line["file"]).endswith(".xlsx")


def _contributors(purpose: Mapping[str, str]) -> list[dict[str, Any]]:
    organisation = str(purpose.get("organisation", "")).strip()
    return [{"title": organisation, "roles": ["publisher"]}] if organisation else []


def _resource(line: Mapping[str, Any], entry: Mapping[str, Any] | None) -> dict[str, Any]:
    path = PurePosixPath(str(line["file"]))
    found: dict[str, Any] = {
        "name": str(path).lower(),
        "path": str(path),
        "format": path.suffix.removeprefix("."),
        "mediatype": str(line["media_type"]),
        "hash": f"sha256:{line['sha256']}",
    }
    if entry is None:
        return found
    schema = {"fields": fields_of(entry["columns"]), "missingValues": [""], **_keys(entry)}
    return found | {"type": "table", "encoding": "utf-8", f"{OWN}:rows": line.get("rows"), "schema": schema}


def _keys(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return which column is named by other tables, and which columns name rows of these."""
    key = [escape_formula(str(entry["key"]))] if "key" in entry else []
    links = [
        {
            "fields": [escape_formula(str(link["column"]))],
            "reference": {"resource": str(link["file"]).lower(), "fields": [escape_formula(str(link["of"]))]},
        }
        for link in entry.get("links", ())
    ]
    return {**({"primaryKey": key} if key else {}), **({"foreignKeys": links} if links else {})}


def fields_of(columns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what the package says of the columns of a table, from their lines in the dictionary."""
    return list(_fields(columns))


def _fields(columns: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    names = [str(column["name"]) for column in columns]
    for at, column in enumerate(columns):
        kind, name = str(column.get("kind", "")), names[at]
        field: dict[str, Any] = {
            "name": escape_formula(name),
            "type": _type(kind, column.get("values", ())),
            "description": str(column.get("meaning", "")),
        }
        if column.get("values"):
            labels = column.get("labels", {})
            field["categories"] = [
                {"value": escape_formula(str(one)), "label": str(labels.get(one, one))}
                for one in column["values"]
            ]
            field["categoriesOrdered"] = kind == "ordinal"
        if column.get("unit"):
            field["unit"] = str(column["unit"])
        margin = _margin(names, at)
        if margin and field["type"] in ("integer", "number"):
            field[f"{OWN}:margin95"] = escape_formula(margin)
        yield field


def _type(kind: str, values: Sequence[Any]) -> str:
    """Return the type of a column of this kind that has these values, where any are listed.

    A column of numbers or days whose cells can read "(missing)", "other" or what a code means is a list of
    words: who read it as numbers would lose these cells, or stop at the first of them.
    """
    found = TYPES.get(kind, "string")
    return found if all(_reads_as(found, str(one)) for one in values) else "string"


def _reads_as(kind: str, cell: str) -> bool:
    if kind == "string":
        return True
    try:
        number = READ[kind](cell)
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell and (kind == "date" or isfinite(number))


def _margin(names: Sequence[str], at: int) -> str:
    """Return the column that says how far a number may be off: the one behind it, by its name."""
    after = names[at + 1] if at + 1 < len(names) else ""
    return after if after in (MARGIN, f"{names[at]}_{MARGIN}") else ""


def _table_in_r(resource: Mapping[str, Any]) -> str:
    fields = resource["schema"]["fields"]
    kinds = ", ".join(f"{_in_r(one['name'])} = {_in_r(TO_R[one['type']])}" for one in fields)
    levels = ", ".join(
        f"{_in_r(one['name'])} = list(c({', '.join(_in_r(level['value']) for level in one['categories'])}), "
        f"{'TRUE' if one['categoriesOrdered'] else 'FALSE'})"
        for one in fields
        if one.get("categories")
    )
    said = {
        name: {one["name"]: _in_r(one[member]) for one in fields if one.get(member)}
        for name, member in (("margins", f"{OWN}:margin95"), ("units", "unit"), ("meanings", "description"))
    }
    told = {one["name"]: _told(one.get("categories", ())) for one in fields}
    said["labels"] = {
        column: _listed({value: _in_r(label) for value, label in labels.items()}, "c")
        for column, labels in told.items()
        if labels
    }
    members = [f"kinds = list({kinds})", f"levels = list({levels})"]
    members += [f"{name} = {_listed(inner)}" for name, inner in said.items()]
    links = {
        one["fields"][0]: f"c({_in_r(one['reference']['resource'])}, {_in_r(one['reference']['fields'][0])})"
        for one in resource["schema"].get("foreignKeys", ())
    }
    members += [f"links = {_listed(links)}"] if links else []
    return f"  {_in_r(resource['path'])} = list(\n    " + ",\n    ".join(members) + ")"


def _told(categories: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the labels of values that say more than the value."""
    return {one["value"]: one["label"] for one in categories if one["label"] != one["value"]}


def _listed(members: Mapping[str, str], of: str = "list") -> str:
    return f"{of}({', '.join(f'{_in_r(name)} = {value}' for name, value in members.items())})"


def _in_r(words: str) -> str:
    """Return a string as R reads it, whatever stands in it.

    Examples
    --------
    >>> print(_in_r('a "b"'), _in_r("ü"))
    "a \\"b\\"" "\\u00fc"
    """
    inner = "".join(
        one if one.isascii() and one.isprintable() and one not in '"\\\\' else _escape(one) for one in words
    )
    return f'"{inner}"'


def _escape(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return f"\\U{ord(letter):08x}" if ord(letter) > 0xFFFF else f"\\u{ord(letter):04x}"
