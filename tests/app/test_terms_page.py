"""The cards of Terms: one for each number that there is, and none that is empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.frame.window import Window
from app.state import flow
from tests.app.walking import example_plan, settle


@pytest.mark.parametrize("method_id", ["exchanges.survey", "datasets.k_anonymity"])
def test_no_card_of_terms_is_empty(method_id: str, window: Window, qtbot: Any, tmp_path: Path) -> None:
    window.study.open_plan(example_plan(method_id, tmp_path))
    path = flow.path(window.study.state)
    for step in path[: path.index("terms") + 1]:
        window.go(step)
        settle(qtbot, window)
    assert window.step == "terms", window.notice.words()
    page = window.page("terms")
    assert page.cards and "money" not in page.cards  # nobody said what claims may cost
    for name, card in page.cards.items():
        assert not card.isHidden() and card.number.text().strip(), name
