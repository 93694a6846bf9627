"""Recipients estimate again: in Python, in R where it is installed, in a workbook, equal to ten digits."""

import io
import shutil
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from openpyxl import load_workbook

from engine.methods.exchanges.estimating import estimates, mean_of
from engine.methods.exchanges.kit import MEASURED, Question
from engine.methods.exchanges.recipients import counts, programs
from engine.methods.shared.workbook_file import is_plain
from engine.privacy.channels import Bit, Geometry, Option, Sets, Signs, Wave
from tests.engine.methods.models.spreadsheet import Spreadsheet

ONE = Fraction(1)
QUESTIONS = (
    Question("Yes?", "one_of", ("yes", "no"), Sets.at(2, 1, 1, ONE), ONE),
    Question("=1+1, \"which\"?", "one_of", tuple("abcdefgh"), Sets.at(8, 1, 2, ONE), ONE),
    Question("List?", "one_of", tuple(map(str, range(12))), Geometry.at(12, 3, 3, 1, ONE), ONE),
    Question("Pair?", "pair", ("a", "b"), Sets.at(4, 1, 1, ONE), ONE, "And?", ("c", "d")),
    Question("Ticks?", "several_of", tuple("abcd"), Sets.at(6, 2, 2, ONE), ONE),
    Question("Drawn?", "several_of", tuple("abc"), Option.at(3, ONE), ONE),
    Question("Each?", "several_of", tuple("abcd"), Signs.at(4, ONE), ONE),
    Question("How much?", "number", tuple(map(str, range(9))), Wave.at(9, 3, ONE), ONE,
             lowest=Fraction(5), step=Fraction(1, 2)),
    Question("On average?", "mean", tuple(map(str, range(5))), Bit.at(5, ONE), ONE,
             lowest=Fraction(-3), step=Fraction(2)),
)  # fmt: skip


def reported(question, seed):
    """Return outcomes of any kind: what they say does not matter here."""
    rng = np.random.default_rng(seed)
    count, below = question.channel.layout
    if isinstance(question.channel, Signs):
        return rng.integers(below, size=(300, count))
    rows = [np.sort(rng.choice(below, size=count, replace=False)) for _ in range(300)]
    return np.array(rows)


PAIRS = [(question, reported(question, place)) for place, question in enumerate(QUESTIONS)]
FRAME = counts(PAIRS)


def wanted():
    """Return what the program itself says: question, answer, estimate, low, high, shown."""
    found = []
    for question, outcomes in PAIRS:
        if question.kind in MEASURED:
            mean = mean_of(question, outcomes)
            found.append((question.text, "", mean.value, mean.low, mean.high, None))
        else:
            found += [
                (question.text, one.answer, one.share, one.low, one.high, one.shown)
                for one in estimates(question, outcomes)
            ]
    return found


@pytest.fixture
def folder(tmp_path):
    FRAME.to_csv(tmp_path / "counts.csv", index=False)
    for one in programs(FRAME):
        (tmp_path / one.name).write_bytes(one.content)
    return tmp_path


def same(lines):
    """Compare lines of a program, to ten digits."""
    assert len(lines) == len(wanted())
    for line, (question, answer, *numbers) in zip(lines, wanted(), strict=True):
        said = line.split("\t")
        assert said[:2] == [question, answer]
        for text, number in zip(said[2:], numbers, strict=True):
            assert (
                (text == "") if number is None else float(text) == pytest.approx(number, rel=1e-10, abs=1e-12)
            )


def test_the_program_for_python_says_the_same(folder):
    done = subprocess.run(
        [sys.executable, "estimate.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    same(done.stdout.splitlines())


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_program_for_r_says_the_same(folder):
    done = subprocess.run(
        ["Rscript", "estimate.R"], cwd=folder, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    same(done.stdout.splitlines())


def test_the_workbook_says_the_same(folder):
    content = (folder / "estimate.xlsx").read_bytes()
    assert is_plain(content)
    book = load_workbook(io.BytesIO(content))
    sheet, reader = book["estimates"], Spreadsheet(book)
    rows = [row for row in range(2, sheet.max_row + 1) if sheet.cell(row, 8).value is not None]
    assert len(rows) == len(wanted())
    for row, (question, answer, *numbers) in zip(rows, wanted(), strict=True):
        assert sheet.cell(row, 1).value == question and sheet.cell(row, 1).data_type == "s"
        assert answer in ("", sheet.cell(row, 3).value)
        for place, number in enumerate(numbers[:3], start=8):
            assert reader.value("estimates", row, place) == pytest.approx(number, rel=1e-10, abs=1e-12)


def test_a_question_without_reports_is_left_out(tmp_path):
    """Where each person is asked one question, nobody may have been asked this one."""
    nothing = [(question, outcomes[:0]) for question, outcomes in PAIRS]
    frame = counts([PAIRS[0], *nothing[1:]])
    frame.to_csv(tmp_path / "counts.csv", index=False)
    made = {one.name: one.content for one in programs(frame)}
    (tmp_path / "estimate.py").write_bytes(made["estimate.py"])
    done = subprocess.run(
        [sys.executable, "estimate.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["Yes?", "Yes?"]
    book = load_workbook(io.BytesIO(made["estimate.xlsx"]))
    assert Spreadsheet(book).value("estimates", 4, 8) == ""


def test_counts_hold_no_report():
    """Only how many name each answer leaves: not which were named together, and no number of a report."""
    assert list(FRAME.columns) == ["question", "estimates", "answer", "reports", "given", "zero", "slope"]
    assert len(FRAME) == sum(
        question.channel.layout[1] if question.kind in MEASURED else len(question.answers)
        for question in QUESTIONS
    )
    shuffled = counts([(question, outcomes[::-1]) for question, outcomes in PAIRS])
    pd.testing.assert_frame_equal(shuffled, FRAME)
