"""Four wishes from a file to a bundle, on tables that nobody tuned on: at most 15 clicks and 40 keys each.

Ten columns made coarser, counts, five columns invented, a model of five columns. Nobody in the tables exists.

What a records officer is still asked to decide without understanding it, as read by those who wrote this and
not yet tried with officers; at most three:

1 coarser: how many rows of one person count (the cap); k; what matters more on Terms.
2 counts: what each person would be owed; what may stand in a column, and would be the same for others.
3 invented, 4 model: the same two, and roughly how many rows the table has.

ε is asked nowhere: the register's follows from money, this release's from how many shall share it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PySide6.QtCore import Qt

from app import words
from app.parts.form.column_picker import PickList
from engine import texts
from engine.ledger import Ledger
from engine.release.verify import verify
from tests.app.hands import Hands
from tests.app.test_three_tables import hands as hands
from tests.app.walking import settle

pytestmark = pytest.mark.before_release
MOST_CLICKS, MOST_KEYS = 15, 40


def write(path: Path, table: dict[str, Any], **how: Any) -> Path:
    """Write a table as its program exports it."""
    pd.DataFrame(table).to_csv(path, index=False, **how)
    return path


def days_from(start: str, offsets: np.ndarray, form: str) -> np.ndarray:
    """Return dates, written as a country writes them."""
    return np.asarray((pd.Timestamp(start) + pd.to_timedelta(offsets, "D")).strftime(form))


def german_export(folder: Path, rows: int = 1_700) -> Path:
    """Write a hospital's export: several cases a person, semicolons, its own word for what is missing."""
    chance, people = np.random.default_rng(2101), 1_030
    who, admitted = chance.integers(0, people, rows), chance.integers(0, 366, rows)
    born, sex = (
        chance.integers(0, 27_000, people),
        chance.choice(["m", "w", "d"], people, p=[0.49, 0.5, 0.01]),
    )
    postcode = chance.choice([f"{91000 + 37 * place:05d}" for place in range(24)], people)
    stay = chance.integers(1, 29, rows)
    return write(
        folder / "KIS_Auszug_Q3.csv",
        {
            "Pat-Nr.": [f"{7_100_000 + 13 * one}" for one in who],
            "Fallnr": [f"{26_000_000 + 7 * number}" for number in chance.permutation(rows)],
            "Geb.-Datum": days_from("1930-01-01", born[who], "%d.%m.%Y"),
            "Geschl.": sex[who],
            "PLZ": postcode[who],
            "Aufn.Dat": days_from("2025-01-01", admitted, "%d.%m.%Y"),
            "Entl.Dat": days_from("2025-01-01", admitted + stay, "%d.%m.%Y"),
            "VWD": stay,
            "Fachabt.": chance.choice(
                ["Innere", "Chirurgie", "Neurologie", "k.A."], rows, p=[0.4, 0.3, 0.25, 0.05]
            ),
            "Station": chance.choice(["3A", "3B", "4A", "ITS"], rows),
            "HD (ICD)": chance.choice(["I63.4", "I61.0", "S72.1", "M16.1", "E11.9", "J18.9"], rows),
            "OPS": chance.choice(["5-820.0", "8-981.1", "5-790.5", ""], rows),
            "Kasse": chance.choice(["AOK", "TK", "Barmer", "PKV"], rows),
            "Gewicht_kg": np.char.replace(np.round(chance.normal(78, 14, rows), 1).astype(str), ".", ","),
            "Groesse cm": chance.integers(150, 199, rows),
            "Beatmung": chance.choice(["ja", "nein"], rows, p=[0.08, 0.92]),
            "Sturz": chance.choice(["0", "1", "k.A."], rows, p=[0.9, 0.07, 0.03]),
            "Entl.grund": chance.choice(["01", "04", "06", "07"], rows),
            "MRSA": chance.choice(["neg", "pos", ""], rows, p=[0.9, 0.04, 0.06]),
            "Barthel": chance.integers(0, 21, rows) * 5,
            "Pflegegrad": chance.choice(["0", "1", "2", "3", "4", "5"], rows),
            "Kz_17": chance.choice(["A", "B", "X"], rows),
            "Wiederaufn.": chance.choice(["ja", "nein"], rows, p=[0.15, 0.85]),
        },
        sep=";",
        encoding="cp1252",
    )


