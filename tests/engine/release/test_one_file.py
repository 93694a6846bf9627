"""A release as one file: the same release, nothing of what stays, and no file from elsewhere does harm."""

from __future__ import annotations

import io
import random
import shutil
import stat
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from app.state.files import RELEASE as ENDING_OF_THE_WINDOW
from engine.__main__ import main
from engine.errors import EngineError, InputRefused
from engine.ledger import Ledger
from engine.release import one_file
from engine.release.bundle import Bundle
from engine.release.one_file import ENDING, pack_release, unpack_release
from engine.release.verify import verify


@pytest.fixture
def packed(made: Bundle, tmp_path: Path) -> Path:
    return pack_release(made.folder, tmp_path / f"stays{ENDING}")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_it_is_the_same_release_and_holds_nothing_that_stays(
    made: Bundle, packed: Path, tmp_path: Path
) -> None:
    assert ENDING == ENDING_OF_THE_WINDOW
    with zipfile.ZipFile(packed) as archive:
        names = archive.namelist()
    assert names == [f"release/{name}" for name in sorted(contents(made.folder / "release"))]
    unpacked = unpack_release(packed, tmp_path / "to")
    assert [path.name for path in unpacked.iterdir()] == ["release"]
    assert contents(unpacked / "release") == contents(made.folder / "release")
    alone = pack_release(made.folder / "release", tmp_path / f"alone{ENDING}")
    assert alone.read_bytes() == packed.read_bytes()
    assert stat.S_IMODE(packed.stat().st_mode) == 0o644
    assert not list(tmp_path.glob(".custos-*"))


def test_one_file_is_verified_as_the_folder_is(made: Bundle, packed: Path, ledger: Ledger) -> None:
    of_folder, of_file = (verify(place, ledger=ledger) for place in (made.folder / "release", packed))
    assert of_file.passed and of_file.chain_checked
    assert of_file.fingerprint == of_folder.fingerprint and of_file.signature == of_folder.signature
    assert of_file.folder == "stays" and of_file.unsigned == ""


def test_a_changed_file_inside_is_named(made: Bundle, tmp_path: Path, ledger: Ledger) -> None:
    table = next((made.folder / "release").glob("*.csv"))
    table.write_bytes(table.read_bytes().replace(b"1", b"2", 1))
    found = verify(pack_release(made.folder, tmp_path / f"stays{ENDING}"), ledger=ledger)
    assert not found.passed
    assert f"release/{table.name}" in {problem.values.get("file") for problem in found.problems}


