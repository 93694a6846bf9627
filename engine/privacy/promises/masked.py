"""Masked rows: what was done is known, and nothing is bounded."""

from __future__ import annotations

from engine.privacy.promise import PromiseKind, Status


class Masked(PromiseKind):
    """Declared steps were taken on columns of real rows. Hundepool et al. 2012, chapter 3."""

    id = "masked"
    bounded = False
    status = Status.PERSONAL
