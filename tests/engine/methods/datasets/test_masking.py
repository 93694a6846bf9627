"""Masking as a method: what is refused, what is recorded, and that nothing of the original order leaves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.datasets.masking.catalogue import STEPS
from engine.release.examples import plans
from engine.release.run import run
from engine.report.words import word
from engine.table.schema import Column, Domain, Kind, Origin, Role
from tests.engine.methods.datasets.masked import ID, masked, problems, released

EXAMPLES = Path(__file__).parents[4] / "resources" / "examples"
AGE = Column("age", Role.IDENTIFYING, Kind.INTEGER)
SEX = Column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m")), Origin.DECLARED)
SEEN = Column("seen", Role.TIME, Kind.DATE)
LEFT = Column("left", Role.TIME, Kind.DATE)
NOTE = Column("note", Role.OTHER, Kind.TEXT)
KEY = Column("pid", Role.PERSON_KEY)
MOVED = {"step": "shift_dates", "columns": ["seen", "left"], "most_days": 30}
SEEN_MOVED = {**MOVED, "columns": ["seen"]}
DROP, CUT = {"step": "drop", "column": "age"}, {"step": "truncate", "column": "age", "keep": 1}


@pytest.mark.parametrize(
    ("columns", "steps", "expected"),
    [
        ([AGE], [{"step": "round_to", "column": "age", "base": 5}], []),
        ([AGE, NOTE], [{"step": "round_to", "column": "age", "base": 5}], ["free_text_leaves"]),
        ([AGE, NOTE], [{"step": "free_text", "column": "note"}], []),
        ([AGE], [{"step": "drop", "column": "age"}], ["nothing_leaves"]),
        ([AGE, SEX], [DROP, {"step": "resample", "column": "age"}], ["not_leaving"]),
        ([SEX], [{"step": "round_to", "column": "sex", "base": 5}], ["not_read"]),
        ([SEEN], [{"step": "noise", "column": "seen", "standard_deviation": 5}], ["not_read"]),
        ([AGE], [CUT, {"step": "round_to", "column": "age", "base": 5}], ["not_read"]),
        ([AGE], [{"step": "generalise", "column": "age", "level": 2}], ["level"]),
        ([AGE], [{"step": "code_ends", "column": "age"}], ["no_end"]),
        ([AGE], [{"step": "code_ends", "column": "age", "lowest": "90", "highest": "18"}], ["bad_end"]),
        ([AGE], [{"step": "code_ends", "column": "age", "lowest": "2000-01-01"}], ["bad_end"]),
        ([SEEN], [{"step": "code_ends", "column": "seen", "lowest": "2000-01-01"}], []),
        ([AGE], [{"step": "code_ends_at_percentiles", "column": "age"}], ["bad_percentiles"]),
        ([SEX], [{"step": "rank_swap", "column": "sex", "distance": 0.1}], ["no_order"]),
        ([AGE, SEX], [{"step": "swap_similar", "columns": ["age"], "alike": ["age"], "rate": 0.1}], ["both"]),
        ([SEEN, LEFT], [MOVED], []),
        ([SEEN, LEFT], [MOVED, MOVED], ["shifted_twice"]),
        ([SEEN, LEFT], [SEEN_MOVED], ["exact_day"]),
        ([SEEN, LEFT], [SEEN_MOVED, {"step": "generalise", "column": "left", "level": 4}], []),
        ([SEEN, LEFT], [{**MOVED, "most_days": 6, "whole_weeks": True}], ["no_week"]),
        ([AGE], [{"step": "pram", "column": "age", "stay": 0.8}], ["no_values"]),
        ([SEX], [{"step": "pram", "column": "sex", "stay": 0.5}], ["stay"]),
        ([NOTE], [{**CUT, "column": "note"}, {"step": "suppress_cells", "k": 5}], ["nothing_identifying"]),
        ([SEX], [{"step": "suppress_cells", "k": 5}, {"step": "resample", "column": "sex"}], ["not_last"]),
        ([SEX], [{"step": "suppress_cells", "k": 5}, {"step": "sample", "share": 0.5}], ["not_last"]),
        ([SEX], [{"step": "sample", "share": 0.5}, {"step": "suppress_cells", "k": 5}], []),
    ],
)  # fmt: skip
def test_steps_are_checked_by_their_declarations(columns, steps, expected):
    assert problems(columns, *steps) == expected


def test_every_field_of_a_step_is_asked_only_for_it():
    found = method(ID).parameters[1]
    for step in STEPS.values():
        asked = {one.name for one in found.fields if one.when is None or step.id in one.when[1]}
        assert asked == {"step", *(one.name for one in step.fields)}


def people(n=400, seed=3):
    chance = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": chance.integers(0, 100, n),
            "sex": chance.choice(["f", "m"], n),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(chance.integers(0, 700, n), "D"),
            "note": [f"note {place}" for place in range(n)],
        },
        index=np.arange(n)[::-1],
    )


def test_the_order_and_the_index_of_the_rows_do_not_leave():
    """Every cell may be true, and still no row stands where it stood: few by chance alone."""
    frame = people()
    found = masked(frame, [AGE, SEX, SEEN, NOTE], {"step": "truncate", "column": "note", "keep": 50})
    assert found.index.tolist() == list(range(len(frame))) and set(map(str, found.dtypes)) == {"str"}
    texts = frame.assign(age=frame["age"].astype(str), seen=frame["seen"].dt.strftime("%Y-%m-%d"))
    assert sorted(map(tuple, found.to_numpy())) == sorted(map(tuple, texts.to_numpy()))
    stayed = (found["note"].to_numpy() == texts["note"].to_numpy()).sum()
    assert stayed <= 8  # one is expected; more than eight with a chance below 1.2e-6
    again = masked(frame, [AGE, SEX, SEEN, NOTE], {"step": "truncate", "column": "note", "keep": 50}, seed=2)
    assert again["note"].tolist() != found["note"].tolist()


def test_what_stood_nowhere_any_more_is_not_told():
    """A value that only people had who are not in the sample is found nowhere in what leaves."""
    frame = people()
    frame.loc[frame.index[:40], "note"] = [f"secret {place}" for place in range(40)]
    made = released(
        frame,
        [SEX, NOTE],
        {"step": "truncate", "column": "note", "keep": 9},
        {"step": "sample", "share": 0.3},
    )
    table, record = made.artefacts
    kept = set(table.frame["note"])
    gone = {f"secret {place}"[:9] for place in range(40)} - kept
    assert len(table.frame) == 120 and gone
    assert not [value for value in gone if value.encode() in record.content]


def test_steps_on_one_column_are_taken_in_their_order():
    frame = pd.DataFrame({"age": [3, 41, 68, 97, None]})
    column = Column("age", Role.IDENTIFYING, Kind.INTEGER)
    first = {"step": "round_to", "column": "age", "base": 10}
    then = {"step": "code_ends", "column": "age", "lowest": "5", "highest": "85"}
    assert sorted(masked(frame, [column], first, then)["age"]) == ["", "40", "5", "70", "85"]
    assert sorted(masked(frame, [column], then, first)["age"]) == ["", "10", "40", "70", "90"]


def test_the_record_says_every_step_and_no_chance():
    frame = people()
    made = released(
        frame,
        [AGE, SEX],
        {"step": "noise", "column": "age", "standard_deviation": "5/2"},
        {"step": "pram", "column": "sex", "stay": 0.9},
    )
    tree = json.loads(made.artefacts[1].content)
    noise, pram = tree["masked"]
    assert noise["standard_deviation"] == 2.5 and noise["found"]["variance"] == pytest.approx(6.25 + 1 / 12)
    assert pram["found"]["matrix"] == [[0.9, 0.1], [0.1, 0.9]] and pram["found"]["values"] == ["f", "m"]
    assert set(noise) == {"step", "column", "distribution", "standard_deviation", "found"}


def test_the_ledger_enters_it_without_a_budget_and_the_total_bounds_no_longer_everything(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    run(plans(method(ID))[0], out=tmp_path / "out", ledger=ledger, base=EXAMPLES)
    evidence = json.loads((tmp_path / "out" / "release" / "evidence.json").read_text())
    assert evidence["promise"]["kind"] == "masked" and evidence["promise"]["epsilon"] is None
    inside = json.loads((tmp_path / "out" / "internal" / "evidence.json").read_text())["internal"]
    assert inside["holding"]["bounds_all"] is False and inside["holding"]["epsilon_spent"] == "0"
    said = (tmp_path / "out" / "release" / "README.txt").read_text().replace("\n", " ")
    assert "no formal guarantee" in said.casefold() and "Domingo-Ferrer" in said


@pytest.mark.parametrize(
    ("counts", "stay"),
    [((300, 60, 40), 0.7), ((390, 5, 5), 0.9), ((133, 133, 134), 0.5), ((320, 80, 0), 0.7)],
)
def test_the_dictionary_says_how_probably_values_stayed_by_the_matrix_that_was_used(counts, stay):
    values = ("east", "north", "west")
    domain = Domain(values=values)
    column = Column("ward", Role.OTHER, Kind.CATEGORY, domain=domain, domain_origin=Origin.DECLARED)
    frame = pd.DataFrame({"ward": np.repeat(values, counts)})
    step = {"step": "pram", "column": "ward", "stay": stay}
    told = {}
    for invariant in (False, True):
        table, record = released(frame, [column], {**step, "invariant": invariant}).artefacts
        matrix = np.diag(json.loads(record.content)["masked"][0]["found"]["matrix"])[np.array(counts) > 0]
        (entry,) = table.dictionary
        told[invariant] = word(entry.meaning, "en")
        if invariant:
            assert matrix.min() < stay - 0.05  # the matrix that was asked for is not the one used
            assert f"between {matrix.min():.2f} and {matrix.max():.2f}" in told[True]
            assert f"probability {stay}" not in told[True]
    assert f"probability {stay}" in told[False]
