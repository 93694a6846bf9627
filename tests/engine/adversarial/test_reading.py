"""One person's row cannot change what the cells of the others mean, nor who they are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method as method_of
from engine.methods.protocol import MAIN
from engine.progress import SILENT
from engine.release import reading
from engine.release.plan import FileReference, Plan
from engine.release.run import run_through
from engine.table.schema import Schema
from tests.engine.adversarial.requests import HEADER, ODD_ROWS, OPTIONS, ROWS, plan_for, table
from tests.examples import many
from tests.noise_source import seeded_noise

PLAN = plan_for("counts", cap=1)
CELL = st.sampled_from(
    [
        *(
            "",
            " ",
            "1",
            "1.0",
            " 1",
            "01",
            "1,5",
            "1.5",
            "1e3",
            "-9",
            "?",
            "NA",
            "x",
            "inf",
            "nan",
            "0x1A",
            "1_0",
        ),
        *(
            "01/02/2020",
            "25/12/2020",
            "12/25/2020",
            "2020-01-01",
            "20200101",
            "2020-W01-1",
            "2020-01-01T00:00Z",
        ),
        *("9" * 25, "ä", "=1", "'", "t", "True", "1.234,5", "1,234.5", "٣", "½", "−1", "1\u00a0000"),
    ]
)
ROW = st.lists(CELL, min_size=6, max_size=6)


def read(folder: Path, content: bytes, plan: Plan = PLAN) -> pd.DataFrame:
    (folder / "people.csv").write_bytes(content)
    return reading.read(plan, base=folder).table.rows()


def file_of(rows: list[list[str]], mark: str = ",") -> bytes:
    return pd.DataFrame(rows, columns=HEADER.split(",")).to_csv(index=False, sep=mark).encode()


@settings(max_examples=many(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(ROW, min_size=1, max_size=4),
    more=st.lists(ROW, min_size=1, max_size=3),
    decimal=st.booleans(),
)
def test_more_rows_leave_the_others_as_they_were(
    tmp_path: Path, rows: list[list[str]], more: list[list[str]], decimal: bool
) -> None:
    options = OPTIONS | ({"delimiter": ";", "decimal": ",", "thousands": "."} if decimal else {})
    plan = replace(PLAN, files={MAIN: FileReference("people.csv", options)})
    mark = str(options["delimiter"])
    alone = read(tmp_path, file_of(rows, mark), plan)
    together = read(tmp_path, file_of(rows + more, mark), plan)
    assert alone.dtypes.equals(together.dtypes)
    pd.testing.assert_frame_equal(together.head(len(alone)), alone)


@pytest.mark.parametrize("label", ODD_ROWS)
def test_nor_does_any_odd_row(tmp_path: Path, label: str) -> None:
    alone = read(tmp_path, table(ROWS))
    together = read(tmp_path, table((*ROWS, ODD_ROWS[label])))
    pd.testing.assert_frame_equal(together.head(len(alone)), alone)


def test_no_row_decides_how_many_columns_there_are(tmp_path: Path) -> None:
    six = "1,f,1,1,1,2020-01-01"
    before, after = ((*[six] * count, *[six + ",x"] * 6) for count in (5, 6))
    assert [len(read(tmp_path, table(rows))) for rows in (before, after)] == [5, 6]
    loose = replace(PLAN, files={MAIN: FileReference("people.csv")})
    assert [len(read(tmp_path, table(rows), loose)) for rows in (before, after)] == [11, 6]


def test_the_same_in_a_workbook(tmp_path: Path) -> None:
    cells = [["1", 7.5], ["2.0", 3], ["3", "4"]]
    columns = ["person", "score"]
    plan = replace(PLAN, files={MAIN: FileReference("people.xlsx")}, schemas={MAIN: subset(columns)})
    found = []
    for more in ([], [["x", "oops"]]):
        pd.DataFrame(cells + more, columns=columns).to_excel(tmp_path / "people.xlsx", index=False)
        found.append(reading.read(plan, base=tmp_path).table.rows().head(3))
    pd.testing.assert_frame_equal(*found)
    assert found[0]["person"].tolist() == ["1", "2", "3"]


@pytest.mark.parametrize("header", [True, False])
def test_no_cell_beside_the_table_decides_whether_a_workbook_is_read(tmp_path: Path, header: bool) -> None:
    """A row further to the right, be it by one column or by thousands, changes nothing of the others."""
    files = {MAIN: FileReference("a.xlsx", {"header": header}), f"{MAIN}.2": FileReference("b.xlsx")}
    names = ["person", "score"] if header else ["column 1", "column 2"]
    columns = tuple(replace(one, name=name) for one, name in zip(PLAN.schema.columns, names, strict=False))
    plan = replace(PLAN, files=files, schemas={MAIN: Schema(columns)}, preparation=())
    frame = pd.DataFrame([["1", 7.5], ["2", 3.0]], columns=["person", "score"])
    for name in ("a", "b"):
        frame.to_excel(tmp_path / f"{name}.xlsx", index=False, header=header)
    files[f"{MAIN}.2"] = replace(files[f"{MAIN}.2"], options={"header": header})
    plan = reading.pin_reading(plan, base=tmp_path)
    assert [file.options["width"] for file in plan.files.values()] == [2, 2]
    before = reading.read(plan, base=tmp_path)
    for place in (3, 9, 6000, 16_384):
        book = openpyxl.load_workbook(tmp_path / "b.xlsx")
        book.active.cell(3, place).value = "x"
        book.active.cell(5, place).value = "a row of nothing else"
        book.save(tmp_path / "b.xlsx")
        after = reading.read(plan, base=tmp_path)
        assert after.columns == before.columns and after.rows_read == before.rows_read == 4, place
        pd.testing.assert_frame_equal(after.table.rows(), before.table.rows())


def test_a_plan_that_leaves_the_width_of_a_workbook_to_its_rows_is_refused(tmp_path: Path) -> None:
    pd.DataFrame({"person": ["1"]}).to_excel(tmp_path / "people.xlsx", index=False)
    plan = reading.pin_reading(replace(PLAN, files={MAIN: FileReference("people.xlsx")}), base=tmp_path)
    sources = method_of(plan.method).sources
    reading.refuse_open(plan, sources)
    options = {name: value for name, value in plan.files[MAIN].options.items() if name != "width"}
    with pytest.raises(InputRefused) as refusal:
        reading.refuse_open(replace(plan, files={MAIN: FileReference("people.xlsx", options)}), sources)
    assert (refusal.value.code, refusal.value.values["options"]) == ("reading.options_open", "width")


def subset(names: list[str]) -> Schema:
    return Schema(tuple(column for column in PLAN.schema.columns if column.name in names))


def test_a_person_is_one_however_the_key_is_written(tmp_path: Path) -> None:
    rows = tuple(f"{key},f,1,1,1,2020-01-01" for key in ("7", " 7", "7.0", "07", "-9", "-9.0", "", "x"))
    (tmp_path / "people.csv").write_bytes(table(rows))
    held = reading.read(PLAN, base=tmp_path)
    assert held.people is not None and held.people.tolist() == [0, 0, 0, 1, -1, -1, -1, 2]
    assert reading.person_keys(held.table, held.schema).to_pylist() == ["7", "07", "x"]


def test_a_pinned_plan_says_every_option(tmp_path: Path) -> None:
    text = "person;sex;score\n1;f;1,5\n2;m;2,5\n"
    (tmp_path / "people.csv").write_text(text)
    loose = replace(PLAN, files={MAIN: FileReference("people.csv", {"encoding": "utf-8"})})
    options = reading.pin_reading(loose, base=tmp_path).files[MAIN].options
    assert options["delimiter"] == ";" and options["decimal"] == "," and options["header"] is True
    assert {"encoding", "quote", "thousands", "skip_rows", "escape", "format", "width"} <= options.keys()
    assert options["date_order"] == "ymd"
    with pytest.raises(InputRefused):
        reading.pin_reading(replace(PLAN, files={}), base=tmp_path)


def test_a_pinned_plan_learns_no_order_of_dates_from_a_later_row(tmp_path: Path) -> None:
    rows = ("1,f,1,1,1,01/02/2020", "2,f,1,1,1,2020-03-01")
    (tmp_path / "people.csv").write_bytes(table(rows))
    plan = reading.pin_reading(replace(PLAN, files={MAIN: FileReference("people.csv")}), base=tmp_path)
    found = [
        read(tmp_path, table((*rows, *more)), plan)["seen"].head(2)
        for more in ((), ("3,f,1,1,1,25/12/2020",))
    ]
    pd.testing.assert_series_equal(*found)
    assert found[0].notna().tolist() == [False, True]


def test_the_ledger_knows_a_table_again_whatever_was_prepared(tmp_path: Path) -> None:
    """Without a person key, a prepared column must not open a second budget for the same file."""
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    plan = plan_for("counts", holding="First")
    step = {"step": "bands", "column": "score", "edges": [-2, 0, 3], "to": "band"}
    other = replace(plan, holding="Second", preparation=(step,))

    def run(plan: Plan, name: str) -> None:
        door = lambda spend: seeded_noise(1, on_first_draw=spend)  # noqa: E731
        run_through(plan, tmp_path / name, ledger, tmp_path, "en", SILENT, door)

    run(plan, "first")
    with pytest.raises(InputRefused, match=r"ledger\.known_table"):
        run(other, "second")
    assert [one.name for one in ledger.holdings()] == ["First"]
    assert ledger.status("First").epsilon_spent == Fraction(1)
