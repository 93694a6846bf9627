"""What can be told of a translation without knowing the language: nothing lacks, nothing else is said.

``python tests/engine/languages/translation.py de [FILE OR FOLDER …]`` prints what is wrong, by file;
``--note`` keeps which English each sentence was made from, so that a later change of it is noticed.
"""

from __future__ import annotations

import json
import re
import string
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from engine import languages, texts  # noqa: E402

SIGNS = "≤≥<>±×→εδρ∞=%€§"
WORDS = re.compile(r"[^\W\d_]{4,}")
NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,\u202f\u00a0]\d+)*(?![\w])")
PLACE = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
AS_WRITTEN = re.compile(
    r"“[^”]*”|`[^`]*`|\bcustos [a-z]+[^.;]*|\b[A-Z_]{3,}\b|[\w-]+\.[a-z]{2,6}\b|\b[a-z]+/|--[a-z-]+"
    r"|^release:|^internal:|\bcommand [a-z]+ [a-z]+"
)
"""What is typed or named as it is, in every language."""
NO = {
    "en": r"\b(not|no|never|nothing|nobody|cannot|without|none|neither|nor|nowhere)\b|n['’]t\b",
    "de": r"\b(nicht|nein|kein\w*|nie\w*|nichts|niemand\w*|ohne|weder|noch|nirgend\w*|un\w+)\b"
    r"|\b(fehl|statt)\w*|\w(los|frei|leer)",
    "fr": r"\b(ne|pas|aucun\w*|jamais|rien|sans|personne|ni|non|nul\w*|plus|hors|vide|manqu\w*)\b"
    r"|\bn['’]|\b(in|im|il|ir)\w+",
}
FAMILIAR = {"de": r"\b([Dd]u|[Dd]ich|[Dd]ir|[Dd]ein\w*)\b", "fr": r"\b([Tt]u|[Tt]oi|[Tt]es|[Tt]a|[Tt]on)\b"}
FOREIGN_MARKS = {"de": "”", "fr": "“”„"}
NO_NUMBER_BEFORE = {
    "de": r"(der|die|das|des|dem|den|eine?[rs]?|ist|sind|hat|haben|wird|werden|dies\w*|d\w+selben?)\b",
    "fr": r"(le|la|les|l’|un|une|est|sont|a|ont|faut|faudrait|ce|cette|ces|même)\b",
}
"""What no number can stand before: {n:is|are} says the number too, {n:|is|are} the word alone."""
GENDERED = {
    "de": r"\b(ein(e[rnms]?|zelne[rnms]?)?|jede[rnms]?|diese[rnms]?|(der|die|das)selben?|ganze[rnms]?"
    r"|keine?[rnms]?) \{@person\}"
    r"|\b(?i:von|mit|bei|aus|zu|nach|in)( \w+en)?( \{\w+\})? \{@people\}"
    r"|\b(denselben|diesen|allen|den|jenen|vielen|beiden|einigen|wenigen)( \w+en)? \{@people\}"
    r"|\b(?i:von|mit|bei|aus|zu|nach)( \w+)? \{\w+:(\w+ )?\{@person\}\|(\w+ )?\{@people\}\}",
    "fr": r"\b(une?|la|cette|cet|aucune?|seule?|vraie?s?|celles?|certaine?s|quel(le)?s?|(tous|toutes)( les)?)"
    r" \{@(person|people)\}|\{@people\} (\w+ées|seule?s|réelles|entières?|entiers|vraies)\b"
    r"|(?<!de )(?<!vos )\{@people\} sont \w+ées\b|\bune même \{@person\}",
}
"""Words that agree with who is protected: it may be patients, households or children. Or ask for a case."""
PERSON = {
    "de": r"\bMensch(en)?\b|\b(eine|jede|der|einer) Person\b(?! der )",
    "fr": r"\b[Uu]ne personne\b(?! d’autre)|\bpersonnes sur\b|\bgens\b",
}
"""A person, said outright where the English leaves it to the custodian who is protected."""
DATIVE = {
    "de": r"\b(?i:an|auf|in|neben|über|unter|vor|zwischen|gegenüber)( den)? (?!dieselben)\w+en \{@people\}"
    r"|\b(in|neben|unter|zwischen|gegenüber|wird an|werden an) \{@people\}"
    r"|\b(?i:mit|bei|unter)( \w+)? \{\w+:(\w+ )?\{@person\}\|(\w+ )?\{@people\}\}"
    r"|\bzwischen \{\w+\} und \{\w+:\{@person\}\|\{@people\}\}",
}
"""Where a preposition and an ending ask for the dative of who is protected: bei 5 Kindern."""
OTHER_FORMS = {
    "de": r"\b[Dd]ie Datenverwalter\b(?! verwenden)|Datenverwaltern\b|Datenverwaltung"
    r"|(?<!dessen )(?<!deren )\b(?!(Was|Wie|Ob|Wo|Dass|Wenn|Wer|Ihnen) )[A-ZÄÖÜ]\w+ der Datenverwalter\b"
    r"|(?<!, )\b(de[mnr]|die|das) der Datenverwalter\b|\b[Gg]außsche\w* Rauschens?\b"
    r"|\b(Anzahlen|[Dd]eklarier\w*|bekanntermaßen|zur Hälfte sicher|so dass|[Gg]elaufen\w*|Updates?)\b"
    r"|(?<!Privacy )\b[Aa]t Risk\b|\b(GDPR|Gegenbl\w+|[Hh]alter (von|der) Masken|Maskenhalter|Speicher)\b"
    r"|\b(Art|Nr|Abs)\. ?\d|\bzertifiziertes δ|\b(um höchstens|als) so viel\b(?! wie)",
    "fr": r"\b([Ee]ffectifs|[Ee]nsembles? de données|[Rr]andomisé\w*|[Cc]ontre-fiches?"
    r"|[Cc]oordinat(eur|rice)s?|[Dd]euxième (personne|signature)s?|[Ee]spèces? de serveur|[Cc]onsigné\w*"
    r"|[Dd]ifférentiellement privée?s?|(?<!presse-)[Pp]apiers|[Dd]onnées personnelles"
    r"|[Ll]og-cotes|DPIA|EHDS|GDPR)\b",
}
"""Further forms of a term of the glossary, or turns that are no German: one thing has one."""
ONE_OF_MANY = {
    "de": r"\{(\w+)\}(\*\*)? von (den |jedem )?(\*\*)?(\{\w+[^{}]*\}(\*\*)?)?"
    r"[^.,;:{}]*?(\{@[\w ]+\}[^.,;:{}]*?)?\b(sind|haben|werden|stehen|liegen|gehören|teilen|lassen"
    r"|wurden|waren|gingen|unterscheiden|sagen|können)\b"
    r"|\b(haben|sind|werden|stehen|waren|gingen|gehen|kommen|liegen|landen|gerat?en|gerieten)( \w+){0,4}"
    r" \{\w+(:[^{}|]*)?\} von (100|\{)",
    "fr": r"\{\w+(:[^{}|]*)?\} (\{@[pP]eople\}|(?!cas|fois)\w+s) sur (\{|\d)|\w\((s|e|x|es|nt)\)"
    r"|\{\w+:[^{}|]+\|[^{}|]+\} (\w+ée?|faite)s\b",
}
"""A plural behind a number that may be one: 1 of 40 is, and words and verbs have to be chosen by it."""
NAMES_ONLY = (".aliases",)
"""Endings of ids whose words are found by searching: each language has its own."""


