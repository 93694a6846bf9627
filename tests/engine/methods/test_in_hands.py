"""What a recipient holds: every way belongs to one thing, and each thing has one usual way."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any, ClassVar

import pytest

from engine.methods.catalogue import method, methods
from engine.methods.fitting import lacks, stand_in, usable_columns
from engine.methods.kinds import Family, Held, Rows
from engine.methods.protocol import Method
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema

KINDS = (Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER, Kind.NUMBER, Kind.DATE, Kind.MOMENT)


def table(*kinds: Kind, declared: bool = False) -> Schema:
    """Return a schema with two columns of each kind, without values or with."""
    columns = [
        Column(f"{kind}_{letter}", Role.IDENTIFYING, kind) for kind in kinds for letter in ("one", "two")
    ]
    return Schema(tuple(map(stand_in, columns)) if declared else tuple(columns), one_row_each=True)


@pytest.mark.parametrize("held", Held)
def test_each_thing_has_ways_and_one_that_is_usual(held: Held) -> None:
    found = [one for one in methods() if one.in_hands() is held]
    assert found
    assert [one.usual for one in found].count(True) == 1, [one.id for one in found]


def test_every_way_belongs_to_one_thing_by_its_declaration_alone() -> None:
    """What is declared of rows and family decides, so that another file adds a way to its thing."""
    for one in methods():
        held = one.in_hands()
        assert isinstance(held, Held), one.id
        if one.family is Family.DATASET:
            assert held in (Held.COARSER, Held.INVENTED, Held.REAL), one.id
            assert (held is Held.INVENTED) == (one.rows is Rows.SYNTHETIC), one.id
        else:
            assert one.rows is Rows.NONE, one.id

    class Another(method("statistics.counts")):  # type: ignore[misc]
        held: ClassVar[Held | None] = Held.AVERAGES

    assert Another.in_hands() is Held.AVERAGES and issubclass(Another, Method)


@pytest.mark.parametrize("one", methods(), ids=lambda one: one.id)
def test_what_a_table_lacks_is_what_the_form_would_refuse(one: Any) -> None:
    """Said before choosing, it is true of the form: no column of the table fits what is named."""
    for size in range(1, len(KINDS) + 1):
        for kinds in combinations(KINDS, size):
            for declared in (False, True):
                found = lacks(one, table(*kinds, declared=declared))
                if found is not None:
                    parameter = next(each for each in one.parameters if each.name == found.parameter)
                    assert found.kinds == parameter.column_kinds
                    few = found.wanted > sum(2 for kind in kinds if kind in found.kinds or not found.kinds)
                    assert few or parameter.column_roles, (one.id, kinds, found)
    assert lacks(one, table(*KINDS)) is None or one.id == "datasets.anatomy", "a table with all kinds has all"


def test_what_the_rows_hold_is_never_a_stand_in() -> None:
    copied = Column(
        "ward", Role.PLACE, Kind.CATEGORY, domain=Domain(values=("secret",)), domain_origin=Origin.COPIED
    )
    assert stand_in(copied).domain == Domain(values=("A", "B"))
    declared = replace(copied, domain_origin=Origin.DECLARED)
    assert stand_in(declared) == declared
    named = replace(declared, role=Role.DIRECT_IDENTIFIER)
    assert usable_columns(Schema((named, declared))) == (declared,)
