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
