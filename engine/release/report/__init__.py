"""Reports that the program makes itself: the same document as HTML and as PDF, for outside and for inside."""
