"""Make what is handed out: ``python3 packaging/make_installers.py [FOLDER] [--built FOLDER] [--sign KEY]``.

Writes into FOLDER (default ``dist/installers``) a Debian package, an archive that needs no administrator,
where ``rpmbuild`` is there an RPM package, where ``wixl`` is there the Windows package (``make_msi.py``), one
bill of materials over all, and one ``SHA256SUMS``. With ``--sign`` also the statement that ``custos update``
checks, signed with the key of this file (32 bytes in hexadecimal; made if it is not there); its public key
belongs into ``resources/release_key.txt`` before the program is built. With ``--wheelhouse`` instead a folder
of wheels with a lock of their hashes, for installing from source offline. The same bytes come of the same
built folder.

Linux on x86-64 with glibc 2.34 or newer (what the wheels want): Debian 12, Ubuntu 22.04, RHEL 9 and later.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import IO

import build
import environment
import licences
import make_wheel

ROOT = environment.ROOT
ASSETS = ROOT / "packaging" / "debian"
RPM_SPEC = ROOT / "packaging" / "rpm" / "custos.spec"
PLACE = "opt/custos"
ARCHITECTURE = "amd64"
LEVEL = "9"
WINDOW = "27"
"""How far back zstd looks, as a power of two of bytes: the farthest that every reader takes untold.

Large libraries lie in the program twice or resemble each other: with this window level 9 takes 178 MB and 14
seconds of processor time, without it level 19 takes 196 MB and seven minutes.
"""
LOCK = "requirements.lock"
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/custos",
    "fish": "usr/share/fish/vendor_completions.d/custos.fish",
}


def main() -> int:
    """Do what the command line says and return the exit status."""
    parser = argparse.ArgumentParser(description="Make what is handed out.")
    parser.add_argument("folder", nargs="?", default=str(ROOT / "dist" / "installers"))
    parser.add_argument("--built", help="a folder that packaging/build.py made, for instance dist/custos")
    parser.add_argument(
        "--wheelhouse", action="store_true", help="wheels for installing from source, offline"
    )
    parser.add_argument("--windows-wheels", help="a folder with every file of packaging/windows/*.lock")
    parser.add_argument("--sign", metavar="KEY", help="a file with the key that updates are signed with")
    options = parser.parse_args()
    folder = Path(options.folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    if options.wheelhouse:
        return wheelhouse(folder, Path(sys.executable))
    if options.built:
        built = Path(options.built).absolute()
    else:
        if build.build(Path(sys.executable), ROOT / "dist") != 0:
            return 1
        built = ROOT / "dist" / "custos"
    private = signing_key(Path(options.sign)) if options.sign else None
    wheels = Path(options.windows_wheels).absolute() if options.windows_wheels else None
    for path in make(built, folder, windows=windows(wheels), private=private):
        print(path)
    return 0


Windows = Callable[[Path, Path], tuple[Path, tuple[licences.Component, ...]]]


def windows(wheels: Path | None) -> Windows | None:
    """Return what makes the Windows package in a folder, with what is inside; None without ``wixl``."""
    if not shutil.which("wixl"):
        print("wixl is not here (Debian: apt-get install wixl): no Windows package was made")
        return None
    import make_msi  # it imports this module

    return lambda work, folder: make_msi.make(wheels, work, folder)


def make(
    built: Path, folder: Path, *, windows: Windows | None = None, private: bytes | None = None
) -> tuple[Path, ...]:
    """Make every installer from a built folder, which stays as it is, and return the files."""
    with tempfile.TemporaryDirectory() as work:
        program = Path(work) / "custos"
        shutil.copytree(built, program, symlinks=True)
        listed = licences.components(program)
        strip(program)
        licences.write(program / "licences", listed)
        shutil.copyfile(ROOT / "README.md", program / "README.md")  # errors about rules refer to it
        build.write_sums(program)
        set_times(program)
        name = f"custos-{version()}"
        made = [
            archive(program, folder / f"{name}-linux-x86_64.tar.zst"),
        ]
        root = Path(work) / "root"
        lay_out(program, root, listed)
        shutil.rmtree(program / "_internal")  # room: it lies in the root too
        made.append(debian(root, folder / f"custos_{version()}_{ARCHITECTURE}.deb"))
        if shutil.which("rpmbuild"):
            made.append(rpm(root, folder / f"custos-{version()}-1.x86_64.rpm"))
        else:
            print("rpmbuild is not here (Debian: apt-get install rpm): no RPM package was made")
        shutil.rmtree(root)
        if windows is not None:
            package, inside = windows(Path(work), folder)
            made.append(package)
            listed = together(listed, inside)
    if private is not None:
        made.append(statement(folder / f"{name}.update.json", made, private))
    bill = folder / f"{name}.cdx.json"
    bill.write_text(licences.bill(listed), encoding="utf-8")
    made.append(bill)
    made.append(sums(folder, made))
    return tuple(made)


def together(*parts: tuple[licences.Component, ...]) -> tuple[licences.Component, ...]:
    """Return what is in any of several packages, each name and version once, in the order of the names."""
    found = {one.purl: one for part in parts for one in part}
    return tuple(found[purl] for purl in sorted(found, key=str.casefold))


def signing_key(path: Path) -> bytes:
    """Return the key of a file, made for its owner alone if it is not there; say its public key."""
    sys.path.insert(0, str(ROOT))
    from engine import ed25519

    if not path.exists():
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(os.urandom(32).hex() + "\n")
    private = bytes.fromhex(path.read_text(encoding="utf-8").strip())
    print(f"public key: {ed25519.public_key(private)}")
    return private


def statement(path: Path, packages: list[Path], private: bytes) -> Path:
    """Write what `custos update` checks: number, format of ledgers and sums, signed."""
    sys.path.insert(0, str(ROOT))
    from engine.computer import update

    digests = {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in packages}
    path.write_bytes(update.statement(private, version(), digests))
    return path


def version() -> str:
    """Return the version of the program."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def strip(program: Path) -> None:
    """Take names that only debuggers read out of libraries; those in ``*.libs`` no longer load without."""
    for path in sorted(program.rglob("*.so*")):
        if path.is_file() and not path.is_symlink() and not any(".libs" in part for part in path.parts):
            subprocess.run(["strip", "--strip-unneeded", str(path)], capture_output=True, check=False)


