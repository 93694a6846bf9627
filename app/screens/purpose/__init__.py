"""Purpose: who asks, for whom, until when, and which register pays."""
