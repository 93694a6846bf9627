"""Start: where to begin."""
