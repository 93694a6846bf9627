"""A method is found from the file of its name, whatever the other files do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine import discovery
from engine.errors import InputRefused
from engine.methods import catalogue, listing
from engine.methods.catalogue import method, methods

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("method_id", [one.id for one in methods()])
def test_every_method_stands_in_the_file_of_its_name(method_id: str) -> None:
    found = catalogue.alone(method_id)
    assert found is not None and found.id == method_id


def test_a_method_loads_no_other() -> None:
    code = (
        "import sys; from engine.methods.catalogue import method; method('statistics.counts');"
        "print(sorted(n for n in sys.modules if n.startswith('engine.methods.') and n.count('.') == 3"
        " and '.shared.' not in n))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['engine.methods.statistics.counts']"


def test_the_list_of_methods_loads_no_library_that_only_a_run_needs() -> None:
    heavy = ["pandas.core", "pyarrow.lib", "scipy", "sklearn", "highspy", "cryptography"]
    code = (
        "import sys; from engine.__main__ import main; assert main(['methods', '--json']) == 0;"
        f"print('\\n' + str([name for name in {heavy} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_file_that_cannot_be_imported_holds_up_no_other_method(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError(name)

    catalogue.alone.cache_clear()
    catalogue.methods.cache_clear()
    honest = discovery.importlib.import_module
    with monkeypatch.context() as patched:
        patched.setattr(
            discovery.importlib,
            "import_module",
            lambda name: broken(name) if name.endswith(".linear") else honest(name),
        )
        assert method("statistics.counts").id == "statistics.counts"
        with pytest.raises(ImportError):
            method("models.linear")
    catalogue.alone.cache_clear()
    catalogue.methods.cache_clear()


@pytest.mark.parametrize(
    "unknown", ["", "statistics", "statistics.cells", "shared.cells", "..ledger", "a" * 300]
)
def test_what_is_no_method_is_refused_by_name(unknown: str) -> None:
    with pytest.raises(InputRefused) as refused:
        method(unknown)
    assert refused.value.code == "plan.unknown_method"


def test_what_is_written_of_the_methods_is_what_they_say() -> None:
    """Where this fails after a method changed: ``python -m engine.methods.listing``."""
    file = ROOT / "resources" / listing.NAME
    assert file.read_text(encoding="utf-8") == listing.written()


def test_a_method_that_was_not_written_down_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    honest, found = listing.imported, listing.modules

    def imported() -> tuple[listing.Listed, ...]:
        calls.append("imported")
        return honest()

    monkeypatch.setattr(listing, "imported", imported)
    assert listing.listed() == honest() and not calls
    own = "engine.methods.statistics.of_somebody"
    monkeypatch.setattr(listing, "modules", lambda package: [*found(package), own])
    assert listing.listed() == honest() and calls == ["imported"]


def test_the_list_of_methods_imports_none() -> None:
    code = (
        "import sys; from engine.__main__ import main; assert main(['methods', '--json']) == 0;"
        "print('\\n' + str('engine.methods.statistics.counts' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
