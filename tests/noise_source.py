"""Seeded randomness for tests only: the engine has no seed, and nothing in app or engine imports this."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from zlib import crc32

import numpy as np

from engine.privacy import noise
from engine.privacy.noise import Noise


def seeded_bytes(seed: int) -> Callable[[int], bytes]:
    """Return a fast, repeatable source of bytes (Philox, counter-based)."""
    return np.random.Generator(np.random.Philox(key=seed)).bytes


def seeded_noise(seed: int, **options: Any) -> Noise:
    """Return a noise door that draws the same numbers every time."""
    return Noise(seeded_bytes(seed), **options)


@contextmanager
def same_noise(name: str) -> Iterator[None]:
    """Have everything that draws from the computer's randomness draw what it always draws under this name.

    A test that fails by an unlucky draw would fail by chance, and for somebody else.
    """
    source = seeded_bytes(crc32(name.encode()))
    with (
        patch.object(Noise.__init__, "__defaults__", (source,)),
        patch.object(noise, "os", SimpleNamespace(urandom=source)),
    ):
        yield
