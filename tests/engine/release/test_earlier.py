"""No arrangement of folders and names lets a pair of tables leave that is refused side by side."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from engine import texts
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.release import earlier as earlier_module
from engine.release import remembered
from engine.release.charge import NEW_HOLDING
from engine.release.earlier import EARLIER_MISSING, missing, told_of
from engine.release.run import run
from engine.release.working import sweep
from tests.engine.methods.statistics.test_protected_table import COUNTS, people_table, plan_for, stays

MORE = COUNTS | {("[40-50)", "Male", "<30"): 28 + 3}
DIFFERS = "statistics.protected_table.differs"


def planned(tmp_path, counts, name, **given):
    path = tmp_path / f"{name}.csv"
    if not path.exists():
        people_table(stays(counts), tmp_path, path.name)
    return plan_for(path, {"seconds": 1, **given}, f"Table {name}")


def made(tmp_path, counts, name, out, ledger, *, known=(), decisions=()):
    plan = replace(planned(tmp_path, counts, name), decisions=tuple(decisions))
    return run(plan, out=out, ledger=ledger, base=tmp_path, known=known)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


def forget(ledger):
    """Take away what the ledger keeps, as if an older program had entered the release."""
    entry = next(one for one in ledger.entries() if one.told)
    with sqlite3.connect(ledger.path) as db:
        db.execute("DELETE FROM told")
        for name in ("journal_not_changed", "journal_not_removed"):
            db.execute(f"DROP TRIGGER {name}")
        db.execute("UPDATE entry SET told = NULL")
        _chain_again(db, entry.id)
        for statement in _triggers():
            db.execute(statement)
    db.close()
    ledger.verify_chain()
    remembered.keep(ledger)  # else it is another ledger than the one this computer saw


def _triggers():
    from engine.ledger import store

    return [one for one in store.statements() if one.startswith("CREATE TRIGGER")]


def _chain_again(db, entry):
    from engine.ledger.journal import BEFORE_FIRST, canonical, chained

    previous = BEFORE_FIRST
    for sequence, text in db.execute("SELECT sequence, event FROM journal ORDER BY sequence").fetchall():
        event = json.loads(text)
        if event.get("row") == entry:
            event["changes"].pop("told", None)
        text = canonical(event)
        digest = chained(previous, text)
        db.execute(
            "UPDATE journal SET previous = ?, event = ?, hash = ? WHERE sequence = ?",
            (previous, text, digest, sequence),
        )
        previous = digest


@pytest.mark.parametrize(
    "places",
    [("here", "there"), ("there", "here"), ("here", "here"), ("a/b/c", "a"), ("release", "internal")],
    ids="-".join,
)
@pytest.mark.parametrize("order", [(COUNTS, MORE), (MORE, COUNTS)], ids=["more", "fewer"])
def test_a_refused_pair_is_refused_wherever_it_lies(tmp_path, ledger, places, order):
    for place in places:
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
    made(tmp_path, order[0], "one", tmp_path / places[0] / "one", ledger)
    with pytest.raises(InputRefused, match=DIFFERS.replace(".", r"\.")):
        made(tmp_path, order[1], "two", tmp_path / places[1] / "two", ledger)
    assert not (tmp_path / places[1] / "two").exists()


@pytest.mark.parametrize("fate", ["gone", "renamed", "changed", "withdrawn", "only the ledger"])
def test_nor_whatever_became_of_the_first(tmp_path, ledger, fate):
    first = made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    if fate == "renamed":
        first.folder.rename(tmp_path / "somewhere")
    if fate == "changed":
        (first.folder / "release" / "SHA256SUMS").write_text("")
    if fate == "withdrawn":
        ledger.withdraw(first.entry, "asked for")
    if fate in ("gone", "only the ledger"):
        shutil.rmtree(first.folder)
    if fate == "only the ledger":  # carried to another computer with its keys, into another folder
        keys = ledger.path.with_name(f"{ledger.path.name}-keys")
        shutil.copytree(keys, tmp_path / "other" / "books.sqlite-keys")
        ledger = Ledger(shutil.copy(ledger.path, tmp_path / "other" / "books.sqlite"))
    with pytest.raises(InputRefused, match="differs"):
        made(tmp_path, MORE, "two", tmp_path / "two", ledger)


def test_what_nobody_knows_stops_the_run_before_anything_is_spent(tmp_path, ledger):
    first = made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    forget(ledger)
    (tmp_path / "far").mkdir()
    shutil.move(first.folder, tmp_path / "far" / "one")
    with pytest.raises(InputRefused) as caught:
        made(tmp_path, MORE, "two", tmp_path / "two", ledger)
    assert caught.value.code == "run.earlier_missing" and "Table one" in caught.value.values["titles"]
    _, do = texts.explain(caught.value)
    assert "--known" in do and "--reason earlier_missing" in do and "Preview" in do
    assert ledger.entries()[-1].state == "freed" and not (tmp_path / "two").exists()


def test_the_folder_answers_and_is_needed_once(tmp_path, ledger):
    first = made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    forget(ledger)
    (tmp_path / "far").mkdir()
    away = Path(shutil.move(first.folder, tmp_path / "far" / "one"))
    for known in ((away,), ()):  # the ledger keeps what it found
        with pytest.raises(InputRefused, match="differs"):
            made(tmp_path, MORE, "two", tmp_path / "two", ledger, known=known)


def test_a_folder_that_was_changed_is_no_answer(tmp_path, ledger):
    first = made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    forget(ledger)
    numbers = first.folder / "release" / "counts.csv"
    numbers.write_text(numbers.read_text().replace("4", "5"))
    with pytest.raises(InputRefused, match="earlier_missing"):
        made(tmp_path, MORE, "two", tmp_path / "two", ledger, known=(first.folder,))


def test_a_reason_is_kept_in_ledger_and_evidence_and_printed(tmp_path, ledger):
    first = made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    forget(ledger)
    shutil.rmtree(first.folder)
    why = "The folder was lost in the fire of March."
    decision = {"decision": EARLIER_MISSING, "reason": why}
    plan = replace(planned(tmp_path, MORE, "two"), decisions=(decision,))
    assert missing(plan, ledger, places=(tmp_path,))["count"] == 1
    second = run(plan, out=tmp_path / "two", ledger=ledger, base=tmp_path)
    event = next(one for one in ledger.journal() if one["kind"] == "decision")
    assert event["details"] == {
        "decision": EARLIER_MISSING,
        "reason": why,
        "holding": ledger.holdings()[0].id,
        "entry": second.entry,
    }
    inside = json.loads((second.folder / "internal" / "evidence.json").read_text())["internal"]
    assert inside["inside"]["earlier_not_found"] == 1 and decision in inside["plan"]["decisions"]
    report = (second.folder / "internal" / "report-internal.html").read_text()
    assert why in report and texts.text("report.decisions.kinds.earlier_missing") in report
    assert why not in (second.folder / "release" / "report-external.html").read_text()


def test_of_two_at_once_the_later_one_gives_way(tmp_path, ledger, monkeypatch):
    """While the first is being made nothing is known of it yet."""
    caught = []
    real = earlier_module.earlier

    def between(*args, **options):
        found = real(*args, **options)
        if not caught:
            caught.append(None)
            with pytest.raises(InputRefused) as refused:
                made(tmp_path, MORE, "two", tmp_path / "elsewhere", ledger)
            caught.append(refused.value)
        return found

    monkeypatch.setattr("engine.release.run.earlier", between)
    assert made(tmp_path, COUNTS, "one", tmp_path / "one", ledger).folder.is_dir()
    assert caught[1].code == "run.earlier_underway"
    texts.explain(caught[1])


def test_one_that_was_never_closed_has_to_be_closed_first(tmp_path, ledger, monkeypatch):
    made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    monkeypatch.setattr(Ledger, "complete", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path, COUNTS, "one", tmp_path / "second", ledger)
    monkeypatch.undo()
    shutil.rmtree(tmp_path / "second")
    monkeypatch.setattr("engine.ledger.entries.is_running", lambda process: False)
    with pytest.raises(InputRefused) as caught:
        made(tmp_path, MORE, "two", tmp_path / "two", ledger)
    assert caught.value.code == "run.earlier_unresolved"
    texts.explain(caught.value)
    for entry in ledger.entries():
        if entry.abandoned:
            ledger.resolve(entry.id, "Nobody knows whether it has left.")
    with pytest.raises(InputRefused, match="earlier_missing"):
        made(tmp_path, MORE, "two", tmp_path / "two", ledger)


def test_a_killed_run_whose_bundle_is_whole_is_compared_too(tmp_path, ledger, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "complete", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    monkeypatch.setattr("engine.ledger.entries.is_running", lambda process: False)
    sweep(ledger)
    assert ledger.entries()[0].told
    with pytest.raises(InputRefused, match="differs"):
        made(tmp_path, MORE, "two", tmp_path / "two", ledger)


def test_what_is_kept_is_what_left_and_nothing_else(tmp_path, ledger):
    first = made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    told = json.loads(ledger.told(first.entry))
    assert told_of(first.folder) == ledger.told(first.entry)
    release = first.folder / "release"
    assert told["files"] == {"counts.csv": (release / "counts.csv").read_text()}
    decided = json.loads((release / "evidence.json").read_text())["decided"]
    assert told["parameters"] == decided["parameters"] and set(told) == {
        "version",
        "method",
        "parameters",
        "made",
        "files",
    }


def test_other_people_by_a_reason_are_not_compared(tmp_path, ledger):
    """Another register is other people: that takes a reason of its own, which stands in the chain."""
    made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    plan = replace(planned(tmp_path, MORE, "two"), holding="Another register")
    with pytest.raises(InputRefused, match=r"ledger\.known_"):
        run(plan, out=tmp_path / "two", ledger=ledger, base=tmp_path)
    why = {"decision": NEW_HOLDING, "reason": "Another hospital."}
    run(replace(plan, decisions=(why,)), out=tmp_path / "two", ledger=ledger, base=tmp_path)
