"""Outlines as pictures, and scripts in the formats of other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.show import draw as draw
    from elision.show import export as export
    from elision.show import graphs as graphs
    from elision.show import notebook as notebook
else:
    __getattr__ = door(__name__)
