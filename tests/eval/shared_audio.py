# tests/eval/shared_audio.py - which recordings share audio, so that they count once.
# Source: the fingerprints are Chromaprint's (fpcalc); the comparison at one alignment by bit errors is that of
# J. Haitsma and T. Kalker, "A Highly Robust Audio Fingerprinting System", ISMIR 2002, section 5.
"""Nothing here asks spintag: what is measured takes no part in saying what is right."""

import json
import os

import numpy as np

from tools import call

WINDOW_ITEMS = 64  # about 8 s of an 8 Hz fingerprint
MOST_BIT_ERRORS = 0.15  # unrelated audio: 0.5 on average, 0.25 at the least over a window of this length
KEY_SHIFT_BITS = 12  # the 20 highest bits of an item are what an alignment is looked for with
COMMON_KEY = 40  # a key that is oftener than this in one recording is a held note or silence
ALIGNMENTS = 30  # looked at, those with the most keys first

_BITS_SET = np.array([bin(value).count("1") for value in range(1 << 16)], np.uint8)


def print_of(wav, cache):
    """The Chromaprint of a file, about eight 32-bit items a second; kept in `cache`."""
    if not os.path.exists(cache):
        answer = json.loads(call(["fpcalc", "-raw", "-json", "-ignore-errors", "-length", "100000", wav]))
        scratch = f"{cache}.{os.getpid()}.tmp.npy"
        np.save(scratch, np.array(answer["fingerprint"], np.int64).astype(np.uint32))
        os.replace(scratch, cache)
    return np.load(cache)


def sorted_keys(items):
    """(keys in order, their places), without those that are too common to say anything."""
    keys = items >> KEY_SHIFT_BITS
    values, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    places = np.flatnonzero(counts[inverse] <= COMMON_KEY)
    order = places[np.argsort(values[inverse[places]], kind="stable")]
    return keys[order], order


def candidate_shifts(one, two):
    """Alignments (place in two less place in one) on which several keys agree, most first."""
    (keys_one, places_one), (keys_two, places_two) = one, two
    begin = np.searchsorted(keys_two, keys_one, "left")
    count = np.searchsorted(keys_two, keys_one, "right") - begin
    if not count.sum():
        return []
    nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    shifts = places_two[np.repeat(begin, count) + nth] - np.repeat(places_one, count)
    values, votes = np.unique(shifts, return_counts=True)
    best = np.argsort(-votes, kind="stable")[:ALIGNMENTS]
    return [int(values[i]) for i in best if votes[i] >= 4]


def least_bit_errors(one, two, shift):
    """(share of wrong bits, place in `one`) of the best window at that alignment; (1, 0) if none is long enough."""
    begin, end = max(0, -shift), min(len(one), len(two) - shift)
    if end - begin < WINDOW_ITEMS:
        return 1.0, 0
    differ = one[begin:end] ^ two[begin + shift:end + shift]
    wrong = _BITS_SET[differ & 0xFFFF].astype(np.int64) + _BITS_SET[differ >> 16]
    total = np.concatenate([[0], np.cumsum(wrong)])
    windows = (total[WINDOW_ITEMS:] - total[:-WINDOW_ITEMS]) / (32 * WINDOW_ITEMS)
    best = int(np.argmin(windows))
    return float(windows[best]), begin + best


def find_pairs(prints):
    """[(i, j, share of wrong bits, seconds into i, seconds into j)] of those that share audio, i < j."""
    keys = [sorted_keys(items) for items in prints]
    pairs = []
    for j in range(len(prints)):
        for i in range(j):
            found = [(*least_bit_errors(prints[i], prints[j], shift), shift)
                     for shift in candidate_shifts(keys[i], keys[j])]
            if found and min(found)[0] < MOST_BIT_ERRORS:
                errors, place, shift = min(found)
                item_s = 0.1238  # 4096 samples at 11025 Hz, two thirds overlapped
                pairs.append((i, j, errors, place * item_s, (place + shift) * item_s))
    return pairs


def representatives(count, pairs):
    """For each of `count` recordings the first one that it shares audio with, also over others; itself if none."""
    first = list(range(count))

    def root(i):
        while first[i] != i:
            i = first[i]
        return i

    for i, j, *_ in pairs:
        a, b = sorted((root(i), root(j)))
        first[b] = a
    return [root(i) for i in range(count)]
