# tests/eval/degradations.py - what happens to music between the recording and the listener.
"""CONDITIONS names each; a condition knows what it does to tempo and pitch, so that both can be checked."""

import dataclasses
import fractions
import os
import tempfile
from typing import Callable

import numpy as np
import scipy.signal
import soundfile

from sound import RATE_HZ, at_level, fit, gain, rms
from speech import loudness, speech
from tools import call


@dataclasses.dataclass(frozen=True)
class Condition:
    name: str
    change: Callable  # (samples, random generator) -> samples
    family: str
    speed: float = 1.0  # tempo of the clip over the recording's = seconds of recording in a second of clip
    pitch: float = 1.0  # frequency ratio, clip over recording
    needs: tuple = ()  # programs
    part: str = "usual"  # usual, hard, or sweep (made for a plot alone)


def through_files(samples, commands):
    """samples -> WAV -> each command of commands(source, result, folder) -> WAV -> samples."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "source.wav"), os.path.join(folder, "result.wav")
        soundfile.write(source, np.asarray(samples, np.float32), RATE_HZ, subtype="FLOAT")
        for command in commands(source, result, folder):
            call(command)
        changed, rate_hz = soundfile.read(result, dtype="float32", always_2d=True)
    if rate_hz != RATE_HZ:
        raise RuntimeError(f"{rate_hz} Hz came back")
    return changed[:, 0].astype(np.float64)


def coded(samples, extension, *options):
    """Encoded and decoded again with ffmpeg; the containers say how much delay the decoder has to cut."""

    def commands(source, result, folder):
        small = os.path.join(folder, "small." + extension)
        yield ["ffmpeg", "-v", "error", "-y", "-i", source, "-ac", "1", *options, small]
        yield ["ffmpeg", "-v", "error", "-y", "-i", small, "-ac", "1", "-ar", RATE_HZ, "-c:a", "pcm_f32le", result]

    return through_files(samples, commands)


def mp3(samples, kilobits, rate_hz):
    return coded(samples, "mp3", "-ar", str(rate_hz), "-c:a", "libmp3lame", "-b:a", f"{kilobits}k")


def opus(samples, kilobits):
    return coded(samples, "opus", "-c:a", "libopus", "-b:a", f"{kilobits}k")


def aac(samples, kilobits):
    return coded(samples, "m4a", "-c:a", "aac", "-b:a", f"{kilobits}k")


def effects(samples, *words):
    return through_files(samples, lambda source, result, _: [
        ["sox", "-D", source, "-e", "floating-point", "-b", "32", result, *words]])


def stretched(samples, tempo=1.0, semitones=0.0):
    return through_files(samples, lambda source, result, _: [
        ["rubberband", "-q", "--tempo", f"{tempo:.6f}", "--pitch", f"{semitones:.4f}", source, result]])


def played_at(samples, speed):
    """Tempo and pitch together, as a turntable or a radio station's computer does."""
    ratio = fractions.Fraction(speed).limit_denominator(2000)
    return scipy.signal.resample_poly(np.asarray(samples, np.float64), ratio.denominator, ratio.numerator)


def hissing(samples, random, snr_db):
    """White noise, measured against the music over its whole band."""
    return samples + random.standard_normal(len(samples)) * (rms(samples) * gain(-snr_db))


def talked_over(samples, random, music_db):
    """@param music_db  level of the music less that of the speech"""
    said = fit(speech(random, len(samples) / RATE_HZ), len(samples))
    return samples + said * (rms(samples) / loudness(said) * gain(-music_db))


def emphasised(samples, sign):
    """FM emphasis of 50 us (sign +1) or its inverse (-1), levelled off at 15 kHz so that the inverse is stable."""
    turn_s, end_s = 50e-6, 1 / (2 * np.pi * 15000)
    above, below = scipy.signal.bilinear([turn_s, 1], [end_s, 1], RATE_HZ)
    return scipy.signal.lfilter(above, below, samples) if sign > 0 else scipy.signal.lfilter(below, above, samples)


def broadcast(samples):
    """A station's processor: levelled, pre-emphasised, compressed in five bands, limited, brightened, cut at 15 kHz."""
    level = emphasised(at_level(samples, -16), +1)
    # The multiband compressor "like an FM station" of the sox(1) manual, section mcompand.
    dense = effects(np.clip(level / 4, -1, 1), "gain", "6", "mcompand",
                    "0.005,0.1 -47,-40,-34,-34,-17,-33", "100",
                    "0.003,0.05 -47,-40,-34,-34,-17,-33", "400",
                    "0.000625,0.0125 -47,-40,-34,-34,-15,-33", "1600",
                    "0.0001,0.025 -47,-40,-34,-34,-31,-31,-0,-30", "6400",
                    "0,0.025 -38,-31,-28,-28,-0,-25", "gain", "15")
    limited = np.tanh(1.5 * at_level(dense, -11)) / np.tanh(1.5)
    return effects(0.7 * emphasised(limited, -1), "treble", "+2", "6000", "sinc", "-n", "255", "-15000")


