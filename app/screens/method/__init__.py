"""Method: choosing among the ways of releasing, and the form of the chosen one."""
