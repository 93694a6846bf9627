"""Before a release the window asks for the reason where the ledger does not know enough of earlier ones."""

from __future__ import annotations

import shutil
from typing import Any

from app.frame.window import Window
from app.screens.preview.asks import look_ahead
from engine.ledger import Ledger, remembered
from engine.ledger.remembered import OLDER
from engine.release.earlier import EARLIER_MISSING
from engine.release.nearby import PUT_BACK
from tests.app.conftest import settle
from tests.engine.release.test_earlier import COUNTS, MORE, forget, made, planned

WHY = "The folder was lost in the fire of March."


def test_what_is_missing_is_asked_on_preview_and_the_reason_is_taken(tmp_path: Any) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    first = made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    forget(ledger)
    plan = planned(tmp_path, MORE, "two")
    assert EARLIER_MISSING not in look_ahead(plan, ledger.path, (tmp_path,)).unknown
    shutil.rmtree(first.folder)
    asked = look_ahead(plan, ledger.path, (tmp_path,)).unknown
    assert asked[EARLIER_MISSING]["count"] == 1 and "Table one" in asked[EARLIER_MISSING]["titles"]


def test_a_ledger_that_was_put_back_is_asked_about(tmp_path: Any) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    plan = planned(tmp_path, COUNTS, "one")
    kept = shutil.copy(ledger.path, tmp_path / "backup")
    made(tmp_path, COUNTS, "one", tmp_path / "one", ledger)
    shutil.copy(kept, ledger.path)
    assert look_ahead(plan, ledger.path, (tmp_path,)).unknown[PUT_BACK]["count"] == 1
    asked = look_ahead(plan, ledger.path, ()).unknown  # no bundle is looked at: this computer remembers
    assert asked.keys() == {OLDER} and (asked[OLDER]["releases"], asked[OLDER]["listed"]) == (1, 0)
    remembered.place().unlink()
    assert look_ahead(plan, ledger.path, ()).unknown == {}


def test_the_card_asks_and_nothing_is_released_before(window: Window, qtbot: Any) -> None:
    page = window.page("preview")
    page.reasons.show_decisions(
        {
            EARLIER_MISSING: {"count": 1, "titles": "“Table one”"},
            PUT_BACK: {"count": 2, "folders": "“a”", "row": 7},
            OLDER: {"releases": 2, "listed": 1, "row": 12, "last": 6},
        },
        {},
        "EUR",
    )
    field = page.reasons.fields[EARLIER_MISSING]
    assert page.reasons.missing() is field
    page._give_reason(EARLIER_MISSING, WHY)
    settle(qtbot, window)
    assert {"decision": EARLIER_MISSING, "reason": WHY} in window.study.plan.decisions
