"""The share of a study of several sites as a function that vantage6 runs at each node.

Files that people send are carried by a server instead; nothing else changes: each node makes its share with
the program that is installed there, its own register pays, and what leaves is the signed file. Share files
are opened, checked and put together by ``custos study combine``, as ever.

A node has a folder for each organisation, named by its number: ``site.json`` says ``name`` (as the study has
it), ``plan`` (which table, which register) and ``ledger``. Its administrator names the folder above them in
``CUSTOS_SITES``, and in ``CUSTOS`` how the program is started, such as ``custos``.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

from vantage6.algorithm.tools.decorators import algorithm_client


@algorithm_client
def collect(client: Any, study: str, organizations: list[int]) -> list[dict[str, str]]:
    """Return the shares of all organisations, each as base64, in their order.

    ``study`` is the file of the study, as text.
    """
    task = client.task.create(
        input_={"method": "share", "kwargs": {"study": study}},
        organizations=organizations,
        name="Custos",
        description="Share of a study of several sites",
    )
    return list(client.wait_for_results(task_id=task["id"]))


@algorithm_client
def share(client: Any, study: str) -> dict[str, str]:
    """Return the share of this organisation. Asked again, it is the very same file, and nothing is paid."""
    folder = Path(os.environ["CUSTOS_SITES"]) / str(client.organization_id)
    site = json.loads((folder / "site.json").read_text(encoding="utf-8"))
    found, out = folder / "study.custos-study", folder / "share.custos-share"
    found.write_text(study, encoding="utf-8", newline="\n")
    command = [
        *(*shlex.split(os.environ.get("CUSTOS", "custos")), "study", "share", str(found)),
        *("--plan", str(folder / site["plan"]), "--site", site["name"]),
        *("--ledger", str(folder / site["ledger"])),
        *("--out", str(folder / "share"), "--send", str(out)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        # only the number: what a program says of its own table stays at the node
        raise RuntimeError(f"no share was made: {done.returncode}")
    return {"name": site["name"], "share": base64.b64encode(out.read_bytes()).decode("ascii")}
