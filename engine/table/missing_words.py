"""Values that other programs take for missing cells: what a recipient would lose without noticing."""

from __future__ import annotations

from collections.abc import Iterable

MISSING_WORDS = frozenset(
    {
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "<NA>",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "None",
        "n/a",
        "nan",
        "null",
        ".",
    }
)
"""What pandas reads as missing where nothing is said (3.0, ``read_csv``, ``na_values``), ``NA`` of R's
``read.csv``, and the point of SAS, SPSS and Stata. As they stand: other programs look at capitals too."""


def missing_words(values: Iterable[object]) -> tuple[str, ...]:
    """Return those values that other programs read as missing, each once, in the order of their texts.

    Blanks around a value do not save it: R takes them off.

    Examples
    --------
    >>> missing_words(["None", "Norm", " NA ", "none", None, 4])
    (' NA ', 'None')
    """
    texts = {value for value in values if isinstance(value, str)}
    return tuple(sorted(value for value in texts if value.strip() in MISSING_WORDS))
