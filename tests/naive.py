"""Slow, obvious reference twins of what the package computes fast; nothing here imports it.

A model is three dense arrays: `transition` (n, n), `emission` (n, V), `elision` (n,). States are in
topological order, 0 is the start and n-1 the end; their rows of emission and elision are 0, and so
is the end's transition row. Interior states may loop on themselves, silently as well.

A narrative is a list of items: an int (an event), None (some event, unknown which) or V weights
(an uncertain event). It may be empty.

Part 1: inference, by the paper's two-index recursion and by enumerating all paths.
Part 2: EM.
Part 3: structure search, every score recomputed from nothing.
"""

import math
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm

# ------------------------------------------------------------------------------------------------
# Part 1: inference
# ------------------------------------------------------------------------------------------------


class Posterior(NamedTuple):
    """All that is known of one narrative; zeros (and -inf) if the model cannot tell it.

    `told_by` (m, n): P(event i was emitted by k). For i = 0..m events told so far: `visits`
    (m+1, n), expected visits to k, and `unsaid` (m+1, n), expected silent entries of k.
    """

    log_prob: float
    transition_counts: np.ndarray
    emission_counts: np.ndarray
    elision_counts: np.ndarray
    visits: np.ndarray
    told_by: np.ndarray
    unsaid: np.ndarray


def weights_of(item, n_events):
    """Weights w (V,) of one item: its likelihood in state k is sum_o w[o] emission[k,o]."""
    if item is None:
        return np.ones(n_events)
    if isinstance(item, (int, np.integer)):
        if not 0 <= item < n_events:
            raise ValueError(f"event {item} is not one of 0..{n_events - 1}")
        weights = np.zeros(n_events)
        weights[item] = 1.0
        return weights
    weights = np.asarray(item, dtype=float)
    if weights.shape != (n_events,):
        raise ValueError(f"expected {n_events} weights, got shape {weights.shape}")
    return weights


def event_likelihood(emission, narrative):
    """likelihood[i,k] = sum_o w_i[o] emission[k,o], shape (m, n)."""
    n, n_events = emission.shape
    likelihood = np.zeros((len(narrative), n))
    for i, item in enumerate(narrative):
        weights = weights_of(item, n_events)
        for k in range(n):
            likelihood[i, k] = sum(weights[o] * emission[k, o] for o in range(n_events))
    return likelihood


def event_shares(emission, item, k):
    """share[o] = w[o] emission[k,o] / sum_o' w[o'] emission[k,o']: what the item was, told by k."""
    parts = weights_of(item, emission.shape[1]) * emission[k]
    return parts / parts.sum() if parts.sum() > 0 else parts


def log_or_minus_inf(probability):
    return math.log(probability) if probability > 0 else -math.inf


def no_posterior(emission, narrative):
    """The answer for an impossible narrative."""
    n, n_events = emission.shape
    m = len(narrative)
    return Posterior(
        log_prob=-math.inf,
        transition_counts=np.zeros((n, n)),
        emission_counts=np.zeros((n, n_events)),
        elision_counts=np.zeros(n),
        visits=np.zeros((m + 1, n)),
        told_by=np.zeros((m, n)),
        unsaid=np.zeros((m + 1, n)),
    )


# Method 1: the paper's recursion over time t and observation index i


def silent_entry(elision):
    """P(nothing visible | entering k): the elision, and 1 for the end, whose mark never shows."""
    silent = np.array(elision, dtype=float)
    silent[-1] = 1.0
    return silent


def two_index_forward(transition, emission, elision, narrative, tau=None):
    """alpha[t,i,k] = P(in k after t transitions, having told the first i events).

    alpha[0,0,0] = 1
    alpha[t,i,k] = sum_j T(k|j) { Omega(lambda|k) alpha[t-1,i,j] + Omega(o_i|k) alpha[t-1,i-1,j] }
    where entering the end tells nothing. Without `tau` the time runs until what is still under way
    (in states that have a way to the end) is below 1e-18 of z. No path needs more than (n-1) + m
    transitions, silent self-loops aside: if none has arrived by then, none ever will.
    """
    n = len(elision)
    m = len(narrative)
    silent = silent_entry(elision)
    likelihood = event_likelihood(emission, narrative)

    on_the_way = np.zeros(n, dtype=bool)
    for k in range(n - 2, -1, -1):
        on_the_way[k] = transition[k, n - 1] > 0 or any(transition[k, on_the_way] > 0)

    first = np.zeros((m + 1, n))
    first[0, 0] = 1.0
    alpha = [first]
    z = 0.0
    for t in range(1, 100_000 if tau is None else tau + 1):
        arriving = alpha[t - 1] @ transition  # [i,k] = sum_j alpha[t-1,i,j] T(k|j)
        now = np.zeros((m + 1, n))
        for i in range(m + 1):
            now[i] = silent * arriving[i]
            if i > 0:
                now[i] += likelihood[i - 1] * arriving[i - 1]
        alpha.append(now)
        z += now[m, n - 1]
        under_way = now[:, on_the_way].sum()
        if tau is None and t >= n + m and (z == 0.0 or under_way <= 1e-18 * z):
            return np.array(alpha)
    if tau is None:
        raise RuntimeError("silent self-loops too close to 1 for the time index")
    return np.array(alpha)


