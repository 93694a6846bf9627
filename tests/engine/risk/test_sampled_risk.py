"""Privacy at risk on drawn pairs: the parts belong together, and the measured figure covers the exact one."""

from fractions import Fraction

import numpy as np
import pytest

from engine.errors import InputRefused
from engine.privacy.at_risk import mechanisms
from engine.privacy.at_risk.mechanisms import gaussian
from engine.privacy.noise import Noise
from engine.privacy.sampled_sensitivity import RecordOrigin, TablePopulation
from engine.risk.sampled_risk import Question, sampled_risk
from engine.texts import explain

COINS = TablePopulation(np.array([0.0, 1.0]), origin=RecordOrigin.PUBLIC)
SURE = 1 - 1e-6


def asked(*, population=COINS, query=np.sum, proved=1.0, **changes):
    given = {"quantile": 0.9, "tolerance": 0.02, "epsilon": Fraction(3, 5), "level": SURE}
    question = Question(2_000, 8, **(given | changes))
    return sampled_risk(query, population, question, generator=Noise().internal_generator(), proved=proved)


@pytest.mark.parametrize(
    ("mechanism", "given", "exact"),
    [
        ("laplace", {"epsilon0": Fraction(1)}, mechanisms.laplace(epsilon0=1).confidence(0.6)),
        (
            "discrete_laplace",
            {"epsilon0": Fraction(1)},
            mechanisms.discrete_laplace(epsilon0=1).confidence(0.6),
        ),
        ("gaussian", {"scale": Fraction(1)}, gaussian(scale=1).confidence(0.6)),
    ],
)
def test_measured_covers_the_exact_share(mechanism, given, exact):
    """Half of the pairs of coins differ by 1, and then the exact share of the mechanism applies."""
    found = asked(mechanism=mechanism, draws=20_000, **given)
    for measured in found.measured.values():
        one = measured.one_sided
        assert one.low <= 0.5 + 0.5 * exact <= one.high
        assert one.at_least <= one.share and measured.two_sided.share <= one.share


def test_theorem_5_stands_beside_the_measured_figure():
    found = asked(epsilon0=Fraction(1), draws=4_000)
    assert found.sensitivity == 1 and set(found.both) == {"known", "authors_heuristic"}
    assert found.both["known"].eta.value == 1 and found.both["known"].worst_level == 1
    assert found.both["authors_heuristic"].eta.value == pytest.approx(1.04)
    assert found.both["known"].exact_one_sided <= found.measured["sampled"].one_sided.high
    assert found.noise is not None and found.noise.epsilon == 1
    tree = found.to_json()
    assert tree["both"]["authors_heuristic"]["heuristic"] and tree["noise"]["guarantee"] == "pure_dp"
    assert asked(epsilon0=Fraction(1), draws=50, proved=None).noise.kind == "none"


def test_recalibration_gives_back_the_confidence():
    found = asked(confidence=Fraction(3, 10)).recalibrated["known"]
    back = asked(epsilon0=Fraction(repr(found.exact_one_sided)), draws=10).both["known"]
    assert back.exact_one_sided == pytest.approx(0.3)
    back = asked(epsilon0=Fraction(repr(found.printed)), draws=10).both["known"]
    assert back.printed == pytest.approx(0.3)


def test_private_rows_set_no_noise_and_stay_inside():
    private = TablePopulation(np.array([0.0, 1.0]), origin=RecordOrigin.PRIVATE)
    found = asked(population=private, epsilon0=Fraction(1), draws=50)
    assert found.noise is None and "noise" not in found.to_json()
    assert found.to_json()["audience"] == "internal" and asked().to_json()["audience"] == "public"


def test_a_query_that_never_moves():
    found = asked(query=len, proved=0.0, epsilon0=Fraction(1))
    assert found.sensitivity == 0 and not found.both and not found.measured and found.noise is None


def test_number_of_outputs_enters_the_printed_form():
    question = Question(500, 8, 0.9, 0.05, epsilon=Fraction(3, 5), epsilon0=Fraction(1), draws=10)
    printed = [
        sampled_risk(
            np.sum, COINS, question, generator=Noise().internal_generator(), proved=1.0, outputs=outputs
        )
        .both["known"]
        .printed
        for outputs in (1, 3)
    ]
    assert printed[0] / printed[1] == pytest.approx(0.713769 / 0.619541, rel=1e-5)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"mechanism": "exponential", "epsilon0": Fraction(1)}, "queries.mechanism"),
        ({"mechanism": "gaussian"}, "queries.scale"),
        ({"mechanism": "laplace", "scale": Fraction(1)}, "queries.scale"),
    ],
)
def test_refusals(given, code):
    with pytest.raises(InputRefused) as refused:
        asked(**given)
    assert refused.value.code == code and all(explain(refused.value))
