"""Reading options against how a file begins: every option that contradicts it is named, a found one never."""

import os
import random
from pathlib import Path

import pytest

from engine.errors import InputRefused
from engine.table.reading.options import ReadOptions
from engine.table.reading.readers import detect, read_table
from engine.table.reading.shape import contradictions
from engine.table.schema import Column, Domain, Kind, Origin, Schema
from engine.texts import explain

DATA = Path(__file__).parents[3] / "data"
FILE = "name;age;cost;born\n" + "".join(f"A{n};{n};{n},25;{n % 28 + 1}.3.1990\n" for n in range(1, 60))
SCHEMA = Schema(
    (
        Column("name"),
        Column("age", kind=Kind.INTEGER),
        Column("cost", kind=Kind.NUMBER),
        Column("born", kind=Kind.DATE),
    )
)


def written(folder: Path, content: str | bytes = FILE, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def found(path: Path, schema: Schema | None = SCHEMA, **changed: object) -> list[str]:
    options = {**detect(path).options.to_json(), **changed}
    problems = contradictions(path, ReadOptions.from_json(options), schema)
    assert all(problem.code == "table.option_contradicted" for problem in problems)
    for problem in problems:
        what, do = explain(problem)
        assert path.name in what and do
    return [str(problem.values["option"]) for problem in problems]


@pytest.mark.parametrize(
    ("changed", "options"),
    [
        ({}, []),
        ({"width": 50}, ["width"]),
        ({"width": 3}, ["width"]),
        ({"delimiter": ","}, ["delimiter"]),
        ({"encoding": "utf-16"}, ["encoding"]),
        ({"header": False}, ["header"]),
        ({"decimal": "."}, ["decimal"]),
        ({"date_order": "mdy"}, ["date_order"]),
        ({"date_order": "dmy"}, []),
        ({"format": "excel"}, ["format"]),
    ],
)
def test_each_option_that_contradicts_the_first_rows(tmp_path, changed, options):
    named = found(written(tmp_path), **changed)
    assert named[: len(options)] == options and (options or not named)


@pytest.mark.parametrize(
    ("first", "other"), [("{n}.250,10", "{n}.75"), ("{n},5", "{n}.75"), ("{n}.75", "{n},5")]
)
def test_of_a_file_with_two_decimal_marks_what_is_found_is_no_contradiction(tmp_path, first, other):
    """Before, such a plan was refused with either mark: what was found anew was the same again."""
    schema = Schema((Column("a", kind=Kind.NUMBER), Column("b", kind=Kind.NUMBER)))
    rows = "".join(f"{first.format(n=n)};{other.format(n=n)}\n" for n in range(10, 60))
    path = written(tmp_path, "a;b\n" + rows)
    assert found(path, schema) == []
    said = detect(path).options.decimal
    assert "decimal" in found(path, schema, decimal="," if said == "." else ".", thousands="")


def test_a_header_that_is_a_row(tmp_path):
    path = written(tmp_path, "".join(f"{n},{n + 1}.5\n" for n in range(30)))
    assert found(path) == []
    assert found(path, header=True) == ["header"]


def test_thousands_and_quotes(tmp_path):
    schema = Schema((Column("a", kind=Kind.NUMBER), Column("b")))
    path = written(tmp_path, "a;b\n" + '1,234.5;"x"\n' * 20)
    assert found(path, schema) == []
    assert found(path, schema, thousands="") == ["thousands"]
    assert "quote" in found(path, schema, quote="")


@pytest.mark.parametrize("path", sorted(DATA.glob("*.csv")), ids=lambda path: path.name)
def test_what_was_found_in_a_file_never_contradicts_it(path):
    assert found(path, None) == []


@pytest.mark.parametrize("seed", range(8))
def test_what_was_found_in_broken_signs_does_not_contradict_them(tmp_path, seed):
    """No encoding reads every byte: the one that was found is not asked for once more."""
    byte = random.Random(seed).randrange
    rows = b"".join(b"%d;%s\n" % (n, bytes(byte(128, 256) for _ in range(6))) for n in range(200))
    assert found(written(tmp_path, b"number;name\n" + rows), None) == []


def test_rows_shorter_than_their_header_are_no_contradiction(tmp_path):
    assert found(written(tmp_path, "a,b,c\n" + "1,2\n" * 30), None) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("read", [read_table, detect])
def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path, read):
    path = tmp_path / "people.csv"
    os.mkfifo(path)
    with pytest.raises(InputRefused) as caught:
        read(path)
    assert caught.value.code == "table.no_regular_file" and all(explain(caught.value))


def test_missing_codes_seen_in_rows_are_marked_and_stay(tmp_path):
    from engine.table.suggest.suggest import suggested_schema

    path = written(tmp_path, "sex,stay\n" + "f,1\nm,-9\n?,3\nf,2\nm,4\n" * 10)
    schema = suggested_schema(read_table(path))
    again = Schema.from_json(schema.to_json())
    assert again == schema
    for name, code in (("sex", "?"), ("stay", "-9")):
        column = again.column(name)
        assert column.missing == (code,) and column.missing_origin is Origin.COPIED
        assert column.without_copied().missing == () and column.without_copied().domain is None
    declared = Column("x", domain=Domain(values=("a",)), domain_origin=Origin.DECLARED, missing=("-9",))
    assert declared.without_copied() == declared