def two_index_backward(transition, emission, elision, narrative, tau):
    """beta[t,i,j] = P(telling events i+1..m and entering the end in exactly t transitions | j).

    beta[0,m,n-1] = 1
    beta[t,i,j] = sum_k T(k|j) { Omega(lambda|k) beta[t-1,i,k] + Omega(o_{i+1}|k) beta[t-1,i+1,k] }
    """
    n = len(elision)
    m = len(narrative)
    silent = silent_entry(elision)
    likelihood = event_likelihood(emission, narrative)

    beta = np.zeros((tau + 1, m + 1, n))
    beta[0, m, n - 1] = 1.0
    for t in range(1, tau + 1):
        for i in range(m + 1):
            ahead = silent * beta[t - 1, i]
            if i < m:
                ahead += likelihood[i] * beta[t - 1, i + 1]
            beta[t, i] = transition @ ahead
    return beta


def two_index_forward_backward(transition, emission, elision, narrative, tau=None):
    """(alpha, beta), each of shape (tau+1, m+1, n); see the two passes."""
    alpha = two_index_forward(transition, emission, elision, narrative, tau)
    beta = two_index_backward(transition, emission, elision, narrative, len(alpha) - 1)
    return alpha, beta


def two_index_posterior(transition, emission, elision, narrative, tau=None):
    """The convolutions of the paper, the total number of transitions tau' summed out last.

    z = sum_t alpha[t,m,n-1]
    visits[i,k]     = sum_tau' sum_t alpha[t,i,k] beta[tau'-t,i,k] / z
    C(j->k, lambda) = T(k|j) Omega(lambda|k) / z
                      * sum_tau' sum_t sum_i alpha[t,i,j] beta[tau'-t-1,i,k]
    C(j->k, o_{i+1}) = T(k|j) Omega(o_{i+1}|k) / z
                       * sum_tau' sum_t alpha[t,i,j] beta[tau'-t-1,i+1,k]
    For a fixed t, the sum over tau' = 0..tau is a running sum of beta.
    """
    n = len(elision)
    m = len(narrative)
    alpha, beta = two_index_forward_backward(transition, emission, elision, narrative, tau)
    tau = len(alpha) - 1
    z = alpha[:, m, n - 1].sum()
    if z == 0.0:
        return no_posterior(emission, narrative)
    silent = silent_entry(elision)
    likelihood = event_likelihood(emission, narrative)
    beta_within = np.cumsum(beta, axis=0)  # [s] = sum of beta[0..s]

    result = no_posterior(emission, narrative)._replace(log_prob=math.log(z))
    for t in range(tau + 1):
        for i in range(m + 1):
            result.visits[i] += alpha[t, i] * beta_within[tau - t, i] / z
    for t in range(tau):
        for i in range(m + 1):
            step = transition * silent / z * np.outer(alpha[t, i], beta_within[tau - t - 1, i])
            result.transition_counts[:] += step
            result.unsaid[i] += step.sum(axis=0)
            if i < m:
                ahead = beta_within[tau - t - 1, i + 1]
                step = transition * likelihood[i] / z * np.outer(alpha[t, i], ahead)
                result.transition_counts[:] += step
                result.told_by[i] += step.sum(axis=0)
    result.unsaid[:, n - 1] = 0.0  # the end is entered, but it leaves nothing unsaid
    result.elision_counts[:] = result.unsaid.sum(axis=0)
    for i, item in enumerate(narrative):
        for k in range(n):
            result.emission_counts[k] += result.told_by[i, k] * event_shares(emission, item, k)
    return result


# Method 2: every path


def geometric(x):
    """1 + x + x^2 + ... ; 0 for x = 1, a state that is never left: no path through it ends."""
    return 1.0 / (1.0 - x) if x < 1.0 else 0.0


