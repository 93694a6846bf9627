"""Descriptions of a release for catalogues: RO-Crate with PROV and DPV, HealthDCAT-AP, Croissant.

Plain JSON-LD, made from public evidence alone. What a catalogue asks for and nobody has said yet is listed as
missing, never guessed.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from engine.evidence import PublicEvidence
from engine.privacy.promise import promise_kinds
from engine.release.bundle import CRATE, files_of

PROFILE = "https://w3id.org/ro/crate/1.1"
DESCRIBED = {
    "data-dictionary.json": "application/json",
    "datapackage.json": "application/json",
    "evidence.json": "application/json",
    "report-external.pdf": "application/pdf",
    "report-external.html": "text/html",
    "README.txt": "text/plain",
}
"""Papers of every release folder, with their media types."""
MEASURES = {
    **dict.fromkeys(
        ("pure_dp", "approximate_dp", "local_dp", "plausible_deniability"), "dpv:DifferentialPrivacy"
    ),
    "pseudonymous": "dpv:Pseudonymisation",
}
"""Terms of the Data Privacy Vocabulary by kind of promise; every other kind is a way of de-identification."""
OTHER_MEASURE = "dpv:Deidentification"
NOT_PUBLIC = "http://publications.europa.eu/resource/authority/access-right/NON_PUBLIC"
EHDS = "http://data.europa.eu/eli/reg/2025/327/oj"
HOLDER_ADDS = (
    *("dct:identifier", "healthdcatap:hdab", "healthdcatap:healthCategory", "healthdcatap:healthTheme"),
    *("dcat:theme", "dct:spatial", "dct:language", "healthdcatap:hasCodingSystem"),
    *("healthdcatap:numberOfUniqueIndividuals", "healthdcatap:retentionPeriod"),
)
"""Of the profile: what no release says, and the holder has to add before the description is filed."""


def _said(evidence: PublicEvidence, name: str) -> str:
    return " ".join(str(evidence.purpose.get(name, "")).split())


def _title(evidence: PublicEvidence) -> str:
    return evidence.title or f"custos-{evidence.bundle_id}"


def _tree(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return members without those that say nothing."""
    return {name: value for name, value in members.items() if value not in ("", None, [], {}, ())}


def _quote(name: str) -> str:
    """Return the name of a file as a relative address.

    Examples
    --------
    >>> _quote("größe 1.csv")
    'gr%C3%B6%C3%9Fe%201.csv'
    """
    kept = {ord(one) for one in string.ascii_letters + string.digits + "-._~"}
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in name.encode())


# --- RO-Crate -------------------------------------------------------------------------------------------


def ro_crate(evidence: PublicEvidence) -> dict[str, Any]:
    """Return the description of the folder as a research object: files, who made them, by what, from what."""
    made = [_quote(str(line["file"])) for line in evidence.artefacts]
    papers = list(DESCRIBED)
    organisation = _said(evidence, "organisation")
    agreement = _said(evidence, "agreement")
    source = {"@id": "#table"} if evidence.input_name else {}  # a kit for answers is made from no table
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": _title(evidence),
        "description": _said(evidence, "use") or _title(evidence),
        "datePublished": evidence.made_at,
        "identifier": evidence.bundle_id,
        "license": {"@id": "#agreement"},
        "author": {"@id": "#organisation"},
        "publisher": {"@id": "#organisation"},
        "hasPart": [{"@id": name} for name in (*made, *papers)],
        "mentions": [{"@id": "#release"}],
    }
    release = {
        "@id": "#release",
        "@type": ["CreateAction", "prov:Activity"],
        "name": evidence.method["id"],
        "endTime": evidence.made_at,
        "agent": {"@id": "#organisation"},
        "instrument": {"@id": "#program"},
        "object": source,
        "result": [{"@id": name} for name in made],
        "prov:used": source,
        "prov:wasAssociatedWith": {"@id": "#organisation"},
        "dpv:hasTechnicalMeasure": {"@id": MEASURES.get(evidence.promise.kind, OTHER_MEASURE)},
        "dpv:hasPurpose": _said(evidence, "use"),
        "dpv:hasLegalBasis": _said(evidence, "legal_basis"),
    }
    table = {
        "@id": "#table",
        "@type": ["CreativeWork", "prov:Entity"],
        "name": _said(evidence, "population") or "Table of the custodian; it is not in this folder",
        "identifier": evidence.input_name,
        "temporal": _said(evidence, "period"),
    }
    program = {
        "@id": "#program",
        "@type": ["SoftwareApplication", "prov:SoftwareAgent"],
        "name": str(evidence.program["name"]),
        "version": str(evidence.program["version"]),
    }
    descriptor = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": PROFILE},
        "about": {"@id": "./"},
    }
    owner = {"@id": "#organisation", "@type": "Organization", "name": organisation or "not stated"}
    terms = {"@id": "#agreement", "@type": "CreativeWork", "name": agreement or "not stated"}
    graph: list[dict[str, Any]] = [descriptor, root, *_files(evidence), release, program, owner, terms]
    graph += [table] if source else []
    return {
        "@context": [
            f"{PROFILE}/context",
            {"prov": "http://www.w3.org/ns/prov#", "dpv": "https://w3id.org/dpv#"},
        ],
        "@graph": [_tree(one) for one in graph],
    }


