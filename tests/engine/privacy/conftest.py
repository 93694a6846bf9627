"""Seeded noise for the tests of this folder."""

from collections.abc import Callable

import pytest

from engine.privacy.noise import Noise
from tests.noise_source import seeded_noise


@pytest.fixture
def noise() -> Noise:
    """Return a noise door that draws the same numbers in every run."""
    return seeded_noise(20_201_208)


@pytest.fixture
def noise_of() -> Callable[..., Noise]:
    """Return the maker of seeded noise doors."""
    return seeded_noise
