"""A network of columns, each with its parents, learnt from noisy choices and noisy tables."""
