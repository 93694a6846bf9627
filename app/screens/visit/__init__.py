"""Visit: the later steps of a service or an exchange."""
