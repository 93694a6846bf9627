"""A column without a declaration is declared where the form misses it: the parameter says what it needs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.methods.catalogue import methods
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Method
from engine.release.examples import plans

LISTS = [
    (one, parameter)
    for one in methods()
    if plans(one)
    for parameter in one.parameters
    if parameter.kind in (ParameterKind.COLUMN, ParameterKind.COLUMNS)
    and parameter.source == MAIN
    and plans(one)[0].parameters.get(parameter.name)
]


@pytest.mark.parametrize(("one", "parameter"), LISTS, ids=[f"{one.id}-{its.name}" for one, its in LISTS])
def test_what_is_refused_without_a_declaration_can_be_declared_in_place(
    one: Method, parameter: Parameter
) -> None:
    plan = plans(one)[0]
    named = plan.parameters[parameter.name]
    for name in [named] if isinstance(named, str) else named:
        bare = replace(
            plan,
            schemas={
                **plan.schemas,
                MAIN: plan.schema.with_column(replace(plan.schema.column(name), domain=None)),
            },
        )
        problems = one(bare.request).problems
        about = [
            its for its in problems if its.values.get("column") == name and its.parameter == parameter.name
        ]
        if about:
            assert parameter.needs_domain, (name, [its.code for its in about])
