"""The whole answer: its limits, and what it refuses; against plain pandas in `test_real_tables.py`."""

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.risk.disclosure import disclosure
from engine.risk.encoding import encode
from engine.risk.groups import Missing
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.risk.tables import encoded


def test_weights_and_population_by_hand():
    frame = pd.DataFrame({"age": [1, 1, 2], "w": [10.0, 10.0, 5.0]})
    schema = Schema((Column("age", Role.IDENTIFYING, Kind.INTEGER), Column("w", Role.WEIGHT, Kind.NUMBER)))
    table = encode(Table(frame), schema)
    weighted = disclosure(table)
    assert weighted.population.known == "weights" and weighted.population.people == 25
    alone = 1 / 5 * np.log(5) / (4 / 5)  # π ln(1/π) / (1 − π) with π = 1/5
    assert weighted.population.journalist.highest == pytest.approx(alone)
    people = encoded({"age": [1] * 6 + [2] * 4 + [3]})
    found = disclosure(table, population=people).to_json()
    assert found["journalist_highest"] == 1 / 4
    assert found["presence"] == {"least": 0.0, "most": 2 / 6}
    assert found["population"] == 11
    sized = disclosure(table, population_size=300).to_json()
    assert sized["journalist_known"] == "size"
    assert sized["population_uniqueness"]["estimate"] is None  # one in a hundred: a range alone
    assert sized["population_uniqueness"]["low"] <= sized["population_uniqueness"]["high"]


def test_weights_of_people_with_several_rows_are_said_not_to_count():
    frame = pd.DataFrame({"age": [1, 1, 2], "w": [10.0, 10.0, 5.0], "p": [1, 1, 2]})
    columns = (Column("age", Role.IDENTIFYING), Column("w", Role.WEIGHT), Column("p", Role.PERSON_KEY))
    found = disclosure(encode(Table(frame), Schema(columns)))
    assert found.population is None and "weights_unused" in [one.code for one in found.findings]
    assert texts.text("risk.findings.weights_unused")


def test_a_missing_value_that_matches_hides_people():
    table = encoded({"a": [1, 1, None, 2], "b": ["x", "x", "x", "y"]})
    assert disclosure(table).alone == 2
    found = disclosure(table, missing=Missing.MATCHES)
    assert (found.smallest, found.alone, found.missing) == (1, 1, Missing.MATCHES)
    assert found.prosecutor.average == pytest.approx((3 * 1 / 3 + 1) / 4)


@pytest.mark.parametrize("spelt", [("1", "01"), ("+1", "1.0"), ("flu", "FLU")])
def test_of_whom_two_spellings_say_the_same_the_value_is_known(spelt):
    """Whoever reads that somebody has 1 or 01 knows the value."""
    said = [*spelt, *spelt, "b", "c", "b", "c"]
    table = encoded({"a": ["x"] * 4 + ["y"] * 4, "s": said}, sensitive=("s",))
    found = disclosure(table).diversity["s"]
    assert (found.distinct, found.homogeneous_people) == (1, 4)
    assert table.columns["s"].as_read.size == 3 and table.columns["a"].as_read is table.columns["a"]


def test_what_is_refused():
    with pytest.raises(InputRefused, match=r"risk\.nothing_identifying"):
        disclosure(encoded({"s": [1]}, sensitive=("s",)))
    with pytest.raises(InputRefused, match=r"risk\.empty"):
        disclosure(encoded({"a": []}))
    with pytest.raises(InputRefused, match=r"risk\.population_size"):
        disclosure(encoded({"a": [1, 2]}), population_size=1)


def test_a_single_row_and_many_columns():
    assert disclosure(encoded({"a": [1], "s": ["x"]}, sensitive=("s",))).to_json()["alone"] == 1
    wide = encoded({f"c{i}": [1, 2, 2] for i in range(210)})
    found = disclosure(wide)
    assert [one.code for one in found.findings if one.code == "fewer_sets"]
    assert found.uniques.by_size[1] == 210


def test_every_finding_has_its_sentence():
    table = encoded({"a": [1, 1, None], "s": ["x", "x", "y"]}, sensitive=("s",))
    outside = encoded({"a": [1]})
    found = [*disclosure(table, population=outside).findings, *disclosure(encoded({"a": [1]})).findings]
    codes = {one.code for one in found}
    assert codes == {"alone", "homogeneous", "missing", "not_in_population", "nothing_sensitive"}
    for one in found:
        assert texts.text(f"risk.findings.{one.code}", **one.values)


def test_rows_are_not_shown():
    assert "Podiatry" not in repr(encoded({"a": ["Podiatry"]}))
    assert "Podiatry" not in repr(disclosure(encoded({"a": ["Podiatry"]})))
