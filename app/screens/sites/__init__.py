"""Several sites: the screen of whoever coordinates a study, is a site of it, or holds a key."""
