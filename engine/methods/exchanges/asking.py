"""From what was filled in to a kit: what can be asked, how it is changed, and of whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

from engine.methods.exchanges.estimating import half_width
from engine.methods.exchanges.kit import (
    ALL,
    DATE,
    LANGUAGES,
    MEAN,
    MEASURED,
    ONE,
    ONE_OF,
    PAIR,
    SEVERAL,
    Kit,
    Question,
    labels,
)
from engine.methods.exchanges.paper import DEVICES, TWICE, channel_of
from engine.methods.exchanges.paper import MOST_ANSWERS as MOST_SIDES
from engine.methods.parameters import Problem
from engine.methods.values import edge_number
from engine.privacy.channels import RANGE, Channel, Sets, for_choice, for_mean, for_number, for_ticks
from engine.privacy.channels.choosing import ROBUST

LONGEST = 1000  # letters of a text
MOST_ANSWERS = 10_000
MOST_LEVELS = 100
BEST = "best"
MOST_TENTHS = 200  # the largest ε of a whole report; of one question half of it


def question_problems(values: Mapping[str, Any], method: str) -> Iterator[Problem]:
    """Give what is wrong with the questions, each by its number."""
    whole, device = values["epsilon"] is not None, values["device"] or ""
    texts = [record["text"].strip() for record in values["questions"]]
    for number, record in enumerate(values["questions"], start=1):
        named = {"number": number}
        if record["text"].strip() in texts[: number - 1]:
            yield Problem(f"{method}.same_text", named, "questions")
            continue
        code, more = _wrong(record, values["title"], whole, device)
        if code:
            yield Problem(f"{method}.{code}", named | more, "questions")


def _wrong(record: Mapping[str, Any], title: str, whole: bool, device: str) -> tuple[str, dict[str, Any]]:
    """Return the code of what is wrong with a question, and its values; an empty code for nothing."""
    lists = [[one.strip() for one in record.get(name) or ()] for name in ("levels", "second_levels")]
    texts = [record["text"], record.get("second_text") or "", *lists[0], *lists[1]]
    if max(map(len, (title, *texts))) > LONGEST:
        return "too_long", {"most": LONGEST}
    second_missing = record["kind"] == PAIR and not texts[1].strip()
    if not texts[0].strip() or second_missing or any(len(set(one)) < len(one) or "" in one for one in lists):
        return "levels", {}
    count = _count(record)
    if count is None:
        ends = _nearest_ends(record)
        return (
            ("uneven", dict(zip(("before", "after"), ends, strict=True)))
            if ends
            else ("range", {"most": MOST_LEVELS})
        )
    if count > (MOST_LEVELS if record["kind"] in MEASURED else MOST_ANSWERS):
        return "too_many", {"answers": count}
    if record["kind"] == SEVERAL and record["most"] > count:
        return "ticks", {"answers": count}
    if device:
        return _wrong_on_paper(record, count, whole, device)
    own = [record.get("epsilon") is not None, record.get("truth") is not None]
    if whole and any(own):
        return "level_twice", {}
    if not whole and sum(own) != 1:
        return "level_open", {}
    if own[1] and _direct(count, record["truth"]) is None:
        return "truth", {"answers": count}
    return "", {}


def _wrong_on_paper(
    record: Mapping[str, Any], count: int, whole: bool, device: str
) -> tuple[str, dict[str, Any]]:
    if whole or record.get("epsilon") is not None or record.get("truth") is not None:
        return "device_level", {}
    if record["kind"] != ONE_OF or channel_of(device, count) is None:
        return "device", {"most": MOST_SIDES if device == TWICE else 2}
    return "", {}


def _count(record: Mapping[str, Any]) -> int | None:
    """Return how many answers a question has; None where lowest, highest and step do not make whole steps."""
    if record["kind"] == PAIR:
        return len(record["levels"]) * len(record["second_levels"])
    if record.get("range") is None:
        return len(record["levels"])
    edges = record["range"]
    if (record["kind"] == DATE) != all(isinstance(edge, date) for edge in edges):
        return None
    steps = (edge_number(edges[1]) - edge_number(edges[0])) / record["step"]
    whole_days = record["kind"] != DATE or record["step"].denominator == 1
    return int(steps) + 1 if steps.denominator == 1 and whole_days else None


def _nearest_ends(record: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what whole steps reach last before the highest, and next; None where that does not help."""
    lowest, highest = (edge_number(edge) for edge in record["range"])
    step = record["step"]
    whole = int((highest - lowest) / step)
    is_day = record["kind"] == DATE
    if {isinstance(edge, date) for edge in record["range"]} != {is_day} or (is_day and step.denominator > 1):
        return None
    too_late = is_day and lowest + step * (whole + 1) > edge_number(date.max)
    if not 1 <= whole < MOST_LEVELS - 1 or too_late:
        return None
    before, after = labels(record["kind"], lowest + step * whole, step, 2)
    return before, after


def _direct(answers: int, truth: Fraction) -> Sets | None:
    """Return randomised response that keeps the true answer with exactly this probability, or None.

    There is none where the probability is not above that of guessing, where it is 1, or where it has a
    denominator for which a browser's numbers are too small.
    """
    if not Fraction(1, answers) < truth < 1 or truth.denominator > RANGE:
        return None
    return Sets(truth.numerator, truth.denominator, answers, 1, 1)


def _channel(record: Mapping[str, Any], epsilon: Fraction) -> Channel:
    """Return the channel with the smallest error for a question."""
    count = _count(record)
    assert count is not None  # `question_problems` looked
    if record["kind"] == SEVERAL:
        chosen = for_ticks(count, record["most"], epsilon)
    elif record["kind"] == MEAN:
        chosen = for_mean(count, epsilon)
    elif record["kind"] in MEASURED:
        chosen = for_number(count, epsilon)
    else:
        chosen = for_choice(count, epsilon)
    return chosen.channel


