"""What a careless or lying method could do, done to every method of the catalogue: each has to be noticed.

A sabotage wraps what the engine calls of a method, `run` and `step` (and `cost`), so that it needs to know
nothing of it. Which of them a method goes through follows from its promise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from engine.evaluation.without_noise import WithoutNoise
from engine.methods.protocol import FileArtefact, Method, Release, Request, TableArtefact
from engine.privacy.draw import Draw
from engine.privacy.mechanisms import SeededRows
from engine.privacy.mechanisms.integers import listening
from engine.privacy.noise import Noise
from engine.privacy.promise import promise_kind
from engine.release.check import check
from engine.release.examples import plans
from engine.views import Text
from tests.engine.methods.audit.recount import as_texts

SAMPLERS = ("discrete_laplace", "discrete_gaussian", "vector", "staircase")
Sabotage = Callable[[Method], Any]


# --- noise --------------------------------------------------------------------------------------------


class Otherwise:
    """A noise door that asks the real one and answers something else."""

    def __init__(self, noise: Noise, *, sums: Callable[[np.ndarray], np.ndarray], is_greedy: bool) -> None:
        self._noise, self._sums, self._is_greedy = noise, sums, is_greedy

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self._noise, name)
        if name in SAMPLERS:
            return lambda *given, **named: self._sums(asked(*given, **named))
        if name in ("exponential_choice", "permute_and_flip") and self._is_greedy:

            def choose(scores: np.ndarray, *, rate: Any) -> int:
                asked(scores, rate=rate)
                return int(np.argmax(scores))

            return choose
        if name == "clear_counts" and self._is_greedy:

            def count(cells: np.ndarray, counts: np.ndarray, **named: Any) -> Any:
                asked(cells, counts, **named)
                return WithoutNoise().clear_counts(cells, counts, **named)

            return count
        return asked


@contextmanager
def wrapped(method: Method, around: Callable[..., Release]) -> Iterator[None]:
    """Put something around `run` and `step` of a method: it gets what makes the release, and from what."""
    run, step = method.run, getattr(method, "step", None)

    def made(self: Method, tables: Any, context: Any) -> Release:
        return around(lambda *given: run(self, *given), tables, self.request, context)

    def stepped(self: Method, name: str, tables: Any, state: bytes, context: Any) -> Release:
        again = lambda *given: step(self, name, given[0], state, given[1])  # noqa: E731
        return around(again, tables, self.request, context)

    with patch.object(method, "run", made):
        if step is None:
            yield
        else:
            with patch.object(method, "step", stepped):
                yield


@contextmanager
def answered_otherwise(
    method: Method, sums: Callable[[np.ndarray], np.ndarray], *, is_greedy: bool
) -> Iterator[None]:
    """Let the door answer something else than it drew."""

    def around(make: Any, tables: Any, request: Any, context: Any) -> Release:
        return make(tables, replace(context, noise=Otherwise(context.noise, sums=sums, is_greedy=is_greedy)))

    with wrapped(method, around):
        yield


def frozen(method: Method) -> Any:
    """Noise is drawn, and nothing is added; the best candidate is chosen."""
    return answered_otherwise(method, np.zeros_like, is_greedy=True)


def halved(method: Method) -> Any:
    """Half of the noise is added; the best candidate is chosen."""
    return answered_otherwise(method, lambda drawn: drawn // 2, is_greedy=True)


@contextmanager
def thrown_away(method: Method) -> Iterator[None]:
    """Sums get their noise, are paid for, and leave without it."""

    def around(make: Any, tables: Any, request: Any, context: Any) -> Release:
        from engine.privacy.mechanisms import integers

        hearing = integers._listener.get()

        def exact(values: np.ndarray, draws: np.ndarray) -> np.ndarray:
            hearing(values, draws)
            return np.asarray(values, dtype=np.int64)

        with listening(exact):
            noise = Otherwise(context.noise, sums=lambda drawn: drawn, is_greedy=True)
            return make(tables, replace(context, noise=noise))

    with wrapped(method, around):
        yield


@contextmanager
def last_exact(method: Method) -> Iterator[None]:
    """The last of several numbers leaves without its noise."""

    def around(make: Any, tables: Any, request: Any, context: Any) -> Release:
        from engine.privacy.mechanisms import integers

        hearing = integers._listener.get()

        def all_but_one(values: np.ndarray, draws: np.ndarray) -> np.ndarray:
            answer = np.array(hearing(values, draws))
            if answer.size > 1:
                answer.flat[-1] = np.asarray(values).flat[-1]
            return answer

        with listening(all_but_one):
            return make(tables, context)

    with wrapped(method, around):
        yield


@contextmanager
def weaker_door(method: Method) -> Iterator[None]:
    """The door itself draws half of what it is asked for."""
    with ExitStack() as stack:
        for name in SAMPLERS:
            honest = getattr(Noise, name)

            # bound in the loop: each sampler halves its own
            def half(self: Noise, *given: Any, _honest: Any = honest, **named: Any) -> Any:
                return _honest(self, *given, **named) // 2

            stack.enter_context(patch.object(Noise, name, half))
        whole = Noise.clear_counts

        def of_half(self: Noise, cells: Any, counts: Any, *, scale: Any, **named: Any) -> Any:
            found = whole(self, cells, counts, scale=scale / 2, **named)
            asked = Draw("clear_counts", Fraction(scale), (named["threshold"], named.get("size", 0)))
            self._counted += Counter({asked: 1})
            self._counted -= Counter({asked._replace(parameter=Fraction(scale) / 2): 1})
            return found

        stack.enter_context(patch.object(Noise, "clear_counts", of_half))
        yield


# --- rows ---------------------------------------------------------------------------------------------


@contextmanager
def asked_once_more(method: Method) -> Iterator[None]:
    """One more lot is drawn where the table has an even number of rows: when one person is there, or not."""

    def around(make: Any, tables: Any, request: Any, context: Any) -> Release:
        if sum(len(table) for table in tables.values()) % 2:
            context.noise.uniform_below(2, 1)
        return make(tables, context)

    with wrapped(method, around):
        yield


@contextmanager
def told_beside(method: Method) -> Iterator[None]:
    """How many rows there are stands in a note."""

    def around(make: Any, tables: Any, request: Any, context: Any) -> Release:
        release = make(tables, context)
        count = sum(len(table) for table in tables.values())
        return replace(release, notes=(*release.notes, Text("statistics.notes.rows", {"rows": count})))

    with wrapped(method, around):
        yield


@contextmanager
def hidden_in_a_file(method: Method) -> Iterator[None]:
    """The last cells of the table stand in a further file."""

    def around(make: Any, tables: Any, request: Any, context: Any) -> Release:
        release = make(tables, context)
        table = next(iter(tables.values()))
        rows = getattr(table, "_table", table).rows()  # past the view, which gives none
        cells = "" if rows.empty else "|".join(map(str, rows.iloc[-1].tolist()))
        further = FileArtefact("extra.txt", "text/plain", cells.encode(), Text("datasets.bucket"))
        return replace(release, artefacts=(*release.artefacts, further))

    with wrapped(method, around):
        yield


@contextmanager
def claimed_less(method: Method) -> Iterator[None]:
    """Half of what is lost is claimed, with the same events: refused before any row is read."""
    honest = method.cost.func  # type: ignore[attr-defined]

    def half(self: Method) -> Any:
        found = honest(self)
        return replace(found, loss=replace(found.loss, epsilon=found.loss.epsilon * Fraction(49, 100)))

    with patch.object(method, "cost", property(half)):
        yield


@contextmanager
def untested(method: Method) -> Iterator[None]:
    """Rows from seeds leave whatever their crowd is."""
    from engine.methods.datasets.seeds import making

    with patch.object(making, "passes", lambda scores, test, noise: np.ones(len(scores), dtype=bool)):
        yield


@contextmanager
def twice_as_true(method: Method) -> Iterator[None]:
    """The page fits the true answer with twice the tickets that are claimed."""
    import re

    def around(make: Any, tables: Any, request: Any, context: Any) -> Release:
        release = make(tables, context)
        page = release.artefacts[0]
        content, count = re.subn(
            rb'("hit":)(\d+)', lambda one: one[1] + str(2 * int(one[2])).encode(), page.content
        )
        assert count, "the page writes its tickets otherwise"
        return replace(release, artefacts=(replace(page, content=content), *release.artefacts[1:]))

    with wrapped(method, around):
        yield


@contextmanager
def cap_forgotten(method: Method) -> Iterator[None]:
    """Noise covers one row of a person, and all rows below the cap are counted."""
    one = property(lambda self: 1)
    with patch.object(Request, "rows_per_person", one), patch.object(Request, "units_moved", one):
        yield


# --- promises without noise ---------------------------------------------------------------------------


def with_cells(release: Release, change: Callable[[pd.DataFrame], None], *, table: int = 0) -> Release:
    """Return the release with another table."""
    artefacts = list(release.artefacts)
    place = [at for at, one in enumerate(artefacts) if isinstance(one, TableArtefact)][table]
    frame = artefacts[place].frame.copy()
    change(frame)
    artefacts[place] = replace(artefacts[place], frames=(frame, *artefacts[place].frames[1:]))
    return replace(release, artefacts=tuple(artefacts))


def original(release: Release, rows: pd.DataFrame, column: str) -> list[str]:
    """Return the cells of a column as released rows had them."""
    table = next(one for one in release.artefacts if isinstance(one, TableArtefact))
    return as_texts(rows[column].iloc[table.origins])


def out_of_its_group(release: Release, rows: pd.DataFrame, request: Any) -> Release:
    """One row reads like nobody else's."""
    columns = release.promise.terms["columns"].split(", ")

    def change(frame: pd.DataFrame) -> None:
        frame.loc[0, columns] = ["[0-10)", "Male", "Asian"][: len(columns)]

    return with_cells(release, change)


