"""Make the wheel: ``python3 packaging/make_wheel.py [FOLDER]``; ``pip wheel .`` asks the same.

Installed, everything has one name, ``custos``: others may have an ``app``, an ``engine`` or ``resources``
of their own. The folders of the checkout become ``custos.engine``, ``custos.app`` and ``custos.resources``,
and their imports say so. `renamed` changes nothing else, and `engine.release.program.as_checked_out` takes
it back, so that a checkout and what is installed from it make papers that agree.

Standard library only: a wheel is made without a network. Two of one state are the same, byte for byte.

The part that connects to a server is not in it: ``make_wheel.py --connector [FOLDER]`` makes a wheel of that.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import io
import re
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NAME = "custos"
FOLDERS = ("app", "engine", "resources")
CONNECTOR = "engine/connector"
KIND = "connector-"
"""What an extra begins with that is one of the connector: a kind of servers."""
OWN = ROOT / "packaging" / "installed"
SOURCES = ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", *FOLDERS, "packaging")
WHEEL = b"Wheel-Version: 1.0\nGenerator: custos\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
WHEN = (2026, 1, 1, 0, 0, 0)  # what stands where a time would stand

_FOLDER = rf"(?P<folder>{'|'.join(FOLDERS)})\b"
_BEFORE = r"(?P<before>\s*(?:(?:>>>|\.\.\.) )?(?:from|import) )"
_IMPORT = re.compile(rf"^{_BEFORE}{_FOLDER}(?=[. ;\n]|$)", re.MULTILINE)
_NAMING = ("files", "import_module", "find_spec")
_FILES = re.compile(rf'(?P<before>\bfiles\("){_FOLDER}(?="\))')


def renamed(source: str) -> str:
    """Return a module with the names under which the folders are installed.

    Examples
    --------
    >>> renamed('from engine.views import Text')
    'from custos.engine.views import Text'
    >>> renamed('import engine.methods as declared')
    'import custos.engine.methods as declared'
    >>> renamed('files("resources") / "engine"')
    'files("custos.resources") / "engine"'
    >>> renamed('from engineering import engine')
    'from engineering import engine'
    """
    for pattern in (_IMPORT, _FILES):
        source = pattern.sub(rf"\g<before>{NAME}.\g<folder>", source)
    return source


def names_left(source: str) -> list[str]:
    """Return what a module still takes from a top-level name of the checkout: nothing, once it is `renamed`.

    Examples
    --------
    >>> names_left("import app.theme")
    ['app.theme']
    >>> names_left('import custos.engine.views\\nengine.views.Text("here")')
    ['custos.engine.views is called engine']
    """
    found: list[str] = []
    bound: set[str] = set()
    used: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names if one.name.split(".")[0] in FOLDERS]
            bound |= {one.name for one in node.names if one.asname is None}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [node.module] if node.module.split(".")[0] in FOLDERS else []
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in _NAMING:
            found += [text for one in node.args for text in _texts(one) if text.split(".")[0] in FOLDERS]
        elif isinstance(node, ast.Name):
            used.add(node.id)
    for name in sorted(
        bound
    ):  # ``import custos.engine.views`` binds custos, where ``engine`` was bound before
        parts = name.split(".")
        if parts[0] == NAME and len(parts) > 1 and parts[1] in used:
            found.append(f"{name} is called {parts[1]}")
    return found


def _texts(node: ast.AST) -> list[str]:
    return [
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]


def contents() -> Iterator[tuple[str, bytes]]:
    """Yield every file of the package by its path in the wheel: all but the connector.

    Raises
    ------
    ValueError
        A module would still look for a top-level name of the checkout.
    """
    for path in sorted(OWN.iterdir()):
        if path.is_file():
            yield f"{NAME}/{path.name}", path.read_bytes()
    for folder in FOLDERS:
        for name, content in _installed(ROOT / folder):
            if not name.startswith(f"{NAME}/{CONNECTOR}/"):
                yield name, content


def _installed(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder as they are installed."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        content = path.read_bytes()
        if path.suffix == ".py":
            source = renamed(content.decode())
            if left := names_left(source):
                raise ValueError(f"{path.relative_to(ROOT)}: not there when installed: {', '.join(left)}")
            content = source.encode()
        yield f"{NAME}/{path.relative_to(ROOT).as_posix()}", content


def project() -> dict[str, Any]:
    """Return the table ``project`` of ``pyproject.toml``."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def metadata() -> str:
    """Return METADATA: name, version, what it needs, and the README."""
    said = project()
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {said['name']}",
        f"Version: {said['version']}",
        f"Summary: {said['description']}",
        f"License-Expression: {said['license']}",
        "License-File: LICENSE",
        f"Requires-Python: {said['requires-python']}",
        *(f"Requires-Dist: {one}" for one in said["dependencies"]),
    ]
    for extra, wanted in said["optional-dependencies"].items():
        if extra.startswith(KIND):
            continue
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {one}; extra == "{extra}"' for one in wanted]
    readme = (ROOT / said["readme"]).read_text(encoding="utf-8")
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme])


