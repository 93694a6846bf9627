"""Risk today: who stands out in the table as it is."""
