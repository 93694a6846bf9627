"""Files that programs read: the data package, the scripts that load by it, and the schema of the evidence."""

from __future__ import annotations

import copy
import csv
import hashlib
import itertools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from engine.evidence import read_public
from engine.formulas import escape_formula
from engine.methods import catalogue
from engine.methods.shared.cells import Extra, LevelAxis
from engine.release import bundle, copies, package
from engine.release.readme import describe_files, readme
from engine.table.reading.readers import read_table
from engine.table.schema import Column, Domain, Kind, Origin
from tests.engine.methods import examples_run
from tests.json_schema import misfits

FEW = (
    *("statistics.counts", "statistics.means", "statistics.protected_table", "statistics.quantiles"),
    "services.private_queries",
    *("datasets.k_anonymity", "datasets.imputation", "datasets.linked", "datasets.marginals"),
    *("models.tree", "exchanges.survey"),
)
SCHEMA = json.loads(files("resources").joinpath("report", "evidence.schema.json").read_text(encoding="utf-8"))
PARSERS = {"integer": int, "number": float, "string": str, "date": pd.Timestamp}


def method(method_id: str):
    (found,) = (one for one in catalogue.methods() if one.id == method_id)
    return found


def releases(method_id: str) -> Iterator[Path]:
    for _, folder in examples_run.ran(method(method_id)):
        yield folder / "release"


def evidence_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "evidence.json").read_text(encoding="utf-8"))


def package_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))


