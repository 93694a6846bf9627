"""The page on which people answer: one file, without a network, that gives out changed answers only."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from engine import texts
from engine.languages import Written
from engine.methods.exchanges.kit import ALL, DATE, MEAN, NUMBER, PAIR, SCALE, SEVERAL, Kit, Question
from engine.methods.shared.offline_page import fill
from engine.privacy.channels import Geometry, Option, Sets, Signs, Wave, channel_to_json

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
    said = {language: _words(kit, language) for language in kit.languages}
    first = said[kit.languages[0]]
    asked = [_asked(kit), *(["waves"] if kit.waves > 1 else [])]
    values = {
        "kit": _written(_draw(kit)),
        "title": escape(kit.title),
        "intro": _paragraphs(kit.intro),
        "questions": "\n".join(_fieldset(place, one, kit, first) for place, one in enumerate(kit.questions)),
        "exactly": "\n".join(
            f"<li {_spoken(f'exactly_{place}', first)}</li>" for place in range(len(kit.questions))
        ),
        "asked": "\n".join(f"<p {_spoken(name, first)}</p>" for name in asked),
        "language": kit.languages[0],
        "languages": "".join(_switch(place, one) for place, one in enumerate(kit.languages)),
        "said": _written(said) if len(said) > 1 else "",
        "alone": " hidden" if kit.shared else "",
        "shared": "" if kit.shared else " hidden",
    }
    return fill("survey.html", values | {f"say_{name}": escape(one) for name, one in first.items()})


def _words(kit: Kit, language: str) -> dict[str, str]:
    """Return all that the page of a kit says itself in one language, by names."""
    own = [name.removeprefix(WORDS) for name in texts.catalogue("en") if name.startswith(WORDS)]
    plain = [name for name in own if not texts.placeholders(texts.catalogue("en")[WORDS + name])]
    said = {name: say(WORDS + name, language) for name in plain}
    said["decimal"] = texts.number(0.5, language=language)[1]
    values: dict[str, dict[str, Any]] = {
        "whole": {"sure": kit.sure},
        "nearly": {"sure": kit.sure},
        _asked(kit): {"questions": len(kit.questions)},
        "total": {"epsilon": _up(kit.epsilon)},
    }
    if kit.waves > 1:
        values["waves"] = {
            "waves": kit.waves,
            "epsilon": _up(kit.total),
            "sure": kit.sure_of_all,
        }
    said |= {name: say(WORDS + name, language, **given) for name, given in values.items()}
    said["whole"] = said[kit.whole]
    for place, question in enumerate(kit.questions):
        said[f"chance_{place}"] = _chance(question, language)
        said[f"exactly_{place}"] = _exactly(place, question, language)
    return said


def _written(value: Any) -> str:
    """Return JSON for an attribute within single quotation marks: every double one would take six letters."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return escape(written, quote=False).replace("'", "&#x27;")


def _asked(kit: Kit) -> str:
    """Return the word of how much one person is asked."""
    return "asked_single" if len(kit.questions) == 1 else f"asked_{kit.asked}"


def _spoken(name: str, said: Mapping[str, str]) -> str:
    """Return the end of an opening tag, and its text: what a change of language replaces."""
    return f'data-say="{name}">{escape(said[name])}'


def _switch(place: int, language: str) -> str:
    pressed = "false" if place else "true"
    named = say(f"{WORDS}language", language)
    return f'<button type="button" lang="{language}" aria-pressed="{pressed}">{escape(named)}</button>'


def say(text_id: str, language: str, **values: Any) -> str:
    """Return a sentence in a language, with its numbers as people there write them.

    Examples
    --------
    >>> say("methods.exchanges.survey.page.whole", "de", sure=99.9994)[-50:]
    'en zu höchstens 99,9994\xa0% einer davon sicher sein.'
    """
    return texts.text(text_id, language=language, **values)


