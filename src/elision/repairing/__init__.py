"""Event logs in which steps were done and not recorded: what is missing, put back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.repairing.large import repair_file
    from elision.repairing.repaired import Repaired, Report, repair
    from elision.repairing.repairer import Missing, Repairer
else:
    __getattr__ = door(
        __name__,
        {
            "Missing": "repairer",
            "Repaired": "repaired",
            "Repairer": "repairer",
            "Report": "repaired",
            "repair": "repaired",
            "repair_file": "large",
        },
    )

__all__ = ["Missing", "Repaired", "Repairer", "Report", "repair", "repair_file"]
