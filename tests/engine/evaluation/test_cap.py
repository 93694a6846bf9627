"""The figures by cap as a measure: by hand, inside only, and only where people have several rows."""

import pytest

from engine.evaluation.cap import ID
from engine.evaluation.catalogue import measure
from engine.evaluation.protocol import Audience
from engine.numbers import brief
from tests.engine.evaluation.conftest import CAPPED, PANEL


def test_rows_and_the_mean_by_cap(made):
    context = made("statistics.means", rows=PANEL, schema=CAPPED)
    found = measure(ID).evaluate(context)
    left_out, kept, shifts = found.views
    assert left_out.value == 1
    assert [row[1:] for row in kept.rows][:3] == [(3, 3, 50.0), (5, 1, 16.7), (6, 0, 0.0)]
    assert [row[0].id.rpartition(".")[2] for row in kept.rows][:3] == ["row", "chosen", "row"]
    assert found.figures["rows"] == 6
    stay = next(row for row in shifts.rows if row[0].values["column"] == "stay")
    all_rows, capped = (1 + 3 + 5 + 2.5 + 14 + 7) / 6, ((1 + 3 + 5) * 2 / 3 + 2.5 + 14 + 7) / 5
    exact = next(one for one in found.figures["shifts"] if one["column"] == "stay")
    assert [exact["uncapped"], exact["by_cap"][2]] == pytest.approx([all_rows, capped], rel=1e-9)
    assert stay[1:] == tuple(brief(number) for number in (all_rows, capped, capped - all_rows))


def test_it_stays_inside_and_needs_people_with_several_rows(made):
    assert measure(ID).audience is Audience.INTERNAL
    assert not measure(ID).applies(made().subject)
    assert measure(ID).applies(made(rows=PANEL, schema=CAPPED).subject)