def same_value_twice(release: Release, rows: pd.DataFrame, request: Any) -> Release:
    """A bucket has one value for all its rows."""

    def change(frame: pd.DataFrame) -> None:
        bucket, value = frame.columns
        own = frame[bucket] == frame[bucket].iloc[0]
        frame.loc[own, value] = frame[value].iloc[0]

    return with_cells(release, change, table=1)


def as_it_was(release: Release, rows: pd.DataFrame, request: Any) -> Release:
    """A column that was to be changed leaves as it is."""
    steps = request.values.get("steps")
    column = steps[1]["column"] if steps else request.values["columns"][0]
    return with_cells(release, lambda frame: frame.__setitem__(column, original(release, rows, column)))


def rules_found(release: Release, rows: pd.DataFrame, request: Any) -> Release:
    """Every cell that was left out stands there again."""

    def change(frame: pd.DataFrame) -> None:
        for column in frame.columns:
            frame[column] = original(release, rows, column)

    return with_cells(release, change)


def key_as_given(release: Release, rows: pd.DataFrame, request: Any) -> Release:
    """The key of a person stands in place of the pseudonym."""
    key, name = request.schema.person_key.name, request.values["pseudonym"]
    return with_cells(release, lambda frame: frame.__setitem__(name, original(release, rows, key)))


