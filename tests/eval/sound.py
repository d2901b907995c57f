# tests/eval/sound.py - arrays of mono samples at 44.1 kHz: seeds, levels, files.

import hashlib
import os

import numpy as np
import soundfile

RATE_HZ = 44100


def generator(*key):
    """A random generator that depends on the key alone, so that adding a condition or a clip changes no other."""
    digest = hashlib.sha256("\x1f".join(str(part) for part in key).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def rms(samples):
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) if len(samples) else 0.0


def level_db(samples):
    """RMS against full scale; digital silence is -200 dB."""
    return 20 * np.log10(max(rms(samples), 1e-10))


def gain(decibels):
    return 10.0 ** (decibels / 20)


def at_level(samples, decibels):
    """Brought to an RMS level; what is nearly silent is left near silence."""
    return np.asarray(samples, np.float64) * (gain(decibels) / max(rms(samples), 1e-4))


def fit(samples, count):
    """Cut, or filled up with zeros, to `count` samples."""
    return np.pad(samples[:count], (0, max(0, count - len(samples))))


def read_part(path, first, count):
    """`count` samples from sample `first` of a mono file; zeros where there are none."""
    part = np.zeros(count, np.float32)
    with soundfile.SoundFile(path) as file:
        begin, end = max(0, first), min(file.frames, first + count)
        if end > begin:
            file.seek(begin)
            part[begin - first:end - first] = file.read(end - begin, dtype="float32")
    return part


def write_clip(path, samples):
    """16-bit WAV, scaled down only if it would clip. Appears whole or not at all."""
    peak = float(np.max(np.abs(samples))) if len(samples) else 0.0
    scale = 0.98 / peak if peak > 0.98 else 1.0
    scratch = f"{path}.{os.getpid()}.tmp"
    soundfile.write(scratch, (np.asarray(samples) * scale).astype(np.float32), RATE_HZ, subtype="PCM_16",
                    format="WAV")
    os.replace(scratch, path)
