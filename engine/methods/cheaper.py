"""Cheaper: another way to what a step of a service asks, before it is paid for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from engine.views import Text


@dataclass(frozen=True)
class Cheaper:
    """Another way to what a step asks, found from its questions and the state alone.

    Parameters
    ----------
    said
        What it is.
    epsilon
        What the step then takes.
    given
        The parameters of that step, as JSON values; None where nothing is left to be asked.
    """

    said: Text
    epsilon: Fraction
    given: Mapping[str, Any] | None = None
