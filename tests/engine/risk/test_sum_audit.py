"""Exact sums that are checked: as brute force says, and foretold by whoever knows the sets."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.analyses.catalogue import analysis, ask
from engine.errors import InputRefused
from engine.methods.protocol import MAIN
from engine.risk.sum_audit import SumAudit, Verdict
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table


def rank(rows):
    """Return the rank over the fractions, by plain elimination."""
    left, found = [[Fraction(int(x)) for x in row] for row in rows], 0
    for place in range(len(left[0]) if left else 0):
        pivot = next((at for at in range(found, len(left)) if left[at][place]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for at in range(found + 1, len(left)):
            factor = left[at][place] / left[found][place]
            left[at] = [one - factor * other for one, other in zip(left[at], left[found], strict=True)]
        found += 1
    return found


def brute(told, new, people):
    """Say what is to be done with a sum: is somebody's own vector a combination of all of them?"""
    before, after = rank(told), rank([*told, new])
    if before == after:
        return Verdict.FOLLOWS
    alone = [[at == one for at in range(people)] for one in range(people)]
    gives_away = any(rank([*told, new, one]) == after for one in alone)
    return Verdict.REFUSED if gives_away else Verdict.ANSWERED


def test_the_audit_is_what_brute_force_over_all_people_says():
    """500 sequences of sets; people of one class are always in the same sets."""
    draw, seen = np.random.default_rng(7), dict.fromkeys(Verdict, 0)
    for _ in range(500):
        classes = int(draw.integers(2, 6))
        sizes = draw.choice([1, 1, 1, 2], classes)
        who, told = np.repeat(np.arange(classes), sizes), []
        audit = SumAudit(sizes, most=classes)
        for _ in range(6):
            inside = draw.random(classes) < 0.6
            expected = brute(told, inside[who], int(sizes.sum()))
            assert audit.ask(inside) is expected
            told += [inside[who]] if expected is Verdict.ANSWERED else []
            seen[expected] += 1
    assert min(seen[one] for one in (Verdict.ANSWERED, Verdict.FOLLOWS, Verdict.REFUSED)) > 300


@pytest.mark.parametrize("prime", [2**31 - 1, 2**31 - 19])
def test_what_one_of_the_primes_divides_the_other_sees(prime):
    """Both are primes, and a sum is refused where one of them says so."""
    assert all(prime % one for one in range(2, int(prime**0.5) + 1))


def test_no_more_than_a_tenth_is_told():
    audit = SumAudit(np.full(20, 2), most=2)
    sets = np.eye(20, dtype=bool)
    assert [audit.ask(one) for one in sets[:3]] == [Verdict.ANSWERED, Verdict.ANSWERED, Verdict.TOO_MANY]
    assert audit.ask(sets[0] | sets[1]) is Verdict.FOLLOWS


DECLARED = Origin.DECLARED
WARDS = tuple("abcdefghij")
SCHEMA = Schema(
    (
        Column("sex", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=("f", "m")), DECLARED),
        Column("ward", Role.IDENTIFYING, Kind.CATEGORY, Domain(values=WARDS), DECLARED),
        Column("days", Role.SENSITIVE, Kind.INTEGER, Domain(Fraction(0), Fraction(90)), DECLARED),
    )
)
PEOPLE = pd.DataFrame(
    {
        "sex": list("fm") * 10,
        "ward": list("aabbccddeeffgghhiijj"),
        "days": [str(7 * n % 31) for n in range(20)],
    }
)


def checked(rows, *sets, known=("sex", "ward")):
    values = {"known": list(known), "value": "days", "sets": list(sets)}
    return ask(analysis("checked_sums"), values, tables={MAIN: Table(rows)}, schemas={MAIN: SCHEMA}).figures


def test_a_sum_is_told_until_it_would_tell_of_one():
    found = checked(PEOPLE, "", "ward is not a", "ward is a", "sex is f and ward is a")
    assert [one["verdict"] for one in found["sums"]] == ["answered", "answered", "follows", "too_many"]
    days = PEOPLE["days"].astype(int)
    assert [one["sum"] for one in found["sums"]] == [days.sum(), days[2:].sum(), days[:2].sum(), None]
    found = checked(PEOPLE, "", "not (sex is f and ward is a)")
    assert [one["verdict"] for one in found["sums"]] == ["answered", "refused"]
    assert found["promise"] == "none" and found["audience"] == "internal"


