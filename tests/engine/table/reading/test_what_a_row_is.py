"""What a plan says of a file decides what a row is: nothing that stands in one line changes another one."""

import gc
import random
from dataclasses import replace

import pandas as pd
import pyarrow
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine.errors import InputRefused
from engine.methods.protocol import MAIN
from engine.release import reading
from engine.release.plan import FileReference
from engine.table.inspection import inspect_table
from engine.table.reading.options import ReadOptions
from engine.table.reading.readers import detect, read_pieces, read_table
from engine.table.schema import Column, Kind, Schema
from tests.engine.adversarial.requests import ROWS, plan_for, table
from tests.examples import many

NAMES = (*"abc", "column 1", "column 2", "column 3")
SCHEMA = Schema(tuple(Column(name, kind=Kind.TEXT) for name in NAMES))
SAID = ReadOptions(
    *("text", ",", "utf-8", True, 0, ".", "", '"', ""), line_ends="\n", date_order="ymd", width=3
)
SAID = replace(SAID, multiline=False)
PIECES = st.sampled_from(
    [
        *(b"\r", b"\n", b"\r\n", b"\n\r", b'"', b'""', b"'", b"\\", b",", b"x", b"1,2", b"\0", b" "),
        *(b"\x01", b"\x02", b"\x03", b"\x04", b"\x85", b"\x0b", b"\x0c", b"\x1c", b"\xe2\x80\xa8", b"\xff"),
        *(b"\x1b$B", b"\x81", b"\xe3", b"\xef\xbb\xbf", b'"a\rb"', b"hello\rfake0,a,x\rfake1,a,x"),
    ]
)
CELLS = st.one_of(st.lists(PIECES, max_size=6).map(b"".join), st.binary(max_size=8))
LINES = [b"p%d,Q,%d" % (place, place) for place in range(6)]


def rows_of(folder, content, options):
    path = folder / "people.csv"
    path.write_bytes(content)
    try:
        found = read_table(path, options=options, schema=SCHEMA)
    except InputRefused as error:
        assert error.code == "table.no_rows"
        return []
    return found.rows().to_numpy(dtype=object, na_value=None).tolist()


def in_pieces(folder, content, options, size):
    """Read a text some bytes at a time."""
    path = folder / "people.csv"
    path.write_bytes(content)
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("engine.table.reading.text._PART", size)
            pieces = list(read_pieces(path, options=options, schema=SCHEMA))
    except InputRefused as error:
        assert error.code == "table.no_rows"
        return []
    cells = [piece.rows().to_numpy(dtype=object, na_value=None).tolist() for piece in pieces]
    return [row for piece in cells for row in piece]


