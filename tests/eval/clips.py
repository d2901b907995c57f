# tests/eval/clips.py - the clips: which stretch of which recording, through which condition, and what is true of each.
"""Every draw depends on (seed, condition, length, number) alone: another condition or a larger number changes no clip.
A clip's file name ends in a digest of all that made it, so that one that exists is the right one and is kept."""

import concurrent.futures
import dataclasses
import hashlib
import os

import numpy as np

from degradations import CONDITIONS, CROSSFADE
from sound import RATE_HZ, fit, generator, level_db, read_part, write_clip
from speech import speech
from tools import Progress

MADE_BY = 1  # goes up when a condition changes, so that clips made before are not taken for those of today
CONTEXT_S = 1.0  # made on either side and cut away, so that codecs and filters have settled
QUIETEST_DB = -45.0  # a stretch below this is drawn again: nobody can name a pause
SNR_SWEEP = ("noise+20dB", "noise+15dB", "noise+10dB", "noise+5dB", "noise+0dB", "noise-5dB", "noise-10dB")
LENGTH_SWEEP = ("clean", "noise+5dB", "talk-0dB", "speed+3%")
LENGTH_SWEEP_S = (1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10)
NEGATIVES = ("neg-clean", "neg-broadcast", "neg-mp3-32k", "neg-talk-0dB", "neg-speech", "neg-noise", "neg-silence")
UNKNOWN = "unknown"  # all of the left-out music, cut into windows
UNKNOWN_WINDOWS_S = (5, 10)


@dataclasses.dataclass(frozen=True)
class Clip:
    file: str
    condition: str
    parts: str  # usual, hard, snr, length, negative: the tables and plots that it belongs to, joined by +
    length_s: float
    number: int
    truth: str  # name of the track; a|b: either; empty: nothing that is known
    truth_offset_s: str  # where the clip's first sample is in the recording; a|b as above
    source: str  # tracks that it was cut from
    places_s: tuple  # where
    truth_speed: float = 1.0
    truth_pitch: float = 1.0
    seed: int = 0
    wavs: tuple = ()


def cells(lengths_s, hard, sweeps, only):
    """{(condition, length): parts} of what is to be made. `only`: these conditions, hard ones and those of the sweeps
    too; empty = everything, hard ones if `hard`."""
    wanted = {}

    def add(condition, length_s, part):
        if not only or condition in only:
            wanted.setdefault((condition, float(length_s)), []).append(part)

    for length_s in lengths_s:
        for condition in CONDITIONS.values():
            if condition.part == "usual" or (hard and condition.part == "hard") or condition.name in only:
                add(condition.name, length_s, "hard" if condition.part == "hard" else "usual")
        add(CROSSFADE, length_s, "usual")
        for name in SNR_SWEEP if sweeps else ():
            add(name, length_s, "snr")
        for name in NEGATIVES:
            add(name, length_s, "negative")
    for name in LENGTH_SWEEP if sweeps else ():
        for length_s in LENGTH_SWEEP_S:
            add(name, length_s, "length")
    return {cell: "+".join(parts) for cell, parts in wanted.items()}


def known_names():
    return [*CONDITIONS, CROSSFADE, *NEGATIVES, UNKNOWN]


def programs_for(wanted_cells):
    """What making these clips calls."""
    needs = {"ffmpeg"}
    for name, _ in wanted_cells:
        base = name.removeprefix("neg-")
        if base in CONDITIONS:
            needs.update(CONDITIONS[base].needs)
        elif base == "speech":
            needs.add("espeak-ng")
    return needs


class Drawer:
    """Places in recordings, by chance; each track comes up once before one comes up twice."""

    def __init__(self, tracks, seed):
        self._tracks, self._seed = tracks, seed

    def draw(self, condition, length_s, number, used_s):
        """(track, second) of a stretch of used_s that is not a pause."""
        order = generator(self._seed, condition, length_s, "order").permutation(len(self._tracks))
        random = generator(self._seed, condition, length_s, number, "place")
        for attempt in range(len(self._tracks)):
            track = self._tracks[int(order[(number + attempt) % len(order)])]
            room_s = track.duration_s - used_s - 0.1
            for _ in range(12 if room_s > 0 else 0):
                # To the sample, so that the truth is exact.
                first = int(random.uniform(0, room_s) * RATE_HZ)
                if level_db(read_part(track.wav, first, int(used_s * RATE_HZ))) > QUIETEST_DB:
                    return track, first / RATE_HZ
        raise RuntimeError(f"no recording has {used_s:.1f} s that are not silent")


def named(clip, folder):
    """The clip with its file name."""
    made_from = repr((MADE_BY, clip.seed, clip.condition, clip.length_s, clip.number, clip.source, clip.places_s))
    digest = hashlib.sha256(made_from.encode()).hexdigest()[:10]
    plain = clip.condition.replace("%", "pc").replace("+", "p")
    name = f"{plain}_{clip.length_s:g}s_{clip.number:04d}-{digest}.wav"
    return dataclasses.replace(clip, file=os.path.join(folder, name))


