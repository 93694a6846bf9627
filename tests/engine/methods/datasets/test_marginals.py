"""Invented rows with a guarantee: declared cells only, whatever the rows hold; refused without a row."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.datasets.marginal_model.possible import impossible_pairs, start_model
from engine.methods.protocol import Budget, Context
from engine.methods.shared.column_cells import Intervals, Named, cells_of
from engine.methods.shared.plausibility import rules_of
from engine.privacy.promise import Neighbours
from engine.release.check import check
from engine.release.examples import plans
from engine.release.foreseen import foresee
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.noise_source import seeded_noise

ID = "datasets.marginals"


def declared(name, kind, role=Role.OTHER, **domain):
    return Column(name, role, kind, domain=Domain(**domain), domain_origin=Origin.DECLARED)


COLUMNS = (
    declared("sex", Kind.CATEGORY, values=("f", "m")),
    declared("age", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(119)),
    declared("bmi", Kind.NUMBER, minimum=Fraction(10), maximum=Fraction(60)),
    declared("seen", Kind.DATE, minimum="2020-01-01", maximum="2020-12-31"),
)
BUDGET = Budget(Fraction(2))
ALL = ["sex", "age", "bmi", "seen"]


def request_for(given, budget=BUDGET, schema=None):
    return method(ID).make_request({"people": schema or Schema(COLUMNS)}, given, budget=budget)


def made(frame, given=None, **options):
    request = request_for({"columns": ALL, "about_rows": 2000, **(given or {})}, **options)
    assert not method(ID)(request).problems, method(ID)(request).problems
    noise = seeded_noise(5)
    release = method(ID)(request).run({"people": Table(frame)}, Context(noise, None, Path()))
    assert noise.counted == release.promise.drawn()
    return release


def some_rows(n=2000, seed=1):
    chance = np.random.default_rng(seed)
    sex = chance.choice(["f", "m"], n)
    return pd.DataFrame(
        {
            "sex": sex,
            "age": chance.integers(20, 90, n).astype(float),
            "bmi": np.where(sex == "m", 28, 23) + chance.normal(size=n),
            "seen": pd.to_datetime("2020-01-01") + pd.to_timedelta(chance.integers(0, 366, n), "D"),
        }
    )


def test_values_are_those_that_were_declared():
    frame = made(some_rows()).artefacts[0].frame
    assert set(frame["sex"]) <= {"f", "m", "other", ""}
    for name, low, high in (("age", 0, 119), ("bmi", 10, 60)):
        numbers = pd.to_numeric(frame[name][frame[name] != ""])
        assert numbers.between(low, high).all()
    assert frame["seen"][frame["seen"] != ""].between("2020-01-01", "2020-12-31").all()


def test_what_belongs_together_stays_together():
    frame = made(some_rows(), budget=Budget(Fraction(10))).artefacts[0].frame
    frame = frame[(frame["bmi"] != "") & frame["sex"].isin(["f", "m"])]
    means = pd.to_numeric(frame["bmi"]).groupby(frame["sex"]).mean()
    assert 3.5 < means["m"] - means["f"] < 6.5


HARD = [np.nan, np.inf, -np.inf, -1e300, 1e300, 5e-324, 0.0]


@pytest.mark.parametrize("n", [0, 1, 7])
def test_whatever_the_rows_hold_a_table_comes_out(n):
    frame = pd.DataFrame(
        {
            "sex": pd.Series(["x", "", None, "f", "1", "F ", "nan"][:n], dtype="object"),
            "age": pd.Series(HARD[:n], dtype=float),
            "bmi": pd.Series(HARD[:n][::-1], dtype=float),
            "seen": pd.to_datetime(pd.Series([None, "1900-01-01", "2300-01-01", *["2020-05-05"] * 4][:n])),
        }
    )
    assert len(made(frame).artefacts[0].frame) >= 1


def test_the_number_of_rows_is_not_the_true_one_unless_declared():
    assert len(made(some_rows(), {"rows": 321}).artefacts[0].frame) == 321
    lengths = {len(made(some_rows(n)).artefacts[0].frame) for n in (2000, 2001)}
    assert lengths != {2000, 2001}


@pytest.mark.parametrize("relation", Neighbours)
def test_people_with_several_rows_and_both_relations_are_paid_for(relation):
    schema = Schema((Column("pid", Role.PERSON_KEY), *COLUMNS), rows_per_person=3)
    budget = Budget(Fraction(3), Fraction(1, 10**6), relation)
    request = request_for(
        {"columns": ALL, "about_rows": 2000, "noise": "gaussian"}, budget=budget, schema=schema
    )
    assert not method(ID)(request).problems
    schedule = method(ID)(request).schedule
    twice = 2 if relation is Neighbours.REPLACE_ONE else 1
    assert schedule.moved == 3 * twice and schedule.squared == 9 * twice


@pytest.mark.parametrize(
    ("given", "budget", "code"),
    [
        ({"columns": ["sex"]}, BUDGET, "parameters.unfilled"),
        ({"columns": ALL, "about_rows": 2000}, None, "budget.missing"),
        ({"columns": ALL, "about_rows": 2000, "noise": "gaussian"}, BUDGET, "budget.delta_needed"),
        ({"columns": ["copied"], "about_rows": 2000}, BUDGET, "parameters.domain_copied"),
        ({"columns": ["bare"], "about_rows": 2000}, BUDGET, "parameters.domain_missing"),
        ({"columns": ["flat"], "about_rows": 2000}, BUDGET, f"{ID}.no_edges"),
        ({"columns": ["sex"], "about_rows": 2000, "edges": {"sex": [0, 1]}}, BUDGET, f"{ID}.no_edges"),
        ({"columns": ["many"], "about_rows": 2000}, BUDGET, f"{ID}.too_many_cells"),
        ({"columns": ["empty"], "about_rows": 2000}, BUDGET, "table.no_levels"),
    ],
)
def test_what_cannot_work_is_said_from_declarations_alone(given, budget, code):
    further = (
        Column("copied", kind=Kind.CATEGORY, domain=Domain(values=("a",)), domain_origin=Origin.COPIED),
        Column("bare", kind=Kind.CATEGORY),
        declared("flat", Kind.NUMBER, minimum=Fraction(1), maximum=Fraction(1)),
        declared("many", Kind.CATEGORY, values=tuple(f"v{place}" for place in range(6000))),
        declared("empty", Kind.CATEGORY, values=()),
    )
    request = request_for(given, budget=budget, schema=Schema((*COLUMNS, *further)))
    assert code in [problem.code for problem in method(ID)(request).problems]


def test_the_forecast_says_beforehand_when_only_single_columns_can_be_measured():
    def notes(epsilon, rows):
        request = request_for({"columns": ALL, "about_rows": rows}, budget=Budget(Fraction(epsilon)))
        return [note.id.rsplit(".", 1)[1] for note in method(ID)(request).forecast.notes]

    assert notes("1/100", 500) == ["noise_with_delta", "only_single", "crowded"]  # of 120 years of age
    # So little noise that a δ gains nothing, and that equal parts of the second column can be counted
    assert notes(5, 100_000) == ["pairs", "crowded", "parts"]


# --- cells ----------------------------------------------------------------------------------------


def test_intervals_hold_every_declared_value_once():
    age = cells_of(COLUMNS[1], bins=16)
    assert isinstance(age, Intervals) and age.size == 16  # 15 of eight years, one for missing values
    assert age.edges[-1] == 119
    codes = age.codes(pd.Series(range(-5, 130)))
    assert codes.min() == 0 and codes.max() == age.size - 2 and (np.diff(codes) >= 0).all()
    counts = np.bincount(codes[5:125])
    assert set(counts) == {8}


def test_a_value_written_back_lies_in_its_interval():
    for column in COLUMNS[1:]:
        cells = cells_of(column, bins=7)
        codes = np.repeat(np.arange(cells.size), 200)
        texts = cells.written(codes, np.random.default_rng(0).random(len(codes)))
        values = pd.Series(texts).replace("", None)
        values = pd.to_datetime(values) if column.kind is Kind.DATE else pd.to_numeric(values)
        assert (cells.codes(values) == codes).all()


def test_edges_of_ones_own_keep_zero_apart():
    cells = cells_of(COLUMNS[2], bins=16, edges=(Fraction(0), Fraction(1), Fraction(100)))
    assert cells.codes(pd.Series([0.0, 0.5, 1.0, 99.0, 1e9, -3.0, np.nan])).tolist() == [0, 0, 1, 1, 1, 0, 2]


def test_names_have_a_cell_for_what_was_not_declared_and_one_for_what_is_missing():
    sex = cells_of(COLUMNS[0], bins=16)
    assert isinstance(sex, Named) and sex.codes(pd.Series(["m", "x", None])).tolist() == [1, 2, 3]
    assert sex.written(np.array([1, 2, 3]), np.zeros(3)) == ["m", "other", ""]


@pytest.mark.parametrize(
    "column, edges",
    [
        (declared("x", Kind.DATE, minimum="1700-01-01", maximum="2200-01-01"), ["0", "1e308"]),
        (declared("x", Kind.NUMBER, minimum=Fraction(0), maximum=Fraction(9)), ["2020-01-01", "2020-02-01"]),
        (declared("x", Kind.INTEGER, minimum=Fraction(1, 10), maximum=Fraction(3, 10)), None),
    ],
)
def test_edges_of_another_kind_and_bounds_without_a_whole_number_are_refused(column, edges):
    given = {"columns": ["x"], "about_rows": 100, **({"edges": {"x": edges}} if edges else {})}
    found = method(ID)(request_for(given, schema=Schema((column,)))).problems
    assert [problem.code for problem in found] == [f"{ID}.no_edges"]


@pytest.mark.parametrize(
    "low, high, step, edges",
    [
        (Fraction(-(10**308)), Fraction(10**308), None, None),
        (Fraction(-(10**308)), Fraction(10**308), Fraction(1, 3), None),
        (Fraction(0), Fraction(10**300), None, [Fraction(0), Fraction(1, 10**300), Fraction(10**300)]),
        (Fraction(0), Fraction(1, 10**320), None, None),
        (Fraction(1), Fraction(365), Fraction(7), None),
        (Fraction(1), Fraction(365), Fraction(7), [Fraction(3), Fraction(4), Fraction(300)]),
    ],
)
def test_written_numbers_are_within_bounds_of_any_size(low, high, step, edges):
    column = declared("x", Kind.NUMBER, minimum=low, maximum=high, step=step)
    cells = cells_of(column, bins=5, edges=None if edges is None else tuple(edges))
    codes = np.repeat(np.arange(cells.size), 50)
    written = cells.written(codes, np.tile(np.linspace(0, 1 - 2**-53, 50), cells.size))
    assert set(np.array(written)[codes == cells.size - 1]) == {""}
    numbers = [float(text) for text in written if text]
    assert min(numbers) >= float(low) and max(numbers) <= float(high)
    if step == 7:
        inside = cells.codes(pd.Series(numbers))  # each is in the cell that it was written for
        own = codes[codes < cells.size - 1]
        assert edges or (np.array(numbers) % 7 == 1).all()
        assert edges or (inside == own).all()


def test_pairs_that_no_clique_has_room_for_are_not_counted(monkeypatch):
    from engine.methods.datasets.marginal_model import rounds

    cells = []
    count = rounds.count_cells

    def recorded(codes, attributes, sizes, weights=None):
        cells.append(np.prod(sizes))
        return count(codes, attributes, sizes, weights)

    monkeypatch.setattr(rounds, "count_cells", recorded)
    wide = [declared(name, Kind.CATEGORY, values=tuple(map(str, range(500)))) for name in "abc"]
    schema = Schema((*wide, declared("sex", Kind.CATEGORY, values=("f", "m"))))
    frame = pd.DataFrame({name: ["1", "2"] * 50 for name in "abc"} | {"sex": ["f", "m"] * 50})
    given = {"columns": [*"abc", "sex"], "rows": 10, "about_rows": 10**6}
    request = request_for(given, schema=schema)
    release = method(ID)(request).run({"people": Table(frame)}, Context(seeded_noise(5), None, Path()))
    assert len(release.artefacts[0].frame) == 10
    assert max(cells) <= 200_000


def test_noise_alone_makes_no_millions_of_rows():
    given = {"columns": ["sex"], "about_rows": 20}
    release = made(some_rows(20), given, budget=Budget(Fraction(1, 10**6)))
    assert len(release.artefacts[0].frame) <= 200


def test_normal_noise_can_be_priced():
    """What is confirmed for many discrete Gaussian tables and choices holds at losses of any size."""
    plan = plans(method(ID))[0]
    budget = Budget(Fraction(1, 2), Fraction(1, 10**6))
    plan = replace(plan, parameters=dict(plan.parameters) | {"noise": "gaussian"}, budget=budget)
    assert foresee(plan, check(plan)).price


# --- rules of plausibility -------------------------------------------------------------------------

STAYS = (
    declared("sex", Kind.CATEGORY, values=("f", "m")),
    declared("pregnant", Kind.CATEGORY, values=("no", "yes")),
    declared("came", Kind.DATE, minimum="2020-01-01", maximum="2020-12-31"),
    declared("went", Kind.DATE, minimum="2020-01-01", maximum="2020-12-31"),
    declared("ward", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(30)),
    declared("home", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(30)),
    declared("total", Kind.INTEGER, minimum=Fraction(0), maximum=Fraction(60)),
)
PREGNANT_MEN = {
    "one": {"column": "sex", "is": "in", "values": ["m"]},
    "other": {"column": "pregnant", "is": "in", "values": ["yes"]},
}
EVERY_SEX = [{"column": "sex", "is": "missing"}, {"column": "sex", "is": "not_missing"}]
RULES = {
    "never": [PREGNANT_MEN],
    "in_order": [{"first": "came", "second": "went"}],
    "sums": [{"total": "total", "parts": ["ward", "home"]}],
}
ALL_STAYS = [column.name for column in STAYS]


def stays(n=3000):
    chance = np.random.default_rng(3)
    came = chance.integers(0, 300, n)
    sex = chance.choice(["f", "m"], n)
    days = {"came": came, "went": came + chance.integers(0, 60, n)}
    ward, home = chance.integers(0, 30, (2, n))
    return pd.DataFrame(
        {
            "sex": sex,
            "pregnant": np.where((sex == "f") & (chance.random(n) < 0.3), "yes", "no"),
            **{name: pd.to_datetime("2020-01-01") + pd.to_timedelta(day, "D") for name, day in days.items()},
            "ward": ward.astype(float),
            "home": home.astype(float),
            "total": (ward + home).astype(float),
        }
    )


@pytest.mark.parametrize("epsilon", ["1/50", 3])
def test_no_row_breaks_a_rule_however_much_noise_there_is(epsilon):
    given = {"columns": ALL_STAYS, "about_rows": 3000, "rows": 4000, **RULES}
    release = made(stays(), given, budget=Budget(Fraction(epsilon)), schema=Schema(STAYS))
    frame = release.artefacts[0].frame
    assert len(frame) == 4000 and list(frame) == ALL_STAYS
    assert not ((frame["sex"] == "m") & (frame["pregnant"] == "yes")).any()
    assert (frame["pregnant"] == "yes").any()
    both = frame[(frame["came"] != "") & (frame["went"] != "")]
    assert len(both) and (both["came"] <= both["went"]).all()
    parts = frame[(frame["ward"] != "") & (frame["home"] != "")]
    total = pd.to_numeric(parts["total"])
    assert (total == pd.to_numeric(parts["ward"]) + pd.to_numeric(parts["home"])).all()


def test_what_is_impossible_is_no_cell_of_the_model():
    request = request_for({"columns": ALL_STAYS, "about_rows": 3000, **RULES}, schema=Schema(STAYS))
    columns = method(ID)(request).cells
    found = impossible_pairs(columns, rules_of(request), most_cells=50_000)
    assert set(found) == {(0, 1), (2, 3)}
    assert np.argwhere(found[0, 1]).tolist() == [[1, 1]]
    ordered = found[2, 3][:-1, :-1]
    assert np.array_equal(ordered, np.tril(np.ones_like(ordered), -1))  # wholly later intervals alone
    model = start_model(tuple(column.size for column in columns), 100.0, found)
    assert model.table((0, 1))[1, 1] == 0 and (model.table((2, 3))[found[2, 3]] == 0).all()
    assert model.table((2, 3)).sum() == pytest.approx(100)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (RULES, None),
        ({"columns": ["sex", "came"], "never": [PREGNANT_MEN]}, "not_released"),
        ({"target": "total", "sums": RULES["sums"]}, "not_released"),
        ({"in_order": [{"first": "came", "second": "ward"}]}, "no_order"),
        ({"sums": [{"total": "ward", "parts": ["ward"]}]}, "total_of_totals"),
        ({"never": [{"one": sex, "other": sex} for sex in EVERY_SEX]}, "rules_leave_nothing"),
        ({"columns": ["ward"], "sums": [{"total": "ward", "parts": ["home"]}]}, "not_released"),
    ],
)
def test_rules_that_cannot_be_kept_are_refused_from_declarations(given, code):
    request = request_for({"columns": ALL_STAYS, "about_rows": 3000, **given}, schema=Schema(STAYS))
    found = [problem.code for problem in method(ID)(request).problems]
    assert found == ([] if code is None else [f"{ID}.{code}"])


DEGREE = declared("degree", Kind.CATEGORY, values=("none", "school", "college"))
DEGREES = replace(
    DEGREE,
    hierarchy=Hierarchy(tree={"none": ("1", "low"), "school": ("2", "low"), "college": ("3", "high")}),
)
NUMBER = declared("number", Kind.INTEGER, minimum=Fraction(1), maximum=Fraction(9))
LEVEL = declared("level", Kind.CATEGORY, values=("low", "high"))
SCHOOL = Schema((*STAYS, DEGREES, NUMBER, LEVEL))
FOLLOW = [{"column": "number", "follows": "degree"}, {"column": "level", "follows": "degree"}]


def test_what_follows_from_another_column_fits_in_every_row_and_costs_nothing():
    frame = stays()
    frame["degree"] = np.random.default_rng(4).choice(["none", "school", "college", "x", None], len(frame))
    frame["number"], frame["level"] = 7, "high"  # whatever the rows hold
    columns = ["level", "sex", "ward", "total", "degree", "number"]
    never = [
        {
            "one": {"column": "level", "is": "in", "values": ["high"]},
            "other": {"column": "sex", "is": "in", "values": ["m"]},
        }
    ]
    given = {
        "columns": columns,
        "about_rows": 3000,
        "rows": 3000,
        "derived": FOLLOW,
        "sums": [{"total": "total", "parts": ["ward", "number"]}],
        "never": never,
    }
    release = made(frame, given, budget=Budget(Fraction(1)), schema=SCHOOL)
    found = release.artefacts[0].frame
    assert list(found) == columns
    rows = set(zip(found["degree"], found["number"], found["level"], strict=True))
    all_of_them = {
        ("none", "1", "low"),
        ("school", "2", "low"),
        ("college", "3", "high"),
        ("other", "", "other"),
        ("", "", ""),
    }
    assert rows == all_of_them
    assert not ((found["level"] == "high") & (found["sex"] == "m")).any()
    whole = found[(found["ward"] != "") & (found["number"] != "")].apply(pd.to_numeric, errors="coerce")
    assert len(whole) and (whole["total"] == whole["ward"] + whole["number"]).all()
    less = {"columns": ["sex", "ward", "degree"], "about_rows": 3000}
    costs = [method(ID)(request_for(one, schema=SCHOOL)).cost for one in (given | {"never": []}, less)]
    assert costs[0] == costs[1]
    meanings = {one.name: one.meaning.id for one in release.artefacts[0].dictionary}
    assert meanings["level"] == "datasets.derived" and meanings["degree"] == "datasets.invented"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"derived": FOLLOW}, None),
        ({"derived": [*FOLLOW, FOLLOW[0]]}, "derived_twice"),
        ({"derived": FOLLOW[:1], "sums": [{"total": "number", "parts": ["ward"]}]}, "derived_twice"),
        ({"derived": [{"column": "degree", "follows": "degree"}]}, "derived_of_computed"),
        (
            {"derived": [*FOLLOW, {"column": "degree", "follows": "level"}]},
            ["derived_of_computed"] * 3,
        ),
        ({"derived": [{"column": "sex", "follows": "bmi"}]}, "derived_without_values"),
        ({"derived": [{"column": "level", "follows": "sex"}]}, "derived_no_step"),
        ({"derived": [{"column": "sex", "follows": "degree"}]}, "derived_no_step"),
        ({"derived": FOLLOW, "target": "level"}, "not_released"),
        ({"columns": ["degree", "sex"], "derived": FOLLOW[:1]}, "not_released"),
    ],
)
def test_what_does_not_follow_is_said_from_declarations(given, code):
    schema = Schema((*SCHOOL.columns, COLUMNS[2]))
    names = [column.name for column in schema.columns]
    request = request_for({"columns": names, "about_rows": 3000, **given}, schema=schema)
    found = [problem.code for problem in method(ID)(request).problems]
    wanted = [code] if isinstance(code, str) else code or []
    assert found == [f"{ID}.{one}" for one in wanted]


def test_pairs_of_the_target_come_first():
    def of_target(target):
        given = {"columns": ALL, "about_rows": 500, "target": target}
        views = made(some_rows(500), given, budget=Budget(Fraction(2))).views
        tables = [row[0] for row in views[0].rows if isinstance(row[0], str)]
        return sum("seen" in table and "×" in table for table in tables)

    assert of_target("seen") >= of_target(None)
