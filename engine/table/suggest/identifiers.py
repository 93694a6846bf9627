"""Numbers that name somebody: national identifiers with their check digits, and other telling patterns.

The checks are compared with python-stdnum in the tests. A program that runs does not load it: it brings the
modules `ssl` and `socket` along (some of its checks ask offices over the network), and 40 ms.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

_FEWEST = 5
_SHARE = 0.95


@dataclass(frozen=True)
class Identifier:
    """A way of writing an identifier.

    Parameters
    ----------
    id
        Its key in ``suggestions.toml`` below ``identifier``.
    pattern
        The whole cell must match; blanks, points and hyphens are taken out first unless ``as_written``.
    check
        The check digit, given the cell without separators.
    as_written
        Whether separators belong to the pattern.
    """

    id: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = lambda _: True
    as_written: bool = False

    def fits(self, cell: str) -> bool:
        """Say whether one cell has the form and the check digit."""
        cell = cell.strip().upper()
        if not self.as_written:
            cell = re.sub(r"[ .\-/]", "", cell)
        if self.pattern.fullmatch(cell) is None:
            return False
        try:
            return self.check(cell)
        except ValueError:
            return False


def recognise(cells: Iterable[str]) -> Identifier | None:
    """Return the identifier that different cells of a column are written as, or None.

    Parameters
    ----------
    cells
        Different filled cells, as text.

    Notes
    -----
    At least five cells, and 95 % of them, must fit. A random number passes a check digit once in ten or
    eleven times, so that five random cells all pass less than once in 10,000 columns.

    Examples
    --------
    >>> recognise(["111222333", "123456782", "100000009", "100000010", "100000022"]).id
    'dutch_bsn'
    >>> recognise(["1", "2", "3", "4", "5"]) is None
    True
    """
    listed = list(cells)
    if len(listed) < _FEWEST:
        return None
    for identifier in IDENTIFIERS:
        if not any(identifier.fits(cell) for cell in listed[:2]):
            continue
        if sum(map(identifier.fits, listed)) >= _SHARE * len(listed):
            return identifier
    return None


def _weight(cell: str, weights: Iterable[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(cell, weights, strict=False))


def _luhn(cell: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(cell)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _iban(cell: str) -> bool:
    turned = cell[4:] + cell[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def _bsn(cell: str) -> bool:
    return cell != "000000000" and _weight(cell, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def _german_tax(cell: str) -> bool:
    counts = sorted(cell[:10].count(digit) for digit in set(cell[:10]))
    # Exactly one of the first ten digits occurs two or three times, each other one at most once.
    if counts[-1] not in (2, 3) or counts[-2] != 1:
        return False
    product = 10
    for digit in cell[:10]:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == int(cell[10])


def _german_health(cell: str) -> bool:
    digits = f"{ord(cell[0]) - 64:02d}{cell[1:9]}"
    total = sum(sum(map(int, str(int(digit) * (1 + place % 2)))) for place, digit in enumerate(digits))
    return total % 10 == int(cell[9])


def _french(cell: str) -> bool:
    number = int(cell[:13].replace("2A", "19").replace("2B", "18"))
    return 97 - number % 97 == int(cell[13:])


def _spanish(cell: str) -> bool:
    number = int(cell[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == cell[-1]


_ITALIAN_LETTERS = (
    1,
    0,
    5,
    7,
    9,
    13,
    15,
    17,
    19,
    21,
    2,
    4,
    18,
    20,
    11,
    3,
    6,
    8,
    12,
    14,
    16,
    10,
    22,
    25,
    24,
    23,
)
# At odd places a digit counts as the letter of the same rank: 0 as A, 1 as B …
_ITALIAN_ODD = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", _ITALIAN_LETTERS, strict=True)) | dict(
    zip("0123456789", _ITALIAN_LETTERS, strict=False)
)


def _italian(cell: str) -> bool:
    total = 0
    for place, sign in enumerate(cell[:15]):
        even = int(sign) if sign.isdigit() else ord(sign) - 65
        total += _ITALIAN_ODD[sign] if place % 2 == 0 else even
    return chr(65 + total % 26) == cell[15]


def _belgian(cell: str) -> bool:
    key = int(cell[9:])
    return key in (97 - int(cell[:9]) % 97, 97 - int("2" + cell[:9]) % 97)


def _day(day: str, month: str, year: str = "00") -> bool:
    date(2000 + int(year[-2:]), int(month), int(day))
    return True


def _swedish(cell: str) -> bool:
    ten = cell.replace("+", "")[-10:]
    day = int(ten[4:6])
    return _day(str(day - 60 if day > 60 else day), ten[2:4], ten[:2]) and _luhn(ten)


def _finnish(cell: str) -> bool:
    number = int(cell[:6] + cell[-4:-1])
    return _day(cell[:2], cell[2:4], cell[4:6]) and "0123456789ABCDEFHJKLMNPRSTUVWXY"[number % 31] == cell[-1]


def _danish(cell: str) -> bool:
    # Numbers given since 2007 need no check digit; those before have one.
    return _day(cell[:2], cell[2:4], cell[4:6])


def _norwegian(cell: str) -> bool:
    first = -_weight(cell, (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
    second = -_weight(cell, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return first == int(cell[9]) and second == int(cell[10])


def _pesel(cell: str) -> bool:
    month = int(cell[2:4]) % 20
    return 1 <= month <= 12 and -_weight(cell, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10 == int(cell[10])


def _portuguese(cell: str) -> bool:
    rest = _weight(cell, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return (0 if rest < 2 else 11 - rest) == int(cell[8])


def _nhs(cell: str) -> bool:
    rest = 11 - _weight(cell, (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return (0 if rest == 11 else rest) == int(cell[9])


def _swiss(cell: str) -> bool:
    return -_weight(cell, (1, 3) * 6) % 10 == int(cell[12])


def _birth(day: str, month: str, year: str = "00", *, above: tuple[int, ...] = (0,)) -> bool:
    """Say whether this can be a day of birth; a month may stand above its place to say more."""
    return any(
        1 <= int(month) - more <= 12 and _day(day, str(int(month) - more), year) for more in sorted(above)
    )


def _austrian(cell: str) -> bool:
    return _weight(cell, (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)) % 11 == int(cell[3])


def _bulgarian(cell: str) -> bool:
    fits = _weight(cell, (2, 4, 8, 5, 10, 9, 7, 3, 6)) % 11 % 10 == int(cell[9])
    return fits and _birth(cell[4:6], cell[2:4], cell[:2], above=(0, 20, 40))


def _brazilian(cell: str) -> bool:
    first = -_weight(cell, range(10, 1, -1)) % 11 % 10
    second = -_weight(cell, range(11, 1, -1)) % 11 % 10
    return len(set(cell)) > 1 and (first, second) == (int(cell[9]), int(cell[10]))


def _croatian(cell: str) -> bool:
    rest = 10
    for digit in cell[:10]:
        rest = ((rest + int(digit)) % 10 or 10) * 2 % 11
    return (rest + int(cell[10])) % 10 == 1


def _baltic(cell: str) -> bool:
    rest = _weight(cell, (1, 2, 3, 4, 5, 6, 7, 8, 9, 1)) % 11
    if rest == 10:
        rest = _weight(cell, (3, 4, 5, 6, 7, 8, 9, 1, 2, 3)) % 11
    return rest % 10 == int(cell[10]) and _birth(cell[5:7], cell[3:5], cell[1:3])


def _romanian(cell: str) -> bool:
    rest = _weight(cell, (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    return (1 if rest == 10 else rest) == int(cell[12]) and _birth(cell[5:7], cell[3:5], cell[1:3])


def _czech(cell: str) -> bool:
    fits = int(cell) % 11 == 0 or (int(cell[:9]) % 11 == 10 and cell[9] == "0")
    return fits and _birth(cell[4:6], cell[2:4], cell[:2], above=(0, 20, 50, 70))


def _slovenian(cell: str) -> bool:
    fits = -_weight(cell, (7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11 % 10 == int(cell[12])
    return fits and _birth(cell[:2], cell[2:4], cell[5:7])


def _greek(cell: str) -> bool:
    return _birth(cell[:2], cell[2:4], cell[4:6]) and _luhn(cell)


def _icelandic(cell: str) -> bool:
    day = int(cell[:2]) % 40  # of organisations it is above 40
    fits = _weight(cell, (3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0
    return fits and _birth(str(day), cell[2:4], cell[4:6])


def _irish(cell: str) -> bool:
    more = 0 if len(cell) == 8 or cell[8] == "W" else (ord(cell[8]) - 64) * 9
    return "WABCDEFGHIJKLMNOPQRSTUV"[(_weight(cell[:7], range(8, 1, -1)) + more) % 23] == cell[7]


def _turkish(cell: str) -> bool:
    digits = [int(digit) for digit in cell]
    odd, even = sum(digits[0:9:2]), sum(digits[1:8:2])
    return (7 * odd - even) % 10 == digits[9] and sum(digits[:10]) % 10 == digits[10]


def _chinese(cell: str) -> bool:
    rest = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(cell[:17]))
    return "0123456789X"[(1 - rest) % 11] == cell[17] and _birth(cell[12:14], cell[10:12], cell[6:10])


def _korean(cell: str) -> bool:
    rest = _weight(cell, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11
    fits = (11 - rest) % 10 == int(cell[12]) and int(cell[7:9]) <= 96  # a place
    return fits and _birth(cell[4:6], cell[2:4], cell[:2])


def _chilean(cell: str) -> bool:
    rest = sum(int(digit) * (2 + place % 6) for place, digit in enumerate(reversed(cell[:-1])))
    return "0123456789K"[-rest % 11] == cell[-1]


def _south_african(cell: str) -> bool:
    return _birth(cell[4:6], cell[2:4], cell[:2]) and _luhn(cell)


def _thai(cell: str) -> bool:
    return (11 - _weight(cell, range(13, 1, -1)) % 11) % 10 == int(cell[12])


def _internet_address(cell: str) -> bool:
    ipaddress.ip_address(cell)
    return True


def _vehicle(cell: str) -> bool:
    values = dict(
        zip("ABCDEFGHJKLMNPRSTUVWXYZ", (*range(1, 9), *range(1, 6), 7, 9, *range(2, 10)), strict=True)
    )
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    total = sum(
        (int(sign) if sign.isdigit() else values[sign]) * weight
        for sign, weight in zip(cell, weights, strict=True)
    )
    return "0123456789X"[total % 11] == cell[8]


def _of(
    name: str, pattern: str, check: Callable[[str], bool] = lambda _: True, *, as_written: bool = False
) -> Identifier:
    return Identifier(name, re.compile(pattern), check, as_written)


IDENTIFIERS = (
    _of("email", r"[^@\s]+@[^@\s]+\.[A-Z]{2,}", as_written=True),
    _of("web_address", r"(HTTPS?://|WWW\.)\S+", as_written=True),
    _of("internet_address", r"[0-9A-F]*[.:][0-9A-F.:]+", _internet_address, as_written=True),
    _of("device_address", r"([0-9A-F]{2}[:-]){5}[0-9A-F]{2}", as_written=True),
    _of("iban", r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", _iban),
    _of(
        "italian_codice_fiscale", r"[A-Z]{6}[0-9L-V]{2}[A-EHLMPRST][0-9L-V]{2}[A-Z][0-9L-V]{3}[A-Z]", _italian
    ),
    _of("spanish_dni", r"[0-9XYZ]\d{7}[A-Z]", _spanish),
    _of("finnish_hetu", r"\d{6}[+A-FU-Y]?\d{3}[0-9A-Y]", _finnish),
    _of("german_kvnr", r"[A-Z]\d{9}", _german_health),
    _of("irish_pps", r"\d{7}[A-W][A-IW]?", _irish),
    _of(
        *("chilean_rut", r"\d{1,2}(\.?\d{3}){2}-[0-9K]", lambda cell: _chilean(re.sub(r"[.\-]", "", cell))),
        as_written=True,
    ),
    _of("chinese_ric", r"[1-9]\d{16}[0-9X]", _chinese),
    _of("vehicle_number", r"[A-HJ-NPR-Z0-9]{17}", _vehicle),
    _of("french_nir", r"[1-478]\d{4}(\d{2}|2A|2B)\d{8}", _french),
    _of("swiss_ahv", r"756\d{10}", _swiss),
    _of("romanian_cnp", r"[1-9]\d{12}", _romanian),
    _of("slovenian_emso", r"\d{13}", _slovenian),
    _of("korean_rrn", r"\d{13}", _korean),
    _of("south_african_id", r"\d{10}[01]\d{2}", _south_african),
    _of("norwegian_fodselsnummer", r"\d{11}", _norwegian),
    _of("polish_pesel", r"\d{11}", _pesel),
    _of("baltic_id", r"[1-8]\d{10}", _baltic),
    _of("turkish_tckn", r"[1-9]\d{10}", _turkish),
    _of("brazilian_cpf", r"\d{11}", _brazilian),
    _of("greek_amka", r"\d{11}", _greek),
    _of("belgian_nrn", r"\d{11}", _belgian),
    _of("german_tax_number", r"[1-9]\d{10}", _german_tax),
    _of("croatian_oib", r"\d{11}", _croatian),
    _of("bulgarian_egn", r"\d{10}", _bulgarian),
    _of("czech_rc", r"\d{10}", _czech),
    _of("icelandic_kennitala", r"\d{9}[089]", _icelandic),
    _of("austrian_vnr", r"[1-9]\d{9}", _austrian),
    _of("swedish_personnummer", r"(\d{2})?\d{6}\+?\d{4}", _swedish),
    _of("danish_cpr", r"\d{6}-\d{4}", lambda cell: _danish(cell.replace("-", "")), as_written=True),
    _of("uk_nhs", r"\d{10}", _nhs),
    _of("portuguese_nif", r"[1-35689]\d{8}", _portuguese),
    _of("thai_pin", r"[1-8]\d{12}", _thai),
    _of("dutch_bsn", r"\d{9}", _bsn),
    _of("us_ssn", r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}", as_written=True),
    _of("payment_card", r"[3-6]\d{12,18}", _luhn),
    _of("phone", r"(\+|00)\d{1,3}[ ()\-./\d]{6,}|\(?0\d{1,5}\)?[ \-/.][ \-/.\d]{4,}", as_written=True),
    _of("phone", r"\(\d{3}\) ?\d{3}-\d{4}", as_written=True),
)
"""In the order of how much each says: letters and separators first, bare digits last."""
