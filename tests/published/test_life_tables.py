"""Published life tables from their own counts: the actuarial method, and that of Kaplan and Meier.

Cutler and Ederer (1958), table 1: 126 men with cancer of the kidney, five years of follow-up. Freireich and
others (1963), as in Kalbfleisch and Prentice (2002), table 1.1, and Cox (1972): weeks of remission of 42
people with leukaemia, 21 of whom had 6-mercaptopurine.
"""

import numpy as np
import pandas as pd
import pytest

from engine.methods.catalogue import method
from engine.methods.protocol import MAIN
from engine.methods.statistics.life_table import life_table
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema

DIED, LOST, WITHDRAWN = (47, 5, 2, 2, 0), (4, 6, 0, 2, 0), (15, 11, 15, 7, 6)
ALIVE = (126, 60, 38, 21, 10)
DEATHS_OF_100, ALIVE_OF_100 = (40, 10, 7, 12, 0), (60, 54, 50, 44, 44)

DRUG = {6: (3, 1), 7: (1, 0), 9: (0, 1), 10: (1, 1), 11: (0, 1), 13: (1, 0), 16: (1, 0), 17: (0, 1)}
DRUG |= {19: (0, 1), 20: (0, 1), 22: (1, 0), 23: (1, 0), 25: (0, 1), 32: (0, 2), 34: (0, 1), 35: (0, 1)}
REMISSION = {6: 0.857, 7: 0.807, 10: 0.753, 13: 0.690, 16: 0.627, 22: 0.538, 23: 0.448}
PLACEBO = (1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23)


def test_cutler_and_ederer():
    left = np.add(LOST, WITHDRAWN)
    counts = np.stack([DIED, left], axis=1)[None]
    found = life_table(counts, np.array([4]), leaving=0.5)
    assert found.at_risk[0].tolist() == list(ALIVE)
    hazard = 1 - found.share[0] / np.array([1, *found.share[0, :-1]])
    assert (100 * hazard).round().tolist() == list(DEATHS_OF_100)
    assert (100 * found.share[0]).round().tolist() == pytest.approx(ALIVE_OF_100)


def table(lines):
    """Return the life table of weeks and endings, by the method's own cells, a week an interval."""
    schema = Schema(
        (
            Column("weeks", Role.OTHER, Kind.INTEGER),
            Column("ended", Role.OTHER, Kind.CATEGORY, Domain(values=("relapse", "no")), Origin.DECLARED),
        )
    )
    chosen = {"time": "weeks", "edges": list(range(37)), "event": "ended", "happened": [{"value": "relapse"}]}
    way = method("statistics.life_table")
    design = way(way.make_request({MAIN: schema}, {**chosen, "leaving": "whole"}))
    frame = pd.DataFrame(lines, columns=["weeks", "ended"])
    return design.survival(design.cells.count(design.cells.codes(frame)))


def test_remission_under_mercaptopurine():
    found = table(
        [(week, end) for week, (came, left) in DRUG.items() for end in ["relapse"] * came + ["no"] * left]
    )
    assert found.at_risk[0, 0] == 21 and found.events.sum() == 9
    assert {week: round(float(found.share[0, week]), 3) for week in REMISSION} == REMISSION


def test_remission_under_placebo():
    """Nobody left: it is the share whose remission lasted longer."""
    found = table([(week, "relapse") for week in PLACEBO])
    for week in range(24):
        assert found.share[0, week] == pytest.approx(sum(one > week for one in PLACEBO) / 21)
