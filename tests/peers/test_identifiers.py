"""Check digits of national identifiers against python-stdnum, on numbers of the right form."""

import importlib
import random

import pytest

from engine.table.suggest.identifiers import IDENTIFIERS

BY_ID = {identifier.id: identifier for identifier in IDENTIFIERS}
DIGITS = "0123456789"


def of_digits(count, *, first="0123456789", start=""):
    return lambda rng: (
        (start or rng.choice(first)) + "".join(rng.choices(DIGITS, k=count - len(start or "1")))
    )


def of_day(rng):
    day = f"{rng.randint(30, 99):02d}{rng.randint(1, 12):02d}{rng.randint(1, 28):02d}"
    return day + "".join(rng.choices(DIGITS, k=5))


SAME = {
    "dutch_bsn": ("stdnum.nl.bsn", of_digits(9)),
    "french_nir": ("stdnum.fr.nir", of_digits(15, start="1850578")),
    "german_tax_number": ("stdnum.de.idnr", of_digits(11, first="123456789")),
    "polish_pesel": ("stdnum.pl.pesel", of_day),
    "swiss_ahv": ("stdnum.ch.ssn", of_digits(13, start="756")),
    "uk_nhs": ("stdnum.gb.nhs", of_digits(10)),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_numbers_pass(name):
    module, make = SAME[name]
    other, rng, passed = importlib.import_module(module), random.Random(7), 0
    for _ in range(6000):
        number = make(rng)
        fits = BY_ID[name].fits(number)
        assert fits == other.is_valid(number), number
        passed += fits
    assert passed > 10
