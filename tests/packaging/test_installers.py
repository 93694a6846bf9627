"""Installers: every licence inside, the same bytes twice, and a package that Debian's own tools can read."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import replace
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.state import files
from engine import ed25519, texts
from engine.commands.completion import words_of
from engine.commands.parser import make_parser
from engine.computer import update
from engine.release import one_file

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import licences  # noqa: E402
import make_installers  # noqa: E402
import make_msi  # noqa: E402

needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, ("dpkg-deb", "zstd", "strip"))), reason="dpkg-deb, zstd or strip is missing"
)


@pytest.fixture(scope="module")
def listed() -> tuple[licences.Component, ...]:
    return licences.components()


def test_nothing_is_inside_without_a_licence_and_its_text(listed: tuple[licences.Component, ...]) -> None:
    names = {one.name for one in listed}
    assert {"numpy", "pyside6-essentials", "typst", "python", "custos", "inter-fonts"} <= names
    assert "pytest" not in names
    for one in listed:
        assert one.licence and sum(len(text) for _, text in one.texts) > 200, one.name


def test_what_begins_the_programs_is_listed(built: Path) -> None:
    pytest.importorskip("PyInstaller")
    (found,) = (one for one in licences.components(built) if one.name == "pyinstaller")
    assert found.licence == "GPL-2.0-or-later WITH Bootloader-exception"
    assert "bootloader" in found.texts[0][1].decode().lower()


def test_a_package_without_a_licence_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = tmp_path / "bare-1.0.dist-info"
    bare.mkdir()
    (bare / "METADATA").write_text("Metadata-Version: 2.1\nName: bare\nVersion: 1.0\n")
    (bare / "RECORD").write_text("")
    packages: list[Distribution] = [*licences.required(), PathDistribution(bare)]
    monkeypatch.setattr(licences, "required", lambda: packages)
    with pytest.raises(licences.NoLicence, match=r"^bare$"):
        licences.components()


def test_the_bill_names_every_component_once_and_is_the_same_twice(
    listed: tuple[licences.Component, ...],
) -> None:
    written = licences.bill(listed)
    tree = json.loads(written)
    assert (tree["bomFormat"], tree["specVersion"]) == ("CycloneDX", "1.5")
    assert [one["name"] for one in tree["components"]] == [one.name for one in listed]
    assert len({one["bom-ref"] for one in tree["components"]}) == len(listed)
    assert all(one["licenses"][0] for one in tree["components"])
    assert written == licences.bill(licences.components())


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A folder as a build leaves it, but small."""
    folder = tmp_path / "custos"
    (folder / "_internal").mkdir(parents=True)
    for name in ("custos", "custos-desktop"):
        (folder / name).write_text("#!/bin/sh\necho started\n")
        (folder / name).chmod(0o775)
    (folder / "_internal" / "a.txt").write_text("a")
    (folder / "_internal" / "link").symlink_to("a.txt")
    return folder