def paths(transition, emission, elision, narrative):
    """Yield (path, probability, factor) for every way to tell the narrative.

    `path` lists the visits to interior states as (state, position of the event told there or None).
    Silent self-loops are not in it: `probability` is that of the path as it stands, and `factor` is
    the product over its visits of 1 / (1 - T(k|k) Omega(lambda|k)), since each visit may be
    followed by any number of them. So z = sum of probability * factor.
    """
    n = len(elision)
    m = len(narrative)
    likelihood = event_likelihood(emission, narrative)

    def extend(state, told, path, probability, factor):
        for k in range(state, n):
            step = probability * transition[state, k]
            if step == 0.0:
                continue
            if k == n - 1:
                if told == m:
                    yield path, step, factor
                continue
            loops = factor * geometric(transition[k, k] * elision[k])
            if k != state and elision[k] > 0.0:
                yield from extend(k, told, [*path, (k, None)], step * elision[k], loops)
            if told < m and likelihood[told, k] > 0.0:
                longer = [*path, (k, told)]
                yield from extend(k, told + 1, longer, step * likelihood[told, k], loops)

    yield from extend(0, 0, [], 1.0, 1.0)


def paths_posterior(transition, emission, elision, narrative):
    """Counts of each path, weighted with its share of z.

    With x = T(k|k) Omega(lambda|k), a visit to k is followed by x / (1 - x) silent self-loops on
    average.
    """
    n = len(elision)
    m = len(narrative)
    found = list(paths(transition, emission, elision, narrative))
    z = math.fsum(probability * factor for _, probability, factor in found)
    if z == 0.0:
        return no_posterior(emission, narrative)

    result = no_posterior(emission, narrative)._replace(log_prob=math.log(z))
    for path, probability, factor in found:
        share = probability * factor / z
        state = 0
        told = 0
        result.visits[0, 0] += share
        for k, position in path:
            result.transition_counts[state, k] += share
            if position is None:
                result.elision_counts[k] += share
                result.unsaid[told, k] += share
            else:
                result.emission_counts[k] += share * event_shares(emission, narrative[position], k)
                result.told_by[position, k] += share
                told += 1
            result.visits[told, k] += share
            x = transition[k, k] * elision[k]
            loops = share * x / (1.0 - x)
            result.transition_counts[k, k] += loops
            result.elision_counts[k] += loops
            result.unsaid[told, k] += loops
            result.visits[told, k] += loops
            state = k
        result.transition_counts[state, n - 1] += share
        result.visits[m, n - 1] += share
    return result


POSTERIORS = {"two_index": two_index_posterior, "paths": paths_posterior}


def posterior(transition, emission, elision, narrative, method="two_index"):
    return POSTERIORS[method](transition, emission, elision, narrative)


def log_prob(transition, emission, elision, narrative, method="two_index"):
    """log P(narrative), -inf if it is impossible."""
    if method == "paths":
        found = paths(transition, emission, elision, narrative)
        return log_or_minus_inf(math.fsum(probability * factor for _, probability, factor in found))
    alpha = two_index_forward(transition, emission, elision, narrative)
    return log_or_minus_inf(alpha[:, -1, -1].sum())


def expected_counts(transition, emission, elision, narrative, method="two_index"):
    """(transition_counts (n, n), emission_counts (n, V), elision_counts (n,))."""
    result = posterior(transition, emission, elision, narrative, method)
    return result.transition_counts, result.emission_counts, result.elision_counts


def visits(transition, emission, elision, narrative, method="two_index"):
    """[i,k] = A_k(i) B_k(i) / z: expected visits to k with i events told, shape (m+1, n)."""
    return posterior(transition, emission, elision, narrative, method).visits


def told_by(transition, emission, elision, narrative, method="two_index"):
    """[i,k] = P(event i was emitted by k), shape (m, n)."""
    return posterior(transition, emission, elision, narrative, method).told_by


def unsaid(transition, emission, elision, narrative, method="two_index"):
    """[i,k]: expected silent passes through k in the gap after i events, shape (m+1, n)."""
    return posterior(transition, emission, elision, narrative, method).unsaid


def fill(transition, emission, elision, narrative, position, method="two_index"):
    """P(the item at `position` is event x | narrative), shape (V,); zeros if impossible.

    two_index: proportional to w[x] P(narrative with x put there).
    paths: sum_k told_by[position,k] w[x] emission[k,x] / sum_o w[o] emission[k,o].
    """
    n, n_events = emission.shape
    item = narrative[position]
    answer = np.zeros(n_events)
    if method == "paths":
        told = paths_posterior(transition, emission, elision, narrative).told_by
        for k in range(n):
            answer += told[position, k] * event_shares(emission, item, k)
        return answer
    weights = weights_of(item, n_events)
    for x in range(n_events):
        told = [*narrative[:position], x, *narrative[position + 1 :]]
        answer[x] = weights[x] * math.exp(log_prob(transition, emission, elision, told))
    return answer / answer.sum() if answer.sum() > 0 else answer


