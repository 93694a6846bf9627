"""The program that leaves with a model predicts what the engine predicts, with nothing but Python."""

import csv
import json
import runpy
import shutil
import subprocess
import sys
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.models.additive import probabilities
from engine.methods.models.linear_model import scores
from engine.methods.protocol import Budget, Context, ModelArtefact
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

READER = Path(str(files("resources") / "readers" / "predict.py.txt"))
READER_R = READER.with_name("predict.R.txt")


def declared(name, kind, **domain):
    domain_of = Domain(**domain)
    return Column(
        name, Role.OTHER, kind, domain=domain_of, domain_origin=Origin.DECLARED, missing=("?", "-9")
    )


SCHEMA = Schema(
    (
        declared("ill", Kind.CATEGORY, values=("no", "yes")),
        declared("cost", Kind.NUMBER, minimum=Fraction(0), maximum=Fraction(100)),
        declared("ward", Kind.CATEGORY, values=("a", "b", "c")),
        declared("age", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(99)),
        declared("seen", Kind.DATE, minimum="2020-01-01", maximum="2020-12-31"),
    )
)
CASES = {
    "models.linear": {"target": "cost", "predictors": ["ward", "age"], "about_rows": 3000},
    "models.logistic": {"target": "ill", "predictors": ["ward", "age"], "about_rows": 3000},
    "models.additive": {"target": "ill", "predictors": ["ward", "age", "seen"], "about_rows": 3000},
    "models.additive.pairs": {
        "target": "ill",
        "predictors": ["ward", "age", "seen"],
        "about_rows": 3000,
        "pairs": [{"first": "ward", "second": "age"}, {"first": "seen", "second": "ward"}],
    },
    "models.naive_bayes": {"target": "ill", "predictors": ["ward", "age", "seen"], "numbers": "normal"},
    "models.tree": {"target": "ill", "predictors": ["ward", "age", "seen"]},
    "models.kernel_classes": {"target": "ill", "predictors": ["ward", "age"]},
}
ODD = [
    {"ward": "z", "age": "-9", "seen": "2031-05-01"},
    {"ward": "", "age": "", "seen": ""},
    {"ward": "?", "age": "?", "seen": "?"},
    {"ward": "b", "age": "1e9", "seen": "1999-12-31"},
    {"ward": "a", "age": "old", "seen": "never"},
]


def table(n=3000, seed=1):
    chance = np.random.default_rng(seed)
    ward, age = chance.choice(["a", "b", "c"], n), chance.integers(0, 100, n)
    score = (ward == "b") * 1.5 + (age - 50) / 20
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(chance.integers(0, 366, n), "D")
    ill = np.where(score + chance.logistic(size=n) > 0, "yes", "no")
    return pd.DataFrame({"ill": ill, "cost": 50 + 8 * score, "ward": ward, "age": age, "seen": days})


def rows():
    frame = table(60, seed=3).astype(str)
    return [{name: row[name] for name in ("ward", "age", "seen")} for _, row in frame.iterrows()] + ODD


def released(name, percent=0):
    """Return a model, with a score on held-out people where a part of its level pays for one."""
    given, way = CASES[name] | {"held_out_percent": percent}, method(".".join(name.split(".")[:2]))
    request = way.make_request({"people": SCHEMA}, given, budget=Budget(Fraction(5)))
    assert not way(request).problems
    held_out = {"people": Table(table(seed=2))}
    context = Context(seeded_noise(7), None, Path(), held_out=held_out if percent else {})
    release = way(request).run({"people": Table(table())}, context)
    by_file = {artefact.files[0]: artefact for artefact in release.artefacts}
    assert by_file["predict.py"].content == READER.read_bytes()
    assert by_file["predict.R"].content == READER_R.read_bytes()
    model = by_file["model.json"]
    assert isinstance(model, ModelArtefact)
    assert ("held_out" in model.content) == bool(percent)
    assert ("pairs" in model.content) == ("pairs" in CASES[name])
    return model


@pytest.mark.parametrize("percent", [0, 20])
@pytest.mark.parametrize("name", CASES)
def test_the_program_predicts_the_same(name, percent):
    model, reader = released(name, percent), runpy.run_path(str(READER))
    content = json.loads(json.dumps(model.content))
    found = [reader["predict"](content, row) for row in rows()]
    expected = list(model.predict(pd.DataFrame(rows())))
    if CASES[name]["target"] == "cost":
        assert found == pytest.approx(expected, rel=1e-9)
    else:
        assert found == expected and len(set(found)) > 1