def test_what_tells_licences_runs_in_a_python_with_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so every script that does: the Python of the system has nothing of what is packed."""
    started: list[list[str]] = []

    def stub(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        started.append(command)
        return subprocess.CompletedProcess(command, 3)

    def main() -> int:
        return 0

    build = make_installers.build
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: name != "PyInstaller" or None)
    monkeypatch.setattr(build, "prepare", lambda: Path("python"))
    monkeypatch.setattr(build.subprocess, "run", stub)
    monkeypatch.setattr(sys, "argv", ["make.py", "folder", "--wheelhouse"])
    assert build.run_prepared(main) == 3 and started == [["python", "make.py", "folder", "--wheelhouse"]]
    monkeypatch.setattr(build, "prepare", lambda: None)
    assert build.run_prepared(main) == 1
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: name)
    assert build.run_prepared(main) == 0
    for path in sorted((ROOT / "packaging").glob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "\nimport licences\n" in source:
            assert "run_prepared(main)" in source, path.name


def test_manual_and_completion_name_every_command() -> None:
    names = [path[0] for path in words_of(make_parser()) if len(path) == 1]
    assert {"run", "study", "at-risk"} <= set(names)
    page = make_installers.man_page("custos")
    for name in names:
        escaped = name.replace("-", "\\-")
        assert f"\n.TP\n.B {escaped}\n" in page, name
        for shell in make_installers.COMPLETIONS:
            assert f" {name} " in make_installers.completion(shell).replace('"', " "), (shell, name)
    assert "@" not in page
    window = make_installers.man_page("custos-desktop").replace("\\-", "-")
    options = subprocess.run(
        [sys.executable, "-m", "app", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert all(option in window for option in re.findall(r"^  (--\w+)", options, re.MULTILINE))


def test_menu_entry_and_kind_of_file_speak_every_language_and_agree() -> None:
    entry = (make_installers.ASSETS / "custos.desktop").read_text(encoding="utf-8")
    kind = ElementTree.parse(make_installers.ASSETS / "custos.xml").getroot()
    space = "{http://www.freedesktop.org/standards/shared-mime-info}"
    for one in kind:
        spoken = [
            said.get("{http://www.w3.org/XML/1998/namespace}lang", "en")
            for said in one.iter(f"{space}comment")
        ]
        assert sorted(spoken) == sorted(texts.languages())
    for language in texts.languages():
        for line in ("GenericName", "Comment", "Keywords"):
            assert f"\n{line if language == 'en' else f'{line}[{language}]'}=" in entry
    kinds = "".join(f"{one.get('type')};" for one in kind)
    assert f"\nMimeType={kinds}\n" in entry
    patterns = {str(glob.get("pattern")) for glob in kind.iter(f"{space}glob")}
    assert {f"*{files.PLAN}", f"*{one_file.ENDING}"} <= patterns
    assert set(make_msi.KINDS) == {files.PLAN, one_file.ENDING}


def test_a_program_that_was_built_calls_itself_by_its_commands() -> None:
    code = (
        "import sys; sys.frozen = True\n"
        "import app.__main__ as window, engine.commands.parser as line\n"
        "print(window.COMMAND, line.PROGRAM)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "custos-desktop custos\n"


def test_one_bill_is_over_all_packages(listed: tuple[licences.Component, ...]) -> None:
    other = replace(listed[0], version="0.0.1")
    found = make_installers.together(listed, (other, *listed[1:3]))
    assert len(found) == len(listed) + 1 and {other, *listed} == set(found)
    named = [one["bom-ref"] for one in json.loads(licences.bill(found))["components"]]
    assert named == sorted(named, key=str.casefold) and len(set(named)) == len(named)


@needs_tools
def test_one_command_makes_all_and_what_it_signs_is_taken_for_an_update(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_installers, "LEVEL", "1")
    folder, inside = tmp_path / "made", licences.Component("of-windows", "1", "MIT", (("MIT", b"text"),))
    folder.mkdir()

    def windows(work: Path, to: Path) -> tuple[Path, tuple[licences.Component, ...]]:
        (to / "custos.msi").write_bytes(b"package")
        return to / "custos.msi", (inside,)

    private = make_installers.signing_key(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0
    assert make_installers.signing_key(tmp_path / "key") == private
    made = make_installers.make(built, folder, windows=windows, private=private)
    summed = [line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()]
    assert sorted([*summed, "SHA256SUMS"]) == sorted(path.name for path in made)
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in made)
    (bill,) = folder.glob("*.cdx.json")
    names = {one["name"] for one in json.loads(bill.read_text())["components"]}
    assert {"of-windows", "numpy", "typst"} <= names
    monkeypatch.setattr(update, "__version__", "0.0.1")  # an earlier one that runs
    (said,) = folder.glob("*.update.json")
    found = update.read_update(said, key=ed25519.public_key(private))
    assert set(found.files) == set(summed) - {said.name, bill.name}
    assert (update.lay_beside(found, tmp_path / "programs") / "custos").is_file()


@needs_tools
def test_installers_are_whole_and_the_same_twice(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_installers, "LEVEL", "1")
    before = {path: path.stat().st_mtime for path in built.rglob("*")}
    first, second = (tmp_path / name for name in ("one", "two"))
    for folder in (first, second):
        folder.mkdir()
        made = make_installers.make(built, folder)
        built.joinpath("_internal", "a.txt").touch()
    assert before.keys() == dict.fromkeys(built.rglob("*"), 0).keys()
    rpm = {".rpm"} if shutil.which("rpmbuild") else set()
    assert {path.suffix for path in made} == {".zst", ".deb", ".json", ""} | rpm
    for package in first.glob("*.rpm"):
        listed = subprocess.run(["rpm", "-qlvp", package], capture_output=True, text=True, check=True).stdout
        assert (
            "/usr/bin/custos -> /opt/custos/custos" in listed and "/opt/custos/licences/numpy.txt" in listed
        )
        scripts = subprocess.run(["rpm", "-qp", "--scripts", package], capture_output=True, check=True).stdout
        assert scripts == b""  # nothing touches what people have
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name
    for line in (first / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((first / name).read_bytes()).hexdigest() == digest
    package = next(first.glob("*.deb"))
    told = subprocess.run(["dpkg-deb", "-I", package], capture_output=True, text=True, check=True).stdout
    assert "Package: custos" in told and not {"postrm", "prerm", "postinst"} & set(told.split())
    subprocess.run(["dpkg-deb", "-x", package, tmp_path / "root"], check=True)
    root = tmp_path / "root"
    program = root / "opt" / "custos"
    assert (root / "usr" / "bin" / "custos").readlink() == Path("/opt/custos/custos")
    assert (program / "licences" / "numpy.txt").is_file()
    assert "custos.toml" in (program / "README.md").read_text(encoding="utf-8")
    for line in (program / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((program / name).read_bytes()).hexdigest() == digest, name
    entry = (root / "usr/share/applications/custos.desktop").read_text()
    assert "Exec=custos-desktop %f" in entry and "MimeType=application/x-custos-plan" in entry
    assert (root / "usr/share/icons/hicolor/scalable/apps/custos.svg").is_file()
    assert (
        "complete -o filenames -F _custos custos" in (root / make_installers.COMPLETIONS["bash"]).read_text()
    )
    for name in ("custos", "custos-desktop"):
        assert b".SH NAME" in gzip.decompress((root / f"usr/share/man/man1/{name}.1.gz").read_bytes())
    said = (root / "usr/share/doc/custos/copyright").read_text()
    assert "numpy" in said and "Apache License" in said
    subprocess.run(["zstd", "-q", "-d", next(first.glob("*.zst")), "-o", tmp_path / "a.tar"], check=True)
    with tarfile.open(tmp_path / "a.tar") as packed:
        assert {(one.uid, one.mtime) for one in packed} == {(0, int(make_installers.build.WHEN))}
        update.unpack_tar(packed, tmp_path / "home")
    started = subprocess.run([tmp_path / "home" / "custos" / "custos"], capture_output=True, check=True)
    assert started.stdout == b"started\n"


def test_a_lock_names_every_wheel_with_its_hash_and_pip_holds_it_to_that(tmp_path: Path) -> None:
    make_installers.make_wheel.build_wheel(str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(tmp_path / "small_thing-1.0-py3-none-any.whl", "w") as other:
        other.writestr("small_thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small-thing\n")
    lock = make_installers.lock(tmp_path)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert f"custos=={make_installers.version()} --hash=sha256:{digest}\n" in lock
    assert "small-thing==1.0 --hash=sha256:" in lock and len(lock.splitlines()) == 2
