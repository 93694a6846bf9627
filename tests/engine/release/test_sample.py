"""A sample of whole people: decided before, the same in every release, charged in full, said everywhere."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from engine.__main__ import main
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.protocol import MAIN
from engine.privacy import contribution
from engine.progress import SILENT
from engine.release import reading, served
from engine.release.check import check
from engine.release.plan import Plan
from engine.release.preview import preview_json
from engine.release.run import run_through
from engine.table.schema import Schema
from engine.table.stored import Stored
from engine.utility.sampled import most_that_fits, off
from tests.engine.adversarial.requests import COLUMNS, HEADER, plan_for
from tests.noise_source import seeded_noise

PEOPLE = 60
SECRET = b"a secret of the tests"


def people_file(folder: Path, leave_out: int | None = None) -> Path:
    """Write people with one to three rows each in any order, and one row that is nobody's."""
    rows = [f"{one},{'fm'[one % 2]},1,1,1," for one in range(PEOPLE) for _ in range(1 + one % 3)]
    order = np.random.default_rng(3).permutation(len(rows))
    kept = [rows[place] for place in order if rows[place].split(",")[0] != str(leave_out)]
    path = folder / "people.csv"
    path.write_text("\n".join([HEADER, *kept, ",f,1,1,1,"]) + "\n")
    return path


def read(plan: Plan, folder: Path) -> pd.DataFrame:
    sample = None if plan.sample is None else reading.Sample(plan.sample, SECRET)
    return reading.read(plan, base=folder, sample=sample).table.rows()


def run(plan: Plan, folder: Path, name: str, ledger: Ledger) -> dict[str, object]:
    made = run_through(
        plan,
        folder / name,
        ledger,
        folder,
        "en",
        SILENT,
        lambda spend: seeded_noise(4, on_first_draw=spend),
    )
    return json.loads((made.folder / "internal" / "evidence.json").read_text())


def test_everybody_is_in_it_with_all_rows_or_with_none(tmp_path: Path) -> None:
    people_file(tmp_path)
    everybody = read(plan_for("counts", cap=3), tmp_path)
    before: set[str] = set()
    for share in (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)):
        found = read(plan_for("counts", cap=3, sample=share), tmp_path)
        inside = set(found["person"])
        expected = everybody[everybody["person"].isin(inside)].reset_index(drop=True)
        pd.testing.assert_frame_equal(found, expected)
        assert before < inside < set(everybody["person"].dropna())
        before = inside


def test_who_comes_or_goes_moves_nobody_else(tmp_path: Path) -> None:
    plan = plan_for("counts", cap=3, sample=Fraction(1, 2))
    people_file(tmp_path)
    every = read(plan, tmp_path)
    for one in range(0, PEOPLE, 7):
        people_file(tmp_path, leave_out=one)
        left = every[every["person"] != str(one)].reset_index(drop=True)
        pd.testing.assert_frame_equal(read(plan, tmp_path), left)


@pytest.mark.parametrize("share", [Fraction(1, 20), Fraction(1, 3)])
def test_as_many_are_in_it_as_was_declared(share: Fraction) -> None:
    """Of 20,000 people, under a secret for each of ten samples; fails by chance once in 10⁸ times."""
    people, off_by = [str(one) for one in range(20_000)], 6.0
    for number in range(10):
        found = contribution.keep_people(people, share=share, secret=bytes([number])).sum()
        assert abs(found - share * 20_000) < off_by * math.sqrt(20_000 * share * (1 - share))


def test_two_releases_use_the_same_people_and_each_pays_in_full(tmp_path: Path) -> None:
    people_file(tmp_path)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    plan, used = plan_for("counts", cap=3, sample=Fraction(1, 3)), []
    for place in range(2):
        evidence = run(plan, tmp_path, f"out{place}", ledger)
        used.append(evidence["internal"]["input"])
    assert used[0] == used[1] and 0 < used[0]["people"] < PEOPLE * 3 / 4
    assert used[0]["rows"] > used[0]["rows_used"]
    assert [entry.epsilon for entry in ledger.entries()] == [1, 1]
    assert evidence["decided"]["sample"] == "1/3"
    report = (tmp_path / "out0" / "release" / "report-external.html").read_text()
    assert re.search(r"33\.3.%", report) and "The release is about a sample" in report
    internal = (tmp_path / "out0" / "internal" / "report-internal.html").read_text()
    assert "are those of the sample that was declared" in internal
    status = ledger.status(ledger.holdings()[0].id, lambda found: (Fraction(len(found)), Fraction(0)))
    assert status.epsilon_spent == 2
    whole = replace(plan, sample=None)
    assert "sample" not in whole.to_json() and Plan.loads(plan.dumps()) == plan