def _question(record: Mapping[str, Any], epsilon: Fraction, device: str) -> Question:
    on_paper = channel_of(device, len(record["levels"])) if device else None
    if on_paper is not None:
        channel: Channel = on_paper
        epsilon = Fraction(0)
    elif record.get("truth") is not None:
        sets = _direct(len(record["levels"]), record["truth"])
        assert sets is not None
        channel = sets
        epsilon = Fraction(0)
    else:
        channel = _channel(record, epsilon)
    step, lowest = Fraction(1), Fraction(1)
    named = tuple(one.strip() for one in record.get("levels") or ())
    if record.get("range") is not None:
        step, lowest = record["step"], edge_number(record["range"][0])
        count = _count(record)
        assert count is not None
        named = labels(record["kind"], lowest, step, count)
    second = tuple(one.strip() for one in record.get("second_levels") or ())
    text, other = record["text"].strip(), (record.get("second_text") or "").strip()
    made = Question(text, record["kind"], named, channel, epsilon, other, second, lowest, step)
    return made if epsilon else replace(made, epsilon=made.event_level())


def make_kit(values: Mapping[str, Any]) -> Kit:
    """Return the kit that was asked for.

    Notes
    -----
    With one ε for a whole report, all questions share it alike, or each person is asked one question with all
    of it: where nobody decides, what has the smaller largest error with as many people as are expected, among
    what one made-up report in a hundred moves by at most `ROBUST` points, where that is one of them.
    """
    return min(_ways_to_ask(values), key=lambda kit: (kit.moved > ROBUST, largest_error(kit)))


def more_exact_kit(values: Mapping[str, Any], kit: Kit) -> Kit | None:
    """Return the kit that would be more exact than the one that was taken, and is moved further; or None."""
    least = min(_ways_to_ask(values), key=largest_error)
    return least if largest_error(least) < largest_error(kit) else None


def _ways_to_ask(values: Mapping[str, Any]) -> list[Kit]:
    """Return the kit for each way to ask that was left open."""
    records, whole = values["questions"], values["epsilon"]
    device = values["device"] or ""
    first = values["language"]
    languages = (first, *(one for one in LANGUAGES if one != first)) if values["languages"] else (first,)
    kinds = {BEST: (ALL, ONE), ALL: (ALL,), ONE: (ONE,)}[values["asked"]]
    if (whole is None and values["asked"] == BEST) or len(records) == 1:
        kinds = (ALL,)

    def made(asked: str) -> Kit:
        each = whole / (len(records) if asked == ALL else 1) if whole is not None else None
        questions = tuple(_question(record, each or record.get("epsilon"), device) for record in records)
        title, intro = values["title"].strip(), values["intro"] or ""
        return Kit(
            title,
            intro,
            questions,
            values["respondents"],
            asked,
            values["waves"],
            device,
            bool(values["shared"]),
            languages,
            (values["forged_reason"] or "").strip(),
        )

    return [made(asked) for asked in kinds]


def robust_ways(values: Mapping[str, Any], kit: Kit) -> tuple[tuple[str, Kit], ...]:
    """Return other ways to ask the same, by names, in which made-up reports move less than in this kit.

    Notes
    -----
    Asking all questions or one that is drawn; questions of yes and no as one with an answer to tick for each;
    other dice or coins; the least whole tenth of ε at which one made-up report in a hundred moves no share by
    more than `ROBUST` points. Nothing where none moves one so far.
    """
    if kit.moved <= ROBUST:
        return ()
    found = []
    if kit.device:
        others = [one for one in DEVICES if one != kit.device]
        fit = [one for one in others if all(channel_of(one, len(q.levels)) for q in kit.questions)]
        found += [(one, make_kit({**values, "device": one})) for one in fit]
    else:
        other = ONE if kit.asked == ALL else ALL
        if len(kit.questions) > 1:
            found.append((other, make_kit({**values, "asked": other})))
        if len(kit.questions) > 1 and all(
            one.kind == ONE_OF and len(one.levels) == 2 for one in kit.questions
        ):
            names = tuple(one.text for one in kit.questions)
            together = {"text": values["title"], "kind": SEVERAL, "levels": names, "most": len(names)}
            whole = values["epsilon"] or kit.epsilon
            found.append(("together", make_kit({**values, "questions": [together], "epsilon": whole})))
        found += [("level", one) for one in _at_level(values, kit)]
    return tuple((name, one) for name, one in found if one.moved < kit.moved)


def _at_level(values: Mapping[str, Any], kit: Kit) -> Iterator[Kit]:
    """Give the kit with the least ε, by tenths, that is robust: for the whole, or for each question alike."""

    def made(tenths: int) -> Kit:
        level = Fraction(tenths, 10)
        if values["epsilon"] is not None:
            return make_kit({**values, "asked": kit.asked, "epsilon": level})
        raised = [
            record if question.moved_by_forged <= ROBUST else {**record, "truth": None, "epsilon": level}
            for record, question in zip(values["questions"], kit.questions, strict=True)
        ]
        return make_kit({**values, "questions": raised})

    low, high = 0, MOST_TENTHS if values["epsilon"] is not None else MOST_TENTHS // 2
    if made(high).moved > ROBUST:
        return
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if made(middle).moved <= ROBUST else (middle, high)
    yield made(high)


def largest_error(kit: Kit) -> float:
    """Return the largest half-width of its questions, with as many people as are expected."""
    people = kit.people_for(kit.respondents)
    return max(half_width(one, people) for one in kit.questions)