def american_stays(folder: Path, rows: int = 1_450) -> Path:
    """Write a public file of stays: one row a stay, nobody numbered, codes of the form."""
    chance = np.random.default_rng(2102)
    return write(
        folder / "ipf_puf_2019.csv",
        {
            "hosp_ccn": chance.choice([f"{330_000 + 17 * place}" for place in range(40)], rows),
            "agegrp": chance.choice(["0 to 17", "18 to 29", "30 to 49", "50 to 69", "70 or Older"], rows),
            "GENDER": chance.choice(["M", "F", "U"], rows, p=[0.48, 0.515, 0.005]),
            "race_eth": chance.choice(["White", "Black", "Other", ""], rows, p=[0.6, 0.2, 0.17, 0.03]),
            "losdays": chance.integers(1, 60, rows),
            "adm_type": chance.choice(["Emergency", "Urgent", "Elective", "Newborn"], rows),
            "drg": chance.choice([194, 470, 560, 640, 720], rows),
            "pay1": chance.choice(["MCR", "MCD", "PRV", "SELF"], rows),
            "totchg": np.round(chance.lognormal(9.5, 0.8, rows), 2),
            "died": chance.choice([0, 1], rows, p=[0.97, 0.03]),
        },
    )


def french_stays(folder: Path, rows: int = 1_600) -> Path:
    """Write a French table of stays: accents, dates with a slash, several stays a person."""
    chance, people = np.random.default_rng(2103), 900
    who, admitted = chance.integers(0, people, rows), chance.integers(0, 366, rows)
    age, sex = chance.integers(1, 98, people), chance.choice(["Homme", "Femme"], people)
    return write(
        folder / "séjours_mco.csv",
        {
            "n_patient": 300_000 + 11 * who,
            "n_séjour": [f"S{one:06d}" for one in chance.permutation(900_000)[:rows]],
            "date_entrée": days_from("2024-01-01", admitted, "%d/%m/%Y"),
            "sexe": sex[who],
            "âge": age[who],
            "cp": chance.choice(["69003", "69008", "38000", "42100", "01000"], people)[who],
            "mode_entrée": chance.choice(["domicile", "mutation", "transfert"], rows, p=[0.8, 0.1, 0.1]),
            "durée_jours": chance.integers(0, 31, rows),
            "GHM": chance.choice(["05M09", "08C48", "04M05", "06C14"], rows),
            "sévérité": chance.integers(1, 5, rows),
            "réanimation": chance.choice(["oui", "non"], rows, p=[0.1, 0.9]),
            "décès": chance.choice(["oui", "non"], rows, p=[0.03, 0.97]),
            "DP": chance.choice(["I50.1", "M17.1", "J44.1", "K35.8"], rows),
            "nb_actes": chance.integers(0, 12, rows),
            "unité": chance.choice(["CARD", "ORTH", "PNEU", "CHIR"], rows),
            "tarif": np.round(chance.normal(3_900, 900, rows), 2),
            "poids": chance.choice(["", *map(str, range(45, 110))], rows),
            "allergie": chance.choice(["oui", "non", "NR"], rows, p=[0.1, 0.85, 0.05]),
            "retour_30j": chance.choice(["oui", "non"], rows, p=[0.12, 0.88]),
        },
    )


def survey_of_visits(folder: Path, rows: int = 3_900) -> Path:
    """Write a survey: one person a row, short names, codes for yes and no, a weight, refusals as a number."""
    chance = np.random.default_rng(2104)
    age, chronic = chance.integers(18, 91, rows), chance.choice([0, 1], rows, p=[0.6, 0.4])
    visits = np.minimum(chance.poisson(1 + 0.02 * age + 2 * chronic), 90)
    return write(
        folder / "hus_w4.csv",
        {
            "rid": chance.permutation(rows) + 1,
            "Q1_visits": visits,
            "q2age": age,
            "q3fem": chance.choice([0, 1], rows),
            "q4chron": chronic,
            "q5satis": chance.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], rows),
            "q6kids": chance.choice([0, 1], rows),
            "q7educ": chance.integers(7, 19, rows),
            "q8inc": np.where(chance.random(rows) < 0.04, -9, chance.integers(4, 90, rows) * 100),
            "q9work": chance.choice([0, 1], rows),
            "q10priv": chance.choice([0, 1], rows, p=[0.88, 0.12]),
            "region": chance.choice(["N", "S", "E", "W"], rows),
            "married": chance.choice(["yes", "no", "refused"], rows, p=[0.55, 0.44, 0.01]),
            "hhsize": chance.integers(1, 8, rows),
            "smoke": chance.choice(["never", "former", "daily"], rows),
            "bmi": np.round(chance.normal(26, 4, rows), 1),
            "ivdate": days_from("2023-03-01", chance.integers(0, 120, rows), "%Y-%m-%d"),
            "zq14b": chance.choice([1, 2, 3], rows),
            "zq15": chance.choice([1, 2, 8], rows),
            "mode": chance.choice(["CAPI", "CATI", "WEB"], rows),
            "wgt": np.round(chance.lognormal(0, 0.4, rows), 4),
        },
    )


