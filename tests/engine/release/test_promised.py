"""What the guarantee says is what ran: unit, key, cap, declarations and reading."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from engine import texts
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.catalogue import method
from engine.release import promised, reading
from engine.release.check import check
from engine.release.plan import Plan
from engine.release.reading import PreparedTable
from engine.release.run import run
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from engine.table.table import Table
from tests.engine.adversarial.requests import COLUMNS, KEY, ROWS, plan_for, table

RECODE = {"step": "recode", "column": "person", "map": {"7": "8"}}
REMADE = {
    "recoded": RECODE,
    "recoded, others dropped": {**RECODE, "others": "missing"},
    "recoded under its own name": {**RECODE, "to": "person"},
    "recoded by a list": {"step": "recode", "column": "person", "file": "map.csv"},
    "in bands": {"step": "bands", "column": "person", "edges": [0, 10, 20]},
    "an age": {"step": "age_at", "column": "person", "date": "2020-01-01"},
    "made of another column": {"step": "recode", "column": "sex", "map": {"f": "1"}, "to": "person"},
    "bands of another column": {"step": "bands", "column": "score", "edges": [0, 1, 2], "to": "person"},
}


@pytest.mark.parametrize("label", REMADE)
def test_no_step_makes_or_changes_who_is_who(label: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    (tmp_path / "map.csv").write_text("7,8\n")
    ledger = Ledger(tmp_path / "ledger.sqlite")
    plan = plan_for("counts", cap=1, preparation=(REMADE[label],))
    for refusing in (
        lambda: check(plan),
        lambda: reading.read(plan, base=tmp_path),
        lambda: run(plan, out=tmp_path / "out", ledger=ledger, base=tmp_path),
    ):
        with pytest.raises(InputRefused) as refused:
            refusing()
        assert refused.value.code == "preparation.person_key"
        assert all(texts.explain(refused.value))
    assert not ledger.holdings() and not (tmp_path / "out").exists()


def test_a_column_made_from_the_key_is_no_key(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    plan = plan_for("counts", cap=1, preparation=({**RECODE, "to": "group"},))
    prepared = reading.read(plan, base=tmp_path)
    assert prepared.schema.person_key == KEY
    assert prepared.schema.column("group").role is Role.DIRECT_IDENTIFIER
    assert reading.person_keys(prepared.table, prepared.schema).unique().to_pylist() == ["1", "2", "3", "4"]


def test_two_keys_are_refused() -> None:
    columns = (KEY, Column("other", Role.PERSON_KEY), *COLUMNS)
    with pytest.raises(InputRefused, match=r"plan\.two_keys"):
        check(plan_for("counts", schemas={"people": Schema(columns)}))


def test_a_condition_on_a_column_that_nobody_recognised_is_refused() -> None:
    plan = plan_for(
        "counts", preparation=({"step": "keep_rows_where", "column": "score", "is": "at_least", "value": 1},)
    )
    check(plan)
    unknown = replace(plan.schema.column("score"), role=Role.NOT_RECOGNISED)
    with pytest.raises(InputRefused, match=r"plan\.not_recognised"):
        check(plan.with_schema(plan.schema.with_column(unknown)))


BANDS = {"step": "bands", "column": "score", "edges": [-2, 0, 3]}


def test_the_method_and_the_evidence_see_the_same_declarations(tmp_path: Path) -> None:
    """A column that a step replaces is declared by the step: for the check, the method and the evidence."""
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    plan = plan_for("counts", parameters={"columns": ["score"]}, preparation=(BANDS,))
    request = check(plan).request
    assert request.schema.column("score").domain == Domain(values=("[-2-0)", "[0-3)"))
    prepared = reading.read(plan, base=tmp_path)
    assert prepared.schema == request.schema
    counted = method(plan.method)(request).cells  # type: ignore[attr-defined]
    assert counted.count(counted.codes(prepared.table.rows())).tolist() == [1, 3, 1]


def test_what_the_custodian_declared_about_a_new_column_stays(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    own = Column(
        "band",
        Role.SENSITIVE,
        Kind.CATEGORY,
        Domain(values=("[0-3)",)),
        Origin.DECLARED,
        labels={"[0-3)": "+"},
    )
    plan = plan_for(
        "counts",
        schemas={"people": Schema((*COLUMNS, own))},
        parameters={"columns": ["band"]},
        preparation=({**BANDS, "to": "band"},),
    )
    assert check(plan).request.schema.column("band") == own
    assert reading.read(plan, base=tmp_path).schema.column("band") == own


def prepared_for(plan: Plan, folder: Path) -> PreparedTable:
    (folder / "people.csv").write_bytes(table(ROWS))
    return reading.read(plan, base=folder)


def refused_part(plan: Plan, prepared: PreparedTable, **changes: object) -> str:
    design = check(plan)
    with pytest.raises(InputRefused) as refused:
        other = type("Other", (type(design),), {"cost": replace(design.cost, **changes)})(design.request)
        promised.refuse_other(plan, other, {"people": prepared})
    assert refused.value.code == "run.not_as_promised"
    return str(refused.value.values["part"])


def test_every_difference_from_the_promise_is_noticed(tmp_path: Path) -> None:
    plan = plan_for("counts", cap=2)
    prepared, design = prepared_for(plan, tmp_path), check(plan)
    promised.refuse_other(plan, design, {"people": prepared})
    rowwise = check(plan_for("counts")).cost
    assert refused_part(plan, prepared, unit=rowwise.unit) == "unit"
    assert refused_part(plan, prepared, rows_per_person=1) == "rows_per_person"
    assert refused_part(plan, replace(prepared, schema=Schema(COLUMNS, 2))) == "schema"
    keyless = prepared.table.with_rows(prepared.table.rows().drop(columns="person"))
    assert refused_part(plan, replace(prepared, table=keyless)) == "person_key"
    numeric = prepared.table.with_rows(prepared.table.rows().assign(person=1.5))
    assert refused_part(plan, replace(prepared, table=numeric)) == "person_key"
    guessed = replace(prepared.options, thousands=",")
    assert refused_part(plan, replace(prepared, options=guessed)) == "options"


def test_somebody_above_the_cap_is_noticed() -> None:
    schema = plan_for("counts", cap=2).request.schema
    for keys, fits in (
        (["1", "1", "2"], True),
        ([], True),
        (["1", "1", "1"], False),
        (["1", None], False),
    ):
        rows = Table(pd.DataFrame({"person": pd.Series(keys, dtype="str")}))
        if fits:
            promised.refuse_uncapped(schema, rows)
        else:
            with pytest.raises(InputRefused, match=r"run\.not_as_promised"):
                promised.refuse_uncapped(schema, rows)


def test_a_run_stops_when_the_cap_did_not_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    monkeypatch.setattr(reading.contribution, "keep_rows", lambda codes, **_: codes >= 0)
    with pytest.raises(InputRefused, match=r"run\.not_as_promised"):
        run(plan_for("counts", cap=1), out=tmp_path / "out", ledger=ledger, base=tmp_path)
    assert not (tmp_path / "out").exists()
