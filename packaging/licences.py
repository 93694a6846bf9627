"""Licences of everything inside, and a bill of materials (CycloneDX 1.5), from what wheels say themselves.

A component whose licence cannot be told stops the build: nothing is handed out that nobody may hand out.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMMON = Path("/usr/share/common-licenses")
"""Debian's copies of texts that some wheels name without bringing them along."""
_TEXT = re.compile(r"(?i)(^|/)(licen[cs]es?|copying|notice)([^/]*$|/.*[^/]$)")
_SPDX = re.compile(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*")
_NORMAL = re.compile(r"[-_.]+")
# How packages that say it in words of their own mean it; looked up in their texts.
_SAID = {
    "Apache 2.0": "Apache-2.0",
    "BSD 3-Clause License": "BSD-3-Clause",
    "cycler": "BSD-3-Clause",
    "kiwisolver": "BSD-3-Clause",
    "matplotlib": "LicenseRef-Matplotlib",
    "pyinstaller": "GPL-2.0-or-later WITH Bootloader-exception",
    "scipy": "BSD-3-Clause",
    "sqlcipher3": "Zlib",
}
_COMMON = {"Apache-2.0": ("Apache-2.0",), "LGPL-3.0-only": ("LGPL-3", "GPL-3")}  # the one refers to the other


@dataclass(frozen=True)
class Component:
    """Something that is inside: its name and version, its licence (SPDX), and the texts of it."""

    name: str
    version: str
    licence: str
    texts: tuple[tuple[str, bytes], ...]
    kind: str = "pypi"

    @property
    def purl(self) -> str:
        """Its name in bills of materials (package URL)."""
        return f"pkg:{self.kind}/{self.name}@{self.version}"


class NoLicence(Exception):
    """Components whose licence, or its text, cannot be told."""


def components(built: Path | None = None) -> tuple[Component, ...]:
    """Return everything that is inside, by name.

    Parameters
    ----------
    built
        A folder that `build.build` made: what it took from the system is listed too.

    Raises
    ------
    NoLicence
        Names them all.
    """
    found = [*map(_of_wheel, required()), _python(), _own(), *_fonts(), *_of_sqlcipher()]
    if built is not None:
        found += [*_loader(), *_of_system(built)]
    return _all_told(found)


def components_in(packages: Path, *, python: str, text: Path) -> tuple[Component, ...]:
    """Return everything that is inside where wheels were unpacked into a folder, as `components` does.

    Parameters
    ----------
    packages
        The folder; what is installed here does not count.
    python, text
        Version and licence of the Python that comes with it.
    """
    found = [
        _of_wheel(one) for one in distributions(path=[str(packages)]) if one.metadata["Name"] != "custos"
    ]
    own = Component("python", python, "PSF-2.0", ((text.name, text.read_bytes()),), "generic")
    return _all_told([*found, own, _own(), *_fonts(), *_of_sqlcipher()])


def _all_told(found: list[Component]) -> tuple[Component, ...]:
    without = sorted(one.name for one in found if not one.licence or not any(text for _, text in one.texts))
    if without:
        raise NoLicence(", ".join(without))
    return tuple(sorted(found, key=lambda one: (one.name, one.kind)))


def required() -> list[Distribution]:
    """Return the packages that the program needs, and what these need, as they are installed here."""
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, Distribution] = {}

    def walk(wanted: Iterable[str], extras: tuple[str, ...] = ("",)) -> None:
        for line in wanted:
            one = Requirement(line)
            if one.marker is not None and not any(one.marker.evaluate({"extra": name}) for name in extras):
                continue
            name = normal(one.name)
            if name not in found:
                found[name] = distribution(one.name)
                walk(found[name].requires or (), tuple(one.extras) or ("",))

    walk(project["dependencies"])
    return [found[name] for name in sorted(found)]


def normal(name: str) -> str:
    """Return the one way in which the name of a package is written.

    Examples
    --------
    >>> normal("PySide6_Essentials")
    'pyside6-essentials'
    """
    return _NORMAL.sub("-", name).lower()


def _of_wheel(of: Distribution) -> Component:
    name, said = normal(of.metadata["Name"]), licence(of)
    texts = [
        (Path(str(file)).name, Path(str(file.locate())).read_bytes())
        for file in of.files or ()
        if "dist-info" in str(file) and _TEXT.search(str(file)) and Path(str(file.locate())).is_file()
    ]
    if not texts:
        named = next((files for one, files in _COMMON.items() if one in said), ())
        texts = [(file, (COMMON / file).read_bytes()) for file in named if (COMMON / file).is_file()]
    return Component(name, of.version, said, tuple(texts))


def licence(of: Distribution) -> str:
    """Return what a package says of its licence, as SPDX writes it; empty where it says nothing."""
    said = str(of.metadata.get("License-Expression") or "")
    if not said:
        line = str(of.metadata.get("License") or "").strip().split("\n")[0]
        said = _SAID.get(normal(of.metadata["Name"])) or _SAID.get(
            line, line if _SPDX.fullmatch(line) else ""
        )
    if not said:
        classes = of.metadata.get_all("Classifier") or []
        said = " AND ".join(one.split("::")[-1].strip() for one in classes if one.startswith("License ::"))
    return said