def fill_anywhere(transition, emission, elision, narrative, method="two_index"):
    """[i,x] = P(the one event missing is x, after i events | the rest), shape (m+1, V).

    Proportional to P(narrative with x inserted after i events), normalised over all (i, x). A run
    of x gets one share per place of the insertion: the place of the missing event was uniform.
    """
    n_events = emission.shape[1]
    answer = np.zeros((len(narrative) + 1, n_events))
    for i in range(len(narrative) + 1):
        for x in range(n_events):
            told = [*narrative[:i], x, *narrative[i:]]
            answer[i, x] = math.exp(log_prob(transition, emission, elision, told, method))
    return answer / answer.sum() if answer.sum() > 0 else answer


def alignment_log_prob(transition, emission, elision, narrative, path):
    """Log probability of one path as `paths` lists it (silent self-loops allowed), and its events.

    -inf for a path that does not tell every event of the narrative exactly once, in order.
    """
    likelihood = event_likelihood(emission, narrative)
    if [position for _, position in path if position is not None] != list(range(len(narrative))):
        return -math.inf
    total = 0.0
    state = 0
    for k, position in path:
        total += log_or_minus_inf(transition[state, k])
        told = elision[k] if position is None else likelihood[position, k]
        total += log_or_minus_inf(told)
        state = k
    return total + log_or_minus_inf(transition[state, len(elision) - 1])


def best_alignment(transition, emission, elision, narrative, method="paths"):
    """(log probability, path) of the most probable path, silent self-loops never taken.

    The path lists interior visits only, as (state, event position or None). (-inf, []) if none.
    paths: the best of all. two_index: the best way to be in k after t transitions and i events is
    the best way to be in some j after t-1 transitions, and one step.
    """
    best = (0.0, [])
    if method == "paths":
        for path, probability, _ in paths(transition, emission, elision, narrative):
            if probability > best[0]:
                best = (probability, path)
        return log_or_minus_inf(best[0]), best[1]

    n = len(elision)
    m = len(narrative)
    likelihood = event_likelihood(emission, narrative)
    here = {(0, 0): (1.0, [])}  # (i, k) -> the best (probability, path) of exactly t transitions
    for _ in range(n + m):
        ahead = {}
        for (i, j), (probability, path) in here.items():
            for k in range(j, n):
                step = probability * transition[j, k]
                steps = []
                if k == n - 1:
                    if i == m and step > best[0]:
                        best = (step, path)
                    continue
                if k != j:
                    steps.append((i, step * elision[k], [*path, (k, None)]))
                if i < m:
                    steps.append((i + 1, step * likelihood[i, k], [*path, (k, i)]))
                for told, candidate, longer in steps:
                    if candidate > ahead.get((told, k), (0.0, []))[0]:
                        ahead[told, k] = (candidate, longer)
        here = ahead
    return log_or_minus_inf(best[0]), best[1]


# ------------------------------------------------------------------------------------------------
# Part 2: EM
# ------------------------------------------------------------------------------------------------


class Pseudocounts(NamedTuple):
    """Added in the M-step: per existing edge; for elision and for telling; per event (V,)."""

    transition: float
    elision: float
    telling: float
    event: np.ndarray


def paper_pseudocounts(transition, symbol, n_events):
    """`symbol` for every symbol of a state, elision included: a = p, b = p V, c = p each."""
    return Pseudocounts(transition, symbol, symbol * n_events, np.full(n_events, float(symbol)))


def m_step(
    transition_counts, emission_counts, elision_counts, support, pseudocounts, elisions=True
):
    """(transition, emission, elision) from the counts; `support` (n, n) says which edges exist.

    T(k|j)        = (C(j->k) + p) / sum over existing edges j->k' of (C(j->k') + p)
    elision_k     = (C(k,lambda) + a) / (C(k) + a + b),  C(k) = C(k,lambda) + sum_o C(k,o)
    emission[k,o] = (1 - elision_k) (C(k,o) + c[o]) / (sum_o C(k,o) + sum_o c[o])
    With elisions off, elision_k = 0. Where nothing is known (a denominator is 0): existing edges
    and events are equally likely, and nothing is elided.
    """
    n, n_events = np.shape(emission_counts)
    transition = np.zeros((n, n))
    emission = np.zeros((n, n_events))
    elision = np.zeros(n)
    for j in range(n - 1):
        edges = [k for k in range(n) if support[j][k]]
        total = sum(transition_counts[j][k] + pseudocounts.transition for k in edges)
        for k in edges:
            count = transition_counts[j][k] + pseudocounts.transition
            transition[j, k] = count / total if total > 0 else 1.0 / len(edges)
    for k in range(1, n - 1):
        told = sum(emission_counts[k][o] for o in range(n_events))
        total = told + elision_counts[k] + pseudocounts.elision + pseudocounts.telling
        if elisions and total > 0:
            elision[k] = (elision_counts[k] + pseudocounts.elision) / total
        total = told + sum(pseudocounts.event)
        for o in range(n_events):
            count = emission_counts[k][o] + pseudocounts.event[o]
            share = count / total if total > 0 else 1.0 / n_events
            emission[k, o] = (1.0 - elision[k]) * share
    return transition, emission, elision


