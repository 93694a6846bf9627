"""What tests of tables that are held in several ways share."""

from __future__ import annotations

import numpy as np
import pytest

from engine.privacy.noise import Noise


@pytest.fixture
def same_lots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the lots of the cap take nothing from the noise: each way of holding rows draws other ones."""
    lots = np.random.Generator(np.random.Philox(key=1))
    monkeypatch.setattr(
        Noise, "random_keys", lambda noise, count: lots.integers(1 << 63, size=count).astype("u8")
    )
