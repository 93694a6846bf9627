"""Replay of a whole release: everything that leaves is a function of answers that were paid for.

A release is made from files with every call of the noise door recorded, and every exact sum beside the noise
that it got. Then it is made from a neighbour with the same answers forced on it. What was asked, and every
byte that leaves, has to be the same; how far sums and scores moved, beside the noise as it was drawn, is the
loss, which is compared with what is claimed. From a table that is no neighbour at all the same has to leave,
too: whoever publishes an exact number, or lets a row decide anything, is seen there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime as Clock
from fractions import Fraction
from functools import cache, partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.special import log_ndtr

from engine.errors import InputRefused
from engine.evaluation.catalogue import choose_measures
from engine.evaluation.protocol import Audience
from engine.ledger import Ledger
from engine.methods.protocol import Method, Release, Source
from engine.pricing.price import AllowedLevels
from engine.privacy.mechanisms.integers import Integers, listening, noisy
from engine.privacy.noise import Noise
from engine.privacy.promise import Promise
from engine.progress import SILENT
from engine.release import bundle, make, reading
from engine.release import check as ready_made
from engine.release import foreseen as before_rows
from engine.release.foreseen import Foreseen, foresee
from engine.release.make import Draft
from engine.release.plan import Plan
from engine.release.run import run_through
from engine.views import to_json
from tests.engine.battery.distributions import CheckFailed
from tests.engine.battery.replay import Call, Player, Recorder
from tests.engine.flip import flip_probabilities
from tests.engine.methods.audit.tables import (
    FURTHEST,
    Bench,
    Neighbour,
    Rows,
    neighbours,
    one_of_each,
    people_at_the_end,
    read_once,
    without,
)
from tests.engine.methods.audit.tables import bench as bench_of
from tests.engine.sparse import log_chance
from tests.noise_source import seeded_noise

SUMS = ("discrete_laplace", "laplace_share", "discrete_gaussian", "gaussian_share", "vector", "staircase")
"""The samplers whose draws are added to sums."""
CHOICES = ("exponential_choice", "permute_and_flip", "sparse_vector")
CLEAR = "clear_counts"
"""The sampler that is shown counts of cells that are there, and answers with those that stand out."""
NOBODY = np.array([], dtype=int)
ROUNDING = 1e-9
DRAWN_AGAIN = 4_000
"""So many further draws say how large the noise of a call really is; the mean is then off by 2 % or so."""
TOO_SMALL = 0.85
"""Noise whose mean size is so much of what it was asked for is less noise than was asked for."""

GRID = 1 << 16
"""Points that losses are added up on."""

Leaves = dict[str, bytes]


@dataclass(frozen=True)
class Sum:
    """An exact sum, the place of the call that drew its noise, and what came out."""

    exact: Integers
    call: int
    answer: Integers


Law = tuple[np.ndarray, np.ndarray]
"""Losses between two tables, and the chance of each on one of them."""


@dataclass(frozen=True)
class Told:
    """How much answers tell: ε of pure noise and choices with the law of each, and ρ of Gaussian noise.

    ``laws`` has for every pure answer the losses in both directions: from the table, and from its neighbour.
    ``failed`` is the chance that something leaves which never does on the other one.
    """

    pure: float = 0.0
    concentrated: float = 0.0
    laws: tuple[tuple[Law, Law], ...] = field(default=(), repr=False)
    failed: float = 0.0

    def __add__(self, other: Told) -> Told:
        return Told(
            self.pure + other.pure,
            self.concentrated + other.concentrated,
            self.laws + other.laws,
            self.failed + other.failed,
        )

    @staticmethod
    def purely(epsilon: float) -> Told:
        """Return what an answer tells of which nothing but ε is known: at most a lot with two outcomes."""
        law = np.array([epsilon, -epsilon]), np.array([1.0, math.exp(-epsilon)]) / (1 + math.exp(-epsilon))
        return Told(epsilon, 0.0, ((law, law),))

    @staticmethod
    def chosen(before: np.ndarray, now: np.ndarray) -> Told:
        """Return what a choice tells, by the logarithms of its chances on both tables."""
        seen = np.isfinite(before) & np.isfinite(now)  # below 1e-300 there is no number
        before, now = before[seen], now[seen]
        ratio = before - now
        laws = (ratio, np.exp(before)), (-ratio, np.exp(now))
        return Told(float(np.abs(ratio).max()), 0.0, (laws,))


@dataclass
class Tape:
    """What a release asked of the noise door, and the sums that got its answers, in their order."""

    calls: list[Call] = field(default_factory=list)
    sums: list[Sum] = field(default_factory=list)


class Hearing:
    """Hears every sum that gets noise, and answers as a tape says where there is one."""

    def __init__(self, calls: Callable[[], list[Call]], forced: Tape | None = None) -> None:
        self.sums: list[Sum] = []
        self._calls, self._forced = calls, forced
        self._used: set[int] = set()

    def __call__(self, values: Integers, draws: Integers) -> Integers:
        """Answer in place of `added`."""
        place = self._place_of(draws)
        if self._forced is None:
            answer = noisy(values, draws)
        else:
            if len(self.sums) >= len(self._forced.sums):
                raise CheckFailed("one more sum gets noise than on the neighbour")
            before = self._forced.sums[len(self.sums)]
            if before.call != place or before.exact.shape != values.shape:
                raise CheckFailed("the sums that get noise depend on the rows")
            answer = before.answer
        self.sums.append(Sum(np.array(values), place, np.array(answer)))
        return np.array(answer)

    def _place_of(self, draws: Integers) -> int:
        """Return which call of the door drew this noise; each is used once and as it was drawn."""
        for place, call in enumerate(self._calls()):
            if (
                place not in self._used
                and call.name in SUMS
                and np.array_equal(np.ravel(call.answer), np.ravel(draws))
            ):
                self._used.add(place)
                return place
        raise CheckFailed("what was added to a sum is not the noise that the door drew")

    def finish(self) -> None:
        """Fail where noise was drawn that no sum got, and where fewer sums got some than on the neighbour."""
        drawn = {
            place for place, call in enumerate(self._calls()) if call.name in SUMS and call.asked[-1] != 0
        }
        if {place for place in drawn if np.size(self._calls()[place].answer)} != self._used:
            raise CheckFailed("noise was drawn that no sum got")
        if self._forced is not None and len(self.sums) != len(self._forced.sums):
            raise CheckFailed("fewer sums get noise than on the neighbour")


class _Watching(Player):
    """A player that keeps what the door was shown in both runs."""

    def __init__(self, calls: list[Call]) -> None:
        super().__init__(calls, rows_before=-1, removed=NOBODY, sensitivity=None)
        self.shown: list[tuple[Call, tuple[np.ndarray, ...]]] = []
        self._recorded = list(calls)

    @property
    def answered(self) -> list[Call]:
        """The calls so far."""
        return self._recorded[: len(self._recorded) - len(self._left)]

    def _compare_shown(self, before: tuple[np.ndarray, ...], now: tuple[np.ndarray, ...]) -> None:
        call = self.answered[-1]
        if call.name == CLEAR:
            self.shown.append((call, now))
            return
        super()._compare_shown(before, now)
        if (
            before
            and call.name not in CHOICES
            and any((a != b).any() for a, b in zip(before, now, strict=True))
        ):
            raise CheckFailed(f"{call.name} was shown rows")
        self.shown.append((call, now))


# --- making -------------------------------------------------------------------------------------------


def lots(seed: int) -> Noise:
    """Return the door for the cap and the split, whose lots go by the place of a row and by nothing else."""
    return _lots(seeded_noise(seed))


def _lots(noise: Noise) -> Noise:
    noise.random_keys = lambda size: np.arange(size, dtype=np.uint64) << np.uint64(40)  # type: ignore[method-assign]
    noise.bernoulli = lambda p, size: np.random.default_rng(11).random(size) < float(p)  # type: ignore[method-assign]
    return noise


@contextmanager
def heard_by(tape: Noise, hearing: Hearing) -> Iterator[None]:
    """Give a method another noise door, and hear its sums, after the lots of the cap were drawn."""
    honest = make._make

    def made(design: Any, used: Any, context: Any) -> Release:
        with listening(hearing):
            release = honest(design, used, replace(context, noise=tape))
        if tape.counted:
            context.noise._bytes(1)  # the first draw spends
        context.noise._counted.update(tape.counted)
        return release

    with patch.object(make, "_make", made):
        yield


def draft_of(bench: Bench, rows: Rows, noise: Noise) -> Draft:
    """Make the release of a bench from these rows."""
    with TemporaryDirectory() as folder:
        return make.make(bench.design, bench.prepared(rows), noise, folder=Path(folder))


def leaves_of(release: Release) -> Leaves:
    """Return every byte that leaves: files, promise, views, notes, and the state of a service."""
    found: Leaves = {}
    with TemporaryDirectory() as folder:
        for artefact in release.artefacts:
            bundle.write_artefact(Path(folder), artefact, "en")
            found |= {name: (Path(folder) / name).read_bytes() for name in artefact.files}
            found[f"dictionary of {artefact.files[0]}"] = repr(getattr(artefact, "dictionary", "")).encode()
    found["promise"] = json.dumps(release.promise.to_json(), sort_keys=True).encode()
    found["views"] = json.dumps([to_json(view) for view in release.views], default=str).encode()
    found["notes"] = json.dumps([asdict(note) for note in release.notes], default=str).encode()
    found["state"] = release.state or b""
    return found


def recorded(bench: Bench, rows: Rows, *, seed: int = 3) -> tuple[Tape, Leaves]:
    """Make a release and record it."""
    recorder = Recorder(seed)
    hearing = Hearing(lambda: recorder.calls)
    with heard_by(recorder, hearing):
        release = draft_of(bench, rows, lots(seed)).release
    hearing.finish()
    return Tape(recorder.calls, hearing.sums), leaves_of(release)


def replayed(bench: Bench, rows: Rows, tape: Tape) -> tuple[Told, Leaves]:
    """Make a release from other rows with the same answers; return what these tell, and what leaves."""
    player = _Watching(tape.calls)
    hearing = Hearing(lambda: player.answered, tape)
    with heard_by(player, hearing):
        release = draft_of(bench, rows, lots(3)).release
    player.finish()
    hearing.finish()
    return told_by(tape, hearing, player), leaves_of(release)


# --- loss ---------------------------------------------------------------------------------------------


def told_by(tape: Tape, hearing: Hearing, player: _Watching) -> Told:
    """Return what all answers tell of two tables."""
    told = sum((of_sum(tape, one, other) for one, other in zip(tape.sums, hearing.sums, strict=True)), Told())
    for call, now in player.shown:
        if call.name in CHOICES:
            told += of_choice(call, now[0])
        elif call.name == CLEAR:
            told += of_clear(call, now)
    return told


def of_sum(tape: Tape, one: Sum, other: Sum) -> Told:
    """Return what a noisy sum tells of two tables, by the noise that its call really draws."""
    moved = (one.exact.astype(object) - other.exact.astype(object)).ravel()
    if not any(moved):
        return Told()
    call = tape.calls[one.call]
    size = drawn_size(call.name, call.asked)
    if call.name in ("discrete_laplace", "laplace_share"):  # of a share: with those of the other sites
        return Told.purely(float(np.abs(moved).sum() / (size * float(call.asked[0]))))
    if call.name == "vector":
        return Told.purely(float((moved**2).sum() / (size**2 * float(call.asked[0]))) ** 0.5)
    if call.name in ("discrete_gaussian", "gaussian_share"):
        return Told(concentrated=float((moved**2).sum() / (2 * size**2 * float(call.asked[0]))))
    step, plateau, epsilon = int(call.asked[0]), int(call.asked[1]), float(call.asked[2])
    return Told.purely(sum(epsilon * stairs(abs(int(one)), step, plateau) for one in moved) / size)


def of_clear(call: Call, now: tuple[np.ndarray, ...]) -> Told:
    """Return what counts of cells that stand out tell: of all cells, or of those that are on both tables.

    Where cells cannot be listed, one that is on one table alone leaves from there with a chance that nothing
    on the other one has.
    """
    scale, size, threshold = call.asked
    tables = [dict(zip(cells.tolist(), counts.tolist(), strict=True)) for cells, counts in (call.shown, now)]
    if any(
        min(one.values(), default=1) < 1 or len(one) != len(cells)
        for one, (cells, _) in zip(tables, (call.shown, now), strict=True)
    ):
        raise CheckFailed("an empty cell, or one twice, was shown")
    if size and any(not 0 <= cell < size for one in tables for cell in one):
        raise CheckFailed("a cell that was not declared")
    drawn = drawn_size(CLEAR, (scale,)) * float(scale)
    moved, failed = 0, [0.0, 0.0]
    for cell in tables[0].keys() | tables[1].keys():
        first, second = (one.get(cell, 0) for one in tables)
        if size or (first and second):
            moved += abs(first - second)
        else:
            failed[bool(second)] += above(max(first, second), threshold, drawn)
    return replace(Told.purely(moved / drawn) if moved else Told(), failed=max(failed))


def above(count: int, threshold: int, scale: float) -> float:
    """Return P(count + X ≥ τ) of discrete Laplace noise."""
    q, left = math.exp(-1 / scale), threshold - count
    return q**left / (1 + q) if left > 0 else 1 - q ** (1 - left) / (1 + q)


def stairs(moved: int, step: int, plateau: int) -> int:
    """Return how many stairs a number can go down by moving so far: tried at every place of one period."""

    def stair(z: int) -> int:
        return 0 if abs(z) < plateau else 1 + (abs(z) - plateau) // step

    reach = range(-moved - 2 * step, 2 * step + 1)
    return max(abs(stair(z) - stair(z + moved)) for z in reach)


def of_choice(call: Call, scores: np.ndarray) -> Told:
    """Return how far apart a choice from other scores is, at its worst candidate."""
    before, rate = call.shown[0], float(call.asked[-1])
    if np.array_equal(before, scores):
        return Told()
    if call.name == "sparse_vector":
        return of_list(call, before, scores)
    if call.name == "permute_and_flip":
        logs = [np.log(flip_probabilities(one, rate)) for one in (before, scores)]
    else:
        weights = [rate * (one - one.max()).astype(float) for one in (before, scores)]
        logs = [one - np.log(np.exp(one).sum()) for one in weights]
    return Told.chosen(*logs)


def of_list(call: Call, before: np.ndarray, scores: np.ndarray) -> Told:
    """Return how far apart a list of comparisons is: at what it said, and at every list with one above."""
    each, most, threshold = call.asked
    found = [call.answer]
    for place in range(len(scores) + 1):
        said = np.where(np.arange(len(scores)) == place, 1, 0)
        found.append(np.where(np.arange(len(scores)) > place, -1, said) if most == 1 else said)
    losses = [
        log_chance(before, said, threshold=threshold, each=each)
        - log_chance(scores, said, threshold=threshold, each=each)
        for said in found
    ]
    return Told.purely(max(map(abs, losses)))


def drawn_size(name: str, asked: tuple[Any, ...]) -> float:
    """Return how large noise is as drawn, as a share of what was asked for; 1 where it looks the same."""
    found = _measured(
        name,
        asked[:1]
        if name == CLEAR
        else asked[:-1]
        if name in ("discrete_laplace", "laplace_share", "discrete_gaussian", "gaussian_share")
        else asked,
        getattr(Noise, name),
    )
    return 1.0 if found >= TOO_SMALL else found


@cache
def _measured(name: str, asked: tuple[Any, ...], sampler: Any) -> float:
    """Draw again from the door, many times, and compare the mean size with that of the law."""
    noise = seeded_noise(9)
    if name == "discrete_laplace":
        draws = noise.discrete_laplace(asked[0], DRAWN_AGAIN)
        q = math.exp(-1 / asked[0])
        expected = 2 * q / (1 - q * q)
    elif name == CLEAR:
        many = np.full(DRAWN_AGAIN, 10**9)
        draws = noise.clear_counts(np.arange(DRAWN_AGAIN), many, scale=asked[0], threshold=1)[1] - many
        q = math.exp(-1 / asked[0])
        expected = 2 * q / (1 - q * q)
    elif name == "laplace_share":
        draws = sum(noise.laplace_share(asked[0], asked[1], DRAWN_AGAIN) for _ in range(asked[1]))
        q = math.exp(-1 / asked[0])
        expected = 2 * q / (1 - q * q)
    elif name in ("discrete_gaussian", "gaussian_share"):
        parts = int(asked[1]) if name == "gaussian_share" else 1
        own = (
            partial(noise.gaussian_share, asked[0], parts)
            if parts > 1
            else partial(noise.discrete_gaussian, asked[0])
        )
        draws = sum(own(DRAWN_AGAIN) for _ in range(parts))
        z = np.arange(-1000, 1001)
        weights = np.exp(-(z**2) / (2 * float(asked[0])))
        expected = (
            float((np.abs(z) * weights).sum() / weights.sum())
            if asked[0] < 10_000
            else math.sqrt(2 * float(asked[0]) / math.pi)
        )
    elif name == "vector":
        dimension = int(asked[1])
        draws = np.linalg.norm(noise.vector(asked[0], dimension, size=400).astype(float), axis=1)
        expected = dimension * math.sqrt(asked[0])
    else:
        draws, expected = noise.staircase(asked[0], asked[1], epsilon=asked[2], size=DRAWN_AGAIN), 0.0
    return 1.0 if expected < 0.05 else max(float(np.abs(draws.astype(float)).mean() / expected), 1e-12)


def within(told: Told, promise: Promise, *, apart: int) -> bool:
    """Say whether what was told is within a claim, between tables that differ by so many people.

    With a δ, the laws of all answers are composed. For ``apart`` people ε is as many times as large, and δ as
    often (1 + e^ε + …).
    """
    assert promise.loss is not None
    epsilon, delta = float(promise.loss.epsilon) * apart, float(promise.loss.delta)
    delta *= sum(math.exp(place * float(promise.loss.epsilon)) for place in range(apart))
    if told.concentrated == 0 and told.pure <= epsilon * (1 + ROUNDING):
        return told.failed <= delta * (1 + ROUNDING)
    return delta > 0 and delta_of(told, epsilon) + told.failed <= delta * 1.05


def delta_of(told: Told, epsilon: float) -> float:
    """Return δ(ε) of all answers together, in the worse direction: their losses add up."""
    found = []
    for way in (0, 1):
        losses, chances = composed([both[way] for both in told.laws])
        left = epsilon - losses
        if told.concentrated:
            deltas = gaussian_delta(told.concentrated, left)
        else:
            deltas = np.maximum(0.0, -np.expm1(left))
        found.append(float(chances @ deltas))
    return max(found)


def composed(laws: Sequence[Law]) -> Law:
    """Return the law of a sum of losses, on a grid; each loss stands on the two points beside it."""
    reach = sum(float(np.abs(losses).max()) for losses, _ in laws)
    if reach == 0:
        return np.zeros(1), np.ones(1)
    half = GRID // 2
    step = reach / (half - len(laws) - 1)
    product = np.ones(half + 1, dtype=complex)
    for losses, chances in laws:
        below = np.floor(losses / step).astype(int)
        above = losses / step - below
        line = np.zeros(GRID)
        np.add.at(line, below % GRID, chances * (1 - above))
        np.add.at(line, (below + 1) % GRID, chances * above)
        product *= np.fft.rfft(line)
    line = np.fft.fftshift(np.fft.irfft(product, GRID))
    return (np.arange(GRID) - half) * step, np.maximum(line, 0.0)


def gaussian_delta(rho: float, epsilon: np.ndarray) -> np.ndarray:
    """Return δ(ε) of Gaussian noise: Balle and Wang (2018), theorem 8."""
    mu = math.sqrt(2 * rho)
    first, second = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return np.asarray(np.exp(first) - np.exp(np.minimum(second, first)))


# --- the audit ----------------------------------------------------------------------------------------


def check_neighbour(bench: Bench, beside: Neighbour, tape: Tape, leaves: Leaves) -> Told:
    """Fail where a table beside the first lets anything else leave, or its answers tell more than claimed."""
    told, again = replayed(bench, beside.rows, tape)
    different = sorted(name for name in leaves.keys() | again.keys() if leaves.get(name) != again.get(name))
    if different:
        raise CheckFailed(f"{beside.name}: with the same answers other bytes leave: {', '.join(different)}")
    if beside.apart is None:
        return Told()
    if not within(told, bench.design.cost, apart=beside.apart):
        raise CheckFailed(f"{beside.name}: answers tell {told}, claimed {bench.design.cost.loss}")
    return told


def check_other_answers(bench: Bench, leaves: Leaves) -> None:
    """Fail where other answers change nothing of what leaves: they are not what leaves."""
    seeds = range(4, 10)  # an answer of a few bits may come out the same once
    if all(recorded(bench, bench.rows, seed=seed)[1] == leaves for seed in seeds):
        raise CheckFailed("with other answers the same leaves: the noise was thrown away")


def check_noise(tape: Tape) -> None:
    """Fail where the door draws less noise than it was asked for."""
    for call in tape.calls:
        if call.name in (*SUMS, CLEAR) and (found := drawn_size(call.name, call.asked)) < TOO_SMALL:
            raise CheckFailed(f"noise is {found:.2f} times as large as was asked for")


def check_events(promise: Promise) -> None:
    """Fail where the events that prove a promise state more than it does."""
    assert promise.loss is not None
    stated = promise.loss.events.epsilon()
    if promise.loss.delta == 0 and (stated is None or stated > promise.loss.epsilon):
        raise CheckFailed(f"the events cost {stated}, claimed {promise.loss.epsilon}")


def checked(bench: Bench) -> tuple[Tape, Leaves]:
    """Record a release; fail where its events, its noise or what becomes of the noise are not as promised."""
    check_events(bench.design.cost)
    tape, leaves = recorded(bench, bench.rows)
    if bench.design.cost.drawn():
        check_noise(tape)
        check_other_answers(bench, leaves)
    elif tape.calls:
        raise CheckFailed("noise is drawn that nobody pays for")
    return tape, leaves


def audit(bench: Bench, many: bool) -> None:
    """Replay the release of a bench on all its neighbours.

    Raises
    ------
    CheckFailed
        The first thing that is not as promised.
    """
    tape, leaves = checked(bench)
    for beside in neighbours(bench, many=many):
        check_neighbour(bench, beside, tape, leaves)
    check_evidence(bench, tape)


Files = tuple[frozenset[str], frozenset[str], str]
"""What a whole run writes down of a release: the names of what leaves, the public measures, the promise."""


def files_of(bench: Bench, leaves: Leaves) -> Files:
    """Return what decides how the files of a whole run are made from what leaves a method."""
    public = {one.id for one in choose_measures((), bench.design) if one.audience is Audience.PUBLIC}
    return frozenset(leaves), frozenset(public), bench.design.cost.kind


def audit_choice(bench: Bench, seen: set[Files]) -> None:
    """Replay the release of a choice on one neighbour of each kind.

    Evidence says of a release what left the method, which is compared here, and what measures say of it: a
    whole run is made where other files, measures or promises than before (``seen``) come of the choice.

    Raises
    ------
    CheckFailed
        The first thing that is not as promised.
    """
    tape, leaves = checked(bench)
    for beside in one_of_each(bench):
        check_neighbour(bench, beside, tape, leaves)
    if (files := files_of(bench, leaves)) not in seen:
        check_evidence(bench, tape)
        seen.add(files)


def audit_moves(bench: Bench) -> None:
    """Replay a release where one person has twelve rows, or is exchanged: the loss alone, whatever leaves."""
    tape, leaves = recorded(bench, bench.rows)
    for beside in neighbours(bench):
        if beside.name in FURTHEST and beside.apart == 1:
            check_neighbour(bench, beside, tape, leaves)


# --- services -----------------------------------------------------------------------------------------


def audit_opening(bench: Bench, many: bool) -> None:
    """Fail where opening a service draws noise, or where anything that leaves depends on rows."""
    tape, leaves = recorded(bench, bench.rows)
    if tape.calls or bench.design.cost.drawn():
        raise CheckFailed("opening a service draws noise")
    for beside in neighbours(bench, many=many):
        check_neighbour(bench, beside, tape, leaves)


def audit_visits(opened: Bench, visits: list[Plan], folder: Path, many: bool, *, is_varied: bool) -> None:
    """Replay every visit, each with the state that the one before left; fail where there is none.

    With ``is_varied`` a visit that is refused before any row is read, as it costs more then, ends them.
    """
    if not visits:
        raise CheckFailed("no visit of the service is among the examples")
    release, paid = draft_of(opened, opened.rows, lots(3)).release, Fraction(0)
    for place, plan in enumerate(visits):
        plan = replace(plan, schemas=opened.plan.schemas)
        visit = bench_of(opened.method, plan, folder / f"visit {place}", people=len(opened.rows))
        (visit.folder / "state").write_bytes(release.state or b"")
        visit = replace(visit, plan=replace(visit.plan, state="state", continues="opened"))
        try:
            _ = visit.design
        except InputRefused:
            if is_varied:
                break
            raise
        audit(visit, many)
        loss = visit.design.cost.loss
        assert loss is not None
        paid += loss.epsilon
        release = draft_of(visit, visit.rows, lots(3)).release
    reserved = opened.design.cost.loss
    if reserved is None or paid > reserved.epsilon:
        raise CheckFailed("visits cost more than was reserved")


# --- evidence -----------------------------------------------------------------------------------------


class _Noon(Clock):
    @classmethod
    def now(cls, tz: Any = None) -> _Noon:
        return cls(2026, 1, 1, 12, 0, tzinfo=tz)


@contextmanager
def told_by_nothing_else() -> Iterator[None]:
    """Fix what the clock and lots of no row tell, and leave out the reports, which say what evidence says."""
    head = Ledger.head
    with ExitStack() as stack:
        for target, value in (
            ("engine.release.write.datetime", _Noon),
            ("engine.release.signing.new_key", lambda: bytes(range(32))),
            ("engine.release.signing._now", lambda: "2026-01-01T12:00:00Z"),
            ("engine.report.pdf.render", lambda *_, **__: b""),
            ("engine.report.html.render", lambda *_, **__: b""),
        ):
            stack.enter_context(patch(target, value))
        stack.enter_context(patch.object(Ledger, "input_name", lambda *_, **__: "name"))
        stack.enter_context(patch.object(Ledger, "chain", lambda _: "chain"))
        stack.enter_context(patch.object(Ledger, "continues", lambda *_: True))
        fixed = lambda self: type(head(self))(head(self).sequence, "0" * 64)  # noqa: E731
        stack.enter_context(patch.object(Ledger, "head", fixed))
        yield


def released(bench: Bench, rows: Rows, tape: Noise, hearing: Hearing, folder: Path) -> Leaves:
    """Run the whole plan and return every file that leaves."""
    folder.mkdir()
    bench.written(rows, folder)
    if bench.plan.state:
        (folder / "state").write_bytes((bench.folder / "state").read_bytes())

    def door(spend: Callable[[], None]) -> Noise:
        return _lots(seeded_noise(3, on_first_draw=spend))

    ledger, number = Ledger(folder / "ledger.sqlite"), count()
    names = patch("secrets.token_hex", lambda size: f"{next(number):0{2 * size}x}")  # the same in every run
    with heard_by(tape, hearing), names:
        run_through(bench.plan, folder / "out", ledger, folder, "en", SILENT, door)
    return {path.name: path.read_bytes() for path in (folder / "out" / "release").iterdir()}


def check_evidence(bench: Bench, tape: Tape) -> None:
    """Fail where the files of a whole run, evidence and all, differ between a table and one without a person.

    A visit is left out: its ledger entries are those of a service that was opened, and it has the same files.
    """
    if bench.plan.step:
        return
    said: list[Foreseen] = []  # worked out without a folder, of the same plan: once for both

    def foresee_once(plan: Plan, design: Method) -> Foreseen:
        if not said:
            said.append(foresee(plan, design))
        return said[0]

    def read_all(
        plan: Plan, sources: Sequence[Source], *, base: Path, stores: Any, sample: Any, **_: Any
    ) -> Any:
        assert not stores and sample is None  # rows of these tables are held in memory, all of them
        return read_once(plan, sources, base)

    foreseen = patch.object(ready_made, "foresee", foresee_once)
    # Which levels an amount and an error leave takes long to find, and is the same for both by the above.
    levels = patch.object(before_rows, "allowed_levels", lambda plan: AllowedLevels())
    as_read = patch.object(reading, "read_all", read_all)
    with TemporaryDirectory() as folder, told_by_nothing_else(), foreseen, levels, as_read:
        found = []
        for place, rows in enumerate((bench.rows, without(bench, people_at_the_end(bench)[0]))):
            player = _Watching(tape.calls)
            hearing = Hearing(partial(_answered, player), tape)
            found.append(released(bench, rows, player, hearing, Path(folder) / str(place)))
    first, second = found
    different = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    if different:
        raise CheckFailed(f"a whole run: other files leave without a person: {', '.join(different)}")


def _answered(player: _Watching) -> list[Call]:
    return player.answered
