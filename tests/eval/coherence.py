# tests/eval/coherence.py - is the sound of a recording in a clip, to the sample?
# Source: C. H. Knapp and G. C. Carter, "The Generalized Correlation Method for Estimation of Time Delay", IEEE Trans.
# ASSP 24, 1976, the phase transform: R(t) = sum over f of X*(f) Y(f) / |X(f) Y(f)| exp(2 pi i f t).
"""Games and labels use a recording again in another one: a loop, a layer of a mix, a remix. Naming that recording is no
mistake, and no list of pairs knows all of it. Two performances, or two pieces with the same chords, never agree to the
sample; the same recording does, under another melody too."""

import os

import numpy as np
import soundfile

from degradations import played_at
from sound import RATE_HZ, read_part

SEARCH_S = 1.0  # either side of where the recording is said to be
BAND_HZ = (100, 5000)  # codecs and processing leave the phase alone there


def coherence(clip, stretch):
    """Highest peak of R over its RMS, over all places of `clip` in the longer `stretch`. About 4.6 for two unrelated
    pieces, 12 at the most in 500 (held tones); 25 to 70 for a loop used again in another mix."""
    size = 1 << (len(clip) + len(stretch) - 1).bit_length()
    cross = np.fft.rfft(stretch, size) * np.conj(np.fft.rfft(clip, size))
    cross /= np.maximum(np.abs(cross), 1e-9)
    hertz = np.fft.rfftfreq(size, 1 / RATE_HZ)
    cross[(hertz < BAND_HZ[0]) | (hertz > BAND_HZ[1])] = 0
    places = np.abs(np.fft.irfft(cross, size)[:len(stretch) - len(clip) + 1])
    rms = np.sqrt(np.mean(places**2))
    return float(np.max(places) / rms) if rms > 0 else 0.0


def coherence_at(file, speed, wav, offset_s):
    """@param speed  that of the clip's condition, undone before the comparison
    @param offset_s  where the clip's first sample is said to be in the recording"""
    clip = soundfile.read(file, dtype="float64")[0]
    if speed != 1:
        clip = played_at(clip, 1 / speed)
    margin = int(SEARCH_S * RATE_HZ)
    return coherence(clip, read_part(wav, int(offset_s * RATE_HZ) - margin, len(clip) + 2 * margin))


def measure(clip, named, folder):
    """{name: coherence} of tracks that were named for a clip. @param named  {name: offset_s}; folder: of the WAVs.
    Nothing for a clip whose tempo and pitch were changed apart, which leaves no phase to compare."""
    if clip.truth_speed != clip.truth_pitch:
        return {}
    wavs = {name: os.path.join(folder, name + ".wav") for name in named}
    return {name: coherence_at(clip.file, clip.truth_speed, wav, named[name])
            for name, wav in wavs.items() if os.path.exists(wav)}
