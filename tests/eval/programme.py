#!/usr/bin/python3
# tests/eval/programme.py - an hour of radio and its truth: songs, crossfades, talk, breaks, unknown music, dead air.
"""Works on a folder that evaluate.py has filled (music.csv and wav/): the music that is left out of the catalogue there
is the music that a tagger must not name here.

The truth, programme.csv: kind,track,start_s,end_s,track_start_s,speed; kind is song, unknown, speech or silence. A
song's start_s to end_s is where one hears it, under a voice too; what overlaps is a crossfade or talk over music.
track_start_s is where in the recording it begins."""

import argparse
import csv
import dataclasses
import os
import sys

import tools

if __name__ == "__main__":
    tools.demand({"ffmpeg", "sox", "espeak-ng"}, ("numpy", "scipy.signal", "soundfile"))

import numpy as np  # noqa: E402
import soundfile  # noqa: E402

import music  # noqa: E402
from degradations import broadcast, played_at  # noqa: E402
from sound import RATE_HZ, gain, generator, level_db  # noqa: E402
from speech import loudness, speech  # noqa: E402

CODECS = {  # name -> (extension, ffmpeg's options)
    "mp3-128": ("mp3", ["-ac", "2", "-c:a", "libmp3lame", "-b:a", "128k"]),
    "mp3-64": ("mp3", ["-ac", "1", "-ar", "32000", "-c:a", "libmp3lame", "-b:a", "64k"]),
    "aac-64": ("aac", ["-ac", "2", "-c:a", "aac", "-b:a", "64k", "-f", "adts"]),
    "opus-32": ("opus", ["-ac", "1", "-c:a", "libopus", "-b:a", "32k"]),
    "flac": ("flac", ["-ac", "1", "-c:a", "flac"]),
}
# What comes after a song begins, or after it ends, and how often of a hundred.
TRANSITIONS = {"cold": 12, "gap": 12, "crossfade": 22, "talk over the start": 14, "talk over the end": 14, "break": 14,
               "advertisements": 7, "dead air": 5}
SHORTEST_TRACK_S = 60.0
LONGEST_SONG_S = 210.0  # longer ones fade out somewhere in the half minute before
UNKNOWN_SHARE = 0.12
MUSIC_DB, SPEECH_DB, DUCK_DB = -18.0, -17.0, -12.0
PIECE_S, LAP_S = 120, 2  # the processor works on pieces; its compressor has settled after the lap


@dataclasses.dataclass
class Item:
    kind: str
    track: str
    start_s: float
    end_s: float
    track_start_s: float = 0.0
    speed: float = 1.0


