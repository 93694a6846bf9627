"""Compare: settings side by side before one of them is released."""
