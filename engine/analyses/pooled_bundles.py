"""Which figures of released bundles are put together, with what error each; and which may not be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import InputRefused
from engine.evaluation.released_estimates import (
    MEAN,
    NOT_TO_BE_POOLED,
    PARTS,
    PROPORTION,
    SHARE,
    WORDS,
    Estimate,
    ReleasedBundle,
    Unusable,
)
from engine.views import Cell, TableView, Text

MOST_NAMED = 20
FEWEST_SITES = 3
"""Two sites cannot tell how far sites differ: an interval over them is wider than anybody can use."""
NOBODY, GENUINE, KNOWN = "nobody", "genuine", "known"


@dataclass(frozen=True)
class Site:
    """What one site has to say.

    Parameters
    ----------
    name
        As it is called in the answer.
    estimate, error, noise
        The figure, its standard error by chance among people, and the standard deviation of its noise.
    people
        How many it rests on, where that is known.
    fourth
        Fourth cumulant of the noise, see `Estimate`.
    """

    name: str
    estimate: float
    error: float
    noise: float
    people: float | None = None
    fourth: float = 0.0

    @property
    def variance(self) -> float:
        """Of chance and noise together."""
        return self.error**2 + self.noise**2


@dataclass(frozen=True)
class Sites:
    """The figure of several releases, and those that cannot say it.

    Parameters
    ----------
    label
        Which figure, None where numbers were typed.
    group
        Of which group; empty for everybody.
    sites
        Those that are put together.
    left_out
        The others with the reason of each.
    differences
        The names of what sites define otherwise and the custodian has accepted.
    ends
        Between which numbers the figure has to lie.
    """

    sites: tuple[Site, ...]
    label: Text | None = None
    group: str = ""
    left_out: tuple[tuple[str, Text], ...] = ()
    differences: tuple[str, ...] = ()
    ends: tuple[float, float] = (-math.inf, math.inf)


def shared_figures(bundles: Sequence[ReleasedBundle]) -> dict[str, tuple[Text, tuple[str, ...]]]:
    """Return the figures that can be put together: words and groups by name, most common first.

    Those of at least three releases; where there are none, those that most of the releases have.

    Examples
    --------
    >>> shared_figures(())
    {}
    """
    counted = Counter(key for one in bundles for key in one.figures.estimates)
    most = max(counted.values(), default=0)
    labels = {name: label for one in bundles for name, label in one.figures.labels.items()}
    found: dict[str, list[str]] = {}
    for (name, group), times in counted.most_common():
        if times >= min(most, FEWEST_SITES):
            found.setdefault(name, []).append(group)
    return {name: (labels[name], tuple(groups)) for name, groups in found.items()}


def pool(bundles: Sequence[ReleasedBundle], values: Mapping[str, Any]) -> Sites:
    """Return the figure of every release with its error.

    Parameters
    ----------
    bundles
        At least one, each another release.
    values
        Of the parameters of `engine.analyses.meta_analysis`.

    Raises
    ------
    InputRefused
        ``analyses.same_people``, ``.same_ledger``: releases of one register of people, or of one ledger.
        ``.bundle_key``: signed by nobody whose key is known. ``.which_figure``, ``.which_group``,
        ``.no_figure``: what is meant is not clear. ``.other_figure``: what no reason makes the same.
        ``.differences``: what needs a reason. ``.deviation_wanted``: what no file tells.
        ``.told_unknown``: a number for a site that is not there.

    Notes
    -----
    The variance of a share is that of the share of all sites together, p (1 − p)/n: an own share that noise
    has moved towards 0 would count for more.
    """
    _refuse_twice(bundles)
    _refuse_unknown_keys(bundles, values["keys"] or ())
    names = site_names(bundles)
    figure, group = _choose(bundles, values["figure"], values["group"])
    told = _read_told(values["told"] or (), names)
    found: dict[str, Estimate] = {}
    left_out: list[tuple[str, Text]] = []
    for name, one in zip(names, bundles, strict=True):
        try:
            found[name] = one.figures.estimate(figure, group)
        except Unusable as why:
            left_out.append((name, Text(f"{WORDS}.reasons.{why.reason}")))
    used = [one for name, one in zip(names, bundles, strict=True) if name in found]
    _refuse_same_people(used, apart=bool(values["apart"]))
    differ = _refuse_differences(found, values["reason"])
    kind = figure.partition("(")[0]
    sites = []
    common = _common_share(found.values()) if kind in (SHARE, PROPORTION) else None
    for name, estimate in found.items():
        made = _site(name, estimate, told.get(name, {}), common, values["deviation"])
        if isinstance(made, Text):
            left_out.append((name, made))
        else:
            sites.append(made)
    _refuse_unknown_deviation(found, {name for name, _ in left_out}, kind, values["deviation"])
    labels = {name: label for one in bundles for name, label in one.figures.labels.items()}
    ends = (0.0, 1.0) if kind in PARTS else (-math.inf, math.inf)
    return Sites(tuple(sites), labels[figure], group, tuple(left_out), differ, ends)


def site_names(bundles: Sequence[ReleasedBundle]) -> tuple[str, ...]:
    """Return how each site is called: by who released, and by its folder too where two are called alike."""
    times = Counter(one.name for one in bundles)
    names = [one.name if times[one.name] == 1 else f"{one.name} ({one.folder})" for one in bundles]
    again = Counter(names)
    return tuple(
        name if again[name] == 1 else f"{name} {one.bundle_id}"
        for name, one in zip(names, bundles, strict=True)
    )


def signed_by(bundle: ReleasedBundle, known: Sequence[str]) -> str:
    """Return what a signature says: nobody signed, a genuine one by a key nobody knows, or by a known key."""
    if not bundle.keys:
        return NOBODY
    return KNOWN if set(bundle.keys) & set(map(_plain, known)) else GENUINE


def describe_bundles(bundles: Sequence[ReleasedBundle], known: Sequence[str]) -> TableView:
    """Return what was read, line by line: whose, about whom, when, and who signed it."""
    from engine.report.content.shared import day  # on first use: it brings every chapter along

    rows: list[tuple[Cell, ...]] = []
    for name, one in zip(site_names(bundles), bundles, strict=True):
        key = " ".join(one.keys[0][at : at + 4] for at in range(0, 12, 4)) if one.keys else ""
        state = Text(f"{WORDS}.signed.{signed_by(one, known)}", {"key": key})
        rows.append((name, one.title, one.population or None, one.period or None, day(one.day), state))
    heads = ("site", "release", "population", "period", "day", "signature")
    headings = tuple(Text(f"{WORDS}.read.{name}") for name in heads)
    return TableView(Text(f"{WORDS}.read.title"), headings, tuple(rows), Text(f"{WORDS}.read.note"))


def _plain(fingerprint: str) -> str:
    return "".join(fingerprint.split()).replace(":", "").replace("-", "").lower()


def _refuse_twice(bundles: Sequence[ReleasedBundle]) -> None:
    for place, one in enumerate(bundles):
        for other in bundles[:place]:
            if one.sums == other.sums or one.bundle_id == other.bundle_id:
                raise InputRefused("analyses.bundle_twice", folder=one.folder, other=other.folder)


def _refuse_same_people(bundles: Sequence[ReleasedBundle], *, apart: bool) -> None:
    """Refuse two releases of one register that both have the figure; of one ledger, unless somebody said."""
    for place, one in enumerate(bundles):
        for other in bundles[:place]:
            if (one.register and one.register == other.register) or set(one.keys) & set(other.keys):
                raise InputRefused("analyses.same_people", folder=one.folder, other=other.folder)
            if one.chain and one.chain == other.chain and not apart:
                raise InputRefused("analyses.same_ledger", folder=one.folder, other=other.folder)


def _refuse_unknown_keys(bundles: Sequence[ReleasedBundle], known: Sequence[str]) -> None:
    for one in bundles:
        if known and signed_by(one, known) != KNOWN:
            raise InputRefused("analyses.bundle_key", folder=one.folder)


def _choose(bundles: Sequence[ReleasedBundle], figure: str | None, group: str | None) -> tuple[str, str]:
    """Return the figure and the group that are meant; the only ones where nobody says which."""
    shared = shared_figures(bundles)
    every = {key for one in bundles for key in one.figures.estimates}
    if not every:
        raise InputRefused("analyses.no_figure", folders=[one.folder for one in bundles])
    if figure is None and len(shared) != 1:
        raise InputRefused("analyses.which_figure", known=_some(list(shared)))
    name = next(iter(shared)) if figure is None else figure
    groups = [of for known, of in sorted(every) if known == name]
    if not groups:
        raise InputRefused("analyses.figure_unknown", figure=name[:200], known=_some(list(shared)))
    if group is None:
        group = "" if "" in groups else groups[0] if len(groups) == 1 else None
    if group is None or group not in groups:
        raise InputRefused("analyses.which_group", figure=name, known=_some(groups))
    return name, group


def _some(names: Sequence[str]) -> str:
    return "; ".join(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")


def _read_told(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    found = {}
    for one in records:
        if one["site"] not in names:
            raise InputRefused("analyses.told_unknown", site=one["site"][:100], known="; ".join(names))
        found[one["site"]] = one
    return found


def _refuse_differences(found: Mapping[str, Estimate], reason: str | None) -> tuple[str, ...]:
    """Return in what sites differ; refuse what no reason makes the same, and what has none."""
    differ: dict[str, str] = {}
    first = next(iter(found), "")
    for name, one in found.items():
        for what in one.definition.keys() | found[first].definition.keys():
            if one.definition.get(what) != found[first].definition.get(what):
                differ.setdefault(what, name)
    for what in sorted(differ):
        if what in NOT_TO_BE_POOLED:
            said = Text(f"{WORDS}.differences.{what}")
            raise InputRefused("analyses.other_figure", site=differ[what], other=first, what=said)
    if differ and not reason:
        said_all = [Text(f"{WORDS}.differences.{what}") for what in sorted(differ)]
        raise InputRefused(
            "analyses.differences", sites=sorted({*differ.values()}), other=first, what=said_all
        )
    return tuple(sorted(differ))


def _common_share(found: Any) -> float | None:
    """Return the share of all sites together, within 0 and 1."""
    counted = [one for one in found if one.people]
    people = sum(one.people for one in counted)
    whole = sum(one.value * one.people for one in counted)
    return min(max(whole / people, 0.0), 1.0) if people else None


def _site(
    name: str, one: Estimate, told: Mapping[str, Any], common: float | None, deviation: Any
) -> Site | Text:
    """Return what a site says; the reason why it is left out where a number is missing."""
    people = told.get("people")
    people = one.people if people is None else float(people)
    noise, error = one.noise, one.error
    if one.slope is not None and people:
        noise = one.slope * one.ranks / people
        error = one.slope * math.sqrt(one.at * (1 - one.at) / people)
    elif people and common is not None:
        error = math.sqrt(common * (1 - common) / people)
    elif people and one.largest is not None and deviation is not None:
        error = float(deviation) / math.sqrt(people)
    if told.get("error") is not None:
        error = float(told["error"])
    if error is None or noise is None:
        missing = "people_untold" if one.slope is not None or common is not None else "error_untold"
        return Text(f"{WORDS}.reasons.{missing}")
    return Site(name, one.value, error, noise, people, one.fourth)


def _refuse_unknown_deviation(
    found: Mapping[str, Estimate], missing: set[str], kind: str, deviation: Any
) -> None:
    """Ask for the deviation of a mean where sites lack it, and say how large it can be."""
    lacking = (one for name, one in found.items() if name in missing)
    wanting = [one for one in lacking if one.largest is not None and one.people]
    if kind == MEAN and deviation is None and wanting:
        largest = max(one.largest or 0.0 for one in wanting)
        raise InputRefused("analyses.deviation_wanted", largest=largest)
