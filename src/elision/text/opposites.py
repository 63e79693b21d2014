"""Words that turn an event into its opposite, however alike the sentences look.

"Turn the water on" and "turn the water off" share all but one word, and a script needs to tell
them apart.
"""

from __future__ import annotations

__all__ = ["OPPOSITE_PARTICLES", "OPPOSITE_VERBS", "opposite_particles", "opposite_verbs"]

OPPOSITE_PARTICLES = """
on off
in out
up down
"""

OPPOSITE_VERBS = """
add remove
arrive leave
ascend descend
attach detach
board leave
buy sell
close open
cool heat
empty fill
enter exit
enter leave
fasten loosen
fold unfold
freeze thaw
give take
insert remove
lift lower
load unload
lock unlock
open shut
pack unpack
place remove
plug unplug
pull push
put remove
put take
raise lower
screw unscrew
sit stand
start finish
start stop
begin finish
begin stop
begin end
tie untie
wake sleep
wet dry
wrap unwrap
zip unzip
dress undress
button unbutton
buckle unbuckle
"""


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    pairs = [line.split() for line in text.split("\n") if line]
    return frozenset((a, b) for a, b in pairs) | frozenset((b, a) for a, b in pairs)


_PARTICLES = _pairs(OPPOSITE_PARTICLES)
_VERBS = _pairs(OPPOSITE_VERBS)


def opposite_particles(first: str, second: str) -> bool:
    """Say whether two particles are opposites.

    Examples
    --------
    >>> opposite_particles("off", "on"), opposite_particles("off", "out")
    (True, False)
    """
    return (first, second) in _PARTICLES


def opposite_verbs(first: str, second: str) -> bool:
    """Say whether two verbs are opposites.

    Examples
    --------
    >>> opposite_verbs("open", "close"), opposite_verbs("open", "lock")
    (True, False)
    """
    return (first, second) in _VERBS
