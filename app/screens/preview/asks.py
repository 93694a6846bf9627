"""What the preview asks the engine for, all of it without a row; and a few lines of what leaves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.work.deciding import existing
from app.work.releasing import beside_its_table
from engine.errors import EngineError
from engine.ledger import Entry, Ledger
from engine.methods.protocol import Expected, Rows, TableArtefact
from engine.release.plan import Plan
from engine.views import TableView, Text, View, is_weak

SHOWN, FURTHER = 7, 4  # lines of the first table that leaves, and of the others
BEFORE = 3  # of them before the first without information


FITTED = ("prediction", "coefficient", "score")  # errors of what was fitted on so many rows


@dataclass(frozen=True)
class Ahead:
    """What is known before a release: the ledger's answer, the sentence, the verdict, the shape.

    ``held`` says how the rows will be held that memory does not hold, or of which there is a sample.
    ``begun`` are entries of the ledger by which this very plan has spent something or was released already.
    """

    preview: Any
    statement: dict[str, Any] = field(default_factory=dict)
    verdict: Any = None
    remedies: tuple[Any, ...] = ()
    mock: Any = None
    beyond: dict[str, dict[str, Any]] = field(default_factory=dict)
    unknown: dict[str, dict[str, Any]] = field(default_factory=dict)
    named: dict[str, dict[str, Any]] = field(default_factory=dict)
    attack: Text | None = None
    held: tuple[Text, ...] = ()
    begun: tuple[Entry, ...] = ()


def look_ahead(
    plan: Plan,
    ledger_path: Path | None,
    places: tuple[Path, ...] = (),
    table: Any = None,
    refused: frozenset[str] = frozenset(),
) -> Ahead:
    """Return all that a plan says of its release; nothing is reserved or spent.

    ``places`` are folders where earlier releases may lie. What the ledger does not know of them is
    ``unknown``, by the decision that it takes to release all the same. Columns of the ``table`` that name
    people and would leave in rows are ``named``, likewise; of other releases no row is read.
    ``refused`` are decisions without whose reason a release was refused already.
    """
    from engine.pricing.beyond import beyond
    from engine.pricing.statement import privacy_statement
    from engine.release.foreseen import price_plan
    from engine.release.mock import mock
    from engine.release.preview import preview
    from engine.release.reading import pin_beside
    from engine.release.served import Tier, served
    from engine.release.verdict import remedies, verdict

    ledger = existing(ledger_path)
    moved, base = beside_its_table(plan)
    pinned = pin_beside(moved, base=base).fingerprint
    found = preview(plan, ledger, waits_as=pinned)
    design, begun = found.design, _begun(ledger, pinned)
    if found.promise is None or design is None:
        return Ahead(found, begun=begun)
    statement = privacy_statement(found.promise, read_at=plan.price.bound)
    tried = mock(plan)
    judged = verdict(plan, found.forecast, tried)
    better = remedies(plan) if judged is not None and judged.is_useless else ()
    priced_at = price_plan(plan, found.promise) if found.promise.loss is not None else {}
    unknown = _unknown(plan, ledger, places, found.design, refused)
    named = _named(found.design, table)
    attack = _attack(plan, table)
    stated = beyond(priced_at)
    made = Ahead(found, statement, judged, better, tried, stated, unknown, named, attack, begun=begun)
    try:
        each = served(moved, design, base=base).values()
    except EngineError as error:
        return replace(made, preview=replace(found, problems=(*found.problems, error)))
    held = (one.said for one in each if one.tier is Tier.STORE or one.sample is not None)
    return replace(made, held=tuple(held))


def _begun(ledger: Ledger | None, fingerprint: str) -> tuple[Entry, ...]:
    """Return the entries of one plan that count; what only waits or is reserved is not among them.

    What is spent already is, though its process goes on: it may be one that could not be closed.
    """
    found = () if ledger is None else ledger.entries()
    begun = (one for one in found if one.counts and one.plan == fingerprint and one.state != "prepared")
    return tuple(one for one in begun if not (one.running and one.state == "reserved"))


def _attack(plan: Plan, table: Any) -> Text | None:
    """Return what an attack on the rows reads that would leave, in a sentence; None where none is run."""
    from engine.methods.catalogue import method
    from engine.methods.trying import Attacked
    from engine.release.trial import trial

    if table is None or not method(plan.method).contracted:
        return None
    found = trial(plan, table)
    answers = () if found is None else found.answers
    return next((one.said for one in answers if isinstance(one, Attacked)), None)


def _named(design: Any, table: Any) -> dict[str, dict[str, Any]]:
    """Return the columns that name people and would leave, by the decision to let them."""
    from engine.release.decisions import decision_about
    from engine.release.naming import is_asked, naming

    if table is None or not is_asked(design, design.cost):
        return {}
    found = naming(table, design)
    return {decision_about(one.column): {"column": one.column, "why": one.why.value} for one in found}


def _unknown(
    plan: Plan, ledger: Any, places: tuple[Path, ...], design: Any, refused: frozenset[str]
) -> dict[str, dict[str, Any]]:
    """Return what a release would be stopped by, unless a reason is given: see the modules."""
    from engine.ledger.remembered import OLDER
    from engine.release.earlier import EARLIER_MISSING, missing_releases
    from engine.release.nearby import PUT_BACK, describe_forgotten, older, unexplained_bundles
    from engine.release.pseudonyms import KEY_ELSEWHERE, elsewhere
    from engine.release.rows_beside import ROWS_BESIDE, beside

    found = {KEY_ELSEWHERE: elsewhere(plan, ledger, design, was_refused=KEY_ELSEWHERE in refused)}
    if ledger is not None:
        forgotten = unexplained_bundles(ledger, places)
        found |= {EARLIER_MISSING: missing_releases(plan, ledger, places=places), OLDER: older(ledger)}
        if ROWS_BESIDE in refused:
            found |= {ROWS_BESIDE: beside(plan, ledger, design, places=places, was_refused=True)}
        found |= {PUT_BACK: describe_forgotten(forgotten)} if forgotten else {}
    return {name: values for name, values in found.items() if values}


@dataclass(frozen=True)
class Lines:
    """Some lines of a table that leaves: the view, the first line (from 1), how many lines it has in all."""

    view: TableView
    first: int
    of: int
    file: str


def shapes(mock: Any, *, rows: Rows) -> tuple[list[Lines], list[View]]:
    """Return the tables that leave, a few lines of each, and the views that are drawings or numbers.

    A table is shown as the release shows it where it does, with its labels and brackets; otherwise as it is
    written into its file.
    """
    views = [view for view in mock.views if isinstance(view, TableView)]
    drawn = [view for view in mock.views if not isinstance(view, TableView)]
    from engine.report.content.results import put_margins_beside

    found: list[Lines] = []
    for artefact in mock.artefacts:
        if not isinstance(artefact, TableArtefact):
            continue
        lines = len(artefact.frame)
        named = [view for view in views if len(view.rows) == min(lines, 500) and rows is Rows.NONE]
        view = named[0] if named else _as_written(artefact)
        views = [other for other in views if other is not view]
        most = FURTHER if found else SHOWN
        found.append(_some(quoted(put_margins_beside(view)), lines, artefact.files[0], most))
    models = [] if any(isinstance(one, TableArtefact) for one in mock.artefacts) else [*views, *drawn]
    return found, [quoted(one) for one in models]


def quoted(view: Any) -> Any:
    """Return a view with its note as what the release will say: nothing has been drawn or read before it."""
    note = getattr(view, "note", None)
    return view if note is None else replace(view, note=Text("app.preview.shape.says", {"note": note}))


def _as_written(artefact: TableArtefact) -> TableView:
    frame = artefact.frame.head(SHOWN).astype(object)
    rows = tuple(
        tuple(None if one != one else one for one in row) for row in frame.itertuples(index=False, name=None)
    )
    return TableView(artefact.name, tuple(str(name) for name in frame.columns), rows)


def _some(view: TableView, lines: int, file: str, most: int) -> Lines:
    weak = next((place for place, row in enumerate(view.rows) if any(map(is_weak, row))), 0)
    first = max(0, min(weak - BEFORE, len(view.rows) - most))
    return Lines(replace(view, rows=view.rows[first : first + most]), first + 1, lines, file)


def error_lines(errors: tuple[Expected, ...]) -> list[tuple[Text, str, Expected, Expected]]:
    """Return the expected errors with those together that differ in the size of the group alone.

    Each is the quantity, ``"same"``, ``"sizes"`` or ``"one"``, and the errors of the smallest and the largest
    group: the same for all sizes, different, or without any.
    """
    together: dict[str, list[Expected]] = {}
    for error in errors:
        together.setdefault(f"{error.quantity}{error.of}{error.unit}", []).append(error)
    found = []
    for group in together.values():
        sized = [one for one in group if one.size is not None]
        if len(sized) < 2:
            found += [(one.quantity, "one" if one.size is None else "size", one, one) for one in group]
        else:
            same = len({one.limit for one in sized}) == 1
            kind = "same" if same else "fitted" if group[0].of in FITTED else "sizes"
            found.append((group[0].quantity, kind, sized[0], sized[-1]))
    return found
