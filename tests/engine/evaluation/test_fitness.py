"""Whether a table fits a release: from declarations, with remedies, and right where it can be counted."""

from fractions import Fraction

import pytest

from engine import texts
from engine.evaluation.fitness import Weight, fitness
from engine.methods.catalogue import method, methods
from engine.methods.protocol import Budget
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema

COUNTS = method("statistics.counts")


def category(name, levels):
    values = tuple(f"v{place}" for place in range(levels))
    return Column(name, kind=Kind.CATEGORY, domain=Domain(values=values), domain_origin=Origin.DECLARED)


def request(columns, *, epsilon="1", cap=1, names=None):
    schema = Schema((*columns, Column("p", Role.PERSON_KEY)), rows_per_person=cap)
    names = [column.name for column in columns] if names is None else names
    return COUNTS.make_request({"people": schema}, {"columns": names}, budget=Budget(Fraction(epsilon)))


def judged(columns, *, people, **more):
    names = [column.name for column in columns]
    return fitness(COUNTS(request(columns, **more)), people=people, columns=names)


def is_unfit(found):
    return any(remark.weight is Weight.UNFIT for remark in found.remarks)


def codes(found):
    return [remark.code for remark in found.remarks]


def test_a_table_that_fits_gets_no_remark():
    found = fitness(COUNTS(request([category("a", 2), category("b", 3)])), people=10_000)
    assert found.remarks == () and not is_unfit(found) and found.useful_cells == 1.0


def test_176_people_with_80_columns_are_refused_with_three_remedies():
    found = judged([category(f"c{i}", 3) for i in range(80)], people=176)
    assert is_unfit(found) and codes(found)[0] == "few_people"
    assert len(found.remarks[0].remedies) == 3


def test_more_than_200_columns():
    found = judged([category(f"c{i}", 2) for i in range(210)], people=10**6)
    assert "many_columns" in codes(found) and len(found.remarks[0].remedies) == 3


def test_too_many_cells_are_counted_as_they_are():
    asked = request([category("a", 40), category("b", 40)])
    found = fitness(COUNTS(asked), people=1000)
    remark = next(one for one in found.remarks if one.code == "few_per_cell")
    counted = COUNTS(asked).forecast.counted
    assert remark.values["cells"] == counted.cells >= 40 * 40
    most = 1000 // (int(counted.limit) + 1)
    assert remark.values["useful"] == most and found.useful_cells == pytest.approx(most / counted.cells)
    # So many people, and not one fewer step, lift half of the cells above the margin
    enough = remark.values["enough"]
    assert "few_per_cell" not in codes(fitness(COUNTS(asked), people=enough))
    assert "few_per_cell" in codes(fitness(COUNTS(asked), people=int(enough * 0.98)))


def test_a_higher_level_is_a_remedy_that_helps():
    columns = [category("a", 30), category("b", 10)]
    low = fitness(COUNTS(request(columns, epsilon="1/10")), people=3000)
    high = fitness(COUNTS(request(columns, epsilon="2")), people=3000)
    assert is_unfit(low) and not is_unfit(high)
    assert low.useful_cells < high.useful_cells


def test_a_column_with_more_values_than_people_can_fill():
    found = fitness(COUNTS(request([category("postcode", 900)])), people=2000)
    remark = next(one for one in found.remarks if one.code == "many_levels")
    assert remark.values["column"] == "postcode" and remark.weight is Weight.CARE


def test_several_rows_of_a_person_cost_error():
    columns = [category("a", 2)]
    found = fitness(COUNTS(request(columns, cap=5)), people=100_000)
    remark = next(one for one in found.remarks if one.code == "many_rows_each")
    assert remark.values["limit"] > 4 * remark.values["single"]
    assert "many_rows_each" not in codes(fitness(COUNTS(request(columns)), people=100_000))


def test_free_text():
    found = judged([Column("note", kind=Kind.TEXT), category("a", 2)], people=5000)
    assert codes(found) == ["wide_text"] and is_unfit(found)


def test_without_declared_people_only_what_the_columns_say():
    found = fitness(COUNTS(request([category("a", 2)])), people=None)
    assert found.remarks == () and found.useful_cells is None


def test_every_remark_and_remedy_has_its_sentence():
    cases = [
        judged([category("a", 900), Column("note", kind=Kind.TEXT)], cap=3, people=9),
        judged([category("a", 900), category("b", 9)], cap=3, people=90),
        judged([category(f"c{i}", 2) for i in range(210)], people=10**6),
    ]
    seen = {remark.code: remark for found in cases for remark in found.remarks}
    base = "evaluation.fitness."
    written = {name.removeprefix(base) for name in texts.catalogue() if name.startswith(base)}
    assert set(seen) == {name for name in written if not name.startswith("remedies.")}
    for remark in seen.values():
        assert texts.text(f"{base}{remark.code}", **remark.values)
        assert all(texts.text(f"{base}remedies.{name}") for name in remark.remedies)
    said = {name for remark in seen.values() for name in remark.remedies}
    assert said == {name.removeprefix("remedies.") for name in written if name.startswith("remedies.")}


@pytest.mark.parametrize("one", methods(), ids=lambda one: one.id)
def test_whatever_cannot_be_used_is_not_looked_at(one):
    schemas = {source.name: Schema((category("a", 2),)) for source in one.sources}
    asked = one.make_request(schemas, {"columns": "a", "no_such": [1]})
    assert fitness(one(asked), people=100).remarks is not None


@pytest.mark.parametrize("study", ["", "custos-study-1\n", "no study", 7, None])
def test_a_share_of_a_study_that_cannot_be_read_uses_nothing(study):
    """A design is asked what it uses while its form is filled in, whatever stands in it by then."""
    share = method("exchanges.share")
    design = share(share.make_request({"people": Schema((category("a", 2),))}, {"study": study, "site": "A"}))
    assert design.problems and design.uses == {}
    assert fitness(design, people=100).remarks == ()
