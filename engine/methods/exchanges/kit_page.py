"""The page on which people answer: one file, without a network, that gives out changed answers only."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from importlib.resources import files
from typing import Any

from engine import texts
from engine.methods.exchanges.kit import ALL, DATE, PAIR, SCALE, SEVERAL, Kit, Question
from engine.methods.shared.offline_page import fill, policy
from engine.privacy.channels import Geometry, Option, Sets, Wave, channel_to_json

TEMPLATE = ("kits", "survey.html")
MOST_RADIOS = 12
"""Longer lists are opened and searched by typing."""
WORDS = "methods.exchanges.survey.page."


def page(kit: Kit) -> bytes:
    """Return the page of a kit.

    Notes
    -----
    What the custodian wrote is escaped and never becomes part of a script. The page forbids itself every
    connection, every form and every script but its own, whose hashes it names.
    """
    template = files("resources").joinpath(*TEMPLATE).read_text(encoding="utf-8")
    asked = _say(f"asked_{kit.asked}", questions=len(kit.questions))
    waves = [_say("waves", waves=kit.waves, epsilon=_up(kit.waves * kit.epsilon))] if kit.waves > 1 else []
    values = {
        "policy": policy(template),
        "kit": escape(json.dumps(_draw(kit), separators=(",", ":"))),
        "title": escape(kit.title),
        "intro": _paragraphs(kit.intro),
        "questions": "\n".join(_fieldset(place, one, kit) for place, one in enumerate(kit.questions)),
        "exactly": "\n".join(_exactly(place, one) for place, one in enumerate(kit.questions)),
        "whole": escape(_say("whole", sure=kit.sure)),
        "asked": "\n".join(f"<p>{escape(line)}</p>" for line in (asked, *waves)),
        "alone": " hidden" if kit.shared else "",
        "shared": "" if kit.shared else " hidden",
        "total": escape(_say("total", epsilon=_up(kit.epsilon))),
    }
    words = texts.catalogue("en")
    said = {
        f"say_{name.removeprefix(WORDS)}": escape(words[name]) for name in words if name.startswith(WORDS)
    }
    return fill(template, values | said).encode()


def _draw(kit: Kit) -> dict[str, object]:
    """Return all that the script has to know: numbers, and words of the program."""
    return {
        "id": kit.id,
        "one": int(kit.asked != ALL),
        "digits": kit.length,
        "questions": [question_for_script(one) for one in kit.questions],
    }


def question_for_script(question: Question) -> dict[str, object]:
    """Return what the script has to know of one question."""
    second = len(question.second_levels) if question.kind == PAIR else 1
    channel = question.channel
    most = len(question.levels)
    if question.kind == SEVERAL and isinstance(channel, Sets):
        most = channel.ticks
    return {
        "kind": question.kind,
        "channel": channel_to_json(channel),
        "answers": len(question.levels),
        "second": second,
        "most": most,
        "digits": question.digits,
    }


def _paragraphs(text: str) -> str:
    return "\n".join(f"<p>{escape(line.strip())}</p>" for line in text.splitlines() if line.strip())


def _fieldset(place: int, question: Question, kit: Kit) -> str:
    groups = [_group(f"q{place}", question.levels, question, "")]
    if question.kind == PAIR:
        groups.append(_group(f"q{place}s", question.second_levels, question, question.second_text))
    chance = escape(_chance(question))
    hidden = "" if kit.asked == ALL else " hidden"
    return (
        f'<fieldset data-question="{place}" aria-describedby="problem"{hidden}>'
        f"<legend>{place + 1}. {escape(question.text)}</legend>\n"
        + "\n".join(groups)
        + f'\n<p class="quiet">{chance}</p></fieldset>'
    )


def _group(name: str, levels: Sequence[str], question: Question, heading: str) -> str:
    """Return one list of answers: to tick where there are few, else to open and to search by typing."""
    said = f'<p id="{name}-about">{escape(heading)}</p>\n' if heading else ""
    named = f' aria-labelledby="{name}-about"' if heading else f' aria-label="{escape(_say("answer"))}"'
    if question.kind != SEVERAL and len(levels) > MOST_RADIOS:
        options = "".join(f"<option>{escape(level)}</option>" for level in levels)
        return f'{said}<select data-group autocomplete="off"{named}><option></option>{options}</select>'
    kind = "checkbox" if question.kind == SEVERAL else "radio"
    answers = "\n".join(
        f'<label><input type="{kind}" name="{name}" autocomplete="off"> <span>{escape(level)}</span></label>'
        for level in levels
    )
    role = f' role="group"{named}' if heading else ""
    return f"{said}<div data-group{role}>{answers}</div>"


def _chance(question: Question) -> str:
    """Say what the report will tell of an answer, before it is given."""
    channel = question.channel
    values: dict[str, Any] = {"truth": _down(Fraction(channel.hit, channel.tickets))}
    if isinstance(channel, Sets):
        values |= {"named": channel.size, "of": channel.universe, "most": channel.ticks}
    elif isinstance(channel, Option):
        values |= {"of": channel.options}
    elif isinstance(channel, Geometry):
        values |= {"named": round(len(question.answers) * channel.marked / channel.points)}
        values |= {"of": len(question.answers)}
    elif isinstance(channel, Wave):
        values |= {"near": question.step * channel.reach}
        if question.kind in (SCALE, DATE):
            return _say(f"chance.{question.kind}", **values)
    return _say(f"chance.{question.reason}", **values)


def _exactly(place: int, question: Question) -> str:
    channel = question.channel
    said = _say(
        "tickets",
        number=place + 1,
        all=str(channel.tickets),
        true=str(channel.hit),
        marked=_long(channel.marked),
        others=_long(channel.unmarked),
        epsilon=_up(question.event_level()),
    )
    return f"<li>{escape(said)}</li>"


def _long(number: int) -> str:
    """Return a whole number, or about how large it is."""
    return str(number) if number < 10**12 else f"{number:.2e}"


def _up(epsilon: Fraction) -> object:
    return texts.significant_up(float(epsilon))


def _down(part: Fraction) -> float:
    return math.floor(10_000 * part) / 100


def _say(name: str, **values: Any) -> str:
    return texts.text(f"{WORDS}{name}", **values)
