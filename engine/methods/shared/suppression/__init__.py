"""Cells of a table of counts or sums that are not printed: which, why that is enough, and its audit."""
