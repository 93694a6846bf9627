"""The program's help: how it works, its pages, each way of releasing, what is promised, and the words.

Made from the texts and declarations that the program itself uses, so that it says what the program does. The
window shows and searches it; ``custos manual`` writes the same as a PDF.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cache, partial

from engine import texts
from engine.policy import Policy, place
from engine.version import __version__
from engine.views import Label, Text

STEPS = (
    *("start", "load", "columns", "risk", "purpose", "method", "tables", "budget", "terms", "compare"),
    *("preview", "release", "visit", "report", "releases", "sites", "explore"),
)
"""The screens, in the order in which they are met."""
MOST_PARTS = 20
_ENDING = re.compile(r"\.(title|part\d+\.\w+|\w+)$")
THREE = ("what", "how", "change")


@dataclass(frozen=True)
class HelpPart:
    """A paragraph under a heading, which may be empty."""

    heading: Label
    body: Text


@dataclass(frozen=True)
class Station:
    """One place in the picture of how something works: what comes here, and what becomes of it."""

    name: Text
    value: Label
    what: Text


@dataclass(frozen=True)
class Entry:
    """One subject of the help; ``picture`` shows it at a glance, from where it begins to where it ends."""

    id: str
    title: Label
    parts: tuple[HelpPart, ...]
    picture: tuple[Station, ...] = ()


@dataclass(frozen=True)
class Chapter:
    """Entries about one kind of thing."""

    id: str
    title: Text
    entries: tuple[Entry, ...]


@cache
def chapters() -> tuple[Chapter, ...]:
    """Return the whole help, in reading order."""
    made = {
        "works": (_works(),),
        "pages": tuple(_page(step) for step in STEPS),
        "ways": tuple(_ways()),
        "promises": tuple(_promises()),
        "words": tuple(_words()),
        "office": (_office(),),
    }
    return tuple(Chapter(name, _say(f"chapters.{name}"), entries) for name, entries in made.items())


def search(wanted: str, *, language: str = texts.FALLBACK) -> tuple[Entry, ...]:
    """Return the entries that have every word of a question, those first that have it in their title.

    Examples
    --------
    >>> [entry.id for entry in search("k-anonymity")][:1]
    ['way.datasets.k_anonymity']
    """
    asked = wanted.casefold().split()
    found: list[tuple[int, int, Entry]] = []
    for entry in (entry for chapter in chapters() for entry in chapter.entries):
        title, whole = (text.casefold() for text in _written(entry, language))
        if all(word in whole for word in asked):
            found.append((-sum(word in title for word in asked), len(found), entry))
    return tuple(entry for *_, entry in sorted(found, key=lambda one: one[:2]))


def _written(entry: Entry, language: str) -> tuple[str, str]:
    from engine.report.words import word

    title = word(entry.title, language)
    inner = (word(text, language) for part in entry.parts for text in (part.heading, part.body) if text)
    aliases = f"methods.{entry.id.removeprefix('way.')}.aliases"
    hidden = texts.text(aliases, language=language) if texts.has(aliases) else ""
    return title, "\n".join((title, *inner, hidden))


def _say(name: str, **values: object) -> Text:
    return Text(f"manual.{name}", values)


def _plain(text_id: str) -> Text | None:
    """Return a text that needs no values; None where there is none, or where it speaks of a single case."""
    if not texts.has(text_id) or texts.placeholders(texts.catalogue()[text_id]):
        return None
    return Text(text_id)


def _parts(told: Iterable[tuple[Label, Text | None]]) -> tuple[HelpPart, ...]:
    return tuple(HelpPart(heading, body) for heading, body in told if body is not None)


# --- how it works, and the screens ------------------------------------------------------------------------


def _works() -> Entry:
    picture = tuple(
        Station(_say(f"works.{name}.name"), _say(f"works.{name}.value"), _say(f"works.{name}.what"))
        for name in ("table", "way", "release", "internal")
    )
    parts = tuple((_say(f"works.part{at}.heading"), _say(f"works.part{at}.body")) for at in range(1, 5))
    return Entry("works", _say("works.title"), _parts(parts), picture)


def _office() -> Entry:
    """Return the page for those who look after the computer, with the rules that there are."""
    rules = ", ".join(one.name for one in fields(Policy))
    given = {"part2": {"place": str(place()), "rules": rules}}
    names = [f"part{at}" for at in range(1, 8)]
    parts = tuple(
        (_say(f"office.{name}.heading"), _say(f"office.{name}.body", **given.get(name, {}))) for name in names
    )
    return Entry("office", _say("office.title"), _parts(parts))


def _page(step: str) -> Entry:
    """Return what the screen says beside itself, whatever of it needs no values."""
    parts = [*_numbered(f"app.{step}.help")]
    prefix = f"app.{step}.help."
    said = (name.removeprefix(prefix) for name in texts.catalogue() if name.startswith(prefix))
    topics = dict.fromkeys(_ENDING.sub("", name) for name in said if not name.startswith("part"))
    for topic in topics:
        base = f"{prefix}{topic}"
        title = _plain(f"{base}.title") or ""
        inner = [*_numbered(base), *((_three(name), _plain(f"{base}.{name}")) for name in THREE)]
        parts += [(heading if at else title or heading, body) for at, (heading, body) in enumerate(inner)]
    return Entry(f"page.{step}", Text(f"app.steps.{step}"), _parts(parts))


def _three(name: str) -> Text:
    return Text(f"app.window.three_{name}")


def _numbered(base: str) -> Iterator[tuple[Label, Text | None]]:
    for number in range(1, MOST_PARTS):
        if not texts.has(f"{base}.part{number}.body"):
            return
        yield _plain(f"{base}.part{number}.heading") or "", _plain(f"{base}.part{number}.body")


# --- ways and promises --------------------------------------------------------------------------------------


def _ways() -> Iterator[Entry]:
    from engine.methods.catalogue import methods
    from engine.methods.kinds import Rows
    from engine.privacy.promise import promise_kinds

    status = {kind.id: str(kind.status) for kind in promise_kinds()}
    for method in methods():
        base = f"methods.{method.id}"
        told: list[tuple[Label, Text | None]] = [("", _plain(f"{base}.summary"))]
        for kind in method.promises:
            told.append((_say("ways.promise"), _plain(f"promises.{kind}.name")))
            told.append(("", _plain(f"promises.{kind}.sentence")))
        told.append((_say("ways.can"), _plain(f"{base}.recipient_can")))
        told.append((_say("ways.cannot"), _plain(f"{base}.recipient_cannot")))
        avoid = dict.fromkeys(status[kind] for kind in method.promises if kind in status)
        told += [(_say("ways.avoid"), _say(f"avoid.{name}")) for name in avoid]
        told.append(("" if avoid else _say("ways.avoid"), _say(f"avoid.{method.rows.value}_rows")))
        source = method.published
        where = texts.say_known(f"places.methods.{method.id}", source.place)
        place = [part for part in (source.document, where, source.identifier) if part]
        told.append((_say("ways.source"), _say("ways.published", source=place)))
        first = next((one for one in method.sources if one.required), None)
        shape = "nothing" if first is None else str(first.shape)
        own = method.id.rpartition(".")[2]  # a result of sites is no survey, though both are exchanges
        spends = own if texts.has(f"manual.ways.spent.{own}") else method.spends.value
        leaves = method.family.value if method.rows is Rows.NONE else f"{method.rows.value}_rows"
        leaves = own if texts.has(f"manual.ways.leaves.{own}") else leaves
        picture = (
            Station(_say("ways.in"), _say(f"ways.reads.{shape}"), _say(f"ways.kept.{shape}")),
            Station(_say("ways.costs"), _say(f"ways.spent.{spends}"), _say(f"ways.spending.{spends}")),
            Station(_say("ways.out"), _say(f"ways.leaves.{leaves}"), Text(f"{base}.keeps")),
        )
        yield Entry(f"way.{method.id}", Text(f"{base}.title"), _parts(told), picture)


def _promises() -> Iterator[Entry]:
    from engine.privacy.promise import promise_kinds

    for kind in promise_kinds():
        base = f"promises.{kind.id}"
        told: list[tuple[Label, Text | None]] = [("", _plain(f"{base}.sentence"))]
        names = ("can", "cannot", "must_know", "accounting", "status")
        told += [(_say(f"promised.{name}"), _plain(f"{base}.{name}")) for name in names]
        asked = ("singling_out", "linking", "inferring")
        told += [(_say(f"criteria.{name}"), _plain(f"{base}.criteria.{name}")) for name in asked]
        yield Entry(f"promise.{kind.id}", Text(f"{base}.name"), _parts(told))


# --- words ------------------------------------------------------------------------------------------------


def _words() -> Iterator[Entry]:
    """Give every word with what it means: roles, what promises state, numbers of ways and measures."""
    every = texts.catalogue()
    for name in every:
        if name.startswith("app.roles.") and name.endswith(".means"):
            base = name.removesuffix(".means")
            if _plain(name) is not None and texts.has(f"{base}.name"):
                yield Entry(f"word.{base}", Text(f"{base}.name"), (HelpPart("", Text(name)),))
    seen = set()
    for name in sorted(every):
        base = name.removesuffix(".label")
        if not name.endswith(".label") or not name.startswith(("promises.", "methods.", "measures.")):
            continue
        label, what = _plain(name), _plain(f"{base}.what")
        said = (every[name], every.get(f"{base}.what"))
        if label is None or what is None or said in seen:
            continue
        seen.add(said)
        told = [("" if part == "what" else _three(part), _plain(f"{base}.{part}")) for part in THREE]
        yield Entry(f"word.{base}", label, _parts(told))


# --- as a PDF ---------------------------------------------------------------------------------------------


def write_manual(*, made_at: str, language: str = texts.FALLBACK) -> bytes:
    """Return the help as the bytes of a PDF; ``made_at`` is its date (ISO, with an offset)."""
    from engine.report import pdf
    from engine.report.document import Callout, Document, Fact, Facts, Heading, Part, Section
    from engine.report.words import word

    def told(entry: Entry) -> Iterator[Part]:
        yield Heading(entry.title)
        if entry.picture:
            yield Facts(tuple(Fact(one.name, word(one.value, language), one.what) for one in entry.picture))
        for part in entry.parts:
            yield _say("headed", heading=part.heading, text=part.body) if part.heading else part.body

    sections = tuple(
        Section(
            chapter.title,
            tuple(part for entry in chapter.entries for part in told(entry)),
            fresh=True,
            small=chapter.id == "words",
        )
        for chapter in chapters()
    )
    document = Document(
        title=_say("title"),
        subtitle=_say("subtitle", version=__version__),
        audience=_say("audience"),
        stays=False,
        bundle_id="",
        made_at=made_at,
        cover=(Callout(_say("intro"), large=True),),
        sections=sections,
        footer=_say("footer", version=__version__),
    )
    say = partial(_written, language=language)
    tree = {chapter.id: {entry.id: say(entry)[1] for entry in chapter.entries} for chapter in chapters()}
    told_too = (json.dumps(tree, indent=1, ensure_ascii=False) + "\n").encode()
    return pdf.render(document, evidence=told_too, language=language)
