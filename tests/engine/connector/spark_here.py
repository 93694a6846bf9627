"""A Spark Connect server of the tests' own: local, on this computer alone, in a folder of its own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 240  # seconds until it has started, on a computer that is busy
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def why_not() -> str:
    """Say why no server can be started; nothing where it can."""
    found = importlib.util.find_spec("pyspark")
    if found is None or importlib.util.find_spec("grpc") is None:
        return "there is no PySpark (pip install pyspark[connect])"
    folder = Path(str(found.origin)).parent
    if not list((folder / "jars").glob("spark-connect_*.jar")):
        return "PySpark is here without a server (pip install pyspark)"
    return (
        "" if shutil.which("java") else "there is no Java on this computer (apt-get install openjdk-17-jre)"
    )


class Spark:
    """A server that runs: its port, and the folder of its tables."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        found = importlib.util.find_spec("pyspark")
        assert found is not None
        home = Path(str(found.origin)).parent
        said = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",  # a query is quicker answered than compiled
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.ui.enabled": "false",
            **settings,
        }
        given = [part for name, value in said.items() for part in ("--conf", f"{name}={value}")]
        self._process = subprocess.Popen(
            [
                home / "bin" / "spark-submit",
                "--master",
                "local[2]",
                "--class",
                _SERVER,
                *given,
                "spark-internal",
            ],
            cwd=folder,
            env={**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and self._process.poll() is None:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.3)
        self.stop()
        raise RuntimeError("Spark did not start")

    def stop(self) -> None:
        """Stop it, as a machine that goes down does."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@contextmanager
def running(**settings: str) -> Iterator[Spark]:
    """Start a server, and take everything of it away at the end; a point in a name is written ``__``."""
    with tempfile.TemporaryDirectory(prefix="custos-spark-", ignore_cleanup_errors=True) as name:
        server = Spark(Path(name), {key.replace("__", "."): value for key, value in settings.items()})
        try:
            yield server
        finally:
            server.stop()
