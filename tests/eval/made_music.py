# tests/eval/made_music.py - songs that nobody has recorded, made from a seed.

import numpy as np

from sound import generator

SEED = 20240611


def made_song(number, seconds):
    """Chords, a tune and a drum, from a seed: no two alike, and no bar like another."""
    random, rate_hz = generator(SEED, "song", number), 22050
    song = np.zeros(int(seconds * rate_hz))
    beat_s, key = random.uniform(0.3, 0.55), random.uniform(100, 200)
    for beat in range(int(seconds / beat_s) - 1):
        notes = [(24 + random.choice([0, 2, 4, 5, 7, 9, 11]), 0.12, 0.9)]
        if beat % 4 == 0:
            notes += [(random.choice(12) + 12, 0.08, 3.5) for _ in range(3)]
        first = int(beat * beat_s * rate_hz)
        for semitones, level, beats in notes:
            time_s = np.arange(min(int(beats * beat_s * rate_hz), len(song) - first)) / rate_hz
            for harmonic in range(1, 5):
                hertz = key * 2 ** (semitones / 12) * harmonic
                sound = np.sin(2 * np.pi * (hertz * time_s + random.random())) * np.exp(-(2 + harmonic) * time_s)
                song[first:first + len(time_s)] += level / harmonic * random.uniform(0.3, 1) * sound
        hit = random.standard_normal(rate_hz // 15) * np.exp(-np.arange(rate_hz // 15) / 200)
        song[first:first + len(hit)] += 0.05 * hit[:len(song) - first]
    return song * (0.5 / np.max(np.abs(song))), rate_hz
