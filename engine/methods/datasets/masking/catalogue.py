"""The steps of masking: found by themselves, checked in their order, and what they ask as one form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import engine.methods.datasets.masking.steps as every_step
from engine.discovery import instances
from engine.methods import option
from engine.methods.datasets.masking.step import ID, Before, MaskingStep, Options, Values
from engine.methods.datasets.masking.working import declared_values, form_of
from engine.methods.parameters import Parameter, Problem
from engine.table.schema import Kind, Schema

STEPS: dict[str, MaskingStep] = {step.id: step for step in instances(every_step, MaskingStep)}


def fields() -> tuple[Parameter, ...]:
    """Return which step, and what each asks: a field of several steps is asked once."""
    found: dict[str, Parameter] = {}
    asked: dict[str, list[str]] = {}
    for step in STEPS.values():
        for one in step.fields:
            if found.setdefault(one.name, one) != one:
                raise ValueError(f"two declarations of the field {one.name}")
            asked.setdefault(one.name, []).append(step.id)
    chosen = option.choice(*STEPS, name="step")
    return (chosen, *(replace(one, when=("step", tuple(asked[name]))) for name, one in found.items()))


def problems(steps: Sequence[Options], schema: Schema, leaving: Values) -> Iterator[Problem]:
    """Give why steps cannot be taken one after the other: from declarations alone."""
    columns = {name: schema.column(name) for name in leaving}
    forms = {name: form_of(column) for name, column in columns.items()}
    declared = {name: declared_values(column) for name, column in columns.items()}

    def changes(options: Options) -> Values:
        return STEPS[options["step"]].columns(options, schema, tuple(columns))

    for place, options in enumerate(steps, 1):
        step, named = STEPS[options["step"]], changes(options)
        told = {"place": place, "step": step.id}
        absent = [name for name in named if name not in columns]
        unread = [name for name in named if name in columns and forms[name] not in step.reads]
        if absent or unread:
            name = "not_leaving" if absent else "not_read"
            yield Problem(f"{ID}.{name}", {**told, "column": (absent or unread)[0]}, "steps")
            return
        before = Before(
            schema, columns, forms, declared, tuple(steps[: place - 1]), tuple(steps[place:]), changes
        )
        wrong = step.wrong(options, before)
        if wrong is not None:
            yield Problem(f"{ID}.{wrong.name}", {**told, **wrong.values}, "steps")
            return
        for name in named:
            forms[name] = step.leaves or forms[name]
            declared[name] = step.declared(declared[name], options, columns[name])
        if step.id == "drop":
            del columns[options["column"]]
    touched = {name for options in steps for name in changes(options)}
    for name, column in columns.items():
        if column.kind is Kind.TEXT and name not in touched:
            yield Problem(f"{ID}.free_text_leaves", {"column": name}, "steps")
    if not columns:
        yield Problem(f"{ID}.nothing_leaves", {}, "steps")
