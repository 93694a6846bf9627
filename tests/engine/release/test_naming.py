"""A column that names people leaves in rows only for a reason, whatever its role and whatever the method."""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.library import read_table
from engine.methods.catalogue import method, methods
from engine.methods.protocol import MAIN, Method, Rows
from engine.release import examples
from engine.release.bundle import Bundle
from engine.release.decisions import decision_about
from engine.release.naming import Naming, Why, _share_unchanged, naming, notes, reason_for
from engine.release.plan import Plan
from engine.release.reasons import with_reasons
from engine.release.run import run
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema

NOISY = "datasets.classifier_noise"  # every column that leaves beside the class gets noise
FEATURES = "datasets.features"  # reads columns with declared values alone, and so none of numbers of cases
OF_ROWS = [
    one for one in methods() if one.rows in (Rows.REAL, Rows.COARSER) and one.id not in (NOISY, FEATURES)
]


def number_of(place: int) -> str:
    return str(100_000 + place * 7919 % 900_000)


def plan_with(
    asked: Method,
    folder: Path,
    values: Callable[[int], str] = number_of,
    *,
    role: Role = Role.OTHER,
    kind: Kind = Kind.INTEGER,
    name: str = "case_no",
) -> Plan:
    """Return the first example of a method with one more column, which leaves."""
    plan = examples._bring(examples.plans(asked)[0], folder)
    path = folder / plan.files[MAIN].path
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    lines = [[*lines[0], name], *([*line, values(place)] for place, line in enumerate(lines[1:]))]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    schema = replace(plan.schemas[MAIN], columns=(*plan.schemas[MAIN].columns, Column(name, role, kind)))
    reference = plan.files[MAIN]
    options: Any = {**reference.options, "width": len(lines[0])}
    parameters = {**plan.parameters, "columns": [*plan.parameters["columns"], name]}
    return replace(
        plan,
        schemas={**plan.schemas, MAIN: schema},
        files={**plan.files, MAIN: replace(reference, options=options)},
        parameters=parameters,
    )


def made(plan: Plan, folder: Path, **options: Any) -> Bundle:
    ledger = Ledger(folder / "ledger.sqlite")
    return run(plan, out=folder / "out", ledger=ledger, base=folder, **options)


@pytest.mark.parametrize(
    "step",
    [
        {"step": "round_to", "base": 1},
        {"step": "noise", "distribution": "normal", "standard_deviation": "0.000000001"},
    ],
    ids=lambda one: str(one["step"]),
)
def test_a_mask_that_changes_nothing_hides_no_number(step: dict[str, Any], tmp_path: Path) -> None:
    plan = plan_with(method("datasets.masking"), tmp_path)
    steps = [*plan.parameters["steps"], {**step, "column": "case_no"}]
    plan = replace(plan, parameters={**plan.parameters, "steps": steps})
    with pytest.raises(InputRefused, match=r"run\.names_people") as refused:
        made(plan, tmp_path)
    assert refused.value.values["column"] == "case_no" and not (tmp_path / "out").exists()


def before_and_after(kind: Kind, steps: list[dict[str, Any]], folder: Path) -> Bundle:
    values: dict[Kind, Callable[[int], str]] = {
        Kind.INTEGER: number_of,
        Kind.TEXT: lambda place: f"AB{number_of(place)}-{place % 10}",
        Kind.DATE: lambda place: str(date(1930, 1, 1) + timedelta(days=place * 7919 % 40_000)),
    }
    plan = plan_with(method("datasets.masking"), folder, values[kind], kind=kind)
    steps = [
        {**step, **({"columns": ["case_no"]} if kind is Kind.DATE else {"column": "case_no"})}
        for step in steps
    ]
    return made(
        replace(plan, parameters={**plan.parameters, "steps": [*plan.parameters["steps"], *steps]}), folder
    )


NOISE = {"step": "noise", "distribution": "normal"}


