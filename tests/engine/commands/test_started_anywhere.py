"""In any folder, on any code page: nothing of the folder runs, and no letter ends in a traceback."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from engine.__main__ import main

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "resources" / "sample"
# What Python itself has loaded before the first line of any program that is started with -m.
BEFORE = subprocess.run(
    [sys.executable, "-I", "-c", "import runpy, sys; print(*sys.modules)"],
    capture_output=True,
    text=True,
    check=True,
).stdout.split()
LIBRARIES = (
    "resources",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "typst",
    "fontTools",
    "PySide6",
    "platformdirs",
)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with a module of every name the program could ask for; each leaves a trace when it runs."""
    folder = tmp_path / "data"
    folder.mkdir()
    trace = f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__ + ' ')\n"
    wanted = {*sys.stdlib_module_names, *LIBRARIES} - set(BEFORE) - set(sys.builtin_module_names)
    for number, name in enumerate(sorted(wanted)):
        if number % 2:
            (folder / f"{name}.py").write_text(trace)
        else:
            (folder / name).mkdir()
            (folder / name / "__init__.py").write_text(trace)
    return folder


def started(python: str, hostile: Path, *arguments: str, **environment: str) -> str:
    """Start the program in the folder; return what it wrote. Nothing of the folder may have run."""
    done = subprocess.run(
        [python, "-m", *arguments],
        cwd=hostile,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | environment,
        capture_output=True,
        check=False,
    )
    ran = hostile.parent / "ran"
    assert not ran.exists(), ran.read_text()
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("arguments", [("engine", "methods"), ("app", "--help")], ids=lambda one: one[0])
def test_nothing_of_the_folder_runs(hostile: Path, arguments: tuple[str, ...]) -> None:
    assert started(sys.executable, hostile, *arguments, PYTHONPATH=str(ROOT))


def test_nothing_of_the_folder_runs_with_an_installed_program(hostile: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "installed", symlinks=os.name != "nt", with_pip=False)
    python = next((tmp_path / "installed").glob("[bS]*/python*"))
    (place,) = (path for path in (tmp_path / "installed").rglob("site-packages") if path.is_dir())
    libraries = next(path for path in sys.path if path.endswith("site-packages"))
    (place / "custos.pth").write_text(f"{ROOT}\n{libraries}\n", encoding="utf-8")
    assert json.loads(started(str(python), hostile, "engine", "methods", "--json"))["methods"]


def test_nothing_of_the_folder_runs_in_a_whole_release(hostile: Path, tmp_path: Path) -> None:
    plan, out, ledger = SAMPLE / "plan.json", tmp_path / "out", tmp_path / "ledger.sqlite"
    arguments = ("run", str(plan), "--out", str(out), "--ledger", str(ledger))
    started(sys.executable, hostile, "engine", *arguments, PYTHONPATH=str(ROOT))
    assert (out / "release" / "evidence.json").is_file()


@pytest.mark.parametrize("arguments", [("engine", "methods"), ("app", "--help")], ids=lambda one: one[0])
def test_with_a_safe_path_not_even_what_python_loads_first_runs(
    hostile: Path, arguments: tuple[str, ...]
) -> None:
    """Without -P Python looks in the folder for these before any line of the program; README says so."""
    trace = f"open({str(hostile.parent / 'ran')!r}, 'a').write(__name__ + ' ')\n"
    for name in {one.partition(".")[0] for one in BEFORE} | {"engine", "app"}:
        if not (hostile / name).exists():
            (hostile / f"{name}.py").write_text(trace)
    done = subprocess.run(
        [sys.executable, "-P", "-m", *arguments],
        cwd=hostile,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert not (hostile.parent / "ran").exists()


def test_the_checkout_itself_is_no_foreign_folder() -> None:
    command = [sys.executable, "-m", "engine", "--help"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


def test_an_importing_program_keeps_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import engine\nimport beside\n")
    (tmp_path / "beside.py").write_text("")
    for command in ([str(tmp_path / "mine.py")], ["-c", "import mine"]):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()


# Code pages

CALLS = {
    "methods": ("methods",),
    "method": ("methods", "statistics.counts"),
    "inspect": ("inspect", "FILE"),
    "gather": ("gather", "FOLDER"),
    "risk": ("risk", "FILE", "--schema", "SCHEMA"),
    "plan check": ("plan", "check", "PLAN", "--ledger", "NONE"),
    "verify": ("verify", "BUNDLE", "--ledger", "LEDGER"),
    "verify alone": ("verify", "BUNDLE"),
    "ledger": ("ledger", "--ledger", "LEDGER"),
    "analyse": ("analyse",),
    "at-risk": ("at-risk", "--epsilon0", "1", "--epsilon", "0.6"),
    "price": ("price", "--anchors"),
    "refused": ("run", "Ωνε.json", "--out", "ö"),
    "help": ("run", "--help"),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("δ")
    plan, ledger = SAMPLE / "plan.json", str(folder / "ledger.sqlite")
    assert main(["run", str(plan), "--out", str(folder / "bundle"), "--ledger", ledger]) == 0
    tree = json.loads(plan.read_text(encoding="utf-8"))
    schema = folder / "schema.json"
    schema.write_text(json.dumps(tree["schemas"]["people"]), encoding="utf-8")
    table = str(plan.parent / tree["files"]["people"]["path"])
    (folder / "reports").mkdir()
    (folder / "reports" / "ä.csv").write_text("report\nΩ\n", encoding="utf-8")
    return {
        "FILE": table,
        "FOLDER": str(folder / "reports"),
        "SCHEMA": str(schema),
        "PLAN": str(plan),
        "LEDGER": ledger,
        "BUNDLE": str(folder / "bundle"),
        "NONE": str(folder / "none.sqlite"),
    }


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-16"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("as_json", [False, True], ids=["words", "json"])
def test_every_command_writes_utf8_on_any_code_page(
    places: dict[str, str], monkeypatch: pytest.MonkeyPatch, encoding: str, call: str, as_json: bool
) -> None:
    out, wrong = io.BytesIO(), io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(wrong, encoding=encoding))
    arguments = [places.get(one, one) for one in CALLS[call]] + (["--json"] if as_json else [])
    try:
        status = main(arguments)
    except SystemExit as left:  # --help
        status = left.code
    sys.stdout.flush(), sys.stderr.flush()
    assert status == (2 if call == "refused" else 0), wrong.getvalue()
    written = (wrong if call == "refused" else out).getvalue().decode("utf-8")
    assert written.strip() and "Traceback" not in written
    if as_json and call not in ("help", "refused"):
        json.loads(written)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_the_environment_may_name_any_code_page(encoding: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "engine", "methods"],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    assert "δ" in done.stdout.decode("utf-8")