def written(pattern: str) -> str:
    """Return a sentence without its places."""
    return PLACE.sub(" ", pattern)


def places(pattern: str) -> Counter[str]:
    """Return each place with its format, without the words of a plural."""
    found: Counter[str] = Counter()
    for _, name, form, _ in string.Formatter().parse(pattern):
        if name and not name.startswith(texts.PROTECTED):
            found[f"{name}:{'' if texts.CHOICE in (form or '') else form}"] += 1
    return found


def numbers(pattern: str) -> Counter[str]:
    """Return the digits of each number of a sentence, whatever stands between them."""
    return Counter(re.sub(r"\D", "", one) for one in NUMBER.findall(written(pattern)))


def other_places(english: str, other: str, language: str) -> bool:
    """Whether other values are asked for, or in other formats; a word may agree with a number beside it."""
    ours, theirs = set(places(english)), set(places(other))
    names = [{one.split(":")[0] for one in side} for side in (ours, theirs)]
    formats = [{one for one in side if not one.endswith(":")} for side in (ours, theirs)]
    return names[0] != names[1] or formats[0] != formats[1]


def other_numbers(english: str, other: str, language: str) -> bool:
    """Whether it names other numbers."""
    return set(numbers(english)) != set(numbers(other))


def other_signs(english: str, other: str, language: str) -> bool:
    """Whether a sign of mathematics or law is missing or new."""
    return any((sign in written(english)) != (sign in written(other)) for sign in SIGNS)


