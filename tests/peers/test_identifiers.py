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


def of_birth(count, *, order="ymd", start="", more=(0,)):
    """Return what makes numbers of the right form: a day of birth somewhere in them, digits behind it."""

    def make(rng):
        parts = {
            "c": rng.choice("12"),
            "Y": f"{rng.randint(1930, 1999)}",
            "y": f"{rng.randint(30, 99):02d}",
            "m": f"{rng.randint(1, 12) + rng.choice(more):02d}",
            "d": f"{rng.randint(1, 28):02d}",
            "z": f"9{rng.randint(30, 99):02d}",
        }
        day = start + "".join(parts[part] for part in order)
        return day + "".join(rng.choices(DIGITS, k=count - len(day)))

    return make


def of_letters(rng):
    return (
        "".join(rng.choices(DIGITS, k=7)) + rng.choice("ABCDEFGHIJKLMNOPQRSTUVW") + rng.choice(("", "A", "B"))
    )


SAME = {
    "austrian_vnr": ("stdnum.at.vnr", of_birth(10, order="", start="1")),
    "baltic_id": ("stdnum.ee.ik", of_birth(11, order="ymd", start="3")),
    "brazilian_cpf": ("stdnum.br.cpf", of_digits(11)),
    "bulgarian_egn": ("stdnum.bg.egn", of_birth(10, more=(0, 20, 40))),
    "chilean_rut": (
        "stdnum.cl.rut",
        lambda rng: f"{of_digits(8, first='12')(rng)}-{rng.choice(DIGITS + 'K')}",
    ),
    "chinese_ric": ("stdnum.cn.ric", of_birth(18, order="Ymd", start="110101")),
    "croatian_oib": ("stdnum.hr.oib", of_digits(11)),
    "czech_rc": ("stdnum.cz.rc", of_birth(10, more=(0, 50))),
    "greek_amka": ("stdnum.gr.amka", of_birth(11, order="dmy")),
    "icelandic_kennitala": ("stdnum.is_.kennitala", lambda rng: of_birth(9, order="dmy")(rng) + "9"),
    "irish_pps": ("stdnum.ie.pps", of_letters),
    "korean_rrn": ("stdnum.kr.rrn", lambda rng: of_birth(13)(rng)[:6] + rng.choice("12") + of_digits(6)(rng)),
    "romanian_cnp": ("stdnum.ro.cnp", lambda rng: of_birth(7, start="1")(rng) + "01" + of_digits(4)(rng)),
    "slovenian_emso": ("stdnum.si.emso", of_birth(13, order="dmz")),
    "south_african_id": ("stdnum.za.idnr", lambda rng: of_birth(10)(rng) + "08" + of_digits(1)(rng)),
    "thai_pin": ("stdnum.th.pin", of_digits(13, first="12345678")),
    "turkish_tckn": ("stdnum.tr.tckimlik", of_digits(11, first="123456789")),
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
    assert passed > 5
