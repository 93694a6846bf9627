"""All that is said about a release and reads no row: worked out before anything is reserved.

What fails here costs nothing. The same values go into the evidence and the reports afterwards, so that
nothing about them is worked out when the noise has been paid for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from engine.errors import Cancelled, EngineError, InputRefused
from engine.methods.protocol import MAIN, Forecast, Method
from engine.numbers import plain
from engine.pricing.price import AllowedLevels
from engine.pricing.statement import price_statement, privacy_statement
from engine.privacy.promise import Promise
from engine.release import bundle
from engine.release.levels import allowed_levels
from engine.release.plan import Plan
from engine.table.fitting import list_declared
from engine.table.schema import Column, Role, Schema


@dataclass(frozen=True)
class Foreseen:
    """The promise of the files, its privacy statement, the price in every form, and the forecast.

    What the files promise is what the ledger is charged, but for a service: a visit's folder holds answers
    that were paid for before, and its price is that of all the service may tell.
    """

    promise: Promise
    statement: Mapping[str, Any]
    price: Mapping[str, Any]
    forecast: Forecast


def foresee(plan: Plan, design: Method) -> Foreseen:
    """Work out everything that is said of a checked plan without its rows.

    Raises
    ------
    InputRefused
        ``run.not_computable`` names the part, or whatever that part refuses; ``bundle.not_checkable`` where
        the evidence would be larger than what is read when it is checked.
    """
    with worked_out("statement"):
        stated = design.stated
        statement = privacy_statement(stated, read_at=plan.price.bound)
    with worked_out("price"):
        price = price_plan(plan, design.priced)
    with worked_out("forecast"):
        forecast = design.forecast
    found = Foreseen(stated, statement, price, forecast)
    trees: dict[str, Any] = {
        "plan": plan.to_json(),
        "promise": stated.to_json(),
        "statement": statement,
        "price": price,
    }
    trees["columns"] = [line for one in design.sources_read for line in columns_told(plan, design, one.name)]
    size = 0
    for part, tree in {**trees, "forecast": forecast}.items():
        with worked_out(part):
            size += len(bundle.json_bytes(tree))
    bundle.refuse_uncheckable(bundle.EVIDENCE, size)  # the internal evidence holds all of this, and more
    return found


def columns_told(
    plan: Plan, design: Method, source: str, *, leaving: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """Return the columns of a source that had a part, as schema JSON, of each what had a part in the release.

    Missing codes, and labels of values that are none, may name somebody and say nothing of what leaves. No
    value is told of a column that names people, at which only a step looks, or that is not among those that
    are leaving where these are known: the list could be that of all people.
    """
    used = list(design.uses.get(source, ()))
    told = set(used) if leaving is None else set(leaving)
    steps = [str(step[name]) for step in plan.steps_of(source) for name in ("column", "to") if name in step]
    prepared = {column.name: column for column in plan.prepared(source).columns}
    named = {column.name: column for column in plan.schemas.get(source, Schema()).columns} | prepared
    kept = tuple(
        _tell(named[name], has_part=name in told) for name in dict.fromkeys([*used, *steps]) if name in named
    )
    lines: list[dict[str, Any]] = Schema(kept).to_json()["columns"]
    return lines if source == MAIN else [line | {"source": source} for line in lines]


def _tell(column: Column, *, has_part: bool) -> Column:
    if not has_part or column.role in (Role.PERSON_KEY, Role.DIRECT_IDENTIFIER):
        bare = Column(column.name, role=column.role, kind=column.kind)
        return replace(bare, meaning=column.meaning, unit=column.unit)
    declared = column.without_copied()
    values_of = set(list_declared(declared))
    labels = {value: label for value, label in declared.labels.items() if value in values_of}
    return replace(declared, missing=(), missing_origin=None, labels=labels)


@contextmanager
def worked_out(part: str) -> Iterator[None]:
    """Turn an overflow, a number that is none, or whatever else fails before anything is paid, into words.

    Raises
    ------
    InputRefused
        ``run.not_computable`` with the part and the kind of failure.
    """
    try:
        yield
    except (EngineError, Cancelled):
        raise
    except Exception as error:
        raise InputRefused("run.not_computable", part=part, reason=type(error).__name__) from error


def price_plan(plan: Plan, promise: Promise) -> dict[str, Any]:
    """Return the price in every form, and which levels the budget and the accuracy left to choose from."""
    found = price_statement(promise, plan.price)
    # A visit chooses no level: it was chosen when the service was opened.
    allowed = AllowedLevels() if plan.step else allowed_levels(plan)
    if not found or allowed == AllowedLevels():
        return found
    ends = {"lower": plain(allowed.lower), "upper": plain(allowed.upper), "reason": allowed.reason}
    return found | {"window": ends}
