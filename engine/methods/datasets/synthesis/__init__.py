"""Synthesis column by column: each column drawn given those before it."""
