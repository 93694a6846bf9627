"""A second budget for the same people: what the ledger recognises when a table comes back changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.errors import InputRefused, VerificationFailed
from engine.ledger import Ledger
from engine.release.charge import trace_table
from engine.table.fingerprint import fingerprints
from engine.table.schema import Column, Role, Schema
from engine.table.table import Table

GENERATOR = np.random.default_rng(20261121)


def register(people: int = 3000) -> pd.DataFrame:
    """A made register: names, numbers and values as hospitals have them, several rows a person."""
    size = people * 2
    return pd.DataFrame(
        {
            "pid": GENERATOR.permutation(10**6)[:people].repeat(2).astype(str),
            "age": GENERATOR.integers(0, 95, size),
            "sex": GENERATOR.choice(["f", "m"], size),
            "admitted": pd.to_datetime("2025-01-01") + pd.to_timedelta(GENERATOR.integers(0, 700, size), "D"),
            "ward": GENERATOR.choice([f"W{number}" for number in range(30)], size),
            "stay": GENERATOR.integers(0, 40, size),
            "code": GENERATOR.choice([f"E{number}" for number in range(300)], size),
            "cost": GENERATOR.integers(100, 90000, size),
        }
    )


KNOWN = register()


@pytest.fixture(autouse=True)
def same_numbers_in_every_order_of_tests() -> None:
    GENERATOR.bit_generator.state = np.random.default_rng(7).bit_generator.state


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


def look(ledger: Ledger, frame: pd.DataFrame, key: str | None = "pid") -> Any:
    table = Table(frame.reset_index(drop=True))
    schema = Schema(()) if key is None else Schema((Column(key, Role.PERSON_KEY),))
    return trace_table(ledger, table, schema, fingerprints(table), table.names)


def attach(ledger: Ledger, holding: str, found: Any, **others: Any) -> None:
    given = (found.fingerprints.fingerprint, found.people, found.columns)
    kept = {"rows": found.fingerprints.rows, "contents": found.fingerprints.contents, "key": found.key}
    ledger.attach(holding, *given, **(kept | others))


@pytest.fixture
def known(ledger: Ledger) -> Ledger:
    for name in ("Clinic", "Second budget"):
        ledger.create_holding(name, unit="person", neighbours="add_remove", epsilon=1)
    attach(ledger, "Clinic", look(ledger, KNOWN))
    return ledger


def other_ids(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(pid=frame["pid"].map(lambda one: f"X{int(one) * 7919 % 10**7}"))


def other_names(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.rename(columns={name: f"v{place}" for place, name in enumerate(frame.columns)})


CHANGED: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str | None, str]] = {
    "same": (lambda frame: frame.sample(frac=1, random_state=1), "pid", "table"),
    "other names and other numbers of people": (lambda f: other_names(other_ids(f)), "v0", "rows"),
    "the same, and half of the rows": (lambda f: other_names(other_ids(f)).iloc[::2], "v0", "rows"),
    "the same, and a column added": (
        lambda f: other_names(other_ids(f)).assign(more=GENERATOR.random(len(f))),
        "v0",
        "rows",
    ),
    "a column added, no key marked": (lambda f: f.assign(more=1), None, "rows"),
    "every row twice, no key, other names": (
        lambda f: other_names(pd.concat([other_ids(f), other_ids(f)])),
        None,
        "rows",
    ),
    "every row three times, mixed": (
        lambda f: other_names(pd.concat([other_ids(f)] * 3)).sample(frac=1, random_state=2),
        None,
        "rows",
    ),
    "an extract without the key": (lambda f: f[["age", "sex"]], None, "contents"),
    "next year, other people, one column more": (lambda f: register().assign(more=1), "pid", "columns"),
    "a tenth of the people, other columns": (lambda f: f.iloc[:600][["pid"]].assign(x="y"), "pid", "people"),
}


@pytest.mark.parametrize("how", CHANGED)
def test_a_changed_table_is_recognised(known: Ledger, how: str) -> None:
    change, key, ground = CHANGED[how]
    found = look(known, change(KNOWN), key)
    (match,) = found.matches(known)
    assert match.holding.name == "Clinic"
    assert match.grounds[0] == ground
    with pytest.raises(InputRefused) as refusal:
        attach(known, "Second budget", found)
    assert refusal.value.code == f"ledger.known_{ground}"
    assert "Clinic" in texts.explain(refusal.value)[0]
    attach(known, "Second budget", found, reason="An auditor will read this")
    assert known.journal()[-1]["kind"] == "declared_new"
    known.verify_chain()


def test_what_cannot_be_recognised_is_not_claimed(known: Ledger) -> None:
    """Other rows of the same people under other numbers and other names: nothing is left to compare."""
    assert look(known, other_names(other_ids(register())), "v0").matches(known) == []


def test_another_register_of_other_columns_matches_nothing(known: Ledger) -> None:
    size = 4000
    other = pd.DataFrame(
        {
            "case": [f"C{number}" for number in range(size)],
            "bmi": GENERATOR.integers(150, 450, size) / 10,
            "smoker": GENERATOR.choice(["yes", "no"], size),
            "years": GENERATOR.integers(18, 95, size),
        }
    )
    assert look(known, other, "case").matches(known) == []


def test_removed_people_are_noticed_by_the_run_itself(known: Ledger, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "ledger.sqlite") as db:
        db.execute("UPDATE trace SET people = x''")
    db.close()
    with pytest.raises(VerificationFailed) as caught:
        attach(known, "Second budget", look(known, KNOWN.assign(age=0)))
    assert caught.value.code == "ledger.people_differ"


def test_a_register_of_persons_is_not_charged_by_visit_without_a_reason(known: Ledger) -> None:
    visits = KNOWN.assign(visit=[f"V{number}" for number in range(len(KNOWN))], age=KNOWN["age"] + 1)
    by_visit = look(known, visits, "visit")
    with pytest.raises(InputRefused) as refusal:
        attach(known, "Clinic", by_visit)
    assert refusal.value.code == "ledger.key_changed"
    assert refusal.value.values["before"] == "pid" and refusal.value.values["found"] == "visit"
    texts.explain(refusal.value)
    attach(known, "Clinic", look(known, visits.rename(columns={"pid": "PID"}), "PID"))
    attach(known, "Clinic", by_visit, key_reason="Every person came once this year")
    assert known.journal()[-1]["details"]["key_reason"] == "Every person came once this year"
    assert known.person_key("Clinic") == "visit"


# Coincidence


def numbers(ledger: Ledger, values: Any, column: str = "nr") -> Any:
    return look(ledger, pd.DataFrame({column: [str(one) for one in values]}), column)


@pytest.fixture
def small(ledger: Ledger) -> Callable[[Any, Any], Any]:
    def match(known: Any, table: Any) -> Any:
        ledger.create_holding("Numbers", unit="person", neighbours="add_remove", epsilon=1)
        attach(ledger, "Numbers", numbers(ledger, known))
        found = numbers(ledger, table, "other_name").matches(ledger)
        return found[0] if found else None

    return match


def test_seven_equal_numbers_are_a_question_with_their_share_and_chance(small: Any) -> None:
    known = GENERATOR.choice(10**6, 1500, replace=False)
    table = np.append(np.setdiff1d(GENERATOR.choice(10**6, 6200, replace=False), known)[:6120], known[:7])
    match = small(known, table)
    assert (match.people_shared, match.people, match.grounds) == (7, 6127, ("coincidence",))
    assert 0.5 < match.chance <= 1
    what, _ = texts.explain(match.refusal("Another"))
    assert "7 of the 6127" in what.replace(",", "") and "coincidence" in what


@pytest.mark.parametrize("known, table", [(500, 450), (2139, 740), (98304, 98304), (6127, 10)])
def test_running_numbers_say_nothing(small: Any, known: int, table: int) -> None:
    match = small(range(1, known + 1), range(1, table + 1))
    assert match.grounds == ("coincidence",)
    assert match.chance == 1


@pytest.mark.parametrize("form", ["{:010d}", "P{}", "{}.5"])
def test_long_or_other_keys_are_no_coincidence(small: Any, form: str) -> None:
    match = small([form.format(one) for one in range(200)], [form.format(one) for one in range(198, 400)])
    assert (match.grounds, match.chance, match.people_shared) == (("people",), 0, 2)


def test_most_people_of_a_sparse_range_are_no_coincidence(small: Any) -> None:
    known = GENERATOR.choice(10**6, 3000, replace=False)
    match = small(known, np.append(known[:200], 999_999))
    assert match.grounds == ("people",)
    assert match.chance < 1e-100


def test_the_chance_bounds_what_happens(ledger: Ledger) -> None:
    """Registers with random numbers, 400 times: no value is reached more often than it says."""
    from engine.ledger.people import among, chance_of_coincidence, digests

    found = []
    for _ in range(400):
        one, two = (
            digests(bytes(32), GENERATOR.choice(90_000, 900, replace=False).astype(str)) for _ in "ab"
        )
        found.append(chance_of_coincidence(one, two, one[among(one, two)]))
    for level in (0.5, 0.1, 0.01):
        # 400 draws: four standard deviations above the level.
        assert np.mean(np.array(found) <= level) <= level + 4 * np.sqrt(level / 400)
    assert min(found) < 0.9


def test_a_coincidence_does_not_win_over_the_register_of_the_table(ledger: Ledger) -> None:
    for name in ("Large", "Own"):
        ledger.create_holding(name, unit="person", neighbours="add_remove", epsilon=1)
    attach(ledger, "Large", numbers(ledger, range(1, 5001)))
    frame = pd.DataFrame({"id": range(1, 501), "age": 7, "sex": "f"}).astype(str)
    attach(ledger, "Own", look(ledger, frame, "id"), reason="Another clinic; both number from 1")
    more = pd.DataFrame({"id": range(1, 521), "age": 8, "sex": "m"}).astype(str)
    later = look(ledger, more, "id")
    assert [match.holding.name for match in later.matches(ledger)] == ["Own", "Large"]
    attach(ledger, "Own", later)  # asked once, not with every export


def test_people_are_known_however_their_letters_are_composed(ledger: Ledger) -> None:
    """Also by a register that was made when both ways of writing were two people."""
    for name in ("Clinic", "Second budget"):
        ledger.create_holding(name, unit="person", neighbours="add_remove", epsilon=1)
    named = register().assign(pid=lambda frame: "M\u00fcller " + frame["pid"])
    apart = named.assign(pid=named["pid"].str.normalize("NFD"))
    assert (look(ledger, named).people == look(ledger, apart).people).all()
    before = look(ledger, named)
    attach(ledger, "Clinic", replace(before, people=before.apart))  # as a register has it from then
    fresh = register().assign(pid=named["pid"])  # nothing but the people is the same
    for frame in (fresh, fresh.assign(pid=apart["pid"])):
        found = look(ledger, frame).matches(ledger)
        assert found[0].holding.name == "Clinic" and found[0].people_shared > 0.9 * 3000
    assert not len(look(ledger, KNOWN).apart)
