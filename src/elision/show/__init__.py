"""Scripts as pictures and in the formats of other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.show import draw as draw
    from elision.show import export as export
    from elision.show import notebook as notebook
    from elision.show import outline_graphs as outline_graphs
    from elision.show import outline_raster as outline_raster
    from elision.show import outline_table as outline_table
    from elision.show import raster as raster
else:
    __getattr__ = door(__name__)
