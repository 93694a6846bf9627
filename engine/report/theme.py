"""The colours of a drawing, by what they are for: the same names on screen, in HTML and on paper."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Theme:
    """Colours as ``#RRGGBB``. Text on ``surface`` and ``background`` has a contrast of at least 4.5 to 1."""

    background: str
    surface: str
    line: str
    text: str
    quiet: str
    accent: str
    accent_soft: str
    care: str
    care_soft: str
    wrong: str

    def tokens(self) -> dict[str, str]:
        """Return the colours by their name with hyphens, as a style sheet writes them."""
        return {part.name.replace("_", "-"): getattr(self, part.name) for part in fields(self)}


LIGHT = Theme(
    background="#F6F5F2",
    surface="#FFFFFF",
    line="#E3E0DA",
    text="#1F2430",
    quiet="#5C6370",
    accent="#0F6B6B",
    accent_soft="#E2F0EF",
    care="#8A5000",
    care_soft="#FFF3DC",
    wrong="#A3261E",
)
DARK = Theme(
    background="#16191E",
    surface="#1E2229",
    line="#313743",
    text="#ECEFF4",
    quiet="#A5ADBA",
    accent="#5CC4BF",
    accent_soft="#1D3436",
    care="#F0B45C",
    care_soft="#3A2E1A",
    wrong="#F2857D",
)


VARIABLES = Theme(**{part.name: f"var(--{part.name.replace('_', '-')})" for part in fields(Theme)})
"""Names instead of colours: a style sheet gives them both themes."""


def resource(*names: str) -> Path:
    """Return the path of a file below ``resources``, also inside a packed program."""
    from importlib.resources import files

    return Path(str(files("resources").joinpath(*names)))
