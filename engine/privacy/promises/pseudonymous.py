"""Rows as they are, with pseudonyms in place of names."""

from __future__ import annotations

from engine.privacy.promise import PromiseKind, Status


class Pseudonymous(PromiseKind):
    """Names are replaced, values are not: personal data (GDPR, Article 4(5))."""

    id = "pseudonymous"
    bounded = False
    status = Status.PERSONAL
