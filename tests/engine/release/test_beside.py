"""Released rows beside their originals: each with its own, for methods that say where rows come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.methods.catalogue import method
from engine.privacy.noise import Noise
from engine.release.beside import MOST_ROWS, Beside, pair_with_originals
from engine.release.check import check
from engine.release.examples import plans
from engine.release.make import Draft, make
from engine.release.reading import read_all

EXAMPLES = Path("resources/examples")
# What an example leaves as it is, so that each row can be told by it.
AS_THEY_ARE = {
    "datasets.k_anonymity": ("time_in_hospital", "readmitted"),
    "datasets.partition": ("time_in_hospital", "readmitted"),
    "datasets.pseudonyms": ("age", "gender", "race"),
    "datasets.masking": ("gender",),
    "datasets.anatomy": ("age", "gender", "race", "time_in_hospital"),
    "datasets.classifier_noise": ("change",),
}


def made(method_id: str, folder: Path) -> tuple[Draft, Any]:
    plan = plans(method(method_id))[0]
    design = check(plan, base=EXAMPLES)
    prepared = read_all(plan, design.sources_read, base=EXAMPLES)
    return make(design, prepared, Noise(), folder=folder), design


def shown(method_id: str, folder: Path) -> tuple[Beside, Draft]:
    draft, design = made(method_id, folder)
    found = pair_with_originals(draft.release, draft.used, design.request.schemas)
    assert found is not None
    return found, draft


@pytest.mark.parametrize("method_id", AS_THEY_ARE)
def test_each_row_stands_beside_its_own(method_id: str, tmp_path: Path) -> None:
    found, draft = shown(method_id, tmp_path)
    assert len(found.after) == len(found.before) == MOST_ROWS and found.rows > 1000
    frame = draft.release.artefacts[0].frame  # type: ignore[union-attr]
    assert [list(row) for row in found.after] == frame.head(MOST_ROWS).fillna("").astype(str).values.tolist()
    for name in set(AS_THEY_ARE[method_id]) & set(found.columns):
        column = found.columns.index(name)
        kept = [row for row in range(MOST_ROWS) if not found.changed(row, column)]
        # Cells of a masked table may be left out until rows look alike; all others are as they were.
        assert len(kept) >= (0.9 if method_id == "datasets.masking" else 1) * MOST_ROWS, name


def test_coarser_cells_are_those_of_the_hierarchy(tmp_path: Path) -> None:
    found, _ = shown("datasets.k_anonymity", tmp_path)
    place = found.columns.index("age")
    ladder = plans(method("datasets.k_anonymity"))[0].schema.column("age").hierarchy
    assert ladder is not None
    before = [str(row[place]) for row in found.before]
    after = [row[place] for row in found.after]
    assert after in [ladder.at(before, step) for step in range(ladder.height + 1)] and before != after
    assert all(found.changed(row, place) for row in range(MOST_ROWS) if before[row] != after[row])


def test_a_column_that_the_table_does_not_have_stands_beside_nothing(tmp_path: Path) -> None:
    found, _ = shown("datasets.pseudonyms", tmp_path)
    plan = plans(method("datasets.pseudonyms"))[0]
    name = plan.parameters.get("pseudonym", "pseudonym")
    place = found.columns.index(name)
    assert {row[place] for row in found.before} == {None}
    assert not any(found.changed(row, place) for row in range(MOST_ROWS))  # a new column changes no cell


def test_what_was_not_made_of_single_rows_has_nothing_beside_it(tmp_path: Path) -> None:
    draft, design = made("statistics.protected_table", tmp_path)
    assert pair_with_originals(draft.release, draft.used, design.request.schemas) is None