def test_refusals_are_the_same_whatever_the_numbers_are():
    sets = ("", "not (sex is f and ward is a)", "ward in (a, b)", "ward is c and sex is m")
    draw, seen = np.random.default_rng(3), set()
    for _ in range(200):
        rows = PEOPLE.assign(days=draw.permutation(PEOPLE["days"]))
        seen.add(tuple((one["verdict"], one["people"]) for one in checked(rows, *sets)["sums"]))
    assert len(seen) == 1 and "refused" in {verdict for verdict, _ in next(iter(seen))}


def test_a_set_of_what_is_not_known_elsewhere_is_refused():
    for code, sets, known in (
        ("not_known_elsewhere", ("days >= 10",), ("sex",)),
        ("not_known_elsewhere", ("ward is a",), ("sex",)),
        ("known_value", ("",), ("sex", "days")),
    ):
        with pytest.raises(InputRefused, match=rf"risk\.{code}"):
            checked(PEOPLE, *sets, known=known)
    key = Column("person", Role.PERSON_KEY, Kind.TEXT)
    several = Schema((*SCHEMA.columns, key), 3)
    values = {"known": ["sex"], "value": "days", "sets": [""]}
    with pytest.raises(InputRefused, match=r"risk\.several_rows"):
        ask(analysis("checked_sums"), values, tables={MAIN: Table(PEOPLE)}, schemas={MAIN: several})


def test_rows_of_one_person_are_seen_whatever_is_declared_of_them():
    """Three rows of somebody are no crowd: before, their sum was told as that of three."""
    key = Column("person", Role.PERSON_KEY, Kind.TEXT)
    own = pd.DataFrame({"sex": "f", "ward": "zz", "days": ["5", "6", "7"], "person": ["x", "x ", "x"]})
    rows = pd.concat([PEOPLE.assign(person=[str(n) for n in range(20)]), own])
    schema = {MAIN: Schema((*SCHEMA.columns, key), 1)}
    values = {"known": ["sex", "ward"], "value": "days", "sets": ["ward is other"]}
    with pytest.raises(InputRefused, match=r"risk\.several_rows"):
        ask(analysis("checked_sums"), values, tables={MAIN: Table(rows)}, schemas=schema)
    once = rows.assign(person=[str(n) for n in range(23)])
    assert ask(analysis("checked_sums"), values, tables={MAIN: Table(once)}, schemas=schema).figures["sums"]


@pytest.mark.parametrize(
    ("column", "written"),
    [
        ("ward", [f"w{n}" for n in range(30)]),  # none is declared: to a condition they are one
        ("age", ["90", "90.0", "120", "999"]),  # beyond the bound is at the bound
        ("age", ["", "x", None]),
        ("seen", ["2020-01-01", "2020-01-01 10:00", "2020-01-01T23:59"]),
    ],
)
def test_people_whom_no_condition_tells_apart_are_one_class_however_they_are_written(column, written):
    """So that a tenth of the classes is a tenth of what conditions tell apart."""
    more = (
        Column("age", Role.IDENTIFYING, Kind.INTEGER, Domain(Fraction(0), Fraction(90)), DECLARED),
        Column("seen", Role.IDENTIFYING, Kind.DATE, Domain("2020-01-01", "2021-01-01"), DECLARED),
    )
    schema = Schema((*SCHEMA.columns, *more))
    frame = pd.DataFrame({column: written, "days": "1"})
    values = {"known": [column], "value": "days", "sets": [""]}
    found = ask(analysis("checked_sums"), values, tables={MAIN: Table(frame)}, schemas={MAIN: schema}).figures
    assert (found["classes"], found["alone"]) == (1, 0)
    assert found["sums"][0]["verdict"] == "answered"


def test_the_blind_spots_are_printed_with_the_share_that_a_search_finds():
    """Of pairs with a 0 or 1 each, that of two who are equal tells both: counted out for a fifth of ones."""
    values = {"known": ["sex", "ward"], "value": "days", "sets": [""]}
    found = ask(analysis("checked_sums"), values, tables={MAIN: Table(PEOPLE)}, schemas={MAIN: SCHEMA})
    said = {line.id.split(".")[-1]: line.values for line in found.views[0].paragraphs}
    assert {"no_promise", "bounds", "outside", "together", "before", "foretold"} <= set(said)
    ones = np.random.default_rng(5).random((200_000, 2)) < said["bounds"]["prevalence"]
    told = np.isin(ones.sum(axis=1), (0, 2)).mean()
    assert told == pytest.approx(said["bounds"]["share"], abs=0.005)
