"""Risk before and after: figures of small tables by hand, and what does not apply."""

import numpy as np
import pandas as pd
import pytest

from engine.evaluation.protocol import Private
from engine.evaluation.risk_after import RiskAfter, _alone_by_all
from engine.methods.catalogue import method
from engine.methods.protocol import Release, TableArtefact
from engine.privacy.promise import Promise, Unit
from engine.report.words import word
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from engine.views import Text

SCHEMA = Schema(
    (
        Column("age", Role.IDENTIFYING, Kind.INTEGER),
        Column("ill", Role.SENSITIVE, Kind.CATEGORY),
        Column("pay", Role.SENSITIVE, Kind.INTEGER, missing=("0",)),
    )
)
BEFORE = pd.DataFrame({"age": [31, 38, 44, 47, 59], "ill": list("aabba"), "pay": [9, 10, 11, 0, 9]})
AFTER = pd.DataFrame(
    {"age": ["30", "30", "40", "40"], "ill": list("aabb"), "pay": ["9", "10", "11", ""]}, dtype="str"
)


def measured(after=AFTER, method_id="datasets.k_anonymity"):
    found = method(method_id)
    request = found.make_request({"people": SCHEMA}, {"columns": ["age", "ill", "pay"], "k": 2})
    promise = Promise("none", None, Unit.ROW, 1)
    subject = found(request)
    release = Release((TableArtefact("table", (after,), ()),), promise)
    table = Table(BEFORE)
    measure = RiskAfter()
    return measure.evaluate(Private(subject, table, SCHEMA, table, release).only(measure.needs))


def test_both_tables_by_hand():
    found = measured().figures
    original, released = found["original"], found["released"]
    assert (original["rows"], original["alone"], original["smallest"], original["average"]) == (5, 5, 1, 1)
    assert (released["rows"], released["alone"], released["smallest"], released["average"]) == (4, 0, 2, 0.5)
    assert original["sensitive"]["ill"]["known"] == 5 and released["sensitive"]["ill"]["known"] == 4
    # q = (1, 0) in one group and (0, 1) in the other, p = (½, ½)
    assert released["sensitive"]["ill"]["distance"] == pytest.approx(0.5)
    assert released["sensitive"]["ill"]["gain"] == pytest.approx(1)


def test_two_spellings_of_a_value_are_one_that_is_known():
    found = measured(AFTER.assign(ill=["a", "A", "b", "b"])).figures["released"]["sensitive"]["ill"]
    assert (found["distinct"], found["known"]) == (1, 4)


def test_numbers_that_became_text_keep_their_order():
    """Pay 9, 10, 11 and one missing, ¼ each; the group (9, 10) is (¼ + ½ + ¼) / 3 away."""
    assert measured().figures["released"]["sensitive"]["pay"]["distance"] == pytest.approx(1 / 3)


def test_without_an_identifying_column_it_says_who_is_alone_by_what_leaves():
    (card,) = measured(AFTER[["ill", "pay"]]).views
    assert card.title.id.endswith("alone_by_all.label") and card.value == 4


def test_the_first_card_counts_all_that_leaves_and_not_the_marked_columns_alone():
    """By age everybody is with another one; by age and pay each is alone."""
    found = measured()
    assert found.figures["released"]["alone"] == 0
    assert (found.figures["alone_by_all"], found.figures["people_released"]) == (4, 4)
    card = found.views[0]
    assert card.title.id.endswith("alone_by_all.label") and (card.value, card.unit) == (4, "/ 4")
    assert "all values that leave, whatever was marked" in word(Text(f"{card.three.id}.what"), "en")


@pytest.mark.parametrize(("linked", "alone"), [(True, 2), (False, 1)])
def test_linked_rows_are_counted_as_sets(linked, alone):
    """1 has a and b, 2 and 3 have a, 4 and 5 have b, 6 has c: its row tells 6, and the pair tells 1 too."""
    released = pd.DataFrame({"x": list("abaabbc")})
    found = _alone_by_all(released, np.array([1, 1, 2, 3, 4, 5, 6]), linked=linked)
    assert found == {"alone_by_all": alone, "people_released": 6}


def test_it_is_about_rows_of_people_alone():
    request = method("statistics.counts").make_request({"people": SCHEMA}, {})
    assert not RiskAfter().applies(method("statistics.counts")(request))
    assert RiskAfter().applies(method("datasets.k_anonymity")(request))


def test_people_with_several_rows_are_counted_once_and_as_sets():
    """30: two people, 40: two people; but the one has both, and both others only one."""
    schema = Schema((Column("pid", Role.PERSON_KEY), *SCHEMA.columns), rows_per_person=2)
    found = method("datasets.k_anonymity")
    request = found.make_request({"people": schema}, {"columns": ["age"], "k": 2})
    promise = Promise("none", None, Unit.PERSON, 2)
    table = Table(pd.DataFrame({"pid": list("aabcd"), "age": [31, 44, 38, 47, 59]}))
    after, origins = pd.DataFrame({"age": ["40", "30", "30", "40"]}, dtype="str"), np.array([3, 2, 0, 1])
    release = Release((TableArtefact("table", (after,), (), origins),), promise)
    private = Private(found(request), table, schema, table, release)
    figures = RiskAfter().evaluate(private.only(RiskAfter.needs)).figures
    assert (figures["released"]["smallest_once"], figures["released"]["smallest_set"]) == (2, 1)
    assert (figures["original"]["smallest_once"], figures["original"]["smallest_set"]) == (1, 1)
    assert "smallest_set" not in measured().figures["released"]
