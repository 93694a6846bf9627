"""Anatomy: no value twice in a bucket, everybody in one, and what can be guessed all the same."""

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.methods.catalogue import method
from engine.methods.datasets.anatomy import attack_by_definetti, put_in_buckets
from engine.methods.protocol import Context
from engine.privacy.noise import Noise, ordinary_generator
from engine.table.cells import read_form
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from engine.texts import explain

ID = "datasets.anatomy"
SCHEMA = Schema(
    (
        Column("age", Role.IDENTIFYING, Kind.INTEGER),
        Column("town", Role.PLACE, Kind.CATEGORY, missing=("?",)),
        Column("ill", Role.SENSITIVE, Kind.CATEGORY),
        Column("pay", Role.SENSITIVE, Kind.NUMBER),
    )
)


def people(rows=301, seed=2, related=0.0):
    chance = np.random.default_rng(seed)
    ill = chance.integers(0, 6, rows)
    age = np.where(chance.random(rows) < related, ill * 10 + 20, chance.integers(20, 80, rows))
    return pd.DataFrame(
        {
            "age": age,
            "town": chance.choice(["a", "b", "?"], rows),
            "ill": np.array(["v", "w", "x", "y", "z", ""])[ill],
            "pay": 1.0,
        }
    )


def made(rows, tmp_path, **given):
    found = method(ID)
    request = found.make_request(
        {"people": SCHEMA}, {"columns": ["age", "town"], "sensitive": "ill", **given}
    )
    assert not found(request).problems, found(request).problems
    return found(request).run({"people": Table(rows)}, Context(Noise(), ordinary_generator(), tmp_path))


@pytest.mark.parametrize("seed", range(30))
def test_no_value_stands_twice_and_nobody_is_left(seed):
    chance = np.random.default_rng(seed)
    count = chance.integers(1, 12, chance.integers(2, 9))
    value = chance.permutation(np.repeat(np.arange(len(count)), count))
    for l_values in range(2, 6):
        found = put_in_buckets(value, l_values=l_values, chance=chance)
        if count.max() * l_values > count.sum():
            assert found is None
            continue
        assert (found >= 0).all() and set(found) == set(range(found.max() + 1))
        for one in set(found):
            own = value[found == one]
            assert len(own) == len(set(own)) >= l_values


def test_both_tables_hold_what_the_original_holds(tmp_path):
    rows = people()
    release = made(rows, tmp_path, l=4)
    own, told = (artefact.frame for artefact in release.artefacts)
    assert list(own.columns) == ["age", "town", "bucket"] and list(told.columns) == ["bucket", "ill"]
    assert sorted(own["age"]) == sorted(rows["age"].astype(str)) and "?" not in set(own["town"])
    assert own["age"].tolist() != rows["age"].astype(str).tolist()
    assert sorted(told["ill"]) == sorted(rows["ill"])
    assert own["bucket"].value_counts().to_dict() == told["bucket"].value_counts().to_dict()
    assert not told.duplicated().any() and told["bucket"].value_counts().min() >= 4
    pairs = set(zip(rows["age"].astype(str), rows["town"].replace("?", ""), rows["ill"], strict=True))
    joined = own.merge(told, on="bucket")
    assert pairs <= set(zip(joined["age"], joined["town"], joined["ill"], strict=True))
    assert release.promise.kind == "l_diversity" and release.promise.terms == {"l": 4, "sensitive": "ill"}


def test_the_attack_guesses_what_goes_together_and_nothing_else(tmp_path):
    """Half of the ages tell the illness: far more than 1 in 4 is guessed. Else about 1 in 4."""
    alone = made(people(2000), tmp_path, l=4).inside.figures
    related = made(people(2000, related=0.5), tmp_path, l=4).inside.figures
    assert alone["guessed_blind"] == pytest.approx(0.25, abs=0.01)
    assert alone["guessed_right"] == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 2000) + 0.01)
    assert related["guessed_right"] > 0.5


