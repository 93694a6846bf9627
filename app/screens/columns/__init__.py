"""Columns: who is protected, and what each column says about a person."""
