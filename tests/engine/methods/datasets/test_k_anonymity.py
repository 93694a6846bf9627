"""k-anonymity: every released group is large enough, and nothing of the original order or rows leaves."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.methods.protocol import Context
from engine.privacy.noise import Noise, ordinary_generator
from engine.release.plan import Plan
from engine.release.run import run
from engine.release.verify import verify
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

ID = "datasets.k_anonymity"
RECODING = [one.name for one in method(ID).parameters].index("recoding")
EXAMPLE = Path(__file__).parents[4] / "resources" / "examples" / f"{ID}.json"
SCHEMA = Schema(
    (
        Column("pid", Role.PERSON_KEY),
        Column("name", Role.DIRECT_IDENTIFIER),
        Column("age", Role.IDENTIFYING, Kind.INTEGER, hierarchy=Hierarchy(bands=(5, 20))),
        Column("town", Role.PLACE, Kind.CATEGORY, hierarchy=Hierarchy(prefix=(2,)), missing=("?",)),
        Column("seen", Role.TIME, Kind.DATE),
        Column("result", Role.SENSITIVE, Kind.NUMBER),
    ),
    rows_per_person=3,
)


def table(rows=400, seed=1):
    chance = np.random.default_rng(seed)
    return Table(
        pd.DataFrame(
            {
                "pid": [f"p{value}" for value in chance.integers(0, rows // 2, rows)],
                "name": [f"Name {value}" for value in range(rows)],
                "age": chance.integers(18, 90, rows).astype(float),
                "town": chance.choice(["8010", "8020", "1010", "?"], rows),
                "seen": pd.to_datetime("2020-01-01") + pd.to_timedelta(chance.integers(0, 700, rows), "D"),
                "result": chance.normal(size=rows),
            }
        )
    )


def made(given, rows=None, tmp_path=Path()):
    found = method(ID)
    request = found.request({"people": SCHEMA}, given)
    assert not found.problems(request), found.problems(request)
    context = Context(Noise(), ordinary_generator(), tmp_path)
    return found.run({"people": rows if rows is not None else table()}, request, context), request


@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("share", [0, 0.1])
def test_every_group_has_k_people(k, share, tmp_path):
    given = {"columns": ["age", "town", "seen", "result"], "k": k, "most_left_out": share}
    release, _ = made(given, tmp_path=tmp_path)
    frame, original = release.artefacts[0].frame, table().rows()
    # Results are all different here, so each released row is found again, and with it its person.
    owner = dict(zip(map(repr, map(float, original["result"])), original["pid"], strict=True))
    people = frame.assign(person=[owner[repr(float(value))] for value in frame["result"]])
    sizes = people.groupby(["age", "town", "seen"], dropna=False)["person"].nunique()
    assert sizes.min() >= k
    left = 1 - people["person"].nunique() / original["pid"].nunique()
    assert left <= share and release.inside.figures["smallest_group"] == sizes.min()


def test_order_names_and_missing_codes_do_not_leave(tmp_path):
    release, _ = made({"columns": ["town", "result"], "k": 2}, tmp_path=tmp_path)
    frame = release.artefacts[0].frame
    assert list(frame.columns) == ["town", "result"] and "?" not in set(frame["town"])
    same = [str(float(value)) for value in table().rows()["result"]]
    assert frame["result"].tolist() != same and sorted(frame["result"]) == sorted(same)
    assert list(frame.index) == list(range(len(frame)))


@pytest.mark.parametrize("rows", [0, 1, 20])
@pytest.mark.parametrize("columns", [["age"], ["age", "town", "seen", "result"]])
@pytest.mark.parametrize("recoding", method(ID).parameters[RECODING].choices)
def test_too_few_people_are_refused_in_words(recoding, columns, rows, tmp_path):
    from engine.errors import InputRefused
    from engine.texts import explain

    few = table(20).with_rows(table(20).rows().iloc[:rows])
    with pytest.raises(InputRefused) as caught:
        made({"columns": columns, "k": 30, "recoding": recoding}, few, tmp_path=tmp_path)
    assert "30" in explain(caught.value)[0]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"columns": ["result"], "k": 5}, f"{ID}.nothing_identifying"),
        ({"columns": ["age"], "k": 1}, "parameters.too_small"),
        ({"columns": ["age"]}, "parameters.unfilled"),
        ({"columns": ["pid", "age"], "k": 5}, "parameters.identifier"),
        ({"columns": ["name", "age"], "k": 5}, "parameters.identifier"),
    ],
)
def test_what_is_refused_from_declarations(given, code):
    found = method(ID)
    assert found.problems(found.request({"people": SCHEMA}, given))[0].code == code


def test_the_example_is_made_verified_and_true(tmp_path):
    plan = Plan.loads(EXAMPLE.read_text())
    ledger = Ledger(tmp_path / "ledger.sqlite")
    run(plan, out=tmp_path / "out", ledger=ledger, base=EXAMPLE.parent)
    assert verify(tmp_path / "out", ledger=ledger).passed
    frame = pd.read_csv(tmp_path / "out" / "release" / "table.csv", dtype=str, keep_default_na=False)
    assert frame.groupby(["age", "gender", "race"]).size().min() >= 11
    evidence = json.loads((tmp_path / "out" / "release" / "evidence.json").read_text())
    assert evidence["promise"]["kind"] == "k_anonymity" and evidence["promise"]["epsilon"] is None
