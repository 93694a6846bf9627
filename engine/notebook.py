"""What a notebook asks of a result: how it looks. Worked out elsewhere, and loaded when somebody asks."""

from __future__ import annotations

from importlib import import_module


class Shown:
    """A result that shows itself in a notebook; `engine.library.html` says how."""

    def _repr_html_(self) -> str:
        # By its name, since whoever defines a result must not need what draws and writes
        html: str = import_module(f"{__package__}.library").html(self)
        return html
