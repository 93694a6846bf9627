"""Figures of a release that can be put together with those of other releases: read from its files alone."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from engine import strict_json
from engine.numbers import exact
from engine.privacy.accuracy import LAPLACE_WITHIN, NORMAL_WITHIN
from engine.views import Text

MEAN, PROPORTION, SHARE, SURVIVAL, QUANTILE, COEFFICIENT = (
    *("mean", "proportion", "share"),
    *("survival", "quantile", "coefficient"),
)
PARTS = (PROPORTION, SHARE, SURVIVAL)
"""Figures that lie from 0 to 1."""
FEWEST = 6
"""A group of at most so many deviations of its own noise may be of nobody: nothing can be divided by it."""
MOST_GROUPS, MOST_SHARES = 2_000, 20_000
"""Groups of a column, and shares of one in all of them, that are offered: a forged file may hold any."""
MOST_WORDS, MOST_LETTERS = 200, 2_000
ASIDE = ("(missing)", "(other)", "(other or missing)")
"""Lines that stand for completeness only, of a column whose declared values the evidence does not list."""
ALL = ""
WORDS = "analyses.meta_analysis"
NOT_TO_BE_POOLED = ("unit", "target", "predictors")
"""What has to be the same: no reason makes millimetres of centimetres."""


class Unusable(Exception):
    """A figure that says nothing that could be put together with others; ``reason`` is the id of why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Estimate:
    """One figure of one release, with all that its files tell of its error.

    Parameters
    ----------
    value
        As it was released.
    noise
        Standard deviation of its noise, in its units; None where that takes a number that has to be told.
    people
        How many it rests on, with noise; None where the files do not say.
    error
        Standard error by chance among people; None where the files do not say.
    fourth
        Fourth cumulant of its noise, in its units: 3 σ⁴ of one Laplace draw, 0 of Gaussian noise.
    largest
        Of a mean: the largest standard deviation that values within their bounds can have around it.
    slope, at, ranks
        Of a quantile: how fast values rise with the share of people below, which share it is, and the
        standard deviation of its rank.
    definition
        What it means, by name: figures that differ in it are not the same figure.
    """

    value: float
    noise: float | None
    people: float | None = None
    error: float | None = None
    fourth: float = 0.0
    largest: float | None = None
    slope: float | None = None
    at: float = 0.0
    ranks: float = 0.0
    definition: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figures:
    """What can be read of one release: kinds of figures, and the groups of each.

    Parameters
    ----------
    labels
        The words of every figure by its name, such as ``mean(stay)``.
    estimates
        By name and group, how it is worked out; see `Estimate`.
    """

    labels: Mapping[str, Text] = field(default_factory=dict)
    estimates: Mapping[tuple[str, str], Callable[[], Estimate]] = field(default_factory=dict)

    def estimate(self, name: str, group: str) -> Estimate:
        """Return one figure.

        Raises
        ------
        Unusable
            The release does not have it, or its noise has drowned it.
        """
        if (name, group) not in self.estimates:
            raise Unusable("absent")
        try:
            found = self.estimates[name, group]()
        except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
            raise Unusable("not_a_number") from error
        sizes = (found.noise, found.people, found.error, found.fourth, found.slope, found.ranks)
        if not math.isfinite(found.value) or not all(one is None or 0 <= one < math.inf for one in sizes):
            raise Unusable("not_a_number")
        return found


@dataclass(frozen=True)
class ReleasedBundle:
    """A release of some site whose files agree with one another.

    Parameters
    ----------
    name
        Who released it, as its evidence says, or the name of its folder.
    folder, bundle_id, sums
        The name of its folder, its number and the SHA-256 of its list of sums.
    chain, register
        Of the ledger that it was charged to: the random beginning of that, and the random id of the register
        of people, empty where nobody signed.
    keys
        Fingerprints of the keys that signed, the last one first; empty without a signature.
    title, population, period, day
        What it says of itself.
    figures
        What can be put together.
    """

    name: str
    folder: str
    bundle_id: str
    sums: str
    chain: str
    register: str
    keys: tuple[str, ...]
    title: str
    population: str
    period: str
    day: str
    figures: Figures


