# tests/eval/music.py - the recordings: found, decoded once, those that share audio counted once, a fifth left out.

import concurrent.futures
import csv
import dataclasses
import hashlib
import os
import re
import sys

import soundfile

from shared_audio import find_pairs, print_of, representatives
from sound import RATE_HZ, generator
from tools import Progress, call

SUFFIXES = (".aac", ".aif", ".aiff", ".flac", ".m4a", ".mp3", ".oga", ".ogg", ".opus", ".wav", ".wma")
SHORTEST_S = 45.0
LEFT_OUT = 0.2  # share of the recordings that the catalogue does not get


@dataclasses.dataclass(frozen=True)
class Track:
    name: str  # of the WAV, without .wav; spintag's answers are compared with it
    wav: str
    original: str
    duration_s: float
    known: bool = True  # in the catalogue
    same_as: str = ""  # name of an earlier track that it shares audio with; takes no part then


def find_files(folders):
    """Audio files by name, in an order that does not depend on the file system."""
    found = []
    for folder in folders:
        for place, _, names in os.walk(folder):
            found += [os.path.join(place, name) for name in names if name.lower().endswith(SUFFIXES)]
    return sorted(path for path in set(found) if os.path.isfile(path))


def name_of(path):
    """Readable, and the same only for the same bytes."""
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    stem = os.path.splitext(os.path.basename(path))[0]
    return f"{re.sub('[^A-Za-z0-9]+', '-', stem).strip('-')[:40] or 'track'}-{digest[:6]}"


def could_last(path):
    """False for what ffprobe cannot read or knows to be too short; a length that it does not know may be enough."""
    try:
        answer = call(["ffprobe", "-v", "error", "-select_streams", "a:0", "-show_entries",
                       "format=duration:stream=duration", "-of", "csv=p=0", path]).decode()
    except RuntimeError:
        return False
    lengths = [float(word) for word in re.findall(r"\d+\.\d+", answer)]
    return bool(answer.strip()) and (not lengths or max(lengths) >= SHORTEST_S)


def decode(job):
    """To 44.1 kHz mono, 16 bit. Returns the seconds; None if it cannot be decoded."""
    original, wav = job
    if not os.path.exists(wav):
        scratch = f"{wav}.{os.getpid()}.tmp"
        try:
            call(["ffmpeg", "-v", "error", "-y", "-i", original, "-vn", "-ac", "1", "-ar", RATE_HZ,
                  "-c:a", "pcm_s16le", "-f", "wav", scratch])
        except RuntimeError as error:
            print(f"left out, cannot be decoded: {error}", file=sys.stderr)
            if os.path.exists(scratch):
                os.remove(scratch)
            return None
        os.replace(scratch, wav)
    return soundfile.info(wav).duration


def _print_job(job):
    return print_of(*job)


def decoded(folders, out, jobs):
    """Every track of the folders, decoded, in order of its original's path; equal files once."""
    wavs = os.path.join(out, "wav")
    os.makedirs(wavs, exist_ok=True)
    named, tracks, files = {}, [], find_files(folders)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        progress = Progress("looked at", len(files))
        for path, long_enough in zip(files, pool.map(could_last, files)):
            progress.step()
            if long_enough:
                named.setdefault(name_of(path), path)
        progress = Progress("decoded", len(named))
        work = [(path, os.path.join(wavs, name + ".wav")) for name, path in named.items()]
        for (original, wav), seconds in zip(work, pool.map(decode, work)):
            progress.step()
            if seconds is not None and seconds >= SHORTEST_S:
                tracks.append(Track(os.path.splitext(os.path.basename(wav))[0], wav, original, seconds))
    return tracks


def with_shared_marked(tracks, out, jobs):
    """Sets same_as, and writes what was found to shared_audio.csv for a person to look at."""
    prints = os.path.join(out, "prints")
    os.makedirs(prints, exist_ok=True)
    work = [(track.wav, os.path.join(prints, track.name + ".npy")) for track in tracks]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        pairs = find_pairs(list(pool.map(_print_job, work)))
    with open(os.path.join(out, "shared_audio.csv"), "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["track_a", "track_b", "bit_errors", "at_a_s", "at_b_s"])
        for i, j, errors, at_i_s, at_j_s in pairs:
            writer.writerow([tracks[i].name, tracks[j].name, f"{errors:.3f}", f"{at_i_s:.1f}", f"{at_j_s:.1f}"])
    first = representatives(len(tracks), pairs)
    return [dataclasses.replace(track, same_as="" if first[i] == i else tracks[first[i]].name)
            for i, track in enumerate(tracks)]


def with_some_left_out(tracks, seed):
    """A seeded fifth of those that take part is not in the catalogue; at least one, if there are three."""
    taking_part = [i for i, track in enumerate(tracks) if not track.same_as]
    count = round(LEFT_OUT * len(taking_part))
    count = max(count, 1) if len(taking_part) >= 3 else 0
    order = generator(seed, "left out").permutation(len(taking_part))
    unknown = {taking_part[int(i)] for i in order[:count]}
    return [dataclasses.replace(track, known=i not in unknown and not track.same_as)
            for i, track in enumerate(tracks)]


def write_list(tracks, path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["track", "duration_s", "in_catalogue", "same_as", "original"])
        for track in tracks:
            writer.writerow([track.name, f"{track.duration_s:.2f}", int(track.known), track.same_as, track.original])


def read_list(path):
    """music.csv again, for tools that work on a folder that evaluate.py made."""
    wavs = os.path.join(os.path.dirname(os.path.abspath(path)), "wav")
    with open(path, newline="") as file:
        return [Track(row["track"], os.path.join(wavs, row["track"] + ".wav"), row["original"],
                      float(row["duration_s"]), row["in_catalogue"] == "1", row["same_as"])
                for row in csv.DictReader(file)]


def collect(folders, out, seed, jobs):
    """(tracks in the catalogue, tracks left out); music.csv and shared_audio.csv in `out` tell all of it."""
    tracks = with_some_left_out(with_shared_marked(decoded(folders, out, jobs), out, jobs), seed)
    write_list(tracks, os.path.join(out, "music.csv"))
    return ([track for track in tracks if track.known],
            [track for track in tracks if not track.known and not track.same_as])
