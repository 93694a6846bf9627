"""The four wishes again, on tables of other offices and languages: claims, accidents, prescriptions, labour.

The second four speak languages whose words for columns nobody has listed. Nobody in the tables exists.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.app.hands import Hands
from tests.app.test_four_journeys import days_from, declare, release, tick_by_keys, to_method, write
from tests.app.test_three_tables import hands as hands

pytestmark = pytest.mark.before_release


def dutch_claims(folder: Path, rows: int = 1_600) -> Path:
    """Write claims of an office: several a person, a mark of the file's beginning, a number for unknown."""
    chance, people = np.random.default_rng(7101), 980
    who, asked = chance.integers(0, people, rows), chance.integers(0, 700, rows)
    town = chance.choice(
        ["Utrecht", "Zwolle", "Breda", "Emmen", "n.b."], people, p=[0.3, 0.3, 0.2, 0.15, 0.05]
    )
    return write(
        folder / "uitkeringen_2025.csv",
        {
            "klantnr": [f"K{410_000 + 17 * one}" for one in who],
            "dossier_id": [f"{900_000 + 3 * number}" for number in chance.permutation(rows)],
            "bsn4": [f"{number:04d}" for number in chance.integers(0, 10_000, people)[who]],
            "geboortedatum": days_from("1958-03-01", chance.integers(0, 16_000, people)[who], "%d-%m-%Y"),
            "geslacht": chance.choice(["Man", "Vrouw", "onb."], people, p=[0.5, 0.49, 0.01])[who],
            "postcode": chance.choice([f"{1_000 + 71 * place} AB" for place in range(22)], people)[who],
            "gemeente": town[who],
            "nationaliteit": chance.choice(["NL", "DE", "PL", "-"], people, p=[0.85, 0.05, 0.05, 0.05])[who],
            "burgerlijke_staat": chance.choice(["gehuwd", "ongehuwd", "gescheiden"], people)[who],
            "datum_aanvraag": days_from("2023-02-01", asked, "%d-%m-%Y"),
            "datum_besluit": days_from("2023-02-01", asked + chance.integers(3, 70, rows), "%d-%m-%Y"),
            "soort": chance.choice(["WW", "WIA", "Bijstand", "Ziektewet"], rows),
            "uren_pw": chance.integers(8, 41, rows),
            "dagloon": np.char.replace(np.round(chance.normal(130, 30, rows), 2).astype(str), ".", ","),
            "sector": chance.choice(["bouw", "zorg", "horeca", "9999"], rows, p=[0.3, 0.4, 0.25, 0.05]),
            "sbi": chance.choice(["4120", "8610", "5610", "4711"], rows),
            "opleiding": chance.choice(["vmbo", "mbo", "hbo", "wo", "onb."], rows),
            "kinderen": chance.integers(0, 5, rows),
            "vestiging": chance.choice(["Noord", "Zuid", "West"], rows),
            "uitkomst": chance.choice(["toegekend", "afgewezen"], rows, p=[0.75, 0.25]),
            "bezwaar": chance.choice(["J", "N"], rows, p=[0.1, 0.9]),
            "cat_x": chance.choice(["1", "2", "9"], rows),
            "opmerking": chance.choice(["", "bellen", "spoed", "ziet af van verder contact"], rows),
        },
        sep=";",
        encoding="utf-8-sig",
    )


