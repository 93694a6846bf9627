"""Why the desk adds noise: what counts and sums without a guarantee give away, on invented people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays
from engine.analyses.protocol import Analysis, Answer, Context
from engine.analyses.shared import INTEGER, NUMBER
from engine.methods.parameters import Parameter
from engine.methods.protocol import Reference
from engine.views import TableView

if TYPE_CHECKING:
    from engine.table.table import Table

COLUMNS = 8
"""Yes-or-no columns that are known of everybody; somebody alone is told apart by them."""
EPSILON = 1.0


@dataclass(frozen=True)
class People:
    """Invented people: what is known of everybody, and a secret that half of them have.

    Parameters
    ----------
    known
        Shape (people, columns).
    secret
        Whether they have it.
    target
        Somebody who is alone in what is known.
    """

    known: arrays.Bools
    secret: arrays.Bools
    target: int

    @property
    def everybody(self) -> arrays.Bools:
        """All of them, as a set."""
        return np.ones(len(self.secret), dtype=bool)

    @property
    def alone(self) -> arrays.Bools:
        """The set of those who have all that is known of the target."""
        return np.asarray((self.known == self.known[self.target]).all(axis=1))

    @property
    def truth(self) -> bool:
        """What an attack wants to know."""
        return bool(self.secret[self.target])


def invent(count: int, chance: np.random.Generator) -> People:
    """Return people among whom somebody is alone in what is known of everybody."""
    known, secret = chance.random((count, COLUMNS)) < 0.5, chance.random(count) < 0.5
    known[0] = True
    known[1:, 0] &= ~known[1:].all(axis=1)  # nobody else has all of it
    return People(known, secret, 0)


class Desk:
    """Counts of the secret over sets of people, as a defence lets them out; counts what was asked."""

    def __init__(self, people: People, defence: Callable[[arrays.Bools, int, str], float | None]) -> None:
        self.people, self.defence, self.asked = people, defence, 0

    def count(self, inside: arrays.Bools, words: str = "") -> float | None:
        """Return the count of those in a set who have the secret; None where it is refused."""
        self.asked += 1
        return self.defence(inside, int((inside & self.people.secret).sum()), words)


# --- attacks: each returns whether the target has the secret, and how many counts it took ---------------


def size_control(people: People, least: int, chance: np.random.Generator) -> tuple[bool, int]:
    """Sets of fewer than k people, and of more than all but k, are refused; a tracker asks around it.

    Denning, Denning and Schwartz (1979): q(C) = q(C or T) + q(C or not T) − q(T) − q(not T).
    """

    def defence(inside: arrays.Bools, count: int, words: str) -> float | None:
        return count if least <= inside.sum() <= len(inside) - least else None

    desk, alone = Desk(people, defence), people.alone
    assert desk.count(alone) is None
    for column in range(COLUMNS):
        tracker = people.known[:, column]
        sets = (alone | tracker, alone | ~tracker, tracker, ~tracker)
        one, other, part, rest = (desk.count(inside) for inside in sets)
        if one is not None and other is not None and part is not None and rest is not None:
            return one + other - part - rest > 0, desk.asked
    return False, desk.asked


def refusals(people: People, least: int, chance: np.random.Generator) -> tuple[bool, int]:
    """Counts below k are refused, and no number is needed: with k − 1 who have it, is it answered?"""

    def defence(inside: arrays.Bools, count: int, words: str) -> float | None:
        return count if count >= least else None

    desk = Desk(people, defence)
    others = np.flatnonzero(people.secret & (np.arange(len(people.secret)) != people.target))[: least - 1]
    inside = np.isin(np.arange(len(people.secret)), [people.target, *others])
    return desk.count(inside) is not None, desk.asked


def overlap(people: People, least: int, chance: np.random.Generator) -> tuple[bool, int]:
    """Sets have k people at least, and two of them share one at most: rows and columns of a square.

    Dobkin, Jones and Lipton (1979): k columns with the target, k − 1 rows without; what is left is k times
    the target.
    """
    told: list[arrays.Bools] = []

    def defence(inside: arrays.Bools, count: int, words: str) -> float | None:
        if inside.sum() < least or any((inside & one).sum() > 1 for one in told):
            return None
        told.append(inside)
        return count

    desk, places = Desk(people, defence), np.arange(len(people.secret))
    square = places[places != people.target][: least * (least - 1)].reshape(least - 1, least)
    sets = [*square, *(np.append(column, people.target) for column in square.T)]
    counts = [desk.count(np.isin(places, one)) for one in sets]
    assert None not in counts
    rows, columns = counts[: least - 1], counts[least - 1 :]
    return (sum(columns) - sum(rows)) / least > 0.5, desk.asked  # type: ignore[arg-type]


def rounding(people: People, least: int, chance: np.random.Generator) -> tuple[bool, int]:
    """Counts are rounded up to k: others who have it are put in until the next step is reached."""

    def defence(inside: arrays.Bools, count: int, words: str) -> float | None:
        return -(-count // least) * least

    desk, places = Desk(people, defence), np.arange(len(people.secret))
    have = np.flatnonzero(people.secret & (places != people.target))
    for more in range(least + 2):
        found = desk.count(np.isin(places, [people.target, *have[:more]]))
        if found is not None and found > least:
            return more == least, desk.asked  # the target made it one more
    return False, desk.asked


def averaged(
    people: People, least: int, chance: np.random.Generator, *, deviation: float
) -> tuple[bool, int]:
    """Every count has fresh Gaussian noise and is rounded: the mean of a hundred of the same count."""

    def defence(inside: arrays.Bools, count: int, words: str) -> float | None:
        return float(round(count + chance.normal(0, deviation)))

    desk = Desk(people, defence)
    found = np.mean([desk.count(people.alone) for _ in range(100)])
    return bool(found > 0.5), desk.asked


def reworded(
    people: People, least: int, chance: np.random.Generator, *, deviation: float
) -> tuple[bool, int]:
    """The same, and a count is locked after seven times: other words for it are another count."""
    times: dict[str, int] = {}

    def defence(inside: arrays.Bools, count: int, words: str) -> float | None:
        times[words] = times.get(words, 0) + 1
        return float(round(count + chance.normal(0, deviation))) if times[words] <= 7 else None

    desk, told = Desk(people, defence), []
    for turn in range(15):
        told += [desk.count(people.alone, f"all of it, and (x{turn} or not x{turn})") for _ in range(7)]
    return bool(np.mean([one for one in told if one is not None]) > 0.5), desk.asked


def with_noise(people: People, least: int, chance: np.random.Generator) -> tuple[bool, int]:
    """The desk: noise of ε = 1 is drawn once for a count, and the same count has the same noise again."""
    kept: dict[bytes, float] = {}

    def defence(inside: arrays.Bools, count: int, words: str) -> float | None:
        key = inside.tobytes()
        if key not in kept:
            below = np.exp(-EPSILON)
            drawn = chance.geometric(1 - below, 2)
            kept[key] = float(count + drawn[0] - drawn[1])
        return kept[key]

    desk = Desk(people, defence)
    found = np.mean([desk.count(people.alone) for _ in range(100)])
    return bool(found > 0.5), desk.asked


class CountAttacks(Analysis):
    """Size control, refusals, overlap control, rounding, obfuscated counts and locked repeats; and the desk.

    Notes
    -----
    Each attack asks what its defence answers, and nothing else. Its guess about one person, who is alone in
    what is known of everybody, is right half of the time by chance.
    """

    id = "count_attacks"
    published = Reference(
        "Denning, Denning and Schwartz: the tracker, a threat to statistical database security (1979)",
        "size control; overlap: Dobkin, Jones and Lipton (1979)",
    )
    parameters = (
        Parameter("people", INTEGER, default=300, minimum=150, maximum=5000),
        Parameter("least", INTEGER, default=10, minimum=2, maximum=10),
        Parameter("deviation", NUMBER, default="1.33"),
        Parameter("runs", INTEGER, default=100, minimum=10, maximum=2000),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        runs, deviation = values["runs"], abs(float(values["deviation"]))
        attacks: dict[str, Callable[..., tuple[bool, int]]] = {
            "size": size_control,
            "refusals": refusals,
            "overlap": overlap,
            "rounding": rounding,
            "obfuscated": lambda *given: averaged(*given, deviation=deviation),
            "locked": lambda *given: reworded(*given, deviation=deviation),
            "desk": with_noise,
        }
        found = {}
        for name, attack in attacks.items():
            right, asked = 0, 0
            for _ in range(runs):
                people = invent(values["people"], context.chance)
                guess, counts = attack(people, values["least"], context.chance)
                right += guess == people.truth
                asked += counts
            found[name] = {"right": right / runs, "counts": asked / runs}
        bound = float(np.exp(EPSILON) / (1 + np.exp(EPSILON)))
        headings = tuple(self.word(f"attacks.{name}") for name in ("defence", "attack", "counts", "right"))
        rows = tuple(
            (
                self.word(f"defences.{name}", least=values["least"]),
                self.word(f"asked.{name}"),
                round(one["counts"], 1),
                round(one["right"], 3),
            )
            for name, one in found.items()
        )
        lines = [
            self.word("said", people=values["people"], runs=runs),
            self.word("noise", epsilon=EPSILON, share=round(bound, 3)),
        ]
        views = (self.sentences(lines), TableView(self.word("attacks.title"), headings, rows))
        return Answer(views, {"runs": runs, "bound": bound, "attacks": found})
