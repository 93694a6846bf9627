"""What is made beside the tables on wish: copies that read back the same, and descriptions for catalogues."""

from __future__ import annotations

import csv
import hashlib
import importlib
import io
import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as parquet
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputRefused
from engine.evidence import read_public
from engine.methods.protocol import MAIN
from engine.release import bundle, catalogue_descriptions, copies, package
from engine.release.plan import Plan
from engine.release.verify import verify
from tests.engine.release.conftest import Runner

FIELDS: list[dict[str, Any]] = [
    {
        "name": "sex",
        "type": "string",
        "description": "Sex at birth",
        "categories": [{"value": "1", "label": "woman"}, {"value": "2", "label": "man"}],
        "categoriesOrdered": False,
    },
    {"name": "größe x", "type": "number", "description": "Height", "unit": "cm"},
    {"name": "n", "type": "integer", "description": "How many"},
    {"name": "by", "type": "date", "description": "Day of the visit"},
    {"name": "note", "type": "string", "description": "In words"},
    {
        "name": "A1C",
        "type": "string",
        "description": "Long-term sugar",
        "categories": [{"value": "None", "label": "None"}, {"value": ">8", "label": "high"}],
        "categoriesOrdered": True,
    },
]
ROWS = [
    ["1", "0.1", "5", "2020-01-02", "NA", "None"],
    [""] * 6,
    ["2", "-3.5e-07", "-7", "1582-10-15", "ü", ">8"],
]


def written(rows: list[list[str]], fields: list[dict[str, Any]] = FIELDS) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([[one["name"] for one in fields], *rows])
    return text.getvalue().encode()


@pytest.mark.parametrize("ending", copies.COPIES)
def test_a_copy_is_the_same_in_every_making_and_any_other_cell_is_found(ending: str) -> None:
    content = written(ROWS)
    made = copies.copy_table(content, FIELDS, ending, title="Stays")
    assert made == copies.copy_table(content, FIELDS, ending, title="Stays")
    year = str(date.today().year).encode()
    assert year not in made, "no copy says when it was made"
    assert not copies.differs(made, content, FIELDS, ending)
    for row, cells in enumerate(ROWS):
        for at in range(len(FIELDS)):
            others = {"", *(line[at] for line in ROWS)} - {cells[at]}
            for other in others:
                changed = [[*line] for line in ROWS]
                changed[row][at] = other
                assert copies.differs(made, written(changed), FIELDS, ending), (row, at, other)
    for at, member, other in ((0, "description", "?"), (1, "unit", "m"), (2, "name", "m")):
        fields = [dict(one) for one in FIELDS]
        fields[at][member] = other
        assert copies.differs(made, written(ROWS, fields), fields, ending), (at, member)
    fields = [dict(one) for one in FIELDS]
    fields[0]["categories"] = [{"value": "1", "label": "man"}, {"value": "2", "label": "woman"}]
    assert copies.differs(made, written(ROWS, fields), fields, ending)


def test_the_packages_read_types_labels_and_missing_cells(tmp_path: Path) -> None:
    for ending, read in (("sav", pyreadstat.read_sav), ("dta", pyreadstat.read_dta)):
        path = tmp_path / f"table.{ending}"
        path.write_bytes(copies.copy_table(written(ROWS), FIELDS, ending, title="Stays"))
        frame, meta = read(str(path), apply_value_formats=True)
        assert list(frame.columns) == ["sex", "gr__e_x", "n", "v_by", "note", "A1C"]
        assert list(frame["sex"])[::2] == ["woman", "man"] and pd.isna(frame["sex"][1])
        assert list(frame["A1C"])[::2] == ["None", ">8 = high"], "None is a value"
        assert frame["v_by"][0] == date(2020, 1, 2) and frame["gr__e_x"][2] == -3.5e-07
        assert meta.column_names_to_labels["gr__e_x"] == "größe x: Height (cm)"
    table = parquet.read_table(io.BytesIO(copies.copy_table(written(ROWS), FIELDS, "parquet", title="")))
    assert str(table.schema.field("n").type) == "int64" and table.schema.field("A1C").type.ordered
    assert table.schema.field("sex").metadata[b"labels"] == b"1 = woman; 2 = man"


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False).map(repr),
            st.integers(-(2**53), 2**53).map(str),
            st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20),
        ),
        max_size=4,
    )
)
def test_whatever_a_copy_says_it_says_rightly(rows: list[tuple[str, str, str]]) -> None:
    """A copy is right, or there is none."""
    for ending in copies.COPIES:
        content = written([["", number, whole, "", text, ""] for number, whole, text in rows])
        try:
            made = copies.copy_table(content, FIELDS, ending, title="")
        except Exception:
            continue
        assert not copies.differs(made, content, FIELDS, ending)


