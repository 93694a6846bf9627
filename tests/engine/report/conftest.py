"""A release about a diabetes register with invented results: the evidence that reports are made from."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import pytest

from engine.evidence import InternalEvidence, PublicEvidence
from engine.pricing.price import Price
from engine.pricing.statement import price_statement, privacy_statement
from engine.privacy.mechanisms import DiscreteLaplace
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from engine.views import (
    BarsView,
    CurveView,
    GraphView,
    HeatmapView,
    IntervalsView,
    Mark,
    MatrixView,
    NumberView,
    ScatterView,
    Series,
    TableView,
    Text,
    TextView,
)

METHOD = "methods.statistics.counts"
AGES = ("[0-30)", "[30-50)", "[50-60)", "[60-70)", "[70-80)", "[80-100)")
GENDERS = ("Female", "Male", "Unknown/Invalid")
READMITTED = ("<30", ">30", "NO")
SECRET = "XQ-SECRET-CELL-7731"


def _guarantee() -> Promise:
    event = DiscreteLaplace(Fraction(4), Fraction(2))
    return Promise(
        "pure_dp",
        Loss(Fraction(1, 2), Fraction(0), Neighbours.ADD_REMOVE, event),
        Unit.PERSON,
        2,
        assumptions=(
            "choices_made_with_sight",
            "add_remove",
            "rows_capped",
            "declared_domains",
            "exact_integer_noise",
            "trusted_machine",
        ),
    )


def _counts() -> TableView:
    rows = tuple(
        (age, gender, readmitted, (37 * a * a + 11 * g + 5) * (3 - g) + 91 * r - 40 * g, 12)
        for a, age in enumerate(AGES)
        for g, gender in enumerate(GENDERS)
        for r, readmitted in enumerate(READMITTED)
    )
    label = {name: Text(f"{METHOD}.numbers.{name}.label") for name in ("count", "within_95")}
    return TableView(
        Text(f"{METHOD}.views.table.title"),
        ("age", "gender", "readmitted", label["count"], label["within_95"]),
        rows,
        Text(f"{METHOD}.views.table.note"),
    )


def _bars() -> BarsView:
    values = (412.0, 1208.0, 2377.0, 3012.0, 2650.0, -4.0)
    return BarsView(
        Text(f"{METHOD}.views.bars.title"),
        AGES,
        values,
        Text(f"{METHOD}.numbers.count.label"),
        tuple(value - 12 for value in values),
        tuple(value + 12 for value in values),
        Text(f"{METHOD}.views.bars.note"),
    )


def _sizes() -> IntervalsView:
    sizes = (5.0, 20.0, 100.0, 1000.0)
    return IntervalsView(
        Text(f"{METHOD}.views.sizes.title"),
        tuple(Text("statistics.labels.group_of", {"size": int(size)}) for size in sizes),
        sizes,
        tuple(size - 12 for size in sizes),
        tuple(size + 12 for size in sizes),
        Text(f"{METHOD}.numbers.count.label"),
    )


def _public() -> PublicEvidence:
    columns = [
        {
            "name": "age",
            "role": "identifying",
            "kind": "ordinal",
            "domain": {"values": list(AGES)},
            "domain_origin": "declared",
        },
        {
            "name": "gender",
            "role": "identifying",
            "kind": "category",
            "domain": {"values": list(GENDERS)},
            "domain_origin": "declared",
        },
        {
            "name": "readmitted",
            "role": "sensitive",
            "kind": "category",
            "domain": {"values": list(READMITTED)},
            "domain_origin": "code_list",
        },
        {"name": "patient_nbr", "role": "person_key", "kind": "text"},
    ]
    return PublicEvidence(
        made_at="2026-03-12T10:58:00+01:00",
        title="Readmission by age group and gender, diabetes register 1999–2008",
        bundle_id="3f9c2a7b51d0e864",
        program={
            "name": "Custos",
            "version": "0.1.0",
            "python": "3.11.2",
            "libraries": {"numpy": "2.4.6", "pandas": "3.0.1", "typst": "0.15.2", "fonttools": "4.60.1"},
        },
        method={
            "id": "statistics.counts",
            "version": 1,
            "family": "statistics",
            "published": {
                "document": "Dwork, McSherry, Nissim, Smith: Calibrating noise to sensitivity (2006)",
                "place": "example 3, histograms",
                "identifier": "doi:10.1007/11681878_14",
            },
        },
        decided={
            "parameters": {
                "columns": ["age", "gender", "readmitted"],
                "extra_cells": "separate",
                "noise": "laplace",
                "totals": False,
            },
            "columns": columns,
            "budget": {"epsilon": "1/2", "delta": "0", "neighbours": "add_remove"},
            "declared_sizes": [5, 20, 100, 1000],
            "preparation": [{"step": "bands", "column": "age", "to": "age"}],
            "bounds": "declared",
            "rows_per_person": 2,
        },
        purpose={
            "title": "Readmission",
            "request_number": "2026-014",
            "recipient": "Regional office for quality of care",
            "agreement": "DUA 2026-014, signed 2 March 2026",
            "expires": "2027-03-31",
            "approver": "Head of the records office",
        },
        promise=_guarantee(),
        statement=privacy_statement(_guarantee()),
        artefacts=(
            {
                "file": "counts.csv",
                "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                "media_type": "text/csv",
                "rows": 54,
                "columns": ["age", "gender", "readmitted", "count", "within_95"],
            },
        ),
        dictionary=(
            {
                "file": "counts.csv",
                "columns": [
                    {
                        "name": "age",
                        "kind": "ordinal",
                        "meaning": "The group, by “age”.",
                        "values": list(AGES),
                    },
                    {"name": "count", "kind": "integer", "meaning": "How many were counted.", "unit": "rows"},
                    {"name": "within_95", "kind": "integer", "meaning": "The margin.", "unit": "rows"},
                ],
            },
        ),
        input_name="60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
        ledger={
            "entry": "b7e4d1f08c2a4c55",
            "head": {
                "sequence": 41,
                "hash": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
            },
        },
        noise={"source": "operating_system", "sampler": "canonne_kamath_steinke_2020"},
        expected=tuple(
            {
                "quantity": f"{METHOD}.numbers.count.label",
                "of": "group",
                "size": size,
                "median": 3.0,
                "limit": 12.0,
                "unit": "rows",
            }
            for size in (5, 20)
        ),
        measures={"utility.small_groups": {"counts.count": {"cells": 54, "guesses": 3}}},
        forecast=(_sizes(),),
        views=(_bars(), _counts()),
        notes=(Text("statistics.notes.extra_separate"),),
    )


def _kept() -> InternalEvidence:
    price = Price(people=4259, compensation=Fraction(500), anchor="disclosure to few; precedent of 2020")
    return InternalEvidence(
        plan={
            "purpose": {"reason": "Asked for by the regional quality programme."},
            "decisions": [{"decision": "new_holding", "reason": f"Another register. {SECRET}"}],
        },
        input={
            "file": "diabetes_encounters.csv",
            "sha256": "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
            "rows": 101766,
            "rows_used": 86240,
            "people": 71518,
            "rows_without_key": 12,
        },
        group_sizes={
            "columns": ["age", "gender", "medical_specialty"],
            "people": 71518,
            "alone": 260,
            "under": {"3": 402, "5": 633, "11": 1204, "20": 1931},
            "because_of": {"medical_specialty": 254, "age": 77, "gender": 12},
        },
        price=price_statement(_guarantee(), price),
        holding={
            "name": "Diabetes register",
            "epsilon": "2",
            "delta": "0",
            "epsilon_spent": "1/2",
            "delta_spent": "0",
            "releases": 1,
            "bounds_all": False,
        },
        views=(curve(),),
    )


def curve() -> CurveView:
    """Return a curve with everything that a curve can have."""
    levels = tuple(step / 40 for step in range(3, 41))
    return CurveView(
        "Price of the risk",
        "privacy level ε",
        "€ to set aside, $ or not",
        (
            Series("price at ε", levels, tuple(2_129_500 * math.exp(-1 / level) for level in levels)),
            Series(
                "at risk, exact", levels[:18], tuple(3e5 + 2e5 * level**2 for level in levels[:18]), "accent"
            ),
            Series("published", levels[:18], tuple(2e5 + 4e5 * level**2 for level in levels[:18]), "dashed"),
        ),
        (Mark(0.5, 288_196.0, "chosen"),),
        (0.3, 0.6),
        "window for your budget",
        (Series("low", (0.1, 1.0), (0.0, 6e5)), Series("high", (0.1, 1.0), (1e5, 8e5))),
    )


def _every_kind() -> tuple[object, ...]:
    number = Text("report.numbers.epsilon", {"unit": "person"})
    return (
        NumberView("Level", 0.5, number, "nats"),
        TableView("A table", ("name", "figure"), (("one", 1), ("two", None))),
        _bars(),
        _sizes(),
        curve(),
        ScatterView(
            "Two clouds",
            "age",
            "stay",
            (
                Series("kept", (1.0, 2.0, 3.0), (2.0, 1.0, 4.0)),
                Series("made", (1.5, 2.5), (2.0, 3.0), "accent"),
            ),
        ),
        HeatmapView(
            "Shades", ("young", "old"), ("a", "b", "c"), ((1.0, 2.0, None), (4.0, float("nan"), 6.0))
        ),
        MatrixView("Same things", ("age", "stay"), ((1.0, -0.2), (-0.2, 1.0))),
        GraphView("Dependencies", ("age", "gender", "stay"), ((0, 2, 0.4), (1, 2, -0.9))),
        TextView("Words", (Text("promises.none.statement"),)),
    )


@pytest.fixture(scope="session")
def sample() -> SimpleNamespace:
    """Evidence of one release, every kind of view, and a word that must never leave."""
    return SimpleNamespace(public=_public(), kept=_kept(), every_kind=_every_kind(), secret=SECRET)
