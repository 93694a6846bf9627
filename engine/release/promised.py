"""What the guarantee says is what runs: compared here, once, with the prepared and the capped table.

The ledger pays for a unit, a cap and declarations that stand in the plan. A step of the preparation, an
option of a reader or a method that went its own way would let the evidence say one thing and the rows
another.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pandas.util import hash_array

from engine.errors import InputRefused
from engine.methods.protocol import Method
from engine.release.plan import Plan
from engine.release.reading import PreparedTable, options_of_reading
from engine.short_texts import hash_pairs, words_of
from engine.table.cells import cells_of
from engine.table.encoded import Encoded
from engine.table.schema import Schema
from engine.table.table import TEXT, Held, Table

_PIECE = 1 << 17  # keys at a time: what Python holds of them stays small


def refuse_other(plan: Plan, design: Method, prepared: Mapping[str, PreparedTable]) -> None:
    """Refuse a prepared table that is not the one that the promise is about. Before anything is reserved.

    Raises
    ------
    InputRefused
        ``run.not_as_promised`` names what differs: ``unit``, ``rows_per_person``, ``neighbours``,
        ``schema``, ``person_key`` or ``options``.
    """
    request, promise = design.request, design.cost
    private = [name for name in request.private if name in prepared]
    if private:
        _refuse_unless(
            {
                "unit": promise.unit is request.unit,
                "rows_per_person": promise.rows_per_person == request.rows_per_person,
                "neighbours": request.budget is None
                or promise.loss is None
                or promise.loss.neighbours is request.budget.neighbours,
            }
        )
    for name, one in prepared.items():
        schema, options = request.schemas[name], options_of_reading(plan.files_of(name)[0])
        key = schema.person_key
        _refuse_unless(
            {
                "schema": one.schema == schema == plan.prepared(name),
                "person_key": key == plan.schemas[name].person_key
                and (key is None or one.table.storage.get(key.name) == TEXT),
                "options": options.over(one.options) == one.options,
            }
        )


def refuse_uncapped(schema: Schema, used: Table) -> None:
    """Refuse rows for a method in which somebody has more than the promise says. Before the method runs.

    Raises
    ------
    InputRefused
        ``run.not_as_promised``: somebody exceeds the cap, or a row is nobody's.
    """
    key = schema.person_key
    if key is None:
        return
    if isinstance(used, Held):
        _refuse_unless({"rows_per_person": used.most_rows() <= schema.rows_per_person})
        return
    keys = cells_of(used.rows()[key.name])
    fits = keys.null_count == 0 and _fits(keys, schema.rows_per_person)
    _refuse_unless({"rows_per_person": fits})


def _fits(keys: pa.ChunkedArray, cap: int) -> bool:
    """Whether no key occurs more often than the cap.

    Notes
    -----
    Equal keys have equal hashes: where no hash occurs too often, no key does, and hashes are quick to sort.
    Only where one does the keys themselves are counted, because two of them could share it by accident.
    """
    words = words_of(keys)
    hashes = np.sort(_hashed_slowly(keys) if words is None else hash_pairs(words))
    if not (hashes[cap:] == hashes[:-cap]).any():
        return True
    return int(np.bincount(Encoded.of(keys).places).max()) <= cap


def _hashed_slowly(keys: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    pieces = [
        hash_array(chunk.slice(start, _PIECE).to_numpy(zero_copy_only=False), categorize=False)
        for chunk in keys.chunks
        for start in range(0, len(chunk), _PIECE)
    ]
    return np.concatenate([np.zeros(0, np.uint64), *pieces])


def _refuse_unless(same: dict[str, bool]) -> None:
    for part, is_same in same.items():
        if not is_same:
            raise InputRefused("run.not_as_promised", part=part)
