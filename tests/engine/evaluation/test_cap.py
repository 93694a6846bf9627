"""The figures by cap as a measure: by hand, inside only, and only where people have several rows."""

from engine.evaluation.cap import ID
from engine.evaluation.catalogue import measure
from engine.evaluation.protocol import Audience
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
    assert [round(number, 9) for number in stay[1:]] == [
        round(number, 9) for number in (all_rows, capped, capped - all_rows)
    ]


def test_it_stays_inside_and_needs_people_with_several_rows(made):
    assert measure(ID).audience is Audience.INTERNAL
    assert not measure(ID).applies(made().subject)
    assert measure(ID).applies(made(rows=PANEL, schema=CAPPED).subject)
