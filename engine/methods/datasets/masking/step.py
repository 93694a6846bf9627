"""What one step of masking is: a declaration, a check from declarations alone, and what it does to rows.

A new step is one subclass in a file below ``steps`` and its words in ``methods/datasets.masking.toml``; the
form, the command line, the check and the record follow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from engine.methods import option
from engine.methods.datasets.masking.working import Form, Working
from engine.methods.parameters import Parameter, ParameterKind
from engine.table.schema import Column, Schema
from engine.views import Text, View

ID = "datasets.masking"
WORDS = f"methods.{ID}"
Options = Mapping[str, Any]
Values = tuple[str, ...]

COLUMN = option.column(name="column")
COLUMNS = option.columns(name="columns", minimum=1, maximum=100)


@dataclass(frozen=True)
class Told:
    """What one step says once it is done.

    Parameters
    ----------
    public
        JSON values for the recipient beside the parameters of the step: what undoes it on average.
    views
        For the report: computed from released cells and public figures alone.
    inside
        Figures for the custodian.
    done
        What the data dictionary says of each of its columns, where that is known afterwards alone.
    """

    public: Mapping[str, Any] = field(default_factory=dict)
    views: tuple[View, ...] = ()
    inside: Mapping[str, Any] = field(default_factory=dict)
    done: Text | None = None


@dataclass(frozen=True)
class Wrong:
    """Why a step cannot be taken: a text below ``problems``, and what it names."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Before:
    """What is known before a step is taken, from declarations alone.

    Parameters
    ----------
    schema
        Of the people.
    columns, forms, declared
        Of the columns that leave: their declaration, what they are by now, and their declared values by now.
    earlier, later
        The other steps.
    changes
        Returns the columns that a step changes.
    """

    schema: Schema
    columns: Mapping[str, Column]
    forms: Mapping[str, Form]
    declared: Mapping[str, Values | None]
    earlier: tuple[Options, ...]
    later: tuple[Options, ...]
    changes: Callable[[Options], Values]


class MaskingStep(ABC):
    """One way of masking columns or rows.

    Notes
    -----
    A step may look at the rows, which no differentially private method may: nothing here is bounded.
    """

    id: ClassVar[str]
    """Its name in plans; its words are ``parameters.steps.fields.step.choices.ID`` and ``done.ID``."""
    fields: ClassVar[tuple[Parameter, ...]] = (COLUMN,)
    """What it asks. Two steps that ask a field of the same name share its declaration."""
    reads: ClassVar[tuple[Form, ...]] = tuple(Form)
    """What its columns may be."""
    leaves: ClassVar[Form | None] = None
    """What its columns are afterwards; None for what they were."""
    keeps_values: ClassVar[bool] = False
    """Whether values of its columns still stand somewhere as they were, be it in another row."""

    def columns(self, options: Options, schema: Schema, leaving: Values) -> Values:
        """Return the columns that it changes."""
        return tuple(options.get("columns") or ([options["column"]] if "column" in options else ()))

    def wrong(self, options: Options, before: Before) -> Wrong | None:
        """Say from declarations why it cannot be taken."""
        return None

    def declared(self, values: Values | None, options: Options, column: Column) -> Values | None:
        """Return the declared values of a column after it; None where they are not known."""
        return values

    def done(self, options: Options) -> Text:
        """Return what the data dictionary says of each of its columns."""
        return Text(
            f"{WORDS}.done.{self.id}", {one.name: _say(one, options[one.name]) for one in self.fields}
        )

    @abstractmethod
    def apply(self, working: Working, options: Options) -> Told:
        """Do it."""


def _say(asked: Parameter, value: Any) -> Any:
    """Return the value of a field as a sentence names it."""
    if asked.kind is ParameterKind.CHOICE:
        return Text(f"{WORDS}.parameters.steps.fields.{asked.name}.choices.{value}")
    if value is None:
        return "–"
    return ", ".join(value) if isinstance(value, tuple) else value
