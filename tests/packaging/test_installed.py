"""Packages as an administrator has them: installed into an empty Debian, used there, replaced, and removed.

Takes a network (Debian's packages) and minutes. ``CUSTOS_INSTALLERS`` names a folder that was filled by
``packaging/make_installers.py``, ``CUSTOS_DEBIAN`` one for empty systems, which are then made once only.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from app.theme import LIGHT

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import build  # noqa: E402
import make_installers  # noqa: E402

MIRROR = "http://deb.debian.org/debian"
NEEDED = ("debootstrap", "unshare", "chroot", "dpkg-deb", "zstd", "strip", "Xvfb", "rpm", "rpmbuild")
MISSING = [name for name in NEEDED if shutil.which(name) is None]
needs_systems = pytest.mark.skipif(
    bool(MISSING) or sys.platform != "linux" or os.geteuid() != 0,
    reason=f"only an administrator can install, and not here: {', '.join(MISSING) or 'nothing'}",
)
pytestmark = [pytest.mark.before_release, needs_systems]
HOME = "/home/pat"
SAMPLE = "/opt/custos/_internal/resources/sample/plan.json"
BUNDLE = f"{HOME}/bundle"
REGISTER = ".local/share/custos/ledger.sqlite"


@pytest.fixture(scope="module")
def installers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if given := os.environ.get("CUSTOS_INSTALLERS"):
        return Path(given)
    if find_spec("PyInstaller") is None:
        pytest.skip("the extra `build` is not installed")
    folder = tmp_path_factory.mktemp("installers")
    assert build.build(Path(sys.executable), folder / "built") == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(make_installers, "LEVEL", "1")
        make_installers.make(folder / "built" / "custos", folder)
    return folder


@pytest.fixture(params=("bookworm", "trixie"))
def system(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """An empty Debian with one person."""
    root = empty_system(request.param, tmp_path)
    inside(root, "useradd --create-home pat")
    yield root
    shutil.rmtree(root)


def empty_system(name: str, folder: Path) -> Path:
    """Return a Debian with nothing but what a Debian cannot be without."""
    kept = Path(os.environ.get("CUSTOS_DEBIAN") or folder / "kept") / name
    if not kept.is_dir():
        kept.parent.mkdir(exist_ok=True)
        made = kept.with_name(f"{name}.{os.getpid()}")
        making = ["debootstrap", "--variant=minbase", name, str(made), MIRROR]
        subprocess.run(making, check=True, stdout=subprocess.DEVNULL)
        made.rename(kept)
    root = folder / "system"
    subprocess.run(["cp", "-a", str(kept), str(root)], check=True)
    shutil.copyfile("/etc/resolv.conf", root / "etc" / "resolv.conf")
    return root


def command(root: Path, script: str, *, user: str = "root") -> list[str]:
    """Return what runs a script in a system that lies in a folder; what it mounts goes with it.

    Its first process stays the administrator's: it ends when that is killed, and all others with it.
    """
    mounts = f"""
        mount -t proc proc {shlex.quote(str(root / "proc"))}
        mount --bind /dev {shlex.quote(str(root / "dev"))}
        mkdir -p {shlex.quote(str(root / "tmp/.X11-unix"))}
        [ ! -d /tmp/.X11-unix ] || mount --bind /tmp/.X11-unix {shlex.quote(str(root / "tmp/.X11-unix"))}
    """
    told = f"LANG=C.UTF-8 DISPLAY={os.environ.get('TRIED_ON', '')} HOME={'/root' if user == 'root' else HOME}"
    clean = f"env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin {told}"
    ran = f"chroot --userspec={user} {shlex.quote(str(root))} {clean} sh -euc {shlex.quote(script)}"
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    return [*alone, "sh", "-euc", f"{mounts}\n{ran} || exit $?\nexit 0"]


def inside(root: Path, script: str, *, user: str = "root") -> str:
    done = subprocess.run(
        command(root, script, user=user), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def install(root: Path, package: Path) -> None:
    shutil.copyfile(package, root / "tmp" / package.name)
    quiet = "DEBIAN_FRONTEND=noninteractive apt-get -q -o APT::Sandbox::User=root"
    inside(root, f"{quiet} update; {quiet} install -y --no-install-recommends /tmp/{package.name}")
    (root / "tmp" / package.name).unlink()


DESKTOP = "shared-mime-info desktop-file-utils xdg-utils libglib2.0-bin"
KINDS = {
    "a.custos-plan": "application/x-custos-plan",
    "plan.json": "application/x-custos-plan",
    "b.plan.json": "application/x-custos-plan",
    "c.custos-release": "application/x-custos-release",
    "other.json": "application/json",
}


def open_by_double_click(root: Path) -> None:
    """Ask what a desktop asks of a double click: what a file is, and which program opens it."""
    quiet = "DEBIAN_FRONTEND=noninteractive apt-get -q -o APT::Sandbox::User=root"
    inside(root, f"{quiet} install -y --no-install-recommends {DESKTOP}")
    inside(root, f"cd {HOME} && mkdir -p kinds && cp {SAMPLE} kinds/plan.json", user="pat")
    inside(
        root,
        f"cd {HOME}/kinds && for one in a.custos-plan b.plan.json other.json; do cp plan.json $one; done",
    )
    inside(root, f"custos pack {BUNDLE} --out {HOME}/kinds/c.custos-release", user="pat")
    inside(root, f"custos verify {HOME}/kinds/c.custos-release", user="pat")
    for name, kind in KINDS.items():
        asked = f"xdg-mime query filetype {name} && gio info -a standard::content-type {name}"
        found = inside(root, f"export XDG_CURRENT_DESKTOP=GNOME; cd {HOME}/kinds; {asked}", user="pat")
        assert found.splitlines()[0] == kind and f"standard::content-type: {kind}" in found, (name, found)
    for kind in set(KINDS.values()) - {"application/json"}:
        assert inside(root, f"xdg-mime query default {kind}", user="pat").strip() == "custos.desktop"
        assert "custos.desktop" in inside(root, f"gio mime {kind}", user="pat")


def another_version(package: Path, folder: Path) -> Path:
    """Return the same package under a later number."""
    laid = folder / "laid"
    subprocess.run(["dpkg-deb", "--raw-extract", str(package), str(laid)], check=True)
    control = laid / "DEBIAN" / "control"
    control.write_text(control.read_text().replace("Version: ", "Version: 1:"))
    later = folder / "later.deb"
    packed = ["dpkg-deb", "--root-owner-group", "-z1", "-Zzstd", "--build", str(laid), str(later)]
    subprocess.run(packed, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(laid)
    return later


def use(root: Path) -> None:
    """Make the sample release as somebody who has no rights, verify it, and check the computer's files."""
    inside(root, f"custos run {SAMPLE} --out {BUNDLE} && custos verify {BUNDLE}", user="pat")
    inside(root, "cd /opt/custos && sha256sum --check --quiet SHA256SUMS")
    assert (root / HOME[1:] / REGISTER).stat().st_mode & 0o777 == 0o600


