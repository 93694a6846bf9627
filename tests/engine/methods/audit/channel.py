"""What people's own lots promise: the chances of every answer, from the numbers that the page draws by."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from html import unescape
from importlib.resources import files
from itertools import combinations, product
from operator import eq
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.methods.protocol import Context, FileArtefact, Release
from engine.release.check import check
from tests.engine.battery.distributions import CheckFailed
from tests.engine.methods.audit.tables import Bench
from tests.noise_source import seeded_noise

KIT = re.compile(r"data-kit='([^']*)'")
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
    channels, one = questions(release)
    losses = [math.log(worst_ratio(chances)) for chances in channels]
    loss = max(losses) if one else sum(losses)
    if design.cost.loss is None or loss > float(design.cost.loss.epsilon):
        raise CheckFailed(f"answers tell {loss}, claimed {design.cost.loss}")
    if release.promise != design.cost:
        raise CheckFailed("something else is promised with the page than was declared")


def questions(release: Release) -> tuple[list[list[list[Fraction]]], bool]:
    """Return the chances of every question, and whether a person is asked one of them alone."""
    (page,) = (one for one in release.artefacts if isinstance(one, FileArtefact))
    text = page.content.decode()
    own = SCRIPT.findall(files("resources").joinpath("kits", "survey.html").read_text(encoding="utf-8"))
    if SCRIPT.findall(text) != own:
        raise CheckFailed("the page draws by another script than the one that is tested")
    told = KIT.search(text)
    if told is None:
        raise CheckFailed("the page does not say what it draws by")
    tree = json.loads(unescape(told[1]))
    return [chances(**one["channel"]) for one in tree["questions"]], bool(tree["one"])


def chances(kind: str, hit: int, tickets: int, **size: int) -> list[list[Fraction]]:
    """Return the probability of each outcome, given each true answer, by the words of the page's script.

    So many tickets lead to an outcome that the answer marks, each alike; the others to one of the rest.
    """
    if kind == "bit":
        share, top = Fraction(hit, tickets), size["levels"] - 1
        high = [(share * v + (1 - share) * (top - v)) / top for v in range(top + 1)]
        return [[1 - one, one] for one in high]
    if kind == "sets":
        outcomes = [frozenset(one) for one in combinations(range(size["universe"]), size["size"])]
        truths = [frozenset(one) for one in combinations(range(size["universe"]), size["ticks"])]
        marks = [[bool(truth & one) for one in outcomes] for truth in truths]
    elif kind == "option":
        ticked = list(product((0, 1), repeat=size["options"]))
        marks = [[one[v] == said for v in range(size["options"]) for said in (0, 1)] for one in ticked]
    elif kind == "signs":
        corners = list(product((0, 1), repeat=size["options"]))
        marks = [[sum(map(eq, one, other)) >= size["least"] for other in corners] for one in corners]
    elif kind == "wave":
        near, ends = 2 * size["reach"], size["levels"] + 2 * size["reach"]
        marks = [[0 <= y - v <= near for y in range(ends)] for v in range(size["levels"])]
    else:
        raise CheckFailed(f"nobody counts {kind} again")
    found = []
    for line in marks:
        inside, outside = Fraction(hit, tickets * sum(line)), Fraction(tickets - hit, tickets)
        found.append([inside if one else outside / (len(line) - sum(line)) for one in line])
    return found


def worst_ratio(chances: list[list[Fraction]]) -> float:
    """Return by what factor a reported answer is likelier with one true answer than with another, at most."""
    if any(min(line) <= 0 or sum(line) != 1 for line in chances):
        return math.inf
    return float(max(max(column) / min(column) for column in zip(*chances, strict=True)))