def set_times(folder: Path) -> None:
    """Give every file one time and one mode, whoever made it and when."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            runs = path.is_dir() or os.access(path, os.X_OK)
            path.chmod(0o755 if runs else 0o644)
        os.utime(path, (int(build.WHEN), int(build.WHEN)), follow_symlinks=False)


def archive(program: Path, target: Path) -> Path:
    """Write the program as an archive that is unpacked anywhere, without an administrator."""
    with tempfile.TemporaryDirectory() as work:
        plain = Path(work) / "custos.tar"
        with tarfile.open(plain, "w", format=tarfile.GNU_FORMAT) as packed:
            for path in [program, *sorted(program.rglob("*"))]:
                entry = packed.gettarinfo(path, f"custos/{path.relative_to(program)}".rstrip("/."))
                entry.uid = entry.gid = 0
                entry.uname = entry.gname = "root"
                entry.mtime = int(build.WHEN)
                if entry.isreg():
                    with open(path, "rb") as content:
                        packed.addfile(entry, content)
                else:
                    packed.addfile(entry)
        compress(plain, target)
    return target


def compress(plain: Path, target: Path) -> None:
    """Write a file compressed: the same bytes on any number of processors."""
    command = ["zstd", "-q", "-f", f"-{LEVEL}", f"--long={WINDOW}", "-T1", str(plain), "-o", str(target)]
    subprocess.run(command, check=True)


def lay_out(program: Path, root: Path, listed: tuple[licences.Component, ...]) -> None:
    """Lay out what packages install: program, commands and what helps with them, menu entry, kind of file."""
    shutil.copytree(program, root / PLACE, symlinks=True)
    for path, source in {
        "usr/share/applications/custos.desktop": ASSETS / "custos.desktop",
        "usr/share/mime/packages/custos.xml": ASSETS / "custos.xml",
        "usr/share/icons/hicolor/scalable/apps/custos.svg": ROOT / "resources" / "icons" / "custos.svg",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, root / path)
    (root / "usr" / "bin").mkdir(parents=True)
    manual = root / "usr" / "share" / "man" / "man1"
    manual.mkdir(parents=True)
    for name in ("custos", "custos-desktop"):
        (root / "usr" / "bin" / name).symlink_to(f"/{PLACE}/{name}")
        _gzip(man_page(name).encode(), manual / f"{name}.1.gz")
    for shell, path in COMPLETIONS.items():
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(completion(shell), encoding="utf-8")
    documents = root / "usr" / "share" / "doc" / "custos"
    documents.mkdir(parents=True)
    _gzip((ROOT / "CHANGELOG.md").read_bytes(), documents / "changelog.gz")
    (documents / "copyright").write_text(copyright_text(listed), encoding="utf-8")
    set_times(root)


def debian(root: Path, target: Path) -> Path:
    """Write the Debian package of what `lay_out` laid out."""
    control = root / "DEBIAN"
    control.mkdir()
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    fields = (ASSETS / "control").read_text(encoding="utf-8")
    fields = fields.replace("VERSION", version()).replace("ARCHITECTURE", ARCHITECTURE)
    size = sum(path.stat().st_size for path in files)
    (control / "control").write_text(fields.replace("SIZE", str(-(-size // 1024))), encoding="utf-8")
    lines = [
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  {path.relative_to(root)}\n"
        for path in files
    ]
    (control / "md5sums").write_text("".join(lines), encoding="utf-8")
    set_times(root)
    with tempfile.TemporaryDirectory() as work:
        plain = Path(work) / "plain.deb"
        packing = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(root), str(plain)]
        times = os.environ | {"SOURCE_DATE_EPOCH": build.WHEN}
        subprocess.run(packing, check=True, stdout=subprocess.DEVNULL, env=times)
        compress_members(plain, target)
    shutil.rmtree(control)
    return target


def compress_members(plain: Path, target: Path) -> None:
    """Compress what lies in a Debian package, an ``ar`` archive: dpkg-deb has no word for the window."""
    with tempfile.TemporaryDirectory() as work, plain.open("rb") as packed, target.open("wb") as written:
        written.write(packed.read(8))  # what every such archive begins with
        while header := packed.read(60):
            name, size = header[:16].decode().strip().rstrip("/"), int(header[48:58])
            member = Path(work) / name
            with member.open("wb") as part:
                _copy(packed, part, size)
            packed.read(size % 2)
            if member.suffix == ".tar":
                compress(member, member.with_suffix(".tar.zst"))
                member.unlink()
                member = member.with_suffix(".tar.zst")
            size = member.stat().st_size
            written.write(
                member.name.ljust(16).encode() + header[16:48] + str(size).ljust(10).encode() + header[58:]
            )
            with member.open("rb") as part:
                shutil.copyfileobj(part, written)
            written.write(b"\n" * (size % 2))
            member.unlink()


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    while size:
        piece = source.read(min(size, 1 << 20))
        if not piece:
            raise ValueError("a package ends within one of its members")
        target.write(piece)
        size -= len(piece)


def rpm(root: Path, target: Path) -> Path:
    """Write the RPM package of what `lay_out` laid out."""
    with tempfile.TemporaryDirectory() as work:
        said = {
            "_topdir": work,
            "_rpmdir": work,
            "_rpmfilename": "made.rpm",
            "_binary_payload": f"w{LEVEL}L{WINDOW}.zstdio",
            "source": str(root),
            "number": version(),
        }
        defines = [part for name, value in said.items() for part in ("--define", f"{name} {value}")]
        subprocess.run(
            ["rpmbuild", "-bb", "--quiet", "--target", "x86_64", *defines, str(RPM_SPEC)],
            check=True,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"SOURCE_DATE_EPOCH": build.WHEN},
        )
        shutil.move(Path(work) / "made.rpm", target)
    return target


def copyright_text(listed: tuple[licences.Component, ...]) -> str:
    """Return Debian's copyright file: the program's own licence, and those of what it brings along."""
    lines = [f"  {one.name} {one.version}: {one.licence}" for one in listed]
    own = (ROOT / "LICENSE").read_text(encoding="utf-8")
    told = f"Custos is under the licence below. What it brings along, with its texts in /{PLACE}/licences:\n"
    return "\n".join([told, *lines, "", own])


def man_page(name: str) -> str:
    """Return a manual page, in which every command stands that there is, as its help tells it."""
    sys.path.insert(0, str(ROOT))
    from engine import texts
    from engine.commands.completion import words_of
    from engine.commands.parser import make_parser

    told = [
        f".TP\n.B {command}\n{texts.text('commands.' + command.replace('-', '_'))}".replace("-", r"\-")
        for command, *further in filter(None, words_of(make_parser()))
        if not further
    ]
    page = (ASSETS / f"{name}.1").read_text(encoding="utf-8")
    return page.replace("@COMMANDS@", "\n".join(told))


def completion(shell: str) -> str:
    """Return what lets a shell complete words, as ``custos completion`` writes it."""
    sys.path.insert(0, str(ROOT))
    from engine.commands.completion import completion_command
    from engine.commands.parser import make_parser

    answer, _ = completion_command(make_parser().parse_args(["completion", shell]))
    return str(answer["script"])


def _gzip(content: bytes, target: Path) -> None:
    target.write_bytes(gzip.compress(content, 9, mtime=0))


def sums(folder: Path, of: list[Path]) -> Path:
    """Write ``SHA256SUMS`` over files of a folder."""
    place = folder / "SHA256SUMS"
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(of)]
    place.write_text("".join(lines), encoding="utf-8")
    return place


def wheelhouse(folder: Path, python: Path) -> int:
    """Fill a folder with the wheels of everything, as it is installed with this Python, and a lock of hashes.

    Offline then: ``pip install --no-index --find-links FOLDER --require-hashes -r FOLDER/requirements.lock``,
    which takes the program's own wheel too.
    """
    wanted = [f"{one.metadata['Name']}=={one.version}" for one in licences.required()]
    command = [str(python), "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    if subprocess.run([*command, "-d", str(folder), *wanted], check=False).returncode != 0:
        print("A wheel is not to be had. Is there a network, or a package without a wheel for this Python?")
        return 1
    make_wheel.build_wheel(str(folder))
    (folder / LOCK).write_text(lock(folder), encoding="utf-8")
    print(folder / LOCK)
    return 0


def lock(folder: Path) -> str:
    """Return a lock of every wheel in a folder: its name, version and hash."""
    lines = []
    for path in sorted(folder.glob("*.whl")):
        name, number = path.name.split("-")[:2]
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        lines.append(f"{licences.normal(name)}=={number} --hash=sha256:{digest}\n")
    return "".join(lines)


if __name__ == "__main__":
    sys.exit(build.run_prepared(main))
