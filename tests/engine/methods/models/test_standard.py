"""The same predictions from the file of standard operators, read by another library."""

import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import onnx.reference
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.models import components, k_means, kernel_classes, logistic, tree
from engine.methods.models import naive_bayes as naive_bayes_model
from engine.methods.models.additive import scores as additive_scores
from engine.methods.models.additive import unclip_shares
from engine.methods.models.linear_model import scores as linear_scores
from engine.methods.models.standard import as_operators
from engine.methods.protocol import Budget, Context
from engine.methods.shared.onnx_file import MEDIA_TYPE, is_plain, operators
from engine.table.schema import Kind
from engine.table.table import Table
from tests.engine.methods.models.test_reader import (
    CASES,
    ODD,
    READER,
    READER_R,
    SCHEMA,
    has_r,
    printed,
    table,
)
from tests.noise_source import seeded_noise

FURTHER = {
    "models.additive.number": {"target": "cost", "predictors": ["seen", "ward"], "about_rows": 3000},
    "models.additive.number.pairs": {
        "target": "cost",
        "predictors": ["seen", "ward"],
        "about_rows": 3000,
        "pairs": [{"first": "ward", "second": "seen"}],
    },
    "models.naive_bayes.bins": {
        "target": "ward",
        "predictors": ["ill", "age"],
        "edges": {"age": [0, 30, 99]},
    },
    "models.tree.two": {"target": "ward", "predictors": ["seen", "cost", "ill"], "depth": 2},
    "models.k_means": {"columns": ["age", "cost"], "groups": 3, "about_rows": 3000},
    "models.pca": {"columns": ["age", "ward", "cost"], "components": 3},
    "models.directions": {"columns": ["age", "cost"], "utility": "ward", "components": 2},
}
EVERY = CASES | FURTHER


SCORED = {f"{name}.scored": given | {"held_out_percent": 20} for name, given in CASES.items()}


def made(name):
    """Return the model of a case as its JSON file, and as its other file."""
    way = method(".".join(name.split(".")[:2]))
    request = way.make_request({"people": SCHEMA}, (EVERY | SCORED)[name], budget=Budget(Fraction(5)))
    assert not way(request).problems
    context = Context(seeded_noise(7), None, Path(), held_out={"people": Table(table(seed=2))})
    release = way(request).run({"people": Table(table())}, context)
    by_file = {artefact.files[0]: artefact for artefact in release.artefacts}
    content = by_file["model.json"].content
    if isinstance(content, bytes):
        content = json.loads(content)
    assert by_file["model.onnx"].media_type == MEDIA_TYPE
    return json.loads(json.dumps(content)), by_file["model.onnx"].content


def rows():
    odd = [{"ill": "no", "cost": "1e9"} | one for one in ODD]
    odd += [{"ill": "", "cost": "", "ward": "a", "age": "30", "seen": "2020-02-01"}]
    frame = table(60, seed=3)
    return pd.concat([frame.astype(str), pd.DataFrame(odd)], ignore_index=True)


def asked(frame):
    """Return rows as the file asks for them: texts, and numbers with NaN, dates as days since 1970."""
    found = {}
    for column in SCHEMA.columns:
        values = frame[column.name]
        if column.kind is Kind.DATE:
            days = pd.to_datetime(values, errors="coerce").to_numpy().astype("datetime64[D]")
            values = np.where(np.isnat(days), np.nan, days.astype("int64").astype(float))
        elif column.kind is not Kind.CATEGORY:
            values = pd.to_numeric(values, errors="coerce").to_numpy(float)
        else:
            values = values.to_numpy(object)
        found[column.name] = np.asarray(values)[:, None]
    return found


def computed(content, frame):
    """Return the outputs of a file by name."""
    read = onnx.load_model_from_string(content)
    onnx.checker.check_model(read, full_check=True)
    inputs = {one.name: asked(frame)[one.name] for one in read.graph.input}
    session = onnx.reference.ReferenceEvaluator(read)
    return dict(zip([one.name for one in read.graph.output], session.run(None, inputs), strict=True))


