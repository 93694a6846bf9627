"""Tables: other tables that the chosen method reads."""