def in_a_room(samples, random):
    """Heard by a small microphone across a room: reverberation of 0.3 to 0.6 s, 130 Hz to 9 kHz, 15 dB above noise."""
    decay_s = random.uniform(0.3, 0.6)
    time_s = np.arange(int(1.2 * decay_s * RATE_HZ)) / RATE_HZ
    tail = random.standard_normal(len(time_s)) * gain(-60 * time_s / decay_s) * (time_s > 0.004)
    response = 0.8 * tail / np.sqrt(np.sum(tail**2))  # 2 dB below the direct sound
    response[0] = 1
    for delay_s in random.uniform(0.002, 0.03, size=6):  # walls and table
        response[int(delay_s * RATE_HZ)] += random.uniform(-0.5, 0.5)
    heard = scipy.signal.fftconvolve(samples, response)[:len(samples)]
    band = scipy.signal.butter(2, [130, 9000], "bandpass", fs=RATE_HZ, output="sos")
    return hissing(scipy.signal.sosfilt(band, heard), random, 15)


def medium_wave(samples, random):
    band = scipy.signal.butter(4, [300, 3400], "bandpass", fs=RATE_HZ, output="sos")
    return hissing(scipy.signal.sosfilt(band, broadcast(samples)), random, 15)


def clipped(samples):
    """12 dB into the wall."""
    return np.clip(at_level(samples, 0), -0.5, 0.5)


def semitones(number):
    return 2.0 ** (number / 12)


def list_conditions():
    """Every condition that turns one stretch of one recording into a clip, usual ones first."""
    speaking, processing = ("espeak-ng",), ("sox",)

    def pitch_and_tempo(name, tempo, steps, family, part):
        return Condition(name, lambda x, r: stretched(x, tempo, steps), family, tempo, semitones(steps),
                         ("rubberband",), part)

    def speed(percent, family, part):
        factor = 1 + percent / 100
        return Condition(f"speed{percent:+g}%", lambda x, r: played_at(x, factor), family, factor, factor, (), part)

    def noise(snr_db, part):
        return Condition(f"noise{snr_db:+d}dB", lambda x, r: hissing(x, r, snr_db), "noise", part=part)

    def talk(below_db, part):
        return Condition(f"talk-{below_db}dB", lambda x, r: talked_over(x, r, -below_db), "speech over music",
                         needs=speaking, part=part)

    yield Condition("clean", lambda x, r: x, "clean")
    yield Condition("mp3-32k", lambda x, r: mp3(x, 32, 22050), "codecs")
    yield Condition("opus-16k", lambda x, r: opus(x, 16), "codecs")
    yield Condition("aac-32k", lambda x, r: aac(x, 32), "codecs")
    yield from (noise(snr_db, "usual") for snr_db in (10, 5, 0))
    yield from (talk(below_db, "usual") for below_db in (0, 6))
    yield Condition("broadcast", lambda x, r: broadcast(x), "processing", needs=processing)
    yield Condition("room", in_a_room, "processing")
    yield Condition("radio-chain", lambda x, r: mp3(broadcast(played_at(x, 1.01)), 48, 32000), "processing", 1.01, 1.01,
                    processing)
    for percent in (-6, -4, -2, -1, 1, 2, 4, 6):
        yield speed(percent, f"speed {'1-2' if abs(percent) < 3 else '4-6'} %", "usual")
    for percent in (-8, -4, -2, 2, 4, 8):
        yield pitch_and_tempo(f"tempo{percent:+d}%", 1 + percent / 100, 0, "tempo", "usual")
    for steps in (-2, -1, 1, 2):
        yield pitch_and_tempo(f"pitch{steps:+d}st", 1, steps, "pitch", "usual")

    yield from (speed(percent, "speed 8-10 %", "hard") for percent in (-10, -8, 8, 10))
    yield from (pitch_and_tempo(f"tempo{percent:+d}%", 1 + percent / 100, 0, "tempo 12 %", "hard")
                for percent in (-12, 12))
    yield from (pitch_and_tempo(f"pitch{steps:+d}st", 1, steps, "pitch 3 semitones", "hard") for steps in (-3, 3))
    yield pitch_and_tempo("tempo+4%pitch-1st", 1.04, -1, "tempo and pitch", "hard")
    yield pitch_and_tempo("tempo-6%pitch+2st", 0.94, 2, "tempo and pitch", "hard")
    yield noise(-5, "hard")
    yield talk(12, "hard")
    yield Condition("opus-8k", lambda x, r: opus(x, 8), "codecs", part="hard")
    yield Condition("medium-wave", medium_wave, "processing", needs=processing, part="hard")
    yield Condition("clipped", lambda x, r: clipped(x), "processing", part="hard")
    # The worst that one still hears as that song: everything at once.
    yield Condition("worst-studio", lambda x, r: opus(talked_over(broadcast(played_at(x, 1.03)), r, 0), 24), "worst",
                    1.03, 1.03, speaking + processing, "hard")
    yield Condition("worst-kitchen", lambda x, r: mp3(in_a_room(played_at(x, 0.95), r), 32, 22050), "worst", 0.95, 0.95,
                    part="hard")

    yield from (noise(snr_db, "sweep") for snr_db in (20, 15, -10))
    yield speed(3, "speed 3 %", "sweep")


CONDITIONS = {condition.name: condition for condition in list_conditions()}
CROSSFADE = "crossfade"  # of two recordings, so that it is no Condition: either answer is right
