"""A plan that was checked, as everything after the check sees it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.evaluation.protocol import Subject
from engine.methods.protocol import Method, Request, Source
from engine.privacy.promise import Promise


@dataclass(frozen=True)
class Checked:
    """A plan whose declarations hold together: its method, what the method sees, and what it costs."""

    method: Method
    request: Request
    promise: Promise

    @property
    def sources(self) -> tuple[Source, ...]:
        """What the release, or the step of a service, reads."""
        return self.method.reads(self.request.step)

    @property
    def subject(self) -> Subject:
        """The same for measures."""
        return Subject(self.method, self.request, self.promise)
