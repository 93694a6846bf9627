"""Suggestions on the sample, on identifiers and on words of six languages; every reason can be said."""

from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from engine import texts
from engine.release.naming import naming
from engine.table.code_lists import code_lists
from engine.table.inspection import inspect_table, sentence
from engine.table.reading.readers import read_table
from engine.table.schema import Kind, Origin, Role, Schema
from engine.table.suggest.column_words import words
from engine.table.suggest.suggest import suggest, suggested_schema
from engine.table.table import Table

SECRET = "Zaphod Beeblebrox"


def of(frame):
    found = {item.column: item for item in suggest(Table(frame))}
    for item in found.values():
        assert sentence(item) and texts.text(f"suggestions.kind.{item.kind_reason}", **item.values)
    return found


@pytest.fixture(scope="module")
def sample():
    return read_table(str(files("resources") / "sample" / "diabetes_encounters.csv"))


def test_the_sample(sample):
    found = {item.column: item for item in suggest(sample)}
    key = found["patient_nbr"]
    assert key.role is Role.PERSON_KEY and key.reason == "person_key_repeats"
    assert key.values["people"] == 4259 and "4,259" in sentence(key) and "“nbr”" in sentence(key)
    assert found["encounter_id"].role is Role.DIRECT_IDENTIFIER
    assert (
        found["gender"].proposals[0].code_list == "sex_words" and not found["gender"].to_column().is_declared
    )
    assert found["age"].kind is Kind.ORDINAL and found["age"].role is Role.IDENTIFYING
    assert found["race"].missing == ("?",) and found["race"].domain_origin is Origin.COPIED
    assert "?" not in found["race"].domain.values
    assert found["weight"].role is Role.IDENTIFYING  # of a body, not of a survey
    assert found["weight"].domain.values[0] == "[0-25)"
    assert found["time_in_hospital"].kind is Kind.INTEGER and found["time_in_hospital"].role is Role.SENSITIVE
    assert found["admission_type_id"].kind is Kind.CATEGORY
    assert found["max_glu_serum"].missing == ()  # "None" is a finding there
    for name in ("diag_1", "insulin", "metformin", "readmitted", "A1Cresult"):
        assert found[name].role is Role.SENSITIVE, name
    assert sum(item.role is Role.PERSON_KEY for item in found.values()) == 1


def test_the_suggested_schema_is_a_schema(sample):
    schema = suggested_schema(sample)
    assert Schema.from_json(schema.to_json()) == schema
    assert [column.name for column in schema.columns] == list(sample.names)


def test_nothing_suggested_from_rows_counts_as_declared(sample):
    for item in suggest(sample):
        assert item.domain_origin is not Origin.DECLARED
        if item.domain is not None and item.domain.code_list is None:
            assert item.domain_origin is Origin.COPIED


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *((name, Role.IDENTIFYING) for name in ("age", "Alter", "âge", "edad", "età", "leeftijd")),
        *((name, Role.IDENTIFYING) for name in ("sex", "Geschlecht", "sexe", "sexo", "sesso", "geslacht")),
        *((name, Role.IDENTIFYING) for name in ("Geburtsjahr", "birthYear", "annee_naissance")),
        *(
            (name, Role.PLACE)
            for name in ("zip_code", "PLZ", "code_postal", "provincia", "comune", "woonplaats")
        ),
        *(
            (name, Role.SENSITIVE)
            for name in ("Diagnose", "maladie", "religion", "salary", "Einkommen", "hiv_status")
        ),
        *((name, Role.WEIGHT) for name in ("pweight", "survey_weight")),
        *((name, Role.SENSITIVE) for name in ("time_in_hospital", "number_of_visits", "Verweildauer")),
        *((name, Role.SENSITIVE) for name in ("APTT", "CKMB", "NTproBNP", "EOS", "PCO2", "lab_urate")),
        *(
            (name, Role.SENSITIVE)
            for name in ("gad7", "EDSS", "CHA2DS2VASC", "ChildPugh", "t_nyha", "Tstage")
        ),
        *((name, Role.SENSITIVE) for name in ("Liegezeit", "glucosa", "pressao", "cisnienie", "rookt")),
        *((name, Role.SENSITIVE) for name in ("huswage", "dayslink", "daysInHospital")),
        *((name, Role.PLACE) for name in ("comarca", "NUTS2", "cbsa")),
        *((name, Role.IDENTIFYING) for name in ("q2age", "Q14sex", "v7kids", "q12educ")),
        *((name, Role.SENSITIVE) for name in ("q3income", "VWD", "sévérité", "Wiederaufn.", "retour_30j")),
        *((name, Role.IDENTIFYING) for name in ("p3_mulher", "mujer", "p6_turnos", "agreg")),
        *((name, Role.SENSITIVE) for name in ("sindicato", "sindacato", "lid_vakbond", "p9_sind")),
        *((name, Role.NOT_RECOGNISED) for name in ("x1", "qqv", "flag", "q3", "q7zz", "v2")),
    ],
)
def test_names_in_six_languages(name, role):
    made = np.random.default_rng(1).integers(20, 60, 200)
    assert of(pd.DataFrame({name: made}))[name].role is role


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Nachname",
            "apellido",
            "prenom",
            "cognome",
            "voornaam",
            "patient_name",
            "Telefon",
            "E-Mail",
            "fax",
        ),
        *(
            "SSN",
            "IBAN",
            "street",
            "indirizzo",
            "kenteken",
            "IPaddress",
            "MRN",
            "passport",
            "photo",
            "licence",
        ),
    ],
)
def test_direct_identifiers_by_name(name):
    values = [f"{SECRET} {place % 40}" for place in range(100)]
    found = of(pd.DataFrame({name: values}))[name]
    assert found.role is Role.DIRECT_IDENTIFIER and found.domain is None
    assert SECRET not in sentence(found)