def times_log(count, probability):
    """count * log(probability), with 0 log 0 = 0."""
    return 0.0 if count == 0 else count * log_or_minus_inf(probability)


def log_prior(transition, emission, elision, pseudocounts, elisions=True):
    """sum of p log T over existing edges, and per interior state k
    a log elision_k + b log(1 - elision_k) + sum_o c_o log(emission[k,o] / (1 - elision_k)).

    Existing edges are those with T > 0. With elisions off, a and b play no part. Where elision_k is
    1 the shares of the events are lost; they count as what the M-step would make them, c / sum c.
    """
    n, n_events = emission.shape
    total = 0.0
    for j in range(n - 1):
        for k in range(n):
            if transition[j, k] > 0:
                total += times_log(pseudocounts.transition, transition[j, k])
    for k in range(1, n - 1):
        if elisions:
            total += times_log(pseudocounts.elision, elision[k])
            total += times_log(pseudocounts.telling, 1.0 - elision[k])
        for o in range(n_events):
            if elision[k] < 1.0:
                share = emission[k, o] / (1.0 - elision[k])
            else:
                share = pseudocounts.event[o] / max(sum(pseudocounts.event), 1e-300)
            total += times_log(pseudocounts.event[o], share)
    return total


def map_objective(model, narratives, weights, pseudocounts, elisions=True):
    """sum_s weight_s log P(narrative_s) + log_prior; `model` = (transition, emission, elision)."""
    total = log_prior(*model, pseudocounts, elisions)
    for narrative, weight in zip(narratives, weights, strict=True):
        if weight != 0:
            total += weight * log_prob(*model, narrative)
    return total


def e_step(model, narratives, weights, method="two_index"):
    """Expected counts of all narratives, weighted and added."""
    transition, emission, elision = model
    totals = (np.zeros_like(transition), np.zeros_like(emission), np.zeros_like(elision))
    for narrative, weight in zip(narratives, weights, strict=True):
        counts = expected_counts(*model, narrative, method)
        for which in range(3):
            totals[which][:] += weight * counts[which]
    return totals


def em(model, narratives, weights, pseudocounts, iterations, elisions=True):
    """(model, objectives): objectives[0] is the given model's, objectives[r] that after step r."""
    support = np.asarray(model[0]) > 0
    objectives = [map_objective(model, narratives, weights, pseudocounts, elisions)]
    for _ in range(iterations):
        counts = e_step(model, narratives, weights)
        model = m_step(*counts, support, pseudocounts, elisions)
        objectives.append(map_objective(model, narratives, weights, pseudocounts, elisions))
    return model, objectives


# ------------------------------------------------------------------------------------------------
# Part 3: structure search
# ------------------------------------------------------------------------------------------------


@dataclass
class CountsModel:
    """Counts of a structure. Rows are ids: start 0, `end` anywhere, in no particular order.

    `edge_counts` {(j, k): count}: the edge exists if and only if it is a key, even with count 0.
    `states` are the ids in use, start and end included; a merged-away id keeps an empty row.
    """

    edge_counts: dict
    emission_counts: np.ndarray
    elision_counts: np.ndarray
    support: list
    end: int
    states: set = None

    def __post_init__(self):
        self.emission_counts = np.array(self.emission_counts, dtype=float)
        self.elision_counts = np.array(self.elision_counts, dtype=float)
        if self.states is None:
            self.states = set(range(len(self.elision_counts)))

    @property
    def interior(self):
        return sorted(self.states - {0, self.end})


def empty_model(n_events):
    """Only start (0) and end (1), no edge."""
    return CountsModel({}, np.zeros((2, n_events)), np.zeros(2), [set(), set()], end=1)


def prefix_tree(narratives, current):
    """`current` and the prefix tree of the batch, sharing start and end.

    A node counts the narratives that begin with its prefix; it has told its event that often. Ids
    are new, in the order of creation: narrative after narrative, event after event.
    """
    model = deepcopy(current)
    n_events = model.emission_counts.shape[1]
    node_of = {(): 0}
    for narrative in narratives:
        node = 0
        for length, event in enumerate(narrative, start=1):
            prefix = tuple(narrative[:length])
            if prefix not in node_of:
                node_of[prefix] = len(model.elision_counts)
                model.states.add(node_of[prefix])
                model.emission_counts = np.vstack([model.emission_counts, np.zeros(n_events)])
                model.elision_counts = np.append(model.elision_counts, 0.0)
                model.support.append({event})
            child = node_of[prefix]
            model.edge_counts[node, child] = model.edge_counts.get((node, child), 0.0) + 1.0
            model.emission_counts[child, event] += 1.0
            node = child
        model.edge_counts[node, model.end] = model.edge_counts.get((node, model.end), 0.0) + 1.0
    return model


