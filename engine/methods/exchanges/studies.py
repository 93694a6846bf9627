"""What site and coordinator of a study share: its design and promise, and what is wrong with its file."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from engine.errors import EngineError, InputRefused
from engine.methods.catalogue import method
from engine.methods.parameters import Problem
from engine.methods.protocol import MAIN, Method, Spends
from engine.methods.shared.site_files import ONE, OWN, Study, read_study
from engine.methods.shared.sums import is_summable
from engine.privacy.accuracy import noise_of
from engine.privacy.events import Event
from engine.privacy.gaussian import concentrated_epsilon
from engine.privacy.mechanisms.gaussian_share import GaussianShare
from engine.privacy.mechanisms.laplace_share import LaplaceShare, level_alone, shared
from engine.privacy.promise import Promise
from engine.table.schema import Schema
from engine.views import Cell, TableView, Text

WORDS = "methods.exchanges.share"
WORTH = 1.2
"""From so many times smaller errors on, keepers of masks are worth their trouble."""


def design_of(study: Study, own: Schema | None = None) -> Method:
    """Return the design of the release of a study.

    Parameters
    ----------
    study
        Says all that is computed.
    own
        Has the words for who is protected of whoever makes or reads the release; None: those of the study.

    Raises
    ------
    InputRefused
        ``plan.unknown_method``; ``sites.method``: another version of it, or none that can be added up;
        ``sums.other_totals``: it carries more or fewer totals than the rounds before have sums.
    """
    found = method(study.method)
    schemas = {name: one if own is None else one.called_as(own) for name, one in study.schemas.items()}
    request = found.make_request(schemas, study.parameters, budget=study.budget, sizes=study.sizes)
    design = found(request)
    if (
        found.version != study.method_version
        or found.spends is not Spends.CHOSEN
        or set(study.schemas) != {MAIN}
    ):
        raise InputRefused("sites.method", method=study.method)
    if not design.problems and (not is_summable(design) or study.rounds != max(len(design.rounds), 1)):
        raise InputRefused("sites.method", method=study.method)
    before = design.rounds[: study.round - 1] if not design.problems else ()
    if not design.problems and len(study.heard) != sum(sum(one.drawn().values()) for one in before):
        raise InputRefused("sums.other_totals")  # a round would be paid, and the sums of another one told
    if not design.problems and study.way == ONE:
        loss = paid_in(study, design).loss
        if loss is None or shared(loss.events, study.least) is None:
            raise InputRefused("sites.no_shares")
    return design


def paid_in(study: Study, design: Method) -> Promise:
    """Return what a site pays for the round of a study: what its method costs, or one round of it."""
    whole = design.cost
    if study.rounds == 1 or whole.loss is None:
        return whole
    events = design.rounds[study.round - 1]
    epsilon = events.epsilon()
    assert epsilon is not None  # Laplace noise alone
    return replace(whole, loss=replace(whole.loss, epsilon=epsilon, events=events))


def sums_in(study: Study, design: Method) -> int | None:
    """Return how many sums a round of a study has; None where there is one round, with all of them."""
    if study.rounds == 1:
        return None
    return sum(design.rounds[study.round - 1].drawn().values())


def study_problems(content: str) -> list[Problem]:
    """Say what is wrong with a study file, as problems of the parameter that holds it."""
    try:
        design = design_of(read_study(content.encode()))
    except EngineError as error:
        return [Problem(error.code, error.values, "study")]
    return [replace(one, parameter="study") for one in design.problems]


def promise_of(study: Study, inner: Promise, assumption: str) -> Promise:
    """Return the promise of a release of a study: that of its method, within one site."""
    further = ("least_honest", "holders_apart") if study.way == ONE else ()
    return replace(inner, assumptions=(*inner.assumptions, assumption, *further))


def level_of_share(study: Study, events: Event, *, whole: bool = False) -> float:
    """Return the level of one site's share by itself, should coordinator and all holders work together.

    Parameters
    ----------
    events
        What a site draws.
    whole
        Whether they are of all rounds together, else of this one.
    """
    of_share = shared(events, study.least)
    assert of_share is not None  # `design_of` looked
    cells = sum(study.cells) + (sum(one.size for one in study.heard) if whole else 0)
    leaves = [leaf for leaf, _ in of_share.leaves()]
    found = sum(level_alone(leaf, cells) for leaf in leaves if isinstance(leaf, LaplaceShare))
    rho = sum(float(leaf.parts * leaf.concentrated()) for leaf in leaves if isinstance(leaf, GaussianShare))
    return found + (concentrated_epsilon(rho=rho, delta=float(study.budget.delta)) if rho else 0.0)


def compare_ways(design: Method, sites: int) -> TableView:
    """Say what so many sites gain by one noise for all, from declarations alone, before anybody pays.

    Parameters
    ----------
    design
        Of the release that the sites make together.
    sites
        How many there are.
    """
    loss = design.cost.loss
    with noise_of(sites):
        own = design.but().forecast.errors
    has_shares = loss is not None and shared(loss.events, max(sites - 1, 1)) is not None
    with noise_of(Fraction(sites, max(sites - 1, 1))):  # every site knows its own share
        one = design.but().forecast.errors
    gains = has_shares and sites > 2
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (first.quantity, first.size, _digits(first.limit), _digits(second.limit) if gains else None)
        for first, second in zip(own, one, strict=True)
    )
    ratios = sorted(
        first.limit / second.limit for first, second in zip(own, one, strict=True) if second.limit
    )
    times = ratios[len(ratios) // 2] if ratios else 1.0
    verdict = (
        "two" if sites == 2 else "no_shares" if not has_shares else "little" if times < WORTH else "pays"
    )
    headings = tuple(Text(f"{WORDS}.ways.{name}") for name in ("what", "size", "own", "one"))
    told = {"sites": sites, "times": round(times, 1)}
    return TableView(Text(f"{WORDS}.ways.title"), headings, rows, Text(f"{WORDS}.ways.{verdict}", told))


def _digits(value: float) -> float:
    return float(f"{value:.3g}")


def trust_view(study: Study, *, whole: bool = False) -> TableView:
    """Say who learns what, what if they work together, and which level holds against them then.

    Parameters
    ----------
    whole
        Whether of all rounds of the study together, else of this one alone: that is what a share tells.
    """
    holder = ("holder",) if study.way == ONE else ()
    who = ("recipient", "coordinator", *holder, "sites", "together", "malicious")
    design = design_of(study)
    loss = design.cost.loss if whole else paid_in(study, design).loss
    assert loss is not None  # `design_of` looked
    level = _digits(float(loss.epsilon))
    alone = level if study.way == OWN else _digits(level_of_share(study, loss.events, whole=whole))
    rows = tuple(
        (
            Text(f"{WORDS}.trust.{name}"),
            Text(f"{WORDS}.trust.{study.way}.{name}", {"honest": study.least}),
            alone if name == "together" else level,
        )
        for name in who
    )
    headings = tuple(Text(f"{WORDS}.trust.{name}") for name in ("who", "learns", "level"))
    values = {"least": study.least, "holders": len(study.holders)}
    note = f"{WORDS}.trust.{study.way}.{'note_both' if study.are_both and all(study.are_both) else 'note'}"
    return TableView(Text(f"{WORDS}.trust.title"), headings, rows, Text(note, values))