def plan(wanted_cells, count, known, unknown, seed, folder):
    """The clips of the cells: where each is from and what is true of it. Makes none yet."""
    from_known, from_unknown = Drawer(known, seed), Drawer(unknown, seed)
    clips = []
    for (condition, length_s), parts in wanted_cells.items():
        negative = condition.startswith("neg-")
        base = CONDITIONS.get(condition.removeprefix("neg-"))
        if negative and base and not unknown:
            continue
        here = {"neg-silence": 2, "neg-noise": max(2, count // 4)}.get(condition, count)
        for number in range(here):
            of_this = {"file": "", "condition": condition, "parts": parts, "length_s": length_s, "number": number,
                       "seed": seed}
            if base:
                drawer = from_unknown if negative else from_known
                track, place_s = drawer.draw(condition, length_s, number, length_s * base.speed)
                clip = Clip(**of_this, truth="" if negative else track.name,
                            truth_offset_s="" if negative else f"{place_s:.4f}", source=track.name,
                            places_s=(place_s,), truth_speed=base.speed, truth_pitch=base.pitch, wavs=(track.wav,))
            elif condition == CROSSFADE:
                (one, one_s), (two, two_s) = (from_known.draw(condition, length_s, number + further, length_s)
                                              for further in (0, max(1, len(known) // 2)))
                clip = Clip(**of_this, truth=f"{one.name}|{two.name}", truth_offset_s=f"{one_s:.4f}|{two_s:.4f}",
                            source=f"{one.name}|{two.name}", places_s=(one_s, two_s), wavs=(one.wav, two.wav))
            else:
                clip = Clip(**of_this, truth="", truth_offset_s="", source="", places_s=())
            clips.append(named(clip, folder))
    return clips


def plan_windows(unknown, seed, hours, folder):
    """All of the left-out music in windows, once for each length; at most `hours` of it for each."""
    clips = []
    for length_s in UNKNOWN_WINDOWS_S:
        places = [(track, at_s) for track in unknown
                  for at_s in np.arange(0, track.duration_s - length_s, length_s).tolist()]
        if hours is not None:  # evenly from everything, rather than the first tracks
            most = int(hours * 3600 / length_s)
            chosen = generator(seed, UNKNOWN, length_s).permutation(len(places))[:most]
            places = [places[int(i)] for i in sorted(chosen)]
        clips += [named(Clip("", UNKNOWN, "negative", float(length_s), number, "", "", track.name, (at_s,), seed=seed,
                             wavs=(track.wav,)), folder) for number, (track, at_s) in enumerate(places)]
    return clips


def stretch_of(clip, index, used_s, before_s=0.0):
    first = int(round((clip.places_s[index] - before_s) * RATE_HZ))
    return read_part(clip.wavs[index], first, int(round((used_s + 2 * before_s) * RATE_HZ)))


def samples_of(clip):
    """What is heard. Deterministic, but for what the encoders of another ffmpeg do."""
    random = generator(clip.seed, clip.condition, clip.length_s, clip.number, "sound")
    count = int(round(clip.length_s * RATE_HZ))
    base = CONDITIONS.get(clip.condition.removeprefix("neg-"))
    if base:
        heard = base.change(stretch_of(clip, 0, clip.length_s * base.speed, CONTEXT_S * base.speed), random)
        context = int(CONTEXT_S * RATE_HZ)
        return fit(heard[context:], count)
    if clip.condition == UNKNOWN:
        return stretch_of(clip, 0, clip.length_s)
    if clip.condition == CROSSFADE:  # equal power, over the middle 60 %
        turn = np.clip((np.arange(count) / count - 0.2) / 0.6, 0, 1) * np.pi / 2
        return stretch_of(clip, 0, clip.length_s) * np.cos(turn) + stretch_of(clip, 1, clip.length_s) * np.sin(turn)
    if clip.condition == "neg-speech":
        return speech(random, clip.length_s)
    if clip.condition == "neg-noise":  # white and brown in turn
        white = random.standard_normal(count)
        return 0.1 * white if clip.number % 2 == 0 else 0.002 * np.cumsum(white - white.mean())
    if clip.condition == "neg-silence":  # digital, and of a quiet line
        return np.zeros(count) if clip.number % 2 == 0 else 1e-4 * random.standard_normal(count)
    raise ValueError(clip.condition)


def make(clip):
    if not os.path.exists(clip.file):
        write_clip(clip.file, samples_of(clip))


def make_all(clips, jobs):
    """Those that are not there yet."""
    missing = [clip for clip in clips if not os.path.exists(clip.file)]
    progress = Progress("made clips", len(missing))
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        for _ in pool.map(make, missing, chunksize=4):
            progress.step()