def printed(command, content, folder, asked=None):
    """Return what a program prints about a model and a file of rows, line by line."""
    (folder / "model.json").write_text(json.dumps(content), encoding="utf-8")
    asked = rows() if asked is None else asked
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(asked[0]))
        writer.writeheader()
        writer.writerows(asked)
    command = [*command, folder / "model.json", folder / "rows.csv"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def has_r():
    """Whether R is here, with the package that reads JSON."""
    if shutil.which("Rscript") is None:
        return False
    asked = ["Rscript", "-e", "quit(status = !requireNamespace('jsonlite', quietly = TRUE))"]
    return subprocess.run(asked, capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not has_r(), reason="R with jsonlite is not on this machine")
@pytest.mark.parametrize("percent", [0, 20])
@pytest.mark.parametrize("name", CASES)
def test_the_program_in_r_predicts_the_same(name, percent, tmp_path):
    model = released(name, percent)
    compare(printed(["Rscript", READER_R], model.content, tmp_path), model)


@pytest.mark.parametrize("name", CASES)
def test_it_runs_by_itself_on_a_file(name, tmp_path):
    model = released(name)
    compare(printed([sys.executable, "-I", READER], model.content, tmp_path), model)


def compare(said, model):
    """Compare what a program printed with what the engine predicts and how likely it calls that."""
    heading, *lines = csv.reader(said)
    asked, target = pd.DataFrame(rows()), model.content["target"]
    expected = list(model.predict(asked))
    if target["kind"] == "number":
        assert heading == ["cost"]
        assert [float(one) for (one,) in lines] == pytest.approx(expected, rel=1e-12)
        return
    assert [line[0] for line in lines] == expected and len(set(expected)) > 1
    if "intercept" not in model.content:
        assert heading == ["ill"]
        return
    assert heading == ["ill", "probability of yes"]
    if model.content["format"] == "custos.additive_model":
        likely = probabilities(model.content, asked)
    else:
        likely = 1 / (1 + np.exp(-scores(model.content, asked)))
    found = np.array([float(line[1]) for line in lines])
    assert found == pytest.approx(likely, rel=1e-9)
    assert ((found > 0.5) == (np.array(expected) == "yes")).all()


def test_names_with_commas_and_quotation_marks_stay_in_their_column(tmp_path):
    content = released("models.additive").content
    content = {**content, "target": {**content["target"], "name": "a, b", "values": ["no", 'yes, "sure"']}}
    said = list(csv.reader(printed([sys.executable, "-I", READER], content, tmp_path)))
    assert said[0] == ["a, b", 'probability of yes, "sure"']
    assert {line[0] for line in said[1:]} == {"no", 'yes, "sure"'} and all(len(line) == 2 for line in said)


LEVELS = {"name": "ward", "kind": "levels", "levels": ["a"], "missing": [], "effects": [-1.0, 0.0, 1.0]}
ONE = {
    "format": "custos.logistic_model",
    "intercept": 0.0,
    "predictors": [LEVELS],
    "target": {"name": "ill", "kind": "classes", "values": ["no", "yes"]},
}
FILES = {
    "an empty line is a missing cell": (b"ward\na\n\na\n\n", ["no", "yes", "no", "yes"]),
    "a missing cell between marks": (b'ward\n""\na\n""\n', ["yes", "no", "yes"]),
    "as spreadsheets write it": ("\ufeffward\r\na\r\n\r\nb\r\n".encode(), ["no", "yes", "no"]),
    "several columns": (b"x,ward\n1,a\n,\n2,a\n", ["no", "yes", "no"]),
}
PROGRAMS = [
    pytest.param([sys.executable, "-I", READER], id="python"),
    pytest.param(
        ["Rscript", READER_R],
        id="r",
        marks=[pytest.mark.slow, pytest.mark.skipif(not has_r(), reason="R with jsonlite is not here")],
    ),
]


def run_on(command, folder, content):
    (folder / "model.json").write_text(json.dumps(ONE), encoding="utf-8")
    (folder / "rows.csv").write_bytes(content)
    command = [*command, folder / "model.json", folder / "rows.csv"]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("command", PROGRAMS)
@pytest.mark.parametrize("case", FILES)
def test_every_row_gets_a_prediction(case, command, tmp_path):
    """Before, an empty line of a file of one column got none, so that all below stood beside another row."""
    content, expected = FILES[case]
    ran = run_on(command, tmp_path, content)
    assert [line[0] for line in csv.reader(ran.stdout.splitlines())][1:] == expected, ran.stderr


@pytest.mark.parametrize("command", PROGRAMS)
def test_a_column_that_the_rows_lack_is_named(command, tmp_path):
    ran = run_on(command, tmp_path, b"ward 1,x\na,1\n")
    assert ran.returncode and not ran.stdout
    assert "lack columns of the model: ward." in ran.stderr and "Traceback" not in ran.stderr
