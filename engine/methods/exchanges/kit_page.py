"""The page on which people answer: one file, without a network, that gives out changed answers only."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

from engine import texts
from engine.methods.exchanges.responses import Kit, Question
from engine.pricing.posterior import posterior

TEMPLATE = ("kits", "survey.html")
HALF_SURE = 0.5
WORDS = "methods.exchanges.survey.page."
_INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)


def page(kit: Kit) -> bytes:
    """Return the page of a kit.

    Notes
    -----
    What the custodian wrote is escaped and never becomes part of a script. The page forbids itself every
    connection, every form and every script but its own, whose hashes it names.
    """
    template = files("resources").joinpath(*TEMPLATE).read_text(encoding="utf-8")
    values = {
        "policy": _policy(template),
        "kit": escape(json.dumps(_drawn(kit), separators=(",", ":"))),
        "title": escape(kit.title),
        "intro": _paragraphs(kit.intro),
        "questions": "\n".join(_fieldset(place, one) for place, one in enumerate(kit.questions)),
        "exactly": "\n".join(_exactly(place, one) for place, one in enumerate(kit.questions)),
        "whole": escape(_say("whole", sure=_surest(kit))),
        "total": escape(_say("total", epsilon=_rounded_up(kit))),
    }
    words = texts.catalogue("en")
    said = {
        f"say_{name.removeprefix(WORDS)}": escape(words[name]) for name in words if name.startswith(WORDS)
    }
    return _filled(template, values | said).encode()


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Fill the places of the template, each once: what is filled in is not looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], template)


def _policy(template: str) -> str:
    """Return the content security policy: nothing but the page's own scripts and style."""
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for kind, content in _INLINE.findall(template):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        hashes[kind].append(f"'sha256-{digest}'")
    own = "; ".join(f"{kind}-src {' '.join(found)}" for kind, found in hashes.items())
    return f"default-src 'none'; {own}; form-action 'none'; base-uri 'none'"


def _drawn(kit: Kit) -> dict[str, object]:
    """Return all that the script has to know: numbers alone."""
    questions = [{"true": one.true, "other": one.other, "answers": len(one.levels)} for one in kit.questions]
    return {"id": kit.id, "questions": questions}


def _paragraphs(text: str) -> str:
    return "\n".join(f"<p>{escape(line.strip())}</p>" for line in text.splitlines() if line.strip())


def _fieldset(place: int, question: Question) -> str:
    answers = "\n".join(
        f'<label><input type="radio" name="q{place}" value="{at}" autocomplete="off"> '
        f"<span>{escape(level)}</span></label>"
        for at, level in enumerate(question.levels)
    )
    chance = escape(_say("chance", truth=math.floor(10_000 * question.truth) / 100))
    return (
        f'<fieldset data-question="{place}"><legend>{place + 1}. {escape(question.text)}</legend>\n'
        f'{answers}\n<p class="quiet">{chance}</p></fieldset>'
    )


def _exactly(place: int, question: Question) -> str:
    said = _say(
        "tickets",
        number=place + 1,
        all=str(question.tickets),
        true=str(question.true),
        other=str(question.other),
        epsilon=texts.significant_up(float(question.epsilon)),
    )
    return f"<li>{escape(said)}</li>"


def _rounded_up(kit: Kit) -> object:
    return texts.significant_up(float(sum(one.epsilon for one in kit.questions)))


def _surest(kit: Kit) -> float:
    """Return how sure, in 100, one report can make somebody who was half sure: rounded up to a tenth.

    For all answers at once: between any two sets of answers the odds change by at most e^ε of the whole.
    """
    return math.ceil(1000 * posterior(HALF_SURE, float(sum(one.epsilon for one in kit.questions)))) / 10


def _say(name: str, **values: Any) -> str:
    return texts.text(f"{WORDS}{name}", **values)
