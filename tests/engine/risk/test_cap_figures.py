"""What a cap leaves out: by hand, and against draws of the cap itself."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.privacy.contribution import keep_rows
from engine.risk.cap_figures import cap_figures
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

DECLARED = {"domain_origin": Origin.DECLARED}
STAY = Column("stay", kind=Kind.NUMBER, domain=Domain(Fraction(0), Fraction(10)), **DECLARED)
BACK = Column("back", kind=Kind.CATEGORY, domain=Domain(values=("no", "yes")), **DECLARED)
SCHEMA = Schema((Column("person", Role.PERSON_KEY, Kind.TEXT, missing=("?",)), STAY, BACK), 1)
ROWS = Table(
    pd.DataFrame(
        {
            "person": ["a", "a", "a", "a", "b", "c", "c", None, "?"],
            "stay": [8.0, 8.0, 99.0, None, 2.0, 4.0, 6.0, 1.0, 1.0],
            "back": ["yes", "yes", "yes", "yes", "no", "yes", "no", "yes", "yes"],
        }
    )
)


def test_by_hand():
    found = cap_figures(ROWS, SCHEMA, columns=("stay", "back", "person"), caps=(1, 2, 4))
    assert (found.people, found.rows, found.nameless, found.most) == (3, 7, 2, 4)
    assert found.kept == {1: 3, 2: 5, 4: 7}
    assert found.losing == {1: 2, 2: 1, 4: 0}
    stay, back = found.shifts
    assert stay.uncapped == pytest.approx((8 + 8 + 10 + 2 + 4 + 6) / 6)
    # cap 1: the rows of a weigh 1/4 each, one of them without a value; those of c 1/2
    assert stay.by_cap[1] == pytest.approx((26 / 4 + 2 + 5) / (3 / 4 + 1 + 1))
    assert stay.by_cap[4] == pytest.approx(stay.uncapped)
    assert back.level in ("no", "yes")
    yes = {None: 5 / 7, 1: 1.5 / 3, 2: 3 / 5, 4: 5 / 7}
    share = yes if back.level == "yes" else {cap: 1 - one for cap, one in yes.items()}
    assert back.uncapped == pytest.approx(share[None])
    assert back.by_cap == {cap: pytest.approx(share[cap]) for cap in (1, 2, 4)}


def test_the_figures_are_those_of_the_lot_on_average():
    draw = np.random.default_rng(3)
    person = np.repeat(np.arange(300), draw.integers(1, 12, 300))
    stay = np.clip(np.bincount(person)[person] + draw.normal(0, 1, person.size), 0, 10)
    rows = Table(pd.DataFrame({"person": person.astype(str), "stay": stay}))
    found = cap_figures(rows, SCHEMA, columns=("stay",), caps=(1, 3))
    noise = seeded_noise(5)
    for cap in (1, 3):
        masks = [keep_rows(person, cap=cap, noise=noise) for _ in range(200)]
        assert {int(mask.sum()) for mask in masks} == {found.kept[cap]}
        means = np.array([stay[mask].mean() for mask in masks])
        away = abs(means.mean() - found.shifts[0].by_cap[cap])
        assert away < 5 * means.std() / np.sqrt(200)
        assert found.shifts[0].uncapped - found.shifts[0].by_cap[cap] > 0.3


def test_one_person_under_several_spellings_is_one_as_in_a_release():
    rows = Table(pd.DataFrame({"person": ["7", " 7", "7.0", "8"]}))
    found = cap_figures(rows, SCHEMA, caps=(1,))
    assert (found.people, found.kept[1], found.most) == (2, 2, 3)


@pytest.mark.parametrize("people", [[], [None, "?"]])
def test_nobody(people):
    rows = Table(
        pd.DataFrame({"person": pd.Series(people, dtype=object), "stay": pd.Series(np.zeros(len(people)))})
    )
    found = cap_figures(rows, SCHEMA, columns=("stay",), caps=(1,))
    assert (found.people, found.rows, found.most, found.kept) == (0, 0, 0, {1: 0})
    assert found.shifts[0].uncapped is None


def test_without_a_person_key_there_is_no_cap():
    with pytest.raises(ValueError, match="several rows"):
        cap_figures(ROWS, Schema((STAY,)))
