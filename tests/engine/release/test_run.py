"""From plan to bundle: the order of ledger and noise, what stays after a failure, what the bundle holds."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from engine import texts
from engine.errors import Cancelled, InputRefused
from engine.evaluation.without_noise import WithoutNoise
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Budget, Rows, TableArtefact
from engine.privacy.noise import Noise
from engine.privacy.promise import Neighbours
from engine.progress import Progress
from engine.release import bundle as bundle_module
from engine.release import reading, working, write
from engine.release.plan import FileReference, Plan
from engine.release.preview import preview
from engine.release.run import _door
from engine.release.verify import verify
from engine.table.schema import Role, Schema
from engine.table.table import Table
from engine.views import band_of
from tests.engine.methods import examples_run
from tests.engine.release.conftest import SECRETS, Runner
from tests.noise_source import seeded_noise


@pytest.fixture(autouse=True)
def only_some_reports(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports have their own tests and take a second each: most runs here leave them out."""
    if "with_reports" not in request.keywords:
        monkeypatch.setattr("engine.report.pdf.render", lambda *_, **__: b"")
        monkeypatch.setattr("engine.report.html.render", lambda *_, **__: b"")


def entries(ledger: Ledger) -> list[str]:
    return [entry.state for entry in ledger.entries()]


@pytest.mark.with_reports
def test_a_run_leaves_a_complete_bundle(run: Runner, folder: Path, ledger: Ledger) -> None:
    made = run()
    names = {str(path.relative_to(made.folder)) for path in made.folder.rglob("*") if path.is_file()}
    assert names == {
        "release/counts.csv",
        "release/data-dictionary.json",
        "release/datapackage.json",
        "release/ro-crate-metadata.json",
        "release/read.R",
        "release/read.py",
        "release/evidence.json",
        "release/report-external.pdf",
        "release/report-external.html",
        "release/README.txt",
        "release/verify.html",
        "release/SHA256SUMS",
        "release/signature.json",
        "internal/evidence.json",
        "internal/report-internal.pdf",
        "internal/report-internal.html",
        "internal/SHA256SUMS",
    }
    assert entries(ledger) == ["complete"]
    entry = ledger.entry(made.entry)
    assert (entry.release_sums, entry.internal_sums) == (made.release_sums, made.internal_sums)
    assert entry.epsilon == Fraction(1, 2)


def test_every_declared_cell_is_there(run: Runner) -> None:
    frame = pd.read_csv(run().folder / "release" / "counts.csv")
    declared = {(sex, ward) for sex in ("f", "m") for ward in ("north", "south")}
    assert declared <= set(zip(frame["sex"], frame["ward"], strict=True))


def test_with_a_large_budget_the_counts_are_those_of_one_row_a_person(run: Runner) -> None:
    made = run(budget=Budget(Fraction(1000)), holding_budget=Budget(Fraction(1000)))
    frame = pd.read_csv(made.folder / "release" / "counts.csv")
    assert frame["count"].sum() == 6
    assert frame.loc[(frame["sex"] == "m") & (frame["ward"] == "north"), "count"].item() == 2


@pytest.mark.at_once
def test_spending_is_on_record_before_the_first_noise(run: Runner, ledger: Ledger) -> None:
    seen: list[list[str]] = []

    def door(spend):
        def first() -> None:
            seen.append(entries(ledger))
            spend()
            seen.append(entries(ledger))

        return seeded_noise(3, on_first_draw=first)

    run(door=door)
    assert seen == [["reserved"], ["spent"]]


class Relative(Noise):
    """Draws as the door does, and is another class."""


@pytest.mark.parametrize("noise", [Relative, WithoutNoise])
def test_nothing_but_the_door_itself_makes_a_release(noise: type[Any]) -> None:
    assert type(_door(lambda spend: Noise(), lambda: None)) is Noise
    with pytest.raises(TypeError, match="nothing else"):
        _door(lambda spend: noise(), lambda: None)


