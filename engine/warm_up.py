"""Loads ahead what a window will need, so that nobody waits for an import while typing."""

from __future__ import annotations

import gc


def warm_up() -> None:
    """Import what the first table, the budget and the release need. Takes seconds; belongs on another thread.

    Notes
    -----
    Everything here is imported on first use anyway. A window calls this once it is shown.
    """
    import scipy.optimize  # noqa: F401

    import engine.release.choice_curve
    import engine.release.report.pdf
    import engine.release.run
    import engine.risk.group_sizes
    import engine.table.preparation
    import engine.table.suggest  # noqa: F401
    from engine.evaluation.catalogue import measures
    from engine.methods.catalogue import methods
    from engine.release.report.figures import draw
    from engine.views import BarsView

    methods()
    measures()
    # matplotlib loads much of itself, and its fonts, on the first drawing.
    draw(BarsView("", ("",), (1.0,), ""))
    # What was loaded stays; looking through it for rubbish would stop the window for 0.2 s each time.
    gc.freeze()
