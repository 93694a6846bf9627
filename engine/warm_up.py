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

    import engine.pricing.views
    import engine.release.choice
    import engine.release.mock
    import engine.release.run
    import engine.release.verdict
    import engine.report.content.results
    import engine.report.drawing
    import engine.risk.group_sizes
    import engine.table.preparation.prepare
    import engine.table.suggest.suggest  # noqa: F401
    from engine.evaluation.catalogue import measures
    from engine.methods.catalogue import methods
    from engine.report import pdf

    methods()
    measures()
    pdf.fonts()
    # What was loaded stays; looking through it for rubbish would stop the window for 0.2 s each time.
    gc.freeze()
