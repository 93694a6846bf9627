"""The letters of the fonts that ship: what is kept of them is what stands in them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from engine.report import fonts

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("fontTools")


def test_what_is_kept_of_the_fonts_is_what_stands_in_them() -> None:
    from fontTools.ttLib import TTFont

    spec = importlib.util.spec_from_file_location("make_letters", ROOT / "packaging" / "make_letters.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.TARGET.read_text(encoding="ascii") == module.letters()
    letters, widths = fonts._font(0)
    font = TTFont(module.MEASURED)
    assert letters == set(font.getBestCmap())
    for code, name in font.getBestCmap().items():
        assert widths[code] == font["hmtx"].metrics[name][0] / font["head"].unitsPerEm
    assert fonts._font(1)[0] == set(TTFont(module.FALLBACK).getBestCmap())


def test_no_font_is_opened_to_draw() -> None:
    code = (
        "import sys; from engine.report.drawing import draw; from engine.views import BarsView\n"
        "draw(BarsView('People', ('women', 'men'), (2310.0, 1949.0), 'people'))\n"
        "print('fontTools' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
