"""What a schema file says is kept, or refused by name: nothing is lost in silence."""

import pytest

from engine.errors import InputRefused
from engine.table.schema import COLUMN_MEMBERS, Schema
from engine.texts import explain

COLUMN = {"name": "age", "role": "identifying", "kind": "integer"}


@pytest.mark.parametrize(
    ("tree", "code", "named"),
    [
        ({"columns": [{**COLUMN, "hierachy": {"prefix": [1]}}]}, "schema.unknown_of_column", "hierachy"),
        ({"columns": [{**COLUMN, "bounds": [0, 120]}]}, "schema.unknown_of_column", "bounds"),
        ({"columns": [COLUMN], "rows_per_people": 3}, "schema.unknown", "rows_per_people"),
    ],
)
def test_what_nobody_knows_is_refused_by_name(tree, code, named):
    with pytest.raises(InputRefused) as refused:
        Schema.from_json(tree, file="schema.json")
    assert refused.value.code == code
    what, do = explain(refused.value)
    assert named in what and "schema.json" in what and "{" not in do


def test_a_name_that_is_very_long_is_cut():
    with pytest.raises(InputRefused) as refused:
        Schema.from_json({"columns": [{**COLUMN, "x" * 10_000: 1}]})
    assert len(explain(refused.value)[0]) < 300


def test_everything_that_is_written_is_known():
    from engine.table.hierarchies import Hierarchy
    from engine.table.schema import Column, Domain, Kind, Origin, Role

    full = Column(
        "age",
        Role.IDENTIFYING,
        Kind.CATEGORY,
        Domain(values=("ab", "cd")),
        Origin.DECLARED,
        ("9",),
        {"ab": "first"},
        Origin.COPIED,
        Hierarchy(prefix=(1,)),
        "What it means",
        "years",
    )
    (written,) = Schema((full,), 2).to_json()["columns"]
    assert set(written) == COLUMN_MEMBERS
    assert Schema.from_json(Schema((full,), 2).to_json()).columns == (full,)