def topological_order(model):
    """Ids from start to end, self-loops aside; of those that could be next, the smallest."""
    order = []
    left = set(model.states)
    while left:
        ready = [k for k in left if not any((j, k) in model.edge_counts for j in left - {k})]
        if len(left) > 1:
            ready = [k for k in ready if k != model.end]
        if not ready:
            raise ValueError("the structure has a cycle")
        order.append(min(ready))
        left.remove(order[-1])
    return order


def parameters(model, pseudocounts, elisions=True):
    """(transition, emission, elision, order): the M-step on the counts, in topological order."""
    order = topological_order(model)
    n = len(order)
    transition_counts = np.zeros((n, n))
    support = np.zeros((n, n), dtype=bool)
    for (j, k), count in model.edge_counts.items():
        transition_counts[order.index(j), order.index(k)] = count
        support[order.index(j), order.index(k)] = True
    emission_counts = model.emission_counts[order]
    elision_counts = model.elision_counts[order]
    counts = (transition_counts, emission_counts, elision_counts)
    return (*m_step(*counts, support, pseudocounts, elisions), order)


def recount(model, narratives, pseudocounts, elisions=True):
    """One round of EM in terms of counts: the expected counts under parameters(model)."""
    transition, emission, elision, order = parameters(model, pseudocounts, elisions)
    distinct = Counter(tuple(narrative) for narrative in narratives)
    counts = e_step((transition, emission, elision), list(distinct), list(distinct.values()))
    new = deepcopy(model)
    for j, k in new.edge_counts:
        new.edge_counts[j, k] = float(counts[0][order.index(j), order.index(k)])
    new.emission_counts[order] = counts[1]
    new.elision_counts[order] = counts[2]
    return new


def reachable(model):
    """{(p, q): there is a path p ~> q of at least one edge}; (p, p) only by a self-loop."""
    pairs = set(model.edge_counts)
    while True:
        longer = {(p, k) for (p, q) in pairs for (j, k) in model.edge_counts if j == q}
        if longer <= pairs:
            return pairs
        pairs |= longer


def merge_allowed(model, p, q):
    """No path p ~> q or q ~> p passes through a third state; start and end never merge."""
    if p == q or {p, q} & {0, model.end}:
        return False
    pairs = reachable(model)
    for third in model.states - {p, q}:
        if (p, third) in pairs and (third, q) in pairs:
            return False
        if (q, third) in pairs and (third, p) in pairs:
            return False
    return True


def merge(model, p, q):
    """Both are min(p, q) now: counts add, C(r->r) = C(p->p) + C(p->q) + C(q->p) + C(q->q)."""
    keep, drop = min(p, q), max(p, q)
    new = deepcopy(model)
    new.edge_counts = {}
    for (j, k), count in model.edge_counts.items():
        edge = (keep if j == drop else j, keep if k == drop else k)
        new.edge_counts[edge] = new.edge_counts.get(edge, 0.0) + count
    new.emission_counts[keep] += new.emission_counts[drop]
    new.elision_counts[keep] += new.elision_counts[drop]
    new.support[keep] = new.support[keep] | new.support[drop]
    new.emission_counts[drop] = 0.0
    new.elision_counts[drop] = 0.0
    new.support[drop] = set()
    new.states.remove(drop)
    return new


