"""Seeded randomness for tests only: the engine has no seed, and nothing in app or engine imports this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.privacy.noise import Noise


def seeded_bytes(seed: int) -> Callable[[int], bytes]:
    """Return a fast, repeatable source of bytes (Philox, counter-based)."""
    return np.random.Generator(np.random.Philox(key=seed)).bytes


def seeded_noise(seed: int, **options: Any) -> Noise:
    """Return a noise door that draws the same numbers every time."""
    return Noise(seeded_bytes(seed), **options)