@settings(max_examples=many(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cells=st.lists(CELLS, max_size=4),
    size=st.integers(1, 40),
    end=st.sampled_from(["\n", "\r\n"]),
    header=st.booleans(),
    encoding=st.sampled_from(["utf-8", "cp1252"]),
)
@example(cells=[b'"a\nb"', b'"'], size=3, end="\n", header=True, encoding="utf-8")
@example(cells=[b"\n\xef\xbb\xbf"], size=1, end="\n", header=False, encoding="utf-8")
def test_a_text_in_pieces_is_the_text(tmp_path, cells, size, end, header, encoding):
    lines = [b"\xef\xbb\xbfa,b,c", *LINES]
    for place, cell in enumerate(cells):
        lines.insert(2 * place + 1, b"p,%b,1" % cell)
    content, options = (
        end.encode().join(lines),
        replace(SAID, line_ends=end, header=header, encoding=encoding),
    )
    assert in_pieces(tmp_path, content, options, size) == rows_of(tmp_path, content, options)


@pytest.mark.parametrize("cell", ["x", '"x"', '"x\ny"', "it's"])
def test_a_long_text_without_a_quotation_mark_is_not_read_to_see_what_a_row_is(tmp_path, cell, monkeypatch):
    lines = ['"a","b","c"', *(f"{number},x,y" for number in range(200_000)), f"{cell},x,y", ""]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    plan = plan_for("counts", files={MAIN: FileReference("people.csv")})
    read, whole = [], reading.read_table
    monkeypatch.setattr(reading, "read_table", lambda *one, **more: read.append(one) or whole(*one, **more))
    pinned = reading.pin_reading(plan, base=tmp_path).files[MAIN].options
    assert pinned == {**whole(tmp_path / "people.csv").options.to_json(), "date_order": "ymd"}
    assert pinned["multiline"] is ("\n" in cell) and bool(read) == ('"' in cell)


def patiently(folder, content, options):
    def patient(*_):
        raise pyarrow.ArrowInvalid("not regular")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("engine.table.reading.text._fast", patient)
        return rows_of(folder, content, options)


@settings(max_examples=many(400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cell=CELLS,
    column=st.integers(0, 2),
    place=st.integers(0, 6),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    quote=st.sampled_from(['"', "'", ""]),
    escape=st.sampled_from(["", "\\"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "shift_jis", "iso2022_jp", "gb18030"]),
)
@example(b"hello\rfake0,a,x\rfake1,a,x", 2, 3, "\n", '"', "", "utf-8")
@example(b'"open', 2, 3, "\n", '"', "", "utf-8")
@example(b"x\\", 2, 3, "\r\n", '"', "\\", "cp1252")
@example(b'\x1b$B"', 0, 0, "\n", '"', "", "iso2022_jp")
@example(b'""\\\r', 0, 0, "\n", '"', "\\", "utf-8")
@example(b"\x1b$B", 1, 3, "\n", '"', "", "iso2022_jp")
def test_no_bytes_in_one_cell_change_another_line(
    tmp_path, cell, column, place, end, quote, escape, encoding
):
    options = replace(SAID, line_ends=end, quote=quote, escape=escape, encoding=encoding)
    cells = [b"q1", b"a", b"z"]
    cells[column] = cell
    lines = [*LINES[:place], b",".join(cells), *LINES[place:]]
    head, mark = b"a,b,c", end.encode()
    alone = rows_of(tmp_path, mark.join([head, *LINES, b""]), options)
    content = mark.join([head, *lines, b""])
    together = rows_of(tmp_path, content, options)
    assert alone == [line.decode().split(",") for line in LINES]
    assert together[:place] == alone[:place]
    assert together[len(together) - len(LINES) + place :] == alone[place:]
    if mark not in cell:
        assert len(together) <= len(LINES) + 1
    assert together == patiently(tmp_path, content, options)


@pytest.mark.parametrize("first", [b" " * (1 << 20), b";" * (1 << 20), b"\0" * (1 << 20), b" "])
@pytest.mark.parametrize("others", [b"p,1,2", b" , , "])
def test_what_looks_empty_makes_no_other_row_vanish(tmp_path, first, others):
    options = replace(SAID, header=False)
    content = b"\n".join([first + b", , ", *[others] * 9, b""])
    assert len(rows_of(tmp_path, content, options)) == 10 == len(patiently(tmp_path, content, options))
    assert rows_of(tmp_path, b"\n" * 9, options) == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("cell", ["x\ry", "\r", '"open', "\ud800", "ā਍਀", "x\u2028y\x85"])
def test_nor_do_characters_in_encodings_of_two_bytes(tmp_path, encoding, cell):
    options = replace(SAID, encoding=encoding)
    rows = ["p0,a,1", f"q,{cell},2", "p1,b,3"]
    content = "\n".join(["a,b,c", *rows, ""]).encode(encoding, "surrogatepass")
    found = rows_of(tmp_path, content, options)
    assert found[0] == ["p0", "a", "1"] and found[-1] == ["p1", "b", "3"] and len(found) == 3
    assert found == patiently(tmp_path, content, options)


def test_many_bare_ends_at_the_edges_of_blocks(tmp_path):
    gc.collect()
    line = b"p,Q," + b"x\r" * 37 + b"y\r\n"
    found = rows_of(tmp_path, b"a,b,c\r\n" + line * 60_000, replace(SAID, line_ends="\r\n"))
    assert len(found) == 60_000 and {cells[2] for cells in found} == {"x\r" * 37 + "y"}


@pytest.mark.parametrize(
    ("encoding", "filled"), [("utf-8", ""), ("utf-8", "x\ry"), ("cp1252", "ä"), ("gbk", "é")]
)
def test_wherever_a_block_ends_every_line_is_a_row(tmp_path, monkeypatch, encoding, filled):
    monkeypatch.setattr("engine.table.reading.text._BLOCK", 64)
    chance = random.Random(7)
    options = replace(SAID, encoding=encoding, line_ends="\r\n")
    for _ in range(many(25)):
        rows = [f"p{place},{filled},{'x' * chance.randrange(9)}" for place in range(200)]
        found = rows_of(tmp_path, "\r\n".join(["a,b,c", *rows, ""]).encode(encoding), options)
        assert [cells[0] for cells in found] == [f"p{place}" for place in range(200)]


@pytest.mark.parametrize(
    ("content", "end"),
    [
        (b"a,b\n1,x\n", "\n"),
        (b"a,b\r\n1,x\r\n", "\r\n"),
        (b"a,b\r1,x\r2,y", "\r"),
        (b"a,b\n" + b"1,x\n" * 50 + b"2,x\rfake,y" + b"\rfake,z" * 500 + b"\n", "\n"),
        (b"a,b\r\n" + b"1,x\r\n" * 50 + b'2,"x\ny\nz"\r\n' * 50, "\r\n"),
        (b"a,b\r\n" + b"1,x\r\n" * 50 + b"2,x\ny\r\n", "\r\n"),
        (b"a,b\r\n" + b"1,x\n" * 50, "\n"),
        (b"a,b\n" + b"1,x\r\n" * 50, "\n"),
        (b"a,b\n" + b"1,x\r" * 50, "\r"),
        (b"a\r\n" + b"1\r\n2\n" * 50, "\n"),
        (b"a,b\r" + b'1,"x\ny\nz"\r' * 9, "\r"),
    ],
)
def test_the_end_that_ends_rows_is_found(tmp_path, content, end):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    assert detect(path).options.line_ends == end == read_table(path).options.line_ends


def test_lines_of_two_systems_in_one_file_are_all_rows(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b\r\n" + b"1,x\r\n" * 5 + b"2,y\n" * 5)
    found = read_table(path)
    assert found.rows()["b"].tolist() == ["x"] * 5 + ["y"] * 5 and found.findings == ()


def test_an_end_that_ends_nothing_is_said(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b\n1,x\n2,x\rfake\n3,y\n")
    found = read_table(path)
    assert found.rows()["b"].tolist() == ["x", "x\rfake", "y"]
    assert [(one.code, one.column, one.rows) for one in found.findings] == [
        ("table.other_line_ends", "b", (2,))
    ]
    assert any("end of line" in problem["what"] for problem in inspect_table(found)["problems"])


def test_an_open_quotation_mark_ends_with_its_line_and_is_said(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b'a,b\n1,x\n2,"x\n3,y\n')
    found = read_table(path, options=ReadOptions(multiline=False))
    assert found.rows()["b"].tolist() == ["x", "x", "y"]
    assert [(one.code, one.rows) for one in found.findings] == [("table.quote_left_open", (2,))]


@pytest.mark.parametrize(
    ("below", "multiline"),
    [
        (b"1,x\n" * 9, False),
        (b"1,x\n" * 300_000, False),
        (b'1,"x\ny"\n' * 9, True),
        (b"1,x\n" * 300_000 + b'1,"x\ny"\n', True),
        (b"1,x\n" * 300_000 + b'1,"x"\n', False),
    ],
)
def test_a_pinned_plan_says_whether_cells_run_over_lines(tmp_path, below, multiline):
    (tmp_path / "people.csv").write_bytes(b"a,b\n" + below)
    plan = replace(plan_for("counts"), files={MAIN: FileReference("people.csv")})
    options = reading.pin_reading(plan, base=tmp_path).files[MAIN].options
    assert options["multiline"] is multiline and options["line_ends"] == "\n"


def run_rows(folder, content, **options):
    (folder / "people.csv").write_bytes(content)
    plan = plan_for("counts")
    said = {name: value for name, value in {**plan.files[MAIN].options, **options}.items() if value != "-"}
    plan = replace(plan, files={MAIN: FileReference("people.csv", said)})
    return reading.read(plan, base=folder).table.rows()


def test_a_run_reads_what_its_plan_says(tmp_path):
    hostile = "9,f,1,1,1,hello\r" + "\r".join(f"{n},f,1,1,1,x" for n in range(10, 500))
    before, after = (run_rows(tmp_path, table(rows)) for rows in (ROWS, (*ROWS, hostile, ROWS[0])))
    assert len(after) <= len(before) + 2
    pd.testing.assert_frame_equal(after.head(len(before)), before)
    pd.testing.assert_frame_equal(after.tail(1).reset_index(drop=True), before.head(1))


def test_a_plan_that_does_not_say_what_ends_a_row_is_refused(tmp_path):
    plan = plan_for("counts")
    for without in plan.files[MAIN].options.keys() - {"multiline"}:
        options = {name: value for name, value in plan.files[MAIN].options.items() if name != without}
        loose = replace(plan, files={MAIN: FileReference("people.csv", options)})
        from engine.methods.catalogue import method

        if without == "format":
            continue  # said by the ending of the file's name
        with pytest.raises(InputRefused) as caught:
            reading.refuse_open(loose, method(plan.method).sources)
        assert caught.value.code == "reading.options_open" and without in str(caught.value.values["options"])


def test_a_plan_of_before_takes_every_line_for_a_row(tmp_path):
    open_mark = '7,"f,1,1,1,2020-01-01'
    found = run_rows(tmp_path, table((open_mark, *ROWS)), multiline="-")
    assert len(found) == len(ROWS) + 1


@pytest.mark.parametrize(
    ("encoding", "cell"),
    [
        ("utf-7", b"x+AAo-f,x,x+AAo-g,x,x"),
        ("unicode_escape", rb"x\nf,x,x\ng,x,x"),
        ("raw_unicode_escape", rb"x\u000af,x,x"),
    ],
)
@pytest.mark.parametrize("read", [rows_of, patiently])
def test_an_end_of_line_that_is_spelt_out_makes_no_row(tmp_path, read, encoding, cell):
    """Some encodings can write an end of line in other bytes, and one cell would be any number of people."""
    options = replace(SAID, encoding=encoding)
    lines = [b"a,b,c", *LINES]
    alone = read(tmp_path, b"\n".join(lines) + b"\n", options)
    together = read(tmp_path, b"\n".join([*lines[:3], b"q,a," + cell, *lines[3:]]) + b"\n", options)
    assert len(alone) == 6 and [row for row in together if row[0].startswith("p")] == alone
    assert len(together) <= 7


@pytest.mark.parametrize(
    ("encoding", "mark", "end"),
    [("cp037", b"\x7f", "\r\n"), ("cp500", b"\x7f", "\r"), ("utf-7", b"+ACI-", "\r")],
)
def test_a_quotation_mark_in_other_bytes_swallows_no_row(tmp_path, encoding, mark, end):
    lines = [f"p{place},abcdefgh,x".encode(encoding) for place in range(70_000)]  # the mark is in no sample
    lines[-9] = "q,".encode(encoding) + mark + "y,x".encode(encoding)
    content = end.encode(encoding).join(["a,b,c".encode(encoding), *lines, b""])
    found = rows_of(tmp_path, content, replace(SAID, encoding=encoding, line_ends=end))
    assert len(found) == len(lines)
    assert found[-8:] == [[f"p{69_992 + place}", "abcdefgh", "x"] for place in range(8)]


@pytest.mark.slow
@pytest.mark.parametrize("size", [140 << 20, 300 << 20])
def test_nor_does_a_cell_of_any_length_stop_a_run(tmp_path, size):
    """Whether a release exists must not tell that somebody's cell is longer than a reader's block."""
    lines = [b"a,b,c", *LINES[:3], b"q,a," + b"x" * size, *LINES[3:]]
    found = rows_of(tmp_path, b"\n".join(lines) + b"\n", SAID)
    assert len(found) == 7 and len(found[3][2]) == size


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "gb18030", "utf-7", "utf-16"]
)
def test_a_mark_at_the_beginning_is_left_out_whichever_reader_reads(tmp_path, encoding):
    """A row that is not regular changes the reader: the first cell, somebody else's, stays what it is."""
    options = replace(SAID, encoding=encoding, header=False)
    mark = "" if encoding in ("utf-8-sig", "utf-16") else "\ufeff"  # those write it by themselves
    regular = f"{mark}12,a,1\n13,b,2\n"
    for text in (regular, f"{regular}14,c,3,too many\n", f"{regular}14\n"):
        assert rows_of(tmp_path, text.encode(encoding), options)[0][0] == "12"
    assert patiently(tmp_path, regular.encode(encoding), options)[0][0] == "12"


def test_bytes_that_are_no_mark_in_their_encoding_stay(tmp_path):
    """They are letters there, and both readers read them alike."""
    options = replace(SAID, encoding="shift_jis", header=False)
    content = b"\xef\xbb\xbf12,a,1\n13,b,2\n"
    assert rows_of(tmp_path, content, options) == patiently(tmp_path, content, options)
