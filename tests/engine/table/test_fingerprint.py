"""Fingerprints do not depend on order, and digests on the storage of the person key."""

import hmac

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.table.fingerprint import fingerprint, person_digests, schema_fingerprint
from engine.table.schema import Column, Role, Schema
from engine.table.table import Table

KEY = bytes(range(32))
FRAME = pd.DataFrame({"a": [1, 2, 2, 5], "b": ["x", None, "y", "x"], "c": [0.5, np.nan, 1.0, 2.0]})


def test_order_of_rows_and_columns_does_not_matter():
    other = FRAME.sample(frac=1, random_state=1)[["c", "a", "b"]]
    assert fingerprint(Table(other)) == fingerprint(Table(FRAME))
    assert fingerprint(Table(FRAME.astype({"a": float}))) == fingerprint(Table(FRAME))


@pytest.mark.parametrize(
    "other",
    [
        FRAME.iloc[:3],
        pd.concat([FRAME, FRAME.iloc[:1]]),
        FRAME.assign(a=[1, 2, 2, 6]),
        FRAME.assign(a=[2, 1, 2, 5]),
        FRAME.rename(columns={"a": "z"}),
        FRAME.rename(columns={"a": "c", "c": "a"}),
        FRAME.assign(b=["x", "", "y", "z"]),
    ],
)
def test_any_other_table_has_another(other):
    assert fingerprint(Table(other)) != fingerprint(Table(FRAME))


def test_it_is_kept_across_versions():
    # Ledgers on disk hold fingerprints: a change of this figure makes known tables unknown.
    assert fingerprint(Table(FRAME)) == EXPECTED
    assert schema_fingerprint(Table(FRAME)) == schema_fingerprint(Table(FRAME[["c", "b", "a"]].iloc[:1]))


def test_digests_by_hand():
    schema = Schema((Column("p", Role.PERSON_KEY, missing=("-1",)),))
    expected = {hmac.digest(KEY, key.encode(), "sha256") for key in ("7", "9")}
    for values in ([7, 9, 7, -1], [7.0, 9.0, np.nan, -1.0], ["7", " 9 ", "7", ""]):
        found = list(person_digests(Table(pd.DataFrame({"p": values})), schema, key=KEY))
        assert set(found) == expected and len(found) == 2


def test_without_a_person_key_there_is_nothing_to_digest():
    assert list(person_digests(Table(FRAME), Schema(), key=KEY)) == []


def test_refusals():
    schema = Schema((Column("p", Role.PERSON_KEY),))
    with pytest.raises(InputRefused):
        list(person_digests(Table(FRAME), schema, key=KEY))
    with pytest.raises(ValueError, match="16 bytes"):
        list(person_digests(Table(FRAME), schema, key=b"short"))


EXPECTED = "e694d11288e0070952cd54723b483e07c87a1afffc7172643fd837f690d2c5b4"
