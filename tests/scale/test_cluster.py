"""Learning on a cluster of two processes: the same bytes as in one, whoever dies on the way."""

from __future__ import annotations

import numpy as np
import pytest

import elision as el
from elision.learn.em import Converged, Prior, pseudocounts, run_em
from elision.observations import Packer
from elision.scale import engine, passes

distributed = pytest.importorskip("distributed")

STORY = [f"step {number}" for number in range(12)]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found


def tellings(number, seed=0):
    """Different tellings of one story, each leaving a third of it out."""
    kept = np.random.default_rng(seed).random((number, len(STORY))) < 0.67
    return [[step for step, here in zip(STORY, row, strict=True) if here] for row in kept]


def bytes_of(script):
    from elision.scriptfile import dumps

    return dumps(script)


@pytest.fixture
def sent(monkeypatch):
    """Everything goes to workers, however small."""
    monkeypatch.setattr("elision.lattice.CHUNK_UPDATES", 20_000)
    monkeypatch.setattr(passes, "WORTH_SENDING", 0)


def test_em_is_the_same_wherever_it_is_done(client, sent):
    packed = Packer(STORY).pack(tellings(600))
    script = el.SEMHMM(score="approx").fit(tellings(30)).script_
    prior = pseudocounts(Prior(base="unigram"), len(STORY), packed)
    here = run_em(script.parameters, packed, prior, stop=Converged(0, 3))
    with el.on(client) as used:
        assert used is engine.current()
        there = run_em(script.parameters, packed, prior, stop=Converged(0, 3))
    assert engine.current() is engine.LOCAL
    assert len(passes._groups(passes.Lattice(script.parameters), packed)) > 3
    assert there.history == here.history
    for one, other in zip(there.counts, here.counts, strict=True):
        assert one.tobytes() == other.tobytes()
    assert there.parameters.emission.tobytes() == here.parameters.emission.tobytes()