def test_names_of_things_are_no_names_of_people():
    for name in ("drug_name", "hospital_name", "test_name"):
        assert of(pd.DataFrame({name: ["a", "b", "c"] * 30}))[name].role is not Role.DIRECT_IDENTIFIER


def test_identifiers_by_check_digit_whatever_the_name():
    frame = pd.DataFrame({"x": [111222333, 123456782, 100000009, 100000010, 100000022] * 5, "y": range(25)})
    found = of(frame)["x"]
    # Repeated, so that it is the best candidate for the number of a person.
    assert found.role in (Role.DIRECT_IDENTIFIER, Role.PERSON_KEY, Role.NOT_RECOGNISED)
    numbers = [number for number in range(100000000, 100003000) if _bsn(number)]
    found = of(pd.DataFrame({"x": numbers}))["x"]
    assert found.role in (Role.DIRECT_IDENTIFIER, Role.PERSON_KEY)
    assert found.values["identifier"] == "dutch_bsn" or found.reason.startswith("person")


def _bsn(number):
    digits = f"{number:09d}"
    weights = (9, 8, 7, 6, 5, 4, 3, 2, -1)
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True)) % 11 == 0


def test_email_column():
    found = of(pd.DataFrame({"contact": [f"p{place % 60}@example.org" for place in range(100)]}))["contact"]
    assert (found.role, found.values["identifier"]) == (Role.DIRECT_IDENTIFIER, "email")
    assert "e-mail address" in sentence(found)


def test_free_text_is_left_out():
    texts_of_people = [
        f"{SECRET} was seen on the ward and complained about item {place}" for place in range(200)
    ]
    assert of(pd.DataFrame({"remarks": texts_of_people}))["remarks"].role is Role.DROPPED


def test_missing_codes():
    frame = pd.DataFrame(
        {
            "lab": [5.5, 6.1, -9, 4.4, -9, 7.0] * 10,
            "days": [1, 2, 999, 5, 999, 30] * 10,
            "temperature": [-5, -9, 3, -20, 8, 1] * 10,
            "count": ["1", "2", "unknown", "3", "None", "."] * 10,
            "town": ["Bonn", "unknown", "None", "NA", "?", "Ulm"] * 10,
        }
    )
    found = of(frame)
    assert found["lab"].missing == ("-9",) and float(found["lab"].domain.minimum) == 4.4
    assert found["days"].missing == ("999",) and found["days"].domain.maximum == 30
    assert found["temperature"].missing == ()
    assert set(found["count"].missing) == {"unknown", "None", "."} and found["count"].kind is Kind.INTEGER
    assert set(found["town"].missing) == {"NA", "?"} and "unknown" in found["town"].domain.values