def test_the_attack_reads_only_what_is_released():
    """Whose value is whose inside a bucket changes the share that is right, never the guess."""
    chance = np.random.default_rng(1)
    value = chance.integers(0, 5, 400)
    bucket = put_in_buckets(value, l_values=3, chance=chance)
    column = chance.integers(0, 9, 400)
    swapped = value.copy()
    for one in set(bucket):
        rows = np.flatnonzero(bucket == one)
        swapped[rows] = value[np.roll(rows, 1)]
    wrong = (
        attack_by_definetti(bucket, swapped, [column])[0] + attack_by_definetti(bucket, value, [column])[0]
    )
    assert wrong <= 1, "no row is guessed right under both"


@pytest.mark.parametrize(
    ("rows", "given", "code"),
    [
        (people(3), {"l": 4}, "grouping.too_few"),
        (people(50).assign(ill="v"), {"l": 2}, "grouping.one_value"),
        (people(300), {"l": 6}, f"{ID}.too_frequent"),
    ],
)
def test_refused_in_words(rows, given, code, tmp_path):
    with pytest.raises(InputRefused) as caught:
        made(rows, tmp_path, **given)
    assert caught.value.code == code and explain(caught.value)[1]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"columns": ["age", "ill"]}, "in_both"),
        ({"columns": ["age", "pay"]}, "another_sensitive"),
        ({"bucket": "age"}, "name_taken"),
    ],
)
def test_refused_from_declarations(given, code):
    given = {"columns": ["age"], "sensitive": "ill", "l": 3, **given}
    assert method(ID)(method(ID).make_request({"people": SCHEMA}, given)).problems[0].code == f"{ID}.{code}"
    several = Schema((*SCHEMA.columns, Column("pid", Role.PERSON_KEY)), rows_per_person=2)
    request = method(ID).make_request({"people": several}, {"columns": ["age"], "sensitive": "ill", "l": 3})
    assert method(ID)(request).problems[0].code == f"{ID}.several_rows"


@pytest.mark.parametrize(
    "words", [("nan", "", "hiv"), ("inf", "-inf", ""), ("NaN", "nan", " ", ""), ("a", "a ")]
)
def test_no_bucket_holds_twice_what_reads_alike(words, tmp_path):
    """What leaves counts: a word that other programs take for missing is a word, and a blank is none."""
    rows = people(240)
    rows["ill"] = [[*words, "b", "c"][place % (len(words) + 2)] for place in range(240)]
    own, told = (artefact.frame for artefact in made(rows, tmp_path, l=2).artefacts)
    assert len(own) == 240 and sorted(told["ill"]) == sorted(word.strip() for word in rows["ill"])
    assert not told.duplicated().any() and told["bucket"].value_counts().min() >= 2


@pytest.mark.parametrize(
    ("words", "alike"),
    [
        (("hiv", "HIV", "flu"), 2),
        (("\u00e9pi", "e\u0301pi", "flu"), 2),
        (("hiv", "h\u200biv", "HIV"), 3),
        (("hiv b", "hiv  B", "flu", "Flu"), 4),
        (("1", "01", "1.0", "+1", "2"), 4),
        (("hiv", "hib", "flu"), None),
    ],
)
def test_values_that_read_alike_are_told_inside(words, alike, tmp_path):
    """They are counted as one: of no bucket does anybody know the value of all."""
    rows = people(240)
    rest = ["b", "c", "d", "e"]
    rows["ill"] = [[*words, *rest][place % (len(words) + len(rest))] for place in range(240)]
    release = made(rows, tmp_path, l=2)
    told = release.artefacts[1].frame
    forms = told.assign(ill=[read_form(one) for one in told["ill"]])
    assert not forms.duplicated().any() and sorted(told["ill"]) == sorted(rows["ill"])
    assert release.inside.figures.get("alike_values") == alike
    assert ("alike_values" in str(release.inside.views)) is (alike is not None)
