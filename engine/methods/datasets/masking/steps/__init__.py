"""The steps of masking, found by themselves: see `engine.methods.datasets.masking.step.MaskingStep`."""
