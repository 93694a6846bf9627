"""Plausible deniability, where its randomised test gives a bound on the loss."""

from __future__ import annotations

from engine.privacy.promise import PromiseKind, Status


class PlausibleDeniability(PromiseKind):
    """Every released row could have come from k others. Bindschaedler, Shokri, Gunter 2017, theorem 1."""

    id = "plausible_deniability"
    bounded = True
    status = Status.BOUNDED
    terms = ("k", "gamma")
