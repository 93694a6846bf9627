"""The checks that every mechanism and every method goes through; each takes the thing under test.

`failing` runs all that apply and names those that failed. An honest subject fails none; a mutant must fail
the check that is there for it, in the same run of the same function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings

from tests.engine.battery.audit import epsilon_at_least
from tests.engine.battery.distributions import CheckFailed, check_moments, check_pmf, check_residues
from tests.engine.battery.replay import Player, Recorder
from tests.engine.battery.subject import Subject
from tests.examples import many
from tests.noise_source import seeded_noise

EXAMPLES = 150  # usual


def check_sensitivity(subject: Subject) -> None:
    """Neighbours made by hypothesis never move the answer, in exact integers, by more than declared."""

    def probe(pair: tuple[Any, Any]) -> None:
        first, second = (_steps(subject, subject.query(data), exact=True) for data in pair)
        if len(first) != len(second):
            raise CheckFailed("the shape of the answer depends on the data")
        moved = sum(abs(a - b) for a, b in zip(first, second, strict=True))
        if moved > subject.sensitivity:
            raise CheckFailed(f"the answer moved by {moved} steps, declared {subject.sensitivity}")

    _on_neighbours(subject, probe)


def check_any_data(subject: Subject) -> None:
    """Whatever the rows hold, the release is made, finite, and of one shape."""
    shape = np.shape(subject.release(subject.pair[0], seeded_noise(1)))

    def probe(pair: tuple[Any, Any]) -> None:
        for data in pair:
            try:
                released = np.asarray(subject.release(data, seeded_noise(1)))
            except Exception as error:
                raise CheckFailed(f"rows were refused: {type(error).__name__}") from error
            if released.shape != shape or not np.isfinite(released.astype(np.float64)).all():
                raise CheckFailed("the shape depends on the data or a number is not finite")

    _on_neighbours(subject, probe)


def check_replay(subject: Subject) -> None:
    """With the noise frozen, taking out any unit changes no call, and the answer by the declared at most."""
    data = max(subject.pair, key=len)
    recorder = Recorder(seed=3)
    before = subject.release(data, recorder)
    for rows in subject.rows_of_units(data):
        player = Player(recorder.calls, rows_before=len(data), removed=rows, sensitivity=subject.sensitivity)
        after = subject.release(subject.rows_removed(data, rows), player)
        player.finish()
        if np.shape(before) != np.shape(after):
            raise CheckFailed("the shape of the release depends on the data")
        if subject.step is None:
            continue
        steps = zip(_steps(subject, before), _steps(subject, after), strict=True)
        moved = sum(abs(a - b) for a, b in steps)
        if moved > subject.sensitivity:
            raise CheckFailed(f"the release moved by {moved} steps, declared {subject.sensitivity}")


def check_lattice(subject: Subject) -> None:
    """Every number that leaves is a whole number of steps on both neighbours, divided last.

    Noise added to a double takes over the double's last bits, and these tell neighbours apart however good
    the sampler is (S. Haney et al., "Precision-based attacks and interval refining", 2022).
    """
    noise = seeded_noise(4)
    for data in subject.pair:
        for _ in range(100):
            for value in np.ravel(subject.release(data, noise)).tolist():
                steps = round(Fraction(value) / subject.step)
                if value != (steps * subject.step if isinstance(value, int) else float(steps * subject.step)):
                    raise CheckFailed("a released number is not on the declared grid")


def check_source(subject: Subject) -> None:
    """All randomness comes through the door that was given, and none is left out."""
    data = subject.pair[0]

    def releases(seed: int) -> list:
        noise = seeded_noise(seed)
        return [np.ravel(subject.release(data, noise)).tolist() for _ in range(40)]

    found = releases(1)
    if found != releases(1):
        raise CheckFailed("randomness came from somewhere else")
    if found == releases(2):
        raise CheckFailed("the noise does not depend on the source: a fixed seed")
    if all(released == found[0] for released in found):
        raise CheckFailed("every release is the same")


def check_noise(subject: Subject) -> None:
    """Release less answer follows the declared distribution."""
    data, noise = subject.pair[0], seeded_noise(5)
    truth = _steps(subject, subject.query(data), exact=True)
    if subject.release_often is not None:
        statistics = subject.release_often(data, noise, 200_000)
        draws = np.rint(np.asarray(statistics) / float(subject.step)).astype(np.int64) - sum(truth)
    else:
        released = [_steps(subject, subject.release(data, noise)) for _ in range(5_000)]
        if any(len(row) != len(truth) for row in released):
            raise CheckFailed("more or fewer numbers leave than the answer has")
        draws = np.array([a - b for row in released for a, b in zip(row, truth, strict=True)], dtype=np.int64)
    check_pmf(draws, subject.law)
    check_residues(draws, subject.law, modulus=16)
    check_moments(draws, subject.law)


def check_audit(subject: Subject) -> None:
    """The 99.9 % lower bound on the real ε stays within the claim."""
    outputs = []
    for place, data in enumerate(subject.pair):
        noise, runs = seeded_noise(6 + place), subject.audit_runs
        if subject.release_often is not None:
            outputs.append(np.asarray(subject.release_often(data, noise, runs), dtype=np.float64))
        else:
            outputs.append(np.array([subject.statistic(subject.release(data, noise)) for _ in range(runs)]))
    found = epsilon_at_least(*outputs)
    if found > float(subject.epsilon):
        raise CheckFailed(f"ε is at least {found:.3f}, claimed {float(subject.epsilon):.3f}")


def applicable(subject: Subject) -> dict[str, Callable[[Subject], None]]:
    """Return the checks that the subject's declarations allow."""
    has_query = subject.query is not None
    wanted = {
        "sensitivity": has_query and subject.sensitivity is not None and subject.neighbours is not None,
        "any data": subject.neighbours is not None,
        "replay": subject.rows_removed is not None and subject.sensitivity is not None,
        "lattice": subject.step is not None,
        "source": True,
        "noise": has_query and subject.law is not None and subject.step is not None,
        "audit": subject.epsilon is not None,
    }
    return {name: CHECKS[name] for name, applies in wanted.items() if applies}


def failing(subject: Subject, *, only: Collection[str] | None = None) -> dict[str, str]:
    """Run every check that applies, or ``only`` some of these; return what each failing one found."""
    found = {}
    for name, check in applicable(subject).items():
        if only is not None and name not in only:
            continue
        try:
            check(subject)
        except CheckFailed as error:
            found[name] = str(error)
    return found


def _on_neighbours(subject: Subject, probe: Callable[[tuple[Any, Any]], None]) -> None:
    for pair in subject.neighbours.certain:
        probe(pair)
    quick = settings(
        max_examples=many(EXAMPLES),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    quick(given(subject.neighbours.strategy)(probe))()


def _steps(subject: Subject, values: Any, *, exact: bool = False) -> list[int]:
    """Return numbers as whole steps; an answer (``exact``) is in steps already and must be whole."""
    flat = np.ravel(values).tolist()
    if not all(np.isfinite(float(value)) for value in flat):
        raise CheckFailed("a number is not finite")
    if exact:
        if any(value != int(value) for value in flat):
            raise CheckFailed("the answer before noise is not in whole steps")
        return [int(value) for value in flat]
    return [round(Fraction(value) / subject.step) for value in flat]


CHECKS: dict[str, Callable[[Subject], None]] = {
    "sensitivity": check_sensitivity,
    "any data": check_any_data,
    "replay": check_replay,
    "lattice": check_lattice,
    "source": check_source,
    "noise": check_noise,
    "audit": check_audit,
}