def other_shape(english: str, other: str, language: str) -> bool:
    """Whether paragraphs, marks of strength, code or the blanks around it differ."""
    shapes = [
        (text.count("**"), text.count("\n\n"), text.count("`"), text[:1] == " ", text[-1:] == " ", bool(text))
        for text in (english, other)
    ]
    return shapes[0] != shapes[1]


def left_english(english: str, other: str, language: str) -> bool:
    """Whether the English stands there as it was."""
    return english == other and len(WORDS.findall(written(english))) > 2


def lost_no(english: str, other: str, language: str) -> bool:
    """Whether the English denies something and the translation nothing."""
    plain = re.sub(r"\bno (more|less|fewer) than\b", " ", english)
    return bool(re.search(NO["en"], plain, re.I)) and not re.search(NO.get(language, ""), other, re.I)


def too_familiar(english: str, other: str, language: str) -> bool:
    """Whether somebody is addressed as a friend."""
    return language in FAMILIAR and re.search(FAMILIAR[language], written(other)) is not None


def foreign_marks(english: str, other: str, language: str) -> bool:
    """Whether quotation marks are those of another language."""
    return any(mark in other for mark in FOREIGN_MARKS.get(language, ""))


def breaking_space(english: str, other: str, language: str) -> bool:
    """Whether a line may break before a mark that French sets apart, or it stands too close after a place."""
    return language == "fr" and re.search(r" [;:!?»](?!\w)|« |\}[;:!?](?=\s|$)", other) is not None


def one_gender(english: str, other: str, language: str) -> bool:
    """Whether an article or adjective fits the protected in one gender only, or their case is wrong."""
    patterns = (GENDERED.get(language), DATIVE.get(language))
    return any(pattern is not None and re.search(pattern, other) is not None for pattern in patterns)


def wrong_forms(english: str, other: str, language: str) -> bool:
    """Whether a plural has too few forms, or the protected are named in a form that the language lacks."""
    spoken = languages.find(language)
    forms = {spoken.plural_form(str(one)) for one in range(200)}
    for _, name, form, _ in string.Formatter().parse(other):
        if name and name.startswith(texts.PROTECTED):
            wanted = name[1:2].lower() + name[2:]
            if wanted not in {"person", "people", *spoken.forms}:
                return True
        elif form and texts.CHOICE in form:
            wrong = len(form.removeprefix(texts.CHOICE).split(texts.CHOICE)) != len(forms)
            if wrong:
                return True
    return False


def person_named(english: str, other: str, language: str) -> bool:
    """Whether it says a person where it may be a household: the English has the custodian's word there."""
    return "{@" in english and language in PERSON and re.search(PERSON[language], other) is not None


def second_form(english: str, other: str, language: str) -> bool:
    """Whether a term stands there in a form that it has nowhere else."""
    return language in OTHER_FORMS and re.search(OTHER_FORMS[language], other) is not None


def one_of_many(english: str, other: str, language: str) -> bool:
    """Whether a word or a verb stays in the plural where one of many may be meant."""
    return language in ONE_OF_MANY and re.search(ONE_OF_MANY[language], other) is not None


def misplaced_number(english: str, other: str, language: str) -> bool:
    """Whether a number is said more often than in English, or before an article or a verb: {n:is|are}."""
    before = _said(english)
    if any(count > max(before[name], 1) for name, count in _said(other).items()):
        return True
    choices = (form for _, _, form, _ in string.Formatter().parse(other) if form and texts.CHOICE in form)
    starts = re.compile(NO_NUMBER_BEFORE.get(language, "$^"))
    return any(
        starts.match(word)
        for form in choices
        for word in form.split(texts.CHOICE)
        if not form.startswith(texts.CHOICE)
    )


def _said(pattern: str) -> Counter[str]:
    """Return how often each value is written out, and not only words chosen by it."""
    fields = [(name, form or "") for _, name, form, _ in string.Formatter().parse(pattern) if name]
    counted = {name for name, form in fields if texts.CHOICE in form}
    return Counter(name for name, form in fields if name in counted and not form.startswith(texts.CHOICE))