class Desk:
    """The mix and what is true of it."""

    def __init__(self, seconds, random, speed):
        self.mix = np.zeros(int((seconds + LONGEST_SONG_S * 2 + 120) * RATE_HZ), np.float32)
        self.items, self.random, self.speed = [], random, speed

    def _add(self, samples, at_s):
        first = int(at_s * RATE_HZ)
        part = self.mix[first:first + len(samples)]
        part += samples[:len(part)].astype(np.float32)

    def play(self, track, kind, start_s, fade_s):
        """Puts a song on air from start_s; returns where it ends."""
        random = self.random
        begin_s = 0.0 if random.random() < 0.7 else float(random.uniform(1, 15))
        samples = soundfile.read(track.wav, dtype="float32")[0][int(begin_s * RATE_HZ):]
        if len(samples) > LONGEST_SONG_S * RATE_HZ:
            samples = samples[:int((LONGEST_SONG_S - random.uniform(0, 30)) * RATE_HZ)]
        elif random.random() < 0.3:
            samples = samples[:int(len(samples) * random.uniform(0.6, 0.95))]
        if self.speed != 1:
            samples = played_at(samples, self.speed)
        samples = np.clip(samples * gain(MUSIC_DB - level_db(samples)), -1.5, 1.5)
        fade, attack = int(fade_s * RATE_HZ), int(0.02 * RATE_HZ)
        samples[-fade:] *= np.cos(np.linspace(0, np.pi / 2, fade))
        samples[:attack] *= np.linspace(0, 1, attack)
        self._add(samples, start_s)
        end_s = start_s + len(samples) / RATE_HZ
        self.items.append(Item(kind, track.name, start_s, end_s, begin_s, self.speed))
        return end_s

    def talk(self, start_s, seconds):
        said = speech(self.random, seconds)
        self._add(said * (gain(SPEECH_DB) / loudness(said)), start_s)
        self.items.append(Item("speech", "", start_s, start_s + seconds))
        return start_s + seconds

    def duck(self, start_s, seconds):
        """The music goes down, and up again, within 0.3 s."""
        first, count = int(start_s * RATE_HZ), int(seconds * RATE_HZ)
        ramp = min(int(0.3 * RATE_HZ), count // 2)
        level = np.full(count, gain(DUCK_DB), np.float32)
        level[:ramp] = np.linspace(1, gain(DUCK_DB), ramp)
        level[count - ramp:] = level[:ramp][::-1]
        part = self.mix[first:first + count]
        part *= level[:len(part)]


def shuffled_forever(tracks, random):
    while tracks:
        yield from (tracks[int(i)] for i in random.permutation(len(tracks)))


def go_on_air(known, unknown, seconds, random, speed):
    """The desk when the time is over."""
    desk = Desk(seconds, random, speed)
    songs, strangers = shuffled_forever(known, random), shuffled_forever(unknown, random)
    names = list(TRANSITIONS)
    chances = np.array(list(TRANSITIONS.values())) / sum(TRANSITIONS.values())
    at_s = 0.0
    while at_s < seconds:
        kind = "unknown" if unknown and random.random() < UNKNOWN_SHARE else "song"
        how = str(random.choice(names, p=chances))
        fade_s = float(random.uniform(2, 8)) if how == "crossfade" else 0.15
        start_s = at_s
        end_s = at_s = desk.play(next(strangers if kind == "unknown" else songs), kind, start_s, fade_s)
        if how == "crossfade":
            at_s = end_s - fade_s
        elif how == "gap":
            at_s = end_s + float(random.uniform(0.1, 1))
        elif how in ("talk over the start", "talk over the end"):
            length_s = float(random.uniform(6, 14))
            from_s = start_s + 1 if how == "talk over the start" else max(start_s, end_s - length_s - 1)
            desk.duck(from_s, length_s)
            desk.talk(from_s, length_s)
        elif how in ("break", "advertisements"):
            at_s = desk.talk(end_s, float(random.uniform(*((5, 30) if how == "break" else (40, 90)))))
        elif how == "dead air":
            at_s = end_s + float(random.uniform(6, 12))
            desk.items.append(Item("silence", "", end_s, at_s))
    return desk


def processed(mix):
    result = np.empty_like(mix)
    for first in range(0, len(mix), PIECE_S * RATE_HZ):
        lap = min(first, LAP_S * RATE_HZ)
        count = min(PIECE_S * RATE_HZ, len(mix) - first)
        result[first:first + count] = broadcast(mix[first - lap:first + count])[lap:lap + count]
    return result


def make(known, unknown, folder, *, minutes=60.0, seed=1, speed_percent=0.0, codec="mp3-128", plain=False):
    """Writes folder/programme.<extension> and folder/programme.csv; returns both paths."""
    known, unknown = ([track for track in tracks if track.duration_s >= SHORTEST_TRACK_S]
                      for tracks in (known, unknown))
    if not known:
        raise RuntimeError(f"no recording of the catalogue lasts {SHORTEST_TRACK_S:g} s")
    os.makedirs(folder, exist_ok=True)
    seconds = minutes * 60
    random = generator("programme", seed, speed_percent, codec)
    desk = go_on_air(known, unknown, seconds, random, 1 + speed_percent / 100)
    mix = desk.mix[:int(seconds * RATE_HZ)]
    if not plain:
        mix = processed(mix)
    mix = mix * (0.9 / max(float(np.max(np.abs(mix))), 1e-6))
    extension, options = CODECS[codec]
    programme, truth = (os.path.join(folder, "programme." + suffix) for suffix in (extension, "csv"))
    wav = os.path.join(folder, "programme.tmp.wav")
    soundfile.write(wav, mix, RATE_HZ, subtype="PCM_16")
    tools.call(["ffmpeg", "-v", "error", "-y", "-i", wav, *options, programme])
    os.remove(wav)
    with open(truth, "w", newline="", encoding="utf-8") as file:  # last: its being there says that all is
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in dataclasses.fields(Item)])
        for item in sorted(desk.items, key=lambda item: item.start_s):
            if item.start_s < seconds:
                times = [f"{s:.3f}" for s in (item.start_s, min(item.end_s, seconds), item.track_start_s)]
                writer.writerow([item.kind, item.track, *times, f"{item.speed:.4f}"])
    return programme, truth


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--music", required=True, metavar="OUT/music.csv", help="written by evaluate.py")
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=float, default=0, metavar="PERCENT", help="all music so much faster, pitch too")
    parser.add_argument("--codec", choices=CODECS, default="mp3-128")
    parser.add_argument("--plain", action="store_true", help="no broadcast processing")
    options = parser.parse_args()
    tracks = [track for track in music.read_list(options.music) if not track.same_as]
    known, unknown = ([track for track in tracks if track.known is wanted] for wanted in (True, False))
    paths = make(known, unknown, options.out, minutes=options.minutes, seed=options.seed,
                 speed_percent=options.speed, codec=options.codec, plain=options.plain)
    print(*paths)


if __name__ == "__main__":
    sys.exit(main())
