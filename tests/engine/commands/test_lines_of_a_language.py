"""What commands say in lines has no id, no English word and no English number in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import app.__main__ as desktop
from engine.__main__ import main
from engine.commands import ledger
from engine.table.schema import Kind, Role
from tests.engine.languages import trial

WORD = re.compile(r"(?<![\w./:@=\[<{⟨_-])[A-Za-z]{3,}(?![\w/@=\]>}⟩_-])")


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with trial.spoken(tmp_path_factory.mktemp("texts")) as code:
        yield code


def test_a_table_is_inspected_in_words(
    capsys: pytest.CaptureFixture[str], spoken: str, tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("patient_id,age,sex\n" + "".join(f"{row},{20 + row % 60},f\n" for row in range(90)))
    assert main(["inspect", str(table), "--language", spoken]) == 0
    said = capsys.readouterr().out
    ids = {str(one) for one in (*Kind, *Role)}
    assert not ids & set(re.findall(r"\w+", said))
    assert not set(WORD.findall(said)) - {"patient", "age", "sex", "csv"}


def test_a_ledger_is_listed_in_words_and_signs_of_the_language(spoken: str) -> None:
    loss = {"epsilon": "1/2", "delta": "0"}
    release = {
        "id": "r1",
        "reserved_at": "2026-11-26T10:00:00Z",
        "state": "complete",
        "spent": loss,
        "title": "T",
    }
    register = {"name": "R", "budget": loss, "spent": loss, "left": loss, "releases": [release]}
    said = "\n".join(ledger._ledger_lines({"holdings": [register]}, spoken))
    assert said.count("0·5") == 4 and "0.5" not in said
    assert "complete" not in said


@pytest.mark.parametrize("arguments", [["--help"], ["--theme", "x"]])
def test_the_window_says_its_help_in_the_language_of_the_line(
    capsys: pytest.CaptureFixture[str], spoken: str, arguments: list[str]
) -> None:
    with pytest.raises(SystemExit):
        desktop.make_parser(["--lang", spoken]).parse_args([*arguments, "--lang", spoken])
    captured = capsys.readouterr()
    said = re.sub(r"python -m app|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|--\w+", " ", captured.out + captured.err)
    assert re.search("[\u0430-\u044f]", said)
    assert not set(WORD.findall(said)) - {"LANG", "file", "CUSTOS_DEBUG"}


def test_a_language_may_be_named_before_the_command(capsys: pytest.CaptureFixture[str], spoken: str) -> None:
    assert main(["--language", spoken, "methods"]) == 0
    before = capsys.readouterr().out
    assert main(["methods", "--language", spoken]) == 0
    assert before == capsys.readouterr().out
