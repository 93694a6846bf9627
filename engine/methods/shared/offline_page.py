"""Pages that are one file and ask no network: how they are filled, and how they forbid themselves more."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files

_INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)


def fill(kit: str, values: Mapping[str, str]) -> bytes:
    """Fill the page of a kit, its look and its policy: what is filled in is not looked at again.

    Parameters
    ----------
    kit
        The name of its file.
    values
        By the names of its places, escaped.
    """
    kits = files("resources").joinpath("kits")
    look = kits.joinpath("look.css").read_text(encoding="utf-8")
    template = kits.joinpath(kit).read_text(encoding="utf-8").replace("{{look}}\n", look)
    filled = {"policy": _policy(template), **values}
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]], template).encode()


def _policy(template: str) -> str:
    """Return the content security policy: nothing but the page's own scripts and style."""
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for kind, content in _INLINE.findall(template):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        hashes[kind].append(f"'sha256-{digest}'")
    own = "; ".join(f"{kind}-src {' '.join(found)}" for kind, found in hashes.items())
    return f"default-src 'none'; {own}; form-action 'none'; base-uri 'none'"
