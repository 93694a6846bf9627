"""Release: made while one looks on, and what came of it."""
