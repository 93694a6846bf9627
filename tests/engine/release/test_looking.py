"""What a custodian looks at: files of a folder as one table, and of a large one a sample of whole people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.privacy import contribution
from engine.release import looking
from engine.release.looking import Looked, look
from engine.release.plan import FileReference
from engine.release.reading import Sample
from engine.table.schema import Kind

PEOPLE = 3000
RARE = "a rare ward"


def table() -> pd.DataFrame:
    """Return two rows of most people, one value that occurs once, and one number that is the largest."""
    made = np.random.default_rng(5)
    people = np.concatenate([np.arange(PEOPLE), made.integers(0, PEOPLE, PEOPLE)])
    found = pd.DataFrame(
        {
            "patient_nbr": people * 7 + 100_000,
            "ward": np.array(["north", "south", "west"])[made.integers(0, 3, len(people))],
            "stay": made.integers(1, 15, len(people)),
        }
    )
    found.loc[11, ["ward", "stay"]] = RARE, 40
    return found.sample(frac=1, random_state=3, ignore_index=True)


@pytest.fixture(params=["csv", "parquet"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Write the table as three files."""
    rows, place = table(), tmp_path / "stays"
    place.mkdir()
    for number in range(3):
        part, path = rows.iloc[number::3], place / f"part-{number}.{request.param}"
        if request.param == "csv":
            part.to_csv(path, index=False)
        else:
            part.to_parquet(path, index=False)
    return place


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "most_memory", lambda: 100_000)
    monkeypatch.setattr(looking, "ROWS", 600)
    monkeypatch.setattr(Sample, "drawn", lambda share: Sample(share, b"lots of the tests"))


def looked(folder: Path, key: str = "") -> Looked:
    return look(FileReference(str(folder)), key=key)


def test_a_folder_that_fits_is_read_whole(folder: Path) -> None:
    found = looked(folder)
    whole = table()
    pd.testing.assert_frame_equal(
        found.table.rows().astype({"ward": "object"}),
        pd.concat([whole.iloc[number::3] for number in range(3)], ignore_index=True).astype(
            {"ward": "object"}
        ),
        check_dtype=False,
    )
    assert found.part is None and len(found.digest) == 64
    assert found.table.storage["stay"] == "integer"


def test_what_is_noticed_in_all_files_is_noticed_in_their_folder(folder: Path) -> None:
    for part in folder.glob("*.csv"):
        rows = pd.read_csv(part, dtype=str)
        rows.loc[rows.index[:9], "ward"] = "?"
        rows.to_csv(part, index=False)
    found = [one for one in looked(folder).table.findings if one.column == "ward"]
    told = [(one.file, one.count) for one in found]
    assert told == ([(folder.name, 27)] if next(folder.glob("*.csv"), None) else [])


def test_a_sample_has_all_rows_of_those_who_are_in_it(folder: Path, little_memory: None) -> None:
    found, whole = looked(folder), table()
    part = found.part
    assert part is not None and part.column == "patient_nbr" and part.rows == 2 * PEOPLE
    rows = found.table.rows()
    assert 300 < len(rows) < 1000
    inside = rows["patient_nbr"].unique()
    assert len(rows) == whole["patient_nbr"].isin(inside).sum()


def test_another_column_can_tell_people_apart(folder: Path, little_memory: None) -> None:
    found, whole = looked(folder, key="ward"), table()
    assert found.part is not None and found.part.column == "ward"
    assert len(found.table) == whole["ward"].isin(set(found.table.rows()["ward"])).sum()


def test_values_are_those_of_the_whole_table(
    folder: Path, little_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = looked(folder)
    assert RARE not in set(found.table.rows()["ward"])
    suggested = {one.column: one for one in found.suggestions()}
    ward, stay = suggested["ward"].domain, suggested["stay"].domain
    assert ward is not None and set(ward.values or ()) == {"north", "south", "west", RARE}
    assert stay is not None and suggested["stay"].kind is Kind.INTEGER and stay.maximum == 40
    monkeypatch.setattr(looking, "MOST_CELLS", 3)
    few = {one.column: one for one in looked(folder).suggestions()}
    assert few["ward"].domain is None and few["stay"].domain is None
    assert few["ward"].proposals == ()


def test_files_of_a_folder_have_the_same_columns(folder: Path, little_memory: None) -> None:
    first = sorted(folder.iterdir())[0]
    other = table().rename(columns={"stay": "days"})
    path = folder / f"zz{first.suffix}"
    other.to_csv(path, index=False) if first.suffix == ".csv" else other.to_parquet(path, index=False)
    with pytest.raises(InputRefused, match=r"reading\.other_columns"):
        looked(folder)


def test_files_that_store_a_column_otherwise_are_one_table(tmp_path: Path) -> None:
    for name, wards in (("a", ["1", "2"]), ("b", ["3", "four"])):
        (tmp_path / f"{name}.csv").write_text("ward,stay\n" + "\n".join(f"{one},1.5" for one in wards) + "\n")
    assert looked(tmp_path).table.rows()["ward"].tolist() == ["1", "2", "3", "four"]
    for one in list(tmp_path.iterdir()):
        pd.read_csv(one).to_parquet(one.with_suffix(".parquet"))
        one.unlink()
    assert looked(tmp_path).table.rows()["ward"].tolist() == ["1", "2", "3", "four"]


def test_a_column_of_few_values_may_leave_nobody_in_the_sample(
    folder: Path, little_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contribution, "keep_people", lambda names, share, secret: np.zeros(len(names), bool))
    found = looked(folder, key="ward")
    assert len(found.table) == 0 and found.part is not None and found.part.rows == 2 * PEOPLE
    assert [one.column for one in found.suggestions()] == list(table().columns)
