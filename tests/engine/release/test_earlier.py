"""No arrangement of folders and names lets a pair of tables leave that is refused side by side."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.ledger import Ledger, remembered, staff
from engine.privacy import keys
from engine.release import earlier as earlier_module
from engine.release import seconded
from engine.release.charge import NEW_HOLDING
from engine.release.earlier import EARLIER_MISSING, OTHER_PEOPLE, missing_releases, read_told
from engine.release.plan import Plan
from engine.release.reasons import KNOWN
from engine.release.run import prepare, run
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
    remembered.keep({})  # else it is another ledger than the one this computer saw


def _triggers():
    from engine.ledger import store

    return [one for one in store.statements() if one.startswith("CREATE TRIGGER")]


def _chain_again(db, entry):
    from engine.ledger.journal import BEFORE_FIRST, hash_row, write_canonical

    previous = BEFORE_FIRST
    for sequence, text in db.execute("SELECT sequence, event FROM journal ORDER BY sequence").fetchall():
        event = json.loads(text)
        if event.get("row") == entry:
            event["changes"].pop("told", None)
        text = write_canonical(event)
        digest = hash_row(previous, text)
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


@pytest.mark.guarantee
def test_what_nobody_knows_stops_the_run_before_anything_is_spent(tmp_path, ledger):
    first = made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    forget(ledger)
    (tmp_path / "far").mkdir()
    shutil.move(first.folder, tmp_path / "far" / "one")
    with pytest.raises(InputRefused) as caught:
        made(tmp_path, MORE, "two", tmp_path / "two", ledger)
    (named,) = caught.value.values["titles"]
    assert caught.value.code == "run.earlier_missing" and named.values["title"] == "Table one"
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
    assert missing_releases(plan, ledger, places=(tmp_path,))["count"] == 1
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
    assert read_told(first.folder) == ledger.told(first.entry)
    release = first.folder / "release"
    assert told["files"] == {"counts.csv": (release / "counts.csv").read_text()}
    decided = json.loads((release / "evidence.json").read_text())["decided"]
    assert told["parameters"] == decided["parameters"] and set(told) == {
        "version",
        "method",
        "parameters",
        "made",
        "chosen",
        "conditions",
        "files",
    }


def test_of_conditions_values_are_kept_that_were_declared_and_no_other_cell(tmp_path, ledger):
    steps = [
        {"step": "keep_rows_where", "column": "gender", "is": "in", "values": ["Male", "Dr. Jones"]},
        {"step": "keep_rows_where", "column": "encounter_id", "is": "not_in", "values": ["10007"]},
    ]
    plan = replace(planned(tmp_path, COUNTS, "one"), preparation=tuple(steps))
    first = run(plan, out=tmp_path / "one", ledger=ledger, base=tmp_path)
    kept = json.loads(ledger.told(first.entry))["conditions"]
    assert kept == [{**steps[0], "values": ["Male"]}, {"column": "encounter_id"}]
    shutil.rmtree(first.folder / "internal")
    assert json.loads(read_told(first.folder))["conditions"] == [
        {"column": "gender"},
        {"column": "encounter_id"},
    ]


def test_other_people_by_a_reason_are_not_compared(tmp_path, ledger):
    """Another register is other people: that takes a reason of its own, which stands in the chain."""
    made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    plan = replace(planned(tmp_path, MORE, "two"), holding="Another register")
    with pytest.raises(InputRefused, match=r"ledger\.known_"):
        run(plan, out=tmp_path / "two", ledger=ledger, base=tmp_path)
    why = {"decision": NEW_HOLDING, "reason": "Another hospital."}
    run(replace(plan, decisions=(why,)), out=tmp_path / "two", ledger=ledger, base=tmp_path)


# --- other people, and the same ones -------------------------------------------------------------------


def month(seed, people=400, *, several=False, ids=None):
    """Return one month's stays: everybody with a number that nobody else has, as have the stays."""
    chance = np.random.default_rng(seed)
    ids = chance.choice(10**7, people, replace=False) if ids is None else ids
    whose = np.repeat(np.arange(people), 1 + chance.poisson(0.4, people) if several else 1)
    frame = pd.DataFrame({"patient_nbr": ids[whose]})
    frame.insert(1, "encounter_id", chance.choice(10**8, len(frame), replace=False))
    ages = chance.choice(["[40-50)", "[50-60)", "[60-70)", "[70-80)"], people)
    frame["age"], frame["gender"] = ages[whose], chance.choice(["Female", "Male"], people)[whose]
    frame["readmitted"] = chance.choice(["NO", "<30", ">30"], len(frame))
    return frame