def test_code_lists_are_proposed_with_counts_and_never_taken():
    frame = pd.DataFrame(
        {
            "sex": ["F", "M", "F", "M"] * 5,
            "geschlecht": ["w", "m", "d", "w"] * 5,
            "gender": [1, 2, 9, 1] * 5,
            "smokes": ["Yes", "No", "No", "No"] * 5,
            "drinks": ["yes", "no", "no", "no"] * 5,
            "flag": [0, 1, 1, 0] * 5,
            "answer": ["F", "M", "M", "M"] * 5,
            "month": [1, 5, 12, 7] * 5,
        }
    )
    found = of(frame)
    assert not any(item.to_column().is_declared or item.labels for item in found.values())
    lists = {name: [one.code_list for one in item.proposals] for name, item in found.items()}
    assert lists["sex"] == ["sex_letters"] and lists["geschlecht"] == ["sex_german"]
    assert lists["gender"] == ["sex_iso_5218"] and lists["smokes"] == ["yes_no"]
    assert lists["drinks"] == ["yes_no_small"] and lists["flag"] == ["zero_one"]
    assert lists["answer"] == [] and lists["month"] == ["months"]
    assert found["gender"].proposals[0].meanings == (
        ("1", "male", 10), ("2", "female", 5), ("9", "not applicable", 5)
    )  # fmt: skip
    assert found["smokes"].proposals[0].plain and not found["gender"].proposals[0].plain
    assert found["gender"].kind is Kind.CATEGORY


@pytest.mark.parametrize("name", ["gender", "race", "ethnicity", "sexo"])
def test_zero_and_one_get_no_meaning_from_a_column_of_sex_or_origin(name):
    found = of(pd.DataFrame({name: [0, 1, 1] * 20}))[name]
    assert found.proposals == () and found.role is Role.IDENTIFYING


def test_a_list_must_hold_every_value():
    assert of(pd.DataFrame({"sex": ["F", "M", "X"] * 20}))["sex"].proposals == ()


def test_what_differs_on_every_row_is_asked_or_an_identifier():
    made = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "n": made.permutation(np.arange(1000) * 7 + 13),
            "rownumber": range(1000),
            "x": made.normal(size=1000),
            "age": made.permutation(np.arange(1000)) * 3,
            "glucose": made.normal(90, 5, 1000),
            "note": [f"t{place:04d}" for place in made.permutation(1000)],
            "seen": pd.date_range("1990-01-01", periods=1000),
        }
    )
    found = of(frame)
    assert all(item.asked for item in found.values())
    assert found["rownumber"].reason == "row_number" and found["note"].role is Role.DIRECT_IDENTIFIER
    assert {found[name].role for name in ("n", "x", "age")} == {Role.NOT_RECOGNISED}
    assert found["glucose"].role is Role.SENSITIVE and found["glucose"].differs_everywhere


def test_texts_that_hardly_repeat_are_asked_whatever_their_name_says():
    made = np.random.default_rng(5).permutation(1000)
    frame = pd.DataFrame(
        {
            "mother": [f"{SECRET} {place % 90}" for place in made],
            "diagnosis": [f"seen by {place % 700}" for place in made],
            "icd": [f"{'ABCDEFGHIJ'[place % 10]}{place // 10:02d}.{place % 3}" for place in made],
        }
    )
    found = of(frame)
    assert found["mother"].reason == "too_many_words" and found["diagnosis"].reason == "nearly_all_differ"
    assert {found["mother"].role, found["diagnosis"].role} == {Role.NOT_RECOGNISED}
    assert found["icd"].role is not Role.OTHER and SECRET not in sentence(found["mother"])


def test_a_series_is_one_measurement_at_several_times():
    made = np.random.default_rng(4).integers(80, 180, (300, 3))
    frame = pd.DataFrame(made, columns=["bp1", "bp2", "bp3"]).assign(q7=made[:, 0], sex=["F", "M"] * 150)
    found = of(frame)
    assert {found[name].role for name in ("bp1", "bp2", "bp3")} == {Role.SENSITIVE}
    assert len({found[name].alike for name in ("bp1", "bp2", "bp3")}) == 1 and found["bp1"].alike
    assert found["q7"].alike == "" and found["q7"].role is Role.NOT_RECOGNISED


@pytest.mark.parametrize(
    "name",
    [
        *("hours_per_week", "hours-per-week", "hrsPerDay", "weekly_hours", "weeks_worked", "drinks_per_week"),
        *("visits_per_month", "income_per_year", "months_since_diagnosis", "minutes", "days_in_hospital"),
        *("Stunden pro Woche", "heures_par_semaine", "horas_por_semana", "ore_settimanali"),
        *("uren_per_week", "godzin_tygodniowo", "horas semanais"),
    ],
)
def test_an_amount_of_time_or_in_each_period_is_no_moment(name):
    """It is how long, how often or how much; only the name of a period alone says when."""
    found = of(pd.DataFrame({name: [number % 90 + 1 for number in range(400)]}))[name]
    assert found.role in (Role.SENSITIVE, Role.IDENTIFYING), found


@pytest.mark.parametrize(
    ("name", "values"), [("week", range(1, 53)), ("month", range(1, 13)), ("year", range(1990, 2024))]
)
def test_a_period_by_itself_is_a_time(name, values):
    assert of(pd.DataFrame({name: list(values) * 9}))[name].role is Role.TIME


