"""The frame of the window: steps, footer, notices, undo, and the screens that are made in it.

Only ``app/__main__.py`` and the frame itself import from here; screens ask the `Frame` of `app.screens.base`.
"""
