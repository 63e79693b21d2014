"""Compile what most tests need, so that several processes of them need not compile it each.

    python tools/compile_kernels.py

Numba keeps what it compiles beside the modules. The first process that calls a kernel compiles
it, and so do all others that come to it before it is kept.
"""

from __future__ import annotations

import elision as el

QUESTIONS = ("fill", "next", "between", "align", "score", "order", "missing")
TELLING = ["hear doorbell", None, "open door"]


def main() -> None:
    """Learn by every score, and ask most questions."""
    tellings = el.examples.doorbell_tellings()
    script = el.ScriptLearner().fit(tellings).script_
    for answering in (script, el.examples.doorbell()):
        for question in QUESTIONS:
            told = TELLING if question in ("fill", "align") else [one for one in TELLING if one]
            getattr(answering, question)(told)
        answering.sample(3, random_state=0)
    for score in ("exact", "approx", "marginal"):
        el.SEMHMM(score=score).fit(tellings)


if __name__ == "__main__":
    main()