def _python() -> Component:
    text = Path(sysconfig.get_paths()["stdlib"]) / "LICENSE.txt"
    texts = (("LICENSE.txt", text.read_bytes()),) if text.is_file() else _debian_text("python3")
    return Component("python", sys.version.split()[0], "PSF-2.0", texts, "generic")


def _loader() -> list[Component]:
    """Return what begins both programs of a folder that was built: it is the builder's own."""
    return [_of_wheel(one) for one in distributions(name="pyinstaller")]


def _own() -> Component:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "LICENSE").read_bytes()
    return Component(project["name"], project["version"], project["license"], (("LICENSE", text),))


def _fonts() -> list[Component]:
    folder = ROOT / "resources" / "fonts"
    return [
        Component(name, "0", said, ((file, (folder / file).read_bytes()),), "generic")
        for name, said, file in (
            ("dejavu-fonts", "Bitstream-Vera", "DejaVu-LICENCE.txt"),
            ("inter-fonts", "OFL-1.1", "Inter-LICENCE.txt"),
        )
    ]


def _of_sqlcipher() -> list[Component]:
    """Return what lies inside the wheel of sqlcipher3, which brings only its own text along."""
    version, provider = _told_by_sqlcipher()
    text = (ROOT / "packaging" / "licence_texts" / "sqlcipher.txt").read_bytes()
    apache = (COMMON / "Apache-2.0").read_bytes() if (COMMON / "Apache-2.0").is_file() else b""
    return [
        Component("sqlcipher", version, "BSD-3-Clause", (("LICENSE", text),), "generic"),
        Component("openssl", provider, "Apache-2.0", (("Apache-2.0", apache),), "generic"),
    ]


def _told_by_sqlcipher() -> list[str]:
    """Return the versions that the library tells: its own, and that of what encrypts for it."""
    from sqlcipher3 import dbapi2

    db = dbapi2.connect(":memory:")
    try:
        db.execute("PRAGMA key = 'any'")  # it tells the latter of what is encrypted alone
        said = [db.execute(f"PRAGMA cipher_{name}").fetchone()[0] for name in ("version", "provider_version")]
    finally:
        db.close()
    return [found[0] for one in said if (found := re.search(r"\d+\.\d+\.\d+", one))]


def _of_system(built: Path) -> list[Component]:
    """Return the Debian packages that libraries were taken from: those beside the wheels' own."""
    found = (path.name for path in (built / "_internal").glob("*.so*") if not path.is_symlink())
    # Python's own library is a part of Python, which need not be the system's.
    names = sorted(name for name in found if not name.startswith("libpython"))
    known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    where = {line.split()[0]: line.split("=> ")[-1] for line in known.splitlines() if "=> " in line}
    packages: dict[str, str] = {}
    for name in names:
        package = _package(where.get(name, ""))
        if package:
            packages[package] = _version(package)
        elif not name.startswith("_") and not _in_a_wheel(name):
            packages[name] = ""
    return [
        Component(name, version or "0", "see its text", _debian_text(name), "deb/debian")
        for name, version in sorted(packages.items())
    ]


def _in_a_wheel(name: str) -> bool:
    return any(Path(str(file)).name == name for one in required() for file in one.files or ())


def _package(path: str) -> str:
    """Return the Debian package of a library; some are listed below ``/usr`` and some are not."""
    for one in dict.fromkeys(
        (path, str(Path(path).resolve()), str(Path(path).resolve()).removeprefix("/usr"))
    ):
        found = subprocess.run(["dpkg", "-S", one], capture_output=True, text=True, check=False)
        if one and found.returncode == 0:
            return found.stdout.split(":")[0]
    return ""


def _version(package: str) -> str:
    command = ["dpkg-query", "-W", "-f", "${Version}\n", package]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n")[0]


def _debian_text(package: str) -> tuple[tuple[str, bytes], ...]:
    place = Path("/usr/share/doc") / package / "copyright"
    return (("copyright", place.read_bytes()),) if place.is_file() else ()


def bill(of: Iterable[Component]) -> str:
    """Return the bill of materials as CycloneDX 1.5 in JSON; the same from the same components."""
    listed: list[dict[str, Any]] = [
        {
            "type": "library",
            "bom-ref": one.purl,
            "name": one.name,
            "version": one.version,
            "purl": one.purl,
            "licenses": [_licence_json(one.licence)],
        }
        for one in of
    ]
    digest = hashlib.sha256(json.dumps(listed).encode()).hexdigest()
    number = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"
    tree = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
    }
    return json.dumps(tree | {"components": listed}, indent=2) + "\n"


def _licence_json(said: str) -> dict[str, Any]:
    plain = re.fullmatch(r"[A-Za-z0-9.+-]+", said)
    if plain and not said.startswith("LicenseRef"):
        return {"license": {"id": said}}
    return {"expression": said} if re.search(r" (AND|OR|WITH) ", said) else {"license": {"name": said}}


def write(folder: Path, of: Iterable[Component]) -> None:
    """Write the bill and, for each component, its texts into a folder."""
    listed = tuple(of)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "bill-of-materials.cdx.json").write_text(bill(listed), encoding="utf-8")
    for one in listed:
        whole = b"\n\n".join(text for _, text in one.texts)
        (folder / f"{one.name}.txt").write_bytes(
            f"{one.name} {one.version}: {one.licence}\n\n".encode() + whole
        )