def to_method(hands: Hands, path: Path, *, each: bool = False, claims: str = "") -> None:
    """Load, say who is protected, take what is proposed, name request, register and what it can pay."""
    hands.window.open_file(str(path))
    hands.clicks += 1
    settle(hands.qtbot, hands.window)
    hands.next("columns")
    page = hands.window.page("columns")
    unknown = page._unknown()
    print(path.name, "not recognised:", unknown)
    assert not unknown or page.table.hasFocus()
    if len(unknown) > 3:  # one answer for the whole group
        hands.key(Qt.Key.Key_A, page.table, Qt.KeyboardModifier.ControlModifier)
    while page._unknown():
        hands.key(Qt.Key.Key_O, page.table)
    hands.click("unit_each" if each else "cap_1")
    hands.next("risk")
    hands.next("purpose")
    for name, text in (("purpose_title", "A"), ("purpose_recipient", "B"), ("holding_name", "C")):
        hands.type(name, text)
    if claims:
        hands.type("holding_money", claims)
        hands.type("holding_compensation", "500")
    hands.next("method")


def tick_by_keys(hands: Hands, column: str) -> None:
    """Go down in the list, which has the focus when the form opens, and tick with Space."""
    view = hands.window.focusWidget()
    assert isinstance(view, PickList), view
    for _ in view.picks.lines:
        if view.picks.lines[view.currentIndex().row()].name == column:
            break
        hands.key(Qt.Key.Key_Down, view)
    hands.key(Qt.Key.Key_Space, view)


def declare(hands: Hands) -> None:
    """Start from what is in the table where nothing is proposed, say that it is known, and go on."""
    page = hands.window.page("method")
    assert page.declare.columns
    if any(cell.fields.is_empty for cell in page.declare.cells.values()):
        hands.click("domain_take")
    hands.click("domain_known")
    names = page.declare.columns
    hands.next("budget")
    assert all(hands.window.study.plan.schema.column(name).is_declared for name in names)


def release(hands: Hands, folder: Path) -> None:
    """Press what leads on until there is a bundle, and verify it."""
    window = hands.window
    if window.step == "budget":
        hands.type("sharing-many", "4")
        assert window.study.plan.budget is not None, "its share is taken by itself"
    hands.next("preview")
    hands.click("next")
    if window.footer.asks:  # more than a quarter of what is left
        hands.click("commit")
    hands.qtbot.waitUntil(lambda: not window.runner.busy("release"), timeout=120_000)
    outcome = window.study.result("bundle")
    assert outcome is not None and outcome.state == "complete", window.notice.words()
    assert verify(Path(outcome.bundle.folder), ledger=Ledger(folder / "ledger.sqlite")).passed
    print(f"{hands.clicks} clicks, {hands.keys} keys")
    assert hands.clicks <= MOST_CLICKS and hands.keys <= MOST_KEYS, (hands.clicks, hands.keys)


@pytest.fixture
def language(request: pytest.FixtureRequest, hands: Hands) -> Iterator[str]:
    """The language that the window speaks on the whole way, with the same hands and no more of them."""
    hands.window.use_language(request.param)
    yield request.param
    words.choose_language(texts.FALLBACK)


spoken = partial(pytest.mark.parametrize, "language", indirect=True)


@spoken(["en", "de", "fr"])
def test_real_rows_made_coarser(hands: Hands, language: str, tmp_path: Path) -> None:
    to_method(hands, german_export(tmp_path))
    hands.click("use-coarser")
    hands.click("all-columns")
    assert len(hands.window.study.plan.parameters["columns"]) >= 10
    hands.next("terms")
    hands.click("preset-k-11")
    release(hands, tmp_path)


@spoken(["en", "de", "fr"])
def test_counts_of_two_columns(hands: Hands, language: str, tmp_path: Path) -> None:
    to_method(hands, american_stays(tmp_path), each=True, claims="250000")
    hands.click("use-counts")
    hands.tick("columns", "GENDER", "died")
    declare(hands)
    release(hands, tmp_path)


@spoken(["en", "de", "fr"])
def test_five_columns_invented(hands: Hands, language: str, tmp_path: Path) -> None:
    to_method(hands, french_stays(tmp_path), claims="250000")
    hands.click("use-invented")
    tick_by_keys(hands, "sexe")
    hands.tick_range("columns", "durée_jours", "réanimation")
    hands.type("about_rows", "1000")
    declare(hands)
    assert len(hands.window.study.plan.parameters["columns"]) == 5
    release(hands, tmp_path)


@spoken(["de", "fr"])
def test_a_model_of_five_columns(hands: Hands, language: str, tmp_path: Path) -> None:
    to_method(hands, survey_of_visits(tmp_path), each=True, claims="900000")
    hands.click("use-model")
    hands.pick_by_keys("target", "Q1_")
    assert hands.window.study.plan.parameters.get("target") in (None, "Q1_visits")
    hands.tick_range("predictors", "q2age", "q6kids")
    hands.type("about_rows", "1000")
    declare(hands)
    assert len(hands.window.study.plan.parameters["predictors"]) == 5
    release(hands, tmp_path)
