"""Explore: questions that make no release."""
