#!/usr/bin/python3
# tests/eval/evaluate.py - measures recognition on real music through what radio does to it.
"""Finds the tracks in the music folders, leaves a fifth of them out, makes clips of the others through many conditions,
asks spintag, and writes tables and plots. See README.md beside this file.

A second call with the same --out makes only the clips that are not there yet."""

import argparse
import csv
import json
import os
import sys

import tools

tools.demand(set())  # the modules, before they are imported

import clips as clip_plans  # noqa: E402
import coherence  # noqa: E402
import music  # noqa: E402
import plots  # noqa: E402
import programme  # noqa: E402
import run  # noqa: E402
import score  # noqa: E402
import score_plays  # noqa: E402
from sound import generator  # noqa: E402

LOW_THRESHOLD = 0.0  # for the reliability diagram: every answer that spintag would give
PROGRAMMES = ("mp3-128", "mp3-64:+3", "opus-32:-4", "aac-64:+1.5")


def comma_list(of):
    return lambda text: [of(word) for word in text.split(",") if word]


def arguments(given):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, metavar="PATH/spintag")
    parser.add_argument("--music", required=True, nargs="+", metavar="DIR", help="folders with recordings")
    parser.add_argument("--out", required=True, metavar="DIR", help="everything that is made")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--n", type=int, default=20, help="clips for each condition and length (default 20)")
    parser.add_argument("--lengths", type=comma_list(float), default=[2.5, 5, 10], help="seconds (default 2.5,5,10)")
    parser.add_argument("--hard", action="store_true", help="the hard conditions too")
    parser.add_argument("--only", type=comma_list(str), default=[], metavar="CONDITIONS",
                        help="such as clean,talk-0dB,unknown (unknown: all windows of the left-out music)")
    parser.add_argument("--no-sweeps", action="store_true", help="no clips for the plots against SNR and length alone")
    parser.add_argument("--negatives-hours", type=float, metavar="H",
                        help="at most that much left-out music in windows of each length (default: all)")
    parser.add_argument("--programmes", nargs="*", metavar="CODEC[:SPEED]",
                        help="make programmes and follow them (without names: " + " ".join(PROGRAMMES) + ")")
    parser.add_argument("--programme-minutes", type=float, default=60)
    parser.add_argument("--track-file", metavar="PATH/spintag_track_file", help="default: of the same build as --bin")
    parser.add_argument("--index", metavar="SNAPSHOT",
                        help="answer from this snapshot of the same catalogue, and ingest nothing")
    parser.add_argument("--reuse", action="store_true", help="keep a catalogue that was ingested by an earlier call")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="clips made at a time")
    options = parser.parse_args(given)
    unheard_of = sorted(set(options.only) - set(clip_plans.known_names()))
    if unheard_of:
        parser.error(f"--only: {', '.join(unheard_of)}: choose from {', '.join(clip_plans.known_names())}")
    if options.programmes == []:
        options.programmes = list(PROGRAMMES)
    for name in options.programmes or ():
        if name.split(":")[0] not in programme.CODECS:
            parser.error(f"--programmes: {name}: choose from {', '.join(programme.CODECS)}")
    if options.track_file is None:
        build = os.path.dirname(os.path.dirname(os.path.abspath(options.bin)))
        options.track_file = os.path.join(build, "tests", "eval", "spintag_track_file")
    wanted = [options.bin] + ([options.track_file] if options.programmes else [])
    for program in wanted:
        if not os.access(program, os.X_OK):
            parser.error(f"{program} is not a program")
    return options