def cells(path: Path) -> list[dict[str, str]]:
    """Return the rows; a line without anything is none here, so that nothing may write one for a row."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("method_id", FEW)
def test_a_data_package_says_of_every_file_what_it_is(method_id):
    for folder in releases(method_id):
        found = package_of(folder)
        assert found["$schema"] == package.PROFILE
        listed = {one["path"] for one in found["resources"]}
        files = {one["file"] for one in evidence_of(folder)["artefacts"]}
        assert listed == {one for one in files if not one.endswith(".xlsx")}
        assert len({one["name"] for one in found["resources"]}) == len(found["resources"])
        for one in found["resources"]:
            content = (folder / one["path"]).read_bytes()
            assert one["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
            assert ("schema" in one) == (one["format"] == "csv")


@pytest.mark.parametrize("method_id", FEW)
def test_every_cell_is_of_the_type_and_category_that_the_package_says(method_id):
    for folder in releases(method_id):
        for one in package_of(folder)["resources"]:
            if "schema" not in one:
                continue
            rows, fields = cells(folder / one["path"]), one["schema"]["fields"]
            assert [field["name"] for field in fields] == list(rows[0])
            for field in fields:
                kept = [row[field["name"]] for row in rows if row[field["name"]] != ""]
                for cell in kept:
                    PARSERS[field["type"]](cell)
                if "categories" in field:
                    assert set(kept) <= {level["value"] for level in field["categories"]}
                margin = field.get("custos:margin95")
                units = {other["name"]: other.get("unit", "") for other in fields}
                assert margin is None or units[margin] == field.get("unit", "")


def test_a_margin_belongs_to_the_number_before_it():
    for folder in releases("statistics.counts"):
        fields = {
            (one["path"], field["name"]): field.get("custos:margin95")
            for one in package_of(folder)["resources"]
            for field in one.get("schema", {}).get("fields", ())
        }
        assert fields["counts.csv", "count"] == fields["totals.csv", "total"] == "within_95"
        assert fields["counts.csv", "within_95"] is None


def loaded(folder: Path, name: str) -> pd.DataFrame:
    space: dict[str, Any] = {"__file__": str(folder / "read.py"), "__name__": "read"}
    exec(
        compile((folder / "read.py").read_text(encoding="utf-8"), "read.py", "exec"), space
    )  # as import does
    return space["load"](name)


@pytest.mark.parametrize("method_id", FEW)
def test_the_script_loads_every_table_to_the_letter(method_id):
    for folder in releases(method_id):
        for one in package_of(folder)["resources"]:
            if "schema" not in one:
                continue
            frame, rows = loaded(folder, one["path"]), cells(folder / one["path"])
            assert len(frame) == len(rows)
            for field in one["schema"]["fields"]:
                name, kind = field["name"], field["type"]
                assert str(frame[name].dtype) != "object" or kind == "string"
                for row, value in zip(rows, frame[name], strict=True):
                    if row[name] == "":
                        assert pd.isna(value)
                    else:
                        assert value == PARSERS[kind](row[name]), (name, row[name], value)
                if "custos:margin95" in field:
                    weak = [
                        abs(float(row[name])) <= float(row[field["custos:margin95"]])
                        for row in rows
                        if row[name] and row[field["custos:margin95"]]
                    ]
                    assert weak == [bool(one) for one in frame[f"{name}_weak"] if not pd.isna(one)]


def odd_release(tmp_path: Path, values: list[str], kind: str = "ordinal") -> Path:
    """Return a release folder with one table whose category reads as missing, or as code, elsewhere."""
    base = next(releases("datasets.k_anonymity"))
    tree = evidence_of(base)
    line = {"file": "table.csv", "sha256": "0" * 64, "media_type": "text/csv", "rows": 9, "columns": ["a"]}
    columns = [
        {"name": "a", "kind": kind, "meaning": "One of a few.", "values": values},
        {"name": "n", "kind": "integer", "meaning": "How many.", "unit": "people"},
        {"name": "n_within_95", "kind": "integer", "meaning": "The margin."},
    ]
    tree |= {"artefacts": [line], "dictionary": [{"file": "table.csv", "columns": columns}]}
    for name, content in package.package_files(read_public(tree)).items():
        (tmp_path / name).write_bytes(content)
    frame = pd.DataFrame({"a": values, "n": range(len(values)), "n_within_95": 1})
    (tmp_path / "table.csv").write_bytes(bundle._csv(frame))
    return tmp_path


ODD = ["None", "NA", "null", "nan", "N/A", "=1+1", 'say "no"', "back\\slash", "ü", "a,b"]


def test_a_category_that_reads_as_missing_survives(tmp_path):
    folder = odd_release(tmp_path, ODD)
    assert pd.read_csv(folder / "table.csv")["a"].isna().sum() == 5  # what a plain reader loses
    frame = loaded(folder, "table.csv")
    assert frame["a"].isna().sum() == 0
    assert list(frame["a"].cat.categories) == [escape_formula(one) for one in ODD]
    assert frame["a"].cat.ordered
    assert list(frame["n_weak"]) == [number <= 1 for number in range(len(ODD))]
    assert frame.attrs["margins"] == {"n": "n_within_95"} and frame.attrs["units"] == {"n": "people"}


@pytest.mark.parametrize("kind", ["integer", "number", "date"])
@pytest.mark.parametrize(
    "values",
    [
        ["1", "2", "(missing)"],
        ["1", "other"],
        ["(all)", "3"],
        ["never", "often"],
        ["1_0"],
        ["1", "٢"],
        ["nan"],
    ],
)
def test_a_column_of_numbers_that_can_read_as_a_word_is_a_list_of_words(kind, values, tmp_path):
    """Before, counts by a coded column, or invented rows with one, could not be loaded by their script."""
    folder = odd_release(tmp_path, values, kind)
    (found,) = package_of(folder)["resources"]
    field = found["schema"]["fields"][0]
    assert field["type"] == "string"
    assert list(loaded(folder, "table.csv")["a"]) == values
    content = (folder / "table.csv").read_bytes()
    for ending in copies.COPIES:
        copies.copy_table(content, found["schema"]["fields"], ending, title="t")


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("integer", ["-1", "2"], "integer"),
        ("number", ["0.5", "1e-7"], "number"),
        ("date", ["2021-03-01"], "date"),
        ("integer", ["0.5"], "string"),
        ("integer", [], "integer"),
    ],
)
def test_a_column_of_numbers_alone_stays_one(kind, values, expected):
    (field,) = package.fields_of([{"name": "a", "kind": kind, "values": values}])
    assert field["type"] == expected


@pytest.mark.parametrize("largest", [2**53 + 1, 2**63 - 1, 2**63, 9497548078342375932428288, -(2**63) - 1])
def test_whole_numbers_of_any_length_are_loaded_to_the_letter(largest, tmp_path):
    """Before, the script stopped at the first that 64 bits do not hold."""
    folder = odd_release(tmp_path, ["a", "b", "c"])
    for missing in (None, "7"):
        frame = pd.DataFrame({"a": ["a", "b", "c"], "n": [str(largest), "7", missing], "n_within_95": 1})
        (folder / "table.csv").write_bytes(bundle._csv(frame))
        found = loaded(folder, "table.csv")
        assert [int(one) for one in found["n"] if not pd.isna(one)] == [largest, 7, 7][: 2 + bool(missing)]
        assert found["n_weak"].tolist()[:2] == [False, False]


def test_every_label_of_counts_by_a_declared_column_is_of_the_type_that_is_said():
    """Kinds × what was declared × cells beside them, with and without meanings of codes."""
    declared = {
        Kind.INTEGER: (Domain(Fraction(0), Fraction(3)), Domain(values=("1", "2", "5"))),
        Kind.NUMBER: (Domain(Fraction(0), Fraction(1), Fraction(1, 4)), Domain(values=("0.5", "2"))),
        Kind.CATEGORY: (Domain(values=("1", "2")),),
        Kind.ORDINAL: (Domain(values=("low", "high")),),
    }
    for kind, domains in declared.items():
        for domain, labels, extra in itertools.product(domains, ({}, {"2": "often"}), Extra):
            axis = LevelAxis(
                Column("a", kind=kind, domain=domain, domain_origin=Origin.DECLARED, labels=labels), extra
            )
            (field,) = package.fields_of([{"name": "a", "kind": axis.entry.kind, "values": axis.labels}])
            for label in axis.labels:
                PARSERS[field["type"]](label)


def test_the_script_of_r_has_the_same_levels(tmp_path):
    """Strings of R, read as R reads them: what stands between quotation marks, with its escapes."""
    script = (odd_release(tmp_path, ODD) / "read.R").read_text(encoding="utf-8")
    (levels,) = re.findall(r'"a" = list\(c\((.*)\), TRUE\)', script)
    read = re.findall(r'"((?:[^"\\]|\\.)*)"', levels)
    known = [re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), one) for one in read]
    assert [re.sub(r"\\(.)", r"\1", one) for one in known] == [escape_formula(one) for one in ODD]
    assert script.count("(") == script.count(")") and 'na.strings = ""' in script
    assert 'margins = list("n" = "n_within_95")' in script


BLANK = {  # tables with rows of which every cell is missing, or only looks so
    "one column": ({"a": ["x", None, "y", None]}, 2),
    "one column, nothing else": ({"a": [None, None]}, 2),
    "one column of numbers": ({"n": pd.array([1, None, None], dtype="Int64")}, 2),
    "one column of blanks": ({"a": [" ", "x", "\u2003", None, "   "]}, 1),
    "several columns": ({"a": [None, "x", None], "n": pd.array([None, 2, None], dtype="Int64")}, 2),
    "several columns, blanks": ({"a": [" ", "x", None], "b": [None, " ", None]}, 1),
}


def blank_release(tmp_path: Path, case: str) -> tuple[Path, pd.DataFrame]:
    """Return a release folder with one table some of whose rows have no cell, and what was released."""
    frame = pd.DataFrame(BLANK[case][0])
    tree = evidence_of(next(releases("datasets.k_anonymity")))
    content = bundle._csv(frame)
    line = {"file": "table.csv", "sha256": hashlib.sha256(content).hexdigest(), "media_type": "text/csv"}
    line |= {"rows": len(frame), "columns": list(frame)}
    columns = [
        {"name": name, "kind": "integer" if name == "n" else "category", "meaning": "Something."}
        for name in frame
    ]
    tree |= {"artefacts": [line], "dictionary": [{"file": "table.csv", "columns": columns}]}
    for name, made in package.package_files(read_public(tree)).items():
        (tmp_path / name).write_bytes(made)
    (tmp_path / "table.csv").write_bytes(content)
    return tmp_path, frame


@pytest.mark.parametrize("case", BLANK)
def test_a_row_without_any_cell_is_a_row_for_every_reader(case, tmp_path):
    """Before, a line of blanks alone was no row for pandas, and a missing cell alone none for R."""
    folder, frame = blank_release(tmp_path, case)
    content = (folder / "table.csv").read_bytes()
    assert len(pd.read_csv(folder / "table.csv")) == len(frame)
    assert len(cells(folder / "table.csv")) == len(frame)
    assert len(read_table(folder / "table.csv").rows()) == len(frame)
    found = loaded(folder, "table.csv")
    assert found.isna().to_numpy().tolist() == frame.isna().to_numpy().tolist()
    fields = package_of(folder)["resources"][0]["schema"]["fields"]
    copy = copies.copy_table(content, fields, "parquet", title="t")
    assert not copies.differs(copy, content, fields, "parquet")
    if find_spec("frictionless") is not None:
        assert check_package(folder) == BLANK[case][1]


R_CELLS = """
said <- function(x) ifelse(is.na(x), "", if (is.numeric(x)) sprintf("%.17g", x) else as.character(x))
for (folder in commandArgs(trailingOnly = TRUE)) {
  source(file.path(folder, "read.R"))
  for (name in names(tables)) {
    frame <- load_table(name, folder)[names(tables[[name]]$kinds)]
    cat(folder, name, nrow(frame), levels(frame[[1]]), "\n", sep = "\x1f")
    for (column in frame) cat(said(column), "", sep = "\x1f")
    cat("\n")
  }
}
"""


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not on this machine")
def test_the_script_of_r_loads_every_table_to_the_letter(tmp_path):
    few = ("statistics.counts", "datasets.k_anonymity", "statistics.protected_table")
    (tmp_path / "odd").mkdir()
    folders = [odd_release(tmp_path / "odd", ODD), *(folder for one in few for folder in releases(one))]
    for place, case in enumerate(BLANK):
        (tmp_path / str(place)).mkdir()
        folders.append(blank_release(tmp_path / str(place), case)[0])
    (tmp_path / "cells.R").write_text(R_CELLS)
    asked = ["Rscript", "--encoding=UTF-8", str(tmp_path / "cells.R"), *map(str, folders)]
    printed = subprocess.run(asked, capture_output=True, check=True, encoding="utf-8", timeout=120).stdout
    lines = printed.split("\n")
    loaded_by_r = 0
    for head, body in zip(lines[::2], lines[1::2], strict=False):
        folder, name, count, *_ = head.split("\x1f")
        rows = cells(Path(folder) / name)
        wanted = [row[column] for column in rows[0] for row in rows]
        read = body.split("\x1f")[: len(wanted)]
        assert len(rows) == int(count) and len(read) == len(wanted)
        assert all(one == two or float(one) == float(two) for one, two in zip(read, wanted, strict=True))
        loaded_by_r += 1
    assert loaded_by_r >= len(folders)


def test_the_script_runs_alone(tmp_path):
    folder = odd_release(tmp_path, ODD)
    ran = subprocess.run(
        [sys.executable, "-B", "read.py"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0 and "table.csv: 10 rows" in ran.stdout, ran.stderr


@pytest.mark.parametrize("method_id", FEW)
def test_they_are_made_again_to_the_byte(method_id):
    for folder in releases(method_id):
        again = package.package_files(read_public(evidence_of(folder)))
        assert again.keys() == (bundle.READERS - {bundle.MODEL_CARD, bundle.MODEL_CARD_PDF}) & {
            path.name for path in folder.iterdir()
        }
        assert all((folder / name).read_bytes() == content for name, content in again.items())
        assert again.keys() <= describe_files((folder / "evidence.json").read_bytes()).keys()


# --- the schema of the evidence ---------------------------------------------------------------------------


@pytest.mark.parametrize("method_id", FEW)
def test_the_schema_takes_the_evidence_of_every_release(method_id):
    for folder in releases(method_id):
        assert list(misfits(evidence_of(folder), SCHEMA, SCHEMA)) == []


def test_the_schema_takes_what_papers_in_further_languages_need(run):
    made = run(also=("de",))
    tree = evidence_of(made.folder / "release")
    assert any("says" in column for entry in tree["dictionary"] for column in entry.get("columns", ()))
    assert list(misfits(tree, SCHEMA, SCHEMA)) == []


def check_package(folder: Path) -> int:
    """Fail where a validator says more of a package than which rows have no cell; return how many have none.

    Released people can be such rows: each counts, and the validator calls it a blank one.
    """
    import frictionless

    report = frictionless.validate(str(folder / "datapackage.json"), limit_errors=10**6)
    assert not report.errors
    said = {(task.place, *one) for task in report.tasks for one in task.flatten(["type", "rowNumber"])}
    tables = [one["path"] for one in package_of(folder)["resources"] if "schema" in one]
    empty = {
        (name, "blank-row", place)
        for name in tables
        for place, row in enumerate(cells(folder / name), 2)
        if not any(row.values())
    }
    assert said == empty
    return len(empty)


@pytest.mark.parametrize("method_id", [*FEW, "datasets.masking", "statistics.flows", "models.additive"])
@pytest.mark.skipif(find_spec("frictionless") is None, reason="an extra of the tests: frictionless")
def test_validators_take_package_and_evidence_of_every_release(method_id):
    import jsonschema

    found = jsonschema.Draft202012Validator(SCHEMA)
    for folder in releases(method_id):
        check_package(folder)
        assert not list(found.iter_errors(evidence_of(folder)))
        if folder.parent.name == "example" and method_id == "statistics.counts":
            wrong = [name for name, mutant in mutants(evidence_of(folder)) if found.is_valid(mutant)]
            assert not wrong


def mutants(tree: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give evidence with one fault each."""
    for name in tree:
        yield f"without {name}", {key: value for key, value in tree.items() if key != name}
        yield f"{name} of another type", tree | {name: 4.5 if not isinstance(tree[name], int) else "1"}
    faults = (
        *((("more",), 1), (("version",), 2), (("audience",), "internal"), (("bundle_id",), "x")),
        *((("made_at",), "yesterday"), (("artefacts",), []), (("artefacts", 0, "sha256"), "0" * 63)),
        *((("artefacts", 0, "file"), "../out.csv"), (("artefacts", 0, "rows"), -1)),
        *((("promise", "epsilon"), "0.5"), (("promise", "unit"), "household"), (("promise", "kind"), "")),
        *((("views", 0, "kind"), "film"), (("dictionary", 0, "columns", 0, "kind"), "colour")),
        *((("ledger", "head", "hash"), "none"), (("ledger", "head", "sequence"), True)),
        *((("counted", "secret"), 3), (("register", "epsilon_spent"), "much"), (("noise", "seed"), "7")),
        *((("method", "id"), "Counts"), (("statement", "posterior", "presence"), 1.2)),
    )
    for path, value in faults:
        changed = copy.deepcopy(tree)
        place: Any = changed
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value
        yield f"{path} is {value!r}", changed


def test_the_schema_refuses_evidence_with_a_fault():
    tree = evidence_of(next(releases("statistics.counts")))
    tried = list(mutants(tree))
    assert len(tried) >= 50
    assert [name for name, mutant in tried if not list(misfits(mutant, SCHEMA, SCHEMA))] == []


@pytest.mark.parametrize("language", ("en", "de", "fr"))
@pytest.mark.parametrize("method_id", ("statistics.counts", "models.tree", "exchanges.survey"))
def test_the_readme_names_the_files_of_the_folder_and_no_other(method_id, language):
    for folder in releases(method_id):
        said = readme(read_public(evidence_of(folder)), language=language)
        named = {
            one.rstrip(",") for one in re.findall(r"^  (\S+\.\w+,?|SHA256SUMS)(?: |$)", said, re.MULTILINE)
        }
        assert {"evidence.json", "SHA256SUMS"} <= named <= {one.name for one in folder.iterdir()}