def delete_edge(model, s, e, params):
    """The model without s -> e, its count N sent along the silent ways from s to e; None if none.

    `params` = parameters(model, ...). T' is T without the edge, row s renormalised:
    T'(k|s) = T(k|s) / (1 - T(e|s)), the self-loop of s included.
    alpha(s) = 1 / (1 - T'(s|s) Omega(lambda|s))
    alpha(k) = Omega(lambda|k) sum_{j != k} alpha(j) T'(k|j) / (1 - T'(k|k) Omega(lambda|k))
    alpha(e) = sum_{j != e} alpha(j) T'(e|j) = Z
    beta(e) = 1
    beta(j) = [T'(e|j) + sum_{k != j,e} T'(k|j) Omega(lambda|k) beta(k)]
              / (1 - T'(j|j) Omega(lambda|j))
    C(i->k) += N alpha(i) T'(k|i) Omega(lambda|k) beta(k) / Z, and C(k,lambda) the same, for k != e
    C(i->e) += N alpha(i) T'(e|i) / Z

    Chosen here: s may loop silently before it leaves, and these self-transitions are credited like
    those of any state on the way (alpha(s) above, edge s -> s, C(s,lambda)); e's own self-loop is
    no part of it. So what leaves s to other states = N = what enters e from other states.
    """
    if s == e or (s, e) not in model.edge_counts:
        raise ValueError(f"{s} -> {e} is not an edge that can be deleted")
    dense, _, dense_elision, order = params
    place = {state: index for index, state in enumerate(order)}
    elision = {k: dense_elision[place[k]] for k in order}
    count = model.edge_counts[s, e]
    probability = {edge: dense[place[edge[0]], place[edge[1]]] for edge in model.edge_counts}
    del probability[s, e]
    left = sum(probability[j, k] for (j, k) in probability if j == s)
    if left == 0.0:
        return None
    for j, k in probability:
        if j == s:
            probability[j, k] /= left

    def loops(k):
        return geometric(probability.get((k, k), 0.0) * elision[k])

    between = order[place[s] : place[e] + 1]
    alpha = dict.fromkeys(order, 0.0)
    alpha[s] = loops(s)
    for k in between[1:]:
        arriving = sum(alpha[j] * probability.get((j, k), 0.0) for j in between if j != k)
        alpha[k] = arriving if k == e else elision[k] * arriving * loops(k)
    z = alpha[e]
    if z == 0.0:
        return None

    beta = dict.fromkeys(order, 0.0)
    beta[e] = 1.0
    for j in reversed(between[:-1]):
        leaving = probability.get((j, e), 0.0)
        for k in between:
            if k not in (j, e):
                leaving += probability.get((j, k), 0.0) * elision[k] * beta[k]
        beta[j] = leaving * loops(j)

    new = deepcopy(model)
    del new.edge_counts[s, e]
    for (i, k), step in probability.items():
        if i == e:
            continue
        silent = 1.0 if k == e else elision[k]
        gain = count * alpha[i] * step * silent * beta[k] / z
        new.edge_counts[i, k] += gain
        if k != e:
            new.elision_counts[k] += gain
    return new


# Scores


class Settings(NamedTuple):
    """How models are scored. `score`: "log_likelihood", "expected_complete" or "marginal".

    `pseudocounts` make the parameters; `concentrations` (the same fields) are the Dirichlet priors
    of the marginal likelihood, and the pseudocounts stand in for them if not given.
    """

    score: str
    pseudocounts: Pseudocounts
    concentrations: Pseudocounts = None
    kappa_q: float = 0.0
    kappa_t: float = 0.0
    kappa_c: float = 0.0
    constraints: frozenset = frozenset()
    elisions: bool = True


def log_likelihood(model, narratives, pseudocounts, elisions=True):
    """sum of log P(narrative) under parameters(model), exact."""
    transition, emission, elision, _ = parameters(model, pseudocounts, elisions)
    distinct = Counter(tuple(narrative) for narrative in narratives)
    return sum(
        times * log_prob(transition, emission, elision, narrative)
        for narrative, times in distinct.items()
    )


def expected_complete(model, pseudocounts, elisions=True):
    """sum C(j->k) log T(k|j) + sum C(k,o) log Omega(o|k) + sum C(k,lambda) log Omega(lambda|k)."""
    transition, emission, elision, order = parameters(model, pseudocounts, elisions)
    total = 0.0
    for (j, k), count in model.edge_counts.items():
        total += times_log(count, transition[order.index(j), order.index(k)])
    for k in model.interior:
        row = order.index(k)
        total += times_log(model.elision_counts[k], elision[row])
        for o in range(emission.shape[1]):
            total += times_log(model.emission_counts[k, o], emission[row, o])
    return total


def log_rising(concentration, count):
    """log Gamma(concentration + count) - log Gamma(concentration); count may be any real >= 0."""
    if count == 0:
        return 0.0
    if concentration == 0:
        return -math.inf
    return float(gammaln(concentration + count) - gammaln(concentration))


def dirichlet_multinomial(counts, concentrations):
    """log of int prod_o theta_o^C_o Dirichlet(theta | c) dtheta, of a sequence (no coefficient).

    = log Gamma(sum c) - log Gamma(sum c + sum C) + sum_o [log Gamma(c_o + C_o) - log Gamma(c_o)]
    """
    total = sum(log_rising(c, count) for c, count in zip(concentrations, counts, strict=True))
    return total if total == -math.inf else total - log_rising(sum(concentrations), sum(counts))


def marginal(model, concentrations, elisions=True):
    """Log marginal likelihood of the counts, the parameters integrated out.

    Per source: Dirichlet-multinomial over its existing out-edges, `concentrations.transition` each.
    Per interior state: Beta-binomial (a, b) of elided against told, unless elisions are off, and
    Dirichlet-multinomial over events with the vector c.
    """
    total = 0.0
    for source in sorted(model.states - {model.end}):
        counts = [count for (j, _), count in model.edge_counts.items() if j == source]
        total += dirichlet_multinomial(counts, [concentrations.transition] * len(counts))
    for k in model.interior:
        told = list(model.emission_counts[k])
        if elisions:
            pair = [concentrations.elision, concentrations.telling]
            total += dirichlet_multinomial([model.elision_counts[k], sum(told)], pair)
        total += dirichlet_multinomial(told, list(concentrations.event))
    return total