def test_the_commands_pack_verify_and_unpack(
    made: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / f"stays{ENDING}", tmp_path / "out"
    assert main(["pack", str(made.folder), "--out", str(file)]) == 0
    assert main(["verify", str(file), "--ledger", str(tmp_path / "ledger.sqlite")]) == 0
    assert "Everything is as it was recorded." in capsys.readouterr().out
    assert main(["unpack", str(file), "--out", str(out)]) == 0
    assert contents(out / "release") == contents(made.folder / "release")
    assert main(["unpack", str(file), "--out", str(out)]) == 2, "nothing is written over"


@pytest.mark.parametrize("kind", ["link", "folder", "none"])
def test_only_plain_files_are_packed(made: Bundle, tmp_path: Path, kind: str) -> None:
    release = made.folder / "release"
    if kind == "link":
        (release / "other.csv").symlink_to(made.folder / "internal" / "evidence.json")
    elif kind == "folder":
        (release / "other").mkdir()
    else:
        shutil.rmtree(release)
    with pytest.raises(InputRefused):
        pack_release(made.folder, tmp_path / f"stays{ENDING}")
    assert not list(tmp_path.glob(f"*{ENDING}")) and not list(tmp_path.glob(".custos-*"))


def test_nothing_is_packed_into_a_release(made: Bundle) -> None:
    with pytest.raises(InputRefused, match=r"^bundle\.inside"):
        pack_release(made.folder, made.folder / "release" / f"stays{ENDING}")


OUTSIDE = (
    *("../outside.csv", "release/../outside.csv", "/outside.csv", "release\\..\\outside.csv"),
    *("release/../../outside.csv", "internal/evidence.json", "release/deeper/a.csv", "release/a:b", "a.csv"),
    *(
        "release/..",
        "release/.",
        "release/ ",
        "release/a\n.csv",
        "release/SHA256SUMS.",
        "release/SHA256SUMS ",
    ),
    *("release/sha256sums", "release/", "C:/outside.csv", "//server/share/a.csv", "./release/a.csv"),
)


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_that_leads_elsewhere_or_stands_twice_is_refused(
    packed: Path, tmp_path: Path, name: str
) -> None:
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr(name, "from elsewhere")
    refused(packed, tmp_path / "place" / "to")


@pytest.mark.parametrize("kind", ["before", "an archive before", "behind", "comment", "comment of one"])
def test_nothing_stands_before_or_behind_what_is_unpacked(packed: Path, tmp_path: Path, kind: str) -> None:
    """Another reader would take it for the release, and whoever looks into the file would find it."""
    content = packed.read_bytes()
    if kind.startswith("comment"):
        with zipfile.ZipFile(packed, "a") as archive:
            (archive if kind == "comment" else archive.infolist()[0]).comment = b"a row"
            archive.writestr("release/a.csv", "")
    else:
        before = {"before": b"a row", "an archive before": content}.get(kind, b"")
        packed.write_bytes(before + content + (b"" if before else b"a row"))
    assert refused(packed, tmp_path / "place" / "to") == "bundle.not_one_file"


def test_a_name_in_two_ways_of_writing_is_one_file(packed: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("release/\u00e9.csv", "one")
        archive.writestr("release/e\u0301.csv", "another")
    assert refused(packed, tmp_path / "place" / "to") == "bundle.not_one_file"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFDIR])
def test_what_another_reader_would_make_a_link_of_is_refused(packed: Path, tmp_path: Path, kind: int) -> None:
    contents = taken(packed)
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.external_attr = 3, (kind | 0o644) << 16
            archive.writestr(entry, content)
    assert refused(packed, tmp_path / "place" / "to") == "bundle.not_one_file"


def taken(packed: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(packed) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


HIDDEN = b"P1;f;north;3\n"


@pytest.mark.parametrize("begins", [b"", b"PK\x03\x04"])
@pytest.mark.parametrize("place", ["first", "last"])
def test_nothing_stands_between_the_files_either(
    packed: Path, tmp_path: Path, begins: bytes, place: str
) -> None:
    """Who reads from the first file on finds it, as a file of a release that was verified."""
    content = packed.read_bytes()
    with zipfile.ZipFile(packed) as archive:
        later = archive.infolist()[1:] if place == "first" else []
        at = later[0].header_offset if later else archive.start_dir
    name = b"release/counts.csv"
    numbers = (20, 0, 0, 0, 33, zlib.crc32(HIDDEN), len(HIDDEN), len(HIDDEN), len(name), 0)
    more = (begins + struct.pack("<HHHHHIIIHH", *numbers) + name if begins else b"") + HIDDEN
    listed = bytearray(content)
    found = bytes(listed).find(b"PK\x01\x02")
    for one in later:  # whose place the list at the end says
        found = bytes(listed).index(b"PK\x01\x02", found + 1)
        listed[found + 42 : found + 46] = struct.pack("<I", one.header_offset + len(more))
    end = listed.rindex(b"PK\x05\x06")
    directory = struct.unpack("<I", listed[end + 16 : end + 20])[0]
    listed[end + 16 : end + 20] = struct.pack("<I", directory + len(more))
    packed.write_bytes(bytes(listed[:at]) + more + bytes(listed[at:]))
    with zipfile.ZipFile(packed) as archive:
        assert archive.testzip() is None, "a reader of the list finds nothing wrong"
    assert refused(packed, tmp_path / "place" / "to") == "bundle.not_one_file"


@pytest.mark.parametrize("field", [b"\x75\x70\x0c\x00\x01\x00\x00\x00\x00other.c", b"\x55\x54", b"\x00"])
def test_a_file_has_no_other_name_in_a_further_field(packed: Path, tmp_path: Path, field: bytes) -> None:
    contents = taken(packed)
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name)
            entry.extra = field
            archive.writestr(entry, content)
    assert refused(packed, tmp_path / "place" / "to") == "bundle.not_one_file"