def read_figures(evidence: Mapping[str, Any], files: Callable[[str], bytes]) -> Figures:
    """Return the figures of a release that can be put together with those of others.

    Parameters
    ----------
    evidence
        Its public evidence, verified.
    files
        Gives the content of a file of the release.

    Returns
    -------
    Figures
        Without any for a way of releasing of which nothing can be pooled here.

    Notes
    -----
    The noise is that which the evidence says was drawn. What a file does not tell is not guessed.

    Raises
    ------
    KeyError, ValueError, TypeError
        Files of a form that no version of the program wrote.
    """
    reader = _READERS.get(evidence["method"]["id"])
    if reader is None:
        return Figures()
    labels: dict[str, Text] = {}
    estimates: dict[tuple[str, str], Callable[[], Estimate]] = {}
    for kind, words, of, worked_out in reader(evidence, files):
        said, group = {key: printable(one) for key, one in words.items()}, printable(of, MOST_LETTERS)
        name = f"{kind}({', '.join(said.values())})"
        which = "effect" if kind == COEFFICIENT and "values" in said else kind
        labels[name] = Text(f"{WORDS}.figures.{which}", said)
        estimates[name, group] = worked_out
    return Figures(labels, estimates)


def printable(words: Any, most: int = MOST_WORDS) -> str:
    """Return words of a file of somebody else without what a terminal would obey, and not too many.

    Examples
    --------
    >>> printable("Ward\x1b[2J 3")
    'Ward[2J 3'
    """
    return "".join(letter for letter in str(words)[:most] if letter.isprintable())


def group_name(conditions: Mapping[str, str]) -> str:
    """Return the name of a group: columns with their values, in their order; nothing for everybody.

    Examples
    --------
    >>> group_name({"sex": "f", "ward": "north"})
    'sex = f, ward = north'
    """
    return ", ".join(f"{column} = {value}" for column, value in conditions.items())


_Read = Iterator[tuple[str, dict[str, str], str, Callable[[], Estimate]]]
_Rows = list[dict[str, str]]


def _read_rows(data: bytes) -> _Rows:
    try:
        return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    except csv.Error as error:
        raise ValueError("no table") from error


