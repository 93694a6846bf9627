"""A model as a service: labels alone protect nobody, noise in the fit does, and tables keep their bounds."""

import numpy as np
import pytest

from engine.analyses.catalogue import analysis, ask
from engine.analyses.model_service import STEPS, area, largest_area, table_errors


@pytest.mark.parametrize("step", STEPS)
def test_a_table_of_a_kernel_loses_what_is_said_at_most(step):
    lines, cubics = table_errors(step)
    assert step**2 / 8 * 0.9 < lines <= step**2 / 8  # attained as the step goes to 0
    assert cubics <= 5 / 128 * step**4


def test_the_area_is_that_of_all_pairs_and_its_bound_that_below_the_highest_curve():
    chance = np.random.default_rng(1)
    members, others = chance.integers(0, 5, 30).astype(float), chance.integers(0, 4, 20).astype(float)
    pairs = [(one > other) + (one == other) / 2 for one in members for other in others]
    assert area(members, others) == pytest.approx(np.mean(pairs))
    false = np.linspace(0, 1, 200_001)
    for epsilon, delta in ((1.0, 0.0), (1.0, 0.1), (0.3, 0.05), (0.0, 0.0)):
        right = np.minimum(np.exp(epsilon) * false + delta, 1 - np.exp(-epsilon) * (1 - delta - false))
        assert largest_area(epsilon, delta) == pytest.approx(
            np.trapezoid(np.minimum(right, 1), false), abs=1e-6
        )


def test_labels_alone_tell_who_was_in_it_as_scores_do_and_a_model_with_noise_does_not():
    """Areas of 30 runs of 200 people have a standard error of .005: three of them on either side."""
    found = ask(analysis("model_service"), {"people": 200, "runs": 30})
    told, right = found.figures["membership"], found.figures["right"]
    assert not found.stays
    assert told["labels"] > 0.63 and abs(told["labels"] - told["scores"]) < 0.03
    assert told["private"] < 0.56 and told["private"] < found.figures["bound"] < 0.74
    assert right["right_private"] > right["right_close"]
