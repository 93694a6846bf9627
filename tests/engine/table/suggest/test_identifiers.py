"""Identifiers: published examples pass, changed check digits fail, random numbers are not taken for one."""

import random

import pytest

from engine import texts
from engine.table.suggest.identifiers import IDENTIFIERS, recognise

# Examples that the authorities or standards publish themselves.
EXAMPLES = {
    "iban": ["DE89 3704 0044 0532 0130 00", "GB82 WEST 1234 5698 7654 32"],
    "dutch_bsn": ["111222333", "123456782"],
    "german_tax_number": ["86 095 742 719", "47036892816", "65929970489"],
    "german_kvnr": ["A123456780"],
    "french_nir": ["2 55 08 14 168 025 38"],
    "spanish_dni": ["12345678Z", "X1234567L"],
    "italian_codice_fiscale": ["RSSMRA85T10A562S"],
    "belgian_nrn": ["85.07.30-033.28"],
    "swedish_personnummer": ["811228-9874", "19811228-9874"],
    "finnish_hetu": ["131052-308T"],
    "danish_cpr": ["211062-5629"],
    "polish_pesel": ["44051401359"],
    "portuguese_nif": ["123456789"],
    "uk_nhs": ["943 476 5919"],
    "swiss_ahv": ["756.9217.0769.85"],
    "vehicle_number": ["1M8GDM9AXKP042788"],
    "payment_card": ["4111 1111 1111 1111"],
    "austrian_vnr": ["1237 010180"],
    "baltic_id": ["36805280109", "33309240064"],
    "brazilian_cpf": ["390.533.447-05"],
    "bulgarian_egn": ["752316 926 3"],
    "chilean_rut": ["12.531.909-2"],
    "chinese_ric": ["360426199101010071"],
    "croatian_oib": ["33392005961"],
    "czech_rc": ["710319/2745"],
    "greek_amka": ["01013099997"],
    "icelandic_kennitala": ["120174-3399"],
    "irish_pps": ["6433435F", "6433435OA"],
    "korean_rrn": ["971013-9019902"],
    "romanian_cnp": ["1630615123457"],
    "slovenian_emso": ["0101006500006"],
    "south_african_id": ["7503305044089"],
    "thai_pin": ["1-2345-45678-78-1"],
    "turkish_tckn": ["17291716060"],
    "email": ["a.b@example.org"],
    "internet_address": ["192.0.2.1", "2001:db8::1"],
    "web_address": ["https://example.org/a"],
    "us_ssn": ["123-45-6789"],
    "phone": ["+49 30 1234567", "030/123 45 67", "(212) 555-0100"],
    "device_address": ["00:1B:44:11:3A:B7"],
}
CHECKED = set(EXAMPLES) - {
    "danish_cpr",
    "email",
    "internet_address",
    "web_address",
    "us_ssn",
    "phone",
    "device_address",
}


def of(name):
    return [item for item in IDENTIFIERS if item.id == name]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_published_examples(name):
    for cell in EXAMPLES[name]:
        assert any(item.fits(cell) for item in of(name)), cell


@pytest.mark.parametrize("name", sorted(CHECKED))
def test_a_changed_sign_fails(name):
    for cell in EXAMPLES[name]:
        places = [place for place, sign in enumerate(cell) if sign.isdigit()]
        last = {"vehicle_number": 8, "icelandic_kennitala": places[-2]}.get(name, places[-1])
        changed = [cell[:last] + digit + cell[last + 1 :] for digit in "0123456789" if digit != cell[last]]
        assert not any(item.fits(other) for item in of(name) for other in changed)


def test_norwegian_number_by_hand():
    # 0101 0001 234: first digit 11 − (Σ mod 11), then the second over ten digits.
    first = (3, 7, 6, 1, 8, 9, 4, 5, 2)
    second = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)
    made = []
    for number in range(100, 999):
        nine = f"010100{number}"
        one = -sum(int(digit) * weight for digit, weight in zip(nine, first, strict=True)) % 11
        two = -sum(int(digit) * weight for digit, weight in zip(f"{nine}{one}", second, strict=False)) % 11
        if one < 10 and two < 10:
            made.append(f"{nine}{one}{two}")
    assert recognise(made[:20]).id == "norwegian_fodselsnummer"


def test_every_identifier_has_a_name_and_an_example():
    for item in IDENTIFIERS:
        assert texts.has(f"suggestions.identifier.{item.id}")
        assert item.id in EXAMPLES or item.id == "norwegian_fodselsnummer"


def test_random_numbers_are_not_taken_for_identifiers():
    made = random.Random(20210101)
    taken = 0
    for _ in range(300):
        digits = made.choice([7, 8, 9, 10, 11, 12, 13, 16])
        column = [str(made.randrange(10 ** (digits - 1), 10**digits)) for _ in range(10)]
        taken += recognise(column) is not None
    # A column of ten random numbers passes one of ten checks with a chance below 10 · 10⁻¹⁰.
    assert taken == 0


def test_ordinary_cells():
    for column in (
        ["0.5", "1.25", "3.75", "2.5", "9.5"],
        ["2020-01-01"] * 5,
        ["Köln", "Bonn", "Ulm", "Hof", "Aue"],
    ):
        assert recognise(column) is None
