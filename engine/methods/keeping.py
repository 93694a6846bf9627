"""Methods that keep a secret key inside, by which they say who is who; or go on with an earlier one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from engine.methods.protocol import Method
from engine.once import once

if TYPE_CHECKING:
    import pandas as pd

KEY_FILE = "pseudonym-key.json"


class KeyKeeper(Method):
    """A method whose release holds pseudonyms that a key of the custodian's explains."""

    keeps_key: ClassVar[bool] = True

    @once
    @abstractmethod
    def uses_earlier_key(self) -> bool:
        """Say whether the key of an earlier release is to be used."""

    @abstractmethod
    def stand_ins(self, texts: Sequence[str], *, key: bytes) -> list[str]:
        """Return the pseudonym of each number of a person.

        Raises
        ------
        InputRefused
            A number for which there is none in the chosen form.
        """


def person_texts(keys: pd.Series) -> list[str]:
    """Return the numbers of the people of a column, each once, as pseudonyms are made of them."""
    import pandas as pd  # here: screens ask only whether a method keeps a key

    return [str(key) for key in pd.factorize(keys)[1]]
