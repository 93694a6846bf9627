"""Original rows beside the released ones after a run, with what changed marked in both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.frame.window import Window
from app.parts.table import MARKED
from app.work.releasing import Watch, release
from tests.app.walking import example_plan, settle


@pytest.mark.guarantee
def test_original_and_released_rows_stand_beside_each_other(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    plan = example_plan("datasets.k_anonymity", tmp_path)
    made = release(plan, tmp_path / "out", watch=Watch(), ledger_path=window.study.ledger_path)
    assert made.error is None, made.error
    window.study.open_plan(plan)
    window.study.store("bundle", made, window.study.plan)
    window.go("release")
    settle(qtbot, window, timeout=60_000)
    window.page("release").open_further.click()
    card = window.page("release").beside
    assert card.isVisible() and "200 of" in card.note.plain()
    before, after = card.tables.values()
    names = before.model().headings
    age = names.index("age")
    assert before.model().written(0, age) != after.model().written(0, age)
    stay = names.index("time_in_hospital")
    for table in (before, after):
        model = table.model()
        assert model.data(model.index(0, age), MARKED) and not model.data(model.index(0, stay), MARKED)
    after.selectRow(7)
    assert before.currentIndex().row() == 7
    after.verticalScrollBar().setValue(20)
    assert before.verticalScrollBar().value() == 20
    written = [path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not any(b"origins" in content for content in written)
