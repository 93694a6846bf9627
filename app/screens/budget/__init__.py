"""Budget: the page and its four views of one privacy level."""
