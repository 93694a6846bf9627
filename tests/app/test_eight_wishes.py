"""Eight everyday wishes, typed as they are said, from a file to a bundle, by the clock.

Real clicks and keys on a table that nobody tuned on. The clock tells the time of this computer and of the
program; a person reads and decides besides.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.ledger import Ledger
from engine.release.verify import verify
from tests.app.hands import Hands
from tests.app.test_four_journeys import american_stays, declare, to_method
from tests.app.test_three_tables import hands as hands
from tests.app.walking import settle

pytestmark = pytest.mark.before_release


def columns(*names: str) -> Callable[[Hands], None]:
    """Return what ticks columns and declares what has to be."""

    def fill(hands: Hands) -> None:
        hands.tick("columns", *names)
        declare(hands)

    return fill


def rows(hands: Hands) -> None:
    hands.click("all-columns")
    hands.next("terms")
    hands.type("k", "5")


def invented(hands: Hands) -> None:
    hands.tick("columns", "agegrp", "GENDER", "died")
    hands.type("about_rows", "1000")
    declare(hands)


def model(hands: Hands) -> None:
    hands.pick_by_keys("target", "died")
    hands.tick("predictors", "agegrp", "GENDER", "adm_type")
    hands.type("about_rows", "1000")
    declare(hands)


def averages(hands: Hands) -> None:
    hands.click("statistic-mean")
    hands.pick_by_keys("value", "los")
    hands.tick("by", "GENDER")
    declare(hands)


def without_small_cells(hands: Hands) -> None:
    hands.tick("columns", "agegrp", "adm_type")
    hands.type("threshold", "5")
    hands.click("domain_take")
    hands.click("domain_known")
    hands.next("terms")


MOST_SECONDS = 60  # from the first page of Method to the form of the right way
WISHES: dict[str, tuple[str, Callable[[Hands], None]]] = {
    "the university wants rows": ("datasets.k_anonymity", rows),
    "how many per ward": ("statistics.counts", columns("GENDER", "died")),
    "a test table for the new software": ("datasets.marginals", invented),
    "a model that predicts readmission": ("models.logistic", model),
    "pseudonyms to join later": ("datasets.pseudonyms", lambda hands: hands.tick("columns", "hosp_ccn")),
    "averages": ("statistics.means", averages),
    "a table without small cells": ("statistics.protected_table", without_small_cells),
    "answers to a researcher's questions": ("services.private_queries", columns("GENDER", "died")),
}


def go_on(hands: Hands, folder: Path) -> Any:
    """Press what leads on until there is a bundle; where a level is asked for, a share of the register."""
    window = hands.window
    for _ in range(8):
        if window.study.result("bundle") is not None:
            break
        if window.step == "budget":
            hands.type("sharing-many", "2")  # a model of four columns finds nothing with less
        hands.click("next")
        if window.footer.asks:
            hands.click("commit")
        hands.qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=120_000)
        settle(hands.qtbot, window)
    return window.study.result("bundle")


@pytest.mark.parametrize("wish", WISHES)
def test_a_wish_becomes_a_bundle(wish: str, hands: Hands, tmp_path: Path) -> None:
    meant, fill = WISHES[wish]
    began = time.perf_counter()
    to_method(hands, american_stays(tmp_path), each=True, claims="250000")
    arrived = time.perf_counter()
    hands.type("search", wish)
    found = time.perf_counter() - arrived
    assert hands.window.study.plan.method == meant and found < MOST_SECONDS
    fill(hands)
    outcome = go_on(hands, tmp_path)
    assert outcome is not None and outcome.state == "complete", (
        hands.window.step,
        hands.window.notice.words(),
    )
    assert verify(Path(outcome.bundle.folder), ledger=Ledger(tmp_path / "ledger.sqlite")).passed
    whole = time.perf_counter() - began
    counted = f"{hands.clicks} clicks, {hands.keys} keys"
    print(f"{wish}: way {found:.1f} s, bundle {whole:.0f} s, {counted}, at {meant}")