def pair(tmp_path, ledger, first, second, *, decisions=(), columns=("age", "gender"), again=None):
    for name, frame, asked in (("one", first, columns), ("two", second, again or columns)):
        people_table(frame, tmp_path, f"{name}.csv")
        reasons = decisions if name == "two" else ()
        given = {"columns": list(asked), "threshold": 5}
        plan = replace(planned(tmp_path, {}, name, **given), decisions=tuple(reasons))
        made_ = run(plan, out=tmp_path / name, ledger=ledger, base=tmp_path)
    return made_


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("returning", [0, 30])
def test_the_months_of_other_people_are_released(tmp_path, ledger, seed, returning):
    """Cells that differ by few are of other people: of nearly everybody the ledger knows it.

    About one pair in six is so alike by chance that it asks for a reason; these are not.
    """
    january, more = month(seed), month(100 + seed, 440)["patient_nbr"].to_numpy()
    ids = np.append(january["patient_nbr"].to_numpy()[:returning], more[returning:])
    february = month(200 + seed, 440, ids=ids)
    cells = [one.groupby(["age", "gender"]).size() for one in (january, february)]
    assert (cells[0] - cells[1]).abs().min() < 5  # taken for the same people, somebody would be told
    made_ = pair(tmp_path, ledger, january, february)
    inside = json.loads((made_.folder / "internal" / "evidence.json").read_text())["internal"]["inside"]
    assert inside["earlier_compared"] == 1


def numbered_anew(frame, *names):
    return frame.assign(**{name: frame[name] * 7919 % 10_000_019 + 10**8 for name in names})


ONE_PERSON = {
    "gone": lambda frame: frame[frame["patient_nbr"] != frame["patient_nbr"][7]],
    "moved": lambda frame: frame.assign(
        gender=frame["gender"].mask(frame["patient_nbr"] == frame["patient_nbr"][7], "Unknown/Invalid")
    ),
}
NAMES = {
    "as before": lambda frame: frame,
    "other people": lambda frame: numbered_anew(frame, "patient_nbr"),
    "other people and stays": lambda frame: numbered_anew(frame, "patient_nbr", "encounter_id"),
    "running numbers": lambda frame: frame.assign(patient_nbr=frame["patient_nbr"].rank(method="dense")),
    "mixed": lambda frame: numbered_anew(frame.sample(frac=1, random_state=1), "patient_nbr", "encounter_id"),
}


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("change", ONE_PERSON)
def test_one_person_never_passes_for_other_people(tmp_path, ledger, change, names, several):
    """Under whatever numbers: of two tables that differ by one person none leaves without a reason."""
    first = month(11, several=several)
    with pytest.raises(InputRefused) as caught:
        pair(tmp_path, ledger, first, NAMES[names](ONE_PERSON[change](first)))
    assert caught.value.code.endswith("differs" if names == "as before" else ("differs", "resembles"))


def test_a_group_that_came_does_not_hide_the_one_who_left(tmp_path, ledger):
    first = month(12)
    came = month(13, 60).assign(age="[40-50)", gender="Male")
    second = pd.concat([ONE_PERSON["gone"](first), came], ignore_index=True)
    with pytest.raises(InputRefused, match="differs"):
        pair(tmp_path, ledger, first, second)


def test_a_register_that_grew_is_not_of_other_people_under_new_numbers(tmp_path, ledger):
    first = month(11)
    grown = pd.concat([first, month(18, 40)], ignore_index=True)
    with pytest.raises(InputRefused, match="resembles"):
        pair(tmp_path, ledger, first, NAMES["mixed"](grown))


