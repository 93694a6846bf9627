"""What each step does to rows, by hand where nothing is drawn and by what must hold where something is."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.datasets.masking.fewest_cells import fewest
from engine.methods.datasets.masking.steps.swaps import _in_blocks
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin, Role
from tests.engine.methods.datasets.masked import generator, masked, released

KEY = Column("pid", Role.PERSON_KEY)
LEVELS = ("low", "some", "much", "high")
GRADE = Column("grade", Role.SENSITIVE, Kind.ORDINAL, Domain(values=LEVELS), Origin.DECLARED)
AGE = Column("age", Role.IDENTIFYING, Kind.INTEGER, hierarchy=Hierarchy(bands=(10, 20)))
CODE = Column("code", Role.OTHER, Kind.CATEGORY)
PLACE = Column("place", Role.IDENTIFYING, Kind.CATEGORY)
BOTH_ENDS = {"lowest": "18", "highest": "90"}
AT_98 = {"step": "code_ends_at_percentiles", "above": 98}
SIZE = Column("size", Role.OTHER, Kind.NUMBER)


def one(values, column, **step):
    """Mask one column and give back its values in the order of the rows, known again by a second column."""
    frame = pd.DataFrame({column.name: values, "row": [str(place) for place in range(len(values))]})
    row = Column("row", Role.OTHER, Kind.CATEGORY)
    found = masked(frame, [column, row], {"column": column.name, **step})
    return found.assign(row=found["row"].astype(int)).sort_values("row")[column.name].tolist()


# --- no chance --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "column", "step", "expected"),
    [
        ([3, 41, None], AGE, {"step": "generalise", "level": 1}, ["[0, 10)", "[40, 50)", ""]),
        ([3, 41, None], AGE, {"step": "generalise", "level": 3}, ["*", "*", "*"]),
        (["I50.12", "E1", None], CODE, {"step": "truncate", "keep": 3}, ["I50", "E1", ""]),
        ([3, 12, 12.5, -2, None], SIZE, {"step": "round_to", "base": 5}, ["5", "10", "15", "0", ""]),
        ([0.14, 0.26], SIZE, {"step": "round_to", "base": "1/10"}, ["0.1", "0.3"]),
        ([3, 41, 99, None], AGE, {**BOTH_ENDS, "step": "code_ends"}, ["18", "41", "90", ""]),
        ([3, 41, 99], AGE, {"step": "code_ends", "highest": "90"}, ["3", "41", "90"]),
        (list(range(101)), AGE, AT_98, [str(min(value, 98)) for value in range(101)]),
        (["wrote", None], Column("note"), {"step": "free_text"}, ["", ""]),
        (["wrote", None], Column("note"), {"step": "free_text", "treatment": "flagged"}, ["text", ""]),
    ],
)  # fmt: skip
def test_by_hand(values, column, step, expected):
    assert one(values, column, **step) == expected


@pytest.mark.parametrize(
    "step", [{"step": "generalise", "column": "age", "level": 1}, {"step": "suppress_cells", "k": 2}]
)
def test_a_number_that_became_a_text_is_not_called_a_number(step):
    """Whoever loads the table by its dictionary would meet [40, 50) or * where a number is announced."""
    frame = pd.DataFrame({"age": [*range(20, 60, 2), 71, 74]})
    for given in (step, {"step": "round_to", "column": "age", "base": 5}):
        table = released(frame, [AGE], given).artefacts[0]
        entry = next(one for one in table.dictionary if one.name == "age")
        is_number = all(cell.lstrip("-").isdigit() for cell in table.frame["age"] if cell)
        assert (entry.kind == "integer") == is_number == (given["step"] == "round_to")


def test_days_are_cut_off_at_a_day():
    born = Column("born", Role.TIME, Kind.DATE)
    found = one(["1921-05-01", "1950-01-02", None], born, step="code_ends", lowest="1930-01-01")
    assert found == ["1930-01-01", "1950-01-02", ""]


def test_a_declared_missing_code_stays_missing():
    size = Column("size", Role.OTHER, Kind.NUMBER, missing=("-9",))
    assert one([-9, 7], size, step="round_to", base=5) == ["", "5"]
    place = Column("place", Role.IDENTIFYING, Kind.CATEGORY, missing=("?",))
    assert one(["?", "Graz"], place, step="truncate", keep=2) == ["", "Gr"]


def test_a_column_that_is_left_out_can_be_used_before():
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "place": ["a", "a", "b", "b"], "size": [10, 20, 30, 40]})
    swap = {"step": "swap_similar", "columns": ["size"], "alike": ["place"], "rate": 1}
    found = masked(frame, [AGE, PLACE, SIZE], swap, {"step": "drop", "column": "place"})
    assert list(found) == ["age", "size"]
    assert dict(zip(found["age"], found["size"], strict=True)) == {"1": "20", "2": "10", "3": "40", "4": "30"}


# --- days -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("weeks", "every"), [(False, 1), (True, 7)])
def test_all_days_of_a_person_move_alike_and_intervals_are_exact(weeks, every):
    chance = generator(5)
    pid = np.repeat(np.arange(600), 3)
    seen = np.datetime64("2019-03-01") + chance.integers(0, 900, len(pid))
    left = seen + chance.integers(0, 30, len(pid))
    frame = pd.DataFrame({"pid": pid, "row": np.arange(len(pid)).astype(str), "seen": seen, "left": left})
    frame.loc[7, "left"] = None
    columns = [KEY, CODE, Column("seen", Role.TIME, Kind.DATE), Column("left", Role.TIME, Kind.DATE)]
    columns[1] = Column("row", Role.OTHER, Kind.CATEGORY)
    step = {"step": "shift_dates", "columns": ["seen", "left"], "most_days": 28, "whole_weeks": weeks}
    found = masked(frame, columns, step)
    found = found.assign(row=found["row"].astype(int)).sort_values("row").reset_index(drop=True)
    assert found.loc[7, "left"] == ""
    moved = {
        name: (pd.to_datetime(found[name]) - frame[name].astype("datetime64[s]")).dt.days
        for name in ("seen", "left")
    }
    assert (moved["seen"].groupby(pid).nunique() == 1).all()
    assert (moved["left"].drop(7) == moved["seen"].drop(7)).all()
    offsets = moved["seen"][::3]
    assert offsets.abs().max() <= 28 and (offsets % every == 0).all()
    # 600 people over 57 (or 9) numbers: each is missed with a chance below 57 · (56/57)^600 = 0.0014
    assert offsets.nunique() == 56 // every + 1


SHIFT = {"step": "shift_dates", "most_days": 30}
SEEN, DIED = (Column(name, Role.TIME, Kind.DATE, missing=("1900-01-01",)) for name in ("seen", "died"))


def days(n=300, seed=4):
    return np.datetime64("2019-03-01") + generator(seed).integers(0, 900, n)


@pytest.mark.parametrize(
    "step",
    [
        {**SHIFT, "columns": ["seen", "died"]},
        {"step": "code_ends", "column": "died", "lowest": "1950-01-01"},
        {"step": "generalise", "column": "died", "level": 1},
        {"step": "swap_similar", "columns": ["died"], "rate": 0.5},
        {"step": "resample", "column": "died"},
    ],
    ids=lambda step: step["step"],
)
@pytest.mark.parametrize("stored", ["datetime64[us]", "str"])
def test_a_day_that_is_declared_missing_is_changed_by_no_step(step, stored):
    died = days(seed=5)
    died[:200] = np.datetime64("1900-01-01")
    frame = pd.DataFrame({"seen": days(), "died": died}).astype({"died": stored})
    found = masked(frame, [SEEN, DIED], step)
    assert (found["died"] == "").sum() == 200 or step["step"] == "resample"
    filled = found["died"][found["died"] != ""]
    assert 60 < len(filled) < 140 and filled.str[:4].isin(["2018", "2019", "2020", "2021"]).all()


@pytest.mark.parametrize(
    ("day", "people", "refused"),
    [
        ("2020-06-30", 60, True),  # the end of a study
        ("1900-01-01", 2, True),
        ("9999-12-31", 2, True),
        ("2300-07-01", 5, True),  # no day of any list, and still no day of anybody
        ("2300-07-01", 1, False),
        ("2020-06-30", 15, False),
    ],
)
def test_a_day_that_too_many_share_is_not_moved(day, people, refused):
    seen = days()
    seen[:people] = np.datetime64(day)
    rows = pd.DataFrame({"pid": np.repeat(np.arange(300), 2), "seen": np.repeat(seen, 2)})
    plain = Column("seen", Role.TIME, Kind.DATE)
    if refused:
        with pytest.raises(InputRefused, match="shared_day"):
            masked(rows, [KEY, plain], {**SHIFT, "columns": ["seen"]})
    else:
        assert len(masked(rows, [KEY, plain], {**SHIFT, "columns": ["seen"]})) == 600


def test_rows_of_one_person_are_not_many_people():
    rows = pd.DataFrame({"pid": np.repeat(np.arange(300), 2), "seen": np.repeat(days(), 2)})
    many = pd.DataFrame({"pid": [0] * 200, "seen": np.datetime64("2020-06-30")})
    rows = pd.concat([rows, many.astype(rows.dtypes)], ignore_index=True)
    assert len(masked(rows, [KEY, SEEN], {**SHIFT, "columns": ["seen"]})) == 800


TOLD = {
    "eight digits": lambda seen: seen.strftime("%Y%m%d"),
    "a number": lambda seen: seen.strftime("%Y%m%d").astype("float64"),
    "with a time": lambda seen: seen.strftime("%Y-%m-%d 08:15"),
    "day first": lambda seen: seen.strftime("%d.%m.%Y"),
    "month first": lambda seen: seen.strftime("%m/%d/%Y"),
    "another day": lambda seen: (seen - pd.Timedelta("700D")).strftime("%d.%m.%Y"),
    "in a number of a case": lambda seen: "A-" + seen.strftime("%Y%m%d") + "-7",
    "in words": lambda seen: "seen on " + seen.strftime("%d.%m.%Y") + " in the ward",
    "days of a program": lambda seen: (seen - pd.Timestamp("1899-12-30")).days,
    "seconds": lambda seen: (seen - pd.Timestamp("1970-01-01")).days * 86_400 + 4711.0,
}


@pytest.mark.parametrize("form", TOLD)
@pytest.mark.parametrize("kind", [Kind.CATEGORY, Kind.INTEGER, Kind.NUMBER])
def test_days_do_not_leave_as_they_were_in_another_column(form, kind):
    seen = pd.DatetimeIndex(days())
    frame = pd.DataFrame({"seen": seen, "other": TOLD[form](seen)})
    reads = pd.to_numeric(frame["other"], errors="coerce").notna().all()
    other = Column("other", Role.OTHER, kind)
    step = {**SHIFT, "columns": ["seen"]}
    if not reads and kind is not Kind.CATEGORY:  # no number stands there, and none leaves
        assert set(masked(frame, [SEEN, other], step)["other"]) == {""}
        return
    with pytest.raises(InputRefused, match="told_day"):
        masked(frame, [SEEN, other], step)


def test_other_columns_leave_beside_days_that_are_moved():
    seen, chance = pd.DatetimeIndex(days()), generator(9)
    frame = pd.DataFrame(
        {
            "seen": seen,
            "age": chance.integers(0, 100, 300),
            "case": chance.integers(10_000_000, 99_999_999, 300),
            "code": [f"I{place}.{place % 7}" for place in range(300)],
            "year": seen.year,
        }
    )
    columns = [SEEN, AGE, *(Column(name, Role.OTHER, Kind.INTEGER) for name in ("case", "year")), CODE]
    assert len(masked(frame, columns, {**SHIFT, "columns": ["seen"]})) == 300
    drop = {"step": "drop", "column": "seen"}
    assert "seen" not in masked(frame, columns, {**SHIFT, "columns": ["seen"]}, drop)


# --- swapping ---------------------------------------------------------------------------------------


def test_ranks_move_by_no_more_than_their_share_and_all_values_stay():
    values = generator(1).permutation(2000) / 8
    found = np.array(one(values, SIZE, step="rank_swap", distance=0.05), dtype=float)
    assert sorted(found) == sorted(values)
    rank = pd.Series(values).rank().to_numpy()
    moved = np.abs(rank - pd.Series(found).rank().to_numpy())
    assert moved.max() <= 100 and (moved > 0).mean() > 0.95
    back = pd.Series(found).map(pd.Series(np.arange(2000), index=values).to_dict()).to_numpy()
    assert (back[back] == np.arange(2000)).all()  # pairs changed places


@pytest.mark.parametrize("shape", ["even", "one far away", "few values", "one value", "huge", "none"])
@pytest.mark.parametrize("size", [2, 7, 90])
def test_blocks_hold_the_ranks_between_their_cuts(shape, size):
    chance = generator(2)
    values = {
        "even": chance.normal(size=3_000),
        "one far away": np.append(chance.normal(size=3_000), 1e12),
        "few values": chance.integers(0, 5, 3_000),
        "one value": np.zeros(50),
        "huge": chance.choice([-1.7e308, 1.7e308, 0.0], 300),
        "none": np.zeros(0),
    }[shape]
    cuts = np.arange(1, len(values), size)
    order = _in_blocks(values, cuts, chance)
    assert sorted(order) == list(range(len(values)))
    for part, right in zip(np.split(values[order], cuts), np.split(np.sort(values), cuts), strict=True):
        assert sorted(part) == sorted(right)


def test_equal_values_stand_on_both_sides_of_a_cut_by_lot():
    """Four of six equal rows before the cut: each is among them in two of three draws, 4 standard errors."""
    before = np.zeros(6)
    for seed in range(900):
        before[_in_blocks(np.ones(6), np.array([4]), generator(seed))[:4]] += 1
    assert np.abs(before / 900 - 2 / 3).max() < 4 * (2 / 9 / 900) ** 0.5


def test_ordered_categories_change_with_their_neighbours_alone():
    values = ["low"] * 100 + ["some"] * 100 + ["much"] * 100 + ["high"] * 100
    found = one(values, GRADE, step="rank_swap", distance=0.25)
    place = {level: at for at, level in enumerate(LEVELS)}
    assert sorted(found) == sorted(values)
    assert max(abs(place[a] - place[b]) for a, b in zip(found, values, strict=True)) == 1


def test_a_missing_value_is_not_swapped():
    found = one([1, None, 2, 3], SIZE, step="rank_swap", distance=1)
    assert found[1] == "" and sorted(found) == ["", "1", "2", "3"]


def test_similar_people_swap_all_columns_together_and_row_by_row():
    chance = generator(8)
    rows_of = chance.integers(1, 4, 500)
    pid = np.repeat(np.arange(500), rows_of)
    frame = pd.DataFrame({"pid": pid, "place": chance.choice(["a", "b", "c"], 500)[pid]})
    frame["age"] = chance.integers(0, 90, 500)[pid]
    frame["size"], frame["row"] = pid, np.arange(len(pid)).astype(str)
    columns = [KEY, PLACE, AGE, SIZE, Column("row", Role.OTHER, Kind.CATEGORY)]
    step = {"step": "swap_similar", "columns": ["age", "size"], "alike": ["place"], "rate": 0.5}
    made = released(frame, columns, step)
    found = made.artefacts[0].frame
    found = found.assign(row=found["row"].astype(int)).sort_values("row").reset_index(drop=True)
    partner = found["size"].astype(int).to_numpy()
    assert (
        found["age"].astype(int).to_numpy() == frame.groupby("pid")["age"].first().to_numpy()[partner]
    ).all()
    assert (pd.Series(partner).groupby(pid).nunique() == 1).all()  # what a person shared stays shared
    people = partner[np.concatenate([[0], np.cumsum(rows_of)[:-1]])]
    assert (people[people] == np.arange(500)).all() and (rows_of[people] == rows_of).all()
    place = frame.groupby("pid")["place"].first().to_numpy()
    assert (place[people] == place).all()
    share = (people != np.arange(500)).mean()
    assert made.inside.figures["steps"][0]["swapped"] == pytest.approx(share)
    assert 0.35 < share <= 0.6  # half are drawn, a few find nobody; five standard errors are 0.11


def test_resampled_values_are_those_of_the_column_and_tell_nothing_of_the_row():
    values = [str(place % 4) for place in range(4000)]
    found = one(values, CODE, step="resample")
    assert set(found) == set(values)
    alike = np.mean([a == b for a, b in zip(found, values, strict=True)])
    assert abs(alike - 0.25) < 5 * (0.25 * 0.75 / 4000) ** 0.5


# --- samples and cells that are left out ---------------------------------------------------------------


def test_a_sample_keeps_whole_people():
    pid = np.repeat(np.arange(200), 2)
    frame = pd.DataFrame({"pid": pid, "size": pid})
    found = masked(frame, [KEY, SIZE], {"step": "sample", "share": 0.25})
    assert found["size"].value_counts().tolist() == [2] * 50


def smallest(frame, names):
    return int(frame.groupby(list(names)).size().min())


@pytest.mark.parametrize("several", [False, True])
def test_every_row_reads_like_k_others_once_cells_are_left_out(several):
    chance = generator(4)
    frame = pd.DataFrame(
        {
            "age": chance.integers(20, 40, 600),
            "place": chance.choice(list("abcdef"), 600),
            "code": chance.choice(list("xyz"), 600),
        }
    )
    columns = [AGE, PLACE, Column("code", Role.IDENTIFYING, Kind.CATEGORY)]
    if several:
        frame["pid"] = np.arange(600) // 2
        columns = [KEY, *columns]
    made = released(frame, columns, {"step": "suppress_cells", "k": 7})
    found = made.artefacts[0].frame
    assert len(found) == 600 and smallest(found, found.columns) >= 7
    assert made.inside.figures["alone_after"] == 0 < made.inside.figures["alone_before"]
    left_out = int((found == "*").to_numpy().sum())
    assert left_out == made.inside.figures["steps"][0]["cells_left_out"] < 0.4 * found.size


def fewest_by_trying(codes, rows, k):
    """Return the fewest cells by trying every partition of a few rows into groups of at least k."""
    each = np.repeat(np.arange(len(codes)), rows)
    best = codes.shape[1] * len(each)

    def cost(group):
        values = codes[each[list(group)]]
        return len(group) * int((values != values[0]).any(axis=0).sum())

    def walk(free, so_far):
        nonlocal best
        if so_far >= best:
            return
        if not free:
            best = so_far
            return
        first, others = free[0], free[1:]
        for size in range(k - 1, min(2 * k - 1, len(others) + 1)):
            for chosen in itertools.combinations(others, size):
                rest = tuple(place for place in others if place not in chosen)
                walk(rest, so_far + cost((first, *chosen)))

    walk(tuple(range(len(each))), 0)
    return best


@pytest.mark.parametrize("draw", range(8))
def test_a_small_table_loses_the_fewest_cells_that_are_possible(draw):
    chance = generator(100 + draw)
    table = chance.integers(0, 3, (8, 3))
    codes, rows = np.unique(table, axis=0, return_counts=True)
    k = 2 + draw % 2
    found = fewest(codes, rows, k)
    lost = np.array([bin(pattern).count("1") for pattern in range(8)])
    assert (found.sum(axis=1) == rows).all()
    assert int((found @ lost).sum()) == fewest_by_trying(codes, rows, k)


def test_a_table_that_is_too_small_for_k_is_refused():
    from engine.errors import InputRefused

    frame = pd.DataFrame({"place": ["a", "b"]})
    with pytest.raises(InputRefused, match="too_few"):
        masked(frame, [PLACE], {"step": "suppress_cells", "k": 3})
