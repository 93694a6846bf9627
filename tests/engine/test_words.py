"""The words that people read: one term for one thing, short sentences, three texts for every number."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import texts

ROOT = Path(__file__).resolve().parents[2]
LONGEST, MEDIAN = 30, 15
LISTS = ("bundle.other_files", "bundle.verify")  # set line by line; words
BANNED = {
    r"\bpython -m (engine|app)\b": "custos: installed, nothing has another name",
    r"\bholdings?\b": "register",
    r"\bjournal(s|led)?\b(?!,)": "ledger",
    r"\bways? of releasing\b": "method",
    r"\ballowed values\b": "declared values",
    r"\bordinal\b": "ordered category",
    r"\bdropped\b": "left out",
    r"\bsteepness\b": "constant c",
    r"\bbreach\b": "claims after this release",
    r"\bset aside\b": "modelled claims",
    r"\bfailure probability\b|\bprobability (with which|that) the promise\b": "slack",
    r"\bnoised once\b": "noise was added once",
    r"\balmost exact\b": "the larger the group, the smaller the margin",
    r"\boverstates the realised loss\b": "is too optimistic",
    r"\berrors are below\b": "at most",
    r"\bnobody can tell\b": "says little about",
    r"\bhas a fault\b": "made a mistake",
    r"\bfully anonym\w*|\bGDPR.compliant\b": "no verdict is given",
}
REFUTED = {
    "Only then is it what was released": r"only then is it what",  # the page that checks may be forged itself
    "the noise bounds what one person adds to any cell": r"noise bounds what",  # the cap does; noise hides it
    "First listed stay of every patient": r"\bfirst listed\b",  # which stay of a person is drawn
    "Take an invented row for a real one": r"take an invented row for a real",  # a wish, not a limit
    "Each further report would tell a little more": r"would tell a little more",  # one may nearly be a proof
    "a copy has as many rows as the original": r"as many rows as the original",  # a fifth may be kept apart
    "which recital 26 of the GDPR stands behind": r"recital 26[^.]*stands behind",  # of 2014, a directive
    "No count below 5 is printed": r"no count below X is printed",  # a printed 0 is below
    "put it, printed, into the box": r"printed, into the box",  # on paper no lot was drawn
    "The shaded band is the range left by uncertain figures": r"shaded band is the range left by uncertain",
    "Its source and tests are public.": r"source and tests are public",  # without saying where
    "most pairs are unlike in any case": r"most pairs are unlike",  # of short traces most are alike
    "What few write never leaves.": r"few write never leaves",  # a rare draw lifts a line above the threshold
}
"""Sentences that somebody showed to be false, whatever the release, and what is in no text any more."""
THREE = {"what", "how", "change"}


def plain(sentence: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\{[^}]*\}", "X", sentence))


def sentences(text: str) -> Iterator[str]:
    """Give the sentences of a text; formulas and numbers count for nothing."""
    for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-ZΑ-Ω“(])", plain(text)):
        words = re.findall(r"[^\W\d_][\w’'-]+", sentence)
        if len(words) > 1:
            yield " ".join(words)


def files() -> dict[str, list[tuple[str, str]]]:
    """Return all texts by the file they stand in."""
    found: dict[str, list[tuple[str, str]]] = {}
    for text_id, text in texts.catalogue("en").items():
        folder = text_id.partition(".")[0]
        parts = (
            2 if folder in ("app", "errors", "commands", "analyses", "promises", "measures", "methods") else 1
        )
        found.setdefault(".".join(text_id.split(".")[:parts]), []).append((text_id, text))
    return found


def banned(text: str) -> list[str]:
    return [better for word, better in BANNED.items() if re.search(word, plain(text), re.IGNORECASE)]


QUOTED = "anchors."  # precedents say what somebody else called it


def test_one_thing_has_one_name() -> None:
    ours = {name: text for name, text in texts.catalogue("en").items() if not name.startswith(QUOTED)}
    wrong = {text_id: found for text_id, text in ours.items() if (found := banned(text))}
    assert not wrong


def test_a_banned_word_is_found() -> None:
    assert banned("The holding {holding} is empty.") == ["register"]
    assert banned("{holding} pays.") == []
    assert banned("What a breach would cost") == ["claims after this release"]


def read_by_people() -> Iterator[tuple[str, str]]:
    """Give all that people read, by where it stands: texts, worked examples, programs and pages."""
    yield from texts.catalogue("en").items()
    for path in sorted((ROOT / "resources").rglob("*")):
        if path.suffix in (".json", ".html", ".txt") and "data" not in path.parts:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("refuted", sorted(REFUTED))
def test_no_sentence_comes_back_that_was_shown_to_be_false(refuted: str) -> None:
    words = re.compile(REFUTED[refuted].replace("X", r"(X|\d+)"), re.IGNORECASE)
    assert words.search(refuted)
    assert not [name for name, text in read_by_people() if words.search(plain(text))]


def test_no_protection_is_promised_absolutely() -> None:
    """What a recipient cannot do is bounded, not impossible: nobody becomes sure."""
    said = {text_id: text for text_id, text in texts.catalogue("en").items() if "recipient_cannot" in text_id}
    assert said
    assert not [text_id for text_id, text in said.items() if text.startswith(("Tell ", "Know ", "Learn "))]


@pytest.mark.parametrize("name", sorted(files()))
def test_sentences_are_short(name: str) -> None:
    lengths = [
        (len(sentence.split()), text_id, sentence)
        for text_id, text in files()[name]
        if text_id not in LISTS and not text_id.endswith(".aliases")  # words that are searched for
        for sentence in sentences(text)
    ]
    long = [entry for entry in lengths if entry[0] > LONGEST]
    assert not long
    if len(lengths) > 5:
        assert statistics.median(length for length, _, _ in lengths) <= MEDIAN


def test_a_long_sentence_is_found() -> None:
    assert max(len(found.split()) for found in sentences("Word " * 31 + "end. Short one.")) == 32


def test_no_number_has_one_or_two_of_its_three_texts() -> None:
    """What it is, how it was computed, what would change it: a number with one of them has all."""
    named: dict[str, set[str]] = {}
    for text_id in texts.catalogue("en"):
        head, _, last = text_id.rpartition(".")
        if last in THREE and ".numbers." in text_id:
            named.setdefault(head, set()).add(last)
    assert named
    assert not {head: THREE - found for head, found in named.items() if found != THREE}


@pytest.mark.guarantee
def test_a_number_of_a_sentence_is_written_by_the_texts_alone():
    """Whoever writes it beforehand writes it as English does: 74.9 stood in a German report."""
    written = []
    for path in sorted(one for part in ("engine", "app") for one in (ROOT / part).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if DIGITS.search(source) else ():
            pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
            named = [(one.value, value) for one, value in pairs if isinstance(one, ast.Constant)]
            named += [(one.arg, one.value) for one in getattr(node, "keywords", ())]
            for name, value in named:
                if _is_number(value) and not str(name).startswith(
                    "deviation_of_"
                ):  # of a model, for programs
                    written.append(f"{path.relative_to(ROOT)}:{value.lineno}")
    assert not written


DIGITS = re.compile(r"[:}][^{}:]*[efg]\}")  # so many digits of a number, as a text with places has it


def _is_number(value: ast.expr) -> bool:
    """Whether it is a number written with so many digits, and nothing else."""
    if not isinstance(value, ast.JoinedStr) or len(value.values) != 1:
        return False
    (part,) = value.values
    spec = getattr(part, "format_spec", None)
    return spec is not None and ast.unparse(spec).rstrip("'\"")[-1:] in "efg"


def test_a_number_written_beforehand_is_seen():
    source = "said(limit=f'{limit:.3g}', n=f'{n:>7}', p=f'{p:.1f} %', w=f'{n:{width}.1e}')"
    (call,) = (one.value for one in ast.parse(source).body)
    assert [_is_number(one.value) for one in call.keywords] == [True, False, False, True]
    assert DIGITS.search("f'{limit:.3g}'") and DIGITS.search("f'{n:{width}.1e}'")
    assert not DIGITS.search("f'{n:>7}' if {'a': 1} else f'{name}'")


def test_no_word_of_a_method_that_sites_add_up_says_that_noise_was_drawn_once():
    """A result of several sites has the words of the method, and the noise of each site in every number."""
    added_up = ("counts", "histogram", "life_table", "margins", "means", "density")
    said = [
        (text_id, text)
        for text_id, text in texts.catalogue("en").items()
        if text_id.startswith(tuple(f"methods.statistics.{name}." for name in added_up))
        and re.search(r"\.(numbers|columns|notes|views)\.", text_id)
    ]
    assert len(said) > 60
    once = re.compile(r"nois\w+ [^.]*\bonce\b(?!, its spread)", re.IGNORECASE)
    assert not [text_id for text_id, text in said if once.search(text)]
    spread = [text for _, text in said if "its spread" in text.lower()]
    assert len(spread) >= 4 and all("drawn once, its spread" in one or "its share" in one for one in spread)
