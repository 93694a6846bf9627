"""Measures within a whole release: what stays and what leaves, and that nothing without noise is released."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.evaluation.catalogue import measure
from engine.evaluation.without_noise import WithoutNoise
from engine.ledger import Ledger
from engine.methods.protocol import Budget
from engine.privacy.noise import Noise
from engine.release import reading
from engine.report import external_document, internal_document
from engine.report.document import Explanations
from tests.noise_source import seeded_bytes, seeded_noise

ERROR, GUESSES, SIZES = "utility.released_error", "utility.small_groups", "risk.group_sizes"
CAP = "utility.cap"


@pytest.fixture
def without_reports(monkeypatch):
    """Writing the reports takes seconds, and most tests here look at the evidence."""
    for name in ("pdf", "html"):
        monkeypatch.setattr(f"engine.report.{name}.render", lambda *_, **__: b"")


def evidence(bundle, side):
    return json.loads((bundle.folder / side / "evidence.json").read_text())


@pytest.mark.usefixtures("without_reports")
class TestEvidence:
    def test_public_figures_leave_and_internal_ones_stay(self, run):
        made = run()
        outside, inside = evidence(made, "release"), evidence(made, "internal")
        assert set(outside["measures"]) == {GUESSES}
        assert set(inside["internal"]["measures"]) == {ERROR, SIZES, CAP}
        assert inside["internal"]["group_sizes"] == inside["internal"]["measures"][SIZES]
        assert inside["internal"]["group_sizes"]["people"] == 6
        told = (made.folder / "release" / "evidence.json").read_text()
        assert ERROR not in told
        assert SIZES not in told
        assert CAP not in told

    def test_the_error_is_that_of_the_released_file(self, run):
        """By hand: P1 keeps one of its two rows; which one shows in the exact numbers alone."""
        asked = {"columns": ["sex", "ward"], "extra_cells": "separate"}
        made = run(budget=Budget(Fraction(1, 2)), parameters=asked)
        frame = pd.read_csv(made.folder / "release" / "counts.csv")
        worst = evidence(made, "internal")["internal"]["views"][-1]["rows"]
        exact = {(row[0], row[1]): row[3] for row in worst}
        assert sum(exact.values()) == 6
        assert exact[("m", "north")] == 2
        assert exact[("(other)", "north")] == 1
        errors = [
            abs(count - exact[(sex, ward)])
            for sex, ward, count in zip(frame["sex"], frame["ward"], frame["count"], strict=True)
        ]
        found = evidence(made, "internal")["internal"]["measures"][ERROR]["counts.count"]
        assert found["largest"] == max(errors) > 0
        assert found["median"] == pd.Series(errors).median()
        assert found["within"] == sum(
            error <= limit for error, limit in zip(errors, frame["within_95"], strict=True)
        )

    def test_guesses_can_be_counted_again_from_the_released_file(self, run):
        made = run()
        frame = pd.read_csv(made.folder / "release" / "counts.csv")
        found = evidence(made, "release")["measures"][GUESSES]["counts.count"]
        assert found["guesses"] == int((frame["within_95"] >= frame["count"]).sum()) > 0
        assert found["cells"] == len(frame)

    def test_the_screen_gets_the_views_of_both_sides(self, run):
        made = run()
        titles = [view.title.id for view in made.views]
        assert titles[0] == "methods.statistics.counts.views.table.title"
        assert f"measures.{GUESSES}.numbers.guesses.label" in titles
        assert not [title for title in titles if title.startswith((f"measures.{ERROR}", f"measures.{SIZES}"))]
        inside = [view.title.id for view in made.internal_views]
        assert {".".join(title.split(".")[1:3]) for title in inside} == {ERROR, SIZES, CAP}

    def test_a_plan_can_name_its_measures(self, run):
        made = run(measures=(GUESSES,))
        inside = evidence(made, "internal")["internal"]
        assert (inside["measures"], inside["group_sizes"], inside["views"]) == ({}, {}, [])
        assert set(evidence(made, "release")["measures"]) == {GUESSES}

    def test_an_unknown_measure_is_refused_before_anything_is_spent(self, run, ledger: Ledger):
        with pytest.raises(InputRefused) as refusal:
            run(measures=("utility.beauty",))
        assert refusal.value.code == "evaluation.unknown_measure"
        assert ledger.entries() == []

    def test_a_failing_measure_costs_no_release(self, run, ledger: Ledger, monkeypatch):
        def fail(self, context):
            raise ValueError("P1")

        for name in (ERROR, SIZES, CAP):
            monkeypatch.setattr(type(measure(name)), "evaluate", fail)
        made = run()
        assert ledger.entry(made.entry).state == "complete"
        inside = evidence(made, "internal")["internal"]
        assert inside["measures"] == {name: {"failed": "ValueError"} for name in (ERROR, SIZES, CAP)}
        assert len(inside["views"]) == 3  # every failure is printed
        assert "P1" not in json.dumps(inside["measures"]) + json.dumps(inside["views"])

    def test_measuring_draws_nothing_and_spends_nothing(self, run, ledger: Ledger, monkeypatch):
        drawn = []

        def counted(seed):
            source = seeded_bytes(seed)
            return lambda count: drawn.append(count) or source(count)

        def once(name, **changes):
            drawn.clear()
            run(name, door=lambda spend: Noise(counted(1), on_first_draw=spend), **changes)
            return list(drawn)

        assert once("all") == once("one", measures=(GUESSES,))
        assert [entry.epsilon for entry in ledger.entries()] == [Fraction(1, 2)] * 2

    def test_a_measure_changes_nothing_that_leaves(self, run):
        first, second = run("all"), run("one", measures=(GUESSES,))
        files = [(bundle.folder / "release" / "counts.csv").read_bytes() for bundle in (first, second)]
        assert files[0] == files[1]


class Relative(Noise):
    """A subclass of the door, which could do anything."""


@pytest.mark.parametrize(
    "door",
    [lambda spend: WithoutNoise(), lambda spend: Relative(), lambda spend: None],
    ids=["without noise", "a relative", "none"],
)
def test_nothing_but_the_door_itself_makes_a_release(door, run, folder, ledger: Ledger, monkeypatch):
    monkeypatch.setattr(reading, "cap_rows", lambda *_: pytest.fail("rows were read for a release"))
    with pytest.raises(TypeError):
        run(door=door)
    assert not (folder / "bundle").exists()
    assert {entry.state for entry in ledger.entries()} == {"freed"}
    assert type(seeded_noise(1)) is Noise  # what every other test releases with


def test_the_reports_print_each_on_its_side_with_three_texts(run, without_reports):
    """The external report knows no internal number; every number of a measure is explained once."""
    made = run()
    outside = external_document((made.folder / "release" / "evidence.json").read_bytes())
    inside = internal_document((made.folder / "internal" / "evidence.json").read_bytes())
    assert explained(outside) >= {f"measures.{GUESSES}.numbers.{name}" for name in ("guesses", "cells")}
    assert not [
        name for name in explained(outside) if name.startswith((f"measures.{ERROR}", f"measures.{SIZES}"))
    ]
    wanted = ("median", "largest", "within", "cells", "exact", "error", "limit")
    assert explained(inside) >= {f"measures.{ERROR}.numbers.{name}" for name in wanted}
    for document in (outside, inside):
        names = [item.three.id for item in items(document)]
        assert len(names) == len(set(names))
        for item in items(document):
            for part in ("what", "how", "change"):
                assert texts.has(f"{item.three.id}.{part}")


def items(document):
    return [item for part in document.parts() if isinstance(part, Explanations) for item in part.items]


def explained(document):
    return {item.three.id for item in items(document)}


def test_the_pages_print_the_error_inside_only(run, monkeypatch):
    monkeypatch.setattr("engine.report.pdf.render", lambda *_, **__: b"")
    made = run()
    outside = (made.folder / "release" / "report-external.html").read_text()
    inside = (made.folder / "internal" / "report-internal.html").read_text()
    largest = texts.text(f"measures.{ERROR}.views.worst.title")
    guess = texts.text(f"measures.{GUESSES}.numbers.guesses.label")
    assert guess in outside
    assert guess in inside
    assert largest in inside
    assert largest not in outside


def test_a_sum_over_everybody_is_one_cell(run, without_reports):
    made = run(method="statistics.means", method_version=2, parameters={"statistic": "sum", "value": "stay"})
    found = evidence(made, "internal")["internal"]["measures"][ERROR]["sums.sum"]
    assert found["cells"] == 1
    assert found["median"] == found["largest"]


def test_a_table_without_rows_is_measured_too(run, folder: Path, without_reports):
    (folder / "stays.csv").write_text("patient;sex;ward;stay\n")
    made = run()
    inside = evidence(made, "internal")["internal"]
    assert inside["measures"][SIZES]["people"] == 0
    assert inside["measures"][ERROR]["counts.count"]["cells"] > 0