# --- in a bundle ------------------------------------------------------------------------------------------


def test_copies_leave_with_the_release_and_verify_reads_them_back(run: Runner, plan: Plan) -> None:
    sex = replace(plan.schema.column("sex"), labels={"f": "woman"}, meaning="Sex at birth")
    made = run(schemas={MAIN: plan.schema.with_column(sex)}, also=(*copies.COPIES, *copies.DESCRIPTIONS))
    release = made.folder / "release"
    lines = {line["file"]: line for line in json.loads((release / "evidence.json").read_text())["artefacts"]}
    copied = {name for name, line in lines.items() if "copy_of" in line}
    assert copied == {f"counts.{ending}" for ending in copies.COPIES}
    found = verify(made.folder)
    assert found.passed and "copies" in {check.id for check in found.checks}
    frame, meta = pyreadstat.read_sav(str(release / "counts.sav"), apply_value_formats=True)
    assert list(frame["count"]) == list(pd.read_csv(release / "counts.csv")["count"])
    assert "woman" in set(frame["sex"]) and meta.column_names_to_labels["sex"].startswith("Sex at birth")


@pytest.mark.parametrize("ending", copies.COPIES)
def test_a_copy_that_says_something_else_is_found_whatever_the_sums_say(
    run: Runner, plan: Plan, ending: str
) -> None:
    made = run(also=(ending,))
    release = made.folder / "release"
    tree = json.loads((release / "evidence.json").read_text(encoding="utf-8"))
    resources = package.data_package(read_public(tree))["resources"]
    (fields,) = (one["schema"]["fields"] for one in resources if one["path"] == "counts.csv")
    lines = (release / "counts.csv").read_text(encoding="utf-8").splitlines()
    cells = lines[1].split(",")
    cells[2] = str(int(cells[2]) + 1)
    other = "\n".join([lines[0], ",".join(cells), *lines[2:], ""]).encode()
    forged = copies.copy_table(other, fields, ending, title=tree["title"])
    name = f"counts.{ending}"
    (release / name).write_bytes(forged)
    for part in ("release", "internal"):
        path = made.folder / part / "evidence.json"
        said = json.loads(path.read_text(encoding="utf-8"))
        for line in said["artefacts"]:
            if line["file"] == name:
                line["sha256"] = hashlib.sha256(forged).hexdigest()
        path.write_text(json.dumps(said, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (made.folder / part / "SHA256SUMS").unlink()
        bundle.write_sums(made.folder / part)
    codes = {(problem.code, problem.values.get("file")) for problem in verify(made.folder).problems}
    assert ("bundle.copy_differs", f"release/{name}") in codes


def test_a_plan_wishes_for_what_there_is(plan: Plan) -> None:
    tree = plan.to_json()
    assert "also" not in tree and Plan.loads(json.dumps(tree)) == plan
    assert Plan.loads(json.dumps(tree | {"also": ["dta", "sav", "dta"]})).also == ("dta", "sav")
    with pytest.raises(InputRefused):
        Plan.loads(json.dumps(tree | {"also": ["xlsx"]}))


def test_what_a_format_cannot_hold_is_said_and_loses_no_release(
    run: Runner, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*said: Any, **options: Any) -> bytes:
        raise ValueError("too long")

    monkeypatch.setattr("engine.release.write.copy_table", refuse)
    made = run(also=("dta",))
    assert verify(made.folder).passed and not list((made.folder / "release").glob("*.dta"))
    report = (made.folder / "release" / "report-external.html").read_text(encoding="utf-8")
    assert "“counts.csv” was wished for as .dta too" in report


# --- descriptions ---------------------------------------------------------------------------------------


def test_descriptions_say_what_is_in_the_folder_and_name_nobody(run: Runner, plan: Plan) -> None:
    made = run(also=("sav", "healthdcat", "croissant"))
    release = made.folder / "release"
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in release.iterdir()}
    graph = {one["@id"]: one for one in json.loads((release / linked_name("crate")).read_text())["@graph"]}
    assert graph["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    parts = [one["@id"] for one in graph["./"]["hasPart"]]
    assert set(parts) <= sums.keys() & graph.keys()
    assert all(graph[name].get("sha256", sums[name]) == sums[name] for name in parts)
    for one in graph.values():  # every reference leads to something that is described
        for value in one.values():
            for inner in value if isinstance(value, list) else [value]:
                reference = inner.get("@id", "") if isinstance(inner, dict) else ""
                assert reference in graph or reference.startswith(("https://", "dpv:")) or not reference
    assert graph["#release"]["dpv:hasTechnicalMeasure"] == {"@id": "dpv:DifferentialPrivacy"}
    assert graph["counts.sav"]["prov:wasDerivedFrom"] == {"@id": "counts.csv"}
    health = json.loads((release / linked_name("health")).read_text())
    assert "healthdcatap:numberOfRecords" not in health and "healthdcatap:hdab" in health["custos:missing"]
    assert len(health["dcat:distribution"]) == 2
    learning = json.loads((release / linked_name("croissant")).read_text())
    for one in learning["distribution"]:
        assert one["sha256"] == sums[one["contentUrl"]]
    for one in learning["recordSet"]:
        heads = list(pd.read_csv(release / f"{one['name']}.csv").columns)
        assert [field["source"]["extract"]["column"] for field in one["field"]] == heads


def linked_name(which: str) -> str:
    return {"crate": bundle.CRATE, "health": bundle.HEALTH, "croissant": bundle.CROISSANT}[which]


def test_every_kind_of_promise_has_a_term() -> None:
    assert set(catalogue_descriptions.MEASURES.values()) | {catalogue_descriptions.OTHER_MEASURE} == {
        "dpv:DifferentialPrivacy",
        "dpv:Pseudonymisation",
        "dpv:Deidentification",
    }


def have(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


@pytest.mark.skipif(not have("frictionless"), reason="an extra of the tests: frictionless")
def test_a_validator_takes_the_data_package(run: Runner) -> None:
    import frictionless

    made = run(also=(*copies.COPIES, *copies.DESCRIPTIONS))
    report = frictionless.validate(str(made.folder / "release" / bundle.PACKAGE))
    assert report.valid, report.flatten(["message"])


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_a_text_that_is_cut_at_a_blank_is_no_reason_against_a_copy(ending: str) -> None:
    """Before, a life table had none for Stata: packages keep no blank at the end of a label."""
    words = "One interval after the other; é ist ein Wort. " * 8
    for first in range(8):
        fields = [
            {"name": "n", "type": "integer", "description": words[first:]},
            {
                "name": "c",
                "type": "string",
                "description": "x ",
                "categories": [{"value": "a", "label": words[first:]}, {"value": "b", "label": "b "}],
                "categoriesOrdered": False,
            },
        ]
        content = b"n,c\n1,a\n2,b\n"
        copy = copies.copy_table(content, fields, ending, title="t")
        assert not copies.differs(copy, content, fields, ending)
