"""The rules of the tree, each as a test: who may import whom, what never, where files stand."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from engine.methods.catalogue import methods

ROOT = Path(__file__).resolve().parents[1]
TOP = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "app",
    "engine",
    "resources",
    "tests",
    "packaging",
}
PLAIN = {
    "__future__", "abc", "argparse", "base64", "binascii", "bisect", "codecs", "collections",
    "contextlib", "contextvars", "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "enum",
    "errno", "fcntl", "fractions", "functools", "gc", "getpass", "gettext", "glob", "hashlib", "heapq",
    "hmac", "html", "importlib", "inspect", "io", "ipaddress", "itertools", "json", "logging", "math",
    "msvcrt", "numbers", "os", "pathlib", "pkgutil", "platform", "posixpath", "queue", "re", "secrets",
    "shutil", "signal", "sqlite3", "stat", "statistics", "string", "struct", "sys", "tarfile",
    "tempfile", "textwrap", "threading", "time", "tomllib", "traceback", "types", "typing",
    "unicodedata", "warnings", "weakref", "winreg", "xml", "zipfile", "zlib", "zoneinfo",
}  # fmt: skip
LIBRARIES = {
    "charset_normalizer", "cryptography", "dp_accounting", "highspy", "matplotlib", "numpy", "openpyxl",
    "pandas", "platformdirs", "pyarrow", "pypdf", "pyreadstat", "PySide6", "scipy", "shiboken6",
    "sklearn", "threadpoolctl", "typst",
}  # fmt: skip
MAY_IMPORT = PLAIN | LIBRARIES | {"app", "engine", "resources"}
"""What modules of the program may import: nothing else, so that no driver opens a socket behind its back."""
MAY_TOO = {
    "concurrent": {"engine/privacy/sampled_sensitivity/ridge.py", "engine/table/reading/text.py"},
    "ctypes": {"engine/computer/silence.py", "engine/ledger/process.py", "engine/memory.py"},
    "duckdb": {"engine/table/reading/duck.py"},  # locked before it reads
    "multiprocessing": {"app/__main__.py"},
    "sqlcipher3": {"engine/ledger/cipher.py"},  # a ledger has one way to be opened
    "atexit": {"engine/table/reading/package_process.py"},
    "resource": {"engine/memory.py", "engine/table/reading/package_reader.py"},
    "subprocess": {
        "engine/ledger/process.py",
        "engine/table/reading/package_process.py",  # a torn file ends the library that reads it
        "engine/table/server.py",
    },
}
"""What single modules may import as well."""
CONNECTOR = "engine/connector"
OF_CONNECTOR = {
    *("__future__", "abc", "collections", "datetime", "engine", "hashlib", "ipaddress", "json", "logging"),
    *("pathlib", "re", "socket", "ssl", "sys", "threading", "typing", "warnings"),
    *("grpc", "oracledb", "pg8000", "pyarrow", "pyspark", "pytds", "requests", "trino"),
}
"""What the one part may import that opens a connection, in a process of its own."""
NO_PARTS = ("PySide6.QtNetwork", "PySide6.QtWeb", "pyarrow.flight", "pyarrow.fs", "importlib.resources.http")
LONGEST = 900
METHODS = "engine.methods"


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


@cache
def imported(path: Path) -> frozenset[str]:
    """Top-level names of everything that a module imports, wherever it does."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return frozenset(found)


def tops(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)}


def test_the_top_level_holds_what_it_should() -> None:
    names = {path.name for path in ROOT.iterdir()}
    if shutil.which("git") and (ROOT / ".git").exists():  # what is not kept does not count
        command = ["git", "-c", f"safe.directory={ROOT}", "ls-files"]
        kept = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        names = {line.split("/")[0] for line in kept.splitlines()}
    assert "engine" in names
    assert {name for name in names if not name.startswith(".")} <= TOP


def offenders(paths: Collection[Path], offends: Callable[[Path], bool]) -> list[str]:
    assert len(paths) > 3  # a folder that has moved is no folder without offenders
    return [str(path.relative_to(ROOT)) for path in paths if offends(path)]


def offline() -> list[Path]:
    connector = sources(CONNECTOR)
    assert connector
    return [path for path in sources("engine", "app") if path not in connector]


def test_modules_import_what_is_listed_and_nothing_else() -> None:
    """No network and no pickle, and no driver of a database that opens a connection itself."""

    def offends(path: Path) -> bool:
        name = path.relative_to(ROOT).as_posix()
        further = {module for module, files in MAY_TOO.items() if name in files}
        has_part = any(one.startswith(NO_PARTS) for one in imported(path))
        return bool(tops(path) - MAY_IMPORT - further) or has_part

    assert not offenders(offline(), offends)


@pytest.mark.guarantee
def test_the_list_names_nothing_that_nobody_imports() -> None:
    used = {name for path in offline() for name in tops(path)}
    assert used >= MAY_IMPORT - {"resources"}
    for module, files in MAY_TOO.items():
        assert {str(path.relative_to(ROOT)) for path in offline() if module in tops(path)} == files, module


def test_only_the_connector_can_connect_and_nothing_imports_it() -> None:
    assert {name for path in sources(CONNECTOR) for name in tops(path)} == OF_CONNECTOR
    of_engine = {
        name for path in sources(CONNECTOR) for name in imported(path) if name.split(".")[0] == "engine"
    }
    kinds = {f"engine.connector.{path.stem}" for path in sources(CONNECTOR) if not path.stem.startswith("__")}
    assert of_engine == kinds
    assert not offenders(
        offline(), lambda path: any(name.startswith("engine.connector") for name in imported(path))
    )


