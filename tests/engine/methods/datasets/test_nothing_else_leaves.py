"""Nothing of the order, row numbers, types or unused categories of a table leaves with its rows."""

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.protocol import Context, TableArtefact
from engine.privacy.noise import Noise, ordinary_generator
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

SCHEMA = Schema(
    (
        Column("age", Role.IDENTIFYING, Kind.INTEGER),
        Column("town", Role.PLACE, Kind.CATEGORY),
        Column("ill", Role.SENSITIVE, Kind.CATEGORY),
        Column("note", Role.OTHER, Kind.CATEGORY),
    )
)
GIVEN = {
    "datasets.k_anonymity": {"columns": ["age", "town", "ill", "note"], "k": 3},
    "datasets.partition": {"columns": ["age", "town", "ill", "note"], "k": 3},
    "datasets.microaggregation": {"columns": ["age", "town", "ill", "note"], "k": 3},
    "datasets.anatomy": {"columns": ["age", "town", "note"], "sensitive": "ill", "l": 2},
    "datasets.pseudonyms": {"columns": ["age", "town", "ill", "note"]},
    "datasets.masking": {
        "columns": ["age", "town", "ill", "note"],
        "steps": [{"step": "sample", "share": "0.9"}],
    },
}
ROWS = 200


def people():
    """Rows in the order of their notes, numbered in an odd way, with categories that nobody has."""
    chance = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "age": chance.integers(20, 60, ROWS),
            "town": pd.Categorical(chance.choice(["a", "b"], ROWS), ["a", "b", "nowhere"]),
            "ill": pd.Categorical(chance.choice(["v", "w", "x"], ROWS), ["v", "w", "x", "nothing"]),
            "note": [f"n{place:04}" for place in range(ROWS)],
        },
        index=np.arange(5000, 5000 + ROWS),
    )
    frame.attrs["hospital"] = "private"
    return frame


@pytest.mark.parametrize("name", GIVEN)
def test_only_cells_leave(name, tmp_path):
    request = method(name).make_request({"people": SCHEMA}, GIVEN[name])
    assert not method(name)(request).problems
    context = Context(Noise(), ordinary_generator(), tmp_path)
    release = method(name)(request).run({"people": Table(people())}, context)
    for artefact in (one for one in release.artefacts if isinstance(one, TableArtefact)):
        frame = artefact.frame
        assert set(map(str, frame.dtypes)) == {"str"} and frame.attrs == {}
        assert frame.index.equals(pd.RangeIndex(len(frame))) and frame.index.name is None
        written = frame.to_csv(index=False)
        assert not any(word in written for word in ("nowhere", "nothing", "private", "5000"))
    rows = release.artefacts[0].frame
    places = rows["note"].str[1:].astype(int).to_numpy()
    # In a random order the rank correlation with the original is within 5 of its deviations, 1/√(n − 1)
    assert len(places) >= 0.9 * ROWS
    assert abs(np.corrcoef(np.arange(len(places)), places)[0, 1]) < 5 / np.sqrt(len(places) - 1)
