"""A released model as standard operators: the same predictions wherever ONNX files are read.

Every predictor is an input of its own, shape (rows, 1), with the name of the column: text for a column of
declared names, else a number, of a date the days since 1970-01-01. A missing number is NaN, a missing text
is empty; declared codes for missing values count as missing too.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from engine.methods.shared.onnx_file import DOUBLE, INT64, STRING, Graph

NUMBER, NORMAL, LEVELS = "number", "normal", "levels"


def as_operators(model: Mapping[str, Any]) -> bytes:
    """Return a model, as it is written to its JSON file, as an ONNX file.

    Returns
    -------
    bytes
        With the outputs ``prediction`` of a number; ``label`` and ``probabilities`` of classes, in the order
        of the target's values; ``label`` and ``votes`` of votes of similar rows; ``group`` of groups, from 0,
        −1 where a number is missing; ``components`` of components.
    """
    graph = Graph()
    _KINDS[model["format"]](graph, model)
    return graph.written()


# --- what models have in common ---------------------------------------------------------------------


def _floats(graph: Graph, values: Any) -> str:
    return graph.constant(np.asarray(values, dtype=np.float64))


def _whole(graph: Graph, values: Any) -> str:
    return graph.constant(np.asarray(values, dtype=np.int64))


def _flat(graph: Graph, value: str) -> str:
    """Return one column as values without a second axis."""
    return graph.add("Squeeze", value, _whole(graph, [1]))


def _number(graph: Graph, predictor: Mapping[str, Any], instead: float) -> tuple[str, str]:
    """Return the values of a number, missing ones replaced, and which are missing: shape (rows, 1)."""
    given = graph.input(predictor["name"], DOUBLE)
    missing = graph.add("Or", graph.add("IsNaN", given), graph.add("IsInf", given))
    for code in predictor["missing"]:
        try:
            marked = graph.add("Equal", given, _floats(graph, [[float(code)]]))
        except ValueError:
            continue
        missing = graph.add("Or", missing, marked)
    return graph.add("Where", missing, _floats(graph, [[instead]]), given), missing


def _keep(graph: Graph, predictor: Mapping[str, Any]) -> tuple[str, str]:
    """Return the values of a number within its bounds, the middle for missing ones, and which these are."""
    low, high = predictor["minimum"], predictor["maximum"]
    values, missing = _number(graph, predictor, predictor.get("middle", (low + high) / 2))
    return graph.add("Clip", values, _floats(graph, low), _floats(graph, high)), missing


def _cell(graph: Graph, predictor: Mapping[str, Any]) -> str:
    """Return the cell of every row, shape (rows,): as `resources/readers/predict.py.txt` does."""
    if predictor["kind"] == LEVELS:
        levels = predictor["levels"]
        place = {text: at for at, text in reversed(list(enumerate(levels)))}
        place |= dict.fromkeys(predictor["missing"], len(levels) + 1)
        place.setdefault("", len(levels) + 1)
        given = graph.input(predictor["name"], STRING)
        cells = {"keys_strings": list(place), "values_int64s": list(place.values())}
        return _flat(graph, graph.add("LabelEncoder", given, default_int64=len(levels), **cells))
    edges = predictor["edges"]
    values, missing = _number(graph, predictor, edges[0])
    passed = graph.add("GreaterOrEqual", values, _floats(graph, [edges[1:-1] or [float("inf")]]))
    count = graph.add("ReduceSum", graph.add("Cast", passed, to=INT64), _whole(graph, [1]), keepdims=1)
    return _flat(graph, graph.add("Where", missing, _whole(graph, [[len(edges) - 1]]), count))


def _label(graph: Graph, target: Mapping[str, Any], place: str, probabilities: str) -> None:
    """Give out the value at a place of the target's values, and what each is worth."""
    graph.output("label", graph.add("Gather", graph.constant(target["values"]), place), STRING)
    graph.output("probabilities", probabilities, DOUBLE, len(target["values"]))


# --- one for each kind of model -----------------------------------------------------------------------