def ask(spintag, clips, out):
    """Runs both thresholds over all clips and writes results.csv; returns what it cost."""
    files = [clip.file for clip in clips]
    answers, cost = spintag.identify(files, "identified")
    low_answers, low_cost = spintag.identify(files, f"identified, threshold {LOW_THRESHOLD:g}", LOW_THRESHOLD)
    with open(os.path.join(out, "results.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, run.FIELDS, lineterminator="\n")
        writer.writeheader()
        for clip in clips:
            answer, low_answer = answers[clip.file], low_answers[clip.file]
            others = coherence.measure(clip, run.not_the_truth(clip, answer, low_answer), os.path.join(out, "wav"))
            writer.writerow(run.row_of(clip, answer, low_answer, others))
    return {"identify": cost, "identify_low": low_cost}


def follow_programmes(options, known, unknown):
    """Each programme through spintag_track_file; rows for the table."""
    folder = os.path.join(options.out, "programmes")
    os.makedirs(folder, exist_ok=True)
    catalogue = os.path.join(folder, "catalogue.txt")
    with open(catalogue, "w", encoding="utf-8") as file:
        file.write("".join(os.path.abspath(track.wav) + "\n" for track in known))
    index = os.path.join(folder, "track_file.index")
    if os.path.exists(index):  # of another catalogue or another build, for all that is known
        os.remove(index)
    # Those who are asked to name the programme's songs must not make another programme of the same name.
    what_is_on = generator(*(track.name for track in known), "/", *(track.name for track in unknown)).bytes(4).hex()
    rows, progress = [], tools.Progress("programmes", len(options.programmes))
    for name in options.programmes:
        codec, _, percent = name.partition(":")
        key = f"{name.replace(':', '_')}-{options.programme_minutes:g}-{options.seed}-{what_is_on}"
        place = os.path.join(folder, key)
        heard, truth = (os.path.join(place, "programme." + suffix) for suffix in (programme.CODECS[codec][0], "csv"))
        if not os.path.exists(truth):
            programme.make(known, unknown, place, minutes=options.programme_minutes, seed=options.seed,
                           speed_percent=float(percent or 0), codec=codec)
        plays = os.path.join(place, "plays.csv")
        text = tools.call([os.path.abspath(options.track_file), index, catalogue, heard])
        with open(plays, "wb") as file:
            file.write(text)
        report = score_plays.score(score_plays.read(truth), score_plays.read(plays))
        rows.append([name, *score_plays.cells(report)])
        progress.step()
        for play in report.false:
            print(f"{name}: false play: {play['track']} {play['start_s']} to {play['end_s']}", file=sys.stderr)
    return {"head": ["programme", *score_plays.HEAD], "rows": rows}


def describe(options, known, unknown, count, version):
    def hours(tracks):
        return sum(track.duration_s for track in tracks) / 3600

    return (f"{version}; {len(known)} recordings ({hours(known):.2f} h) in the catalogue, {len(unknown)} "
            f"({hours(unknown):.2f} h) left out; {count} clips, seed {options.seed}, {options.n} a cell.\n")


def main(given=None):
    options = arguments(given)
    wanted = clip_plans.cells(options.lengths, options.hard, not options.no_sweeps, options.only)
    tools.demand({"ffprobe", "fpcalc"} | clip_plans.programs_for(wanted)
                 | ({"sox", "espeak-ng"} if options.programmes else set()))
    folder = os.path.join(os.path.abspath(options.out), "clips")
    os.makedirs(folder, exist_ok=True)
    known, unknown = music.collect(options.music, options.out, options.seed, options.jobs)
    if not known:
        sys.exit(f"no recording of {music.SHORTEST_S:g} s or more in {', '.join(options.music)}")
    clips = clip_plans.plan(wanted, options.n, known, unknown, options.seed, folder)
    if not options.only or clip_plans.UNKNOWN in options.only:
        clips += clip_plans.plan_windows(unknown, options.seed, options.negatives_hours, folder)
    clip_plans.make_all(clips, options.jobs)

    spintag = run.Spintag(options.bin, os.path.join(options.out, "state"), options.index)
    info = {"catalogue_s": sum(track.duration_s for track in known),
            "what": describe(options, known, unknown, len(clips), spintag.version())}
    if not options.index:
        info["ingest"] = spintag.ingest([track.wav for track in known], options.reuse)
        info["index_bytes"] = spintag.export_index(os.path.join(os.path.abspath(options.out), "catalogue.index"))
    info.update(ask(spintag, clips, options.out))
    if options.programmes:
        info["programmes"] = follow_programmes(options, known, unknown)
    with open(os.path.join(options.out, "info.json"), "w", encoding="utf-8") as file:
        json.dump(info, file, indent=1)
    outcomes = score.load(os.path.join(options.out, "results.csv"))
    text = score.table(outcomes, info, score.family_of_condition)
    with open(os.path.join(options.out, "table.md"), "w", encoding="utf-8") as file:
        file.write(text)
    plots.draw_all(outcomes, os.path.join(options.out, "plots"))
    print(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError) as error:
        sys.exit(f"evaluate.py: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped; the same call goes on from here")
