"""What a population is made from. Apart from the populations, because the command line asks without any."""

from __future__ import annotations

from enum import StrEnum

from engine.privacy.sampled_sensitivity import RecordOrigin


class PopulationSource(StrEnum):
    """What the population is made from, as the custodian declares it."""

    PRIVATE = "private"  # the custodian's own rows
    PUBLIC = "public"  # a table that is public
    SIMULATED = "simulated"  # declared domains and distributions
    FITTED = "fitted"  # a model of the custodian's own rows
    FITTED_PUBLIC = "fitted-public"  # a model of a public table

    @property
    def origin(self) -> RecordOrigin:
        """Return where the rows come from."""
        return {
            PopulationSource.PRIVATE: RecordOrigin.PRIVATE,
            PopulationSource.PUBLIC: RecordOrigin.PUBLIC,
            PopulationSource.SIMULATED: RecordOrigin.SIMULATED,
            PopulationSource.FITTED: RecordOrigin.PRIVATE,
            PopulationSource.FITTED_PUBLIC: RecordOrigin.PUBLIC,
        }[self]