def _sums(graph: Graph, model: Mapping[str, Any]) -> None:
    """Intercept and effects added up: linear, logistic and additive models."""
    target, parts = model["target"], [_floats(graph, [model["intercept"]])]
    cells: dict[str, str] = {}
    for one in model["predictors"]:
        if one["kind"] == NUMBER:
            away = graph.add("Sub", _keep(graph, one)[0], _floats(graph, one["middle"]))
            parts.append(_flat(graph, graph.add("Mul", away, _floats(graph, one["coefficient"]))))
        else:
            cells[one["name"]] = _cell(graph, one)
            parts.append(graph.add("Gather", _floats(graph, one["effects"]), cells[one["name"]]))
    parts += [_together(graph, pair, cells) for pair in model.get("pairs", ())]
    score = parts[0]
    for part in parts[1:]:
        score = graph.add("Add", score, part)
    if target["kind"] != "classes":
        ends = _floats(graph, target["minimum"]), _floats(graph, target["maximum"])
        graph.output("prediction", graph.add("Clip", score, *ends), DOUBLE)
        return
    place = graph.add("Cast", graph.add("Greater", score, _floats(graph, 0.0)), to=INT64)
    # 1/(1 + e^s) and 1/(1 + e^-s), each from its own sign, so that neither loses digits
    signs = graph.add("MatMul", _column(graph, score), _floats(graph, [[-1.0, 1.0]]))
    fitted = graph.add("Sigmoid", signs)
    clipped = "clipping" in model and model["format"] == "custos.additive_model"
    _label(graph, target, place, _unclip(graph, fitted, model) if clipped else fitted)


def _unclip(graph: Graph, fitted: str, model: Mapping[str, Any]) -> str:
    """Return the probabilities of both classes of an additive model: `additive_model.unclipped`."""
    clipping = float(Fraction(model["clipping"]))
    reach = _floats(graph, clipping)
    other = graph.add("Sub", _floats(graph, 1.0), fitted)
    rare = graph.add("Div", fitted, graph.add("Add", reach, fitted))
    frequent = graph.add("Div", reach, graph.add("Add", reach, other))
    upper = graph.add("Where", graph.add("Greater", fitted, reach), frequent, fitted)
    return graph.add("Where", graph.add("Greater", _floats(graph, 1 - clipping), fitted), rare, upper)


def _together(graph: Graph, pair: Mapping[str, Any], cells: Mapping[str, str]) -> str:
    """Return what two predictors of an additive model add together: looked up in their table, row by row."""
    effects = np.array(pair["effects"])
    first, second = (
        graph.add("Gather", _whole(graph, np.array(groups) * step), cells[name])
        for name, groups, step in zip(pair["predictors"], pair["groups"], (effects.shape[1], 1), strict=True)
    )
    return graph.add("Gather", _floats(graph, effects.ravel()), graph.add("Add", first, second))


def _column(graph: Graph, value: str) -> str:
    """Return flat values as one column: shape (rows, 1)."""
    return graph.add("Unsqueeze", value, _whole(graph, [1]))


def _shares(graph: Graph, model: Mapping[str, Any]) -> None:
    """Naive Bayes: logarithms of shares and densities added up."""
    odds = _floats(graph, [np.log(model["shares"])])
    for one in model["predictors"]:
        if one["kind"] != NORMAL:
            table = _floats(graph, np.log(one["shares"]).T)
            part = graph.add("Gather", table, _cell(graph, one))
        else:
            values, missing = _keep(graph, one)
            spread, known = np.array(one["deviations"]), np.array(one["known"])
            away = graph.add("Sub", values, _floats(graph, [one["means"]]))
            scaled = graph.add("Div", away, _floats(graph, [spread]))
            squared = graph.add("Mul", graph.add("Mul", scaled, scaled), _floats(graph, -0.5))
            constant = np.log(known) - np.log(spread * np.sqrt(2 * np.pi))
            density = graph.add("Add", squared, _floats(graph, [constant]))
            part = graph.add("Where", missing, _floats(graph, [np.log(1 - known)]), density)
        odds = graph.add("Add", odds, part)
    _label(
        graph,
        model["target"],
        graph.add("ArgMax", odds, axis=1, keepdims=0),
        graph.add("Softmax", odds, axis=1),
    )


