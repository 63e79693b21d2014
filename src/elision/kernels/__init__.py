"""The compiled loops, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.kernels import asking as asking
    from elision.kernels import company as company
    from elision.kernels import exact as exact
    from elision.kernels import log_passes as log_passes
    from elision.kernels import moves as moves
    from elision.kernels import passes as passes
    from elision.kernels import plain_tellings as plain_tellings
    from elision.kernels import repairing as repairing
    from elision.kernels import search as search
    from elision.kernels import telling_learning as telling_learning
    from elision.kernels import tellings as tellings
    from elision.kernels import told_chain as told_chain
else:
    __getattr__ = door(__name__)
