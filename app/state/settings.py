"""What the window remembers: look, language, size. Never a cell, and no recent file unless asked to."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from engine import strict_json
from engine.bounded import SUMS, read_text

LOOK = ("theme", "language", "zoom", "width", "height", "maximised")
FIRST = ("answered_sealing", "numbers", "began")
KNOWN = (*LOOK, *FIRST, "shared", "remember_files", "recent", "desks", "bundles", "sites")
ZOOMS = (100, 110, 125, 150, 175, 200)  # percent of the size in which everything is drawn
MOST_RECENT, MOST_PLACES = 5, 50


def config_folder() -> Path:
    """Return where settings live."""
    from platformdirs import user_config_path

    return user_config_path("custos", appauthor=False)


def data_folder() -> Path:
    """Return where the draft of the plan lives."""
    from platformdirs import user_data_path

    return user_data_path("custos", appauthor=False)


class Settings:
    """A small JSON file; one that cannot be read is taken as empty, one that cannot be written is let be."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder if folder is not None else config_folder()) / "settings.json"
        self._values = self._read()

    def _read(self) -> dict[str, Any]:
        try:
            tree = strict_json.loads(read_text(self.path, SUMS))
        except (OSError, ValueError):
            return {}
        kept = {name: tree[name] for name in KNOWN if name in tree} if isinstance(tree, Mapping) else {}
        if kept.get("zoom") not in ZOOMS:
            kept.pop("zoom", None)
        return kept

    def get(self, name: str, default: Any = None) -> Any:
        """Return a setting, or the default when it is absent or of another type."""
        value = self._values.get(name, default)
        return value if default is None or type(value) is type(default) else default

    def set(self, **values: Any) -> None:
        """Keep settings."""
        unknown = set(values) - set(KNOWN)
        if unknown:
            raise KeyError(unknown.pop())
        if all(self._values.get(name) == value for name, value in values.items()):
            return
        self._values.update(values)
        try:
            write_aside(self.path, json.dumps(self._values, indent=2) + "\n")
        except OSError:
            return

    def shared(self) -> dict[str, int]:
        """Return, by the name of a register, how many releases shall share it."""
        return {name: many for name, many in self.get("shared", {}).items() if type(many) is int and many > 0}

    def share(self, register: str, many: int) -> None:
        """Keep how many releases shall share a register; 0 forgets it."""
        others = {name: one for name, one in self.shared().items() if name != register.casefold()}
        self.set(shared=others | ({register.casefold(): many} if many > 0 else {}))

    def recent(self) -> tuple[str, ...]:
        """Return plans opened lately; empty unless the person asked for the list."""
        known = self.get("recent", []) if self.get("remember_files", False) else []
        return tuple(path for path in known if isinstance(path, str))

    def remember(self, path: str) -> None:
        """Put a plan on top of the list, if there is to be one."""
        if self.get("remember_files", False):
            others = [entry for entry in self.recent() if entry != path]
            self.set(recent=[path, *others][:MOST_RECENT])

    def desks(self) -> dict[str, str]:
        """Return, by the ledger entry that opened a service, the folder of its last visit."""
        return self._places("desks")

    def remember_desk(self, entry: str, folder: str) -> None:
        """Keep where a service left off, if files are to be remembered; the ledger does not know where."""
        self._remember("desks", entry, folder)

    def bundle(self, entry: str) -> Path | None:
        """Return the folder of a release by its ledger entry, where it is known and still there."""
        found = self._places("bundles").get(entry, "")
        return Path(found) if found and (Path(found) / "release").is_dir() else None

    def bundles(self, most: int) -> tuple[Path, ...]:
        """Return the folders of the last releases that are still there, the last one first."""
        known = [self.bundle(entry) for entry in reversed(self._places("bundles"))]
        return tuple(folder for folder in known if folder is not None)[:most]

    def remember_bundle(self, entry: str, folder: str) -> None:
        """Keep where a release lies, if files are to be remembered; the ledger does not know where."""
        self._remember("bundles", entry, folder)

    def sites_folder(self, part: str) -> Path | None:
        """Return the folder of the last study of several sites in which somebody had this part."""
        found = self._places("sites").get(part, "")
        return Path(found) if found and Path(found).is_dir() else None

    def remember_sites(self, part: str, folder: str) -> None:
        """Keep where the files of a study lie, if files are to be remembered."""
        self._remember("sites", part, folder)

    def _places(self, name: str) -> dict[str, str]:
        found = self.get(name, {}) if self.get("remember_files", False) else {}
        return {entry: folder for entry, folder in found.items() if isinstance(folder, str)}

    def _remember(self, name: str, entry: str, folder: str) -> None:
        if not self.get("remember_files", False):
            return
        others = {other: place for other, place in self._places(name).items() if other != entry}
        self.set(**{name: dict([*others.items(), (entry, folder)][-MOST_PLACES:])})

    def keep_list(self, wanted: bool) -> None:
        """Turn the list of recent plans on, or off and empty."""
        empty: dict[str, Any] = {"recent": [], "desks": {}, "bundles": {}, "sites": {}}
        kept = {name: self.get(name, nothing) for name, nothing in empty.items()}
        self.set(remember_files=wanted, **(kept if wanted else empty))


def write_aside(path: Path, text: str, *, shared: bool = False) -> None:
    """Write a file whole or not at all; readable by its owner alone unless it is to be passed on."""
    if shared:
        path.parent.mkdir(parents=True, exist_ok=True)
    else:
        make_own(path.parent)
    aside = path.with_name(path.name + ".part")
    aside.unlink(missing_ok=True)
    with open_own(aside, mode=0o666 if shared else 0o600) as file:
        file.write(text.encode())
    aside.replace(path)


def make_own(folder: Path) -> None:
    """Make a folder of the program, for its owner alone; one that an earlier version made is closed too."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder in (data_folder(), config_folder()):
        with suppress(OSError):
            folder.chmod(0o700)


def open_own(path: Path, *, mode: int = 0o600, append: bool = False) -> BinaryIO:
    """Open a file for writing, made with a mode from the beginning."""
    more = os.O_APPEND if append else os.O_TRUNC
    number = os.open(path, os.O_WRONLY | os.O_CREAT | more | getattr(os, "O_BINARY", 0), mode)
    return os.fdopen(number, "ab" if append else "wb")
