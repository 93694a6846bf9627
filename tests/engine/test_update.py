"""A newer version on a stick is taken if it is signed by the pinned key, whole and later; else it is not."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from engine import ed25519
from engine.__main__ import main
from engine.computer import update
from engine.errors import EngineError
from engine.ledger import store
from engine.version import __version__

PRIVATE, OTHER = bytes(range(32)), bytes(range(1, 33))
LATER = "99.0.1"


@pytest.fixture
def stick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the statement of a later version on a stick, whose key the program knows."""
    monkeypatch.setattr(update, "pinned_key", lambda: ed25519.public_key(PRIVATE))
    folder = tmp_path / "stick"
    folder.mkdir()
    plain = folder / "plain.tar"
    with tarfile.open(plain, "w") as tar:
        one = tarfile.TarInfo("custos/custos")
        one.size, one.mode = 5, 0o755
        tar.addfile(one, BytesIO(b"later"))
    archive = folder / f"custos-{LATER}-linux-x86_64.tar.zst"
    with pa.output_stream(str(archive), compression="zstd") as stream:
        stream.write(plain.read_bytes())
    plain.unlink()
    (folder / f"custos_{LATER}_amd64.deb").write_bytes(b"a package")
    return put(folder, LATER, PRIVATE)


def put(folder: Path, offered: str, private: bytes, /, **changes: Any) -> Path:
    """Write the statement about everything in a folder, signed, with changes."""
    sums = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if not path.name.endswith(update.ENDING)
    }
    path = folder / f"custos-{LATER}{update.ENDING}"
    tree = json.loads(update.statement(private, offered, sums)) | changes
    if changes:
        tree["signature"] = ed25519.sign(private, update.message(tree))
    path.write_text(json.dumps(tree))
    return path


def refusal(path: Path, **given: str) -> str:
    with pytest.raises(EngineError) as refused:
        update.read_update(path, **given)
    return refused.value.code


def test_a_genuine_version_is_laid_beside_this_one(stick: Path, tmp_path: Path, capsys: Any) -> None:
    into = tmp_path / "programs"
    assert main(["update", str(stick), "--into", str(into)]) == 0
    said = capsys.readouterr().out
    assert LATER in said and f"custos_{LATER}_amd64.deb" in said
    assert (into / f"custos-{LATER}" / "custos").read_bytes() == b"later"
    assert [one.name for one in into.iterdir()] == [f"custos-{LATER}"], "nothing is left aside"
    assert main(["update", str(stick), "--into", str(into)]) == 2, "a version that is there stays as it is"


def test_what_a_killed_update_left_is_taken_away_by_a_later_one(stick: Path, tmp_path: Path) -> None:
    """Each would have left half a gigabyte for good."""
    into = tmp_path / "programs"
    for name, age in (("old", 2 * 86_400), ("of_today", 60)):
        left = into / f"{update.ASIDE}{name}"
        (left / "out").mkdir(parents=True)
        os.utime(left, (time.time() - age,) * 2)
    update.lay_beside(update.read_update(stick), into)
    assert {one.name for one in into.iterdir()} == {f"custos-{LATER}", f"{update.ASIDE}of_today"}