def swedish_support(folder: Path, rows: int = 1_600) -> Path:
    """Write decisions on support: tabs, dates as they are written there, three ways to say unknown."""
    chance, people = np.random.default_rng(7201), 940
    who, asked = chance.integers(0, people, rows), chance.integers(0, 500, rows)
    return write(
        folder / "beslut_stöd.txt",
        {
            "brukare": [f"B-{70_000 + 19 * one}" for one in who],
            "ärendenr": [f"{2_025_000_000 + 11 * number}" for number in chance.permutation(rows)],
            "född": days_from("1935-05-01", chance.integers(0, 25_000, people)[who], "%Y-%m-%d"),
            "kön": chance.choice(["K", "M", "okänt"], people, p=[0.52, 0.47, 0.01])[who],
            "postnr": chance.choice([f"{100 + place} {20 + place}" for place in range(25)], people)[who],
            "stadsdel": chance.choice(["Haga", "Lunden", "Majorna", "Hisingen"], people)[who],
            "civilstånd": chance.choice(["gift", "ogift", "änka/änkling", "--"], people)[who],
            "språk": chance.choice(["svenska", "finska", "arabiska"], people, p=[0.8, 0.1, 0.1])[who],
            "ansökt": days_from("2024-01-01", asked, "%Y-%m-%d"),
            "beslutat": days_from("2024-01-01", asked + chance.integers(1, 60, rows), "%Y-%m-%d"),
            "insats": chance.choice(["hemtjänst", "boende", "ledsagning", "trygghetslarm"], rows),
            "timmar_mån": chance.integers(2, 90, rows),
            "handläggare": chance.choice([f"hl{number:02d}" for number in range(14)], rows),
            "bifall": chance.choice(["ja", "nej", "delvis"], rows, p=[0.8, 0.1, 0.1]),
            "överklagat": chance.choice(["ja", "nej"], rows, p=[0.05, 0.95]),
            "avgift": np.char.replace(np.round(chance.normal(900, 200, rows), 2).astype(str), ".", ","),
            "anhörig": chance.choice(["ja", "nej", "uppgift saknas"], rows),
            "fallrisk": chance.choice(["låg", "medel", "hög", "."], rows),
            "distrikt": chance.choice(["1", "2", "3"], rows),
            "kod_b": chance.choice(["A", "C", "99"], rows),
            "bostad": chance.choice(["hus", "lägenhet"], rows),
            "hjälpmedel": chance.choice(["rullator", "inget", "rullstol"], rows),
        },
        sep="\t",
    )


@pytest.mark.parametrize("made", [dutch_claims, swedish_support])
def test_real_rows_made_coarser(made, hands: Hands, tmp_path: Path) -> None:
    to_method(hands, made(tmp_path))
    hands.click("use-coarser")
    hands.click("all-columns")
    assert len(hands.window.study.plan.parameters["columns"]) >= 10
    hands.next("terms")
    hands.click("preset-k-11")
    release(hands, tmp_path)


def italian_accidents(folder: Path, rows: int = 1_500) -> Path:
    """Write accidents at work: one row an accident, nobody numbered."""
    chance = np.random.default_rng(7102)
    return write(
        folder / "infortuni_lavoro.csv",
        {
            "cod_sede": chance.choice([f"TO{100 + 7 * place}" for place in range(31)], rows),
            "classe_eta": chance.choice(["15-24", "25-34", "35-49", "50-64", "65+"], rows),
            "sesso": chance.choice(["M", "F"], rows, p=[0.7, 0.3]),
            "cittadinanza": chance.choice(
                ["italiana", "UE", "extra UE", "n.d."], rows, p=[0.7, 0.1, 0.17, 0.03]
            ),
            "giorni_assenza": chance.integers(0, 120, rows),
            "natura_lesione": chance.choice(["frattura", "ferita", "distorsione", "ustione"], rows),
            "ateco": chance.choice(["41.20", "86.10", "56.10", "25.11"], rows),
            "rapporto": chance.choice(["indeterminato", "determinato", "stagionale"], rows),
            "indennizzo": np.char.replace(
                np.round(chance.lognormal(7.5, 0.7, rows), 2).astype(str), ".", ","
            ),
            "esito_mortale": chance.choice(["sì", "no"], rows, p=[0.03, 0.97]),
        },
        sep=";",
    )


def czech_crashes(folder: Path, rows: int = 1_500) -> Path:
    """Write road accidents as a police office exports them, in the code page of its computers."""
    chance = np.random.default_rng(7202)
    return write(
        folder / "nehody_2024.csv",
        {
            "okres": chance.choice([f"CZ0{100 + 3 * place}" for place in range(28)], rows),
            "věk_sk": chance.choice(["0-14", "15-24", "25-44", "45-64", "65+"], rows),
            "pohlaví": chance.choice(["muž", "žena"], rows, p=[0.65, 0.35]),
            "úloha": chance.choice(["řidič", "chodec", "cyklista", "spolujezdec"], rows),
            "hodina": chance.integers(0, 24, rows),
            "počasí": chance.choice(["jasno", "déšť", "sníh", "neuv."], rows),
            "alkohol": chance.choice(["ano", "ne"], rows, p=[0.1, 0.9]),
            "druh": chance.choice(["srážka", "havárie", "střet"], rows),
            "škoda_kč": chance.integers(1, 900, rows) * 1_000,
            "následek": chance.choice(
                ["bez zranění", "lehké", "těžké", "smrt"], rows, p=[0.6, 0.28, 0.1, 0.02]
            ),
        },
        sep=";",
        encoding="cp1250",
    )


@pytest.mark.parametrize(
    ("made", "columns"),
    [(italian_accidents, ("sesso", "esito_mortale")), (czech_crashes, ("pohlaví", "alkohol"))],
)
def test_counts_of_two_columns(made, columns, hands: Hands, tmp_path: Path) -> None:
    to_method(hands, made(tmp_path), each=True, claims="250000")
    hands.click("use-counts")
    hands.tick("columns", *columns)
    declare(hands)
    release(hands, tmp_path)


