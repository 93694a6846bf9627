"""Invented rows from seeds: models, crowds, the plan of the test, and the making."""
