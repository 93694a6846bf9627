"""Asks the measures and keeps their answers apart: what may leave, and what stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from engine.errors import Cancelled, EngineError
from engine.evaluation.protocol import (
    InternalMeasure,
    InternalMeasured,
    Measured,
    Private,
    PublicMeasure,
    PublicMeasured,
    Released,
)
from engine.memory import give_back
from engine.progress import Progress
from engine.table.table import Held
from engine.views import Text, TextView, View

Answer = TypeVar("Answer", PublicMeasured, InternalMeasured)


@dataclass(frozen=True)
class Evaluation:
    """The answers of all measures by their ids: ``public`` may leave, ``internal`` stays."""

    public: Mapping[str, PublicMeasured] = field(default_factory=dict)
    internal: Mapping[str, InternalMeasured] = field(default_factory=dict)


def views(answers: Mapping[str, Measured], *, without: Sequence[str] = ()) -> tuple[View, ...]:
    """Return what is drawn, measure after measure."""
    return tuple(view for name, answer in answers.items() if name not in without for view in answer.views)


def figures(answers: Mapping[str, Measured]) -> dict[str, Any]:
    """Return the figures of every measure by its id."""
    return {name: answer.figures for name, answer in answers.items()}


def evaluate(measures: Sequence[PublicMeasure | InternalMeasure], context: Private) -> Evaluation:
    """Ask measures about a finished release.

    Parameters
    ----------
    measures
        As `engine.evaluation.catalogue.choose_measures` returns them.
    context
        Everything; each measure gets what it declares, a public one only the part without private rows.

    Returns
    -------
    Evaluation
        A measure that fails says so in its answer: the release has been paid for and is not lost over it. So
        does one that needs all rows of a table that memory does not hold.

    Raises
    ------
    Cancelled
        Stop was pressed.

    Notes
    -----
    The release is finished by now. Nothing that a measure answers can change it.
    """
    public: dict[str, PublicMeasured] = {}
    internal: dict[str, InternalMeasured] = {}
    for place, one in enumerate(measures):
        context.progress.step(place / len(measures), "run.evaluating")
        progress = _only_stage(context.progress.part(place / len(measures), (place + 1) / len(measures)))
        if isinstance(one, PublicMeasure):
            released = Released(context.subject, context.release, progress)
            public[one.id] = _ask(one.evaluate, released, PublicMeasured)
        elif one.asks_rows and isinstance(context.used, Held):
            said = TextView(Text("evaluation.not_asked.title"), (Text("evaluation.not_asked.what"),))
            internal[one.id] = InternalMeasured((said,), {"not_asked": "needs_all_rows"})
        else:
            private = replace(context, progress=progress).only(one.needs)
            internal[one.id] = _ask(one.evaluate, private, InternalMeasured)
        give_back()
    return Evaluation(public, internal)


def _ask(ask: Callable[[Any], Answer], context: Released | Private, kind: type[Answer]) -> Answer:
    try:
        answer = ask(context)
        if not isinstance(answer, kind):
            raise TypeError
        return answer
    except Cancelled:
        raise
    except Exception as error:  # whatever it is, it must not cost the custodian a release that is paid for
        return kind((_failed(error),), {"failed": _reason(error)})


def _failed(error: Exception) -> TextView:
    return TextView(
        Text("evaluation.failed.title"), (Text("evaluation.failed.what", {"reason": _reason(error)}),)
    )


def _reason(error: Exception) -> str:
    """Name an error without its message, which could hold what is private."""
    return error.code if isinstance(error, EngineError) else type(error).__name__


def _only_stage(progress: Progress) -> Progress:
    """Report the stages of a method that runs again as what they are: part of the evaluation."""
    return Progress(lambda share, stage: progress.step(share, "run.evaluating"))
