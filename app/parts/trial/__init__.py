"""What the settings of a method give on the table in view, counted and drawn while they are chosen."""
