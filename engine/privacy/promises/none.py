"""No formal guarantee."""

from __future__ import annotations

from engine.privacy.promise import PromiseKind, Status


class NoPromise(PromiseKind):
    """Nothing bounds what can be learnt about one person."""

    id = "none"
    bounded = False
    status = Status.PERSONAL