def test_stop_before_the_first_noise_leaves_nothing_and_frees(
    run: Runner, folder: Path, ledger: Ledger
) -> None:
    stages: list[str] = []
    progress = Progress(lambda share, stage: stages.append(stage), lambda: "run.reserving" in stages)
    before = {path.name for path in folder.iterdir()}
    with pytest.raises(Cancelled):
        run(progress=progress)
    assert {path.name for path in folder.iterdir()} == before | {"ledger.sqlite-keys"}
    assert entries(ledger) in ([], ["freed"])
    assert all(ledger.status(one.id).epsilon_spent == 0 for one in ledger.holdings())


@pytest.mark.at_once
@pytest.mark.parametrize("stage", ["run.noise", "run.writing", "run.reports"])
def test_stop_after_noise_leaves_nothing_but_stays_spent(
    run: Runner, folder: Path, ledger: Ledger, stage: str
) -> None:
    stages: list[str] = []
    progress = Progress(lambda share, now: stages.append(now), lambda: stage in stages)
    with pytest.raises(Cancelled):
        run(progress=progress)
    assert not (folder / "bundle").exists()
    assert not [path for path in folder.iterdir() if path.name.startswith(".custos")]
    assert entries(ledger) == ["failed"]
    assert ledger.status(ledger.holdings()[0].id).epsilon_spent == Fraction(1, 2)


