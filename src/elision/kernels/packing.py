"""Compiled loops of packing: hashes of narratives, identical ones found, rows put together."""

from __future__ import annotations

import numpy as np

from elision.kernels.passes import jit

_START = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0xFF51AFD7ED558CCD)
_OTHER_FACTOR = np.uint64(0xC4CEB9FE1A85EC53)
_HALF = np.uint64(33)


@jit
def mixed(value):
    """Spread the bits of a number over all of it."""
    value ^= value >> _HALF
    value *= _FACTOR
    value ^= value >> _HALF
    value *= _OTHER_FACTOR
    value ^= value >> _HALF
    return value


@jit
def narrative_hashes(symbol, offset, digest, found):
    """Hash each narrative, from the digests of its events, not from how they are numbered."""
    for row in range(len(found)):
        value = _START
        for place in range(offset[row], offset[row + 1]):
            value = mixed(value ^ digest[symbol[place]])
        found[row] = value


@jit
def byte_hashes(content, offset, start, found):
    """Hash each text ``content[offset[row]:offset[row + 1]]``, eight bytes at a time."""
    for row in range(len(found)):
        value = start ^ np.uint64(offset[row + 1] - offset[row])
        place = offset[row]
        while place < offset[row + 1]:
            word = np.uint64(0)
            for byte in range(place, min(place + 8, offset[row + 1])):
                word = (word << np.uint64(8)) | np.uint64(content[byte])
            value = mixed(value ^ word)
            place += 8
        found[row] = value


@jit
def _compare(symbol, offset, one, other):
    """Below, at or above zero as one narrative comes before, is, or comes after another."""
    length = offset[one + 1] - offset[one]
    longer = offset[other + 1] - offset[other]
    for place in range(min(length, longer)):
        a, b = symbol[offset[one] + place], symbol[offset[other] + place]
        if a != b:
            return -1 if a < b else 1
    return length - longer


@jit
def find_distinct(order, hashes, symbol, offset, weight, kept, total):
    """Find the distinct narratives among rows whose order is that of their hashes.

    Writes the row of each to ``kept`` and what all rows like it weigh to ``total``, and returns how
    many there are. Those of one hash, if it ever happens, are sorted by their symbols.
    """
    number = 0
    begin = 0
    while begin < len(order):
        value = hashes[order[begin]]
        first = number
        end = begin
        while end < len(order) and hashes[order[end]] == value:
            row = order[end]
            same = -1
            for other in range(first, number):
                if _compare(symbol, offset, row, kept[other]) == 0:
                    same = other
                    break
            if same < 0:
                same = number
                kept[same] = row
                total[same] = 0
                number += 1
            total[same] += weight[row]
            end += 1
        for place in range(first + 1, number):
            row, heavy = kept[place], total[place]
            before = place - 1
            while before >= first and _compare(symbol, offset, row, kept[before]) < 0:
                kept[before + 1] = kept[before]
                total[before + 1] = total[before]
                before -= 1
            kept[before + 1] = row
            total[before + 1] = heavy
        begin = end
    return number


@jit
def gather(symbol, offset, rows, code, into, ends):
    """Put the symbols of some rows, renamed, where ``ends`` says that each stands."""
    for number in range(len(rows)):
        row = rows[number]
        place = ends[number]
        for source in range(offset[row], offset[row + 1]):
            into[place] = code[symbol[source]]
            place += 1
