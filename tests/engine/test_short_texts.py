"""Short texts as numbers: the same numbers and hashes as one by one, in whatever pieces they come."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import short_texts
from engine.short_texts import FEW, LONGEST_SHORT, Numbering, hash_texts
from engine.table.encoded import Encoded, Gathering
from engine.table.fingerprint import Tracing, fingerprints
from engine.table.table import Table
from tests.examples import many

TEXTS = st.text(st.sampled_from("aäé中0\0 "), max_size=LONGEST_SHORT + 4)
CELLS = st.one_of(st.none(), TEXTS, st.sampled_from(["a", "b", "", "7", "7.0"]))
PIECES = st.lists(st.lists(CELLS, max_size=12), max_size=4)
KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=16, max_size=16)


@settings(max_examples=many(80), deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=20), key=KEYS, few=st.sampled_from([0, 10, FEW]))
def test_texts_are_hashed_as_pandas_hashes_them_one_by_one(texts, key, few):
    """By these hashes ledgers know people: another one for any text would know nobody again."""
    expected = pd.util.hash_array(np.array(texts, dtype=object), hash_key=key, categorize=False)
    apart = pa.chunked_array([texts[:1], [], texts[1:]], pa.large_string())
    with patch.object(short_texts, "FEW", few):  # as many at once as they are, or one by one
        assert hash_texts(pa.array(texts), key).tolist() == expected.tolist()
        assert hash_texts(apart, key).tolist() == expected.tolist()


@pytest.mark.parametrize("few", [0, FEW])
def test_a_text_that_is_missing_has_no_hash(few, monkeypatch):
    monkeypatch.setattr(short_texts, "FEW", few)
    with pytest.raises(ValueError, match="missing"):
        hash_texts(pa.array(["a", None]), "k" * 16)


@pytest.mark.parametrize("collides", [False, True])
@settings(max_examples=many(40), deadline=None)
@given(pieces=st.lists(st.lists(st.integers(0, 30), max_size=40), max_size=5))
def test_pairs_are_numbered_as_they_come(collides, pieces):
    """Also where every pair has the same hash: the pairs themselves decide."""
    numbering, known = Numbering(), dict[int, int]()
    with pytest.MonkeyPatch.context() as patched:
        if collides:
            patched.setattr(short_texts, "hash_pairs", lambda words: words[0] * np.uint64(0))
        for piece in pieces:
            new = [at for at, one in enumerate(piece) if one not in known and one not in piece[:at]]
            expected = [known.setdefault(one, len(known)) for one in piece]
            words = np.array(piece, np.uint64) // np.uint64(7), np.array(piece, np.uint64) % np.uint64(7)
            places, firsts = numbering.add(words)
            assert (places.tolist(), firsts.tolist()) == (expected, new) and numbering.count == len(known)


@settings(max_examples=many(80), deadline=None)
@given(pieces=PIECES)
def test_a_column_that_comes_in_pieces_is_the_whole_column(pieces):
    """Missing cells and long ones too, whichever piece they are in; and so are its fingerprints."""
    gathering, traced = Gathering(), Tracing()
    for piece in pieces:
        cells = pa.chunked_array([piece], pa.large_string())
        table = Table(pd.DataFrame({"a": pd.Series(piece, dtype="str")}))
        traced.add(table, gathered={"a": gathering.add(cells)})
    cells = [cell for piece in pieces for cell in piece]
    expected, found = Encoded.of(pa.array(cells, pa.large_string())), gathering.found()
    assert found.distinct.to_pylist() == expected.distinct.to_pylist()
    assert found.places.tolist() == expected.places.tolist()
    if pieces:
        whole = fingerprints(Table(pd.DataFrame({"a": pd.Series(cells, dtype="str")})))
        assert traced.found().fingerprint == whole.fingerprint
        assert traced.found().contents.tolist() == whole.contents.tolist()
