"""What was copied from rows stays inside: missing codes as well as domains."""

from __future__ import annotations

from dataclasses import replace

from engine.methods.protocol import MAIN
from engine.release.check import check
from engine.release.foreseen import columns_told
from engine.release.plan import Plan
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin
from tests.engine.release.conftest import Runner


def test_what_is_declared_and_has_no_part_in_a_release_stays_inside(run: Runner, plan: Plan) -> None:
    """Missing codes, labels of what is no value, the people's keys, and what a step alone looks at."""
    secrets = [f"Ada Secret {place}" for place in range(8)]
    key, sex, ward, stay = (plan.schema.column(name) for name in ("patient", "sex", "ward", "stay"))
    of_people, of_step = Domain(values=(secrets[0],)), Domain(values=("3", "4", secrets[1]))
    schema = plan.schema
    for changed in (
        replace(key, kind=Kind.CATEGORY, domain=of_people, domain_origin=Origin.DECLARED),
        replace(sex, missing=(secrets[2],), missing_origin=Origin.COPIED, labels={"f": "a woman"}),
        replace(ward, missing=(secrets[3],), labels={secrets[4]: "north"}),
        replace(stay, kind=Kind.CATEGORY, domain=of_step, missing=(secrets[5],), labels={"3": secrets[6]}),
    ):
        schema = schema.with_column(changed)
    key = schema.column("patient")
    schema = schema.with_column(replace(key, labels={secrets[0]: secrets[7]}, meaning="who it is"))
    step = {"step": "keep_rows_where", "column": "stay", "is": "not_in", "values": [secrets[1]]}
    made = run(schemas={MAIN: schema}, preparation=(step,))
    left = "".join(path.read_text() for path in (made.folder / "release").glob("*.json"))
    assert [secret for secret in secrets if secret in left] == []
    assert "a woman" in left and "who it is" in left
    stays = (made.folder / "internal" / "evidence.json").read_text()
    assert all(secret in stays for secret in secrets)


def test_labels_beside_a_code_list_stay_inside(plan: Plan) -> None:
    column = replace(
        plan.schema.column("ward"),
        domain=Domain(code_list="yes_no"),
        domain_origin=Origin.CODE_LIST,
        labels={"Yes": "it is so", "Ada": "Ada Secret"},
    )
    changed = replace(plan, schemas={MAIN: plan.schema.with_column(column)})
    told = columns_told(changed, check(changed), MAIN)
    assert [line.get("labels") for line in told if line["name"] == "ward"] == [{"Yes": "it is so"}]


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