def test_every_code_list_is_sound():
    for entry in code_lists().values():
        assert entry.title and entry.source and len(entry.codes) == len(set(entry.codes)) >= 2


def test_bands_and_scales_are_in_order():
    frame = pd.DataFrame(
        {"a": ["10-19", "0-9", "100-109", "20-29"] * 5, "b": [">30", "<10", "10-30", "<10"] * 5,
         "c": ["high", "low", "medium", "low"] * 5}
    )  # fmt: skip
    found = of(frame)
    assert found["a"].domain.values == ("0-9", "10-19", "20-29", "100-109")
    assert found["b"].domain.values == ("<10", "10-30", ">30")
    assert found["c"].domain.values == ("low", "medium", "high")
    assert {item.kind for item in found.values()} == {Kind.ORDINAL}


def test_dates_are_times():
    frame = pd.DataFrame(
        {"seen": pd.to_datetime(["2020-01-01", "2020-05-05"] * 5), "birth_date": ["1.2.1980"] * 10}
    )
    found = of(frame)
    assert found["seen"].role is Role.TIME and found["seen"].domain.maximum == "2020-05-05"
    assert found["birth_date"].role is Role.IDENTIFYING and found["birth_date"].kind is Kind.DATE


def test_one_person_key_and_not_the_visit():
    made = np.random.default_rng(0)
    frame = pd.DataFrame({"visit_id": range(300), "subject_id": made.integers(1000, 1200, 300), "age": 4})
    found = of(frame)
    assert found["subject_id"].role is Role.PERSON_KEY and found["visit_id"].role is Role.DIRECT_IDENTIFIER


def test_odd_tables():
    empty = pd.DataFrame({"a": pd.Series([None] * 5, dtype="str"), "b": [np.nan] * 5})
    assert {item.reason for item in of(empty).values()} == {"nothing_filled"}
    assert of(pd.DataFrame({"a": ["?"] * 5}))["a"].missing == ("?",)
    assert len(of(pd.DataFrame({"a": [1], "b": ["x"]}))) == 2
    assert of(pd.DataFrame({"a": [np.inf, 1.0]}))["a"].kind in (Kind.NUMBER, Kind.INTEGER, Kind.CATEGORY)


def test_inspection_says_problems_and_holds_no_cell(tmp_path):
    path = tmp_path / "a.csv"
    rows = [f"{SECRET} {place},{place}" for place in range(60)] + [f"{SECRET},{SECRET}", f"{SECRET},?"]
    path.write_text("name,age\n" + "\n".join(rows) + "\n")
    found = inspect_table(read_table(path))
    assert [column["role"] for column in found["columns"]] == ["direct_identifier", "identifying"]
    assert {problem["code"] for problem in found["problems"]} == {
        "table.cells_not_numbers",
        "table.missing_code",
    }
    assert all(problem["what"] and problem["do"] for problem in found["problems"])
    assert found["columns"][1]["kind"] == "integer" and "numbers but 1" in found["columns"][1]["kind_reason"]
    assert SECRET not in str(found)


def test_every_reason_and_finding_has_its_sentence():
    import ast
    from pathlib import Path

    import engine.table

    folder = Path(engine.table.__path__[0])
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                area, _, name = node.value.partition(".")
                if area in ("table", "preparation") and name.isidentifier() and name not in STAGES:
                    assert texts.has(f"errors.{node.value}.what") and texts.has(f"errors.{node.value}.do"), (
                        node.value
                    )


STAGES = {"read", "store", "suggest", "fingerprint", "digests", "prepare", "name"}


def test_the_longer_name_that_a_file_gives_a_column_is_its_meaning() -> None:
    table = Table(pd.DataFrame({"q1": [1, 2, 3], "q2": [1, 1, 2]}), titles={"q1": "Health \n today"})
    first, second = suggest(table)
    assert first.to_column().meaning == "Health today" and second.to_column().meaning == ""


def test_a_name_without_end_is_looked_at_from_its_beginning() -> None:
    assert words("age " + "x" * 1_000_000) == words("age " + "x" * 600) == ("age", "x" * 496)
    (found,) = suggest(Table(pd.DataFrame({"age " + "x" * 1_000_000: [1, 2, 3]})))
    assert len(found.to_column().name) == 1_000_004


