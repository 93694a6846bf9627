"""Whose rows a release will be made from, before it is made: from declarations alone, no row is read."""

from __future__ import annotations

from fractions import Fraction

from engine.methods.kinds import Shape, Spends
from engine.methods.protocol import Method
from engine.privacy.promise import Unit
from engine.release.make import HELD_OUT
from engine.utility.sampled import say_sample
from engine.views import Text


def whose_rows(design: Method, people: int | None, sample: Fraction | None = None) -> tuple[Text, ...]:
    """Say of whom how many rows will be used, who will be kept apart, and how many rows that is at most.

    Parameters
    ----------
    design
        What is to be made.
    people
        How many there are, as declared; None where nobody said it.
    sample
        Share of them who are in the release; None for all.

    Returns
    -------
    tuple of texts
        Empty where no row of people is read.
    """
    request = design.request
    if not request.private:
        return ()
    said, cap = list[Text](), request.rows_per_person
    if sample is not None:
        said += [*say_sample(sample), *([Text("sampled.charged")] if design.cost.loss is not None else [])]
    if any(source.shape is Shape.EVENTS for source in design.reads()):
        kept = "whole" if design.spends is Spends.NOTHING else "weighed"
        return (*said, Text(f"preview.rows.cap_{kept}"))
    if request.unit is Unit.PERSON:
        said.append(Text(f"preview.rows.cap{'_one' if cap == 1 else ''}", {"cap": cap}))
    if design.held_out:
        said.append(Text("preview.rows.held_out"))
    if people is not None and request.unit is Unit.PERSON and said:
        share = (1 - HELD_OUT if design.held_out else 1) * (sample or 1)
        values = {"people": people, "rows": round(people * cap * share)}
        said.append(Text(f"preview.rows.{'at_most' if share == 1 else 'about'}", values))
    return tuple(said)
