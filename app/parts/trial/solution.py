"""The map of combinations in words: which are beside one another, why one wins, what a step costs. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app import words
from app.words.money import size
from engine.methods.trying import Candidate, SolutionMap


@dataclass(frozen=True)
class Beside:
    """A combination one step of one column away: its place, the column, and the step it then takes."""

    place: int
    ladder: int
    step: int


def neighbours(shown: SolutionMap, place: int) -> tuple[list[Beside], list[Beside]]:
    """Return what is one step finer and one step coarser, as far as it is in the map."""
    at = {one.steps: number for number, one in enumerate(shown.candidates)}
    steps = shown.candidates[place].steps
    found: tuple[list[Beside], list[Beside]] = ([], [])
    for ladder, step in enumerate(steps):
        for side, other in enumerate((step - 1, step + 1)):
            beside = at.get((*steps[:ladder], other, *steps[ladder + 1 :]))
            if beside is not None:
                found[side].append(Beside(beside, ladder, other))
    return found


def move_step(shown: SolutionMap, place: int, ladder: int, step: int) -> int | None:
    """Return the combination in which one column takes another step; None where the map lacks it."""
    steps = shown.candidates[place].steps
    wanted = (*steps[:ladder], step, *steps[ladder + 1 :])
    return next((at for at, one in enumerate(shown.candidates) if one.steps == wanted), None)


def best_first(shown: SolutionMap) -> list[int]:
    """Return the combinations that hold by their loss, then the others by whom they leave out."""

    def order(place: int) -> tuple[bool, float, int, tuple[int, ...]]:
        one = shown.candidates[place]
        return not one.holds, one.lost if one.holds else one.left_out, one.left_out, one.steps

    return sorted(range(len(shown.candidates)), key=order)


def step_words(shown: SolutionMap, ladder: int, step: int) -> str:
    """Return how a column reads on a step, by one of its values where it has many."""
    own = shown.ladders[ladder]
    if step == len(own.sizes) - 1:
        return words.say("app.trying.map.nothing")
    if own.reads and own.reads[step]:
        return cut(own.reads[step])
    return words.say("app.trying.map.values", count=own.sizes[step])


def cut(text: str, most: int = 24) -> str:
    """Return a text that has room on a button."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def best_with(shown: SolutionMap, locks: Collection[int], place: int) -> int | None:
    """Return the combination that loses least of those that hold and keep some columns as they are."""
    steps = shown.candidates[place].steps
    fits = [
        at
        for at, one in enumerate(shown.candidates)
        if one.holds and all(one.steps[ladder] == steps[ladder] for ladder in locks)
    ]
    return min(fits, key=lambda at: shown.candidates[at].lost, default=None)


def lock_to_open(shown: SolutionMap, locks: Collection[int], place: int) -> int | None:
    """Return the lock without which something could leave at the least loss; None where one is not enough."""
    found = {ladder: best_with(shown, set(locks) - {ladder}, place) for ladder in sorted(locks)}
    opened = {ladder: at for ladder, at in found.items() if at is not None}
    return min(opened, key=lambda ladder: shown.candidates[opened[ladder]].lost, default=None)


def steps_words(shown: SolutionMap, candidate: Candidate) -> str:
    """Return all steps of a combination in one line."""
    return ", ".join(
        words.pair(ladder.column, step_words(shown, place, candidate.steps[place]))
        for place, ladder in enumerate(shown.ladders)
    )


def write_loss(shown: SolutionMap, value: float) -> str:
    """Write a loss."""
    return words.signed(f"{100 * value:.1f}\u00a0%") if shown.is_share else size(value)


def beside_words(shown: SolutionMap, one: Beside) -> str:
    """Return the step to a neighbour in words: the column and what it becomes."""
    column = shown.ladders[one.ladder].column
    return words.pair(column, step_words(shown, one.ladder, one.step))


def why_barred(shown: SolutionMap, place: int) -> str:
    """Say why a combination cannot leave, and what leaves instead while nothing else is chosen."""
    taken = shown.candidates[shown.taken]
    leaves = words.say("app.trying.map.leaves" if taken.holds else "app.trying.map.nothing_leaves")
    return f"{why(shown, place)} {leaves}" + (f" {steps_words(shown, taken)}." if taken.holds else "")


def why(shown: SolutionMap, place: int) -> str:
    """Say why a combination is, or is not, the one that loses least."""
    one, best = shown.candidates[place], shown.candidates[shown.best]
    holding = sum(candidate.holds for candidate in shown.candidates)
    if not one.holds:
        name = "too_many" if one.left_out > shown.most_left_out else "fails"
        return words.say(f"app.trying.map.{name}", left_out=one.left_out, most=shown.most_left_out)
    if place == shown.best:
        name = "best" if len(shown.candidates) == shown.possible else "best_of_more"
        told = words.say(
            f"app.trying.map.{name}",
            holding=holding,
            lost=write_loss(shown, one.lost),
            possible=shown.possible,
        )
        return told + " " + words.say(f"app.trying.map.{'proven' if shown.proven else 'unproven'}")
    return words.say(
        "app.trying.map.not_best",
        lost=write_loss(shown, one.lost),
        least=write_loss(shown, best.lost),
        holding=holding,
    )


def changed_by(shown: SolutionMap, places: Sequence[Beside]) -> list[tuple[str, str, bool]]:
    """Return a line for each neighbour: the step, what it would leave out and lose, and whether it holds."""
    lines = []
    for one in places:
        candidate = shown.candidates[one.place]
        cost = words.say(
            "app.trying.map.would", left_out=candidate.left_out, lost=write_loss(shown, candidate.lost)
        )
        lines.append((beside_words(shown, one), cost, candidate.holds))
    return lines
