"""Whatever the bytes, a file is read or refused in words: no other exception, no finding without words."""

import pandas as pd
import pyarrow
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine.errors import InputRefused
from engine.table.inspection import inspect_table
from engine.table.reading.readers import detect, read_table
from engine.texts import explain
from tests.examples import many

WORDS = [
    *(
        b"",
        b" ",
        b"1",
        b"-9",
        b"1,5",
        b"1.234,5",
        b"01",
        b"31.12.2020",
        b"12/31/20",
        b"2020-02-30",
        b"?",
        b"NA",
    ),
    *(
        b'"a\nb"',
        b'"open',
        b'say ""x""',
        b"=1+1",
        b"K\xf6ln",
        "Köln".encode(),
        b"x\0y",
        b"nan",
        b"inf",
        b"1e999",
    ),
    *(b"9" * 25, b"\\", b"'q'", b"[0-10)", b"a@b.de", b"True", b"\xff\xfe", b"99999999999999999999.5"),
]
CELLS = st.one_of(
    st.sampled_from(WORDS),
    st.binary(max_size=6),
    st.text(max_size=6).map(str.encode),
    st.integers().map(lambda value: str(value).encode()),
    st.floats().map(lambda value: repr(value).encode()),
)


@st.composite
def files(draw):
    delimiter = draw(st.sampled_from([b",", b";", b"\t", b"|"]))
    end = draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    width = draw(st.integers(1, 4))
    ragged = draw(st.booleans())
    rows = []
    for _ in range(draw(st.integers(0, 8))):
        count = draw(st.integers(0, 6)) if ragged else width
        rows.append(delimiter.join(draw(st.lists(CELLS, min_size=count, max_size=count))))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf", b"title" + end])) + end.join(rows)


@pytest.mark.guarantee
@settings(max_examples=many(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(files(), st.binary(max_size=200)))
@example(content=b"\xff\xfe")
@example(content=b'"')
@example(content=b"PK\x03\x04")
@example(content=b"a,b\n\x00\n")
def test_read_or_refused(tmp_path, content):
    path = tmp_path / "any.csv"
    path.write_bytes(content)
    try:
        detect(path)
        table = read_table(path)
    except InputRefused as error:
        assert all(explain(error))
        return
    assert table.n_rows > 0 and len(set(table.names)) == len(table.names)
    assert all(storage in ("integer", "number", "date", "text") for storage in table.storage.values())
    found = inspect_table(table)
    assert all(problem["what"] for problem in found["problems"]) and len(found["columns"]) == len(table.names)


@settings(max_examples=many(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=files())
@example(content=b' \n"open')
@example(content=b'a,b\n1,2\n3,"open')
@example(content=b'a,b\n1,2\n3,"')
@example(content=b'a,b\r1,2\r3,"open')
@example(content=b'a,b\n1,"open\r')
def test_the_patient_way_reads_the_same(tmp_path, content):
    def patient(*_):
        raise pyarrow.ArrowInvalid("not regular")

    path = tmp_path / "any.csv"
    path.write_bytes(content)
    try:
        fast = read_table(path)
    except InputRefused:
        return
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("engine.table.reading.text._fast", patient)
        slow = read_table(path)
    pd.testing.assert_frame_equal(fast.rows(), slow.rows())
    assert fast.findings == slow.findings


@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_comes_back(tmp_path, seed):
    import numpy as np

    made = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "whole": made.integers(-(10**12), 10**12, 50),
            "number": np.round(made.normal(size=50), 6),
            "gaps": np.where(made.random(50) < 0.3, np.nan, made.integers(0, 9, 50)),
            "text": made.choice(["plain", 'quo"ted', "semi;colon", "com,ma", "line\nend", "Größe"], 50),
            "day": pd.to_datetime(made.integers(0, 20_000, 50), unit="D").astype("datetime64[us]"),
        }
    )
    for separator in ",;\t|":
        path = tmp_path / "any.csv"
        frame.to_csv(path, index=False, sep=separator)
        read = read_table(path).rows()
        pd.testing.assert_frame_equal(read, frame.astype({"text": "str"}))
