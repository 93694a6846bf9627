"""What commands say to people: tables, questions about misspelt names, progress on a terminal, completion."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine import texts
from engine.__main__ import main
from engine.commands import telling
from engine.commands.completion import words_of
from engine.commands.parser import make_parser
from engine.methods.catalogue import methods
from engine.table.schema import Schema

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "resources" / "sample"
TABLE = SAMPLE / "diabetes_encounters.csv"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    try:
        status = main(list(arguments))
    except SystemExit as error:
        status = int(error.code or 0)
    assert status == 2
    written = capsys.readouterr()
    assert written.out == ""
    return written.err


@pytest.fixture
def schema(tmp_path: Path) -> str:
    tree = json.loads((SAMPLE / "plan.json").read_text())["schemas"]["people"]
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(tree))
    assert Schema.loads(path.read_text()).columns
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("metods",), "methods"),
        (("plan", "chekc", "x.json"), "check"),
        (("methods", "statistics.conuts"), "statistics.counts"),
        (("run", "x.json", "--out", "y", "--legder", "z"), "--ledger"),
        (("run", "x.json", "--out", "y", "--legder=z"), "--ledger"),
        (("risk", "x.csv", "--schema", "y", "--missing", "own_vale"), "own_value"),
        (("analyse", "at_rsk", "--set", "epsilon0=1"), "at_risk"),
        (("analyse", "at_risk", "--set", "epsilon_0=1"), "epsilon0"),
    ],
)
def test_a_misspelt_name_is_asked_about(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], meant: str
) -> None:
    assert f"Did you mean “{meant}”?" in refusal(capsys, *arguments)


def test_nothing_is_asked_where_nothing_is_like_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Did you mean" not in refusal(capsys, "methods", "qqqqqqqq")
    assert "Did you mean" not in refusal(capsys, "run", "nothing.json", "--out", "x")


@pytest.mark.parametrize("method", [one for one in methods() if one.parameters], ids=lambda one: one.id)
def test_a_misspelt_parameter_is_refused_at_once_with_the_names(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, method: object
) -> None:
    name = method.parameters[0].name
    out = tmp_path / "plan.json"
    said = refusal(capsys, "plan", "new", "--method", method.id, "--set", f"{name}x=1", "--out", str(out))
    assert f"Did you mean “{name}”?" in said
    assert all(one.name in said for one in method.parameters)
    assert not out.exists()


def test_a_misspelt_column_is_refused_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, schema: str
) -> None:
    out = tmp_path / "plan.json"
    common = ("plan", "new", str(TABLE), "--schema", schema, "--out", str(out), "--method")
    said = refusal(capsys, *common, "statistics.counts", "--set", 'columns=["gendre"]')
    assert "Did you mean “gender”?" in said and not out.exists()
    said = refusal(capsys, *common, "datasets.k_anonymity", "--hierarchy", "agee=bands.csv")
    assert "Did you mean “age”?" in said
    # What is not of its kind is said by `plan check`, in its own words
    assert main([*common, "statistics.counts", "--set", "columns=7"]) == 0


@pytest.mark.guarantee
def test_people_read_tables_and_programs_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["methods"]) == 0
    lines = capsys.readouterr().out.splitlines()
    places = {line.index(line.split("  ")[-1].strip()) for line in lines[:3]}
    assert len(lines) == len(methods()) + 1 and len(places) == 1
    assert main(["methods", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["methods"]) == len(methods())
    assert main(["methods", "statistics.counts"]) == 0
    said = capsys.readouterr().out
    assert "columns (columns)" in said
    assert main(["inspect", str(TABLE)]) == 0
    said = capsys.readouterr().out
    assert "patient_nbr" in said and "stays inside" in said and "{" not in said
    ledger = str(tmp_path / "ledger.sqlite")
    arguments = ["run", str(SAMPLE / "plan.json"), "--out", str(tmp_path / "out"), "--ledger", ledger]
    assert main(arguments) == 0
    assert capsys.readouterr().err == ""  # no terminal, no progress
    assert main(["ledger", "--ledger", ledger]) == 0
    heads, register, _, _, given = capsys.readouterr().out.splitlines()
    assert [cell.strip() for cell in heads.split("  ") if cell] == ["register", "budget", "spent", "left"]
    assert [cell.strip() for cell in register.split("  ") if cell.strip()][1:] == ["2", "0.5", "1.5"]
    assert "released" in given


def test_progress_is_said_on_a_terminal_with_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter((0.0, 0.05, 0.5, 10.0, 20.0))
    monkeypatch.setattr(telling.time, "monotonic", lambda: next(now))
    stream = Terminal()
    with telling.Telling("en", stream) as told:
        for share in (0.01, 0.1, 0.25, 0.5):
            told.progress.step(share, "run.noise")
    lines = [line for line in stream.getvalue().split("\r\x1b[K") if line]
    assert [line[:4].strip() for line in lines] == ["10%", "25%", "50%"]  # the first came too soon
    assert "left" not in lines[0]
    assert lines[1].endswith("30 s left") and lines[2].endswith("20 s left")
    assert stream.getvalue().endswith("\r\x1b[K")  # nothing stays on the line


def test_a_run_says_its_stages_on_a_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(telling, "OFTEN", 0.0)
    ledger = str(tmp_path / "ledger.sqlite")
    plan = str(SAMPLE / "plan.json")
    assert main(["run", plan, "--out", str(tmp_path / "out"), "--ledger", ledger, "--json"]) == 0
    assert "Computing the release" in stream.getvalue() and "Writing the reports" in stream.getvalue()


def test_completion_knows_every_command_option_and_method() -> None:
    ids = tuple(one.id for one in methods())
    words = words_of(make_parser(), ids)
    assert {"run", "plan", "methods", "completion"} <= set(words[()])
    assert {"new", "check"} <= set(words["plan",])
    assert {"--set", "--schema", *ids} <= set(words["plan", "new"])
    assert set(ids) <= set(words["methods",]) and not set(ids) & set(words["run",])


def test_what_readme_and_texts_tell_to_type_is_there() -> None:
    words = words_of(make_parser())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    told = [" ".join(one.split()) for one in re.findall(r"(?<!`)`([^`]+)`(?!`)", readme)]
    told += [line.split("  #")[0] for line in readme.splitlines() if line.startswith("    ")]
    told += [one for language in texts.languages() for one in texts.catalogue(language).values()]
    asked = [
        re.split(r"[\s.:,;=`“”„»«\]]+", line)
        for one in told
        for line in re.split(r"\b(?:custos|python -m engine) (?=[a-z])", one)[1:]
    ]
    assert len(asked) > 100
    for line in asked:
        path = next((tuple(line[:size]) for size in (2, 1) if tuple(line[:size]) in words), ())
        assert path and {word for word in line if word[:2] == "--"} <= set(words[path]), line


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("custos ver", ["verify"]),
        ("custos plan ch", ["check"]),
        ("custos plan new --met", ["--method"]),
        ("custos methods statistics.coun", ["statistics.counts"]),
        ("custos run --led", ["--ledger"]),
    ],
)
def test_bash_completes(capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str, found: list) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "custos.bash"
    script.write_text(capsys.readouterr().out)
    words = line.split()
    code = (
        f'source "{script}"; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1};'
        ' _custos; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == found and not done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_their_script(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, shell: str
) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "statistics.counts" in script and "--ledger" in script
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        flags = ["--no-execute" if shell == "fish" else "-n"]
        subprocess.run([shell, *flags, str(tmp_path / "script")], check=True, env=os.environ)


# --- help in words of a language ---------------------------------------------------------------------------


def all_parsers(parser):
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from all_parsers(one)


def test_what_help_says_has_words_in_the_texts():
    for parser in all_parsers(make_parser()):
        listed = [one for action in parser._actions for one in getattr(action, "_choices_actions", ())]
        for action in (*parser._actions, *listed):
            said = action.help
            assert not said or texts.has(said) or texts.has(f"commands.options.{said}"), (parser.prog, said)


@pytest.mark.parametrize("language", texts.languages())
def test_help_is_said_in_the_language_that_is_asked_for(language, capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help", "--language", language])
    said = " ".join(capsys.readouterr().out.split())
    for name in ("run", "options.opens_signing", "options.without_reason", "headings.usage", "options.help"):
        words = " ".join(texts.text(f"commands.{name}", language=language).split())
        assert words in said, name


def test_every_word_of_help_is_used():
    used = {action.help for parser in all_parsers(make_parser()) for action in parser._actions}
    named = [one for one in texts.catalogue() if one.startswith("commands.options.")]
    assert {one.removeprefix("commands.options.") for one in named} <= used
