"""What recipients of several copies get beside them: programs in Python and R that combine the copies."""

from __future__ import annotations

import json
from importlib.resources import files

from engine.methods.datasets.synthesis.combined import Rule
from engine.methods.protocol import FileArtefact
from engine.views import Text

FOLDER = "recipients"
PROGRAMS = {"python": ("combine.py", "text/x-python"), "r": ("combine.R", "text/x-r")}


def programs(copies: tuple[str, ...], rule: Rule) -> tuple[FileArtefact, ...]:
    """Return the programs for copies: made from the names of their files and the rule, from no row.

    Parameters
    ----------
    copies
        The names of the files.
    rule
        How their estimates are combined.

    Examples
    --------
    >>> [one.name for one in programs(("table-1.csv", "table-2.csv"), Rule.FULL)]
    ['combine.py', 'combine.R']
    """
    return tuple(
        FileArtefact(name, kind, _filled(name, copies, rule), Text(f"datasets.recipients.{language}"))
        for language, (name, kind) in PROGRAMS.items()
    )


def _filled(name: str, copies: tuple[str, ...], rule: Rule) -> bytes:
    template = files("resources").joinpath(FOLDER, f"{name}.txt").read_text(encoding="utf-8")
    listed = ", ".join(map(json.dumps, copies))
    if name.endswith(".py"):
        listed = f"[{listed}]"
    return template.format(files=listed, rule=json.dumps(str(rule)), m=len(copies)).encode()
