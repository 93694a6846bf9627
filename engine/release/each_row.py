"""That every row is another person: said by the custodian, and asked the reason of where a column denies it.

A promise without a person key is about rows; it holds for people only if nobody has two. Releases that no
bounded loss is promised of are compared with their rows. Where a loss is bounded, a refusal that depends on
the rows would itself tell of them, so there only the declarations are looked at: whoever runs a plan from its
file gives a reason, and the window, whose custodian sees the counts anyway, asks on the screen of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.errors import InputRefused
from engine.methods.protocol import MAIN, Method
from engine.privacy.promise import Unit
from engine.release.decisions import ONE_ROW_EACH, reason_for
from engine.release.plan import Plan
from engine.release.reading import PreparedTable
from engine.table.schema import Role, Schema
from engine.table.suggest.key_candidate import KeyCandidate
from engine.table.suggest.keys import is_numbered_person, key_candidates
from engine.table.suggest.suggest import suggest
from engine.table.table import Table
from engine.views import Text


def is_said(plan: Plan, design: Method) -> bool:
    """Say whether a release counts on every row being another person, because the custodian said so."""
    reads = MAIN in design.request.private
    return reads and plan.schema.one_row_each and design.request.unit is Unit.ROW


def declared_against(schema: Schema) -> tuple[str, ...]:
    """Return the columns that by their declaration could tell whose a row is; no row is read.

    Examples
    --------
    >>> from engine.table.schema import Column
    >>> columns = (Column("case_no", Role.DIRECT_IDENTIFIER), Column("person_number"), Column("age"))
    >>> declared_against(Schema(columns, one_row_each=True))
    ('case_no', 'person_number')
    """
    return tuple(
        one.name
        for one in schema.columns
        if one.role in (Role.DIRECT_IDENTIFIER, Role.PERSON_KEY) or is_numbered_person(one.name)
    )


def counted_against(table: Table) -> tuple[KeyCandidate, ...]:
    """Return the columns whose repeated values contradict that every row is another person, ranked.

    Parameters
    ----------
    table
        The custodian's table as it is prepared; its rows are read. What is returned is internal.
    """
    return tuple(one for one in key_candidates(table, suggest(table)) if one.repeats)


def reason_given(plan: Plan) -> str:
    """Return why every row is another person although a column denies it; nothing where none was given."""
    return reason_for(plan.decisions, ONE_ROW_EACH)


def refuse_undeclared(plan: Plan, design: Method, names: Iterable[str] = ()) -> None:
    """Refuse that every row is another person where a declared column could deny it, and no reason is given.

    Reads no row. For plans that are run or checked from their file.

    Parameters
    ----------
    plan, design
        What is to be released.
    names
        Of all columns of the table, once it is opened: a plan need not declare those that it does not use.

    Raises
    ------
    InputRefused
        ``run.one_row_each`` names the first such column.
    """
    declared = {one.name for one in plan.schema.columns}
    others = (name for name in names if name not in declared and is_numbered_person(name))
    found = (*declared_against(plan.schema), *others)
    if found and is_said(plan, design) and not reason_given(plan):
        raise InputRefused("run.one_row_each", column=found[0], count=len(found), decision=ONE_ROW_EACH)


def refuse_counted(plan: Plan, design: Method, prepared: Mapping[str, PreparedTable]) -> None:
    """Refuse that every row is another person where the rows deny it, and no reason is given.

    Only for releases that no bounded loss is promised of. Before anything is reserved.

    Raises
    ------
    InputRefused
        ``run.one_row_each_counted`` names the likeliest such column, with its counts.
    """
    asked = is_said(plan, design) and design.cost.loss is None and MAIN in prepared
    if not asked or reason_given(plan):
        return
    found = counted_against(prepared[MAIN].table)
    if found:
        first = found[0]
        values = {"column": first.column, "numbers": first.people, "rows": first.rows}
        raise InputRefused("run.one_row_each_counted", **values, decision=ONE_ROW_EACH)


def notes(plan: Plan, design: Method) -> tuple[Text, ...]:
    """Return what the recipient is told where rows count as people for a reason although a column denies it.

    Names neither the column nor a count.
    """
    if not is_said(plan, design) or not reason_given(plan):
        return ()
    return (Text("report.columns.one_row_each"),)
