"""No document is read without a limit: neither here nor in what will be written."""

from __future__ import annotations

import ast
import json
import os
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from engine import bounded, texts
from engine.errors import InputRefused

ROOT = Path(__file__).resolve().parents[2]
METHODS = ("read_text", "read_bytes", "readlines")
# What reads whole files of the program itself, or what bounds it itself: the reason stands behind each.
MAY = {
    "engine/bounded.py",  # the one reader, with its limit
    "engine/ledger/process.py",  # what the system says of a process
    "engine/languages.py", "engine/texts.py", "engine/report/html.py", "engine/report/pdf.py",
    "engine/release/examples.py",
    "engine/release/readme.py", "engine/release/program.py", "engine/methods/protocol.py",
    "engine/methods/listing.py",
    "engine/methods/datasets/imputation.py", "engine/methods/models/leaving.py",
    "engine/methods/exchanges/paper.py", "engine/methods/shared/offline_page.py",
    "engine/methods/exchanges/recipients.py",
    "engine/analyses/catalogue.py", "engine/table/code_lists.py", "engine/risk/free_text.py",
    "engine/risk/short_texts.py",
    "engine/table/suggest/column_words.py", "engine/table/suggest/people_named.py",
    "engine/table/code_systems.py", "engine/pricing/anchors.py",
    "engine/report/fonts.py", "engine/release/package.py", "engine/report/law.py",
    "engine/computer/update.py",
    "app/theme.py", "engine/release/sheets.py",  # what comes with the program
    "engine/computer/checks.py", "engine/release/copies.py",  # and what it wrote a moment before
    "engine/table/reading/excel.py",  # openpyxl's reader, once the parts were counted
}  # fmt: skip


@cache
def found() -> dict[str, list[int]]:
    """Return the lines of each file that read a whole file; what reads has one of two words in it."""
    lines: dict[str, list[int]] = {}
    for path in (path for package in ("engine", "app") for path in sorted((ROOT / package).rglob("*.py"))):
        source = path.read_text(encoding="utf-8")
        if "read" in source or "load" in source:
            lines[path.relative_to(ROOT).as_posix()] = unbounded(ast.parse(source))
    return {path: each for path, each in lines.items() if each}


def unbounded(tree: ast.Module) -> list[int]:
    """Return the lines that read a whole file: a method of a path, or ``read`` with no size."""
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner, name = getattr(node.func.value, "id", ""), node.func.attr
        whole = name in METHODS and owner != "bounded"
        loaded = name == "load" and owner in ("json", "tomllib")
        if whole or loaded or (name == "read" and not node.args and not node.keywords):
            lines.append(node.lineno)
    return lines


@pytest.mark.guarantee
def test_no_whole_file_is_read_but_through_the_one_reader() -> None:
    assert found().keys() <= MAY, found()


@pytest.mark.guarantee
def test_what_may_read_whole_files_does_so_only_with_what_comes_with_the_program() -> None:
    assert {*found(), "engine/bounded.py"} >= MAY  # an exception that nobody needs any more goes


@pytest.mark.parametrize(
    "line",
    ["path.read_text()", "(a / b).read_bytes()", "file.read()", "json.load(file)", "file.readlines()"],
)
def test_the_lint_sees_each_way_of_reading_a_whole_file(line: str) -> None:
    assert unbounded(ast.parse(line)) == [1]
    assert unbounded(ast.parse("file.read(9)\nbounded.read_text(path)\njson.loads(text)")) == []


def huge(path: Path, size: int = 6 * 10**9) -> Path:
    """Make a file of many bytes that takes none on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size)
    return path


def refused(read: Callable[[], object]) -> None:
    with pytest.raises(InputRefused) as caught:
        read()
    assert caught.value.code == "document.too_large"
    assert all(texts.explain(caught.value))


def test_each_document_that_is_named_is_refused_with_a_sentence(tmp_path: Path) -> None:
    from app.work.releasing import key_file
    from engine.commands import values
    from engine.release.plan import Plan

    path = huge(tmp_path / "huge.json")
    for read in (
        Plan.read,
        values.read_schema,
        values.json_file,
        values.first_line,
        values.content,
        key_file,
        lambda path: bounded.read_text(path),
    ):
        refused(lambda read=read: read(path))


def test_what_the_program_kept_itself_is_no_document_any_more(tmp_path: Path) -> None:
    from app.state import draft, purposes
    from app.state.settings import Settings
    from app.work.marking import last_schema, last_schema_path

    huge(tmp_path / "settings.json")
    huge(draft.path_of(tmp_path))
    huge(purposes.path_of(tmp_path))
    huge(last_schema_path(tmp_path))
    assert Settings(tmp_path)._values == {}
    assert draft.load(folder=tmp_path) is None
    assert purposes._all(tmp_path) == []
    assert last_schema(folder=tmp_path) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    caught: list[BaseException] = []

    def read() -> None:
        try:
            bounded.read_bytes(tmp_path / "pipe")
        except OSError as error:
            caught.append(error)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive() and len(caught) == 1


def test_a_file_that_grows_is_read_no_further_than_its_limit(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"123456")
    real = os.fstat

    def small(number: int) -> os.stat_result:
        found = list(real(number))
        found[6] = 0
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", small)
    with pytest.raises(bounded.TooLarge):
        bounded.read_bytes(path, 5)
    assert bounded.read_bytes(path, 6) == b"123456"


def test_ends_of_lines_are_those_of_any_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(json.dumps("é").encode() + b"\r\nb\rc\n")
    assert bounded.read_text(tmp_path / "a") == (tmp_path / "a").read_text(encoding="utf-8")
