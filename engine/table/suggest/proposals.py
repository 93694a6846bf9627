"""Code lists that a column may follow, with the count of each meaning: to be confirmed, not taken."""

from __future__ import annotations

from dataclasses import dataclass

from engine.table.code_lists import CodeList, code_lists
from engine.table.suggest.column_words import found_in, says, words
from engine.table.suggest.profile import Profile

_NO_YES_OR_NO = ("sex", "origin", "age", "birth", "place")
"""What such a column says is never a yes or a no: 1 may be one sex or one origin as well as the other."""

_FEWEST = {"eu_countries": 3, "icd9_chapters": 3, "icd10_chapters": 3}


@dataclass(frozen=True)
class Proposal:
    """A code list that holds every value of a column.

    Parameters
    ----------
    code_list, title
        Id and title of the list.
    meanings
        Code, meaning and number of rows, for every code that the column has. Internal: counts of rows.
    plain
        Whether every code that occurs is its own meaning, as "Female": then the list asserts nothing new.
    """

    code_list: str
    title: str
    meanings: tuple[tuple[str, str, int], ...]
    plain: bool


def proposals(looked: Profile) -> tuple[Proposal, ...]:
    """Return the code lists that a column may follow, the likeliest first.

    Notes
    -----
    All values of the column must be in the list. A column of 0 and 1 fits ISO/IEC 5218 ("not known", "male")
    by accident and is never proposed as such; one that tells sex or origin is never a yes or a no.

    Examples
    --------
    >>> from engine.table.suggest.profile import Profile
    >>> looked = Profile("smokes", "text", 9, 9, 2, values=("no", "yes"), counts=(("no", 5), ("yes", 4)))
    >>> proposals(looked)[0].meanings
    (('yes', 'yes', 4), ('no', 'no', 5))
    """
    if not looked.values or len(looked.values) < 2:
        return ()
    about = (found_in(looked.name, "identifying") or ("",))[0]
    fitting = [entry for entry in code_lists().values() if _fits(entry, looked, about)]
    fitting.sort(key=lambda entry: (about == "sex" and not entry.id.startswith("sex_"), len(entry.codes)))
    return tuple(_proposal(entry, dict(looked.counts)) for entry in fitting)


def _fits(entry: CodeList, looked: Profile, about: str) -> bool:
    present = set(looked.values or ())
    if not present <= set(entry.codes) or len(present) < _FEWEST.get(entry.id, 2):
        return False
    if entry.id == "months":
        return any(says(part, "month") for part in words(looked.name))
    if entry.id == "zero_one":
        return about not in _NO_YES_OR_NO
    if entry.id == "sex_iso_5218":
        return about == "sex" and "2" in present
    if entry.id.startswith("sex_") and max(map(len, present)) == 1:
        return about == "sex"
    return True


def _proposal(entry: CodeList, counts: dict[str, int]) -> Proposal:
    meanings = tuple(
        (code, entry.labels[code], counts.get(code, 0)) for code in entry.codes if code in counts
    )
    plain = all(code.casefold() == meaning.casefold() for code, meaning, _ in meanings)
    return Proposal(entry.id, entry.title, meanings, plain)
