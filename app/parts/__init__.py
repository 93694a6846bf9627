"""Parts that several screens are made of. A part knows neither a screen nor the study."""
