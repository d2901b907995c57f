#!/usr/bin/env python3
"""A stand-in for live performances: MIDI songs rendered as recordings, and played again in another key, at another tempo and by other
instruments. How many are told by their melody, how much of what is not in the catalogue is told, and what it costs that the melody has
to be heard out of a mix.

    tests/eval/melody_stand_in.py --bin build/release/tests/eval/spintag_melody_eval --songs /usr/share/games/openttd/baseset/openmsx
        --tunes FOLDER --unknown FOLDER --out /var/tmp/stand-in

Debian packages: fluidsynth, timgm6mb-soundfont (or fluid-soundfont-gm), openttd-openmsx, python3-numpy. Songs are polyphonic MIDI files;
tunes are MIDI files of one voice, to which a bass, chords and drums are added, another accompaniment for each performance. Titles are
split into halves: `fit` is for melody_confidence.cpp, `test` for the figures. A call with the same --out renders what is missing only.
"""

import argparse
import csv
import math
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import midi_songs as midi

SOUNDFONT = "/usr/share/sounds/sf2/TimGM6mb.sf2"
AUDIO = {".ogg", ".opus", ".mp3", ".flac", ".wav"}
FEATURES = ["evidence"]
KNOWN_SHARE = 0.2  # of unknown music, as the fit has it: most of what a station plays and is not known, is not known


def performance(song, title, single_voice):
    """The song as another band plays it; the draw depends on the title alone."""
    rng = random.Random(f"variant {title}")
    key = rng.choice([-5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6])
    tempo = rng.choice([rng.uniform(0.78, 0.93), rng.uniform(1.07, 1.28)])
    if single_voice:
        song = midi.accompanied(song, rng)
    return midi.with_tempo(midi.transposed(midi.reinstrumented(song, rng), key), tempo)


def recording(song, title, single_voice):
    if not single_voice:
        return song
    return midi.reinstrumented(midi.accompanied(song, random.Random(f"base {title}")), random.Random(f"basei {title}"))


class StandIn:
    def __init__(self, options):
        self.options = options
        self.out = Path(options.out)
        self.renders = self.out / "renders"
        self.renders.mkdir(parents=True, exist_ok=True)
        tunes = sorted(Path(options.tunes).glob("*.mid")) if options.tunes else []
        random.Random(options.seed).shuffle(tunes)
        songs = sorted(Path(options.songs).glob("*.mid")) if options.songs else []
        self.titles = [("o", path) for path in songs] + [("n", path) for path in tunes[:options.tunes_count]]
        if not self.titles:
            sys.exit("melody_stand_in.py: no songs and no tunes")
        unknown = sorted(path for folder in options.unknown for path in Path(folder).rglob("*") if path.suffix.lower() in AUDIO)
        random.Random(2).shuffle(unknown)
        self.unknown = unknown[:options.unknown_count]
        halves = list(self.titles)
        random.Random(3).shuffle(halves)
        self.fit_titles = set(halves[::2])

    def name(self, kind, path, played):
        return f"{kind}{'v' if played else ''}_{path.stem}"

    def wav(self, kind, path, played):
        return self.renders / (self.name(kind, path, played) + ".wav")

    def render(self):
        def one(job):
            kind, path, played = job
            wav = self.wav(kind, path, played)
            if wav.exists():
                return
            song = midi.read_song(path)
            if kind == "n":
                song = midi.repeated(song, 2)
            midi.render((performance if played else recording)(song, path.stem, kind == "n"), wav, self.options.soundfont)
        jobs = [(kind, path, played) for kind, path in self.titles for played in (False, True)]
        with ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(one, jobs))

    def lists(self, half, written_catalogue=False, written_queries=False):
        """Files for spintag_melody_eval: the whole catalogue, and what half of the titles plays."""
        suffix = ".mid" if written_catalogue else ".wav"
        catalogue = self.out / f"catalogue{suffix}.txt"
        catalogue.write_text("".join(f"{self.name(kind, path, False)}\t{self.wav(kind, path, False).with_suffix(suffix)}\n"
                                     for kind, path in self.titles))
        suffix = ".mid" if written_queries else ".wav"
        queries = self.out / f"queries-{half}{suffix}.txt"
        queries.write_text("".join(
            f"{self.name(kind, path, True)}\t{self.wav(kind, path, True).with_suffix(suffix)}\t{self.name(kind, path, False)}\n"
            for kind, path in self.titles if ((kind, path) in self.fit_titles) == (half == "fit")))
        return catalogue, queries

    def unknown_list(self, half):
        """Every other recording of other music; and what the half plays, with nothing right for it, is in `match` already."""
        queries = self.out / f"unknown-{half}.txt"
        queries.write_text("".join(f"{path.stem}\t{path}\t\n" for path in self.unknown[half == "test"::2]))
        return queries

    def notes(self):
        """Written tunes as more of a catalogue, without those that are rendered."""
        if not self.options.notes:
            return []
        taken = {path.stem for _, path in self.titles}
        kept = [line for line in Path(self.options.notes).read_text().splitlines()
                if not line.startswith("#") and line.split("\t")[0] not in taken]
        out = self.out / "more.notes"
        out.write_text("\n".join(kept) + "\n")
        return [str(out)]

    def run(self, mode, catalogue, queries, *more):
        answer = subprocess.run([self.options.bin, mode, str(catalogue), str(queries), *more, *self.notes()], check=True,
                                stdout=subprocess.PIPE, text=True).stdout
        (self.out / f"{mode}-{Path(catalogue).stem}-{Path(queries).stem}.csv").write_text(answer)
        return list(csv.DictReader(answer.splitlines()))