@pytest.mark.parametrize(
    ("kind", "step"),
    [
        (Kind.INTEGER, {**NOISE, "standard_deviation": 2}),
        (Kind.INTEGER, {"step": "round_to", "base": 10}),
        (Kind.TEXT, {"step": "truncate", "keep": 8}),  # without its check digit
        (Kind.DATE, {"step": "shift_dates", "most_days": 1}),
    ],
)
def test_nor_does_one_that_leaves_the_number_to_be_told(
    kind: Kind, step: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(InputRefused, match="names_people"):
        before_and_after(kind, [step], tmp_path)


@pytest.mark.parametrize(
    ("kind", "step"),
    [
        (Kind.INTEGER, {**NOISE, "standard_deviation": 200_000}),
        (Kind.INTEGER, {"step": "round_to", "base": 100_000}),
        (Kind.TEXT, {"step": "truncate", "keep": 3}),
        (Kind.TEXT, {"step": "free_text"}),
    ],
)
def test_one_that_leaves_nothing_to_be_told_passes(kind: Kind, step: dict[str, Any], tmp_path: Path) -> None:
    assert before_and_after(kind, [step], tmp_path).folder.is_dir()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("write", "share"),
    [
        (lambda day: f"{day.year // 50 * 50} to {day.year // 50 * 50 + 49}", 0.0),
        (lambda day: f"before {day.year // 50 * 50}", 0.0),
        (lambda day: day.year // 50 * 50, 0.0),
        (lambda day: "*", 0.0),
        (lambda day: None, 0.0),
        (lambda day: f"about {day}", 1.0),
        (str, 1.0),
        (lambda day: day, 1.0),
    ],
)
def test_days_that_became_something_else_are_compared_without_a_warning(
    write: Callable[[date], Any], share: float
) -> None:
    days = [date(1930, 1, 1) + timedelta(days=place * 7919 % 40_000) for place in range(200)]
    before = pd.Series(pd.to_datetime(days)).astype("datetime64[s]")
    assert _share_unchanged(before, pd.Series([write(day) for day in days])) == pytest.approx(share, abs=0.02)


def test_rows_that_a_condition_leaves_are_looked_at_too(tmp_path: Path) -> None:
    """A number of a family is nobody's alone until one row of each family is left."""
    plan = plan_with(method("datasets.masking"), tmp_path, lambda place: number_of(place // 2), name="family")
    half = {"step": "keep_rows_where", "column": "part", "is": "in", "values": ["1"]}
    path = tmp_path / plan.files[MAIN].path
    lines = path.read_text("utf-8").splitlines()
    path.write_text(
        "\n".join([f"{lines[0]},part", *(f"{line},{n % 2}" for n, line in enumerate(lines[1:]))]) + "\n"
    )
    part = Column("part", kind=Kind.CATEGORY)
    schema = replace(plan.schemas[MAIN], columns=(*plan.schemas[MAIN].columns, part))
    options: Any = {**plan.files[MAIN].options, "width": len(lines[0].split(",")) + 1}
    plan = replace(
        plan,
        schemas={**plan.schemas, MAIN: schema},
        files={**plan.files, MAIN: replace(plan.files[MAIN], options=options)},
    )
    with pytest.raises(InputRefused, match="names_people"):
        made(replace(plan, preparation=(half,)), tmp_path)
    made(plan, tmp_path)


@pytest.mark.parametrize("role", [Role.OTHER, Role.SENSITIVE])
@pytest.mark.parametrize("asked", OF_ROWS, ids=lambda one: one.id)
def test_a_case_number_does_not_leave_without_a_reason(asked: Method, role: Role, tmp_path: Path) -> None:
    if asked.id == "datasets.anatomy" and role is Role.SENSITIVE:
        pytest.skip("only the one sensitive column leaves")
    plan = plan_with(asked, tmp_path, role=role)
    with pytest.raises(InputRefused) as refused:
        made(plan, tmp_path)
    assert refused.value.code == "run.names_people_recognised"
    assert refused.value.values["column"] == "case_no"
    assert not (tmp_path / "out").exists()
    assert not Ledger(tmp_path / "ledger.sqlite").entries()


def test_any_column_with_one_value_a_row_is_such_a_column(tmp_path: Path) -> None:
    plan = plan_with(
        method("datasets.pseudonyms"),
        tmp_path,
        lambda place: f"{1 + place * 0.37:.2f}",
        kind=Kind.NUMBER,
        name="crp",
    )
    with pytest.raises(InputRefused) as refused:
        made(plan, tmp_path)
    assert refused.value.code == "run.names_people_each_row"


KEPT_NUMBERS = [one for one in OF_ROWS if one.id in ("datasets.pseudonyms", "datasets.k_anonymity")]


@pytest.mark.parametrize("rows", [2, 1500])
@pytest.mark.parametrize("asked", KEPT_NUMBERS, ids=lambda one: one.id)
def test_a_number_that_stands_twice_hides_no_other_one(asked: Method, rows: int, tmp_path: Path) -> None:
    """A row that was entered twice, a number for all who have none: the others still name their people."""
    plan = plan_with(asked, tmp_path, lambda place: number_of(max(place, rows - 1)), name="crp")
    with pytest.raises(InputRefused) as refused:
        made(plan, tmp_path)
    assert refused.value.code == "run.names_people_each_row"


@pytest.mark.parametrize("cap", [1, 3])
def test_nor_do_several_rows_of_the_same_person(cap: int, tmp_path: Path) -> None:
    """A number that is the same in all rows of a person names that person as the key does."""
    plan = plan_with(method("datasets.pseudonyms"), tmp_path, name="crp")
    path = tmp_path / plan.files[MAIN].path
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    key = plan.schema.person_key
    assert key is not None
    for row in rows:
        row["crp"] = str(int(row[key.name]) * 3 % 1_000_003)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    assert len({row["crp"] for row in rows}) < len(rows)
    plan = replace(plan, schemas={MAIN: replace(plan.schema, rows_per_person=cap)})
    with pytest.raises(InputRefused) as refused:
        made(plan, tmp_path)
    assert refused.value.code == "run.names_people_each_row"


def test_what_repeats_leaves_as_before(tmp_path: Path) -> None:
    plan = plan_with(method("datasets.pseudonyms"), tmp_path, lambda place: str(place % 50), name="ward")
    assert made(plan, tmp_path).folder.is_dir()


def test_with_a_reason_it_leaves_and_the_release_says_so(tmp_path: Path) -> None:
    plan = plan_with(method("datasets.k_anonymity"), tmp_path)
    other = with_reasons(plan, {decision_about("other"): "asked for by the registry"})
    with pytest.raises(InputRefused, match=r"run\.names_people"):
        made(other, tmp_path)
    plan = with_reasons(plan, {decision_about("case_no"): "needed to correct rows later"})
    assert reason_for(plan, "case_no") and Plan.loads(plan.dumps()) == plan
    folder = made(plan, tmp_path).folder
    public = (folder / "release" / "evidence.json").read_text(encoding="utf-8")
    notes = [one for one in json.loads(public)["notes"] if one["id"] == "report.columns.names_people"]
    assert [one["values"] for one in notes] == [{"column": "case_no"}]
    assert "needed to correct" not in public
    said = (folder / "release" / "report-external.html").read_text(encoding="utf-8")
    assert "can name people" in said and "needed to correct" not in said
    inside = (folder / "internal" / "report-internal.html").read_text(encoding="utf-8")
    assert "needed to correct rows later" in inside


def test_a_second_reason_leaves_the_first_in_its_place() -> None:
    plan = examples.plans(method("datasets.pseudonyms"))[0]
    plan = with_reasons(plan, {decision_about("a"): "one"})
    plan = with_reasons(plan, {decision_about("b"): "two"})
    plan = with_reasons(plan, {decision_about("a"): "three"})
    assert (reason_for(plan, "a"), reason_for(plan, "b")) == ("three", "two")
    with pytest.raises(InputRefused, match=r"run\.unknown_decision"):
        with_reasons(plan, {"names": "x"})


def test_invented_rows_and_private_statistics_do_not_look_at_the_rows_for_it() -> None:
    for one in methods():
        if one.rows is Rows.NONE or one.invented:
            plan = examples.plans(one)[0]
            assert one(one.make_request(plan.schemas, plan.parameters)).keeps == ()


def declared_number(asked: Method, folder: Path, kind: Kind, name: str = "case_no") -> Plan:
    """Return an example over few rows, with an identifying case number whose values are declared."""
    plan = plan_with(asked, folder, role=Role.IDENTIFYING, kind=kind, name=name)
    path = folder / plan.files[MAIN].path
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)[:400]
    path.write_text("".join(lines), encoding="utf-8")
    values = tuple(line.rstrip("\n").rsplit(",", 1)[1] for line in lines[1:])
    order = tuple(sorted(values)) if kind is Kind.ORDINAL else values
    columns = tuple(
        replace(one, domain=Domain(values=order), domain_origin=Origin.DECLARED) if one.name == name else one
        for one in plan.schema.columns
    )
    return replace(plan, schemas={**plan.schemas, MAIN: replace(plan.schema, columns=columns)})


def letters(folder: Path, plan: Plan, name: str = "case_no") -> int:
    """Count the case numbers that left to the letter, in whatever cell."""
    own = {line.rsplit(",", 1)[1] for line in (folder / plan.files[MAIN].path).read_text().splitlines()[1:]}
    return len(
        own & set(re.findall(r"\d+", (folder / "out" / "release" / "table.csv").read_text(encoding="utf-8")))
    )


GROUPED = [
    ("datasets.microaggregation", Kind.CATEGORY, {}),
    ("datasets.microaggregation", Kind.ORDINAL, {}),
    ("datasets.microaggregation", Kind.ORDINAL, {"grouping": "ranking"}),
    ("datasets.partition", Kind.ORDINAL, {}),
    ("datasets.masking", Kind.CATEGORY, {"steps": [{"step": "pram", "column": "case_no", "stay": "1/10"}]}),
    ("datasets.masking", Kind.ORDINAL, {"steps": [{"step": "resample", "column": "case_no"}]}),
    (
        "datasets.masking",
        Kind.ORDINAL,
        {"steps": [{"step": "rank_swap", "column": "case_no", "distance": 1}]},
    ),
]


@pytest.mark.parametrize(("way", "kind", "changes"), GROUPED)
def test_a_number_that_stands_for_others_names_its_person_all_the_same(
    way: str, kind: Kind, changes: dict[str, Any], tmp_path: Path
) -> None:
    """One value for a group, another row's value, the ends of a range: what stands there is to the letter."""
    plan = declared_number(method(way), tmp_path, kind)
    plan = replace(plan, parameters={**plan.parameters, **changes})
    assert not plan.design.problems
    with pytest.raises(InputRefused, match=r"run\.names_people") as refused:
        made(plan, tmp_path)
    assert refused.value.values["column"] == "case_no" and not (tmp_path / "out").exists()
    plan = with_reasons(plan, {decision_about("case_no"): "asked for by the registry"})
    made(plan, tmp_path)
    assert letters(tmp_path, plan) > 10


def test_means_and_groups_of_numbers_name_nobody(tmp_path: Path) -> None:
    """What a mask makes anew leaves as before, whatever it is made from."""
    plan = plan_with(method("datasets.microaggregation"), tmp_path, role=Role.IDENTIFYING)
    made(plan, tmp_path)
    assert letters(tmp_path, plan) < 40


@pytest.mark.parametrize("way", ["left out", "only grouped before"])
def test_declared_values_of_a_column_that_stays_do_not_leave_either(way: str, tmp_path: Path) -> None:
    """The declared values of a number, its labels and its tree are the list of all people."""
    plan = declared_number(method("datasets.masking"), tmp_path, Kind.CATEGORY)
    numbers = plan.schema.column("case_no").domain
    assert numbers is not None and numbers.values is not None
    own = set(numbers.values)
    tree = {number: [number[:2]] for number in numbers.values}
    columns = tuple(
        replace(one, labels=dict(zip(own, own, strict=True)), hierarchy=Hierarchy(tree=tree))
        if one.name == "case_no"
        else one
        for one in plan.schema.columns
    )
    plan = replace(plan, schemas={MAIN: replace(plan.schema, columns=columns)})
    steps = list(plan.parameters["steps"])
    if way == "left out":
        parameters = {**plan.parameters, "steps": [{"step": "drop", "column": "case_no"}, *steps]}
        plan = replace(plan, parameters=parameters)
    else:
        groups = {number: number[:1] for number in numbers.values}
        step = {"step": "recode", "column": "case_no", "map": groups, "others": "missing", "to": "part"}
        kept = [name for name in plan.parameters["columns"] if name != "case_no"]
        parameters = {**plan.parameters, "columns": [*kept, "part"]}
        plan = replace(plan, parameters=parameters, preparation=(*plan.preparation, step))
    folder = made(plan, tmp_path).folder / "release"
    for path in folder.iterdir():
        assert len(own & set(re.findall(r"\d+", path.read_bytes().decode("latin-1")))) < 20, path.name


TEXTS = Path(texts.__file__).parents[1] / "resources" / "texts" / "en"


def test_the_words_are_those_of_the_rule(tmp_path: Path) -> None:
    """Most rows share one value, and nearly all values are one person's: no sentence speaks of every row."""
    plan = plan_with(
        method("datasets.pseudonyms"),
        tmp_path,
        lambda place: number_of(place if place < 900 else 0),
        name="crp",
    )
    with pytest.raises(InputRefused) as refused:
        made(plan, tmp_path)
    assert refused.value.code == "run.names_people_each_row"
    for name in ("errors/run.toml", "app/preview.toml", "app/columns.toml"):
        assert "alue of" in (said := (TEXTS / name).read_text(encoding="utf-8"))
        assert "is that of one {@person} alone" in said, name
    for path in TEXTS.rglob("*.toml"):
        assert "another value in" not in path.read_text(encoding="utf-8"), path.name


def labelled(word: Callable[[str], str], folder: Path, *steps: dict[str, Any]) -> Plan:
    """Return a masking of a case number whose hierarchy has a label for every number, and those steps."""
    plan = declared_number(method("datasets.masking"), folder, Kind.CATEGORY)
    domain = plan.schema.column("case_no").domain
    assert domain is not None and domain.values is not None
    tree = {number: [word(number), number[:1]] for number in domain.values}
    columns = tuple(
        replace(one, hierarchy=Hierarchy(tree=tree)) if one.name == "case_no" else one
        for one in plan.schema.columns
    )
    steps = tuple({**step, "column": "case_no"} for step in steps)
    return replace(
        plan,
        schemas={MAIN: replace(plan.schema, columns=columns)},
        parameters={**plan.parameters, "steps": list(steps)},
    )


ONE_TO_ONE: dict[str, Callable[[str], str]] = {
    "beside a word": lambda number: f"case {number} of the north",
    "within a word": lambda number: f"N{number}b",
    "after a small letter": lambda number: f"no_{number}",
    "another number": lambda number: f"K{int(number) * 7 % 1_000_003}",
    "digits alone": lambda number: str(int(number) * 7 % 1_000_003),
}
CHANGED_LABELS: list[list[dict[str, Any]]] = [
    [],
    [{"step": "pram", "stay": "1/10"}],
    [{"step": "resample"}],
]


@pytest.mark.parametrize("more", CHANGED_LABELS, ids=lambda steps: str([one["step"] for one in steps]))
@pytest.mark.parametrize("word", ONE_TO_ONE)
def test_a_label_for_each_number_names_as_the_number_does(
    word: str, more: list[dict[str, Any]], tmp_path: Path
) -> None:
    """A level that groups nothing is no coarser, whoever has the label then."""
    plan = labelled(ONE_TO_ONE[word], tmp_path, {"step": "generalise", "level": 1}, *more)
    assert not plan.design.problems
    with pytest.raises(InputRefused, match=r"run\.names_people") as refused:
        made(plan, tmp_path)
    assert refused.value.values["column"] == "case_no" and not (tmp_path / "out").exists()


def test_labels_of_groups_name_nobody(tmp_path: Path) -> None:
    plan = labelled(lambda number: f"from{number[:2]}7919x", tmp_path, {"step": "generalise", "level": 1})
    made(plan, tmp_path)  # groups of ten and more, under numbers that nobody has


@pytest.mark.parametrize("empty", [0, 1])
@pytest.mark.parametrize("kept", [("series", "rest"), ("series",)], ids=len)
def test_a_number_in_two_parts_names_as_the_whole_does(
    kept: tuple[str, ...], empty: int, tmp_path: Path
) -> None:
    """Neither part is one person's alone, and both together are, also where a part is empty."""
    plan = declared_number(method("datasets.masking"), tmp_path, Kind.CATEGORY)
    domain = plan.schema.column("case_no").domain
    assert domain is not None and domain.values is not None
    steps = [
        {"step": "recode", "column": "case_no", "others": "missing", "to": name,
         "map": dict(list(zip(domain.values, parts, strict=True))[without:])}
        for name, parts, without in (
            ("series", [f"s{place // 20}" for place in range(len(domain.values))], 2 * empty),
            ("rest", [f"r{place % 20}" for place in range(len(domain.values))], empty),
        )
    ]  # fmt: skip
    others = [name for name in plan.parameters["columns"] if name != "case_no"]
    parameters = {**plan.parameters, "columns": [*others, *kept]}
    plan = replace(plan, parameters=parameters, preparation=(*plan.preparation, *steps))
    if len(kept) == 1:
        made(plan, tmp_path)
        return
    with pytest.raises(InputRefused, match=r"run\.names_people_each_row") as refused:
        made(plan, tmp_path)
    assert refused.value.values["count"] == 2
    made(with_reasons(plan, {decision_about(name): "asked for" for name in kept}), tmp_path)


def own_or_shared(percent: int) -> Callable[[int], str]:
    """Return numbers that so many of a hundred rows have alone; the others stand in threes."""
    return lambda place: number_of(place) if place % 100 < percent else str(9_000_000 + place // 3)


@pytest.mark.parametrize("percent", [50, 80])
@pytest.mark.parametrize("asked", KEPT_NUMBERS, ids=lambda one: one.id)
def test_a_number_that_most_people_have_alone_is_asked_of(
    asked: Method, percent: int, tmp_path: Path
) -> None:
    """Values that few share hide nobody else: it is people who are counted."""
    plan = plan_with(asked, tmp_path, own_or_shared(percent), name="v7")
    with pytest.raises(InputRefused) as refused:
        made(plan, tmp_path)
    assert refused.value.code == "run.names_people_most_people"
    assert refused.value.values["column"] == "v7" and not (tmp_path / "out").exists()


def test_what_is_measured_finely_repeats_by_chance_and_leaves(tmp_path: Path) -> None:
    """Most people have a count of their own; as many have one beside another's as have the same."""
    draws = random.Random(5)
    counts = [str(int(draws.lognormvariate(8.2, 0.8))) for _ in range(10_000)]
    plan = plan_with(method("datasets.pseudonyms"), tmp_path, lambda place: counts[place], name="v7")
    made(plan, tmp_path)
    left = Counter(row["v7"] for row in csv.DictReader((tmp_path / "out/release/table.csv").open()))
    assert sum(count == 1 for count in left.values()) > left.total() / 2


@pytest.mark.parametrize("percent", [20, 47])
def test_labels_of_their_own_for_some_name_those(percent: int, tmp_path: Path) -> None:
    """One label for all others makes the labels few, and the people who have their own no fewer."""
    plan = labelled(
        lambda number: f"x_{int(number) * 7}" if int(number) * 13 % 100 < percent else "other",
        tmp_path,
        {"step": "generalise", "level": 1},
    )
    with pytest.raises(InputRefused, match=r"run\.names_people"):
        made(plan, tmp_path)


WRITINGS: dict[str, Callable[[str], str]] = {
    "as it stands": str,
    "zeros": lambda number: f"000{number}",
    "thousands": lambda number: f"{number[:3]}'{number[3:]}",
    "dots": lambda number: f"{number[:3]}.{number[3:]}",
    "spaces": lambda number: f"{number[:3]} {number[3:]}",
    "both": lambda number: f"N0{number[:3]},{number[3:]}",
}


@pytest.mark.parametrize("write", WRITINGS)
def test_a_set_of_numbers_names_however_they_are_written(write: str, tmp_path: Path) -> None:
    plan = declared_number(method("datasets.masking"), tmp_path, Kind.CATEGORY)
    domain = plan.schema.column("case_no").domain
    assert domain is not None and domain.values is not None
    numbers = domain.values
    sets = {
        number: "; ".join(map(WRITINGS[write], numbers[place // 3 * 3 :][:3]))
        for place, number in enumerate(numbers)
    }
    tree = {number: [label, number[:1]] for number, label in sets.items()}
    columns = tuple(
        replace(one, hierarchy=Hierarchy(tree=tree)) if one.name == "case_no" else one
        for one in plan.schema.columns
    )
    steps = [{"step": "generalise", "level": 1, "column": "case_no"}]
    plan = replace(
        plan,
        schemas={MAIN: replace(plan.schema, columns=columns)},
        parameters={**plan.parameters, "steps": steps},
    )
    with pytest.raises(InputRefused, match=r"run\.names_people_recognised"):
        made(plan, tmp_path)


def without_key(plan: Plan) -> Plan:
    """Return a plan in which no column tells whose a row is."""
    key = plan.schema.person_key
    assert key is not None
    columns = tuple(replace(one, role=Role.OTHER) if one is key else one for one in plan.schema.columns)
    kept = [name for name in plan.parameters["columns"] if name != key.name]
    schema = replace(plan.schema, columns=columns, rows_per_person=None)
    return replace(plan, schemas={MAIN: schema}, parameters={**plan.parameters, "columns": kept})


@pytest.mark.parametrize(
    ("way", "rows"),
    [
        ("datasets.masking", 2),
        ("datasets.masking", 8),
        ("datasets.k_anonymity", 3),
        ("datasets.microaggregation", 3),
        ("datasets.partition", 3),
    ],
)
def test_a_number_that_repeats_is_noticed_where_no_key_was_declared(
    way: str, rows: int, tmp_path: Path
) -> None:
    plan = plan_with(method(way), tmp_path, lambda place: number_of(place // rows), name="v7")
    plan = without_key(plan)
    with pytest.raises(InputRefused) as refused:
        made(plan, tmp_path)
    assert refused.value.code == "run.names_people_repeats" and refused.value.values["column"] == "v7"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("values", ["ward", "time", "level"])
def test_other_columns_that_repeat_leave_without_a_key(values: str, tmp_path: Path) -> None:
    """Codes of few wards, times of the day and levels are no numbers of people."""
    draws = random.Random(7)
    ways: dict[str, Callable[[int], str]] = {
        "ward": lambda place: str(70_000 + place % 50 * 37),
        "time": lambda place: f"{place * 7 % 13 + 7:02}:{place * 11 % 60:02}",
        "level": lambda place: str(int(draws.gauss(600, 150))),
    }
    kind = Kind.CATEGORY if values == "time" else Kind.INTEGER
    plan = plan_with(method("datasets.masking"), tmp_path, ways[values], name="v7", kind=kind)
    assert made(without_key(plan), tmp_path).folder.is_dir()


def test_what_was_changed_is_not_said_to_leave_as_it_stands(tmp_path: Path) -> None:
    asked = method(NOISY)
    plan = examples.plans(asked)[0]
    design = asked(plan.request)
    taken = [
        {"decision": "names_people", "column": name, "reason": "asked for"}
        for name in (*plan.parameters["columns"], plan.parameters["label"])
    ]
    said = {one.values["column"]: one.id for one in notes(replace(plan, decisions=tuple(taken)), design)}
    assert said.pop(plan.parameters["label"]) == "report.columns.names_people"
    assert set(said) == set(plan.parameters["columns"])
    assert set(said.values()) == {"report.columns.names_people_changed"}


SURNAMES = (
    "Huber",
    "Gruber",
    "Schmidt",
    "Pichler",
    "Öztürk",
    "Dubois",
    "Lefèvre",
    "Smith",
    "O'Brien",
    "Rossi",
)


@pytest.mark.parametrize("is_keyed", [True, False])
@pytest.mark.parametrize("heading", ["Befund", "Column 7"])
def test_whom_cells_lead_to_leaves_not_under_a_heading_that_says_else(heading: str, is_keyed: bool) -> None:
    """Before, surnames that several people bear, and numbers of cases of a year without a key, left."""
    draw = random.Random(f"{heading}{is_keyed}")
    numbers = [place * 7919 % 90000 + 10000 for place in range(60)]
    people = [(f"w{place}", draw.choice(SURNAMES), f"2023-{one}") for place, one in enumerate(numbers)]
    rows = people + [draw.choice(people) for _ in range(90)]
    for place, said in ((1, Why.RECOGNISED), (2, Why.EACH_ROW if is_keyed else Why.REPEATS)):
        frame = pd.DataFrame({"who": [row[0] for row in rows], heading: [row[place] for row in rows]})
        key = (Column("who", Role.PERSON_KEY, Kind.TEXT),) if is_keyed else ()
        design: Any = SimpleNamespace(
            schema=Schema(key), keeps=(heading,), request=SimpleNamespace(preparation=())
        )
        assert naming(read_table(frame), design) == (Naming(heading, said),)