def _files(evidence: PublicEvidence) -> Iterator[dict[str, Any]]:
    meanings = {
        name: str(entry["meaning"])
        for entry in evidence.dictionary
        if entry.get("meaning")
        for name in files_of(entry)
    }
    for line in evidence.artefacts:
        name = str(line["file"])
        source = _quote(str(line.get("copy_of", ""))) or ("#table" if evidence.input_name else "")
        yield {
            "@id": _quote(name),
            "@type": ["File", "prov:Entity"],
            "name": name,
            "description": meanings.get(name, ""),
            "encodingFormat": str(line["media_type"]),
            "sha256": str(line["sha256"]),
            "prov:wasGeneratedBy": {"@id": "#release"},
            "prov:wasDerivedFrom": {"@id": source} if source else {},
        }
    for name, media_type in DESCRIBED.items():
        yield {"@id": name, "@type": "File", "name": name, "encodingFormat": media_type}


# --- HealthDCAT-AP --------------------------------------------------------------------------------------


def health_dcat(evidence: PublicEvidence) -> dict[str, Any]:
    """Return a description of the release as a data set of a health data holder, as far as it is known.

    Notes
    -----
    HealthDCAT-AP was a draft when this was written. How many people there are is never told: the number of
    records is that of the released rows, given only where rows leave.
    """
    status = {kind.id: str(kind.status) for kind in promise_kinds()}
    rows = [line["rows"] for line in evidence.artefacts if "rows" in line]
    is_rows = evidence.method["family"] == "dataset"
    tree = {
        "@context": {
            "dcat": "http://www.w3.org/ns/dcat#",
            "dcatap": "http://data.europa.eu/r5r/",
            "dct": "http://purl.org/dc/terms/",
            "dpv": "https://w3id.org/dpv#",
            "foaf": "http://xmlns.com/foaf/0.1/",
            "healthdcatap": "http://healthdataportal.eu/ns/health#",
            "spdx": "http://spdx.org/rdf/terms#",
            "vcard": "http://www.w3.org/2006/vcard/ns#",
            "custos": "urn:custos:",
        },
        "@id": f"urn:custos:{evidence.bundle_id}",
        "@type": "dcat:Dataset",
        "dct:title": _title(evidence),
        "dct:description": _said(evidence, "inclusion") or _title(evidence),
        "dct:issued": evidence.made_at,
        "dct:publisher": _named("foaf:Agent", "foaf:name", _said(evidence, "organisation")),
        "dcat:contactPoint": _named("vcard:Kind", "vcard:fn", _said(evidence, "contact")),
        "dct:accessRights": {"@id": NOT_PUBLIC},
        "dcatap:applicableLegislation": {"@id": EHDS},
        "dct:provenance": _named("dct:ProvenanceStatement", "dct:description", " · ".join(_origin(evidence))),
        "dct:temporal": _named("dct:PeriodOfTime", "dct:description", _said(evidence, "period")),
        "healthdcatap:populationCoverage": _said(evidence, "population"),
        "healthdcatap:numberOfRecords": rows[0] if is_rows and rows else None,
        "dpv:hasPurpose": _said(evidence, "use"),
        "dpv:hasLegalBasis": _said(evidence, "legal_basis"),
        "dpv:hasTechnicalMeasure": {"@id": MEASURES.get(evidence.promise.kind, OTHER_MEASURE)},
        "custos:status": status.get(evidence.promise.kind, ""),
        "dcat:distribution": [_distribution(line) for line in evidence.artefacts],
    }
    found = _tree(tree)
    open_fields = [name for name in tree if name not in found and name != "healthdcatap:numberOfRecords"]
    return found | {"custos:missing": [*open_fields, *HOLDER_ADDS]}


def _origin(evidence: PublicEvidence) -> Iterator[str]:
    yield f"{evidence.program['name']} {evidence.program['version']}: {evidence.method['id']}"
    yield evidence.promise.kind


def _named(kind: str, member: str, text: str) -> dict[str, str]:
    return {"@type": kind, member: text} if text else {}


def _distribution(line: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "dcat:Distribution",
        "dct:title": str(line["file"]),
        "dcat:mediaType": str(line["media_type"]),
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": str(line["sha256"]),
        },
    }


# --- Croissant ------------------------------------------------------------------------------------------

DATA_TYPES = {"integer": "sc:Integer", "number": "sc:Float", "date": "sc:Date"}
_TERMS = ("citeAs", "column", "extract", "field", "fileObject", "md5", "recordSet", "source")
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _TERMS},
}


def croissant(evidence: PublicEvidence, tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the description of the tables for programs that learn from data.

    ``tables`` are the resources of the data package that have a schema.
    """
    csv = {one["path"] for one in tables}
    files = [line for line in evidence.artefacts if line["file"] in csv]
    tree = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"custos-{evidence.bundle_id}",
        "description": _title(evidence),
        "datePublished": evidence.made_at,
        "version": "1.0.0",
        "license": _said(evidence, "agreement"),
        "creator": _named("sc:Organization", "name", _said(evidence, "organisation")),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": str(line["file"]),
                "name": str(line["file"]),
                "contentUrl": _quote(str(line["file"])),
                "encodingFormat": "text/csv",
                "sha256": str(line["sha256"]),
            }
            for line in files
        ],
        "recordSet": [_records(one) for one in tables],
    }
    return _tree(tree)


def _records(table: Mapping[str, Any]) -> dict[str, Any]:
    name = PurePosixPath(table["path"]).stem
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{field['name']}",
                "name": field["name"],
                "description": field["description"],
                "dataType": DATA_TYPES.get(field["type"], "sc:Text"),
                "source": {"fileObject": {"@id": table["path"]}, "extract": {"column": field["name"]}},
            }
            for field in table["schema"]["fields"]
        ],
    }
