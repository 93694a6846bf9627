"""What a method says to the custodian alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.views import View

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Inside:
    """What stays with the custodian.

    Parameters
    ----------
    views, figures
        Shown, and kept in the evidence for inside.
    files
        Name → content of what stays with the auditor's folder.
    keys
        Name → content of what has to be kept apart from all else: keys of pseudonyms, say.
    untested
        Rows as they were before a test let some of them through: for measures, never written.
    """

    views: tuple[View, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    keys: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    untested: pandas.DataFrame | None = field(default=None, repr=False, compare=False)
