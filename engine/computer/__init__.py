"""Check this computer: whether the program, its noise and what it writes to are as they should be."""