@pytest.fixture(params=["with its filter", "without"])
def any_python(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpack as every Python from 3.11 on does: the filter came with 3.11.4."""
    if request.param == "without":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)


def put_in(tar: tarfile.TarFile, name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> None:
    one = tarfile.TarInfo(name)
    one.type, one.linkname, one.size, one.mode = kind, link, 3 * (kind == tarfile.REGTYPE), 0o6775
    tar.addfile(one, BytesIO(b"odd"[: one.size]))


@pytest.mark.usefixtures("any_python")
def test_files_folders_and_links_within_are_unpacked(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        put_in(tar, "custos", tarfile.DIRTYPE)
        put_in(tar, "custos/lib/one.so")
        put_in(tar, "custos/two.so", tarfile.SYMTYPE, "lib/one.so")
        put_in(tar, "custos/lib/three.so", tarfile.SYMTYPE, "../two.so")
        put_in(tar, "custos/four.so", tarfile.LNKTYPE, "custos/lib/one.so")
    with tarfile.open(tmp_path / "a.tar") as packed:
        update.unpack_tar(packed, tmp_path / "out")
    files = sorted((tmp_path / "out").rglob("*.so"))
    assert [one.read_bytes() for one in files] == [b"odd"] * 4
    assert not any(one.stat().st_mode & 0o6022 for one in files)  # nothing that others may write


@pytest.mark.usefixtures("any_python")
@pytest.mark.parametrize(
    ("name", "kind", "link"),
    [
        ("../out.txt", tarfile.REGTYPE, ""),
        ("custos/../../out.txt", tarfile.REGTYPE, ""),
        ("custos/away", tarfile.SYMTYPE, "../../out.txt"),
        ("custos/away", tarfile.SYMTYPE, "/etc/passwd"),
        ("custos/away", tarfile.LNKTYPE, "../out.txt"),
        ("custos/pipe", tarfile.FIFOTYPE, ""),
        ("custos/disk", tarfile.BLKTYPE, ""),
    ],
)
def test_what_would_leave_the_folder_is_not_unpacked(
    tmp_path: Path, name: str, kind: bytes, link: str
) -> None:
    (tmp_path / "out.txt").write_text("before")
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        put_in(tar, name, kind, link)
    with tarfile.open(tmp_path / "a.tar") as packed, pytest.raises(tarfile.TarError):
        update.unpack_tar(packed, tmp_path / "out")
    assert (tmp_path / "out.txt").read_text() == "before"
    assert not [one for one in (tmp_path / "out").rglob("*") if not one.is_dir()]


@pytest.mark.parametrize("member", ["number", "ledger", "files", "key", "version", "signature"])
def test_a_forged_statement_is_refused(stick: Path, member: str) -> None:
    tree = json.loads(stick.read_text())
    other = {"number": "99.9.9", "ledger": 99, "files": {}, "key": ed25519.public_key(OTHER), "version": 2}
    tree[member] = other.get(member, "0" * 128)
    stick.write_text(json.dumps(tree))
    assert refusal(stick) == "update.not_signed"


def test_another_key_is_refused_whatever_is_given(stick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(stick.parent, LATER, OTHER)
    others = ed25519.public_key(OTHER)
    assert refusal(stick) == refusal(stick, key=others) == "update.not_signed", "a pinned key counts alone"
    monkeypatch.setattr(update, "pinned_key", lambda: "")
    assert update.read_update(stick, key=others).number == LATER
    for none in ("", "0" * 64, "01" + "00" * 31, "no key"):
        assert refusal(stick, key=none) == "update.no_key", "keys under which anything is signed are none"


@pytest.mark.parametrize("number", [__version__, "0.0.1", "0.2.99"])
def test_nothing_older_is_taken(stick: Path, number: str) -> None:
    put(stick.parent, number, PRIVATE)
    assert refusal(stick) == "update.not_newer"


def test_numbers_are_compared_as_numbers_and_ledgers_have_to_stay_readable(stick: Path) -> None:
    first, second, _ = __version__.split(".")
    later = f"{first}.{int(second) + 10}.0"  # as text it would come first
    put(stick.parent, later, PRIVATE)
    assert update.read_update(stick).number == later
    put(stick.parent, LATER, PRIVATE, ledger=store.VERSION - 1)
    assert refusal(stick) == "update.older_ledger"
    for number in ("99", "99.0.0-1", "099.0.0", 99, "99.0.0\n"):
        put(stick.parent, LATER, PRIVATE, number=number)
        assert refusal(stick) == "update.not_readable"


@pytest.mark.parametrize("how", ["cut", "longer", "flipped", "replaced", "folder", "dangling", "pipe"])
def test_a_package_that_is_not_the_signed_one_is_refused(stick: Path, how: str) -> None:
    package = next(stick.parent.glob("*.tar.zst"))
    content = package.read_bytes()
    package.unlink()
    if how == "folder":
        package.mkdir()
    elif how == "pipe":
        os.mkfifo(package)
    elif how == "dangling":
        package.symlink_to("nowhere")
    else:
        other = next(stick.parent.glob("*.deb")).read_bytes()
        flipped = content[:9] + bytes([content[9] ^ 1]) + content[10:]
        put_there = {"cut": content[:-1], "longer": content + b"\0", "flipped": flipped, "replaced": other}
        package.write_bytes(put_there[how])
    assert refusal(stick) == "update.differs"


def test_a_package_that_changes_after_it_was_checked_is_not_unpacked(stick: Path, tmp_path: Path) -> None:
    found, into = update.read_update(stick), tmp_path / "programs"
    next(stick.parent.glob("*.tar.zst")).write_bytes(b"another")
    with pytest.raises(EngineError) as refused:
        update.lay_beside(found, into)
    assert refused.value.code == "update.differs" and list(into.iterdir()) == []


@pytest.mark.parametrize("name", ["../out", "/etc/x", "a/b", ".hidden", "", "x" * 300])
def test_names_that_lead_elsewhere_are_refused(stick: Path, name: str) -> None:
    put(stick.parent, LATER, PRIVATE, files={name: "0" * 64})
    assert refusal(stick) == "update.not_readable"


def test_without_packages_and_with_what_is_no_statement_nothing_is_said_to_be_genuine(stick: Path) -> None:
    for package in (*stick.parent.glob("*.deb"), *stick.parent.glob("*.zst")):
        package.unlink()
    assert refusal(stick) == "update.no_package"
    whole = stick.read_bytes()
    for content in (
        b"",
        whole[:-30],
        b"[]",
        b"\xff",
        whole.replace(b'"number"', b'"number": "1.0.0", "number"', 1),
    ):
        stick.write_bytes(content)
        assert refusal(stick) == "update.not_readable"