def spanish_prescriptions(folder: Path, rows: int = 1_650) -> Path:
    """Write what a region's pharmacies gave out: several a person, dates with a slash, accents."""
    chance, people = np.random.default_rng(7103), 870
    who = chance.integers(0, people, rows)
    return write(
        folder / "dispensación.csv",
        {
            "id_paciente": 52_000 + 7 * who,
            "n_receta": [f"R{number:07d}" for number in chance.permutation(4_000_000)[:rows]],
            "fecha_disp": days_from("2024-06-01", chance.integers(0, 300, rows), "%d/%m/%Y"),
            "sexo": chance.choice(["Hombre", "Mujer"], people)[who],
            "edad": chance.integers(0, 99, people)[who],
            "cod_postal": chance.choice(["46001", "46010", "46021", "12001", "03001"], people)[who],
            "comarca": chance.choice(["La Ribera", "L'Horta", "La Safor"], people)[who],
            "farmacia": chance.choice([f"F{number:03d}" for number in range(30)], rows),
            "atc": chance.choice(["C09AA02", "A10BA02", "N02BE01", "J01CA04"], rows),
            "envases": chance.integers(1, 7, rows),
            "duración_días": chance.integers(1, 91, rows),
            "copago": chance.choice(["0%", "10%", "40%", "60%"], rows),
            "crónico": chance.choice(["sí", "no"], rows, p=[0.6, 0.4]),
            "visado": chance.choice(["sí", "no"], rows, p=[0.05, 0.95]),
            "importe": np.round(chance.gamma(2, 9, rows), 2),
            "prescriptor": chance.choice(["primaria", "hospital", "urgencias"], rows),
            "alergia": chance.choice(["sí", "no", "NC"], rows, p=[0.1, 0.85, 0.05]),
            "imc": chance.choice(["", *map(str, range(17, 45))], rows),
            "grupo_ts": chance.choice(["TSI 001", "TSI 002", "TSI 003"], people)[who],
        },
    )


def danish_visits(folder: Path, rows: int = 1_550) -> Path:
    """Write visits of nurses at home: several a person, points in dates, a dash for what is missing."""
    chance, people = np.random.default_rng(7203), 820
    who = chance.integers(0, people, rows)
    return write(
        folder / "hjemmesygepleje.csv",
        {
            "borger_id": 910_000 + 13 * who,
            "besøgsnr": [f"V{number:07d}" for number in chance.permutation(5_000_000)[:rows]],
            "dato": days_from("2025-01-01", chance.integers(0, 365, rows), "%d.%m.%Y"),
            "køn": chance.choice(["kvinde", "mand"], people)[who],
            "alder": chance.integers(18, 101, people)[who],
            "postnr": chance.choice(["5000", "5220", "5700", "5800"], people)[who],
            "boform": chance.choice(["eget hjem", "plejebolig", "-"], people)[who],
            "ydelse": chance.choice(["medicin", "sårpleje", "kateter"], rows),
            "minutter": chance.integers(5, 91, rows),
            "akut": chance.choice(["ja", "nej"], rows, p=[0.1, 0.9]),
            "aflyst": chance.choice(["ja", "nej"], rows, p=[0.07, 0.93]),
            "hjælpere": chance.integers(1, 3, rows),
            "vagt": chance.choice(["dag", "aften", "nat"], rows),
            "team": chance.choice(["nord", "syd", "vest"], rows),
            "smerte": chance.integers(0, 11, rows),
            "fald": chance.choice(["ja", "nej", "uoplyst"], rows),
            "pårørende": chance.choice(["ja", "nej"], rows),
            "takst": np.round(chance.normal(310, 60, rows), 2),
            "kode_7": chance.choice(["p", "q", "z"], rows),
        },
    )


@pytest.mark.parametrize(
    ("made", "first", "others"),
    [
        (spanish_prescriptions, "sexo", ("envases", "visado")),
        (danish_visits, "køn", ("ydelse", "aflyst")),
    ],
)
def test_five_columns_invented(made, first, others, hands: Hands, tmp_path: Path) -> None:
    to_method(hands, made(tmp_path), claims="250000")
    hands.click("use-invented")
    tick_by_keys(hands, first)
    hands.tick_range("columns", *others)
    hands.type("about_rows", "1000")
    declare(hands)
    assert len(hands.window.study.plan.parameters["columns"]) >= 5
    release(hands, tmp_path)


