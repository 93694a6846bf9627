"""The workbook of a model predicts what the program predicts, and says nothing else."""

import csv
import json
import shutil
import subprocess
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from openpyxl import load_workbook

from engine.methods.models.additive import predict as additive
from engine.methods.models.additive import probabilities
from engine.methods.models.linear_model import predict as linear
from engine.methods.models.linear_model import scores
from engine.methods.models.points_sheet import as_sheet
from engine.methods.shared.workbook_file import is_plain, write_workbook
from tests.engine.methods.models.spreadsheet import Spreadsheet
from tests.engine.methods.models.test_standard import made, rows

CASES = (
    "models.linear",
    "models.logistic",
    "models.additive",
    "models.additive.number",
    "models.additive.pairs",
    "models.additive.number.pairs",
    "models.linear.scored",
    "models.additive.scored",
    "models.additive.pairs.scored",
)


def typed(text, predictor):
    """Return what somebody would type: a number as a number, a date as a date, nothing for nothing."""
    if text == "":
        return None
    if predictor["kind"] == "levels":
        return text
    try:
        return pd.Timestamp(text).to_pydatetime() if predictor.get("of") == "date" else float(text)
    except ValueError:
        return text


def filled(model, content):
    """Return the workbook with rows filled in, and those rows."""
    book, frame = load_workbook(BytesIO(content)), rows()
    frame = pd.concat([frame[:25], frame[60:]], ignore_index=True)
    for place, one in enumerate(model["predictors"], start=1):
        for row, text in enumerate(frame[one["name"]], start=2):
            book.worksheets[0].cell(row, place).value = typed(text, one)
    return book, frame


def wanted(model, frame):
    return list((additive if model["format"] == "custos.additive_model" else linear)(model, frame))


def empty(model, frame):
    """Return which rows are empty in the columns of the predictors: the workbook says nothing of them."""
    return [all(row[one["name"]] == "" for one in model["predictors"]) for _, row in frame.iterrows()]


def compare(said, model, frame):
    for one, other, nothing in zip(said, wanted(model, frame), empty(model, frame), strict=True):
        if nothing:
            assert one == ""
        elif model["target"]["kind"] == "number":
            assert float(one) == pytest.approx(other, rel=1e-9)
        else:
            assert one == other


@pytest.mark.parametrize("name", CASES)
def test_its_formulas_predict_the_same(name):
    model, _ = made(name)
    book, frame = filled(model, as_sheet(model))
    sheet, (first, _) = Spreadsheet(_with_days(book)), book.sheetnames
    last = book[first].max_column
    compare([sheet.value(first, row + 2, last) for row in range(len(frame))], model, frame)
    if model["target"]["kind"] == "classes":
        found = [float(sheet.value(first, row + 2, last - 1)) for row in range(len(frame))]
        own = model["format"] == "custos.additive_model"
        likely = probabilities(model, frame) if own else 1 / (1 + np.exp(-scores(model, frame)))
        assert found == pytest.approx(list(likely), rel=1e-9)


def test_the_table_of_a_pair_stands_in_the_workbook_as_in_the_file():
    """Points as in the file, below the numbers of its columns, and places from 1 beside both predictors."""
    model, _ = made("models.additive.pairs")
    points = load_workbook(BytesIO(as_sheet(model))).worksheets[1]
    lines = [[cell.value for cell in line] for line in points.iter_rows()]
    for place, pair in enumerate(model["pairs"]):
        name = " × ".join(pair["predictors"])
        head, *body = [line[3:] for line in lines if line[0] == name]
        wide = len(pair["effects"][0])
        assert head[:wide] == list(range(1, wide + 1))
        assert np.array([line[:wide] for line in body]) == pytest.approx(np.array(pair["effects"]), rel=1e-14)
        for column, groups in zip(pair["predictors"], pair["groups"], strict=True):
            own = [line[4 + place] for line in lines if line[0] == column and line[4 + place] is not None]
            assert own == [group + 1 for group in groups]