def features_of(row):
    agreement, changes, second, rate = (float(row[name]) for name in ("agreement", "changes", "second", "changes_a_s"))
    return [(agreement + changes - second) * min(rate, 2.5)]


def is_right(row):
    return row["right"] != "" and row["melody"] == row["right"]


def fit(rows):
    """Logistic regression by Newton's method, a little held to 0; classes weighted to KNOWN_SHARE."""
    x = np.array([[1.0] + features_of(row) for row in rows])
    y = np.array([float(is_right(row)) for row in rows])
    weight = np.where(y > 0, KNOWN_SHARE / max(y.sum(), 1), (1 - KNOWN_SHARE) / max((1 - y).sum(), 1)) * len(y)
    hold = np.diag([0.0] + [0.01] * len(FEATURES))
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ beta))
        gradient = x.T @ (weight * (y - p)) - hold @ beta
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + hold
        beta += np.linalg.solve(hessian, gradient)
    return beta


def share(part, whole):
    return f"{part} of {whole} ({100 * part / max(whole, 1):.0f} %)"


def print_windows(name, rows):
    """Of windows of 24 s."""
    known = [row for row in rows if row["right"]]
    first = sum(is_right(row) for row in known)
    print(f"{name}: the right melody first in {share(first, len(known))} windows of 24 s")
    for kind, what in (("o", "songs"), ("n", "tunes")):
        some = [row for row in known if row["query"].startswith(kind + "v_")]
        if some:
            print(f"    {what}: {share(sum(is_right(row) for row in some), len(some))}")


def print_calibration(rows):
    edges = [0, 0.5, 0.8, 0.9, 0.97, 1]
    for low, high in zip(edges, edges[1:]):
        some = [row for row in rows if row["melody"] and low <= float(row["confidence"]) < high]
        if some:
            print(f"    confidence {low} to {high}: {share(sum(is_right(row) for row in some), len(some))} right")


