"""What people who program with the engine call, as they would call it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import engine
from engine import library, views
from engine.errors import InputRefused
from engine.table.reading.options import ReadOptions
from engine.views import Text

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "sample" / "plan.json"
SECRET = "Wilhelmine-Zacharias"
pytestmark = pytest.mark.with_reports  # verifying writes each report again


def test_dir_shows_what_there_is() -> None:
    code = "import engine, sys; print(sorted(engine.__all__), dir(engine), 'pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("False")
    for name in engine.__all__:
        assert repr(name) in done.stdout
        assert getattr(engine, name) is not None
    assert {"Ledger", "Plan", "read_table", "run", "verify"} <= set(dir(engine))
    with pytest.raises(AttributeError, match="nothing"):
        _ = engine.nothing


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, library.Bundle]:
    folder = tmp_path_factory.mktemp("notebook")
    return folder, engine.run(str(SAMPLE), out=str(folder / "out"), ledger=str(folder / "ledger.sqlite"))


@pytest.mark.guarantee
def test_paths_are_text(released: tuple[Path, library.Bundle]) -> None:
    folder, bundle = released
    assert bundle.folder == folder / "out"
    found = engine.verify(str(bundle.folder), ledger=str(folder / "ledger.sqlite"))
    assert found.passed and found.chain_checked


def test_a_sign_that_no_file_can_hold_ends_no_release(tmp_path: Path) -> None:
    plan = engine.Plan.read(SAMPLE)
    frame = pd.read_csv(SAMPLE.parent / plan.files["people"].path, dtype=str, keep_default_na=False).head(40)
    for name in ("patient_nbr", "age", "diag_2"):
        frame[name] = frame[name].astype(object)
        frame.loc[7, name] = "\ud800"  # half of a sign, as a broken text has it
    assert engine.read_table(frame).n_rows == 40
    engine.run(replace(plan, files={}), frame, out=tmp_path / "out", ledger=tmp_path / "ledger.sqlite")
    assert (tmp_path / "out" / "release" / "counts.csv").is_file()


@pytest.mark.guarantee
def test_a_data_frame_goes_where_a_file_goes(tmp_path: Path) -> None:
    plan = engine.Plan.read(SAMPLE)
    reference = plan.files["people"]
    frame = pd.read_csv(SAMPLE.parent / reference.path, dtype=str, keep_default_na=False)
    bundle = engine.run(
        replace(plan, files={}), frame, out=tmp_path / "out", ledger=tmp_path / "ledger.sqlite"
    )
    assert engine.verify(bundle.folder, ledger=tmp_path / "ledger.sqlite").passed
    assert {path.name for path in tmp_path.iterdir()} >= {"out", "ledger.sqlite"}
    assert not list(tmp_path.rglob("people.csv"))  # the rows were a file for as long as the run


def test_a_frame_is_no_file_any_more_when_a_run_is_refused(tmp_path: Path) -> None:
    plan = replace(engine.Plan.read(SAMPLE), files={})
    with pytest.raises(InputRefused):
        engine.run(plan, pd.DataFrame({"age": ["1"]}), out=tmp_path / "out", ledger=tmp_path / "l.sqlite")
    assert not [path for path in tmp_path.rglob("*") if path.suffix == ".csv"]


FRAME = {
    "person": [*range(1, 7)],
    "text": ["C:\\", "b", "it's", 'say "hi"', "d\\", None],
    "amount": [1.125, 2.25, 3.5, 1000.0, float("nan"), -0.0],
    "day": pd.to_datetime(["2026-01-01"] * 5 + ["NaT"]),
    "length": pd.to_timedelta([1, 2, 3, 4, 5, None], unit="D"),
    "yes": [True, False, True, True, False, False],
}
ODD = ('say \\"hi\\"', "'q'", "a;b;c", "1.000,5", "13/04/2026", "x\ny", "x\ry", "\0", '"')
OTHERS = [
    *({"text": text} for text in ODD),
    {"text": 7, "yes": None},
    {"amount": 0.1, "day": pd.Timestamp("2026-01-01 12:30"), "length": pd.Timedelta(hours=1)},
]


@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_no_cell_of_a_frame_decides_how_the_others_are_read(tmp_path: Path, other: dict) -> None:
    """Options that were found out in the run moved one noisy sum by 96 times what was declared."""
    frame = pd.DataFrame(FRAME)
    more = {"person": 7, "text": "a", "amount": 1.0, "day": pd.NaT, "length": pd.NaT, "yes": True} | other
    typed = {name: kind for name, kind in frame.dtypes.items() if name in ("day", "length")}
    longer = pd.concat([frame.astype(object), pd.DataFrame([more], dtype=object)], ignore_index=True)
    longer = longer.astype({**typed, "amount": "float64", "person": "int64"})
    written, said = [], []
    plan = replace(engine.Plan.read(SAMPLE), files={})
    for table in (frame, longer):
        with library._as_files(plan, {"people": table}, tmp_path / "out", tmp_path) as complete:
            file = complete.files["people"]
            written.append(Path(file.path).read_bytes())
            said.append(file.options)
            rows = engine.read_table(file.path, options=ReadOptions.from_json(file.options)).rows()
        assert len(rows) == len(table)
        assert rows["person"].tolist() == table["person"].tolist()
        assert rows["amount"].fillna(-1.0).tolist() == table["amount"].fillna(-1.0).tolist()
        assert rows["text"].tolist()[:5] == frame["text"].tolist()[:5]
    assert written[1].startswith(written[0])
    assert said[0] == said[1]


def test_a_frame_is_released_as_it_is_read(tmp_path: Path) -> None:
    """Whoever declared the columns of `read_table` would find none of the values again in the release."""
    frame = pd.DataFrame(FRAME).assign(
        moment=pd.to_datetime(["2026-03-29 01:30+02:00"] * 6),
        maybe=pd.array([True, None, False, True, True, None], "boolean"),
        raw=[b"\xff\xc8", b"\xff\xc9", b"a", True, "b", None],
    )
    frame.insert(1, "person", frame["yes"], allow_duplicates=True)
    plan = replace(engine.Plan.read(SAMPLE), files={})
    with library._as_files(plan, {"people": frame}, tmp_path / "out", tmp_path) as complete:
        file = complete.files["people"]
        released = engine.read_table(file.path, options=ReadOptions.from_json(file.options)).rows()
    shown = engine.read_table(frame).rows()
    assert list(released) == list(shown) and "person (2)" in shown
    pd.testing.assert_frame_equal(released, shown)
    assert shown["raw"].nunique() == 5


def test_of_a_file_nothing_is_found_out_in_the_run(tmp_path: Path) -> None:
    plan = engine.Plan.read(SAMPLE)
    own = SAMPLE.parent / plan.files["people"].path
    with pytest.raises(InputRefused) as refused:
        engine.run(replace(plan, files={}), {"people": own}, out=tmp_path / "a", ledger=tmp_path / "l")
    assert refused.value.code == "reading.options_open"
    with library._as_files(plan, {"people": own}, tmp_path / "out", tmp_path) as complete:
        assert complete.files["people"].options == plan.files["people"].options
    with library._as_files(plan, {"people": tmp_path / "a.xlsx"}, tmp_path / "out", tmp_path) as complete:
        assert not complete.files["people"].options  # how a text file is written says nothing of a sheet


def test_frames_of_any_storage_become_tables() -> None:
    frame = pd.DataFrame(
        {
            "number": [1, 2],
            "amount": [0.5, None],
            "kind": pd.Categorical(["a", "b"]),
            "yes": [True, False],
            "mixed": ["a", 7],
            "day": pd.to_datetime(["2026-01-01", "2026-01-02"]),
        },
        index=[5, 9],
    )
    table = engine.read_table(frame)
    assert [table.storage[name] for name in ("number", "amount", "kind", "day")] == [
        "integer",
        "number",
        "text",
        "date",
    ]
    assert table.n_rows == 2
    frame.loc[5, "number"] = 100
    assert table.rows()["number"].tolist() == [1, 2]


VIEWS = [
    views.NumberView("People", 4259, Text("methods.statistics.counts.numbers.count"), "people"),
    views.TableView("Counts", ("sex", "count"), (("f", 12), (None, Text("views.whole")))),
    views.BarsView("Counts", ("f", "m"), (12.0, 8.0), "people", (10.0, 6.0), (14.0, 10.0)),
    views.IntervalsView("Means", ("f", "m"), (1.0, 2.0), (0.5, 1.5), (1.5, 2.5), "years"),
    views.CurveView("Cost", "ε", "€", (views.Series("cost", (0.0, 1.0), (1.0, 3.0)),)),
    views.ScatterView("Tried", "lost", "left out", (views.Series("one", (0.0, 1.0), (1.0, 3.0)),)),
    views.HeatmapView("Pairs", ("a", "b"), ("c", "d"), ((1.0, None), (3.0, 4.0))),
    views.MatrixView("Correlation", ("a", "b"), ((1.0, 0.5), (0.5, 1.0))),
    views.GraphView("Network", ("a", "b"), ((0, 1, 0.5),)),
    views.TextView("Words", (Text("views.whole"),)),
]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.kind)
def test_every_view_shows_itself(view: views.View) -> None:
    shown = view._repr_html_()
    assert str(view.title) in shown
    assert ("<svg" in shown) == (view.kind not in ("number", "table", "text"))


def test_every_kind_of_view_is_tried() -> None:
    assert {type(view) for view in VIEWS} == set(views.KINDS)


def test_notebooks_show_names_and_sizes_and_never_a_cell(released: tuple[Path, library.Bundle]) -> None:
    _, bundle = released
    table = engine.read_table(pd.DataFrame({"name": [SECRET, SECRET], "age<b>": [1, 2]}))
    shown = table._repr_html_()
    assert SECRET not in shown and "name" in shown and "age&lt;b&gt;" in shown
    shown = bundle._repr_html_()
    assert bundle.entry in shown
    for view in bundle.views:
        assert view._repr_html_() in shown
    inside = replace(bundle, internal_views=(views.TextView(SECRET, ()),))
    assert SECRET not in inside._repr_html_()
    plan = engine.Plan.read(SAMPLE)
    assert plan.fingerprint in plan._repr_html_() and "0.5" in plan._repr_html_()
    assert "yes" in engine.verify(bundle.folder)._repr_html_()
