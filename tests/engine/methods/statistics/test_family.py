"""What holds for every statistic: budgets, guarantees, no look at the rows, all texts."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import pytest

from engine import texts
from engine.methods.catalogue import method
from engine.methods.parameters import ParameterKind
from engine.methods.protocol import Budget
from engine.methods.solve import epsilon_for_error
from engine.privacy.accounting import total
from engine.privacy.promise import Unit
from engine.table.schema import Column, Domain, Kind, Origin, Role
from engine.table.table import Table
from engine.views import Text, to_json
from tests.engine.methods.statistics.builders import (
    ADD_REMOVE,
    COLUMNS,
    PARAMETERS,
    REPLACE_ONE,
    first,
    released,
    request,
    table,
)

ALL = sorted(PARAMETERS)
VARIANTS = [
    *PARAMETERS.items(),
    (
        "statistics.counts",
        {"columns": ["age"], "totals": True, "no_negatives": True, "extra_cells": "together"},
    ),
    ("statistics.histogram", {"column": "when", "edges": ["2020-01-01", "2021-01-01"], "outside": "clamped"}),
    ("statistics.means", {"statistic": "sum", "value": "stay", "weight": "w"}),
    ("statistics.means", {"statistic": "mean", "value": "stay", "weight": "w", "by": ["ward"]}),
    ("statistics.means", {"statistic": "mean", "value": "stay", "strategy": "compose", "by": ["sex"]}),
    ("statistics.means", {"statistic": "mean", "value": "stay", "strategy": "perturb", "by": ["sex"]}),
    ("statistics.means", {"statistic": "proportion", "answer": "ward", "counted": [{"value": "a"}]}),
    ("statistics.quantiles", {"value": "age", "quantiles": [0.5]}),
]
ROWS = {
    "sex": ["f", "m", "f", None, "x"],
    "ward": ["a", "b", "c", "a", "a"],
    "age": [0, 1, 2, 3, 99],
    "stay": [0.5, 14.0, math.inf, None, -3.0],
    "w": [1.0, 2.0, 5.0, 1.5, None],
    "when": ["2020-05-05", "1999-01-01", "", None, "2030-01-01"],
}


@pytest.mark.parametrize(("method_id", "parameters"), VARIANTS)
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE_ONE])
@pytest.mark.parametrize("cap", [None, 3])
def test_the_cost_is_exactly_the_budget(method_id, parameters, neighbours, cap):
    epsilon = Fraction(7, 30)
    asked = request(parameters, epsilon=epsilon, neighbours=neighbours, cap=cap)
    assert method(method_id)(asked).problems == []
    cost = method(method_id)(asked).cost
    assert (cost.loss.epsilon, cost.loss.delta, cost.loss.neighbours) == (epsilon, 0, neighbours)
    assert sum(leaf.epsilon() for leaf in cost.loss.events.together(neighbours)) == epsilon
    assert (cost.unit, cost.rows_per_person) == ((Unit.ROW, 1) if cap is None else (Unit.PERSON, 3))
    assert released(method_id, asked, table(**ROWS, person=list("vwxyz"))).promise == cost


@pytest.mark.parametrize("method_id", ["statistics.counts", "statistics.histogram"])
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE_ONE])
@pytest.mark.parametrize("cap", [None, 2])
def test_gaussian_noise_costs_exactly_the_budget(method_id, neighbours, cap):
    asked = request(
        PARAMETERS[method_id] | {"noise": "gaussian"},
        delta=Fraction(1, 10**6),
        neighbours=neighbours,
        cap=cap,
    )
    assert method(method_id)(asked).problems == []
    cost = method(method_id)(asked).cost
    found = total([cost], delta=Fraction(1, 10**6))
    assert (found.epsilon, found.delta) == (1, Fraction(1, 10**6)) == (cost.loss.epsilon, cost.loss.delta)


@pytest.mark.parametrize("method_id", ALL)
@pytest.mark.parametrize(
    ("budget", "code"),
    [
        (None, "missing"),
        (Budget(Fraction(0)), "not_positive"),
        (Budget(Fraction(-1)), "not_positive"),
        (Budget(math.nan), "not_a_number"),
        (Budget(0.5), "not_a_number"),
        (Budget(math.inf), "not_a_number"),
        (Budget(Fraction(1), math.nan), "not_a_number"),
        (Budget(Fraction(1, 10**9)), "out_of_range"),
        (Budget(Fraction(1), Fraction(1, 10**6)), "delta_unused"),
    ],
)
def test_budgets_that_cannot_be_spent(method_id, budget, code):
    asked = replace(request(PARAMETERS[method_id]), budget=budget)
    assert [problem.code for problem in method(method_id)(asked).problems] == [f"budget.{code}"]


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 2), Fraction(-1), Fraction(1, 10**16)])
def test_gaussian_noise_needs_a_usable_delta(delta):
    asked = request({"columns": ["sex"], "noise": "gaussian"}, delta=delta)
    assert [problem.code for problem in method("statistics.counts")(asked).problems] == [
        "budget.delta_needed"
    ]


@pytest.mark.parametrize(("method_id", "parameters"), VARIANTS)
def test_nothing_before_the_run_looks_at_rows(method_id, parameters, monkeypatch):
    def poisoned(self):
        raise AssertionError("private rows were read")

    monkeypatch.setattr(Table, "rows", poisoned)
    asked = request(parameters)
    assert method(method_id)(asked).problems == []
    assert method(method_id)(asked).cost and method(method_id)(asked).forecast
    epsilon_for_error(method(method_id)(asked), size=20, limit=3)
    with pytest.raises(AssertionError, match="private rows"):
        released(method_id, asked, table(**ROWS))


@pytest.mark.parametrize(("method_id", "parameters"), VARIANTS)
@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        {name: [] for name in ROWS},
        {name: values[:1] for name, values in ROWS.items()},
        {name: [None, None] for name in ROWS},
        {name: ["?", "?"] for name in ROWS},
        {name: [1e308, -1e308] for name in ROWS},
        {name: [2**60, 5] for name in ROWS},
    ],
)
def test_no_rows_are_refused_and_the_shape_never_changes(method_id, parameters, rows):
    asked = request(parameters)
    usual, odd = (first(released(method_id, asked, table(**each))) for each in (ROWS, rows))
    assert usual.shape == odd.shape
    assert list(usual.columns) == list(odd.columns)
    assert usual.dtypes.equals(odd.dtypes)
    assert not odd.isna().any().any()


@pytest.mark.parametrize(("method_id", "parameters"), VARIANTS)
def test_the_error_falls_as_the_budget_grows(method_id, parameters):
    asked = request(parameters)
    before = None
    for power in range(-4, 5):
        forecast = method(method_id)(replace(asked, budget=Budget(Fraction(4) ** power))).forecast
        now = [(error.median, error.limit) for error in forecast.errors]
        assert all(median <= limit for median, limit in now)
        if before is not None:
            for (median, limit), (old_median, old_limit) in zip(now, before, strict=True):
                assert median <= old_median * 1.0001 + 1e-12
                assert limit <= old_limit * 1.0001 + 1e-12
        before = now


@pytest.mark.parametrize(("method_id", "parameters"), VARIANTS)
def test_the_forecast_states_every_declared_size(method_id, parameters):
    asked = replace(request(parameters), sizes=(3, 77))
    forecast = method(method_id)(asked).forecast
    assert {error.size for error in forecast.errors} >= {3, 77}
    json.dumps(to_json(forecast.views))


@pytest.mark.parametrize(
    ("method_id", "parameters"), [pair for pair in VARIANTS if pair[0] != "statistics.quantiles"]
)
@pytest.mark.parametrize("limit", [1, 8])
def test_the_budget_for_an_accuracy(method_id, parameters, limit):
    asked = request(parameters)
    found = epsilon_for_error(method(method_id)(asked), size=100, limit=limit)

    def error(epsilon):
        budget = replace(asked.budget, epsilon=epsilon)
        forecast = method(method_id)(replace(asked, budget=budget, sizes=(100,))).forecast
        return forecast.errors[0].limit

    assert error(found) <= limit
    if found > Fraction(1, 10**5):
        assert error(found * Fraction(98, 100)) > limit


def test_no_budget_reaches_an_impossible_accuracy():
    asked = request({"column": "stay", "edges": [0, 5]})
    with pytest.raises(ValueError, match="above 0"):
        epsilon_for_error(method("statistics.histogram")(asked), size=5, limit=0)
    compose = request({"statistic": "mean", "value": "stay", "strategy": "compose"})
    assert epsilon_for_error(method("statistics.means")(compose), size=5, limit=1e-30) is not None
    wide = Column("wide", Role.OTHER, Kind.INTEGER, Domain(Fraction(1), Fraction(40_000)), Origin.DECLARED)
    tiny = request(compose.values | {"by": ["wide"]}, cap=10**6, columns=(*COLUMNS, wide))
    assert epsilon_for_error(method("statistics.means")(tiny), size=5, limit=1e-12) is None


# --- texts ---------------------------------------------------------------------------------------


def text_ids(value):
    """Every `Text` inside views, notes, errors and dictionaries."""
    if isinstance(value, Text):
        return {value.id}
    if isinstance(value, tuple | list):
        return set().union(*(text_ids(item) for item in value)) if value else set()
    if hasattr(value, "__dataclass_fields__"):
        return set().union(set(), *(text_ids(getattr(value, name)) for name in value.__dataclass_fields__))
    return set()


def every_text(value):
    if isinstance(value, Text):
        texts.text(value.id, **value.values)
    elif isinstance(value, tuple | list):
        for item in value:
            every_text(item)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            every_text(getattr(value, name))


@pytest.mark.parametrize("method_id", ALL)
def test_declarations_have_their_texts(method_id):
    base = f"methods.{method_id}"
    wanted = [f"{base}.{name}" for name in ("title", "summary", "recipient_can", "recipient_cannot")]
    for parameter in method(method_id).parameters:
        wanted += [f"{base}.parameters.{parameter.name}.{name}" for name in ("label", "help")]
        wanted += [f"{base}.parameters.{parameter.name}.choices.{choice}" for choice in parameter.choices]
        if parameter.kind is ParameterKind.RECORDS:
            wanted += [
                f"{base}.parameters.{parameter.name}.fields.{part.name}.label" for part in parameter.fields
            ]
    assert [name for name in wanted if not texts.has(name)] == []


@pytest.mark.parametrize(("method_id", "parameters"), VARIANTS)
def test_everything_shown_has_its_texts(method_id, parameters):
    asked = request(parameters)
    forecast = method(method_id)(asked).forecast
    release = released(method_id, asked, table(**ROWS))
    dictionaries = [artefact.dictionary for artefact in release.artefacts]
    shown = [forecast, release.views, release.notes, *dictionaries]
    every_text(shown)
    for name in text_ids(shown):
        base, _, last = name.rpartition(".")
        if ".numbers." in name:  # three texts for every number shown
            assert all(texts.has(f"{base}.{part}") for part in ("label", "what", "how", "change")), name
        if ".views." in name and last == "title":
            assert texts.has(f"{base}.note"), name
    for assumption in release.promise.assumptions:
        assert texts.has(f"assumptions.{assumption}")
    numbers = set(release.artefacts[0].frame.columns) - {column.name for column in COLUMNS}
    for name in numbers:
        assert texts.has(f"methods.{method_id}.numbers.{name}.what"), name


@pytest.mark.parametrize("cap", [1, 3])
@pytest.mark.parametrize(("method_id", "parameters"), VARIANTS)
def test_a_capped_statistic_says_for_whom_it_answers(method_id, parameters, cap):
    """In forecast, release and dictionary; nothing where every row is a person."""
    asked = request(parameters, cap=cap)
    release = released(method_id, asked, table(**ROWS))
    wanted = "statistics.notes.capped_one" if cap == 1 else "statistics.notes.capped"
    for notes in (release.notes, method(method_id)(asked).forecast.notes):
        (said,) = (note for note in notes if note.id.startswith("statistics.notes.capped"))
        assert (said.id, said.values) == (wanted, {"cap": cap})
    units = {entry.unit for artefact in release.artefacts for entry in artefact.dictionary} - {""}
    assert units <= ({"people"} if cap == 1 else {"rows, at most 3 of a person"})
    plain = released(method_id, request(parameters), table(**ROWS))
    assert not [note for note in plain.notes if note.id.startswith("statistics.notes.capped")]


BAD = [
    ("statistics.counts", {}, "parameters.unfilled"),
    ("statistics.counts", {"columns": ["sex", "sex"]}, "parameters.twice"),
    ("statistics.counts", {"columns": ["when"]}, "parameters.kind"),
    (
        "statistics.counts",
        {"columns": ["sex"], "noise": "gaussian", "slot": "age"},
        "statistics.counts.slot_not_counted",
    ),
    ("statistics.counts", {"columns": ["stay", "age", "sex", "wide"]}, "statistics.counts.too_many_cells"),
    (
        "statistics.margins",
        {"columns": ["stay", "age", "sex", "wide"], "tables": "totals"},
        "statistics.margins.too_many_cells",
    ),
    ("statistics.counts", {"columns": ["endless"]}, "table.too_many_levels"),
    ("statistics.counts", {"columns": ["stepless"]}, "table.no_levels"),
    ("statistics.counts", {"columns": ["copied"]}, "parameters.domain_copied"),
    ("statistics.counts", {"columns": ["unknown"]}, "parameters.not_recognised"),
    (
        "statistics.histogram",
        {"column": "stay", "edges": ["2020-01-01", "2021-01-01"]},
        "statistics.histogram.edges_not_numbers",
    ),
    ("statistics.histogram", {"column": "when", "edges": [1, 2]}, "statistics.histogram.edges_not_days"),
    ("statistics.histogram", {"column": "stay", "edges": [2, 1]}, "parameters.not_increasing"),
    (
        "statistics.histogram",
        {"column": "age", "edges": [1, 2], "by": ["age"]},
        "statistics.histogram.column_twice",
    ),
    (
        "statistics.histogram",
        {"column": "stay", "edges": list(range(900)), "by": ["wide"]},
        "statistics.histogram.too_many_cells",
    ),
    (
        "statistics.means",
        {"statistic": "mean", "value": "stay", "strategy": "perturb", "shares": [1]},
        "statistics.means.two_shares",
    ),
    (
        "statistics.means",
        {"statistic": "mean", "value": "stay", "strategy": "perturb", "shares": [0.5, 0.6]},
        "parameters.not_one",
    ),
    ("statistics.means", {"statistic": "mean", "value": "valued"}, "statistics.means.no_bounds"),
    ("statistics.means", {"statistic": "sum", "value": "fine"}, "statistics.means.too_fine"),
    (
        "statistics.means",
        {"statistic": "sum", "value": "stay", "weight": "debt"},
        "statistics.means.weight_bounds",
    ),
    (
        "statistics.means",
        {"statistic": "mean", "value": "stay", "by": ["wide", "ward"]},
        "statistics.means.too_many_cells",
    ),
    (
        "statistics.means",
        {"statistic": "proportion", "answer": "sex", "counted": [{"value": "z"}]},
        "statistics.means.not_a_level",
    ),
    ("statistics.means", {"statistic": "proportion", "answer": "sex", "counted": []}, "parameters.unfilled"),
    (
        "statistics.means",
        {"statistic": "mean", "value": "stay", "declared_number": 9},
        "statistics.means.number_is_protected",
    ),
    (
        "statistics.means",
        {"statistic": "mean", "value": "stay", "declared_number": 9, "by": ["sex"]},
        "statistics.means.number_of_everyone",
    ),
    ("statistics.quantiles", {"value": "stay", "quantiles": [0, 0.5]}, "statistics.quantiles.not_a_quantile"),
    ("statistics.quantiles", {"value": "fine"}, "statistics.quantiles.too_fine"),
    ("statistics.quantiles", {"value": "valued"}, "statistics.quantiles.no_bounds"),
    (
        "statistics.quantiles",
        {"value": "stay", "by": ["wide", "ward"]},
        "statistics.quantiles.too_many_cells",
    ),
    ("statistics.quantiles", {"value": "stay", "by": ["wide"]}, "statistics.quantiles.too_many_choices"),
]


@pytest.mark.parametrize(("method_id", "parameters", "code"), BAD)
def test_what_cannot_be_asked_is_said_with_its_sentence(method_id, parameters, code):
    def bounds(
        name, minimum, maximum, step=None, *, kind=Kind.NUMBER, role=Role.OTHER, origin=Origin.DECLARED
    ):
        step = None if step is None else Fraction(step)
        return Column(name, role, kind, Domain(Fraction(minimum), Fraction(maximum), step), origin)

    odd = (
        bounds("wide", 1, 40_000, kind=Kind.INTEGER),
        bounds("endless", 1, 10**6, kind=Kind.INTEGER),
        bounds("stepless", 0, 1),
        bounds("copied", 0, 3, 1, origin=Origin.COPIED),
        bounds("fine", 0, 1, Fraction(1, 10**12)),
        bounds("debt", -1, 1, role=Role.WEIGHT),
        Column("unknown", Role.NOT_RECOGNISED, Kind.CATEGORY, Domain(values=("a", "b")), Origin.DECLARED),
        Column("valued", Role.OTHER, Kind.INTEGER, Domain(values=("1", "2")), Origin.DECLARED),
    )
    found = method(method_id)(request(parameters, columns=(*COLUMNS, *odd))).problems
    assert code in [problem.code for problem in found]
    for problem in found:
        what, do = texts.sentences(problem.code, problem.values)
        assert what and do


def test_every_problem_text_has_a_test():
    tested = {code for _, _, code in BAD}
    family = tuple(f"methods.{method_id}." for method_id in {method_id for method_id, _, _ in BAD})
    written = {
        name.removeprefix("methods.").removesuffix(".what").replace(".problems.", ".")
        for name in texts.catalogue()
        if name.startswith(family) and ".problems." in name and name.endswith(".what")
    }
    assert written <= tested, written - tested