def _questions(graph: Graph, model: Mapping[str, Any]) -> None:
    """A decision tree: the number of a node, level by level, looked up in tables."""
    predictors = model["predictors"]
    sizes = [len(one["levels"]) + 2 if one["kind"] == LEVELS else len(one["edges"]) for one in predictors]
    columns = [_column(graph, _cell(graph, one)) for one in predictors]
    cells = graph.add("Concat", *columns, axis=1)
    node = graph.add("Mul", columns[0], _whole(graph, 0))
    for level in model["questions"]:
        second = np.zeros((len(level), max(sizes)), dtype=np.int64)
        for at, asked in enumerate(level):
            if asked is not None:
                second[at] = 1
                second[at, asked["first"]] = 0
        about = _whole(graph, [0 if asked is None else asked["predictor"] for asked in level])
        cell = graph.add("GatherElements", cells, graph.add("Gather", about, node), axis=1)
        entry = graph.add("Add", graph.add("Mul", node, _whole(graph, max(sizes))), cell)
        answer = graph.add("Gather", _whole(graph, second.ravel()), entry)
        node = graph.add("Add", graph.add("Mul", node, _whole(graph, 2)), answer)
    leaf, shares = _flat(graph, node), np.array([one["shares"] for one in model["leaves"]])
    place = graph.add("Gather", _whole(graph, shares.argmax(axis=1)), leaf)
    _label(graph, model["target"], place, graph.add("Gather", _floats(graph, shares), leaf))


def _nearest(graph: Graph, model: Mapping[str, Any]) -> None:
    """k-means: the nearest centre, in halves of the declared ranges."""
    apart, missing = _floats(graph, np.zeros((1, len(model["rows"])))), ""
    for one in model["columns"]:
        values, absent = _keep(graph, one)
        away = graph.add("Sub", values, _floats(graph, [one["centres"]]))
        scaled = graph.add("Div", away, _floats(graph, (one["maximum"] - one["minimum"]) / 2))
        apart = graph.add("Add", apart, graph.add("Mul", scaled, scaled))
        missing = graph.add("Or", missing, absent) if missing else absent
    found = graph.add("ArgMin", apart, axis=1, keepdims=0)
    graph.output("group", graph.add("Where", _flat(graph, missing), _whole(graph, -1), found), INT64)


def _directions(graph: Graph, model: Mapping[str, Any]) -> None:
    """Principal components: what is beside the mean, along every direction."""
    width = len(model["variances"])
    found = _floats(graph, np.zeros((1, width)))
    for one in model["columns"]:
        weights, means = np.array(one["weights"]), np.array(one["means"])
        if one["kind"] == LEVELS:
            table = weights.T - weights @ means
            part = graph.add("Gather", _floats(graph, table), _cell(graph, one))
        else:
            low, high = one["minimum"], one["maximum"]
            half, middle = (high - low) / 2, (low + high) / 2
            away = graph.add("Sub", _keep(graph, one)[0], _floats(graph, middle + means[0] * half))
            part = graph.add("MatMul", away, _floats(graph, [weights[:, 0] / half]))
        found = graph.add("Add", found, part)
    graph.output("components", found, DOUBLE, width)


def _votes(graph: Graph, model: Mapping[str, Any]) -> None:
    """Votes of similar rows: sines of angles that are added up, a cosine being a sine a quarter on."""
    angles = _floats(graph, np.zeros((1, len(model["cosines"]))))
    for one in model["predictors"]:
        own = 2 * np.pi * np.array(one["turns"])
        if one["kind"] == LEVELS:
            part = graph.add("Gather", _floats(graph, own), _cell(graph, one))
        else:
            low, high = one["minimum"], one["maximum"]
            away = graph.add("Sub", _keep(graph, one)[0], _floats(graph, (low + high) / 2))
            part = graph.add("MatMul", away, _floats(graph, [own / ((high - low) / 2)]))
        angles = graph.add("Add", angles, part)
    quarter = graph.add("Add", angles, _floats(graph, np.pi / 2))
    votes = graph.add(
        "Add",
        *(
            graph.add("MatMul", graph.add("Sin", one), _floats(graph, np.array([model[name]]).T))
            for one, name in ((quarter, "cosines"), (angles, "sines"))
        ),
    )
    votes = _flat(graph, votes)
    place = graph.add("Cast", graph.add("Greater", votes, _floats(graph, 0.0)), to=INT64)
    graph.output("label", graph.add("Gather", graph.constant(model["target"]["values"]), place), STRING)
    graph.output("votes", votes, DOUBLE)


_KINDS = {
    "custos.linear_model": _sums,
    "custos.additive_model": _sums,
    "custos.naive_bayes": _shares,
    "custos.decision_tree": _questions,
    "custos.kernel_classes": _votes,
    "custos.k_means": _nearest,
    "custos.principal_components": _directions,
}