def test_the_engine_knows_no_screen() -> None:
    assert not offenders(
        sources("engine"),
        lambda path: (
            bool(tops(path) & {"app", "PySide6", "PyQt6", "shiboken6"})
            or "matplotlib.pyplot" in imported(path)
        ),
    )


def test_the_application_computes_nothing_and_knows_no_method() -> None:
    declared = tuple(f"{METHODS}.{name}" for name in families())
    assert not offenders(
        sources("app"),
        lambda path: (
            any(name.startswith(declared) for name in imported(path))
            or bool(tops(path) & {"scipy", "sklearn"})
        ),
    )


def families() -> list[str]:
    """Names of the packages of methods, and of what they share."""
    return sorted(path.parent.name for path in (ROOT / "engine/methods").glob("*/__init__.py"))


@pytest.mark.parametrize("family", families())
def test_methods_import_what_they_share_and_never_each_other(family: str) -> None:
    others = tuple(f"{METHODS}.{name}." for name in families() if name not in (family, "shared"))
    declaring = {kind.__module__ for kind in methods()}
    assert declaring
    for path in sources(f"engine/methods/{family}"):
        names = imported(path)
        wrong = sorted({name for name in names if name.startswith(others)} | names & declaring)
        assert not wrong, f"{path} imports other methods; what both need goes to shared/: {wrong}"


def needs(path: Path, files: Collection[str]) -> set[str]:
    """Modules among ``files`` that a module imports: of ``from a import b`` b if it is one, else a."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in files else node.module for name in named}
    return found & set(files)


def test_no_file_needs_itself_through_others() -> None:
    """Imports inside functions, and those for types, count like all others."""
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sources("engine", "app")
    }
    graph = {name: needs(path, files) - {name} for name, path in files.items()}
    assert "engine.release.check" in graph["engine.release.run"]
    TopologicalSorter(graph).prepare()  # names the circle


def test_screens_never_import_each_other() -> None:
    def asks_another(path: Path) -> bool:
        own = f"app.screens.{path.relative_to(ROOT / 'app' / 'screens').parts[0].removesuffix('.py')}"
        asked = {name for name in imported(path) if name.startswith("app.screens.")}
        return any(name != own and not name.startswith((f"{own}.", "app.screens.base")) for name in asked)

    assert not offenders(sources("app/screens"), asks_another)


def test_files_stay_readable_in_one_sitting() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in sources("engine", "app", "packaging")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST
    }
    assert not long


def test_packaging_and_tests_are_no_packages() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_nothing_heavy_is_loaded_before_it_is_used() -> None:
    code = (
        "import sys, engine, engine.__main__, engine.errors, engine.texts, engine.views, engine.release.plan;"
        "import engine.commands.parser; engine.commands.parser.make_parser();"
        "print(sorted(set(sys.modules) & {'pandas.core', 'sklearn', 'scipy', 'scipy.stats', 'matplotlib',"
        " 'dp_accounting', 'typst', 'fontTools', 'pyarrow.lib', 'PySide6'}))"  # not what stands for a library
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_module_of_the_engine_can_be_imported_alone() -> None:
    code = (
        "import importlib, pkgutil, sys, engine;"
        "from tests.engine.connector.drivers import missing_driver;"
        "[importlib.import_module(m.name) for m in pkgutil.walk_packages(engine.__path__, 'engine.')"
        " if not m.name.endswith('__main__') and not missing_driver(m.name)];"
        "print(sorted(n for n in sys.modules if n.split('.')[0] in ('app', 'PySide6')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_the_same_everywhere() -> None:
    import tomllib

    from engine import __version__

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


READMES = ["engine/README.md", "engine/methods/README.md", "app/README.md", "tests/README.md"]
_FILE = re.compile(r"`([\w./]+\.(?:py|toml|json))`")
_SAID_WHERE = re.compile(r"`(?:\w+\.)?(\w+)`\s+\(`([\w./]+\.py)`")


def told_wrong(text: str, folder: Path) -> list[str]:
    """Return the files that a README names and nobody finds, and functions that are not where it says."""
    wrong = []
    for name in _FILE.findall(text):
        if not (name.endswith("_ID.py") or found_files(name, folder)):
            wrong.append(f"{name} is not there")
    for function, name in _SAID_WHERE.findall(text):
        defined = re.compile(rf"^\s*(?:def|class) {function}\b", re.MULTILINE)
        files = [file.read_text(encoding="utf-8") for file in found_files(name, folder)]
        if not any(map(defined.search, files)):
            wrong.append(f"{name} has no {function}")
    return wrong


def found_files(name: str, folder: Path) -> list[Path]:
    """Return the files that a name of a README may mean: from its folder, or from the top."""
    return [*(ROOT / folder).glob(f"**/{name}"), *ROOT.glob(name), *(ROOT / "engine").glob(name)]


@pytest.mark.parametrize("readme", READMES)
def test_a_readme_names_what_is_there(readme: str) -> None:
    path = ROOT / readme
    assert not told_wrong(path.read_text(encoding="utf-8"), Path(readme).parent)


def test_a_readme_that_names_what_is_gone_is_found() -> None:
    said = "`check` (`release/check.py`), `plural` (`languages.py`), `release/signed.py`"
    assert told_wrong(said, Path("engine")) == [
        "release/signed.py is not there",
        "languages.py has no plural",
    ]
