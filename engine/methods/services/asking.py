"""The page on which a recipient writes questions, without a network, and how its file is known again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from engine import texts
from engine.errors import InputRefused
from engine.methods.services.asked import ID, KINDS, PEOPLE, QUANTILE, ROWS
from engine.methods.services.desk import Desk
from engine.methods.services.questions import axis_of, digest
from engine.methods.shared.offline_page import fill
from engine.table.schema import Kind

NAME = "questions.html"
STAMP = "stamp"
_ASKED = ("kind", "of", "where", "part", "value", "quantile", "by")
_WORDS = f"methods.{ID}.page."


def desk_id(desk: Desk) -> str:
    """Return what tells desks apart: what their questions mean, and what was reserved."""
    reserved = [str(desk.epsilon), str(desk.delta), desk.neighbours.value, desk.questions]
    return digest([desk.declared, reserved])[:12]


def page(desk: Desk) -> bytes:
    """Return the page of a desk: declarations only; it asks no network and sends nothing."""
    columns = [desk.schema.column(name) for name in desk.columns]
    numbers = [one.name for one in columns if one.kind in (Kind.INTEGER, Kind.NUMBER)]
    listed = [(one.name, axis_of(desk.schema, one.name).described) for one in columns]
    rows = "\n".join(f"<tr><td>{escape(name)}</td><td>{escape(values)}</td></tr>" for name, values in listed)
    ofs = (ROWS, PEOPLE) if desk.terms.by_person else (ROWS,)
    said = {language: _words(language, ofs) for language in texts.languages()}
    first = said[texts.FALLBACK]
    values = {
        "desk": escape(json.dumps({"id": desk_id(desk)})),
        "said": escape(json.dumps(said, ensure_ascii=False)),
        "languages": "".join(_switch(language, words["language"]) for language, words in said.items()),
        "rows": rows,
        "kinds": _choices("kind", KINDS, first),
        "ofs": _choices("of", ofs, first),
        "numbers": _options(numbers),
        "groups": _options(desk.columns),
    }
    return fill(NAME, values | {f"say_{name}": escape(word) for name, word in first.items()})


def _words(language: str, ofs: Iterable[str]) -> dict[str, str]:
    """Return all that the page says itself in one language, by names."""
    fields = f"methods.{ID}.steps.visit.parameters.questions.fields"
    names = [name for name in texts.catalogue() if name.startswith(_WORDS)]
    said = {name.removeprefix(_WORDS): texts.text(name, language=language) for name in names}
    for field, choices in (("kind", KINDS), ("of", ofs)):
        for one in choices:
            said[f"{field}_{one}"] = texts.text(f"{fields}.{field}.choices.{one}", language=language)
    return said


def _switch(language: str, named: str) -> str:
    pressed = "true" if language == texts.FALLBACK else "false"
    return f'<button type="button" lang="{language}" aria-pressed="{pressed}">{escape(named)}</button>'


def _choices(field: str, values: Iterable[str], said: Mapping[str, str]) -> str:
    """Return the choices of a field, each with its word, which another language replaces."""
    return "".join(
        f'<option value="{one}" data-say="{field}_{one}">{escape(said[f"{field}_{one}"])}</option>'
        for one in values
    )


def _options(columns: Iterable[str]) -> str:
    return "".join(f'<option value="{escape(one)}">{escape(one)}</option>' for one in columns)


def stamp(record: Mapping[str, Any], desk: str) -> str:
    """Return what the page writes beside a question: of which desk, and a checksum of what is asked.

    It shows a file that is of another desk or was damaged. It is no signature: whoever writes the file may
    ask whatever they like.
    """
    found = 0x811C9DC5  # FNV-1a with 32 bits, which the script of the page works out too
    for byte in f"{desk}\n{_written(record)}".encode():
        found = (found ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{desk}-{found:08x}"


def _written(record: Mapping[str, Any]) -> str:
    values = dict(record)
    if values.get("kind") != QUANTILE:
        values.pop("quantile", None)
    values["by"] = ";".join(values.get("by") or ())
    return "\n".join(str(values.get(name) or "") for name in _ASKED)


def refuse_stamps(records: Iterable[Mapping[str, Any]], desk: Desk) -> None:
    """Refuse questions of a page that is another desk's, or that are not what it wrote.

    Raises
    ------
    InputRefused
        ``services.private_queries.other_page``, ``services.private_queries.changed_question``.
    """
    own = desk_id(desk)
    for place, record in enumerate(records, 1):
        found = record.get(STAMP)
        if not found:
            continue
        if found.split("-")[0] != own:
            raise InputRefused(f"{ID}.other_page", question=place)
        if found != stamp(record, own):
            raise InputRefused(f"{ID}.changed_question", question=place)