def print_told(stand_in, half, threshold):
    catalogue, queries = stand_in.lists(half)
    told = [row for row in stand_in.run("listen", catalogue, queries) if float(row["confidence"]) >= threshold]
    asked = [line.split("\t")[0] for line in queries.read_text().splitlines()]
    for kind, what in (("o", "songs"), ("n", "tunes")):
        mine = [name for name in asked if name.startswith(kind + "v_")]
        right = {row["query"] for row in told if row["told"] == row["right"]} & set(mine)
        wrong = [row for row in told if row["told"] != row["right"] and row["query"] in mine]
        late = sorted(float(row["at_s"]) for row in told if row["told"] == row["right"] and row["query"] in mine)
        if mine:
            print(f"{half}, {what}: told within 90 s {share(len(right), len(mine))}, median after "
                  f"{late[len(late) // 2] if late else math.nan:.0f} s; told wrongly {len(wrong)}: "
                  f"{[(row['query'], row['told'], row['confidence']) for row in wrong]}")
    unknown = stand_in.unknown_list(half)
    count = len(unknown.read_text().splitlines())
    if count:
        false = [row for row in stand_in.run("listen", catalogue, unknown) if float(row["confidence"]) >= threshold]
        print(f"{half}, other music: {len(false)} told of {count} recordings, the first 90 s of each "
              f"({count * 90 / 3600:.1f} hours at most): {[(row['query'], row['told'], row['confidence']) for row in false]}")


def print_pitch(stand_in):
    pairs = stand_in.out / "pairs.txt"
    for kind, what in (("o", "songs"), ("n", "tunes")):
        mine = [stand_in.wav(kind, path, True) for one, path in stand_in.titles if one == kind]
        if not mine:
            continue
        pairs.write_text("".join(f"{wav}\t{wav.with_suffix('.mid')}\n" for wav in mine))
        rows = list(csv.DictReader(subprocess.run([stand_in.options.bin, "pitch", str(pairs)], check=True, text=True,
                                                  stdout=subprocess.PIPE).stdout.splitlines()))
        mean = {name: sum(float(row[name]) for row in rows) / len(rows) for name in ("pitch", "chroma", "cpu_s_per_s")}
        print(f"{what}: raw pitch accuracy {mean['pitch']:.3f}, raw chroma accuracy {mean['chroma']:.3f}, "
              f"{240 * mean['cpu_s_per_s']:.2f} s for 4 minutes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="spintag_melody_eval")
    parser.add_argument("--songs", help="folder of polyphonic MIDI songs")
    parser.add_argument("--tunes", help="folder of MIDI tunes of one voice")
    parser.add_argument("--tunes-count", type=int, default=60)
    parser.add_argument("--notes", help="written tunes (.notes) that the catalogue has, too")
    parser.add_argument("--unknown", nargs="*", default=[], help="folders of other music")
    parser.add_argument("--unknown-count", type=int, default=80)
    parser.add_argument("--most", default="3", help="windows of a recording")
    parser.add_argument("--threshold", type=float, default=0.9)
    parser.add_argument("--soundfont", default=SOUNDFONT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", nargs="*", default=["pitch", "fit", "windows", "told", "written"])
    options = parser.parse_args()
    stand_in = StandIn(options)
    stand_in.render()
    if "pitch" in options.only:
        print_pitch(stand_in)
    if "fit" in options.only:
        catalogue, queries = stand_in.lists("fit")
        rows = stand_in.run("match", catalogue, queries, "--most", options.most)
        rows += stand_in.run("match", catalogue, stand_in.unknown_list("fit"), "--most", options.most)
        rows = [row for row in rows if row["melody"]]
        print(f"fit to {sum(map(is_right, rows))} right and {sum(not is_right(row) for row in rows)} wrong answers:",
              ", ".join(f"{name} {value:.2f}" for name, value in zip(["constant"] + FEATURES, fit(rows))))
    if "windows" in options.only:
        catalogue, queries = stand_in.lists("test")
        rows = stand_in.run("match", catalogue, queries, "--most", options.most)
        print_windows("mix against mix", rows)
        rows += stand_in.run("match", catalogue, stand_in.unknown_list("test"), "--most", options.most)
        print_calibration(rows)
    if "told" in options.only:
        print_told(stand_in, "test", options.threshold)
    if "written" in options.only:
        catalogue, queries = stand_in.lists("test", written_catalogue=True)
        print_windows("mix against the melody track", stand_in.run("match", catalogue, queries, "--most", options.most))
        catalogue, queries = stand_in.lists("test", written_catalogue=True, written_queries=True)
        print_windows("melody track against melody track", stand_in.run("match", catalogue, queries, "--most", options.most))


if __name__ == "__main__":
    main()
