"""Whatever a plan says: one more person, with however many rows, moves no more than was promised.

Random plans with changed steps, declarations and options of reading; two neighbouring files. What is prepared
of everybody else has to be the same cell for cell, and the exact numbers before the noise may differ by what
the mechanisms allow.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Context
from engine.privacy.promise import Neighbours
from engine.progress import SILENT
from engine.release import promised, reading
from engine.release.check import check
from engine.release.plan import Plan
from tests.engine.adversarial.requests import HEADER, ROWS
from tests.engine.adversarial.test_sensitivity import RATIO, Recorder, a_row, loss
from tests.engine.release.plans import a_plan
from tests.engine.release.test_fuzzed_plans import is_accepted, read
from tests.noise_source import seeded_noise

NEW = "new person"
FEW, MANY = 60, 400


def person(plan: Plan, draw: np.random.Generator) -> list[str]:
    """Return the rows of one more person: by the key of the plan, or one row where every row is one."""
    key = plan.schema.person_key
    if key is None:
        return [",".join(a_row(draw, "5"))]
    count = int(draw.choice((1, 2, 3, 10, 100, 1000)))
    rows = [dict(zip(HEADER.split(","), a_row(draw, "5"), strict=True)) for _ in range(count)]
    return [",".join((row | {key.name: NEW}).values()) for row in rows if key.name in row]


def told(
    plan: Plan, rows: list[str], folder: Path, recorder: Recorder
) -> tuple[pd.DataFrame, list[tuple[object, np.ndarray]]]:
    """Return what a run prepares of some rows, and the exact numbers that its mechanisms get."""
    (folder / "people.csv").write_text("\n".join((HEADER, *rows)) + "\n")
    design = check(plan)
    held = reading.read(plan, base=folder)
    promised.refuse_other(plan, design, {MAIN: held})
    noise = seeded_noise(1)
    noise.random_keys = lambda size: np.arange(size, dtype=np.uint64) << np.uint64(40)  # type: ignore[method-assign]
    used = reading.cap_rows(held, noise)
    promised.refuse_uncapped(held.schema, used)
    recorder.calls = []
    method(plan.method)(design.request).run({MAIN: used}, Context(noise, None, folder, SILENT))
    return held.table.rows(), recorder.calls


def compare(plan: Plan, draw: np.random.Generator, folder: Path, recorder: Recorder) -> float | None:
    """Return the loss between two neighbouring files as a share of what is promised; None if unreadable."""
    others = list(draw.permutation(ROWS))
    mine = person(plan, draw)
    stands_in = person(plan, draw) if plan.budget and plan.budget.neighbours is Neighbours.REPLACE_ONE else []
    try:
        first, before = told(plan, others + stands_in, folder, recorder)
        second, after = told(plan, others + mine, folder, recorder)
        alone, _ = told(plan, others, folder, recorder)
    except InputRefused as refused:
        assert refused.code.startswith(("reading.", "table.", "preparation.column_exists")), refused.code
        return None
    if alone.map(lambda cell: isinstance(cell, str) and "\n" in cell).any(axis=None):
        return (
            None  # a stray quotation mark swallows the rows behind it: tables are compared as they were read
        )
    for found in (first, second):
        pd.testing.assert_frame_equal(found.head(len(alone)), alone)
    promise = check(plan).cost
    assert promise.loss is not None
    share = loss(before, after) / (1.0 if promise.loss.delta else float(promise.loss.epsilon))
    assert share <= 1 + RATIO, plan.dumps()
    return share


def neighbours(seed: int, count: int, folder: Path, recorder: Recorder) -> Counter[str]:
    """Compare neighbouring files of so many accepted plans."""
    draw, found = random.Random(seed), Counter[str]()
    (folder / "objected.csv").write_text("3\n")
    (folder / "words.csv").write_text("1,one\n2,two\n")
    while found["compared"] < count:
        plan = read(a_plan(draw))
        if plan is None or not is_accepted(plan):
            continue
        share = compare(plan, np.random.default_rng(draw.randrange(2**32)), folder, recorder)
        found["unreadable" if share is None else "compared"] += 1
        found[plan.method] += share is not None
        found["prepared"] += share is not None and bool(plan.preparation)
        found["moved"] += bool(share)
    return found


def test_one_more_person_moves_what_was_promised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = neighbours(1, FEW, tmp_path, Recorder(monkeypatch))
    assert found["moved"] > FEW / 3 and found["prepared"] > FEW / 6


@pytest.mark.slow
def test_one_more_person_under_very_many_plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = neighbours(2, MANY, tmp_path, Recorder(monkeypatch))
    print(dict(found))
    assert found["moved"] > MANY / 3 and found["prepared"] > MANY / 6
