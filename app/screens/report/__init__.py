"""Report: what to hand over and what stays."""