@cache
def glossary() -> tuple[tuple[re.Pattern[str], Mapping[str, str]], ...]:
    """Return every term with what each language must hold where it stands."""
    tree = tomllib.loads((HERE / "glossary.toml").read_text(encoding="utf-8"))
    terms = (term for area in tree.values() for term in area.items())
    return tuple((re.compile(rf"\b({english})\b", re.I), others) for english, others in terms)


def other_terms(english: str, other: str, language: str) -> bool:
    """Whether a term is called otherwise than in the glossary."""
    plain = AS_WRITTEN.sub(" ", PLACE.sub(_words_of_a_place, english))
    said = PLACE.sub(_words_of_a_place, other)
    return any(
        language in others and term.search(plain) and not re.search(others[language], said, re.I)
        for term, others in glossary()
    )


def _words_of_a_place(found: re.Match[str]) -> str:
    """Return the words that a place chooses among."""
    words = found[0][1:-1].partition(":")[2]
    return re.sub(r"\{[^{}]*\}", " ", words).replace(texts.CHOICE, " ")


CHECKS: tuple[Callable[[str, str, str], bool], ...] = (
    *(other_places, wrong_forms, other_numbers, other_signs, other_shape, left_english, lost_no),
    *(
        too_familiar,
        foreign_marks,
        breaking_space,
        one_gender,
        person_named,
        second_form,
        one_of_many,
        misplaced_number,
        other_terms,
    ),
)


@cache
def excused() -> Mapping[str, Mapping[str, str]]:
    """Return, by check, the sentences that rightly differ, with why: read by whoever translated."""
    found: dict[str, dict[str, str]] = {}
    for file in sorted(HERE.glob("excused*.toml")):
        for name, sentences in tomllib.loads(file.read_text(encoding="utf-8")).items():
            found.setdefault(name, {}).update(sentences)
    return found


def made_from(language: str) -> Path:
    """Return where is kept which English the sentences of a language were made from."""
    return HERE / "made_from" / f"{language}.json"


def digest(pattern: str) -> str:
    """Return a short digest of a sentence."""
    return sha256(pattern.encode()).hexdigest()[:10]


def differences(language: str, *, below: str = "") -> Iterator[tuple[str, str]]:
    """Yield (id, what is wrong) of all sentences of a language."""
    english, other = texts.catalogue("en"), texts.catalogue(language)
    for text_id in sorted(english.keys() | other.keys()):
        if not text_id.startswith(below):
            continue
        if text_id not in other:
            yield text_id, "missing"
        elif text_id not in english:
            yield text_id, "unknown"
        elif not text_id.endswith(NAMES_ONLY):
            for check in CHECKS:
                name = f"{language}.{check.__name__}"
                if check(english[text_id], other[text_id], language) and text_id not in excused().get(
                    name, {}
                ):
                    yield text_id, check.__name__


def outdated(language: str) -> list[str]:
    """Return the ids whose English is another than when they were translated."""
    known = json.loads(made_from(language).read_text(encoding="utf-8"))
    english = texts.catalogue("en")
    return sorted(one for one in texts.catalogue(language) if known.get(one) != digest(english.get(one, "")))


def note(language: str) -> None:
    """Keep which English each sentence was made from."""
    english = texts.catalogue("en")
    kept = {one: digest(english[one]) for one in sorted(texts.catalogue(language)) if one in english}
    made_from(language).parent.mkdir(exist_ok=True)
    made_from(language).write_text(json.dumps(kept, indent=0) + "\n", encoding="utf-8")


def _begins(path: str) -> str:
    parts = Path(path).resolve().relative_to(ROOT / "resources" / "texts").parts[1:]
    return ".".join(parts).removesuffix(".toml") + "."


def main(language: str, *paths: str) -> int:
    """Print what is wrong, with both sentences."""
    if language not in texts.languages():
        print(f"translation.py LANGUAGE [--note | FILE …]: one of {', '.join(texts.languages())}")
        return 2
    if paths == ("--note",):
        note(language)
        return 0
    english, other, wrong = texts.catalogue("en"), texts.catalogue(language), 0
    for below in [_begins(path) for path in paths] or [""]:
        for text_id, what in differences(language, below=below):
            wrong += 1
            print(f"{what}: {text_id}\n    {english.get(text_id, '')!r}\n    {other.get(text_id, '')!r}")
    print(wrong)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