def test_a_full_disk_leaves_no_half_bundle(
    run: Runner, folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    run("first")
    monkeypatch.setattr(bundle_module.os, "fsync", full)
    with pytest.raises(InputRefused) as refusal:
        run()
    assert refusal.value.code == "bundle.not_writable"
    assert not (folder / "bundle").exists()
    assert not [path for path in folder.iterdir() if path.name.startswith(".custos")]
    assert entries(ledger) == ["complete", "failed"]


def test_a_disk_without_room_for_the_bundle_costs_nothing(
    run: Runner, folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is noticed before the first noise, because the room is taken then."""

    def full(path: Path) -> None:
        path.write_bytes(b"")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.release.working._keep_room", full)
    with pytest.raises(InputRefused) as refusal:
        run()
    assert refusal.value.code == "bundle.not_writable"
    assert not [path for path in folder.iterdir() if path.name.startswith(".custos")]
    assert entries(ledger) == ["freed"]


def test_the_room_is_there_while_noise_is_drawn_and_gone_when_the_bundle_is_written(
    run: Runner, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, int] = {}
    counts = method("statistics.counts")
    original_run, original_write = counts.run, write.write_release

    def room() -> int:
        return sum(path.stat().st_size for path in folder.glob(".custos-*/room"))

    def watched_run(self, tables, context):
        seen.setdefault("noise", room())
        return original_run(self, tables, context)

    def watched_write(*arguments, **options):
        seen["writing"] = room()
        return original_write(*arguments, **options)

    monkeypatch.setattr(counts, "run", watched_run)
    monkeypatch.setattr(write, "write_release", watched_write)
    made = run()
    assert seen["noise"] >= working.ROOM_BYTES and seen["writing"] == 0
    assert sum(path.stat().st_size for path in made.folder.rglob("*")) < working.ROOM_BYTES


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_a_name_that_somebody_took_meanwhile_loses_no_release(
    run: Runner, folder: Path, ledger: Ledger, kind: str
) -> None:
    taken = folder / "bundle"

    def take(share: float, stage: str) -> None:
        if stage == "run.reports" and not taken.is_symlink() and not taken.exists():
            if kind == "folder":
                taken.mkdir()
                (taken / "another release").write_text("of another window")
            elif kind == "file":
                taken.write_text("in between")
            else:
                taken.symlink_to(folder)

    made = run(progress=Progress(take, lambda: False))
    assert made.folder.name == "bundle-2" and (made.folder / "release" / "counts.csv").is_file()
    assert ledger.entry(made.entry).release_sums == made.release_sums
    assert entries(ledger) == ["complete"]
    if kind == "folder":
        assert [path.name for path in taken.iterdir()] == ["another release"]
    assert not [path for path in folder.iterdir() if path.name.startswith(".custos")]


@pytest.mark.guarantee
def test_the_ledger_refuses_what_is_over_budget(run: Runner, folder: Path, ledger: Ledger) -> None:
    for number in range(4):
        run(f"bundle-{number}")
    with pytest.raises(InputRefused) as refusal:
        run("bundle-5")
    assert refusal.value.code == "ledger.over_budget"
    assert not (folder / "bundle-5").exists()
    assert entries(ledger) == ["complete"] * 4


def test_replace_one_is_charged_as_it_is_declared(run: Runner, ledger: Ledger) -> None:
    holding = Budget(Fraction(2), neighbours=Neighbours.REPLACE_ONE)
    run(holding_budget=holding)
    assert ledger.status(ledger.holdings()[0].id).epsilon_spent == 1


def test_add_remove_cannot_be_proved_from_replace_one(run: Runner) -> None:
    run()
    with pytest.raises(InputRefused) as refusal:
        run("second", budget=Budget(Fraction(1, 2), neighbours=Neighbours.REPLACE_ONE))
    assert refusal.value.code == "accounting.neighbours"


def test_the_same_table_under_another_name_needs_a_reason(run: Runner, ledger: Ledger) -> None:
    run()
    with pytest.raises(InputRefused) as refusal:
        run("second", holding="Another register")
    assert refusal.value.code == "ledger.known_table"
    assert len(ledger.holdings()) == 1
    run("third", holding="Another register", decisions=({"decision": "new_holding", "reason": "a test"},))
    assert len(ledger.holdings()) == 2


def test_another_person_key_in_the_same_register_needs_a_reason(
    run: Runner, plan: Plan, ledger: Ledger
) -> None:
    run()
    roles = {"patient": Role.OTHER, "ward": Role.PERSON_KEY}
    columns = (replace(one, role=roles.get(one.name, one.role)) for one in plan.schema.columns)
    by_ward = {"schemas": {MAIN: Schema(tuple(columns), 1)}, "parameters": {"columns": ["sex"]}}
    with pytest.raises(InputRefused) as refusal:
        run("second", **by_ward)
    assert refusal.value.code == "ledger.key_changed"
    reason = {"decision": "other_key", "reason": "One patient to a ward in this clinic"}
    run("third", **by_ward, decisions=(reason,))
    assert ledger.person_key("Register of stays") == "ward"


def test_a_target_that_holds_something_is_never_written_over(
    run: Runner, folder: Path, ledger: Ledger
) -> None:
    (folder / "bundle").mkdir()
    (folder / "bundle" / "letter.txt").write_text("keep me")
    with pytest.raises(InputRefused) as refusal:
        run()
    assert refusal.value.code == "bundle.exists"
    assert (folder / "bundle" / "letter.txt").read_text() == "keep me"
    assert entries(ledger) == []


@pytest.mark.parametrize("way", ["written", "renamed", "same size and time"])
@pytest.mark.parametrize("is_put_back", [False, True])
def test_a_table_that_was_another_one_while_it_was_read_is_refused(
    way: str, is_put_back: bool, run: Runner, folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else rows would be released under the digest of others."""
    if sys.platform == "win32" and way == "same size and time":
        pytest.skip("there is no time of the last change that nobody can set")
    table = folder / "stays.csv"
    first, when = table.read_bytes(), table.stat().st_mtime_ns
    read = reading._as_written

    def put(content: bytes) -> None:
        if way == "renamed":
            (folder / "new.csv").write_bytes(content)
            (folder / "new.csv").replace(table)
        else:
            table.write_bytes(content)
        if way == "same size and time":
            os.utime(table, ns=(when, when))

    def exchanged(*args: object) -> object:
        put(first.replace(b"P1;f", b"P1;m"))
        found = read(*args)
        if is_put_back:
            put(first)
        return found

    run("before")
    monkeypatch.setattr(reading, "_as_written", exchanged)
    with pytest.raises(InputRefused) as refusal:
        run()
    assert refusal.value.code == "reading.changed" and len(ledger.entries()) == 1


@pytest.mark.parametrize("way", ["a row moves on", "a row moves back", "a file comes", "a file goes"])
def test_files_of_a_folder_are_all_read_as_they_were_at_one_moment(
    way: str, run: Runner, folder: Path, ledger: Ledger, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is unchanged while it is read; but a row that moves between two would count twice or never."""
    rows = pd.read_csv(folder / "stays.csv", sep=";", dtype=str)
    place = folder / "stays"
    place.mkdir()
    first, second = place / "a.parquet", place / "b.parquet"
    for path, at in ((first, [0, 1, 2]), (second, [3, 4])):
        rows.iloc[at].to_parquet(path, index=False)
    under, change = {
        "a row moves on": (first, lambda: rows.iloc[[2, 3, 4]].to_parquet(second, index=False)),
        "a row moves back": (second, lambda: rows.iloc[[0, 1, 2, 3]].to_parquet(first, index=False)),
        "a file comes": (second, lambda: rows.iloc[[5]].to_parquet(place / "c.parquet", index=False)),
        "a file goes": (second, first.unlink),
    }[way]
    read = reading._as_written

    def while_reading(path: Path, *args: Any) -> Iterator[Table]:
        yield from read(path, *args)
        if path == under:
            change()

    given = {MAIN: replace(plan.files[MAIN], path="stays", options={"format": "parquet"})}
    run("before", files=given)
    monkeypatch.setattr(reading, "_as_written", while_reading)
    with pytest.raises(InputRefused) as refusal:
        run(files=given)
    assert refusal.value.code == "reading.changed" and len(ledger.entries()) == 1


# A register that exists states one δ and its total ε at it, so that too much of δ is too much of ε there.
@pytest.mark.parametrize(("part", "is_known"), [("budget", False), ("budget", True), ("delta", False)])
def test_a_register_of_exchanges_says_why_it_counts_more(
    part: str, is_known: bool, run: Runner, plan: Plan, ledger: Ledger, folder: Path
) -> None:
    """The plan states (1, 1/1000), the register counts (2, (1 + e)/1000)."""
    enough = Budget(Fraction(9), Fraction(1, 100), Neighbours.REPLACE_ONE)
    too_little = {
        "budget": replace(enough, epsilon=Fraction(3, 2)),
        "delta": replace(enough, delta=Fraction(2, 1000)),
    }
    if is_known:
        exchanged = Budget(Fraction(1, 100), Fraction(1, 10**6), Neighbours.REPLACE_ONE)
        noise = {"parameters": {**plan.parameters, "noise": "gaussian"}}
        run("first", budget=exchanged, holding_budget=too_little[part], **noise)
    asked = replace(
        plan,
        budget=Budget(Fraction(1), Fraction(1, 1000)),
        parameters={**plan.parameters, "noise": "gaussian"},
        holding_budget=too_little[part],
    )
    refusal = preview(asked, ledger, base=folder).refusal
    assert refusal is not None and refusal.code == f"charge.over_{part}_exchanged"
    assert all(
        word in texts.explain(refusal)[0] for word in ("replace-one", "1" if part == "budget" else "0.001")
    )
    with pytest.raises(InputRefused) as refused:
        run("second", **{name: getattr(asked, name) for name in ("budget", "parameters", "holding_budget")})
    assert (refused.value.code, refused.value.values) == (refusal.code, refusal.values)


@pytest.mark.parametrize(
    ("budget", "code"),
    [
        (None, "charge.no_epsilon"),
        (Budget(Fraction(0)), "charge.bad_epsilon"),
        (Budget(Fraction(-1)), "charge.bad_epsilon"),
        (Budget(Fraction(1), Fraction(1)), "charge.bad_delta"),
    ],
)
def test_a_budget_that_is_none_is_refused(
    run: Runner, ledger: Ledger, budget: Budget | None, code: str
) -> None:
    with pytest.raises(InputRefused) as refusal:
        run(budget=budget)
    assert refusal.value.code == code
    assert entries(ledger) == []


def test_a_column_that_the_file_lacks_is_refused_before_anything_is_reserved(
    run: Runner, folder: Path, ledger: Ledger
) -> None:
    (folder / "stays.csv").write_text("patient;sex;stay\nP1;f;3\n")
    with pytest.raises(InputRefused) as refusal:
        run()
    assert (refusal.value.code, refusal.value.values["column"]) == ("reading.column_missing", "ward")
    assert entries(ledger) == []


def test_a_file_that_vanished_is_refused(run: Runner, folder: Path, ledger: Ledger) -> None:
    (folder / "stays.csv").unlink()
    with pytest.raises(InputRefused) as refusal:
        run()
    assert refusal.value.code == "reading.not_there"


def test_a_poisoned_table_survives_everything_before_the_spend(
    run: Runner, plan: Plan, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Problems, cost, forecast and preview of every method read no row; the run then does."""

    def poison(self: Table) -> pd.DataFrame:
        raise AssertionError("a private value was read")

    monkeypatch.setattr(Table, "rows", poison)
    found = method(plan.method)
    assert found(plan.request).problems == []
    assert found(plan.request).cost.loss.epsilon == Fraction(1, 2)
    assert found(plan.request).forecast.errors
    assert preview(plan, ledger).problems == ()
    with pytest.raises(AssertionError, match="private value"):
        run()


def test_the_method_gets_no_row_before_the_entry_is_spent(
    run: Runner, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    states: list[list[str]] = []
    counts = method("statistics.counts")
    original = counts.run

    def watched(self, tables, context):
        states.append(entries(ledger))
        return original(self, tables, context)

    monkeypatch.setattr(counts, "run", watched)
    run()
    assert states == [["spent"], ["spent"]]  # the release, then the same rows without noise, to measure it


@pytest.mark.guarantee
@pytest.mark.with_reports
def test_nothing_private_is_in_the_release_folder(run: Runner, folder: Path) -> None:
    made = run()
    for path in (made.folder / "release").iterdir():
        content = path.read_bytes()
        for secret in SECRETS:
            assert secret.encode() not in content or path.suffix == ".pdf", path.name
    evidence = json.loads((made.folder / "release" / "evidence.json").read_text())
    assert "internal" not in evidence
    assert (
        reading.file_hash(folder / "stays.csv") not in (made.folder / "release" / "evidence.json").read_text()
    )


def test_internal_evidence_cannot_be_written_outside(run: Runner) -> None:
    with pytest.raises(TypeError):
        write.public_json({"audience": "internal"})


def test_rows_without_a_person_key_are_left_out_and_counted(run: Runner, folder: Path) -> None:
    with (folder / "stays.csv").open("a") as file:
        file.write(";f;north;3\n;f;north;3\n")
    made = run(budget=Budget(Fraction(1000)), holding_budget=Budget(Fraction(1000)))
    frame = pd.read_csv(made.folder / "release" / "counts.csv")
    assert frame["count"].sum() == 6
    internal = json.loads((made.folder / "internal" / "evidence.json").read_text())["internal"]
    assert internal["input"]["rows_without_key"] == 2
    assert internal["input"]["people"] == 6


def test_two_runs_give_the_same_evidence_but_for_noise_times_and_ledger(run: Runner, plan: Plan) -> None:
    def comparable(folder: Path) -> dict:
        tree = json.loads((folder / "internal" / "evidence.json").read_text())
        for name in ("made_at", "bundle_id", "artefacts", "ledger", "input_name", "views"):
            tree.pop(name)
        for name in ("holding", "views"):
            tree["internal"].pop(name)
        tree["internal"]["measures"].pop("utility.released_error")  # the errors of one draw
        tree["measures"].pop("utility.small_groups")
        return tree

    first = run("first", seed=1)
    second = run("second", seed=2)
    assert comparable(first.folder) == comparable(second.folder)
    changed = run("third", purpose=replace(plan.purpose, recipient="Somebody else"))
    assert comparable(changed.folder) != comparable(first.folder)


@pytest.mark.parametrize(
    "wrong",
    [
        {"minimum": Fraction(600)},
        {"calibrated_epsilon": Fraction(1), "calibrated_share": Fraction(2)},
        {"curvature_low": Fraction(3), "curvature_high": Fraction(4)},
        {"compensation_high": Fraction(1)},
        {"people_low": Fraction(7)},
    ],
)
def test_amounts_that_fit_no_curve_are_refused_before_anything_is_spent(
    run: Runner, plan: Plan, ledger: Ledger, wrong: dict[str, Fraction]
) -> None:
    with pytest.raises(InputRefused) as refused:
        run(price=replace(plan.price, **wrong))
    assert all(texts.explain(refused.value))
    assert not ledger.holdings()


def test_gaussian_noise_where_rows_are_exchanged(run: Runner) -> None:
    """The shift of such an answer is √2: no whole number, and no exception after the money is spent."""
    delta = Fraction(1, 10**6)
    bundle = run(
        parameters={"columns": ["sex"], "noise": "gaussian"},
        budget=Budget(Fraction(1, 2), delta, Neighbours.REPLACE_ONE),
        holding_budget=Budget(Fraction(2), 2 * delta, Neighbours.REPLACE_ONE),
    )
    evidence = json.loads((bundle.folder / "release" / "evidence.json").read_text())
    assert 0 < evidence["statement"]["at_risk"]["certified"]["delta"] < 0.1


def test_a_plan_that_leaves_the_reading_to_the_rows_is_refused(
    run: Runner, plan: Plan, ledger: Ledger
) -> None:
    file = plan.files["people"]
    for name in ("delimiter", "decimal", "date_order", "width"):
        options = {key: value for key, value in file.options.items() if key != name}
        with pytest.raises(InputRefused) as refusal:
            run(files={"people": replace(file, options=options)})
        assert (refusal.value.code, refusal.value.values["options"]) == ("reading.options_open", name)
    assert entries(ledger) == []


@pytest.mark.parametrize("ending", ["xlsx", "parquet", "sav", "dta"])
def test_every_format_runs_once_its_reading_is_said(
    run: Runner, plan: Plan, folder: Path, ledger: Ledger, ending: str
) -> None:
    frame = pd.read_csv(folder / "stays.csv", sep=";")
    file = folder / f"stays.{ending}"
    if ending == "xlsx":
        frame.to_excel(file, index=False)
    elif ending == "parquet":
        frame.to_parquet(file)
    else:
        import pyreadstat

        write = pyreadstat.write_sav if ending == "sav" else pyreadstat.write_dta
        write(frame.astype({"patient": object, "sex": object, "ward": object}), str(file))
    said = reading.pin_reading(replace(plan, files={"people": FileReference(file.name)}), base=folder)
    made = run(files=said.files, budget=Budget(Fraction(1000)), holding_budget=Budget(Fraction(1000)))
    frame = pd.read_csv(made.folder / "release" / "counts.csv")
    assert frame["count"].sum() == 6


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_reserved(
    run: Runner, folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(bundle_module.tempfile, "TemporaryFile", refuse)
    with pytest.raises(InputRefused) as refusal:
        run()
    assert refusal.value.code == "bundle.not_writable"
    assert refusal.value.values["reason"] == "Permission denied"
    assert entries(ledger) == []


def test_evidence_that_nobody_could_check_is_refused_before_the_spend(
    run: Runner, folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known without a row is already larger than `verify` reads: nothing is reserved or drawn."""
    monkeypatch.setitem(bundle_module._LIMITS, bundle_module.EVIDENCE, 4_000)
    with pytest.raises(InputRefused, match=r"bundle\.not_checkable") as refused:
        run()
    assert refused.value.values["file"] == "evidence.json" and all(texts.explain(refused.value))
    assert entries(ledger) == [] and not (folder / "bundle").exists()


@pytest.mark.with_reports
@pytest.mark.parametrize("part", ["release", "internal"])
def test_no_file_is_written_that_verify_would_not_read(
    part: str, run: Runner, folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its name: what is too large for who checks it is too large for who writes it."""
    made = run("first")
    for path in sorted((made.folder / part).iterdir()):
        most = bundle_module.most_of(path.name)
        assert (most is None) == (path.suffix == ".csv"), path.name
        if most is None:
            continue
        with monkeypatch.context() as changed:
            changed.setattr(bundle_module, "most_of", lambda name, own=path: 1 if name == own.name else None)
            changed.setattr("engine.release.verify.most_of", bundle_module.most_of)
            assert not verify(made.folder).passed
            with pytest.raises(InputRefused, match=r"bundle\.not_checkable"):
                bundle_module.write(folder / path.name, path.read_bytes())
        assert not (folder / path.name).exists()


def test_what_grows_too_large_with_the_rows_leaves_no_bundle(
    run: Runner, folder: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len((run("first").folder / "internal" / "evidence.json").read_bytes())
    monkeypatch.setitem(bundle_module._LIMITS, bundle_module.EVIDENCE, size - 1_000)
    with pytest.raises(InputRefused, match=r"bundle\.not_checkable"):
        run("second")
    assert entries(ledger) == ["complete", "failed"] and not (folder / "second").exists()


@pytest.mark.parametrize("seed", range(1, 5))
def test_what_a_cap_left_out_is_counted_among_the_rows_that_fulfil_the_conditions(run, seed):
    """Rows of other wards would never have been used: it is not the cap that left them out."""
    north = ({"step": "keep_rows_where", "column": "ward", "is": "in", "values": ["north"]},)
    made = run(
        method="datasets.pseudonyms",
        parameters={"columns": ["sex", "stay"]},
        budget=None,
        preparation=north,
        seed=seed,
    )
    counted = json.loads((made.folder / "release" / "evidence.json").read_text())["counted"]
    above = 4 - counted["used"]
    assert above in (0, 1) and counted.get("above_cap_band") == {0: None, 1: band_of(1, 4)[0]}[above]
    assert set(counted) <= {"used", "above_cap_band", "left_out"}  # never the number itself


@pytest.mark.parametrize(
    ("left", "told"), [(0, {"left_out": 0}), (2, {"fewer_left_out_than": 5}), (5, {"left_out": 5})]
)
def test_of_fewer_than_k_rows_that_were_left_out_the_number_does_not_leave(left, told):
    """A report said “fewer than 7”, and beside it 2,460 rows that were used and 2,456 that leave."""
    frame = pd.DataFrame({"age": ["20-39"] * (40 - left)})
    table = TableArtefact("table", (frame,), ())
    cost = SimpleNamespace(loss=None, terms={"k": 5}, weighs=False)
    design = SimpleNamespace(request=SimpleNamespace(private=("people",)), rows=Rows.COARSER, cost=cost)
    draft = SimpleNamespace(held_out={}, used={"people": range(40)})
    prepared = {"people": SimpleNamespace(people=None)}
    release = SimpleNamespace(artefacts=(table,))
    made = SimpleNamespace(design=design, release=release, prepared=prepared, draft=draft)
    found = write._count(made)
    assert told == {name: n for name, n in found.items() if name != "used"}
    assert ("used" in found) is ("left_out" in told)


@pytest.mark.parametrize("method_id", ["datasets.communities", "datasets.linked_imputation"])
def test_of_invented_rows_all_rows_of_all_tables_were_used_and_none_is_left_out(method_id):
    """Whole histories are read, whatever the cap, and fewer invented rows leave nobody's row behind."""
    for plan, folder in examples_run.ran(method(method_id)):
        kept = json.loads((folder / "internal" / "evidence.json").read_text())
        read = [kept["internal"]["input"], *kept["internal"]["input"].get("others", {}).values()]
        assert kept["counted"]["used"] == sum(one["rows_used"] for one in read) > 0, plan.method
        assert kept["counted"]["left_out"] == 0 and "above_cap_band" not in kept["counted"]