def test_what_cannot_be_known_needs_a_reason_that_is_kept_and_printed(tmp_path, ledger):
    """Every month numbers its people from one: the ledger cannot know that they are others."""
    first, second = (month(seed).assign(patient_nbr=range(400)) for seed in (14, 15))
    with pytest.raises(InputRefused) as caught:
        pair(tmp_path, ledger, first, second)
    assert caught.value.code == "statistics.protected_table.resembles"
    assert "--reason other_people" in texts.explain(caught.value)[1] and "other_people" in KNOWN
    why = "The ward numbers its patients anew every month."
    decision = {"decision": OTHER_PEOPLE, "reason": why}
    plan = replace(
        planned(tmp_path, {}, "two", columns=["age", "gender"], threshold=5), decisions=(decision,)
    )
    made_ = run(plan, out=tmp_path / "two", ledger=ledger, base=tmp_path)
    event = [one for one in ledger.journal() if one["kind"] == "decision"][-1]
    assert event["details"]["decision"] == OTHER_PEOPLE and event["details"]["reason"] == why
    report = (made_.folder / "internal" / "report-internal.html").read_text()
    assert why in report and texts.text("report.decisions.kinds.other_people") in report
    inside = json.loads((made_.folder / "internal" / "evidence.json").read_text())["internal"]["inside"]
    assert inside["earlier_compared"] == 0


def test_no_reason_releases_what_surely_gives_somebody_away(tmp_path, ledger):
    first = month(16)
    decision = {"decision": OTHER_PEOPLE, "reason": "These are others, believe me."}
    with pytest.raises(InputRefused, match="differs"):
        pair(tmp_path, ledger, first, ONE_PERSON["gone"](first), decisions=(decision,))


def test_the_same_people_have_the_same_rows_in_every_table_of_a_register(tmp_path, ledger):
    """Lots that fell anew would differ by few: refused, or telling of who has several stays."""
    first = month(17, several=True)
    columns, again = ("gender", "readmitted"), ("readmitted", "age")
    pair(tmp_path, ledger, first, first, columns=columns, again=again)
    sums = [
        pd.read_csv(tmp_path / name / "release" / "counts.csv").query(f"{other} == '(all)'")
        for name, other in (("one", "gender"), ("two", "age"))
    ]
    assert sums[0]["count"].tolist() == sums[1]["count"].tolist() and len(sums[0]) == 4


AROUND = {"[40-50)": "[50-60)", "[50-60)": "[60-70)", "[60-70)": "[70-80)", "[70-80)": "[40-50)"}
EXCHANGED = {"step": "recode", "column": "age", "map": AROUND}
SOME_ROWS = {"step": "keep_rows_where", "column": "readmitted", "is": "in", "values": ["NO", "<30"]}
OTHERWISE = {
    "exchanged in the file": (lambda frame: frame.assign(age=frame["age"].map(AROUND)), [], []),
    "put together": (lambda frame: frame.assign(age=frame["age"].replace("[50-60)", "[40-50)")), [], []),
    "exchanged by a step": (lambda frame: frame, [], [EXCHANGED]),
    "exchanged beside conditions": (lambda frame: frame, [SOME_ROWS], [EXCHANGED, SOME_ROWS]),
}


@pytest.mark.parametrize(
    ("change", "form"),
    [*zip(OTHERWISE, ("hidden", "random_rounding") * 2, strict=True), ("put together", "hidden")],
)
def test_values_that_read_otherwise_under_their_old_names_need_a_reason(tmp_path, ledger, change, form):
    """Whoever knows how they were exchanged reads the same rows twice, hidden or rounded in two ways."""
    frame, (again, *steps) = month(21), OTHERWISE[change]
    for name, rows, own in zip(("one", "two"), (frame, again(frame)), steps, strict=True):
        people_table(rows, tmp_path, f"{name}.csv")
        plan = replace(
            planned(tmp_path, {}, name, columns=["age", "gender"], form=form, threshold=5), preparation=own
        )
        if name == "one":
            run(plan, out=tmp_path / name, ledger=ledger, base=tmp_path)
    with pytest.raises(InputRefused, match=r"not_compared|resembles|differs"):
        run(plan, out=tmp_path / "two", ledger=ledger, base=tmp_path)