def test_what_other_programs_packed_again_is_the_same_release(packed: Path, tmp_path: Path) -> None:
    """With times, and sizes that are said behind each file."""
    contents = taken(packed)

    class Stream(io.RawIOBase):
        """A place that can only be written on."""

        def __init__(self) -> None:
            self.written = b""

        def writable(self) -> bool:
            return True

        def write(self, content: Any) -> int:
            self.written += bytes(content)
            return len(content)

    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name)
            entry.extra = b"\x55\x54\x05\x00\x01\x00\x00\x00\x00"
            archive.writestr(entry, content)
    packed.write_bytes(stream.written)
    assert verify(packed).passed
    assert unpack_release(packed, tmp_path / "to").is_dir()


def test_what_would_fill_the_disk_is_refused_before_anything_is_written(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_file, "MOST_BYTES", 1 << 20)
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("release/zeros.csv", bytes(2 << 20))
    assert refused(packed, tmp_path / "place" / "to") == "bundle.no_room"
    monkeypatch.setattr(one_file, "MOST_FILES", 3)
    assert refused(packed, tmp_path / "place" / "to") == "bundle.not_one_file"


def test_no_file_gets_more_than_it_says_beforehand(packed: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("release/zeros.csv", bytes(1 << 20))
    content = packed.read_bytes()
    packed.write_bytes(content.replace((1 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    refused(packed, tmp_path / "place" / "to")


def test_no_damage_ends_otherwise_than_in_words(packed: Path, tmp_path: Path) -> None:
    whole, chance = packed.read_bytes(), random.Random(7)
    for number in range(60):
        content = bytearray(whole)
        if number % 3 == 0:
            del content[chance.randrange(len(content)) :]
        for _ in range(number % 5 + 1):
            begin = 0 if number % 2 else max(0, len(content) - 2000)
            if content:
                content[chance.randrange(begin, len(content))] = chance.randrange(256)
        packed.write_bytes(content)
        try:
            unpack_release(packed, tmp_path / f"to {number}")
        except EngineError as error:
            assert error.code == "bundle.not_one_file" or error.code == "bundle.no_room"
    (tmp_path / f"text{ENDING}").write_text("no archive")
    assert refused(tmp_path / f"text{ENDING}", tmp_path / "place" / "to") == "bundle.not_one_file"


def refused(file: Path, to: Path) -> str:
    """Unpack what has to be refused; nothing may lie anywhere but in the folder that was named."""
    to.parent.mkdir(exist_ok=True)
    before = set(to.parent.parent.iterdir())
    with pytest.raises(InputRefused) as found:
        unpack_release(file, to)
    assert set(to.parent.parent.iterdir()) == before
    assert not [path for path in to.parent.rglob("*") if path != to], "whole or nothing"
    with pytest.raises(InputRefused):
        verify(file)
    return str(found.value.code)


def test_a_process_that_is_killed_leaves_no_half_of_a_release(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every file: what has the name of the release is whole or not there, and the next try is made."""
    to, seen = tmp_path / "place" / "to", list[bool]()
    to.parent.mkdir()
    copy = shutil.copyfileobj

    def copied(*given: object) -> None:
        seen.append(to.exists())
        copy(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(one_file.shutil, "copyfileobj", copied)
    unpack_release(packed, to)
    assert len(seen) == len(contents(to / "release")) and not any(seen)
    assert [path.name for path in to.parent.iterdir()] == ["to"]
