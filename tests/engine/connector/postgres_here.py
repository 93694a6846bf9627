"""A PostgreSQL of the tests' own: on this computer alone, in a folder of its own, as a user of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PASSWORD = "no one's"
USER = "keeper"
_NOBODY = ("postgres", "nobody")  # it refuses to run as root


def programs() -> Path | None:
    """Return the folder of the programs of the newest PostgreSQL here; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda one: int(one.parts[-3]))
    beside = shutil.which("initdb")
    return found[-1].parent if found else Path(beside).parent if beside else None


def why_not() -> str:
    """Say why no server can be started; nothing where it can."""
    if programs() is None:
        return "there is no PostgreSQL on this computer (apt-get install postgresql)"
    if os.name != "posix" or (os.geteuid() == 0 and not shutil.which("setpriv")):
        return "no other user can be taken (setpriv)"
    return ""


class Postgres:
    """A server that runs: its port, its folder, and how to ask it as its owner."""

    def __init__(self, folder: Path, *, tls: tuple[Path, Path] | None = None) -> None:
        self.folder, self._bin = folder, programs()
        self._user = next((one for one in _NOBODY if _is_user(one)), "") if os.geteuid() == 0 else ""
        if self._user:
            shutil.chown(folder, self._user)
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._call(
            "initdb",
            "-D",
            self.data,
            "-U",
            USER,
            "-A",
            "scram-sha-256",
            f"--pwfile={secret}",
            "-E",
            "UTF8",
            "--locale=C",
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        said = f"-p {self.port} -c listen_addresses=127.0.0.1 -c fsync=off -c unix_socket_directories="
        if tls is not None:
            for name, path in zip(("server.crt", "server.key"), tls, strict=True):
                shutil.copy(path, Path(self.data) / name)
                (Path(self.data) / name).chmod(0o600)
                if self._user:
                    shutil.chown(Path(self.data) / name, self._user)
            said += " -c ssl=on"
        self._call("pg_ctl", "-D", self.data, "-l", str(folder / "log"), "-w", "-o", said, "start")

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it, as a machine that goes down does."""
        self._call("pg_ctl", "-D", self.data, "-m", mode, "stop", may_fail=True)

    @contextmanager
    def asked(self) -> Iterator[Any]:
        """Give a connection of the owner's."""
        import pg8000.native

        connection = pg8000.native.Connection(USER, "127.0.0.1", "postgres", self.port, PASSWORD)
        try:
            yield connection
        finally:
            connection.close()

    def _call(self, program: str, *given: str, may_fail: bool = False) -> None:
        assert self._bin is not None
        command = [str(self._bin / program), *given]
        if self._user:
            command = ["setpriv", f"--reuid={self._user}", "--clear-groups", *command]
        subprocess.run(
            command, check=not may_fail, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/"
        )


@contextmanager
def running(**given: Any) -> Iterator[Postgres]:
    """Start a server, and take everything of it away at the end."""
    with tempfile.TemporaryDirectory(prefix="custos-postgres-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        server = Postgres(Path(name), **given)
        try:
            yield server
        finally:
            server.stop()


def _is_user(name: str) -> bool:
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False
