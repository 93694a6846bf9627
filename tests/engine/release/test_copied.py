"""What was copied from rows stays inside: missing codes as well as domains."""

from __future__ import annotations

from dataclasses import replace

from engine.methods.protocol import MAIN
from engine.release.plan import Plan
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Origin
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


def test_trees_and_labels_of_values_that_nobody_declared_stay_inside() -> None:
    tree = Hierarchy.from_json({"tree": {"rare": ["any"], "usual": ["any"]}}, column="c")
    labels = {"rare": "a rare one", "usual": "the usual one"}
    open_ = Column("c", hierarchy=tree, labels=labels).without_copied()
    assert open_.hierarchy is None and open_.labels == {}
    part = Column(
        "c", domain=Domain(values=("usual",)), domain_origin=Origin.DECLARED, hierarchy=tree, labels=labels
    )
    assert part.without_copied().hierarchy is None and part.without_copied().labels == {
        "usual": "the usual one"
    }
    whole = Column(
        "c", domain=Domain(values=("usual", "rare")), domain_origin=Origin.DECLARED, hierarchy=tree
    )
    assert whole.without_copied().hierarchy == tree
    bands = Hierarchy.from_json({"bands": [5, 10]}, column="c")
    assert Column("c", hierarchy=bands).without_copied().hierarchy == bands
