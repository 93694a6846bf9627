"""What was copied from rows stays inside: missing codes as well as domains."""

from __future__ import annotations

from dataclasses import replace

from engine.methods.protocol import MAIN
from engine.release.plan import Plan
from engine.table.schema import Origin
from tests.engine.release.conftest import Runner


def test_missing_codes_seen_in_rows_stay_inside(run: Runner, plan: Plan) -> None:
    codes = {"sex": "-77", "ward": "-88"}
    schema = plan.schema
    for name, code in codes.items():
        origin = Origin.COPIED if name == "sex" else None
        schema = schema.with_column(replace(schema.column(name), missing=(code,), missing_origin=origin))
    made = run(schemas={MAIN: schema})
    left = "".join(path.read_text() for path in (made.folder / "release").glob("*.json"))
    assert codes["sex"] not in left and codes["ward"] in left
