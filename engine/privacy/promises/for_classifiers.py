"""Rows with noise for a classifier: made to be learnt from, and nothing is bounded."""

from __future__ import annotations

from engine.privacy.promise import PromiseKind, Status


class ForClassifiers(PromiseKind):
    """Values were changed at random, classes were not. Farokhi 2021."""

    id = "for_classifiers"
    bounded = False
    status = Status.PERSONAL