def learn_constraints(narratives, error_rate, level=0.01, n_events=None):
    """{(x, y): "x never follows y" passes the test}, x != y.

    Of the n narratives with y, in v some x occurs after the first y.
    z = (v/n - r) / sqrt(r (1 - r) / n), r = error_rate; kept iff Phi(z) < level. No y, no rule.
    Event types are those that occur, or 0..n_events-1.
    """
    occurring = {event for narrative in narratives for event in narrative}
    events = sorted(occurring) if n_events is None else range(n_events)
    rules = set()
    for x in events:
        for y in events:
            if x == y:
                continue
            having = [list(narrative) for narrative in narratives if y in narrative]
            n = len(having)
            if n == 0:
                continue
            v = sum(x in narrative[narrative.index(y) + 1 :] for narrative in having)
            z = (v / n - error_rate) / math.sqrt(error_rate * (1.0 - error_rate) / n)
            if norm.cdf(z) < level:
                rules.add((x, y))
    return rules


def violated(model, constraints):
    """The rules (x, y) with some p that may tell y, some q that may tell x, and a path p ~> q.

    The path has at least one edge: p = q counts only through its self-loop.
    """
    pairs = reachable(model)
    return {
        (x, y)
        for (x, y) in constraints
        if any(y in model.support[p] and x in model.support[q] for (p, q) in pairs)
    }


def score(model, narratives, settings):
    """The likelihood of the kind asked for
    - kappa_q |interior states| - kappa_t |edges| - kappa_c |violated constraints|.
    """
    if settings.score == "log_likelihood":
        total = log_likelihood(model, narratives, settings.pseudocounts, settings.elisions)
    elif settings.score == "expected_complete":
        total = expected_complete(model, settings.pseudocounts, settings.elisions)
    elif settings.score == "marginal":
        concentrations = settings.concentrations or settings.pseudocounts
        total = marginal(model, concentrations, settings.elisions)
    else:
        raise ValueError(f"no score {settings.score!r}")
    total -= settings.kappa_q * len(model.interior)
    total -= settings.kappa_t * len(model.edge_counts)
    total -= settings.kappa_c * len(violated(model, settings.constraints))
    return total


# Moves


def moves(model, settings):
    """[(move, resulting model)] of every allowed merge ("merge", p, q), p < q, and then of every
    possible deletion ("delete", s, e), each in lexicographic order.
    """
    results = [
        (("merge", p, q), merge(model, p, q))
        for p, q in combinations(model.interior, 2)
        if merge_allowed(model, p, q)
    ]
    params = parameters(model, settings.pseudocounts, settings.elisions)
    for s, e in sorted(model.edge_counts):
        without = delete_edge(model, s, e, params) if s != e else None
        if without is not None:
            results.append((("delete", s, e), without))
    return results


def gains(model, narratives, settings):
    """[(move, gain)] of all moves, in the order of `moves`; every score is computed in full."""
    before = score(model, narratives, settings)
    results = []
    for move, after in moves(model, settings):
        gain = score(after, narratives, settings) - before
        results.append((move, -math.inf if math.isnan(gain) else gain))
    return results


def ranked_moves(model, narratives, settings):
    """[(move, gain)], best first; exact ties in the order of `moves`."""
    return sorted(gains(model, narratives, settings), key=lambda pair: -pair[1])


def best_move(model, narratives, settings, tie=1e-9):
    """(move, gain) of the best move, None if there is no move at all.

    Gains within `tie` of the best are equal: then merges come before deletions, and smaller ids
    first. Exact comparison would leave the choice to the last bit of a sum.
    """
    results = gains(model, narratives, settings)
    if not results:
        return None
    best = max(gain for _, gain in results)
    return next((move, gain) for move, gain in results if gain >= best - tie)


def apply_move(model, move, settings):
    kind, first, second = move
    if kind == "merge":
        return merge(model, first, second)
    params = parameters(model, settings.pseudocounts, settings.elisions)
    return delete_edge(model, first, second, params)


def search(model, narratives, settings, max_moves=None, tie=1e-9):
    """(model, [(move, gain), ...]): the best move, again and again, while it gains over `tie`."""
    history = []
    while max_moves is None or len(history) < max_moves:
        found = best_move(model, narratives, settings, tie)
        if found is None or found[1] <= tie:
            break
        model = apply_move(model, found[0], settings)
        history.append(found)
    return model, history
