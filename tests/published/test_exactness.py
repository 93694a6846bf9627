"""Exact arithmetic beside floating point: `exactness.md` holds the whole tables."""

import pytest

from tests.peers.model_tables import adult, wine
from tests.published.exactness import additive, linear, qualities, seconds
from tests.ratios import slack

GOAL = 1.2
"""Exact arithmetic is to cost at most so many times a twin's CPU time; `exactness.md` says what is found."""
FAR = 2.0
"""What is asserted of one short measurement: times of single fits are restless."""
LOST = 0.002


@pytest.mark.parametrize("fits_of, load", [(additive, adult), (linear, wine)])
def test_with_the_same_noise_nothing_is_lost_to_floating_point(fits_of, load):
    case = load()
    fits = fits_of(case, 0)
    del fits["twin"]
    found = qualities(case, fits, 0, 1)
    for measure, value in found["exact"].items():
        assert value == pytest.approx(found["twin, exact draws"][measure], abs=LOST)


@pytest.mark.slow
def test_accuracy_and_time_of_exact_steps():
    """Noise of its own for each: the mean of several draws, as one draw moves the accuracy by about .001."""
    case = adult()
    fits = additive(case, 0)
    del fits["twin, exact draws"]
    found = qualities(case, fits, 0, 10)
    assert found["exact"]["accuracy"] >= found["twin"]["accuracy"] - LOST
    assert found["exact"]["area"] >= found["twin"]["area"] - LOST


@pytest.mark.slow
@pytest.mark.benchmark
def test_time_of_whole_numbers_stays_near_that_of_doubles():
    fits = additive(adult(), 0)
    own = seconds(fits, 3)
    ratio = own["exact"] / own["twin, exact draws"]
    print(f"whole numbers over doubles: {ratio:.2f}, goal {GOAL}")
    assert ratio < FAR * GOAL * slack()
