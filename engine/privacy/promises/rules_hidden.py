"""Rows in which declared rules are not found, and nothing about a person is bounded."""

from __future__ import annotations

from engine.privacy.promise import PromiseKind, Status


class RulesHidden(PromiseKind):
    """Association rules below declared thresholds. Verykios et al. 2004."""

    id = "rules_hidden"
    bounded = False
    status = Status.PERSONAL