def hidden_cell_printed(release: Release, rows: pd.DataFrame, request: Any) -> Release:
    """One hidden cell is printed: a count or a sum as it is, of few people."""
    table = release.artefacts[0]
    *names, quantity = [one.name for one in table.dictionary]
    total = {one.name: one.values[-1] for one in table.dictionary[:-1]}

    def change(frame: pd.DataFrame) -> None:
        found = []
        for place in frame.index[frame[quantity].isna()]:
            fits = np.ones(len(rows), dtype=bool)
            for name in names:
                if frame.loc[place, name] != total[name]:
                    fits &= rows[name].astype("str").eq(frame.loc[place, name]).to_numpy()
            of = request.values["of"]
            found.append(
                (int(fits.sum()), place, int(fits.sum()) if of is None else int(rows[of][fits].sum()))
            )
        _, place, value = min(one for one in found if one[0])
        frame.loc[place, quantity] = value

    return with_cells(release, change)


def exact_number(release: Release, rows: pd.DataFrame, request: Any) -> Release:
    """One number is not rounded."""
    quantity = release.artefacts[0].dictionary[-1].name

    def change(frame: pd.DataFrame) -> None:
        frame.loc[0, quantity] = frame.loc[0, quantity] + 1

    return with_cells(release, change)


def something_claimed(release: Release, rows: pd.DataFrame, request: Any) -> Release:
    """A size of groups is claimed where nothing is promised."""
    return replace(release, promise=replace(release.promise, terms={"k": 5}))


RECOUNTED: dict[str, Callable[..., Release]] = {
    "k_anonymity": out_of_its_group,
    "l_diversity": same_value_twice,
    "masked": as_it_was,
    "for_classifiers": as_it_was,
    "pseudonymous": key_as_given,
    "rules_hidden": rules_found,
    "none": something_claimed,
    "small_cells": hidden_cell_printed,
    "small_sums": hidden_cell_printed,
    "rounded": exact_number,
}
"""By the kind of promise, what breaks it."""


@contextmanager
def broken(method: Method) -> Iterator[None]:
    """What a promise without noise says of the release is not so."""

    def around(make: Any, tables: Any, request: Any, context: Any) -> Release:
        release = make(tables, context)
        return RECOUNTED[release.promise.kind](release, tables[request.private[0]].rows(), request)

    with wrapped(method, around):
        yield


def sabotages(method: Method) -> list[Sabotage]:
    """Return everything that can be done to a method, by what it promises."""
    promises = [check(plan).cost for plan in plans(method) if not plan.step]
    first = promises[0]
    if first.loss is None:
        return [broken]
    if promise_kind(first.kind).local:
        return [twice_as_true, claimed_less]
    if not any(source.shape.is_private for source in method.reads()):
        return [claimed_less]
    leaves = [leaf for leaf, _ in first.loss.events.leaves()]
    rows = [told_beside, hidden_in_a_file]
    if any(isinstance(leaf, SeededRows) for leaf in leaves):
        noisy = [frozen, halved, thrown_away, weaker_door] if first.drawn() else []
        return [*noisy, *rows, untested, claimed_less]
    noisy = [frozen, halved, thrown_away]
    if any(draw.sampler in (*SAMPLERS, "clear_counts") for one in promises for draw in one.drawn()):
        noisy.append(weaker_door)
    claims = [] if method.steps else [claimed_less]
    return [*noisy, *rows, asked_once_more, *claims]
