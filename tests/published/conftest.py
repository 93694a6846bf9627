"""Pictures of published figures, in the folder named by CUSTOS_PICTURES or a temporary one."""

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def draw(tmp_path):
    """Write a picture and make sure that something was drawn."""

    def write(name, paint, **labels):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        folder = Path(os.environ.get("CUSTOS_PICTURES", tmp_path))
        folder.mkdir(parents=True, exist_ok=True)
        figure = Figure(figsize=(6, 4), layout="constrained")
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_subplot(**labels)
        paint(axes)
        axes.legend()
        figure.savefig(folder / f"{name}.png", dpi=120)
        assert np.asarray(canvas.buffer_rgba())[:, :, :3].min() < 128
        assert (folder / f"{name}.png").stat().st_size > 5000

    return write
