"""Releases: what was given, and what is left."""