def expected(model, frame):
    """Return what the program itself computes: the outputs by name."""
    kind = model["format"]
    if kind == k_means.FORMAT:
        return {"group": k_means.nearest_groups(model, frame)}
    if kind == components.FORMAT:
        return {"components": components.project(model, frame)}
    if kind == tree.FORMAT:
        shares = np.array([one["shares"] for one in model["leaves"]])[tree.leaf_of(model, frame)]
        return {"label": tree.predict(model, frame), "probabilities": shares}
    if kind == kernel_classes.FORMAT:
        return {"label": kernel_classes.predict(model, frame), "votes": kernel_classes.votes(model, frame)}
    if kind == naive_bayes_model.FORMAT:
        shares = naive_bayes_model.probabilities(model, frame)
        return {"label": naive_bayes_model.predict(model, frame), "probabilities": shares}
    found = (additive_scores if kind == "custos.additive_model" else linear_scores)(model, frame)
    predicted = logistic.predict(model, frame) if kind != "custos.additive_model" else None
    if model["target"]["kind"] == "number":
        return {"prediction": np.clip(found, model["target"]["minimum"], model["target"]["maximum"])}
    second = 1 / (1 + np.exp(-found))
    if kind == "custos.additive_model":
        second = unclip_shares(second, float(Fraction(model["clipping"])))
    label = np.array(model["target"]["values"], object)[(found > 0).astype(int)]
    assert predicted is None or (predicted == label).all()
    return {"label": label, "probabilities": np.stack([1 - second, second], axis=1)}


@pytest.mark.parametrize("name", EVERY | SCORED)
def test_another_library_predicts_the_same(name):
    model, content = made(name)
    assert ("held_out" in model) == (name in SCORED)
    frame = rows()
    found, wanted = computed(content, frame), expected(model, frame)
    assert set(found) == set(wanted)
    for output, values in wanted.items():
        if output in ("label", "group"):
            assert list(found[output]) == list(values)
            assert len(set(values)) > 1
        else:
            assert found[output] == pytest.approx(values, rel=1e-9, abs=1e-9)


R = pytest.param(
    ["Rscript", READER_R],
    marks=[
        pytest.mark.slow,
        pytest.mark.skipif(not has_r(), reason="R with jsonlite is not on this machine"),
    ],
)


@pytest.mark.parametrize("program", [[sys.executable, "-I", READER], R])
@pytest.mark.parametrize("name", ["models.k_means", "models.pca", "models.directions"])
def test_the_programs_tell_groups_and_components_too(name, program, tmp_path):
    model, _ = made(name)
    frame = rows()
    asked = frame[[one["name"] for one in model["columns"]]].to_dict("records")
    head, *said = printed(program, model, tmp_path, asked)
    ((_, wanted),) = expected(model, frame).items()
    components_told = [f"component_{place + 1}" for place in range(EVERY[name].get("components", 0))]
    assert head == (",".join(components_told) if wanted.ndim == 2 else "group")
    found = np.array([[float(one) for one in line.split(",")] for line in said])
    assert found == pytest.approx(wanted.reshape(len(wanted), -1), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", EVERY)
def test_the_file_is_what_the_library_itself_would_have_written(name):
    model, content = made(name)
    read = onnx.load_model_from_string(content)
    assert read.SerializeToString(deterministic=True) == content == as_operators(model)
    assert (read.producer_name, read.producer_version, read.doc_string) == ("Custos", "", "")
    assert is_plain(content)
    assert operators(content) == [one.op_type for one in read.graph.node if one.op_type != "Identity"]


def changed(change):
    read = onnx.load_model_from_string(made("models.linear")[1])
    change(read)
    return read.SerializeToString(deterministic=True)


def outside(read):
    kept = read.graph.initializer[0].external_data.add()
    kept.key, kept.value = "location", "/home/somebody/rows.bin"


MORE = {
    "draws": lambda read: read.graph.node.append(onnx.helper.make_node("RandomNormal", [], ["x"], seed=7.0)),
    "a seed": lambda read: read.graph.node[0].attribute.append(onnx.helper.make_attribute("seed", 7)),
    "other files": outside,
    "a document": lambda read: setattr(read.graph.initializer[0], "doc_string", "made from rows.csv"),
    "a version of the machine": lambda read: setattr(read, "producer_version", "3.11 on host"),
    "another program": lambda read: setattr(read, "producer_name", "other"),
    "training": lambda read: read.training_info.add(),
    "notes": lambda read: read.metadata_props.add(key="user", value="somebody"),
    "a graph inside": lambda read: read.graph.node[0].attribute.append(
        onnx.helper.make_attribute("to", onnx.GraphProto(name="x"))
    ),
}


@pytest.mark.parametrize("what", MORE)
def test_a_file_that_holds_more_is_seen(what):
    assert is_plain(changed(lambda read: None))
    assert not is_plain(changed(MORE[what]))


def test_what_is_no_such_file_is_seen():
    content = made("models.linear")[1]
    for other in (b"", b"PK\x03\x04", content[:-3], content + b"\x00", b"\xff" * 40):
        assert not is_plain(other)


def test_columns_of_any_name_have_an_input_each():
    model, _ = made("models.linear")
    renamed = ["value", "prediction"]
    for one, name in zip(model["predictors"], renamed, strict=True):
        one["name"] = name
    read = onnx.load_model_from_string(as_operators(model))
    onnx.checker.check_model(read, full_check=True)
    assert [one.name for one in read.graph.input] == renamed