def _columns(evidence: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {one["name"]: one for one in evidence["decided"]["columns"]}


def _common(evidence: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """Return what defines every figure of a release: who counts, how often, and how rows were prepared."""
    known = _columns(evidence)
    return {
        "person": evidence["promise"]["unit"],
        "rows": evidence["decided"]["rows_per_person"],
        "preparation": evidence["decided"]["preparation"],
        "meaning": {name: known[name].get("meaning", "") for name in columns},
        "values": {name: _sorted(known[name].get("domain", {}).get("values", ())) for name in columns},
        "missing": {name: _sorted(known[name].get("missing", ())) for name in columns},
    }


def _sorted(values: Sequence[Any]) -> list[str]:
    return sorted(map(str, values))


def _is_aside(column: Mapping[str, Any], value: str) -> bool:
    """Say whether a value in a file stands for what is missing or undeclared: a declared one never does."""
    declared = column.get("domain", {}).get("values")
    return value not in map(str, declared) if declared is not None else value in ASIDE


def _group_of(
    evidence: Mapping[str, Any], row: Mapping[str, str], by: Sequence[str]
) -> dict[str, str] | None:
    """Return the group of a line, None for one that stands for completeness only."""
    known = _columns(evidence)
    return None if any(_is_aside(known[name], row[name]) for name in by) else {name: row[name] for name in by}


def _is_of_one_row(evidence: Mapping[str, Any]) -> bool:
    return evidence["decided"]["rows_per_person"] == 1


def variance_of(event: Mapping[str, Any]) -> float:
    """Return the variance of one draw of an event of the evidence, in squared units of its answer.

    Raises
    ------
    Unusable
        Noise of another kind, whose variance is not told by its scale.

    Notes
    -----
    Of discrete Laplace noise of scale b, with q = e^(−1/b): 2q/(1 − q)². Of a discrete Gaussian its scale
    squared, which is less than 10⁻⁸ off from scale 1 on.

    Examples
    --------
    >>> round(variance_of({"mechanism": "discrete_laplace", "scale": "2", "grid": "1"}), 4)
    7.8354
    """
    scale, grid = float(exact(event["scale"])), float(exact(event.get("grid", "1")))
    if event["mechanism"] == "discrete_laplace":
        q = math.exp(-1 / scale)
        return 2 * q / math.expm1(-1 / scale) ** 2 * grid**2
    if event["mechanism"] == "discrete_gaussian":
        return scale**2 * grid**2
    raise Unusable("other_noise")


def _of_draws(draws: Sequence[float], event: Mapping[str, Any]) -> tuple[float, float]:
    """Return deviation and fourth cumulant of a sum of independent draws with these deviations."""
    excess = 3.0 if event["mechanism"] == "discrete_laplace" else 0.0
    return math.hypot(*draws), excess * sum(one**4 for one in draws)


def _events(evidence: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    tree = evidence["promise"]["events"]
    return list(tree["sequential"]) if "sequential" in tree else [tree]


# --- means and proportions ------------------------------------------------------------------------------


def _read_means(evidence: Mapping[str, Any], files: Callable[[str], bytes]) -> _Read:
    given = evidence["decided"]["parameters"]
    kind = given["statistic"]
    if kind not in (MEAN, PROPORTION):
        return
    column = given["value"] if kind == MEAN else given["answer"]
    said = {"column": column}
    if kind == PROPORTION:
        said["values"] = ", ".join(sorted(str(one["value"]) for one in given["counted"]))
    by = list(given.get("by") or ())
    known = _columns(evidence)[column]
    definition = _common(evidence, [column, *by]) | {"unit": known.get("unit", "")}
    low, high = 0.0, 1.0
    if kind == MEAN:
        low, high = (float(exact(known["domain"][end])) for end in ("minimum", "maximum"))
        definition |= {"bounds": [low, high]}
    for row in _read_rows(files(f"{kind}s.csv")):
        group = _group_of(evidence, row, by)
        if group is not None:

            def worked_out(row: dict[str, str] = row) -> Estimate:
                return _mean(evidence, row, kind, low, high, definition)

            yield kind, said, group_name(group), worked_out


def _mean(
    evidence: Mapping[str, Any],
    row: Mapping[str, str],
    kind: str,
    low: float,
    high: float,
    definition: Mapping[str, Any],
) -> Estimate:
    """Return a mean with its noise: to the first order, as `engine.methods.shared.ratio` has it.

    Notes
    -----
    Two sums A and B with a draw each: the mean moves by ((1 − p) X − p Y)/n, p its place within the bounds.
    A centred sum and a count: by (X + (½ − p) R Y)/n, R the width of the bounds.
    """
    given, events = evidence["decided"]["parameters"], _events(evidence)
    value, strategy, number = float(row[kind]), given.get("strategy"), given.get("declared_number")
    if given.get("weight"):
        raise Unusable("weights")
    place = (value - low) / (high - low)
    largest = math.sqrt(max(0.0, (value - low) * (high - value)))
    first = math.sqrt(variance_of(events[0]))
    if number is not None:
        people, draws = float(number), [first / float(number)]
    elif strategy == "compose":
        if FEWEST * first > high - low:  # it is cut at the bounds most of the time
            raise Unusable("drowned")
        fourth = _of_draws([first], events[0])[1]
        return Estimate(value, first, fourth=fourth, largest=largest, definition=definition)
    else:
        people, width = float(row["count"]), high - low
        if people <= 0:
            raise Unusable("drowned")
        if strategy == "perturb":
            count_noise = math.sqrt(variance_of(events[1]))
            draws = [first / people, (0.5 - place) * width * count_noise / people]
        else:
            count_noise = math.sqrt(2) * first / width
            draws = [(1 - place) * first / people, place * first / people]
        if people <= FEWEST * count_noise:
            raise Unusable("drowned")
    noise, fourth = _of_draws(draws, events[0])
    return Estimate(
        value,
        noise,
        people if _is_of_one_row(evidence) else None,
        fourth=fourth,
        largest=largest,
        definition=definition,
    )


# --- shares of counts -----------------------------------------------------------------------------------


def _read_counts(evidence: Mapping[str, Any], files: Callable[[str], bytes]) -> _Read:
    given = evidence["decided"]["parameters"]
    is_histogram = "edges" in given
    names = [*(given.get("by") or ()), given["column"]] if is_histogram else list(given["columns"])
    rows = _read_rows(files("counts.csv"))
    cells = {tuple(row[name] for name in names): int(row["count"]) for row in rows}
    known = _columns(evidence)
    levels = {
        name: [one for one in dict.fromkeys(row[name] for row in rows) if not _is_aside(known[name], one)]
        for name in names
    }
    definition = _common(evidence, names)
    if is_histogram:
        unit = _columns(evidence)[given["column"]].get("unit", "")
        definition |= {"unit": unit, "edges": [str(one) for one in given["edges"]]}
    for name in names:
        others = {other: levels[other] for other in names if other != name}
        for group in _groups(others, most=min(MOST_GROUPS, MOST_SHARES // max(1, len(levels[name])))):
            for level in levels[name]:

                def worked_out(name: str = name, level: str = level, group: Any = group) -> Estimate:
                    return _share(evidence, cells, levels, name, level, group, definition)

                yield SHARE, {"column": name, "values": level}, group_name(group), worked_out


def _groups(levels: Mapping[str, Sequence[str]], *, most: int) -> Iterator[dict[str, str]]:
    """Give every group of other columns: everybody, one value of some of them, one value of each.

    Where they are more than so many, only those of one value of one column, and then only everybody.
    """
    every = math.prod(len(of) + 1 for of in levels.values())
    if every <= most:
        for chosen in product(*([ALL, *of] for of in levels.values())):
            yield {name: one for name, one in zip(levels, chosen, strict=True) if one != ALL}
        return
    if most > 0:
        yield {}
    if sum(map(len, levels.values())) < most:
        yield from ({name: one} for name, of in levels.items() for one in of)


def _share(
    evidence: Mapping[str, Any],
    cells: Mapping[tuple[str, ...], int],
    levels: Mapping[str, Sequence[str]],
    name: str,
    level: str,
    group: Mapping[str, str],
    definition: Mapping[str, Any],
) -> Estimate:
    """Return the share of one value among all declared ones of its column, in a group.

    Notes
    -----
    With a cells that count and r that do not, of n people, σ² the noise of a cell: the share p moves with
    variance σ² (a (1 − p)² + r p²)/n².
    """
    taken = [{group[one]} if one in group else set(levels[one]) for one in levels]
    whole = [key for key in cells if all(one in of for one, of in zip(key, taken, strict=True))]
    place = list(levels).index(name)
    counted = [key for key in whole if key[place] == level]
    if evidence["decided"]["parameters"].get("no_negatives") and any(cells[key] <= 0 for key in whole):
        raise Unusable("kept_positive")
    event = _events(evidence)[0]
    one = math.sqrt(variance_of(event))
    people = float(sum(cells[key] for key in whole))
    if people <= FEWEST * one * math.sqrt(len(whole)):
        raise Unusable("drowned")
    value = sum(cells[key] for key in counted) / people
    inside = min(max(value, 0.0), 1.0)
    moved = [1 - inside] * len(counted) + [inside] * (len(whole) - len(counted))
    noise, fourth = _of_draws([one * part / people for part in moved], event)
    alone = people if _is_of_one_row(evidence) else None
    return Estimate(value, noise, alone, fourth=fourth, definition=definition)


# --- survival -------------------------------------------------------------------------------------------


def _read_life_table(evidence: Mapping[str, Any], files: Callable[[str], bytes]) -> _Read:
    given = evidence["decided"]["parameters"]
    time, by = given["time"], list(given.get("by") or ())
    happened = _sorted([one["value"] for one in given["happened"]])
    definition = _common(evidence, [time, given["event"], *by]) | {
        "unit": _columns(evidence)[time].get("unit", ""),
        "edges": [str(one) for one in given["edges"]],
        "event": [given["event"], *happened],
        "leaving": given.get("leaving"),
    }
    tables: dict[str, _Rows] = {}
    for row in _read_rows(files("life_table.csv")):
        group = _group_of(evidence, row, by)
        if group is not None:
            tables.setdefault(group_name(group), []).append(row)
    for group_said, rows in tables.items():
        for place, row in enumerate(rows):

            def worked_out(rows: _Rows = rows[: place + 1]) -> Estimate:
                return _survival(evidence, rows, definition)

            yield SURVIVAL, {"column": time, "values": row[time]}, group_said, worked_out


def _survival(evidence: Mapping[str, Any], rows: _Rows, definition: Mapping[str, Any]) -> Estimate:
    """Return the share that is left after an interval, with Greenwood's error and the noise of the margin.

    Notes
    -----
    Greenwood: S² Σ h²/(d (1 − h)), h the share of those at risk who had the event and d their number.
    """
    margin, last = float(rows[-1]["within_95"]), float(rows[-1]["survival"])
    if margin >= 1:
        raise Unusable("drowned")
    before, parts = 1.0, 0.0
    for row in rows:
        left, events = float(row["survival"]), float(row["events"])
        hazard = 1 - left / before if before > 0 else 0.0
        if hazard > 0 and left > 0 and events > 0:
            parts += hazard**2 / (events * (1 - hazard))
        before = left
    event = _events(evidence)[0]
    times = LAPLACE_WITHIN if event["mechanism"] == "discrete_laplace" else NORMAL_WITHIN
    error = last * math.sqrt(parts) if parts > 0 and last > 0 and _is_of_one_row(evidence) else None
    return Estimate(last, margin / times, error=error, definition=definition)


# --- quantiles ------------------------------------------------------------------------------------------


def _read_quantiles(evidence: Mapping[str, Any], files: Callable[[str], bytes]) -> _Read:
    given = evidence["decided"]["parameters"]
    column, by = given["value"], list(given.get("by") or ())
    known = _columns(evidence)[column]
    definition = _common(evidence, [column, *by]) | {
        "unit": known.get("unit", ""),
        "bounds": [str(known["domain"].get(end)) for end in ("minimum", "maximum")],
    }
    groups: dict[str, dict[str, dict[str, str]]] = {}
    for row in _read_rows(files("quantiles.csv")):
        group = _group_of(evidence, row, by)
        if group is not None:
            groups.setdefault(group_name(group), {})[row["quantile"]] = row
    for group_said, rows in groups.items():
        for quantile in rows:

            def worked_out(rows: Any = rows, quantile: str = quantile) -> Estimate:
                return _quantile(rows, quantile, definition)

            yield QUANTILE, {"column": column, "values": quantile}, group_said, worked_out


def _quantile(
    rows: Mapping[str, Mapping[str, str]], quantile: str, definition: Mapping[str, Any]
) -> Estimate:
    """Return a quantile and how fast values rise around it: from the quantiles released on either side."""
    places = {float(Fraction(one)): float(row["value"]) for one, row in rows.items()}
    own = float(Fraction(quantile))
    below, above = [one for one in places if one < own], [one for one in places if one > own]
    if not below or not above:
        raise Unusable("no_neighbours")
    left, right = max(below), min(above)
    slope = (places[right] - places[left]) / (right - left)
    if slope <= 0:
        raise Unusable("ties")
    ranks = float(rows[quantile]["within_95_rank"]) / NORMAL_WITHIN
    return Estimate(places[own], None, slope=slope, at=own, ranks=ranks, definition=definition)


# --- coefficients ---------------------------------------------------------------------------------------


def _read_model(evidence: Mapping[str, Any], files: Callable[[str], bytes]) -> _Read:
    model = strict_json.loads(files("model.json"))
    target = model["target"]
    predictors = model["predictors"]
    names = [one["name"] for one in predictors]
    given, known = evidence["decided"]["parameters"], _columns(evidence)
    definition = _common(evidence, [target["name"], *names]) | {
        "unit": {name: known[name].get("unit", "") for name in (target["name"], *names)},
        "target": [target["kind"], *map(str, target.get("values", ()))],
        "predictors": [[one["name"], one["kind"], *map(str, one.get("levels", ()))] for one in predictors],
        "bounds": [
            [one["minimum"], one["maximum"]] for one in (target, *predictors) if one["kind"] == "number"
        ],
        "penalty": [str(given.get("penalty") or 0), str(given.get("absolute") or 0)],
    }
    for one in predictors:
        said = {"target": target["name"], "column": one["name"]}
        if one["kind"] == "number":
            yield COEFFICIENT, said, ALL, _fixed(one["coefficient"], one["within_95"], definition)
            continue
        for level, effect, within in zip(
            one["levels"], one["effects"], one["within_95"], strict=False
        ):  # the last two are for other values and for missing ones
            yield COEFFICIENT, said | {"values": str(level)}, ALL, _fixed(effect, within, definition)


def _fixed(value: Any, within: Any, definition: Mapping[str, Any]) -> Callable[[], Estimate]:
    found = Estimate(float(value), float(within) / NORMAL_WITHIN, definition=definition)
    return lambda: found


_READERS: Mapping[str, Callable[[Mapping[str, Any], Callable[[str], bytes]], _Read]] = {
    "statistics.means": _read_means,
    "statistics.counts": _read_counts,
    "statistics.histogram": _read_counts,
    "statistics.life_table": _read_life_table,
    "statistics.quantiles": _read_quantiles,
    "models.linear": _read_model,
    "models.logistic": _read_model,
}
