"""What counts how much when wordings are compared and grouped."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["MIXED", "MIXED_WITHOUT_VECTORS", "OWN", "WORDNET", "Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts how much when two wordings, or two groups of them, are compared.

    Chosen on the package's own labelled tellings (``python -m elision.evaluate.events``).

    Parameters
    ----------
    verb, object
        Path similarity of the verbs and of the objects.
    words
        How well the content words of each find a partner in the other, rare words counting more.
    vectors
        Cosine of the mean word vectors, the mean of the domain taken away.
    shared
        Cosine of the content words that both share, rare words counting more (tf-idf).
    opposite
        Taken off where particles (on, off) or verbs (open, close) are opposites.
    position
        Taken off in proportion to the distance of the places in their tellings.
    together
        Taken off in proportion to how often one telling has both: who tells two things in one
        breath means two things.
    apart
        Added in proportion to how many tellings a pair of groups covers.
    around
        Weight of what stands before and after when groups are looked at again (see `regroup`).
    strictness
        Standard deviations by which a type must be more alike than two steps of one telling are.
    phrasal
        Whether verb and particle are looked up as one verb where WordNet has it ("take off").
    """

    verb: float
    object: float
    words: float = 0.0
    vectors: float = 0.0
    shared: float = 0.0
    opposite: float = 0.0
    position: float = 0.0
    together: float = 0.0
    apart: float = 0.0
    around: float = 0.0
    strictness: float = 1.5
    phrasal: bool = True


OWN = Weights(verb=0.6, object=0.4, strictness=1.5, phrasal=False)
"""For a user's own function: nothing but what it says, whatever its units."""

WORDNET = replace(OWN, position=0.6, together=0.2, apart=0.1, strictness=1.3)
"""The paper's w1 PS(verb) + w2 PS(object), and what the tellings say."""

MIXED = Weights(
    verb=0.3,
    object=0.15,
    words=0.4,
    vectors=0.3,
    opposite=0.3,
    position=0.6,
    together=0.2,
    apart=0.1,
    around=0.3,
    strictness=1.3,
)

MIXED_WITHOUT_VECTORS = replace(MIXED, verb=0.2, object=0.2, words=0.8, vectors=0.0, shared=0.2)