def _draw(kit: Kit) -> dict[str, object]:
    """Return all that the script has to know: numbers, and words of the program."""
    return {
        "id": kit.id,
        "one": int(kit.asked != ALL),
        "digits": kit.length,
        "shared": kit.shared,
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


def _fieldset(place: int, question: Question, kit: Kit, said: Mapping[str, str]) -> str:
    groups = [_group(f"q{place}", question.levels, question, "", said)]
    if question.kind == PAIR:
        groups.append(_group(f"q{place}s", question.second_levels, question, question.second_text, said))
    hidden = "" if kit.asked == ALL else " hidden"
    return (
        f'<fieldset data-question="{place}" aria-describedby="problem"{hidden}>'
        f"<legend>{place + 1}. {escape(question.text)}</legend>\n"
        + "\n".join(groups)
        + f'\n<p class="quiet" {_spoken(f"chance_{place}", said)}</p></fieldset>'
    )


def _group(
    name: str, levels: Sequence[str], question: Question, heading: str, words: Mapping[str, str]
) -> str:
    """Return one list of answers: to tick where there are few, else to open and to search by typing."""
    said = f'<p id="{name}-about">{escape(heading)}</p>\n' if heading else ""
    named = f' aria-label="{escape(words["answer"])}" data-say-label="answer"'
    if heading:
        named = f' aria-labelledby="{name}-about"'
    if question.kind != SEVERAL and len(levels) > MOST_RADIOS:
        options = "".join(f"<option{_level(level, question, words)}</option>" for level in levels)
        first = f"<option {_spoken('answer', words)}</option>"  # which is shown while nothing is chosen
        return f'{said}<select data-group autocomplete="off"{named}>{first}{options}</select>'
    kind = "checkbox" if question.kind == SEVERAL else "radio"
    answers = "\n".join(
        f'<label><input type="{kind}" name="{name}" autocomplete="off">'
        f" <span{_level(level, question, words)}</span></label>"
        for level in levels
    )
    role = f' role="group"{named}' if heading else ""
    return f"{said}<div data-group{role}>{answers}</div>"


def _level(level: str, question: Question, words: Mapping[str, str]) -> str:
    """Return the end of an opening tag, and an answer: of a number with decimals what each language signs."""
    if question.kind not in (NUMBER, MEAN) or "." not in level:
        return f">{escape(level)}"
    return f' data-number="{level}">{level.replace(".", words["decimal"])}'


def _chance(question: Question, language: str) -> str:
    """Say what the report will tell of an answer, before it is given."""
    channel = question.channel
    values: dict[str, Any] = {"truth": _down(Fraction(channel.hit, channel.tickets))}
    if isinstance(channel, Sets):
        values |= {"named": channel.size, "of": channel.universe, "most": channel.ticks}
    elif isinstance(channel, Option):
        values |= {"of": channel.options}
    elif isinstance(channel, Signs):
        values |= {"of": channel.options, "truth": _down(channel.shares().own)}
    elif isinstance(channel, Geometry):
        values |= {"named": round(len(question.answers) * channel.marked / channel.points)}
        values |= {"of": len(question.answers)}
    elif isinstance(channel, Wave):
        values |= {"near": question.step * channel.reach}
        if question.kind in (SCALE, DATE):
            return say(f"{WORDS}chance.{question.kind}", language, **values)
    return say(f"{WORDS}chance.{question.reason}", language, **values)


def _exactly(place: int, question: Question, language: str) -> str:
    channel = question.channel
    return say(
        f"{WORDS}tickets",
        language,
        number=place + 1,
        all=str(channel.tickets),
        true=str(channel.hit),
        marked=_long(channel.marked),
        others=_long(channel.unmarked),
        epsilon=_up(question.event_level()),
    )


def _long(number: int) -> str:
    """Return a whole number, or about how large it is."""
    return str(number) if number < 10**12 else Written(f"{number:.2e}")


def _up(epsilon: Fraction) -> object:
    return texts.significant_up(float(epsilon))


def _down(part: Fraction) -> float:
    return math.floor(10_000 * part) / 100