@contextmanager
def screen(folder: Path) -> Iterator[Path]:
    """An X server that shows nothing but keeps what it would; yields the file of the picture."""
    reading, writing = os.pipe()
    shown = ["-screen", "0", "1366x768x24", "-nolisten", "tcp", "-ac", "-fbdir", str(folder)]
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), *shown], pass_fds=(writing,))
    try:
        number = os.read(reading, 20).decode().strip()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TRIED_ON", f":{number}")
            yield folder / "Xvfb_screen0"
    finally:
        server.terminate()
        server.wait()
        os.close(reading)
        os.close(writing)


def pixels(picture: Path) -> np.ndarray:
    """Return what a screen shows (XWD), each pixel as one number."""
    content = picture.read_bytes()
    head = struct.unpack(">25I", content[:100])
    begin = head[0] + 12 * head[19]
    return np.frombuffer(content[begin : begin + head[12] * head[5]], "<u4") & 0xFFFFFF


def start_window(root: Path, folder: Path) -> None:
    """Start the window as that person: it draws its filled button, says nothing, and stays."""
    accent = int(LIGHT.accent.lstrip("#"), 16)
    with screen(folder) as picture:
        window = subprocess.Popen(
            command(root, "exec custos-desktop --theme light", user="pat"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            for _ in range(120):
                time.sleep(0.5)
                if (pixels(picture) == accent).sum() > 1000 or window.poll() is not None:
                    break
            time.sleep(2)
            shown, ended = (pixels(picture) == accent).sum(), window.poll()
            if kept := os.environ.get("CUSTOS_PICTURES"):
                shutil.copyfile(picture, Path(kept) / f"{folder.parent.name}.xwd")
        finally:
            window.kill()  # and what it started, which ends with it
            said = window.communicate(timeout=30)[0].decode()
    assert ended is None and shown > 1000 and said == "", (ended, shown, said)


def digests(root: Path) -> dict[str, str]:
    """Return what a person has, each file with its digest."""
    home = root / HOME[1:]
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in (".local/share/custos", "bundle")
        for path in sorted((home / folder).rglob("*"))
        if path.is_file()
    }


def test_a_debian_package_is_installed_used_replaced_and_removed(
    system: Path, installers: Path, tmp_path: Path
) -> None:
    (package,) = installers.glob("*.deb")
    install(system, package)
    use(system)
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    start_window(system, pictures)
    shown = inside(system, "dpkg-query --show --showformat='${Installed-Size}' custos")
    print(f"{system.parent.name}: {int(shown) * 1024 / 1e6:.0f} MB installed")
    assert int(shown) * 1024 < 560e6
    open_by_double_click(system)
    own = digests(system)
    assert REGISTER in own and "bundle/release/evidence.json" in own

    install(system, another_version(package, tmp_path))
    assert digests(system) == own
    inside(system, f"custos verify {BUNDLE} && custos ledger check", user="pat")
    inside(system, f"custos run {SAMPLE} --out {HOME}/second", user="pat")
    own = digests(system)

    inside(system, "DEBIAN_FRONTEND=noninteractive apt-get -q -y purge custos")
    for left in (
        "opt/custos",
        "usr/bin/custos",
        "usr/bin/custos-desktop",
        "usr/share/applications/custos.desktop",
    ):
        assert not os.path.lexists(system / left), left
    assert digests(system) == own


def test_an_rpm_package_is_installed_used_and_removed(system: Path, installers: Path) -> None:
    """Not on the systems it is for: its files, the sums in it, and what they do on a Debian."""
    (package,) = installers.glob("*.rpm")
    rpm = ["rpm", "--root", str(system)]
    subprocess.run([*rpm, "--initdb"], check=True)
    subprocess.run([*rpm, "--install", "--nodeps", str(package)], check=True)
    subprocess.run([*rpm, "--verify", "--nodeps", "custos"], check=True)
    use(system)
    own = digests(system)
    subprocess.run([*rpm, "--erase", "custos"], check=True)
    assert not (system / "opt" / "custos").exists() and not os.path.lexists(system / "usr/bin/custos")
    assert digests(system) == own and REGISTER in own


def test_the_archive_runs_where_it_is_unpacked(system: Path, installers: Path) -> None:
    (package,) = installers.glob("*.tar.zst")
    home = system / HOME[1:]
    unpacked = subprocess.run(["zstd", "-d", "-c", str(package)], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(home)], input=unpacked, check=True)
    plan = f"{HOME}/custos/_internal/resources/sample/plan.json"
    inside(system, f"{HOME}/custos/custos run {plan} --out {BUNDLE}", user="pat")
    inside(system, f"{HOME}/custos/custos verify {BUNDLE}", user="pat")
