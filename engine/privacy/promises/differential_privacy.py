"""Differential privacy: pure, with a small exception, and local."""

from __future__ import annotations

from engine.privacy.promise import PromiseKind, Status


class PureDifferentialPrivacy(PromiseKind):
    """Dwork and Roth (2014), definition 2.4 with δ = 0."""

    id = "pure_dp"
    bounded = True
    status = Status.BOUNDED


class ApproximateDifferentialPrivacy(PromiseKind):
    """Dwork and Roth (2014), definition 2.4."""

    id = "approximate_dp"
    bounded = True
    status = Status.BOUNDED


class LocalDifferentialPrivacy(PromiseKind):
    """Every answer is changed before anybody collects it. Kasiviswanathan et al. (2011), definition 2.2."""

    id = "local_dp"
    bounded = True
    status = Status.BOUNDED
    local = True
