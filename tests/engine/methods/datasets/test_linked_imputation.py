"""Tables that hang together, invented by trees: keys, relations as near as another sample, refusals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.evaluation.linked_kept import LinkedKept
from engine.evaluation.linked_people import LinkedPeople
from engine.evaluation.protocol import Private
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Context, Release
from engine.table.schema import DETAILS, RECORDS
from engine.table.table import Table
from tests.engine.methods.datasets.test_linked import CODES, GIVEN, WARDS, apart, register, relations, schemas
from tests.noise_source import seeded_noise

WITHOUT_DETAILS = {"detail_columns": None, "record": None, "record_of": None}


def design(**changes: Any):
    found = method("datasets.linked_imputation")
    names = {one.name for one in found.Options.parameters}
    given = {name: one for name, one in (GIVEN | changes).items() if name in names and one is not None}
    declared = schemas()
    if not given.get("detail_columns"):
        declared.pop(DETAILS)
    return found(found.make_request(declared, given))


def run(made, rows: Mapping[str, pd.DataFrame], folder: Path, seed: int = 5) -> Release:
    tables = {name: Table(frame) for name, frame in rows.items()}
    chance = np.random.default_rng(seed)
    return made.run(tables, Context(seeded_noise(seed), chance, folder, whole=tables))


def frames(release: Release) -> dict[str, pd.DataFrame]:
    return {one.name: one.frame for one in release.artefacts}  # type: ignore[union-attr]


@pytest.mark.parametrize("changes", [{}, {"order": None}, WITHOUT_DETAILS], ids=["all", "no order", "two"])
def test_every_row_has_a_parent_and_every_number_is_new(changes: dict[str, Any], tmp_path: Path) -> None:
    rows = register(600, 3)
    made = frames(run(design(**changes), rows, tmp_path))
    people, records = made[MAIN], made[RECORDS]
    assert len(people) == 600 and people["who"].is_unique and set(records["who"]) <= set(people["who"])
    assert set(records["ward"]) <= set(WARDS) and 0.8 < len(records) / len(rows[RECORDS]) < 1.2
    if "order" not in changes:
        for _, days in records["day"].groupby(records["who"]):
            assert list(days) == sorted(days)
    if DETAILS not in made:
        assert list(records) == ["who", "day", "ward"]
        return
    below, whose = made[DETAILS], dict(zip(records["stay"], records["who"], strict=True))
    assert records["stay"].is_unique and set(below["code"]) <= set(CODES)
    assert [whose[stay] for stay in below["stay"]] == list(below["who"])
    assert not set(records["stay"]) & set(rows[RECORDS]["stay"])


def test_relations_across_tables_are_as_near_as_another_sample_and_hang_on_the_rows_above(
    tmp_path: Path,
) -> None:
    """With the rows above left out, as where each table is invented by itself, they are lost."""
    rows = register(4000, 4)
    made, floor = relations(frames(run(design(), rows, tmp_path))), relations(register(4000, 9))
    chance, alone = np.random.default_rng(1), dict(rows)
    for name, column in ((RECORDS, "ward"), (DETAILS, "code")):
        alone[name] = rows[name].assign(**{column: chance.permutation(rows[name][column])})
    lost = relations(frames(run(design(), alone, tmp_path)))
    for name, table in relations(rows).items():
        # 12 seeds: .010 to .038; another sample: .012 to .051
        assert apart(table, made[name]) < 0.06 > apart(table, floor[name]), name
        assert name == "age × number" or apart(table, lost[name]) > 0.2, name


def test_measures_of_tables_that_hang_together_read_it_and_count_copies_of_people(tmp_path: Path) -> None:
    rows, subject = register(1500, 6), design()
    tables = {name: Table(frame) for name, frame in rows.items()}
    release = run(subject, rows, tmp_path)
    others = {name: tables[name] for name in (RECORDS, DETAILS)}
    context = Private(subject, tables[MAIN], subject.schema, tables[MAIN], release, others=others)
    kept, copies = (
        one.evaluate(context.only(one.needs)).figures
        for one in (LinkedKept(), LinkedPeople())
        if one.applies(subject)
    )
    assert kept["mean"] < 1.2 * kept["chance"] and not any(kept["without_parent"].values())
    assert copies["copies"] < 1.5 * copies["chance"] + 0.01


def test_a_rare_value_and_a_rare_number_of_records_do_not_leave(tmp_path: Path) -> None:
    rows = dict(register(600, 5))
    odd = rows[RECORDS].iloc[:1].assign(who="7", ward="E")
    rows[MAIN] = rows[MAIN].assign(age=rows[MAIN]["age"].mask(rows[MAIN]["who"] == "7", "odd"))
    rows[RECORDS] = pd.concat([rows[RECORDS], *[odd.assign(stay=f"x{one}") for one in range(60)]])
    made = frames(run(design(most_records=200), rows, tmp_path))
    assert "odd" not in set(made[MAIN]["age"])
    assert made[RECORDS].groupby("who").size().max() < 60


def test_too_few_rows_are_refused_in_words(tmp_path: Path) -> None:
    rows = register(600, 5)
    is_later = rows[RECORDS].duplicated("who")
    firsts = {**rows, RECORDS: rows[RECORDS][~is_later]}
    some = pd.concat([firsts[RECORDS], rows[RECORDS][is_later].head(20)])
    few = {"all": register(30, 5), "later": {**rows, RECORDS: some}}
    codes = {"all": "datasets.linked_imputation.too_few", "later": "datasets.linked_imputation.too_few_later"}
    for case, own in few.items():
        with pytest.raises(InputRefused) as refused:
            run(design(), own, tmp_path)
        assert refused.value.code == codes[case]
        assert all(texts.sentences(refused.value.code, refused.value.values))
    for made in (run(design(order=None), few["later"], tmp_path), run(design(), firsts, tmp_path)):
        assert len(frames(made)) == 3, "without an order they are enough, and none are needed where none are"
    assert frames(made)[RECORDS]["who"].is_unique


def test_what_has_to_be_said_of_details_is_asked_for() -> None:
    (problem,) = design(record=None).problems
    assert (problem.code, problem.parameter) == ("datasets.linked.details_open", "record")