def portuguese_labour(folder: Path, rows: int = 3_800) -> Path:
    """Write a survey of work: one person a row, refusals as a number below zero."""
    chance = np.random.default_rng(7104)
    children = chance.integers(0, 5, rows)
    hours = np.clip((chance.normal(38, 9, rows) - 2 * children).round(), 0, 80).astype(int)
    return write(
        folder / "ie_v3.csv",
        {
            "ident": chance.permutation(rows) + 100,
            "p1_horas": hours,
            "p2_idade": chance.integers(16, 75, rows),
            "p3_mulher": chance.choice([0, 1], rows),
            "p4_filhos": children,
            "p5_contrato": chance.choice([1, 2, 3], rows),
            "p6_turnos": chance.choice([0, 1], rows, p=[0.8, 0.2]),
            "p7_anos_esc": chance.integers(4, 20, rows),
            "p8_rend": np.where(chance.random(rows) < 0.05, -8, chance.integers(5, 60, rows) * 50),
            "p9_sind": chance.choice([0, 1], rows, p=[0.85, 0.15]),
            "p10_satisf": chance.integers(0, 11, rows),
            "nuts2": chance.choice(["Norte", "Centro", "Lisboa", "Algarve"], rows),
            "est_civil": chance.choice(["casado", "solteiro", "ns/nr"], rows, p=[0.5, 0.48, 0.02]),
            "agreg": chance.integers(1, 7, rows),
            "fuma": chance.choice(["nunca", "ex", "sim"], rows),
            "peso_kg": np.round(chance.normal(72, 12, rows), 1),
            "dt_entrev": days_from("2024-02-01", chance.integers(0, 90, rows), "%Y-%m-%d"),
            "x14": chance.choice([1, 2, 7], rows),
            "x15b": chance.choice([1, 9], rows),
            "modo": chance.choice(["CAPI", "CAWI"], rows),
            "pond": np.round(chance.lognormal(0, 0.35, rows), 4),
        },
    )


def finnish_wellbeing(folder: Path, rows: int = 3_700) -> Path:
    """Write a survey of how people are: names of questions alone for half of it."""
    chance = np.random.default_rng(7204)
    age = chance.integers(18, 90, rows)
    days = np.minimum(chance.poisson(1 + 0.05 * age), 30)
    return write(
        folder / "hyvinvointi_k2.csv",
        {
            "vast_nro": chance.permutation(rows) + 5_000,
            "k1_päivät": days,
            "k2_ikä": age,
            "k3_nainen": chance.choice([0, 1], rows),
            "k4_lapset": chance.integers(0, 6, rows),
            "k5_uni": chance.integers(1, 6, rows),
            "k6_liikunta": chance.integers(0, 8, rows),
            "k7_koulutus": chance.integers(8, 21, rows),
            "k8_tulot": np.where(chance.random(rows) < 0.05, -1, chance.integers(5, 60, rows) * 100),
            "k9_yksin": chance.choice([0, 1], rows, p=[0.7, 0.3]),
            "k10_mieliala": chance.integers(0, 11, rows),
            "maakunta": chance.choice(["Uusimaa", "Lappi", "Kainuu"], rows),
            "siviilisääty": chance.choice(["naimisissa", "naimaton", "eos"], rows, p=[0.5, 0.48, 0.02]),
            "tupakka": chance.choice(["ei", "ennen", "päivittäin"], rows),
            "pituus": chance.integers(148, 200, rows),
            "haast_pvm": days_from("2025-03-01", chance.integers(0, 90, rows), "%d.%m.%Y"),
            "z1": chance.choice([1, 2, 8], rows),
            "z2": chance.choice([1, 2], rows),
            "tapa": chance.choice(["puh", "www"], rows),
            "paino_w": np.round(chance.lognormal(0, 0.35, rows), 4),
        },
    )


@pytest.mark.parametrize(
    ("made", "target", "predictors"),
    [
        (portuguese_labour, "p1_", ("p2_idade", "p6_turnos")),
        (finnish_wellbeing, "k1_", ("k2_ikä", "k6_liikunta")),
    ],
)
def test_a_model_of_five_columns(made, target, predictors, hands: Hands, tmp_path: Path) -> None:
    to_method(hands, made(tmp_path), each=True, claims="900000")
    hands.click("use-model")
    hands.pick_by_keys("target", target)
    hands.tick_range("predictors", *predictors)
    hands.type("about_rows", "1000")
    declare(hands)
    assert len(hands.window.study.plan.parameters["predictors"]) == 5
    release(hands, tmp_path)
