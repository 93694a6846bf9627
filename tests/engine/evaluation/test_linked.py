"""Relations across invented tables and people found again, by hand and for copies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.evaluation.linked_kept import LinkedKept
from engine.evaluation.linked_people import LinkedPeople
from engine.evaluation.protocol import Private
from engine.methods.protocol import MAIN, Context, Release
from engine.table.table import Table
from tests.engine.methods.datasets.test_linked import DETAILS, RECORDS, design, register
from tests.noise_source import seeded_noise


def private(rows: dict[str, pd.DataFrame], made: dict[str, pd.DataFrame] | None, folder: Path) -> Private:
    """Return what a measure gets; with given frames instead of those that the method makes."""
    tables, subject = {name: Table(frame) for name, frame in rows.items()}, design(4)
    release = subject.run(tables, Context(seeded_noise(3), None, folder, whole=tables))
    if made is not None:
        artefacts = tuple(replace(one, frames=(made[one.name],)) for one in release.artefacts)
        release = Release(artefacts, release.promise)
    others = {name: tables[name] for name in (RECORDS, DETAILS)}
    return Private(subject, tables[MAIN], subject.schema, tables[MAIN], release, others=others)


def only(measure, context: Private):
    assert measure.applies(context.subject)
    return measure.evaluate(context.only(measure.needs)).figures


def test_what_is_made_is_nearer_than_tables_apart_and_its_keys_fit(tmp_path: Path) -> None:
    rows = register(3000, 4)
    made = only(LinkedKept(), private(rows, None, tmp_path))
    assert made["chance"] < made["mean"] < made["worst"] < 1
    assert made["without_parent"] == {
        "before.records": 0, "before.details": 0, "made.records": 0, "made.details": 0,
    }  # fmt: skip
    chance = np.random.default_rng(1)
    shuffled = rows | {RECORDS: rows[RECORDS].assign(who=chance.permutation(rows[RECORDS]["who"]))}
    apart = only(LinkedKept(), private(rows, shuffled, tmp_path))
    assert apart["mean"] > made["mean"]
    assert apart["without_parent"]["made.details"] > 0


def test_another_sample_is_off_by_chance_and_the_same_rows_by_nothing(tmp_path: Path) -> None:
    rows = register(3000, 4)
    same = only(LinkedKept(), private(rows, rows, tmp_path))
    assert same["mean"] == same["worst"] == 0
    other = only(LinkedKept(), private(rows, register(3000, 8), tmp_path))
    assert other["mean"] == pytest.approx(other["chance"], rel=0.2)


def test_copies_of_people_are_counted_with_all_of_their_rows(tmp_path: Path) -> None:
    rows = register(1500, 6)
    copies = only(LinkedPeople(), private(rows, rows, tmp_path))
    made = only(LinkedPeople(), private(rows, None, tmp_path))
    assert copies["copied"] == copies["all"] > 0.5  # everybody who is alone is found again
    assert copies["copies"] > 2 * copies["chance"] and made["copies"] < 1.2 * made["chance"]
    assert copies["row"] == 0 < copies["record"] < copies["all"]
    # a record of somebody else makes a person nobody's copy; another order of rows does not
    moved = {name: frame.sample(frac=1, random_state=2) for name, frame in rows.items()}
    assert only(LinkedPeople(), private(rows, moved, tmp_path)) == copies
    context = private(rows, None, tmp_path)
    table = LinkedPeople().evaluate(context.only(LinkedPeople.needs)).views[1]
    said = {"most": context.subject.intervals}  # by exact numbers more are alone, and fewer equal
    assert table.note.values == said
    torn = rows | {RECORDS: rows[RECORDS].assign(ward=np.roll(rows[RECORDS]["ward"], 1))}
    assert only(LinkedPeople(), private(rows, torn, tmp_path))["copies"] < copies["copies"] / 2
