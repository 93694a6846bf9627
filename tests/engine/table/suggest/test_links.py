"""How tables hang together is proposed whatever they are called, and counted as a plain loop counts it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.table.schema import DETAILS, PEOPLE, RECORDS
from engine.table.suggest.links import Counted, Hanging, count_links, propose_links
from engine.table.table import Table


def register(*, renamed: bool = False, numbered: bool = True, seed: int = 1) -> dict[str, pd.DataFrame]:
    """Make people, stays and diagnoses; numbers of stays are unique, or begin anew with every person."""
    made = np.random.default_rng(seed)
    who = made.choice(9000, 300, replace=False)
    people = pd.DataFrame({"pid": who, "age": made.integers(0, 99, 300), "sex": made.choice(["f", "m"], 300)})
    whose = np.append(made.choice(who, 498), [9998, 9999])
    stays = pd.DataFrame(
        {"pid": whose, "ward": made.choice(["a", "b"], 500), "days": made.integers(1, 20, 500)}
    )
    stays.insert(0, "stay", np.arange(500) + 5000 if numbered else stays.groupby("pid").cumcount() + 1)
    chosen = stays.iloc[made.integers(0, 500, 900)]
    details = pd.DataFrame(
        {"code": made.choice(list("xyz"), 900), "pid": chosen["pid"], "stay": chosen["stay"]}
    )
    details.iloc[:7, 2] = 77_777
    if renamed:
        stays = stays.rename(columns={"pid": "patient", "stay": "nr"})
        details = details.rename(columns={"pid": "who", "stay": "visit"})
    return {"details": details, "stays": stays, "people": people}


def tables(frames: dict[str, pd.DataFrame]) -> dict[str, Table]:
    return {name: Table(frame.astype("str").reset_index(drop=True)) for name, frame in frames.items()}


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("renamed", [True, False])
def test_people_records_and_details_are_told_apart(renamed: bool, numbered: bool) -> None:
    frames = register(renamed=renamed, numbered=numbered)
    found = propose_links(tables(frames))
    assert found.parts == {"people": PEOPLE, "stays": RECORDS, "details": DETAILS}
    names = ("pid", "patient", "who") if renamed else ("pid", "pid", "pid")
    assert [found.person[name] for name in ("people", "stays", "details")] == list(names)
    assert (found.record, found.record_of) == (("nr", "visit") if renamed else ("stay", "stay"))


@pytest.mark.parametrize("numbered", [True, False])
def test_orphans_are_counted_as_a_loop_counts_them(numbered: bool) -> None:
    frames = register(numbered=numbered)
    counted = count_links(tables(frames), propose_links(tables(frames)))
    people = set(frames["people"]["pid"])
    stays, details = frames["stays"], frames["details"]
    pairs = {(one.pid, one.stay) for one in stays.itertuples() if one.pid in people}
    known = [one for one in details.itertuples() if one.pid in people]
    expected = {
        "stays": Counted(
            500,
            sum(one not in people for one in stays["pid"]),
            int(stays[stays.pid.isin(people)].pid.value_counts().max()),
        ),
        "details": Counted(
            900,
            sum(one not in people for one in details["pid"]),
            int(pd.Series([one.pid for one in known]).value_counts().max()),
            sum((one.pid, one.stay) not in pairs for one in details.itertuples()),
        ),
    }
    assert counted == expected and counted["stays"].nobody == 2


def test_a_way_that_somebody_chose_is_counted_as_it_is() -> None:
    own = tables(register())
    wrong = Hanging({"people": PEOPLE, "stays": RECORDS}, {"people": "pid", "stays": "days"})
    counted = count_links(own, wrong)
    ids = set(own["people"].rows()["pid"])
    assert counted["stays"].nobody == sum(one not in ids for one in own["stays"].rows()["days"])
    assert count_links(own, Hanging({"people": PEOPLE, "stays": RECORDS}, {"people": "pid"})) == {}
    assert count_links(own, Hanging({"stays": RECORDS}, {"stays": "pid"})) == {}


def test_small_numbers_do_not_make_people_of_days() -> None:
    """Days from 1 to 20 stand among the numbers 1 to 300 of people: they hang on nobody."""
    people = pd.DataFrame({"nr": range(1, 301), "sex": ["f", "m"] * 150})
    stays = pd.DataFrame(
        {"days": [1 + n % 20 for n in range(400)], "patient": [1 + n % 280 for n in range(400)]}
    )
    found = propose_links(tables({"stays": stays, "people": people}))
    assert found.person == {"people": "nr", "stays": "patient"}


def test_tables_that_share_nothing_hang_on_nothing() -> None:
    one = pd.DataFrame({"a": ["x", "y", "z"]})
    other = pd.DataFrame({"b": ["1", "2", "2"]})
    empty = pd.DataFrame({"c": []})
    found = propose_links(tables({"one": one, "other": other, "empty": empty}))
    assert found.parts == {"one": PEOPLE} and not found.person
    assert count_links(tables({"one": one}), found) == {}