def _with_days(book):
    """Return a workbook with days in place of dates, as a spreadsheet keeps them."""
    from openpyxl.utils.datetime import to_excel

    for sheet in book.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.is_date and cell.value is not None:
                    cell.value, cell.number_format = float(to_excel(cell.value)), "General"
    return book


UTF_8 = "csv:Text - txt - csv (StarCalc):44,34,76"
"""Commas, quotation marks, UTF-8: otherwise LibreOffice writes the letters of the system's language."""


def has_calc():
    """Whether LibreOffice is here, and its part that opens workbooks: Debian packs each part by itself."""
    found = shutil.which("soffice")
    return found is not None and (Path(found).resolve().parent / "libsclo.so").is_file()


@pytest.mark.slow
@pytest.mark.skipif(not has_calc(), reason="LibreOffice is not on this machine")
@pytest.mark.parametrize("name", CASES)
def test_libreoffice_predicts_the_same(name, tmp_path):
    model, _ = made(name)
    book, frame = filled(model, as_sheet(model))
    for row in book.worksheets[0].iter_rows(min_row=2):
        row[-1].number_format = "0.000000000000000" if model["target"]["kind"] == "number" else "General"
    book.save(tmp_path / "rows.xlsx")
    own = f"-env:UserInstallation=file://{tmp_path}/settings"
    command = ["soffice", "--headless", own, "--convert-to", UTF_8, "--outdir", tmp_path]
    subprocess.run([*command, tmp_path / "rows.xlsx"], check=True, capture_output=True, timeout=120)
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        said = [row[-1] for row in csv.reader(file)][1 : len(frame) + 1]
    compare(said, model, frame)


def test_only_models_that_add_points_up_have_one():
    for name in ("models.tree", "models.naive_bayes", "models.k_means", "models.pca"):
        assert as_sheet(made(name)[0]) is None
    model, _ = made("models.linear")
    many = model | {
        "predictors": [one | {"name": str(place)} for place in range(60) for one in model["predictors"]]
    }
    assert as_sheet(many) is None


def test_it_is_the_same_every_time_and_says_nothing_of_its_maker():
    content = as_sheet(made("models.additive")[0])
    assert content == as_sheet(made("models.additive")[0]) and is_plain(content)
    with ZipFile(BytesIO(content)) as book:
        everything = b"".join(book.read(name) for name in book.namelist()).lower()
    assert not any(word in everything for word in (b"openpyxl", b"creator", b"created", b"modified"))


def test_a_name_is_never_a_formula():
    model, _ = made("models.linear")
    model = json.loads(json.dumps(model).replace('"ward"', '"=1+1\\u0001"').replace('"b"', '"=HYPERLINK(1)"'))
    book = load_workbook(BytesIO(as_sheet(model)))
    texts = [cell for sheet in book.worksheets for row in sheet.iter_rows() for cell in row]
    assert {cell.data_type for cell in texts if cell.value in ("=1+1", "=HYPERLINK(1)")} == {"s"}
    assert {cell.value for cell in texts} >= {"=1+1", "=HYPERLINK(1)"}


def _again(change):
    buffer, content = BytesIO(), as_sheet(made("models.linear")[0])
    with ZipFile(BytesIO(content)) as book, ZipFile(buffer, "w") as kept:
        for one in book.infolist():
            kept.writestr(*change(one, book.read(one)))
        extra = change(None, b"")
        if extra:
            kept.writestr(*extra)
    return buffer.getvalue()


def test_a_workbook_that_holds_more_is_seen():
    def same(one, content):
        return one and (one, content)

    assert is_plain(_again(same))
    assert not is_plain(_again(lambda one, c: same(one, c) or ("xl/vbaProject.bin", b"x")))
    assert not is_plain(_again(lambda one, c: one and (one, b"<who/>" if "core" in one.filename else c)))
    assert not is_plain(_again(lambda one, c: one and (one.filename, c)))  # with the time of now
    assert not is_plain(b"PK\x03\x04") and not is_plain(b"")
    book = load_workbook(BytesIO(as_sheet(made("models.linear")[0])))
    assert is_plain(write_workbook(book))
    kept = BytesIO()
    book.save(kept)
    assert not is_plain(kept.getvalue())
