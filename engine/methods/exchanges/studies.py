"""What site and coordinator of a study share: its design and promise, and what is wrong with its file."""

from __future__ import annotations

from dataclasses import replace

from engine.errors import EngineError, InputRefused
from engine.methods.catalogue import method
from engine.methods.parameters import Problem
from engine.methods.protocol import MAIN, Method, Spends
from engine.methods.shared.site_files import ONE, Study, read_study
from engine.methods.shared.sums import is_summable
from engine.privacy.mechanisms.laplace_share import shared
from engine.privacy.promise import Promise
from engine.table.schema import Schema
from engine.views import TableView, Text

WORDS = "methods.exchanges.share"


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
        ``plan.unknown_method``; ``sites.method``: another version of it, or none that can be added up.
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
    if not design.problems and not is_summable(design):
        raise InputRefused("sites.method", method=study.method)
    if not design.problems and study.way == ONE:
        loss = design.cost.loss
        if loss is None or shared(loss.events, study.least) is None:
            raise InputRefused("sites.no_shares")
    return design


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


def trust_view(study: Study) -> TableView:
    """Say who learns what, and what if they work together."""
    holder = ("holder",) if study.way == ONE else ()
    who = ("recipient", "coordinator", *holder, "sites", "together", "malicious")
    rows = tuple((Text(f"{WORDS}.trust.{name}"), Text(f"{WORDS}.trust.{study.way}.{name}")) for name in who)
    headings = (Text(f"{WORDS}.trust.who"), Text(f"{WORDS}.trust.learns"))
    values = {"least": study.least, "holders": len(study.holders)}
    return TableView(
        Text(f"{WORDS}.trust.title"), headings, rows, Text(f"{WORDS}.trust.{study.way}.note", values)
    )
