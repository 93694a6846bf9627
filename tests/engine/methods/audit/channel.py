"""What people's own lots promise: the chances of every answer, from the numbers that the page draws by."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from html import unescape
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.methods.protocol import Context, FileArtefact, Release
from engine.release.check import check
from tests.engine.battery.distributions import CheckFailed
from tests.engine.methods.audit.tables import Bench
from tests.noise_source import seeded_noise

KIT = re.compile(r'data-kit="([^"]*)"')
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def audit(bench: Bench, many: bool) -> None:
    """Enumerate the channel of every question on the page that is given out.

    Raises
    ------
    CheckFailed
        Somebody's rows are read, or the answers together tell more of two people than is claimed.
    """
    method = bench.method
    for step in ("", *(step.name for step in method.steps)):
        if any(source.shape.is_private for source in method.reads(step)):
            raise CheckFailed("people who protect themselves are read from a table")
    design = check(bench.plan)
    with TemporaryDirectory() as folder:
        context = Context(seeded_noise(1), None, Path(folder))
        release = design.run({}, context)
    if context.noise.drawn:
        raise CheckFailed("the custodian draws where respondents do")
    loss = sum(math.log(worst_ratio(one)) for one in questions(release))
    if design.cost.loss is None or loss > float(design.cost.loss.epsilon):
        raise CheckFailed(f"answers tell {loss}, claimed {design.cost.loss}")
    if release.promise != design.cost:
        raise CheckFailed("something else is promised with the page than was declared")


def questions(release: Release) -> list[list[list[Fraction]]]:
    """Return the channel of every question: of each true answer the chance of each reported one."""
    (page,) = (one for one in release.artefacts if isinstance(one, FileArtefact))
    text = page.content.decode()
    own = SCRIPT.findall(files("resources").joinpath("kits", "survey.html").read_text(encoding="utf-8"))
    if SCRIPT.findall(text) != own:
        raise CheckFailed("the page draws by another script than the one that is tested")
    told = KIT.search(text)
    if told is None:
        raise CheckFailed("the page does not say what it draws by")
    return [channel(**one) for one in json.loads(unescape(told[1]))["questions"]]


def channel(true: int, other: int, answers: int) -> list[list[Fraction]]:
    """Return the chances: so many tickets keep the answer, so many lead to each other one."""
    tickets = true + (answers - 1) * other
    return [[Fraction(true if a == b else other, tickets) for b in range(answers)] for a in range(answers)]


def worst_ratio(chances: list[list[Fraction]]) -> float:
    """Return by what factor a reported answer is likelier with one true answer than with another, at most."""
    if any(min(line) <= 0 or sum(line) != 1 for line in chances):
        return math.inf
    return float(max(max(column) / min(column) for column in zip(*chances, strict=True)))
