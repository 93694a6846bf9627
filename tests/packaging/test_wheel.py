"""What is installed: one name of its own, commands, and nothing of anybody else's in the way."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from engine.release.program import as_checked_out, words_digest
from engine.table.dialects import DIALECTS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def make_wheel() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_wheel", ROOT / "packaging" / "make_wheel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_renaming_is_taken_back_by_the_digest(make_wheel: ModuleType) -> None:
    paths = [path for folder in ("app", "engine") for path in (ROOT / folder).rglob("*.py")]
    changed = 0
    for path in paths:
        source = path.read_bytes()
        renamed = make_wheel.renamed(source.decode()).encode()
        changed += renamed != source
        assert as_checked_out(renamed) == as_checked_out(source), path
    assert changed > 300


@pytest.mark.parametrize(
    "source",
    [
        "import engine.views\nengine.views.Text",
        "import_module('engine.views')",
        "find_spec(f'app.screens.{step}')",
        "files(\n    'resources')",
        "if True: import app.theme",
    ],
)
def test_what_would_not_be_found_when_installed_is_seen(make_wheel: ModuleType, source: str) -> None:
    assert make_wheel.names_left(make_wheel.renamed(source))


@pytest.mark.guarantee
def test_a_wheel_holds_one_name(make_wheel: ModuleType, tmp_path: Path) -> None:
    made = tmp_path / make_wheel.build_wheel(str(tmp_path))  # refuses what would not be found when installed
    with zipfile.ZipFile(made) as wheel:
        names = wheel.namelist()
        record = wheel.read(next(name for name in names if name.endswith("RECORD"))).decode()
    version = make_wheel.project()["version"]
    assert {name.split("/")[0] for name in names} == {"custos", f"custos-{version}.dist-info"}
    assert {"custos/py.typed", "custos/resources/sample/plan.json", "custos/app/__main__.py"} <= set(names)
    assert sorted(line.split(",")[0] for line in record.splitlines()) == sorted(names)


def test_the_connector_is_a_wheel_of_its_own(make_wheel: ModuleType, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / make_wheel.build_wheel(str(tmp_path))) as wheel:
        program = wheel.namelist()
    with zipfile.ZipFile(tmp_path / make_wheel.build_connector(str(tmp_path))) as wheel:
        connector, about = wheel.namelist(), next(one for one in wheel.namelist() if one.endswith("METADATA"))
        said, code = wheel.read(about).decode(), wheel.read("custos/engine/connector/__main__.py").decode()
    version = make_wheel.project()["version"]
    assert not [name for name in program if "connector" in name] and not set(program) & set(connector)
    kinds = sorted(DIALECTS)
    assert sorted(name for name in connector if ".dist-info/" not in name) == sorted(
        f"custos/engine/connector/{name}.py" for name in ("__init__", "__main__", "session", *kinds)
    )
    extras = {line.split(": ")[1] for line in said.splitlines() if line.startswith("Provides-Extra: ")}
    assert extras == {*kinds} - {"postgresql"}  # what a sentence says to install, see errors/server.toml
    for kind in extras:
        assert f'; extra == "{kind}"' in said
    assert f"Requires-Dist: custos=={version}" in said and "Requires-Dist: pg8000" in said
    assert "from custos.engine.connector.postgresql import" in code


@pytest.mark.slow
def test_sources_make_the_same_wheel(make_wheel: ModuleType, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / make_wheel.build_sdist(str(tmp_path))) as archive:
        archive.extractall(tmp_path, filter="data")
    top = next(path for path in tmp_path.iterdir() if path.is_dir())
    folders = [tmp_path / "from sources", tmp_path / "from here"]
    for folder, root in zip(folders, (top, ROOT), strict=True):
        command = [sys.executable, str(root / "packaging" / "make_wheel.py"), str(folder)]
        subprocess.run(command, check=True, capture_output=True)
    first, second = (next(folder.iterdir()).read_bytes() for folder in folders)
    assert first == second


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install by pip into a new environment, beside a project that has an app, an engine and resources."""
    place = tmp_path_factory.mktemp("an environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    command = [*pip, "install", "--quiet", "--no-index", "--no-deps", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr
    paths = {"base": str(place), "platbase": str(place)}
    site = Path(sysconfig.get_path("purelib", vars=paths))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    for name in ("app", "engine", "resources"):
        (site / name).mkdir()
        (site / name / "__init__.py").write_text("WHOSE = 'somebody else'\n")
    return place


@pytest.mark.before_release
@pytest.mark.skipif(
    shutil.which("unshare") is None or os.geteuid() != 0, reason="no network can be taken away"
)
def test_a_wheelhouse_installs_by_one_command_without_a_network(tmp_path: Path) -> None:
    """Fetches what is installed here, 250 MB; then everything happens where there is no network.

    ``CUSTOS_WHEELHOUSE`` names a folder that was filled before.
    """
    wheels, place = tmp_path / "wheels", tmp_path / "place"
    wheels.mkdir()
    sys.path.insert(0, str(ROOT / "packaging"))
    import make_installers

    if given := os.environ.get("CUSTOS_WHEELHOUSE"):
        shutil.copytree(given, wheels, dirs_exist_ok=True)
    else:
        assert make_installers.wheelhouse(wheels, Path(sys.executable)) == 0
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    held = f"--no-index --find-links {wheels} --require-hashes -r {wheels / make_installers.LOCK}"
    install = f"{place}/bin/python -m pip install --quiet --no-cache-dir --no-compile {held}"
    alone(
        f"! {place}/bin/python -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 5)'", tmp_path
    )
    alone(install, tmp_path)
    run = f"{place}/bin/custos run {place}/lib/python3*/site-packages/custos/resources/sample/plan.json"
    alone(f"{run} --out bundle --ledger ledger.sqlite", tmp_path)
    alone(f"{place}/bin/custos verify bundle --ledger ledger.sqlite", tmp_path)
    one = next(wheels.glob("narwhals-*.whl"), next(wheels.glob("*.whl")))
    one.write_bytes(one.read_bytes() + b" ")  # still a wheel, and another one
    refused = subprocess.run(
        [*ALONE, f"{install} --force-reinstall"], capture_output=True, text=True, check=False
    )
    assert refused.returncode != 0 and "HASH" in refused.stderr.upper()


ALONE = ("unshare", "--net", "sh", "-c")


def alone(script: str, folder: Path) -> None:
    """Run a script where there is no network."""
    done = subprocess.run([*ALONE, script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"


def ran(installed: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the environment, in it, with nothing of this checkout in reach."""
    folder = installed / ("Scripts" if os.name == "nt" else "bin")
    environment = {
        "PATH": f"{folder}{os.pathsep}/usr/bin:/bin",
        "HOME": str(installed),
        "QT_QPA_PLATFORM": "offscreen",
        "LANG": "C.UTF-8",
        "CUSTOS_DEBUG": "1",
    }
    return subprocess.run(
        [str(folder / command[0]), *command[1:]],
        cwd=installed,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_the_commands_of_an_installed_program(installed: Path) -> None:
    site = Path(ran(installed, "python", "-c", "import custos; print(custos.__path__[0])").stdout.strip())
    assert installed in site.parents
    done = ran(installed, "custos", "methods")
    assert done.returncode == 0 and "statistics.counts" in done.stdout, done.stderr
    plan = str(site / "resources" / "sample" / "plan.json")
    done = ran(installed, "custos", "run", plan, "--out", "bundle", "--ledger", "ledger.sqlite")
    assert done.returncode == 0, done.stderr
    done = ran(installed, "python", "-m", "custos", "verify", "bundle", "--ledger", "ledger.sqlite")
    assert done.returncode == 0, done.stderr
    # The same code makes the same papers, wherever it lies
    assert f'"words": "{words_digest()}"' in (installed / "bundle" / "release" / "evidence.json").read_text()
    done = ran(installed, "custos-desktop", "--help")
    assert done.returncode == 0 and "custos-desktop" in done.stdout, done.stderr


@pytest.mark.slow
def test_the_window_of_an_installed_program_makes_every_screen(installed: Path) -> None:
    code = (
        "import sys\n"
        "from custos.app.application import make_application\n"
        "from custos.app.frame.window import Window\n"
        "from custos.app.state import flow\n"
        "from custos.app.state.settings import Settings\n"
        "application = make_application(sys.argv[:1], Settings())\n"
        "window = Window(settings=Settings())\n"
        "made = [type(window.page(step)).__module__ for step in flow.STEPS]\n"
        "assert all(name.startswith('custos.app.screens.') for name in made), made\n"
        "print(len(made))\n"
        "window.close()\n"
    )
    done = ran(installed, "python", "-c", code)
    assert done.returncode == 0 and int(done.stdout) > 10, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("order", [("custos", "others"), ("others", "custos")])
def test_packages_of_the_same_names_stay_unharmed(installed: Path, order: tuple[str, str]) -> None:
    lines = {
        "custos": "import custos; custos.Plan; custos.run; assert len(custos.list_methods())",
        "others": "import app, engine, resources",
    }
    code = "\n".join(
        [
            *(lines[name] for name in order),
            "assert {app.WHOSE, engine.WHOSE, resources.WHOSE} == {'somebody else'}",
            "import sys",
            "own = [name for name in sys.modules if name.split('.')[0] in ('app', 'engine', 'resources')]",
            "assert sorted(own) == ['app', 'engine', 'resources'], own",
            "print(*dir(custos))",
        ]
    )
    done = ran(installed, "python", "-c", code)
    assert done.returncode == 0, done.stderr
    assert {"Plan", "Schema", "Ledger", "read_table", "run", "verify"} <= set(done.stdout.split())
