"""What a population is made from. Apart from the populations, because the command line asks without any."""

from __future__ import annotations

from enum import StrEnum

from engine.privacy.sampled_sensitivity import Origin


class Source(StrEnum):
    """What the population is made from, as the custodian declares it."""

    PRIVATE = "private"  # the custodian's own rows
    PUBLIC = "public"  # a table that is public
    SIMULATED = "simulated"  # declared domains and distributions
    FITTED = "fitted"  # a model of the custodian's own rows
    FITTED_PUBLIC = "fitted-public"  # a model of a public table

    @property
    def origin(self) -> Origin:
        """Return where the rows come from."""
        return {
            Source.PRIVATE: Origin.PRIVATE,
            Source.PUBLIC: Origin.PUBLIC,
            Source.SIMULATED: Origin.SIMULATED,
            Source.FITTED: Origin.PRIVATE,
            Source.FITTED_PUBLIC: Origin.PUBLIC,
        }[self]
