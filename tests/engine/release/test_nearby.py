"""An old copy of the ledger that was put back is noticed by the bundles that lie where a release is made."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction

import pytest

from engine import texts
from engine.errors import InputRefused
from engine.ledger import Ledger, remembered
from engine.release import nearby
from engine.release.nearby import PUT_BACK, find_bundles, forgotten


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    """As on a computer that did not make the later releases: bundles alone tell of them."""
    monkeypatch.setattr(remembered, "keep", lambda tree: None)


@pytest.fixture
def put_back(folder, ledger, run):
    """Two releases, then the ledger as it was after the first."""
    run("one")
    kept = shutil.copy(ledger.path, folder / "backup")
    run("two", seed=2)
    shutil.copy(kept, ledger.path)
    return ledger


def refused(action):
    with pytest.raises(InputRefused) as caught:
        action()
    assert caught.value.code == "run.ledger_put_back"
    texts.explain(caught.value)
    return caught.value.values


def test_the_ledger_that_knows_its_bundles_goes_on(run):
    for number in range(3):
        run(f"bundle-{number}", seed=number)


@pytest.mark.guarantee
def test_an_old_copy_stops_the_run_before_anything_is_reserved(put_back, run, folder):
    head = put_back.head()
    values = refused(lambda: run("three"))
    assert values["folders"] == ["two"] and values["count"] == 1 and values["last"] == head.sequence
    assert put_back.head() == head and not (folder / "three").exists()
    assert put_back.status("Register of stays").epsilon_spent == Fraction(1, 2)  # two times that have left


def test_it_is_noticed_after_more_was_released_too(put_back, run, folder):
    (folder / "two").rename(folder / "hidden")
    aside = folder / "elsewhere"
    aside.mkdir()
    shutil.move(folder / "hidden", aside / "two")
    for number in range(2):
        run(f"more-{number}", seed=number)  # the chain is longer than the bundle's head by now
    shutil.move(aside / "two", folder / "two")
    refused(lambda: run("three"))


def test_a_named_folder_is_looked_into(put_back, run, folder, plan):
    from engine.release.run import run as release

    shutil.move(folder / "two", folder / "far")
    (folder / "away").mkdir()
    shutil.move(folder / "far", folder / "away" / "two")
    for known in (folder / "away", folder / "away" / "two"):
        refused(
            lambda known=known: release(
                plan, out=folder / "three", ledger=put_back, base=folder, known=(known,)
            )
        )
    release(plan, out=folder / "three", ledger=put_back, base=folder)


def test_bundles_of_another_ledger_say_nothing(run, folder, plan):
    from engine.release.run import run as release

    run("one")
    other = Ledger(folder / "other.sqlite")
    assert release(plan, out=folder / "two", ledger=other, base=folder).folder.name == "two"
    assert forgotten(other, (folder,)) == ()


def test_older_bundles_that_do_not_name_their_chain_are_known_by_their_input(put_back, folder):
    path = folder / "two" / "release" / "evidence.json"
    tree = json.loads(path.read_text())
    del tree["ledger"]["chain"]
    path.write_text(json.dumps(tree))
    assert [one.folder for one in forgotten(put_back, (folder,))] == ["two"]
    assert forgotten(Ledger(folder / "other.sqlite"), (folder,)) == ()
    shutil.rmtree(folder / "two" / "internal")
    assert forgotten(put_back, (folder,)) == ()  # nobody can tell


def test_with_a_reason_it_goes_on_and_is_not_asked_again(put_back, run, folder):
    why = {"decision": PUT_BACK, "reason": "The disk broke; the budget was lowered."}
    made = run("three", decisions=(why,))
    events = [one["details"] for one in put_back.journal() if one["kind"] == "decision"]
    assert len(events) == 1 and events[0]["reason"] == why["reason"]
    report = (made.folder / "internal" / "report-internal.html").read_text()
    assert why["reason"] in report and texts.text("report.decisions.kinds.ledger_put_back") in report
    run("four", seed=3)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"ledger": 1}', '{"ledger": {"head": {}}}'])
def test_what_cannot_be_read_is_passed_over(run, ledger, folder, content):
    for name in ("release", "internal"):
        (folder / "odd" / name).mkdir(parents=True)
        (folder / "odd" / name / "SHA256SUMS").write_text("")
        (folder / "odd" / name / "evidence.json").write_text(content)
    run("one")
    assert forgotten(ledger, (folder, folder / "nothing", folder / "stays.csv")) == ()


def test_the_work_is_bounded(folder, ledger, monkeypatch):
    for number in range(30):
        part = folder / f"b{number}" / "release"
        part.mkdir(parents=True)
        (part / "SHA256SUMS").write_text(str(number))
        (part / "evidence.json").write_text("{" + " " * 1000)
    monkeypatch.setattr(nearby, "MOST_BUNDLES", 10)
    assert len(list(find_bundles((folder, folder)))) == 10
    monkeypatch.setattr(nearby, "MOST_READ", 2500)
    read = []
    real = nearby._evidence
    monkeypatch.setattr(nearby, "_evidence", lambda part: read.append(part) or real(part))
    forgotten(ledger, (folder,))
    assert len(read) == 2
    monkeypatch.setattr(nearby, "LARGEST", 10)
    assert forgotten(ledger, (folder,)) == () and len(read) == 2
