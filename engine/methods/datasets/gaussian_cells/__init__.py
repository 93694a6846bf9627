"""Groups of similar rows with noise, and normal distributions in their place."""