@pytest.mark.parametrize("name", ["ipp", "IPP", "mrn", "nhc", "num_patient", "no_patient", "patnr"])
def test_a_number_that_a_patient_keeps_for_good_is_the_person_key_where_it_repeats(name):
    numbers = [1_000_000 + 7919 * (place % 60) for place in range(100)]
    wards = [f"ward {place % 4}" for place in range(100)]
    found = {one.column: one for one in suggest(Table(pd.DataFrame({name: numbers, "ward": wards})))}
    assert found[name].role is Role.PERSON_KEY and found[name].values["people"] == 60


@pytest.mark.parametrize(
    "name", ["poids", "poids_kg", "wgt", "Gewicht", "weight_kg", "peso", "poids_naissance"]
)
def test_what_a_scale_shows_is_not_how_many_people_a_row_stands_for(name: str) -> None:
    table = Table(pd.DataFrame({name: [45 + place * 37 % 70 for place in range(200)]}))
    [found] = suggest(table)
    assert found.role is Role.IDENTIFYING and found.values["meaning"] in ("body", "birth")


@pytest.mark.parametrize("name", ["poids", "wgt", "sample_weight", "ponderation"])
def test_a_survey_weight_stays_one(name: str) -> None:
    table = Table(pd.DataFrame({name: [0.3 + place * 37 % 70 / 31 for place in range(200)]}))
    [found] = suggest(table)
    assert found.role is Role.WEIGHT


@pytest.mark.parametrize("day", ["1900-01-01", "9999-12-31", "1899-12-30", "0001-01-01", "2999-12-31"])
@pytest.mark.parametrize("count", [2, 150])
def test_a_day_that_stands_for_none_is_offered_as_missing(day, count):
    seen = np.datetime64("2020-01-01", "us") + np.arange(200) * np.timedelta64(2, "D")
    seen[:count] = np.datetime64(day)
    [found] = suggest(Table(pd.DataFrame({"seen": seen})))
    assert found.kind is Kind.DATE and found.missing == (day,)
    assert found.domain is not None and "2020" <= found.domain.minimum <= found.domain.maximum < "2022"
    assert found.values["filled"] == found.values["different"] == 200 - count


@pytest.mark.parametrize(("day", "count"), [("1900-01-01", 1), ("1970-01-01", 3), ("1980-07-01", 150)])
def test_a_day_that_may_be_one_is_not(day, count):
    born = np.datetime64("1950-01-01", "us") + np.arange(200) * np.timedelta64(100, "D")
    born[:count] = np.datetime64(day)
    [found] = suggest(Table(pd.DataFrame({"born": born})))
    assert found.kind is Kind.DATE and found.missing == ()


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *(("Liegetage", "sensitive"), ("Gew.", "identifying"), ("delai_min", "sensitive"), ("Zi.", "place")),
        *(("Bett", "place"), ("CONMED", "sensitive"), ("DDD", "sensitive"), ("Isolation", "sensitive")),
    ],
)
def test_words_of_ward_lists_and_of_drug_lists_are_known(name, role):
    cells = [str(40 + (7 * row) % 61) for row in range(300)]
    assert of(pd.DataFrame({name: cells}))[name].role == role


@pytest.mark.parametrize(
    ("cells", "role"),
    [
        *(("mw", "identifying"), ("MF", "identifying"), ("wmd", "identifying")),
        *(("FTM", "not_recognised"), ("mt", "not_recognised"), ("fw", "not_recognised")),
    ],
)
def test_letters_of_sexes_are_known_whatever_the_name(cells, role):
    frame = pd.DataFrame({"G": [cells[row % len(cells)] for row in range(300)]})
    assert of(frame)["G"].role == role


def test_what_nearly_differs_everywhere_is_refused_as_it_stands_and_only_that():
    chance = np.random.default_rng(3)
    cents = np.round(chance.normal(900, 200, 1_600), 2)
    table = Table(pd.DataFrame({"fee": cents, "days": chance.integers(0, 90, 1_600)}))
    found = {item.column: item.differs_nearly for item in suggest(table)}
    assert len(set(cents)) < len(cents) and found == {"fee": True, "days": False}
    design = SimpleNamespace(schema=Schema(), keeps=(), request=SimpleNamespace(preparation=()))
    assert [one.column for one in naming(table, design, ["fee", "days"])] == ["fee"]


@pytest.mark.parametrize("name", ["Ende", "ende", "Ende der Pflege"])
def test_a_known_word_is_short_for_nothing_that_names_people(name):
    """How a stay ended names nobody; "ende" only begins as the word for an address in another language."""
    endings = ["died", "moved", "still here"] * 200
    assert of(pd.DataFrame({name: endings}))[name].role is not Role.DIRECT_IDENTIFIER
    assert of(pd.DataFrame({"endere": endings}))["endere"].role is Role.DIRECT_IDENTIFIER, "short for it"
