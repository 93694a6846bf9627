"""Make the Windows package on Linux: ``python3 packaging/make_msi.py [FOLDER] [--wheels FOLDER]``.

A per-user MSI, installed without an administrator and without questions (``msiexec /i FILE /qn``): the signed
Python of python.org (its embeddable package), the wheels of everything, and the program itself. Each file is
held to a hash of ``packaging/windows/*.lock``; none is compiled or changed here. Needs ``wixl`` (Debian) and
the package index that pip uses, or with ``--wheels`` a folder that has everything already.

The MSI itself is not signed: whoever hands it out signs it. The same wheels give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

import build
import environment
import licences
import make_installers
import make_wheel

ROOT = environment.ROOT
WINDOWS = ROOT / "packaging" / "windows"
PYTHON_TAG = "313"
IDENTITY = uuid.UUID("7f0c5f5e-6c0e-5c2d-9d0b-2a5d0f7b3c11")  # of all versions: one replaces the other
# What the program never loads; as `custos.spec` for the other systems.
LEFT_OUT = (
    *("PySide6/qml/", "PySide6/translations/", "PySide6/typesystems/", "PySide6/glue/", "PySide6/include/"),
    *("PySide6/Qt6Network", "PySide6/Qt6Qml", "PySide6/Qt6Quick", "PySide6/Qt6Pdf", "PySide6/Qt6VirtualKey"),
    *("PySide6/Qt6Designer", "PySide6/Qt6Sql", "PySide6/Qt6Test", "PySide6/Qt6Help", "PySide6/Qt6UiTools"),
    *("PySide6/QtNetwork", "PySide6/QtQml", "PySide6/QtQuick", "PySide6/QtSql", "PySide6/QtTest"),
    *(
        "PySide6/QtHelp",
        "PySide6/QtDesigner",
        "PySide6/QtUiTools",
        "PySide6/opengl32sw",
        "PySide6/metatypes/",
    ),
    *("PySide6/plugins/tls/", "PySide6/plugins/networkinformation/", "PySide6/plugins/qmltooling/"),
    *("PySide6/plugins/sqldrivers/", "PySide6/plugins/designer/", "PySide6/plugins/virtualkeyboard/"),
    *("pyarrow/include/", "pyarrow/tests/", "pyarrow/_flight", "pyarrow/arrow_flight", "pyarrow/_s3fs"),
    "PIL/_avif",
    *("pyarrow/_gcsfs", "pyarrow/_azurefs", "pyarrow/_hdfs", "pyarrow/src/"),
)
SUMMARY = bytes.fromhex("e0859ff2f94f6810ab9108002b27b3d9")  # what begins the summary of an MSI
ENDINGS = (".pyi", ".pyx", ".pxd", ".lib", ".h", ".hpp", ".pdb", ".a")


def main() -> int:
    """Do what the command line says and return the exit status."""
    parser = argparse.ArgumentParser(description="Make the Windows package.")
    parser.add_argument("folder", nargs="?", default=str(ROOT / "dist" / "installers"))
    parser.add_argument("--wheels", help="a folder with every file of packaging/windows/*.lock")
    options = parser.parse_args()
    folder = Path(options.folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        print(make(Path(options.wheels).absolute() if options.wheels else None, Path(work), folder)[0])
    return 0


def make(wheels: Path | None, work: Path, folder: Path) -> tuple[Path, tuple[licences.Component, ...]]:
    """Make the package in a folder, from wheels or from what pip brings; return it and what is inside."""
    if wheels is None:
        wheels = work / "wheels"
        fetch(wheels)
    program = work / "windows"
    inside = lay_out(wheels, program)
    return package(program, folder / f"custos-{make_installers.version()}-windows-x86_64.msi"), inside


def fetch(wheels: Path) -> None:
    """Have pip bring what the locks name; it refuses every file with another hash."""
    held = ["--quiet", "--no-deps", "--require-hashes", "--dest", str(wheels)]
    pip = [sys.executable, "-I", "-m", "pip", "download", *held]
    windows = ["--platform", "win_amd64", "--python-version", PYTHON_TAG, "--only-binary", ":all:"]
    subprocess.run([*pip, *windows, "-r", str(WINDOWS / "requirements.lock")], check=True)
    subprocess.run([*pip, "--no-binary", ":all:", "-r", str(WINDOWS / "python.lock")], check=True)


def held(wheels: Path) -> tuple[list[Path], Path]:
    """Return the wheels and the file with Python of a folder: just those of the locks.

    Raises
    ------
    ValueError
        One of them is not there, or none of its files has the hash.
    """
    there = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in sorted(wheels.iterdir())}

    def named(lock: str) -> list[Path]:
        lines = (WINDOWS / lock).read_text(encoding="utf-8").splitlines()
        wanted = {digest: name for name, _, digest in (line.partition(" --hash=sha256:") for line in lines)}
        if missing := sorted(name for digest, name in wanted.items() if digest not in there):
            raise ValueError(f"not in {wheels.name} as packaging/windows/{lock} has it: {', '.join(missing)}")
        return [there[digest] for digest in wanted]

    return named("requirements.lock"), named("python.lock")[0]


def lay_out(wheels: Path, program: Path) -> tuple[licences.Component, ...]:
    """Lay out what is installed: Python with packages, commands, licences, sums; return what is inside."""
    packages, source = held(wheels)
    python = program / "python"
    python.mkdir(parents=True)
    with tarfile.open(source) as packed:
        member = next(one for one in packed if one.name.endswith("/data.zip"))
        content = packed.extractfile(member)
        assert content is not None
        with zipfile.ZipFile(content) as data:
            for name in data.namelist():
                if name.startswith(f"cp{PYTHON_TAG}/") and not name.endswith("/"):
                    (python / Path(name).name).write_bytes(data.read(name))
    # Nothing else of the computer is looked at: no PYTHONPATH, no packages of another Python.
    places = (f"python{PYTHON_TAG}.zip", ".", r"Lib\site-packages")
    (python / f"python{PYTHON_TAG}._pth").write_bytes("\r\n".join((*places, "")).encode())
    with tempfile.TemporaryDirectory() as work:
        own = Path(work) / make_wheel.build_wheel(work)
        for wheel in (*packages, own):
            unpack(wheel, python / "Lib" / "site-packages")
    for name, started in (("custos", "python.exe"), ("custos-desktop", "pythonw.exe")):
        module = "custos" if name == "custos" else "custos.app"
        line = f'@"%~dp0python\\{started}" -m {module} %*\r\n'
        (program / f"{name}.cmd").write_bytes(line.encode())
    (program / "custos.ico").write_bytes(icon())
    number = re.search(rb"3\.\d+\.\d+", (python / f"python{PYTHON_TAG}.dll").read_bytes())
    assert number is not None
    told = licences.components_in(
        python / "Lib" / "site-packages", python=number[0].decode(), text=python / "LICENSE.txt"
    )
    licences.write(program / "licences", told)
    shutil.copyfile(ROOT / "README.md", program / "README.md")
    build.write_sums(program)
    make_installers.set_times(program)
    return told


def unpack(wheel: Path, target: Path) -> None:
    """Install a wheel as pip would, but for scripts, which nothing here calls, and what is left out."""
    with zipfile.ZipFile(wheel) as packed:
        for name in packed.namelist():
            parts = name.split("/")
            if parts[0].endswith(".data"):
                if parts[1] not in ("purelib", "platlib"):
                    continue
                parts = parts[2:]
            place = "/".join(parts)
            if name.endswith("/") or ".." in parts or place.endswith(ENDINGS) or wanted_not(place):
                continue
            path = target.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(packed.read(name))


def wanted_not(place: str) -> bool:
    """Say whether a file of a package is left out: what is never loaded, programs, and tests."""
    is_tool = place.startswith("PySide6/") and place.endswith(".exe")
    if place in SPOKEN:
        return False
    return place.startswith(LEFT_OUT) or is_tool or ("/tests/" in place and place.startswith(TESTED))


SPOKEN = frozenset(
    f"PySide6/translations/qtbase_{one.name}.qm" for one in (ROOT / "resources" / "texts").iterdir()
)
"""What Qt says itself, in dialogs of files, in each of our languages."""
TESTED = ("numpy/", "scipy/", "pandas/", "sklearn/", "matplotlib/", "joblib/", "narwhals/")


def icon() -> bytes:
    """Return the drawing of the program as Windows wants it: one picture of 256 pixels (PNG in ICO)."""
    from PySide6.QtCore import QBuffer, QIODevice
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QGuiApplication.instance() or QGuiApplication([])
    image = QImage(256, 256, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(str(ROOT / "resources" / "icons" / "custos.svg")).render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    del application
    picture = bytes(buffer.data().data())
    entry = b"\0\0\0\0" + (1).to_bytes(2, "little") + (32).to_bytes(2, "little")
    size = len(picture).to_bytes(4, "little") + (22).to_bytes(4, "little")
    return b"\0\0\1\0\1\0" + entry + size + picture


def package(program: Path, target: Path) -> Path:
    """Write the MSI of what `lay_out` laid out."""
    with tempfile.TemporaryDirectory() as work:
        said = Path(work) / "custos.wxs"
        said.write_text("\n".join(description(program)), encoding="utf-8")
        command = ["wixl", "--arch", "x64", "--output", str(target), str(said)]
        subprocess.run(command, check=True, cwd=program)
    target.write_bytes(settle(target.read_bytes(), digest(program)))
    return target


def settle(content: bytes, told: str) -> bytes:
    """Return an MSI whose code follows from what is packed, and whose times are not those of the clock."""
    code = re.compile(rb"\{[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}\}")
    begin = content.rindex(SUMMARY)
    found = code.search(content, begin)
    assert found is not None and found.end() < begin + 1024
    whole = bytearray(content)
    whole[found.start() : found.end()] = f"{{{_code(told)}}}".encode()
    since_1601 = (int(build.WHEN) + 11_644_473_600) * 10_000_000
    for time in re.finditer(rb"\x40\0\0\0.{6}[\xdb-\xff]\x01", content[begin : begin + 1024], re.DOTALL):
        whole[begin + time.start() + 4 : begin + time.end()] = since_1601.to_bytes(8, "little")
    return bytes(whole)


def description(program: Path) -> Iterator[str]:
    """Yield what wixl reads: one component for each folder, named after its path in every version."""
    number = make_installers.version()
    yield '<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">'
    yield f'<Product Id="{_code(number)}" UpgradeCode="{str(IDENTITY).upper()}" Version="{number}"'
    yield ' Name="Custos" Language="1033" Manufacturer="Custos">'
    yield '<Package InstallerVersion="500" Compressed="yes" InstallScope="perUser" Description="Custos"/>'
    yield '<MajorUpgrade DowngradeErrorMessage="A later version of Custos is installed."/>'
    yield '<Media Id="1" Cabinet="custos.cab" EmbedCab="yes"/>'
    yield '<Icon Id="custos.ico" SourceFile="custos.ico"/>'
    yield '<Property Id="ARPPRODUCTICON" Value="custos.ico"/>'
    yield '<Directory Id="TARGETDIR" Name="SourceDir">'
    yield '<Directory Id="ProgramMenuFolder"/>'
    # Not in LocalAppDataFolder itself: there "custos" is what people keep.
    yield '<Directory Id="LocalAppDataFolder"><Directory Id="PROGRAMS" Name="Programs">'
    yield '<Directory Id="INSTALLDIR" Name="Custos">'
    components: list[str] = []
    yield from _folder(program, program, components)
    yield "</Directory></Directory></Directory></Directory>"
    yield '<Feature Id="All" Level="1">'
    yield from (f'<ComponentRef Id="{one}"/>' for one in components)
    yield "</Feature></Product></Wix>"


def _folder(folder: Path, program: Path, components: list[str]) -> Iterator[str]:
    entries = sorted(folder.iterdir())
    files = [path for path in entries if path.is_file()]
    here = "/".join(folder.relative_to(program).parts) or "."
    if files:
        components.append(_id("c", here))
        yield f'<Component Id="{components[-1]}" Guid="{_code(here)}" Win64="yes">'
        for place, path in enumerate(files):
            name = "/".join(path.relative_to(program).parts)
            key = ' KeyPath="yes"' if place == 0 else ""
            yield f'<File Id="{_id("f", name)}" Name={quoteattr(path.name)} Source={quoteattr(name)}{key}/>'
        if folder == program:
            yield from _kinds_of_file()
            yield '<Shortcut Id="menu" Directory="ProgramMenuFolder" Name="Custos" Icon="custos.ico"'
            yield ' Target="[INSTALLDIR]python\\pythonw.exe" Arguments="-m custos.app"/>'
        yield "</Component>"
    for path in entries:
        if path.is_dir():
            name = "/".join(path.relative_to(program).parts)
            yield f'<Directory Id="{_id("d", name)}" Name={quoteattr(path.name)}>'
            yield from _folder(path, program, components)
            yield "</Directory>"


KINDS = {
    ".custos-plan": ("Custos.Plan", "Custos plan"),
    ".custos-release": ("Custos.Release", "Custos release"),
}
"""The kinds of file that a double click opens: ending, how Windows calls it, how people see it."""


def _kinds_of_file() -> Iterator[str]:
    """Yield what the registry says of each kind, for this person alone; it goes with the program."""
    started = '"[INSTALLDIR]python\\pythonw.exe" -m custos.app "%1"'
    for ending, (kind, name) in KINDS.items():
        for key, value in (
            (ending, kind),
            (kind, name),
            (f"{kind}\\DefaultIcon", "[INSTALLDIR]custos.ico"),
            (f"{kind}\\shell\\open\\command", started),
        ):
            place = f'Root="HKCU" Key="Software\\Classes\\{key}" Type="string"'
            yield f"<RegistryValue {place} Value={quoteattr(value)}/>"


def _code(name: str) -> str:
    """Return the code of something by its name, in the letters in which Windows looks for it."""
    return str(uuid.uuid5(IDENTITY, name)).upper()


def _id(kind: str, name: str) -> str:
    return f"{kind}{hashlib.sha256(name.encode()).hexdigest()[:24]}"


def digest(program: Path) -> str:
    """Return the digest of everything that is packed."""
    return hashlib.sha256((program / "SHA256SUMS").read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(build.run_prepared(main))
