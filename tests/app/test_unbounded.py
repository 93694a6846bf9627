"""Releases without noise through the window: no screen asks for a level or speaks of noise, ε or bounds."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLineEdit

from app import words
from app.frame.window import Window
from app.state import flow
from app.work.releasing import beside_its_table
from engine import texts
from engine.ledger import Ledger
from engine.methods import catalogue
from engine.methods.catalogue import method, methods
from engine.methods.protocol import Budget, Spends
from engine.privacy.events import Sequential
from engine.privacy.keys import lock_key
from engine.privacy.mechanisms import DiscreteLaplace
from engine.privacy.promise import Loss, Neighbours, Promise, promise_kind
from engine.release.pseudonyms import KEY_ELSEWHERE
from engine.release.run import run
from tests.app.walking import above, example_plan, said, settle

UNBOUNDED = [one for one in methods() if not any(promise_kind(kind).bounded for kind in one.promises)]
KINDS = ("datasets.k_anonymity", "statistics.protected_table")  # rows, and cells of a table
ONE_OF_EACH = pytest.mark.guarantee
FALSE = re.compile(r"\bnoise\b|ε|\bepsilon\b|\bsampler\b|declared bounds|privacy level|privacy budget", re.I)


def go_on(qtbot: Any, window: Window, method_id: str, folder: Path, *, pays: Budget | None = None) -> None:
    """Open the example of a method and compute what comes before the choice of a method."""
    window.study.open_plan(replace(example_plan(method_id, folder), holding_budget=pays))
    for step in flow.path(window.study.state):
        if step == "method":
            break
        window.go(step)
        settle(qtbot, window)
    window.go("method")
    settle(qtbot, window)
    assert window.step == "method", (window.step, window.notice.words())


def own_words(method_id: str) -> list[re.Pattern[str]]:
    """Return what a method itself says of noise: one that adds some without a bound has to."""
    found = [text for name, text in texts.catalogue().items() if name.startswith(f"methods.{method_id}.")]
    parts = [
        [re.escape(part) for part in re.split(r"\{[^}]*\}", text)] for text in found if FALSE.search(text)
    ]
    return [re.compile(".*".join(part)) for part in parts]


@pytest.mark.parametrize(
    "method_id",
    [pytest.param(one.id, marks=ONE_OF_EACH if one.id in KINDS else ()) for one in UNBOUNDED],
)
def test_no_screen_of_a_release_without_noise_speaks_of_it(
    window: Window, qtbot: Any, tmp_path: Path, method_id: str
) -> None:
    go_on(qtbot, window, method_id, tmp_path)
    window.study.target = tmp_path / "out"
    seen: dict[str, list[str]] = {}
    while True:
        step = window.step
        seen[step] = said(window)
        following = flow.following(step, window.study.state)
        if following is None:
            break
        window.footer.next.click()
        settle(qtbot, window, timeout=60_000)
        if step == window.step == "release" or window.step == "release":
            seen.setdefault("before", said(window))
            if window.study.result("bundle") is None:
                window.footer.next.click()
                seen["running"] = said(window)
                qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=60_000)
            page = window.page("release")
            page.open_further.click()
            qtbot.waitUntil(lambda page=page: not page.views._waiting and not page.inside._waiting)
    assert window.step == "report", (window.step, window.notice.words())
    assert "budget" not in seen and set(seen) >= {"method", "preview", "release", "report"}
    own = own_words(method_id)
    false = {
        step: [text for text in read if FALSE.search(text) and not any(one.search(text) for one in own)]
        for step, read in seen.items()
    }
    assert {step: read for step, read in false.items() if read} == {}
    assert all(len(read) > 10 for read in seen.values()), "the texts were really read"
    entry = Ledger(window.study.ledger_path).entries()[-1]
    assert entry.state == "complete"


def test_a_release_with_noise_does_speak_of_it(window: Window, qtbot: Any, tmp_path: Path) -> None:
    go_on(qtbot, window, "statistics.counts", tmp_path, pays=Budget(Fraction(2)))
    window.go("preview")
    settle(qtbot, window)
    assert window.step == "preview" and any(FALSE.search(text) for text in said(window))


def test_terms_stand_where_a_budget_would_and_say_the_promise(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    go_on(qtbot, window, "datasets.k_anonymity", tmp_path)
    window.go("terms")
    page = window.page("terms")
    assert window.step == "terms" and page.form.lines["k"].field.isVisible()
    assert page.cards["term.k"].number.text() == "11"
    assert "at least 11" in page.sentence_words.plain()
    field = page.findChild(QLineEdit, "k")
    field.clear()
    field.textEdited.emit("")
    assert not page.sentence.isVisible() and page.form.lines["k"].problem.isVisible()
    window.footer.next.click()
    label = words.say("methods.datasets.k_anonymity.parameters.k.label")
    assert window.step == "terms" and label in window.notice.words()
    assert page.form.lines["k"].field.isAncestorOf(QApplication.focusWidget())
    field.setText("20")
    field.textEdited.emit("20")
    assert window.study.plan.parameters["k"] == 20 and page.cards["term.k"].number.text() == "20"
    explained = page.explain("term.k")
    wanted = {words.say(f"app.window.three_{name}") for name in ("what", "how", "change")}
    assert {part.heading for part in explained.parts} >= wanted


class Following(method("datasets.k_anonymity")):  # type: ignore[misc]
    """A level that follows from a parameter; never run."""

    spends = Spends.FOLLOWS
    promises = ("pure_dp",)


@pytest.mark.guarantee
def test_a_level_that_follows_is_shown_before_it_is_spent(
    window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cost(self: Any) -> Promise:
        request = self.request
        epsilon = Fraction(request.values["k"], 10)
        noise = DiscreteLaplace(1 / epsilon, 1)
        loss = Loss(epsilon, Fraction(0), Neighbours.ADD_REMOVE, Sequential((noise,)))
        return Promise("pure_dp", loss, request.unit, request.rows_per_person)

    monkeypatch.setattr(Following, "cost", property(cost))
    found = tuple(Following if one.id == Following.id else one for one in catalogue.methods())
    monkeypatch.setattr(catalogue, "methods", lambda: found)
    monkeypatch.setattr(catalogue, "alone", lambda method_id: None)
    go_on(qtbot, window, Following.id, tmp_path, pays=Budget(Fraction(2)))
    assert "budget" not in flow.path(window.study.state)
    window.go("terms")
    page = window.page("terms")
    assert page.cards["spends"].number.text() == "ε\u00a01.10"
    window.study.decide_parameters(k=5)
    assert page.cards["spends"].number.text() == "ε\u00a00.50"
    assert page.cards["learnt"].number.text().startswith("50\u00a0% → 62")
    window.go("preview")
    settle(qtbot, window)
    assert window.footer.next.text() == "Release and spend ε 0.50"


def secret_fields(window: Window) -> list[QLineEdit]:
    """Return the fields of the passphrase that can be seen."""
    return [one for one in window.page("release").passphrases if one.isVisible()]


@pytest.mark.guarantee
def test_a_key_can_be_locked_with_a_passphrase_that_is_kept_nowhere(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    keeping = [one.id for one in UNBOUNDED if getattr(one, "keeps_key", False)]
    assert keeping == ["datasets.pseudonyms"]
    go_on(qtbot, window, keeping[0], tmp_path)
    window.go("preview")
    settle(qtbot, window)
    window.study.target = tmp_path / "out"
    window.page("preview").folder.setText(str(tmp_path / "out"))
    window.footer.next.click()
    settle(qtbot, window)
    first, again = secret_fields(window)
    assert window.study.result("bundle") is None, "it is asked before anything is made"
    assert first.echoMode() == QLineEdit.EchoMode.Password
    qtbot.keyClicks(first, "horse battery")
    window.go("preview")
    settle(qtbot, window)
    window.go("release")
    settle(qtbot, window)
    assert not first.text() and not again.text(), "it does not wait for another release"
    qtbot.keyClicks(first, "horse battery")
    qtbot.keyClicks(again, "horse batterie")
    window.footer.next.click()
    assert "differ" in window.notice.words() and not window.runner.busy("release")
    again.clear()
    qtbot.keyClicks(again, "horse battery")
    window.footer.next.click()
    qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=60_000)
    settle(qtbot, window)
    assert window.study.result("bundle") is not None, window.notice.words()
    assert not secret_fields(window) and all(not one.text() for one in window.page("release").passphrases)
    key = tmp_path / "out" / "key" / "pseudonym-key.json"
    assert "salt" in json.dumps(json.loads(key.read_text()))
    window.save_draft()
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert kept and not any(b"horse battery" in path.read_bytes() for path in kept)
    assert not any(one.objectName() == "secret" for one in above(window.focusWidget() or window))


@pytest.mark.guarantee
def test_who_is_behind_a_pseudonym_is_asked_with_a_reason_and_kept_in_the_ledger(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    go_on(qtbot, window, "datasets.pseudonyms", tmp_path)
    plan, ledger = window.study.plan_as_read, Ledger(window.study.ledger_path)
    moved, base = beside_its_table(plan)
    run(moved, out=tmp_path / "out", ledger=ledger, base=base)
    content = (tmp_path / "out" / "release" / "table.csv").read_text().splitlines()
    window.go("releases")
    settle(qtbot, window)
    page = window.page("releases")
    page.table.selectRow(0)
    settle(qtbot, window)
    assert page.behind.isVisible() and not page.behind.button.isEnabled()
    qtbot.keyClicks(page.behind.fields["pseudonym"], content[1].split(",")[0])
    assert not page.behind.button.isEnabled(), "a reason is asked for"
    qtbot.keyClicks(page.behind.fields["reason"], "a finding that needs treatment")
    assert page.behind.button.isEnabled()
    page._look_behind(str(tmp_path / "out"), str(base / next(iter(moved.files.values())).path))
    settle(qtbot, window)
    assert re.search(r": [0-9]+$", page.behind.answer.text()), window.notice.words()
    assert ledger.journal()[-1]["details"]["reason"] == "a finding that needs treatment"
    page.table.selectRow(0)
    page._select(0)
    assert page.behind.answer.isHidden() and not page.behind.fields["reason"].text()


def test_an_earlier_key_is_asked_for_where_the_plan_wants_it(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    go_on(qtbot, window, "datasets.pseudonyms", tmp_path)
    window.study.decide_parameters(key="earlier")
    key = tmp_path / "key.json"
    key.write_bytes(lock_key(bytes(range(32)), None))
    window.go("preview")
    settle(qtbot, window)
    window.study.target = tmp_path / "out"
    window.page("preview").folder.setText(str(tmp_path / "out"))
    window.footer.next.click()
    settle(qtbot, window)
    assert "reason" in window.notice.words()  # no key can be known of this recipient
    qtbot.keyClicks(window.page("preview").reasons.fields[KEY_ELSEWHERE], "one study")
    window.page("preview").reasons.fields[KEY_ELSEWHERE].editingFinished.emit()
    settle(qtbot, window)
    window.footer.next.click()
    settle(qtbot, window)
    page = window.page("release")
    assert page.choose_key.isVisible()
    page._take_key(str(key))
    window.footer.next.click()
    assert "not be locked" in window.notice.words() and not window.runner.busy("release")
    window.footer.next.click()
    qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=60_000)
    settle(qtbot, window)
    assert window.study.result("bundle") is not None, window.notice.words()
    kept = json.loads((tmp_path / "out" / "key" / "pseudonym-key.json").read_text())
    assert kept["key"] == bytes(range(32)).hex() and page.earlier_key is None


def test_the_reason_for_a_key_from_elsewhere_is_asked_for_once_it_was_refused(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    """The register knows a key for the recipient: only that another one was chosen makes it a question."""
    go_on(qtbot, window, "datasets.pseudonyms", tmp_path)
    moved, base = beside_its_table(window.study.plan_as_read)
    run(moved, out=tmp_path / "first", ledger=Ledger(window.study.ledger_path), base=base)
    window.study.decide_parameters(key="earlier")
    other = tmp_path / "key.json"
    other.write_bytes(lock_key(bytes(range(32)), None))
    window.go("preview")
    settle(qtbot, window)
    preview = window.page("preview")
    assert KEY_ELSEWHERE not in preview.reasons.fields
    preview.folder.setText(str(tmp_path / "out"))
    window.footer.next.click()
    settle(qtbot, window)
    window.page("release")._take_key(str(other))
    window.footer.next.click()  # the key will not be locked
    window.footer.next.click()
    qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=60_000)
    settle(qtbot, window)
    assert window.study.result("bundle") is None and "pseudonyms of this key" in window.notice.words()
    window.go("preview")
    settle(qtbot, window)
    assert KEY_ELSEWHERE in preview.reasons.fields and preview.reasons.isVisible()