@pytest.mark.parametrize("form", ["random_rounding", "controlled_rounding", "cell_keys"])
def test_changed_counts_do_not_leave_twice_with_other_changes(tmp_path, ledger, form):
    """Under other names of the values; by keys, with other numbers of the same people."""
    frame, more = month(23), {"columns": ["age", "gender"], "form": form, "seconds": 1}
    people_table(frame, tmp_path, "one.csv")
    run(planned(tmp_path, {}, "one", **more), out=tmp_path / "one", ledger=ledger, base=tmp_path)
    again = numbered_anew(frame, "patient_nbr") if form == "cell_keys" else frame
    path = people_table(again, tmp_path, "two.csv")
    plan = planned(tmp_path, {}, "two", **more)
    if form != "cell_keys":
        for old, new in (("Female", "Woman"), ("Male", "Man"), ("[", "from ")):
            path.write_text(path.read_text().replace(old, new))
            plan = Plan.loads(plan.dumps().replace(f'"{old}', f'"{new}'))
    with pytest.raises(InputRefused, match=r"not_compared|resembles|again"):
        run(plan, out=tmp_path / "two", ledger=ledger, base=tmp_path)


def test_counts_changed_by_keys_leave_again_with_few_people_more(tmp_path, ledger):
    frame = month(24)
    for name, rows in (("one", frame[:-20]), ("two", frame)):
        people_table(rows, tmp_path, f"{name}.csv")
        plan = planned(tmp_path, {}, name, columns=["age", "gender"], form="cell_keys")
        run(plan, out=tmp_path / name, ledger=ledger, base=tmp_path)


def test_some_of_the_same_people_are_a_table_as_any_other(tmp_path, ledger):
    first = month(22)
    pair(tmp_path, ledger, first, first[first["patient_nbr"] % 2 == 0])


# --- three tables and more -----------------------------------------------------------------------------

AGES, GENDERS, SMALL = ("[40-50)", "[50-60)", "[60-70)", "[70-80)"), ("Female", "Male"), ("[50-60)", "Male")
SEVERAL = "statistics.protected_table.several"


def other_month(number, alone=None):
    """Return a month in which everybody is new; its counts differ from those of all others by many."""
    counts = {
        (age, gender): 40 + 17 * ((place + 3 * number) % 5)
        for place, (age, gender) in enumerate((a, g) for a in AGES for g in GENDERS)
    }
    if alone == number:
        counts[SMALL] = 1
    frame = month(300 + number, sum(counts.values()))
    frame["patient_nbr"] = np.arange(len(frame)) * 7919 % 10**6 + (number + 1) * 10**6
    cells = [cell for cell, count in counts.items() for _ in range(count)]
    return frame.assign(age=[age for age, _ in cells], gender=[gender for _, gender in cells])


def release_all(tmp_path, ledger, frames, *, decisions=(), change=lambda plan: plan):
    """Release one table after the other; return of each its counts, or the code with which it was refused."""
    found = []
    for number, frame in enumerate(frames):
        name = f"t{len(ledger.entries())}-{number}"
        people_table(frame, tmp_path, f"{name}.csv")
        plan = planned(tmp_path, {}, name, columns=["age", "gender"], threshold=5)
        try:
            plan = replace(change(plan), decisions=tuple(decisions))
            run(plan, out=tmp_path / name, ledger=ledger, base=tmp_path)
        except InputRefused as refused:
            texts.explain(refused)
            found.append(refused.code)
            continue
        table = pd.read_csv(tmp_path / name / "release" / "counts.csv", index_col=[0, 1])
        found.append(table["count"])
    return found


def together(*frames):
    return pd.concat(frames, ignore_index=True)


