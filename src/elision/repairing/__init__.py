"""Event logs in which steps were done and not recorded: what is missing, put back."""

from elision.repairing.repaired import Repaired, Report, repair, repair_stream
from elision.repairing.repairer import Missing, Repairer

__all__ = ["Missing", "Repaired", "Repairer", "Report", "repair", "repair_stream"]
