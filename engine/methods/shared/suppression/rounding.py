"""Tables rounded to a base: with margins that still add up, or each cell by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.errors import InputRefused
from engine.methods.shared.suppression import solver
from engine.methods.shared.suppression.additive import Additive, Integers

FURTHER = 100.0  # what a step beyond the two neighbours costs, against at most 2 for the nearer or farther
STEPS = 8  # how many steps beyond a cell may go: a large table of many columns must end somewhere


@dataclass(frozen=True)
class Rounded:
    """A rounded table.

    Parameters
    ----------
    values
        Multiples of the base, totals included, shape (n,).
    beyond
        How many cells are no neighbouring multiple of their value: 0 in one and two dimensions.
    """

    values: Integers
    beyond: int


def random_rounding(values: Integers, *, base: int, chance: np.random.Generator) -> Rounded:
    """Round every cell by itself, so that it is right on average; totals need not add up.

    Notes
    -----
    A. Hundepool et al., "Statistical Disclosure Control" (2012), section 5.4.3: up with probability
    (value mod base)/base. Multiples of the base stay as they are.
    """
    rest = values % base
    up = chance.integers(0, base, len(values)) < rest
    return Rounded(values - rest + base * up, 0)


def controlled_rounding(
    additive: Additive,
    values: Integers,
    *,
    base: int,
    chance: np.random.Generator,
    seconds: float = 60.0,
) -> Rounded:
    """Round all cells so that totals still add up, each to one of its neighbouring multiples where possible.

    Parameters
    ----------
    additive
        The table with its totals.
    values
        Counts, totals included, shape (n,).
    base
        At least 2.
    chance
        Which of the possible tables it is.
    seconds
        For three or more dimensions.

    Raises
    ------
    InputRefused
        ``suppression.not_rounded``: no table was found in the time, in three or more dimensions.

    Notes
    -----
    One and two dimensions: a table of whole numbers v is the sum of ``base`` tables n₁ … n_base with the same
    equations in which every cell is v/base rounded down or up. They exist one after the other because the
    equations of a two-way table are those of a flow, whose bounded solutions have whole corners (Cox 1987;
    Hoffman and Kruskal 1956): n_t lies between the neighbours of the rest divided by the number of tables
    left. One of them is drawn, all with the same probability, so that base · n is right on average in every
    cell and total. From three dimensions on none may exist between the neighbours (Kelly, Golden, Assad and
    Baker 1990): the table with the least rounding is looked for, and cells go further where they must.

    Source: L. H. Cox, "A constructive procedure for unbiased controlled rounding", Journal of the American
    Statistical Association 82 (1987).
    """
    if len(additive.levels) <= 2:
        return Rounded(base * _one_of(additive, values, base, chance), 0)
    return _least(additive, values, base, chance, seconds)


def _one_of(additive: Additive, values: Integers, base: int, chance: np.random.Generator) -> Integers:
    """Return one of ``base`` tables that add up to the values, all equally likely."""
    zero = np.zeros(additive.equations.shape[0])
    programme = solver.model(
        additive.equations,
        rows=(zero, zero),
        columns=(np.zeros(additive.size), np.zeros(additive.size)),
        costs=np.zeros(additive.size),
    )
    rest, chosen = values.copy(), int(chance.integers(0, base))
    for left in range(base, base - chosen - 1, -1):
        low = rest // left
        solver.limit(programme, low.astype(float), (-(-rest // left)).astype(float))
        solver.aim(programme, chance.standard_normal(additive.size), most=False)
        if not solver.solve_again(programme):
            raise InputRefused("suppression.unsolved")
        table = np.rint(solver.values(programme)).astype(np.int64)
        rest = rest - table
    if (additive.equations @ table).any():
        raise InputRefused("suppression.unsolved")
    return np.asarray(table, dtype=np.int64)


def _least(
    additive: Additive, values: Integers, base: int, chance: np.random.Generator, seconds: float
) -> Rounded:
    """Return the table of multiples that is rounded least, ties and near ties by lot."""
    from scipy import sparse

    low = values // base
    rest = values - base * low
    loose = rest > 0
    down, up = np.where(low > 0, STEPS, 0) * loose, STEPS * loose
    # Cell = low + share of the step to the next multiple + steps above it − steps below it
    matrix = sparse.hstack([additive.equations, additive.equations, -additive.equations], format="csr")
    start = -(additive.equations @ low).astype(float)
    nearer = (base - 2 * rest) / base + chance.uniform(-0.5, 0.5, len(values))
    further = np.full(len(values), FURTHER)
    programme = solver.model(
        matrix,
        rows=(start, start),
        columns=(np.zeros(3 * len(values)), np.concatenate([1.0 * loose, up, np.minimum(down, low)])),
        costs=np.concatenate([nearer, further, further]),
        whole=True,
    )
    programme.setOptionValue("time_limit", seconds)
    programme.setOptionValue("mip_rel_gap", 0.05)
    programme.run()
    steps = np.rint(solver.values(programme)).astype(np.int64).reshape(3, -1)
    multiples = low + steps[0] + steps[1] - steps[2]
    if (additive.equations @ multiples).any() or not programme.getInfo().primal_solution_status:
        raise InputRefused("suppression.not_rounded")
    beyond = (np.abs(base * multiples - values) >= base).sum()
    return Rounded(base * multiples, int(beyond))