ORDERS = {
    "the year last": lambda m: [*m, together(*m)],
    "the year first": lambda m: [together(*m), m[0], m[2], m[1]],
    "overlaps": lambda m: [together(*m[:2]), together(*m[1:]), together(*m), m[1]],
}


@pytest.mark.parametrize("reason", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_what_three_tables_tell_together_is_refused_whatever_the_reason(tmp_path, ledger, order, reason):
    """One person of the second month is hidden: sums and differences of the others are that one person."""
    decisions = [{"decision": one, "reason": "Others."} for one in (OTHER_PEOPLE, EARLIER_MISSING)]
    frames = ORDERS[order]([other_month(number, alone=1) for number in range(3)])
    found = release_all(tmp_path, ledger, frames, decisions=decisions if reason else ())
    assert {one for one in found if isinstance(one, str)} == {SEVERAL}
    assert sum(not isinstance(one, str) for one in found) >= 2


def test_ordinary_months_and_their_year_leave_without_a_question(tmp_path, ledger):
    months = [other_month(number) for number in range(4)]
    found = release_all(tmp_path, ledger, [*months, together(*months)])
    assert not any(isinstance(one, str) for one in found)
    year = sum(one.to_numpy() for one in found[:4])
    assert (found[4].to_numpy() == year).all()  # which gives nobody away: no cell is small


def test_who_was_chosen_by_conditions_is_known_to_nobody(tmp_path, ledger):
    """Then whether several tables give somebody away cannot be said: that takes a reason."""
    step = {"step": "keep_rows_where", "column": "readmitted", "is": "in", "values": ["NO", "<30", ">30"]}
    frames = [other_month(number) for number in range(3)]
    found = release_all(
        tmp_path, ledger, frames, change=lambda plan: replace(plan, preparation=(*plan.preparation, step))
    )
    assert found[2] == f"{SEVERAL}_unknown" and not any(isinstance(one, str) for one in found[:2])
    why = {"decision": EARLIER_MISSING, "reason": "Every month is a file of its own."}
    (last,) = release_all(tmp_path, ledger, frames[2:], decisions=[why])
    assert not isinstance(last, str)


def test_all_people_of_a_table_are_kept_also_those_who_were_known(tmp_path, ledger):
    first, second = other_month(0), together(other_month(0), other_month(1))
    release_all(tmp_path, ledger, [first, second])
    with sqlite3.connect(ledger.path) as db:
        kept = [len(people) // 8 for (people,) in db.execute("SELECT people FROM trace ORDER BY rowid")]
    db.close()
    assert kept == [len(first), len(second)]


def test_what_was_prepared_is_asked_what_was_begun_until_it_goes_on(tmp_path, ledger, monkeypatch):
    """In both ways: what goes on now began after what was killed, and before what begins now."""
    monkeypatch.setattr(keys, "_ARGON2", {"iterations": 1, "lanes": 1, "memory_cost": 64})
    plan = planned(tmp_path, COUNTS, "prepared")
    holding = ledger.create_holding(plan.holding, unit="person", neighbours="add_remove")
    people = {}
    for name, role in (("Ada", "approve"), ("Bea", "prepare")):
        seconded.name_person(ledger, holding, name=name, role=role, passphrase=f"a long passphrase {name}")
        found = seconded.find_person(ledger, ledger.holdings()[0], name)
        people[name] = seconded.opened(ledger, ledger.holdings()[0], found, f"a long passphrase {name}")
        staff.sign_in(ledger.path, people[name])
    approval = seconded.approve(prepare(plan, ledger=ledger, base=tmp_path), people["Ada"])
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "complete", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            made(tmp_path, MORE, "killed", tmp_path / "killed", ledger)
    shutil.rmtree(tmp_path / "killed")
    monkeypatch.setattr("engine.ledger.entries.is_running", lambda process: False)
    with pytest.raises(InputRefused) as caught:
        run(plan, out=tmp_path / "out", ledger=ledger, base=tmp_path, approval=approval)
    assert caught.value.code == "run.earlier_unresolved" and not (tmp_path / "out").exists()
