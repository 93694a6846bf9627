"""The digest of what makes words: another one after every change that can be read, the same when built."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.release import program
from engine.release.program import CODE_DIGEST, code_digest, words_digest

ROOT = Path(program.__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a copy in the place of the program's own files."""
    for name in ("engine", "resources"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "sample"))
    monkeypatch.setattr(program, "files", lambda name: tmp_path / name)
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    words_digest.cache_clear()
    code_digest.cache_clear()


def digest() -> str:
    forget()
    return words_digest()


def test_it_changes_with_words_code_templates_and_fonts(tree: Path) -> None:
    seen = {digest()}
    for name in (
        *("engine/report/pdf.py", "resources/texts/en/bundle.toml", "resources/report/report.typ"),
        *("resources/report/verify.html", "resources/fonts/DejaVuSans.ttf"),
    ):
        path = tree / name
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        seen.add(digest())
        path.write_bytes(content)
    assert len(seen) == 6 and "" not in seen
    assert digest() in seen


def test_it_changes_with_the_libraries_that_set_the_pages(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest()
    monkeypatch.setattr(program, "_version", lambda name: "another")
    assert digest() != before


def test_a_built_program_has_the_digest_of_its_sources(tree: Path) -> None:
    before = digest()
    (tree / "resources" / CODE_DIGEST).write_text(code_digest() + "\n")
    assert digest() == before
    shutil.rmtree(tree / "engine")
    (tree / "resources" / "__init__.py").unlink()
    assert digest() == before


def test_without_sources_and_digest_nothing_is_claimed(tree: Path) -> None:
    shutil.rmtree(tree / "engine")
    assert digest() == ""
