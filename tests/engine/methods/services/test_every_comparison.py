"""What a condition says wrongly is refused before a row is read, whether it matters or not."""

from fractions import Fraction

import pytest

from engine.errors import InputRefused
from engine.methods.conditions import parse
from engine.methods.services.questions import Question
from engine.table.schema import Column, Domain, Kind, Origin, Schema

SCHEMA = Schema(
    (
        Column("ward", kind=Kind.ORDINAL, domain=Domain(values=("a", "b")), domain_origin=Origin.DECLARED),
        Column(
            "age", kind=Kind.INTEGER, domain=Domain(Fraction(0), Fraction(9)), domain_origin=Origin.DECLARED
        ),
    )
)


@pytest.mark.parametrize(
    "where", ["ward below x and age below 0", "age at least 0 and age below 0 and ward is x"]
)
def test_a_value_that_was_not_declared_is_refused_beside_what_nobody_fulfils(where: str) -> None:
    with pytest.raises(InputRefused) as refused:
        Question(parse(where), SCHEMA).canonical  # noqa: B018
    assert refused.value.code == "services.private_queries.undeclared"
