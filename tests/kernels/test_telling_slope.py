"""The loss of one tree of beginnings by hand, and its slope by differences."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from elision.kernels.telling_learning import loss_and_slope

pytestmark = pytest.mark.numerical

# Nothing told, "0", "0 1", "1"; then what follows each, how often. 2 is the end, and the start.
PARENT = np.array([0, 0, 1, 0])
EVENT = np.array([2, 0, 1, 1])
FIRST = np.array([0, 2, 4, 5, 5])
OUTCOME = np.array([0, 1, 1, 2, 2])
WEIGHT = np.array([3.0, 1.0, 2.0, 0.5, 2.0])
FADE = 0.7


def case():
    rng = np.random.default_rng(0)
    features, shared = rng.normal(size=(4, 2, 3)), rng.normal(size=(1, 2, 3))
    row_of = np.array([[0], [1], [1], [0]])
    point = rng.normal(size=3 + 9 + 9)
    return features, shared, row_of, point


def found(features, shared, row_of, point):
    """The loss and its slope at a point: weights, after, memory."""
    weights, after, memory = point[:3], point[3:12].reshape(3, 3), point[12:].reshape(3, 3)
    slopes = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    loss = loss_and_slope(
        PARENT, EVENT, FADE, row_of, features, shared, OUTCOME, FIRST, WEIGHT, weights, after,
        memory, np.zeros((4, 3)), np.full((4, 3), 9.0), *slopes,
    )  # fmt: skip
    return loss, np.concatenate([part.ravel() for part in slopes])


def by_hand(features, shared, row_of, point):
    weights, after, memory = point[:3], point[3:12].reshape(3, 3), point[12:].reshape(3, 3)
    remembered = [np.zeros(3), memory[0], FADE * memory[0] + memory[1], memory[1]]
    loss = 0.0
    for k in range(4):
        z = after[EVENT[k]] + remembered[k] + weights[2] * shared[0, row_of[k, 0]]
        z = z + weights[0] * features[k, 0] + weights[1] * features[k, 1]
        total = math.log(sum(math.exp(value) for value in z))
        for j in range(FIRST[k], FIRST[k + 1]):
            loss -= WEIGHT[j] * (z[OUTCOME[j]] - total)
    return loss


def test_the_loss_and_its_slope():
    *tables, point = case()
    loss, slope = found(*tables, point)
    np.testing.assert_allclose(loss, by_hand(*tables, point), rtol=1e-12)
    for k in range(len(point)):
        step = np.zeros(len(point))
        step[k] = 1e-5
        difference = by_hand(*tables, point + step) - by_hand(*tables, point - step)
        np.testing.assert_allclose(slope[k], difference / 2e-5, rtol=1e-6, atol=1e-8)


def at(address, shape):
    """The numbers at an address."""
    size = math.prod(shape)
    return np.ctypeslib.as_array((ctypes.c_double * size).from_address(address)).reshape(shape)


def test_it_is_the_same_wherever_arrays_lie():
    """Above all where the loop's own workspace comes to lie right before the array it fills.

    The workspace takes the block that was freed last of its size, so blocks of all sizes are freed,
    each right before such an array. Blocks lie in a row once those freed earlier are used up.
    """
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    rng = np.random.default_rng(1)
    nodes, symbols = 40, 11
    parent = np.maximum(np.arange(nodes) - 1, 0)
    event = np.where(parent == np.arange(nodes), symbols - 1, np.arange(nodes) % (symbols - 1))
    tables = rng.normal(size=(nodes, 1, symbols)), rng.normal(size=(1, 1, symbols))
    rest = np.zeros((nodes, 1), np.int64), np.arange(nodes) % symbols, np.arange(nodes + 1)
    weights, after, memory = (
        rng.normal(size=shape) for shape in [2, (symbols, symbols), (symbols - 1, symbols)]
    )

    def slope(residual):
        slopes = np.zeros(2), np.zeros_like(after), np.zeros_like(memory)
        row_of, outcome, first = rest
        loss = loss_and_slope(
            parent, event, FADE, row_of, *tables, outcome, first, np.ones(nodes), weights, after,
            memory, np.zeros((nodes, symbols)), residual, *slopes,
        )  # fmt: skip
        return loss, *np.concatenate([part.ravel() for part in slopes])

    wanted = slope(np.empty((nodes, symbols)))
    size = 8 * nodes * symbols
    used = [libc.malloc(each) for each in (size, *range(16, 400, 16)) for _ in range(3000)]
    for each in range(16, 400, 16):
        used += [libc.malloc(each) for _ in range(8)]
        before, array = libc.malloc(each), libc.malloc(size)
        libc.free(before)
        assert slope(at(array, (nodes, symbols))) == wanted
        used.append(array)
    for address in used:
        libc.free(address)
