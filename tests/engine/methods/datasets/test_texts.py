"""Usual lines leave as often as foreseen, what few write does not, and one person's line ten times never."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.ledger import Ledger
from engine.library import run
from engine.methods.catalogue import method
from engine.methods.datasets.texts import INVENTED, coverage
from engine.methods.protocol import MAIN, Budget, Context
from engine.privacy.draw import Draw
from engine.privacy.mechanisms import ClearLaplace, threshold_of
from engine.privacy.promise import Neighbours
from engine.privacy.trials import ExactTrials
from engine.release.plan import Plan, Purpose
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

TEXTS = "datasets.texts"
CODE = Column("code", Role.OTHER, Kind.CATEGORY, Domain(values=("a", "b")), Origin.DECLARED)
SCHEMA = Schema((Column("who", Role.PERSON_KEY), CODE, Column("note", Role.OTHER, Kind.TEXT)))
BUDGET = Budget(Fraction(1), Fraction(1, 10**6))


def design(schema: Schema = SCHEMA, budget: Budget = BUDGET, **further: object):
    lines = method(TEXTS)
    asked = {"line": "note", "code": "code", "about_people": 1000} | further
    return lines(lines.make_request({MAIN: schema}, asked, budget=budget))


def released(rows: list[tuple[str, str, str | None]], tmp_path: Path, seed: int = 3, **further: object):
    frame = pd.DataFrame(rows, columns=["who", "code", "note"], dtype="str")
    own = design(**further)
    release = own.run({MAIN: Table(frame)}, Context(seeded_noise(seed), None, tmp_path))
    assert release.promise == own.cost
    return release.artefacts[0].frame


def test_lines_of_many_leave_by_code_and_those_of_few_do_not(tmp_path: Path) -> None:
    rows = [(f"p{one}", "ab"[one % 2], "slept  well ") for one in range(200)]
    rows += [(f"q{one}", "a", "slept well") for one in range(60)]
    rows += [(f"r{one}", "a", f"called by Mrs {one}") for one in range(300)]
    rows += [(f"s{one}", "elsewhere", "no complaints") for one in range(80)]
    rows += [("t", "a", None), ("u", "a", "  ")]
    found = released(rows, tmp_path).set_index(["code", "line"])["count"]
    exact = {("a", "slept well"): 160, ("b", "slept well"): 100, ("(other or missing)", "no complaints"): 80}
    assert set(found.index) == set(exact)
    assert all(abs(found[cell] - count) < 15 for cell, count in exact.items())
    assert found.tolist() == sorted(found, reverse=True)


def test_the_threshold_is_the_one_of_whole_numbers() -> None:
    """At ε = 1 and δ = 1e-6 it is 15; where one is exchanged, noise is twice as large."""
    assert design().mechanism.threshold == 15
    exchanged = design(budget=Budget(Fraction(1), Fraction(1, 10**6), Neighbours.REPLACE_ONE)).mechanism
    assert (exchanged.scale, exchanged.threshold) == (2, threshold_of(Fraction(2), Fraction(1, 10**6)))
    for epsilon in (Fraction(1, 10**6), Fraction(10**6)):
        assert design(budget=Budget(epsilon, Fraction(1, 3))).cost.loss is not None


def test_what_one_person_writes_ten_times_never_leaves(tmp_path: Path) -> None:
    """The cap keeps one of their lines, so that a canary counts one: in every run it stays inside."""
    usual = [(f"p{one}", "a", "slept well") for one in range(100)]
    for seed in range(40):
        lines = released([*usual, ("canary", "a", "the code is 4711")], tmp_path, seed)["line"]
        assert lines.tolist() == ["slept well"]
    with_rows = Schema(SCHEMA.columns, rows_per_person=10)
    assert [one.code for one in design(with_rows).problems] == [f"{TEXTS}.one_line"]


def test_a_line_that_is_too_long_is_left_out(tmp_path: Path) -> None:
    rows = [(f"p{one}", "a", "x" * 11) for one in range(100)]
    assert released(rows, tmp_path, longest=10).empty
    assert len(released(rows, tmp_path, longest=11)) == 1


@pytest.mark.parametrize("name", ["phrases", "mixed", "own_words"])
@pytest.mark.parametrize("people", [1_000, 30_000])
def test_coverage_is_what_invented_lines_have(name: str, people: int) -> None:
    """Lines are drawn, counted and released: the share of people whose line leaves, beside the forecast."""
    lines, falling = INVENTED[name]
    scale = Fraction(1)
    mechanism = ClearLaplace(1, Fraction(1), threshold=threshold_of(scale, Fraction(1, 10**6)))
    chance, noise = np.random.default_rng(8), seeded_noise(8)
    ranks = np.arange(1, lines + 1) ** -falling
    found = []
    for _ in range(5):
        drawn, counts = np.unique(chance.choice(lines, people, p=ranks / ranks.sum()), return_counts=True)
        kept, _ = mechanism.release(drawn, counts.astype(np.int64), noise)
        found.append(counts[np.isin(drawn, kept)].sum() / people)
    assert coverage(people, lines, falling, mechanism) == pytest.approx(np.mean(found), abs=0.02)


def test_what_cannot_be_is_refused_in_words() -> None:
    weak = Budget(Fraction(1, 100), Fraction(1, 10**9))
    same = Schema((Column("note", Role.OTHER, Kind.CATEGORY, Domain(values=("a",)), Origin.DECLARED),))
    found = [
        *design(budget=weak, about_people=100).problems,
        *design(same, line="note", code="note").problems,
        *design(Schema(SCHEMA.columns, rows_per_person=2)).problems,
    ]
    assert [one.code.removeprefix(f"{TEXTS}.") for one in found] == ["too_few", "same_column", "one_line"]
    for problem in found:
        what, do = texts.sentences(problem.code, problem.values)
        assert what and do
    dropped = Schema((*SCHEMA.columns[:2], Column("note", Role.DROPPED, Kind.TEXT)))
    assert [one.code for one in design(dropped).problems] == ["parameters.left_out"]


def release_lines(lines: tuple[str, ...], folder: Path) -> tuple[str, float]:
    """Return the state of the entry of a release of lines, and what its register spent."""
    schema = Schema(SCHEMA.columns[1:], one_row_each=True)  # no lots are drawn of whose rows are used
    budget = {"budget": BUDGET, "holding_budget": BUDGET}
    plan = Plan(
        TEXTS,
        schemas={MAIN: schema},
        parameters={"line": "note", "about_people": 1000},
        holding="Register",
        purpose=Purpose(title="Lines", recipient="Somebody", use="Reading"),
        **budget,
    )
    ledger = Ledger(folder / "ledger.sqlite")
    made = run(plan, pd.DataFrame({"code": "a", "note": [*lines, ""]}), out=folder / "out", ledger=ledger)
    return ledger.entry(made.entry).state, ledger.status("Register").epsilon_spent


@pytest.mark.parametrize("lines", [("",) * 30, ("a rare line",)])
def test_a_table_in_which_nobody_wrote_a_line_is_paid_for_as_any_other(
    lines: tuple[str, ...], tmp_path: Path
) -> None:
    """Before, no noise was drawn for no line: the bundle stood there, its entry only reserved."""
    assert release_lines(lines, tmp_path) == ("complete", BUDGET.epsilon)


def test_what_was_made_is_paid_for_whatever_the_noise_door_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What draws nothing was written while its entry was reserved: the run itself spends before it writes."""

    def count_alone(self: ExactTrials, draw: Draw, times: int = 1) -> None:
        self._counted[draw] += times

    monkeypatch.setattr(ExactTrials, "_count", count_alone)  # a door that sees no draw of no number
    assert release_lines(("",) * 30, tmp_path) == ("complete", BUDGET.epsilon)
