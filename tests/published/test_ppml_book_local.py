"""Naive Bayes from changed answers beside the book's figures: `ppml_book_local.md` holds the whole table."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from engine.privacy.channels import for_choice
from tests.published.ppml_book_local import BOOK, FITTED, LEVELS, changed, fitted, right, rows, spent
from tests.published.ppml_book_models import majority, table

TOLD = (Path(__file__).parent / "ppml_book_local.md").read_text(encoding="utf-8").splitlines()


def cells(first):
    """Return the numbers of the row that begins so."""
    line = next(line for line in TOLD if line.startswith(f"| {first} |"))
    return [one.strip() for one in line.split("|")[2:-1]]


def test_the_table_says_what_the_book_spends():
    for name, (figures, larger, columns) in BOOK.items():
        assert cells(name) == [str(larger), *map(str, figures), f"{spent(columns)} ε"]
    assert spent(BOOK["Chess"][2]) == 73


@pytest.mark.slow
def test_figures_are_those_of_the_table_and_the_majority_beside_them():
    assert f"{majority(table()):.2f} %" in " ".join(TOLD)
    honest, every = (np.array([float(cells(level)[place]) for level in LEVELS]) for place in (0, 1))
    assert (honest < every).all()
    assert honest[0] < majority(table()) < honest[1] < honest[2] < honest[3]
    assert right(fitted("4", 9)) == pytest.approx(honest[3], abs=1.5)  # one draw
    assert right(fitted("2", 9, every=True)) == pytest.approx(every[2], abs=1.5)  # one draw


def test_people_are_asked_by_the_channel():

    channel = for_choice(7, Fraction(1)).channel
    found = changed(np.full(40_000, 3), channel, np.random.default_rng(2))
    own, other = map(float, channel.shares())
    named = channel.named(found) / 40_000
    assert named[3] == pytest.approx(own, abs=0.01)
    assert np.delete(named, 3) == pytest.approx(np.full(6, other), abs=0.01)
    assert len(rows()[0]) == 11 and len(rows()[1]) > FITTED
