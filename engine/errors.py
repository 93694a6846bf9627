"""Errors for people: an id and named values, never a sentence and never a cell value."""

from __future__ import annotations

from typing import Any


class EngineError(Exception):
    """Something the person in front of the screen can act on.

    Parameters
    ----------
    code
        ``"area.name"``. The sentence stands in ``resources/texts/LANG/errors/AREA.toml`` under
        ``[name]`` with the keys ``what`` (where, what was found, what was expected) and ``do``.
    **values
        What the sentence names: file, row, column, counts, kinds. Never the content of a cell.

    Notes
    -----
    ``str(error)`` gives the code and the *names* of the values only, so that a log or a traceback cannot
    leak one of them. `engine.texts.explain` makes the sentence.
    """

    def __init__(self, code: str, **values: Any) -> None:
        self.code = code
        self.values = values
        super().__init__(code)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.code, self.values))

    def __str__(self) -> str:
        return f"{self.code} ({', '.join(sorted(self.values))})" if self.values else self.code


class InputRefused(EngineError):
    """What was given cannot be used: exit status 2 on the command line."""


class VerificationFailed(EngineError):
    """A bundle or a ledger is not what it says it is: exit status 1 on the command line."""


class Cancelled(Exception):
    """The person pressed Stop. Carries nothing: whether noise was drawn stands in the ledger."""


def _rebuild(kind: type[EngineError], code: str, values: dict[str, Any]) -> EngineError:
    return kind(code, **values)
