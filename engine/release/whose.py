"""Whose rows a release will be made from, before it is made: from declarations alone, no row is read."""

from __future__ import annotations

from engine.methods.kinds import Shape, Spends
from engine.methods.protocol import Method
from engine.privacy.promise import Unit
from engine.release.make import HELD_OUT
from engine.views import Text


def whose_rows(design: Method, people: int | None) -> tuple[Text, ...]:
    """Say of whom how many rows will be used, who will be kept apart, and how many rows that is at most.

    Parameters
    ----------
    design
        What is to be made.
    people
        How many there are, as declared; None where nobody said it.

    Returns
    -------
    tuple of texts
        Empty where no row of people is read.
    """
    request = design.request
    if not request.private:
        return ()
    said, cap = [], request.rows_per_person
    if any(source.shape is Shape.EVENTS for source in design.reads()):
        return (Text(f"preview.rows.cap_{'whole' if design.spends is Spends.NOTHING else 'weighed'}"),)
    if request.unit is Unit.PERSON:
        said.append(Text(f"preview.rows.cap{'_one' if cap == 1 else ''}", {"cap": cap}))
    if design.held_out:
        said.append(Text("preview.rows.held_out"))
    if people is not None and request.unit is Unit.PERSON and said:
        share = 1 - HELD_OUT if design.held_out else 1
        values = {"people": people, "rows": round(people * cap * share)}
        said.append(Text(f"preview.rows.{'about' if design.held_out else 'at_most'}", values))
    return tuple(said)