def entry_points() -> str:
    """Return entry_points.txt: the commands."""
    said = project()
    groups = {"console_scripts": said["scripts"], "gui_scripts": said["gui-scripts"]}
    return "".join(
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in commands.items()) + "\n"
        for group, commands in groups.items()
    )


def build_wheel(
    wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None
) -> str:
    """Write the wheel into a folder and return its name; pip asks this (PEP 517)."""
    return _write_wheel(wheel_directory, NAME, dict(contents()), metadata(), entry_points())


def build_connector(wheel_directory: str) -> str:
    """Write the wheel of the connector, which lays itself beside the program, and return its name."""
    said = project()
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}-connector",
        f"Version: {said['version']}",
        "Summary: Lets Custos ask a database server for counts. It opens the only connection.",
        f"License-Expression: {said['license']}",
        "License-File: LICENSE",
        f"Requires-Python: {said['requires-python']}",
        f"Requires-Dist: {NAME}=={said['version']}",
        *(f"Requires-Dist: {one}" for one in said["optional-dependencies"]["connector"]),
    ]
    for extra, wanted in said["optional-dependencies"].items():
        if extra.startswith(KIND):
            kind = extra.removeprefix(KIND)
            lines += [
                f"Provides-Extra: {kind}",
                *(f'Requires-Dist: {one}; extra == "{kind}"' for one in wanted),
            ]
    files = dict(_installed(ROOT / CONNECTOR))
    return _write_wheel(wheel_directory, f"{NAME}_connector", files, "\n".join([*lines, ""]))


def _write_wheel(folder: str, name: str, files: dict[str, bytes], about: str, commands: str = "") -> str:
    information = f"{name}-{project()['version']}.dist-info"
    files[f"{information}/METADATA"] = about.encode()
    files[f"{information}/WHEEL"] = WHEEL
    if commands:
        files[f"{information}/entry_points.txt"] = commands.encode()
    files[f"{information}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = f"{information}/RECORD"
    lines = [f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items()]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    name = f"{name}-{project()['version']}-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, WHEN)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return name


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """Write the sources, from which the same wheel can be made, and return the name of the file (PEP 517)."""
    top = f"{NAME}-{project()['version']}"
    name = f"{top}.tar.gz"
    with tarfile.open(Path(sdist_directory) / name, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for source in SOURCES:
            archive.add(ROOT / source, f"{top}/{source}", filter=_kept)
        entry = tarfile.TarInfo(f"{top}/PKG-INFO")
        content = metadata().encode()
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return name


def _kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in entry.name else entry


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    """Return what building needs beyond Python: nothing."""
    return []


get_requires_for_build_sdist = get_requires_for_build_wheel


if __name__ == "__main__":
    given = [one for one in sys.argv[1:] if one != "--connector"]
    build = build_wheel if given == sys.argv[1:] else build_connector
    target = Path(given[0] if given else ROOT / "dist")
    target.mkdir(parents=True, exist_ok=True)
    print(target / build(str(target)))
