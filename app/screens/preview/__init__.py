"""Preview: what will leave, what it takes, what cannot be undone."""
