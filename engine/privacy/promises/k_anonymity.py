"""k-anonymity: a property of the released table, no bound on what can be learnt."""

from __future__ import annotations

from engine.privacy.promise import PromiseKind, Status


class KAnonymity(PromiseKind):
    """Every released row agrees with k − 1 others in its identifying columns. Sweeney 2002, definition 3."""

    id = "k_anonymity"
    bounded = False
    status = Status.PERSONAL
    terms = ("k", "columns")
    group_size = "k"
    conditions = (
        "set_k",
        "sensitive",
        "distinct_l",
        "entropy_l",
        "recursive_l",
        "recursive_c",
        "t",
        "beta",
        "average_risk",
        "most_presence",
        "population_k",
        "population_risk",
    )
