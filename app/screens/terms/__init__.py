"""Terms: what a release promises where no budget is chosen."""
