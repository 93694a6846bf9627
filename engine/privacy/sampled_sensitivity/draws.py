"""Draws of neighbouring data sets: p − 1 common records and one more for each of the two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.errors import InputRefused
from engine.privacy.sampled_sensitivity.populations import AREA, Population, TablePopulation
from engine.progress import Progress

# Records per piece of work: two megabytes of row numbers, so that Stop is heard within milliseconds.
RECORDS_AT_ONCE = 262_144

Answers = tuple[arrays.Floats, arrays.Floats]
# Row numbers of the common records, (some pairs, records − 1), and of the differing ones, (some pairs, 2).
Positions = tuple[arrays.Integers, arrays.Integers]


@runtime_checkable
class PairQuery(Protocol):
    """A query that answers both data sets of a pair faster than by two calls."""

    def answer_pairs(
        self,
        population: Population,
        *,
        pairs: int,
        records: int,
        generator: np.random.Generator,
    ) -> Iterator[Answers]:
        """Yield the answers on both data sets of some pairs at a time, each of shape (some pairs, k)."""
        ...


def position_chunks(
    population: TablePopulation, *, pairs: int, records: int, generator: np.random.Generator
) -> Iterator[Positions]:
    """Yield row numbers of some pairs at a time: the one draw behind every way of answering."""
    at_once = max(1, RECORDS_AT_ONCE // (records + 1))
    for start in range(0, pairs, at_once):
        count = min(at_once, pairs - start)
        common = population.positions((count, records - 1), generator=generator)
        yield common, population.positions((count, 2), generator=generator)


def record_chunks(
    population: Population, *, pairs: int, records: int, generator: np.random.Generator
) -> Iterator[npt.NDArray[Any]]:
    """Yield records of shape (some pairs, records + 1, columns); the last two are the differing ones."""
    if isinstance(population, TablePopulation):
        for common, ends in position_chunks(population, pairs=pairs, records=records, generator=generator):
            for together, apart in zip(common, ends, strict=True):
                yield population.rows.take(np.concatenate([together, apart]), axis=0)[None]
        return
    at_once = max(1, RECORDS_AT_ONCE // (records + 1))
    for start in range(0, pairs, at_once):
        count = min(at_once, pairs - start)
        drawn = population.draw(count * (records + 1), generator=generator)
        yield drawn.reshape(count, records + 1, *drawn.shape[1:])


def pair_answers(
    query: Any,
    population: Population,
    *,
    pairs: int,
    records: int,
    generator: np.random.Generator,
    progress: Progress,
    stage: str,
) -> Iterator[Answers]:
    """Yield a query's answers on both data sets of some pairs at a time, checked to be finite vectors."""
    if pairs < 1:
        raise InputRefused(f"{AREA}.too_few_pairs", found=pairs, expected=1)
    if records < 1:
        raise InputRefused(f"{AREA}.too_few_records", found=records, expected=1)
    answers: Iterator[Answers]
    if isinstance(query, PairQuery):
        answers = query.answer_pairs(population, pairs=pairs, records=records, generator=generator)
    else:
        answers = _one_by_one(query, population, pairs=pairs, records=records, generator=generator)
    done = 0
    progress.step(0.0, stage)
    for first, second in answers:
        if not (np.isfinite(first).all() and np.isfinite(second).all()):
            raise InputRefused(f"{AREA}.not_finite")
        yield first, second
        done += len(first)
        progress.step(done / pairs, stage)


def _one_by_one(
    query: Any, population: Population, *, pairs: int, records: int, generator: np.random.Generator
) -> Iterator[Answers]:
    for chunk in record_chunks(population, pairs=pairs, records=records, generator=generator):
        for drawn in chunk:
            # Two arrays of their own, because a query may change the one that it is given.
            second = _vector(query(np.concatenate([drawn[:-2], drawn[-1:]])))
            first = _vector(query(drawn[:-1].copy()))
            if first.shape != second.shape:
                raise InputRefused(f"{AREA}.answer_shape")
            yield first[None, :], second[None, :]


def _vector(answer: Any) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(answer, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InputRefused(f"{AREA}.answer_shape") from None
