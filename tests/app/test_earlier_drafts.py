"""Drafts that earlier states of the program wrote: each opens, and nothing that was decided is lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from app.state import draft

KEPT = sorted((Path(__file__).parent / "earlier").glob("draft-*.json"))


def lost(before: Any, after: Any, place: str = "plan") -> list[str]:
    """Return the places of what an earlier plan says and a later one does not; more may be said."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [one for key in before for one in lost(before[key], after.get(key), f"{place}.{key}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [one for at, pair in pairs for one in lost(*pair, f"{place}[{at}]")]
    return [] if before == after else [place]


def test_there_are_drafts_of_at_least_five_states() -> None:
    assert len({kept.read_bytes() for kept in KEPT}) >= 5


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.stem)
def test_an_earlier_draft_opens_with_all_that_was_decided(kept: Path, tmp_path: Path) -> None:
    shutil.copy(kept, tmp_path / "draft.json")
    before = json.loads(kept.read_text(encoding="utf-8"))
    loaded = draft.load(folder=tmp_path)
    assert loaded is not None and len(draft.drafts(folder=tmp_path)) == 1
    plan, questions = loaded
    assert sorted(questions) == before["open_questions"] == ["unit"]
    assert draft.step_of(folder=tmp_path) == before.get("step", "")
    assert lost(before["plan"], plan.to_json()) == []
    assert plan.budget is None or plan.budget.epsilon > 0
    draft.save(plan, questions, folder=tmp_path)
    assert draft.load(folder=tmp_path) == loaded


def test_what_is_lost_is_seen() -> None:
    before = {"budget": {"epsilon": "1"}, "sizes": [5, 20]}
    assert lost(before, {"budget": {"epsilon": "2"}, "sizes": [5, 20], "more": 1}) == ["plan.budget.epsilon"]
    assert lost(before, {"budget": {"epsilon": "1"}, "sizes": [5]}) == ["plan.sizes"]
