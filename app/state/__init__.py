"""What the window knows: the study with its plan, history, drafts, settings. No Qt; nothing here draws."""
