"""Queries on neighbours drawn from a population: parameters and readers that several analyses share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine import strict_json
from engine.analyses.shared import INTEGER, NUMBER, TEXTS, number
from engine.errors import InputRefused
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN
from engine.privacy.at_risk.inputs import positive, share, whole
from engine.privacy.sampled_sensitivity import Population, Sides, plan_pairs
from engine.risk.population_source import PopulationSource
from engine.risk.populations import population_for
from engine.risk.queries import read_query
from engine.risk.sampled_risk import Question

if TYPE_CHECKING:
    from engine.table.schema import Schema
    from engine.table.table import Table

MOST = 10**7
POPULATION = Parameter(
    "population",
    ParameterKind.CHOICE,
    default="private",
    choices=tuple(source.value for source in PopulationSource),
)
DISTRIBUTIONS = Parameter("distributions", TEXTS, optional=True, when=("population", ("simulated",)))
QUERY = (
    Parameter("query", ParameterKind.TEXT),
    Parameter("by", ParameterKind.COLUMNS, optional=True, needs_domain=True),
    Parameter("penalty", NUMBER, default="0.01"),
    POPULATION,
    DISTRIBUTIONS,
)
DRAWS = (
    Parameter("pairs", INTEGER, default=10_000),
    Parameter("records", INTEGER, default=1000),
    Parameter("quantile", NUMBER, default="0.9"),
    number("tolerance"),
)
LEVEL = Parameter("level", NUMBER, default="0.95")
MECHANISM = Parameter(
    "mechanism", ParameterKind.CHOICE, default="laplace", choices=("laplace", "discrete_laplace", "gaussian")
)


@dataclass(frozen=True)
class Asked:
    """A query, and the population that its data sets are drawn from.

    Parameters
    ----------
    query, population
        As for `engine.risk.sampled_risk.sampled_risk`.
    source
        What the population is made from.
    about
        What the figures say about it: query, groups, rows left out.
    proved
        Its proved sensitivity, by norm.
    outputs
        How many numbers an answer has.
    """

    query: Any
    population: Population
    source: PopulationSource
    about: Mapping[str, Any]
    proved: Mapping[int, float]
    outputs: int = 1


def asked_of(values: Mapping[str, Any], tables: Mapping[str, Table], schemas: Mapping[str, Schema]) -> Asked:
    """Return what `QUERY` asks, of a table or of declared domains.

    Raises
    ------
    InputRefused
        ``queries.…``: a query, column, table or distribution that cannot be used.
    """
    if MAIN not in schemas:
        raise InputRefused("queries.needs_schema")
    source = PopulationSource(values["population"])
    query = read_query(
        values["query"],
        schemas[MAIN],
        records=whole(values["records"], name="records", largest=MOST),
        by=values["by"],
        penalty=positive(values["penalty"], name="penalty"),
    )
    table = None if source is PopulationSource.SIMULATED else tables.get(MAIN)
    drawn = population_for(
        query, source, table=table, distributions=distributions(values["distributions"] or ())
    )
    about: dict[str, Any] = {"query": query.written, "by": list(values["by"])}
    if source.origin.internal:
        about["left_out"] = drawn.left_out
    return Asked(query.answer, drawn.population, source, about, query.proved, query.outputs)


def distributions(written: Sequence[str]) -> dict[str, Any]:
    """Return the distributions that ``COLUMN=JSON`` states, by column.

    Examples
    --------
    >>> distributions(['age={"normal": [50, 20]}'])
    {'age': {'normal': [50, 20]}}
    """
    found: dict[str, Any] = {}
    for one in written:
        name, equals, value = one.partition("=")
        try:
            found[name] = strict_json.loads(value)
        except ValueError as error:
            raise InputRefused("queries.distribution", column=name if equals else "") from error
    return found


def question_of(values: Mapping[str, Any]) -> Question:
    """Return what is asked about the pairs.

    Raises
    ------
    InputRefused
        A number that cannot be used; ``queries.needs_epsilon`` or ``queries.level_or_confidence``.
    """
    pairs = whole(values["pairs"], name="pairs", largest=MOST)
    tolerance = values.get("tolerance")
    if tolerance is None:
        # Chosen from the number of pairs alone, never from what they show: α = 95 % on one side.
        kept = plan_pairs(pairs=pairs, probability=0.95, sides=Sides.ONE).tolerance
    else:
        kept = float(share(tolerance, name="tolerance"))
    given = {
        name: None if values.get(name) is None else positive(values[name], name=name)
        for name in ("epsilon", "epsilon0", "scale")
    }
    confidence = values.get("confidence")
    if given["epsilon"] is None and (given["epsilon0"] is not None or confidence is not None):
        raise InputRefused("queries.needs_epsilon")
    if given["epsilon0"] is not None and confidence is not None:
        raise InputRefused("queries.level_or_confidence")
    quantile, draws = values.get("quantile", 1), values.get("draws")
    return Question(
        pairs=pairs,
        records=whole(values["records"], name="records", largest=MOST),
        quantile=1.0 if quantile == 1 else float(share(quantile, name="quantile")),
        tolerance=kept,
        confidence=None if confidence is None else share(confidence, name="confidence"),
        mechanism=values["mechanism"],
        draws=pairs if draws is None else whole(draws, name="draws", largest=MOST),
        level=float(share(values.get("level", "0.95"), name="level")),
        **given,
    )
