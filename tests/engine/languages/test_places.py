"""Where something is published is said in every language; the document keeps its title."""

from __future__ import annotations

import pytest

from engine import texts
from engine.analyses.catalogue import analyses
from engine.methods.catalogue import methods
from engine.pricing.anchors import read_anchors
from engine.views import Text

EVERY = [("methods", one) for one in methods()] + [("analyses", one) for one in analyses()]


def test_every_place_has_its_text_and_no_text_is_left_over() -> None:
    wanted = {f"places.{kind}.{one.id}": one.published.place for kind, one in EVERY if one.published.place}
    wanted |= {
        f"places.methods.{one.id}.{form}": source.place
        for one in methods()
        for form, source in (*one.published_by_fit.items(), *one.published_by_promise.items())
    }
    assert {name: said for name, said in texts.catalogue().items() if name.startswith("places.")} == wanted


@pytest.mark.parametrize("language", [one for one in texts.languages() if one != texts.FALLBACK])
def test_a_place_is_said_in_every_language(language: str) -> None:
    for kind, one in EVERY:
        place = texts.say_known(f"places.{kind}.{one.id}", one.published.place)
        assert isinstance(place, Text) and texts.has(place.id, language=language), one.id


def test_a_place_that_an_earlier_version_wrote_stays_as_it_is() -> None:
    assert texts.say_known("places.methods.statistics.counts", "example 2") == "example 2"


def test_every_precedent_has_its_texts_and_no_text_is_left_over() -> None:
    wanted = {
        f"anchors.{one.name}.{part}": getattr(one, part)
        for one in read_anchors().anchors
        for part in ("case", "source")
    }
    assert {name: said for name, said in texts.catalogue().items() if name.startswith("anchors.")} == wanted
