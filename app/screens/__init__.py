"""One folder for each step: ``page.py`` with ``PAGE``, and what only this screen needs.

Screens never import each other.
"""
