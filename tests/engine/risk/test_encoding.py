"""A column as codes: what reads alike is one value."""

import pandas as pd
import pytest

from engine.risk.encoding import encode_column
from engine.table.schema import Column, Kind


@pytest.mark.parametrize("missing", [(), ("?",)])
def test_blanks_around_a_text_make_no_other_value(missing):
    found = encode_column(pd.Series([" x", "y", "x", None, "x ", " "]), Column("s", missing=missing))
    assert found.texts == ("x", "y", "") and found.codes.tolist() == [0, 1, 0, 2, 0, 2]
    assert found.size == 3 and found.missing == 2


def test_missing_codes_of_numbers_are_missing():
    found = encode_column(pd.Series([3.0, -9.0, 1.0]), Column("n", kind=Kind.INTEGER, missing=(" -9 ",)))
    assert found.values == (3.0, 1.0, None) and found.codes.tolist() == [0, 2, 1]