def test_a_sample_on_the_disk_is_that_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people_file(tmp_path)
    ledger, counted = Ledger(tmp_path / "ledger.sqlite"), []
    plan = plan_for("counts", cap=3, sample=Fraction(1, 2))
    for name, most in (("memory", 1 << 40), ("store", 0)):
        monkeypatch.setattr(served, "most_memory", lambda most=most: most)
        evidence = run(plan, tmp_path, name, ledger)
        read_in = evidence["internal"]["input"]
        assert (read_in.pop("held", "") == "store") == (name == "store")
        counted.append((read_in, evidence["views"]))
    assert counted[0] == counted[1]


def test_the_share_that_is_offered_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people_file(tmp_path)
    plan = plan_for("counts", cap=3)
    monkeypatch.setattr(served, "is_answered", lambda design: False)
    monkeypatch.setattr(served, "most_memory", lambda: 1500)
    design = check(plan, base=tmp_path)
    with pytest.raises(InputRefused, match=r"reading\.needs_all_rows_or_sample") as refused:
        served.served(plan, design, base=tmp_path)
    offered = replace(plan, sample=Fraction(str(refused.value.values["share"])) / 100)
    one = served.served(offered, check(offered, base=tmp_path), base=tmp_path)[MAIN]
    assert one.tier is served.Tier.MEMORY and one.memory <= 4 * 1500 < 2 * one.memory
    assert not isinstance(reading.read(plan, base=tmp_path).table, Stored)


def test_a_plan_check_says_the_sample_and_its_price(tmp_path: Path) -> None:
    people_file(tmp_path)
    plan = plan_for("counts", cap=3, sample=Fraction(1, 10))
    found = preview_json(plan, None, base=tmp_path)
    (held,) = found["served"]
    assert held["sample"] == "1/10" and abs(held["kept"] * 10 - held["rows"]) <= 5
    said = " ".join([*found["rows"], held["what"]])
    assert "10 % of the people" in said and f"up to {off(100, Fraction(1, 10))} off" in said
    assert "pays as for everybody" in said
    assert "sampled" not in json.dumps(preview_json(replace(plan, sample=None), None, base=tmp_path))


@pytest.mark.parametrize(
    ("size", "share"), [(100, Fraction(1, 10)), (10_000, Fraction(1, 100)), (7, Fraction(1, 2))]
)
def test_the_price_holds_in_95_of_100_samples_and_no_smaller_one_does(size: int, share: Fraction) -> None:
    """By the probabilities of every number in the sample, one by one."""
    chances = binom.pmf(np.arange(size + 1), size, float(share))
    far = np.abs(np.arange(size + 1) / float(share) - size)
    assert chances[far <= off(size, share)].sum() >= 0.95
    assert chances[far <= off(size, share) - 2 / share].sum() < 0.95


@pytest.mark.parametrize("most", [1, 9, 10, 77, 99_999])
def test_what_fits_is_said_with_two_digits(most: int) -> None:
    share = most_that_fits(100_000, most)
    assert share * 100_000 <= most < share * 100_000 * Fraction(11, 10) + 1
    assert len(str(share.numerator * 10**9 // share.denominator).rstrip("0")) <= 2


def test_there_is_no_sample_where_nothing_tells_people_apart_or_others_are_compared() -> None:
    half = Fraction(1, 2)
    for plan, code in (
        (plan_for("counts", sample=half), "plan.sample_without_key"),
        (
            plan_for(
                "counts",
                cap=2,
                sample=half,
                method="statistics.protected_table",
                parameters={"columns": ["sex", "visits"]},
                budget=None,
            ),
            "plan.sample_compared",
        ),
    ):
        with pytest.raises(InputRefused, match=code.replace(".", r"\.")):
            check(plan)
    assert Schema(COLUMNS).person_key is None


@pytest.mark.parametrize("share", ["0", "1", "2", "-1/2", "x"])
def test_a_plan_holds_a_part_of_the_people(share: str) -> None:
    tree = plan_for("counts", cap=2).to_json() | {"sample": share}
    with pytest.raises(InputRefused, match=r"plan\.bad_field|document\.number"):
        Plan.loads(json.dumps(tree))


@pytest.mark.parametrize(
    ("said", "share"),
    [(["0.25"], "1/4"), (["30", "--price", "people=120"], "1/4"), (["30"], None), (["0"], None)],
)
def test_the_command_line_takes_a_share_or_a_number(
    said: list[str], share: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people_file(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(plan_for("counts", cap=2).schema.to_json()))
    written = [str(tmp_path / name) for name in ("people.csv", "schema.json", "plan.json")]
    status = main(
        [
            *("plan", "new", written[0], "--schema", written[1], "--out", written[2], "--epsilon", "1"),
            *("--method", "statistics.counts", "--set", 'columns=["sex"]', "--sample", *said),
        ]
    )
    assert status == (2 if share is None else 0), capsys.readouterr().err
    if share is not None:
        assert Plan.read(tmp_path / "plan.json").sample == Fraction(share)
