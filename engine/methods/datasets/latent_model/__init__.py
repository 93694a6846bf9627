"""Rows as points of few dimensions: noisy moments, principal components, and rows drawn from a point."""
