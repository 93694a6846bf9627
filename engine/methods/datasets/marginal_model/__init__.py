"""A model of a table from noisy tables of one and two columns: nothing here sees a row but `rounds`."""
