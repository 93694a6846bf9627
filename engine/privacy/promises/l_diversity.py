"""l-diverse buckets: a property of the released tables, no bound on what can be learnt."""

from __future__ import annotations

from engine.privacy.promise import PromiseKind, Status


class LDiversity(PromiseKind):
    """No sensitive value stands twice in a bucket of at least l rows. Xiao and Tao 2006, definition 3."""

    id = "l_diversity"
    bounded = False
    status = Status.PERSONAL
    terms = ("l", "sensitive")
