"""Private models and invented rows on ten tables, beside those of other libraries.

Not a test: a league that anybody runs, and that is run with each release. Tables and measures: see
`league_tables`. Other libraries need older packages than the program: ``make.py`` measures them in an
environment of their own, and what it wrote is read here. ::

    python tests/peers/make.py league_models league_rows
    python tests/peers/league.py                     # writes league.md beside this file
    python tests/peers/league.py --seeds 2 --epsilon 1 --table visits --set cells=equal --print

Bounds and values are declared, not read from rows. What was tuned by one of these tables stands in `TUNED`;
whoever tunes by another one says so there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: threads that wait count as processor time
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1])]

from engine.methods.catalogue import method  # noqa: E402
from engine.methods.models import additive, linear_model, naive_bayes  # noqa: E402
from engine.methods.protocol import MAIN, Budget, Context  # noqa: E402
from engine.privacy.accuracy import NORMAL_WITHIN  # noqa: E402
from engine.privacy.noise import Noise  # noqa: E402
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema  # noqa: E402
from engine.table.table import Table  # noqa: E402
from tests.peers.league_tables import (  # noqa: E402
    Case,
    Line,
    Measured,
    asked_for,
    boosted,
    cases,
    of_rows,
    quality,
)

NOISES = (("δ 1e-6", Fraction(1, 10**6)), ("pure", Fraction(0)))
CLASSES = {"additive": {}, "logistic": {}, "naive_bayes": {}}
NUMBERS = {"additive": {}, "linear": {"fit": "steps"}}
BANDS = ("additive", "logistic", "linear")
RELEASES = 20
"""Of the same rows, whose mean bands are compared with."""
USUAL, INVENTED = "additive", "marginals, target"
"""What stands beside the best of the others: what this program takes where nothing else is asked for."""
PEERS = ("league_models", "league_rows")
OTHERS = ("DP-EBM", "diffprivlib", "dpmm")
TUNED = (
    "Tables that were used for tuning: none, but that cells are searched only where an interval with a\n"
    "quarter of the rows would show (`LEAST_FOUND`): set after `friedman` had been seen to lose by a half.\n"
    "That cells of decimals are searched in invented rows was built after `rare` had been seen to be even.\n"
    "How coarse the first tables of a declared target are was set on all tables with invented rows and six\n"
    "others, after `rare` had been seen to be worse with a target than without."
)


def schema_of(case: Case) -> Schema:
    """Return what is declared of a table."""
    return Schema(tuple(_column(name, case.frame[name], ends) for name, ends in case.declared.items()))


def _column(name: str, values: pd.Series, ends: Any) -> Column:
    if isinstance(ends[0], str):
        kind, domain = Kind.CATEGORY, Domain(values=tuple(ends))
    else:
        kind = Kind.INTEGER if values.dtype.kind == "i" else Kind.NUMBER
        domain = Domain(*(Fraction(str(end)) for end in ends))
    return Column(name, Role.OTHER, kind, domain=domain, domain_origin=Origin.DECLARED)


def design_of(
    case: Case, way_id: str, rows: int, given: dict[str, Any], epsilon: str, delta: Fraction
) -> Any:
    """Return the design of a release, with what it asks for and nothing tuned."""
    way = method(way_id)
    known = {"about_rows": rows, "target": case.target, "predictors": case.predictors}
    known |= {"columns": list(case.frame)} | given
    asked = {one.name for one in way.parameters}
    values = {name: value for name, value in known.items() if name in asked}
    budget = Budget(Fraction(epsilon), delta)
    return way(way.make_request({MAIN: schema_of(case)}, values, budget=budget))


def model(case: Case, name: str, given: dict[str, Any], epsilon: str, delta: Fraction, seed: int) -> Measured:
    """Measure a model of this program."""
    train, test = case.parted(seed)
    started = time.process_time()
    design = design_of(case, f"models.{name}", len(train), given, epsilon, delta)
    if design.problems:
        return {"refused": 1.0}
    made = design.run({MAIN: Table(train)}, Context(Noise(), None, Path())).artefacts[0].content
    taken = time.process_time() - started
    return quality(case, test, scores(made, test), _chance(made, test)) | {"seconds": taken}


def scores(made: Any, rows: pd.DataFrame) -> np.ndarray:
    """Return what a model says of rows: a number, or the log-odds of the second class."""
    if made["format"] == naive_bayes.FORMAT:
        odds = naive_bayes.log_odds(made, rows)
        return odds[:, 1] - odds[:, 0]
    return (additive if made["format"] == additive.FORMAT else linear_model).scores(made, rows)


def _chance(made: Any, rows: pd.DataFrame) -> np.ndarray | None:
    if made["target"].get("kind") != "classes":
        return None
    if made["format"] == additive.FORMAT:
        return additive.probabilities(made, rows)
    if made["format"] == naive_bayes.FORMAT:
        return naive_bayes.probabilities(made, rows)[:, 1]
    return np.asarray(1 / (1 + np.exp(-scores(made, rows))))


def synthesis(case: Case, given: dict[str, Any], epsilon: str, delta: Fraction, seed: int) -> Measured:
    """Measure invented rows of this program: with a declared target unless ``given`` says otherwise."""
    train, test = case.parted(seed)
    started = time.process_time()
    design = design_of(case, "datasets.marginals", len(train), given, epsilon, delta)
    if design.problems:
        return {"refused": 1.0}
    made = design.run({MAIN: Table(train)}, Context(Noise(), None, Path())).artefacts[0].frame
    taken = time.process_time() - started
    return of_rows(case, train, test, made) | {"seconds": taken}


def bands(case: Case, name: str, given: dict[str, Any], delta: Fraction, releases: int) -> Measured:
    """Measure how often bands of effects hold the mean of releases of the same rows, at ε = 1.

    Notes
    -----
    Cells are equal, as those that are searched differ from one release to the other. A mean of other releases
    is itself off by a share of the noise, which is added to the bands.
    """
    train, _ = case.parted(0)
    effects, within = [], []
    for _ in range(releases):
        design = design_of(case, f"models.{name}", len(train), {"cells": "equal"} | given, "1", delta)
        if design.problems:
            return {"refused": 1.0}
        made = design.run({MAIN: Table(train)}, Context(Noise(), None, Path())).artefacts[0].content
        way = additive if made["format"] == additive.FORMAT else linear_model
        shown = list(way.effects(made, ""))
        effects.append([one.effect for one in shown])
        within.append([np.nan if one.is_empty or not one.within else one.within for one in shown])
    about, limits = np.array(effects), np.array(within)
    off = np.abs(about - about.mean(axis=0)) * releases / (releases - 1)
    known = ~np.isnan(limits)
    if not known.any():
        return {}  # the mean alone
    held = off <= limits * np.sqrt(1 + 1 / (releases - 1))
    ratio = limits / (NORMAL_WITHIN * np.maximum(about.std(axis=0, ddof=1), 1e-12))
    return {"held": 100 * float(held[known].mean()), "wide": float(np.median(ratio[known]))}


# --- the page --------------------------------------------------------------------------------------------


def measured(options: argparse.Namespace) -> tuple[list[Line], list[Line], list[Line]]:
    """Return lines of models, of invented rows, and of bands, those of other libraries among them."""
    models: list[Line] = []
    invented: list[Line] = []
    held: list[Line] = []
    chosen = dict(one.split("=", 1) for one in options.set)
    peers = lines_of_peers(options)
    for case in cases():
        if options.table and case.name not in options.table:
            continue
        for epsilon in options.epsilon:
            for kind, delta in NOISES:
                where = (case.name, epsilon, kind)
                ways = CLASSES if case.is_classes else NUMBERS
                for name, own in ways.items() if options.what in ("all", "models") else ():
                    if options.way and name not in options.way:
                        continue
                    given = own | chosen
                    runs = [model(case, name, given, epsilon, delta, seed) for seed in range(options.seeds)]
                    models.append((*where, name, runs))
                for target in (case.target, None) if case.invents and options.what in ("all", "rows") else ():
                    given = {"target": target} | chosen
                    name = INVENTED if target else "marginals"
                    runs = [synthesis(case, given, epsilon, delta, seed) for seed in range(options.seeds)]
                    invented.append((*where, name, runs))
                for line in peers:
                    if line[:3] == where:
                        (invented if "pairs" in line[4][0] else models).append(line)
                print(*where, file=sys.stderr, flush=True)
        for kind, delta in NOISES if options.what in ("all", "bands") else ():
            for name, own in (CLASSES if case.is_classes else NUMBERS).items():
                if name in BANDS and (not options.way or name in options.way):
                    held.append(
                        (
                            case.name,
                            "1",
                            kind,
                            name,
                            [bands(case, name, own | chosen, delta, options.releases)],
                        )
                    )
    return models, invented, held


def lines_of_peers(options: argparse.Namespace) -> list[Line]:
    """Return what other libraries reached, as far as ``make.py`` has measured it."""
    files = [HERE / f"{name}.json" for name in PEERS]
    lines = [line for file in files if file.exists() for line in json.loads(file.read_text())["lines"]]
    return [(table, epsilon, noise, way, runs) for table, epsilon, noise, way, runs in lines]


def said(found: Sequence[Measured], name: str, digits: int = 3) -> str:
    """Return mean and spread over seeds; how many were refused."""
    values = [one[name] for one in found if name in one]
    refused = sum("refused" in one for one in found)
    if not values:
        return "refused" if refused else ""
    told = f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"
    return f"{told} ({refused} refused)" if refused else told


def beside(lines: Sequence[Line], own: str, name: str, *, rising: bool = True) -> list[tuple[str, ...]]:
    """Return by table, ε and noise what is usual here beside the best of the others, with or without δ.

    Notes
    -----
    Behind is what is worse by more than both spreads over splits together. What is pure is also private with
    a δ, so that it stands there too.
    """
    found = []
    sign = 1 if rising else -1
    for table, epsilon, noise, way, runs in lines:
        values = [one[name] for one in runs if name in one]
        others = [
            (sign * float(np.mean(theirs)), float(np.std(theirs)), line[3])
            for line in lines
            if line[:2] == (table, epsilon) and line[3].split()[0] in OTHERS
            if noise != "pure" or line[2] == "pure"
            if (theirs := [one[name] for one in line[4] if name in one])
        ]
        if way != own or not others:
            continue
        best, spread, peer = max(others)
        told = "refused"
        if values:
            ahead, both = sign * float(np.mean(values)) - best, float(np.hypot(np.std(values), spread))
            told = "behind" if ahead < -both else "ahead" if ahead > both else "even"
        found.append(
            (table, epsilon, noise, said(runs, name), peer, f"{sign * best:.3f} ± {spread:.3f}", told)
        )
    return found


def on_average(models: Sequence[Line], invented: Sequence[Line]) -> list[str]:
    """Return how far what is usual here is ahead of the best of the others at ε = 1 with a δ."""
    classes = {case.name for case in cases() if case.is_classes}
    told = []
    for names, what in ((True, "area under the curve"), (False, "R²")):
        ahead = [
            _mean_of(here) - _mean_of(there)
            for table, epsilon, noise, here, _, there, _ in beside(models, USUAL, "quality")
            if (epsilon, noise) == ("1", NOISES[0][0]) and (table in classes) == names and "±" in here
        ]
        if ahead:
            told.append(f"{what} {np.mean(ahead):+.3f} ({len(ahead)} tables)")
    less = [
        _mean_of(here) / _mean_of(there)
        for _, epsilon, noise, here, _, there, _ in beside(invented, INVENTED, "pairs", rising=False)
        if (epsilon, noise) == ("1", NOISES[0][0])
    ]
    if less:
        told.append(f"error of two columns {np.mean(less):.2f} of theirs ({len(less)} tables)")
    return (
        ["", f"On average at ε = 1 with δ, beside the best of the others: {', '.join(told)}."] if told else []
    )


def _mean_of(told: str) -> float:
    return float(told.split()[0])


def page(
    models: Sequence[Line], invented: Sequence[Line], held: Sequence[Line], options: argparse.Namespace
) -> str:
    """Return the results as one page."""
    files = [HERE / f"{name}.json" for name in PEERS]
    there = [
        pin
        for file in files
        if file.exists()
        for pin in json.loads(file.read_text())["made_with"]["packages"]
    ]
    lines = [
        "# League of private models and invented rows",
        "",
        f"Written by `python tests/peers/league.py`: mean ± spread over {options.seeds} splits",
        "(four fifths are fitted on). Quality is the area under the curve for classes, R² for numbers, on",
        "held-out rows; bias is mean predicted − true, of numbers as a part of the mean. Beside bounds and",
        "values nothing is said but about how many rows there are.",
        "",
        TUNED,
        "",
        f"Others: `python tests/peers/make.py {' '.join(PEERS)}`, with {', '.join(there) or 'nothing yet'}."
        + (f" With {', '.join(options.set)}." if options.set else ""),
        "",
        f"What is usual here (`{USUAL}`, `{INVENTED}`) beside the best of the others:",
        "",
        "| table | ε | noise | here | best of the others | there | |",
        "|---|---|---|---|---|---|---|",
    ]
    told = beside(models, USUAL, "quality") + beside(invented, INVENTED, "pairs", rising=False)
    lines += [f"| {' | '.join(one)} |" for one in told]
    lines += on_average(models, invented)
    lines += [
        "",
        "Models. Processor time here is that of a whole release with its files, and of what is loaded for",
        "the first; of the others it is that of the fit and of what it says.",
        "",
        "| table | ε | noise | model | quality | bias | CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    for *where, runs in models:
        row = (said(runs, "quality"), said(runs, "bias"), said(runs, "seconds", 2))
        lines.append(f"| {' | '.join((*where, *row))} |")
    lines += [
        "",
        "Invented rows: total variation distance of one and of two columns on a neutral grid (whole",
        "numbers of up to 64 values one each, else sixteenths of the people), and boosted trees trained on",
        "invented rows, tested on held-out people (people themselves in the first line). Dpmm gets equal",
        "cells of each number, one each of up to 64 whole ones, for nothing. It has been measured on one",
        "split of each, as one fit takes one to three minutes, and AIM at ε = 1 alone.",
        "",
        "| table | ε | noise | way | one | two | quality | CPU s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in cases():
        if case.invents and any(one[0] == case.name for one in invented):
            runs = [{"quality": boosted(case, *case.parted(seed))} for seed in range(options.seeds)]
            lines.append(f"| {case.name} | | | people | | | {said(runs, 'quality')} | |")
    for *where, runs in invented:
        row = tuple(said(runs, name) for name in ("alone", "pairs", "quality"))
        lines.append(f"| {' | '.join((*where, *row, said(runs, 'seconds', 2)))} |")
    lines += [
        "",
        f"Bands of 95 of 100 at ε = 1: how many of 100 held the mean over {options.releases} releases of the",
        "same rows, and how wide they are beside 1.96 standard deviations of these releases (half are",
        "wider). Cells are equal. A linear score has few numbers: with six of them, the first figure has a",
        "standard error of two. Its bands are bounds: in directions of which the noise leaves unknown how",
        "far rows differ along them, they are as wide as if these did not.",
        "",
        "| table | noise | model | held of 100 | width |",
        "|---|---|---|---|---|",
    ]
    for table, _, noise, way, [found] in held:
        told = "refused" if "refused" in found else ""
        figures = (f"{found['held']:.1f}", f"{found['wide']:.2f}") if "held" in found else (told, told)
        lines.append(f"| {' | '.join((table, noise, way, *figures))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the page."""
    asked = asked_for()
    asked.add_argument("--what", choices=("all", "models", "rows", "bands"), default="all")
    asked.add_argument("--releases", type=int, default=RELEASES, help="of the same rows, for bands")
    asked.add_argument("--set", nargs="*", default=[], help="NAME=VALUE of every method, to compare")
    asked.add_argument("--print", action="store_true", help="do not write the file")
    options = asked.parse_args()
    found = page(*measured(options), options)
    print(found)
    if not options.print:
        (HERE / "league.md").write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
