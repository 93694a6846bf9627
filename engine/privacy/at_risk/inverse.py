"""What an inverse returns: the smallest ε or the largest ε0, and whether only the atom reaches it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Inverse:
    """A privacy level found for a confidence.

    Parameters
    ----------
    value
        ε or ε0; infinite when every level has the confidence.
    at_the_atom
        True when the confidence is reached only at ε = ε0 itself, where the loss has an atom: no smaller ε
        (no larger ε0) has it, and the statement says no more than ε0-differential privacy does.
    """

    value: float
    at_the_atom: bool
