"""Steps about whole rows: a sample of the people, and cells left empty until nobody stands alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.errors import InputRefused
from engine.methods import option
from engine.methods.datasets.ascending import make_ascending_groups
from engine.methods.datasets.masking.fewest_cells import fewest
from engine.methods.datasets.masking.step import ID, Before, MaskingStep, Options, Told, Values, Wrong
from engine.methods.datasets.masking.working import Form, Places, Texts, Working, is_identifying
from engine.methods.datasets.recoding import Ladder, Members, combine_places
from engine.table.hierarchies import ALL, Hierarchy
from engine.table.schema import Column, Schema

MOST_COLUMNS = 16


class Sample(MaskingStep):
    """Only some of the people leave, drawn at random: nobody knows of somebody that they are in it."""

    id = "sample"
    keeps_values = True
    fields = (option.number(name="share", minimum=Fraction(1, 10**6), maximum=Fraction(999, 1000)),)

    def columns(self, options: Options, schema: Schema, leaving: Values) -> Values:
        return ()

    def apply(self, working: Working, options: Options) -> Told:
        person = working.people
        people = int(person.max(initial=-1)) + 1
        number = round(people * options["share"])
        if people and not number:
            raise InputRefused(f"{ID}.empty_sample")
        kept = np.zeros(people, dtype=bool)
        kept[working.chance.permutation(people)[:number]] = True
        working.keep(kept[person])
        return Told()


class SuppressCells(MaskingStep):
    """Identifying cells are left out, as few as can be, until every row reads like those of k − 1 others.

    Notes
    -----
    A cell that was left out reads ``*`` and agrees with ``*`` alone, so that rows read exactly alike
    (A. Meyerson and R. Williams, 2004). Small tables get the fewest cells, by integer programming; others
    what is found by fixing groups in the order of how many cells they lose.
    """

    id = "suppress_cells"
    keeps_values = True
    fields = (option.integer(name="k", minimum=2, maximum=100_000),)
    leaves = Form.TEXTS

    def columns(self, options: Options, schema: Schema, leaving: Values) -> Values:
        return tuple(name for name in leaving if is_identifying(schema.column(name)))

    def wrong(self, options: Options, before: Before) -> Wrong | None:
        names = self.columns(options, before.schema, tuple(before.columns))
        if not names:
            return Wrong("nothing_identifying")
        if len(names) > MOST_COLUMNS:
            return Wrong("many_identifying", {"count": len(names), "most": MOST_COLUMNS})
        # What comes later could make people stand alone again
        harm = any(
            step["step"] == Sample.id or set(before.changes(step)) & set(names) for step in before.later
        )
        return Wrong("not_last") if harm else None

    def declared(self, values: Values | None, options: Options, column: Column) -> Values | None:
        return None if values is None else (*values, ALL)

    def apply(self, working: Working, options: Options) -> Told:
        names, k = working.identifying(), options["k"]
        held = [working.texts(name) for name in names]
        ladders = [Ladder.of(["", *one.values], Hierarchy()) for one in held]
        columns = zip(ladders, held, strict=True)
        codes = [ladder.place(["", *one.values])[one.places + 1] for ladder, one in columns]
        distinct, number = combine_places(np.column_stack(codes), ladders)
        found = None
        if not working.several_rows:
            found = fewest(distinct, np.bincount(number, minlength=len(distinct)), k)
        if found is None:
            groups = make_ascending_groups(distinct, _members(number, working), ladders, k=k)
            if groups is None:
                raise InputRefused(f"{ID}.too_few", k=k)
            left_out = (groups.steps > 0)[:, groups.group].T[number]
        else:
            left_out = _spread(found, number, working.chance)
        for at, (name, one) in enumerate(zip(names, held, strict=True)):
            star = len(one.values)
            working.set(name, Texts((*one.values, ALL), np.where(left_out[:, at], star, one.places)))
        return Told(inside={"cells_left_out": int(left_out.sum()), "fewest": int(found is not None)})


def _members(number: Places, working: Working) -> Members:
    """Say who has which combination, given that of every row."""
    if not working.several_rows:
        return Members(number, working.people)
    size = int(working.people.max(initial=0)) + 1
    pairs = arrays.distinct(number * size + working.people)
    return Members(pairs // size, pairs % size)


def _spread(found: Places, number: Places, chance: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Give every row a pattern of cells to leave out: which rows of a combination is drawn by lot."""
    columns = found.shape[1].bit_length() - 1
    left_out = np.zeros((len(number), columns), dtype=bool)
    for place, counts in enumerate(found):
        rows = chance.permutation(np.flatnonzero(number == place))
        pattern = np.repeat(np.arange(len(counts)), counts)
        left_out[rows] = (pattern[:, None] >> np.arange(columns)) & 1 == 1
    return left_out
