"""A ward manager's three questions, by mouse from the log to a verified bundle, each with its margin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.frame.window import Window
from engine.ledger import Ledger
from engine.release.verify import verify
from engine.table.schema import Kind
from tests.app.hands import Hands
from tests.app.walking import settle

PEOPLE, DAYS = 4_000, 44
START = np.datetime64("2026-01-05T00:00")


@pytest.fixture
def hands(window: Window, qtbot: Any) -> Hands:
    return Hands(qtbot, window)


def log_of_wards(folder: Path, kind: Kind) -> tuple[Path, pd.DataFrame]:
    """Write a log as a German spreadsheet saves it: three of four go from emergency to medicine, for days.

    Of days alone rows stand in any order, and most people move on the day on which they came.
    """
    chance, rows = np.random.default_rng(29), []
    for person in range(PEOPLE):
        came = START + np.timedelta64(int(chance.integers(0, DAYS * 24 * 60)), "m")
        moved = came + np.timedelta64(int(chance.integers(60, 300)), "m")
        ward = "Innere Medizin" if chance.random() < 0.75 else "Übergangspflege"
        gone = moved + np.timedelta64(int(chance.integers(25 * 60, 70 * 60)), "m")
        rows += [(70_000 + 3 * person, "Notaufnahme", came, moved), (70_000 + 3 * person, ward, moved, gone)]
    frame = pd.DataFrame(rows, columns=["Fallnummer", "Station", "Eintritt", "Austritt"])
    form = "%d.%m.%Y %H:%M" if kind is Kind.MOMENT else "%d.%m.%Y"
    if kind is Kind.DATE:
        days = {one: frame[one].dt.floor("D") for one in ("Eintritt", "Austritt")}
        frame = frame.assign(**days).sample(frac=1, random_state=3)
    text = frame.assign(**{one: frame[one].dt.strftime(form) for one in ("Eintritt", "Austritt")})
    text.to_csv(folder / "wards.csv", index=False, sep=";", encoding="cp1252")
    return folder / "wards.csv", frame


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(Kind.MOMENT, marks=pytest.mark.guarantee),
        pytest.param(Kind.DATE, marks=pytest.mark.slow),
    ],
)
def test_moves_a_week_length_of_stay_and_the_usual_order_are_answered(
    hands: Hands, tmp_path: Path, kind: Kind
) -> None:
    window = hands.window
    path, log = log_of_wards(tmp_path, kind)
    window.open_file(str(path))
    settle(hands.qtbot, window)
    hands.next("columns")
    hands.click("accept")
    hands.type("rows_per_person", "2")
    if kind is Kind.MOMENT:  # a day is proposed, where a moment stands
        window.page("columns").select("Eintritt", "Austritt")
        hands.clicks += 2
        settle(hands.qtbot, window)
        hands.pick("column_kind", Kind.MOMENT)
    assert [window.study.plan.schema.column(one).kind for one in ("Eintritt", "Austritt")] == [kind] * 2
    hands.next("risk")
    hands.next("purpose")
    for name, text in (("purpose_title", "A"), ("purpose_recipient", "B"), ("holding_name", "C")):
        hands.type(name, text)
    hands.type("holding_epsilon", "4")
    hands.next("method")
    hands.type("search", "moves between places")
    assert window.study.plan.method == "statistics.flows", window.study.plan.method
    hands.click("further")
    for name, column in (("place", "Station"), ("moment", "Eintritt"), ("left", "Austritt")):
        hands.pick(name, column)
    page = window.page("method")
    for cell in page.declare.cells.values():
        cell.take_rows()
        hands.clicks += 1
    hands.click("domain_known")
    hands.click("domain_declare")
    first, last = log["Eintritt"].min(), log["Eintritt"].max()
    weeks = (last - first) / np.timedelta64(7, "D")
    if kind is Kind.DATE:  # hours are not known, and bounds may be wider than what was counted
        hands.click("arrivals-weekday")
        hands.type("observed", f"{first:%Y-%m-%d}, {last:%Y-%m-%d}")
        weeks += 1 / 7
    assert {one.parameter for one in window.study.problems()} <= {"budget"}, window.study.problems()
    for _ in range(8):
        if window.study.result("bundle") is not None:
            break
        if window.step == "budget":
            hands.type("sharing-many", "2")
        hands.click("next")
        if window.footer.asks:
            hands.click("commit")
        hands.qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=120_000)
        settle(hands.qtbot, window)
    outcome = window.study.result("bundle")
    assert outcome is not None and outcome.state == "complete", window.notice.words()
    made = Path(outcome.bundle.folder)
    assert verify(made, ledger=Ledger(tmp_path / "ledger.sqlite")).passed
    release, medicine = made / "release", log[log["Station"] == "Innere Medizin"]
    print(f"{hands.clicks} clicks, {hands.keys} keys")
    # how many move from A to B a week
    moves = pd.read_csv(release / "moves.csv").set_index(["from", "to"])
    found = moves.loc[("Notaufnahme", "Innere Medizin")]
    week = len(medicine) / weeks  # between the first and the last arrival, which were said to be known
    # noise passes six margins of 95 of 100 once in some ten million releases
    assert abs(found["a_week"] - week) < 6 * found["a_week_within_95"] < week
    back = moves.loc[("Innere Medizin", "Notaufnahme")]  # nobody, also of those who moved within a day
    assert abs(back["moves"]) < 6 * back["within_95"] < len(medicine) / 4
    # how long they stay
    stays = pd.read_csv(release / "stays.csv").set_index(["place", "stay"])
    hours = (medicine["Austritt"] - medicine["Eintritt"]).dt.total_seconds() / 3600
    found = stays.loc[("Innere Medizin", "24 to <72 h")]
    assert (
        abs(found["stays"] - hours.between(24, 72, inclusive="left").sum())
        < 6 * found["within_95"]
        < len(medicine)
    )
    # which order is usual
    whole = pd.read_csv(release / "sequences.csv").sort_values("whole", ascending=False)
    first = whole.iloc[0]
    assert first["sequence"] == "Notaufnahme → Innere Medizin"
    assert abs(first["whole"] - len(medicine)) < 6 * first["within_95"] < len(medicine)
    report = (release / "report-external.html").read_text()
    assert "Notaufnahme → Innere Medizin" in report and "Übergangspflege" in report
