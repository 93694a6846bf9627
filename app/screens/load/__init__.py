"""Load: how a file was read, and what was noticed in it."""
